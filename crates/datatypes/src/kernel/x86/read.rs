//! The loops, written once for all instruction sets.
//!
//! All of it is `inline(always)` into one function for each instruction set, which has its `target_feature`: as functions
//! with features of their own, the steps were called and not inlined, and took a third more time.

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, __m256i, _bzhi_u32, _mm_and_si128, _mm_cvtsi128_si32, _mm_cvtsi128_si64,
    _mm_loadu_si128, _mm_madd_epi16, _mm_maddubs_epi16, _mm_or_si128, _mm_packus_epi32,
    _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_sub_epi8, _mm_subs_epu8, _mm_testz_si128,
    _mm256_and_si256, _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_or_si256, _mm256_setr_epi8, _mm256_setr_epi16,
    _mm256_setzero_si256, _mm256_testz_si256, _mm256_xor_si256, _mm256_zextsi128_si256,
};

use super::super::found::Found;
use super::super::number::Number;
use super::super::portable;
use super::super::separator::Separator;
use super::nearest::{Format, nearest};

/// 32 bytes of text, by what they are.
#[derive(Clone, Copy)]
pub(super) struct Classes {
    pub(super) bytes: __m256i,
    /// The bytes that end a value.
    pub(super) ends: u32,
    /// The bytes that are no digits.
    pub(super) others: u32,
    pub(super) dots: u32,
}

/// Where the significand stands.
#[derive(Clone, Copy)]
pub(super) struct Significand {
    /// 1 behind a sign.
    pub(super) start: u32,
    /// Digits before the dot.
    pub(super) whole: u32,
    pub(super) digits: u32,
    pub(super) end: u32,
}

/// What differs between instruction sets. All of it needs AVX2 and BMI at least.
pub(super) trait Isa {
    /// # Safety
    /// 32 bytes can be read.
    unsafe fn classes(text: *const u8, end: u8) -> Classes;

    /// The bytes that are `e` or `E`.
    ///
    /// # Safety
    /// The instructions are there.
    unsafe fn exponents(classes: &Classes) -> u32;

    /// The bytes of 64 that are `end`.
    ///
    /// # Safety
    /// 64 bytes can be read.
    unsafe fn ends(text: *const u8, end: u8) -> u64;

    /// The digits of a significand as numbers, the first in front, zeros behind them.
    ///
    /// # Safety
    /// 34 bytes can be read.
    unsafe fn digits(text: *const u8, classes: &Classes, place: Significand) -> __m256i;
}

/// Bytes behind a value that can be read while it is: the value's, its separator's, and what wide loads read too much.
pub(super) const BEYOND: usize = 160;
/// Bytes before the end of a value that can be read.
pub(super) const BEFORE: usize = 32;

/// A kind of value.
pub(super) trait Value: Copy {
    /// One that has been taken apart.
    type Taken: Copy;

    /// How many bytes stand before the first `end`; 32 or more if that is not among as many.
    ///
    /// # Safety
    /// What `I` needs; 64 bytes can be read.
    unsafe fn length<I: Isa>(text: *const u8, end: u8) -> u32;

    /// Takes the value apart that stands at `text`, up to `end`, and is so long: less than 32 bytes. Nothing if it is in doubt.
    ///
    /// # Safety
    /// What `I` needs; 32 bytes can be read before it, and `BEYOND` from it on.
    unsafe fn take<I: Isa>(self, text: *const u8, end: u8, length: u32) -> Option<Self::Taken>;

    /// Its slot; nothing if it is in doubt.
    fn slot(taken: Self::Taken) -> Option<u64>;
}

#[derive(Clone, Copy)]
pub(super) struct Real<N>(pub(super) N);

impl<N: Format + Copy> Value for Real<N> {
    type Taken = Parts;

    #[inline(always)]
    unsafe fn length<I: Isa>(text: *const u8, end: u8) -> u32 {
        // SAFETY: the caller guarantees 64 readable bytes; 32 are read.
        unsafe { length_of::<I>(text, end) }
    }

