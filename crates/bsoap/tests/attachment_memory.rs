//! A long attachment goes from a client to a service and back in constant memory: generated while it is sent, and kept in temporary
//! files on both sides. `BSOAP_ATTACHMENT_MB=1024` says how long it is (64 by default). The test has a process of its own, whose memory
//! is measured.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::Read as _;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bsoap::attachments::{Attachments, from_stream};
use bsoap::http::Bytes;
use bsoap::tuning::ServerOptions;
use bsoap::{Client, Message, Service, Value};
use common::start;

const PHOTOS: &str = include_str!("../../../examples/photos/photos.wsdl");

/// The memory that may be used in addition, in bytes: for the client and the service together.
const MAX_GROWTH: u64 = 16 << 20;

/// What is generated at once.
const BLOCK: usize = 64 << 10;

/// Octets that are made while they are sent.
struct Generated {
    next: u64,
    blocks: u64,
}

/// The block at a position.
fn block(number: u64) -> Vec<u8> {
    let mut block = vec![(number % 251) as u8; BLOCK];
    block[..8].copy_from_slice(&number.to_be_bytes());
    block
}

impl futures_core::Stream for Generated {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.next == self.blocks {
            return Poll::Ready(None);
        }
        self.next += 1;
        Poll::Ready(Some(Ok(block(self.next - 1).into())))
    }
}

/// The most memory that the process has used since [`forget_peak`], in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the kernel reports it");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line
        .and_then(|line| line.split_whitespace().nth(1))
        .expect("a number");
    digits.parse::<u64>().expect("kilobytes") << 10
}

fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").expect("the peak is reset");
}

/// Sends octets, gets them back, and compares them.
async fn round_trip(client: &Client, blocks: u64) {
    let length = blocks * BLOCK as u64;
    let photo = from_stream(Generated { next: 0, blocks }, Some(length));
    let photos = Value::object([("photo", Value::Array(vec![photo.into()]))]);
    let answer = client.operation("echo").call(photos).await;
    let answer = answer.expect("an answer");
    let echoed = answer.attachments()[0].clone();
    assert_eq!(echoed.len(), Some(length));
    let compared = tokio::task::spawn_blocking(move || {
        let mut reader = echoed.open().expect("it can be read");
        let mut received = vec![0; BLOCK];
        for number in 0..blocks {
            reader.read_exact(&mut received).expect("all of it");
            assert!(received == block(number), "block {number} is not as sent");
        }
    });
    compared.await.expect("they are equal");
}

#[tokio::test]
async fn a_long_attachment_goes_there_and_back_in_constant_memory() {
    let megabytes = std::env::var("BSOAP_ATTACHMENT_MB");
    let megabytes: u64 = megabytes.map_or(64, |it| it.parse().expect("a number of MB"));
    let limit = Duration::from_secs(1800);
    let mut options = ServerOptions::default();
    options.body_timeout = limit;
    let service = Service::builder(PHOTOS)
        .handle("echo", |message: Message| async move { message.value() })
        .options(options);
    let running = start(service).await;
    let client = Client::builder(PHOTOS)
        .endpoint(&running.urls[0])
        .attachments(Attachments::mtom())
        .timeout(limit)
        .build()
        .expect("a client");
    // What is allocated once.
    round_trip(&client, 64).await;
    forget_peak();
    let before = peak();
    round_trip(&client, megabytes * 16).await;
    let growth = peak().saturating_sub(before);
    let line = format!(
        "{megabytes} MB there and back: {} KB more at most\n",
        growth >> 10
    );
    // Nobody may be there to read it.
    let _ = std::io::stdout().write_all(line.as_bytes());
    assert!(
        growth < MAX_GROWTH,
        "{growth} bytes more for {megabytes} MB, {before} before"
    );
    running.stop().await;
}
