//! Batches of rows of numbers, with AVX-512. Earned by the benchmark `numbers`, `mio/10000/read`.
//!
//! Read one after the other, each value waits for the one before, whose end gives its start. So all possible ends in a block
//! of text are listed first, 64 bytes at a time. A separator contains a fixed number of such bytes, so if the rows are like
//! those before, the ends of one column are a fixed number of entries apart:
//!
//! ```text
//! 17</x><y>4</y><v>1.5e3</v></row><row><x>3</x><y>…
//!   ^   ^   ^   ^       ^   ^     ^    ^   ^   ^      all possible ends
//!   ^       ^           ^                  ^          the 1st, 3rd, 5th, 9th … are
//! ```
//!
//! Comparing all separators before anything is read shows whether they are. Then no value waits for another, and values of
//! one column are read in lanes: integers here, doubles and floats in `real_batch.rs`.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::super::found::FoundInRow;
use super::super::number::{Column, Number};
use super::super::portable;
use super::super::wide::{BEFORE, LoadedSeparator, RowReader, integer, is_zero};
use super::real_batch::{MAX_REALS, RealBatch};
use super::spans::{Slots, Spans, span};
use crate::nearest::{self, Format};

/// A batch of rows.
pub(super) struct RowBatch {
    /// The number of ends per row.
    ends: usize,
    /// The distance from the last of them to the next row.
    lead: u16,
    /// The number of slots per row.
    slots: usize,
    /// How many blocks of 64 bytes are listed next: few at first, as there may be few rows.
    blocks: usize,
    /// The locations of the ends, relative to the first value; the first entry is the end before it.
    list: [MaybeUninit<u16>; 1 + (MAX_BLOCKS + 1) * MAX_ENDS],
    reals: RealBatch,
    found: [u64; MAX_REALS],
}

/// The number of blocks of 64 bytes that are listed at first.
const FIRST_BLOCKS: usize = 16;
/// The most blocks that are listed at once.
const MAX_BLOCKS: usize = 32;
/// The most ends in a block. (A tag has at least three bytes.)
const MAX_ENDS: usize = 32;
/// A batch has a multiple of this number of rows.
const GROUP: usize = 4;
/// Fewer rows are read as fast one by one.
const MIN_ROWS: usize = 2 * GROUP;
/// The longest separator that is compared, and how many bytes can be read from each end on.
const MAX_SEPARATOR: usize = 64;

impl RowBatch {
    /// Reads batches as long as the rows are like one another, `most` rows at most. Appends their slots and reports their
    /// values. Not inlined, so that few rows do not pay for the stack frame of a batch.
    ///
    /// # Safety
    /// The target features below.
    #[inline(never)]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    pub(super) unsafe fn read(
        rows: RowReader<'_>,
        at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> BatchRead {
        let mut all = BatchRead::nothing(at);
        let Some(mut batch) = Self::new(rows) else {
            return all;
        };
        loop {
            // SAFETY: the features are enabled.
            let read = unsafe { batch.read_some(rows, all.at, most - all.rows, slots, found) };
            all = BatchRead {
                rows: all.rows + read.rows,
                ..read
            };
            if read.rows == 0 || !read.goes_on {
                return all;
            }
        }
    }

    /// `None` if these rows must be read one by one.
    #[inline(always)]
    fn new(rows: RowReader<'_>) -> Option<Self> {
        let (mut ends, mut lead, mut slots) = (0, 0, 0);
        for column in rows.columns {
            let separator = &column.separator;
            if separator.bytes.len() > MAX_SEPARATOR {
                return None;
            }
            ends += usize::from(separator.ends);
            lead = separator.lead;
            slots += 1 + usize::from(column.marker.is_some());
        }
        Some(Self {
            ends,
            lead,
            slots,
            blocks: FIRST_BLOCKS,
            list: [const { MaybeUninit::uninit() }; _],
            reals: RealBatch::EMPTY,
            found: [0; MAX_REALS],
        })
    }

