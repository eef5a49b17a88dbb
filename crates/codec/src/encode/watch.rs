//! What the machine asks and tells whoever has it run. It costs nothing where no one listens.

use super::leaf::LeafRef;
use super::machine::Frame;
use super::places::CellPlace;
use super::program::Table;
use super::scope::Declared;

/// Who is told where the lexical forms stand, and may stop the machine. `()` is told nothing and never does.
pub(crate) trait Watch {
    /// Whether anyone listens.
    const LISTENS: bool = true;
    /// Whether the machine may be stopped between two instructions.
    const STOPS: bool = false;
    /// Whether values may get more room than they take.
    const STUFFS: bool = false;
    /// Whether it is to be told of instructions also where values are plain, and where in the text these stand.
    const FOLLOWS: bool = true;

    /// The lexical form of `slot` stands at `offset`.
    fn place(&mut self, slot: usize, offset: u64, length: usize);

    /// The lexical form of `slot`, which is no QName, stands at `offset`.
    #[inline(always)]
    fn plain(&mut self, slot: usize, offset: u64, length: usize) {
        self.place(slot, offset, length);
    }

    /// The lexical forms of some slots, from this one on, are so long. Who [follows](Self::FOLLOWS) is told of each.
    #[inline(always)]
    fn plains(&mut self, slot: usize, lengths: &[u8]) {
        debug_assert!(!Self::FOLLOWS, "where they stand is not known");
        for (slot, &length) in (slot..).zip(lengths) {
            self.plain(slot, 0, length.into());
        }
    }

    /// Of how many of the numbers in the rows of a table the places are to be told, the first ones.
    #[inline(always)]
    fn told_of(&mut self, _table: &Table, numbers: usize) -> usize {
        numbers
    }

    /// The rows of a table, whose numbers have these slots, are written.
    #[inline(always)]
    fn rows_end(&mut self, _first: usize, _end: usize) {}

    /// A slot that points into the heap, and whose value has no place.
    #[inline(always)]
    fn hidden(&mut self, _slot: usize) {}

    /// The instruction at `pc` is run next.
    #[inline(always)]
    fn instruction(&mut self, _pc: u32) {}

    /// Length of the text, and slot, from which on the machine asks whether to stop.
    #[inline(always)]
    fn limits(&self) -> (usize, usize) {
        (usize::MAX, usize::MAX)
    }

    /// Whether to stop here.
    fn stops(&mut self, _standing: &Standing<'_>) -> bool {
        false
    }

    /// A loop begins, whose count is in slot `count` ...
    #[inline(always)]
    fn begin_loop(&mut self, _count: usize) {}

    /// ... and ends.
    #[inline(always)]
    fn end_loop(&mut self) {}

    /// The pad of the value told last: so many spaces inside its element.
    #[inline(always)]
    fn pad(&mut self) -> usize {
        0
    }

    /// The pad of the value told last: so many spaces behind an end tag of that many bytes. It is told once.
    #[inline(always)]
    fn take_pad_behind(&mut self) -> Option<(usize, usize)> {
        None
    }

    /// The room of a number in a row, and, if its pad stands behind the end tag, bytes of that.
    #[inline(always)]
    fn room(&self, _leaf: LeafRef, length: usize) -> (usize, Option<usize>) {
        (length, None)
    }

    /// Where the numbers of some rows stand.
    #[inline(always)]
    fn rows(&mut self, _table: &Table, _slot: usize, _offset: usize, _places: &[CellPlace]) {}
}

/// Where the machine stands.
pub(crate) struct Standing<'m> {
    /// The next instruction.
    pub(crate) pc: u32,
    /// Whether it is one for rows, some of which are done.
    pub(crate) in_rows: bool,
    /// The next slot.
    pub(crate) slot: usize,
    /// The length of the text.
    pub(crate) length: usize,
    pub(crate) stack: &'m [Frame],
    pub(crate) declared: &'m Declared,
}

impl Watch for () {
    const LISTENS: bool = false;

    #[inline(always)]
    fn place(&mut self, _: usize, _: u64, _: usize) {}
}
