//! Rows that were inserted or removed: at a difference, the next rows of one text are searched for in the other.
//!
//! ```text
//! old   <s at="1">5</s><s at="2">7</s><s at="3">6</s>…      two rows were removed:
//! new   <s at="3">6</s>…                                    the new text is found at the third row
//! ```

use memchr::memmem;

use super::pass::{MIN_COMMON, Pass};

/// The next row begins at most this number of slots ahead.
const MAX_ROW: usize = 64;

impl Pass {
    /// Whether rows have been inserted or removed before the value of `slot`, which begins at `o` in the old text and at `n` in
    /// the new one. At most `reach` rows are looked at. If so, the difference between the offsets is stored in `run.hint`.
    #[cold]
    pub(super) fn is_shifted(
        &mut self,
        (slot, o, n): (usize, usize, usize),
        reach: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        let hint = self.shifted_by((slot, o, n), reach, old, new);
        self.run.hint = hint.map(|(place, at)| at.wrapping_sub(place));
        if hint.is_some() {
            self.run.is_shifted();
        }
        self.run.hint.is_some()
    }

    /// Offsets in the old and in the new text from which on the texts are the same again.
    fn shifted_by(
        &self,
        (slot, o, n): (usize, usize, usize),
        reach: usize,
        old: &[u8],
        new: &[u8],
    ) -> Option<(usize, usize)> {
        let trace = &self.history.trace;
        let site = trace.sites.get(slot)?;
        let sites = trace.sites.get(slot + 1..)?;
        // The value of the same leaf in the next row.
        let width = 1 + sites.iter().take(MAX_ROW).position(|it| it == site)?;
        let rows = || {
            let slots = trace.sites.iter().zip(&trace.starts).skip(slot + width);
            let starts = slots.filter(|(it, _)| *it == site);
            starts.map(|(_, &start)| start as usize)
        };
        let ahead = n.checked_add(MIN_COMMON).and_then(|end| new.get(n..end))?;
        let is_same = |place: &usize| old[(*place).min(old.len())..].starts_with(ahead);
        let removed = rows().take(reach).find(is_same);
        if let Some(place) = removed {
            return Some((place, n));
        }
        let row = rows().next()? - o;
        let sought = old.get(o..o + MIN_COMMON)?;
        let end = new.len().min(n + row * reach + MIN_COMMON);
        let at = memmem::find(new.get(n + 1..end)?, sought)?;
        Some((o, n + 1 + at))
    }
}
