//! Two texts that are gone over in step, and what of them differs.

/// Values of an old text and a new one, to be compared one by one.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'t> {
    /// The text before.
    pub old: &'t [u8],
    /// The text now.
    pub new: &'t [u8],
    /// Where each value begins in the old text, and the one behind the last.
    pub starts: &'t [u32],
    /// How much further the first begins in the new one, modulo 2⁶⁴.
    pub shift: usize,
    /// The length of the text between a value and the next; in turn, if there are several.
    pub gaps: &'t [u32],
    /// Which of the gaps is behind the first.
    pub first: usize,
}

/// How far they have been compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// How many differ.
    pub listed: usize,
    /// Of how many.
    pub seen: usize,
    /// How much further the next begins in the new text, modulo 2⁶⁴.
    pub shift: usize,
}

/// Receives the list of values that differ: each slice has space for all values.
#[derive(Debug)]
pub struct Listed<'l> {
    /// The numbers of those that differ, in order, to the front.
    pub numbers: &'l mut [u32],
    /// Where they begin in the new text.
    pub others: &'l mut [u32],
    /// Where each value that was seen begins in the new text, whether it differs or not.
    pub places: &'l mut [u32],
}

impl Steps<'_> {
    /// The number of the gap behind a value.
    pub(super) fn gap_of(&self, value: usize) -> usize {
        (self.first + value) % self.gaps.len()
    }
}
