//! Receiving by portions and checkpoints, as in the papers.
//!
//! N. Abu-Ghazaleh and M. J. Lewis, *Differential Deserialization for Optimized SOAP Performance* (2005), and *Lightweight
//! Checkpointing for Faster SOAP Deserialization* (2006). What they leave open is decided in `docs/design/checkpointing.md`.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Error, Until};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::checkpointer::{Checkpointer, Reading};
use super::digest::Digest;
use super::modes::{Modes, Saved};
use super::portion::{Entry, Mark, Portions};
use super::portioning::Portioning;
use crate::bypass::{Backoff, Bypass, Turn};
use crate::receive::change::Changes;
use crate::receive::received::{Fail, Mode, Received, Receiver, Totals, fit};
use crate::receive::text::{Text, cut, opening};

/// Reads the messages of a stream by portions: those that are the same as in the previous message are not read again.
#[derive(Debug)]
pub(super) struct Portioned<C: Checkpointer> {
    decoder: Decoder,
    portioning: Portioning,
    keeper: C,
    saved: Option<Saved<C::Saved>>,
    bypass: Bypass,
    /// Memory of a Record that nobody holds.
    spare: Option<Record>,
    totals: Totals,
}

/// At most this many bytes are read before they are digested, so that they are still in the cache.
const DIGEST_DISTANCE: usize = 256 << 10;

/// Unused bytes of the string heap that are tolerated.
const MAX_UNUSED_HEAP: usize = 64 << 10;

impl<C: Checkpointer> Portioned<C> {
    pub(super) fn new(decoder: Decoder, mut portioning: Portioning) -> Self {
        portioning.interrupt = portioning.interrupt.max(16);
        portioning.buffer = portioning.buffer.max(16);
        Self {
            decoder,
            portioning,
            keeper: C::new(&portioning),
            saved: None,
            bypass: Bypass::new(Backoff::RECEIVE),
            spare: None,
            totals: Totals::default(),
        }
    }

