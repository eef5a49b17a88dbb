//! `bsoap call`: one call, or many with statistics of their times.

use std::time::{Duration, Instant};

use bsoap::attachments::Attachment;
use bsoap::codec::DecodeOptions;
use bsoap::security::UsernameToken;
use bsoap::tuning::{HintCounts, ReceiveCounts, Receiving, SendCounts, Sending};
use bsoap::{Answer, Client, ClientBuilder, Fault, Value};
use serde_json::json;

use super::encode::{Version, values};
use crate::attachments::{self, AttachmentArguments, Spelling};
use crate::delivery::Delivery;
use crate::error::Failure;
use crate::input::WsdlArguments;
use crate::message_limits::{LimitArguments, size};
use crate::output::Output;
use crate::progress;
use crate::show::{self, Captured, Form, SentRequest};
use crate::style::{BAD, DIM, STRONG, paint};
use crate::tally::quantile;
use crate::tolerance::{self, ToleranceArguments};
use crate::{hints, pairs, receiving, sending};

/// Call an operation and print its answer
///
/// Arguments of a wrapped operation are the children of its wrapper; those of a bare or rpc operation are its parts by name;
/// header blocks are under `@headers`. The schema gives each value its type: write n=7, name=Ada.
///
///   bsoap call mesh.wsdl sumDoubles values.item=1.5 values.item=2.5
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The operation
    operation: String,
    /// Arguments: key=value, key=@file, key:=json; members by dots, the same key again for arrays
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Print one line of JSON. With a value: the arguments too, as JSON text, @FILE, or `-` for standard input
    #[arg(long, value_name = "JSON", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    json: Option<String>,
    /// The address to call instead of the WSDL's
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// The service, where the WSDL has several
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// The port, where the service has several
    #[arg(long, value_name = "NAME")]
    port: Option<String>,
    #[command(flatten)]
    delivery: Delivery,
    #[command(flatten)]
    attachments: AttachmentArguments,
    #[command(flatten)]
    tolerance: ToleranceArguments,
    #[command(flatten)]
    limits: LimitArguments,
    /// The maximum length of an answer in bytes, such as 256M (the default)
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Limits")]
    max_response: Option<u64>,
    /// The version of SOAP, where the WSDL has ports for both versions
    #[arg(long, value_name = "VERSION")]
    soap: Option<Version>,
    /// Call this many times, one after the other, and print statistics
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// A SOAP header block: key=value, as arguments are given, if the WSDL declares it; otherwise XML, an element with the
    /// declarations of its namespaces; may be given several times
    #[arg(long, value_name = "KEY=VALUE|XML")]
    header: Vec<String>,
    /// An HTTP header, such as 'X-Key: 1'; may be given several times
    #[arg(long, value_name = "HEADER")]
    http_header: Vec<String>,
    /// Print requests and responses with their HTTP headers on standard error; `raw` as they are sent
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "pretty")]
    show: Option<Form>,
    /// User of a WS-Security UsernameToken
    #[arg(long, value_name = "NAME", requires = "wsse_password")]
    wsse_username: Option<String>,
    /// Password of the UsernameToken, which is sent as a digest
    #[arg(
        long,
        env = "BSOAP_WSSE_PASSWORD",
        hide_env_values = true,
        requires = "wsse_username"
    )]
    wsse_password: Option<String>,
    /// Send the password of the UsernameToken as text
    #[arg(long, requires = "wsse_username")]
    wsse_text: bool,
    /// Print the request instead of sending it; with --show=raw as it is sent
    #[arg(long, conflicts_with = "repeat")]
    dry_run: bool,
    /// Write each message in full, without templates
    #[arg(long)]
    no_templates: bool,
    /// Read each answer in full, without comparing it with the one before
    #[arg(long)]
    no_histories: bool,
    /// Send hints with the locations of values, and use those of the peer; without a value: also if the peer has not asked for them
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    hints: Option<hints::When>,
    /// Send and ask for gzip
    #[arg(long)]
    gzip: bool,
}

