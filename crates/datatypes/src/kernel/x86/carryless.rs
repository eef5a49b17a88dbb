//! Products of polynomials with PCLMULQDQ. Earned by the benchmark `dds-table1`, engine `bsoap:lcp-keyed/512`.

use std::arch::x86_64::{
    __m128i, __m512i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_setzero_si128,
    _mm_slli_epi64, _mm_srli_epi64, _mm_unpackhi_epi64, _mm_unpacklo_epi64, _mm_xor_si128,
    _mm256_castsi256_si128, _mm256_extracti128_si256, _mm256_xor_si256, _mm512_castsi512_si256,
    _mm512_clmulepi64_epi128, _mm512_extracti64x4_epi64, _mm512_loadu_si512,
    _mm512_maskz_loadu_epi8, _mm512_setzero_si512, _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::super::products::{APART, MOST, SECRET};

type Secret = [u64; SECRET];

/// The lower word of each half times the upper one.
const WITHIN: i32 = 0x10;

/// Both sums reduced: x⁶⁴ is x⁴ + x³ + x + 1.
#[inline]
#[target_feature(enable = "sse2")]
fn reduce(a: __m128i, b: __m128i) -> [u64; 2] {
    let (low, high) = (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
    let xor = |one, other| _mm_xor_si128(one, other);
    let over = xor(_mm_srli_epi64::<63>(high), _mm_srli_epi64::<61>(high));
    let high = xor(high, xor(over, _mm_srli_epi64::<60>(high)));
    let reduced = xor(_mm_slli_epi64::<1>(high), _mm_slli_epi64::<3>(high));
    let reduced = xor(xor(reduced, _mm_slli_epi64::<4>(high)), xor(low, high));
    let other = _mm_unpackhi_epi64(reduced, reduced);
    [reduced, other].map(|word| _mm_cvtsi128_si64(word) as u64)
}

/// One product at a time.
#[target_feature(enable = "sse2,pclmulqdq")]
pub(super) fn one(text: &[u8], secret: &Secret) -> [u64; 2] {
    let (mut a, mut b) = (_mm_setzero_si128(), _mm_setzero_si128());
    let mut last = [0; 64];
    let (whole, rest) = text[..text.len().min(MOST)].as_chunks::<64>();
    last[..rest.len()].copy_from_slice(rest);
    let blocks = whole.iter().chain((!rest.is_empty()).then_some(&last));
    let pairs = blocks.flat_map(|block| block.as_chunks::<16>().0);
    for (pair, keys) in pairs.zip(secret.windows(APART + 2).step_by(2)) {
        // SAFETY: the loads are unaligned; `pair` has 16 bytes, `keys` twice as many.
        let (pair, key, next) = unsafe {
            (
                _mm_loadu_si128(pair.as_ptr().cast()),
                _mm_loadu_si128(keys.as_ptr().cast()),
                _mm_loadu_si128(keys[APART..].as_ptr().cast()),
            )
        };
        let (m, n) = (_mm_xor_si128(pair, key), _mm_xor_si128(pair, next));
        a = _mm_xor_si128(a, _mm_clmulepi64_si128::<WITHIN>(m, m));
        b = _mm_xor_si128(b, _mm_clmulepi64_si128::<WITHIN>(n, n));
    }
    reduce(a, b)
}

/// All four halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn fold(sum: __m512i) -> __m128i {
    let half = _mm256_xor_si256(
        _mm512_castsi512_si256(sum),
        _mm512_extracti64x4_epi64::<1>(sum),
    );
    _mm_xor_si128(
        _mm256_castsi256_si128(half),
        _mm256_extracti128_si256::<1>(half),
    )
}

/// The three of them added up.
#[inline]
#[target_feature(enable = "avx512f")]
fn add(sum: __m512i, one: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(sum, one, other)
}

/// Four products of each sum at a time, and twice that: eight words are multiplied by the secret words that belong to them,
/// and by those of the next eight, which are at hand then.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,vpclmulqdq,pclmulqdq")]
pub(super) fn four(text: &[u8], secret: &Secret) -> [u64; 2] {
    // SAFETY: unaligned, of 64 bytes.
    let load = |bytes: &[u8; 64]| unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
    // SAFETY: an unaligned load of the 64 bytes of `words`.
    let load_key = |words: &[u64; 8]| unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
    let product = |words, key| {
        let factors = _mm512_xor_si512(words, key);
        _mm512_clmulepi64_epi128::<WITHIN>(factors, factors)
    };
    let zero = _mm512_setzero_si512();
    let (mut a, mut b) = (zero, zero);
    let (whole, rest) = text[..text.len().min(MOST)].as_chunks::<64>();
    let (pairs, single) = whole.as_chunks::<2>();
    let (keys, _) = secret.as_chunks::<8>();
    let mut key = load_key(&keys[0]);
    let mut keys = keys[1..].iter().map(load_key);
    for [one, other] in pairs {
        // The next text is most likely the one after this: prefetched now, sums take no longer than reading from L3.
        for block in [one, other] {
            super::prefetch_line(block.as_ptr().wrapping_add(MOST));
        }
        let (one, other) = (load(one), load(other));
        let (next, last) = (keys.next().unwrap_or(zero), keys.next().unwrap_or(zero));
        a = add(a, product(one, key), product(other, next));
        b = add(b, product(one, next), product(other, last));
        key = last;
    }
    let mask = (1_u64 << rest.len()) - 1;
    // SAFETY: of `rest`, which has fewer than 64 bytes, as many are loaded as there are.
    let rest =
        (!rest.is_empty()).then(|| unsafe { _mm512_maskz_loadu_epi8(mask, rest.as_ptr().cast()) });
    for words in single.iter().map(load).chain(rest) {
        let next = keys.next().unwrap_or(zero);
        (a, b) = (
            add(a, product(words, key), zero),
            add(b, product(words, next), zero),
        );
        key = next;
    }
    reduce(fold(a), fold(b))
}
