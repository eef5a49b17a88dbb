//! `exact`: the text of the message before is kept, and compared byte by byte.

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
mod strings;
mod texts;
mod values;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error, Piece};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::change::Changes;
use super::pace::Pace;
use super::policy::Policy;
use super::received::{Fail, Mode, Received, Receiver, Totals, fit};
use super::similarity::shares_a_piece;
use super::text::{Text, cut, opening};
use crate::bypass::{Backoff, Bypass, Turn};
use capacities::Capacities;
use history::{History, Root};
use pass::Pass;

/// After a pause of this length even the first comparison has to cost little: a message is not kept before it was found to
/// share a piece with the last one.
const LONG_PAUSE: u32 = 8;

/// Reads the messages of a stream, each as what differs from the one before.
///
/// The Record of a message, and its errors, are those that a fresh [`Decoder`] gives.
#[derive(Debug)]
pub(super) struct Exact {
    decoder: Decoder,
    policy: Policy,
    history: Option<History>,
    bypass: Bypass,
    pace: Pace,
    /// Between messages, to be used again.
    pass: Option<Box<Pass>>,
    /// A history that is not used any more, for its memory.
    spare: History,
    /// The message before, if that was read without comparing and this one is to be looked at.
    unread: Option<Bytes>,
    /// Slots and octets of the last message that was read and kept.
    size: (usize, usize),
    totals: Totals,
}

impl Exact {
    /// For a stream of messages. The decoder may know the spelling of such messages already.
    pub(super) fn new(decoder: Decoder, policy: Policy) -> Self {
        Self {
            decoder,
            policy,
            history: None,
            bypass: Bypass::new(Backoff::RECEIVE),
            pace: Pace::default(),
            pass: None,
            spare: History::default(),
            unread: None,
            size: (0, 0),
            totals: Totals::default(),
        }
    }

    /// A message could not be compared to its end. Whether that is because it is not like the one before, so that it need
    /// not be kept.
    fn is_given_up(&mut self, mut pass: Box<Pass>) -> bool {
        let is_unlike = pass.gave_up && self.policy.may_bypass && self.bypass.dissimilar();
        self.reuse(std::mem::take(&mut pass.history));
        pass.give_back();
        self.pass = Some(pass);
        is_unlike
    }

    /// The text of a message that is in UTF-8 if the one before is, up to where they differ.
    fn text_of(&self, message: &Bytes) -> Option<Text> {
        let text = Text::new(message.clone());
        let before = self.history.as_ref()?;
        (before.text.mark() == text.mark()).then_some(text)
    }

    fn begin_pass(&mut self) -> Option<Box<Pass>> {
        let history = self.history.take()?;
        let mut pass = match self.pass.take() {
            Some(pass) => pass,
            None => Box::new(Pass::new(self.policy, self.decoder.plan())),
        };
        pass.start(history);
        Some(pass)
    }

    /// `since`: when it began, if nobody was waited for.
    fn end_pass(
        &mut self,
        mut pass: Box<Pass>,
        text: Text,
        since: Option<Instant>,
    ) -> Result<Received, Fail> {
        self.totals.touched += pass.touched as u64;
        self.totals.restructured += pass.splices.len() as u64;
        // Counting takes a while, and is not needed where the clock decides.
        let is_timed = since.is_some() && self.pace.is_known();
        let is_worth_it = is_timed || pass.was_worth_it();
        let length = text.bytes().len();
        let (history, changes) = pass.finish(&self.decoder, text)?;
        let is_uncertain = since.is_some_and(|since| self.pace.is_uncertain(length, since));
        let was_useful = !pass.gave_up
            && since
                .and_then(|since| self.pace.is_beaten(length, since))
                .unwrap_or(is_worth_it);
        pass.give_back();
        self.pass = Some(pass);
        let record = history.record.clone().ok_or(Fail)?;
        self.totals.fast += 1;
        let is_worn = record.heap().len() > 2 * history.heap + MAX_UNUSED_HEAP;
        // Strings that are no longer used take memory; now and then all is read, which leaves them out.
        let pauses = self.policy.may_bypass && self.bypass.learn(was_useful);
        if is_worn || is_uncertain {
            // All of the next message is read: with new memory that would take longer, and be taken for what reading takes.
            self.reuse(history);
        } else if !pauses {
            self.history = Some(history);
        }
        Ok(Received {
            record,
            changes,
            mode: Mode::Fast,
        })
    }

