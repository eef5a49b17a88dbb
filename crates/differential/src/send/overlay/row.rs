//! Rows of numbers.

use bsoap_codec::plan::LeafKind;

use super::number::{Number, Range};

/// A row of numbers: a number, a tuple of up to eight numbers, or an array of numbers. Structs are converted with
/// `rows.map(|point| (point.x, point.y, point.value))`.
pub trait Row: sealed::Sealed {
    /// The number of its numbers.
    const NUMBERS: usize;

    /// Whether its numbers are of these kinds.
    fn fits(kinds: &[LeafKind]) -> bool;

    /// Writes its numbers to the cells of a row.
    fn give(&self, cells: &mut Cells<'_>);
}

mod sealed {
    pub trait Sealed {}
}

/// Receives the numbers of one row.
#[derive(Debug)]
pub struct Cells<'c> {
    ranges: std::slice::Iter<'c, Range>,
    slots: std::slice::IterMut<'c, u64>,
    bad: bool,
}

impl<'c> Cells<'c> {
    /// Receives the numbers of a row into these slots.
    #[inline(always)]
    pub(super) fn new(ranges: &'c [Range], slots: &'c mut [u64]) -> Self {
        Self {
            ranges: ranges.iter(),
            slots: slots.iter_mut(),
            bad: false,
        }
    }

    /// Whether all numbers were in range.
    #[inline(always)]
    pub(super) fn are_good(&self) -> bool {
        !self.bad
    }

    #[inline(always)]
    fn put(&mut self, number: impl Number) {
        let (Some(range), Some(slot)) = (self.ranges.next(), self.slots.next()) else {
            // Cannot happen: the type of the rows was checked before.
            self.bad = true;
            return;
        };
        self.bad |= number.is_outside(*range);
        *slot = number.slot();
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
            fn give(&self, cells: &mut Cells<'_>) {
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
            fn give(&self, cells: &mut Cells<'_>) {
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
    fn give(&self, cells: &mut Cells<'_>) {
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
    fn give(&self, cells: &mut Cells<'_>) {
        (**self).give(cells);
    }
}