    #[inline(always)]
    unsafe fn take<I: Isa>(self, text: *const u8, end: u8, length: u32) -> Option<Parts> {
        // SAFETY: the caller guarantees 32 bytes before `text` and `BEYOND` from it on, which is more than `parts` reads.
        unsafe { parts::<I, N>(text, &I::classes(text, end), length) }
    }

    #[inline(always)]
    fn slot(taken: Parts) -> Option<u64> {
        taken.slot::<N>()
    }
}

#[derive(Clone, Copy)]
pub(super) struct Integer {
    pub(super) min: i64,
    pub(super) max: i64,
}

impl Value for Integer {
    type Taken = u64;

    #[inline(always)]
    unsafe fn length<I: Isa>(text: *const u8, end: u8) -> u32 {
        // SAFETY: the caller guarantees 64 readable bytes.
        unsafe { I::ends(text, end).trailing_zeros() }
    }

    #[inline(always)]
    unsafe fn take<I: Isa>(self, text: *const u8, _: u8, length: u32) -> Option<u64> {
        // SAFETY: the caller guarantees 32 bytes before `text`, so 32 before the end of the value can be read.
        unsafe { integer(text, length, self.min, self.max) }
    }

    #[inline(always)]
    fn slot(taken: u64) -> Option<u64> {
        Some(taken)
    }
}

/// An array being read.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    pub(super) text: &'a [u8],
    pub(super) separator: &'a Separator,
    pub(super) number: Number,
    /// How many slots there may be: no more than there is capacity for.
    pub(super) limit: usize,
}

/// How many values of an array are read from 64 bytes.
const MANY: usize = 3;
/// How many tiny integers are read one by one before more are tried again.
const TINY: usize = 61;
/// The longest separator with which so many short integers fit in them.
const CLOSE: usize = 14;