/// Calls an operation.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = &mut Output::new(arguments.json.is_some());
    let captured = Captured::default();
    let http = arguments.wsdl.connection.options()?;
    let definitions = arguments.wsdl.load_service_with(&http)?;
    let builder = Client::builder(definitions).http(http);
    let builder = arguments.wsdl.connection.authenticated(builder);
    let builder = arguments.delivery.applied(builder, &arguments.operation);
    let builder = arguments.attachments.applied(builder);
    let mut builder = client_builder(arguments, builder)?;
    if arguments.dry_run {
        builder = captured.instead_of_sending(builder);
    }
    let client = builder.build()?;
    let (wsdl, operation) = (&arguments.wsdl.wsdl, &arguments.operation);
    let operations = client.operations();
    let Some(called) = operations.iter().find(|known| known.name == *operation) else {
        let known: Vec<&str> = operations.iter().map(|known| &*known.name).collect();
        return Err(Failure::no_operation(wsdl, operation, &known));
    };
    let spelling = Spelling::of(client.plan());
    let is_one_way = called.output.is_none();
    let mut named = arguments.attachments.named(called, spelling)?;
    let mut given = arguments.pairs.clone();
    let declared = arguments.header.iter().filter(|header| !is_xml(header));
    given.extend(declared.map(|pair| format!("{}{pair}", pairs::HEADERS)));
    let json = arguments.json.as_deref().filter(|json| !json.is_empty());
    let value = named.resolve(values(json, &given, spelling)?)?;
    let request = Request {
        client: &client,
        operation,
        value,
        beside: named.others().cloned().collect(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    if arguments.dry_run {
        let called = runtime.block_on(once(&request, output));
        return match captured.take() {
            Some(request) => {
                let form = arguments.show.unwrap_or(Form::Pretty);
                print_request(&client, &request, form, output)
            }
            None => called.map(drop),
        };
    }
    match arguments.repeat {
        None => match runtime.block_on(once(&request, output))? {
            // A one-way operation has no answer.
            Ok(_) if is_one_way => Ok(()),
            Ok(answer) if answer.record().is_none() => accepted(&answer, output),
            Ok(answer) => print_answer(&answer, spelling, &arguments.attachments, output),
            Err(fault) => refused(&fault, output),
        },
        Some(times) => runtime.block_on(repeat(&request, times))?.report(output),
    }
}

/// Whether a header block is given as XML, and not as the pair of one that the WSDL declares.
fn is_xml(header: &str) -> bool {
    header.trim_start().starts_with('<')
}

fn client_builder(
    arguments: &Arguments,
    mut builder: ClientBuilder,
) -> Result<ClientBuilder, Failure> {
    let timeout = Duration::try_from_secs_f64(arguments.timeout).map_err(|error| {
        Failure::usage("--timeout must be a positive number of seconds").because(error)
    })?;
    builder = builder
        .timeout(timeout)
        .decoding(arguments.limits.decoding(DecodeOptions::default()))
        .header_limits(arguments.limits.header())
        .tolerance(arguments.tolerance.accepted());
    for block in arguments.header.iter().filter(|header| is_xml(header)) {
        builder = builder.soap_header_xml(block);
    }
    if let Some(max) = arguments.max_response {
        builder = builder.max_response(max);
    }
    if let Some(endpoint) = &arguments.endpoint {
        builder = builder.endpoint(endpoint);
    }
    if let Some(service) = &arguments.service {
        builder = builder.service(service);
    }
    if let Some(port) = &arguments.port {
        builder = builder.port(port);
    }
    if let Some(version) = arguments.soap {
        builder = builder.version(version.into());
    }
    if arguments.no_templates {
        builder = builder.sending(Sending::off());
    }
    if arguments.no_histories {
        builder = builder.receiving(Receiving::off());
    }
    builder = builder.hints(hints::wanted(arguments.hints));
    if arguments.gzip {
        builder = builder.gzip_requests().accept_gzip();
    }
    for header in &arguments.http_header {
        let Some((name, value)) = header.split_once(':') else {
            return Err(Failure::usage(format!(
                "{header:?} is not an HTTP header; expected 'Name: value'"
            )));
        };
        builder = builder.http_header(name.trim(), value.trim());
    }
    if let (Some(user), Some(password)) = (&arguments.wsse_username, &arguments.wsse_password) {
        builder = builder.username_token(match arguments.wsse_text {
            true => UsernameToken::text(user, password),
            false => UsernameToken::digest(user, password),
        });
    }
    if let Some(form) = arguments.show.filter(|_| !arguments.dry_run) {
        builder = show::messages(builder, form);
    }
    Ok(builder)
}

/// What is sent, once or several times.
struct Request<'r> {
    client: &'r Client,
    operation: &'r str,
    value: Value,
    /// What no value refers to.
    beside: Vec<Attachment>,
}

