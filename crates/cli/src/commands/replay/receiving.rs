//! Reads recorded messages differentially and in full.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::{DecodeOptions, Plan};
use bsoap_differential::receive::{Mode, ReceiveCounts, Received, Stream, Way};
use bytes::Bytes;
use indicatif::ProgressBar;
use serde_json::json;

use super::recorded::{Invalid, Recorded, RecordedStream, Valid};
use super::report::{self, median, microseconds, size};
use super::sum::Sum;
use crate::error::Failure;
use crate::output::Output;
use crate::style::{DIM, GOOD, STRONG, paint};
use crate::tolerance;

/// The options of the command.
pub(super) struct Choice {
    pub(super) way: Way,
    pub(super) name: &'static str,
    pub(super) options: DecodeOptions,
}

/// The measurements of one message.
#[derive(Clone, Debug, Default)]
pub(super) struct MeasuredRead {
    /// How it was read.
    mode: &'static str,
    /// Slots of its record.
    values: usize,
    /// How many of those changed, if that is known.
    changed: Option<usize>,
    /// Values re-read one by one.
    read_again: u64,
    /// How often the decoder took over because the structure changed.
    switches: u64,
    /// Nanoseconds of each round.
    times: Vec<f64>,
    /// The same for reading in full.
    full: Vec<f64>,
    /// Bytes of the stream's history after it.
    memory: usize,
    /// Bytes it has in common with the message before.
    equal: Option<usize>,
}

/// Reads all messages several times. One entry per message; `None` for those that are not valid.
///
/// # Errors
/// If a message is read differently than by a fresh decoder.
pub(super) fn replay(
    recorded: &[Recorded],
    rounds: u32,
    plan: &Arc<Plan>,
    choice: &Choice,
    bar: &ProgressBar,
) -> Result<Vec<Option<MeasuredRead>>, Failure> {
    let mut all: Vec<Option<MeasuredRead>> = recorded.iter().map(|_| None).collect();
    for _ in 0..rounds {
        let mut streams = Streams::default();
        for (message, read) in recorded.iter().zip(&mut all) {
            bar.set_message(message.file.clone());
            match &message.outcome {
                Ok(valid) => {
                    let read = read.get_or_insert_default();
                    streams
                        .of(valid.stream(), plan, choice)
                        .read(message, valid, read)?;
                }
                Err(invalid) => streams.refuse(message, invalid, plan, choice)?,
            }
            bar.inc(1);
        }
    }
    let mut before: HashMap<RecordedStream, &Bytes> = HashMap::new();
    for (message, read) in recorded.iter().zip(&mut all) {
        if let (Ok(valid), Some(read)) = (&message.outcome, read) {
            let old = before.insert(valid.stream(), &message.text);
            read.equal = old.map(|old| report::in_common(old, &message.text));
        }
    }
    Ok(all)
}

/// The streams of a connection.
#[derive(Default)]
struct Streams(HashMap<RecordedStream, Pair>);

impl Streams {
    fn of(&mut self, key: RecordedStream, plan: &Arc<Plan>, choice: &Choice) -> &mut Pair {
        let new = |way| Stream::new(way, plan.clone(), choice.options);
        self.0.entry(key).or_insert_with(|| Pair {
            stream: new(choice.way),
            full: new(Way::Off),
        })
    }

    /// Feeds a message that is not valid to its stream, which must report the error of a fresh decoder.
    fn refuse(
        &mut self,
        message: &Recorded,
        invalid: &Invalid,
        plan: &Arc<Plan>,
        choice: &Choice,
    ) -> Result<(), Failure> {
        let Some(found) = &invalid.found else {
            return Ok(());
        };
        let operation = found.target.as_ref();
        let key = RecordedStream {
            root: found.root.0,
            operation: operation.map(|target| target.operation().name.clone()),
        };
        let stream = &mut self.of(key, plan, choice).stream;
        match stream.receive(found.root, message.text.clone()) {
            Err(error)
                if error.offset() == invalid.violation.offset
                    && error.kind().to_string() == invalid.violation.problem =>
            {
                Ok(())
            }
            Err(error) => Err(differs(
                message,
                &format!(
                    "its error is {error}, but a fresh decoder reports {}",
                    invalid.violation.problem
                ),
            )),
            Ok(_) => Err(differs(message, "it is accepted, although it is not valid")),
        }
    }
}

/// A stream read differentially, and the same stream read in full.
struct Pair {
    stream: Stream,
    full: Stream,
}

