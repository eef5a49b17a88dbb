//! Doubles and floats read in eight lanes, with AVX-512.
//!
//! For one value each step waits for the one before. Here each step is a loop over up to [`MAX_REALS`] values, so that
//! nothing waits:
//!
//! ```text
//! -12.75e-3</item>…    32 bytes of each value as masks: other than digits, dots, signs, `e`s, other than zero
//!                      eight masks at a time: the syntax, the locations of the digits, the power of ten
//! 1275·················  the digits of each, left-aligned, padded with zeros to 19
//!                      eight at a time: the value of the digits, times the power of ten, rounded to the nearest
//! ```
//!
//! The last step is `nearest` of `nearest.rs` for each lane, with the same cases left to the slow path. Leading zeros do not
//! count as digits: `0.00012345678901234567` has seventeen.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::spans::Spans;
use crate::nearest::{Format, ROUNDED};
use crate::powers::LEAST;

/// The most numbers of a column that are read together.
pub(super) const MAX_REALS: usize = 32;

/// A number for each value.
type Lanes = [MaybeUninit<u32>; MAX_REALS];

const NONE: Lanes = [MaybeUninit::uninit(); MAX_REALS];

/// The intermediate results for a batch of values. A lane is initialised when its step has run.
#[repr(C, align(64))]
pub(super) struct RealBatch {
    /// The start and length of each value.
    starts: Lanes,
    lengths: Lanes,
    /// Masks of 32 bytes from the start: other bytes than digits, and so on.
    others: Lanes,
    dots: Lanes,
    minuses: Lanes,
    signs: Lanes,
    exponents: Lanes,
    nonzero: Lanes,
    /// The significant digits.
    digits: Lanes,
    /// The power of ten of the last of nineteen.
    powers: Lanes,
    /// 1 for a negative number.
    negative: Lanes,
    /// The digits, from the first significant one on.
    records: [MaybeUninit<[u8; 32]>; MAX_REALS],
}

impl RealBatch {
    pub(super) const EMPTY: Self = Self {
        starts: NONE,
        lengths: NONE,
        others: NONE,
        dots: NONE,
        minuses: NONE,
        signs: NONE,
        exponents: NONE,
        nonzero: NONE,
        digits: NONE,
        powers: NONE,
        negative: NONE,
        records: [MaybeUninit::uninit(); MAX_REALS],
    };
}

impl RealBatch {
    /// Reads `count` numbers, up to [`MAX_REALS`]: their slots, and a bit for each that the slow path must decide.
    ///
    /// # Safety
    /// AVX-512 F, BW, VL, DQ, CD, VBMI2, VPOPCNTDQ; `count` is not 0; the conditions of [`Spans`].
    #[inline(always)]
    pub(super) unsafe fn read<N: Format>(
        &mut self,
        spans: Spans,
        count: usize,
        slots: &mut [u64; MAX_REALS],
    ) -> u32 {
        let mut undecided = 0;
        // SAFETY: the caller guarantees the features and `count` spans. Lanes are filled up to a multiple of eight,
        // the surplus ones with the last value, so each step reads lanes that are filled.
        unsafe {
            let all = count.next_multiple_of(8);
            for first in (0..all).step_by(8) {
                self.find(spans, first, count - 1);
            }
            for first in (0..all).step_by(2) {
                self.classify(spans.text, first);
            }
            for first in (0..all).step_by(8) {
                undecided |= self.split(spans.text, first) << first;
            }
            for value in 0..all {
                self.collect(spans.text, value);
            }
            for first in (0..all).step_by(8) {
                let (eight, left) = self.nearest::<N>(first);
                undecided |= u32::from(left) << first;
                _mm512_storeu_si512(slots.as_mut_ptr().add(first).cast(), eight);
            }
        }
        match count {
            MAX_REALS => undecided,
            _ => undecided & ((1 << count) - 1),
        }
    }