impl Request<'_> {
    /// The answer, or the fault.
    async fn answer(&self) -> Result<Result<Answer, Fault>, Failure> {
        let call = self.client.operation(self.operation);
        let beside = self.beside.iter().cloned();
        let call = beside.fold(call, bsoap::Call::attach);
        match call.call(&self.value).await {
            Ok(answer) => Ok(Ok(answer)),
            Err(bsoap::Error::Fault(fault)) => Ok(Err(fault)),
            Err(error) => Err(error.into()),
        }
    }
}

/// The answer, or the fault. Warnings about the answer are printed.
async fn once(request: &Request<'_>, output: &Output) -> Result<Result<Answer, Fault>, Failure> {
    let (endpoint, operation) = (request.client.endpoint(), request.operation);
    tracing::info!(endpoint, operation, "calling");
    let answer = request.answer().await?;
    if let Ok(answer) = &answer {
        tolerance::print(answer.warnings(), output);
    }
    Ok(answer)
}

/// Prints that the peer has accepted a request whose answer goes elsewhere.
fn accepted(answer: &Answer, output: &mut Output) -> Result<(), Failure> {
    let id = answer.message_id();
    if output.is_json() {
        return output.json(&json!({ "accepted": id }));
    }
    output.note(&match id {
        Some(id) => format!("accepted: the answer to {id} goes to another endpoint"),
        None => "accepted, without an answer".to_owned(),
    });
    Ok(())
}

/// Prints an answer. Its attachments are saved if that is wanted.
fn print_answer(
    answer: &Answer,
    spelling: Spelling,
    options: &AttachmentArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let attachments = answer.attachments();
    let saved = options.save(attachments)?;
    match attachments::shown(answer.value(), spelling, attachments, &saved) {
        Value::Nil if !output.is_json() => Ok(()),
        value if output.is_json() => output.json(&value),
        value => output.pretty_json(&value),
    }
}

/// Prints the request that would be sent.
fn print_request(
    client: &Client,
    (headers, text): &SentRequest,
    form: Form,
    output: &mut Output,
) -> Result<(), Failure> {
    if !output.is_json() {
        return output.line(&show::xml(text, form));
    }
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    output.json(&json!({
        "endpoint": client.endpoint(), "content_type": header("content-type"), "soap_action": header("soapaction"),
        "envelope": String::from_utf8_lossy(text),
    }))
}

/// Prints a fault in full; the exit code says that it was one.
fn refused(fault: &Fault, output: &mut Output) -> Result<(), Failure> {
    let reason = fault
        .reasons
        .first()
        .map_or("", |reason| reason.text.as_str());
    if output.is_json() {
        let subcodes: Vec<String> = fault.subcodes.iter().map(ToString::to_string).collect();
        let detail = fault.detail.as_ref().map(serde_json::Value::from);
        let mut shown = json!({"code": fault.code.to_string(), "subcodes": subcodes, "reason": reason, "detail": detail});
        if !fault.headers.is_empty() {
            let headers = Value::from(fault.headers.clone());
            shown["headers"] = serde_json::Value::from(&headers);
        }
        output.json(&json!({ "fault": shown }))?;
    } else {
        let names = std::iter::once(fault.code.to_string())
            .chain(fault.subcodes.iter().map(ToString::to_string));
        let code = names.collect::<Vec<_>>().join(" / ");
        output.line(&format!(
            "{} {}: {reason}",
            paint(BAD, "fault"),
            paint(STRONG, &code)
        ))?;
        if let Some(detail) = &fault.detail {
            output.pretty_json(detail)?;
        }
        if !fault.headers.is_empty() {
            let headers = Value::from(fault.headers.clone());
            output.pretty_json(&Value::object([("@headers", headers)]))?;
        }
    }
    Err(Failure::violation("the peer answered with a fault"))
}

