//! Rows of numbers, several at once, with AVX-512.
//!
//! Read one after the other, each value waits for the one before: where it begins is known when that has ended. So all ends
//! in a stretch of text are listed first, 64 bytes at a time. As each separator has so many bytes that could be ends, every
//! so-many-th of them ends a value of the same column, if all is as in the rows before:
//!
//! ```text
//! 17</x><y>4</y><v>1.5e3</v></row><row><x>3</x><y>…
//!   ^   ^   ^   ^       ^   ^     ^    ^   ^   ^      all that could be ends
//!   ^       ^           ^                  ^          the 1st, 3rd, 5th, 9th … are
//! ```
//!
//! Whether it is so is seen by comparing the separators, all at once and before anything is read. Then nothing waits for
//! anything, and values of one column are read side by side: integers here, doubles and floats in `eight.rs`.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::super::found::FoundInRow;
use super::super::number::{Column, Number};
use super::super::portable;
use super::eight::{MOST, Sheet};
use super::nearest::{self, Format};
use super::read::{BEFORE, Pattern, integer, is_zero};
use super::rows::{Read, Rows, Several};

/// Rows abreast.
pub(super) struct Abreast {
    /// So many ends has a row.
    ends: usize,
    /// How far behind the last of them the next row begins.
    lead: u16,
    /// So many slots has a row.
    slots: usize,
    /// So many times 64 bytes are looked at next: few at first, as there may be few rows.
    blocks: usize,
    /// Where ends are, counted from the first value: first the end before that.
    list: [MaybeUninit<u16>; 1 + (BLOCKS + 1) * DENSE],
    sheet: Sheet,
    found: [u64; MOST],
}

/// So many times 64 bytes are looked at at first,
const FIRST: usize = 16;
/// and at most.
const BLOCKS: usize = 32;
/// So many ends may be among 64 bytes. (A tag has three bytes at least.)
const DENSE: usize = 32;
/// So many rows are read abreast, or a multiple of that.
const SIDE: usize = 4;
/// Fewer are as quickly read one by one.
const LEAST: usize = 2 * SIDE;
/// The longest separator that is compared, and what can be read from each end on.
const BEHIND: usize = 64;

impl Several for Abreast {
    const IS_THERE: bool = true;

    /// (A function of its own: what it has on its stack is not asked for where there are few rows.)
    #[inline(never)]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    unsafe fn read(
        rows: Rows<'_>,
        at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> Read {
        let mut all = Read::nothing(at);
        let Some(mut abreast) = Self::new(rows) else {
            return all;
        };
        loop {
            // SAFETY: the features are enabled.
            let read = unsafe { abreast.some(rows, all.at, most - all.rows, slots, found) };
            all = Read {
                rows: all.rows + read.rows,
                ..read
            };
            if read.rows == 0 || !read.goes_on {
                return all;
            }
        }
    }
}

impl Abreast {
    /// Nothing if these rows are to be read one by one.
    #[inline(always)]
    fn new(rows: Rows<'_>) -> Option<Self> {
        let (mut ends, mut lead, mut slots) = (0, 0, 0);
        for column in rows.columns {
            let separator = &column.separator;
            if separator.bytes.len() > BEHIND {
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
            blocks: FIRST,
            list: [const { MaybeUninit::uninit() }; _],
            sheet: Sheet::EMPTY,
            found: [0; MOST],
        })
    }

