//! Lists the values of a text that differ from those of the text before, with AVX-512. Earned by the benchmark `receive`,
//! `dhard/100000/P25/scattered`.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::super::steps::{Listed, Stepped, Steps};

/// How many values are first compared as if none had changed its length.
const FIRST_VALUES: usize = 32;
/// The bytes that one load compares.
const WIDE: usize = 64;
/// The most `<` of the new text that are listed at once: four for each of 256 values.
const MAX_MARKS: usize = 1024;
/// How many bytes ahead memory is prefetched: the compares take little time, and the hardware does not predict loads at
/// irregular distances.
const PREFETCH_DISTANCE: usize = 1024;
/// The most fields of a row.
const MAX_FIELDS: usize = 32;

/// Goes over values in step: see [`Kernel::list_changed`](super::super::Kernel::list_changed). Where a value begins does not
/// wait for the value before it, and no branch depends on which differ. At first all are assumed to be as long as they
/// were; from the first that is not, the locations of all `<` are listed before anything is compared:
///
/// ```text
/// old   <a>1.5</a><a>2.5</a><a>3.5</a>      two behind each value
/// new   <a>1.5</a><a>2.75</a><a>3.5</a>
///             ↑   ↑      ↑   ↑     ↑        so values end with the first, the third, the fifth
/// ```
///
/// # Safety
/// AVX-512 F, BW, VL, VBMI2; BMI2.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
pub(super) unsafe fn step(steps: Steps<'_>, stepped: Stepped, list: &mut Listed<'_>) -> Stepped {
    let capacity = list.numbers.len().min(list.others.len());
    let most = comparable(&steps).min(capacity).min(list.places.len());
    let mut it = Stepping { steps, stepped };
    // SAFETY: from each of `most` values on, 64 bytes of the old text can be read, and the lists have space for them.
    unsafe {
        while it.stepped.seen < most {
            let until = most.min(it.stepped.seen + FIRST_VALUES);
            if !it.steadily(until, list) {
                match steps.gaps.len() {
                    1 => it.by_marks::<true>(most, list),
                    _ => it.by_marks::<false>(most, list),
                }
                break;
            }
        }
    }
    it.stepped
}

/// How many values can be compared with one load each: none is longer with its gap, and there is as much old text from each
/// on.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
fn comparable(steps: &Steps<'_>) -> usize {
    let starts = steps.starts;
    let ends = starts.get(1..).unwrap_or_default();
    let Some(&first) = starts.first() else {
        return 0;
    };
    // In ascending order, the locations need no further check.
    if first as usize + ends.len() * WIDE > u32::MAX as usize {
        return 0;
    }
    let pairs = starts.iter().zip(ends);
    let is_long = |(&start, &end): (&u32, &u32)| end.wrapping_sub(start) as usize > WIDE;
    // Most often none is.
    let mut count = match pairs.clone().fold(false, |any, pair| any | is_long(pair)) {
        false => ends.len(),
        true => pairs.take_while(|&pair| !is_long(pair)).count(),
    };
    while count > 0 && starts[count - 1] as usize + WIDE > steps.old.len() {
        count -= 1;
    }
    count
}

/// Whether the first `length` bytes differ, 64 at most.
///
/// # Safety
/// AVX-512 BW; BMI2. 64 bytes can be read of both.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
unsafe fn differ(one: *const u8, other: *const u8, length: u32) -> bool {
    // SAFETY: the caller guarantees that 64 bytes of both can be read; a prefetch of any address is allowed.
    unsafe {
        super::prefetch_line(one.wrapping_add(PREFETCH_DISTANCE));
        let (one, other) = (
            _mm512_loadu_si512(one.cast()),
            _mm512_loadu_si512(other.cast()),
        );
        _bzhi_u64(_mm512_cmpneq_epu8_mask(one, other), length) != 0
    }
}

/// Values gone over so far.
struct Stepping<'t> {
    steps: Steps<'t>,
    stepped: Stepped,
}

