//! `bsoap demo`: the main job on one page. Serves the mesh service on a free port and solves the heat equation
//! against it: every step sends the whole field and gets the next one back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bsoap::{Client, Fault, Message, ReceiveCounts, SendCounts, Service, Traffic, Value};
use serde_json::json;

use crate::error::Failure;
use crate::output::Output;
use crate::progress;
use crate::style::{DIM, GOOD, STRONG, paint};
use crate::{receiving, sending};

mod heat;
mod picture;

use heat::Field;

const WSDL: &str = include_str!("../../../../examples/mesh/mesh.wsdl");

/// Solve the heat equation over SOAP and leave a picture of it
///
/// Serves the mesh service (examples/mesh/mesh.wsdl) on a free port and exchanges a field of doubles with its jacobiStep,
/// step by step. Every answer is compared bit by bit with the same step computed here.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Rows and columns of the field
    #[arg(long, value_name = "N", default_value_t = 192, value_parser = clap::value_parser!(u16).range(8..=1024))]
    size: u16,
    /// Steps
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: u32,
    /// Where the picture goes
    #[arg(long, value_name = "DIR", default_value = "demo-out")]
    out: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the demo.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let output = &mut Output::new(arguments.json);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let size = usize::from(arguments.size);
    let start = Field::hot_spots(size, size);
    let (field, report) = runtime.block_on(solve(start, arguments.steps, output))?;
    fs::create_dir_all(&arguments.out)?;
    let path = arguments.out.join("field.png");
    picture::write(&path, &field)?;
    report.print(&path, output)
}

/// The service's side of a step.
async fn jacobi_step(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let side = |name: &str| {
        arguments[name]
            .as_i64()
            .and_then(|side| usize::try_from(side).ok())
            .unwrap_or(0)
    };
    let (rows, columns) = (side("rows"), side("columns"));
    let values = arguments["field"]["item"].as_doubles().unwrap_or_default();
    let Some(field) = Field::new(rows, columns, values.to_vec()) else {
        return Err(Fault::sender(
            "the field does not have rows times columns values",
        ));
    };
    let (next, residual) = field.step();
    Ok(Value::object([
        ("field", array(next.into_values())),
        ("residual", residual.into()),
    ]))
}

/// An `ArrayOfDouble`.
fn array(values: Vec<f64>) -> Value {
    Value::object([("item", Value::from(values))])
}

async fn solve(start: Field, steps: u32, output: &Output) -> Result<(Field, Report), Failure> {
    let service = Service::builder(WSDL)
        .handle("jacobiStep", jacobi_step)
        .build()?;
    let served = service.meter().clone();
    let bound = service.bind("127.0.0.1:0").await?;
    let url = bound.urls().first().cloned().unwrap_or_default();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(bound.run(async { drop(stopped.await) }));
    let client = Client::builder(WSDL).endpoint(&url).build()?;
    if !output.is_json() {
        output.note(&format!("{} {url}", paint(DIM, "serving")));
    }
    let (rows, columns) = (start.rows(), start.columns());
    let bar = progress::counter(steps.into(), "heat equation");
    let (mut remote, mut local) = (start.clone(), start);
    let mut residual = 0.0;
    let clock = Instant::now();
    let mut exchanging = Duration::ZERO;
    for step in 1..=steps {
        let sent = Instant::now();
        (remote, residual) = exchange(&client, remote, rows, columns).await?;
        exchanging += sent.elapsed();
        let expected;
        (local, expected) = local.step();
        if !remote.is_identical(&local) || f64::to_bits(residual) != f64::to_bits(expected) {
            return Err(Failure::violation(format!(
                "the answer to step {step} is not the one computed here"
            )));
        }
        bar.set_message(format!("residual {residual:.2e}"));
        bar.inc(1);
    }
    let seconds = clock.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let (traffic, requests) = (client.meter().read(), client.sender_stats());
    let answers_read = client.receiver_stats();
    drop(client);
    // The service may have ended by itself; waiting for it tells.
    let _ = stop.send(());
    serving
        .await
        .map_err(|error| Failure::transport("the service ended badly").because(error))?;
    let values = rows * columns;
    Ok((
        remote,
        Report {
            values,
            steps,
            seconds,
            exchanging: exchanging.as_secs_f64(),
            residual,
            client: traffic,
            service: served.read(),
            requests,
            answers: served.sending(),
            requests_read: served.receiving(),
            answers_read,
        },
    ))
}

