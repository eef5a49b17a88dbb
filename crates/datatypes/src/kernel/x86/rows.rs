//! Rows of numbers, in [batches](super::row_batch) where that is faster than one value after the other.

use super::super::found::{FoundInRow, RowsEnd};
use super::super::wide::RowReader;
use super::row_batch::RowBatch;

/// How many rows are read one by one before the first batch: for fewer rows, that is faster.
const ROWS_BEFORE_BATCH: usize = 16;
/// How many rows are read one by one before a batch is tried again after one that failed. Doubles with each failure.
const MIN_BACK_OFF: usize = 4;
/// The most rows that are read one by one before a batch is tried again.
const MAX_BACK_OFF: usize = 64;

impl RowReader<'_> {
    /// Reads rows up to a value that does not belong to them, in batches.
    ///
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT, and what [`RowBatch::read`] needs.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) unsafe fn read_in_batches(
        self,
        mut at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> RowsEnd {
        let mut rows = 0;
        let (mut alone, mut back_off) = (ROWS_BEFORE_BATCH, MIN_BACK_OFF);
        loop {
            // SAFETY: the caller guarantees the features.
            let (stop, is_end) = unsafe { self.one_by_one(at, alone, most - rows, slots, found) };
            (rows, at) = (rows + stop.rows, stop.at);
            if is_end {
                return RowsEnd { rows, ..stop };
            }
            // SAFETY: the caller guarantees the features.
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
}
