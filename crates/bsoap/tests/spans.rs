//! Spans of requests: their fields have the names of OpenTelemetry, and handlers run in them, wherever they run.

mod common;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use bsoap::http::{Body, ServerOptions};
use bsoap::{Message, Service, SoapVersion};
use common::{MESH, TOUR, content_type, envelope, mesh, under};
use tower::ServiceExt;
use tracing::Instrument;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// The fields of all spans, and the spans around each event, the innermost first.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Recorded>>);

#[derive(Default)]
struct Recorded {
    fields: HashMap<u64, BTreeMap<&'static str, String>>,
    /// The names of the spans around each event, by its message.
    events: Vec<(String, Vec<&'static str>)>,
    closed: Vec<u64>,
    /// Where spans were entered.
    entered: Vec<(&'static str, ThreadId)>,
}

struct Fields<'f>(&'f mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fields of the spans of requests, in the order in which they were closed.
    fn requests(&self) -> Vec<BTreeMap<&'static str, String>> {
        let recorded = self.lock();
        let closed = recorded.closed.iter().map(|id| recorded.fields[id].clone());
        closed.filter(|it| it.contains_key("rpc.system")).collect()
    }

    /// The spans around the event with this message, the innermost first.
    fn around(&self, message: &str) -> Vec<&'static str> {
        let recorded = self.lock();
        let mut events = recorded.events.iter();
        let event = events.find(|(text, _)| text.contains(message));
        event.expect("the event").1.clone()
    }
}

impl<S: tracing::Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let mut fields = BTreeMap::new();
        attributes.record(&mut Fields(&mut fields));
        self.lock().fields.insert(id.into_u64(), fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        if let Some(fields) = self.lock().fields.get_mut(&id.into_u64()) {
            values.record(&mut Fields(fields));
        }
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        let message = fields.remove("message").unwrap_or_default();
        let scope = context.event_scope(event).into_iter().flatten();
        let spans = scope.map(|span| span.name()).collect();
        self.lock().events.push((message, spans));
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let thread = std::thread::current().id();
            self.lock().entered.push((span.name(), thread));
        }
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.lock().closed.push(id.into_u64());
    }
}

async fn send(service: &Service, path: &str, body: String) -> http::Response<Body> {
    let request = http::Request::post(path)
        .header("content-type", content_type(SoapVersion::Soap11))
        .body(axum::body::Body::from(body))
        .expect("a request");
    service.clone().oneshot(request).await.expect("no error")
}

fn ints(item: &str) -> String {
    let body = format!(
        "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>{item}</item></values></m:sumInts>"
    );
    envelope(SoapVersion::Soap11, "", &body)
}

/// Runs with a recorder on one thread, whose blocking threads it records, too.
fn recorded<F: Future<Output = ()>>(work: impl FnOnce(Recorder) -> F) {
    let recorder = Recorder::default();
    let subscriber = tracing_subscriber::registry().with(recorder.clone());
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(work(recorder));
    });
}

#[test]
fn a_request_has_a_span_with_the_names_of_open_telemetry() {
    recorded(async |recorder| {
        let mut options = ServerOptions::default();
        options.max_body = 1000;
        let service = mesh().options(options).build().expect("a service");
        assert_eq!(send(&service, "/mesh", ints("4")).await.status(), 200);
        assert_eq!(send(&service, "/mesh", ints("four")).await.status(), 500);
        let long = ints(&"4".repeat(2000));
        assert_eq!(send(&service, "/mesh", long).await.status(), 413);
        let requests = recorder.requests();
        let field = |request: usize, name| requests[request].get(name).map(String::as_str);
        for (name, value) in [
            ("otel.name", "Mesh/sumInts"),
            ("otel.kind", "server"),
            ("rpc.system", "soap"),
            ("rpc.service", "Mesh"),
            ("rpc.method", "sumInts"),
            ("http.request.method", "POST"),
            ("url.path", "/mesh"),
            ("http.response.status_code", "200"),
        ] {
            assert_eq!(field(0, name), Some(value), "{name}");
        }
        assert_eq!(field(0, "error.type"), None);
        for (request, status, error) in [(1, "500", "Sender"), (2, "413", "413")] {
            assert_eq!(field(request, "http.response.status_code"), Some(status));
            assert_eq!(field(request, "error.type"), Some(error));
            assert_eq!(field(request, "rpc.method"), None);
        }
    });
}

#[test]
fn handlers_run_in_the_span_of_the_request_which_is_in_that_of_the_caller() {
    recorded(async |recorder| {
        let service = Service::builder(MESH)
            .handle("sumInts", async |_: Message| {
                tracing::info!("at once");
                tokio::time::sleep(Duration::from_millis(1)).await;
                tracing::info!("after waiting");
                under("sum", 1)
            })
            .build()
            .expect("a service");
        let caller = tracing::info_span!("caller");
        let sent = send(&service, "/mesh", ints("4")).instrument(caller);
        assert_eq!(sent.await.status(), 200);
        for message in ["at once", "after waiting"] {
            assert_eq!(recorder.around(message), ["soap request", "caller"]);
        }
    });
}

#[test]
fn quick_handlers_and_those_of_one_way_operations_run_in_the_span_too() {
    recorded(async |recorder| {
        let service = Service::builder(TOUR)
            .handle("ping", async |_: Message| {
                tracing::info!("pinged");
                under("value", "pong")
            })
            .handle("notify", async |_: Message| {
                tokio::time::sleep(Duration::from_millis(1)).await;
                tracing::info!("notified");
            })
            .build()
            .expect("a service");
        // A handler that has always answered at once gets no task of its own.
        for _ in 0..40 {
            let text = envelope(SoapVersion::Soap11, "", "");
            send(&service, "/tour", text).await;
        }
        let notice = "<t:text xmlns:t='urn:tour:types'>x</t:text>";
        let taken = send(&service, "/tour", envelope(SoapVersion::Soap11, "", notice));
        assert_eq!(taken.await.status(), 202);
        service.finish().await;
        assert_eq!(recorder.around("notified"), ["soap request"]);
        let recorded = recorder.lock();
        let pinged = recorded.events.iter().filter(|(text, _)| text == "pinged");
        let spans: Vec<_> = pinged.map(|(_, spans)| spans.as_slice()).collect();
        assert!(spans.iter().all(|spans| *spans == ["soap request"]));
        assert_eq!(spans.len(), 40);
    });
}

#[test]
fn long_messages_are_converted_on_other_threads_in_the_span() {
    recorded(async |recorder| {
        let service = mesh().build().expect("a service");
        let long = "<item>12345</item>".repeat(200_000);
        let body = ints("1").replace("<item>1</item>", &long);
        assert_eq!(send(&service, "/mesh", body).await.status(), 200);
        let here = std::thread::current().id();
        let recorded = recorder.lock();
        let mut threads = recorded.entered.iter();
        assert!(threads.any(|(span, thread)| *span == "soap request" && *thread != here));
    });
}