    /// The message before is of no use any more, but for its memory.
    fn drop_history(&mut self) {
        if let Some(history) = self.history.take() {
            self.reuse(history);
        }
    }

    fn reuse(&mut self, mut history: History) {
        history.text = Text::default();
        history.trace.clear();
        history.checkpoints.clear();
        history.capacities = Capacities::default();
        if let Some(record) = self.spare.record.take() {
            history.record = Some(record);
        }
        self.spare = history;
    }

    /// Reads all of a message and keeps nothing.
    fn read_alone(&mut self, root: ElementId, message: &[u8]) -> Result<Received, Error> {
        self.totals.bypassed += 1;
        self.drop_history();
        let mut shared = self.record_for(root);
        let since = self.pace.start(message.len());
        // (If somebody keeps a weak one, he loses it.)
        let record = Arc::make_mut(&mut shared);
        self.decoder.decode_into(root, message, record)?;
        self.pace.learn(message.len(), since, false);
        self.spare.record = Some(shared.clone());
        Ok(Received {
            record: shared,
            changes: Changes::all(),
            mode: Mode::Bypassed,
        })
    }

    /// A Record that nobody else holds: that of the last message that was only read, if it is one.
    fn record_for(&mut self, root: ElementId) -> Arc<Record> {
        // (To ask for it to be changed takes as long as a value, and is done where it is.)
        let spare = self.spare.record.take();
        spare
            .filter(|record| Arc::strong_count(record) == 1)
            .unwrap_or_else(|| Arc::new(Record::new(self.decoder.plan().clone(), root)))
    }

    /// Reads all of a message and keeps it.
    fn regular(&mut self, root: ElementId, message: &Bytes) -> Result<Received, Error> {
        self.drop_history();
        let text = match bsoap_xml::decode_str(message) {
            Ok(Cow::Borrowed(text)) if message.len() < u32::MAX as usize => text,
            _ => return self.read_alone(root, message),
        };
        let mut record = Arc::try_unwrap(self.record_for(root))
            .unwrap_or_else(|held| Record::new(held.plan().clone(), root));
        record.clear(root);
        // As much as last time, but not much more than such a message can need.
        let (slots, heap) = record.parts_mut();
        slots.reserve_exact(self.size.0.min(text.len() / 4));
        heap.reserve_exact(self.size.1.min(text.len()));
        let mut history = History {
            root: Root(root),
            opened: opening(text.as_bytes()),
            trace: std::mem::take(&mut self.spare.trace),
            checkpoints: std::mem::take(&mut self.spare.checkpoints),
            ..History::default()
        };
        let since = self.pace.start(text.len());
        let read = self.read(text, &mut record, &mut history);
        self.pace.learn(text.len(), since, true);
        if read.is_err() {
            // A decoder that reads all of it reports the error.
            return self.read_alone(root, message);
        }
        fit(record.parts_mut().0, 32);
        fit(record.parts_mut().1, 256);
        self.size = (record.slots().len(), record.heap().len());
        let record = Arc::new(record);
        history.trace.fit(self.size.0, text.len() as u32);
        fit_loosely(&mut history.trace.starts);
        fit_loosely(&mut history.trace.sites);
        history.heap = self.size.1;
        history.record = Some(record.clone());
        history.text = Text::new(message.clone());
        self.history = Some(history);
        Ok(Received {
            record,
            changes: Changes::all(),
            mode: Mode::Regular,
        })
    }