/// One step, by the service.
async fn exchange(
    client: &Client,
    field: Field,
    rows: usize,
    columns: usize,
) -> Result<(Field, f64), Failure> {
    let arguments = Value::object([
        ("rows", Value::from(rows as i64)),
        ("columns", Value::from(columns as i64)),
        ("field", array(field.into_values())),
    ]);
    let answer = client.call("jacobiStep", &arguments).await?;
    let values = answer["field"]["item"]
        .as_doubles()
        .unwrap_or_default()
        .to_vec();
    let field = Field::new(rows, columns, values)
        .ok_or_else(|| Failure::violation("the answer has another number of values"))?;
    let residual = answer["residual"]
        .as_f64()
        .ok_or_else(|| Failure::violation("the answer has no residual"))?;
    Ok((field, residual))
}

/// What there is to tell.
struct Report {
    /// Values in the field.
    values: usize,
    steps: u32,
    seconds: f64,
    /// Seconds waiting for answers, without the check.
    exchanging: f64,
    residual: f64,
    client: Traffic,
    service: Traffic,
    /// What of the messages had been written before: requests and answers.
    requests: SendCounts,
    answers: SendCounts,
    /// What of them had been read before.
    requests_read: ReceiveCounts,
    answers_read: ReceiveCounts,
}

impl Report {
    fn print(&self, picture: &Path, output: &mut Output) -> Result<(), Failure> {
        let messages = self.client.messages_sent + self.client.messages_received;
        let bytes = self.client.sent + self.client.received;
        let moved = 2 * self.values as u64 * u64::from(self.steps);
        let values_per_second = moved as f64 / self.exchanging;
        let share = |traffic: &Traffic| traffic.converting.as_secs_f64() / self.exchanging;
        let (client, service) = (share(&self.client), share(&self.service));
        if output.is_json() {
            return output.json(&json!({
                "steps": self.steps, "messages": messages, "bytes": bytes, "values": moved, "seconds": self.seconds, "seconds_exchanging": self.exchanging,
                "values_per_s": values_per_second, "conversion_share_client": client, "conversion_share_service": service,
                "residual": self.residual, "checked": true, "picture": picture,
                "sending_client": sending::json(&self.requests), "sending_service": sending::json(&self.answers),
                "receiving_client": receiving::json(&self.answers_read), "receiving_service": receiving::json(&self.requests_read),
            }));
        }
        let row = |name: &str, value: String| {
            format!(
                "  {} {}\n",
                paint(DIM, &format!("{name:<26}")),
                paint(STRONG, &value)
            )
        };
        let mut table = String::new();
        table += &row("messages", format!("{messages}"));
        table += &row("values in each", format!("{}", self.values));
        table += &row("bytes", format!("{:.1} MB", bytes as f64 / 1e6));
        table += &row(
            "values exchanged",
            format!("{:.1} million/s", values_per_second / 1e6),
        );
        table += &row(
            "time",
            format!(
                "{:.2} s exchanging, {:.2} s in all",
                self.exchanging, self.seconds
            ),
        );
        table += &row(
            "converting, client",
            format!("{:.0} % of the exchange", client * 100.0),
        );
        table += &row(
            "converting, service",
            format!("{:.0} % of the exchange", service * 100.0),
        );
        table += &row("requests, sending", sending::matches(&self.requests));
        table += &row("", sending::saved(&self.requests));
        table += &row("requests, receiving", receiving::modes(&self.requests_read));
        table += &row("", receiving::saved(&self.requests_read));
        table += &row("answers, sending", sending::matches(&self.answers));
        table += &row("", sending::saved(&self.answers));
        table += &row("answers, receiving", receiving::modes(&self.answers_read));
        table += &row("", receiving::saved(&self.answers_read));
        table += &row("residual at the end", format!("{:.2e}", self.residual));
        output.line(&format!(
            "{} {}",
            paint(STRONG, "heat equation over SOAP:"),
            paint(GOOD, "every answer equal to the last bit")
        ))?;
        output.text(&table)?;
        output.line(&format!(
            "  {} {}",
            paint(DIM, &format!("{:<26}", "picture")),
            picture.display()
        ))
    }
}
