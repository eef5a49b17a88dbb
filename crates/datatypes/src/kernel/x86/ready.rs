//! Numbers made ready to be text, eight at a time, with AVX-512.
//!
//! The shortest digits are found with zmij's algorithm (its crate has the proof): with p = 10^k rounded down to 128 bits,
//! `significand · p` has 15 or 16 digits before its binary point, and the bits after the point decide whether they
//! suffice, must be rounded up, or want one digit more. A significand is 1 and a fraction of 52 bits, and a product of 52
//! bits is one instruction:
//!
//! ```text
//!                      q2          q1          q0        p, moved left so that the point is at a limb's end
//!   ×                                    fraction
//!          ────────────────────────────────────────
//!          integral  │ fractional   …                    four limbs of 52 bits; the last is not needed
//! ```
//!
//! Then each value has its digits, `.`, `0` and its exponent's text in 24 bytes, and one permute of bytes, looked up by the
//! notation and the number of digits, puts them where they belong. No branch depends on a value, but for those that zmij
//! treats apart (subnormal, powers of two, infinite, NaN): these are left to [`format`](crate::double::format()).

use std::arch::asm;
use std::arch::x86_64::*;

use crate::double;

use crate::powers::{LEAST, POWERS};

/// How many values are made ready before they are written.
pub(super) const BLOCK: usize = 64;

/// Values ready to be written.
#[repr(C, align(64))]
pub(super) struct Ready {
    /// Sixteen digits of each value; of each eight values those at even places first.
    digits: [[u8; 16]; BLOCK],
    /// What else its text is made of.
    pub(super) rest: [u64; BLOCK + 1],
    /// The offset of an integer's first digit in `digits`; the index of a double's permutation.
    layout: [u64; BLOCK],
    /// The length of the text.
    pub(super) length: [u64; BLOCK],
    /// 1 for what is negative.
    pub(super) negative: [u64; BLOCK],
    /// Those that are left to the general formatter.
    pub(super) odd: u64,
}

impl Ready {
    pub(super) const fn new() -> Self {
        Self {
            digits: [[0; 16]; BLOCK],
            rest: [0; BLOCK + 1],
            layout: [0; BLOCK],
            length: [0; BLOCK],
            negative: [0; BLOCK],
            odd: 0,
        }
    }

    /// The text of a double, but for its sign.
    ///
    /// # Safety
    /// AVX-512 VBMI; `at` is below [`BLOCK`], and a double is ready there.
    #[inline(always)]
    pub(super) unsafe fn double(&self, at: usize) -> __m256i {
        // SAFETY: `at` is below `BLOCK` and a double is ready there, as the caller guarantees, so its layout is an index of
        // the table.
        unsafe {
            let digits = usize::from(*PLACES.get_unchecked(at));
            let digits = _mm_load_si128(self.digits.get_unchecked(digits).as_ptr().cast());
            let rest = _mm_loadu_si128(self.rest.as_ptr().add(at).cast());
            let parts = _mm256_set_m128i(rest, digits);
            let control = LAYOUTS.get_unchecked(*self.layout.get_unchecked(at) as usize);
            let control = _mm256_loadu_si256(control.as_ptr().cast());
            _mm256_permutexvar_epi8(control, parts)
        }
    }

    /// # Safety
    /// AVX-512 VBMI; `at` is below [`BLOCK`], a double is ready there, and 32 bytes can be written.
    #[inline(always)]
    pub(super) unsafe fn put_double(&self, at: usize, out: *mut u8) {
        // SAFETY: the caller guarantees that a double is ready at `at`, and that 32 bytes can be written.
        unsafe { _mm256_storeu_si256(out.cast(), self.double(at)) };
    }

    /// The last sixteen digits of an integer.
    ///
    /// # Safety
    /// `at` is below [`BLOCK`], and an integer is ready there.
    #[inline(always)]
    pub(super) unsafe fn integer(&self, at: usize) -> __m128i {
        // SAFETY: `at` is below `BLOCK` and an integer is ready there, as the caller guarantees, so its layout is an offset
        // in the digits, behind which `rest` follows.
        unsafe {
            let digits: *const u8 = self.digits.as_ptr().cast();
            let digits = digits.add(*self.layout.get_unchecked(at) as usize);
            _mm_loadu_si128(digits.cast())
        }
    }

