//! Reads the values of [`super::super::form`] with registers of 32 bytes.
//!
//! ```text
//! …</time><sequence>193499119569</sequence><latitude>25.897…</latitude><unit>hectopascal</unit>…
//!  └ text before the value, compared 32 bytes at a time ┘└ value, 64 bytes from its start on
//! ```
//!
//! The locations do not depend on what is read, and hardly any branch does, so the processor can run ahead. (A loop per kind
//! of value, after one over all separators, was a fifth slower for messages with a few values of each kind.)

pub(super) use super::super::form::WIDEST;
use super::super::form::{BEYOND, Blank, BlankReader, FillTarget, Filled, Form, LengthBytes};
use super::classes::Classes;
use super::integer::integer;
use super::real::{self, Significand};
use super::registers::{
    Bytes, date_time, equal, first_bits, first_bits_of_64, load, mask, nineteen, or, outside, same,
    store,
};
use crate::datetime::is_plain_date_time;
use crate::nearest::{self, Format, nearest};

/// Bytes before a value that can be read.
pub(super) const BEFORE: usize = 32;

/// The bytes, besides control characters and markup, for which a string is left to the slow path.
type Special = [u8; 3];

const TEXT: Special = [b'<'; 3];
const QUOTED: Special = [b'"'; 3];
const SINGLE: Special = [b'\''; 3];
const URI: Special = [b' ', b'%', b'#'];

/// [`super::super::Kernel::fill`].
///
/// # Safety
/// The instructions; the target has all slots and the heap of the form.
#[cfg_attr(
    target_arch = "x86_64",
    target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
)]
pub(super) unsafe fn fill(
    form: &Form,
    (text, mut at): (&[u8], usize),
    lengths: LengthBytes<'_>,
    target: FillTarget<'_>,
) -> Option<Filled> {
    if at < BEFORE || text.len() < at + WIDEST {
        return None;
    }
    let (slots, heap) = (target.slots.as_mut_ptr(), target.heap.as_mut_ptr());
    let far = text.len() - WIDEST;
    let (mut wrong, mut all, mut undecided) = (0, 0, 0);
    let blanks = form.blanks.iter().zip(&form.readers).zip(lengths.bytes);
    for (index, ((blank, &reader), &length)) in blanks.enumerate() {
        let length = length.wrapping_sub(lengths.zero);
        all |= length;
        let length = usize::from(length);
        let (from, begin) = (at, at + blank.length as usize);
        at = begin + length;
        // SAFETY: up to `far`, 64 bytes are of the text; the piece is one of the form's, and its slot and heap range exist.
        unsafe {
            let string = heap.wrapping_add(blank.heap as usize);
            let value = if begin <= far {
                let piece = form.pieces.as_ptr().add(blank.piece as usize);
                wrong |= difference(piece, text.as_ptr().add(from), blank.length);
                value(form, (blank, reader), (text, begin, length), string)
            } else {
                let is_same = text.get(from..begin) == Some(form.piece(blank));
                wrong |= u32::from(!is_same || at > text.len());
                match wrong {
                    0 => near_end((form, blank, reader), (text, begin, length), string),
                    _ => None,
                }
            };
            let Some(value) = value else {
                undecided |= 1 << index;
                continue;
            };
            slots.add(blank.slot as usize).write(value);
        }
    }
    if usize::from(all) >= WIDEST {
        return None;
    }
    // SAFETY: the caller guarantees the instructions.
    let is_same = wrong == 0 && unsafe { is_end(form, text, at) };
    Some(Filled { is_same, undecided })
}

