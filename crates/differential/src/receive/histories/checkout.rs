//! Decoding one message with what was checked out for it, without access to the cache.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use crate::cache::{Checkout, Entry};
use crate::receive::change::Changes;
use crate::receive::checkpointing::{Digest, Keyed};
use crate::receive::received::{Mode, Received, Stamp};
use crate::receive::similarity::TextSample;
use crate::receive::stream::{Stream, Way};
use crate::stats::{ReceiveCounts, ReceiveStats};

/// Messages below this size in bytes are copied to be kept, because their receive buffer may be much larger.
const SHARED_MESSAGE: usize = 64 << 10;

/// What one message is decoded with: a history, or only a decoder.
#[derive(Debug)]
#[must_use]
pub struct HistoryCheckout {
    pub(super) saved: Checkout<SavedHistory>,
    pub(super) with: With,
    /// Whether most slots of the message were unchanged.
    pub(super) was_useful: bool,
    /// Whether the message was compared with one that it is not similar to.
    pub(super) was_in_vain: bool,
    /// The first message of the kind: this one, or the one before the first history.
    pub(super) first: Option<FirstMessage>,
    /// The largest number of bytes of the Record.
    pub(super) most_memory: usize,
}

/// What is known of the first message of a kind, which has no history.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstMessage {
    digest: u128,
    stamp: Stamp,
}

impl FirstMessage {
    fn new(message: &[u8], stamp: Stamp) -> Self {
        let digest = Keyed::of_process().digest(message);
        Self { digest, stamp }
    }
}

#[derive(Debug)]
pub(super) enum With {
    /// A decoder, for the first message of a kind.
    First,
    /// A decoder.
    Plain { is_bypassed: bool },
    /// A decoder, which a new history will keep.
    New { way: Way, sample: Box<TextSample> },
    /// The history that was checked out, whose message is similar to this one or not.
    History { is_similar: bool },
}

/// A history in the cache.
#[derive(Debug)]
pub(super) struct SavedHistory {
    pub(super) stream: Stream,
    /// Some bytes of the message in the history.
    pub(super) sample: TextSample,
    stamp: Stamp,
}

impl HistoryCheckout {
    pub(super) fn new(saved: Checkout<SavedHistory>, with: With) -> Self {
        Self {
            saved,
            with,
            was_useful: false,
            was_in_vain: false,
            first: None,
            most_memory: usize::MAX,
        }
    }

    /// Limits the memory of the message's Record; see [`Stream::limit_record`].
    pub fn limit_record(&mut self, bytes: usize) {
        self.most_memory = bytes;
    }

    pub(super) fn plain(saved: Checkout<SavedHistory>, is_bypassed: bool) -> Self {
        Self::new(saved, With::Plain { is_bypassed })
    }

    /// Whether [`receive`](Self::receive) needs a decoder.
    pub fn wants_decoder(&self) -> bool {
        !matches!(self.with, With::History { .. })
    }

    /// Reads the message. If a decoder is [needed](Self::wants_decoder), `decoder` is used, or a `new` one if there is none;
    /// it is in `decoder` afterwards, unless a new history keeps it. Returns the message, and what is to be added to the
    /// counts.
    pub fn receive(
        &mut self,
        root: ElementId,
        message: &Bytes,
        decoder: &mut Option<Box<Decoder>>,
        new: impl FnOnce() -> Decoder,
    ) -> (Result<Received, Error>, ReceiveCounts) {
        let start = self.saved.timer.start();
        let is_similar = match &self.with {
            &With::Plain { is_bypassed } => {
                let decoder = decoder.get_or_insert_with(|| Box::new(new()));
                decoder.limit_record(self.most_memory);
                let result = decoder.decode(root, message);
                return self.count_plain(result, message.len(), is_bypassed, start);
            }
            With::First => {
                let decoder = decoder.get_or_insert_with(|| Box::new(new()));
                decoder.limit_record(self.most_memory);
                let result = decoder.decode(root, message);
                let (mut result, counts) = self.count_plain(result, message.len(), false, start);
                if let Ok(received) = &mut result {
                    let stamp = Stamp::next();
                    received.stamp = Some(stamp);
                    self.first = Some(FirstMessage::new(message, stamp));
                }
                return (result, counts);
            }
            With::New { way, sample } => {
                let decoder = decoder.take().map_or_else(new, |decoder| *decoder);
                self.saved.entry = Some(Entry::new(SavedHistory {
                    stream: Stream::with_decoder(*way, decoder),
                    sample: **sample,
                    stamp: Stamp(0),
                }));
                false
            }
            With::History { is_similar } => *is_similar,
        };
        self.read_with_history(root, message, is_similar, start)
    }