    /// # Safety
    /// `at` is below [`BLOCK`], an integer is ready there, and 16 bytes can be written.
    #[inline(always)]
    pub(super) unsafe fn put_integer(&self, at: usize, out: *mut u8) {
        // SAFETY: the caller guarantees that an integer is ready at `at`, and that 16 bytes can be written.
        unsafe { _mm_storeu_si128(out.cast(), self.integer(at)) };
    }

    /// An integer of more than sixteen digits. Returns the length of its text.
    ///
    /// # Safety
    /// `at` is below [`BLOCK`], an integer is ready there, and 32 bytes can be written.
    #[inline(always)]
    pub(super) unsafe fn put_long(&self, at: usize, out: *mut u8) -> usize {
        // SAFETY: the caller guarantees that 32 bytes can be written: a sign, at most four digits, and sixteen.
        unsafe {
            out.write(b'-');
            let negative = self.negative[at] as usize;
            let before = self.rest[at] as u32;
            let more = [before > 9, before > 99, before > 999];
            let count = 1 + more.into_iter().map(usize::from).sum::<usize>();
            let pair = |two: u32| (two / 10) | ((two % 10) << 8);
            let digits = 0x3030_3030 | pair(before / 100) | (pair(before % 100) << 16);
            let digits = digits >> (8 * (4 - count));
            out.add(negative).cast::<u32>().write_unaligned(digits);
            self.put_integer(at, out.add(negative + count));
            negative + count + 16
        }
    }
}

/// A kind of numbers that are made ready.
pub(super) trait Kind {
    /// Makes eight ready.
    ///
    /// # Safety
    /// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; `at` is a multiple of 8 below [`BLOCK`].
    unsafe fn ready(values: __m512i, ready: &mut Ready, at: usize);

    /// Writes the text of one, but for its sign. What is behind it has no meaning.
    ///
    /// # Safety
    /// The same features; one of this kind is ready at `at`, and not odd; 32 bytes can be written.
    unsafe fn put(ready: &Ready, at: usize, out: *mut u8);

    /// Writes one that is odd, sign and all, given its slot. Returns the length of its text.
    ///
    /// # Safety
    /// 32 bytes can be written.
    unsafe fn odd(ready: &Ready, at: usize, slot: u64, out: *mut u8) -> usize;
}

/// Given by their bits.
pub(super) struct Doubles;

/// Of 64 bits.
pub(super) struct Integers<const SIGNED: bool>;

impl Kind for Doubles {
    #[inline(always)]
    unsafe fn ready(values: __m512i, ready: &mut Ready, at: usize) {
        // SAFETY: the caller guarantees the features and the index.
        unsafe { ready_doubles(values, ready, at) };
    }

    #[inline(always)]
    unsafe fn put(ready: &Ready, at: usize, out: *mut u8) {
        // SAFETY: the caller guarantees that a double is ready at `at`, and that 32 bytes can be written.
        unsafe { ready.put_double(at, out) };
    }

    #[inline(always)]
    unsafe fn odd(_: &Ready, _: usize, slot: u64, out: *mut u8) -> usize {
        // SAFETY: the caller guarantees that 32 bytes can be written.
        unsafe { general(slot, out) }
    }
}

impl<const SIGNED: bool> Kind for Integers<SIGNED> {
    #[inline(always)]
    unsafe fn ready(values: __m512i, ready: &mut Ready, at: usize) {
        // SAFETY: the caller guarantees the features and the index.
        unsafe { ready_integers::<SIGNED>(values, ready, at) };
    }

    #[inline(always)]
    unsafe fn put(ready: &Ready, at: usize, out: *mut u8) {
        // SAFETY: the caller guarantees that an integer is ready at `at`, and that 32 bytes can be written.
        unsafe { ready.put_integer(at, out) };
    }

    #[inline(always)]
    unsafe fn odd(ready: &Ready, at: usize, _: u64, out: *mut u8) -> usize {
        // SAFETY: the caller guarantees that 32 bytes can be written.
        unsafe { ready.put_long(at, out) }
    }
}

