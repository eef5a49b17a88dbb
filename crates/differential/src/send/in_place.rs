//! Numbers of a table written over those before, straight from the registers that they are made in.
//!
//! The kernel writes numbers of one kind. Of rows of several kinds those of each are gathered, with their places:
//!
//! ```text
//! slots that changed   3 i32   4 f64   7 f64   9 i32        ──► 4 7 │ 3 9
//! ```

use bsoap_datatypes::kernel::{self, Kernel, Over};

use super::leaves::{Cell, Kind};
use super::numbers::{BLOCK, Grid, Source, number};

/// Writes the numbers of a list, at most [`BLOCK`], over what stands in the table's `text`, and says whether all are as long
/// as that. If not, some may be written: they stand where they belong.
pub(super) fn overwrite(
    kernel: Kernel,
    source: Source<'_>,
    list: &[u32],
    offsets: &[u16],
    text: &mut [u8],
) -> bool {
    let Some(kinds) = kinds(source.cells, list) else {
        return false;
    };
    let mut kinds = kinds.into_iter().filter(|(_, members)| *members != 0);
    kinds.all(|(kind, members)| {
        let gathered = Gathered::of(source, offsets, list, members);
        kernel.overwrite(kind, gathered.over(), text) == gathered.count
    })
}

/// Which numbers of a block are of which kind, a bit for each; `None` if they can be of others than one kind, or than
/// doubles and signed integers.
fn kinds(cells: &[Cell], list: &[u32]) -> Option<[(kernel::Number, u64); 2]> {
    let all = u64::MAX >> (BLOCK - list.len().clamp(1, BLOCK));
    let first = number(cells.first()?.kind)?;
    if cells.iter().all(|cell| cell.kind == cells[0].kind) {
        return Some([(first, all), (first, 0)]);
    }
    if cells.len() > u64::BITS as usize {
        return None;
    }
    let is_one = |cell: &Cell| matches!(cell.kind, Kind::Double | Kind::Signed);
    if !cells.iter().all(is_one) {
        return None;
    }
    let columns = bits(cells.iter().map(|cell| cell.kind == Kind::Double));
    let grid = Grid::of(cells.len());
    let is_double = |&index: &u32| columns >> grid.of_slot(index) & 1 != 0;
    let doubles = bits(list.iter().map(is_double));
    Some([
        (number(Kind::Double)?, doubles),
        (number(Kind::Signed)?, all & !doubles),
    ])
}

/// A bit for each, 64 at most.
fn bits(all: impl Iterator<Item = bool>) -> u64 {
    let bit = |(at, is): (usize, bool)| u64::from(is) << at;
    all.enumerate().map(bit).fold(0, |bits, bit| bits | bit)
}

/// Numbers of one kind, with where they are and how long.
struct Gathered {
    slots: [u64; BLOCK],
    places: [u32; BLOCK],
    lengths: [u8; BLOCK],
    count: usize,
}

impl Gathered {
    /// Those of a list that are members. (Each is written, and counted if it is one: no branch waits for the kind.)
    fn of(source: Source<'_>, offsets: &[u16], list: &[u32], members: u64) -> Self {
        let mut own = Self {
            slots: [0; BLOCK],
            places: [0; BLOCK],
            lengths: [0; BLOCK],
            count: 0,
        };
        for (at, &index) in list.iter().take(BLOCK).enumerate() {
            let index = index as usize;
            own.slots[own.count % BLOCK] = source.slots[index];
            own.places[own.count % BLOCK] = offsets[index].into();
            own.lengths[own.count % BLOCK] = source.lengths[index];
            own.count += (members >> at & 1) as usize;
        }
        own
    }

    fn over(&self) -> Over<'_> {
        Over {
            slots: &self.slots[..self.count],
            places: &self.places[..self.count],
            lengths: &self.lengths[..self.count],
        }
    }
}
