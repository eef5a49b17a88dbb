//! Receivers of the locations of values, and policies for their widths.

use crate::plan::program::{LeafForm, LeafRef, PadPlace};

/// Receives the locations of the values of a piece, in the order of the text. `()` receives nothing, at no cost.
///
/// Markers, counts, QNames (whose prefix depends on where they are) and attributes of wildcards have no location.
pub trait Places {
    /// Whether locations are wanted.
    const LISTENS: bool = true;

    /// Receives a value: the lexical form of `slot` begins at `offset` of the piece and has `length` bytes. The value has
    /// `width` bytes with its pad, which follows the lexical form or its end tag, as the [`Stuffing`] says.
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef);

    /// Receives a slot that points into the heap but has no location: a QName, the attributes of a wildcard, or the value
    /// of an attribute that is not written.
    #[inline]
    fn hidden(&mut self, _slot: usize) {}

    /// The number of numbers in the next rows whose locations are wanted.
    #[inline]
    fn wanted_numbers(&self) -> usize {
        usize::MAX
    }

    /// Receives the locations of the numbers in some rows of a table.
    #[inline]
    fn rows(&mut self, rows: Rows<'_>) {
        for (index, &length) in rows.lengths.iter().enumerate() {
            let (offset, leaf) = (
                rows.offset + rows.offsets[index] as usize,
                rows.leaf_of(index),
            );
            let width = rows.widths.get(index).copied().unwrap_or(length);
            self.value(rows.slot + index, offset, length.into(), width.into(), leaf);
        }
    }
}

impl Places for () {
    const LISTENS: bool = false;

    fn value(&mut self, _: usize, _: usize, _: usize, _: usize, _: LeafRef) {}
}

impl<P: Places> Places for &mut P {
    const LISTENS: bool = P::LISTENS;

    #[inline]
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef) {
        P::value(self, slot, offset, length, width, leaf);
    }

    #[inline]
    fn hidden(&mut self, slot: usize) {
        P::hidden(self, slot);
    }

    #[inline]
    fn wanted_numbers(&self) -> usize {
        P::wanted_numbers(self)
    }

    #[inline]
    fn rows(&mut self, rows: Rows<'_>) {
        P::rows(self, rows);
    }
}

/// The locations of the numbers in some rows of a table. Further rows come in another call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rows<'a> {
    /// The slot of the first number.
    pub slot: usize,
    /// The number of numbers in all rows.
    pub numbers: usize,
    /// The number of the leaf form of a row's first number; the others follow in order.
    pub leaf: LeafRef,
    /// The number of numbers in a row.
    pub cells: usize,
    /// The offset of the first number in the piece.
    pub offset: usize,
    /// The offset of each number from the first; only of the first few if no more are [wanted](Places::wanted_numbers).
    pub offsets: &'a [u32],
    /// The lengths of their lexical forms.
    pub lengths: &'a [u8],
    /// Their widths; empty if each is as wide as it is long.
    pub widths: &'a [u8],
}

impl Rows<'_> {
    /// The number of the leaf form of the number at `index`.
    #[inline]
    pub fn leaf_of(&self, index: usize) -> LeafRef {
        LeafRef(self.leaf.0 + (index % self.cells) as u32)
    }
}

/// Decides how wide values are, and where their pads go. `()` gives each value its own length, at no cost.
pub trait Stuffing {
    /// Whether any value can be wider than its length.
    const STUFFS: bool = true;

    /// The width of a value with a lexical form of `length` bytes; a smaller result counts as `length`. Called only for
    /// values that [may be padded](LeafForm::may_pad) at the place of this stuffing. In rows no number gets more than 32
    /// bytes.
    fn width(&self, leaf: &LeafForm, length: usize) -> usize;

    /// The width of all values that are not longer than it; `None` if the width depends on the length.
    #[inline]
    fn fixed_width(&self, _leaf: &LeafForm) -> Option<usize> {
        None
    }

    /// Where pads are written.
    #[inline]
    fn place(&self) -> PadPlace {
        PadPlace::Inside
    }
}

impl Stuffing for () {
    const STUFFS: bool = false;

    #[inline]
    fn width(&self, _: &LeafForm, length: usize) -> usize {
        length
    }
}

impl<S: Stuffing> Stuffing for &S {
    const STUFFS: bool = S::STUFFS;

    #[inline]
    fn width(&self, leaf: &LeafForm, length: usize) -> usize {
        S::width(self, leaf, length)
    }

    #[inline]
    fn fixed_width(&self, leaf: &LeafForm) -> Option<usize> {
        S::fixed_width(self, leaf)
    }

    #[inline]
    fn place(&self) -> PadPlace {
        S::place(self)
    }
}