    /// The starts and lengths of eight values.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn find(&mut self, spans: Spans, first: usize, last: usize) {
        // SAFETY: no index is above `last`, whose ends can be read, as the caller guarantees; `first` is a multiple of
        // eight below `MAX_REALS`.
        unsafe {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let values = _mm256_add_epi32(lanes, _mm256_set1_epi32(first as i32));
            let values = _mm256_min_epi32(values, _mm256_set1_epi32(last as i32));
            let places = _mm256_mullo_epi32(values, _mm256_set1_epi32(spans.stride as i32));
            let ends = _mm256_i32gather_epi32::<2>(spans.ends.cast(), places);
            let before = _mm256_add_epi32(ends, _mm256_set1_epi32(spans.lead.into()));
            let starts = _mm256_and_si256(before, _mm256_set1_epi32(0xffff));
            let ends = _mm256_srli_epi32::<16>(ends);
            store(&mut self.starts, first, starts);
            store(&mut self.lengths, first, _mm256_sub_epi32(ends, starts));
        }
    }

    /// 32 bytes from the start of a value.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn bytes(&self, text: *const u8, value: usize) -> __m256i {
        // SAFETY: the lane is filled, and 32 bytes of text can be read from the start of each value, as the caller
        // guarantees.
        unsafe {
            let start = self.starts.get_unchecked(value).assume_init() as usize;
            _mm256_loadu_si256(text.add(start).cast())
        }
    }

    /// Classifies the bytes of two values.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn classify(&mut self, text: *const u8, first: usize) {
        // SAFETY: the lanes `first` and `first + 1` are filled, as the caller guarantees, and there are as many masks as
        // starts.
        unsafe {
            let bytes = _mm512_castsi256_si512(self.bytes(text, first));
            let bytes = _mm512_inserti64x4::<1>(bytes, self.bytes(text, first + 1));
            let digits = _mm512_sub_epi8(bytes, byte(b'0'));
            let minuses = _mm512_cmpeq_epi8_mask(bytes, byte(b'-'));
            let pluses = _mm512_cmpeq_epi8_mask(bytes, byte(b'+'));
            let lower = _mm512_or_si512(bytes, byte(0x20));
            two(
                &mut self.others,
                first,
                _mm512_cmpgt_epu8_mask(digits, byte(9)),
            );
            two(
                &mut self.dots,
                first,
                _mm512_cmpeq_epi8_mask(bytes, byte(b'.')),
            );
            two(&mut self.minuses, first, minuses);
            two(&mut self.signs, first, minuses | pluses);
            two(
                &mut self.exponents,
                first,
                _mm512_cmpeq_epi8_mask(lower, byte(b'e')),
            );
            two(
                &mut self.nonzero,
                first,
                _mm512_test_epi8_mask(digits, digits),
            );
        }
    }

    /// Finds the significant digits of eight values and the power of ten to multiply them by. Returns a bit for each value that
    /// may not be a number.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn split(&mut self, text: *const u8, first: usize) -> u32 {
        // SAFETY: the eight lanes from `first` on are filled, as the caller guarantees; bytes of text are only read before
        // the end of a value.
        unsafe {
            let (zero, one) = (_mm256_setzero_si256(), _mm256_set1_epi32(1));
            let length = load(&self.lengths, first);
            let all = below(_mm256_sllv_epi32(one, length));
            let others = _mm256_and_si256(load(&self.others, first), all);
            // The significand ends at the `e`, if there is one.
            let mark = lowest(_mm256_and_si256(load(&self.exponents, first), all));
            let significand = _mm256_and_si256(all, below(mark));
            let minuses = load(&self.minuses, first);
            let negative = _mm256_and_si256(minuses, one);
            let dot = _mm256_and_si256(load(&self.dots, first), significand);
            // Besides digits, it may contain a leading sign and one dot, and the exponent a sign.
            let mut wrong = _mm256_cmpneq_epi32_mask(
                _mm256_and_si256(others, significand),
                _mm256_or_si256(negative, dot),
            );
            wrong |= _mm256_test_epi32_mask(dot, below(dot));
            let behind = _mm256_slli_epi32::<1>(mark);
            let sign = _mm256_and_si256(behind, load(&self.signs, first));
            let marks = _mm256_andnot_si256(significand, others);
            wrong |= _mm256_cmpneq_epi32_mask(marks, _mm256_or_si256(mark, sign));
            // After an `e` there are one to three digits.
            let few = _mm256_popcnt_epi32(_mm256_or_si256(significand, marks));
            let few = _mm256_sub_epi32(length, few);
            let has_mark = _mm256_test_epi32_mask(mark, mark);
            wrong |= _mm256_cmpgt_epu32_mask(few, _mm256_set1_epi32(3));
            wrong |= _mm256_mask_cmpeq_epi32_mask(has_mark, few, zero);
            wrong |= _mm256_cmpgt_epu32_mask(below(length), _mm256_set1_epi32(30));
            let ends = _mm256_add_epi32(load(&self.starts, first), length);
            let exponent = exponents(text, ends, few);
            let is_negative = _mm256_test_epi32_mask(behind, minuses);
            let exponent = _mm256_mask_sub_epi32(exponent, is_negative, zero, exponent);

            let digits = _mm256_andnot_si256(others, significand);
            wrong |= _mm256_testn_epi32_mask(digits, digits);
            let whole = _mm256_popcnt_epi32(_mm256_and_si256(digits, below(dot)));
            let counting = lowest(_mm256_and_si256(digits, load(&self.nonzero, first)));
            let zeros = _mm256_and_si256(digits, below(counting));
            let digits = _mm256_andnot_si256(zeros, digits);
            let most = _mm256_set1_epi32(19);
            wrong |= _mm256_cmpgt_epu32_mask(_mm256_popcnt_epi32(digits), most);
            let power = _mm256_sub_epi32(whole, _mm256_popcnt_epi32(zeros));
            let power = _mm256_add_epi32(_mm256_sub_epi32(power, most), exponent);
            store(&mut self.digits, first, digits);
            store(&mut self.negative, first, negative);
            store(&mut self.powers, first, power);
            wrong.into()
        }
    }

    /// Gathers the digits of a value.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn collect(&mut self, text: *const u8, value: usize) {
        // SAFETY: the lane is filled, and 32 bytes of text can be read from the start of the value, as the caller
        // guarantees.
        unsafe {
            let bytes = self.bytes(text, value);
            let digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8(b'0' as i8));
            let which = self.digits.get_unchecked(value).assume_init();
            let digits = _mm256_maskz_compress_epi8(which, digits);
            _mm256_store_si256(self.records.as_mut_ptr().add(value).cast(), digits);
        }
    }

    /// The bits of eight numbers, and a mask of those that the slow path must decide.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn nearest<N: Format>(&self, first: usize) -> (__m512i, u8) {
        // SAFETY: the eight lanes from `first` on are filled, as the caller guarantees; an index outside of the table is
        // masked off.
        unsafe {
            let zero = _mm512_setzero_si512();
            let w = self.numbers(first);
            let is_zero = _mm512_testn_epi64_mask(w, w);
            let zeros = _mm512_lzcnt_epi64(w);
            let w = _mm512_sllv_epi64(w, zeros);

            let power = load(&self.powers, first);
            let index = _mm256_sub_epi32(power, _mm256_set1_epi32(LEAST));
            let is_there = _mm256_cmplt_epu32_mask(index, _mm256_set1_epi32(ROUNDED.len() as i32));
            let index = _mm256_maskz_add_epi32(is_there, index, index);
            let table = ROUNDED.as_ptr().cast::<i64>();
            let high = _mm512_i32gather_epi64::<8>(index, table);
            let low = _mm512_i32gather_epi64::<8>(index, table.add(1));

            let (upper, middle) = product(w, high);
            let (more, _) = product(w, low);
            let lower = _mm512_add_epi64(middle, more);
            let carries = _mm512_cmplt_epu64_mask(lower, middle);
            let upper = _mm512_mask_add_epi64(upper, carries, upper, _mm512_set1_epi64(1));

            let top = _mm512_srli_epi64::<63>(upper);
            let shift = _mm512_add_epi64(top, _mm512_set1_epi64(i64::from(61 - N::FRACTION)));
            let significand = _mm512_srlv_epi64(upper, shift);
            let binary = _mm256_mullo_epi32(power, _mm256_set1_epi32(217_706));
            let binary = _mm512_cvtepi32_epi64(_mm256_srai_epi32::<16>(binary));
            let exponent = _mm512_add_epi64(binary, _mm512_set1_epi64(i64::from(62 + N::BIAS)));
            let exponent = _mm512_add_epi64(exponent, _mm512_sub_epi64(top, zeros));
            // One less than the exponent: a carry from the significand adds it.
            let is_wide =
                _mm512_cmpge_epu64_mask(exponent, _mm512_set1_epi64(i64::from(N::INFINITE - 1)));
            let is_near = _mm512_cmple_epu64_mask(lower, _mm512_set1_epi64(1))
                & _mm512_cmpeq_epi64_mask(
                    _mm512_and_si512(significand, _mm512_set1_epi64(3)),
                    _mm512_set1_epi64(1),
                )
                & _mm512_cmpeq_epi64_mask(_mm512_sllv_epi64(significand, shift), upper);
            let undecided = (!is_there | is_wide | is_near) & !is_zero;

            let odd = _mm512_and_si512(significand, _mm512_set1_epi64(1));
            let rounded = _mm512_srli_epi64::<1>(_mm512_add_epi64(significand, odd));
            let field = _mm512_sllv_epi64(exponent, _mm512_set1_epi64(N::FRACTION.into()));
            let bits = _mm512_mask_add_epi64(zero, !is_zero, field, rounded);
            let negative = load(&self.negative, first);
            let sign = _mm512_cvtepu32_epi64(negative);
            let sign = _mm512_sllv_epi64(sign, _mm512_set1_epi64(N::SIGN.into()));
            (_mm512_or_si512(bits, sign), undecided)
        }
    }

    /// The first four groups of four digits, of a value and the three values two, four and six further on.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn fours(&self, first: usize) -> __m512i {
        // SAFETY: there are `MAX_REALS` records, eight of them from `first` on, each aligned to 16 bytes.
        unsafe {
            let records = self.records.as_ptr().add(first);
            let four = _mm512_castsi128_si512(_mm_load_si128(records.cast()));
            let four = _mm512_inserti32x4::<1>(four, _mm_load_si128(records.add(2).cast()));
            let four = _mm512_inserti32x4::<2>(four, _mm_load_si128(records.add(4).cast()));
            let four = _mm512_inserti32x4::<3>(four, _mm_load_si128(records.add(6).cast()));
            let pairs = _mm512_maddubs_epi16(four, _mm512_set1_epi16(0x01_0a));
            _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064))
        }
    }

    /// The values of nineteen digits, for eight numbers.
    ///
    /// # Safety
    /// As [`read`](Self::read).
    #[inline(always)]
    unsafe fn numbers(&self, first: usize) -> __m512i {
        // SAFETY: there are `MAX_REALS` records, eight of them from `first` on, each aligned to 16 bytes.
        unsafe {
            let records = self.records.as_ptr().add(first);
            // Even and odd values interleaved.
            let fours = _mm512_packus_epi32(self.fours(first), self.fours(first + 1));
            let eights = _mm512_madd_epi16(fours, _mm512_set1_epi32(0x0001_2710));
            let high = _mm512_mul_epu32(eights, _mm512_set1_epi64(100_000_000));
            let sixteen = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(eights));

            let places = _mm256_setr_epi32(0, 8, 16, 24, 32, 40, 48, 56);
            let three = _mm256_i32gather_epi32::<4>(records.cast::<i32>().add(4), places);
            let three = hundreds(three);
            let thousand = _mm512_set1_epi64(1000);
            let low = _mm512_mul_epu32(sixteen, thousand);
            let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(sixteen), thousand);
            let number = _mm512_add_epi64(low, _mm512_slli_epi64::<32>(high));
            _mm512_add_epi64(number, _mm512_cvtepu32_epi64(three))
        }
    }
}