/// Writes a double that is not ready.
///
/// # Safety
/// 32 bytes can be written.
#[cold]
#[inline(never)]
unsafe fn general(slot: u64, out: *mut u8) -> usize {
    let mut text = [0; 32];
    let length = double::format(f64::from_bits(slot), &mut text);
    // SAFETY: the caller guarantees that 32 bytes can be written; `text` is a local array, so it is not among them.
    unsafe { out.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    length
}

/// The index of a value's digits.
static PLACES: [u8; BLOCK] = {
    let mut places = [0; BLOCK];
    let mut at = 0;
    while at < BLOCK {
        places[at] = ((at & !7) + (at & 1) * 4 + (at & 7) / 2) as u8;
        at += 1;
    }
    places
};

/// Up to eight values.
///
/// # Safety
/// AVX-512 F.
#[inline(always)]
pub(super) unsafe fn load(values: &[u64]) -> __m512i {
    let mask = (0xff_u32 >> (8 - values.len().min(8))) as u8;
    // SAFETY: as many values are loaded as `values` has, eight at most: the mask leaves the others out.
    unsafe { _mm512_maskz_loadu_epi64(mask, values.as_ptr().cast()) }
}

/// Up to eight values of a column, from the first of `slots` on.
///
/// # Safety
/// AVX-512 F, DQ.
#[inline(always)]
pub(super) unsafe fn load_column(slots: &[u64], stride: usize) -> __m512i {
    let count = slots.len().div_ceil(stride).min(8);
    let mask = (0xff_u32 >> (8 - count)) as u8;
    // SAFETY: the mask leaves out what is not in `slots`: value `n` is at `n * stride`.
    unsafe {
        let numbers = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let places = _mm512_mullo_epi64(numbers, _mm512_set1_epi64(stride as i64));
        let nothing = _mm512_setzero_si512();
        _mm512_mask_i64gather_epi64::<8>(nothing, mask, places, slots.as_ptr().cast())
    }
}

/// Makes eight doubles ready.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; `at` is a multiple of 8 below [`BLOCK`].
#[inline(always)]
unsafe fn ready_doubles(bits: __m512i, ready: &mut Ready, at: usize) {
    // SAFETY: the caller guarantees the features; eight values are stored from `at` on, a multiple of 8 below `BLOCK`.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        let one = all(1);
        let fraction = _mm512_and_si512(bits, all(LIMB));
        let field = _mm512_and_si512(_mm512_srli_epi64::<52>(bits), all(0x7ff));
        ready.odd |= u64::from(odd_doubles(fraction, field)) << at;
        let Shortest {
            digits,
            digit,
            longer,
            point,
        } = shortest(bits, scaled(fraction, field));
        let (high, low) = sixteen_digits(digits);
        let count = significant(high, low, longer);

        // The notation: fixed from 10^-5 to below 10^16.
        let notation = _mm512_min_epu64(_mm512_add_epi64(point, all(5)), all(SCIENTIFIC as i64));
        let layout = _mm512_add_epi64(_mm512_slli_epi64::<4>(notation), notation);
        let layout = _mm512_add_epi64(layout, _mm512_sub_epi64(count, one));
        let scientific = _mm512_cmpeq_epi64_mask(notation, all(SCIENTIFIC as i64));
        let texts: *const i64 = EXPONENTS.as_ptr().cast();
        let text = _mm512_i64gather_epi64::<8>(_mm512_add_epi64(point, all(LEAST_EXPONENT)), texts);
        let length = length(count, point, scientific, text);
        let negative = _mm512_srli_epi64::<63>(bits);
        let length = _mm512_add_epi64(length, negative);

        let zeros = all(0x3030_3030_3030_3030);
        let rest = _mm512_andnot_si512(all(0xff_ffff), text);
        let rest = _mm512_or_si512(_mm512_or_si512(rest, digit), all(0x30_2e_30));
        let (high, low) = (_mm512_or_si512(high, zeros), _mm512_or_si512(low, zeros));
        store(&mut ready.digits[at..at + 8], high, low);
        _mm512_storeu_si512(ready.rest[at..at + 8].as_mut_ptr().cast(), rest);
        // (An odd lane has no layout.)
        let layout = _mm512_min_epu64(layout, all(COUNT as i64 - 1));
        _mm512_storeu_si512(ready.layout[at..at + 8].as_mut_ptr().cast(), layout);
        _mm512_storeu_si512(ready.length[at..at + 8].as_mut_ptr().cast(), length);
        _mm512_storeu_si512(ready.negative[at..at + 8].as_mut_ptr().cast(), negative);
    }
}

/// All bits of a limb.
const LIMB: i64 = (1 << 52) - 1;

