//! What the decoder reports of each value it reads: where its lexical form is in the text.

use super::place::Places;
use super::trace::Site;

/// Receives the location of each lexical form. `()` receives nothing, at no cost.
pub(crate) trait Sink {
    /// Whether locations are reported at all.
    const LISTENS: bool;
    /// Whether [places](Self::places) are noted.
    const NOTES: bool = false;

    /// The lexical form of `slot` begins at `offset`; and how the value can be read again alone.
    fn found(&mut self, slot: usize, offset: u64, site: Site);

    /// The same of consecutive slots, markers among them. The sites repeat, beginning with the one numbered `first`.
    #[inline(always)]
    fn found_all(&mut self, _slot: usize, _offsets: &[u32], _sites: &[Site], _first: usize) {}

    /// How many slots have been reported.
    #[inline(always)]
    fn reported(&self) -> usize {
        0
    }

    /// Takes back what was reported of all slots but the first ones.
    #[inline(always)]
    fn take_back(&mut self, _: usize) {}

    /// Where places are noted at which reading could be taken up again, if they are.
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