    /// Reads one batch of at most `most` rows: none if there are few, or they are not like one another.
    ///
    /// # Safety
    /// AVX-512 F, BW, VL, DQ, CD, VBMI, VBMI2, VPOPCNTDQ.
    #[inline(always)]
    unsafe fn read_some(
        &mut self,
        rows: RowReader<'_>,
        at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> BatchRead {
        let blocks = rows.text.len().saturating_sub(at + MAX_SEPARATOR) / 64;
        let mut read = BatchRead::nothing(at);
        if at < BEFORE || blocks == 0 {
            return read;
        }
        // SAFETY: from `BEFORE` before the first value to `MAX_SEPARATOR` after the last end, all bytes are of the text. The list
        // has space for all ends of `MAX_BLOCKS` blocks, and only rows with all their ends are read.
        unsafe {
            let text = rows.text.as_ptr().add(at);
            let listed = self.list_ends(text, blocks.min(self.blocks), rows.end);
            let count = (listed / self.ends).min(most) / GROUP * GROUP;
            let count = self.separated(rows, text, count);
            if count < MIN_ROWS {
                return read;
            }
            self.blocks = MAX_BLOCKS.min(2 * self.blocks);
            slots.reserve(count * self.slots);
            let out = slots.as_mut_ptr().add(slots.len());
            read.rows = self.values(rows, text, count, out);
            self.report(rows, out, &mut read, found);
            slots.set_len(slots.len() + read.rows * self.slots);
            let (next, _) = span(self.ends().add(read.rows * self.ends), self.lead);
            read.at = at + next;
        }
        read
    }

    /// The list of ends.
    #[inline(always)]
    fn ends(&self) -> *const u16 {
        self.list.as_ptr().cast()
    }

    /// Lists the locations of `end` in these blocks of 64 bytes. Returns how many there are. Stops at a block with more than
    /// [`MAX_ENDS`].
    ///
    /// # Safety
    /// AVX-512 BW, VBMI2; all bytes of the blocks can be read.
    #[inline(always)]
    unsafe fn list_ends(&mut self, text: *const u8, blocks: usize, end: u8) -> usize {
        // SAFETY: the caller guarantees that the blocks can be read; the list has space for 32 ends per block, and one store of
        // 32 more.
        unsafe {
            let list = self.list.as_mut_ptr().cast::<u16>();
            list.write(self.lead.wrapping_neg());
            let list = list.add(1);
            let places = _mm512_loadu_si512(PLACES.as_ptr().cast());
            let end = _mm512_set1_epi8(end as i8);
            let mut listed = 0;
            for block in 0..blocks {
                let bytes = _mm512_loadu_si512(text.add(64 * block).cast());
                let ends = _mm512_cmpeq_epi8_mask(bytes, end);
                let found = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(ends, places));
                let base = _mm512_set1_epi16(64 * block as i16);
                let found = _mm512_add_epi16(_mm512_cvtepu8_epi16(found), base);
                _mm512_storeu_si512(list.add(listed).cast(), found);
                let count = ends.count_ones() as usize;
                if count > MAX_ENDS {
                    return listed + MAX_ENDS;
                }
                listed += count;
            }
            listed
        }
    }

