//! The second act: answers that are nearly the same from poll to poll, with the differential machinery and without.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bsoap::service::Typed;
use bsoap::tuning::{ReceiveCounts, Receiving, SendCounts, Sending};
use bsoap::{Changes, Client, Message, Service, Value};
use serde_json::json;

use super::sensors::Polled;
use super::serving::Serving;
use crate::error::Failure;
use crate::progress;
use crate::{receiving, sending};

const WSDL: &str = include_str!("../../../../../examples/sensors/sensors.wsdl");

/// One stream of answers, polled twice: with the differential machinery and without.
pub(super) struct Comparison {
    pub(super) name: &'static str,
    pub(super) polls: u32,
    /// Values in each answer.
    pub(super) values: usize,
    /// Values of all answers that the answer before does not have.
    pub(super) new: usize,
    pub(super) differential: PollSeries,
    pub(super) full: PollSeries,
}

/// One series of polls.
#[derive(Default)]
pub(super) struct PollSeries {
    /// Bytes of all answers.
    pub(super) bytes: u64,
    /// Time spent between values and text: answers at the service, answers at the client.
    pub(super) writing: Duration,
    pub(super) reading: Duration,
    pub(super) sent: SendCounts,
    pub(super) received: ReceiveCounts,
    /// The values of each answer that were read again.
    pub(super) changed: Vec<Reread>,
}

/// The slots of an answer that were read again, of all its slots.
pub(super) struct Reread {
    pub(super) slots: usize,
    pub(super) spans: Vec<std::ops::Range<usize>>,
}

impl Reread {
    fn of(changes: &Changes) -> Self {
        let slots = changes.record().slots().len();
        let spans = match changes.is_all() {
            true => std::iter::once(0..slots).collect(),
            false => changes.spans().map(|span| span.now).collect(),
        };
        Self { slots, spans }
    }
}

/// Whether the machinery is on.
#[derive(Clone, Copy)]
enum Machinery {
    Differential,
    Off,
}

/// Polls a stream twice.
pub(super) async fn compare<T: Polled>(polls: u32) -> Result<Comparison, Failure> {
    let differential = run::<T>(polls, Machinery::Differential).await?;
    let full = run::<T>(polls, Machinery::Off).await?;
    let (mut new, mut before) = (0, T::at(0));
    let values = before.values();
    for poll in 1..polls {
        let now = T::at(poll);
        new += now.new_since(&before);
        before = now;
    }
    Ok(Comparison {
        name: T::NAME,
        polls,
        values,
        new,
        differential,
        full,
    })
}

async fn run<T: Polled>(polls: u32, machinery: Machinery) -> Result<PollSeries, Failure> {
    let next = Arc::new(AtomicU32::new(0));
    let answer = move |_: Message| {
        let poll = next.fetch_add(1, Ordering::Relaxed);
        async move { Typed(T::at(poll)) }
    };
    let (mut service, mut client) = (Service::builder(WSDL), Client::builder(WSDL));
    if let Machinery::Off = machinery {
        service = service.sending(Sending::off()).receiving(Receiving::off());
        client = client.sending(Sending::off()).receiving(Receiving::off());
    }
    let serving = Serving::start(service.handle(T::OPERATION, answer)).await?;
    let client = client.endpoint(serving.url()).build()?;
    let bar = progress::counter(polls.into(), T::NAME);
    let mut run = PollSeries::default();
    for poll in 0..polls {
        let answer = client.operation(T::OPERATION).call(Value::Nil).await?;
        if answer.unpack::<T>()? != T::at(poll) {
            return Err(Failure::violation(format!(
                "the answer to poll {poll} of {} is not the one computed here",
                T::OPERATION
            )));
        }
        run.changed.extend(answer.changes().map(Reread::of));
        bar.inc(1);
    }
    bar.finish_and_clear();
    run.bytes = client.meter().read().received;
    run.reading = client.meter().read().converting;
    run.writing = serving.meter().read().converting;
    run.sent = serving.meter().sending();
    run.received = client.receiver_stats();
    drop(client);
    serving.stop().await?;
    Ok(run)
}

impl PollSeries {
    fn json(&self) -> serde_json::Value {
        json!({
            "bytes": self.bytes,
            "seconds_writing": self.writing.as_secs_f64(),
            "seconds_reading": self.reading.as_secs_f64(),
            "sending_service": sending::json(&self.sent),
            "receiving_client": receiving::json(&self.received),
        })
    }
}

impl Comparison {
    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "name": self.name,
            "polls": self.polls,
            "values": self.values,
            "new_values": self.new,
            "differential": self.differential.json(),
            "full": self.full.json(),
        })
    }
}
