//! The loop of [`super::super::form`].

use std::arch::x86_64::{
    __m256i, _bzhi_u32, _bzhi_u64, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_maddubs_epi16,
    _mm_or_si128, _mm_set1_epi16, _mm_setr_epi8, _mm_setr_epi16, _mm_shuffle_epi8, _mm_sub_epi16,
    _mm_subs_epu8, _mm_subs_epu16, _mm_testz_si128, _mm_xor_si128, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_max_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_storeu_si256, _mm256_sub_epi8,
};

use super::super::form::{Blank, Filled, Filling, Sheet, WIDEST};
use super::super::{Number, nearest};
use super::read::{Isa, integer, real};
use crate::datetime::is_plain_date_time;

/// Bytes from the start of a value on that can be read while it is, unless it is an integer: nothing behind that is.
const FROM: usize = WIDEST;
/// Bytes before a value that can be read.
const BEFORE: usize = 32;
/// Bytes of pieces compared in one go.
const SHORT: usize = 32;

/// Where a message stands, and what it is compared with.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) text: &'a [u8],
    pub(super) told: &'a [u8],
    pub(super) zero: u8,
    pub(super) pieces: &'a [u8],
    pub(super) blanks: &'a [Blank],
}

impl Form<'_> {
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT, and what `I` needs.
    #[inline(always)]
    pub(super) unsafe fn fill<I: Isa>(self, from: usize, sheet: Sheet<'_>) -> Filled {
        let mut at = from;
        let mut wrong = 0;
        let mut count = 0;
        if self
            .blanks
            .first()
            .is_none_or(|first| from + (first.length as usize) < BEFORE)
        {
            return Filled {
                blanks: 0,
                at,
                is_same: true,
            };
        }
        for (blank, &told) in self.blanks.iter().zip(self.told) {
            let length = usize::from(told.wrapping_sub(self.zero));
            let begin = at + blank.length as usize;
            let piece = blank.piece as usize;
            if length >= WIDEST
                || piece + SHORT > self.pieces.len()
                || (begin + FROM > self.text.len() && !self.is_within(blank, at, length))
            {
                break;
            }
            let Some(slot) = sheet.slots.get_mut(blank.slot as usize) else {
                break;
            };
            // SAFETY: around the value, the bytes are of the text, as has been seen; so are those of the piece.
            let value = unsafe {
                wrong |= match blank.length as usize <= SHORT {
                    true => {
                        let own = load(self.pieces.as_ptr().add(piece));
                        let found = load(self.text.as_ptr().add(at));
                        let same = _mm256_movemask_epi8(_mm256_cmpeq_epi8(own, found)) as u32;
                        _bzhi_u32(!same, blank.length)
                    }
                    false => {
                        let own = self.pieces.get(piece..piece + blank.length as usize);
                        u32::from(own != self.text.get(at..begin))
                    }
                };
                self.value::<I>(blank, begin, length, sheet.heap)
            };
            let Some(value) = value else { break };
            *slot = value;
            at = begin + length;
            count += 1;
        }
        Filled {
            blanks: count,
            at,
            is_same: wrong == 0,
        }
    }

    /// Whether a value near the end of the text, and the piece before it, can be read all the same.
    #[cold]
    fn is_within(&self, blank: &Blank, at: usize, length: usize) -> bool {
        let is_integer = matches!(
            blank.filling,
            Filling::Number(Number::Signed { .. } | Number::Unsigned { .. })
        );
        let end = at + blank.length as usize + length;
        is_integer && length > 0 && end.max(at + SHORT) <= self.text.len()
    }

    /// The slot of the value at a place, if it is beyond doubt.
    ///
    /// # Safety
    /// As above; [`BEFORE`] bytes before `begin` and [`FROM`] bytes from there on, or an integer, are of the text.
    #[inline(always)]
    unsafe fn value<I: Isa>(
        self,
        blank: &Blank,
        begin: usize,
        length: usize,
        heap: &mut [u8],
    ) -> Option<u64> {
        // SAFETY: as above.
        unsafe {
            let text = self.text.as_ptr().add(begin);
            match blank.filling {
                Filling::Number(number) => {
                    if length > 31 {
                        return None;
                    }
                    let long = length as u32;
                    match number {
                        Number::Double => {
                            real::<I, nearest::Double>(text, &I::classes(text, b'<'), long)
                        }
                        Number::Float => {
                            real::<I, nearest::Float>(text, &I::classes(text, b'<'), long)
                        }
                        Number::Signed { min, max } => integer(text, long, min, max),
                        Number::Unsigned { max } => {
                            integer(text, long, 0, i64::try_from(max).unwrap_or(i64::MAX))
                        }
                    }
                }
                Filling::Text => string::<false>(text, b'<', blank, length, heap),
                Filling::Quoted(quote) => string::<false>(text, quote, blank, length, heap),
                Filling::Uri => {
                    let slot = string::<true>(text, b'<', blank, length, heap)?;
                    let is_good =
                        (*text).is_ascii_alphanumeric() && self.text[begin + length - 1] != b':';
                    is_good.then_some(slot)
                }
                Filling::DateTime => {
                    let slot = string::<false>(text, b'<', blank, length, heap)?;
                    let is_good = match length {
                        19 => date_time(text),
                        20 => date_time(text) & (*text.add(19) == b'Z'),
                        _ => is_plain_date_time(&self.text[begin..begin + length]),
                    };
                    is_good.then_some(slot)
                }
                Filling::Other => None,
            }
        }
    }
}

