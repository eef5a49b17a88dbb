//! Numbers over others in a text, where they are as long: a number is made in a register and leaves it under a mask of its
//! length, so nothing is written beside it, and it is in no other memory before.

use std::arch::x86_64::*;

use super::super::number::Over;
use super::ready::{BLOCK, Kind, Ready, load};

/// Writes numbers until one is not as long as what it is written over. Returns how many. They are made ready by blocks.
///
/// # Safety
/// AVX-512 F, BW, VL, DQ, CD, IFMA, VBMI, VBMI2. So many bytes as there are lengths for can be written at each place from
/// `text` on.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn numbers<K: Kind>(over: Over<'_>, text: *mut u8) -> usize {
    let mut ready = Ready::new();
    for from in (0..over.slots.len()).step_by(BLOCK) {
        let block = over.part(from, BLOCK);
        ready.odd = 0;
        for (group, values) in block.slots.chunks(8).enumerate() {
            // SAFETY: the caller guarantees the features; a block has at most eight groups, so `group * 8` is below
            // `BLOCK`.
            unsafe { K::ready(load(values), &mut ready, group * 8) };
        }
        let fitting = fitting(&ready, block.lengths);
        for at in 0..fitting {
            let (length, place) = (usize::from(block.lengths[at]), block.places[at]);
            // SAFETY: the caller guarantees that `length` bytes can be written there; the mask writes no more, and a number
            // has at least one byte and at most 32.
            unsafe {
                let place = text.add(place as usize);
                if ready.odd >> at & 1 == 0 {
                    let negative = *ready.negative.get_unchecked(at);
                    let mask = _bzhi_u32(u32::MAX, length as u32 - negative as u32);
                    place.write(b'-');
                    let behind = place.add(negative as usize).cast();
                    _mm256_mask_storeu_epi8(behind, mask, K::form(&ready, at));
                } else {
                    let mut room = [0; 32];
                    if K::odd(&ready, at, block.slots[at], room.as_mut_ptr()) != length {
                        return from + at;
                    }
                    place.copy_from_nonoverlapping(room.as_ptr(), length);
                }
            }
        }
        if fitting < block.slots.len() {
            return from + fitting;
        }
    }
    over.slots.len()
}

/// How many at the front of a block are as long as they may be, or odd.
#[inline(always)]
fn fitting(ready: &Ready, lengths: &[u8]) -> usize {
    let pairs = ready.length.iter().zip(lengths).enumerate();
    let differ = pairs.map(|(at, (own, may))| u64::from(*own != u64::from(*may)) << at);
    let differ = differ.fold(0, |all, one| all | one) & !ready.odd;
    lengths.len().min(differ.trailing_zeros() as usize)
}
