//! Decides whether a template was useful, by how much had to be written. (Measured times would vary on a busy machine.)
//!
//! The cost of a message with its template is estimated as a share of its cost without one:
//!
//! ```text
//! 0        compare     changed chunks: their tables written again, if lengths changed, and each changed value
//! ├──────────┼────────────────────────────────────────────────────────────────────────────────────┤ 1: useless
//!                      or all their values written, where that costs less
//! ```
//!
//! The shares were measured by the benchmark `ready` (100 000 values), and are rounded against templates.

use crate::send::chunk::Chunk;
use crate::send::dut_table::{Locations, SlotKind};
use crate::send::template::{Match, Template};
use crate::stats::SendStats;

/// The costs of the steps of an update, as shares of writing the message without a template.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// The cost of finding out what has changed.
    compare: f64,
    /// The additional cost of the chunks in which something has changed.
    touch: f64,
    /// The additional cost if lengths of values have changed.
    rewrite: f64,
    /// The cost of finding each value and writing it to its location.
    values: f64,
    /// The cost of writing all values without looking for changes.
    whole: f64,
    /// The number of bytes that are written in the time in which a chunk is moved. (`window-sent`)
    moved_chunk: u64,
}

/// Doubles in tables.
const DOUBLES: Costs = Costs {
    compare: 0.1,
    touch: 0.15,
    rewrite: 0.4,
    values: 2.1,
    whole: 1.2,
    moved_chunk: 1500,
};
/// An integer is formatted in half the time, and found and placed in the same.
const INTEGERS: Costs = Costs {
    compare: 0.2,
    touch: 0.2,
    rewrite: 0.7,
    values: 2.9,
    whole: 1.3,
    moved_chunk: 700,
};
/// Strings, and all other values with an entry of their own.
const MIXED: Costs = Costs {
    compare: 0.15,
    touch: 0.1,
    rewrite: 0.2,
    values: 3.4,
    whole: 1.3,
    moved_chunk: 300,
};
/// As [`MIXED`], for a message of a single chunk, where values are a smaller share of the cost.
const SMALL: Costs = Costs {
    compare: 0.1,
    touch: 0.1,
    rewrite: 0.0,
    values: 1.0,
    whole: 1.3,
    moved_chunk: 0,
};
/// The cost of writing a double, in those of writing an integer.
const DOUBLE: u64 = 2;
/// A message of this many bytes and its template do not stay in the processor's cache. Then the integers in rows of doubles
/// and integers are not free. (`ready`, mio/1000 and mio/100000)
const LARGE: u64 = 1 << 20;
/// The cost of a chunk that is encoded again.
const ENCODED: f64 = 2.0;
/// Writing less than this share of the values costs less than writing the message, whatever the values are, if no table was
/// written again.
const FEW: f64 = 0.2;

/// Whether an update with these counts cost less than a message without a template.
pub(super) fn is_useful(template: &Template, matched: Match, counted: &SendStats) -> bool {
    matched == Match::Content || are_few(template, counted) || cost(template, counted) <= 1.0
}

/// Whether so few values were written that the cost need not be estimated.
fn are_few(template: &Template, counted: &SendStats) -> bool {
    let moved = counted.stolen + counted.shifted;
    let most = template.values() as f64 * FEW;
    counted.encoded_chunks + counted.rewritten == 0 && (counted.values + moved) as f64 <= most
}

/// What the update cost, as a share of what a message without a template costs.
fn cost(template: &Template, counted: &SendStats) -> f64 {
    let chunks = &*template.chunks;
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let contents = Contents::of(chunks, counted.bytes);
    let values = contents.share(counted.values, template.values() as u64);
    let touched = 1.0 - share(counted.unchanged_bytes, counted.bytes).min(1.0);
    let encoded = share(counted.encoded_chunks, chunks.len() as u64);
    // In a small message, a value with another length costs twice as much.
    let values = match chunks {
        [_] => {
            let moved = counted.stolen + counted.shifted + counted.rewritten;
            values + share(moved, template.values() as u64)
        }
        _ => values,
    };
    let costs = contents.costs(chunks.len());
    let moved = share(counted.kept_chunks * costs.moved_chunk, counted.bytes);
    costs.of(values, touched, counted.rewritten > 0) + ENCODED * encoded + moved
}