impl Stepping<'_> {
    /// Compares the values up to `until`, assuming that each is as long as in the old text, and stops at the first that is
    /// not. Returns whether all values up to `until` had their old length; returns false at once if the new text is too
    /// short for this.
    ///
    /// # Safety
    /// As [`step`]; the values up to `until` can be compared, and the lists have space for them.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
    )]
    unsafe fn steadily(&mut self, until: usize, list: &mut Listed<'_>) -> bool {
        let Steps {
            old, new, starts, ..
        } = self.steps;
        let Stepped {
            mut listed,
            seen,
            shift,
        } = self.stepped;
        let (first, last) = (starts[seen] as usize, starts[until - 1] as usize);
        let at = first.wrapping_add(shift);
        if at > new.len() || at + (last - first) + WIDE > new.len() {
            return false;
        }
        // SAFETY: from each value on, 64 bytes of either text can be read. At most as many are listed as compared, and the lists
        // have space for all.
        unsafe {
            let (numbers, base) = (list.numbers.as_mut_ptr(), new.as_ptr().wrapping_add(shift));
            for value in seen..until {
                let start = *starts.get_unchecked(value);
                let length = starts.get_unchecked(value + 1).wrapping_sub(start);
                let one = old.as_ptr().add(start as usize);
                let other = base.wrapping_add(start as usize);
                super::prefetch_line(other.wrapping_add(PREFETCH_DISTANCE));
                numbers.add(listed).write(value as u32);
                listed += usize::from(differ(one, other, length));
            }
        }
        let moved = |start: u32| start.wrapping_add(shift as u32);
        let places = list.places[seen..until].iter_mut();
        for (place, &start) in places.zip(&starts[seen..until]) {
            *place = moved(start);
        }
        // SAFETY: `until` places are written, no more are listed than seen, and 64 bytes of the new text can be read from
        // each place: `last` was checked.
        unsafe { self.settle(listed, until, moved(starts[until]), list) };
        self.stepped.seen == until
    }

    /// Goes on to `until`, where values end with a `<` of the new text that has as many before it as in the old text. `ONE`:
    /// all are of one field.
    ///
    /// # Safety
    /// As [`step`]; the values up to `until` can be compared, and the lists have space for them.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
    )]
    unsafe fn by_marks<const ONE: bool>(&mut self, until: usize, list: &mut Listed<'_>) {
        let Steps {
            old,
            new,
            starts,
            gaps,
            ..
        } = self.steps;
        let Stepped {
            mut listed,
            seen,
            shift,
        } = self.stepped;
        let Some((opens, most)) = self.opens() else {
            return;
        };
        let mut place = starts[seen].wrapping_add(shift as u32);
        let mut marks = [MaybeUninit::uninit(); MAX_MARKS + WIDE];
        // SAFETY: there is space for one load more than is needed.
        let noted = unsafe {
            let needed = ((until - seen) * most).min(MAX_MARKS);
            note_marks(new, place as usize, needed, &mut marks)
        };
        let Some(last) = new.len().checked_sub(WIDE) else {
            return;
        };
        let (mut value, mut mark, mut field) = (seen, 0, self.steps.gap_of(seen));
        // SAFETY: the old text can be read 64 bytes from each value on, the new one up to `last` and as many on. No more are
        // listed than compared, and the lists have space for all; there are as many fields as gaps.
        unsafe {
            let (numbers, places) = (list.numbers.as_mut_ptr(), list.places.as_mut_ptr());
            while value < until && mark < noted && place as usize <= last {
                let start = *starts.get_unchecked(value);
                let length = starts.get_unchecked(value + 1).wrapping_sub(start);
                let one = old.as_ptr().add(start as usize);
                let is_other = differ(one, new.as_ptr().add(place as usize), length);
                let end = marks.get_unchecked(mark).assume_init();
                let next = end + *gaps.get_unchecked(field);
                numbers.add(listed).write(value as u32);
                places.add(value).write(place);
                listed += usize::from(is_other | (next.wrapping_sub(place) != length));
                mark += *opens.get_unchecked(field);
                field = if !ONE && field + 1 < gaps.len() {
                    field + 1
                } else {
                    0
                };
                (value, place) = (value + 1, next);
            }
            self.settle(listed, value, place, list);
        }
    }

    /// Accepts the first `listed` and `seen` values, after which the next begins at `behind`, up to the first that does not end where
    /// the next begins.
    ///
    /// # Safety
    /// As [`step`]; the lists have space for the values up to `seen`, and from each of their locations on, 64 bytes of the new text
    /// can be read.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
    )]
    unsafe fn settle(&mut self, listed: usize, seen: usize, behind: u32, list: &mut Listed<'_>) {
        let mut settled = (listed, seen, behind);
        let (Steps { new, gaps, .. }, open) = (self.steps, _mm512_set1_epi8(b'<' as i8));
        let is_one = gaps.len() == 1;
        for other in self.stepped.listed..listed {
            let value = list.numbers[other] as usize;
            let (place, next) = match value + 1 < seen {
                true => (list.places[value], list.places[value + 1]),
                false => (list.places[value], behind),
            };
            // SAFETY: the caller guarantees that 64 bytes of the new text can be read from each place seen.
            let ends = unsafe {
                let text = _mm512_loadu_si512(new.as_ptr().add(place as usize).cast());
                _mm512_cmpeq_epi8_mask(text, open)
            };
            let gap = if is_one { 0 } else { self.steps.gap_of(value) };
            let length = ends.trailing_zeros() + gaps[gap];
            if ends == 0 || place.wrapping_add(length) != next {
                settled = (other, value, place);
                break;
            }
            list.others[other] = place;
        }
        let (listed, seen, behind) = settled;
        let start = self.steps.starts[seen] as usize;
        self.stepped = Stepped {
            listed,
            seen,
            shift: (behind as usize).wrapping_sub(start),
        };
    }

    /// How many `<` are in each gap, by the old text of the values that come next, and the most of them. `None` if there
    /// are too many fields, or too few values.
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
    )]
    fn opens(&self) -> Option<([usize; MAX_FIELDS], usize)> {
        let Steps {
            old, starts, gaps, ..
        } = self.steps;
        let mut opens = [0; MAX_FIELDS];
        if gaps.len() > MAX_FIELDS {
            return None;
        }
        let starts = starts.get(self.stepped.seen..)?;
        for (number, value) in starts.windows(2).take(gaps.len()).enumerate() {
            let text = old.get(value[0] as usize..value[1] as usize)?;
            let field = self.steps.gap_of(self.stepped.seen + number);
            opens[field] = match text.first_chunk::<WIDE>() {
                None => count_opens(text),
                Some(_) => text.iter().filter(|&&byte| byte == b'<').count(),
            };
        }
        let most = opens.iter().max().copied()?;
        Some((opens, most))
    }
}

