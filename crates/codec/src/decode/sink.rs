//! What receives the location of each value that the decoder reads.

use super::place::Places;
use super::trace::{Site, Trace};

/// Receives the location of each lexical form. `()` receives nothing, at no cost.
pub(crate) trait Sink {
    /// Whether locations are reported at all.
    const LISTENS: bool;
    /// Whether [places](Self::places) are noted.
    const NOTES: bool = false;

    /// Receives the location of a value: its slot, where its lexical form begins, and how it can be read again alone.
    fn found(&mut self, slot: usize, offset: u64, site: Site);

    /// As [`found`](Self::found), for consecutive slots with their markers. `sites` are those of one item, repeated; the
    /// first slot has site number `first`.
    #[inline(always)]
    fn found_all(&mut self, _slot: usize, _offsets: &[u32], _sites: &[Site], _first: usize) {}

    /// The number of slots reported so far.
    #[inline(always)]
    fn reported(&self) -> usize {
        0
    }

    /// Removes what was reported, except of this number of first slots.
    #[inline(always)]
    fn take_back(&mut self, _: usize) {}

    /// Where places for checkpoints are noted; `None` if none are wanted.
    #[inline(always)]
    fn places(&mut self) -> Option<&mut Places> {
        None
    }
}

impl Sink for () {
    const LISTENS: bool = false;

    #[inline(always)]
    fn found(&mut self, _: usize, _: u64, _: Site) {}
}

impl Sink for &mut Trace {
    const LISTENS: bool = true;

    #[inline(always)]
    fn reported(&self) -> usize {
        self.starts.len()
    }

    fn take_back(&mut self, reported: usize) {
        self.starts.truncate(reported);
        self.sites.truncate(reported);
    }

    #[inline(always)]
    fn found(&mut self, slot: usize, offset: u64, site: Site) {
        let offset = offset as u32;
        let reported = self.starts.len();
        let is_next = self.starts.last().is_none_or(|&before| before <= offset);
        if reported == slot && is_next {
            self.starts.push(offset);
            self.sites.push(site);
        } else if reported + 1 == slot && is_next {
            // Many values have a marker before them.
            self.starts.extend_from_slice(&[offset, offset]);
            self.sites.extend_from_slice(&[Site::NONE, site]);
        } else {
            self.add_irregular(slot, offset, site);
        }
    }

    #[inline]
    fn found_all(&mut self, slot: usize, offsets: &[u32], sites: &[Site], first: usize) {
        let (Some((&offset, rest)), Some(&site)) = (offsets.split_first(), sites.get(first)) else {
            return;
        };
        self.found(slot, offset.into(), site);
        self.starts.extend_from_slice(rest);
        match sites {
            [site] => self.sites.resize(self.starts.len(), *site),
            _ => {
                let next = sites.iter().cycle().skip(first + 1);
                self.sites.extend(next.take(rest.len()));
            }
        }
    }
}

impl Sink for &mut Places {
    const LISTENS: bool = false;
    const NOTES: bool = true;

    #[inline(always)]
    fn found(&mut self, _: usize, _: u64, _: Site) {}

    #[inline(always)]
    fn places(&mut self) -> Option<&mut Places> {
        Some(self)
    }
}
