//! Arrays of numbers: the loops over values with a separator after each.
//!
//! Each loop is `inline(always)` into one entry function that enables the instructions. As functions with features of their
//! own, the steps were called instead of inlined, and took a third longer.

use super::super::found::Found;
use super::super::number::Number;
use super::super::portable;
use super::super::separator::Separator;
use super::classes::{Classes, LoadedSeparator, compute_now, ends_of_64};
use super::integer::{integer, magnitude, tiny};
use super::real::{Parts, parts};
use super::registers::{is_zero, or, or_half, zero};
use crate::nearest::{Double, Float, Format};

/// Bytes from the start of a value that the loops may read: the value, its separator and what wide loads read beyond them.
pub(super) const BEYOND: usize = 160;
/// Bytes before a value that the loops may read.
pub(crate) const BEFORE: usize = 32;

/// How many integers are parsed from one load of 64 bytes.
const INTEGERS_PER_LOAD: usize = 3;
/// The longest separator for which that many short integers fit into it.
const MAX_CLOSE_SEPARATOR: usize = 14;
/// How many tiny integers are read one by one before a whole load is tried again.
const TINY_RUN: usize = 61;

/// A kind of number to be read at given locations.
pub(super) trait LocatedNumber: Copy {
    /// A value split into its parts.
    type Split: Copy;

    /// How many bytes precede the first `end`; 32 or more if it is not among the next 32.
    ///
    /// # Safety
    /// The instructions; 64 bytes can be read.
    unsafe fn length(text: *const u8, end: u8) -> u32;

    /// Splits the value at `text`, which has this length, below 32. `None` if it is not a number or the slow path must decide.
    ///
    /// # Safety
    /// The instructions; 32 bytes before it and [`BEYOND`] from it on can be read.
    unsafe fn split(self, text: *const u8, end: u8, length: u32) -> Option<Self::Split>;

    /// Its slot; `None` if the slow path must decide.
    fn slot(split: Self::Split) -> Option<u64>;
}

#[derive(Clone, Copy)]
struct Real<N>(N);

impl<N: Format + Copy> LocatedNumber for Real<N> {
    type Split = Parts;

    #[inline(always)]
    unsafe fn length(text: *const u8, end: u8) -> u32 {
        // SAFETY: the caller guarantees 64 readable bytes; 32 are read.
        unsafe { length_of(text, end) }
    }

    #[inline(always)]
    unsafe fn split(self, text: *const u8, end: u8, length: u32) -> Option<Parts> {
        // SAFETY: the caller guarantees 32 bytes before `text` and `BEYOND` from it on, which is more than `parts` reads.
        unsafe { parts::<N>(text, &Classes::new(text, end), length) }
    }

    #[inline(always)]
    fn slot(split: Parts) -> Option<u64> {
        split.slot::<N>()
    }
}

#[derive(Clone, Copy)]
struct Integer {
    bounds: (i64, i64),
}

impl LocatedNumber for Integer {
    type Split = u64;

    #[inline(always)]
    unsafe fn length(text: *const u8, end: u8) -> u32 {
        // SAFETY: the caller guarantees 64 readable bytes.
        unsafe { ends_of_64(text, end).trailing_zeros() }
    }

    #[inline(always)]
    unsafe fn split(self, text: *const u8, _: u8, length: u32) -> Option<u64> {
        // SAFETY: the caller guarantees 32 bytes before `text`, so 32 before the end of the value can be read.
        unsafe { integer(text, length, self.bounds) }
    }

    #[inline(always)]
    fn slot(split: u64) -> Option<u64> {
        Some(split)
    }
}

/// An array being read.
#[derive(Clone, Copy)]
pub(super) struct Array<'a> {
    pub(super) text: &'a [u8],
    pub(super) separator: &'a Separator,
    pub(super) number: Number,
    /// The number of slots at which to stop: at most the capacity of the vector.
    pub(super) limit: usize,
}