/// The values of up to three digits before these ends.
///
/// # Safety
/// AVX2; four bytes before each end can be read.
#[inline(always)]
unsafe fn exponents(text: *const u8, ends: __m256i, digits: __m256i) -> __m256i {
    // SAFETY: the caller guarantees that four bytes before each end can be read.
    unsafe {
        let four = _mm256_i32gather_epi32::<1>(text.sub(4).cast(), ends);
        let three = _mm256_srli_epi32::<8>(four);
        let shift = _mm256_sub_epi32(_mm256_set1_epi32(24), _mm256_slli_epi32::<3>(digits));
        let mask = _mm256_sllv_epi32(_mm256_set1_epi32(0x0f_0f_0f), shift);
        hundreds(_mm256_and_si256(three, mask))
    }
}

/// The values of three digits, left-aligned.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn hundreds(digits: __m256i) -> __m256i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        // The lowest byte is the first digit: times a hundred.
        let weights = _mm256_set1_epi32(0x0001_0a64);
        _mm256_madd_epi16(_mm256_maddubs_epi16(digits, weights), _mm256_set1_epi16(1))
    }
}

/// The upper and the lower halves of products.
///
/// # Safety
/// AVX-512.
#[inline(always)]
unsafe fn product(one: __m512i, other: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let half = _mm512_set1_epi64(0xffff_ffff);
        let (upper, above) = (_mm512_srli_epi64::<32>(one), _mm512_srli_epi64::<32>(other));
        let lowest = _mm512_mul_epu32(one, other);
        let middle = _mm512_mul_epu32(upper, other);
        let middle = _mm512_add_epi64(middle, _mm512_srli_epi64::<32>(lowest));
        let other_middle = _mm512_mul_epu32(one, above);
        let other_middle = _mm512_add_epi64(other_middle, _mm512_and_si512(middle, half));
        let highest = _mm512_mul_epu32(upper, above);
        let highest = _mm512_add_epi64(highest, _mm512_srli_epi64::<32>(middle));
        let highest = _mm512_add_epi64(highest, _mm512_srli_epi64::<32>(other_middle));
        let lowest = _mm512_and_si512(lowest, half);
        let low = _mm512_or_si512(_mm512_slli_epi64::<32>(other_middle), lowest);
        (highest, low)
    }
}