    fn count_plain(
        &mut self,
        result: Result<Record, Error>,
        length: usize,
        is_bypassed: bool,
        start: Option<Instant>,
    ) -> (Result<Received, Error>, ReceiveCounts) {
        let mut counts = ReceiveCounts::default();
        match &result {
            Ok(_) => {
                self.saved.timer.learn(start, length);
                counts.plain = u64::from(!is_bypassed);
                counts.bypassed = u64::from(is_bypassed);
            }
            Err(_) => counts.errors = 1,
        }
        (result.map(Received::alone), counts)
    }

    fn read_with_history(
        &mut self,
        root: ElementId,
        message: &Bytes,
        is_similar: bool,
        start: Option<Instant>,
    ) -> (Result<Received, Error>, ReceiveCounts) {
        let Checkout {
            entry,
            is_new,
            timer,
            ..
        } = &mut self.saved;
        let Some(entry) = entry else {
            unreachable!("the caller has seen that there is a history");
        };
        let history = &mut entry.value;
        history.stream.limit_record(self.most_memory);
        let was_bypassed = history.stream.is_bypassed();
        let since = history.stamp;
        let (is_same, result) = history.read(root, message);
        if result.is_ok() {
            // After an error the history is that of the message before, or empty.
            history.stamp = Stamp::next();
        }
        let (mut counts, stamp) = (history.stream.take_counts(), history.stamp);
        // If there was nothing to compare with, after an error or because the history was dropped, nothing failed. Similar
        // messages with other markup alternate if an element is optional: then each structure needs a history.
        let is_other = !is_similar || counts.reads.restructured > 0;
        let gave_up = is_other && history.stream.is_bypassed();
        let failed = counts.reads.failed > 0 || gave_up;
        self.was_in_vain = failed && !*is_new && !was_bypassed;
        if !is_same {
            entry.memory = size_of::<Entry<SavedHistory>>() + entry.value.stream.memory();
        }
        let length = message.len();
        let result = result.map(|mut received| {
            count(&mut counts.reads, &received, length);
            match received.mode {
                Mode::Fast => {
                    let stream = &mut entry.value.stream;
                    counts.saved = timer.saved(start, length, || stream.decode(root, message));
                }
                Mode::Regular | Mode::Bypassed => timer.learn(start, length),
            }
            received.stamp = Some(stamp);
            received.since = (!received.changes.is_all()).then_some(since);
            if let Some(first) = self.first
                && first.digest == Keyed::of_process().digest(message)
            {
                // The first message had no history, but it was the same.
                received.changes = Changes::default();
                received.since = Some(first.stamp);
            }
            received
        });
        self.was_useful = counts.reads.unchanged_slots * 2 > counts.reads.slots;
        (result, counts)
    }
}

impl SavedHistory {
    /// Reads a message. Returns `true` if it equals the message of the history byte for byte.
    fn read(&mut self, root: ElementId, message: &Bytes) -> (bool, Result<Received, Error>) {
        if message.len() >= SHARED_MESSAGE {
            return (false, self.stream.receive(root, message.clone()));
        }
        match self.stream.again(root, message) {
            Some(again) => (true, Ok(again)),
            None => {
                let own = Bytes::copy_from_slice(message);
                (false, self.stream.receive(root, own))
            }
        }
    }
}

impl Stamp {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Counts the slots and bytes of a message of this length.
fn count(reads: &mut ReceiveStats, received: &Received, length: usize) {
    if received.mode == Mode::Fast {
        let slots = received.record.slots().len();
        reads.slots = slots as u64;
        reads.unchanged_slots = (slots - received.changes.count(slots).min(slots)) as u64;
        reads.fast_bytes = length as u64;
    }
    if received.mode != Mode::Bypassed {
        reads.bytes = length as u64;
    }
}
