//! Receiving by portions and checkpoints, as in the papers.
//!
//! N. Abu-Ghazaleh and M. J. Lewis, *Differential Deserialization for Optimized SOAP Performance* (2005), and *Lightweight
//! Checkpointing for Faster SOAP Deserialization* (2006). What they leave open is decided in `docs/design/checkpointing.md`.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::decode::{Decoder, Until};
use bsoap_codec::plan::ElementId;
use bytes::Bytes;

use super::checkpointer::{Checkpointer, Reading};
use super::digest::Digest;
use super::modes::{Modes, Saved};
use super::portion::{Entry, Mark, Portions};
use super::portioning::Portioning;
use crate::bypass::Bypass;
use crate::receive::received::{
    Fail, FullReader, Method, Mode, NotCompared, Received, fit, is_worn,
};
use crate::receive::text::{Text, cut, opening};

/// Reads the messages of a stream by portions. Portions that are the same as in the previous message are not decoded.
#[derive(Debug)]
pub(super) struct Portioned<C: Checkpointer> {
    portioning: Portioning,
    /// Saves and restores states.
    keeper: C,
    /// The previous message; `None` if the next one is not to be compared.
    saved: Option<Saved<C::Saved>>,
}

/// The maximum number of bytes that are read before they are digested, so that they are still in the CPU cache.
const DIGEST_DISTANCE: usize = 256 << 10;

impl<C: Checkpointer> Portioned<C> {
    pub(super) fn new(mut portioning: Portioning) -> Self {
        portioning.interrupt = portioning.interrupt.max(16);
        portioning.buffer = portioning.buffer.max(16);
        Self {
            portioning,
            keeper: C::new(&portioning),
            saved: None,
        }
    }

    /// The digest by which portions are compared; `None` if they are compared by their text.
    fn digest(&self) -> Option<&'static dyn Digest> {
        self.portioning.sameness.digest()
    }

    /// Reads a message in fast mode and regular mode by turns.
    fn read_by_turns(
        &mut self,
        reader: &mut FullReader,
        bypass: &mut Bypass,
        saved: Saved<C::Saved>,
        text: Text,
    ) -> Result<Received, Fail> {
        let (digest, length) = (self.digest(), text.bytes().len());
        let record = reader.empty_record(saved.root);
        let both = (&mut self.keeper, &mut reader.decoder);
        let kept = text.clone();
        let mut modes = Modes::new(saved, record, both, digest, text.bytes());
        modes.read()?;
        let (read, switches) = (modes.read, modes.switches);
        let (saved, changes, spare) = modes.finish(kept)?;
        reader.spare = spare.map(Arc::new);
        reader.counts.reads.restructured += switches;
        let record = saved.record.clone();
        let is_similar = read <= length - length / 8;
        let bypasses = self.portioning.may_bypass && bypass.learn(is_similar);
        if !bypasses && !is_worn(&record, saved.heap) {
            self.saved = Some(saved);
        }
        Ok(Received::new(record, changes, Mode::Fast))
    }

    /// Decodes a whole text, and saves states on the way.
    fn read(
        &mut self,
        decoder: &mut Decoder,
        text: &[u8],
        record: &mut Record,
    ) -> Result<Portions<C::Saved>, Fail> {
        let digest = self.digest();
        let mut portions = Portions::default();
        let mark = Mark {
            offset: 0,
            slots: 0,
        };
        let saved = self.keeper.save(decoder, record);
        portions.entries.push(Entry { mark, saved });
        let mut is_cut = digest.is_some();
        loop {
            let from = decoder.offset() as usize;
            let near = is_cut.then(|| cut(text, from, from + DIGEST_DISTANCE));
            let end = near.flatten().unwrap_or(text.len());
            let reading = Reading {
                decoder: &mut *decoder,
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
            // If the cut is inside a comment, for example, the decoder does not reach it.
            is_cut = decoder.offset() as usize > from;
        }
        portions.digest(digest, text, text.len());
        portions.length = text.len();
        portions.fit();
        self.keeper.tidy(&mut portions.entries);
        Ok(portions)
    }
}

impl<C: Checkpointer> Method for Portioned<C> {
    fn keep(
        &mut self,
        reader: &mut FullReader,
        root: ElementId,
        text: &str,
        message: &Bytes,
    ) -> Result<Arc<Record>, Fail> {
        self.keeper.clear();
        reader.decoder.start(root);
        let mut record = reader.empty_record(root);
        let portions = self.read(&mut reader.decoder, text.as_bytes(), &mut record)?;
        let record = fit(record);
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
        let is_comparable = |saved: &Saved<C::Saved>| {
            saved.root == root
                && saved.mark == text.mark()
                && text.bytes().starts_with(&saved.opening)
        };
        let saved = self.saved.take().filter(is_comparable);
        let saved = saved.ok_or(NotCompared::NoHistory)?;
        self.read_by_turns(reader, bypass, saved, text)
            .map_err(|Fail| NotCompared::Failed)
    }

    fn forget(&mut self, _: &mut FullReader) {
        self.saved = None;
    }

    fn memory(&self) -> (usize, usize) {
        self.saved.as_ref().map_or((0, 0), |saved| {
            let text = saved.text.as_ref().map_or(0, |text| text.bytes().len());
            let own = size_of_val(saved) + text + saved.portions.digest_memory();
            (saved.record.memory(), own + self.checkpoints().1)
        })
    }

    fn checkpoints(&self) -> (usize, usize) {
        self.saved.as_ref().map_or((0, 0), |saved| {
            let entries = &saved.portions.entries;
            let own = saved.portions.memory() - saved.portions.digest_memory();
            (entries.len(), own + self.keeper.memory(entries))
        })
    }
}
