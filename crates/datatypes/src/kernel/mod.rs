//! Kernels that read and write the numbers of a whole array, or of rows of flat structs, in the text of a message.
//!
//! Between two values there are nearly always the same bytes, the [`Separator`]: it is learned from the first element, and then
//! takes one compare per value. So one loop reads the whole array:
//!
//! ```text
//! …<item>12.5</item><item>-7e3</item><item>1</item></values>
//!        value  separator value separator  …        └ not the separator: the loop ends before the 1
//! ```
//!
//! A [`Kernel`] is a set of instructions that this machine has. The results do not depend on it: all accept what
//! [`double::parse_prefix`](crate::double::parse_prefix) and its siblings accept, and nothing else. The kernels are a fast path
//! for common lexical forms; those functions are the slow path, for every other value (many digits, a leading `+`, a number out
//! of range).

mod carryless;
mod fill;
pub mod form;
mod found;
mod number;
mod one;
mod portable;
mod prefetch;
mod products;
mod separator;
mod steps;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod wide;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86;

pub use carryless::Carryless;
pub use found::{Found, FoundInRow, RowsEnd};
pub use number::{Column, Number, PaddedColumn};
pub use prefetch::{prefetch, prefetch_all};
pub use separator::Separator;
pub use steps::{Listed, Stepped, Steps};

use found::{All, Watched};
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
use number::same_end;

use std::ffi::OsStr;
use std::sync::OnceLock;

/// Up to this many numbers, formatting one by one is faster than in lanes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const MAX_ONE_BY_ONE: usize = 3;

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// Rust that runs anywhere.
    Portable,
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT; or NEON.
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    Wide,
    /// AVX2 and the others and AVX-512 F, BW, VL, VBMI, VBMI2, IFMA, CD, DQ, VPOPCNTDQ.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Avx512,
}

/// A set of instructions that this machine has, and that may therefore be used.
///
/// ```
/// use bsoap_datatypes::kernel::{Kernel, Number, Separator};
///
/// let text = b"<a>1.5</a><a>-2e3</a><a>7</a></all>";
/// let mut slots = Vec::with_capacity(8);
/// let between = Separator::new(b"</a><a>");
/// let at = Kernel::best().read_array((text, 3), Number::Double, &between, usize::MAX, &mut slots, |_, _| {});
/// assert_eq!(slots, [1.5_f64.to_bits(), (-2e3_f64).to_bits()]);
/// assert_eq!(&text[at..], b"7</a></all>");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel(Level);