    /// Reads rows up to `most`; none if there are but few, or they are not like one another.
    ///
    /// # Safety
    /// AVX-512 F, BW, VL, DQ, CD, VBMI, VBMI2, VPOPCNTDQ.
    #[inline(always)]
    unsafe fn some(
        &mut self,
        rows: Rows<'_>,
        at: usize,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> Read {
        let blocks = rows.text.len().saturating_sub(at + BEHIND) / 64;
        let mut read = Read::nothing(at);
        if at < BEFORE || blocks == 0 {
            return read;
        }
        // SAFETY: `BEFORE` before the first value and up to `BEHIND` behind the last end, all is of the text. Ends have
        // their room, and as many rows are read as have all of theirs.
        unsafe {
            let text = rows.text.as_ptr().add(at);
            let listed = self.list_ends(text, blocks.min(self.blocks), rows.end);
            let count = (listed / self.ends).min(most) / SIDE * SIDE;
            let count = self.separated(rows, text, count);
            if count < LEAST {
                return read;
            }
            self.blocks = BLOCKS.min(2 * self.blocks);
            slots.reserve(count * self.slots);
            let out = slots.as_mut_ptr().add(slots.len());
            read.rows = self.values(rows, text, count, out);
            self.tell(rows, out, &mut read, found);
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

    /// Lists where `end` is among so many times 64 bytes. Returns how often; nothing is listed behind 64 bytes in which it
    /// is more often than [`DENSE`] times.
    ///
    /// # Safety
    /// AVX-512 BW, VBMI2; all those bytes can be read.
    #[inline(always)]
    unsafe fn list_ends(&mut self, text: *const u8, blocks: usize, end: u8) -> usize {
        // SAFETY: so many bytes can be read, and 32 ends written for each 64 of them.
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
                if count > DENSE {
                    return listed + DENSE;
                }
                listed += count;
            }
            listed
        }
    }

    /// The columns, and where the values of the first row are: the end before, how far behind it the value begins, and its
    /// slot.
    #[inline(always)]
    fn columns<'r>(&self, rows: Rows<'r>) -> impl Iterator<Item = (&'r Column, Place)> + use<'r> {
        let mut next = Place {
            end: 0,
            lead: self.lead,
            slot: 0,
        };
        rows.columns.iter().map(move |column| {
            let mut place = next;
            place.slot += usize::from(column.marker.is_some());
            next = Place {
                end: place.end + usize::from(column.separator.ends),
                lead: column.separator.lead,
                slot: place.slot + 1,
            };
            (column, place)
        })
    }

    /// How many of some rows have the separators: all of them, or a multiple of [`SIDE`].
    ///
    /// # Safety
    /// AVX2; their ends are listed, and [`BEHIND`] can be read from each.
    #[inline(always)]
    unsafe fn separated(&self, rows: Rows<'_>, text: *const u8, mut count: usize) -> usize {
        for (column, place) in self.columns(rows) {
            // SAFETY: `ends` are listed up to the last row, and 64 bytes can be read from each, as the caller guarantees.
            unsafe {
                let head = Pattern::new(&column.separator);
                let bytes = &*column.separator.bytes;
                let rest = match bytes.len() > 32 {
                    true => Some(Pattern::of(&bytes[32..])),
                    false => None,
                };
                let ends = self.ends().add(place.end + 1);
                // (A loop, and no closure: those do not have the instructions.)
                let mut first = 0;
                while first < count {
                    let mut differs = _mm256_setzero_si256();
                    for row in first..first + SIDE {
                        let text = text.add(ends.add(row * self.ends).read().into());
                        differs = _mm256_or_si256(differs, head.difference(text));
                        if let Some(rest) = &rest {
                            differs = _mm256_or_si256(differs, rest.difference(text.add(32)));
                        }
                    }
                    if !is_zero(differs) {
                        count = first;
                    }
                    first += SIDE;
                }
            }
        }
        count
    }

    /// Reads the values of some rows. Returns how many rows are of numbers only.
    ///
    /// # Safety
    /// What the columns need; the separators are there; the count is a multiple of `SIDE`, and there is room for so many rows
    /// from `out` on.
    #[inline(always)]
    unsafe fn values(
        &mut self,
        rows: Rows<'_>,
        text: *const u8,
        mut count: usize,
        out: *mut u64,
    ) -> usize {
        for (column, place) in self.columns(rows) {
            // SAFETY: the caller guarantees room for `count` rows from `out` on, and that their ends are listed. A marker
            // is before its slot, within the row.
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
                let own = (&mut self.sheet, &mut self.found);
                count = Self::column(own, rows.text, column.number, spans, slots, count);
            }
        }
        count
    }

