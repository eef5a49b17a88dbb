//! `bsoap serve`: a service without code.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bsoap::codec::Object;
use bsoap::http::{ErrorKind, Refusal};
use bsoap::tuning::HintCounts;
use bsoap::{Message, Record, Service, Value};
use bsoap_protocol::{Fault, Target};
use bsoap_schema::Definitions;
use serde_json::json;

use crate::error::Failure;
use crate::hints;
use crate::input::{self, WsdlArguments};
use crate::output::Output;
use crate::sample;
use crate::style::{BAD, DIM, GOOD, STRONG, paint};
use crate::tolerance::{self, ToleranceArguments};

/// Serve a WSDL without code, until interrupted
///
/// Every operation of every port is answered: with OPERATION.json from --answers if it is there, otherwise with a sample
/// made from the schema. The WSDL is published under ?wsdl.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The address to listen at, such as 0.0.0.0:8080, or a port of this machine alone; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = listen_address)]
    listen: String,
    /// Answers by operation: DIR/OPERATION.json, read again for every request; {"@fault": {"code": "Sender", "reason": …, "detail": {…}}}
    /// is a fault
    #[arg(long, value_name = "DIR", conflicts_with = "echo")]
    answers: Option<PathBuf>,
    /// Answer with the request's parts, as far as the response has parts of that name or type
    #[arg(long)]
    echo: bool,
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
}