impl Array<'_> {
    /// A value that is in doubt: the general way. Its slot, its length, and where the next begins.
    #[cold]
    #[inline(never)]
    fn general(&self, at: usize) -> Option<(u64, usize, usize)> {
        let (slot, length) = portable::value(self.text, at, self.number, self.separator)?;
        Some((slot, length, at + length + self.separator.bytes.len()))
    }

    /// The same without what comes next.
    #[cold]
    #[inline(never)]
    fn doubtful(&self, at: usize) -> Option<(u64, u32)> {
        let (slot, length) = portable::value(self.text, at, self.number, self.separator)?;
        Some((slot, length as u32))
    }

    /// What of a separator is beyond its first 32 bytes.
    #[cold]
    #[inline(never)]
    fn is_whole(&self, at: usize) -> bool {
        self.text[at..].starts_with(&self.separator.bytes)
    }

    /// Reads what can be read with wide loads. Returns where the next value begins.
    ///
    /// # Safety
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT, and what `I` needs.
    #[inline(always)]
    pub(super) unsafe fn reals<I: Isa, N: Format>(
        self,
        at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        // SAFETY: the caller guarantees the features, which is all that is asked for.
        unsafe {
            match self.separator.bytes.len() <= 32 {
                true => self.reals_with::<I, N, false>(at, slots, found),
                false => self.reals_with::<I, N, true>(at, slots, found),
            }
        }
    }

    /// `LONG` is whether the separator is longer than what is compared in one go.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn reals_with<I: Isa, N: Format, const LONG: bool>(
        self,
        mut at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        let (Some(last), Some(end)) = (self.text.len().checked_sub(BEYOND), self.separator.end())
        else {
            return at;
        };
        let skip = self.separator.bytes.len();
        let (base, out) = (self.text.as_ptr(), slots.as_mut_ptr());
        let mut count = slots.len();
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text; `slots` has capacity for one more.
        unsafe {
            let separator = Pattern::new(self.separator);
            'all: while at <= last && count < self.limit {
                // A loop without a call in it, so that what it needs stays in registers. With each value, the digits of the
                // next are taken and the end of the one behind that is sought: what waits for what then stands far apart,
                // and the processor is not full of instructions that wait.
                let (mut held, mut length) = (None::<Parts>, 0);
                let mut next = at;
                let mut next_length = match at >= BEFORE {
                    true => length_of::<I>(base.add(at), end),
                    false => u32::MAX,
                };
                loop {
                    let is_there = next_length < 32 && (!LONG || next <= last);
                    let behind = next + (next_length & 31) as usize + skip;
                    let behind_length = match LONG {
                        true => length_of::<I>(base.add(behind.min(last)), end),
                        false => length_of::<I>(base.add(behind), end),
                    };
                    let parts = match is_there {
                        true => {
                            let text = base.add(next);
                            parts::<I, N>(text, &I::classes(text, end), next_length)
                        }
                        false => None,
                    };
                    if let Some(parts) = held {
                        let end = at + length as usize;
                        let Some(slot) = parts.slot::<N>() else {
                            break;
                        };
                        if !separator.stands_at(base.add(end)) || (LONG && !self.is_whole(end)) {
                            break;
                        }
                        out.add(count).write(slot);
                        count += 1;
                        let goes_on = found.value(at, length as usize, slot);
                        at = next;
                        if !goes_on {
                            break 'all;
                        }
                        if at > last || count == self.limit {
                            break;
                        }
                    }
                    let Some(parts) = parts else {
                        break;
                    };
                    held = Some(parts);
                    (length, next) = (next_length, behind);
                    next_length = behind_length;
                }
                if at > last || count == self.limit {
                    break;
                }
                let Some((slot, length, next)) = self.general(at) else {
                    break;
                };
                out.add(count).write(slot);
                count += 1;
                let goes_on = found.value(at, length, slot);
                at = next;
                if !goes_on {
                    break;
                }
            }
            slots.set_len(count);
        }
        at
    }

    /// The same for values at these places, up to one that is none. Returns how many were read.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    pub(super) unsafe fn numbers_at<I: Isa, V: Value>(
        self,
        kind: V,
        places: &[u32],
        slots: &mut Vec<u64>,
        lengths: &mut Vec<u32>,
    ) -> usize {
        let (Some(last), Some(end)) = (self.text.len().checked_sub(BEYOND), self.separator.end())
        else {
            return 0;
        };
        if self.separator.bytes.len() > 32 {
            return 0;
        }
        slots.reserve(places.len());
        lengths.reserve(places.len());
        let mut read = 0;
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text; there is room for as many as there are places.
        unsafe {
            let separator = Pattern::new(self.separator);
            let (numbers, found) = (
                slots.as_mut_ptr().add(slots.len()),
                lengths.as_mut_ptr().add(lengths.len()),
            );
            // Behind the last there is nothing.
            let place = |read: usize| places.get(read).map_or(usize::MAX, |&place| place as usize);
            while read < places.len() {
                // As above: a loop without a call in it; with each value, the next is taken apart, and the end of the one behind that
                // is sought.
                let mut held = None;
                let (mut next, mut next_at) = (read, place(read));
                let mut next_length = self.length_at::<I, V>(next_at, (last, end));
                loop {
                    let behind_at = place(next + 1);
                    let behind_length = self.length_at::<I, V>(behind_at, (last, end));
                    let mut ahead = None;
                    if next_length < 32 {
                        let text = self.text.as_ptr().add(next_at);
                        if separator.stands_at(text.add(next_length as usize)) {
                            ahead = kind.take::<I>(text, end, next_length);
                        }
                    }
                    if let Some((value, length)) = held {
                        let Some(slot) = V::slot(value) else {
                            break;
                        };
                        numbers.add(read).write(slot);
                        found.add(read).write(length);
                        read += 1;
                    }
                    let Some(value) = ahead else {
                        break;
                    };
                    held = Some((value, next_length));
                    (next, next_at, next_length) = (next + 1, behind_at, behind_length);
                }
                if read == places.len() {
                    break;
                }
                let Some((slot, length)) = self.doubtful(place(read)) else {
                    break;
                };
                numbers.add(read).write(slot);
                found.add(read).write(length);
                read += 1;
            }
            slots.set_len(slots.len() + read);
            lengths.set_len(lengths.len() + read);
        }
        read
    }

    /// How long a value is, if there is as much text around it as is read, up to the `last` place; 32 or more if that is not known.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn length_at<I: Isa, V: Value>(self, at: usize, (last, end): (usize, u8)) -> u32 {
        if at < BEFORE || at > last {
            return u32::MAX;
        }
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text.
        unsafe { V::length::<I>(self.text.as_ptr().add(at), end) }
    }

    /// The same for integers.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    pub(super) unsafe fn integers<I: Isa>(
        self,
        min: i64,
        max: i64,
        at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        // SAFETY: the caller guarantees the features, which is all that is asked for.
        unsafe {
            let is_long = max.checked_sub(min).is_none_or(|span| span > 1 << 40);
            match self.separator.bytes.len() <= CLOSE && !is_long {
                true => self.integers_in::<I, MANY>(min, max, at, slots, found),
                false => self.integers_in::<I, 1>(min, max, at, slots, found),
            }
        }
    }

    /// # Safety
    /// As above.
    #[inline(always)]
    unsafe fn integers_in<I: Isa, const N: usize>(
        self,
        min: i64,
        max: i64,
        mut at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        let (Some(last), Some(end)) = (self.text.len().checked_sub(BEYOND), self.separator.end())
        else {
            return at;
        };
        let skip = self.separator.bytes.len();
        let base = self.text.as_ptr();
        let (mut count, capacity) = (slots.len(), self.limit);
        let out = slots.as_mut_ptr();
        let span = max.wrapping_sub(min) as u64;
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text; a value begins before 64 and ends
        // at 127 at most; there, 32 bytes can be read. `slots` has capacity for `N` more.
        unsafe {
            let separator = Pattern::new(self.separator);
            'all: while at <= last && count + N <= capacity {
                if at < BEFORE {
                    let Some((slot, length, next)) = self.general(at) else {
                        break;
                    };
                    out.add(count).write(slot);
                    count += 1;
                    let goes_on = found.value(at, length, slot);
                    at = next;
                    if !goes_on {
                        break;
                    }
                    continue;
                }
                let text = base.add(at);
                let ends = I::ends(text, end);
                let mut bad = _mm256_setzero_si256();
                let (mut begin, mut wrong) = (0_u32, false);
                let mut places = [(0, 0); N];
                for (n, place) in places.iter_mut().enumerate() {
                    let length = (ends >> begin).trailing_zeros();
                    let negative = *text.add(begin as usize) == b'-';
                    let digits = length.wrapping_sub(u32::from(negative));
                    // This branch keeps the loads inside the text: a value and its separator are not longer than 32 bytes.
                    let most = if N == 1 { 19 } else { 16 };
                    if digits.wrapping_sub(1) >= most {
                        wrong = true;
                        break;
                    }
                    let behind = begin + length;
                    let (magnitude, others) = magnitude(text.add(behind as usize), digits, N == 1);
                    bad = _mm256_or_si256(bad, _mm256_zextsi128_si256(others));
                    wrong |= N == 1 && magnitude > i64::MAX as u64;
                    let flip = -i64::from(negative);
                    let value = (magnitude as i64 ^ flip).wrapping_sub(flip);
                    wrong |= value.wrapping_sub(min) as u64 > span;
                    out.add(count + n).write(value as u64);
                    *place = (begin as usize, length as usize);
                    bad = _mm256_or_si256(bad, separator.difference(text.add(behind as usize)));
                    begin = behind + skip as u32;
                }
                let start = begin;
                if !wrong
                    && _mm256_testz_si256(bad, bad) == 1
                    && (skip <= 32 || self.is_whole(at + start as usize - skip))
                {
                    for (begin, length) in places {
                        let slot = *out.add(count);
                        count += 1;
                        if !found.value(at + begin, length, slot) {
                            at += begin + length + skip;
                            break 'all;
                        }
                    }
                    at += start as usize;
                    if N > 1 && (start as usize) <= N * (skip + 3) {
                        // Numbers this short: as long as they are, or a few times.
                        for _ in 0..TINY {
                            if at > last || count == capacity {
                                break;
                            }
                            let (value, length) = tiny(base.add(at));
                            if length == 0
                                || (value as i64).wrapping_sub(min) as u64 > span
                                || !separator.stands_at(base.add(at + length))
                            {
                                break;
                            }
                            out.add(count).write(value);
                            count += 1;
                            let goes_on = found.value(at, length, value);
                            at += length + skip;
                            if !goes_on {
                                break 'all;
                            }
                        }
                    }
                } else if let Some((slot, length, next)) = self.general(at) {
                    out.add(count).write(slot);
                    count += 1;
                    let goes_on = found.value(at, length, slot);
                    at = next;
                    if !goes_on {
                        break;
                    }
                } else {
                    break;
                }
            }
            slots.set_len(count);
        }
        at
    }
}