/// Which doubles are left to the general formatter. Zero fractions are treated apart, but for exponents where it makes no
/// difference; so are subnormals and infinities.
///
/// # Safety
/// AVX-512 F.
#[inline(always)]
unsafe fn odd_doubles(fraction: __m512i, field: __m512i) -> __mmask8 {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        let is_power = _mm512_testn_epi64_mask(fraction, fraction);
        let is_far = _mm512_cmpgt_epu64_mask(
            _mm512_sub_epi64(field, all(WINDOW.0)),
            all(WINDOW.1 - WINDOW.0),
        );
        let is_edge = _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(field, all(1)), all(0x7fd));
        (is_power & is_far) | is_edge
    }
}

/// Significands times the powers of ten that leave 15 or 16 digits before the point.
struct Scaled {
    /// What is before the point, and the 64 bits behind it.
    integral: __m512i,
    fractional: __m512i,
    /// floor(log10(2^exponent)).
    decimal: __m512i,
    /// The upper words of the powers, and how far they are moved.
    high: __m512i,
    shift: __m512i,
}

/// # Safety
/// AVX-512 F, IFMA, VBMI2.
#[inline(always)]
unsafe fn scaled(fraction: __m512i, field: __m512i) -> Scaled {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        let limb = all(LIMB);
        let exponent = _mm512_sub_epi64(field, all(1075));
        let decimal = _mm512_srai_epi64::<20>(_mm512_mul_epi32(exponent, all(315_653)));
        let power = _mm512_sub_epi64(all(-1), decimal);
        let binary = _mm512_srai_epi64::<16>(_mm512_mul_epi32(power, all(217_707)));
        let shift = _mm512_add_epi64(_mm512_add_epi64(exponent, binary), all(7));
        let index = _mm512_add_epi64(_mm512_slli_epi64::<1>(power), all(-2 * LEAST as i64));
        let table: *const i64 = POWERS.as_ptr().cast();
        // (An odd lane's index is inside, too: it depends on the field only.)
        let high = _mm512_i64gather_epi64::<8>(index, table);
        let low = _mm512_i64gather_epi64::<8>(index, table.add(1));

        let q2 = _mm512_srlv_epi64(high, _mm512_sub_epi64(all(18), shift));
        let q1 = _mm512_shrdv_epi64(low, high, _mm512_sub_epi64(all(30), shift));
        let q1 = _mm512_and_si512(q1, limb);
        let q0 = _mm512_sllv_epi64(low, _mm512_add_epi64(all(22), shift));
        let q0 = _mm512_and_si512(q0, limb);
        let l1 = _mm512_madd52hi_epu64(q0, fraction, q0);
        let l1 = _mm512_madd52lo_epu64(l1, fraction, q1);
        let l2 = _mm512_madd52hi_epu64(q1, fraction, q1);
        let l2 = _mm512_madd52lo_epu64(l2, fraction, q2);
        let l2 = _mm512_add_epi64(l2, _mm512_srli_epi64::<52>(l1));
        let l3 = _mm512_madd52hi_epu64(q2, fraction, q2);
        Scaled {
            integral: _mm512_add_epi64(l3, _mm512_srli_epi64::<52>(l2)),
            fractional: _mm512_shldi_epi64::<12>(l2, _mm512_slli_epi64::<12>(l1)),
            decimal,
            high,
            shift,
        }
    }
}

/// The shortest digits that mean the same doubles: always sixteen, and one more where that is needed.
struct Shortest {
    /// As one number.
    digits: __m512i,
    /// The seventeenth, and which of them have it.
    digit: __m512i,
    longer: __mmask8,
    /// Where the decimal point is: 0 behind the first.
    point: __m512i,
}

