//! Sends spans to a collector of OpenTelemetry: OTLP over HTTP with protocol buffers, in batches, from a thread of its own. The
//! HTTP client is that of bsoap.

use std::sync::Mutex;
use std::time::Duration;

use bsoap::http::{Address, Body, Client, ClientOptions, Fetched, HeaderMap};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::{Builder, Runtime};
use tracing::level_filters::LevelFilter;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::registry::LookupSpan;

use crate::error::Failure;

/// The path of traces, which is added to the address of a collector.
const PATH: &str = "/v1/traces";

/// The time limit for a batch.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A collector. The spans that wait are sent when it is dropped.
pub(super) struct Collector {
    provider: SdkTracerProvider,
}

impl Collector {
    pub(super) fn new(url: &str) -> Result<Self, Failure> {
        let url = traces_url(url);
        let failed = || Failure::usage(format!("cannot send traces to {url} (--otlp)"));
        url.parse::<Address>()
            .map_err(|error| failed().because(error))?;
        let client = BatchClient::new().map_err(|error| failed().because_of(&error.to_string()))?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(&url)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| failed().because(error))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        Ok(Self { provider })
    }

    /// The layer that records the spans of requests.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let tracer = self.provider.tracer("bsoap");
        let filter = Targets::new().with_target("bsoap", LevelFilter::INFO);
        // The operation, which names the span, is known only after the span has been entered.
        let layer = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_context_activation(false);
        layer.with_filter(filter)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(TIMEOUT) {
            tracing::warn!(target: "bsoap", %error, "the last traces could not be sent");
        }
    }
}

/// Makes the span of a request a child of the one that its client names in the header `traceparent`. (W3C Trace Context)
pub(crate) fn continue_trace(span: &Span, headers: &HeaderMap) {
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    if parent.span().span_context().is_valid() {
        // It fails if no collector wants the span.
        let _ = span.set_parent(parent);
    }
}

/// The address that traces are sent to.
fn traces_url(url: &str) -> String {
    match url.ends_with(PATH) {
        true => url.to_owned(),
        false => format!("{}{PATH}", url.trim_end_matches('/')),
    }
}

/// The service that traces are of: that of the environment variable `OTEL_SERVICE_NAME`, otherwise `bsoap`.
fn resource() -> Resource {
    let builder = Resource::builder();
    match std::env::var_os("OTEL_SERVICE_NAME") {
        Some(_) => builder.build(),
        None => builder.with_service_name("bsoap").build(),
    }
}

/// Sends batches with a runtime of its own: the thread that sends them has none.
#[derive(Debug)]
struct BatchClient {
    runtime: Mutex<Runtime>,
    client: Client,
}

impl BatchClient {
    fn new() -> Result<Self, HttpError> {
        let mut options = ClientOptions::default();
        options.timeout = TIMEOUT;
        // Between two batches nobody looks after a connection.
        options.idle_connections = 0;
        Ok(Self {
            runtime: Mutex::new(Builder::new_current_thread().enable_all().build()?),
            client: Client::new(options)?,
        })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Fetched, HttpError> {
        let (head, body) = request.into_parts();
        let address: Address = head.uri.to_string().parse()?;
        let runtime = self.runtime.lock().map_err(|error| error.to_string())?;
        let posting = self.client.post(&address, head.headers, Body::from(body));
        Ok(runtime.block_on(posting)?)
    }
}

#[async_trait::async_trait]
impl HttpClient for BatchClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let fetched = self.send(request).inspect_err(|error| {
            tracing::warn!(target: "bsoap", error, "traces cannot be sent");
        })?;
        if !fetched.status.is_success() {
            tracing::warn!(target: "bsoap", status = %fetched.status, "the collector refuses traces");
        }
        let mut response = Response::new(fetched.body);
        *response.status_mut() = fetched.status;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::traces_url;

    #[test]
    fn the_path_of_traces_is_added_once() {
        let expected = "http://localhost:4318/v1/traces";
        for url in ["http://localhost:4318", "http://localhost:4318/", expected] {
            assert_eq!(traces_url(url), expected);
        }
    }
}