/// How many `<` are in a text of less than 64 bytes.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
fn count_opens(text: &[u8]) -> usize {
    let there = _bzhi_u64(u64::MAX, text.len() as u32);
    // SAFETY: only bytes under the mask are read.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(there, text.as_ptr().cast()) };
    let opens = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'<' as i8));
    opens.count_ones() as usize
}

/// Lists the location of each `<` of a text from `at` on, until `needed` are found. Returns how many there are.
///
/// # Safety
/// AVX-512 BW, VBMI2. `marks` has space for `needed` and one load more.
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512ifma,avx512vbmi,avx512vbmi2"
)]
unsafe fn note_marks(
    text: &[u8],
    at: usize,
    needed: usize,
    marks: &mut [MaybeUninit<u32>],
) -> usize {
    debug_assert!(needed + WIDE <= marks.len());
    if needed == 0 {
        return 0;
    }
    // Neither a value nor its gap is longer than a load: after twice that much text, something has changed.
    let text = text.get(at..).unwrap_or_default();
    let (pieces, rest) = text[..text.len().min(2 * WIDE * needed)].as_chunks::<WIDE>();
    let (mut at, mut count) = (at as u32, 0);
    let open = _mm512_set1_epi8(b'<' as i8);
    let mut note = |bytes: __m512i| {
        let opens = _mm512_cmpeq_epi8_mask(bytes, open);
        let found = opens.count_ones() as usize;
        // SAFETY: each load has 64 at most, behind fewer than are needed; they are written by sixteens.
        unsafe {
            let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
            let mut which = _mm512_maskz_compress_epi8(opens, numbers);
            let mut out = marks.as_mut_ptr().add(count);
            let mut left = found;
            loop {
                let some = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(which));
                let some = _mm512_add_epi32(some, _mm512_set1_epi32(at as i32));
                _mm512_storeu_si512(out.cast(), some);
                if left <= 16 {
                    break;
                }
                which = _mm512_shuffle_i64x2::<0b00_11_10_01>(which, which);
                (out, left) = (out.add(16), left - 16);
            }
        }
        count += found;
        at += WIDE as u32;
        count < needed
    };
    for piece in pieces {
        super::prefetch_line(piece.as_ptr().wrapping_add(PREFETCH_DISTANCE));
        // SAFETY: a piece is as long as a load.
        if !note(unsafe { _mm512_loadu_si512(piece.as_ptr().cast()) }) {
            return count;
        }
    }
    let there = _bzhi_u64(u64::MAX, rest.len() as u32);
    // SAFETY: only bytes under the mask are read.
    note(unsafe { _mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()) });
    count
}

/// The numbers of 64 bytes.
static NUMBERS: [u8; WIDE] = {
    let mut numbers = [0; WIDE];
    let mut at = 0;
    while at < WIDE {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};
