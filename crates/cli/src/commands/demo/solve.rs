//! The first act: the heat equation. Every step sends the whole field and receives the next one; nearly all values change, so
//! what counts is how fast values are converted.

use std::time::{Duration, Instant};

use bsoap::tuning::Traffic;
use bsoap::tuning::{ReceiveCounts, SendCounts};
use bsoap::{Client, Fault, Message, Service, Value};
use serde_json::json;

use super::heat::HeatField;
use super::serving::Serving;
use crate::error::Failure;
use crate::progress;
use crate::{receiving, sending};

const WSDL: &str = include_str!("../../../../../examples/mesh/mesh.wsdl");

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
    let Some(field) = HeatField::new(rows, columns, values.to_vec()) else {
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

/// Solves the equation from a start.
pub(super) async fn solve(start: HeatField, steps: u32) -> Result<(HeatField, Report), Failure> {
    let service = Service::builder(WSDL).handle("jacobiStep", jacobi_step);
    let serving = Serving::start(service).await?;
    let client = Client::builder(WSDL).endpoint(serving.url()).build()?;
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
                "the answer to step {step} differs from the same step computed here"
            )));
        }
        bar.set_message(format!("residual {residual:.2e}"));
        bar.inc(1);
    }
    let seconds = clock.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let report = Report {
        values: rows * columns,
        steps,
        seconds,
        exchanging: exchanging.as_secs_f64(),
        residual,
        client: client.meter().read(),
        service: serving.meter().read(),
        requests: client.sender_stats(),
        answers: serving.meter().sending(),
        requests_read: serving.meter().receiving(),
        answers_read: client.receiver_stats(),
    };
    drop(client);
    serving.stop().await?;
    Ok((remote, report))
}

/// One step, by the service.
async fn exchange(
    client: &Client,
    field: HeatField,
    rows: usize,
    columns: usize,
) -> Result<(HeatField, f64), Failure> {
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
    let field = HeatField::new(rows, columns, values)
        .ok_or_else(|| Failure::violation("the answer has another number of values"))?;
    let residual = answer["residual"]
        .as_f64()
        .ok_or_else(|| Failure::violation("the answer has no residual"))?;
    Ok((field, residual))
}

/// The measurements.
pub(super) struct Report {
    /// Values in the field.
    pub(super) values: usize,
    pub(super) steps: u32,
    pub(super) seconds: f64,
    /// Seconds waiting for answers, without the check.
    pub(super) exchanging: f64,
    pub(super) residual: f64,
    pub(super) client: Traffic,
    pub(super) service: Traffic,
    /// How requests and answers were written.
    pub(super) requests: SendCounts,
    pub(super) answers: SendCounts,
    /// How they were read.
    pub(super) requests_read: ReceiveCounts,
    pub(super) answers_read: ReceiveCounts,
}

impl Report {
    pub(super) fn messages(&self) -> u64 {
        self.client.messages_sent + self.client.messages_received
    }

    pub(super) fn bytes(&self) -> u64 {
        self.client.sent + self.client.received
    }

    /// Values exchanged, in both directions.
    pub(super) fn values_exchanged(&self) -> u64 {
        2 * self.values as u64 * u64::from(self.steps)
    }

    pub(super) fn values_per_second(&self) -> f64 {
        self.values_exchanged() as f64 / self.exchanging
    }

    /// The part of the exchange that a side spent between values and text.
    pub(super) fn converting_share(&self, side: &Traffic) -> f64 {
        side.converting.as_secs_f64() / self.exchanging
    }

    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "steps": self.steps, "messages": self.messages(), "bytes": self.bytes(), "values": self.values_exchanged(),
            "seconds": self.seconds, "seconds_exchanging": self.exchanging, "values_per_s": self.values_per_second(),
            "conversion_share_client": self.converting_share(&self.client),
            "conversion_share_service": self.converting_share(&self.service),
            "residual": self.residual, "checked": true,
            "sending_client": sending::json(&self.requests), "sending_service": sending::json(&self.answers),
            "receiving_client": receiving::json(&self.answers_read), "receiving_service": receiving::json(&self.requests_read),
        })
    }
}
