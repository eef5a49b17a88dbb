//! How the values found are reported.

/// Receives the values that are read, in order. A trait and not a function: a function that is called from many
/// places is not inlined, and the loop's registers are saved and restored around each call.
pub trait Found {
    /// Reports a value: its location, length and slot. Returns whether to read the next.
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

/// Reports all values, without stopping.
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
pub struct RowsEnd {
    /// How many rows are whole.
    pub rows: usize,
    /// The column whose value was not read.
    pub column: usize,
    /// Where that value begins.
    pub at: usize,
}
