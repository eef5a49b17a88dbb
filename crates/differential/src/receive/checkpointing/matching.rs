//! Finding old portions in the new text, where fast mode may continue.
//!
//! A portion that is found is only a candidate: it has the same text or digest, at the distance of the last unchanged portion
//! or at the same distance from the end. Fast mode continues there only if the decoder reaches it in the saved state. The
//! papers call the comparison of states *progressive matching*.
//!
//! ```text
//! old      1   2   3   4   5   6   7   8   9                 is the portion unchanged?
//! new      ≠   ≠   ?   ≠   ?   ?   ?   =   …                 1, 2, 4, 8: no, no, no, yes
//!                          ≠   ≠   =                         6: no, 7: yes
//! ```

use super::digest::Digest;
use super::portion::Entry;

/// Old portions, and the new text in which they are searched for.
pub(super) struct Candidates<'a, S> {
    /// The checkpoints at which the portions begin.
    pub(super) entries: &'a [Entry<S>],
    /// The digests of the portions; empty if the old text is kept.
    pub(super) digests: &'a [u128],
    /// The length of the whole old text in bytes.
    pub(super) length: usize,
    /// The old text; empty if digests are kept.
    pub(super) old: &'a [u8],
    /// The digest by which portions are compared; `None` if they are compared by their text.
    pub(super) digest: Option<&'a dyn Digest>,
    /// The new text.
    pub(super) text: &'a [u8],
}

impl<S> Candidates<'_, S> {
    /// The offset of an entry in the old text; its length if there is no such entry.
    fn offset(&self, index: usize) -> usize {
        self.entries
            .get(index)
            .map_or(self.length, |entry| entry.mark.offset as usize)
    }

    /// Whether the portion after an entry is at the offset `at` of the new text.
    pub(super) fn is_same(&self, index: usize, at: usize) -> bool {
        let (from, to) = (self.offset(index), self.offset(index + 1));
        let end = to
            .checked_sub(from)
            .and_then(|length| at.checked_add(length));
        let Some(portion) = end.and_then(|end| self.text.get(at..end)) else {
            return false;
        };
        // The last portion must end with the text.
        if index + 1 >= self.entries.len() && at + portion.len() != self.text.len() {
            return false;
        }
        match self.digest {
            Some(digest) => self.digests.get(index) == Some(&digest.digest(portion)),
            None => self.old.get(from..to) == Some(portion),
        }
    }

    /// The number of unchanged portions at the front. `shift`: the difference between new and old offsets.
    pub(super) fn same(&self, shift: usize) -> usize {
        if self.digest.is_none() {
            return self.same_text(shift);
        }
        let is_same = |&index: &usize| self.is_same(index, self.offset(index).wrapping_add(shift));
        (0..self.entries.len()).take_while(is_same).count()
    }

    /// Does the same as [`same`](Self::same) with one comparison of the texts.
    fn same_text(&self, shift: usize) -> usize {
        let from = self.offset(0);
        let at = from.wrapping_add(shift);
        let (Some(old), Some(new)) = (self.old.get(from..), self.text.get(at..)) else {
            return 0;
        };
        let same = bsoap_xml::scan::find_difference(old, new);
        if same == old.len() && same == new.len() {
            return self.entries.len();
        }
        // The last portion is unchanged only if all of the text is.
        let ends = self.entries.get(1..).unwrap_or_default();
        ends.partition_point(|entry| entry.mark.offset as usize <= from + same)
    }

    /// The index of the next entry whose portion is in the new text from `begin` on, and the offset there. `chunk`: the number
    /// of portions to be decoded otherwise, which limits the search. `None` if there is none.
    pub(super) fn find(&self, begin: usize, shift: usize, chunk: usize) -> Option<(usize, usize)> {
        let here = self.gallop(begin, shift, chunk);
        let at_end = self.text.len().wrapping_sub(self.length);
        if here.is_some() || at_end == shift {
            return here;
        }
        self.gallop(begin, at_end, chunk)
    }

    /// The next entry at the distance `shift`: looks at the portions 1, 2, 4, 8 … ahead, then uses binary search.
    fn gallop(&self, begin: usize, shift: usize, chunk: usize) -> Option<(usize, usize)> {
        let at = |index: usize| self.offset(index).wrapping_add(shift);
        // An offset before the beginning of the text wraps around to a very large number.
        let is_behind = |entry: &Entry<S>| {
            let at = (entry.mark.offset as usize).wrapping_add(shift);
            at < begin || at > usize::MAX / 2
        };
        let first = self.entries.partition_point(is_behind);
        let most = (first + FAR * chunk).min(self.entries.len());
        let (mut from, mut step) = (first, 1);
        while from < most {
            let index = (first + step - 1).min(most - 1);
            if self.is_same(index, at(index)) {
                let (mut low, mut high) = (from, index);
                while low < high {
                    let middle = low.midpoint(high);
                    match self.is_same(middle, at(middle)) {
                        true => high = middle,
                        false => low = middle + 1,
                    }
                }
                return Some((high, at(high)));
            }
            (from, step) = (index + 1, step * 2);
        }
        None
    }
}

/// The number of portions to look ahead for each portion that would be decoded otherwise.
const FAR: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receive::checkpointing::portion::Mark;

    #[test]
    fn the_first_portion_that_is_there_again_is_found() {
        let old: String = (0..100).map(|i| format!("<{i:03}>")).collect();
        let entries: Vec<Entry<()>> = (0..100)
            .map(|i| Entry {
                mark: Mark {
                    offset: 5 * i,
                    slots: i,
                },
                saved: (),
            })
            .collect();
        for changed in 1..60 {
            let mut text = old.clone().into_bytes();
            text[100..100 + 5 * changed].fill(b'x');
            let candidates = |entries| Candidates {
                entries,
                digests: &[],
                length: old.len(),
                old: old.as_bytes(),
                digest: None,
                text: &text,
            };
            assert_eq!(candidates(&entries).same(0), 20);
            let found = candidates(&entries[20..]).find(100, 0, 1);
            assert_eq!(found, Some((changed, 100 + 5 * changed)));
        }
    }
}
