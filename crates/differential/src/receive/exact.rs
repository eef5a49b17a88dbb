//! The default way to receive: the text of the previous message is kept and compared with the new one byte by byte.

mod apply;
mod capacities;
mod changed;
mod compare;
mod follow;
mod history;
mod locate;
mod numbers;
mod pass;
mod restructure;
mod rows;
mod run;
mod shifted;
mod strings;
mod texts;
mod values;

use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error, Piece};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::policy::Policy;
use super::received::{Fail, FullReader, Method, Mode, NotCompared, Received, fit, is_worn};
use super::text::{Text, cut, opening};
use crate::bypass::Bypass;
use capacities::Capacities;
use history::History;
use pass::Pass;

/// Reads the messages of a stream. Only what differs from the previous message is decoded.
#[derive(Debug)]
pub(super) struct Exact {
    policy: Policy,
    /// The previous message; `None` if the next one is not to be compared.
    history: Option<History>,
    /// The memory for a comparison; `None` before the first one and during one.
    pass: Option<Box<Pass>>,
    /// A dropped history, whose memory is used for the next one.
    spare: History,
    /// The numbers of slots and of heap octets of the last message that was decoded as a whole and kept.
    size: (usize, usize),
}

impl Exact {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            history: None,
            pass: None,
            spare: History::default(),
            size: (0, 0),
        }
    }

    /// Begins the comparison of a text with the history. `None` if there is no history, or if it has another root element or
    /// byte order mark.
    fn begin_pass(
        &mut self,
        reader: &FullReader,
        root: ElementId,
        text: &Text,
    ) -> Option<Box<Pass>> {
        let is_comparable =
            |it: &mut History| it.root == Some(root) && it.text.mark() == text.mark();
        let history = self.history.take_if(is_comparable)?;
        let mut pass = match self.pass.take() {
            Some(pass) => pass,
            None => Box::new(Pass::new(self.policy, reader.decoder.plan())),
        };
        pass.start(history);
        Some(pass)
    }

    /// Ends a comparison: keeps the message as the history, and records whether the comparison saved work. `since`: the time
    /// at which it began, if it is timed.
    fn end_pass(
        &mut self,
        reader: &mut FullReader,
        bypass: &mut Bypass,
        pass: &mut Pass,
        text: Text,
        since: Option<Instant>,
    ) -> Result<Received, Fail> {
        let (pace, counts) = (reader.pace, &mut reader.counts.reads);
        counts.values += pass.touched as u64;
        counts.restructured += pass.regions.len() as u64;
        // Counting takes time, and is not needed if the measured time decides.
        let is_timed = since.is_some() && pace.is_known();
        let is_worth_it = is_timed || pass.was_worth_it();
        let length = text.bytes().len();
        let (history, changes) = pass.finish(&reader.decoder, text)?;
        let is_uncertain = since.is_some_and(|since| pace.is_uncertain(length, since));
        let is_beaten = since.and_then(|since| pace.is_beaten(length, since));
        let was_useful = !pass.gave_up && is_beaten.unwrap_or(is_worth_it);
        let record = history.record.clone().ok_or(Fail)?;
        let pauses = self.policy.may_bypass && bypass.learn(was_useful);
        if is_uncertain || is_worn(&record, history.heap) {
            // The whole next message is decoded, in this history's memory: allocation must not be measured.
            self.reuse(reader, history);
        } else if !pauses {
            self.history = Some(history);
        }
        Ok(Received::new(record, changes, Mode::Fast))
    }

    /// Drops a history and keeps its memory.
    fn reuse(&mut self, reader: &mut FullReader, mut history: History) {
        history.text = Text::default();
        history.trace.clear();
        history.checkpoints.clear();
        history.capacities = Capacities::default();
        history.warnings.clear();
        let record = history.record.take();
        reader.spare = reader.spare.take().or(record);
        self.spare = history;
    }

    /// Decodes a whole text into `record`, and its trace and checkpoints into `history`.
    fn read(
        &self,
        decoder: &mut Decoder,
        root: ElementId,
        text: &str,
        record: &mut Record,
        history: &mut History,
    ) -> Result<(), Error> {
        decoder.start(root);
        let (trace, checkpoints) = (&mut history.trace, &mut history.checkpoints);
        let spacing = self.policy.spacing(text.len());
        loop {
            let checkpoint = decoder.checkpoint(record);
            let from = checkpoint.offset() as usize;
            checkpoints.push(checkpoint);
            let end = cut(text.as_bytes(), from, from + spacing);
            let piece = Piece {
                text: &text[..end.unwrap_or(text.len())],
                base: 0,
                last: end.is_none(),
                beyond: text.len() - end.unwrap_or(text.len()),
            };
            decoder.read(piece, record, Some(&mut *trace))?;
            if end.is_none() {
                return Ok(());
            }
            if !decoder.is_between() {
                // What looked like a tag is none, for example inside a comment.
                let rest = Piece {
                    text,
                    base: 0,
                    last: true,
                    beyond: 0,
                };
                return decoder.read(rest, record, Some(trace));
            }
        }
    }
}

