//! Hooks of services: they see, change and refuse requests and answers, as bytes and as Records.

mod common;

use std::sync::{Arc, Mutex};

use bsoap::protocol::Code;
use bsoap::{Fault, Message, Service, SoapVersion, Value};
use common::{BOTH, MESH, client, content_type, envelope, mesh, post, start, under};

fn ints() -> Value {
    under("values", under("item", vec![1_i64, 2, 3]))
}

#[tokio::test]
async fn hooks_run_in_the_order_of_the_message() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = |what: &'static str| {
        let seen = Arc::clone(&seen);
        move |operation: &str| {
            let mut seen = seen.lock().expect("not poisoned");
            seen.push(format!("{what} {operation}"));
        }
    };
    let (received, decoded) = (log("after_receive"), log("after_decode"));
    let (encode, send) = (log("before_encode"), log("before_send"));
    let service = mesh()
        .after_receive(move |incoming| {
            assert!(incoming.target.is_none() && incoming.status.is_none());
            received("");
            Ok(())
        })
        .after_decode(move |target, record| {
            assert_eq!(record.root(), target.binding().request);
            decoded(&target.operation().name);
            Ok(())
        })
        .before_encode(move |target, record| {
            assert_eq!(record.root(), target.binding().response);
            encode(&target.operation().name);
            Ok(())
        })
        .before_send(move |outgoing| {
            send(&outgoing.target.operation().name);
            let value = "1".parse().expect("a header value");
            outgoing.headers.insert("x-seen", value);
            Ok(())
        });
    let running = start(service).await;
    let version = SoapVersion::Soap11;
    let body = "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>4</item></values></m:sumInts>";
    let text = envelope(version, "", body);
    let (status, answer) = post(running.address, "/mesh", content_type(version), "", &text).await;
    assert!(status == 200 && answer.contains("x-seen: 1"), "{answer}");
    running.stop().await;
    let expected = [
        "after_receive ",
        "after_decode sumInts",
        "before_encode sumInts",
        "before_send sumInts",
    ];
    assert_eq!(*seen.lock().expect("not poisoned"), expected);
}

#[tokio::test]
async fn hooks_on_bytes_change_what_is_read_and_sent() {
    let service = mesh()
        .after_receive(|incoming| {
            let text = String::from_utf8(incoming.body.to_vec())?;
            incoming.body = text.replace(">3<", ">30<").into();
            Ok(())
        })
        .before_send(|outgoing| {
            if let Some(text) = outgoing.bytes() {
                let text = String::from_utf8(text.to_vec())?;
                outgoing.set_bytes(text.replace(">33<", ">330<"));
            }
            Ok(())
        });
    let running = start(service).await;
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        for _ in 0..3 {
            let answer = client.call("sumInts", &ints()).await.expect("an answer");
            assert_eq!(answer["sum"].as_i64(), Some(330));
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_hook_on_records_changes_answers_within_the_plan() {
    let service = mesh().before_encode(|target, record| {
        *record = target.response(under("sum", 7))?;
        Ok(())
    });
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11);
    let client = client.build().expect("a client");
    let answer = client.call("sumInts", &ints()).await.expect("an answer");
    assert_eq!(answer["sum"].as_i64(), Some(7));
    running.stop().await;
}

#[tokio::test]
async fn a_hook_refuses_with_its_fault_and_other_errors_are_not_shown() {
    type Hook = fn(bsoap::ServiceBuilder, fn() -> bsoap::http::AnyError) -> bsoap::ServiceBuilder;
    let hooks: [Hook; 4] = [
        |service, error| service.after_receive(move |_| Err(error())),
        |service, error| service.after_decode(move |_, _| Err(error())),
        |service, error| service.before_encode(move |_, _| Err(error())),
        |service, error| service.before_send(move |_| Err(error())),
    ];
    for hook in hooks {
        for (error, reason) in [
            (
                (|| Fault::new(Code::Sender, "no token").into()) as fn() -> bsoap::http::AnyError,
                "no token",
            ),
            (
                || "the password is 1234".into(),
                "the service refused the message",
            ),
        ] {
            let service =
                Service::builder(MESH).handle("sumInts", async |_: Message| under("sum", 1));
            let running = start(hook(service, error)).await;
            for version in BOTH {
                let client = client(&running, version).build().expect("a client");
                let error = client.call("sumInts", &ints()).await.expect_err("refused");
                let fault = error.fault().expect("a fault");
                assert_eq!(fault.reason(), reason, "{version}");
                let code = match reason {
                    "no token" => Code::Sender,
                    _ => Code::Receiver,
                };
                assert_eq!(fault.code, code);
            }
            running.stop().await;
        }
    }
}

#[tokio::test]
async fn refused_requests_are_reported_with_status_and_reason() {
    type Seen = Vec<(String, u16, String)>;
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let service = mesh().on_refusal({
        let seen = Arc::clone(&seen);
        move |refusal| {
            assert!(refusal.peer.ip().is_loopback() && refusal.method == "POST");
            let (path, reason) = (refusal.path.to_owned(), refusal.reason.to_owned());
            let mut seen = seen.lock().expect("not poisoned");
            seen.push((path, refusal.status, reason));
        }
    });
    let running = start(service).await;
    let (address, xml) = (running.address, content_type(SoapVersion::Soap11));
    let body = "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>4</item></values></m:sumInts>";
    let text = envelope(SoapVersion::Soap11, "", body);
    assert_eq!(post(address, "/mesh", xml, "", &text).await.0, 200);
    assert_eq!(post(address, "/none", xml, "", &text).await.0, 404);
    assert_eq!(post(address, "/mesh", "text/plain", "", &text).await.0, 415);
    let wrong = text.replace(">4<", ">four<");
    assert_eq!(post(address, "/mesh", xml, "", &wrong).await.0, 500);
    running.stop().await;
    let seen = seen.lock().expect("not poisoned");
    let paths_and_statuses: Vec<_> = seen
        .iter()
        .map(|(path, status, _)| (&**path, *status))
        .collect();
    assert_eq!(
        paths_and_statuses,
        [("/none", 404), ("/mesh", 415), ("/mesh", 500)]
    );
    assert!(
        seen[1].2.contains("text/plain") && seen[2].2.contains("\"four\""),
        "{seen:?}"
    );
}