/// A byte in all places.
///
/// # Safety
/// AVX-512.
#[inline(always)]
unsafe fn byte(byte: u8) -> __m512i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe { _mm512_set1_epi8(byte as i8) }
}

/// Of masks with one bit each, the bits below it; all of them where there is none.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn below(masks: __m256i) -> __m256i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe { _mm256_sub_epi32(masks, _mm256_set1_epi32(1)) }
}

/// The lowest bits that are set.
///
/// # Safety
/// AVX2.
#[inline(always)]
unsafe fn lowest(masks: __m256i) -> __m256i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe { _mm256_and_si256(masks, _mm256_sub_epi32(_mm256_setzero_si256(), masks)) }
}

/// Reads eight lanes, beginning with lane `first`.
///
/// # Safety
/// AVX2. `first` is a multiple of eight, and `first + 8` is at most the number of lanes.
#[inline(always)]
unsafe fn load(lanes: &Lanes, first: usize) -> __m256i {
    // SAFETY: the caller guarantees eight lanes from `first` on; lanes are aligned to 32 bytes, and `first` is a multiple
    // of eight.
    unsafe { _mm256_load_si256(lanes.as_ptr().add(first).cast()) }
}

/// Writes eight lanes, beginning with lane `first`.
///
/// # Safety
/// AVX2. `first` is a multiple of eight, and `first + 8` is at most the number of lanes.
#[inline(always)]
unsafe fn store(lanes: &mut Lanes, first: usize, eight: __m256i) {
    // SAFETY: the caller guarantees eight lanes from `first` on; lanes are aligned to 32 bytes, and `first` is a multiple
    // of eight.
    unsafe { _mm256_store_si256(lanes.as_mut_ptr().add(first).cast(), eight) };
}

/// Two masks, side by side.
///
/// # Safety
/// There are two from `first` on.
#[inline(always)]
unsafe fn two(lanes: &mut Lanes, first: usize, masks: u64) {
    // SAFETY: the caller guarantees two lanes from `first` on; the write is unaligned.
    unsafe {
        lanes
            .as_mut_ptr()
            .add(first)
            .cast::<u64>()
            .write_unaligned(masks);
    }
}
