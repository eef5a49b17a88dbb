//! Writes [formatted](super::ready) blocks of numbers, with separators between them or padded to widths.
//!
//! [ready]: super::ready

use std::arch::asm;
use std::arch::x86_64::*;

use crate::double;

use super::super::number::{Column, Number, PaddedColumn};
use super::super::separator::Separator;
use super::ready::{BLOCK, Doubles, Integers, Kind, Ready, load, load_column};

/// Bytes for the text of a value, what belongs to it, and what wide stores write beyond that.
const MARGIN: usize = 128;

/// Appends each number at the front of 32 bytes, and its length.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn forms(
    slots: &[u64],
    number: Number,
    forms: &mut Vec<u8>,
    lengths: &mut Vec<u8>,
) {
    const FORM: usize = 32;
    let placed = &mut |_: &[usize], own: &[u8]| lengths.extend_from_slice(own);
    // SAFETY: the caller guarantees the features; nothing is written after a number.
    unsafe { column(number, slots, FORM, forms, |_, _| FORM, placed) };
}

/// The locations of a block's numbers. Reporting one at a time takes as long as writing a short number. A block is reported when
/// the next one is formatted: locations are loaded in larger units than they were stored in, so a load has to wait for all
/// stores before it, and those wait for the memory of the text.
struct Placed {
    starts: [usize; BLOCK],
    lengths: [u8; BLOCK],
    /// The number of entries of `starts` and `lengths` that are not reported yet.
    count: usize,
}

impl Placed {
    const fn new() -> Self {
        Self {
            starts: [0; BLOCK],
            lengths: [0; BLOCK],
            count: 0,
        }
    }

    #[inline(always)]
    fn report(&mut self, placed: &mut impl FnMut(&[usize], &[u8])) {
        let count = std::mem::take(&mut self.count);
        debug_assert!(count <= BLOCK, "a block");
        let count = count.min(BLOCK);
        if count > 0 {
            placed(&self.starts[..count], &self.lengths[..count]);
        }
    }
}

/// Appends numbers. `finish` writes the text after each, given its place and length, and returns the distance to the next: at
/// most `most` bytes.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2. `finish` writes less than [`MARGIN`] bytes beyond that.
#[inline(always)]
unsafe fn all<K: Kind>(
    slots: &[u64],
    most: usize,
    out: &mut Vec<u8>,
    mut finish: impl FnMut(*mut u8, usize) -> usize,
    placed: &mut impl FnMut(&[usize], &[u8]),
) {
    let mut ready = Ready::new();
    let mut places = Placed::new();
    let finish = &mut finish;
    for block in slots.chunks(BLOCK) {
        ready.odd = 0;
        for (group, values) in block.chunks(8).enumerate() {
            // SAFETY: the features are enabled; a block has eight groups.
            unsafe { K::ready(load(values), &mut ready, group * 8) };
        }
        places.report(placed);
        // SAFETY: the caller guarantees the features and `finish`; all values of the block are ready.
        unsafe { write::<K>(block, &ready, most, out, finish, &mut places) }
    }
    places.report(placed);
}

/// Writes the numbers of a block.
///
/// # Safety
/// As [`all`]; they are formatted.
#[inline(always)]
unsafe fn write<K: Kind>(
    block: &[u64],
    ready: &Ready,
    most: usize,
    out: &mut Vec<u8>,
    finish: &mut impl FnMut(*mut u8, usize) -> usize,
    places: &mut Placed,
) {
    out.reserve(block.len() * most + MARGIN);
    let base = out.as_mut_ptr();
    let mut end = out.len();
    // SAFETY: a number has at most 24 bytes; what is written after it is less than `MARGIN`.
    unsafe {
        for at in 0..block.len() {
            let place = base.add(end);
            let mut length = *ready.length.get_unchecked(at) as usize;
            if ready.odd >> at & 1 == 0 {
                place.write(b'-');
                let behind = place.add(*ready.negative.get_unchecked(at) as usize);
                K::put(ready, at, behind);
            } else {
                length = K::odd(ready, at, *block.get_unchecked(at), place);
            }
            *places.starts.get_unchecked_mut(at) = end;
            *places.lengths.get_unchecked_mut(at) = length as u8;
            end += finish(place, length);
        }
        places.count = block.len();
        out.set_len(end);
    }
}