    /// Reads all of a text, with its trace and checkpoints.
    fn read(
        &mut self,
        text: &str,
        record: &mut Record,
        history: &mut History,
    ) -> Result<(), Error> {
        let decoder = &mut self.decoder;
        decoder.start(history.root.0);
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
                // The tag was not one: it is in a comment, for example.
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

impl Receiver for Exact {
    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        self.totals.messages += 1;
        match self.bypass.turn() {
            Turn::Compare => {}
            Turn::Keep if self.bypass.last_pause() >= LONG_PAUSE => {
                let received = self.read_alone(root, &message)?;
                self.unread = Some(message);
                return Ok(received);
            }
            Turn::Keep => return self.regular(root, &message),
            Turn::Bypass => return self.read_alone(root, &message),
        }
        if let Some(before) = self.unread.take()
            && !shares_a_piece(&before, &message)
        {
            self.bypass.dissimilar();
            return self.read_alone(root, &message);
        }
        if self.history.as_ref().is_none_or(|it| it.root != Root(root)) {
            return self.regular(root, &message);
        }
        let limits = &self.decoder.options().limits;
        let length = message.len() as u64;
        let Some(text) = self.text_of(&message) else {
            return self.regular(root, &message);
        };
        if length > limits.total_size || length >= u64::from(u32::MAX) {
            return self.regular(root, &message);
        }
        // Where comparing is never given up, nothing is decided by the clock.
        let since = match self.policy.may_bypass {
            true => self.pace.start(message.len()),
            false => None,
        };
        let Some(mut pass) = self.begin_pass() else {
            return self.regular(root, &message);
        };
        match pass.advance(&mut self.decoder, text.bytes()) {
            Ok(()) => {
                if let Ok(received) = self.end_pass(pass, text, since) {
                    return Ok(received);
                }
            }
            Err(_) if self.is_given_up(pass) => return self.read_alone(root, &message),
            Err(_) => {}
        }
        self.totals.failed += 1;
        self.regular(root, &message)
    }

    fn again(&mut self, root: ElementId, message: &[u8]) -> Option<Received> {
        let history = self.history.as_ref()?;
        if self.bypass.left() > 0 || history.root != Root(root) || !history.text.is_of(message) {
            return None;
        }
        let record = history.record.clone()?;
        self.bypass.useful();
        self.totals.messages += 1;
        self.totals.fast += 1;
        Some(Received {
            record,
            changes: Changes::default(),
            mode: Mode::Fast,
        })
    }

    fn is_bypassed(&self) -> bool {
        self.bypass.left() > 0
    }

    fn pass(&mut self) -> bool {
        let passes = self.bypass.left() > 1;
        if passes {
            self.bypass.turn();
            self.totals.messages += 1;
            self.totals.bypassed += 1;
            self.drop_history();
        }
        passes
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn memory(&self) -> usize {
        let record = |record: &Arc<Record>| record.memory();
        let history = self.history.as_ref();
        let kept = history.and_then(|history| history.record.as_ref());
        self.decoder.memory()
            + self.history_memory()
            + kept.map_or(0, record)
            + self.spare.record.as_ref().map_or(0, record)
    }

    fn history_memory(&self) -> usize {
        let unread = self.unread.as_ref().map_or(0, Bytes::len);
        let history = self.history.as_ref().map_or(0, History::memory);
        history + self.spare.memory() + unread
    }

    fn checkpoints(&self) -> (usize, usize) {
        self.history.as_ref().map_or((0, 0), |history| {
            (history.checkpoints.len(), history.checkpoint_memory())
        })
    }
}

/// Bytes of unused strings that are tolerated.
const MAX_UNUSED_HEAP: usize = 64 << 10;

/// What a much larger message took is given back.
fn fit_loosely<T>(values: &mut Vec<T>) {
    if values.capacity() > 2 * values.len() + 4096 {
        values.shrink_to_fit();
    }
}
