//! The kernels in plain Rust, one value at a time: for machines without vector instructions, and the reference for the others.

use crate::{double, float, integer};

use super::found::{Found, FoundInRow, RowsEnd};
use super::number::{Column, Number, PaddedColumn};
use super::separator::Separator;
use super::steps::{Listed, Stepped, Steps};

/// [`super::Kernel::read_array_while`], until there are `limit` slots.
#[inline]
pub(super) fn read_array(
    (text, mut at): (&[u8], usize),
    number: Number,
    separator: &Separator,
    limit: usize,
    slots: &mut Vec<u64>,
    found: &mut impl Found,
) -> usize {
    while slots.len() < limit {
        let Some((slot, length)) = value(text, at, number, separator) else {
            break;
        };
        slots.push(slot);
        let goes_on = found.value(at, length, slot);
        at += length + separator.bytes.len();
        if !goes_on {
            break;
        }
    }
    at
}

/// The longest value, with its gap, that is compared.
pub(super) const PIECE: usize = 64;

/// [`super::Kernel::list_changed`], continuing at `stepped`.
#[inline]
pub(super) fn list_changed(
    steps: Steps<'_>,
    mut stepped: Stepped,
    list: &mut Listed<'_>,
) -> Stepped {
    let starts = steps.starts.get(stepped.seen..).unwrap_or_default();
    let mut gap = steps.gap_of(stepped.seen);
    for (&start, &end) in starts.iter().zip(starts.get(1..).unwrap_or_default()) {
        let (start, end) = (start as usize, end as usize);
        let from = start.wrapping_add(stepped.shift);
        let (Some(one), Some(rest)) = (steps.old.get(start..end), steps.new.get(from..)) else {
            break;
        };
        let rest = &rest[..rest.len().min(PIECE)];
        if one.len() > PIECE || one.len() > rest.len() {
            break;
        }
        if *one != rest[..one.len()] {
            let Some(length) = rest.iter().position(|&byte| byte == b'<') else {
                break;
            };
            let to = from + length + steps.gaps[gap] as usize;
            list.numbers[stepped.listed] = stepped.seen as u32;
            list.others[stepped.listed] = from as u32;
            stepped.listed += 1;
            stepped.shift = to.wrapping_sub(end);
        }
        list.places[stepped.seen] = from as u32;
        stepped.seen += 1;
        gap = if gap + 1 < steps.gaps.len() {
            gap + 1
        } else {
            0
        };
    }
    stepped
}

/// [`super::Kernel::read_places`].
#[inline]
pub(super) fn read_places(
    (text, places): (&[u8], &[u32]),
    number: Number,
    separator: &Separator,
    slots: &mut Vec<u64>,
    lengths: &mut Vec<u32>,
) -> usize {
    for (read, &at) in places.iter().enumerate() {
        let Some((slot, length)) = value(text, at as usize, number, separator) else {
            return read;
        };
        slots.push(slot);
        lengths.push(length as u32);
    }
    places.len()
}

/// [`super::Kernel::format_array`].
pub(super) fn format_array(
    slots: &[u64],
    number: Number,
    forms: &mut Vec<u8>,
    lengths: &mut Vec<u8>,
) {
    for &slot in slots {
        let mut form = [0; WINDOW];
        let length = format(slot, number, &mut form);
        forms.extend_from_slice(&form);
        lengths.push(length as u8);
    }
}

/// The bytes in which rows are put together before they are appended. (Written in place, a vector would be filled with zeros
/// first, which took a sixth of the time of `encode mio`; twice as many bytes are slower.)
const BLOCK: usize = 1024;
/// Bytes for a value or a short separator, and what is written beyond it.
const WINDOW: usize = 32;
/// What copies of a fixed size may write behind the last row.
const BEYOND: usize = 2 * WINDOW;

/// The front of a window, from `end` on.
#[inline(always)]
fn window_at(window: &mut [u8], end: usize) -> &mut [u8; WINDOW] {
    match window[end..].first_chunk_mut() {
        Some(window) => window,
        None => unreachable!("a block has space for its rows"),
    }
}

/// Writes a separator, with a copy of fixed size if it is short, and returns where it ends.
#[inline(always)]
fn separate(separator: &Separator, window: &mut [u8], end: usize) -> usize {
    let length = separator.bytes.len();
    if length <= WINDOW {
        *window_at(window, end) = separator.head;
    } else {
        window[end..end + length].copy_from_slice(&separator.bytes);
    }
    end + length
}

