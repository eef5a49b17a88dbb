//! Kernels for the numbers of a whole array, or of rows of flat structs, as they stand in a message.
//!
//! What stands between two values is nearly always the same bytes, the [`Separator`]: it is learned from the first element,
//! and then one compare. So the loop is all that a message costs:
//!
//! ```text
//! …<item>12.5</item><item>-7e3</item><item>1</item></values>
//!        value  separator value separator  …        └ not the separator: the loop ends before the 1
//! ```
//!
//! A [`Kernel`] is a set of instructions that this machine has. Whatever the set, the results are the same: all take what
//! [`double::parse_prefix`](crate::double::parse_prefix) and its like take, and nothing else. The kernels only hurry on
//! where a text is plain, and hand every value that is in any doubt (many digits, a leading `+`, a number out of range) to
//! those.

mod carryless;
mod fill;
pub mod form;
mod found;
mod memory;
mod number;
mod one;
mod portable;
mod prefetch;
mod separator;
mod steps;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

pub use carryless::Carryless;
pub use found::{Found, FoundInRow, Stop};
pub use memory::Memory;
pub use number::{Column, Number, Room};
pub use prefetch::{fetch, summon};
pub use separator::Separator;
pub use steps::{Listed, Stepped, Steps};

use found::{All, Watched, one_by_one};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use number::same_end;

use std::ffi::OsStr;
use std::sync::OnceLock;

/// So few numbers are written one after the other sooner than what writes many side by side is made ready.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const FEW: usize = 3;

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Rust that runs anywhere.
    Portable,
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx2,
    /// The same and AVX-512 F, BW, VL, VBMI, VBMI2, IFMA, CD, DQ, VPOPCNTDQ.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx512,
}

/// Instructions that this machine has: whoever has a `Kernel` may use it.
///
/// ```
/// use bsoap_datatypes::kernel::{Kernel, Number, Separator};
///
/// let text = b"<a>1.5</a><a>-2e3</a><a>7</a></all>";
/// let mut slots = Vec::with_capacity(8);
/// let between = Separator::new(b"</a><a>");
/// let at = Kernel::best().read_array(text, 3, Number::Double, &between, usize::MAX, &mut slots, |_, _| {});
/// assert_eq!(slots, [1.5_f64.to_bits(), (-2e3_f64).to_bits()]);
/// assert_eq!(&text[at..], b"7</a></all>");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Level);

