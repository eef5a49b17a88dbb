//! Writing the dirty values of a chunk into its text.
//!
//! A value that fits its room is written there and then. Those that do not are remembered: one or two
//! steal from a neighbour or shift what follows; if there are more, the chunk is written again in one
//! pass; and if that made it too large, its part of the message is encoded anew, into several chunks.

use super::compare::{self, Dirty, Values};
use super::leaves::{Cell, Columns, Kind, Leaves, Mixed, Place, Segment, Table, cell};
use super::lexical::{self, Number, Unwritable};
use super::policy::Policy;
use super::rewrite::rewrite;
use super::shift::shift;
use super::steal::steal;
use super::stuff;

use super::chunk::Text;

/// Numbers formatted at once.
const BLOCK: usize = 64;
/// After so many misfits the size of the chunk to come is guessed.
const GUESS: usize = 16;

/// A value that does not fit its room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Misfit {
    pub(crate) segment: u32,
    /// Its slot in the segment.
    pub(crate) index: u32,
    /// The length of its text, and the room it is to have.
    pub(crate) length: u32,
    pub(crate) width: u32,
    /// The room it has.
    before: u32,
    /// Which of [`Tools::numbers`] its text is.
    number: u32,
}

impl Misfit {
    /// By how much its room grows.
    #[inline]
    pub(crate) fn grows(&self) -> isize {
        self.width as isize - self.before as isize
    }
}

/// What patching needs besides the chunk, kept from one to the next.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) dirty: Dirty,
    misfits: Vec<Misfit>,
    numbers: Vec<Number>,
    /// The dirty numbers of a block: which, their texts and lengths.
    block: Box<Block>,
    /// The text of a string with references.
    escaped: Vec<u8>,
    /// The buffer that chunks are rewritten into.
    spare: Vec<u8>,
}

#[derive(Debug)]
struct Block {
    indices: [u8; BLOCK],
    texts: [Number; BLOCK],
    lengths: [u8; BLOCK],
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            dirty: Dirty::default(),
            misfits: Vec::new(),
            numbers: Vec::new(),
            block: Box::new(Block {
                indices: [0; BLOCK],
                texts: [[0; 32]; BLOCK],
                lengths: [0; BLOCK],
            }),
            escaped: Vec::new(),
            spare: Vec::new(),
        }
    }
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patched {
    /// Values written.
    pub(crate) values: usize,
    /// Of those, how many took room from a neighbour, and how many moved what follows.
    pub(crate) stolen: usize,
    pub(crate) shifted: usize,
    /// Of those, how many were written in a pass over the chunk.
    pub(crate) rewritten: usize,
    /// The chunk has become too large, or would have: it is to be encoded anew.
    pub(crate) too_large: bool,
}

/// Writes the dirty values into the text of a chunk. `dirty` is in `tools`; `old` and `new` are of
/// the chunk's slots.
pub(crate) fn patch(
    text: &mut Text,
    segments: &mut [Segment],
    policy: &Policy,
    old: Values<'_>,
    new: Values<'_>,
    tools: &mut Tools,
) -> Result<Patched, Unwritable> {
    tools.misfits.clear();
    tools.numbers.clear();
    let mut patcher = Patcher {
        text: text.patch(policy.chunks.reserve),
        policy,
        segment: 0,
        patched: Patched::default(),
    };
    let mut leaves = std::mem::take(&mut tools.dirty.leaves);
    let mut rest = &*leaves;
    for (number, segment) in segments.iter_mut().enumerate() {
        patcher.segment = number as u32;
        let (first, slots) = (segment.first, segment.slots());
        let (Some(old), Some(new)) = (old.part(first, slots), new.part(first, slots)) else {
            return Err(Unwritable);
        };
        match &mut segment.leaves {
            Leaves::Table(table) => {
                patcher.table(segment.start, table, old.slots, new.slots, tools);
                if patcher.patched.too_large {
                    return Ok(patcher.patched);
                }
            }
            Leaves::Mixed(mixed) => {
                let own = rest.partition_point(|&(segment, _)| segment as usize <= number);
                let (own, later) = rest.split_at(own);
                rest = later;
                for &(_, index) in own {
                    patcher.leaf(segment.start, mixed, index as usize, new, tools)?;
                }
            }
        }
    }
    let mut patched = patcher.patched;
    leaves.clear();
    tools.dirty.leaves = leaves;
    if !tools.misfits.is_empty() {
        if !have_room(segments, &tools.misfits) {
            patched.too_large = true;
            return Ok(patched);
        }
        resize(text, segments, policy, new, tools, &mut patched)?;
        patched.too_large = text.bytes().len() > policy.chunks.split;
    }
    Ok(patched)
}

