//! Where the values of a column are in the text of a batch of rows, and where their slots are.

use std::arch::x86_64::{__m128i, _mm_loadu_si128};

/// The locations of a column's values: 32 bytes of text can be read before and from the start of each.
#[derive(Clone, Copy)]
pub(super) struct Spans {
    pub(super) text: *const u8,
    /// The end before the first value, followed by the end of the first.
    pub(super) ends: *const u16,
    /// The number of ends per row.
    pub(super) stride: usize,
    /// The distance from the end before a value to its start.
    pub(super) lead: u16,
}

impl Spans {
    /// The locations of the same column, beginning with row `row`.
    ///
    /// # Safety
    /// The row exists.
    #[inline(always)]
    pub(super) unsafe fn from(self, row: usize) -> Self {
        // SAFETY: the caller guarantees that the row exists, so the pointer stays within the ends.
        let ends = unsafe { self.ends.add(row * self.stride) };
        Self { ends, ..self }
    }

    /// The end before a value, and its own in the upper half.
    ///
    /// # Safety
    /// They can be read.
    #[inline(always)]
    pub(super) unsafe fn pair(self, value: usize) -> i32 {
        // SAFETY: the caller guarantees that both ends can be read; the load is unaligned.
        unsafe {
            let ends = self.ends.add(value * self.stride);
            ends.cast::<i32>().read_unaligned()
        }
    }

    /// The sixteen bytes before the end of a value.
    ///
    /// # Safety
    /// They can be read.
    #[inline(always)]
    pub(super) unsafe fn sixteen_before(self, value: usize) -> __m128i {
        // SAFETY: the caller guarantees that the end can be read, and 16 bytes of text before it.
        unsafe {
            let end = self.ends.add(value * self.stride + 1).read();
            _mm_loadu_si128(self.text.add(end.into()).sub(16).cast())
        }
    }

    /// The start of a value and its length.
    ///
    /// # Safety
    /// The ends can be read.
    #[inline(always)]
    pub(super) unsafe fn at(self, value: usize) -> (usize, usize) {
        // SAFETY: the caller guarantees that the ends of this value can be read.
        unsafe { span(self.ends.add(value * self.stride), self.lead) }
    }
}

/// The start and length of the value between two ends.
///
/// # Safety
/// They can be read.
#[inline(always)]
pub(super) unsafe fn span(ends: *const u16, lead: u16) -> (usize, usize) {
    // SAFETY: the caller guarantees that both ends can be read.
    let (before, end) = unsafe { (ends.read(), ends.add(1).read()) };
    let start = before.wrapping_add(lead);
    (start.into(), end.wrapping_sub(start).into())
}

/// The slots of a column, one per row.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub(super) first: *mut u64,
    pub(super) stride: usize,
}

impl Slots {
    /// The locations of the same column, beginning with row `row`.
    ///
    /// # Safety
    /// The row exists.
    #[inline(always)]
    pub(super) unsafe fn from(self, row: usize) -> Self {
        // SAFETY: the caller guarantees that the row exists, so the pointer stays within the slots.
        let first = unsafe { self.first.add(row * self.stride) };
        Self { first, ..self }
    }

    /// # Safety
    /// It can be written.
    #[inline(always)]
    pub(super) unsafe fn write(self, row: usize, slot: u64) {
        // SAFETY: the caller guarantees that the slot can be written.
        unsafe { self.first.add(row * self.stride).write(slot) }
    }
}