/// The slot of a string of plain characters, which goes to its room.
///
/// # Safety
/// AVX2 and BMI2; [`WIDEST`] bytes can be read.
#[inline(always)]
unsafe fn string<const URI: bool>(
    text: *const u8,
    quote: u8,
    blank: &Blank,
    length: usize,
    heap: &mut [u8],
) -> Option<u64> {
    let room = blank.room as usize;
    if length.wrapping_sub(1) >= WIDEST || length > blank.width as usize {
        return None;
    }
    let room = heap.get_mut(room..room + WIDEST)?;
    // SAFETY: so many bytes can be read, and there is room for them.
    unsafe {
        let (low, high) = (load(text), load(text.add(32)));
        let special =
            u64::from(special::<URI>(low, quote)) | u64::from(special::<URI>(high, quote)) << 32;
        let to = room.as_mut_ptr();
        _mm256_storeu_si256(to.cast(), low);
        _mm256_storeu_si256(to.add(32).cast(), high);
        if _bzhi_u64(special, length as u32) != 0 {
            return None;
        }
    }
    Some(u64::from(blank.room) | (length as u64) << 32)
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
    // SAFETY: as above; sixteen bytes of each constant are read, from the third on at the most.
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

/// The bytes that are not ASCII that stands for itself; in a URI, also those that could be wrong.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn special<const URI: bool>(bytes: __m256i, quote: u8) -> u32 {
    // SAFETY: as above.
    unsafe {
        let all = |byte: u8| _mm256_set1_epi8(byte as i8);
        let is = |byte: u8| _mm256_cmpeq_epi8(bytes, all(byte));
        let from = if URI { 0x21 } else { 0x20 };
        let shifted = _mm256_sub_epi8(bytes, all(from));
        let last = all(0x7f - from);
        let outside = _mm256_cmpeq_epi8(_mm256_max_epu8(shifted, last), shifted);
        let markup = _mm256_or_si256(
            _mm256_or_si256(is(b'<'), is(b'&')),
            _mm256_or_si256(is(b']'), is(quote)),
        );
        let mut special = _mm256_or_si256(outside, markup);
        if URI {
            special = _mm256_or_si256(special, _mm256_or_si256(is(b'%'), is(b'#')));
        }
        _mm256_movemask_epi8(special) as u32
    }
}

/// # Safety
/// AVX2; 32 bytes can be read.
#[inline(always)]
unsafe fn load(bytes: *const u8) -> __m256i {
    // SAFETY: as above.
    unsafe { _mm256_loadu_si256(bytes.cast()) }
}
