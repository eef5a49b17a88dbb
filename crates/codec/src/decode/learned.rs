//! What a decoder has learned of the spelling of tags, over all messages of its stream.
//!
//! A tag is known by its bytes, the white space before it included, and the scope it stands in: the same bytes in the same
//! scope are the same tag. And each tag foretells the next: behind `<a>` in a sequence comes `<b>`, as last time. So most
//! tags cost one compare with the bytes that are expected, and nothing is looked up.
//!
//! ```text
//! last tag             known to follow
//! opened order     →   "\n  <id>"                      start of id, in the same scope
//! closed id        →   "\n  <customer>", "\n  <item>"  several may follow: the latest is tried first
//! closed item      →   "\n  <item>", "\n</order>"
//! ```

use std::sync::Arc;

use bsoap_xml::{NameId, ScopeId, scan};

use crate::plan::{ElementId, ParticleId, TypeId};

use super::fields::{Fields, Sequence};
use super::frame::Last;
use super::rows::Rows;
use super::spelling::Spelling;

/// A number of a tag in [`Learned`].
pub(super) type TagId = u32;

const NONE: TagId = u32::MAX;

/// How many tags may follow one another tag. More variety is left to the general road.
const WAYS: usize = 4;

/// How many tags are learned at most. A peer that spells every message differently fills this up; then all is forgotten.
const MOST: usize = 1 << 14;

/// How many bytes they have at most, all together: a peer may also make them long.
const MOST_BYTES: usize = 1 << 20;

/// Longer tags are not learned.
pub(super) const LONGEST: usize = 1 << 12;

/// The tags known, and what they foretell.
#[derive(Debug, Default)]
pub(super) struct Learned {
    pub(super) tags: Vec<Known>,
    /// Bytes of their spelling.
    bytes: usize,
    /// By [`Last`]: what may follow, the likeliest first.
    next: Vec<[TagId; WAYS]>,
    /// By particle: sequences with single values.
    sequences: Vec<Sequence>,
    /// What their values take.
    sequence_bytes: usize,
}

/// A tag that was met.
#[derive(Debug)]
pub(super) struct Known {
    /// The scope it stands in.
    pub(super) scope: ScopeId,
    /// White space before it and the tag itself.
    pub(super) spelling: Spelling,
    pub(super) what: What,
}

/// What a known tag is.
#[derive(Debug)]
pub(super) enum What {
    Start(Box<Start>),
    End(Box<str>),
}

/// A start tag. The values of its attributes may vary, except for namespace declarations and those of `xsi:`.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) name: NameId,
    /// If it has attributes: what element it is, of which type.
    pub(super) ty: Option<(ElementId, TypeId)>,
    /// The values that may vary, in the order of the text. The spelling of the tag ends before the first.
    pub(super) holes: Box<[Hole]>,
    /// By attribute of the type: which hole has its value.
    pub(super) values: Box<[Option<u8>]>,
    pub(super) nil: bool,
    pub(super) is_empty: bool,
    pub(super) qname: Box<str>,
    /// The scope inside the element.
    pub(super) inner: ScopeId,
    /// Its end tag, if spelled as usual.
    pub(super) close: Spelling,
    /// That end tag and this start tag again: what stands between the items of an array.
    pub(super) again: Spelling,
    /// What is known of the rows that begin with this tag.
    pub(super) rows: Option<Arc<Rows>>,
    /// How often rows that were known did not come.
    pub(super) failures: u32,
}

/// A value in a start tag, and what follows it there.
#[derive(Debug)]
pub(super) struct Hole {
    pub(super) quote: u8,
    pub(super) after: Spelling,
}

/// How many values of a tag may vary.
pub(super) const MOST_HOLES: usize = 8;

/// Longer values are left to the general road.
const LONGEST_VALUE: usize = 1 << 12;

/// Where the values of a tag stand: first byte and end.
pub(super) type Values = [(usize, usize); MOST_HOLES];

impl Known {
    /// Where this tag ends, if it stands at `at`; and where its values stand.
    #[inline]
    pub(super) fn stands_at(&self, bytes: &[u8], at: usize, values: &mut Values) -> Option<usize> {
        if !self.spelling.stands_at(bytes, at) {
            return None;
        }
        let at = at + self.spelling.len();
        match &self.what {
            What::Start(start) if !start.holes.is_empty() => {
                start.rest_stands_at(bytes, at, values)
            }
            _ => Some(at),
        }
    }
}

impl Start {
    /// Whether this is the start tag whose spelling goes on with these.
    pub(super) fn has(&self, holes: &[(u8, &[u8])]) -> bool {
        let same = |(hole, (quote, after)): (&Hole, &(u8, &[u8]))| {
            hole.quote == *quote && hole.after.is(after)
        };
        self.holes.len() == holes.len() && self.holes.iter().zip(holes).all(same)
    }

    #[inline]
    fn rest_stands_at(&self, bytes: &[u8], mut at: usize, values: &mut Values) -> Option<usize> {
        for (hole, value) in self.holes.iter().zip(values) {
            let end = at + scan::find_value_special(bytes.get(at..)?, hole.quote);
            // Up to the quote there is nothing that is more than it seems.
            if bytes.get(end) != Some(&hole.quote)
                || end - at > LONGEST_VALUE
                || !hole.after.stands_at(bytes, end)
            {
                return None;
            }
            *value = (at, end);
            at = end + hole.after.len();
        }
        Some(at)
    }
}