/// The slot of an integer, if it is one and beyond doubt.
///
/// # Safety
/// AVX2; `length` is below 32; the byte at `text` and 32 before the text's end can be read.
#[inline(always)]
pub(super) unsafe fn integer(text: *const u8, length: u32, min: i64, max: i64) -> Option<u64> {
    // SAFETY: the caller guarantees the byte at `text` and 32 before the end of the number.
    unsafe {
        let negative = *text == b'-';
        let digits = length.wrapping_sub(u32::from(negative));
        if digits.wrapping_sub(1) >= 19 {
            return None;
        }
        let (magnitude, others) = magnitude(text.add(length as usize), digits, true);
        let flip = -i64::from(negative);
        let value = (magnitude as i64 ^ flip).wrapping_sub(flip);
        let is_whole = _mm_testz_si128(others, others) == 1 && magnitude <= i64::MAX as u64;
        (is_whole && min <= value && value <= max).then_some(value as u64)
    }
}

/// A separator in registers.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    head: __m256i,
    mask: __m256i,
}

impl Pattern {
    /// # Safety
    /// AVX2.
    #[inline(always)]
    pub(super) unsafe fn new(separator: &Separator) -> Self {
        // SAFETY: both are 32 bytes.
        unsafe {
            Self {
                head: _mm256_loadu_si256(separator.head.as_ptr().cast()),
                mask: _mm256_loadu_si256(separator.mask.as_ptr().cast()),
            }
        }
    }

