//! Row patterns: the fields of the repeating rows of an array, and the text between them, learned from the old text.
//!
//! ```text
//! <row><x>  1  </x><y>  2  </y><v>  0.5  </v></row><row><x>  3  </x>…
//!          field 0      field 1      field 2                field 0
//!               └ gap 0 ┘    └ gap 1 ┘    └──── gap 2 ─────┘
//! slots  –        x            y            –      v            –     x       – a marker
//! ```
//!
//! A gap is the text from the end of one value to the start of the next. If it has the same bytes in both texts, the decoder
//! would be in the same state after it. It begins with an end tag, so there is nothing but the value between two gaps.

use bsoap_codec::Plan;
use bsoap_codec::decode::{Site, Trace};
use bsoap_codec::plan::LeafKind;
use bsoap_datatypes::kernel::{Column, Number, Separator};
use memchr::memchr;

/// A value of a row, and the gap after it.
#[derive(Debug)]
pub(super) struct Field {
    /// The leaf of the value.
    pub(super) site: Site,
    pub(super) kind: LeafKind,
    /// The kind of number for a kernel; `None` if the value is not a number.
    pub(super) number: Option<Number>,
    /// The bytes between the value and the next one, in this row or the next.
    pub(super) gap: Separator,
    /// The number of marker slots before the value.
    pub(super) lead: usize,
}

impl Field {
    /// The end of a value of this field that begins at `start` in the text, if only the gap is between it and the next value,
    /// which is at `next`. Otherwise `None`.
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
    /// The number of slots of a row.
    pub(super) width: usize,
    /// The first slot of some row: that of the first field, or of the first marker before it.
    first: usize,
    /// All fields for a kernel, if rows consist of numbers; otherwise empty.
    pub(super) columns: Vec<Column>,
    /// The lengths of the gaps, by field.
    pub(super) gaps: Vec<u32>,
    /// The leaves of the slots of [`BLOCK`] values and some more, row after row.
    sites: Vec<Site>,
    /// The slot and the field of each of these values.
    values: Vec<(u32, u32)>,
}

/// The maximum number of values in a block.
pub(super) const BLOCK: usize = 256;

/// The maximum number of fields of a row.
const MAX_FIELDS: usize = 24;
/// The maximum length of a gap in bytes.
const MAX_GAP: usize = 1 << 10;
/// The maximum number of marker slots before a value.
const MAX_MARKERS: usize = 3;

impl RowPattern {
    /// The row pattern of the array to which the value in `slot` belongs, whose lexical form ends at `end`. `None` if the
    /// values after it do not repeat.
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
            // If a comment or a CDATA section follows, the value does not end here.
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

    /// The index of the field to which a slot of this array belongs; `None` if the slot is a marker or precedes the array.
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

    /// The slot of a value. Values are numbered from one of field `index` on, and slots from the first marker before that
    /// value on.
    #[inline(always)]
    pub(super) fn slot(&self, index: usize, value: usize) -> usize {
        let begin = self.values[index].0 as usize - self.fields[index].lead;
        self.values[index + value].0 as usize - begin
    }

    /// The index of the field of a value. Values are numbered from one of field `index` on.
    #[inline(always)]
    pub(super) fn field(&self, index: usize, value: usize) -> usize {
        self.values[index + value].1 as usize
    }

    /// The number of the next values, at most `most`, that follow the row pattern from field `index` on. A value counts only
    /// if the one after it follows the pattern, too. `sites` are the leaves of the next slots, from the first marker before
    /// the first value on.
    #[inline]
    pub(super) fn count(&self, index: usize, most: usize, sites: &[Site]) -> usize {
        let begin = self.values[index].0 as usize - self.fields[index].lead;
        let most = most.min(BLOCK);
        let expected = &self.sites[begin..];
        let length = (self.slot(index, most) + 1).min(sites.len());
        let pairs = || sites[..length].iter().zip(expected);
        // Usually all are equal, which is found without a branch per slot.
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
