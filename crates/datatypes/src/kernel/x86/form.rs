//! The loops of [`super::super::form`].
//!
//! ```text
//! …</time><sequence>193499119569</sequence><latitude>25.897…</latitude><unit>hectopascal</unit>…
//!  └ piece, 32 bytes at a time ┘└ value, 64 bytes from its start on
//! ```
//!
//! Nothing that is read decides where to go on, and hardly anything what to do: so the processor runs ahead. (A loop for
//! each kind of value, after one over all pieces, was a fifth slower where a message has a few of each.)

use std::arch::x86_64::{
    __m256i, _bzhi_u32, _bzhi_u64, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_maddubs_epi16,
    _mm_or_si128, _mm_set1_epi16, _mm_setr_epi8, _mm_setr_epi16, _mm_shuffle_epi8, _mm_sub_epi16,
    _mm_subs_epu8, _mm_subs_epu16, _mm_testz_si128, _mm_xor_si128, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_storeu_si256,
};

pub(super) use super::super::form::WIDEST;
use super::super::form::{BEYOND, Blank, Filled, Form, Sheet, Way};
use super::nearest::{self, Format, nearest};
use super::read::{Isa, Significand, integer, nineteen};
use crate::datetime::is_plain_date_time;

/// Bytes before a value that can be read.
pub(super) const BEFORE: usize = 32;

/// What differs between instruction sets.
pub(super) trait Fill: Isa {
    /// Copies 64 bytes, and returns which of them are not ASCII that stands for itself.
    ///
    /// # Safety
    /// What the instruction set needs; so many bytes can be read and written.
    unsafe fn copy(text: *const u8, to: *mut u8, special: &Special) -> u64;

    /// A number that is not only a sign, digits and a dot: [`real`](super::read::real).
    ///
    /// # Safety
    /// What the instruction set needs; 64 bytes can be read, and 32 before them; `length` is below 32.
    unsafe fn rare<N: Format>(text: *const u8, length: u32) -> Option<u64>;

    /// [`near`].
    ///
    /// # Safety
    /// As that.
    unsafe fn near(
        of: (&Form, &Blank, Way),
        text: (&[u8], usize, usize),
        room: *mut u8,
    ) -> Option<u64>;
}

/// Which bytes of ASCII do not stand for themselves: those have their highest bit.
pub(super) struct Special {
    pub(super) table: [u8; 128],
    /// What is special besides control characters and markup.
    pub(super) others: [u8; 3],
}

impl Special {
    const fn new(others: [u8; 3]) -> Self {
        let mut table = [0; 128];
        let mut byte = 0;
        while byte < 128 {
            let is_one = byte < 0x20
                || byte == 0x7f
                || matches!(byte as u8, b'<' | b'&' | b']')
                || byte as u8 == others[0]
                || byte as u8 == others[1]
                || byte as u8 == others[2];
            table[byte] = if is_one { 0x80 } else { 0 };
            byte += 1;
        }
        Self { table, others }
    }
}

static TEXT: Special = Special::new([b'<'; 3]);
static QUOTED: Special = Special::new([b'"'; 3]);
static SINGLE: Special = Special::new([b'\''; 3]);
static URI: Special = Special::new([b' ', b'%', b'#']);

/// [`super::super::Kernel::fill`].
///
/// # Safety
/// AVX2, BMI1, BMI2, LZCNT, POPCNT, and what `I` needs; the sheet has all slots and rooms of the form.
#[inline(always)]
pub(super) unsafe fn fill<I: Fill>(
    form: &Form,
    (text, mut at): (&[u8], usize),
    (told, zero): (&[u8], u8),
    sheet: Sheet<'_>,
) -> Option<Filled> {
    if at < BEFORE || text.len() < at + WIDEST {
        return None;
    }
    let (slots, heap) = (sheet.slots.as_mut_ptr(), sheet.heap.as_mut_ptr());
    let far = text.len() - WIDEST;
    let (mut wrong, mut all, mut doubtful) = (0, 0, 0);
    let blanks = form.blanks.iter().zip(&form.ways).zip(told);
    for (index, ((blank, &way), &told)) in blanks.enumerate() {
        let length = told.wrapping_sub(zero);
        all |= length;
        let length = usize::from(length);
        let (from, begin) = (at, at + blank.length as usize);
        at = begin + length;
        // SAFETY: so many bytes are of the text, and of the pieces; the slot and the room are there.
        unsafe {
            let room = heap.wrapping_add(blank.room as usize);
            let value = if begin <= far {
                let piece = form.pieces.as_ptr().add(blank.piece as usize);
                wrong |= difference(piece, text.as_ptr().add(from), blank.length);
                value::<I>(form, (blank, way), (text, begin, length), room)
            } else {
                let is_same = text.get(from..begin) == Some(form.piece(blank));
                wrong |= u32::from(!is_same || at > text.len());
                match wrong {
                    0 => I::near((form, blank, way), (text, begin, length), room),
                    _ => None,
                }
            };
            let Some(value) = value else {
                doubtful |= 1 << index;
                continue;
            };
            slots.add(blank.slot as usize).write(value);
        }
    }
    if usize::from(all) >= WIDEST {
        return None;
    }
    // SAFETY: the caller guarantees the features.
    let is_same = wrong == 0 && unsafe { is_end(form, text, at) };
    Some(Filled { is_same, doubtful })
}