struct Patcher<'t> {
    text: &'t mut Vec<u8>,
    policy: &'t Policy,
    /// The number of the segment.
    segment: u32,
    patched: Patched,
}

impl Patcher<'_> {
    fn misfit(&self, place: Place, index: usize, length: usize, number: usize) -> Misfit {
        let width = if place.pads {
            self.policy.stuffing.room(length, place.widest)
        } else {
            length
        };
        Misfit {
            segment: self.segment,
            index: index as u32,
            length: length as u32,
            width: width as u32,
            before: place.width as u32,
            number: number as u32,
        }
    }

    /// A dirty value of a mixed segment.
    fn leaf(
        &mut self,
        start: usize,
        mixed: &mut Mixed,
        index: usize,
        new: Values<'_>,
        tools: &mut Tools,
    ) -> Result<(), Unwritable> {
        let Some(place) = mixed.place(index) else {
            return Ok(());
        };
        self.patched.values += 1;
        let (kind, slot) = (mixed.entries[index].kind, new.slots[index]);
        let mut number = [0; 32];
        let lexical = if kind.is_number() {
            let length = lexical::number(kind, slot, &mut number);
            &number[..length]
        } else {
            lexical::text(kind, slot, new, &mut tools.escaped)?
        };
        if fits(self.policy, place, lexical.len()) {
            stuff::place(&mut self.text[start..], place, lexical);
            mixed.entries[index].length = lexical.len() as u32;
            return Ok(());
        }
        let misfit = self.misfit(place, index, lexical.len(), tools.numbers.len());
        tools.misfits.push(misfit);
        if kind.is_number() {
            tools.numbers.push(number);
        }
        Ok(())
    }

    /// The dirty numbers of a table.
    fn table(
        &mut self,
        start: usize,
        table: &mut Table,
        old: &[u64],
        new: &[u64],
        tools: &mut Tools,
    ) {
        let Table { cells, columns } = table;
        let Tools {
            block,
            misfits,
            numbers,
            ..
        } = tools;
        let slots = old.len();
        compare::table(old, new, |first, bits| {
            let count = block.format(cells, first, bits, new);
            self.patched.values += count;
            for (nth, &index) in block.indices[..count].iter().enumerate() {
                let index = first + usize::from(index);
                let (number, length) = (&block.texts[nth], usize::from(block.lengths[nth]));
                let text = &mut self.text[start..];
                match columns {
                    Columns::Dense {
                        offsets,
                        lengths,
                        widths,
                    } if widths.is_empty() => {
                        if lengths[index] == block.lengths[nth] {
                            stuff::put(text, offsets[index].into(), number, length);
                            continue;
                        }
                    }
                    Columns::Dense { .. } => {
                        let place = columns.place(cells, index);
                        if fits(self.policy, place, length) {
                            stuff::place_number(text, place, number, length);
                            columns.set_length(index, block.lengths[nth]);
                            continue;
                        }
                    }
                    Columns::Strided { .. } => {
                        let place = columns.place(cells, index);
                        if length <= place.width {
                            stuff::place_strided(text, place, cell(cells, index), number, length);
                            continue;
                        }
                        // Not a value of its type: the stride cannot be kept.
                        self.patched.too_large = true;
                    }
                }
                let place = columns.place(cells, index);
                misfits.push(self.misfit(place, index, length, numbers.len()));
                numbers.push(*number);
            }
            if misfits.len() >= GUESS
                && self.will_be_too_large(misfits, (first + BLOCK).min(slots), slots)
            {
                self.patched.too_large = true;
            }
            !self.patched.too_large
        });
    }

    /// A guess from the misfits of the first `seen` of `slots` values.
    fn will_be_too_large(&self, misfits: &[Misfit], seen: usize, slots: usize) -> bool {
        let own = misfits
            .iter()
            .rev()
            .take_while(|misfit| misfit.segment == self.segment);
        let grown: isize = own.map(Misfit::grows).sum();
        let whole = grown as f64 * slots as f64 / seen as f64;
        self.text.len() as f64 + whole > self.policy.chunks.split as f64
    }
}

