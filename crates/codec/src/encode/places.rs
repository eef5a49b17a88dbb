//! What records the locations of values, and what decides their widths.

use crate::plan::program::{LeafForm, LeafRef, PadPlace};

/// Records the locations of the values of a piece, in the order of the text. `()` records nothing, at no cost.
///
/// Markers, counts, QNames (their prefix depends on where they are) and the attributes a wildcard admitted have no location.
pub trait Places {
    /// Whether anyone listens.
    const LISTENS: bool = true;

    /// The lexical form of `slot` is at `offset` of the piece. From there, `width` bytes are its own: the lexical
    /// form and its pad, which follows it, or its end tag, as the [`Stuffing`] says.
    fn value(&mut self, slot: usize, offset: usize, length: usize, width: usize, leaf: LeafRef);

    /// A slot that points into the heap and has no place all the same: a QName, the attributes a wildcard admitted, the
    /// value of an attribute that is not written.
    #[inline]
    fn hidden(&mut self, _slot: usize) {}

    /// Of how many of the numbers in the rows that come next the locations are wanted.
    #[inline]
    fn wanted_numbers(&self) -> usize {
        usize::MAX
    }

    /// Some rows of a table have been written.
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

/// Some rows of a table, number by number. Rows that follow come in another call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rows<'a> {
    /// The slot of the first number.
    pub slot: usize,
    /// How many numbers they have.
    pub numbers: usize,
    /// How the first number of a row is written; those after it have the numbers that follow.
    pub leaf: LeafRef,
    /// Numbers in a row.
    pub cells: usize,
    /// Where the first number is in the piece.
    pub offset: usize,
    /// Where each number is, counted from the first; of the first few if no more are [wanted](Places::wanted_numbers).
    pub offsets: &'a [u32],
    /// The lengths of their lexical forms.
    pub lengths: &'a [u8],
    /// Their widths; empty if each is as wide as it is long.
    pub widths: &'a [u8],
}

impl Rows<'_> {
    /// How the number at `index` is written.
    #[inline]
    pub fn leaf_of(&self, index: usize) -> LeafRef {
        LeafRef(self.leaf.0 + (index % self.cells) as u32)
    }
}

/// How wide values are, and where their pads go. `()` makes them as wide as they are long, at no cost.
pub trait Stuffing {
    /// Whether any value gets more than it takes.
    const STUFFS: bool = true;

    /// How many bytes a value of `length` gets; less than that is as much as that. Only values that [may be
    /// padded](LeafForm::may_pad) at the place of this stuffing are asked for. In rows no number gets more than 32.
    fn width(&self, leaf: &LeafForm, length: usize) -> usize;

    /// How many bytes every value gets that is not longer; `None` if that depends on its length.
    #[inline]
    fn fixed_width(&self, _leaf: &LeafForm) -> Option<usize> {
        None
    }

    /// Where the pad goes.
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
