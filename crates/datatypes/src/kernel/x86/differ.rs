//! Which of many numbers, or slots of texts, are others than before, with AVX-512.

use std::arch::x86_64::*;
use std::hint::black_box;

use super::super::portable::PIECE;
use super::super::{Listed, Stepped, Steps};

/// Compares eight at a time, and lists the numbers of those that differ. Returns how many, and how many have been compared.
///
/// # Safety
/// AVX-512 F, VL.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn list(old: &[u64], new: &[u64], list: &mut [u32]) -> (usize, usize) {
    let (old, _) = old.as_chunks::<8>();
    let (new, _) = new.as_chunks::<8>();
    let blocks = old.len().min(new.len()).min(list.len() / 8);
    let out = list.as_mut_ptr();
    let mut count = 0;
    let mut numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (old, new) in old.iter().zip(new).take(blocks) {
        // SAFETY: each block is eight slots; before it at most eight numbers a block have been listed, and the list has room
        // for as many of all blocks.
        unsafe {
            let old = _mm512_loadu_si512(old.as_ptr().cast());
            let new = _mm512_loadu_si512(new.as_ptr().cast());
            let differs = _mm512_cmpneq_epu64_mask(old, new);
            let listed = _mm256_maskz_compress_epi32(differs, numbers);
            _mm256_storeu_si256(out.add(count).cast(), listed);
            count += differs.count_ones() as usize;
        }
        numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(8));
    }
    (count, blocks * 8)
}

/// The first slot that is not what it was, moved by `delta` where its mask has bits; how many there are, if all are. Masks are only
/// looked at if something `MOVED`.
///
/// # Safety
/// AVX-512 F, VL.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn first<const MOVED: bool>(
    old: &[u64],
    new: &[u64],
    masks: &[u64],
    delta: u64,
) -> usize {
    const BLOCKS: usize = 4;
    let length = old.len().min(new.len()).min(masks.len());
    let delta = _mm512_set1_epi64(delta.cast_signed());
    let moved = |before: __m512i, mask: __m512i| {
        if MOVED {
            _mm512_add_epi64(before, _mm512_and_si512(mask, delta))
        } else {
            before
        }
    };
    let mut at = 0;
    // Most are what they were: some blocks of eight with one branch.
    while at + 8 * BLOCKS <= length {
        let mut any = _mm512_setzero_si512();
        for block in 0..BLOCKS {
            // SAFETY: from `at` on each has as many slots as all these blocks.
            let load = |slots: &[u64]| unsafe {
                _mm512_loadu_si512(slots.as_ptr().add(at + 8 * block).cast())
            };
            let differs = _mm512_xor_si512(moved(load(old), load(masks)), load(new));
            any = _mm512_or_si512(any, differs);
        }
        if _mm512_test_epi64_mask(any, any) != 0 {
            break;
        }
        at += 8 * BLOCKS;
    }
    while at < length {
        let left = length - at;
        let some = if left < 8 { (1 << left) - 1 } else { 0xff };
        // SAFETY: from `at` on each has as many slots as are loaded.
        let load = |slots: &[u64]| unsafe {
            _mm512_maskz_loadu_epi64(some, slots.as_ptr().add(at).cast())
        };
        let before = moved(load(old), if MOVED { load(masks) } else { delta });
        let differs = _mm512_mask_cmpneq_epu64_mask(some, before, load(new));
        if differs != 0 {
            return at + differs.trailing_zeros() as usize;
        }
        at += 8;
    }
    length
}

/// Goes over values in step, each with one load of either text: see
/// [`Kernel::list_changed`](super::super::Kernel::list_changed).
///
/// # Safety
/// AVX-512 F, BW; BMI2.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn step(steps: Steps<'_>, stepped: Stepped, list: &mut Listed<'_>) -> Stepped {
    let Steps { old, new, gaps, .. } = steps;
    let starts = steps.starts.get(stepped.seen..).unwrap_or_default();
    let pairs = starts.iter().zip(starts.get(1..).unwrap_or_default());
    let Stepped {
        mut listed,
        mut seen,
        mut shift,
    } = stepped;
    let mut gap = steps.gap_of(seen);
    let room = list.numbers.len().min(list.others.len());
    let room = room.min(list.places.len());
    let numbers = list.numbers.as_mut_ptr();
    let (others_at, places) = (list.others.as_mut_ptr(), list.places.as_mut_ptr());
    for (&start, &end) in pairs {
        let length = end.wrapping_sub(start);
        let from = (start as usize).wrapping_add(shift);
        // So many bytes of the new text are there.
        let there = new.len().wrapping_sub(from);
        if length as usize > PIECE
            || end as usize > old.len()
            || start > end
            || from > new.len()
            || there < length as usize
            || seen >= room
        {
            break;
        }
        // SAFETY: only bytes under the masks are read, and those are within the texts.
        let (others, ends) = unsafe {
            let mask = _bzhi_u64(u64::MAX, length);
            let one = _mm512_maskz_loadu_epi8(mask, old.as_ptr().add(start as usize).cast());
            let all = _bzhi_u64(u64::MAX, there.min(PIECE) as u32);
            let other = _mm512_maskz_loadu_epi8(all, new.as_ptr().add(from).cast());
            let open = _mm512_set1_epi8(b'<' as i8);
            (
                _mm512_mask_cmpneq_epu8_mask(mask, one, other),
                _mm512_cmpeq_epi8_mask(other, open),
            )
        };
        // SAFETY: no more have been listed than seen, and there is room for one more.
        unsafe {
            numbers.add(listed).write(seen as u32);
            others_at.add(listed).write(from as u32);
            places.add(seen).write(from as u32);
        }
        listed += usize::from(others != 0);
        // Most often it is as long as it was, and so if it is the same: no branch depends on whether it is, and where the next
        // begins need not wait for this. (The box keeps the compiler from asking the other way round.)
        let is = ends.trailing_zeros() + gaps[gap];
        if is != length && black_box(others) != 0 {
            if ends == 0 {
                listed -= 1;
                break;
            }
            shift = from.wrapping_add(is as usize).wrapping_sub(end as usize);
        }
        seen += 1;
        gap = if gap + 1 < gaps.len() { gap + 1 } else { 0 };
    }
    Stepped {
        listed,
        seen,
        shift,
    }
}
