//! `bsoap serve`: a service without code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bsoap::attachments::Attachments;
use bsoap::codec::DecodeOptions;
use bsoap::http::{ErrorKind, PageRequest};
use bsoap::service::{Bound, stop_signal};
use bsoap::{Message, Service};
use bsoap_schema::Definitions;

use crate::error::Failure;
use crate::hints;
use crate::input::WsdlArguments;
use crate::message_limits::{LimitArguments, PackageLimitArguments};
use crate::tolerance::ToleranceArguments;

mod access;
mod answers;
mod headers;
mod log;
mod metrics;
mod options;
mod signals;

use access::{AccessFormat, AccessLog};
use answers::{Answers, answer, check_folder};
use headers::HeaderArguments;
use log::{Log, LogOptions};
use metrics::{Metrics, MetricsPlace};
use options::ServerArguments;

/// Serve a WSDL without code, until it is stopped
///
/// Every operation of every port is answered: with OPERATION.json from --answers if it is there, otherwise with a sample
/// made from the schema. The WSDL is published under ?wsdl. SIGTERM and Ctrl-C stop it when the requests that were sent are
/// answered; a second signal ends it at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The address to listen at, such as 0.0.0.0:8080, or a port of this machine alone; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = listen_address)]
    listen: String,
    /// Answers by operation: DIR/OPERATION.json, read again for every request; {"@fault": {"code": "Sender", "reason": …, "detail": {…}}}
    /// is a fault; {"@attachment": "FILE", "@mediaType": …} is the octets of a file of DIR
    #[arg(long, value_name = "DIR", conflicts_with = "echo")]
    answers: Option<PathBuf>,
    /// Answer with the request's parts, as far as the response has parts of that name or type
    #[arg(long)]
    echo: bool,
    /// Send all answers with MTOM, not only those to requests with MTOM
    #[arg(long)]
    mtom: bool,
    /// Only the service of this name
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    #[command(flatten)]
    tolerance: ToleranceArguments,
    /// Send hints with the locations of values, and use those of clients; without a value: only to clients that use them
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "offered")]
    hints: Option<hints::When>,
    /// A line of JSON for each request
    #[arg(long)]
    json: bool,
    /// No line for a request that is answered, only for faults and refused requests
    #[arg(long, short)]
    quiet: bool,
    /// The maximum number of requests that are processed at a time; more wait for their turn
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_handlers: Option<usize>,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    package_limits: PackageLimitArguments,
    #[command(flatten)]
    headers: HeaderArguments,
    #[command(flatten)]
    observation: ObservationArguments,
    #[command(flatten)]
    server: ServerArguments,
}

/// What can be seen of a service from outside.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Observation")]
struct ObservationArguments {
    /// Publish metrics for Prometheus: at /metrics of an address of their own, such as 9100 or 0.0.0.0:9100; or at a path of
    /// the service, such as /metrics
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<MetricsPlace>,
    /// A line for each answered request, appended to this file, which is opened again at SIGHUP; - is standard output, without the
    /// other lines for requests
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,
    /// The form of these lines
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        default_value_t,
        requires = "access_log"
    )]
    access_log_format: AccessFormat,
    /// Send a trace of each request to this collector of OpenTelemetry, such as http://localhost:4318 (OTLP over HTTP)
    #[cfg(feature = "otlp")]
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

impl Arguments {
    /// The collector of OpenTelemetry that traces are sent to.
    pub(crate) fn collector(&self) -> Option<&str> {
        #[cfg(feature = "otlp")]
        return self.observation.otlp.as_deref();
        #[cfg(not(feature = "otlp"))]
        None
    }
}

impl ObservationArguments {
    fn access_log(&self, log: &Arc<Log>) -> Result<Option<Arc<AccessLog>>, Failure> {
        let Some(path) = &self.access_log else {
            return Ok(None);
        };
        let access = AccessLog::new(path, self.access_log_format, log)?;
        Ok(Some(Arc::new(access)))
    }

    fn metrics(&self) -> Result<Option<Metrics>, Failure> {
        self.metrics
            .as_ref()
            .map(|_| Metrics::install())
            .transpose()
    }

    /// Whether the access log is the log of requests on standard output.
    fn is_on_output(&self) -> bool {
        self.access_log.as_deref() == Some(Path::new("-"))
    }
}

/// What observes the service.
struct Observers {
    log: Arc<Log>,
    access: Option<Arc<AccessLog>>,
    metrics: Option<Metrics>,
}