/// [`super::Kernel::write_rows`], with a separator after the last number.
pub(super) fn write_rows(
    slots: &[u64],
    columns: &[Column],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) {
    // One loop each for the commonest arrays: the compiler does not hoist the choice out of it.
    match columns {
        [
            Column {
                number: Number::Double,
                ..
            },
        ] => rows(slots, columns, out, placed, |slot, _, out| {
            double::format(f64::from_bits(slot), out)
        }),
        [
            Column {
                number: Number::Signed { .. },
                ..
            },
        ] => rows(slots, columns, out, placed, |slot, _, out| {
            integer::format_i64(slot as i64, out)
        }),
        _ => rows(slots, columns, out, placed, format),
    }
}

#[inline(always)]
fn rows(
    slots: &[u64],
    columns: &[Column],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
    format: impl Fn(u64, Number, &mut [u8; WINDOW]) -> usize,
) {
    let separators = columns.iter().map(|column| column.separator.bytes.len());
    let space = columns.len() * WINDOW + separators.sum::<usize>();
    let (mut short, mut long) = ([0; BLOCK], Vec::new());
    let block = match short.get_mut(..) {
        Some(block) if space + BEYOND <= BLOCK => block,
        _ => {
            long.resize(space + BEYOND, 0);
            &mut long[..]
        }
    };
    let rows_at_once = (block.len() - BEYOND) / space;
    for rows in slots.chunks(columns.len() * rows_at_once) {
        let (begin, mut end) = (out.len(), 0);
        for row in rows.chunks_exact(columns.len()) {
            for (&slot, column) in row.iter().zip(columns) {
                let length = format(slot, column.number, window_at(block, end));
                placed(&[begin + end], &[length as u8]);
                end = separate(&column.separator, block, end + length);
            }
        }
        out.extend_from_slice(&block[..end]);
    }
}

/// [`super::Kernel::write_padded_rows`], with the separator after the last column.
pub(super) fn write_padded_rows(
    slots: &[u64],
    columns: &[PaddedColumn],
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(&[usize], &[u8]),
) -> bool {
    let mut fits = true;
    for row in slots.chunks_exact(columns.len()) {
        for (&slot, column) in row.iter().zip(columns) {
            let mut text = [0; WINDOW];
            let length = format(slot, column.number, &mut text);
            fits &= length <= column.width;
            placed(&[out.len()], &[length as u8]);
            out.extend_from_slice(&text[..length]);
            out.extend_from_slice(&column.close.bytes);
            out.resize(out.len() + column.width.saturating_sub(length), b' ');
            out.extend_from_slice(&column.separator.bytes);
        }
    }
    fits
}

#[inline(always)]
fn format(slot: u64, number: Number, out: &mut [u8; WINDOW]) -> usize {
    match number {
        Number::Double => double::format(f64::from_bits(slot), out),
        Number::Float => float::format(f32::from_bits(slot as u32), out),
        Number::Signed { .. } => integer::format_i64(slot as i64, out),
        Number::Unsigned { .. } => integer::format_u64(slot, out),
    }
}

/// The slots that are compared together where most are the same.
const SAME: usize = 32;
/// The slots that are listed together.
const STEP: usize = 8;

/// [`super::Kernel::list_differing`], from a slot on.
pub(super) fn list_differing((old, new): (&[u64], &[u64]), from: usize, list: &mut [u32]) -> usize {
    let (old_blocks, old_rest) = old[from..].as_chunks::<SAME>();
    let (new_blocks, new_rest) = new[from..].as_chunks::<SAME>();
    let (mut count, mut first) = (0, from as u32);
    let mut is_quiet = true;
    for (old, new) in old_blocks.iter().zip(new_blocks) {
        // Where much has changed, comparing a whole block first does not pay.
        if !is_quiet || old != new {
            let before = count;
            for (old, new) in old.as_chunks().0.iter().zip(new.as_chunks().0) {
                count += differing(old, new, first, &mut list[count..]);
                first += STEP as u32;
            }
            is_quiet = count == before;
        } else {
            first += SAME as u32;
        }
    }
    for ((number, old), new) in (first..).zip(old_rest).zip(new_rest) {
        list[count] = number;
        count += usize::from(old != new);
    }
    count
}