    /// Up to 32 of these bytes.
    ///
    /// # Safety
    /// AVX2.
    #[inline(always)]
    pub(super) unsafe fn of(bytes: &[u8]) -> Self {
        // SAFETY: the caller guarantees the features, which is all that is asked for.
        unsafe { Self::new(&Separator::head_of(bytes)) }
    }

    /// Bits that differ.
    ///
    /// # Safety
    /// AVX2; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn difference(&self, text: *const u8) -> __m256i {
        // SAFETY: the caller guarantees that 32 bytes can be read; the load is unaligned.
        unsafe {
            let text = _mm256_loadu_si256(text.cast());
            _mm256_and_si256(_mm256_xor_si256(text, self.head), self.mask)
        }
    }

    /// # Safety
    /// AVX2; 32 bytes can be read.
    #[inline(always)]
    pub(super) unsafe fn stands_at(&self, text: *const u8) -> bool {
        // SAFETY: the caller guarantees that 32 bytes can be read; the load is unaligned.
        unsafe {
            let text = _mm256_loadu_si256(text.cast());
            _mm256_testz_si256(_mm256_xor_si256(text, self.head), self.mask) == 1
        }
    }
}

/// Whether no bit is set.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn is_zero(bits: __m256i) -> bool {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe { _mm256_testz_si256(bits, bits) == 1 }
}