    /// The columns, and the places of the values of the first row.
    #[inline(always)]
    fn columns<'r>(
        &self,
        rows: RowReader<'r>,
    ) -> impl Iterator<Item = (&'r Column, ColumnPlace)> + use<'r> {
        let mut next = ColumnPlace {
            end: 0,
            lead: self.lead,
            slot: 0,
        };
        rows.columns.iter().map(move |column| {
            let mut place = next;
            place.slot += usize::from(column.marker.is_some());
            next = ColumnPlace {
                end: place.end + usize::from(column.separator.ends),
                lead: column.separator.lead,
                slot: place.slot + 1,
            };
            (column, place)
        })
    }

    /// How many of these rows have the expected separators: all of them, or a multiple of [`GROUP`].
    ///
    /// # Safety
    /// AVX2; their ends are listed, and [`MAX_SEPARATOR`] bytes can be read from each.
    #[inline(always)]
    unsafe fn separated(&self, rows: RowReader<'_>, text: *const u8, mut count: usize) -> usize {
        for (column, place) in self.columns(rows) {
            // SAFETY: `ends` are listed up to the last row, and 64 bytes can be read from each, as the caller guarantees.
            unsafe {
                let head = LoadedSeparator::new(&column.separator);
                let bytes = &*column.separator.bytes;
                let rest = match bytes.len() > 32 {
                    true => Some(LoadedSeparator::of(&bytes[32..])),
                    false => None,
                };
                let ends = self.ends().add(place.end + 1);
                // A loop and not a closure: closures do not inherit the target features.
                let mut first = 0;
                while first < count {
                    let mut differs = _mm256_setzero_si256();
                    for row in first..first + GROUP {
                        let text = text.add(ends.add(row * self.ends).read().into());
                        differs = _mm256_or_si256(differs, head.difference(text));
                        if let Some(rest) = &rest {
                            differs = _mm256_or_si256(differs, rest.difference(text.add(32)));
                        }
                    }
                    if !is_zero(differs) {
                        count = first;
                    }
                    first += GROUP;
                }
            }
        }
        count
    }

    /// Reads the values of these rows. Returns how many rows consist of numbers only.
    ///
    /// # Safety
    /// The features of [`read`](Self::read); the separators have been compared; `count` is a multiple of [`GROUP`], and there is
    /// capacity for that many rows from `out` on.
    #[inline(always)]
    unsafe fn values(
        &mut self,
        rows: RowReader<'_>,
        text: *const u8,
        mut count: usize,
        out: *mut u64,
    ) -> usize {
        for (column, place) in self.columns(rows) {
            // SAFETY: the caller guarantees capacity for `count` rows from `out` on, and that their ends are listed. A marker
            // precedes its slot, within the row.
            unsafe {
                let slots = Slots {
                    first: out.add(place.slot),
                    stride: self.slots,
                };
                let spans = Spans {
                    text,
                    ends: self.ends().add(place.end),
                    stride: self.ends,
                    lead: place.lead,
                };
                if let Some(marker) = column.marker {
                    for row in 0..count {
                        slots.from(row).first.sub(1).write(marker);
                    }
                }
                let own = (&mut self.reals, &mut self.found);
                count = Self::column(own, rows.text, column.number, spans, slots, count);
            }
        }
        count
    }

    /// Reads the values of a column. Returns how many there are up to one that is not a number.
    ///
    /// # Safety
    /// As [`values`](Self::values).
    #[inline(always)]
    unsafe fn column(
        (batch, found): (&mut RealBatch, &mut [u64; MAX_REALS]),
        text: &[u8],
        number: Number,
        spans: Spans,
        slots: Slots,
        count: usize,
    ) -> usize {
        for first in (0..count).step_by(MAX_REALS) {
            let some = MAX_REALS.min(count - first);
            // SAFETY: `first` is below `count`, so the ends and slots of these rows exist, as the caller guarantees; for
            // integers `count` is a multiple of `GROUP`.
            unsafe {
                let (spans, slots) = (spans.from(first), slots.from(first));
                let undecided = match number {
                    Number::Double => reals::<nearest::Double>(batch, found, spans, slots, some),
                    Number::Float => reals::<nearest::Float>(batch, found, spans, slots, some),
                    Number::Signed { .. } | Number::Unsigned { .. } => {
                        integers(spans, number.bounds(), slots, some)
                    }
                };
                if undecided != 0
                    && let Some(row) = slow_path(text, number, (spans, slots), undecided, some)
                {
                    return first + row;
                }
            }
        }
        count
    }

    /// Reports the values of rows, up to the row after which reading stops.
    ///
    /// # Safety
    /// The ends are listed and the slots written.
    #[inline(always)]
    unsafe fn report(
        &self,
        rows: RowReader<'_>,
        out: *const u64,
        read: &mut BatchRead,
        found: &mut impl FoundInRow,
    ) {
        for row in 0..read.rows {
            for (index, (_, place)) in self.columns(rows).enumerate() {
                // SAFETY: `row` is below `read.rows`, whose ends are listed and whose slots are written, as the caller
                // guarantees.
                let ((start, length), slot) = unsafe {
                    let end = self.ends().add(place.end + row * self.ends);
                    let slot = out.add(place.slot + row * self.slots);
                    (span(end, place.lead), slot.read())
                };
                read.goes_on = found.value(index, read.at + start, length, slot);
            }
            if !read.goes_on {
                read.rows = row + 1;
                return;
            }
        }
    }
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
    fn nothing(at: usize) -> Self {
        Self {
            rows: 0,
            at,
            goes_on: true,
        }
    }
}

