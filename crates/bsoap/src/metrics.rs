//! Metrics of services for the crate [`metrics`](https://docs.rs/metrics) (feature `metrics`).
//!
//! [`ServiceBuilder::metrics`](crate::ServiceBuilder::metrics) records each request as it is answered. A [`Sampler`] records the
//! state of the server and the work that saved messages avoid, whenever the program calls it: before each scrape, or every few
//! seconds. Where the values go is the choice of the program, which installs a recorder, such as that of
//! `metrics-exporter-prometheus`, **before** it serves.
//!
//! ```
//! use bsoap::Service;
//!
//! # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
//! # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
//! // metrics_exporter_prometheus::PrometheusBuilder::new()
//! //     .set_buckets(bsoap::metrics::DURATION_BUCKETS)?
//! //     .install_recorder()?;
//! bsoap::metrics::describe();
//! let service = Service::builder(wsdl).metrics().build()?.bind("127.0.0.1:0").await?;
//! let sampler = service.sampler();
//! sampler.sample(); // before each scrape
//! # Ok::<(), bsoap::Error>(())
//! # }).unwrap();
//! ```
//!
//! | metric | labels | what |
//! |---|---|---|
//! | `soap_requests_total` | `service`, `operation`, `code` | requests answered |
//! | `soap_request_duration_seconds` | `service`, `operation` | from the head of a request to the last byte of its answer |
//! | `soap_request_bytes_total`, `soap_response_bytes_total` | `service`, `operation` | bodies on the wire |
//! | `soap_conversion_nanoseconds_total` | | values to text and text to values |
//! | `soap_converted_bytes_total` | `direction` | bodies, not compressed |
//! | `soap_connections` | `address` | open connections |
//! | `soap_connections_displaced_total` | | closed to make space for others |
//! | `soap_work_memory_bytes`, `soap_work_memory_limit_bytes` | `address` | memory of messages in work, and its limit |
//! | `soap_work_refused_total` | | requests refused because that memory was used up |
//! | `soap_sent_messages_total` | `match` | how answers were written: `content`, `perfect_structural`, `partial_structural`, `first_time`, `plain`, `bypassed`, `no_memory` |
//! | `soap_received_messages_total` | `mode` | how requests were read: `fast`, `regular`, `plain`, `bypassed`, `error` |
//! | `soap_values_written_total`, `soap_values_reread_total`, `soap_values_unchanged_total` | | values that were converted, or not |
//! | `soap_unchanged_bytes_total` | `direction` | text sent again, or compared with a previous message instead of read |
//! | `soap_saved_nanoseconds_total` | `direction` | the approximate time saved |
//! | `soap_saved_messages_evicted_total` | `kind` | templates, histories and skeletons evicted for lack of memory |
//! | `soap_hinted_messages_total` | `result` | messages with hints: `followed`, `learned`, `missed`, `plain`, `error`, `given` |
//!
//! `service` and `operation` are the port type and the operation in the WSDL, and empty if the request could not be decoded. `code` is
//! `ok`, the code of a fault, or the HTTP status of a request that was refused. No label has a text of a client. Requests for pages (GET)
//! are not counted. Counters of `metrics` are integers, so times are counted in nanoseconds.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bsoap_differential::hint::HintCounts;
use bsoap_differential::receive::ReceiveCounts;
use bsoap_differential::send::SendCounts;
use bsoap_http::{Answered, Method, OnAnswer, Watch};
use bsoap_schema::Binding;
use metrics::{Counter, Histogram, Unit, counter, gauge, histogram};
use metrics::{describe_counter, describe_gauge, describe_histogram};

use crate::service::Called;
use crate::tuning::{Meter, Traffic};

const REQUESTS: &str = "soap_requests_total";
const DURATION: &str = "soap_request_duration_seconds";
const REQUEST_BYTES: &str = "soap_request_bytes_total";
const RESPONSE_BYTES: &str = "soap_response_bytes_total";
const CONVERSION: &str = "soap_conversion_nanoseconds_total";
const CONVERTED_BYTES: &str = "soap_converted_bytes_total";
const CONNECTIONS: &str = "soap_connections";
const DISPLACED: &str = "soap_connections_displaced_total";
const WORK: &str = "soap_work_memory_bytes";
const WORK_LIMIT: &str = "soap_work_memory_limit_bytes";
const WORK_REFUSED: &str = "soap_work_refused_total";
const SENT: &str = "soap_sent_messages_total";
const RECEIVED: &str = "soap_received_messages_total";
const WRITTEN: &str = "soap_values_written_total";
const REREAD: &str = "soap_values_reread_total";
const UNCHANGED: &str = "soap_values_unchanged_total";
const UNCHANGED_BYTES: &str = "soap_unchanged_bytes_total";
const SAVED: &str = "soap_saved_nanoseconds_total";
const EVICTED: &str = "soap_saved_messages_evicted_total";
const HINTED: &str = "soap_hinted_messages_total";