impl Method for Exact {
    fn keep(
        &mut self,
        reader: &mut FullReader,
        root: ElementId,
        text: &str,
        message: &Bytes,
    ) -> Result<Arc<Record>, Fail> {
        let mut record = reader.empty_record(root);
        // Reserves as much as the last message needed, but not more than a text of this length can need.
        let (slots, heap) = record.parts_mut();
        slots.reserve_exact(self.size.0.min(text.len() / 4));
        heap.reserve_exact(self.size.1.min(text.len()));
        let mut history = History {
            root: Some(root),
            opened: opening(text.as_bytes()),
            trace: std::mem::take(&mut self.spare.trace),
            checkpoints: std::mem::take(&mut self.spare.checkpoints),
            ..History::default()
        };
        let since = reader.pace.start(text.len());
        let read = self.read(&mut reader.decoder, root, text, &mut record, &mut history);
        reader.pace.learn(text.len(), since, true);
        read.map_err(|_| Fail)?;
        let record = fit(record);
        self.size = (record.slots().len(), record.heap().len());
        history.trace.fit(self.size.0, text.len() as u32);
        fit_loosely(&mut history.trace.starts);
        fit_loosely(&mut history.trace.sites);
        history.heap = self.size.1;
        if !record.warnings().is_empty() {
            history.note_warnings(&record, text.len());
        }
        history.record = Some(record.clone());
        history.text = Text::new(message.clone());
        self.history = Some(history);
        Ok(record)
    }

    fn compare(
        &mut self,
        reader: &mut FullReader,
        bypass: &mut Bypass,
        root: ElementId,
        message: &Bytes,
    ) -> Result<Received, NotCompared> {
        let text = Text::new(message.clone());
        // If a stream is never bypassed, the measured time is not needed.
        let since = match self.policy.may_bypass {
            true => reader.pace.start(message.len()),
            false => None,
        };
        let pass = self.begin_pass(reader, root, &text);
        let mut pass = pass.ok_or(NotCompared::NoHistory)?;
        let is_read = pass.advance(&mut reader.decoder, text.bytes());
        let received = match is_read {
            Ok(()) => self.end_pass(reader, bypass, &mut pass, text, since),
            Err(Fail) => {
                self.reuse(reader, std::mem::take(&mut pass.history));
                Err(Fail)
            }
        };
        let is_dissimilar = is_read.is_err() && pass.gave_up && self.policy.may_bypass;
        pass.give_back();
        self.pass = Some(pass);
        received.map_err(|Fail| match is_dissimilar && bypass.dissimilar() {
            true => NotCompared::Dissimilar,
            false => NotCompared::Failed,
        })
    }

    fn again(&self, root: ElementId, message: &[u8]) -> Option<Arc<Record>> {
        let history = self.history.as_ref()?;
        let is_same = history.root == Some(root) && history.text.is_of(message);
        history.record.clone().filter(|_| is_same)
    }

    fn keeps_warnings(&self) -> bool {
        true
    }

    fn forget(&mut self, reader: &mut FullReader) {
        if let Some(history) = self.history.take() {
            self.reuse(reader, history);
        }
    }

    fn memory(&self) -> (usize, usize) {
        let (record, history) = self.history.as_ref().map_or((0, 0), |history| {
            let record = history.record.as_ref();
            (record.map_or(0, |it| it.memory()), history.memory())
        });
        (record, history + self.spare.memory())
    }

    fn checkpoints(&self) -> (usize, usize) {
        self.history.as_ref().map_or((0, 0), |history| {
            (history.checkpoints.len(), history.checkpoint_memory())
        })
    }
}

/// Frees the memory that a much larger message needed.
fn fit_loosely<T>(values: &mut Vec<T>) {
    if values.capacity() > 2 * values.len() + 4096 {
        values.shrink_to_fit();
    }
}