impl Block {
    /// Formats the numbers whose bits are set, and returns how many.
    #[inline(always)]
    fn format(&mut self, cells: &[Cell], first: usize, mut bits: u64, new: &[u64]) -> usize {
        let mut count = 0;
        while bits != 0 {
            self.indices[count & (BLOCK - 1)] = bits.trailing_zeros() as u8;
            bits &= bits - 1;
            count += 1;
        }
        match cells {
            [
                Cell {
                    kind: Kind::Double, ..
                },
            ] => self.each(first, count, new, |_, slot, out| {
                lexical::number(Kind::Double, slot, out)
            }),
            [
                Cell {
                    kind: Kind::Signed, ..
                },
            ] => self.each(first, count, new, |_, slot, out| {
                lexical::number(Kind::Signed, slot, out)
            }),
            _ => self.each(first, count, new, |index, slot, out| {
                lexical::number(cell(cells, index).kind, slot, out)
            }),
        }
        count
    }

    #[inline(always)]
    fn each(
        &mut self,
        first: usize,
        count: usize,
        new: &[u64],
        format: impl Fn(usize, u64, &mut Number) -> usize,
    ) {
        let Self {
            indices,
            texts,
            lengths,
        } = self;
        for ((&index, text), length) in indices[..count].iter().zip(texts).zip(lengths) {
            let index = first + usize::from(index);
            *length = format(index, new[index], text) as u8;
        }
    }
}

/// Whether the places of all segments can still be counted when the misfits have got their rooms.
fn have_room(segments: &[Segment], misfits: &[Misfit]) -> bool {
    let mut rest = misfits;
    while let Some(&Misfit {
        segment: number, ..
    }) = rest.first()
    {
        let own = rest.partition_point(|misfit| misfit.segment <= number);
        let grown: isize = rest[..own].iter().map(Misfit::grows).sum();
        rest = &rest[own..];
        let segment = &segments[number as usize];
        let last = (0..segment.slots())
            .rev()
            .find_map(|index| segment.place(index));
        let end = last.map_or(0, |last| last.offset.saturating_add_signed(grown));
        if end > segment.furthest() {
            return false;
        }
    }
    true
}

/// Whether a text of `length` bytes may be written into the room of a value.
#[inline(always)]
fn fits(policy: &Policy, place: Place, length: usize) -> bool {
    length == place.width || length < place.width && policy.stuffing.keeps_room() && place.pads
}

/// Gives the misfits their rooms, and writes them.
fn resize(
    text: &mut Text,
    segments: &mut [Segment],
    policy: &Policy,
    new: Values<'_>,
    tools: &mut Tools,
    patched: &mut Patched,
) -> Result<(), Unwritable> {
    let Tools {
        misfits,
        numbers,
        escaped,
        spare,
        ..
    } = tools;
    if misfits.len() > policy.shifts {
        let mut failed = false;
        let mut write = |misfit: &Misfit, kind: Kind, slot: u64, out: &mut [u8]| {
            if kind.is_number() {
                out[..32].copy_from_slice(&numbers[misfit.number as usize]);
            } else {
                match lexical::text(kind, slot, new, escaped) {
                    Ok(text) => out[..text.len()].copy_from_slice(text),
                    Err(Unwritable) => failed = true,
                }
            }
        };
        patched.rewritten += misfits.len();
        let length = rewrite(
            text.bytes(),
            segments,
            misfits,
            new.slots,
            spare,
            &mut write,
        );
        text.replace(spare, length);
        return if failed { Err(Unwritable) } else { Ok(()) };
    }
    let bytes = text.patch(policy.chunks.reserve);
    for misfit in misfits.iter() {
        let (number, index) = (misfit.segment as usize, misfit.index as usize);
        let segment = &mut segments[number];
        let kind = segment.kind(index);
        let grows = misfit.grows();
        let stolen = grows > 0
            && policy.stuffing.keeps_room()
            && steal(
                &mut bytes[segment.start..],
                segment,
                index,
                misfit.length as usize - misfit.before as usize,
                policy.steal,
            );
        if stolen {
            patched.stolen += 1;
        } else {
            patched.shifted += 1;
            let reserve = policy.chunks.reserve;
            shift(
                bytes,
                segments,
                (number, index),
                misfit.width as usize,
                reserve,
            );
        }
        let segment = &mut segments[number];
        let Some(place) = segment.place(index) else {
            return Err(Unwritable);
        };
        let own = &mut bytes[segment.start..];
        if kind.is_number() {
            let number = &numbers[misfit.number as usize];
            stuff::place(own, place, &number[..misfit.length as usize]);
        } else {
            let slot = new.slots[segment.first + index];
            stuff::place(own, place, lexical::text(kind, slot, new, escaped)?);
        }
        segment.resize(index, misfit.length as usize, place.width);
    }
    Ok(())
}
