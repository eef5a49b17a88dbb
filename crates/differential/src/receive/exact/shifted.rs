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
    pub(super) fn find_shift(
        &mut self,
        (slot, o, n): (usize, usize, usize),
        reach: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        let hint = self.shifted_by((slot, o, n), reach, old, new);
        self.run.hint = hint.map(|(place, at)| at.wrapping_sub(place));
        if hint.is_some() {
            self.run.found_shift();
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
        let sites = trace.sites.get(slot..)?;
        let site = sites.first()?;
        let width = row_width(sites)?;
        // Fields of one type have the same site.
        let alike = sites[..width].iter().filter(|it| *it == site).count();
        let rows = || {
            let slots = trace.sites.iter().zip(&trace.starts).skip(slot + width);
            let starts = slots.filter(|(it, _)| *it == site).step_by(alike);
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

/// The number of slots of a row, if rows begin with these sites: the smallest number after which the sites repeat, as far as
/// [`MAX_ROW`] slots show. If a row is not like the next (it has an optional field, say), the sites of one row must repeat once.
fn row_width<T: PartialEq>(sites: &[T]) -> Option<usize> {
    let shown = &sites[..sites.len().min(MAX_ROW)];
    let repeats = |width: &usize| sites.get(*width..2 * width) == sites.get(..*width);
    let always = |width: &usize| shown[*width..] == shown[..shown.len() - width];
    let regular = (1..=shown.len() / 2).find(always);
    regular.or_else(|| (1..=shown.len()).find(repeats))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_where_all_its_sites_come_again() {
        assert_eq!(row_width(b"iiiiiiii"), Some(1));
        assert_eq!(row_width(b"iidiidiid"), Some(3));
        assert_eq!(row_width(b"idiidiidi"), Some(3));
        assert_eq!(row_width(b"tvtvtvtv"), Some(2));
        assert_eq!(row_width(b"abcabcxyz"), Some(3));
        assert_eq!(row_width(b"abcdefgh"), None);
        assert_eq!(row_width::<u8>(b""), None);
        assert_eq!(row_width(b"i"), None);
    }
}
