//! Decides where the interpreter stops, and how wide values are.

use crate::plan::program::LeafRef;

use super::state::Position;

/// Can stop the interpreter, and can give values more width than their length. `()` does neither, at no cost.
pub(crate) trait Control {
    /// Whether the interpreter may be stopped between two instructions.
    const STOPS: bool;
    /// Whether values may be wider than their length.
    const STUFFS: bool;

    /// The length of the text and the slot from which on the interpreter asks whether to stop.
    fn limits(&self) -> (usize, usize);

    /// Whether to stop here.
    fn stops(&mut self, position: &Position<'_>) -> bool;

    /// The width of a value, and the length of its end tag if the pad goes behind that.
    fn width(&self, leaf: LeafRef, length: usize) -> (usize, Option<usize>);

    /// The width of all numbers of a leaf and the length of the end tag before their pads (0 if the pads are inside);
    /// `None` if the width depends on the value.
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
