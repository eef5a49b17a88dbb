//! Requests that mean harm: each is answered with a fault or a status, and the service goes on.

mod common;

use std::time::{Duration, Instant};

use bsoap::tuning::ServerOptions;
use bsoap::{SoapVersion, Value};
use common::{BOTH, Running, client, content_type, envelope, mesh, post, raw, start, under};

const BODY: &str =
    "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>2</item></values></m:sumInts>";

async fn assert_alive(running: &Running) {
    let client = client(running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let answer = client
        .call("sumInts", &under("values", under("item", vec![1_i64, 2])))
        .await;
    assert_eq!(answer.expect("an answer")["sum"].as_i64(), Some(3));
}

#[tokio::test]
async fn what_is_not_a_message_is_a_fault() {
    let running = start(mesh()).await;
    for (version, path) in [
        (SoapVersion::Soap11, "/mesh"),
        (SoapVersion::Soap12, "/mesh12"),
    ] {
        let good = envelope(version, "", BODY);
        let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
        let many: String = (0..5000).map(|i| format!(" a{i}='1'")).collect();
        let bad = [
            String::new(),
            "no XML".into(),
            good[..good.len() / 2].into(),
            format!("<!DOCTYPE a [<!ENTITY b \"c\">]>{good}"),
            good.replace("2</item>", "&b;</item>"),
            good.replace("</s:Body>", ""),
            good.replace("</s:Envelope>", "</s:Envelope><x/>"),
            good.replace("xmlns:s=", "xmlns:z="),
            envelope(version, "", &deep),
            envelope(version, &deep, BODY),
            envelope(
                version,
                "",
                &format!("<m:sumInts xmlns:m='urn:bsoap:mesh'{many}/>"),
            ),
            good.replace("2</item>", &format!("{}</item>", "9".repeat(1_000_000))),
            good.replace("2</item>", "\u{1}</item>"),
        ];
        for body in &bad {
            let (status, answer) =
                post(running.address, path, content_type(version), "", body).await;
            let beginning: String = body.chars().take(200).collect();
            assert!(status == 500 || status == 400, "{status} for {beginning}");
            assert!(answer.contains("Fault"), "{answer} for {beginning}");
            assert!(answer.len() < 20_000, "{}", answer.len());
        }
    }
    assert_alive(&running).await;
    running.stop().await;
}

#[tokio::test]
async fn what_is_deeper_than_a_value_can_be_is_refused_and_not_lost() {
    // A user who sets other options does not mean this one.
    let options = bsoap::codec::DecodeOptions::default();
    let running = start(mesh().decoding(options)).await;
    let deep = format!("{}{}", "<a xmlns='urn:a'>".repeat(300), "</a>".repeat(300));
    let body = envelope(SoapVersion::Soap11, &deep, BODY);
    let (status, answer) = post(running.address, "/mesh", "text/xml", "", &body).await;
    assert!(status == 500 && answer.contains("depth"), "{answer}");
    running.stop().await;
}

#[tokio::test]
async fn any_byte_flipped_or_cut_gives_an_answer() {
    let running = start(mesh()).await;
    let client = bsoap::Client::builder(common::MESH)
        .endpoint(&running.urls[0])
        .build()
        .expect("a client");
    let (outgoing, _) = client
        .request("sumInts", under("values", under("item", vec![1_i64, 2])))
        .expect("a request")
        .write()
        .expect("written");
    for place in (0..outgoing.body.len()).step_by(7) {
        for byte in [b'<', b'&', 0, 0xff, b'"'] {
            let mut body = outgoing.body.clone();
            body[place] = byte;
            let head = format!(
                "POST /mesh HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let answer = raw(running.address, &[head.as_bytes(), &body].concat()).await;
            assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
        }
    }
    assert_alive(&running).await;
    running.stop().await;
}

#[tokio::test]
async fn oversized_and_dawdling_requests_end() {
    let mut options = ServerOptions::default();
    options.max_body = 100_000;
    options.head_timeout = Duration::from_millis(300);
    options.body_timeout = Duration::from_millis(300);
    let running = start(mesh().options(options)).await;
    let begun = Instant::now();
    let (status, _) = post(
        running.address,
        "/mesh",
        "text/xml",
        "",
        &" ".repeat(100_001),
    )
    .await;
    assert_eq!(status, 413);
    let answer = raw(
        running.address,
        b"POST /mesh HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n<",
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    raw(running.address, b"POST /mesh HTTP/1.1\r\nHos").await;
    assert!(begun.elapsed() < Duration::from_secs(4));
    assert_alive(&running).await;
    running.stop().await;
}

#[tokio::test]
async fn a_message_may_come_in_any_encoding_it_names() {
    let running = start(mesh()).await;
    for version in BOTH {
        let path = if version == SoapVersion::Soap11 {
            "/mesh"
        } else {
            "/mesh12"
        };
        let text = envelope(version, "", BODY);
        let utf16: Vec<u8> = std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect();
        let essence = content_type(version).split(';').next().unwrap_or_default();
        for (charset, body) in [
            ("utf-16", utf16),
            (
                "iso-8859-1",
                format!("<?xml version='1.0' encoding='utf-8'?>{text}").into_bytes(),
            ),
            ("utf-8", [b"\xef\xbb\xbf", text.as_bytes()].concat()),
        ] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: h\r\nContent-Type: {essence}; charset={charset}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let answer = raw(running.address, &[head.as_bytes(), &body].concat()).await;
            assert!(
                answer.starts_with("HTTP/1.1 200") && answer.contains(">2<"),
                "{charset} {answer}"
            );
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_panicking_handler_ends_one_request_only() {
    let running = start(
        mesh().handle("echoInts", async |_: bsoap::Message| -> Value {
            panic!("on purpose")
        }),
    )
    .await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    assert!(
        client
            .call("echoInts", &under("values", Value::object::<&str>([])))
            .await
            .is_err()
    );
    assert_alive(&running).await;
    running.stop().await;
}
