//! The text around an array: before its rows, between their numbers and behind them.
//!
//! ```text
//! <Envelope>…<points>  <p><x>  7  </x><y>  8  </y></p>  <p><x>  …  </y></p>  </points>…</Envelope>
//!       before          first    between-cells   last                            after
//! ```
//!
//! With it an array can be written that is never in a Record: one that is larger than memory, or whose end is not known
//! yet.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use bsoap_datatypes::double;

use crate::encode::{self, EncodeOptions, LeafRef, PieceEncoder, Places};
use crate::plan::{ElementId, LeafKind, Plan};
use crate::record::Record;
use crate::record::walk::{Event, Walk};

/// A message without the rows of one array of numbers, or of flat structs of numbers.
///
/// ```
/// # use bsoap_codec::{Record, frame::{Frame, FrameError}};
/// # fn example(record: &Record) -> Result<(), FrameError> {
/// // A message whose array `points.p` is {int, double}; there may be any rows in it, they are left out.
/// let frame = Frame::around(record, "points.p")?;
/// let (x, y) = (frame.cells()[0].kind, frame.cells()[1].kind);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    before: Vec<u8>,
    first: Vec<u8>,
    cells: Vec<Cell>,
    last: Vec<u8>,
    after: Vec<u8>,
}

/// A number of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// The markup between the number before it and this one; empty for the first.
    pub before: Vec<u8>,
    /// The kind of number.
    pub kind: LeafKind,
}

impl Cell {
    /// The length of the longest lexical form, in bytes.
    pub fn width(&self) -> usize {
        self.kind.max_width().unwrap_or(double::WIDTH)
    }
}

/// Why there is no frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// The message has no array at this path; the elements around it must be present.
    NotFound(String),
    /// Several arrays match this path; a longer path would distinguish them.
    Ambiguous(String),
    /// The items of the array are neither numbers nor flat structs of numbers.
    NotNumbers(String),
    /// The message cannot be written.
    Unwritable(encode::Error),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(path) => write!(
                f,
                "the message has no array {path}; the elements around it must be there"
            ),
            Self::Ambiguous(path) => write!(
                f,
                "the path {path} matches several arrays; a longer path is needed"
            ),
            Self::NotNumbers(path) => write!(
                f,
                "{path} is not an array of numbers or of flat structs of numbers"
            ),
            Self::Unwritable(_) => f.write_str("the message around the array cannot be written"),
        }
    }
}

impl std::error::Error for FrameError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unwritable(error) => Some(error),
            _ => None,
        }
    }
}

/// The location and leaf form of each value of a message, by slot.
#[derive(Default)]
struct Located(HashMap<usize, (Range<usize>, LeafRef)>);

impl Places for Located {
    fn value(&mut self, slot: usize, offset: usize, length: usize, _: usize, leaf: LeafRef) {
        self.0.insert(slot, (offset..offset + length, leaf));
    }
}

/// An array in a Record.
struct FoundArray {
    element: ElementId,
    count: usize,
    /// The slot of its first row.
    at: usize,
}

impl Frame {
    /// The text around an array. `path` is the end of the array's path: local names with dots between them, the repeating
    /// element last. Rows that the Record has in the array are left out.
    ///
    /// # Errors
    /// If there is no such array, there are several, or its items are not rows of numbers.
    pub fn around(record: &Record, path: &str) -> Result<Self, FrameError> {
        let array = find(record, path)?;
        let not_numbers = || FrameError::NotNumbers(path.to_owned());
        let stride = record
            .plan
            .element(array.element)
            .stride
            .ok_or_else(not_numbers)? as usize;
        let mut empty = record.clone();
        empty.slots.drain(array.at..array.at + array.count * stride);
        let with_rows = |rows: usize| {
            let mut record = empty.clone();
            record.slots[array.at - 1] = rows as u64;
            let zeros = std::iter::repeat_n(0, rows * stride);
            record.slots.splice(array.at..array.at, zeros);
            record
        };
        let two = with_rows(2);
        let (with, located) = text(&two)?;
        let kinds = kinds(&record.plan, &located, array.at, stride).ok_or_else(not_numbers)?;
        let (without, _) = text(&with_rows(0))?;
        cut(&without, &with, &located, array.at, &kinds).ok_or_else(not_numbers)
    }

    /// The text before the array.
    pub fn before(&self) -> &[u8] {
        &self.before
    }

    /// The markup before the first number of a row.
    pub fn first(&self) -> &[u8] {
        &self.first
    }

    /// The numbers of a row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The markup after the last number of a row.
    pub fn last(&self) -> &[u8] {
        &self.last
    }

