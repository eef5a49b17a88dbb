//! Rows of numbers, one value after the other, or in [batches](super::row_batch) with AVX-512.

use super::super::found::{FoundInRow, RowsEnd};
use super::super::number::{Column, Number};
use super::super::portable;
use super::array::{BEFORE, BEYOND};
use super::classes::{Classes, LoadedSeparator, compute_now, ends_of_64};
use super::integer::integer;
use super::nearest;
use super::real::real;
use super::row_batch::RowBatch;

/// Rows being read.
#[derive(Clone, Copy)]
pub(super) struct RowReader<'a> {
    pub(super) text: &'a [u8],
    pub(super) columns: &'a [Column],
    /// The byte that ends each value.
    pub(super) end: u8,
}

/// The rows of a batch.
#[derive(Clone, Copy)]
pub(super) struct BatchRead {
    pub(super) rows: usize,
    /// The location of the next row.
    pub(super) at: usize,
    pub(super) goes_on: bool,
}

impl BatchRead {
    /// No rows.
    #[inline(always)]
    pub(super) fn nothing(at: usize) -> Self {
        Self {
            rows: 0,
            at,
            goes_on: true,
        }
    }
}

/// How many rows are read one by one before the first batch: for fewer rows, that is faster.
const ROWS_BEFORE_BATCH: usize = 16;
/// How many rows are read one by one before a batch is tried again after one that failed. Doubles with each failure.
const MIN_BACK_OFF: usize = 4;
/// The most rows that are read one by one before a batch is tried again.
const MAX_BACK_OFF: usize = 64;

impl RowReader<'_> {
    /// Reads rows up to a value that does not belong to them. `is_wide` is whether batches can be read, with AVX-512.
    ///
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT, and if `is_wide`, what [`RowBatch::read`] needs.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn read(
        self,
        is_wide: bool,
        mut at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> RowsEnd {
        let mut rows = 0;
        let (mut alone, mut back_off) = (ROWS_BEFORE_BATCH, MIN_BACK_OFF);
        loop {
            let limit = if is_wide { alone } else { usize::MAX };
            // SAFETY: the caller guarantees the features.
            let (stop, is_end) = unsafe { self.one_by_one(at, limit, most - rows, slots, found) };
            (rows, at) = (rows + stop.rows, stop.at);
            if is_end {
                return RowsEnd { rows, ..stop };
            }
            // SAFETY: batches are only read if `is_wide`, for which the caller guarantees the features.
            let read = unsafe { RowBatch::read(self, at, most - rows, slots, found) };
            (rows, at) = (rows + read.rows, read.at);
            if !read.goes_on {
                let column = 0;
                return RowsEnd { rows, column, at };
            }
            if read.rows > 0 {
                back_off = MIN_BACK_OFF;
            }
            (alone, back_off) = (back_off, MAX_BACK_OFF.min(2 * back_off));
        }
    }

    /// Reads up to `limit` rows one after the other. Returns also whether there are no more.
    ///
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT.
    #[inline(always)]
    unsafe fn one_by_one(
        self,
        mut at: usize,
        limit: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> (RowsEnd, bool) {
        let markers = self.columns.iter().filter(|column| column.marker.is_some());
        let stride = self.columns.len() + markers.count();
        let count = self.columns.len();
        let mut rows = 0;
        // The ends among the bytes from the next value on, if they are known.
        let mut ahead = None;
        while rows < limit {
            slots.reserve(stride);
            let mut length = slots.len();
            let out = slots.as_mut_ptr();
            let (mut stop, mut goes_on) = (None, true);
            for (index, column) in self.columns.iter().enumerate() {
                if let Some(marker) = column.marker {
                    // SAFETY: capacity for a row is reserved.
                    unsafe { out.add(length).write(marker) };
                    length += 1;
                }
                if index + 1 == count && rows == most {
                    stop = Some(index);
                    break;
                }
                // SAFETY: the caller guarantees the features.
                let value = unsafe { self.value(column, at, &mut ahead) };
                let Some((slot, width)) = value else {
                    stop = Some(index);
                    break;
                };
                goes_on = found.value(index, at, width, slot);
                // SAFETY: capacity for a row is reserved.
                unsafe { out.add(length).write(slot) };
                length += 1;
                at += width + column.separator.bytes.len();
            }
            // SAFETY: `length` slots have been written.
            unsafe { slots.set_len(length) };
            if let Some(column) = stop {
                return (RowsEnd { rows, column, at }, true);
            }
            rows += 1;
            if !goes_on {
                let column = 0;
                return (RowsEnd { rows, column, at }, true);
            }
        }
        let column = 0;
        (RowsEnd { rows, column, at }, false)
    }

    /// The slot of a value and its length, if its separator follows.
    ///
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT.
    #[inline(always)]
    unsafe fn value(
        self,
        column: &Column,
        at: usize,
        ahead: &mut Option<u64>,
    ) -> Option<(u64, usize)> {
        let known = ahead.take();
        if at < BEFORE || at + BEYOND > self.text.len() {
            return self.slow_path(column, at);
        }
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text.
        unsafe {
            let text = self.text.as_ptr().add(at);
            let ends = match known {
                Some(ends) => ends,
                None => ends_of_64(text, self.end),
            };
            let length = ends.trailing_zeros();
            if length > 31 {
                return self.slow_path(column, at);
            }
            // Search for the end of the next value before this one is parsed, so that it does not wait for that: among the
            // ends that are known, if there is another.
            let next = length as usize + column.separator.bytes.len();
            let left = ends.checked_shr(next as u32).unwrap_or(0);
            if left != 0 {
                *ahead = Some(left);
            } else if next <= BEYOND - 64 {
                *ahead = Some(compute_now(ends_of_64(text.add(next), self.end)));
            }
            let slot = match column.number {
                Number::Double => {
                    let classes = Classes::new(text, self.end);
                    real::<nearest::Double>(text, &classes, length)
                }
                Number::Float => {
                    let classes = Classes::new(text, self.end);
                    real::<nearest::Float>(text, &classes, length)
                }
                Number::Signed { .. } | Number::Unsigned { .. } => {
                    integer(text, length, column.number.bounds())
                }
            };
            let length = length as usize;
            match slot {
                Some(slot)
                    if LoadedSeparator::new(&column.separator).matches_at(text.add(length))
                        && (column.separator.bytes.len() <= 32
                            || self.text[at + length..].starts_with(&column.separator.bytes)) =>
                {
                    Some((slot, length))
                }
                _ => self.slow_path(column, at),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn slow_path(self, column: &Column, at: usize) -> Option<(u64, usize)> {
        portable::value(self.text, at, column.number, &column.separator)
    }
}