/// Writes a separator, and its length in bytes at least 32. Returns its length.
///
/// # Safety
/// AVX2; that many bytes can be written.
#[inline(always)]
unsafe fn put_separator(separator: &Separator, out: *mut u8) -> usize {
    let length = separator.bytes.len();
    // SAFETY: the caller guarantees that the length can be written, and at least 32 bytes.
    unsafe {
        let head: *const u8 = separator.head.as_ptr();
        if length <= 16 {
            _mm_storeu_si128(out.cast(), _mm_loadu_si128(head.cast()));
        } else if length <= 32 {
            _mm256_storeu_si256(out.cast(), _mm256_loadu_si256(head.cast()));
        } else if length <= 64 {
            // Two copies that overlap. (rpc/encoded arrays: benchmark `encoded-out`.)
            let (bytes, last): (*const u8, usize) = (separator.bytes.as_ptr(), length - 32);
            _mm256_storeu_si256(out.cast(), _mm256_loadu_si256(head.cast()));
            let tail = _mm256_loadu_si256(bytes.add(last).cast());
            _mm256_storeu_si256(out.add(last).cast(), tail);
        } else {
            out.copy_from_nonoverlapping(separator.bytes.as_ptr(), length);
        }
    }
    length
}

/// The most columns that are written together.
pub(super) const COLUMNS: usize = 8;

/// The separators of a row, each copied as 32 bytes.
struct Heads {
    heads: [[u8; 32]; COLUMNS],
    lengths: [usize; COLUMNS],
}

impl Heads {
    /// Of at most [`COLUMNS`] separators; `None` if one is longer than that.
    fn of<'s>(separators: impl Iterator<Item = &'s Separator>) -> Option<Self> {
        let mut all = Self {
            heads: [[0; 32]; COLUMNS],
            lengths: [0; COLUMNS],
        };
        let places = all.heads.iter_mut().zip(&mut all.lengths);
        for (separator, (head, length)) in separators.zip(places) {
            (*head, *length) = (separator.head, separator.bytes.len());
        }
        all.lengths
            .iter()
            .all(|length| *length <= 32)
            .then_some(all)
    }

    /// Writes one, and returns its length.
    ///
    /// # Safety
    /// AVX2; `index` is below [`COLUMNS`]; 32 bytes can be written.
    #[inline(always)]
    unsafe fn put(&self, index: usize, out: *mut u8) -> usize {
        // SAFETY: the caller guarantees the index, and that 32 bytes can be written.
        unsafe {
            let head = self.heads.get_unchecked(index).as_ptr();
            _mm256_storeu_si256(out.cast(), _mm256_loadu_si256(head.cast()));
            *self.lengths.get_unchecked(index)
        }
    }
}

/// Appends rows with the separator of its column behind each number.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; at most [`COLUMNS`] columns, none of floats.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn rows(
    slots: &[u64],
    columns: &[Column],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) {
    let most = |column: &Column| double::WIDTH + column.separator.bytes.len();
    let row = columns.iter().map(most).sum();
    let number = |index: usize| columns[index].number;
    let separators = columns.iter().map(|column| &column.separator);
    // SAFETY: the caller guarantees the features and the columns; `row` reserves the width of each number and its
    // separator, and `MARGIN` covers the 32 bytes that a copy may write beyond it.
    unsafe {
        if let [
            Column {
                number, separator, ..
            },
        ] = columns
        {
            let finish =
                |place: *mut u8, length| length + put_separator(separator, place.add(length));
            column(*number, slots, row, out, finish, placed);
        } else if let Some(heads) = Heads::of(separators) {
            let finish =
                |index, place: *mut u8, length| length + heads.put(index, place.add(length));
            write_rows(slots, columns.len(), number, row, out, finish, placed);
        } else {
            let finish = |index: usize, place: *mut u8, length| {
                length + put_separator(&columns[index].separator, place.add(length))
            };
            write_rows(slots, columns.len(), number, row, out, finish, placed);
        }
    };
}

