//! A template in the cache, and what is known of its message.

use std::sync::{Arc, Mutex, OnceLock};

use bsoap_codec::Record;
use bsoap_codec::encode::Error;

use super::is_close;
use crate::cache::{ByteCount, Entry};
use crate::send::gzip::GzipCache;
use crate::send::similarity::ValueSample;
use crate::send::template::{Match, Template};

/// A template in the cache.
#[derive(Debug)]
pub(super) struct SavedTemplate {
    pub(super) template: Template,
    /// Its compressed chunks, if they are kept.
    pub(super) compressed: Option<Arc<Mutex<GzipCache>>>,
    /// The part of its memory that does not change with each message; `None` if it has to be measured again.
    steady: Option<usize>,
    /// Some values of its message, once they have been needed.
    sample: OnceLock<Box<ValueSample>>,
    /// The marker slots of its message, if it has one chunk.
    markers: Option<Arc<[u32]>>,
}

impl SavedTemplate {
    /// `account`: where compressed chunks are counted, if they are to be kept.
    pub(super) fn new(template: Template, account: Option<&ByteCount>) -> Self {
        Self {
            template,
            compressed: account.map(|account| Arc::new(Mutex::new(GzipCache::of(account)))),
            steady: None,
            sample: OnceLock::new(),
            markers: None,
        }
    }

    /// Changes it into the message of a Record; `None` if its structure must be the same and is not.
    #[inline]
    pub(super) fn update(&mut self, record: &mut Record) -> Result<Option<Match>, Error> {
        let matched = self.template.update_similar(record)?;
        if matched.is_some_and(|matched| matched != Match::Content) {
            self.sample = OnceLock::new();
            if matched == Some(Match::FirstTime) || self.template.chunks().len() != 1 {
                self.markers = None;
            }
        }
        Ok(matched)
    }

    /// Some values of its message.
    pub(super) fn sample(&self) -> Option<&ValueSample> {
        let shadow = self.template.record()?;
        let sample = || Box::new(ValueSample::of(shadow));
        Some(self.sample.get_or_init(sample))
    }

    /// How similar its message is to another one: whether they have the same number of slots, and the share of a few values
    /// that are equal. `sample` is that of the other message.
    pub(super) fn similarity(&self, record: &Record, sample: &ValueSample) -> (bool, f32) {
        let (Some(own), Some(shadow)) = (self.sample(), self.template.record()) else {
            return (false, 0.0);
        };
        if own.slots() == sample.slots() {
            return (true, own.similarity(sample));
        }
        let slots = own.slots().min(sample.slots());
        let both = [shadow, record].map(|record| ValueSample::of_first(record, slots));
        (false, both[0].similarity(&both[1]))
    }

    /// The memory of the template in bytes, without compressed chunks.
    pub(super) fn memory(&mut self) -> usize {
        let has_grown = self.template.take_grown();
        let steady = match self.steady.filter(|_| !has_grown) {
            Some(steady) => steady,
            None => {
                if self.markers.is_none() && self.template.chunks().len() == 1 {
                    self.markers = Some(self.template.markers().into());
                }
                *self.steady.insert(self.steady_memory())
            }
        };
        debug_assert_eq!(steady, self.steady_memory());
        steady + self.template.moving_memory()
    }

    fn steady_memory(&self) -> usize {
        let markers = self.markers.as_ref().map_or(0, |markers| markers.len() * 4);
        size_of::<Entry<Self>>() + self.template.steady_memory() + markers
    }

    /// Whether its message has one chunk. Then nothing is kept when the structure changes.
    pub(super) fn is_single(&self) -> bool {
        self.markers.is_some()
    }

    /// Whether a message has a number of slots at which it may be made from this one.
    pub(super) fn has_slots_of(&self, record: &Record) -> bool {
        let (slots, shadow) = (record.slots().len(), self.template.record());
        shadow.is_some_and(|shadow| {
            let own = shadow.slots().len();
            own == slots || !self.is_single() && is_close(own, slots)
        })
    }

    /// Whether a message has the same structure, or structure does not matter.
    pub(super) fn has_structure_of(&self, record: &Record) -> bool {
        let (Some(markers), Some(shadow)) = (&self.markers, self.template.record()) else {
            return true;
        };
        let (old, new) = (shadow.slots(), record.slots());
        old.len() == new.len()
            && markers
                .iter()
                .all(|&marker| old.get(marker as usize) == new.get(marker as usize))
    }
}