/// The slot of the value at a place, if it is beyond doubt.
///
/// # Safety
/// As above; 32 bytes before `begin` can be read, and 64 from there on, whatever the length that was told; so many can be
/// written to the room of a string.
#[inline(always)]
unsafe fn value<I: Fill>(
    form: &Form,
    (blank, way): (&Blank, Way),
    (whole, begin, length): (&[u8], usize, usize),
    room: *mut u8,
) -> Option<u64> {
    // SAFETY: the caller guarantees 32 bytes of text before `begin` and 64 from there on, and 64 bytes of the room of a
    // string; `kind` is an index of `bounds`, which `Form::new` has checked.
    unsafe {
        let text = whole.as_ptr().add(begin);
        let is_good = match way {
            Way::Double => return real::<I, nearest::Double>(text, length),
            Way::Float => return real::<I, nearest::Float>(text, length),
            Way::Integer => {
                let &(min, max) = form.bounds.get_unchecked(blank.kind as usize);
                if length > 31 {
                    return None;
                }
                return integer(text, length as u32, min, max);
            }
            Way::Text => string::<I>(text, length, room, &TEXT),
            Way::Quoted => string::<I>(text, length, room, &QUOTED),
            Way::Single => string::<I>(text, length, room, &SINGLE),
            Way::Uri => {
                string::<I>(text, length, room, &URI) && (*text).is_ascii_alphanumeric() && {
                    debug_assert!(length <= WIDEST, "a length that was told");
                    *text.add(length - 1) != b':'
                }
            }
            Way::DateTime => {
                // (All of its bytes are looked at in any case.)
                _mm256_storeu_si256(room.cast(), load(text));
                _mm256_storeu_si256(room.add(32).cast(), load(text.add(32)));
                match length {
                    19 => date_time(text),
                    20 => date_time(text) & (*text.add(19) == b'Z'),
                    _ => is_plain_date_time(whole.get(begin..begin + length)?),
                }
            }
            Way::Other => false,
        };
        is_good.then_some(u64::from(blank.room) | (length as u64) << 32)
    }
}

/// The same near the end of a text: from a copy, with zeros behind.
///
/// # Safety
/// As above, but for what can be read: it stands within the last 64 bytes of the text, which are not its first 32.
#[inline(always)]
pub(super) unsafe fn near<I: Fill>(
    (form, blank, way): (&Form, &Blank, Way),
    (text, begin, length): (&[u8], usize, usize),
    room: *mut u8,
) -> Option<u64> {
    // SAFETY: 32 bytes before an integer and its own can be read, and nothing behind it is; `copy` has 32 bytes before
    // `begin - from`, which is at most 96, and 64 behind it.
    unsafe {
        if way == Way::Integer && length > 0 {
            return value::<I>(form, (blank, Way::Integer), (text, begin, length), room);
        }
        let mut copy = [0; BEFORE + 2 * WIDEST];
        let from = text.len() - BEFORE - WIDEST;
        copy[..BEFORE + WIDEST].copy_from_slice(&text[from..]);
        value::<I>(form, (blank, way), (&copy, begin - from, length), room)
    }
}

/// Whether the text ends with the form's tail, and that stands at `at`.
///
/// # Safety
/// AVX2, BMI2.
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
    // SAFETY: up to its end, all are of the text, and of the pieces.
    unsafe {
        let piece = form.pieces.as_ptr().add(piece);
        let text = text.as_ptr().add(at);
        // The last 32 bytes may be compared twice.
        let last = (length - STEP) as usize;
        difference(piece, text, length - length % STEP) | others(piece.add(last), text.add(last))
            == 0
    }
}

/// Copies a string to its room, and says whether all of it stands for itself: of one that is empty, or longer than
/// [`WIDEST`], it does not.
///
/// # Safety
/// What `I` needs; 64 bytes can be read and written.
#[inline(always)]
unsafe fn string<I: Fill>(
    text: *const u8,
    length: usize,
    room: *mut u8,
    special: &Special,
) -> bool {
    // SAFETY: the caller guarantees that 64 bytes of text can be read, and 64 of the room written.
    unsafe {
        let special = I::copy(text, room, special);
        length.wrapping_sub(1) < WIDEST && _bzhi_u64(special, length as u32) == 0
    }
}