/// Appends rows of padded numbers. Returns whether all fit their widths.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; at most [`COLUMNS`] columns, none of floats, none wider than 32.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn padded_rows(
    slots: &[u64],
    columns: &[PaddedColumn],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) -> Option<bool> {
    let closes = Heads::of(columns.iter().map(|column| &column.close))?;
    let separators = Heads::of(columns.iter().map(|column| &column.separator))?;
    let most = |column: &PaddedColumn| {
        let width = double::WIDTH.max(column.width);
        width + column.close.bytes.len() + column.separator.bytes.len()
    };
    let row = columns.iter().map(most).sum();
    if let [column] = columns {
        // SAFETY: the caller guarantees the features; close and separator have at most 32 bytes, or `Heads::of` had returned.
        return Some(unsafe { padded_column(slots, column, row, out, placed) });
    }
    let mut fits = true;
    let number = |index: usize| columns[index].number;
    let mut widths = [0; COLUMNS];
    for (width, column) in widths.iter_mut().zip(columns) {
        *width = column.width;
    }
    // SAFETY: the caller guarantees the features and the columns; `row` reserves number, end tag, padding and separator,
    // and `MARGIN` covers the 32 bytes that a copy may write beyond it.
    unsafe {
        let spaces = _mm256_set1_epi8(b' ' as i8);
        let finish = |index, place: *mut u8, length: usize| {
            let width = *widths.get_unchecked(index);
            fits &= length <= width;
            let pad = place.add(length);
            let close = closes.put(index, pad);
            _mm256_storeu_si256(pad.add(close).cast(), spaces);
            let extent = width + close;
            extent + separators.put(index, place.add(extent))
        };
        write_rows(slots, columns.len(), number, row, out, finish, placed);
    };
    Some(fits)
}

/// Appends the numbers of one padded column. Returns whether all fit its width.
///
/// # Safety
/// As [`padded_rows`]; close and separator have at most 32 bytes each.
#[inline(always)]
unsafe fn padded_column(
    slots: &[u64],
    column: &PaddedColumn,
    most: usize,
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) -> bool {
    let (width, close) = (column.width, column.close.bytes.len());
    let extent = width + close;
    let stride = extent + column.separator.bytes.len();
    let mut longest = 0;
    // SAFETY: the caller guarantees the features and at most 32 bytes each for close and separator; less than `MARGIN` bytes
    // are written after a number.
    unsafe {
        let tag = _mm256_loadu_si256(column.close.head.as_ptr().cast());
        let separator = _mm256_loadu_si256(column.separator.head.as_ptr().cast());
        let spaces = _mm256_set1_epi8(b' ' as i8);
        let finish = |place: *mut u8, length: usize| {
            longest = length.max(longest);
            let end = place.add(length);
            if close > 0 {
                _mm256_storeu_si256(end.cast(), tag);
            }
            _mm256_storeu_si256(end.add(close).cast(), spaces);
            _mm256_storeu_si256(place.add(extent).cast(), separator);
            stride
        };
        self::column(column.number, slots, most, out, finish, placed);
    }
    longest <= width
}

/// Appends the numbers of one column: [`all`] of their kind, doubles if they are no integers.
///
/// # Safety
/// As [`all`].
#[inline(always)]
unsafe fn column(
    number: Number,
    slots: &[u64],
    most: usize,
    out: &mut Vec<u8>,
    finish: impl FnMut(*mut u8, usize) -> usize,
    placed: &mut impl FnMut(&[usize], &[u8]),
) {
    // SAFETY: the caller guarantees what `all` asks for.
    unsafe {
        match number {
            Number::Signed { .. } => all::<Integers<true>>(slots, most, out, finish, placed),
            Number::Unsigned { .. } => all::<Integers<false>>(slots, most, out, finish, placed),
            _ => all::<Doubles>(slots, most, out, finish, placed),
        }
    }
}

