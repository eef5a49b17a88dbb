//! Numbers into texts, by blocks that are [ready]: with what stands between them, and in rooms.
//!
//! [ready]: super::ready

use std::arch::asm;
use std::arch::x86_64::*;

use crate::double;

use super::super::memory::Memory;
use super::super::number::{Column, Number, Room};
use super::super::separator::Separator;
use super::ready::{BLOCK, Doubles, Integers, Kind, Ready, load, load_column};

/// A value's text, and what is written too much behind it.
const ROOM: usize = 128;

/// Appends numbers with a separator behind each.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn numbers<K: Kind>(
    slots: &[u64],
    separator: &Separator,
    memory: Memory,
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) {
    let most = double::WIDTH + separator.bytes.len();
    // SAFETY: the caller guarantees the features; `put_separator` writes less than `ROOM` bytes more than its length.
    let finish = separated(separator);
    unsafe { all::<K>(slots, most, memory, out, finish, placed) };
}

/// What writes a separator behind a number.
#[inline(always)]
fn separated(separator: &Separator) -> impl FnMut(*mut u8, usize) -> usize {
    move |place, length| {
        // SAFETY: whoever writes numbers has AVX2, and has room for a separator and so much more.
        length + unsafe { put_separator(separator, place.add(length)) }
    }
}

/// Where the numbers of a block stand. To tell of each by itself takes as long as to write a short one. Those of a block are
/// told when the next is ready to be written: they are read in larger pieces than they were stored in, which waits for all
/// stores before, and those wait for the memory of the text.
struct Placed {
    starts: [usize; BLOCK],
    lengths: [u8; BLOCK],
    /// So many have not been told.
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
    fn tell(&mut self, placed: &mut impl FnMut(&[usize], &[u8])) {
        let count = std::mem::take(&mut self.count);
        debug_assert!(count <= BLOCK, "a block");
        let count = count.min(BLOCK);
        if count > 0 {
            placed(&self.starts[..count], &self.lengths[..count]);
        }
    }
}

/// Appends numbers. `finish` writes what stands behind each, given its place and length, and tells how far the next is: at
/// most `most` bytes.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2. `finish` writes less than [`ROOM`] bytes too much.
#[inline(always)]
unsafe fn all<K: Kind>(
    slots: &[u64],
    most: usize,
    memory: Memory,
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
        places.tell(placed);
        // SAFETY: the caller guarantees the features and `finish`; all values of the block are ready.
        unsafe {
            match memory {
                Memory::Far => write::<K, true>(block, &ready, most, out, finish, &mut places),
                Memory::Near => write::<K, false>(block, &ready, most, out, finish, &mut places),
            }
        }
    }
    places.tell(placed);
}

/// Writes the numbers of a block.
///
/// # Safety
/// As above; they are ready.
#[inline(always)]
unsafe fn write<K: Kind, const IS_FAR: bool>(
    block: &[u64],
    ready: &Ready,
    most: usize,
    out: &mut Vec<u8>,
    finish: &mut impl FnMut(*mut u8, usize) -> usize,
    places: &mut Placed,
) {
    out.reserve(block.len() * most + ROOM);
    let base = out.as_mut_ptr();
    let mut end = out.len();
    // SAFETY: a text is at most 24 bytes long; what is written behind it and what belongs to it is less than `ROOM`.
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
            if IS_FAR {
                ask_ahead(place);
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
/// AVX2; so many bytes can be written.
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
        } else {
            out.copy_from_nonoverlapping(separator.bytes.as_ptr(), length);
        }
    }
    length
}

/// The most columns that are written together.
pub(super) const COLUMNS: usize = 8;

/// What stands behind the numbers of a row, at hand: each by one copy of 32 bytes.
struct Heads {
    heads: [[u8; 32]; COLUMNS],
    lengths: [usize; COLUMNS],
}

