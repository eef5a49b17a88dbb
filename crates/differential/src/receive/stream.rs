//! A stream of messages, received in the way that was chosen.

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error};
use bsoap_codec::plan::{ElementId, Plan};
use bytes::Bytes;

use super::change::Changes;
use super::checkpointing::{Portioned, Portioning};
use super::exact::Exact;
use super::policy::Policy;
use super::received::{Mode, Received, Totals};

/// How a stream of messages is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// The text of the message before is kept and compared: see [`Exact`].
    Exact(Policy),
    /// Portions of the message before are compared, and the decoder goes back to checkpoints: see [`Portioned`].
    Portions(Portioning),
    /// Each message is read as if it were the only one.
    Off,
}

impl Default for Way {
    fn default() -> Self {
        Self::Exact(Policy::default())
    }
}

/// Reads the messages of a stream in one of several [ways](Way), which all give the same values and the same errors.
///
/// Messages come [in one piece](Self::receive) or [as they arrive](Self::begin).
#[derive(Debug)]
pub struct Stream {
    way: Way,
    receiver: Receiver,
}

/// What does the work. Boxed, so that a stream is small to move.
#[derive(Debug)]
enum Receiver {
    Exact(Box<Exact>),
    Portions(Box<Portioned>),
    Off(Box<Off>),
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

    /// The same with a decoder that may know the spelling of such messages already.
    pub fn with_decoder(way: Way, decoder: Decoder) -> Self {
        let receiver = match way {
            Way::Exact(policy) => Receiver::Exact(Box::new(Exact::with_decoder(decoder, policy))),
            Way::Portions(portioning) => {
                Receiver::Portions(Box::new(Portioned::with_decoder(decoder, portioning)))
            }
            Way::Off => Receiver::Off(Box::new(Off {
                decoder,
                totals: Totals::default(),
            })),
        };
        Self { way, receiver }
    }

    /// Its decoder, which knows the spelling of the messages read.
    pub fn into_decoder(self) -> Decoder {
        match self.receiver {
            Receiver::Exact(exact) => exact.into_decoder(),
            Receiver::Portions(portioned) => portioned.into_decoder(),
            Receiver::Off(off) => off.decoder,
        }
    }

    /// Whether the next message will be read without comparing, since the last ones were not alike.
    pub fn stands_aside(&self) -> bool {
        match &self.receiver {
            Receiver::Exact(exact) => exact.stands_aside(),
            Receiver::Portions(portioned) => portioned.stands_aside(),
            Receiver::Off(_) => true,
        }
    }

    /// Whether the next message will neither be compared nor kept.
    pub fn passes(&self) -> bool {
        match &self.receiver {
            Receiver::Exact(exact) => exact.passes(),
            Receiver::Portions(portioned) => portioned.passes(),
            Receiver::Off(_) => true,
        }
    }

    /// Leaves out a message that would [neither be compared nor kept](Self::passes), and is read elsewhere. Whether the next
    /// one is such a message.
    pub fn pass(&mut self) -> bool {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.pass(),
            Receiver::Portions(_) => false,
            Receiver::Off(off) => {
                off.begin();
                true
            }
        }
    }

    /// The way chosen.
    pub fn way(&self) -> Way {
        self.way
    }

    /// The Plan that messages are read by.
    pub fn plan(&self) -> &Arc<Plan> {
        match &self.receiver {
            Receiver::Exact(exact) => exact.plan(),
            Receiver::Portions(portioned) => portioned.plan(),
            Receiver::Off(off) => off.decoder.plan(),
        }
    }

    /// Reads a whole message, whose root element must be `root`. It may be kept, as it is, for the next one.
    ///
    /// # Errors
    /// As [`Decoder::decode`], whatever the way.
    pub fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.receive(root, message),
            Receiver::Portions(portioned) => portioned.receive(root, message),
            Receiver::Off(off) => {
                off.begin();
                off.decoder.decode(root, &message).map(alone)
            }
        }
    }

    /// Reads a whole message if it is, byte for byte, the one before, and that is known without more than a compare of them.
    /// Then none of it is kept: what is there is as good.
    pub fn again(&mut self, root: ElementId, message: &[u8]) -> Option<Received> {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.again(root, message),
            Receiver::Portions(_) | Receiver::Off(_) => None,
        }
    }

    /// Begins a message that arrives in pieces. One that was begun before and not finished is given up.
    pub fn begin(&mut self, root: ElementId) {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.begin(root),
            Receiver::Portions(portioned) => portioned.begin(root),
            Receiver::Off(off) => {
                off.begin();
                off.decoder.begin(root);
            }
        }
    }

    /// Goes on with more bytes of the message begun.
    ///
    /// # Errors
    /// As [`Decoder::feed`], now or when the message is [finished](Self::finish); then every further call says the same.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.feed(bytes),
            Receiver::Portions(portioned) => portioned.feed(bytes),
            Receiver::Off(off) => off.decoder.feed(bytes),
        }
    }

    /// The message begun has come to its end.
    ///
    /// # Errors
    /// As [`Decoder::finish`].
    pub fn finish(&mut self) -> Result<Received, Error> {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.finish(),
            Receiver::Portions(portioned) => portioned.finish(),
            Receiver::Off(off) => off.decoder.finish().map(alone),
        }
    }

    /// Forgets the messages read and all that was learned of them, so that another stream may be read.
    pub fn forget(&mut self) {
        match &mut self.receiver {
            Receiver::Exact(exact) => exact.forget(),
            Receiver::Portions(portioned) => portioned.forget(),
            Receiver::Off(off) => off.decoder.forget(),
        }
    }

    /// About how many bytes it holds between messages.
    pub fn memory(&self) -> usize {
        match &self.receiver {
            Receiver::Exact(exact) => exact.memory(),
            Receiver::Portions(portioned) => portioned.memory(),
            Receiver::Off(off) => off.decoder.memory(),
        }
    }

    /// What has been done so far.
    pub fn totals(&self) -> Totals {
        match &self.receiver {
            Receiver::Exact(exact) => exact.totals(),
            Receiver::Portions(portioned) => portioned.totals(),
            Receiver::Off(off) => off.totals,
        }
    }
}

impl Off {
    /// A message comes.
    fn begin(&mut self) {
        self.totals.messages += 1;
        self.totals.aside += 1;
    }
}

/// A message without one before.
fn alone(record: bsoap_codec::Record) -> Received {
    Received {
        record: Arc::new(record),
        changes: Changes::all(),
        mode: Mode::Aside,
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
