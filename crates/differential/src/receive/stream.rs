//! A stream of messages, received in the way that was chosen.

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::{ElementId, Plan};
use bytes::Bytes;

use super::checkpointing::{self, Portioning};
use super::exact::Exact;
use super::policy::Policy;
use super::received::{Received, Receiver, Totals};

/// How a stream of messages is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The text of the previous message is kept and compared, and only what differs is read.
    Exact(Policy),
    /// Portions of the previous message are compared, and the decoder is set back to checkpoints, as in the papers.
    Portions(Portioning),
    /// Each message is read on its own.
    Off,
}

impl Default for Way {
    fn default() -> Self {
        Self::Exact(Policy::default())
    }
}

/// Reads the messages of a stream in one of several [ways](Way), which all give the same values and the same errors.
///
/// A message comes [in one piece](Self::receive), or in [several](Self::begin) that are collected first.
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
    receiver: Box<dyn Receiver>,
    pieces: Option<Pieces>,
}

/// A message that comes in pieces.
#[derive(Debug)]
struct Pieces {
    root: ElementId,
    message: Vec<u8>,
    failed: Option<Error>,
}

/// Reads all of each message.
#[derive(Debug)]
struct Off {
    decoder: Decoder,
    totals: Totals,
}

impl Stream {
    /// For messages that are read by this Plan.
    pub fn new(way: Way, plan: Arc<Plan>, options: DecodeOptions) -> Self {
        Self::with_decoder(way, Decoder::new(plan, options))
    }

    /// The same with a decoder that may have read such messages before.
    pub fn with_decoder(way: Way, decoder: Decoder) -> Self {
        let receiver: Box<dyn Receiver> = match way {
            Way::Exact(policy) => Box::new(Exact::new(decoder, policy)),
            Way::Portions(portioning) => checkpointing::receiver(decoder, portioning),
            Way::Off => Box::new(Off {
                decoder,
                totals: Totals::default(),
            }),
        };
        Self {
            way,
            receiver,
            pieces: None,
        }
    }

    /// The way chosen.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Whether the next message will be read without comparing, since the last ones were not similar.
    pub fn is_bypassed(&self) -> bool {
        self.receiver.is_bypassed()
    }

    /// Skips a message that would neither be compared nor kept, because it is read elsewhere. Whether the next one is such a
    /// message.
    pub fn pass(&mut self) -> bool {
        self.receiver.pass()
    }

    /// Reads a whole message, whose root element must be `root`. It may be kept, as it is, for the next one.
    ///
    /// # Errors
    /// As [`Decoder::decode`], whatever the way. The previous message is forgotten then, or kept.
    pub fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        self.pieces = None;
        self.receiver.receive(root, message)
    }

    /// Reads a whole message if it is, byte for byte, the previous one, and a compare is enough to know that. Then nothing of
    /// it is kept: the text of the previous one is as good.
    pub fn again(&mut self, root: ElementId, message: &[u8]) -> Option<Received> {
        self.receiver.again(root, message)
    }

    /// Begins a message that comes in pieces. One that was begun before and not finished is discarded.
    pub fn begin(&mut self, root: ElementId) {
        self.pieces = Some(Pieces {
            root,
            message: Vec::new(),
            failed: None,
        });
    }

    /// Adds bytes to the message begun. They are decoded when it is finished.
    ///
    /// # Errors
    /// The message is longer than [allowed](bsoap_xml::Limits::total_size), or none was begun.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(mut pieces) = self.pieces.take() else {
            return self.receiver.decoder().feed(bytes);
        };
        pieces.message.extend_from_slice(bytes);
        let limit = self.receiver.decoder().options().limits.total_size;
        if pieces.failed.is_none() && pieces.message.len() as u64 > limit {
            let message = std::mem::take(&mut pieces.message);
            pieces.failed = self.receiver.receive(pieces.root, message.into()).err();
        }
        let result = pieces.failed.clone().map_or(Ok(()), Err);
        self.pieces = Some(pieces);
        result
    }

    /// Reads the message begun.
    ///
    /// # Errors
    /// As [`receive`](Self::receive), or none was begun.
    pub fn finish(&mut self) -> Result<Received, Error> {
        match self.pieces.take() {
            Some(pieces) => match pieces.failed {
                Some(error) => Err(error),
                None => self.receiver.receive(pieces.root, pieces.message.into()),
            },
            None => self.receiver.decoder().finish().map(Received::alone),
        }
    }

    /// About how many bytes it holds between messages.
    pub fn memory(&self) -> usize {
        self.receiver.memory()
    }

    /// How many of them are held for the next message besides the Record and the decoder: checkpoints, digests, text.
    pub fn history_memory(&self) -> usize {
        self.receiver.history_memory()
    }

    /// How many checkpoints it holds, and how many bytes they take: locations and saved states, without digests and text.
    pub fn checkpoints(&self) -> (usize, usize) {
        self.receiver.checkpoints()
    }

    /// What has been done so far.
    pub fn totals(&self) -> Totals {
        self.receiver.totals()
    }
}

impl Receiver for Off {
    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        self.pass();
        self.decoder.decode(root, &message).map(Received::alone)
    }

    fn is_bypassed(&self) -> bool {
        true
    }

    fn pass(&mut self) -> bool {
        self.totals.messages += 1;
        self.totals.bypassed += 1;
        true
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn memory(&self) -> usize {
        self.decoder.memory()
    }

    fn history_memory(&self) -> usize {
        0
    }

    fn checkpoints(&self) -> (usize, usize) {
        (0, 0)
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
