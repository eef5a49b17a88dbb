//! Who is told of values, and how.

/// Who is told of the values that are read, one after the other. A trait and not a function: where one is called at many
/// places, the compiler does not put it in line, and the loop's registers are saved and loaded around each call.
pub trait Found {
    /// A value was read: where it stands, how long it is, and its slot. Whether to go on with the next.
    fn value(&mut self, at: usize, length: usize, slot: u64) -> bool;
}

/// The same for values of rows: the column of each, too. Whether to go on is asked behind the last of a row.
pub trait FoundInRow {
    /// A value was read.
    fn value(&mut self, column: usize, at: usize, length: usize, slot: u64) -> bool;
}

impl<F: FnMut(usize, usize, usize) -> bool> FoundInRow for F {
    #[inline(always)]
    fn value(&mut self, column: usize, at: usize, length: usize, _: u64) -> bool {
        self(column, at, length)
    }
}

/// Tells of all.
pub(super) struct All<F>(pub(super) F);

impl<F: FnMut(usize, usize)> Found for All<F> {
    #[inline(always)]
    fn value(&mut self, at: usize, length: usize, _: u64) -> bool {
        (self.0)(at, length);
        true
    }
}

/// Remembers whether it was said to stop.
pub(super) struct Watched<'f, F> {
    pub(super) found: &'f mut F,
    pub(super) has_stopped: bool,
}

impl<F: Found> Found for Watched<'_, F> {
    #[inline(always)]
    fn value(&mut self, at: usize, length: usize, slot: u64) -> bool {
        let goes_on = self.found.value(at, length, slot);
        if !goes_on {
            self.has_stopped = true;
        }
        goes_on
    }
}

/// Where rows ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How many rows are whole.
    pub rows: usize,
    /// The column whose value was not read.
    pub column: usize,
    /// Where that value begins.
    pub at: usize,
}

/// Takes places some at a time and tells of each.
#[inline(always)]
pub(super) fn one_by_one(placed: impl FnMut(usize, usize)) -> impl FnMut(&[usize], &[u8]) {
    let mut placed = placed;
    move |starts, lengths| {
        for (&start, &length) in starts.iter().zip(lengths) {
            placed(start, length.into());
        }
    }
}