/// How many bytes stand before the first `end`; 32 if that is not among as many.
///
/// # Safety
/// What `I` needs; 32 bytes can be read.
#[inline(always)]
unsafe fn length_of<I: Isa>(text: *const u8, end: u8) -> u32 {
    // SAFETY: the caller guarantees that 32 bytes can be read.
    unsafe { here(I::classes(text, end).ends.trailing_zeros().into()) as u32 }
}

/// Has a value be there where it is asked for, and not only where it is needed.
#[inline(always)]
pub(super) fn here(mut value: u64) -> u64 {
    // SAFETY: nothing is done with the register.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// A number that has been taken apart: what is left is to find the nearest that can be told.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// Its digits; its bits if they are known already.
    digits: u64,
    /// The power of ten that they are multiplied by, or [`KNOWN`].
    power: i32,
    /// Its sign, in its place.
    sign: u64,
}

/// No power, but that bits are known.
const KNOWN: i32 = i32::MAX;

impl Parts {
    /// The bits of the number, if they are beyond doubt.
    #[inline(always)]
    fn slot<N: Format>(self) -> Option<u64> {
        let bits = match self.power {
            KNOWN => self.digits,
            power => nearest::<N>(self.digits, power)?,
        };
        Some(bits | self.sign)
    }
}

/// The bits of the number in `text[..length]`, if it is one and beyond doubt.
///
/// # Safety
/// As [`parts`].
#[inline(always)]
pub(super) unsafe fn real<I: Isa, N: Format>(
    text: *const u8,
    classes: &Classes,
    length: u32,
) -> Option<u64> {
    // SAFETY: the caller guarantees what `parts` needs.
    unsafe { parts::<I, N>(text, classes, length)?.slot::<N>() }
}

/// The parts of the number in `text[..length]`, if it is one.
///
/// # Safety
/// What `I` needs; `length` is below 32; from 8 bytes before the text's end on, and 34 from its start, all can be read.
#[inline(always)]
unsafe fn parts<I: Isa, N: Format>(
    text: *const u8,
    classes: &Classes,
    length: u32,
) -> Option<Parts> {
    // SAFETY: the caller guarantees 8 bytes before the end of the text and 34 from its start; where `TENS` is read there
    // are at most 8 digits, so `whole` is at most 8.
    unsafe {
        let negative = u32::from(*text == b'-');
        // What is neither a digit nor the sign in front: a dot, and what belongs to an exponent.
        let others = _bzhi_u32(classes.others, length) & !negative;
        let dot = (others | 1 << length).trailing_zeros();
        let has_dot = u32::from(classes.dots & (others & others.wrapping_neg()) != 0);
        let (mut end, mut exponent) = (length, 0);
        let marks = others.count_ones();
        if here(marks.into()) > 1 || marks != has_dot {
            let exponents = _bzhi_u32(I::exponents(classes), length);
            let signed;
            end = exponents.trailing_zeros();
            (exponent, signed) = exponent_of(text, end, length)?;
            if others.count_ones() != has_dot + 1 + signed {
                return None;
            }
        }
        let mut whole = dot.min(end).wrapping_sub(negative) as i32;
        let mut place = Significand {
            start: negative,
            whole: whole as u32,
            digits: end.wrapping_sub(negative + has_dot),
            end,
        };
        if place.digits.wrapping_sub(1) >= 19 {
            (whole, place) = without_zeros(text, place)?;
        }
        let sign = u64::from(negative) << N::SIGN;
        let digits = I::digits(text, classes, place);
        if N::DIVIDES && end == length && place.digits <= 8 {
            // Both are exact, so their quotient is rounded once.
            let number = f64::from(first_eight(digits) as i32);
            let divisor = TENS.get_unchecked((8 - place.whole) as usize);
            return Some(Parts {
                digits: here((number / divisor).to_bits()),
                power: KNOWN,
                sign,
            });
        }
        Some(Parts {
            digits: here(nineteen(digits)),
            power: whole - 19 + exponent,
            sign,
        })
    }
}