/// How far an array has been read, and where its slots go.
struct Progress {
    /// The location of the next value.
    at: usize,
    out: *mut u64,
    /// The number of slots.
    count: usize,
    is_stopped: bool,
}

impl Progress {
    #[inline(always)]
    fn new(at: usize, slots: &mut Vec<u64>) -> Self {
        Self {
            at,
            out: slots.as_mut_ptr(),
            count: slots.len(),
            is_stopped: false,
        }
    }

    /// Writes the slot of a value at a location and reports it; `next` is the location of the next value.
    ///
    /// # Safety
    /// There is capacity for one more slot.
    #[inline(always)]
    unsafe fn push(
        &mut self,
        slot: u64,
        (at, length): (usize, usize),
        next: usize,
        found: &mut impl Found,
    ) {
        // SAFETY: the caller guarantees capacity for one more slot.
        unsafe { self.out.add(self.count).write(slot) };
        self.count += 1;
        self.is_stopped = !found.value(at, length, slot);
        self.at = next;
    }
}

impl Array<'_> {
    /// Reads the numbers that can be read with wide loads. Returns the location of the next value.
    ///
    /// # Safety
    /// The instructions.
    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
    )]
    pub(super) unsafe fn read(
        self,
        at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        let is_short = self.separator.bytes.len() <= 32;
        // SAFETY: the instructions are there, and `limit` is at most the capacity of `slots`.
        unsafe {
            match (self.number, is_short) {
                (Number::Double, true) => self.reals::<Double, false>(at, slots, found),
                (Number::Double, false) => self.reals::<Double, true>(at, slots, found),
                (Number::Float, true) => self.reals::<Float, false>(at, slots, found),
                (Number::Float, false) => self.reals::<Float, true>(at, slots, found),
                (Number::Signed { .. } | Number::Unsigned { .. }, _) => {
                    let (min, max) = self.number.bounds();
                    let is_long = max.checked_sub(min).is_none_or(|span| span > 1 << 40);
                    match self.separator.bytes.len() <= MAX_CLOSE_SEPARATOR && !is_long {
                        true => self.integers::<INTEGERS_PER_LOAD>(at, slots, found),
                        false => self.integers::<1>(at, slots, found),
                    }
                }
            }
        }
    }

    /// The last location from which [`BEYOND`] bytes can be read, and the byte that ends a value.
    #[inline(always)]
    fn last_and_end(&self) -> Option<(usize, u8)> {
        Some((self.text.len().checked_sub(BEYOND)?, self.separator.end()?))
    }

    #[inline(always)]
    fn goes_on(&self, progress: &Progress, last: usize) -> bool {
        !progress.is_stopped && progress.at <= last && progress.count < self.limit
    }

    /// Reads one value with the slow path. Returns whether there was one.
    ///
    /// # Safety
    /// There is capacity for one more slot.
    #[inline(always)]
    unsafe fn push_slowly(&self, progress: &mut Progress, found: &mut impl Found) -> bool {
        let at = progress.at;
        let Some((slot, length)) = self.slow_path(at) else {
            return false;
        };
        let next = at + length + self.separator.bytes.len();
        // SAFETY: the caller guarantees capacity for one more slot.
        unsafe { progress.push(slot, (at, length), next, found) };
        true
    }

    /// The slot of the value at a location and its length.
    #[cold]
    #[inline(never)]
    fn slow_path(&self, at: usize) -> Option<(u64, usize)> {
        portable::value(self.text, at, self.number, self.separator)
    }

    /// Whether a separator of more than 32 bytes is here.
    #[cold]
    #[inline(never)]
    fn is_whole_separator(&self, at: usize) -> bool {
        self.text[at..].starts_with(&self.separator.bytes)
    }

    /// Reads doubles or floats. `LONG` is whether the separator is longer than 32 bytes.
    ///
    /// # Safety
    /// The instructions; there is capacity for `limit` slots.
    #[inline(never)]
    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
    )]
    unsafe fn reals<N: Format, const LONG: bool>(
        self,
        at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        let Some((last, end)) = self.last_and_end() else {
            return at;
        };
        let mut all = Progress::new(at, slots);
        let progress = &mut all;
        // SAFETY: the caller guarantees the instructions; `goes_on` means capacity for one more slot, and `BEYOND` bytes from `at`.
        unsafe {
            let separator = LoadedSeparator::new(self.separator);
            while self.goes_on(progress, last) {
                self.pipelined_reals::<N, LONG>(progress, separator, (last, end), found);
                if !self.goes_on(progress, last) || !self.push_slowly(progress, found) {
                    break;
                }
            }
            slots.set_len(all.count);
        }
        all.at
    }

    /// Reads doubles or floats up to one for the slow path: a loop without a call in it, so that its data stays in registers.
    /// Each round parses the digits of the next value and searches for the end of the one after it before it finishes this
    /// one. So dependent instructions are far apart, and the processor does not fill up with instructions that wait.
    ///
    /// # Safety
    /// As [`reals`](Self::reals), and `goes_on`.
    #[inline(always)]
    unsafe fn pipelined_reals<N: Format, const LONG: bool>(
        &self,
        progress: &mut Progress,
        separator: LoadedSeparator,
        (last, end): (usize, u8),
        found: &mut impl Found,
    ) {
        let skip = self.separator.bytes.len();
        let base = self.text.as_ptr();
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text; a next value begins at most 63 bytes
        // after one at or before `last`, or is at or before `last` itself if the separator is long. The tail of a separator
        // ends at most 31 + 64 bytes after `at`.
        unsafe {
            // The last 32 bytes of a separator of 33 to 64 (an item of an rpc/encoded array has 35: benchmark `encoded-in`).
            let tail = skip.checked_sub(32).filter(|at| LONG && *at <= 32);
            let (has_tail, tail_at) = (tail.is_some(), tail.unwrap_or(0));
            let tail_bytes = self.separator.bytes.get(tail_at..).unwrap_or_default();
            let tail = LoadedSeparator::of(tail_bytes);
            let (mut held, mut length) = (None::<Parts>, 0);
            let mut next = progress.at;
            let mut next_length = match next >= BEFORE {
                true => length_of(base.add(next), end),
                false => u32::MAX,
            };
            loop {
                let is_there = next_length < 32 && (!LONG || next <= last);
                let after = next + (next_length & 31) as usize + skip;
                let after_length = match LONG {
                    true => length_of(base.add(after.min(last)), end),
                    false => length_of(base.add(after), end),
                };
                let next_parts = match is_there {
                    true => {
                        let text = base.add(next);
                        parts::<N>(text, &Classes::new(text, end), next_length)
                    }
                    false => None,
                };
                if let Some(parts) = held {
                    let (at, end) = (progress.at, progress.at + length as usize);
                    let Some(slot) = parts.slot::<N>() else {
                        return;
                    };
                    let is_separated = separator.matches_at(base.add(end));
                    let has_rest = match has_tail {
                        true => tail.matches_at(base.add(end + tail_at)),
                        false => !LONG || self.is_whole_separator(end),
                    };
                    if !is_separated || !has_rest {
                        return;
                    }
                    progress.push(slot, (at, length as usize), next, found);
                    if !self.goes_on(progress, last) {
                        return;
                    }
                }
                let Some(parts) = next_parts else {
                    return;
                };
                held = Some(parts);
                (length, next) = (next_length, after);
                next_length = after_length;
            }
        }
    }

    /// Reads integers, `N` per load of 64 bytes.
    ///
    /// # Safety
    /// The instructions; there is capacity for `limit` slots.
    #[inline(never)]
    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
    )]
    unsafe fn integers<const N: usize>(
        self,
        at: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        let Some((last, end)) = self.last_and_end() else {
            return at;
        };
        let mut all = Progress::new(at, slots);
        let progress = &mut all;
        let skip = self.separator.bytes.len();
        // SAFETY: the caller guarantees the instructions; there is capacity for `N` more slots, and all bytes from `at - BEFORE` to
        // `at + BEYOND` are of the text where a group is read.
        unsafe {
            let separator = LoadedSeparator::new(self.separator);
            'groups: while self.goes_on(progress, last) && progress.count + N <= self.limit {
                let group = match progress.at >= BEFORE {
                    true => self.integer_group::<N>(progress, separator, end),
                    false => None,
                };
                let Some((places, extent)) = group else {
                    match self.push_slowly(progress, found) {
                        true => continue,
                        false => break,
                    }
                };
                let start = progress.at;
                for (begin, length) in places {
                    let (slot, at) = (*progress.out.add(progress.count), start + begin);
                    progress.push(slot, (at, length), at + length + skip, found);
                    if progress.is_stopped {
                        break 'groups;
                    }
                }
                if N > 1 && extent <= N * (skip + 3) {
                    self.tiny_integers(progress, separator, last, found);
                }
            }
            slots.set_len(all.count);
        }
        all.at
    }

    /// Parses the next `N` integers and writes their slots, without counting them. Returns the offset and length of each and
    /// the length of all with their separators; `None` if one is for the slow path.
    ///
    /// # Safety
    /// As [`integers`](Self::integers); the capacity is enough for `N` more slots.
    #[inline(always)]
    unsafe fn integer_group<const N: usize>(
        &self,
        progress: &Progress,
        separator: LoadedSeparator,
        end: u8,
    ) -> Option<([(usize, usize); N], usize)> {
        let (min, max) = self.number.bounds();
        let span = max.wrapping_sub(min) as u64;
        let skip = self.separator.bytes.len();
        let max_digits = if N == 1 { 19 } else { 16 };
        // SAFETY: a value begins before 64 and ends at 127 at most; there, 32 bytes can be read. The caller guarantees the
        // capacity.
        unsafe {
            let text = self.text.as_ptr().add(progress.at);
            let ends = ends_of_64(text, end);
            let mut bad = zero();
            let (mut begin, mut is_wrong) = (0_u32, false);
            let mut places = [(0, 0); N];
            for (n, place) in places.iter_mut().enumerate() {
                let length = (ends >> begin).trailing_zeros();
                let negative = *text.add(begin as usize) == b'-';
                let digits = length.wrapping_sub(u32::from(negative));
                // This branch keeps the loads inside the text: value and separator together have at most 32 bytes.
                if digits.wrapping_sub(1) >= max_digits {
                    return None;
                }
                let behind = begin + length;
                let (magnitude, others) = magnitude(text.add(behind as usize), digits, N == 1);
                bad = or_half(bad, others);
                is_wrong |= N == 1 && magnitude > i64::MAX as u64;
                let flip = -i64::from(negative);
                let value = (magnitude as i64 ^ flip).wrapping_sub(flip);
                is_wrong |= value.wrapping_sub(min) as u64 > span;
                progress.out.add(progress.count + n).write(value as u64);
                *place = (begin as usize, length as usize);
                bad = or(bad, separator.difference(text.add(behind as usize)));
                begin = behind + skip as u32;
            }
            let extent = begin as usize;
            let is_good = !is_wrong
                && is_zero(bad)
                && (skip <= 32 || self.is_whole_separator(progress.at + extent - skip));
            is_good.then_some((places, extent))
        }
    }

    /// Reads integers of one to three digits: most often the next has as many as the one before.
    ///
    /// # Safety
    /// As [`integers`](Self::integers).
    #[inline(always)]
    unsafe fn tiny_integers(
        &self,
        progress: &mut Progress,
        separator: LoadedSeparator,
        last: usize,
        found: &mut impl Found,
    ) {
        let (min, max) = self.number.bounds();
        let span = max.wrapping_sub(min) as u64;
        for _ in 0..TINY_RUN {
            if !self.goes_on(progress, last) {
                return;
            }
            let at = progress.at;
            // SAFETY: `BEYOND` bytes from `at` are of the text, and there is capacity for one more slot: `goes_on`.
            unsafe {
                let text = self.text.as_ptr().add(at);
                let (value, length) = tiny(text);
                let is_good = length != 0
                    && (value as i64).wrapping_sub(min) as u64 <= span
                    && separator.matches_at(text.add(length));
                if !is_good {
                    return;
                }
                let next = at + length + self.separator.bytes.len();
                progress.push(value, (at, length), next, found);
            }
        }
    }

    /// Reads the numbers at these locations up to one that is not a number, and appends their slots and lengths. Returns how
    /// many were read.
    ///
    /// # Safety
    /// The instructions.
    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")
    )]
    pub(super) unsafe fn read_at(
        self,
        places: &[u32],
        slots: &mut Vec<u64>,
        lengths: &mut Vec<u32>,
    ) -> usize {
        // SAFETY: the instructions are there.
        unsafe {
            match self.number {
                Number::Double => self.values_at(Real(Double), places, slots, lengths),
                Number::Float => self.values_at(Real(Float), places, slots, lengths),
                Number::Signed { .. } | Number::Unsigned { .. } => {
                    let bounds = self.number.bounds();
                    self.values_at(Integer { bounds }, places, slots, lengths)
                }
            }
        }
    }

    /// [`read_at`](Self::read_at) for one kind of number.
    ///
    /// # Safety
    /// The instructions.
    #[inline(always)]
    unsafe fn values_at<V: LocatedNumber>(
        self,
        kind: V,
        places: &[u32],
        slots: &mut Vec<u64>,
        lengths: &mut Vec<u32>,
    ) -> usize {
        let (Some((last, end)), true) = (self.last_and_end(), self.separator.bytes.len() <= 32)
        else {
            return 0;
        };
        slots.reserve(places.len());
        lengths.reserve(places.len());
        let mut read = 0;
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text; capacity for all places is reserved.
        unsafe {
            let separator = LoadedSeparator::new(self.separator);
            let numbers = slots.as_mut_ptr().add(slots.len());
            let found = lengths.as_mut_ptr().add(lengths.len());
            // After the last place there is none.
            let place = |read: usize| places.get(read).map_or(usize::MAX, |&place| place as usize);
            while read < places.len() {
                // A loop without a call in it, as for reals: the next value is split before this one is finished.
                let mut held = None;
                let (mut next, mut next_at) = (read, place(read));
                let mut next_length = self.length_at::<V>(next_at, (last, end));
                loop {
                    let after_at = place(next + 1);
                    let after_length = self.length_at::<V>(after_at, (last, end));
                    let mut ahead = None;
                    if next_length < 32 {
                        let text = self.text.as_ptr().add(next_at);
                        if separator.matches_at(text.add(next_length as usize)) {
                            ahead = kind.split(text, end, next_length);
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
                    (next, next_at, next_length) = (next + 1, after_at, after_length);
                }
                if read == places.len() {
                    break;
                }
                let Some((slot, length)) = self.slow_path(place(read)) else {
                    break;
                };
                numbers.add(read).write(slot);
                found.add(read).write(length as u32);
                read += 1;
            }
            slots.set_len(slots.len() + read);
            lengths.set_len(lengths.len() + read);
        }
        read
    }

    /// The length of the value at a location; 32 or more if it is not known, or too few bytes around it can be read.
    ///
    /// # Safety
    /// The instructions.
    #[inline(always)]
    unsafe fn length_at<V: LocatedNumber>(self, at: usize, (last, end): (usize, u8)) -> u32 {
        if at < BEFORE || at > last {
            return u32::MAX;
        }
        // SAFETY: between `at - BEFORE` and `at + BEYOND` all bytes are of the text.
        unsafe { V::length(self.text.as_ptr().add(at), end) }
    }
}

/// How many bytes precede the first `end`; 32 if it is not among the next 32.
///
/// # Safety
/// The instructions; 32 bytes can be read.
#[inline(always)]
unsafe fn length_of(text: *const u8, end: u8) -> u32 {
    // SAFETY: the caller guarantees the instructions and 32 readable bytes.
    unsafe { compute_now(Classes::new(text, end).ends.trailing_zeros().into()) as u32 }
}