/// How many bytes ahead of reads and writes memory is prefetched.
const PREFETCH_DISTANCE: usize = 2048;

/// Prefetches a cache line that is written soon. Stores wait for their cache lines in order, and the store buffer holds some ten
/// rows; so rows outside the cache took a quarter longer. An address without memory has no effect. (One column alone has fewer
/// stores for as much text, and does not profit.)
#[inline(always)]
fn prefetch_for_write(place: *const u8) {
    // SAFETY: a prefetch accesses no memory; all CPUs with AVX-512 have this instruction.
    unsafe {
        asm!(
            "prefetchw byte ptr [{0}]",
            in(reg) place.wrapping_add(PREFETCH_DISTANCE).addr(),
            options(nostack, preserves_flags, nomem)
        );
    }
}

/// Prefetches the values that follow a block.
#[inline(always)]
fn prefetch_values(block: &[u64]) {
    for line in block.chunks(8) {
        super::prefetch_line(line.as_ptr().cast::<u8>().wrapping_add(PREFETCH_DISTANCE));
    }
}

/// Appends rows of at most `row` bytes. `finish` writes the text after a number, given its column, place and length, and
/// returns the distance to the next.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; at most [`COLUMNS`] columns, none of floats. A number and what
/// `finish` writes after it have less than [`MARGIN`] bytes.
#[inline(always)]
unsafe fn write_rows(
    slots: &[u64],
    stride: usize,
    number: impl Fn(usize) -> Number,
    row: usize,
    out: &mut Vec<u8>,
    finish: impl FnMut(usize, *mut u8, usize) -> usize,
    placed: &mut impl FnMut(&[usize], &[u8]),
) {
    let mut finish = finish;
    let mut ready = Ready::new();
    let mut places = Placed::new();
    let is_double = |index: usize| u32::from(number(index) == Number::Double) << index;
    let doubles = (0..stride).map(is_double).sum::<u32>();
    // The rows of a block: whole groups of eight in each column.
    let most = BLOCK / stride / 8 * 8;
    for block in slots.chunks(most * stride) {
        let rows = block.len() / stride;
        prefetch_values(block);
        ready.odd = 0;
        for index in 0..stride {
            for group in (0..rows).step_by(8) {
                let at = index * most + group;
                // SAFETY: the features are enabled; all columns together are at most a block.
                unsafe {
                    let values = load_column(&block[group * stride + index..], stride);
                    match number(index) {
                        Number::Signed { .. } => Integers::<true>::ready(values, &mut ready, at),
                        Number::Unsigned { .. } => Integers::<false>::ready(values, &mut ready, at),
                        _ => Doubles::ready(values, &mut ready, at),
                    }
                }
            }
        }
        places.report(placed);
        out.reserve(rows * row + MARGIN);
        let base = out.as_mut_ptr();
        let mut end = out.len();
        for row in 0..rows {
            for index in 0..stride {
                let at = index * most + row;
                let is_double = doubles >> index & 1 != 0;
                // SAFETY: a number has at most 24 bytes; less than `MARGIN` bytes, which are reserved, are written after it.
                unsafe {
                    let place = base.add(end);
                    let mut length = *ready.length.get_unchecked(at) as usize;
                    let unsigned = place.add(*ready.negative.get_unchecked(at) as usize);
                    if ready.odd >> at & 1 != 0 {
                        length = match is_double {
                            true => Doubles::odd(&ready, at, block[row * stride + index], place),
                            false => ready.put_long(at, place),
                        };
                    } else {
                        place.write(b'-');
                        match is_double {
                            true => ready.put_double(at, unsigned),
                            false => ready.put_integer(at, unsigned),
                        }
                    }
                    prefetch_for_write(place);
                    let number = row * stride + index;
                    *places.starts.get_unchecked_mut(number) = end;
                    *places.lengths.get_unchecked_mut(number) = length as u8;
                    end += finish(index, place, length);
                }
            }
        }
        // SAFETY: all bytes up to `end` have been written.
        unsafe { out.set_len(end) };
        places.count = rows * stride;
    }
    places.report(placed);
}