/// The times of many calls.
struct Statistics {
    /// Seconds of each call.
    calls: Vec<f64>,
    faults: usize,
    /// The number of answers with warnings.
    warned: usize,
    seconds: f64,
    sent: u64,
    received: u64,
    sending: SendCounts,
    receiving: ReceiveCounts,
    hints: HintCounts,
}

async fn repeat(request: &Request<'_>, times: u32) -> Result<Statistics, Failure> {
    let client = request.client;
    let bar = progress::counter(times.into(), request.operation);
    let mut statistics = Statistics {
        calls: Vec::with_capacity(times as usize),
        faults: 0,
        warned: 0,
        seconds: 0.0,
        sent: 0,
        received: 0,
        sending: SendCounts::default(),
        receiving: ReceiveCounts::default(),
        hints: HintCounts::default(),
    };
    let before = client.meter().read();
    let start = Instant::now();
    for _ in 0..times {
        let call = Instant::now();
        match request.answer().await? {
            Ok(answer) => statistics.warned += usize::from(!answer.warnings().is_empty()),
            Err(_) => statistics.faults += 1,
        }
        statistics.calls.push(call.elapsed().as_secs_f64());
        bar.inc(1);
    }
    statistics.seconds = start.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let traffic = client.meter().read();
    statistics.sent = traffic.sent - before.sent;
    statistics.received = traffic.received - before.received;
    statistics.sending = client.sender_stats();
    statistics.receiving = client.receiver_stats();
    statistics.hints = client.hint_stats();
    Ok(statistics)
}

impl Statistics {
    fn report(&self, output: &mut Output) -> Result<(), Failure> {
        let milliseconds = |share: f64| quantile(self.calls.clone(), share) * 1e3;
        let (min, median, p99, max) = (
            milliseconds(0.0),
            milliseconds(0.5),
            milliseconds(0.99),
            milliseconds(1.0),
        );
        let (calls, rate) = (
            self.calls.len(),
            self.calls.len() as f64 / self.seconds.max(1e-9),
        );
        if output.is_json() {
            output.json(&json!({
                "calls": calls, "faults": self.faults, "answers_with_warnings": self.warned, "seconds": self.seconds, "calls_per_s": rate,
                "min_ms": min, "median_ms": median, "p99_ms": p99, "max_ms": max, "bytes_sent": self.sent, "bytes_received": self.received,
                "sending": sending::json(&self.sending), "receiving": receiving::json(&self.receiving),
                "hints": hints::json(&self.hints),
            }))?;
        } else {
            output.line(&format!(
                "{} calls in {:.3} s, {} calls/s",
                paint(STRONG, &calls.to_string()),
                self.seconds,
                paint(STRONG, &format!("{rate:.0}"))
            ))?;
            output.line(&format!(
                "min {min:.3} ms   median {median:.3} ms   p99 {p99:.3} ms   max {max:.3} ms"
            ))?;
            output.line(&paint(
                DIM,
                &format!("{} bytes sent, {} received", self.sent, self.received),
            ))?;
            let matches = sending::matches(&self.sending);
            output.line(&format!("{} {matches}", paint(DIM, "requests:")))?;
            for line in sending::saved(&self.sending) {
                output.line(&paint(DIM, &format!("  {line}")))?;
            }
            let modes = receiving::modes(&self.receiving);
            output.line(&format!("{} {modes}", paint(DIM, "answers:")))?;
            for line in receiving::saved(&self.receiving) {
                output.line(&paint(DIM, &format!("  {line}")))?;
            }
        }
        if self.hints != HintCounts::default() && !output.is_json() {
            let counts = hints::text(&self.hints);
            output.line(&format!("{} {counts}", paint(DIM, "hints:")))?;
        }
        if self.warned > 0 && !output.is_json() {
            output.note(&format!(
                "{} of {calls} answers had warnings; call once, without --repeat, to see them",
                self.warned
            ));
        }
        match self.faults {
            0 => Ok(()),
            faults => Err(Failure::violation(format!(
                "the peer answered {faults} of {calls} calls with a fault; call once, without --repeat, to see it"
            ))),
        }
    }
}
