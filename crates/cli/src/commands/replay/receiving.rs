//! Reading recorded messages again, as what differs from those before.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::decode::Error;
use bsoap_codec::plan::ElementId;
use bsoap_codec::{DecodeOptions, Plan};
use bsoap_differential::receive::{Mode, Received, Stream, Totals, Way};
use bytes::Bytes;
use indicatif::ProgressBar;
use serde_json::json;

use super::report::{self, median, microseconds, size};
use super::sum::Sum;
use super::{Invalid, Kind, Recorded, Valid};
use crate::error::Failure;
use crate::output::Output;
use crate::style::{DIM, GOOD, STRONG, paint};

/// What was chosen.
pub(super) struct Choice {
    pub(super) way: Way,
    pub(super) name: &'static str,
    pub(super) options: DecodeOptions,
    /// Bytes at a time.
    pub(super) feed: Option<usize>,
}

/// What reading one message came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    /// How it was read.
    mode: &'static str,
    /// Slots of its Record.
    values: usize,
    /// Of those, how many are not what they were, if that is known.
    changed: Option<usize>,
    /// Values read again alone.
    read_again: u64,
    /// How often the decoder took over.
    switches: u64,
    /// Nanoseconds, of each round.
    times: Vec<f64>,
    /// The same, for reading all of it.
    full: Vec<f64>,
    /// What is held for the stream after it.
    memory: usize,
    /// Bytes it has in common with the message before.
    equal: Option<usize>,
}

/// Reads all messages, several times. A place for each; none for those that are not valid.
///
/// # Errors
/// A message is not what a fresh decoder says it is.
pub(super) fn replay(
    recorded: &[Recorded],
    rounds: u32,
    plan: &Arc<Plan>,
    choice: &Choice,
    bar: &ProgressBar,
) -> Result<Vec<Option<Read>>, Failure> {
    let mut all: Vec<Option<Read>> = recorded.iter().map(|_| None).collect();
    for _ in 0..rounds {
        let mut streams = Streams::default();
        for (message, read) in recorded.iter().zip(&mut all) {
            bar.set_message(message.file.clone());
            match &message.outcome {
                Ok(valid) => {
                    let read = read.get_or_insert_default();
                    streams
                        .of(valid.kind(), plan, choice)
                        .read(message, valid, choice, read)?;
                }
                Err(invalid) => streams.refuse(message, invalid, plan, choice)?,
            }
            bar.inc(1);
        }
    }
    let mut before: HashMap<Kind, &Bytes> = HashMap::new();
    for (message, read) in recorded.iter().zip(&mut all) {
        if let (Ok(valid), Some(read)) = (&message.outcome, read) {
            let old = before.insert(valid.kind(), &message.text);
            read.equal = old.map(|old| report::in_common(old, &message.text));
        }
    }
    Ok(all)
}

/// The streams of a connection, by what they are of.
#[derive(Default)]
struct Streams(HashMap<Kind, Pair>);

impl Streams {
    fn of(&mut self, kind: Kind, plan: &Arc<Plan>, choice: &Choice) -> &mut Pair {
        let new = |way| Stream::new(way, plan.clone(), choice.options);
        self.0.entry(kind).or_insert_with(|| Pair {
            stream: new(choice.way),
            full: new(Way::Off),
        })
    }

    /// A message that is not valid comes to the stream it seems to be of, which must say what a fresh decoder says.
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
        let kind = Kind {
            root: found.root.0,
            operation: operation.map(|target| target.operation().name.clone()),
        };
        let stream = &mut self.of(kind, plan, choice).stream;
        match receive(stream, found.root, &message.text, choice.feed) {
            Err(error)
                if error.offset() == invalid.offset
                    && error.kind().to_string() == invalid.message =>
            {
                Ok(())
            }
            Err(error) => Err(differs(
                message,
                &format!(
                    "it is refused because {error}, and by a fresh decoder because {}",
                    invalid.message
                ),
            )),
            Ok(_) => Err(differs(message, "it is read, although it is not valid")),
        }
    }
}

/// A stream, and what reads all of each of its messages.
struct Pair {
    stream: Stream,
    full: Stream,
}

impl Pair {
    fn read(
        &mut self,
        message: &Recorded,
        valid: &Valid,
        choice: &Choice,
        read: &mut Read,
    ) -> Result<(), Failure> {
        let (text, root) = (&message.text, valid.found.root);
        let before = self.stream.totals();
        let start = Instant::now();
        let received = receive(&mut self.stream, root, text, choice.feed);
        read.times.push(start.elapsed().as_nanos() as f64);
        let received = received.map_err(|error| differs(message, &error.to_string()))?;
        if *received.record != valid.record {
            return Err(differs(message, "its values are others"));
        }
        read.note(&received, before, self.stream.totals());
        drop(received);
        read.memory = self.stream.memory();
        let start = Instant::now();
        let full = receive(&mut self.full, root, text, choice.feed);
        read.full.push(start.elapsed().as_nanos() as f64);
        full.map(drop)
            .map_err(|error| differs(message, &error.to_string()))
    }
}

fn receive(
    stream: &mut Stream,
    root: ElementId,
    text: &Bytes,
    feed: Option<usize>,
) -> Result<Received, Error> {
    let Some(size) = feed else {
        return stream.receive(root, text.clone());
    };
    stream.begin(root);
    for piece in text.chunks(size) {
        stream.feed(piece)?;
    }
    stream.finish()
}

/// What must never be.
fn differs(message: &Recorded, how: &str) -> Failure {
    Failure::violation(format!(
        "{} is not read as a fresh decoder reads it: {how}. This is a bug of bsoap",
        message.file
    ))
}

impl Read {
    fn note(&mut self, received: &Received, before: Totals, after: Totals) {
        self.mode = match received.mode {
            Mode::Regular => "regular",
            Mode::Fast => "fast",
            Mode::Aside => "aside",
            _ => "other",
        };
        self.values = received.record.slots().len();
        let changes = &received.changes;
        self.changed = (!changes.is_all()).then(|| changes.count(self.values));
        self.read_again = after.touched - before.touched;
        self.switches = after.restructured - before.restructured;
    }
}

/// Tells a line for each message, and what it comes to.
pub(super) fn report(
    recorded: &[Recorded],
    all: &[Option<Read>],
    choice: &Choice,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut sum = Sum::default();
    let mut memory: HashMap<Kind, usize> = HashMap::new();
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
        memory.insert(valid.kind(), read.memory);
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
                "ns": own.round(), "full_ns": full.round(), "memory": read.memory, "same_as_fresh": true,
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
    read: &Read,
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
