//! Rows of numbers, one value after the other, or several rows at once where that can be done.

use super::super::found::{FoundInRow, Stop};
use super::super::number::{Column, Number};
use super::super::portable;
use super::nearest;
use super::read::{BEFORE, BEYOND, Isa, Pattern, here, integer, real};

/// Rows being read.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) text: &'a [u8],
    pub(super) columns: &'a [Column],
    /// The byte that ends each value.
    pub(super) end: u8,
}

/// Who reads several rows at once.
pub(super) trait Several {
    /// Whether anybody does.
    const IS_THERE: bool;

    /// Reads rows as long as there are several that are like one another, up to `most`. Appends their slots, and tells of
    /// their values, up to a row behind which it does not go on.
    ///
    /// # Safety
    /// The instructions are there.
    unsafe fn read(
        rows: Rows<'_>,
        at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> Read;
}

/// Rows that were read at once.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) rows: usize,
    /// Where the next begins.
    pub(super) at: usize,
    pub(super) goes_on: bool,
}

impl Read {
    /// No rows, as far as from there on.
    #[inline(always)]
    pub(super) fn nothing(at: usize) -> Self {
        Self {
            rows: 0,
            at,
            goes_on: true,
        }
    }
}

/// Nobody does.
pub(super) struct Nobody;

impl Several for Nobody {
    const IS_THERE: bool = false;

    #[inline(always)]
    unsafe fn read(
        _: Rows<'_>,
        at: usize,
        _: usize,
        _: &mut Vec<u64>,
        _: &mut impl FoundInRow,
    ) -> Read {
        Read::nothing(at)
    }
}

/// So many rows are read one by one first: where there are but few, that is quicker.
const SOME: usize = 16;
/// After rows that could not be read at once, so many are read one by one before it is tried again,
const FEW: usize = 4;
/// and twice as many each time it is in vain, up to so many.
const MANY: usize = 64;

impl Rows<'_> {
    /// Reads rows up to a value that does not belong to them.
    ///
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT, and what `I` and `S` need.
    #[inline(always)]
    pub(super) unsafe fn read<I: Isa, S: Several>(
        self,
        mut at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> Stop {
        let mut rows = 0;
        let (mut alone, mut patience) = (SOME, FEW);
        loop {
            let limit = if S::IS_THERE { alone } else { usize::MAX };
            // SAFETY: the caller guarantees the features, which is all that is asked for.
            let (stop, is_end) =
                unsafe { self.one_by_one::<I>(at, limit, most - rows, slots, found) };
            (rows, at) = (rows + stop.rows, stop.at);
            if is_end {
                return Stop { rows, ..stop };
            }
            // SAFETY: the caller guarantees the features, which is all that is asked for.
            let read = unsafe { S::read(self, at, most - rows, slots, found) };
            (rows, at) = (rows + read.rows, read.at);
            if !read.goes_on {
                let column = 0;
                return Stop { rows, column, at };
            }
            if read.rows > 0 {
                patience = FEW;
            }
            (alone, patience) = (patience, MANY.min(2 * patience));
        }
    }

    /// Reads up to `limit` rows one after the other. Returns whether that was the end of them, too.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn one_by_one<I: Isa>(
        self,
        mut at: usize,
        limit: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> (Stop, bool) {
        let markers = self.columns.iter().filter(|column| column.marker.is_some());
        let stride = self.columns.len() + markers.count();
        let count = self.columns.len();
        let mut rows = 0;
        // The ends among the bytes from the next value on.
        let mut ahead = None;
        while rows < limit {
            slots.reserve(stride);
            let mut length = slots.len();
            let out = slots.as_mut_ptr();
            let (mut stop, mut goes_on) = (None, true);
            for (index, column) in self.columns.iter().enumerate() {
                if let Some(marker) = column.marker {
                    // SAFETY: there is room for a row.
                    unsafe { out.add(length).write(marker) };
                    length += 1;
                }
                if index + 1 == count && rows == most {
                    stop = Some(index);
                    break;
                }
                // SAFETY: the caller guarantees the features, which is all that is asked for.
                let value = unsafe { self.value::<I>(column, at, &mut ahead) };
                let Some((slot, long)) = value else {
                    stop = Some(index);
                    break;
                };
                goes_on = found.value(index, at, long, slot);
                // SAFETY: there is room for a row.
                unsafe { out.add(length).write(slot) };
                length += 1;
                at += long + column.separator.bytes.len();
            }
            // SAFETY: so many have been written.
            unsafe { slots.set_len(length) };
            if let Some(column) = stop {
                return (Stop { rows, column, at }, true);
            }
            rows += 1;
            if !goes_on {
                let column = 0;
                return (Stop { rows, column, at }, true);
            }
        }
        let column = 0;
        (Stop { rows, column, at }, false)
    }

    /// The slot of a value and its length, if its separator follows.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn value<I: Isa>(
        self,
        column: &Column,
        at: usize,
        ahead: &mut Option<u64>,
    ) -> Option<(u64, usize)> {
        let known = ahead.take();
        if at < BEFORE || at + BEYOND > self.text.len() {
            return self.general(column, at);
        }
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text.
        unsafe {
            let text = self.text.as_ptr().add(at);
            let ends = match known {
                Some(ends) => ends,
                None => I::ends(text, self.end),
            };
            let length = ends.trailing_zeros();
            if length > 31 {
                return self.general(column, at);
            }
            // The end of the next value is sought before this one is read, so that nothing of this one stands between: among
            // the ends that are known, if there is one more.
            let next = length as usize + column.separator.bytes.len();
            let left = ends.checked_shr(next as u32).unwrap_or(0);
            if left != 0 {
                *ahead = Some(left);
            } else if next <= BEYOND - 64 {
                *ahead = Some(here(I::ends(text.add(next), self.end)));
            }
            let slot = match column.number {
                Number::Double => {
                    let classes = I::classes(text, self.end);
                    real::<I, nearest::Double>(text, &classes, length)
                }
                Number::Float => {
                    let classes = I::classes(text, self.end);
                    real::<I, nearest::Float>(text, &classes, length)
                }
                Number::Signed { .. } | Number::Unsigned { .. } => {
                    let (min, max) = column.number.bounds();
                    integer(text, length, min, max)
                }
            };
            let length = length as usize;
            match slot {
                Some(slot)
                    if Pattern::new(&column.separator).stands_at(text.add(length))
                        && (column.separator.bytes.len() <= 32
                            || self.text[at + length..].starts_with(&column.separator.bytes)) =>
                {
                    Some((slot, length))
                }
                _ => self.general(column, at),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn general(self, column: &Column, at: usize) -> Option<(u64, usize)> {
        portable::value(self.text, at, column.number, &column.separator)
    }
}