/// What differs between so many bytes, and a piece.
///
/// # Safety
/// AVX2 and BMI2; at both places so many bytes can be read, up to the next multiple of 32, and 32 at least.
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
        wrong | _bzhi_u32(others(piece, text), left)
    }
}

/// Which of 32 bytes are others.
///
/// # Safety
/// AVX2; so many bytes can be read.
#[inline(always)]
unsafe fn others(one: *const u8, other: *const u8) -> u32 {
    // SAFETY: the caller guarantees that 32 bytes of both can be read.
    unsafe { !(_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(one), load(other))) as u32) }
}

/// A number that ends before an `end`, and its length.
///
/// # Safety
/// What `I` needs; 64 bytes can be read, and 32 before them.
#[inline(always)]
pub(super) unsafe fn one<I: Fill, N: Format>(text: *const u8, end: u8) -> Option<(u64, u32)> {
    // SAFETY: the caller guarantees 64 bytes of text, and 32 before them.
    unsafe {
        let length = I::classes(text, end).ends.trailing_zeros();
        Some((real::<I, N>(text, length as usize)?, length))
    }
}

/// The bits of a number. If it is a sign, digits and a dot, without a branch that depends on them: numbers of a message have
/// little in common.
///
/// # Safety
/// What `I` needs; 64 bytes can be read, and 32 before them.
#[inline(always)]
unsafe fn real<I: Fill, N: Format>(text: *const u8, length: usize) -> Option<u64> {
    if length > 31 {
        return None;
    }
    let length = length as u32;
    // SAFETY: the caller guarantees 64 bytes of text, and 32 before them; `dot` is at most `length`, which is below 32.
    unsafe {
        let classes = I::classes(text, b'<');
        let negative = u32::from(*text == b'-');
        let others = _bzhi_u32(classes.others, length) & !negative;
        let dot = (others | 1 << length).trailing_zeros();
        let has_dot = u32::from(*text.add(dot as usize) == b'.');
        let place = Significand {
            start: negative,
            whole: dot.wrapping_sub(negative),
            digits: length.wrapping_sub(negative + has_dot),
            end: length,
        };
        if others.count_ones() != has_dot || place.digits.wrapping_sub(1) >= 19 {
            return I::rare::<N>(text, length);
        }
        let digits = nineteen(I::digits(text, &classes, place));
        let sign = u64::from(negative) << N::SIGN;
        if digits == 0 {
            return Some(sign);
        }
        Some(nearest::<N>(digits, place.whole as i32 - 19)? | sign)
    }
}

/// Whether the first 19 bytes are those of a `dateTime`, as [`is_plain_date_time`] has it.
///
/// # Safety
/// AVX2; 32 bytes can be read.
#[inline(always)]
unsafe fn date_time(text: *const u8) -> bool {
    /// A digit differs from `0` by 9 at the most, all others from themselves by nothing.
    const FORM: &[u8; 19] = b"0000-00-00T00:00:00";
    const fn most() -> [u8; 19] {
        let (mut most, mut at) = ([0; 19], 0);
        while at < 19 {
            most[at] = if FORM[at] == b'0' { 9 } else { 0 };
            at += 1;
        }
        most
    }
    const MOST: [u8; 19] = most();
    // SAFETY: the caller guarantees 32 bytes of text; sixteen bytes of each 19-byte constant are read, from its third byte
    // on at the most.
    unsafe {
        let part = |bytes: *const u8| _mm_loadu_si128(bytes.cast());
        let front = _mm_xor_si128(part(text), part(FORM.as_ptr()));
        let back = _mm_xor_si128(part(text.add(3)), part(FORM.as_ptr().add(3)));
        let wrong = _mm_or_si128(
            _mm_subs_epu8(front, part(MOST.as_ptr())),
            _mm_subs_epu8(back, part(MOST.as_ptr().add(3))),
        );
        // Month, day, hour, minute, second.
        let digits = _mm_setr_epi8(2, 3, 5, 6, 8, 9, 11, 12, 14, 15, -1, -1, -1, -1, -1, -1);
        let tens = _mm_set1_epi16(0x010a);
        let fields = _mm_maddubs_epi16(_mm_shuffle_epi8(back, digits), tens);
        let least = _mm_setr_epi16(1, 1, 0, 0, 0, 0, 0, 0);
        let span = _mm_setr_epi16(11, 27, 23, 59, 59, 0, 0, 0);
        let wrong = _mm_or_si128(wrong, _mm_subs_epu16(_mm_sub_epi16(fields, least), span));
        let has_year = _mm_cvtsi128_si32(front) != 0;
        has_year & (_mm_testz_si128(wrong, wrong) == 1)
    }
}

/// # Safety
/// AVX2; 32 bytes can be read.
#[inline(always)]
unsafe fn load(bytes: *const u8) -> __m256i {
    // SAFETY: the caller guarantees that 32 bytes can be read; the load is unaligned.
    unsafe { _mm256_loadu_si256(bytes.cast()) }
}
