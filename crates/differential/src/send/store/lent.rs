//! A template at rest, and one that is lent.

use std::hash::Hasher;
use std::sync::{Arc, Mutex, OnceLock};

use bsoap_codec::Record;
use bsoap_codec::encode::Error;

use super::known::is_close;
use super::lease::Sent;
use super::mix::Mix;
use crate::send::gzip::{Account, GzipCache};
use crate::send::likeness::Sample;
use crate::send::template::{Match, Template};
use crate::stats::SendStats;

/// A template at rest.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) lent: Box<Lent>,
    pub(super) last_used: u64,
    /// What it takes, without what it was compressed to.
    pub(super) memory: usize,
}

/// Digests of structures, newest last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Strangers([u64; 4]);

/// A template that is lent.
#[derive(Debug)]
pub(super) struct Lent {
    pub(super) template: Template,
    /// What its chunks are compressed to, if that is kept.
    folds: Option<Arc<Mutex<GzipCache>>>,
    /// Where that is counted.
    pub(super) account: Option<Account>,
    /// What the template takes besides what changes with each message, if that is known.
    steady: Option<usize>,
    /// Some values of its message, once they were asked for.
    sample: OnceLock<Box<Sample>>,
    /// If it has one chunk: the slots of its message that say what there is.
    pub(super) markers: Option<Arc<[u32]>>,
    /// The structures of the last messages that had as many slots, and another structure.
    pub(super) strangers: Strangers,
}

impl Lent {
    pub(super) fn new(template: Template, account: Option<&Account>) -> Box<Self> {
        Box::new(Self {
            template,
            folds: account.map(|account| Arc::new(Mutex::new(GzipCache::of(account)))),
            account: account.cloned(),
            steady: None,
            sample: OnceLock::new(),
            markers: None,
            strangers: Strangers::default(),
        })
    }

    /// Makes it the message of a record, if that has its structure, or structure does not matter.
    #[inline]
    pub(super) fn update(&mut self, record: &mut Record) -> Result<Option<Match>, Error> {
        let matched = self.template.update_alike(record)?;
        if matched.is_some_and(|matched| matched != Match::Content) {
            // What is told of it has to be found out again.
            self.sample = OnceLock::new();
            if matched == Some(Match::FirstTime) || self.template.chunks().len() != 1 {
                self.markers = None;
            }
        }
        Ok(matched)
    }

    /// Some values of its message.
    pub(super) fn sample(&self) -> Option<&Sample> {
        let shadow = self.template.record()?;
        let sample = || Box::new(Sample::of(shadow, shadow.slots().len()));
        Some(self.sample.get_or_init(sample))
    }

    /// Its message, ready to be sent, and what it has done since.
    #[inline]
    pub(super) fn tell(&self, before: &SendStats, sent: &mut Sent) {
        sent.outgoing = self.template.outgoing();
        sent.counts.matches = self.template.stats().since(before);
        sent.folds = self.folds.clone();
    }

    /// What the template takes.
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
        self.template.steady_memory() + markers
    }

    /// What its chunks were compressed to takes, unless that is just being done.
    pub(super) fn folded(&self) -> usize {
        let folds = self.folds.as_ref().and_then(|folds| folds.try_lock().ok());
        folds.map_or(0, |folds| folds.size())
    }

    /// Whether nothing of the message is kept when it changes in structure.
    pub(super) fn is_single(&self) -> bool {
        self.markers.is_some()
    }

    /// Whether a message can be made of this one's without a look at its structure.
    pub(super) fn has_slots_of(&self, record: &Record) -> bool {
        let (slots, shadow) = (record.slots().len(), self.template.record());
        shadow.is_some_and(|shadow| {
            let own = shadow.slots().len();
            own == slots || !self.is_single() && is_close(own, slots)
        })
    }

    /// Whether a message has the structure of this one's, if that matters.
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

    /// What tells the structure of a message from others of as many slots.
    pub(super) fn structure(&self, record: &Record) -> u64 {
        let mut mix = Mix::default();
        for &marker in self.markers.iter().flat_map(|markers| &**markers) {
            let slot = record.slots().get(marker as usize);
            mix.write_u64(slot.copied().unwrap_or_default());
        }
        mix.finish() | 1
    }
}

impl Strangers {
    pub(super) fn has(&self, structure: u64) -> bool {
        self.0.contains(&structure)
    }

    pub(super) fn add(&mut self, structure: u64) {
        self.0.rotate_left(1);
        self.0[3] = structure;
    }
}