/// Serves a WSDL.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let definitions = arguments.wsdl.load_service()?;
    let answers = match &arguments.answers {
        Some(folder) if !folder.is_dir() => {
            return Err(Failure::input(format!(
                "--answers {} is not a folder",
                folder.display()
            )));
        }
        Some(folder) => Answers::Folder(folder.clone()),
        None if arguments.echo => Answers::Echo,
        None => Answers::Sample,
    };
    if let Answers::Folder(folder) = &answers {
        check_folder(folder, &definitions)?;
    }
    let log = Arc::new(Log::new(LogOptions {
        json: arguments.json,
        is_quiet: arguments.quiet,
        has_requests: !arguments.observation.is_on_output(),
    }));
    let observers = Observers {
        access: arguments.observation.access_log(&log)?,
        metrics: arguments.observation.metrics()?,
        log,
    };
    let service = service(arguments, &definitions, answers, &observers)?;
    let hints = service.meter().clone();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // Before anybody can know that the service is there.
        let stopped = stop_signal();
        let bound = service.bind(&arguments.listen).await;
        let bound = bound.map_err(|error| cannot_listen(&arguments.listen, "--listen", error))?;
        let metrics = publish(arguments, &observers, &bound).await?;
        let log = &observers.log;
        log.start(&bound.urls(), &arguments.wsdl.wsdl, metrics.as_deref());
        let access = observers.access.as_ref();
        signals::reload(arguments.server.tls(), bound.certificates(), access, log);
        signals::serve(bound, stopped).await;
        Ok::<(), Failure>(())
    })?;
    // The handlers have a part in the log as well, and end with the runtime.
    drop(runtime);
    let Observers { log, access, .. } = observers;
    if let Some(access) = access.and_then(Arc::into_inner) {
        let dropped = access.finish();
        if dropped > 0 {
            log.note(&format!("{dropped} lines of the access log were dropped"));
        }
    }
    if let Some(log) = Arc::into_inner(log) {
        log.end(&hints.hints());
    }
    Ok(())
}

/// The service that answers every operation.
fn service(
    arguments: &Arguments,
    definitions: &Arc<Definitions>,
    answers: Answers,
    observers: &Observers,
) -> Result<Service, Failure> {
    let log = &observers.log;
    let handler = {
        let log = Arc::clone(log);
        move |message: Message| {
            let answer = answer(&answers, &message);
            log.request(&message, &answer);
            async move { answer }
        }
    };
    let refusals = Arc::clone(log);
    let attachments = match arguments.mtom {
        true => Attachments::mtom(),
        false => Attachments::new(),
    };
    let builder = arguments.headers.applied(Service::builder(definitions))?;
    let mut builder = builder
        .handle_others(handler)
        .on_refusal(move |refusal| refusals.refusal(refusal))
        .decoding(arguments.limits.decoding(DecodeOptions::default()))
        .header_limits(arguments.limits.header())
        .attachments(arguments.package_limits.applied(attachments))
        .tolerance(arguments.tolerance.accepted())
        .hints(hints::wanted(arguments.hints))
        .max_handlers(arguments.max_handlers)
        .options(arguments.server.options()?);
    #[cfg(feature = "otlp")]
    if arguments.collector().is_some() {
        builder = builder.on_span(crate::traces::continue_trace);
    }
    if let Some(access) = observers.access.clone() {
        builder = builder.on_answer(move |answered| access.write(answered));
    }
    if let Some(metrics) = observers.metrics.clone() {
        builder = builder.metrics();
        if let Some(MetricsPlace::Path(path)) = &arguments.observation.metrics {
            builder = builder.page(path, move |_: &PageRequest<'_>| metrics.page());
        }
    }
    if let Some(saved) = arguments.server.saved() {
        builder = builder.budget(saved);
    }
    if let Some(name) = &arguments.service {
        builder = builder.service(name);
    }
    Ok(builder.build()?)
}

/// Publishes the metrics, and returns their URL.
async fn publish(
    arguments: &Arguments,
    observers: &Observers,
    bound: &Bound,
) -> Result<Option<String>, Failure> {
    let place = arguments.observation.metrics.as_ref();
    let Some((metrics, place)) = observers.metrics.as_ref().zip(place) else {
        return Ok(None);
    };
    metrics.sample(bound.sampler());
    match place {
        MetricsPlace::Listener(address) => metrics.listen(address).await.map(Some),
        MetricsPlace::Path(path) => Ok(Some(format!("{}{path}", bound.base()))),
    }
}

/// An address to listen at: a port alone is one of the loopback.
fn listen_address(given: &str) -> Result<String, String> {
    let (host, port) = given.rsplit_once(':').unwrap_or(("", given));
    match port.parse::<u16>() {
        Ok(port) if host.is_empty() => Ok(format!("127.0.0.1:{port}")),
        Ok(_) => Ok(given.to_owned()),
        Err(_) => Err(
            "expected HOST:PORT, such as 0.0.0.0:8080, or a port of this machine, such as 8105"
                .to_owned(),
        ),
    }
}

/// The failure if the service cannot listen at the address of an option.
fn cannot_listen(address: &str, option: &str, error: bsoap::Error) -> Failure {
    match error {
        bsoap::Error::Transport(error) if *error.kind() == ErrorKind::Listen => {
            let failure = Failure::usage(format!("cannot listen at {address} ({option})"));
            match std::error::Error::source(&error) {
                Some(source) => failure.because_of(&source.to_string()),
                None => failure,
            }
        }
        other => other.into(),
    }
}
