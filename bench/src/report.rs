//! Results on standard output: a line of JSON for each engine and case, or a table for people. Notes go to standard error.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};

use serde_json::{Map, Value, json};

use crate::definition::{Case, Definition};
use crate::measure::Figures;
use crate::workload::Workload;

const STRONG: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// Text in a style; standard output drops styles if it is not a terminal.
fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes text to standard output.
pub(crate) fn text(text: &str) -> io::Result<()> {
    anstream::stdout().lock().write_all(text.as_bytes())
}

/// Writes a line to standard output.
pub(crate) fn line(content: &str) -> io::Result<()> {
    text(&format!("{content}\n"))
}

/// Writes a line to standard error; it does not matter if nobody reads it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// A result as a line of JSON, in the format that all figures of this project are kept in.
pub(crate) fn json_line(bench: &str, work: &Workload, figures: &Figures) -> Value {
    let (values, bytes) = (work.case.values, work.bytes());
    let mut line = Map::new();
    line.insert("bench".into(), bench.into());
    line.insert("case".into(), work.case.name().into());
    line.insert("engine".into(), figures.engine.as_str().into());
    line.insert(
        "ns_per_value".into(),
        rounded(figures.ns / values as f64, 2),
    );
    line.insert("ns".into(), json!(figures.ns.round() as u64));
    line.insert("cpu_ns".into(), json!(figures.cpu_ns.round() as u64));
    if let Some(calls) = figures.calls {
        line.insert("requests_per_s".into(), rounded(1e9 / figures.ns, 0));
        line.insert("server_ns".into(), json!(calls.server_ns.round() as u64));
        line.insert("client_ns".into(), json!(calls.client_ns.round() as u64));
        line.insert("p50_ns".into(), json!(calls.p50_ns.round() as u64));
        line.insert("p99_ns".into(), json!(calls.p99_ns.round() as u64));
    }
    line.insert(
        "mb_per_s".into(),
        rounded(megabytes_per_second(bytes, figures.ns), 1),
    );
    line.insert("bytes".into(), bytes.into());
    line.insert("values".into(), values.into());
    if let Some(memory) = figures.memory {
        line.insert("peak_bytes".into(), memory.peak.into());
        line.insert("kept_bytes".into(), memory.kept.into());
    }
    if let Some(resident) = figures.resident {
        line.insert("resident_bytes".into(), resident.into());
    }
    line.insert(
        "vs".into(),
        figures
            .vs
            .iter()
            .map(|(name, &ratio)| (name.clone(), rounded(ratio, 4)))
            .collect(),
    );
    line.insert("runs".into(), figures.runs.into());
    line.insert("spread".into(), rounded(figures.spread, 3));
    line.insert("checked".into(), true.into());
    Value::Object(line)
}

fn rounded(value: f64, places: i32) -> Value {
    let unit = 10f64.powi(places);
    json!((value * unit).round() / unit)
}

fn megabytes_per_second(bytes: usize, ns: f64) -> f64 {
    bytes as f64 / ns.max(0.1) * 1e3
}

/// The heading of a benchmark: its name and what it shows.
pub(crate) fn heading(definition: &Definition) -> String {
    format!(
        "{}\n{}",
        paint(STRONG, &definition.name),
        paint(DIM, definition.about.trim())
    )
}

/// Writes what `--list` shows of a benchmark.
pub(crate) fn definition(definition: &Definition, is_json: bool) -> io::Result<()> {
    let cases: Vec<_> = definition.cases(false).iter().map(Case::name).collect();
    if is_json {
        let about = definition.about.trim();
        let object = json!({
            "bench": definition.name, "about": about, "engines": definition.engines(), "cases": cases,
        });
        return line(&object.to_string());
    }
    line(&format!("{}\n{}\n", heading(definition), cases.join(" ")))
}

/// The lines of one case: an engine each, and its ratio to the first.
pub(crate) fn table(work: &Workload, all: &[Figures]) -> String {
    let mut text = String::new();
    let per_value = |figures: &Figures| figures.ns / work.case.values as f64;
    let Some(first) = all.first() else {
        return text;
    };
    let name = work.case.name();
    for (row, figures) in all.iter().enumerate() {
        let case = if row == 0 { name.as_str() } else { "" };
        if let Some(calls) = figures.calls {
            let _ = writeln!(
                text,
                "{} {:<12} {:>8.0} calls/s  server {:>6.1} µs CPU, client {:>6.1}; p50 {:>7.1} µs, p99 {:>7.1}  ±{:>3.0} %",
                paint(STRONG, &format!("{case:<22}")),
                figures.engine,
                1e9 / figures.ns,
                calls.server_ns / 1e3,
                calls.client_ns / 1e3,
                calls.p50_ns / 1e3,
                calls.p99_ns / 1e3,
                figures.spread * 50.0
            );
            continue;
        }
        let _ = write!(
            text,
            "{} {:<12} {:>10.1} ns/value",
            paint(STRONG, &format!("{case:<20}")),
            figures.engine,
            per_value(figures)
        );
        let _ = write!(
            text,
            " {:>8.0} MB/s  ±{:>3.0} %",
            megabytes_per_second(work.bytes(), figures.ns),
            figures.spread * 50.0
        );
        if let Some(&ratio) = first.vs.get(&figures.engine) {
            let (colour, factor, word) = if ratio < 1.0 {
                (GOOD, 1.0 / ratio, "faster")
            } else {
                (BAD, ratio, "slower")
            };
            // Within 3 % is no difference.
            let colour = if factor < 1.03 { DIM } else { colour };
            let _ = write!(
                text,
                "  {}",
                paint(colour, &format!("{} is {factor:.2}× {word}", first.engine))
            );
        }
        if let Some(&bound) = figures.vs.get("bound") {
            let colour = if bound <= 1.2 { DIM } else { BAD };
            let _ = write!(text, "  {}", paint(colour, &format!("{bound:.2}× bound")));
        }
        if let Some(memory) = figures.memory {
            let _ = write!(
                text,
                "{}",
                paint(
                    DIM,
                    &format!("  peak {} B, kept {} B", memory.peak, memory.kept)
                )
            );
        }
        if let Some(resident) = figures.resident {
            let _ = write!(
                text,
                "{}",
                paint(DIM, &format!("  resident memory +{} KB", resident / 1024))
            );
        }
        text.push('\n');
    }
    text
}
