//! What is known of a stream: its templates at rest, and what messages without one were like.

use bsoap_codec::Record;

use super::Stream;
use super::lent::{Entry, Lent};
use super::pace::Pace;
use crate::send::aside::Aside;
use crate::send::likeness::{Sample, WORTH};

/// Messages of at most so many slots, and octets in the heap, are small: as good as all of one chunk.
const SMALL: (usize, usize) = (1024, 32 << 10);

/// What is known of a stream.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) stream: Stream,
    pub(super) templates: Vec<Entry>,
    /// The last messages that had no template, newest last.
    pub(super) seen: Vec<Seen>,
    pub(super) aside: Aside,
    pub(super) pace: Pace,
    pub(super) last_used: u64,
}

/// A message that was looked at.
#[derive(Debug)]
pub(super) enum Seen {
    Small(Box<Sample>),
    Large { slots: usize },
}

impl Known {
    pub(super) fn new(stream: Stream, structures: usize) -> Self {
        Self {
            stream,
            templates: Vec::new(),
            seen: Vec::new(),
            aside: Aside::new(structures),
            pace: Pace::default(),
            last_used: 0,
        }
    }

    /// Bytes held by its templates.
    pub(super) fn held(&self) -> usize {
        self.templates.iter().map(|entry| entry.memory).sum()
    }

    /// Whether a message like this one was looked at before. If not, it will have been.
    pub(super) fn has_seen(&mut self, record: &Record, structures: usize) -> bool {
        let mut templates = self.templates.iter_mut().map(|entry| &mut entry.lent);
        let other = templates.find(|lent| lent.is_single() && lent.has_slots_of(record));
        if let Some(other) = other
            && !other.has_structure_of(record)
        {
            let structure = other.structure(record);
            let is_known = other.strangers.has(structure);
            if !is_known {
                other.strangers.add(structure);
                self.aside.unlike(structures);
            }
            return is_known;
        }
        let new = Seen::of(record);
        if self.seen.iter().any(|seen| seen.is_like(&new)) {
            return true;
        }
        self.aside.unlike(structures);
        if self.seen.len() >= structures {
            self.seen.remove(0);
        }
        self.seen.push(new);
        false
    }
}

impl Seen {
    pub(super) fn of(record: &Record) -> Self {
        let slots = record.slots().len();
        if slots <= SMALL.0 && record.heap().len() <= SMALL.1 {
            Self::Small(Box::new(Sample::of(record, slots)))
        } else {
            Self::Large { slots }
        }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Small(own), Self::Small(other)) => own.is_like(other),
            (Self::Large { slots }, Self::Large { slots: others }) => is_close(*slots, *others),
            _ => false,
        }
    }
}

pub(super) fn oldest(entries: &[Entry]) -> usize {
    let by_age = entries
        .iter()
        .enumerate()
        .min_by_key(|(_, entry)| entry.last_used);
    by_age.map_or(0, |(index, _)| index)
}

/// The template whose message is most like this one, if there is one of about its structure.
pub(super) fn fitting(known: &Known, record: &Record) -> Option<usize> {
    let is_trusted = known.aside.is_trusted();
    if let [only] = &*known.templates
        && is_trusted
    {
        return only.lent.has_slots_of(record).then_some(0);
    }
    let mut alike = known.templates.iter().enumerate().filter(|(_, entry)| {
        entry.lent.has_slots_of(record) && entry.lent.has_structure_of(record)
    });
    let first = alike.next()?;
    let second = alike.next();
    if second.is_none() && is_trusted {
        return Some(first.0);
    }
    let own = Sample::of(record, record.slots().len());
    let alike = std::iter::once(first).chain(second).chain(alike);
    // Messages that take turns are each the same as one before.
    let mut same = alike.clone();
    if let Some((index, _)) = same.find(|(_, entry)| entry.lent.sample() == Some(&own)) {
        return Some(index);
    }
    alike
        .map(|(index, entry)| {
            let (alike, share) = likeness(&entry.lent, record, &own);
            (index, &entry.lent, alike, share, &entry.last_used)
        })
        .filter(|(_, lent, _, share, _)| {
            // To try whether it is of use costs a small message dear.
            is_trusted || !lent.is_single() || *share >= WORTH
        })
        .max_by(
            |(_, _, alike, share, used), (.., other, others, others_used)| {
                let by_likeness = alike.cmp(other).then(share.total_cmp(others));
                by_likeness.then(used.cmp(others_used))
            },
        )
        .map(|(index, ..)| index)
}

/// Whether messages of so many slots may be made of one another.
pub(super) fn is_close(slots: usize, others: usize) -> bool {
    slots.abs_diff(others) <= slots.max(others) / 4
}

/// How alike two messages are: whether they have as many slots, and the share of a few slots that are equal. `own` is of all
/// slots of the record.
pub(super) fn likeness(lent: &Lent, record: &Record, own: &Sample) -> (bool, f32) {
    let (Some(sample), Some(shadow)) = (lent.sample(), lent.template.record()) else {
        return (false, 0.0);
    };
    if sample.slots() == own.slots() {
        return (true, sample.likeness(own));
    }
    let shorter = sample.slots().min(own.slots());
    let likeness = Sample::of(shadow, shorter).likeness(&Sample::of(record, shorter));
    (false, likeness)
}