/// The place of a column's first value.
#[derive(Clone, Copy)]
struct ColumnPlace {
    /// The index of the end before it in the list.
    end: usize,
    /// The distance from that end to the value.
    lead: u16,
    /// The index of its slot in the row.
    slot: usize,
}

/// Reads the values whose bits are set one by one, with the slow path if needed. Returns the first that is not a number. (All
/// integers of a column with more than 16 digits, such as times in nanoseconds, are read here.)
///
/// # Safety
/// AVX2, BMI1, BMI2; the conditions of [`Spans`]; the slots can be written.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn slow_path(
    text: &[u8],
    number: Number,
    (spans, slots): (Spans, Slots),
    bits: u32,
    count: usize,
) -> Option<usize> {
    for row in (0..count).filter(|row| bits >> row & 1 != 0) {
        // SAFETY: `row` is below `count`: its ends can be read, 32 bytes of text around it too, and its slot can be
        // written, as the caller guarantees.
        unsafe {
            let (start, length) = spans.at(row);
            if let Number::Signed { .. } | Number::Unsigned { .. } = number {
                let value = integer(spans.text.add(start), length as u32, number.bounds());
                if let Some(slot) = value {
                    slots.write(row, slot);
                    continue;
                }
            }
            let at = spans.text.add(start).addr() - text.as_ptr().addr();
            match portable::read(number, text.get(at..).unwrap_or_default()) {
                Some((slot, found)) if found == length => slots.write(row, slot),
                _ => return Some(row),
            }
        }
    }
    None
}

/// Reads up to [`MAX_REALS`] doubles or floats. Returns a bit for each that the slow path must decide.
///
/// # Safety
/// As [`RowBatch::values`].
#[inline(always)]
unsafe fn reals<N: Format>(
    batch: &mut RealBatch,
    found: &mut [u64; MAX_REALS],
    spans: Spans,
    slots: Slots,
    count: usize,
) -> u32 {
    // SAFETY: the caller guarantees the features, the spans and the slots of `count` values; `found` has `MAX_REALS`.
    unsafe {
        let undecided = batch.read::<N>(spans, count, found);
        for (row, &slot) in found.iter().take(count).enumerate() {
            slots.write(row, slot);
        }
        undecided
    }
}

/// Reads up to [`MAX_REALS`] integers. Returns a bit for each that must be read one by one.
///
/// # Safety
/// As [`four_integers`], up to the next multiple of four, though fewer values may be wanted.
#[inline(always)]
unsafe fn integers(spans: Spans, bounds: (i64, i64), slots: Slots, count: usize) -> u32 {
    let mut undecided = 0;
    for first in (0..count).step_by(4) {
        // SAFETY: the caller guarantees the ends and slots up to the next multiple of four.
        if !unsafe { four_integers(spans.from(first), bounds, slots.from(first)) } {
            undecided |= 0b1111 << first;
        }
    }
    undecided
}