    /// Reads the values of a column. Returns how many there are up to one that is none.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn column(
        (sheet, found): (&mut Sheet, &mut [u64; MOST]),
        text: &[u8],
        number: Number,
        spans: Spans,
        slots: Slots,
        count: usize,
    ) -> usize {
        for first in (0..count).step_by(MOST) {
            let many = MOST.min(count - first);
            // SAFETY: `first` is below `count`, so the ends and slots of these rows exist, as the caller guarantees; for
            // integers `count` is a multiple of `SIDE`.
            unsafe {
                let (spans, slots) = (spans.from(first), slots.from(first));
                let doubtful = match number {
                    Number::Double => reals::<nearest::Double>(sheet, found, spans, slots, many),
                    Number::Float => reals::<nearest::Float>(sheet, found, spans, slots, many),
                    Number::Signed { .. } | Number::Unsigned { .. } => {
                        integers(spans, number.bounds(), slots, many)
                    }
                };
                if doubtful != 0
                    && let Some(row) = general(text, number, (spans, slots), doubtful, many)
                {
                    return first + row;
                }
            }
        }
        count
    }

    /// Tells of the values of rows, up to a row behind which it does not go on.
    ///
    /// # Safety
    /// The ends are listed, and the slots written.
    #[inline(always)]
    unsafe fn tell(
        &self,
        rows: Rows<'_>,
        out: *const u64,
        read: &mut Read,
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

/// Where the first value of a column is.
#[derive(Clone, Copy)]
struct Place {
    /// The end before it, of those that are listed.
    end: usize,
    /// How far behind that it begins.
    lead: u16,
    /// Its slot, of those of a row.
    slot: usize,
}

/// Reads the values whose bits are set one by one, and the general way what is still in doubt. Returns the first that is
/// none. (Integers of more than 16 digits, as times in nanoseconds are, come here, all of a column.)
///
/// # Safety
/// AVX2, BMI1, BMI2; what is said of [`Spans`]; the slots can be written.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn general(
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
                let (min, max) = number.bounds();
                let value = integer(spans.text.add(start), length as u32, min, max);
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

/// Reads up to [`MOST`] doubles or floats. Returns a bit for each that is in doubt.
///
/// # Safety
/// As above.
#[inline(always)]
unsafe fn reals<N: Format>(
    sheet: &mut Sheet,
    found: &mut [u64; MOST],
    spans: Spans,
    slots: Slots,
    count: usize,
) -> u32 {
    // SAFETY: the caller guarantees the features, the spans and the slots of `count` values; `found` has `MOST`.
    unsafe {
        let doubtful = sheet.read::<N>(spans, count, found);
        for (row, &slot) in found.iter().take(count).enumerate() {
            slots.write(row, slot);
        }
        doubtful
    }
}

/// Reads up to [`MOST`] integers. Returns a bit for each that is in doubt.
///
/// # Safety
/// As [`four_integers`], up to the next multiple of four: that many ends and slots are there, though fewer may count.
#[inline(always)]
unsafe fn integers(spans: Spans, bounds: (i64, i64), slots: Slots, count: usize) -> u32 {
    let mut doubtful = 0;
    for first in (0..count).step_by(4) {
        // SAFETY: the caller guarantees the ends and slots up to the next multiple of four.
        if !unsafe { four_integers(spans.from(first), bounds, slots.from(first)) } {
            doubtful |= 0b1111 << first;
        }
    }
    doubtful
}

/// Reads four integers of a column. Returns whether all of them are beyond doubt.
///
/// # Safety
/// AVX-512 BW, VBMI; what is said of [`Spans`]; the four slots can be written.
#[inline(always)]
unsafe fn four_integers(spans: Spans, (min, max): (i64, i64), slots: Slots) -> bool {
    // SAFETY: four ends and what is before them can be read, and 16 bytes before each in the text; four slots can be
    // written.
    unsafe {
        let bytes = _mm512_castsi128_si512(spans.sixteen_before(0));
        let bytes = _mm512_inserti32x4::<1>(bytes, spans.sixteen_before(1));
        let bytes = _mm512_inserti32x4::<2>(bytes, spans.sixteen_before(2));
        let bytes = _mm512_inserti32x4::<3>(bytes, spans.sixteen_before(3));
        // From the ends, how long each is; what is longer than 16 is in doubt anyway.
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

/// Where values of a column stand: 32 bytes of text can be read before and from the start of each.
#[derive(Clone, Copy)]
pub(super) struct Spans {
    pub(super) text: *const u8,
    /// The end before the first, and behind it that of the first.
    pub(super) ends: *const u16,
    /// So far apart are the ends of two.
    pub(super) stride: usize,
    /// How far behind the end before it a value begins.
    pub(super) lead: u16,
}

impl Spans {
    /// Those from a row on.
    ///
    /// # Safety
    /// There are such.
    #[inline(always)]
    unsafe fn from(self, row: usize) -> Self {
        // SAFETY: the caller guarantees that the row exists, so the pointer stays within the ends.
        let ends = unsafe { self.ends.add(row * self.stride) };
        Self { ends, ..self }
    }

    /// The end before a value, and its own in the upper half.
    ///
    /// # Safety
    /// They can be read.
    #[inline(always)]
    unsafe fn pair(self, value: usize) -> i32 {
        // SAFETY: the caller guarantees that both ends can be read; the load is unaligned.
        unsafe {
            let ends = self.ends.add(value * self.stride);
            ends.cast::<i32>().read_unaligned()
        }
    }

    /// The last sixteen bytes of a value, or before its end.
    ///
    /// # Safety
    /// They can be read.
    #[inline(always)]
    unsafe fn sixteen_before(self, value: usize) -> __m128i {
        // SAFETY: the caller guarantees that the end can be read, and 16 bytes of text before it.
        unsafe {
            let end = self.ends.add(value * self.stride + 1).read();
            _mm_loadu_si128(self.text.add(end.into()).sub(16).cast())
        }
    }

    /// Where a value begins, and its length.
    ///
    /// # Safety
    /// The ends can be read.
    #[inline(always)]
    pub(super) unsafe fn at(self, value: usize) -> (usize, usize) {
        // SAFETY: the caller guarantees that the ends of this value can be read.
        unsafe { span(self.ends.add(value * self.stride), self.lead) }
    }
}

/// Where the value between two ends begins, and its length.
///
/// # Safety
/// They can be read.
#[inline(always)]
unsafe fn span(ends: *const u16, lead: u16) -> (usize, usize) {
    // SAFETY: the caller guarantees that both ends can be read.
    let (before, end) = unsafe { (ends.read(), ends.add(1).read()) };
    let start = before.wrapping_add(lead);
    (start.into(), end.wrapping_sub(start).into())
}

/// Where the slots of a column go: one a row.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub(super) first: *mut u64,
    pub(super) stride: usize,
}

impl Slots {
    /// Those from a row on.
    ///
    /// # Safety
    /// There are such.
    #[inline(always)]
    unsafe fn from(self, row: usize) -> Self {
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