    fn digest(&self) -> Option<&'static dyn Digest> {
        self.portioning.sameness.digest()
    }

    /// Whether a text is short enough for everything that counts its bytes.
    fn fits(&self, length: usize) -> bool {
        length as u64 <= self.decoder.options().limits.total_size && length < u32::MAX as usize
    }

    /// Reads a message in fast mode and regular mode by turns.
    fn compare(&mut self, saved: Saved<C::Saved>, text: Text) -> Result<Received, Fail> {
        let (digest, length) = (self.digest(), text.bytes().len());
        let both = (&mut self.keeper, &mut self.decoder);
        let kept = text.clone();
        let mut modes = Modes::new(saved, self.spare.take(), both, digest, text.bytes());
        modes.read()?;
        let (read, switches) = (modes.read, modes.switches);
        let (saved, changes, spare) = modes.finish(kept)?;
        self.spare = spare;
        self.totals.fast += 1;
        self.totals.restructured += switches;
        let record = saved.record.clone();
        let is_worn = record.heap().len() > 2 * saved.heap + MAX_UNUSED_HEAP;
        let is_similar = read <= length - length / 8;
        let bypasses = self.portioning.may_bypass && self.bypass.learn(is_similar);
        if !bypasses && !is_worn {
            self.saved = Some(saved);
        }
        Ok(Received {
            record,
            changes,
            mode: Mode::Fast,
        })
    }

    /// Reads all of a message and keeps nothing.
    fn read_alone(&mut self, root: ElementId, message: &[u8]) -> Result<Received, Error> {
        self.totals.bypassed += 1;
        self.saved = None;
        self.spare = None;
        self.decoder.decode(root, message).map(Received::alone)
    }

    /// Reads all of a message in regular mode and keeps it.
    fn regular(&mut self, root: ElementId, message: &Bytes) -> Result<Received, Error> {
        self.saved = None;
        let text = match bsoap_xml::decode_str(message) {
            Ok(Cow::Borrowed(text)) if self.fits(text.len()) => text,
            _ => return self.read_alone(root, message),
        };
        self.keeper.clear();
        self.decoder.start(root);
        let mut record = match self.spare.take() {
            Some(mut spare) => {
                spare.clear(root);
                spare
            }
            None => Record::new(self.decoder.plan().clone(), root),
        };
        let Ok(portions) = self.read(text.as_bytes(), &mut record) else {
            // A decoder that reads all of it reports the error.
            return self.read_alone(root, message);
        };
        fit(record.parts_mut().0, 32);
        fit(record.parts_mut().1, 256);
        let record = Arc::new(record);
        let kept = Text::new(message.clone());
        self.saved = Some(Saved {
            root,
            opening: text.as_bytes()[..opening(text.as_bytes()).min(text.len())].into(),
            mark: kept.mark(),
            text: self.digest().is_none().then_some(kept),
            portions,
            heap: record.heap().len(),
            record: record.clone(),
        });
        Ok(Received {
            record,
            changes: Changes::all(),
            mode: Mode::Regular,
        })
    }

    /// Reads all of a text, and saves states on the way.
    fn read(&mut self, text: &[u8], record: &mut Record) -> Result<Portions<C::Saved>, Fail> {
        let digest = self.digest();
        let mut portions = Portions::default();
        let mark = Mark {
            offset: 0,
            slots: 0,
        };
        let saved = self.keeper.save(&mut self.decoder, record);
        portions.entries.push(Entry { mark, saved });
        let mut is_cut = digest.is_some();
        loop {
            let from = self.decoder.offset() as usize;
            let near = is_cut.then(|| cut(text, from, from + DIGEST_DISTANCE));
            let end = near.flatten().unwrap_or(text.len());
            let reading = Reading {
                decoder: &mut self.decoder,
                record: &mut *record,
                text,
                end,
                last: end == text.len(),
                until: Until::END,
            };
            self.keeper.read(reading, &mut portions.entries)?;
            if end == text.len() {
                break;
            }
            portions.digest_closed(digest, text);
            // In a comment, for example, the decoder stops before the end.
            is_cut = self.decoder.offset() as usize > from;
        }
        portions.digest(digest, text, text.len());
        portions.length = text.len();
        portions.fit();
        self.keeper.tidy(&mut portions.entries);
        Ok(portions)
    }
}

impl<C: Checkpointer> Receiver for Portioned<C> {
    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        self.totals.messages += 1;
        if self.portioning.may_bypass {
            match self.bypass.turn() {
                Turn::Compare => {}
                Turn::Keep => return self.regular(root, &message),
                Turn::Bypass => return self.read_alone(root, &message),
            }
        }
        let text = Text::new(message.clone());
        let is_comparable = |saved: &Saved<C::Saved>| {
            saved.root == root
                && saved.mark == text.mark()
                && text.bytes().starts_with(&saved.opening)
        };
        let saved = self.saved.take().filter(is_comparable);
        let Some(saved) = saved.filter(|_| self.fits(text.bytes().len())) else {
            return self.regular(root, &message);
        };
        self.compare(saved, text).or_else(|Fail| {
            self.totals.failed += 1;
            self.regular(root, &message)
        })
    }

    fn is_bypassed(&self) -> bool {
        self.portioning.may_bypass && self.bypass.left() > 0
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn memory(&self) -> usize {
        let record = self.saved.as_ref().map_or(0, |saved| saved.record.memory());
        self.decoder.memory() + self.history_memory() + record
    }

    fn history_memory(&self) -> usize {
        let Some(saved) = &self.saved else {
            return 0;
        };
        let text = saved.text.as_ref().map_or(0, |text| text.bytes().len());
        size_of_val(saved) + text + saved.portions.digest_memory() + self.checkpoints().1
    }

    fn checkpoints(&self) -> (usize, usize) {
        self.saved.as_ref().map_or((0, 0), |saved| {
            let entries = &saved.portions.entries;
            let own = saved.portions.memory() - saved.portions.digest_memory();
            (entries.len(), own + self.keeper.memory(entries))
        })
    }
}