/// The slot of the value at a location; `None` if the slow path must decide.
///
/// # Safety
/// The instructions; 32 bytes before `begin` and 64 from there on can be read, whatever the given length is; 64 bytes can be written
/// to the heap range of a string.
#[inline(always)]
unsafe fn value(
    form: &Form,
    (blank, reader): (&Blank, BlankReader),
    (whole, begin, length): (&[u8], usize, usize),
    string: *mut u8,
) -> Option<u64> {
    // SAFETY: the caller guarantees 32 bytes of text before `begin` and 64 from there on, and 64 bytes of the heap range of
    // a string; `kind` is an index of `bounds`, which `Form::new` has checked.
    unsafe {
        let text = whole.as_ptr().add(begin);
        let is_good = match reader {
            BlankReader::Double => return plain_real::<nearest::Double>(text, length),
            BlankReader::Float => return plain_real::<nearest::Float>(text, length),
            BlankReader::Integer => {
                let &bounds = form.bounds.get_unchecked(blank.kind as usize);
                if length > 31 {
                    return None;
                }
                return integer(text, length as u32, bounds);
            }
            BlankReader::Text => copy_plain(text, length, string, TEXT),
            BlankReader::Quoted => copy_plain(text, length, string, QUOTED),
            BlankReader::Single => copy_plain(text, length, string, SINGLE),
            BlankReader::Uri => {
                copy_plain(text, length, string, URI) && (*text).is_ascii_alphanumeric() && {
                    debug_assert!(length <= WIDEST, "a given length");
                    *text.add(length - 1) != b':'
                }
            }
            BlankReader::DateTime => {
                // The check covers every byte, so 64 bytes are copied without looking at them.
                store(load(text), string);
                store(load(text.add(32)), string.add(32));
                match length {
                    19 => date_time(text),
                    20 => date_time(text) & (*text.add(19) == b'Z'),
                    _ => is_plain_date_time(whole.get(begin..begin + length)?),
                }
            }
            BlankReader::Other => false,
        };
        is_good.then_some(u64::from(blank.heap) | (length as u64) << 32)
    }
}

/// [`value`] near the end of the text: reads from a copy that is padded with zeros.
///
/// # Safety
/// As [`value`], but for what can be read: the value is within the last 64 bytes of the text, which are not among its first 32.
#[cold]
#[cfg_attr(
    target_arch = "x86_64",
    target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
)]
unsafe fn near_end(
    (form, blank, reader): (&Form, &Blank, BlankReader),
    (text, begin, length): (&[u8], usize, usize),
    string: *mut u8,
) -> Option<u64> {
    // SAFETY: 32 bytes before an integer and its own can be read, and none after it are; `copy` has 32 bytes before
    // `begin - from`, which is at most 96, and 64 behind it.
    unsafe {
        if reader == BlankReader::Integer && length > 0 {
            return value(
                form,
                (blank, BlankReader::Integer),
                (text, begin, length),
                string,
            );
        }
        let mut copy = [0; BEFORE + 2 * WIDEST];
        let from = text.len() - BEFORE - WIDEST;
        copy[..BEFORE + WIDEST].copy_from_slice(&text[from..]);
        value(form, (blank, reader), (&copy, begin - from, length), string)
    }
}

/// Whether the text from `at` on is the form's tail.
///
/// # Safety
/// The instructions.
#[inline(always)]
unsafe fn is_end(form: &Form, text: &[u8], at: usize) -> bool {
    const STEP: u32 = BEYOND as u32;
    let (piece, length) = (form.tail.0 as usize, form.tail.1);
    if at + length as usize != text.len() {
        return false;
    }
    if length < STEP {
        return text.get(at..) == Some(form.tail());
    }
    // SAFETY: text and pieces have `length` bytes here, and `length` is at least 32.
    unsafe {
        let piece = form.pieces.as_ptr().add(piece);
        let text = text.as_ptr().add(at);
        // The last 32 bytes may be compared twice.
        let last = (length - STEP) as usize;
        difference(piece, text, length - length % STEP) | others(piece.add(last), text.add(last))
            == 0
    }
}

/// Copies 64 bytes of text to the heap. Returns `true` if the first `length` bytes are the string's value as they stand, and
/// `false` if the string is empty, longer than [`WIDEST`], or contains markup, a control character, a byte that is not ASCII,
/// or one of the `special` bytes.
///
/// # Safety
/// The instructions; 64 bytes can be read from `text` and written at `to`.
#[inline(always)]
unsafe fn copy_plain(text: *const u8, length: usize, to: *mut u8, special: Special) -> bool {
    // SAFETY: the caller guarantees that 64 bytes of text can be read, and 64 of the heap written.
    unsafe {
        let (low, high) = (load(text), load(text.add(32)));
        store(low, to);
        store(high, to.add(32));
        let found = u64::from(specials(low, special)) | u64::from(specials(high, special)) << 32;
        length.wrapping_sub(1) < WIDEST && first_bits_of_64(found, length as u32) == 0
    }
}

