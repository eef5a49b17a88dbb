//! Sends the values of recorded messages with templates.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::{DecodeOptions, Decoder, Plan};
use bsoap_differential::send::{
    Policy, SendCounts, Sent, StreamKey, Stuffing, TemplateCache, TemplateCachePolicy,
};
use indicatif::ProgressBar;
use serde_json::json;

use super::recorded::{Recorded, RecordedStream, Valid};
use super::report::{self, median, microseconds, size};
use super::sum::Sum;
use crate::error::Failure;
use crate::output::Output;
use crate::style::{DIM, GOOD, STRONG, paint};
use crate::tolerance;

/// The options of the command.
pub(super) struct Choice {
    pub(super) policy: Policy,
    pub(super) options: DecodeOptions,
}

/// The measurements of one message.
#[derive(Clone, Debug, Default)]
pub(super) struct MeasuredWrite {
    /// How it matched its template: the cases of the HPDC-13 paper.
    matched: &'static str,
    /// Its length as sent.
    bytes: u64,
    /// Bytes it has in common with the message of its stream sent before.
    equal: Option<usize>,
    /// Bytes in chunks that were sent unchanged.
    unchanged: u64,
    /// Values patched.
    values: u64,
    /// Nanoseconds of each round.
    times: Vec<f64>,
    /// The same for writing in full.
    full: Vec<f64>,
    /// Bytes of all templates after it.
    memory: usize,
}

/// Sends all messages several times. One entry per message; `None` for those that are not valid.
///
/// # Errors
/// If a sent message has other values, or cannot be written.
pub(super) fn replay(
    recorded: &[Recorded],
    rounds: u32,
    plan: &Arc<Plan>,
    choice: &Choice,
    bar: &ProgressBar,
) -> Result<Vec<Option<MeasuredWrite>>, Failure> {
    let mut all: Vec<Option<MeasuredWrite>> = recorded.iter().map(|_| None).collect();
    for _ in 0..rounds {
        let mut sender = Sender::new(choice.policy);
        for (message, written) in recorded.iter().zip(&mut all) {
            bar.set_message(message.file.clone());
            if let Ok(valid) = &message.outcome {
                let written = written.get_or_insert_default();
                let sent = sender.send(message, valid, written)?;
                check(message, valid, &sent, plan, choice.options)?;
                let before = sender.before.get(&valid.stream());
                written.equal = before.map(|old| report::in_common(old, &sent));
                sender.before.insert(valid.stream(), sent);
            }
            bar.inc(1);
        }
    }
    Ok(all)
}

/// The sender of all messages, as to one peer.
struct Sender {
    store: TemplateCache,
    /// True if each message must be byte for byte the same as without templates.
    is_identical: bool,
    /// The number of each stream.
    streams: HashMap<RecordedStream, u32>,
    /// The last text of each stream.
    before: HashMap<RecordedStream, Vec<u8>>,
}

impl Sender {
    fn new(policy: Policy) -> Self {
        let mut kept = TemplateCachePolicy::default();
        kept.template = policy;
        Self {
            store: TemplateCache::new(kept),
            is_identical: policy.stuffing == Stuffing::None,
            streams: HashMap::new(),
            before: HashMap::new(),
        }
    }

    fn send(
        &mut self,
        message: &Recorded,
        valid: &Valid,
        written: &mut MeasuredWrite,
    ) -> Result<Vec<u8>, Failure> {
        let cannot = |error: bsoap_codec::encode::Error| {
            Failure::input(format!(
                "the values of {} cannot be written as a message",
                message.file
            ))
            .because(error)
        };
        let known = self.streams.len() as u32;
        let stream = StreamKey {
            endpoint: 0,
            root: valid.found.root,
            operation: *self.streams.entry(valid.stream()).or_insert(known),
        };
        // A program would have made a record of its own: the copy is not measured.
        let mut record = valid.record.clone();
        let start = Instant::now();
        let mut checkout = self.store.check_out(stream, &record);
        let sent = checkout.send(&mut record);
        self.store.check_in(checkout);
        written.times.push(start.elapsed().as_nanos() as f64);
        let sent = sent.map_err(cannot)?;
        written.note(&sent);
        written.memory = self.store.memory();
        let start = Instant::now();
        let plain = Sent::plain(&valid.record).map_err(cannot)?;
        written.full.push(start.elapsed().as_nanos() as f64);
        let text = |sent: &Sent| sent.outgoing.chunks.concat();
        if self.is_identical && text(&sent) != text(&plain) {
            return Err(differs(message, "its text differs"));
        }
        Ok(text(&sent))
    }
}

