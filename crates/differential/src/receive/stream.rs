//! A stream of messages that are received in one of several ways.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::{ElementId, Plan};
use bytes::Bytes;

use super::change::Changes;
use super::checkpointing::{self, Portioning};
use super::exact::Exact;
use super::pace::Pace;
use super::policy::Policy;
use super::received::{FullReader, Method, Mode, NotCompared, Received};
use crate::bypass::{Backoff, Bypass, Turn};
use crate::stats::ReceiveCounts;

/// The way in which a stream of messages is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The text of the previous message is kept and compared, and only what differs is decoded.
    Exact(Policy),
    /// Portions of the text are compared with those of the previous message, and the decoder is set to checkpoints, as in the
    /// papers.
    Portions(Portioning),
    /// Each message is decoded without regard to the previous one.
    Off,
}

impl Default for Way {
    fn default() -> Self {
        Self::Exact(Policy::default())
    }
}

/// Reads the messages of a stream in one of several [ways](Way). Values and errors are the same as those of a new [`Decoder`],
/// whatever the way.
///
/// ```
/// # use std::sync::Arc;
/// # use bsoap_codec::{DecodeOptions, Plan, decode::Error, plan::ElementId};
/// use bsoap_differential::receive::{Mode, Stream, Way};
/// use bytes::Bytes;
///
/// # fn read(plan: Arc<Plan>, root: ElementId) -> Result<(), Error> {
/// let mut stream = Stream::new(Way::default(), plan, DecodeOptions::default());
/// let message = Bytes::from_static(b"<values><v>1</v><v>2.5</v></values>");
/// let first = stream.receive(root, message.clone())?;
/// let second = stream.receive(root, message)?;
/// assert!(first.changes.is_all() && second.changes.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stream {
    way: Way,
    /// `None` if the way is [`Way::Off`].
    method: Option<Box<dyn Method>>,
    reader: FullReader,
    bypass: Bypass,
}

impl Stream {
    /// A stream of messages that are read by this Plan.
    pub fn new(way: Way, plan: Arc<Plan>, options: DecodeOptions) -> Self {
        Self::with_decoder(way, Decoder::new(plan, options))
    }

    /// A stream that uses this decoder, which may have read similar messages before.
    pub fn with_decoder(way: Way, decoder: Decoder) -> Self {
        let method: Option<Box<dyn Method>> = match way {
            Way::Exact(policy) => Some(Box::new(Exact::new(policy))),
            Way::Portions(portioning) => Some(checkpointing::method(portioning)),
            Way::Off => None,
        };
        let reader = FullReader {
            decoder,
            pace: Pace::default(),
            counts: ReceiveCounts::default(),
            spare: None,
        };
        Self {
            way,
            method,
            reader,
            bypass: Bypass::new(Backoff::RECEIVE),
        }
    }

    /// The way in which messages are received.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Limits the memory of the Records of the next messages; see [`Decoder::limit_record`]. A message that equals the previous one
    /// needs no further memory, so its Record is returned whatever the limit.
    pub fn limit_record(&mut self, bytes: usize) {
        self.reader.decoder.limit_record(bytes);
    }

    /// Whether the next message will be decoded without comparison, because the last ones were not similar or the way is
    /// [`Way::Off`].
    pub fn is_bypassed(&self) -> bool {
        self.method.is_none() || self.bypass.left() > 0
    }

    /// Counts a message that the caller decodes elsewhere, if it would neither be compared nor kept here. Returns `false` if
    /// the message has to be passed to [`receive`](Self::receive).
    pub fn pass(&mut self) -> bool {
        let passes = self.method.is_none() || self.bypass.left() > 1;
        if passes {
            self.bypass.turn();
            self.forget();
        }
        passes
    }

