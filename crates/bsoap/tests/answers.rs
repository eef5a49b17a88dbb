//! Calls with options of their own, and what their answers tell.

mod common;

use std::time::Duration;

use bsoap::{Client, Message, Object, Service, SoapVersion, Value};
use common::{BOTH, TOUR, client, mesh, start, under};

fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
}

#[tokio::test]
async fn header_blocks_and_http_headers_of_a_call_replace_those_of_its_client() {
    let service = Service::builder(TOUR)
        .understanding("urn:trace", "trace")
        .handle("secured", async |message: Message| {
            let token = message.headers().get("token").cloned().unwrap_or_default();
            let trace = message
                .headers()
                .get("#any")
                .map_or(0, |any| any.as_array().map_or(0, <[Value]>::len));
            let key = message.http_headers()["x-key"].to_str().unwrap_or_default();
            Value::object([
                ("value", Value::from(format!("{token:?} {trace} {key}"))),
                ("@headers", under("stamp", "sealed")),
            ])
        });
    let running = start(service).await;
    let client = Client::builder(TOUR)
        .port("Secured11")
        .endpoint(&running.urls[0])
        .soap_header("token", "of the client")
        .soap_header_xml("<t:trace xmlns:t=\"urn:trace\">a</t:trace>")
        .http_header("X-Key", "client")
        .build()
        .expect("a client");

    let value = client.call("secured", &under("value", 7)).await;
    let value = value.expect("an answer");
    assert_eq!(
        value["value"].as_str(),
        Some("Text(\"of the client\") 1 client")
    );

    let answer = client
        .operation("secured")
        .soap_header("token", "of the call")
        .soap_header_xml("<t:trace xmlns:t=\"urn:trace\">b</t:trace>")
        .http_header("X-Key", "call")
        .call(under("value", 7))
        .await
        .expect("an answer");
    let value = answer.value();
    assert_eq!(
        value["value"].as_str(),
        Some("Text(\"of the call\") 2 call")
    );
    let headers: Object = answer.soap_headers();
    assert_eq!(headers.get("stamp").and_then(Value::as_str), Some("sealed"));
    assert_eq!(answer.status(), 200);
    assert!(answer.http_headers().contains_key("content-type"));
    assert!(answer.sent().is_none() && answer.received().is_none());

    let own = Value::object([("value", 7.into()), ("@headers", under("token", "own"))]);
    let value = client.call("secured", &own).await.expect("an answer");
    assert_eq!(value["value"].as_str(), Some("Text(\"own\") 1 client"));
    running.stop().await;
}

#[tokio::test]
async fn envelopes_are_kept_on_demand_as_they_were_sent_and_received() {
    let running = start(mesh()).await;
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        let calling = client
            .operation("sumDoubles")
            .keep_envelopes()
            .call(numbers());
        let answer = calling.await.expect("an answer");
        let (sent, received) = (answer.sent(), answer.received());
        let text = |bytes: Option<&bsoap::http::Bytes>| {
            String::from_utf8(bytes.expect("kept").to_vec()).expect("UTF-8")
        };
        assert!(text(sent).contains("<item>2.5</item>"));
        assert!(text(received).contains("<sum>4</sum>"));
        assert_eq!(answer.unpack::<f64>().expect("a number"), 4.0);
        assert!(answer.record().is_some());
    }
    running.stop().await;
}

#[tokio::test]
async fn a_call_may_have_another_time_limit_and_another_address() {
    let slow = mesh().handle("sumDoubles", async |_: Message| {
        tokio::time::sleep(Duration::from_millis(400)).await;
        under("sum", 9.0)
    });
    let (slow, quick) = (start(slow).await, start(mesh()).await);
    let client = client(&slow, SoapVersion::Soap11)
        .timeout(Duration::from_secs(60))
        .build()
        .expect("a client");
    let hasty = client
        .operation("sumDoubles")
        .timeout(Duration::from_millis(50));
    let error = hasty.call(numbers()).await.expect_err("too late");
    assert!(error.is_timeout() && !error.was_not_sent());

    let patient = client.operation("sumDoubles").call(numbers()).await;
    assert_eq!(
        patient.expect("an answer").value()["sum"].as_f64(),
        Some(9.0)
    );

    let elsewhere = client.operation("sumDoubles").endpoint(&quick.urls[0]);
    let answer = elsewhere.call(numbers()).await.expect("an answer");
    assert_eq!(answer.value()["sum"].as_f64(), Some(4.0));
    slow.stop().await;
    quick.stop().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_without_sending_it() {
    let client = Client::builder(common::MESH)
        .endpoint("http://127.0.0.1:9/")
        .build()
        .expect("a client");
    let error = |call: bsoap::Call| async { call.call(numbers()).await.expect_err("refused") };
    for call in [
        client.operation("missing"),
        client.operation("sumDoubles").http_header("a b", "c"),
        client.operation("sumDoubles").endpoint("ftp://somewhere/"),
        client.operation("sumDoubles").soap_header_xml("<open>"),
        client.operation("sumDoubles").soap_header("undeclared", 1),
    ] {
        let error = error(call).await;
        assert!(error.was_not_sent(), "{}", error.report());
    }
}

#[tokio::test]
async fn a_one_way_call_has_an_answer_without_a_message() {
    let service = Service::builder(TOUR).handle("notify", async |_: Message| ());
    let running = start(service).await;
    let client = Client::builder(TOUR)
        .endpoint(&running.urls[0])
        .build()
        .expect("a client");
    let calling = client.operation("notify").call(under("value", "news"));
    let answer = calling.await.expect("accepted");
    assert_eq!((answer.status(), answer.value()), (202, Value::Nil));
    assert!(answer.record().is_none() && answer.soap_headers().is_empty());
    let error = answer.unpack::<f64>().expect_err("no result");
    assert!(!error.was_not_sent(), "{error}");
    let error = client.call_typed::<f64>("notify", &"news".to_owned()).await;
    let error = error.expect_err("no result");
    assert!(
        !error.was_not_sent() && error.report().contains("one-way"),
        "{}",
        error.report()
    );
    running.stop().await;
}
