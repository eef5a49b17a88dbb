//! Finds slots that differ, with AVX-512. Earned by the benchmark `ready`, `mio/1000/dirty1` and `order/1/strings1`.

use std::arch::x86_64::*;

/// Lists the indices of the slots that differ, eight at a time, except of the last few. Returns how many there are, and how many
/// slots were compared.
///
/// # Safety
/// AVX-512 F, VL.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn list(old: &[u64], new: &[u64], list: &mut [u32]) -> (usize, usize) {
    let (old, new) = (old.as_chunks::<8>().0, new.as_chunks::<8>().0);
    let blocks = old.len().min(new.len()).min(list.len() / 8);
    let out = list.as_mut_ptr();
    let mut count = 0;
    let mut indices = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (old, new) in old.iter().zip(new).take(blocks) {
        // SAFETY: each block is eight slots. Each block before this one listed at most eight indices, and the list has space for
        // eight of every block.
        unsafe {
            let old = _mm512_loadu_si512(old.as_ptr().cast());
            let new = _mm512_loadu_si512(new.as_ptr().cast());
            let differs = _mm512_cmpneq_epu64_mask(old, new);
            let listed = _mm256_maskz_compress_epi32(differs, indices);
            _mm256_storeu_si256(out.add(count).cast(), listed);
            count += differs.count_ones() as usize;
        }
        indices = _mm256_add_epi32(indices, _mm256_set1_epi32(8));
    }
    (count, blocks * 8)
}

/// The first slot that is not the old one plus `delta`, which is added where its mask has bits. The number of slots if there is
/// none.
///
/// # Safety
/// AVX-512 F, DQ.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn first(old: &[u64], new: &[u64], masks: &[u64], delta: u64) -> usize {
    const BLOCKS: usize = 4;
    let length = old.len().min(new.len()).min(masks.len());
    let delta = _mm512_set1_epi64(delta.cast_signed());
    let differing = |at: usize, some: __mmask8| {
        // SAFETY: the caller asks only for slots that all three arrays have.
        let load = |slots: &[u64]| unsafe {
            _mm512_maskz_loadu_epi64(some, slots.as_ptr().add(at).cast())
        };
        let before = _mm512_add_epi64(load(old), _mm512_and_si512(load(masks), delta));
        _mm512_xor_si512(before, load(new))
    };
    let mut at = 0;
    // Most are the same: some blocks of eight with one branch.
    while at + 8 * BLOCKS <= length {
        let blocks = (0..BLOCKS).map(|block| differing(at + 8 * block, 0xff));
        let any = blocks.fold(_mm512_setzero_si512(), |any, block| {
            _mm512_or_si512(any, block)
        });
        if _mm512_test_epi64_mask(any, any) != 0 {
            break;
        }
        at += 8 * BLOCKS;
    }
    while at < length {
        let left = length - at;
        let some = if left < 8 { (1 << left) - 1 } else { 0xff };
        let block = differing(at, some);
        let differs = _mm512_test_epi64_mask(block, block);
        if differs != 0 {
            return at + differs.trailing_zeros() as usize;
        }
        at += 8;
    }
    length
}
