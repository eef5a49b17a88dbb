//! The trace of a decoding: where the lexical form of each slot begins, and how it can be read again alone.
//!
//! Its layout is what differential deserialization needs: flat, so that moving all that follows is one addition over a
//! slice; and without lengths, since the text shows where a lexical form ends.

use crate::plan::LeafId;

/// How the lexical form of a slot can be read again alone: by which leaf, and what ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site(u16);

impl Site {
    /// It cannot be read alone: it is a marker, or its own text is not enough (names, lists, fixed values that are
    /// checked).
    pub const NONE: Self = Self(u16::MAX);

    /// The content of an element; it ends with `<`.
    #[inline(always)]
    pub(crate) fn content(leaf: LeafId) -> Self {
        if leaf.0 < 0x7fff {
            Self((leaf.0 << 1) as u16)
        } else {
            Self::NONE
        }
    }

    /// The value of an attribute; it ends with the quote that is before it.
    #[inline(always)]
    pub(crate) fn attribute(leaf: LeafId) -> Self {
        match Self::content(leaf) {
            Self::NONE => Self::NONE,
            Self(site) => Self(site | 1),
        }
    }

    /// The leaf that reads it.
    #[inline]
    pub fn leaf(self) -> Option<LeafId> {
        (self != Self::NONE).then_some(LeafId(u32::from(self.0 >> 1)))
    }

    /// Whether it is the value of an attribute.
    #[inline]
    pub fn is_attribute(self) -> bool {
        self.0 & 1 == 1
    }
}

/// For each slot of a Record: where in the text its lexical form begins, and its [`Site`].
///
/// Slots without text have the beginning of the next one that has some. Beginnings ascend, except that attributes may be
/// spelled in another order than the schema's: those have no site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Where the lexical forms begin, by slot.
    pub starts: Vec<u32>,
    /// How they can be read again, by slot.
    pub sites: Vec<Site>,
}

impl Trace {
    /// Removes all entries; keeps the memory.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.sites.clear();
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.starts.capacity() * size_of::<u32>() + self.sites.capacity() * size_of::<Site>()
    }

    /// Makes it cover exactly `slots` slots at the end of a message: slots without text begin at `end`.
    pub fn fit(&mut self, slots: usize, end: u32) {
        self.starts.resize(slots, end);
        self.sites.resize(slots, Site::NONE);
    }

    /// Adds a value that does not begin behind the one before, or whose slot is not the next one.
    #[cold]
    pub(super) fn add_irregular(&mut self, slot: usize, offset: u32, site: Site) {
        // A value that was found wrong on the fast path is reported again by the slow path.
        self.starts.truncate(slot);
        self.sites.truncate(slot);
        let (offset, site) = match self.starts.last() {
            Some(&before) if before > offset => (before, Site::NONE),
            _ => (offset, site),
        };
        self.starts.resize(slot, offset);
        self.sites.resize(slot, Site::NONE);
        self.starts.push(offset);
        self.sites.push(site);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sink::Sink;
    use super::*;

    #[test]
    fn slots_without_text_begin_where_the_next_text_does_and_attributes_out_of_order_have_no_site()
    {
        let mut trace = Trace::default();
        let leaf = Site::content(LeafId(3));
        let mut sink = &mut trace;
        sink.found(1, 10, leaf);
        sink.found(2, 8, Site::attribute(LeafId(4)));
        sink.found(2, 20, leaf);
        trace.fit(4, 30);
        assert_eq!(trace.starts, [10, 10, 20, 30]);
        assert_eq!(trace.sites, [Site::NONE, leaf, leaf, Site::NONE]);
        assert_eq!(leaf.leaf(), Some(LeafId(3)));
        assert!(Site::attribute(LeafId(4)).is_attribute() && !leaf.is_attribute());
        assert_eq!(Site::content(LeafId(0x7fff)), Site::NONE);
    }
}