/// # Safety
/// AVX-512 F.
#[inline(always)]
unsafe fn shortest(bits: __m512i, scaled: Scaled) -> Shortest {
    let Scaled {
        integral,
        fractional,
        decimal,
        high,
        shift,
    } = scaled;
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        let one = all(1);
        // Half the distance to the neighbours; an even significand has the bounds as well.
        let half = _mm512_srlv_epi64(high, _mm512_sub_epi64(all(7), shift));
        let half = _mm512_add_epi64(half, _mm512_andnot_si512(bits, one));
        let up = _mm512_cmplt_epu64_mask(_mm512_add_epi64(fractional, half), fractional);
        let down = _mm512_cmpgt_epu64_mask(half, fractional);
        let longer = !(up | down);
        let integral = _mm512_mask_add_epi64(integral, up, integral, one);
        // The digit behind: (fractional · 10 + 2^63 + 6) / 2^64.
        let ten = all(10);
        let lower = _mm512_add_epi64(_mm512_mul_epu32(fractional, ten), all(6));
        let upper = _mm512_mul_epu32(_mm512_srli_epi64::<32>(fractional), ten);
        let upper = _mm512_add_epi64(upper, all(1 << 31));
        let digit = _mm512_add_epi64(upper, _mm512_srli_epi64::<32>(lower));
        let digit = _mm512_srli_epi64::<32>(digit);
        // A quarter is 2.5, which is rounded to 2.
        let quarter = _mm512_cmpeq_epi64_mask(fractional, all(1 << 62));
        let digit = _mm512_mask_mov_epi64(digit, quarter, all(2));
        let digit = _mm512_maskz_mov_epi64(longer, digit);

        // Always sixteen digits: with fifteen, the one behind is taken in.
        let short = _mm512_cmplt_epu64_mask(integral, all(1_000_000_000_000_000));
        let times_five = _mm512_add_epi64(opaque(_mm512_slli_epi64::<2>(integral)), integral);
        let times_ten = _mm512_add_epi64(times_five, times_five);
        let point = _mm512_add_epi64(decimal, all(16));
        Shortest {
            digits: _mm512_mask_add_epi64(integral, short, times_ten, digit),
            digit,
            longer: longer & !short,
            point: _mm512_mask_sub_epi64(point, short, point, one),
        }
    }
}

/// How many digits are left without the zeros at the end. They are given as [`sixteen_digits`] has them; some have one more,
/// which is none.
///
/// # Safety
/// AVX-512 F, CD.
#[inline(always)]
unsafe fn significant(high: __m512i, low: __m512i, longer: __mmask8) -> __m512i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        // The last digit is the lowest byte.
        let is_round = _mm512_testn_epi64_mask(low, low);
        let digits = _mm512_mask_mov_epi64(low, is_round, high);
        let lowest = _mm512_and_si512(digits, _mm512_sub_epi64(_mm512_setzero_si512(), digits));
        // lzcnt of a byte's bit, the byte's zeros counted from above: 1 to 8 digits.
        let count = _mm512_srli_epi64::<3>(_mm512_lzcnt_epi64(lowest));
        let count = _mm512_mask_add_epi64(_mm512_add_epi64(count, all(9)), is_round, count, all(1));
        _mm512_mask_mov_epi64(count, longer, all(17))
    }
}

/// The lengths of texts without their signs: of a fraction below 1, `0.000` and the digits; else the digits, a dot if some
/// follow it, zeros if the point is after them; in scientific notation, the digits, a dot if there are several, the
/// exponent, of which `text` has the length in its lowest byte.
///
/// # Safety
/// AVX-512 F.
#[inline(always)]
unsafe fn length(count: __m512i, point: __m512i, scientific: __mmask8, text: __m512i) -> __m512i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        let one = all(1);
        let whole = _mm512_add_epi64(point, one);
        let has_dot = _mm512_cmpgt_epi64_mask(count, whole);
        let fixed = _mm512_max_epi64(count, whole);
        let fixed = _mm512_mask_add_epi64(fixed, has_dot, fixed, one);
        let below = _mm512_cmplt_epi64_mask(point, _mm512_setzero_si512());
        let fixed = _mm512_mask_sub_epi64(fixed, below, fixed, point);
        let several = _mm512_cmpgt_epi64_mask(count, one);
        let long = _mm512_add_epi64(count, _mm512_and_si512(text, all(0xff)));
        let long = _mm512_mask_add_epi64(long, several, long, one);
        _mm512_mask_mov_epi64(fixed, scientific, long)
    }
}