/// Reads four integers of a column. Returns `false`, with nothing written, if one must be read one by one.
///
/// # Safety
/// AVX-512 BW, VBMI; the conditions of [`Spans`]; the four slots can be written.
#[inline(always)]
unsafe fn four_integers(spans: Spans, (min, max): (i64, i64), slots: Slots) -> bool {
    // SAFETY: four ends and what is before them can be read, and 16 bytes before each in the text; four slots can be
    // written.
    unsafe {
        let bytes = _mm512_castsi128_si512(spans.sixteen_before(0));
        let bytes = _mm512_inserti32x4::<1>(bytes, spans.sixteen_before(1));
        let bytes = _mm512_inserti32x4::<2>(bytes, spans.sixteen_before(2));
        let bytes = _mm512_inserti32x4::<3>(bytes, spans.sixteen_before(3));
        // The lengths, from the ends. Integers of more than 16 digits are read one by one.
        let ends = _mm_setr_epi32(spans.pair(0), spans.pair(1), spans.pair(2), spans.pair(3));
        let lengths = _mm_sub_epi16(_mm_srli_epi32::<16>(ends), ends);
        let lengths = _mm_sub_epi16(lengths, _mm_set1_epi16(spans.lead as i16));
        let lengths = _mm_min_epu16(lengths, _mm_set1_epi16(0xff));
        let lengths = _mm512_permutexvar_epi8(
            _mm512_loadu_si512(QUARTERS.as_ptr().cast()),
            _mm512_castsi128_si512(lengths),
        );
        let sixteen = _mm512_set1_epi8(16);
        let first = _mm512_shuffle_epi8(bytes, _mm512_sub_epi8(sixteen, lengths));
        let minus = _mm512_set1_epi8(b'-' as i8);
        let one = _mm512_set1_epi8(1);
        let negative = _mm512_cmpeq_epi8_mask(first, minus);
        let lengths = _mm512_mask_sub_epi8(lengths, negative, lengths, one);
        let mut wrong = _mm512_cmpgt_epu8_mask(_mm512_sub_epi8(lengths, one), _mm512_set1_epi8(15));
        // Counted from the end.
        let counts = _mm512_loadu_si512(COUNTS.as_ptr().cast());
        let is_digit = _mm512_cmple_epu8_mask(counts, lengths);
        let digits = _mm512_maskz_sub_epi8(is_digit, bytes, _mm512_set1_epi8(b'0' as i8));
        wrong |= _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
        let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x01_0a));
        let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064));
        let fours = _mm512_packus_epi32(fours, fours);
        let eights = _mm512_madd_epi16(fours, _mm512_set1_epi32(0x0001_2710));
        let high = _mm512_mul_epu32(eights, _mm512_set1_epi64(100_000_000));
        let value = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(eights));
        let negative = _mm512_cmpeq_epi64_mask(first, minus);
        let value = _mm512_mask_sub_epi64(value, negative, _mm512_setzero_si512(), value);
        let outside = _mm512_cmplt_epi64_mask(value, _mm512_set1_epi64(min))
            | _mm512_cmpgt_epi64_mask(value, _mm512_set1_epi64(max));
        if wrong != 0 || outside != 0 {
            return false;
        }
        slots.write(0, _mm_cvtsi128_si64(_mm512_castsi512_si128(value)) as u64);
        slots.write(
            1,
            _mm_cvtsi128_si64(_mm512_extracti32x4_epi32::<1>(value)) as u64,
        );
        slots.write(
            2,
            _mm_cvtsi128_si64(_mm512_extracti32x4_epi32::<2>(value)) as u64,
        );
        slots.write(
            3,
            _mm_cvtsi128_si64(_mm512_extracti32x4_epi32::<3>(value)) as u64,
        );
        true
    }
}

/// The numbers of 64 bytes.
static PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at] = at as u8;
        at += 1;
    }
    places
};

/// In each sixteen bytes, from where the first byte of one of four words comes.
static QUARTERS: [u8; 64] = {
    let mut from = [0; 64];
    let mut at = 0;
    while at < 64 {
        from[at] = (at / 16 * 4) as u8;
        at += 1;
    }
    from
};

/// In each sixteen bytes, the numbers of bytes from the end.
static COUNTS: [u8; 64] = {
    let mut counts = [0; 64];
    let mut at = 0;
    while at < 64 {
        counts[at] = (16 - at % 16) as u8;
        at += 1;
    }
    counts
};
