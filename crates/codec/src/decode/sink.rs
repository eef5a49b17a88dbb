//! What receives the location of each value that the decoder reads.

use super::place::Places;
use super::trace::Site;

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