/// Makes eight integers ready.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2; `at` is a multiple of 8 below [`BLOCK`].
#[inline(always)]
unsafe fn ready_integers<const SIGNED: bool>(values: __m512i, ready: &mut Ready, at: usize) {
    // SAFETY: the caller guarantees the features; eight values are stored from `at` on, a multiple of 8 below `BLOCK`.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        let (negative, magnitude) = match SIGNED {
            true => (_mm512_srli_epi64::<63>(values), _mm512_abs_epi64(values)),
            false => (_mm512_setzero_si512(), values),
        };
        let odd = _mm512_cmpge_epu64_mask(magnitude, all(TEN_16));
        ready.odd |= u64::from(odd) << at;
        let mut magnitude = magnitude;
        if odd != 0 {
            // More than sixteen digits: those before them. 10^16 = 2^16 · 152587890625.
            let reciprocal = all((((1_u128 << 89) / 152_587_890_625) + 1) as i64);
            let upper = _mm512_srli_epi64::<16>(magnitude);
            let before = _mm512_madd52hi_epu64(_mm512_setzero_si512(), upper, reciprocal);
            let before = _mm512_srli_epi64::<37>(before);
            magnitude = _mm512_sub_epi64(magnitude, _mm512_mullo_epi64(before, all(TEN_16)));
            _mm512_storeu_si512(ready.rest[at..at + 8].as_mut_ptr().cast(), before);
        }
        let (high, low) = sixteen_digits(magnitude);
        // Zeros in front: the first digit is the highest byte. Of 0, one is left.
        let is_short = _mm512_testn_epi64_mask(high, high);
        let digits = _mm512_mask_or_epi64(high, is_short, low, all(1));
        let zeros = _mm512_srli_epi64::<3>(_mm512_lzcnt_epi64(digits));
        let zeros = _mm512_mask_add_epi64(zeros, is_short, zeros, all(8));
        let zeros = _mm512_maskz_mov_epi64(!odd, zeros);
        let length = _mm512_add_epi64(_mm512_sub_epi64(all(16), zeros), negative);
        let swap = _mm512_broadcast_i64x2(_mm_setr_epi8(
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
        ));
        let ascii =
            |digits| _mm512_shuffle_epi8(_mm512_or_si512(digits, all(0x3030_3030_3030_3030)), swap);
        store(&mut ready.digits[at..at + 8], ascii(high), ascii(low));
        let places = _mm512_setr_epi64(0, 64, 16, 80, 32, 96, 48, 112);
        let layout = _mm512_add_epi64(_mm512_add_epi64(places, all(16 * at as i64)), zeros);
        _mm512_storeu_si512(ready.layout[at..at + 8].as_mut_ptr().cast(), layout);
        _mm512_storeu_si512(ready.length[at..at + 8].as_mut_ptr().cast(), length);
        _mm512_storeu_si512(ready.negative[at..at + 8].as_mut_ptr().cast(), negative);
    }
}

/// The digits of numbers below 10^16, the first eight and the last eight, a byte each; the last digit is the lowest byte.
///
/// # Safety
/// AVX-512 F, BW, IFMA.
#[inline(always)]
unsafe fn sixteen_digits(value: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        // 10^8 = 2^8 · 390625; 2^70 / 390625, rounded up, is exact enough for 46 bits.
        let eighth = _mm512_srli_epi64::<8>(value);
        let reciprocal = all((((1_u128 << 70) / 390_625) + 1) as i64);
        let high = _mm512_madd52hi_epu64(_mm512_setzero_si512(), eighth, reciprocal);
        let high = _mm512_srli_epi64::<18>(high);
        // value - 10^8 · high, in 52 bits.
        let low = _mm512_madd52lo_epu64(value, high, all((1 << 52) - 100_000_000));
        let low = _mm512_and_si512(low, all((1 << 52) - 1));
        (eight_digits(high), eight_digits(low))
    }
}

/// The same, but the compiler does not know: it would take a shift and an addition for a product, which takes longer.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque(mut value: __m512i) -> __m512i {
    // SAFETY: there is no instruction in it.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    value
}

/// The digits of numbers below 10^8.
///
/// # Safety
/// AVX-512 F, BW.
#[inline(always)]
unsafe fn eight_digits(value: __m512i) -> __m512i {
    // SAFETY: the features are enabled, as the caller guarantees; only registers are used.
    unsafe {
        let all = |value: i64| _mm512_set1_epi64(value);
        // Quotient above, remainder below: value + (2^n - d) · quotient.
        let quotient = _mm512_srli_epi64::<40>(_mm512_mul_epu32(value, all(109_951_163)));
        let fours = _mm512_add_epi64(value, _mm512_mul_epu32(quotient, all((1 << 32) - 10_000)));
        let quotient = _mm512_mulhi_epu16(fours, _mm512_set1_epi32(5243));
        let quotient = _mm512_srli_epi32::<3>(quotient);
        let rest = _mm512_sub_epi32(fours, _mm512_mullo_epi16(quotient, _mm512_set1_epi32(100)));
        let pairs = _mm512_or_si512(rest, _mm512_slli_epi32::<16>(quotient));
        let tens = _mm512_mulhi_epu16(pairs, _mm512_set1_epi16(6554));
        _mm512_add_epi16(pairs, _mm512_mullo_epi16(tens, _mm512_set1_epi16(246)))
    }
}

