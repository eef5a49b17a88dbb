//! Calls with options of their own, what their answers tell, and the spans they leave.

mod common;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bsoap::{Client, Error, Message, Object, Service, SoapVersion, Value};
use common::{BOTH, TOUR, client, mesh, start, under};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

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
    assert!(matches!(error, Error::Setup(_)), "{error}");
    running.stop().await;
}

/// The fields of the spans of calls, in the order in which they were created.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<BTreeMap<u64, BTreeMap<&'static str, String>>>>);

struct Fields<'f>(&'f mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl<S: tracing::Subscriber> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "soap call" {
            let mut spans = self.0.lock().expect("not poisoned");
            attributes.record(&mut Fields(spans.entry(id.into_u64()).or_default()));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        if let Some(fields) = self.0.lock().expect("not poisoned").get_mut(&id.into_u64()) {
            values.record(&mut Fields(fields));
        }
    }
}

#[tokio::test]
async fn a_call_leaves_a_span_with_the_names_of_opentelemetry() {
    let recorder = Recorder::default();
    let subscriber = tracing_subscriber::registry().with(recorder.clone());
    let guard = tracing::subscriber::set_default(subscriber);
    let running = start(mesh()).await;
    let own = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    own.call("sumDoubles", &numbers()).await.expect("an answer");
    let wrong = Value::object([
        ("rows", 5.into()),
        ("columns", 5.into()),
        ("field", under("item", vec![1.0])),
    ]);
    own.call("jacobiStep", &wrong).await.expect_err("a fault");
    let closed = own.operation("sumDoubles").endpoint("http://127.0.0.1:9/");
    closed.call(numbers()).await.expect_err("no connection");
    drop(guard);
    running.stop().await;

    let spans = recorder.0.lock().expect("not poisoned");
    let mut calls: Vec<_> = spans.values().collect();
    calls.sort_by_key(|fields| fields.get("error.type").cloned());
    let [answered, refused, unconnected] = calls[..] else {
        panic!("three calls, not {calls:?}");
    };
    assert_eq!(answered["rpc.system"], "soap");
    assert_eq!(answered["rpc.method"], "sumDoubles");
    assert_eq!(answered["otel.kind"], "client");
    assert_eq!(answered["server.address"], "127.0.0.1");
    assert_eq!(answered["http.response.status_code"], "200");
    assert!(!answered.contains_key("otel.status_code"));
    assert_eq!(refused["rpc.method"], "jacobiStep");
    assert_eq!(refused["http.response.status_code"], "500");
    assert_eq!(refused["otel.status_code"], "ERROR");
    assert_eq!(unconnected["error.type"], "connect");
    assert_eq!(unconnected["server.port"], "9");
}