    /// Reads a whole message, whose root element must be `root`. The stream may keep `message` to compare the next one with it.
    ///
    /// # Errors
    /// As [`Decoder::decode`], whatever the way. After an error, the next message is compared with the one before this one, or
    /// not compared.
    pub fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        let received = self.read(root, &message);
        let counts = &mut self.reader.counts;
        *match &received {
            Ok(received) => match received.mode {
                Mode::Regular => &mut counts.reads.regular,
                Mode::Fast => &mut counts.reads.fast,
                Mode::Bypassed => &mut counts.bypassed,
            },
            Err(_) => &mut counts.errors,
        } += 1;
        received
    }

    fn read(&mut self, root: ElementId, message: &Bytes) -> Result<Received, Error> {
        let Some(method) = &mut self.method else {
            return self.reader.read(root, message);
        };
        let reader = &mut self.reader;
        // Traces and checkpoints store offsets in 32 bits.
        let most = reader.decoder.options().limits.total_size;
        let fits = message.len() as u64 <= most.min(u64::from(u32::MAX) - 1);
        let turn = self.bypass.turn();
        if turn == Turn::Compare && fits {
            // A message with other warnings than the one before is decoded as a whole, so that it gets all of them.
            reader.decoder.refuse_deviations();
            let compared = method.compare(reader, &mut self.bypass, root, message);
            reader.decoder.accept_deviations();
            match compared {
                Ok(received) => return Ok(received),
                Err(NotCompared::Dissimilar) => return self.read_alone(root, message),
                Err(why) => reader.counts.reads.failed += u64::from(why == NotCompared::Failed),
            }
        }
        method.forget(reader);
        if turn != Turn::Bypass
            && fits
            && let Ok(Cow::Borrowed(text)) = bsoap_xml::decode_str(message)
            // If that fails, the decoder that reads all of it reports the error.
            && let Ok(record) = method.keep(reader, root, text, message)
        {
            let is_kept = record.warnings().is_empty() || method.keeps_warnings();
            if is_kept && !record.is_linked() {
                return Ok(Received::new(record, Changes::all(), Mode::Regular));
            }
            // What is the same in the next message would not give its warnings again, and a linked value may change with
            // another part of the text.
            method.forget(reader);
            self.bypass.dissimilar();
            return Ok(Received::alone(record));
        }
        self.read_alone(root, message)
    }

    fn read_alone(&mut self, root: ElementId, message: &Bytes) -> Result<Received, Error> {
        self.forget();
        self.reader.read(root, message)
    }

    fn forget(&mut self) {
        if let Some(method) = &mut self.method {
            method.forget(&mut self.reader);
        }
    }

    /// Reads a whole message if it equals the previous one byte for byte. `None` if it differs, or if the way does not keep
    /// the text. Nothing of `message` is kept.
    pub fn again(&mut self, root: ElementId, message: &[u8]) -> Option<Received> {
        if self.bypass.left() > 0 {
            return None;
        }
        let record = self.method.as_ref()?.again(root, message)?;
        self.bypass.useful();
        self.reader.counts.reads.fast += 1;
        Some(Received::new(record, Changes::default(), Mode::Fast))
    }

    /// Decodes a whole message as if nothing were saved, to measure the time. Returns whether it is valid.
    pub(super) fn decode(&mut self, root: ElementId, message: &[u8]) -> bool {
        self.reader.decoder.decode(root, message).is_ok()
    }

    /// The approximate number of bytes that the stream holds between messages.
    pub fn memory(&self) -> usize {
        let record = self.method.as_ref().map_or(0, |it| it.memory().0);
        let spare = self.reader.spare.as_ref().map_or(0, |it| it.memory());
        self.reader.decoder.memory() + record + spare + self.history_memory()
    }

    /// The number of bytes held for the next message besides the Record and the decoder: checkpoints, digests, text.
    pub fn history_memory(&self) -> usize {
        self.method.as_ref().map_or(0, |it| it.memory().1)
    }

    /// The number of checkpoints, and their size in bytes: locations and saved states, without digests and text.
    pub fn checkpoints(&self) -> (usize, usize) {
        self.method.as_ref().map_or((0, 0), |it| it.checkpoints())
    }

    /// Counts of the messages so far. Slots and bytes are counted only by the [cache](super::HistoryCache).
    pub fn counts(&self) -> &ReceiveCounts {
        &self.reader.counts
    }

    /// Returns the counts and sets them to zero.
    pub(super) fn take_counts(&mut self) -> ReceiveCounts {
        std::mem::take(&mut self.reader.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_is_the_default() {
        assert_eq!(Way::default(), Way::Exact(Policy::default()));
    }
}