/// The upper bounds of the buckets of `soap_request_duration_seconds`, for recorders that need them: those that OpenTelemetry advises,
/// and shorter ones.
pub const DURATION_BUCKETS: &[f64] = &[
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75,
    1.0, 2.5, 5.0, 7.5, 10.0,
];

/// The counters, their units, and what they count.
const COUNTERS: &[(&str, Unit, &str)] = &[
    (REQUESTS, Unit::Count, "Requests answered."),
    (
        REQUEST_BYTES,
        Unit::Bytes,
        "Bytes of request bodies on the wire.",
    ),
    (
        RESPONSE_BYTES,
        Unit::Bytes,
        "Bytes of response bodies on the wire.",
    ),
    (
        CONVERSION,
        Unit::Nanoseconds,
        "Time spent on converting values to text and text to values.",
    ),
    (
        CONVERTED_BYTES,
        Unit::Bytes,
        "Bytes of messages, not compressed.",
    ),
    (
        DISPLACED,
        Unit::Count,
        "Connections closed to make space for others.",
    ),
    (
        WORK_REFUSED,
        Unit::Count,
        "Requests refused because the memory of messages in work was used up.",
    ),
    (
        SENT,
        Unit::Count,
        "Messages sent, by how much of the previous message was reused.",
    ),
    (
        RECEIVED,
        Unit::Count,
        "Messages received, by how they were compared with the previous one.",
    ),
    (
        WRITTEN,
        Unit::Count,
        "Values written into the text of the previous message.",
    ),
    (
        REREAD,
        Unit::Count,
        "Values re-read because their text differed from the previous message.",
    ),
    (
        UNCHANGED,
        Unit::Count,
        "Values not read because their text did not change.",
    ),
    (
        UNCHANGED_BYTES,
        Unit::Bytes,
        "Bytes of text that were sent again, or of messages compared with a previous one instead of read.",
    ),
    (
        SAVED,
        Unit::Nanoseconds,
        "Approximate conversion time saved by comparing messages with previous ones.",
    ),
    (
        EVICTED,
        Unit::Count,
        "Saved messages evicted for lack of memory.",
    ),
    (
        HINTED,
        Unit::Count,
        "Messages with hints, by how the hints were used.",
    ),
];

/// The gauges, their units, and what they measure.
const GAUGES: &[(&str, Unit, &str)] = &[
    (CONNECTIONS, Unit::Count, "Open connections."),
    (WORK, Unit::Bytes, "Memory of the messages in work."),
    (
        WORK_LIMIT,
        Unit::Bytes,
        "Limit on the memory of the messages in work.",
    ),
];

/// Describes all metrics to the recorder that is installed.
pub fn describe() {
    for &(name, unit, text) in COUNTERS {
        describe_counter!(name, unit, text);
    }
    for &(name, unit, text) in GAUGES {
        describe_gauge!(name, unit, text);
    }
    let text = "Time from the head of a request to the last byte of its answer.";
    describe_histogram!(DURATION, Unit::Seconds, text);
}

/// The metrics of one operation. They are registered when it is first called: a WSDL may have hundreds of operations.
struct Operation {
    answered: Counter,
    duration: Histogram,
    received: Counter,
    sent: Counter,
}

impl Operation {
    fn new(service: &str, operation: &str) -> Self {
        let (service, operation) = (service.to_owned(), operation.to_owned());
        let labels = [("service", service), ("operation", operation)];
        let [service, operation] = labels.clone();
        Self {
            answered: counter!(REQUESTS, &[service, operation, ("code", "ok".to_owned())]),
            duration: histogram!(DURATION, &labels),
            received: counter!(REQUEST_BYTES, &labels),
            sent: counter!(RESPONSE_BYTES, &labels),
        }
    }
}

/// Port type → operation → metrics.
type Operations = HashMap<String, HashMap<String, OnceLock<Operation>>>;

/// A function that records each request to these bindings.
pub(crate) fn requests<'b>(bindings: impl Iterator<Item = &'b Binding>) -> OnAnswer {
    let mut known = Operations::new();
    for binding in bindings {
        let operations = known.entry(binding.port_type.clone()).or_default();
        let names = binding.operations.iter().map(|one| one.name.clone());
        operations.extend(names.map(|name| (name, OnceLock::new())));
    }
    let unknown = OnceLock::new();
    Arc::new(move |answered| {
        if *answered.method == Method::POST {
            record(&known, &unknown, answered);
        }
    })
}

/// Records a request.
fn record(known: &Operations, unknown: &OnceLock<Operation>, answered: &Answered<'_>) {
    let called = Called::of(answered);
    let names = called.and_then(|called| called.port_type().zip(called.operation()));
    let slot = names.and_then(|(service, name)| known.get(service)?.get(name));
    let (service, name) = names.filter(|_| slot.is_some()).unwrap_or_default();
    let operation = slot
        .unwrap_or(unknown)
        .get_or_init(|| Operation::new(service, name));
    match Called::code(answered) {
        code if code == "ok" => operation.answered.increment(1),
        code => counter!(REQUESTS, "service" => service.to_owned(), "operation" => name.to_owned(), "code" => code).increment(1),
    }
    operation.duration.record(answered.duration);
    operation.received.increment(answered.received);
    operation.sent.increment(answered.sent);
}

