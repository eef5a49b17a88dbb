//! Rows, and how their numbers get into a chunk.

use bsoap_codec::frame::Cell;
use bsoap_codec::plan::LeafKind;

use super::PAD;
use super::number::{self, Number};

/// A row of numbers: a number, a tuple of up to eight, or an array of them. A struct becomes one with
/// `rows.map(|point| (point.x, point.y, point.value))`.
pub trait Row: sealed::Sealed {
    /// How many numbers it has.
    const NUMBERS: usize;

    /// Whether its numbers are of these kinds.
    fn fits(kinds: &[LeafKind]) -> bool;

    /// Writes its numbers.
    fn write(&self, cells: &mut Cells<'_>);
}

mod sealed {
    pub trait Sealed {}
}

/// Constant markup, with room behind it for a copy of fixed length.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    padded: Vec<u8>,
    pub(super) length: usize,
}

impl Literal {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut padded = text.to_vec();
        padded.resize(text.len().max(PAD), 0);
        Self {
            padded,
            length: text.len(),
        }
    }

    fn text(&self) -> &[u8] {
        &self.padded[..self.length]
    }

    /// Writes the markup at `text[at..]`; what stands behind it is unspecified.
    #[inline(always)]
    fn lay(&self, text: &mut [u8], at: usize) -> usize {
        match (
            self.padded.first_chunk::<PAD>(),
            text[at..].first_chunk_mut::<PAD>(),
        ) {
            (Some(from), Some(to)) if self.length <= PAD => *to = *from,
            _ => text[at..at + self.length].copy_from_slice(self.text()),
        }
        at + self.length
    }
}

/// A number of a row, and what stands before it.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// Markup between the number before and this one.
    before: Literal,
    /// Its room in a stuffed row.
    width: usize,
    min: i64,
    max: u64,
}

impl Spec {
    /// Of a cell of the frame.
    pub(super) fn new(cell: &Cell) -> Self {
        let (min, max) = number::range(cell.kind);
        Self {
            before: Literal::new(&cell.before),
            width: cell.width(),
            min,
            max,
        }
    }
}

/// Takes the numbers of one row.
#[derive(Debug)]
pub struct Cells<'c> {
    cells: std::slice::Iter<'c, Spec>,
    text: &'c mut [u8],
    /// Where the next number's markup goes.
    end: usize,
    stuffed: bool,
    bad: bool,
}

impl<'c> Cells<'c> {
    /// A row that begins at `at`, with what stands between it and the one before.
    #[inline(always)]
    pub(super) fn new(
        cells: &'c [Spec],
        between: &Literal,
        text: &'c mut [u8],
        at: usize,
        stuffed: bool,
    ) -> Self {
        let end = between.lay(text, at);
        Self {
            cells: cells.iter(),
            text,
            end,
            stuffed,
            bad: false,
        }
    }

    /// The end of the row; nothing if a number was out of range.
    #[inline(always)]
    pub(super) fn finish(self) -> Option<usize> {
        (!self.bad).then_some(self.end)
    }

    #[inline(always)]
    fn put(&mut self, number: impl Number) {
        let Some(cell) = self.cells.next() else {
            // Rows were checked before the first one was written.
            self.bad = true;
            return;
        };
        self.bad |= number.is_outside(cell.min, cell.max);
        if cell.before.length > 0 {
            self.end = cell.before.lay(self.text, self.end);
        }
        let Some(room) = self.text[self.end..].first_chunk_mut() else {
            self.bad = true;
            return;
        };
        let length = number.format(room);
        if self.stuffed {
            // What goes past the room is written over by what follows.
            match self.text[self.end + length..].first_chunk_mut::<PAD>() {
                Some(pad) => *pad = [b' '; PAD],
                None => self.bad = true,
            }
            self.end += cell.width;
        } else {
            self.end += length;
        }
    }
}

macro_rules! single {
    ($($ty:ty),*) => {$(
        impl sealed::Sealed for $ty {}

        impl Row for $ty {
            const NUMBERS: usize = 1;

            fn fits(kinds: &[LeafKind]) -> bool {
                matches!(kinds, [kind] if <$ty as Number>::fits(*kind))
            }

            #[inline(always)]
            fn write(&self, cells: &mut Cells<'_>) {
                cells.put(*self);
            }
        }
    )*};
}

single!(f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, bool);

macro_rules! tuple {
    ($count:literal: $($ty:ident $index:tt),*) => {
        impl<$($ty: Number),*> sealed::Sealed for ($($ty,)*) {}

        impl<$($ty: Number),*> Row for ($($ty,)*) {
            const NUMBERS: usize = $count;

            fn fits(kinds: &[LeafKind]) -> bool {
                kinds.len() == $count $(&& $ty::fits(kinds[$index]))*
            }

            #[inline(always)]
            fn write(&self, cells: &mut Cells<'_>) {
                $(cells.put(self.$index);)*
            }
        }
    };
}

tuple!(1: A 0);
tuple!(2: A 0, B 1);
tuple!(3: A 0, B 1, C 2);
tuple!(4: A 0, B 1, C 2, D 3);
tuple!(5: A 0, B 1, C 2, D 3, E 4);
tuple!(6: A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(7: A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

impl<T: Number, const N: usize> sealed::Sealed for [T; N] {}

impl<T: Number, const N: usize> Row for [T; N] {
    const NUMBERS: usize = N;

    fn fits(kinds: &[LeafKind]) -> bool {
        kinds.len() == N && kinds.iter().all(|&kind| T::fits(kind))
    }

    #[inline(always)]
    fn write(&self, cells: &mut Cells<'_>) {
        for &number in self {
            cells.put(number);
        }
    }
}

impl<R: Row> sealed::Sealed for &R {}

impl<R: Row> Row for &R {
    const NUMBERS: usize = R::NUMBERS;

    fn fits(kinds: &[LeafKind]) -> bool {
        R::fits(kinds)
    }

    #[inline(always)]
    fn write(&self, cells: &mut Cells<'_>) {
        (**self).write(cells);
    }
}