/// Stores two vectors as eight times two words, those at even places first.
///
/// # Safety
/// AVX-512 F.
#[inline(always)]
unsafe fn store(digits: &mut [[u8; 16]], first: __m512i, second: __m512i) {
    assert_eq!(digits.len(), 8);
    let out: *mut u8 = digits.as_mut_ptr().cast();
    // SAFETY: `digits` are eight times 16 bytes, which is twice 64.
    unsafe {
        _mm512_storeu_si512(out.cast(), _mm512_unpacklo_epi64(first, second));
        _mm512_storeu_si512(out.add(64).cast(), _mm512_unpackhi_epi64(first, second));
    }
}

/// The exponent fields of powers of two with which regular rounding gives what theirs gives: 2^-20 to 2^59. (Tried on all.)
const WINDOW: (i64, i64) = (1023 - 20, 1023 + 59);

const TEN_16: i64 = 10_000_000_000_000_000;

/// Fixed notations are -5 to 15, less -5.
const SCIENTIFIC: usize = 21;
/// Notations times numbers of digits.
const COUNT: usize = (SCIENTIFIC + 1) * 17;

/// The indices of digits and other bytes among a value's parts.
const DOT: u8 = 17;
const ZERO: u8 = 18;
const EXPONENT: u8 = 19;

const fn part_of_digit(digit: usize) -> u8 {
    match digit {
        0..8 => 7 - digit as u8,
        8..16 => 23 - digit as u8,
        _ => 16,
    }
}

/// Which part goes where, by notation and number of digits.
static LAYOUTS: [[u8; 32]; COUNT] = {
    let mut all = [[0; 32]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = layout(at / 17, at % 17 + 1);
        at += 1;
    }
    all
};

const fn layout(notation: usize, digits: usize) -> [u8; 32] {
    let mut text = [ZERO; 32];
    let mut at = 0;
    let point = notation as isize - 5;
    if notation < SCIENTIFIC && point < 0 {
        text[1] = DOT;
        at = (1 - point) as usize;
        let mut digit = 0;
        while digit < digits {
            text[at] = part_of_digit(digit);
            at += 1;
            digit += 1;
        }
        return text;
    }
    let whole = if notation == SCIENTIFIC {
        1
    } else {
        point as usize + 1
    };
    let mut digit = 0;
    while digit < digits {
        if digit == whole {
            text[at] = DOT;
            at += 1;
        }
        text[at] = part_of_digit(digit);
        at += 1;
        digit += 1;
    }
    if notation == SCIENTIFIC {
        let mut byte = 0;
        while byte < 5 {
            text[at] = EXPONENT + byte;
            at += 1;
            byte += 1;
        }
    }
    text
}

/// The least exponent, less its sign.
const LEAST_EXPONENT: i64 = 330;

/// The text of exponents in the upper five bytes, its length in the lowest.
static EXPONENTS: [u64; 660] = {
    let mut all = [0; 660];
    let mut at = 0;
    while at < 660 {
        let exponent = at as i64 - LEAST_EXPONENT;
        let size = exponent.unsigned_abs();
        let sign = if exponent < 0 { b'-' } else { b'+' };
        let mut text = [b'e', sign, b'0', b'0', b'0'];
        let mut length = 2;
        if size >= 100 {
            text[length] = b'0' + (size / 100) as u8;
            length += 1;
        }
        if size >= 10 {
            text[length] = b'0' + (size / 10 % 10) as u8;
            length += 1;
        }
        text[length] = b'0' + (size % 10) as u8;
        length += 1;
        all[at] = u64::from_le_bytes([
            length as u8,
            0,
            0,
            text[0],
            text[1],
            text[2],
            text[3],
            text[4],
        ]);
        at += 1;
    }
    all
};
