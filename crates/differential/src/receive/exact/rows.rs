//! Repeating rows of values: what follows what in an array, learned from the old text.
//!
//! ```text
//! <row><x>  1  </x><y>  2  </y><v>  0.5  </v></row><row><x>  3  </x>…
//!          field 0      field 1      field 2                field 0
//!               └ gap 0 ┘    └ gap 1 ┘    └──── gap 2 ─────┘
//! slots  –        x            y            –      v            –     x       – a marker
//! ```
//!
//! A gap leads from inside an element to inside the next, in either text; so as long as it has the same bytes in both, the
//! decoder would be in the same state. It begins with an end tag, so nothing but the value is between it and the gap before.

use bsoap_codec::Plan;
use bsoap_codec::decode::{Site, Trace};
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::kernel::{Column, Number, Separator};
use memchr::memchr;

/// A value of a row, and what is behind it.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) site: Site,
    pub(super) kind: LeafKind,
    /// The same for a kernel, if it is a number.
    pub(super) number: Option<Number>,
    /// The bytes between it and the next value, of this row or the next.
    pub(super) gap: Separator,
    /// How many markers precede it.
    pub(super) lead: usize,
}

impl Field {
    /// Where a value of it ends that begins at `start`, if its gap is between that and the next value, at `next`.
    #[inline(always)]
    pub(super) fn end(&self, start: u32, next: u32, text: &[u8]) -> Option<usize> {
        let end = next.wrapping_sub(self.gap.len() as u32);
        let is_between = start <= end && end < next && self.gap.matches_at(text, end as usize);
        is_between.then_some(end as usize)
    }
}

/// The fields of the rows of an array.
#[derive(Debug)]
pub(super) struct RowPattern {
    pub(super) fields: Vec<Field>,
    /// How many slots a row has.
    pub(super) width: usize,
    /// The slot with which some row begins: that of the first field, or of the markers before it.
    first: usize,
    /// All fields for a kernel, if rows have nothing but numbers.
    pub(super) columns: Vec<Column>,
    /// How long the gaps are, by field.
    pub(super) gaps: Vec<u32>,
    /// The slots of [`BLOCK`] values and some more, row after row: their sites ...
    sites: Vec<Site>,
    /// ... and, by value, its slot and field.
    values: Vec<(u32, u32)>,
}

/// Values listed together, at most.
pub(super) const BLOCK: usize = 256;

const MAX_FIELDS: usize = 24;
/// Bytes between two values.
const MAX_GAP: usize = 1 << 10;
/// Markers before a value.
const MAX_MARKERS: usize = 3;

impl RowPattern {
    /// That of the array which the value at `slot` belongs to; its lexical form ends at `end`. Nothing if the values behind
    /// it do not repeat.
    pub(super) fn learn(
        plan: &Plan,
        trace: &Trace,
        slot: usize,
        end: usize,
        old: &[u8],
    ) -> Option<Self> {
        let mut found: Vec<(usize, Site, &[u8])> = Vec::new();
        let (mut slot, mut end) = (slot, end);
        loop {
            let site = *trace.sites.get(slot)?;
            let markers = trace.sites.get(slot + 1..)?.iter();
            let step = 1 + markers.take_while(|&&site| site == Site::NONE).count();
            let start = *trace.starts.get(slot + step)? as usize;
            let gap = old.get(end..start)?;
            // A value that is followed by a comment or a CDATA section ends elsewhere.
            let is_whole = gap.starts_with(b"</") && gap.len() <= MAX_GAP;
            if site.is_attribute() || step > MAX_MARKERS + 1 || !is_whole {
                return None;
            }
            found.push((slot, site, gap));
            if found.len() > 1 && (found[0].1, found[0].2) == (site, gap) {
                return Self::of(plan, &found);
            }
            if found.len() > MAX_FIELDS {
                return None;
            }
            slot += step;
            end = start + memchr(b'<', old.get(start..)?)?;
        }
    }

    /// `found`: slot, site and gap of the fields of a row, and of the first field of the next.
    fn of(plan: &Plan, found: &[(usize, Site, &[u8])]) -> Option<Self> {
        let count = found.len() - 1;
        let width = found[count].0 - found[0].0;
        let lead = |index: usize| match index {
            0 => found[count].0 - found[count - 1].0 - 1,
            _ => found[index].0 - found[index - 1].0 - 1,
        };
        let first = found[0].0.checked_sub(lead(0))?;
        let mut fields = Vec::with_capacity(count);
        for (index, &(_, site, gap)) in found[..count].iter().enumerate() {
            let kind = plan.leaf(site.leaf()?).kind;
            fields.push(Field {
                site,
                kind,
                number: kind.number(),
                gap: Separator::new(gap),
                lead: lead(index),
            });
        }
        let columns = fields.iter().filter(|_| width == count).map(|field| {
            Some(Column {
                number: field.number?,
                marker: None,
                separator: field.gap.clone(),
            })
        });
        let columns = columns.collect::<Option<Vec<_>>>().unwrap_or_default();
        let (mut sites, mut values) = (Vec::new(), Vec::new());
        for number in 0..BLOCK + count + 1 {
            let index = number % count;
            sites.resize(sites.len() + fields[index].lead, Site::NONE);
            values.push((sites.len() as u32, index as u32));
            sites.push(fields[index].site);
        }
        Some(Self {
            gaps: fields.iter().map(|field| field.gap.len() as u32).collect(),
            fields,
            width,
            first,
            columns,
            sites,
            values,
        })
    }

    /// Which field a slot is, if it belongs to a row of this array.
    #[inline]
    pub(super) fn field_of(&self, slot: usize) -> Option<usize> {
        let from = slot.checked_sub(self.first)?;
        if self.width == 1 {
            return Some(0);
        }
        let from = (from % self.width) as u32;
        let values = &self.values[..self.fields.len()];
        values.iter().position(|&(slot, _)| slot == from)
    }

    /// Of the values from field `index` on: the slot of one, counted from the first marker before the first of them.
    #[inline(always)]
    pub(super) fn slot(&self, index: usize, value: usize) -> usize {
        let begin = self.values[index].0 as usize - self.fields[index].lead;
        self.values[index + value].0 as usize - begin
    }

    /// ... and its field.
    #[inline(always)]
    pub(super) fn field(&self, index: usize, value: usize) -> usize {
        self.values[index + value].1 as usize
    }

    /// How many of the next values, at most `most`, follow the row pattern from field `index` on. A value counts only if the one
    /// behind it follows the pattern, too. `sites` are those of the trace, from the markers before the first value on.
    #[inline]
    pub(super) fn count(&self, index: usize, most: usize, sites: &[Site]) -> usize {
        let begin = self.values[index].0 as usize - self.fields[index].lead;
        let most = most.min(BLOCK);
        let expected = &self.sites[begin..];
        let length = (self.slot(index, most) + 1).min(sites.len());
        let pairs = || sites[..length].iter().zip(expected);
        // Most often all are the same, which needs no branch for each.
        let all = pairs().fold(true, |all, (site, expected)| all & (site == expected));
        if all && length == self.slot(index, most) + 1 {
            return most;
        }
        let same = pairs().take_while(|(site, expected)| site == expected);
        let same = (begin + same.count()) as u32;
        let behind = self.values[index..].partition_point(|&(slot, _)| slot < same);
        behind.saturating_sub(1)
    }
}