impl Costs {
    /// The costs at this share of the way to `other`.
    fn towards(self, other: Self, share: f64) -> Self {
        let between = |own: f64, other: f64| own + share * (other - own);
        Self {
            compare: between(self.compare, other.compare),
            touch: between(self.touch, other.touch),
            rewrite: between(self.rewrite, other.rewrite),
            values: between(self.values, other.values),
            whole: between(self.whole, other.whole),
            moved_chunk: between(self.moved_chunk as f64, other.moved_chunk as f64) as u64,
        }
    }

    /// The cost of writing the share `values` of the values, in chunks with the share `touched` of the text.
    fn of(self, values: f64, touched: f64, is_rewritten: bool) -> f64 {
        let rewrite = if is_rewritten { self.rewrite } else { 0.0 };
        let locations = (self.touch + rewrite) * touched + self.values * values;
        self.compare + locations.min(self.whole * touched)
    }
}

/// The numbers of slots of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Contents {
    doubles: u64,
    integers: u64,
    /// Slots with an entry of their own.
    mixed: u64,
}

impl Contents {
    /// `length`: that of the message in bytes.
    fn of(chunks: &[Chunk], length: u64) -> Self {
        let mut contents = Self::default();
        for segment in chunks.iter().flat_map(|chunk| &chunk.segments) {
            match &segment.locations {
                Locations::Mixed(own) => contents.mixed += own.entries.len() as u64,
                Locations::Table(table) => {
                    let is_integer = |kind| matches!(kind, SlotKind::Signed | SlotKind::Unsigned);
                    let integers = table.cells.iter().filter(|cell| is_integer(cell.kind));
                    let (slots, cells) = (table.slots() as u64, table.cells.len().max(1) as u64);
                    let integers = match integers.count() as u64 {
                        count if count < cells && length < LARGE => 0,
                        count => slots * count / cells,
                    };
                    contents.integers += integers;
                    contents.doubles += slots - integers;
                }
            }
        }
        contents
    }

    /// Whether most slots are in no table.
    fn is_mixed(&self) -> bool {
        self.mixed > self.doubles.max(self.integers)
    }

    /// The share that `written` of all `values` have in the cost of writing all. Which values were written is not known: in
    /// rows of doubles and integers, it is taken to be the doubles.
    fn share(&self, written: u64, values: u64) -> f64 {
        if self.is_mixed() {
            return written as f64 / values.max(1) as f64;
        }
        let all = values + (DOUBLE - 1) * self.doubles;
        let written = written + (DOUBLE - 1) * written.min(self.doubles);
        written as f64 / all.max(1) as f64
    }

    /// The costs for the most frequent kind of value. Those of rows of doubles and integers are between both.
    fn costs(&self, chunks: usize) -> Costs {
        if self.is_mixed() {
            return if chunks == 1 { SMALL } else { MIXED };
        }
        let all = (DOUBLE * self.doubles + self.integers).max(1);
        DOUBLES.towards(INTEGERS, self.integers as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_than_writing_the_whole_message_is_useless() {
        for (costs, most, most_moved) in [(DOUBLES, 0.35, 0.15), (INTEGERS, 0.2, 0.0)] {
            assert!(costs.of(most, 1.0, false) <= 1.0);
            assert!(costs.of(most + 0.1, 1.0, false) > 1.0);
            assert!(costs.of(most_moved + 0.1, 1.0, true) > 1.0);
            assert!(costs.of(1.0, 1.0, false) > 1.0);
            // All of some chunks.
            assert!(costs.of(0.5, 0.55, true) < 1.0);
        }
        assert!(DOUBLES.of(0.15, 1.0, true) <= 1.0);
        for costs in [DOUBLES, INTEGERS, MIXED, SMALL] {
            assert!(costs.of(FEW, 1.0, false) <= 1.0);
        }
    }
}