    /// The text after the array.
    pub fn after(&self) -> &[u8] {
        &self.after
    }

    /// The length of the longest row, in bytes.
    pub fn row_width(&self) -> usize {
        let cells = self
            .cells
            .iter()
            .map(|cell| cell.before.len() + cell.width());
        self.first.len() + cells.sum::<usize>() + self.last.len()
    }
}

/// Finds the only array with this path.
fn find(record: &Record, path: &str) -> Result<FoundArray, FrameError> {
    let not_found = || FrameError::NotFound(path.to_owned());
    let wanted: Vec<&str> = path.split('.').rev().collect();
    let plan = &record.plan;
    let (mut walk, root) = Walk::new(record).map_err(|_| not_found())?;
    let mut around = vec![root.element];
    let mut found = None;
    while let Some(event) = walk.next().map_err(|_| not_found())? {
        match event {
            Event::Start(start) => around.push(start.element),
            Event::End(_) => drop(around.pop()),
            Event::Array { element, count, at } => {
                let names = std::iter::once(&element).chain(around.iter().rev());
                if ends_with(plan, names, &wanted) {
                    if found.is_some() {
                        return Err(FrameError::Ambiguous(path.to_owned()));
                    }
                    found = Some(FoundArray { element, count, at });
                }
                // Rows with a stride contain no arrays.
                if plan.element(element).stride.is_some() {
                    walk.skip(event).map_err(|_| not_found())?;
                }
            }
            _ => {}
        }
    }
    found.ok_or_else(not_found)
}

/// Whether elements, innermost first, have the wanted names.
fn ends_with<'e>(
    plan: &Plan,
    mut elements: impl Iterator<Item = &'e ElementId>,
    wanted: &[&str],
) -> bool {
    wanted.iter().all(|wanted| {
        elements
            .next()
            .is_some_and(|&element| plan.vocabulary.local(plan.element(element).name) == *wanted)
    })
}

/// The kinds of the numbers in a row; `None` if there is anything else in it.
fn kinds(plan: &Plan, located: &Located, at: usize, stride: usize) -> Option<Vec<LeafKind>> {
    let kind = |slot| {
        let form = plan.leaf_form(located.0.get(&slot)?.1)?;
        let leaf = form.leaf().filter(|_| form.is_number())?;
        Some(plan.leaf(leaf).kind)
    };
    let kinds: Option<Vec<_>> = (at..at + stride).map(kind).collect();
    kinds.filter(|kinds| !kinds.is_empty())
}

fn text(record: &Record) -> Result<(Vec<u8>, Located), FrameError> {
    let (mut text, mut located) = (Vec::new(), Located::default());
    PieceEncoder::new(record, EncodeOptions::default())
        .run(&mut text, usize::MAX, None, &(), &mut located)
        .map_err(FrameError::Unwritable)?;
    Ok((text, located))
}

/// Cuts the text of a message with two rows at their numbers. The text of the message without rows shows where one row ends
/// and the next begins: the text behind the last row follows there.
fn cut(
    without: &[u8],
    with: &[u8],
    located: &Located,
    at: usize,
    kinds: &[LeafKind],
) -> Option<Frame> {
    let stride = kinds.len();
    let begin = |cell: usize| Some(located.0.get(&(at + cell))?.0.start);
    let end = |cell: usize| Some(located.0.get(&(at + cell))?.0.end);
    let part = |from: usize, to: usize| with.get(from..to);
    let between = part(end(stride - 1)?, begin(stride)?)?;
    let (first_number, behind) = (begin(0)?, end(2 * stride - 1)?);
    let opens = |length: usize| {
        let start = first_number.checked_sub(length)?;
        let (last, first) = between.split_at_checked(between.len() - length)?;
        let fits = with[start] == b'<'
            && first == part(start, first_number)?
            && without.get(..start)? == &with[..start]
            && with[behind..].strip_prefix(last)? == &without[start..];
        fits.then_some((start, last.len()))
    };
    let (start, last) = (1..=between.len()).find_map(opens)?;
    let cells = kinds.iter().enumerate().map(|(cell, &kind)| {
        let before = match cell {
            0 => &[],
            _ => part(end(cell - 1)?, begin(cell)?)?,
        };
        Some(Cell {
            before: before.to_vec(),
            kind,
        })
    });
    Some(Frame {
        before: with[..start].to_vec(),
        first: with[start..first_number].to_vec(),
        cells: cells.collect::<Option<_>>()?,
        last: with.get(behind..behind + last)?.to_vec(),
        after: with.get(behind + last..)?.to_vec(),
    })
}