impl Heads {
    /// Of at most [`COLUMNS`] separators, if none of them is longer.
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
    // separator, and `ROOM` covers the 32 bytes that a copy may write behind.
    unsafe {
        if let Some(heads) = Heads::of(separators) {
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

/// Appends rows of numbers in rooms, with what stands behind each room. Says whether all fit.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; at most [`COLUMNS`] columns, none of floats, and no room wider than 32.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn rooms(
    slots: &[u64],
    rooms: &[Room],
    memory: Memory,
    out: &mut Vec<u8>,
) -> bool {
    let most = |room: &Room| {
        let width = double::WIDTH.max(room.width);
        width + room.close.bytes.len() + room.separator.bytes.len()
    };
    let row = rooms.iter().map(most).sum();
    if let [room] = rooms
        && room.close.bytes.len().max(room.separator.bytes.len()) <= 32
    {
        // SAFETY: the caller guarantees the features; close and separator are at most 32 bytes, which was just checked.
        return unsafe { narrow_rooms(slots, room, row, memory, out) };
    }
    let mut fits = true;
    let number = |index: usize| rooms[index].number;
    let closes = Heads::of(rooms.iter().map(|room| &room.close));
    let behind = Heads::of(rooms.iter().map(|room| &room.separator));
    let mut widths = [0; COLUMNS];
    for (width, room) in widths.iter_mut().zip(rooms) {
        *width = room.width;
    }
    // SAFETY: the caller guarantees the features and the columns; `row` reserves number, end tag, padding and separator,
    // and `ROOM` covers the 32 bytes that a copy may write behind.
    unsafe {
        let untold = &mut |_: &[usize], _: &[u8]| {};
        let blanks = _mm256_set1_epi8(b' ' as i8);
        if let (Some(closes), Some(behind)) = (closes, behind) {
            let finish = |index, place: *mut u8, length: usize| {
                let width = *widths.get_unchecked(index);
                fits &= length <= width;
                let pad = place.add(length);
                let close = closes.put(index, pad);
                _mm256_storeu_si256(pad.add(close).cast(), blanks);
                let extent = width + close;
                extent + behind.put(index, place.add(extent))
            };
            write_rows(slots, rooms.len(), number, row, out, finish, untold);
        } else {
            let finish = |index: usize, place: *mut u8, length: usize| {
                let room = &rooms[index];
                fits &= length <= room.width;
                let pad = place.add(length);
                let close = put_separator(&room.close, pad);
                _mm256_storeu_si256(pad.add(close).cast(), blanks);
                let extent = room.width + close;
                extent + put_separator(&room.separator, place.add(extent))
            };
            write_rows(slots, rooms.len(), number, row, out, finish, untold);
        }
    };
    fits
}

/// Appends numbers in rooms, with what stands behind each room. Says whether all fit.
///
/// # Safety
/// As of [`rooms`]; what stands behind number and room is at most 32 bytes each.
#[inline(always)]
unsafe fn narrow_rooms(
    slots: &[u64],
    room: &Room,
    most: usize,
    memory: Memory,
    out: &mut Vec<u8>,
) -> bool {
    let (width, close) = (room.width, room.close.bytes.len());
    let extent = width + close;
    let stride = extent + room.separator.bytes.len();
    let mut longest = 0;
    // SAFETY: the caller guarantees the features and at most 32 bytes behind number and width; less than `ROOM` bytes are
    // written behind them.
    unsafe {
        let tag = _mm256_loadu_si256(room.close.head.as_ptr().cast());
        let behind = _mm256_loadu_si256(room.separator.head.as_ptr().cast());
        let blanks = _mm256_set1_epi8(b' ' as i8);
        let finish = |place: *mut u8, length: usize| {
            longest = length.max(longest);
            let end = place.add(length);
            if close > 0 {
                _mm256_storeu_si256(end.cast(), tag);
            }
            _mm256_storeu_si256(end.add(close).cast(), blanks);
            _mm256_storeu_si256(place.add(extent).cast(), behind);
            stride
        };
        let untold = &mut |_: &[usize], _: &[u8]| {};
        match room.number {
            Number::Signed { .. } => {
                all::<Integers<true>>(slots, most, memory, out, finish, untold);
            }
            Number::Unsigned { .. } => {
                all::<Integers<false>>(slots, most, memory, out, finish, untold);
            }
            _ => all::<Doubles>(slots, most, memory, out, finish, untold),
        }
    }
    longest <= width
}

/// How far ahead of what is read and written memory is asked for.
const AHEAD: usize = 2048;

/// Asks for the line of memory that is written soon. Stores wait for their lines one after the other, and there is room for
/// some ten rows of them; so rows that are not in the cache took a quarter longer. If there is no such memory, nothing
/// happens. (Numbers of one column have fewer stores for as much text: it is won only where they are far.)
#[inline(always)]
fn ask_ahead(place: *const u8) {
    // SAFETY: nothing is read or written; whoever has AVX-512 has this instruction.
    unsafe {
        asm!(
            "prefetchw byte ptr [{0}]",
            in(reg) place.wrapping_add(AHEAD).addr(),
            options(nostack, preserves_flags, nomem)
        );
    }
}

/// Asks for the values that come so far behind those of a block.
#[inline(always)]
fn ask_for_values(block: &[u64]) {
    for line in block.chunks(8) {
        let place = line.as_ptr().cast::<i8>().wrapping_add(AHEAD);
        // SAFETY: SSE is part of x86-64; nothing is read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
}

/// Appends rows of at most `row` bytes. `finish` writes what stands behind a number, given its column, place and length,
/// and tells how far the next is.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; at most [`COLUMNS`] columns, none of floats. What is written behind a
/// number and what else belongs to it has less than [`ROOM`] bytes.
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
    // So many rows at a time, whole groups of eight in each column.
    let most = BLOCK / stride / 8 * 8;
    for block in slots.chunks(most * stride) {
        let rows = block.len() / stride;
        ask_for_values(block);
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
        places.tell(placed);
        out.reserve(rows * row + ROOM);
        let base = out.as_mut_ptr();
        let mut end = out.len();
        for row in 0..rows {
            for index in 0..stride {
                let at = index * most + row;
                let is_double = doubles >> index & 1 != 0;
                // SAFETY: a number is at most 24 bytes long; less than `ROOM` bytes, which were reserved, are written behind it.
                unsafe {
                    let place = base.add(end);
                    let mut length = *ready.length.get_unchecked(at) as usize;
                    let behind = place.add(*ready.negative.get_unchecked(at) as usize);
                    if ready.odd >> at & 1 != 0 {
                        length = match is_double {
                            true => Doubles::odd(&ready, at, block[row * stride + index], place),
                            false => ready.put_long(at, place),
                        };
                    } else {
                        place.write(b'-');
                        match is_double {
                            true => ready.put_double(at, behind),
                            false => ready.put_integer(at, behind),
                        }
                    }
                    ask_ahead(place);
                    let number = row * stride + index;
                    *places.starts.get_unchecked_mut(number) = end;
                    *places.lengths.get_unchecked_mut(number) = length as u8;
                    end += finish(index, place, length);
                }
            }
        }
        // SAFETY: so much has been written.
        unsafe { out.set_len(end) };
        places.count = rows * stride;
    }
    places.tell(placed);
}
