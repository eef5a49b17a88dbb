//! `bsoap demo`: what the engine does, in two acts, with a service and a client in this process.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use crate::error::Failure;
use crate::output::Output;
use crate::style::{DIM, GOOD, STRONG, paint};
use crate::{receiving, sending};

mod heat;
mod picture;
mod poll;
mod sensors;
mod serving;
mod solve;

use heat::HeatField;
use poll::{Comparison, PollSeries};
use sensors::{SensorField, SlidingWindow};
use solve::Report;

/// Show conversion at full speed and differential conversion, with pictures
///
/// First act: solves the heat equation with a service (examples/mesh/mesh.wsdl). Every step sends a field of doubles and receives
/// the next one; all values change. Second act: polls a service (examples/sensors/sensors.wsdl) whose answers are nearly the same
/// each time, and compares with converting all of them. Every answer is compared with the one computed here.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Rows and columns of the field
    #[arg(long, value_name = "N", default_value_t = 192, value_parser = clap::value_parser!(u16).range(8..=1024))]
    size: u16,
    /// Steps of the heat equation
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: u32,
    /// Polls of each sensor stream
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    polls: u32,
    /// Folder for the pictures
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
    fs::create_dir_all(&arguments.out).map_err(|error| {
        Failure::input(format!("cannot create {}", arguments.out.display())).because(error)
    })?;
    let size = usize::from(arguments.size);
    let start = HeatField::hot_spots(size, size);
    let (field, report) = runtime.block_on(solve::solve(start, arguments.steps))?;
    let field_picture = arguments.out.join("field.png");
    picture::write_field(&field_picture, &field)?;
    if !output.is_json() {
        print_report(&report, &field_picture, output)?;
    }
    let comparisons = runtime.block_on(async {
        Ok::<_, Failure>([
            poll::compare::<SensorField>(arguments.polls).await?,
            poll::compare::<SlidingWindow>(arguments.polls).await?,
        ])
    })?;
    let series_picture = arguments.out.join("polls.png");
    let series = comparisons
        .each_ref()
        .map(|comparison| comparison.differential.changed.as_slice());
    picture::write_series(&series_picture, &series)?;
    if output.is_json() {
        let mut all = report.json();
        all["picture"] = json!(field_picture);
        all["polls"] = comparisons.iter().map(Comparison::json).collect();
        all["polls_picture"] = json!(series_picture);
        return output.json(&all);
    }
    print_comparisons(&comparisons, &series_picture, output)
}

const LABEL_WIDTH: usize = 30;

/// A line of a table: a label and its values.
fn row(label: &str, values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:<34}")).collect();
    format!(
        "  {} {}\n",
        paint(DIM, &format!("{label:<LABEL_WIDTH$}")),
        paint(STRONG, values.concat().trim_end())
    )
}

fn print_report(report: &Report, picture: &Path, output: &mut Output) -> Result<(), Failure> {
    output.line(&format!(
        "{} {}",
        paint(STRONG, "1. Heat equation over SOAP, all values change:"),
        paint(GOOD, "every answer is right to the last bit")
    ))?;
    let share = |side| {
        format!(
            "{:.0} % of the exchange",
            report.converting_share(side) * 100.0
        )
    };
    let rows = [
        ("messages", report.messages().to_string()),
        ("values in each", report.values.to_string()),
        ("bytes", format!("{:.1} MB", report.bytes() as f64 / 1e6)),
        (
            "values exchanged",
            format!("{:.1} million/s", report.values_per_second() / 1e6),
        ),
        (
            "time",
            format!(
                "{:.2} s exchanging, {:.2} s in all",
                report.exchanging, report.seconds
            ),
        ),
        ("conversion, client", share(&report.client)),
        ("conversion, service", share(&report.service)),
        ("requests written", sending::matches(&report.requests)),
        ("requests read", receiving::modes(&report.requests_read)),
        ("answers written", sending::matches(&report.answers)),
        ("answers read", receiving::modes(&report.answers_read)),
        (
            "largest change in last step",
            format!("{:.2e}", report.residual),
        ),
        ("picture of the field", picture.display().to_string()),
    ];
    for (label, value) in rows {
        output.text(&row(label, &[value]))?;
    }
    output.line("")
}

fn print_comparisons(
    comparisons: &[Comparison],
    picture: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line(&format!(
        "{} {}",
        paint(STRONG, "2. Sensors polled over SOAP, few values change:"),
        paint(GOOD, "every answer is right")
    ))?;
    type Cell = fn(&Comparison) -> String;
    let rows: [(&str, Cell); 12] = [
        ("", |it| it.name.to_owned()),
        ("answers", |it| it.polls.to_string()),
        ("values in each", |it| it.values.to_string()),
        ("new values in each, on average", |it| {
            let new = it.new as f64 / f64::from(it.polls - 1);
            format!("{new:.0} ({:.1} %)", 100.0 * new / it.values as f64)
        }),
        ("bytes", |it| {
            format!("{:.1} MB", it.differential.bytes as f64 / 1e6)
        }),
        ("answers patched", |it| of_all(patched(it), it)),
        ("answers read in fast mode", |it| {
            of_all(it.differential.received.reads.fast, it)
        }),
        ("values written", |it| {
            it.differential.sent.matches.values.to_string()
        }),
        ("values read", |it| {
            it.differential.received.reads.values.to_string()
        }),
        ("conversion, service", |it| times(it, |run| run.writing)),
        ("conversion, client", |it| times(it, |run| run.reading)),
        ("both", |it| times(it, |run| run.writing + run.reading)),
    ];
    for (label, cell) in rows {
        let cells: Vec<String> = comparisons.iter().map(cell).collect();
        output.text(&row(label, &cells))?;
    }
    output.text(&row(
        "picture of what was converted",
        &[picture.display().to_string()],
    ))?;
    output.line(&format!(
        "  {}",
        paint(DIM, "(a line for each answer, from left to right its values: bright ones were converted, dark ones kept)")
    ))
}

/// Answers that the service made by patching the text of an earlier one.
fn patched(comparison: &Comparison) -> u64 {
    let matches = &comparison.differential.sent.matches;
    matches.content + matches.perfect_structural + matches.partial_structural
}

fn of_all(count: u64, comparison: &Comparison) -> String {
    format!("{count} of {}", comparison.polls)
}

/// The time of the differential run, and that of converting everything.
fn times(comparison: &Comparison, time: fn(&PollSeries) -> Duration) -> String {
    let milliseconds = |run: &PollSeries| time(run).as_secs_f64() * 1e3;
    let (kept, full) = (
        milliseconds(&comparison.differential),
        milliseconds(&comparison.full),
    );
    format!("{kept:.1} ms instead of {full:.1} ms",)
}