impl Kernel {
    /// The best set that this machine has, limited by the environment variable `BSOAP_KERNEL` (`portable`, `avx2`, `neon`), which
    /// is read once: it allows measuring on one machine what others get.
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| Self::up_to(std::env::var_os("BSOAP_KERNEL").as_deref()))
    }

    /// The best set, limited to the named one: portable if this machine does not have that. Other names do not limit it.
    fn up_to(name: Option<&OsStr>) -> Self {
        let best = match name.and_then(OsStr::to_str) {
            Some("portable") => None,
            Some("avx2") => Self::avx2(),
            Some("neon") => Self::neon(),
            _ => Self::avx512().or(Self::avx2()).or(Self::neon()),
        };
        best.unwrap_or(Self::PORTABLE)
    }

    /// What every machine has.
    pub const PORTABLE: Self = Self(Level::Portable);

    /// AVX2, if this machine has it.
    #[inline]
    pub fn avx2() -> Option<Self> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if wide::is_available() {
            return Some(Self(Level::Wide));
        }
        None
    }

    /// NEON, if this machine has it.
    #[inline]
    pub fn neon() -> Option<Self> {
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        if wide::is_available() {
            return Some(Self(Level::Wide));
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

    /// Reads numbers from `text[at..]` as long as each is followed by the separator, at most `most`, and appends their slots to
    /// `slots` while it has capacity. Reports the location and length of each value. Returns the location of the first value
    /// that was not read.
    #[inline]
    pub fn read_array(
        self,
        text: (&[u8], usize),
        number: Number,
        separator: &Separator,
        most: usize,
        slots: &mut Vec<u64>,
        found: impl FnMut(usize, usize),
    ) -> usize {
        let mut all = All(found);
        self.read_array_while(text, number, separator, most, slots, &mut all)
    }

    /// The same, but `found` decides after each value whether to continue.
    #[inline]
    pub fn read_array_while(
        self,
        text: (&[u8], usize),
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
            Level::Portable => text.1,
            #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
            _ => wide::read_array(text, number, separator, limit, slots, &mut found),
        };
        if found.has_stopped {
            return at;
        }
        // The last values of the text are too near its end for wide loads.
        portable::read_array((text.0, at), number, separator, limit, slots, &mut found)
    }

    /// Reads the numbers at these locations of a text, each followed by the separator, up to the first that is not. Appends
    /// their slots to `slots` and their lengths to `lengths`. Returns how many there are.
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
            Level::Portable => 0,
            #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
            _ => wide::read_places((text, places), number, separator, slots, lengths),
        };
        let left = places.get(read..).unwrap_or_default();
        read + portable::read_places((text, left), number, separator, slots, lengths)
    }

    /// Appends the lexical form of each number at the front of 32 bytes, the rest of which is unspecified, and its length.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Kernel, Number};
    ///
    /// let (mut forms, mut lengths) = (Vec::new(), Vec::new());
    /// let slots = [1.5_f64, -2e3].map(f64::to_bits);
    /// Kernel::best().format_array(&slots, Number::Double, &mut forms, &mut lengths);
    /// assert_eq!(lengths, [3, 5]);
    /// assert_eq!(forms.len(), 64);
    /// assert_eq!(&forms[32..37], b"-2000");
    /// ```
    #[inline]
    pub fn format_array(
        self,
        slots: &[u64],
        number: Number,
        forms: &mut Vec<u8>,
        lengths: &mut Vec<u8>,
    ) {
        let left = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 if slots.len() > MAX_ONE_BY_ONE => {
                x86::format_array(slots, number, forms, lengths)
            }
            _ => slots,
        };
        portable::format_array(left, number, forms, lengths);
    }

    /// Appends the lexical forms of rows of numbers, as [`double::format`](crate::double::format()) and its siblings write
    /// them, each followed by the separator of its column, except the last. (The slots contain no markers.) Reports the locations and lengths of all, some at a time.
    #[inline]
    pub fn write_rows(
        self,
        slots: &[u64],
        columns: &[Column],
        out: &mut Vec<u8>,
        mut placed: impl FnMut(&[usize], &[u8]),
    ) {
        let (Some(last), true) = (columns.last(), slots.len() >= columns.len()) else {
            return;
        };
        let left = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 if slots.len() > MAX_ONE_BY_ONE => {
                x86::write_rows(slots, columns, out, &mut placed)
            }
            _ => slots,
        };
        portable::write_rows(left, columns, out, &mut placed);
        out.truncate(out.len() - last.separator.bytes.len());
    }

    /// Appends rows of numbers, each padded with spaces to the width of its column and followed by the column's separator,
    /// except the last. Reports the locations and lengths of all, some at a time, and returns whether all fit. If not, the
    /// appended text is unusable.
    ///
    /// ```
    /// use bsoap_datatypes::kernel::{Kernel, Number, PaddedColumn, Separator};
    ///
    /// let column = PaddedColumn {
    ///     number: Number::Signed { min: i64::MIN, max: i64::MAX },
    ///     width: 4,
    ///     close: Separator::new(b"</a>"),
    ///     separator: Separator::new(b"<a>"),
    /// };
    /// let mut text = b"<a>".to_vec();
    /// assert!(Kernel::best().write_padded_rows(&[7, 2003], &[column], &mut text, |_, _| {}));
    /// assert_eq!(text, b"<a>7</a>   <a>2003</a>");
    /// ```
    #[inline]
    pub fn write_padded_rows(
        self,
        slots: &[u64],
        columns: &[PaddedColumn],
        out: &mut Vec<u8>,
        mut placed: impl FnMut(&[usize], &[u8]),
    ) -> bool {
        let (Some(last), true) = (columns.last(), slots.len() >= columns.len()) else {
            return true;
        };
        let fits = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::write_padded_rows(slots, columns, out, &mut placed),
            _ => None,
        };
        let fits =
            fits.unwrap_or_else(|| portable::write_padded_rows(slots, columns, out, &mut placed));
        out.truncate(out.len() - last.separator.bytes.len());
        fits
    }

    /// Lists the indices of the slots that differ, in order, at the front of `list`, and returns how many there are. The rest
    /// of the list is unspecified.
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
    /// If the arrays differ in length.
    #[inline]
    pub fn list_differing(self, old: &[u64], new: &[u64], list: &mut [u32]) -> usize {
        assert!(old.len() == new.len() && new.len() <= list.len());
        let (count, seen) = match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::list_differing(old, new, list),
            _ => (0, 0),
        };
        count + portable::list_differing((old, new), seen, &mut list[count..])
    }

    /// The first slot that is not the old one plus `delta` (where its mask has all bits set) or the old one (where it has
    /// none); the number of slots if there is none. So slots that contain offsets can be compared after a shift.
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
    /// If the arrays differ in length.
    #[inline]
    pub fn first_differing(self, old: &[u64], new: &[u64], masks: &[u64], delta: u64) -> usize {
        assert!(old.len() == new.len() && new.len() == masks.len());
        match self.0 {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Level::Avx512 => x86::first_differing(old, new, masks, delta),
            _ => portable::first_differing(old, new, masks, delta),
        }
    }

    /// Compares the values of two texts in order. Lists those that differ, and where every value begins in the new text. A
    /// value that differs ends at the next `<` there; the gap after it keeps its length. Ends at a value that is not within
    /// both texts, or is longer than 64 bytes with its gap. (A listed value may turn out to be the same if it contains a `<`:
    /// the caller notices when it reads it.)
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
    /// If there are no gaps, or a list is shorter than the number of values.
    #[inline]
    pub fn list_changed(self, steps: Steps<'_>, list: &mut Listed<'_>) -> Stepped {
        let capacity = list.numbers.len().min(list.others.len());
        let capacity = capacity.min(list.places.len());
        assert!(steps.first < steps.gaps.len() && steps.starts.len() <= capacity + 1);
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

    /// Reads rows from the first value at `text[at..]` on, as long as each value is followed by its separator, and appends
    /// their slots to `slots`. Reports the column, location and length of each value. At most `most` rows are read completely;
    /// it stops at the last column of the row after them, which no separator may follow. The slots of the columns before the
    /// one where it stops are appended, and that column's marker.
    #[inline]
    pub fn read_rows(
        self,
        text: &[u8],
        at: usize,
        columns: &[Column],
        most: usize,
        slots: &mut Vec<u64>,
        found: impl FnMut(usize, usize, usize),
    ) -> RowsEnd {
        let mut found = found;
        let mut all = |column, at, length| {
            found(column, at, length);
            true
        };
        self.read_rows_while(text, at, columns, most, slots, &mut all)
    }

    /// The same, but `found` decides after the last value of each row whether to continue.
    #[inline]
    pub fn read_rows_while(
        self,
        text: &[u8],
        at: usize,
        columns: &[Column],
        most: usize,
        slots: &mut Vec<u64>,
        found: &mut impl FoundInRow,
    ) -> RowsEnd {
        // A row has at least one number.
        if columns.is_empty() {
            return RowsEnd {
                rows: 0,
                column: 0,
                at,
            };
        }
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        if let Some(end) = same_end(columns) {
            match self.0 {
                Level::Portable => {}
                Level::Wide => {
                    return wide::read_rows(text, (columns, end), at, most, slots, found);
                }
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => {
                    return x86::read_rows(text, (columns, end), at, most, slots, found);
                }
            }
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
        assert_eq!(named("neon"), Kernel::neon().unwrap_or(Kernel::PORTABLE));
        assert_eq!(named("avx512"), best);
        let has_neon = cfg!(all(
            target_arch = "aarch64",
            target_endian = "little",
            not(miri)
        ));
        assert_eq!(Kernel::neon().is_some(), has_neon);
        let sets = [Kernel::avx512(), Kernel::avx2(), Kernel::neon()];
        assert_eq!(
            best,
            sets.into_iter()
                .flatten()
                .next()
                .unwrap_or(Kernel::PORTABLE)
        );
    }
}
