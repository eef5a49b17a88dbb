//! The same in plain Rust, one value after the other: for machines without wide registers, and what the others are held to.

use crate::{double, float, integer};

use super::{Column, Number, Separator, Stop};

/// [`super::Kernel::read_array`].
#[inline]
pub(super) fn read_array(
    text: &[u8],
    at: usize,
    number: Number,
    separator: &Separator,
    slots: &mut Vec<u64>,
    found: &mut impl FnMut(usize, usize),
) -> usize {
    // One loop each: the compiler does not take the choice out of it.
    match number {
        Number::Double => array(text, at, separator, slots, found, double_slot),
        Number::Float => array(text, at, separator, slots, found, float_slot),
        Number::Signed { min, max } => array(text, at, separator, slots, found, |text| {
            signed_slot(text, min, max)
        }),
        Number::Unsigned { max } => array(text, at, separator, slots, found, |text| {
            unsigned_slot(text, max)
        }),
    }
}

#[inline(always)]
fn array(
    text: &[u8],
    mut at: usize,
    separator: &Separator,
    slots: &mut Vec<u64>,
    found: &mut impl FnMut(usize, usize),
    parse: impl Fn(&[u8]) -> Option<(u64, usize)>,
) -> usize {
    while slots.len() < slots.capacity() {
        let Some((slot, length)) = text.get(at..).and_then(&parse) else {
            break;
        };
        if !text[at + length..].starts_with(&separator.bytes) {
            break;
        }
        found(at, length);
        slots.push(slot);
        at += length + separator.bytes.len();
    }
    at
}

/// [`super::Kernel::write_array`], with a separator behind the last, too.
pub(super) fn write_array(
    slots: &[u64],
    number: Number,
    separator: &Separator,
    out: &mut Vec<u8>,
    placed: &mut impl FnMut(usize, usize),
) {
    let mut room = [0; 32];
    for &slot in slots {
        let length = match number {
            Number::Double => double::format(f64::from_bits(slot), &mut room),
            Number::Float => float::format(f32::from_bits(slot as u32), &mut room),
            Number::Signed { .. } => integer::format_i64(slot as i64, &mut room),
            Number::Unsigned { .. } => integer::format_u64(slot, &mut room),
        };
        placed(out.len(), length);
        out.extend_from_slice(&room[..length]);
        out.extend_from_slice(&separator.bytes);
    }
}

/// [`super::Kernel::read_rows`].
pub(super) fn read_rows(
    text: &[u8],
    mut at: usize,
    columns: &[Column],
    most: usize,
    slots: &mut Vec<u64>,
    found: &mut impl FnMut(usize, usize, usize),
) -> Stop {
    for rows in 0.. {
        for (index, column) in columns.iter().enumerate() {
            slots.extend(column.marker);
            let may_follow = index + 1 < columns.len() || rows < most;
            let value = may_follow
                .then(|| value(text, at, column.number, &column.separator))
                .flatten();
            let Some((slot, length)) = value else {
                return Stop {
                    rows,
                    column: index,
                    at,
                };
            };
            found(index, at, length);
            slots.push(slot);
            at += length + column.separator.bytes.len();
        }
    }
    unreachable!("rows are read until one is not")
}

/// The slot of the number at a place and its length, if the separator follows.
#[inline]
pub(super) fn value(
    text: &[u8],
    at: usize,
    number: Number,
    separator: &Separator,
) -> Option<(u64, usize)> {
    let text = text.get(at..)?;
    let (slot, length) = read(number, text)?;
    text.get(length..)?
        .starts_with(&separator.bytes)
        .then_some((slot, length))
}

/// The slot of the number at the front of a text, and its length.
#[inline]
fn read(number: Number, text: &[u8]) -> Option<(u64, usize)> {
    match number {
        Number::Double => double_slot(text),
        Number::Float => float_slot(text),
        Number::Signed { min, max } => signed_slot(text, min, max),
        Number::Unsigned { max } => unsigned_slot(text, max),
    }
}

#[inline]
fn double_slot(text: &[u8]) -> Option<(u64, usize)> {
    double::parse_prefix(text).map(|(value, length)| (value.to_bits(), length))
}

#[inline]
fn float_slot(text: &[u8]) -> Option<(u64, usize)> {
    float::parse_prefix(text).map(|(value, length)| (u64::from(value.to_bits()), length))
}

#[inline]
fn signed_slot(text: &[u8], min: i64, max: i64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_i64(text)?;
    (min <= value && value <= max).then_some((value as u64, length))
}

#[inline]
fn unsigned_slot(text: &[u8], max: u64) -> Option<(u64, usize)> {
    let (value, length) = integer::parse_prefix_u64(text)?;
    (value <= max).then_some((value, length))
}