/// How answers are made.
#[derive(Clone, Debug)]
enum Answers {
    Sample,
    Echo,
    Folder(PathBuf),
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
    let log = Arc::new(Log {
        json: arguments.json,
        is_quiet: arguments.quiet,
        requests: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let handler = {
        let (answers, log) = (answers.clone(), Arc::clone(&log));
        move |message: Message| {
            let answer = answer(&answers, &message);
            log.request(&message, &answer);
            async move { answer }
        }
    };
    let mut builder = Service::builder(&definitions)
        .handle_others(handler)
        .on_refusal({
            let log = Arc::clone(&log);
            move |refusal| log.refusal(refusal)
        })
        .tolerance(arguments.tolerance.tolerance())
        .hints(hints::wanted(arguments.hints));
    if let Some(name) = &arguments.service {
        builder = builder.service(name);
    }
    let service = builder.build()?;
    let meter = service.meter().clone();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let bound = service.bind(&arguments.listen).await;
        let bound = bound.map_err(|error| cannot_listen(&arguments.listen, error))?;
        log.start(&bound.urls(), &arguments.wsdl.wsdl);
        bound
            .run(async { drop(tokio::signal::ctrl_c().await) })
            .await;
        log.end(&meter.hints());
        Ok(())
    })
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

/// The failure if the service cannot listen at the address of `--listen`.
fn cannot_listen(address: &str, error: bsoap::Error) -> Failure {
    match error {
        bsoap::Error::Transport(error) if *error.kind() == ErrorKind::Listen => {
            let failure = Failure::usage(format!("cannot listen at {address} (--listen)"));
            match std::error::Error::source(&error) {
                Some(source) => failure.because_of(&source.to_string()),
                None => failure,
            }
        }
        other => other.into(),
    }
}

/// Reports at once an answer that belongs to no operation.
fn check_folder(folder: &Path, definitions: &Definitions) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::input(format!("cannot read folder {}", folder.display())).because(error)
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_json = path
            .extension()
            .is_some_and(|extension| extension == "json");
        if is_json
            && definitions
                .ports()
                .all(|(_, port)| port.binding.operation(name).is_none())
        {
            return Err(Failure::input(format!(
                "{} answers an operation that the WSDL does not have: remove or rename it",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Why an answer could not be made: for the log and, as a fault, for the client.
#[derive(Debug)]
struct Unanswerable(String);

impl From<Unanswerable> for Fault {
    fn from(problem: Unanswerable) -> Self {
        Self::receiver(problem.0)
    }
}

/// The answer to a request; a fault if the answer could not be made, or a file of --answers says so.
fn answer(answers: &Answers, message: &Message) -> Result<Record, Fault> {
    let target = message.target();
    let sampled = || Ok(record(target, sample::answer(target))?);
    let folder = match answers {
        Answers::Sample => return sampled(),
        Answers::Echo => {
            return match echoed(target, message.value()) {
                Some(record) => Ok(record),
                None => sampled(),
            };
        }
        Answers::Folder(folder) => folder,
    };
    let file = folder.join(format!("{}.json", target.operation().name));
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return sampled(),
        Err(error) => return Err(Unanswerable(format!("{}: {error}", file.display())).into()),
    };
    let name = file.display().to_string();
    let value =
        input::parse_json(&text, &name).map_err(|failure| Unanswerable(failure.report()))?;
    if let Some(given) = value.get("@fault") {
        return Err(fault(given));
    }
    let record = record(target, Value::from_json(value));
    Ok(record.map_err(|Unanswerable(problem)| Unanswerable(format!("{name}: {problem}")))?)
}

/// A fault from a file: an object with `code` (`Sender` or `Receiver`), `reason` and `detail`, each optional.
fn fault(given: &serde_json::Value) -> Fault {
    let reason = given["reason"].as_str().unwrap_or("the service failed");
    let fault = match given["code"].as_str() {
        Some("Sender" | "Client") => Fault::sender(reason),
        _ => Fault::receiver(reason),
    };
    match given.get("detail") {
        Some(detail) => fault.with_detail(Value::from_json(detail.clone())),
        None => fault,
    }
}

/// The Record of an answer.
fn record(target: &Target, value: Value) -> Result<Record, Unanswerable> {
    target.response(value).map_err(|error| {
        let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| {
            error.source()
        });
        Unanswerable(
            causes
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(": "),
        )
    })
}

/// An answer of the request's members: those of the same name; if both have one member, that one. Members that the request does
/// not have are left out, unless the answer must have them.
fn echoed(target: &Target, request: Value) -> Option<Record> {
    let given = match request {
        Value::Object(given) => given,
        Value::Nil => Object::new(),
        _ => return None,
    };
    let Value::Object(sampled) = sample::answer(target) else {
        return record(target, Value::Object(given)).ok();
    };
    let is_argument = |name: &&str| !name.starts_with('@');
    let same = |(name, _): &(&str, &Value)| given.get(name).is_some();
    if !sampled.iter().any(|member| same(&member))
        && let ([only], [place]) = (
            &given.keys().filter(is_argument).collect::<Vec<_>>()[..],
            &sampled.keys().collect::<Vec<_>>()[..],
        )
        && let Some(value) = given.get(only)
        && let Ok(record) = record(
            target,
            Value::object([((*place).to_owned(), value.clone())]),
        )
    {
        return Some(record);
    }
    let of_request: Object = sampled
        .iter()
        .filter(same)
        .filter_map(|(name, _)| Some((name.to_owned(), given.get(name)?.clone())))
        .collect();
    let completed: Object = sampled
        .iter()
        .map(|(name, sample)| (name.to_owned(), given.get(name).unwrap_or(sample).clone()))
        .collect();
    [of_request, completed]
        .into_iter()
        .find_map(|members| record(target, Value::Object(members)).ok())
}

/// A line for each request.
struct Log {
    json: bool,
    is_quiet: bool,
    requests: AtomicU64,
    refused: AtomicU64,
}

impl Log {
    fn start(&self, urls: &[String], wsdl: &str) {
        let mut text = format!("{} {wsdl}", paint(STRONG, "serving"));
        for url in urls {
            let _ = write!(text, "\n  {url}  {}", paint(DIM, &format!("{url}?wsdl")));
        }
        if self.json {
            let _ = Output::new(true).json(&json!({"serving": wsdl, "urls": urls}));
        } else {
            let _ =
                Output::default().line(&format!("{text}\n{}", paint(DIM, "press Ctrl-C to stop")));
        }
    }

    /// Writes the line of one request. Write errors are ignored, so that they do not stop the service.
    fn request(&self, message: &Message, answer: &Result<Record, Fault>) {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_quiet && answer.is_ok() {
            return;
        }
        let (peer, operation) = (message.peer(), message.operation());
        if self.json {
            let fault = answer.as_ref().err().map(Fault::reason);
            let _ = Output::new(true).json(&json!({"request": number, "peer": peer.to_string(), "operation": operation, "fault": fault, "warnings": tolerance::json(message.warnings())}));
            return;
        }
        tolerance::print(message.warnings(), &Output::default());
        let end = match answer {
            Ok(_) => paint(GOOD, "answered"),
            Err(fault) => paint(BAD, &format!("fault: {}", fault.reason())),
        };
        let _ = Output::default().line(&format!(
            "{} {peer}  {}  {end}",
            paint(DIM, &format!("{number:>5}")),
            paint(STRONG, operation)
        ));
    }

    /// Writes the line of a request that reached no handler.
    fn refusal(&self, refusal: &Refusal<'_>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let Refusal {
            peer,
            method,
            path,
            status,
            reason,
            ..
        } = *refusal;
        if self.json {
            let _ = Output::new(true).json(&json!({"peer": peer.to_string(), "method": method, "path": path, "status": status, "refused": reason}));
            return;
        }
        // The reason may quote the message.
        let reason: String = reason
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let _ = Output::default().line(&format!(
            "{:>5} {peer}  {}  {}",
            "",
            paint(STRONG, &format!("{method} {path}")),
            paint(BAD, &format!("refused with HTTP status {status}: {reason}"))
        ));
    }

    fn end(&self, hints: &HintCounts) {
        let requests = self.requests.load(Ordering::Relaxed);
        let refused = self.refused.load(Ordering::Relaxed);
        let output = Output::default();
        output.note(&format!("{requests} requests served, {refused} refused"));
        if *hints != HintCounts::default() {
            output.note(&format!("hints: {}", hints::text(hints)));
        }
    }
}