/// The bytes that are special, control characters, markup or not ASCII.
///
/// # Safety
/// The instructions.
#[inline(always)]
unsafe fn specials(bytes: Bytes, [one, two, three]: Special) -> u32 {
    // SAFETY: the caller guarantees the instructions; only registers are used.
    unsafe {
        let markup = or(
            or(equal(bytes, b'<'), equal(bytes, b'&')),
            or(equal(bytes, b']'), equal(bytes, 0x7f)),
        );
        let others = or(equal(bytes, two), equal(bytes, three));
        let others = or(equal(bytes, one), others);
        mask(or(or(markup, others), outside(bytes)))
    }
}

/// Not zero if `length` bytes of text differ from a piece.
///
/// # Safety
/// The instructions; `length` bytes of both can be read, up to the next multiple of 32, and at least 32.
#[inline(always)]
unsafe fn difference(mut piece: *const u8, mut text: *const u8, length: u32) -> u32 {
    const STEP: u32 = BEYOND as u32;
    let (mut left, mut wrong) = (length, 0);
    // SAFETY: the caller guarantees that both can be read up to the next multiple of 32; `left` is above 32 where both
    // pointers advance.
    unsafe {
        while left > STEP {
            wrong |= others(piece, text);
            left -= STEP;
            piece = piece.add(BEYOND);
            text = text.add(BEYOND);
        }
        wrong | first_bits(others(piece, text), left)
    }
}

/// A mask of the bytes of 32 that differ.
///
/// # Safety
/// The instructions; 32 bytes of both can be read.
#[inline(always)]
unsafe fn others(one: *const u8, other: *const u8) -> u32 {
    // SAFETY: the caller guarantees that 32 bytes of both can be read.
    unsafe { !mask(same(load(one), load(other))) }
}

/// A number that ends before an `end`, and its length.
///
/// # Safety
/// The instructions; 64 bytes can be read, and 32 before them.
#[cfg_attr(
    target_arch = "x86_64",
    target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
)]
pub(super) unsafe fn one<N: Format>(text: *const u8, end: u8) -> Option<(u64, u32)> {
    // SAFETY: the caller guarantees 64 bytes of text, and 32 before them.
    unsafe {
        let length = Classes::new(text, end).ends.trailing_zeros();
        Some((plain_real::<N>(text, length as usize)?, length))
    }
}

/// The bits of a number; `None` if it is not one or the slow path must decide. Without an exponent, no branch depends on its
/// digits: the numbers of a message have little in common.
///
/// # Safety
/// The instructions; 64 bytes can be read, and 32 before them.
#[inline(always)]
unsafe fn plain_real<N: Format>(text: *const u8, length: usize) -> Option<u64> {
    if length > 31 {
        return None;
    }
    let length = length as u32;
    // SAFETY: the caller guarantees 64 bytes of text, and 32 before them; `dot` is at most `length`, which is below 32.
    unsafe {
        let classes = Classes::new(text, b'<');
        let negative = u32::from(*text == b'-');
        let others = first_bits(classes.others, length) & !negative;
        let dot = (others | 1 << length).trailing_zeros();
        let has_dot = u32::from(*text.add(dot as usize) == b'.');
        let place = Significand {
            start: negative,
            whole: dot.wrapping_sub(negative),
            digits: length.wrapping_sub(negative + has_dot),
        };
        if others.count_ones() != has_dot || place.digits.wrapping_sub(1) >= 19 {
            return rare_real::<N>(text, length);
        }
        let digits = nineteen(place.digits(text));
        let sign = u64::from(negative) << N::SIGN;
        if digits == 0 {
            return Some(sign);
        }
        Some(nearest::<N>(digits, place.whole as i32 - 19)? | sign)
    }
}

/// [`real::real`], not inlined: numbers with an exponent or many digits.
///
/// # Safety
/// The instructions; 64 bytes can be read, and 32 before them; `length` is below 32.
#[cfg_attr(
    target_arch = "x86_64",
    target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
)]
unsafe fn rare_real<N: Format>(text: *const u8, length: u32) -> Option<u64> {
    // SAFETY: the caller guarantees 64 bytes of text, and 32 before them.
    unsafe { real::real::<N>(text, &Classes::new(text, b'<'), length) }
}
