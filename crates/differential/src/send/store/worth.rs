//! What a template was good for, by what had to be written: the clock would judge the same stream this way or that on a busy
//! machine.
//!
//! What a message costs by a template is guessed in parts of what it costs from first to last:
//!
//! ```text
//! 0        compare     chunks that were changed: their tables put together anew, if lengths changed, and each value
//! ├──────────┼────────────────────────────────────────────────────────────────────────────────────┤ 1: as good as nothing
//!                      or all their values written, where that costs less
//! ```
//!
//! The parts were measured by the benchmark `ready` (100 000 values), and are rounded to the disadvantage of templates.

use super::lease::Use;
use crate::send::chunk::Chunk;
use crate::send::dut_table::{Locations, SlotKind};
use crate::send::template::{Match, Template};
use crate::stats::SendStats;

/// What things cost where most values are of some sort.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// To find out what has changed.
    compare: f64,
    /// Besides what is written, of chunks in which something has changed, ...
    touch: f64,
    /// ... and if the lengths of values have.
    rewrite: f64,
    /// Values found and written into their places.
    values: f64,
    /// All values written, unseen.
    whole: f64,
}

/// Numbers in tables, doubles among them.
const DOUBLES: Costs = Costs {
    compare: 0.1,
    touch: 0.15,
    rewrite: 0.4,
    values: 2.1,
    whole: 1.2,
};
/// To format an integer costs half as much, to find it and its place the same.
const INTEGERS: Costs = Costs {
    compare: 0.2,
    touch: 0.2,
    rewrite: 0.7,
    values: 2.9,
    whole: 1.3,
};
/// Strings, and all else that has an entry of its own.
const MIXED: Costs = Costs {
    compare: 0.15,
    touch: 0.1,
    rewrite: 0.2,
    values: 3.4,
    whole: 1.3,
};
/// Such a message in one chunk: what it costs is not so much its values.
const SMALL: Costs = Costs {
    compare: 0.1,
    touch: 0.1,
    rewrite: 0.0,
    values: 1.0,
    whole: 1.3,
};
/// A chunk that is encoded anew.
const ENCODED: f64 = 2.0;

/// What a template was good for, after an update that did this.
pub(super) fn use_of(template: &Template, matched: Match, counted: &SendStats) -> Use {
    match matched {
        Match::Content => Use::Some,
        Match::FirstTime => Use::Later,
        Match::PerfectStructural | Match::PartialStructural => {
            if !are_few(template, counted) && cost(template, counted) > 1.0 {
                Use::None
            } else {
                Use::Some
            }
        }
    }
}

/// Of so small a part of the values writing costs less than a message, whatever they are, if no table was put together anew.
const FEW: f64 = 0.2;

/// Whether so little was done that it need not be counted what it cost.
fn are_few(template: &Template, counted: &SendStats) -> bool {
    let moved = counted.stolen + counted.shifted;
    let most = template.values() as f64 * FEW;
    counted.encoded_chunks + counted.rewritten == 0 && (counted.values + moved) as f64 <= most
}

/// What the update cost, by what a message from first to last costs.
fn cost(template: &Template, counted: &SendStats) -> f64 {
    let chunks = template.chunks_for_check();
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let values = share(counted.values, template.values() as u64);
    let touched = 1.0 - share(counted.unchanged_bytes, counted.bytes).min(1.0);
    let encoded = share(counted.encoded_chunks, chunks.len() as u64);
    // Of another length a value of a small message costs twice as much.
    let values = match chunks {
        [_] => {
            let moved = counted.stolen + counted.shifted + counted.rewritten;
            values + share(moved, template.values() as u64)
        }
        _ => values,
    };
    costs(chunks).of(values, touched, counted.rewritten > 0) + ENCODED * encoded
}

impl Costs {
    /// Of writing this share of the values, all of them in chunks that are so much of the text.
    fn of(self, values: f64, touched: f64, is_rewritten: bool) -> f64 {
        let rewrite = if is_rewritten { self.rewrite } else { 0.0 };
        let places = (self.touch + rewrite) * touched + self.values * values;
        self.compare + places.min(self.whole * touched)
    }
}

/// What most values of the chunks are.
fn costs(chunks: &[Chunk]) -> Costs {
    let (mut doubles, mut integers, mut mixed) = (0, 0, 0);
    for segment in chunks.iter().flat_map(|chunk| &chunk.segments) {
        match &segment.locations {
            Locations::Mixed(own) => mixed += own.entries.len(),
            Locations::Table(table) => {
                let is_integer = |kind| matches!(kind, SlotKind::Signed | SlotKind::Unsigned);
                if table.cells.iter().all(|cell| is_integer(cell.kind)) {
                    integers += table.slots();
                } else {
                    doubles += table.slots();
                }
            }
        }
    }
    if mixed > doubles.max(integers) {
        return if chunks.len() == 1 { SMALL } else { MIXED };
    }
    if integers > doubles {
        INTEGERS
    } else {
        DOUBLES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_more_than_to_write_it_all_is_of_no_use() {
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