impl Pair {
    fn read(
        &mut self,
        message: &Recorded,
        valid: &Valid,
        read: &mut MeasuredRead,
    ) -> Result<(), Failure> {
        let (text, root) = (&message.text, valid.found.root);
        let before = *self.stream.counts();
        let start = Instant::now();
        let received = self.stream.receive(root, text.clone());
        read.times.push(start.elapsed().as_nanos() as f64);
        let received = received.map_err(|error| differs(message, &error.to_string()))?;
        let is_same = *received.record == valid.record
            && received.record.warnings() == valid.record.warnings();
        if !is_same {
            return Err(differs(message, "its values differ"));
        }
        read.note(&received, &self.stream.counts().since(&before));
        drop(received);
        read.memory = self.stream.memory();
        let start = Instant::now();
        let full = self.full.receive(root, text.clone());
        read.full.push(start.elapsed().as_nanos() as f64);
        full.map(drop)
            .map_err(|error| differs(message, &error.to_string()))
    }
}

/// A result that would be a bug.
fn differs(message: &Recorded, how: &str) -> Failure {
    Failure::violation(format!(
        "{} is read differently than by a fresh decoder: {how}. This is a bug of bsoap, please report it",
        message.file
    ))
}

impl MeasuredRead {
    fn note(&mut self, received: &Received, counts: &ReceiveCounts) {
        self.mode = match received.mode {
            Mode::Regular => "regular",
            Mode::Fast => "fast",
            Mode::Bypassed => "bypassed",
            _ => "other",
        };
        self.values = received.record.slots().len();
        let changes = &received.changes;
        self.changed = (!changes.is_all()).then(|| changes.count(self.values));
        self.read_again = counts.reads.values;
        self.switches = counts.reads.restructured;
    }
}

/// Prints a line for each message, and the summary.
pub(super) fn report(
    recorded: &[Recorded],
    all: &[Option<MeasuredRead>],
    choice: &Choice,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut sum = Sum::default();
    let mut memory: HashMap<RecordedStream, usize> = HashMap::new();
    if !output.is_json() {
        output.line(&paint(
            DIM,
            &format!(
                "{:>10} {:>7} {:>8} {:>8}  {:<8} {:>8} {:>9} {:>9}  {:>7}  {:>9}  message",
                "bytes",
                "equal",
                "values",
                "changed",
                "mode",
                "switches",
                choice.name,
                "in full",
                "",
                "held"
            ),
        ))?;
    }
    for (message, read) in recorded.iter().zip(all) {
        let (valid, read) = match (&message.outcome, read) {
            (Ok(valid), Some(read)) => (valid, read),
            (Err(invalid), _) => {
                report::invalid(&message.file, invalid, output)?;
                continue;
            }
            _ => continue,
        };
        memory.insert(valid.stream(), read.memory);
        let (own, full) = (median(&read.times), median(&read.full));
        sum.add(
            message.text.len(),
            read.equal.unwrap_or(0),
            [own, full],
            read.mode == "fast",
        );
        sum.count(read.mode);
        if output.is_json() {
            output.json(&json!({
                "message": message.file, "valid": true, "operation": valid.operation(), "direction": valid.found.direction.name(),
                "bytes": message.text.len(), "bytes_equal": read.equal, "values": read.values, "values_changed": read.changed,
                "mode": read.mode, "switches": read.switches, "values_read_again": read.read_again,
                "ns": own.round(), "full_ns": full.round(), "warnings": tolerance::json(valid.record.warnings()), "memory": read.memory, "same_as_fresh": true,
            }))?;
        } else {
            line(message, read, [own, full], output)?;
        }
    }
    sum.memory = memory.values().sum();
    sum.invalid = recorded.iter().filter(|one| one.outcome.is_err()).count();
    if output.is_json() {
        return output.json(&json!({"summary": sum.json(choice.name)}));
    }
    output.text(&sum.text("reading", choice.name))
}

fn line(
    message: &Recorded,
    read: &MeasuredRead,
    [own, full]: [f64; 2],
    output: &mut Output,
) -> Result<(), Failure> {
    let mode = paint(
        if read.mode == "fast" { GOOD } else { DIM },
        &format!("{:<8}", read.mode),
    );
    output.line(&format!(
        "{:>10} {:>7} {:>8} {:>8}  {mode} {:>8} {:>9} {:>9}  {}  {:>9}  {}",
        message.text.len(),
        report::share(read.equal, message.text.len()),
        read.values,
        read.changed
            .map_or_else(|| "–".to_owned(), |count| count.to_string()),
        read.switches,
        microseconds(own),
        microseconds(full),
        paint(STRONG, &format!("{:>6.1}×", full / own.max(1.0))),
        size(read.memory),
        message.file,
    ))
}
