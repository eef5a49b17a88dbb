//! The state of the encoder, as data.
//!
//! ```text
//! <list><item>…</item><item>…</item>│<item>…</item></list>
//!                                   └ next instruction, next slot, open calls and loops, namespaces declared
//! ```
//!
//! From an equal State and equal values behind it comes equal text. So the text of a message can be cut anywhere between
//! two instructions, each piece kept with the State at its start, and made again from there alone.

use crate::plan::Plan;
use crate::plan::program::{Action, Table};

use super::scope::Declared;

/// The state of the encoder between two instructions: to be kept, compared and [resumed](super::PieceEncoder::resume).
///
/// It means something for Records of the same Plan and root, and for the same options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub(super) phase: Phase,
    pub(super) slot: usize,
    /// Whether the occurrence before was one without slots: then only the number of occurrences done distinguishes this State from others.
    pub(super) is_blind: bool,
    pub(super) frames: Vec<EncoderFrame>,
    pub(super) declared: Declared,
}

/// How far the root element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is written.
    Start,
    /// Before the instruction at `pc`.
    Before { pc: u32 },
    /// Between two rows of the instruction at `pc`.
    Rows { pc: u32, rows: Loop },
    /// All is written.
    End,
}

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncoderFrame {
    /// A call, and the instruction behind it.
    Return(u32),
    /// A loop.
    Repeat(Loop),
}

/// A loop the encoder is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The slot of its count.
    pub count: usize,
    /// The occurrences that are done. One more has begun, unless these are the rows of a table.
    pub done: u64,
}

/// Where the interpreter is.
pub(crate) struct Position<'m> {
    /// The next instruction.
    pub(crate) pc: u32,
    /// Whether it is one for rows, some of which are done.
    pub(crate) in_rows: bool,
    /// The next slot.
    pub(crate) slot: usize,
    /// The length of the text.
    pub(crate) length: usize,
    pub(crate) stack: &'m [EncoderFrame],
    pub(crate) declared: &'m Declared,
}

impl State {
    /// Before the first byte.
    pub fn start() -> Self {
        Self {
            phase: Phase::Start,
            slot: 0,
            is_blind: false,
            frames: Vec::new(),
            declared: Declared::default(),
        }
    }

    /// The next slot.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Whether nothing is written.
    pub fn is_start(&self) -> bool {
        self.phase == Phase::Start
    }

    /// Whether all is written.
    pub fn is_end(&self) -> bool {
        self.phase == Phase::End
    }

    /// Whether the text that follows is the same for the same values: the same instruction, return addresses and
    /// declarations. Slots and what loops have done may differ.
    ///
    /// Between occurrences that have no slot (of an element without content) a State agrees with none, not even with itself:
    /// several of them have the same slot.
    pub fn agrees(&self, other: &Self) -> bool {
        self.phase.agrees(other.phase)
            && !self.is_blind
            && !other.is_blind
            && self.frames.len() == other.frames.len()
            && self
                .frames
                .iter()
                .zip(&other.frames)
                .all(EncoderFrame::agree)
            && self.declared == other.declared
    }

    /// The loops it is in, the outermost first. Rows count as a loop.
    pub fn loops(&self) -> impl Iterator<Item = Loop> + '_ {
        let rows = match self.phase {
            Phase::Rows { rows, .. } => Some(rows),
            _ => None,
        };
        let frames = self.frames.iter().filter_map(|frame| match frame {
            EncoderFrame::Repeat(the_loop) => Some(*the_loop),
            EncoderFrame::Return(_) => None,
        });
        frames.chain(rows)
    }

    /// This place in another Record, where everything between `from` and this is the same and `from` has become `to`.
    ///
    /// `None` if slots would come to lie before the first, which means that `from` is not before this or does not
    /// [agree](Self::agrees) with `to`.
    #[must_use]
    pub fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        let mut moved = self.clone();
        moved.slot = (self.slot + to.slot).checked_sub(from.slot)?;
        let mut known = from.loops().zip(to.loops());
        let mut shift = |the_loop: &mut Loop| {
            // A loop with the same count slot is the same loop, and what lies in a loop that has gone on is another one.
            match known.next() {
                Some((old, new)) if old.count == the_loop.count => {
                    the_loop.count = new.count;
                    the_loop.done = (the_loop.done + new.done).checked_sub(old.done)?;
                }
                _ => {
                    the_loop.count = (the_loop.count + to.slot).checked_sub(from.slot)?;
                }
            }
            Some(())
        };
        for frame in &mut moved.frames {
            if let EncoderFrame::Repeat(the_loop) = frame {
                shift(the_loop)?;
            }
        }
        if let Phase::Rows { rows, .. } = &mut moved.phase {
            shift(rows)?;
        }
        Some(moved)
    }

    /// The same place before another slot: for [`PieceEncoder::run`](super::PieceEncoder::run) to stop at. Its loops are
    /// those of this State, so nothing can be resumed from it.
    #[must_use]
    pub fn before_slot(&self, slot: usize) -> Self {
        Self {
            slot,
            ..self.clone()
        }
    }

    /// Bytes held on the heap.
    pub fn memory(&self) -> usize {
        self.frames.capacity() * size_of::<EncoderFrame>() + self.declared.memory()
    }

    /// The table that is being written, if any.
    pub(super) fn table_of<'p>(&self, plan: &'p Plan) -> Option<&'p Table> {
        let program = plan.program();
        let Phase::Rows { pc, .. } = self.phase else {
            return None;
        };
        match program.ops.get(pc as usize)?.action {
            Action::Rows(table) => program.tables.get(table as usize),
            _ => None,
        }
    }

    /// Whether the interpreter is here.
    pub(super) fn is_at(&self, position: &Position<'_>) -> bool {
        let is_at = match self.phase {
            Phase::Before { pc } => pc == position.pc && !position.in_rows,
            Phase::Rows { pc, .. } => pc == position.pc && position.in_rows,
            Phase::Start | Phase::End => false,
        };
        is_at
            && !self.is_blind
            && self.slot == position.slot
            && self.frames.len() == position.stack.len()
            && self
                .frames
                .iter()
                .zip(position.stack)
                .all(EncoderFrame::agree)
            && self.declared == *position.declared
    }
}

/// Whether an occurrence has ended in the innermost loop without having had any slot.
pub(super) fn is_blind(frames: &[EncoderFrame], slot: usize) -> bool {
    let innermost = frames.iter().rev().find_map(|frame| match frame {
        EncoderFrame::Repeat(innermost) => Some(*innermost),
        EncoderFrame::Return(_) => None,
    });
    innermost.is_some_and(|Loop { count, done }| done > 0 && slot == count + 1)
}

impl Phase {
    fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Rows { pc, .. }, Self::Rows { pc: same, .. }) => pc == same,
            _ => self == other,
        }
    }
}

impl EncoderFrame {
    fn agree((a, b): (&Self, &Self)) -> bool {
        match (a, b) {
            (Self::Repeat(_), Self::Repeat(_)) => true,
            _ => a == b,
        }
    }
}