/// `0.000123…` with more digits than nineteen: without the zeros in front. The digits before the dot, less than none now,
/// and the place of the rest.
///
/// # Safety
/// 16 bytes behind the dot can be read.
#[inline(always)]
unsafe fn without_zeros(text: *const u8, place: Significand) -> Option<(i32, Significand)> {
    // SAFETY: the caller guarantees 16 bytes behind the dot, which is at `start + 1` where a word is read.
    unsafe {
        if place.whole != 1 || *text.add(place.start as usize) != b'0' {
            return None;
        }
        let dot = place.start + 1;
        let word = text.add(dot as usize + 1).cast::<u64>().read_unaligned();
        let zeros = (word ^ 0x3030_3030_3030_3030).trailing_zeros() / 8;
        let digits = place.digits.wrapping_sub(1 + zeros);
        let place = Significand {
            start: dot + 1 + zeros,
            whole: digits,
            digits,
            end: place.end,
        };
        (digits.wrapping_sub(1) < 19).then_some((-(zeros as i32), place))
    }
}

static TENS: [f64; 9] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/// The exponent behind an `e` at `at`, up to `length`: its value, and 1 if it has a sign. Whether there are digits only is
/// not looked at.
///
/// # Safety
/// From 8 bytes before `length` on, all can be read; `at` is 32 at the most.
#[inline(always)]
unsafe fn exponent_of(text: *const u8, at: u32, length: u32) -> Option<(i32, u32)> {
    // SAFETY: the caller guarantees 8 bytes before `length`, and 34 from the start; the byte at `at + 1` may be the one
    // behind the number, or the next.
    unsafe {
        let sign = *text.add(at as usize + 1);
        let negative = u32::from(sign == b'-');
        let signed = negative | u32::from(sign == b'+');
        let digits = length.wrapping_sub(at + 1 + signed);
        if digits.wrapping_sub(1) >= 3 {
            return None;
        }
        // The last three bytes, the first of them lowest, those before the digits as zeros.
        let word = text
            .add(length as usize)
            .sub(4)
            .cast::<u32>()
            .read_unaligned()
            >> 8;
        let word = word & (0x0f_0f_0f << (8 * (3 - digits)));
        let value = (word & 0xff) * 100 + ((word >> 8) & 0xff) * 10 + (word >> 16);
        let value = (value as i32 ^ -(negative as i32)) + negative as i32;
        Some((value, signed))
    }
}

/// The number that the first eight digits make.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn first_eight(digits: __m256i) -> u32 {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe { _mm_cvtsi128_si32(sixteen(_mm256_castsi256_si128(digits))) as u32 }
}

/// Two numbers of eight digits each, in the lower two words.
///
/// # Safety
/// SSE4.1.
#[inline(always)]
unsafe fn sixteen(digits: __m128i) -> __m128i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x01_0a));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        let fours = _mm_packus_epi32(fours, fours);
        _mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710))
    }
}

