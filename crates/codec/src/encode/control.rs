//! Where the interpreter stops, and how wide it makes values.

use crate::plan::program::LeafRef;

use super::state::Position;

/// May stop the interpreter, and may give values more than they take. `()` never does, at no cost.
pub(crate) trait Control {
    /// Whether the interpreter may be stopped between two instructions.
    const STOPS: bool;
    /// Whether values may get more than they take.
    const STUFFS: bool;

    /// Length of the text, and slot, from which on the interpreter asks whether to stop.
    fn limits(&self) -> (usize, usize);

    /// Whether to stop here.
    fn stops(&mut self, position: &Position<'_>) -> bool;

    /// The width of a value, and, if its pad goes behind the end tag, the bytes of that.
    fn width(&self, leaf: LeafRef, length: usize) -> (usize, Option<usize>);

    /// The width of all numbers of a leaf, if it does not depend on their values, and the bytes of the end tag before their
    /// pads.
    fn fixed_width(&self, leaf: LeafRef) -> Option<(usize, usize)>;
}

impl Control for () {
    const STOPS: bool = false;
    const STUFFS: bool = false;

    #[inline(always)]
    fn limits(&self) -> (usize, usize) {
        (usize::MAX, usize::MAX)
    }

    fn stops(&mut self, _: &Position<'_>) -> bool {
        false
    }

    #[inline(always)]
    fn width(&self, _: LeafRef, length: usize) -> (usize, Option<usize>) {
        (length, None)
    }

    fn fixed_width(&self, _: LeafRef) -> Option<(usize, usize)> {
        None
    }
}
