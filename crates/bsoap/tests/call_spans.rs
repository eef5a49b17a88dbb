//! The span of a call. This is a test program of its own: tracing caches for the whole process whether a span is wanted, and tests
//! of other threads without a subscriber could be the ones that answer.

mod common;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use bsoap::{SoapVersion, Value};
use common::{client, mesh, start, under};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
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
