//! The Index: where in the text of a message the lexical form of each slot stands.

use crate::decode::{Places, Site};

/// Where the values of a message stand in its text: by slot, an offset and a length in bytes.
///
/// Only slots that have text have a place: leaves of elements and attributes. Markers, values from the schema and what is
/// absent have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    places: Vec<Place>,
}

/// Where a lexical form stands in the text of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub offset: u32,
    /// Its length in bytes, white space around it and references in it included.
    pub length: u32,
}

impl Place {
    /// No place.
    const NONE: Self = Self {
        offset: u32::MAX,
        length: 0,
    };
}

impl Index {
    /// An empty Index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the lexical form of a slot stands, if it has one.
    #[inline]
    pub fn place(&self, slot: usize) -> Option<Place> {
        self.places
            .get(slot)
            .copied()
            .filter(|place| *place != Place::NONE)
    }

    /// The slots that have a place, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Place)> + '_ {
        self.places
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, place)| *place != Place::NONE)
    }

    /// How many slots are covered, those without a place among them.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no slot is covered.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Forgets all places; keeps the memory.
    pub fn clear(&mut self) {
        self.places.clear();
    }

    /// Sets the place of a slot. Slots are set in order; those left out get none.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, offset: u32, length: u32) {
        // Slots come in order, so this loop runs over the markers in between.
        while self.places.len() < slot {
            self.places.push(Place::NONE);
        }
        let place = Place { offset, length };
        match self.places.get_mut(slot) {
            Some(known) => *known = place,
            None => self.places.push(place),
        }
    }
}

/// For a length: a slot that is a marker has no text of its own.
pub(crate) const MARKER: u32 = u32::MAX;

/// Who is told where the lexical forms stand. `()` is told nothing, at no cost.
pub(crate) trait Sink {
    /// Whether anyone listens.
    const LISTENS: bool;
    /// Whether [places](Self::places) are noted.
    const NOTES: bool = false;

    /// The lexical form of `slot` stands at `offset`.
    fn place(&mut self, slot: usize, offset: u64, length: usize);

    /// The same from a decoder, which can say how it can be read again.
    #[inline(always)]
    fn found(&mut self, slot: usize, offset: u64, length: usize, _: Site) {
        self.place(slot, offset, length);
    }

    /// The same of consecutive slots: where each stands, and how long it is, [`MARKER`] if it is a marker of the next. The
    /// sites are theirs by turns.
    #[inline(always)]
    fn found_all(&mut self, slot: usize, found: &[(u32, u32)], sites: &[Site], first: usize) {
        let sites = sites.iter().cycle().skip(first);
        for ((slot, &(offset, length)), &site) in (slot..).zip(found).zip(sites) {
            if length != MARKER {
                self.found(slot, offset.into(), length as usize, site);
            }
        }
    }

    /// Where places are noted at which reading could be taken up again, if they are.
    #[inline(always)]
    fn places(&mut self) -> Option<&mut Places> {
        None
    }
}

impl Sink for () {
    const LISTENS: bool = false;

    #[inline(always)]
    fn place(&mut self, _: usize, _: u64, _: usize) {}
}

impl Sink for &mut Index {
    const LISTENS: bool = true;

    #[inline(always)]
    fn place(&mut self, slot: usize, offset: u64, length: usize) {
        // Messages past 4 GiB were refused when the Index was asked for.
        self.set(slot, offset as u32, length as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_left_out_have_no_place() {
        let mut index = Index::new();
        index.set(2, 10, 3);
        index.set(3, 20, 0);
        assert_eq!(index.place(0), None);
        assert_eq!(
            index.place(2),
            Some(Place {
                offset: 10,
                length: 3
            })
        );
        assert_eq!(
            index.place(3),
            Some(Place {
                offset: 20,
                length: 0
            })
        );
        assert_eq!(index.place(4), None);
        assert_eq!(index.iter().count(), 2);
    }
}