/// The number that the first nineteen digits make.
///
/// # Safety
/// AVX2.
#[inline(always)]
pub(super) unsafe fn nineteen(digits: __m256i) -> u64 {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let pairs = _mm256_maddubs_epi16(
            digits,
            _mm256_setr_epi8(
                10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, // sixteen
                100, 10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // and three
            ),
        );
        let fours = _mm256_madd_epi16(
            pairs,
            _mm256_setr_epi16(100, 1, 100, 1, 100, 1, 100, 1, 1, 1, 0, 0, 0, 0, 0, 0),
        );
        let three = _mm_cvtsi128_si32(_mm256_extracti128_si256::<1>(fours)) as u32;
        let fours = _mm256_castsi256_si128(fours);
        let fours = _mm_packus_epi32(fours, fours);
        let eights = _mm_madd_epi16(fours, _mm_set1_epi32(0x0001_2710));
        let eights = _mm_cvtsi128_si64(eights) as u64;
        (eights & 0xffff_ffff) * 100_000_000_000 + (eights >> 32) * 1000 + u64::from(three)
    }
}

/// The number that the `count` digits before `end` make, up to nineteen if it may be long, else sixteen; and not zero where
/// there is something else.
///
/// # Safety
/// SSE4.1; 32 bytes before `end` can be read.
#[inline(always)]
unsafe fn magnitude(end: *const u8, count: u32, may_be_long: bool) -> (u64, __m128i) {
    // SAFETY: the caller guarantees 32 bytes before `end`.
    unsafe {
        let (bytes, others) = last_digits(end, count);
        let low = whole(bytes);
        if !may_be_long || count <= 16 {
            return (low, others);
        }
        let (bytes, more) = last_digits(end.sub(16), count - 16);
        (
            low.wrapping_add(whole(bytes).wrapping_mul(10_000_000_000_000_000)),
            _mm_or_si128(others, more),
        )
    }
}

/// The `count` bytes before `end` as digits, right-aligned in 16 bytes, and not zero where there is something else.
///
/// # Safety
/// SSE4.1; 16 bytes before `end` can be read; `count` is below 64.
#[inline(always)]
unsafe fn last_digits(end: *const u8, count: u32) -> (__m128i, __m128i) {
    // SAFETY: the caller guarantees 16 bytes before `end`, and a count below 64: the mask has 16 bytes from each of its
    // first 64 on.
    unsafe {
        let bytes = _mm_loadu_si128(end.sub(16).cast());
        let mask = _mm_loadu_si128(MASK.as_ptr().add(count as usize).cast());
        let bytes = _mm_and_si128(_mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8)), mask);
        (bytes, _mm_subs_epu8(bytes, _mm_set1_epi8(9)))
    }
}

/// The number that sixteen digits make.
///
/// # Safety
/// SSE4.1.
#[inline(always)]
unsafe fn whole(digits: __m128i) -> u64 {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let eights = _mm_cvtsi128_si64(sixteen(digits)) as u64;
        // (What is no digit is found out later.)
        (eights & 0xffff_ffff)
            .wrapping_mul(100_000_000)
            .wrapping_add(eights >> 32)
    }
}

/// An integer of one to three digits and its length; 0 if it is something else. The length hangs on branches: where it is
/// the same as before, nothing waits for it.
///
/// # Safety
/// 4 bytes can be read.
#[inline(always)]
unsafe fn tiny(text: *const u8) -> (u64, usize) {
    // SAFETY: the caller guarantees that 4 bytes can be read; the load is unaligned.
    let word = unsafe { text.cast::<u32>().read_unaligned() } ^ 0x3030_3030;
    let byte = |at: u32| u64::from(word >> (8 * at) & 0xff);
    if byte(0) > 9 {
        return (0, 0);
    }
    if byte(1) > 9 {
        return (byte(0), 1);
    }
    if byte(2) > 9 {
        return (byte(0) * 10 + byte(1), 2);
    }
    if byte(3) > 9 {
        return (byte(0) * 100 + byte(1) * 10 + byte(2), 3);
    }
    (0, 0)
}

/// Read from `n` on: 16 bytes of which the last `n` are set, for `n` up to 16.
static MASK: [u8; 80] = {
    let mut mask = [0xff; 80];
    let mut at = 0;
    while at < 16 {
        mask[at] = 0;
        at += 1;
    }
    mask
};
