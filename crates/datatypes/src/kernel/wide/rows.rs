//! Rows of numbers, one value after the other.

use super::super::found::{FoundInRow, RowsEnd};
use super::super::number::{Column, Number};
use super::super::portable;
use super::array::{BEFORE, BEYOND};
use super::classes::{Classes, LoadedSeparator, compute_now, ends_of_64};
use super::integer::integer;
use super::real::real;
use crate::nearest;

/// Rows being read.
#[derive(Clone, Copy)]
pub(crate) struct RowReader<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) columns: &'a [Column],
    /// The byte that ends each value.
    pub(crate) end: u8,
}

impl RowReader<'_> {
    /// Reads rows up to a value that does not belong to them.
    ///
    /// # Safety
    /// The instructions.
    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
    )]
    pub(super) unsafe fn read(
        self,
        at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> RowsEnd {
        // SAFETY: the caller guarantees the instructions.
        unsafe { self.one_by_one(at, usize::MAX, most, slots, found).0 }
    }

    /// Reads up to `limit` rows one after the other. Returns also whether there are no more.
    ///
    /// # Safety
    /// The instructions.
    #[inline(always)]
    pub(crate) unsafe fn one_by_one(
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
                // SAFETY: the caller guarantees the instructions.
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
    /// The instructions.
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