impl Kernel {
    /// The best that this machine has; no better than the one named in the environment variable `BSOAP_KERNEL`, which is
    /// read once (`portable`, `avx2`): to measure on one machine what others get.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| Self::up_to(std::env::var_os("BSOAP_KERNEL").as_deref()))
    }

    /// The best that is no better than the one named. Other names are no bound.
    fn up_to(name: Option<&OsStr>) -> Self {
        let avx2 = || Self::avx2().unwrap_or(Self::PORTABLE);
        match name.and_then(OsStr::to_str) {
            Some("portable") => Self::PORTABLE,
            Some("avx2") => avx2(),
            _ => Self::avx512().unwrap_or_else(avx2),
        }
    }

    /// What every machine has.
    pub const PORTABLE: Self = Self(Level::Portable);

    /// AVX2, if this machine has it.
    #[inline]
    pub fn avx2() -> Option<Self> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if x86::has_avx2() {
            return Some(Self(Level::Avx2));
        }
        None
    }

    /// AVX-512 with byte permutes and 52-bit products (Ice Lake, Zen 4 and later), if this machine has it.
    #[inline]
    pub fn avx512() -> Option<Self> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if x86::has_avx512() {
            return Some(Self(Level::Avx512));
        }
        None
    }

    /// Reads numbers from `text[at..]` for as long as each is followed by the separator, `most` of them at most, and appends
    /// their slots to `slots` while it has capacity. Tells where each value stands and how long it is. Returns where the
    /// first value stands that was not read.
    #[allow(clippy::too_many_arguments)] // Where to read, what, how much of it, and where to put it.
    #[inline]
    pub fn read_array(
        self,
        text: &[u8],
        at: usize,
        number: Number,
        separator: &Separator,
        most: usize,
        slots: &mut Vec<u64>,
        found: impl FnMut(usize, usize),
    ) -> usize {
        let mut all = All(found);
        self.read_array_while(text, at, number, separator, most, slots, &mut all)
    }

    /// The same, but `found` is told, and says of each value whether to go on with the next.
    #[allow(clippy::too_many_arguments)] // As above.
    #[inline]
    pub fn read_array_while(
        self,
        text: &[u8],
        at: usize,
        number: Number,
        separator: &Separator,
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl Found,
    ) -> usize {
        let mut found = Watched {
            found,
            has_stopped: false,
        };
        let limit = slots.capacity().min(slots.len().saturating_add(most));
        let at = match self.0 {
            Level::Portable => at,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx2 | Level::Avx512 => {
                x86::read_array((text, at), number, separator, limit, slots, &mut found)
            }
        };
        if found.has_stopped {
            return at;
        }
        // The last values of the text, behind which there is no room for wide loads.
        portable::read_array((text, at), number, separator, limit, slots, &mut found)
    }

    /// Reads numbers that stand at these places of a text, each followed by the separator: appends their slots to `slots`
    /// and their lengths to `lengths`, up to the first that is not. (One in doubt is read the general way, and those behind
    /// it as before.) Returns how many there are.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Kernel, Number, Separator};
    ///
    /// let text = b"<a>1.5</a><a>7</a><a>-2e3</a></all>";
    /// let (mut slots, mut lengths) = (Vec::new(), Vec::new());
    /// let end = Separator::new(b"</a>");
    /// let read = Kernel::best().read_places(text, &[3, 21], Number::Double, &end, &mut slots, &mut lengths);
    /// assert_eq!((read, &*lengths), (2, &[3, 4][..]));
    /// assert_eq!(slots, [1.5_f64.to_bits(), (-2e3_f64).to_bits()]);
    /// ```
    #[inline]
    pub fn read_places(
        self,
        text: &[u8],
        places: &[u32],
        number: Number,
        separator: &Separator,
        slots: &mut Vec<u64>,
        lengths: &mut Vec<u32>,
    ) -> usize {
        let read = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx2 | Level::Avx512 => {
                x86::read_places((text, places), number, separator, slots, lengths)
            }
            _ => 0,
        };
        let left = places.get(read..).unwrap_or_default();
        read + portable::read_places((text, left), number, separator, slots, lengths)
    }

    /// Appends the lexical forms of the numbers in these slots, with the separator between them: as
    /// [`double::format`](crate::double::format()) and its like write them. Tells where each stands and how long it is.
    #[inline]
    pub fn write_array(
        self,
        slots: &[u64],
        number: Number,
        separator: &Separator,
        out: &mut Vec<u8>,
        placed: impl FnMut(usize, usize),
    ) {
        let memory = Memory::of(slots.len());
        self.write_array_in_blocks(slots, number, separator, memory, out, one_by_one(placed));
    }

    fn write_array_in_blocks(
        self,
        slots: &[u64],
        number: Number,
        separator: &Separator,
        memory: Memory,
        out: &mut Vec<u8>,
        placed: impl FnMut(&[usize], &[u8]),
    ) {
        let mut placed = placed;
        let left = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 if slots.len() > FEW => {
                x86::write_array(slots, number, separator, memory, out, &mut placed)
            }
            _ => {
                // Only the x86-64 kernel prefetches.
                let _ = memory;
                slots
            }
        };
        portable::write_array(left, number, separator, out, &mut placed);
        if !slots.is_empty() {
            out.truncate(out.len() - separator.bytes.len());
        }
    }

    /// Appends the lexical forms of the numbers of some rows, with the separator of its column behind each but the last.
    /// (Markers have no place among these slots.) Tells where each stands and how long it is.
    #[inline]
    pub fn write_rows(
        self,
        slots: &[u64],
        columns: &[Column],
        out: &mut Vec<u8>,
        placed: impl FnMut(usize, usize),
    ) {
        self.write_rows_in_blocks(
            slots,
            columns,
            Memory::of(slots.len()),
            out,
            one_by_one(placed),
        );
    }

    /// The same, but tells of some numbers at a time where they stand and how long they are: of all, in order, which takes
    /// less than to tell of each. `memory` is where they are written to.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Column, Kernel, Memory, Number, Separator};
    ///
    /// let column = Column {
    ///     number: Number::Double,
    ///     marker: None,
    ///     separator: Separator::new(b" "),
    /// };
    /// let slots = [1.5_f64, 2.0, -3.25].map(f64::to_bits);
    /// let (mut text, mut places) = (Vec::new(), Vec::new());
    /// Kernel::best().write_rows_in_blocks(&slots, &[column], Memory::Near, &mut text, |starts, lengths| {
    ///     places.extend(starts.iter().copied().zip(lengths.iter().copied()));
    /// });
    /// assert_eq!(text, b"1.5 2 -3.25");
    /// assert_eq!(places, [(0, 3), (4, 1), (6, 5)]);
    /// ```
    #[inline]
    pub fn write_rows_in_blocks(
        self,
        slots: &[u64],
        columns: &[Column],
        memory: Memory,
        out: &mut Vec<u8>,
        placed: impl FnMut(&[usize], &[u8]),
    ) {
        let mut placed = placed;
        let (Some(last), true) = (columns.last(), slots.len() >= columns.len()) else {
            return;
        };
        let left = match (self.0, columns) {
            (_, [column]) => {
                let (number, separator) = (column.number, &column.separator);
                return self.write_array_in_blocks(slots, number, separator, memory, out, placed);
            }
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            (Level::Avx512, _) if slots.len() > FEW => {
                x86::write_rows(slots, columns, out, &mut placed)
            }
            _ => slots,
        };
        portable::write_rows(left, columns, out, &mut placed);
        out.truncate(out.len() - last.separator.bytes.len());
    }

    /// Appends the lexical forms of the numbers of some rows, each filled up with blanks to the width of its room, with what
    /// stands behind each room but the last. `memory` is where they are written to. Says whether all fit; if not, what was
    /// appended is good for nothing.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Kernel, Memory, Number, Room, Separator};
    ///
    /// let room = Room {
    ///     number: Number::Signed { min: i64::MIN, max: i64::MAX },
    ///     width: 4,
    ///     close: Separator::new(b"</a>"),
    ///     separator: Separator::new(b"<a>"),
    /// };
    /// let mut text = b"<a>".to_vec();
    /// assert!(Kernel::best().write_rooms(&[7, 2003], &[room], Memory::Near, &mut text));
    /// assert_eq!(text, b"<a>7</a>   <a>2003</a>");
    /// ```
    #[inline]
    pub fn write_rooms(
        self,
        slots: &[u64],
        rooms: &[Room],
        memory: Memory,
        out: &mut Vec<u8>,
    ) -> bool {
        let (Some(last), true) = (rooms.last(), slots.len() >= rooms.len()) else {
            return true;
        };
        let fits = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::write_rooms(slots, rooms, memory, out),
            _ => {
                // Only the x86-64 kernel prefetches.
                let _ = memory;
                None
            }
        };
        let fits = fits.unwrap_or_else(|| portable::write_rooms(slots, rooms, out));
        out.truncate(out.len() - last.separator.bytes.len());
        fits
    }

    /// Lists the numbers of the slots that are others in `new` than in `old`, in order, to the front of `list`, and returns
    /// how many there are. What stands behind them in the list has no meaning.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::Kernel;
    ///
    /// let mut list = [0; 4];
    /// let count = Kernel::best().list_differing(&[1, 2, 3, 4], &[1, 5, 3, 6], &mut list);
    /// assert_eq!(list[..count], [1, 3]);
    /// ```
    ///
    /// # Panics
    /// The arrays are not of one length.
    #[inline]
    pub fn list_differing(self, old: &[u64], new: &[u64], list: &mut [u32]) -> usize {
        assert!(old.len() == new.len() && new.len() <= list.len());
        let (count, seen) = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::list_differing(old, new, list),
            _ => (0, 0),
        };
        portable::list_differing((old, new), seen, count, list)
    }

    /// The first slot that is not what it was, plus `delta` where its mask has all bits (and plus nothing where it has
    /// none); how many slots there are, if all are. So slots that count from a place that has moved are compared.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::Kernel;
    ///
    /// let masks = [0, u64::MAX, u64::MAX];
    /// assert_eq!(Kernel::best().first_differing(&[1, 20, 30], &[1, 25, 35], &masks, 5), 3);
    /// assert_eq!(Kernel::best().first_differing(&[1, 20, 30], &[6, 25, 35], &masks, 5), 0);
    /// ```
    ///
    /// # Panics
    /// The arrays are not of one length.
    #[inline]
    pub fn first_differing(self, old: &[u64], new: &[u64], masks: &[u64], delta: u64) -> usize {
        assert!(old.len() == new.len() && new.len() == masks.len());
        match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::first_differing(old, new, masks, delta),
            _ => portable::first_differing(old, new, masks, delta),
        }
    }

    /// Goes over values of two texts in step, and lists those that differ, and where all begin in the new text. A value that
    /// differs ends with the next `<` there; its gap is as long as it was. Ends with a value that is not within both texts,
    /// or longer than 64 bytes with its gap. (A value with a `<` in it is none: it may be listed though it is the same, and
    /// is found out when it is read.)
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Kernel, Listed, Steps};
    ///
    /// let steps = Steps {
    ///     old: b"<a>1</a><a>2</a><a>3</a>",
    ///     new: b"<a>1</a><a>2.5</a><a>3</a>",
    ///     starts: &[3, 11, 19],
    ///     shift: 0,
    ///     gaps: &[7],
    ///     first: 0,
    /// };
    /// let (mut numbers, mut others, mut places) = ([0; 2], [0; 2], [0; 2]);
    /// let mut listed = Listed { numbers: &mut numbers, others: &mut others, places: &mut places };
    /// let stepped = Kernel::best().list_changed(steps, &mut listed);
    /// assert_eq!((stepped.listed, stepped.seen, stepped.shift), (1, 2, 2));
    /// assert_eq!((numbers[0], others[0], places), (1, 11, [3, 11]));
    /// ```
    ///
    /// # Panics
    /// There are no gaps, or a list is shorter than there are values.
    #[inline]
    pub fn list_changed(self, steps: Steps<'_>, list: &mut Listed<'_>) -> Stepped {
        let room = list.numbers.len().min(list.others.len());
        let room = room.min(list.places.len());
        assert!(steps.first < steps.gaps.len() && steps.starts.len() <= room + 1);
        let begin = Stepped {
            listed: 0,
            seen: 0,
            shift: steps.shift,
        };
        let stepped = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::list_changed(steps, begin, list),
            _ => begin,
        };
        portable::list_changed(steps, stepped, list)
    }

    /// Reads rows from `text[at..]`, where the first value of the first row stands, for as long as each value is followed by
    /// its separator, and appends their slots to `slots`. Tells of each value its column, where it stands and how long it
    /// is. At most `most` rows are read whole: behind the last value of the next, no other row may follow, so it stops
    /// there. The slots of the columns before that at which it stops are there, and that column's marker.
    #[inline]
    pub fn read_rows(
        self,
        text: &[u8],
        at: usize,
        columns: &[Column],
        most: usize,
        slots: &mut Vec<u64>,
        found: impl FnMut(usize, usize, usize),
    ) -> Stop {
        let mut found = found;
        let mut all = |column, at, length| {
            found(column, at, length);
            true
        };
        self.read_rows_while(text, at, columns, most, slots, &mut all)
    }

    /// The same, but `found` says of the last value of each row whether to go on with the next row: of that, nothing is read
    /// then.
    #[inline]
    pub fn read_rows_while(
        self,
        text: &[u8],
        at: usize,
        columns: &[Column],
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> Stop {
        // A row is a number at least.
        if columns.is_empty() {
            return Stop {
                rows: 0,
                column: 0,
                at,
            };
        }
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self.0 != Level::Portable
            && let Some(end) = same_end(columns)
        {
            let is_wide = self.0 == Level::Avx512;
            return x86::read_rows(is_wide, text, (columns, end), at, most, slots, found);
        }
        portable::read_rows(text, at, columns, most, slots, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_kernel_is_a_bound_and_no_promise() {
        let named = |name: &str| Kernel::up_to(Some(OsStr::new(name)));
        let best = Kernel::up_to(None);
        assert_eq!(named("portable"), Kernel::PORTABLE);
        assert_eq!(named("avx2"), Kernel::avx2().unwrap_or(Kernel::PORTABLE));
        assert_eq!(named("avx512"), best);
        assert!([Kernel::avx512(), Kernel::avx2(), Some(Kernel::PORTABLE)].contains(&Some(best)));
    }
}