/// Checks that a text has the values of the message.
fn check(
    message: &Recorded,
    valid: &Valid,
    sent: &[u8],
    plan: &Arc<Plan>,
    options: DecodeOptions,
) -> Result<(), Failure> {
    match Decoder::new(plan.clone(), options).decode(valid.found.root, sent) {
        Ok(record) if record == valid.record => Ok(()),
        Ok(_) => Err(differs(message, "its values differ")),
        Err(error) => Err(differs(message, &error.to_string())),
    }
}

/// A result that would be a bug.
fn differs(message: &Recorded, how: &str) -> Failure {
    Failure::violation(format!(
        "{} is sent differently with templates than without: {how}. This is a bug of bsoap, please report it",
        message.file
    ))
}

impl MeasuredWrite {
    fn note(&mut self, sent: &Sent) {
        let SendCounts {
            matches, bypassed, ..
        } = &sent.counts;
        self.matched = if matches.content > 0 {
            "content"
        } else if matches.perfect_structural > 0 {
            "perfect structural"
        } else if matches.partial_structural > 0 {
            "partial structural"
        } else if matches.first_time > 0 {
            "first time"
        } else if *bypassed > 0 {
            "bypassed"
        } else {
            "plain"
        };
        self.bytes = sent.outgoing.length;
        self.unchanged = matches.unchanged_bytes;
        self.values = matches.values;
    }

    fn is_patched(&self) -> bool {
        !matches!(self.matched, "first time" | "bypassed" | "plain")
    }
}

/// Prints a line for each message, and the summary.
pub(super) fn report(
    recorded: &[Recorded],
    all: &[Option<MeasuredWrite>],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut sum = Sum::default();
    if !output.is_json() {
        output.line(&paint(
            DIM,
            &format!(
                "{:>10} {:>7} {:>10} {:>8}  {:<18} {:>9} {:>9}  {:>7}  {:>9}  message",
                "bytes", "equal", "touched", "values", "match", "templates", "in full", "", "held"
            ),
        ))?;
    }
    for (message, written) in recorded.iter().zip(all) {
        let (valid, written) = match (&message.outcome, written) {
            (Ok(valid), Some(written)) => (valid, written),
            (Err(invalid), _) => {
                report::invalid(&message.file, invalid, output)?;
                continue;
            }
            _ => continue,
        };
        let (own, full) = (median(&written.times), median(&written.full));
        sum.add(
            written.bytes as usize,
            written.equal.unwrap_or(0),
            [own, full],
            written.is_patched(),
        );
        sum.count(written.matched);
        sum.memory = written.memory;
        let rewritten = written.bytes - written.unchanged.min(written.bytes);
        if output.is_json() {
            output.json(&json!({
                "message": message.file, "valid": true, "operation": valid.operation(), "direction": valid.found.direction.name(),
                "match": written.matched, "bytes": written.bytes, "bytes_equal": written.equal,
                "bytes_rewritten": rewritten, "values_written": written.values,
                "ns": own.round(), "full_ns": full.round(), "warnings": tolerance::json(valid.record.warnings()), "memory": written.memory, "same_as_fresh": true,
            }))?;
            continue;
        }
        let colour = if written.is_patched() { GOOD } else { DIM };
        output.line(&format!(
            "{:>10} {:>7} {rewritten:>10} {:>8}  {} {:>9} {:>9}  {}  {:>9}  {}",
            written.bytes,
            report::share(written.equal, written.bytes as usize),
            written.values,
            paint(colour, &format!("{:<18}", written.matched)),
            microseconds(own),
            microseconds(full),
            paint(STRONG, &format!("{:>6.1}×", full / own.max(1.0))),
            size(written.memory),
            message.file,
        ))?;
    }
    sum.invalid = recorded.iter().filter(|one| one.outcome.is_err()).count();
    if output.is_json() {
        return output.json(&json!({"summary": sum.json("templates")}));
    }
    output.text(&sum.text("writing", "templates"))
}
