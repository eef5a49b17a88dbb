//! Which values of the old text stand in step with what is known of an array: the one place that tells.
//!
//! ```text
//! sites    –    x    y    –    v    –    x              – a marker
//! old      <row><x>  1  </x><y>  2  </y>…
//!               └ starts[slot]  └ starts[slot + step]
//!                    └ gap ──┘
//! ```

use bsoap_codec::decode::{Site, Trace};

use super::stretch::{Field, Pattern};

/// The values of the old text from a slot on, which is the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'t> {
    starts: &'t [u32],
    sites: &'t [Site],
    text: &'t [u8],
}

/// Where a value of the old text ends, and where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stands {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) next: usize,
}

impl<'t> Before<'t> {
    /// Those of a trace.
    #[inline]
    pub(super) fn new(trace: &'t Trace, first: usize, text: &'t [u8]) -> Self {
        Self {
            starts: trace.starts.get(first..).unwrap_or_default(),
            sites: trace.sites.get(first..).unwrap_or_default(),
            text,
        }
    }

    /// Whether a value of field `index` stands at `slot`: there is that field; between it and the values before and behind
    /// it are markers only (a value there would be taken for one, and stay as it was); it ends where its gap begins; and
    /// behind that begins the next field.
    #[inline(always)]
    pub(super) fn value(&self, pattern: &Pattern, index: usize, slot: usize) -> Option<Stands> {
        let field = pattern.fields.get(index)?;
        let after = pattern.fields.get(pattern.next(index))?;
        let behind = slot + field.step;
        let (&start, &next) = (self.starts.get(slot)?, self.starts.get(behind)?);
        let are_its = *self.sites.get(slot)? == field.site
            && *self.sites.get(behind)? == after.site
            && (field.lead == 0
                || are_markers(self.sites.get(slot.checked_sub(field.lead)?..slot)?))
            && (field.step == 1 || are_markers(self.sites.get(slot + 1..behind)?));
        let end = field.end(start, next, self.text)?;
        are_its.then_some(Stands {
            start: start as usize,
            end,
            next: next as usize,
        })
    }

    /// How many values here, of so many, are those of a row from a field on, row after row, with the next behind them: what
    /// is left to be told of each is where it [ends](Field::end). Where rows have nothing but their values.
    #[inline]
    pub(super) fn of_rows(&self, pattern: &Pattern, index: usize, values: usize) -> usize {
        let values = values.min(self.starts.len().saturating_sub(1));
        let run = pattern.run.get(index..).unwrap_or_default();
        let sites = self.sites.get(..=values).unwrap_or_default();
        let pairs = sites.iter().zip(run);
        // Most often all are, which is told without a branch for each.
        let all = pairs
            .clone()
            .fold(true, |all, (site, its)| all & (site == its));
        let count = match all {
            true => pairs.len(),
            false => pairs.take_while(|(site, its)| site == its).count(),
        };
        count.saturating_sub(1)
    }

    /// How many rows stand here, of so many.
    #[inline]
    pub(super) fn rows(&self, pattern: &Pattern, rows: usize) -> usize {
        let Some(first) = pattern.fields.first() else {
            return 0;
        };
        // The first value of the row behind them must be there, too.
        let most = self.starts.len().saturating_sub(first.lead + 1) / pattern.slots;
        let rows = rows.min(most);
        let stands = |row: &usize| {
            let mut fields = pattern.fields.iter().enumerate();
            let first = row * pattern.slots;
            fields.all(|(index, field)| self.value(pattern, index, first + field.at).is_some())
        };
        (0..rows).take_while(stands).count()
    }

    /// Where values of an array begin, so many and the next: what is left to be told of each is where it [ends](Field::end).
    #[inline]
    pub(super) fn array(
        &self,
        pattern: &Pattern,
        values: usize,
    ) -> impl Iterator<Item = (u32, u32)> {
        let values = self.of_rows(pattern, 0, values);
        let starts = self.starts.get(..=values).unwrap_or_default();
        let nexts = starts.get(1..).unwrap_or_default();
        starts.iter().copied().zip(nexts.iter().copied())
    }
}

impl Field {
    /// Where a value of it ends that begins at `start`, if its gap is between that and the next, at `next`.
    #[inline(always)]
    pub(super) fn end(&self, start: u32, next: u32, text: &[u8]) -> Option<usize> {
        let end = next.wrapping_sub(self.gap.len() as u32);
        let is_between = start <= end && end < next && self.gap.stands_at(text, end as usize);
        is_between.then_some(end as usize)
    }
}

/// Whether there is no value among some slots.
#[inline]
fn are_markers(sites: &[Site]) -> bool {
    sites.iter().all(|&site| site == Site::NONE)
}