impl Learned {
    /// Before a message: forgets all if it is too much.
    pub(super) fn tidy(&mut self) {
        if self.is_full() {
            *self = Self::default();
        }
    }

    /// Forgets all and keeps the memory.
    pub(super) fn forget(&mut self) {
        self.tags.clear();
        self.next.clear();
        self.sequences.clear();
        self.sequence_bytes = 0;
        self.bytes = 0;
    }

    /// About how many bytes it holds. The spelling of a start tag is there up to three times: alone, with its end tag, and
    /// that.
    pub(super) fn memory(&self) -> usize {
        self.tags.capacity() * size_of::<Known>()
            + self.tags.len() * size_of::<Start>()
            + self.bytes * 4
            + self.next.capacity() * size_of::<[TagId; WAYS]>()
            + self.sequences.capacity() * size_of::<Sequence>()
            + self.sequence_bytes
    }

    fn is_full(&self) -> bool {
        self.tags.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// What may follow a tag, the likeliest first.
    #[inline]
    pub(super) fn after(&self, last: Last) -> &[TagId] {
        self.next
            .get(last.0 as usize)
            .map_or(&[], |ways| ways.as_slice())
    }

    /// What follows a tag most likely.
    pub(super) fn likeliest(&self, last: Last) -> Option<&Known> {
        self.tag(*self.after(last).first()?)
    }

    /// Which tag that may follow stands at a place: its way, its number, its end and its values.
    #[inline]
    pub(super) fn here(
        &self,
        last: Last,
        scope: ScopeId,
        bytes: &[u8],
        at: usize,
        values: &mut Values,
    ) -> Option<(usize, TagId, usize)> {
        for (way, &id) in self.next.get(last.0 as usize)?.iter().enumerate() {
            let known = self.tag(id)?;
            if known.scope == scope
                && let Some(after) = known.stands_at(bytes, at, values)
            {
                return Some((way, id, after));
            }
        }
        None
    }

    #[inline]
    pub(super) fn tag(&self, id: TagId) -> Option<&Known> {
        self.tags.get(id as usize)
    }

    /// What is known of a sequence.
    #[inline]
    pub(super) fn sequence(&self, id: ParticleId) -> Option<&Sequence> {
        self.sequences.get(id.index())
    }

    /// The same, to be learned.
    pub(super) fn sequence_mut(&mut self, id: ParticleId) -> &mut Sequence {
        if self.sequences.len() <= id.index() {
            self.sequences
                .resize_with(id.index() + 1, Sequence::default);
        }
        &mut self.sequences[id.index()]
    }

    /// What the values of a sequence are, if it has any that are single.
    pub(super) fn learn_sequence(&mut self, id: ParticleId, fields: Option<Fields>) {
        let sequence = self.sequence_mut(id);
        let before = sequence.memory();
        sequence.learn(fields);
        let now = sequence.memory();
        self.sequence_bytes = self.sequence_bytes - before + now;
    }

    /// A tag came after another: next time it is tried first.
    #[inline]
    pub(super) fn promote(&mut self, last: Last, way: usize) {
        if way > 0
            && let Some(ways) = self.next.get_mut(last.0 as usize)
        {
            ways.swap(way - 1, way);
        }
    }

    /// Remembers that a tag came after another: one that begins with these bytes, has so many in all, and is `same`.
    pub(super) fn learn(
        &mut self,
        last: Last,
        scope: ScopeId,
        bytes: &[u8],
        length: usize,
        same: impl Fn(&What) -> bool,
        make: impl FnOnce() -> What,
    ) {
        if last == Last::NOTHING || length > LONGEST || self.is_full() {
            return;
        }
        let slot = last.0 as usize;
        if self.next.len() <= slot {
            self.next.resize(slot + 1, [NONE; WAYS]);
        }
        let known = |id: &TagId| {
            let tag = self.tags.get(*id as usize);
            tag.is_some_and(|tag| tag.scope == scope && tag.spelling.is(bytes) && same(&tag.what))
        };
        let ways = &self.next[slot];
        let way = ways.iter().position(known);
        let id = match way {
            Some(way) => ways[way],
            None => {
                let id = self.tags.len() as TagId;
                self.bytes += length;
                self.tags.push(Known {
                    scope,
                    spelling: Spelling::new(bytes),
                    what: make(),
                });
                id
            }
        };
        let ways = &mut self.next[slot];
        ways[..=way.unwrap_or(WAYS - 1)].rotate_right(1);
        ways[0] = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_is_bounded_in_bytes_and_then_forgotten() {
        let mut learned = Learned::default();
        let mut learn = |tag: &str, length| {
            let what = || What::End("a".into());
            learned.learn(
                Last(0),
                ScopeId::ROOT,
                tag.as_bytes(),
                length,
                |_| true,
                what,
            );
            learned.tags.len()
        };
        assert_eq!(learn("<a b=", LONGEST + 1), 0);
        let most = MOST_BYTES / LONGEST;
        let known = (0..2 * most).map(|n| learn(&format!("<a{n}>"), LONGEST));
        assert_eq!(known.last(), Some(most));
        learned.tidy();
        assert!(learned.tags.is_empty());
    }
}