/// Records the state of a server, and the work that saved messages avoid.
#[derive(Debug)]
pub struct Sampler {
    watch: Watch,
    meters: Vec<Meter>,
    address: String,
    /// What has been recorded so far.
    recorded: Mutex<Counts>,
}

/// The counts of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    traffic: Traffic,
    sending: SendCounts,
    receiving: ReceiveCounts,
    hints: HintCounts,
    displaced: u64,
    refused: u64,
}

impl Sampler {
    pub(crate) fn new(watch: Watch, meters: Vec<Meter>, address: SocketAddr) -> Self {
        Self {
            watch,
            meters,
            address: address.to_string(),
            recorded: Mutex::default(),
        }
    }

    /// Records what has happened since the last sample. Several samplers of a process add up.
    pub fn sample(&self) {
        let (work, address) = (self.watch.work(), &self.address);
        gauge!(CONNECTIONS, "address" => address.clone()).set(self.watch.connections() as f64);
        gauge!(WORK, "address" => address.clone()).set(work.used() as f64);
        gauge!(WORK_LIMIT, "address" => address.clone()).set(work.limit() as f64);
        let recorded = self.recorded.lock();
        let mut recorded = recorded.unwrap_or_else(PoisonError::into_inner);
        let now = self.read();
        record_server(&now, &recorded);
        record_conversion(&now.traffic, &recorded.traffic);
        record_sending(&now.sending.since(&recorded.sending));
        record_receiving(&now.receiving.since(&recorded.receiving));
        record_hints(&now.hints.since(&recorded.hints));
        *recorded = now;
    }

    fn read(&self) -> Counts {
        let mut now = Counts {
            displaced: self.watch.closed_for_others(),
            refused: self.watch.work().refused(),
            ..Counts::default()
        };
        for meter in &self.meters {
            let traffic = meter.read();
            now.traffic.sent += traffic.sent;
            now.traffic.received += traffic.received;
            now.traffic.converting += traffic.converting;
            now.sending.add(&meter.sending());
            now.receiving.add(&meter.receiving());
            now.hints.add(&meter.hints());
        }
        now
    }
}

fn record_server(now: &Counts, before: &Counts) {
    counter!(DISPLACED).increment(now.displaced - before.displaced);
    counter!(WORK_REFUSED).increment(now.refused - before.refused);
}

fn record_conversion(now: &Traffic, before: &Traffic) {
    counter!(CONVERSION).increment(nanoseconds(now.converting - before.converting));
    let bytes =
        |direction, bytes| counter!(CONVERTED_BYTES, "direction" => direction).increment(bytes);
    bytes("sent", now.sent - before.sent);
    bytes("received", now.received - before.received);
}

fn record_sending(counts: &SendCounts) {
    let matches = &counts.matches;
    for (kind, messages) in [
        ("content", matches.content),
        ("perfect_structural", matches.perfect_structural),
        ("partial_structural", matches.partial_structural),
        ("first_time", matches.first_time),
        ("plain", counts.plain),
        ("bypassed", counts.bypassed),
        ("no_memory", counts.no_memory),
    ] {
        counter!(SENT, "match" => kind).increment(messages);
    }
    counter!(WRITTEN).increment(matches.values);
    counter!(UNCHANGED_BYTES, "direction" => "sent").increment(matches.unchanged_bytes);
    counter!(SAVED, "direction" => "sent").increment(nanoseconds(counts.saved));
    counter!(EVICTED, "kind" => "template").increment(counts.evicted);
}

fn record_receiving(counts: &ReceiveCounts) {
    let reads = &counts.reads;
    for (mode, messages) in [
        ("fast", reads.fast),
        ("regular", reads.regular),
        ("plain", counts.plain),
        ("bypassed", counts.bypassed),
        ("error", counts.errors),
    ] {
        counter!(RECEIVED, "mode" => mode).increment(messages);
    }
    counter!(REREAD).increment(reads.values);
    counter!(UNCHANGED).increment(reads.unchanged_slots);
    counter!(UNCHANGED_BYTES, "direction" => "received").increment(reads.fast_bytes);
    counter!(SAVED, "direction" => "received").increment(nanoseconds(counts.saved));
    counter!(EVICTED, "kind" => "history").increment(counts.evicted);
}

fn record_hints(counts: &HintCounts) {
    for (result, messages) in [
        ("followed", counts.followed),
        ("learned", counts.learned),
        ("missed", counts.missed),
        ("plain", counts.plain),
        ("error", counts.errors),
        ("given", counts.given),
    ] {
        counter!(HINTED, "result" => result).increment(messages);
    }
    counter!(EVICTED, "kind" => "skeleton").increment(counts.evicted);
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