/// Lists the slots that differ, numbered from `first` on. Returns how many. A branch for each would be mispredicted too often.
#[inline(always)]
fn differing(old: &[u64; STEP], new: &[u64; STEP], first: u32, list: &mut [u32]) -> usize {
    let Some(list) = list.first_chunk_mut::<STEP>() else {
        return 0;
    };
    let mut count = 0;
    for at in 0..STEP {
        // Always written, and kept if it is counted.
        list[count % STEP] = first + at as u32;
        count += usize::from(old[at] != new[at]);
    }
    count
}

/// [`super::Kernel::read_rows_while`].
pub(super) fn read_rows(
    text: &[u8],
    mut at: usize,
    columns: &[Column],
    most: usize,
    slots: &mut Vec<u64>,
    found: &mut impl FoundInRow,
) -> RowsEnd {
    for rows in 0.. {
        let mut goes_on = true;
        for (index, column) in columns.iter().enumerate() {
            if let Some(marker) = column.marker {
                slots.push(marker);
            }
            let may_follow = index + 1 < columns.len() || rows < most;
            let value = may_follow
                .then(|| value(text, at, column.number, &column.separator))
                .flatten();
            let Some((slot, length)) = value else {
                return RowsEnd {
                    rows,
                    column: index,
                    at,
                };
            };
            goes_on = found.value(index, at, length, slot);
            slots.push(slot);
            at += length + column.separator.bytes.len();
        }
        if !goes_on {
            let (rows, column) = (rows + 1, 0);
            return RowsEnd { rows, column, at };
        }
    }
    unreachable!("rows are read until one is not")
}

/// The slot of the number at a place and its length, if the separator follows.
#[inline(always)]
pub(super) fn value(
    text: &[u8],
    at: usize,
    number: Number,
    separator: &Separator,
) -> Option<(u64, usize)> {
    let (slot, length) = read(number, text.get(at..)?)?;
    separator
        .matches_at(text, at + length)
        .then_some((slot, length))
}

/// The slot of the number at the front of a text, and its length.
#[inline(always)]
pub(super) fn read(number: Number, text: &[u8]) -> Option<(u64, usize)> {
    match number {
        Number::Double => double_slot(text),
        Number::Float => float_slot(text),
        Number::Signed { min, max } => signed_slot(text, min, max),
        Number::Unsigned { max } => unsigned_slot(text, max),
    }
}

#[inline(always)]
fn double_slot(text: &[u8]) -> Option<(u64, usize)> {
    double::parse_prefix(text).map(|(value, length)| (value.to_bits(), length))
}

#[inline(always)]
fn float_slot(text: &[u8]) -> Option<(u64, usize)> {
    float::parse_prefix(text).map(|(value, length)| (u64::from(value.to_bits()), length))
}

#[inline(always)]
fn signed_slot(text: &[u8], min: i64, max: i64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_i64(text)?;
    (min <= value && value <= max).then_some((value as u64, length))
}

#[inline(always)]
fn unsigned_slot(text: &[u8], max: u64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_u64(text)?;
    (value <= max).then_some((value, length))
}

/// [`Kernel::first_differing`](super::Kernel::first_differing), a block at a time.
pub(super) fn first_differing(old: &[u64], new: &[u64], masks: &[u64], delta: u64) -> usize {
    const BLOCK: usize = 8;
    let differs = |mask: u64, old: u64, new: u64| old.wrapping_add(delta & mask) ^ new;
    let blocks = old.as_chunks::<BLOCK>().0.iter();
    let blocks = blocks.zip(new.as_chunks::<BLOCK>().0);
    let mut blocks = blocks.zip(masks.as_chunks::<BLOCK>().0);
    let same = blocks.position(|((old, new), masks)| {
        // All of a block in one sum without a branch: an array of them would be compared by a call.
        let mut any = 0;
        for nth in 0..BLOCK {
            any |= differs(masks[nth], old[nth], new[nth]);
        }
        any != 0
    });
    let from = same.map_or(old.len() / BLOCK * BLOCK, |same| same * BLOCK);
    let mut rest = old[from..].iter().zip(&new[from..]).zip(&masks[from..]);
    let found = rest.position(|((&old, &new), &mask)| differs(mask, old, new) != 0);
    found.map_or(old.len(), |found| from + found)
}
