//! The state of the encoder, stored as data.
//!
//! ```text
//! <list><item>…</item><item>…</item>│<item>…</item></list>
//!                                   └ next instruction, next slot, open calls and loops, namespaces declared
//! ```
//!
//! Encoding from an equal State, with equal values behind it, gives equal text. So the text of a message can be cut between
//! any two instructions, and a piece can be encoded again from the State at its start.

use crate::plan::Plan;
use crate::plan::program::{Action, Table};

use super::scope::Declared;

/// The state of the encoder between two instructions. It can be kept, compared and [resumed](super::PieceEncoder::resume).
///
/// It is valid for Records of the same Plan and root, and for the same options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub(super) phase: Phase,
    pub(super) slot: usize,
    /// Whether the last occurrence had no slots. Then only the number of occurrences distinguishes this State from others.
    pub(super) is_blind: bool,
    pub(super) frames: Vec<EncoderFrame>,
    pub(super) declared: Declared,
}

/// How much of the message has been written.
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

/// An entry of the encoder's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncoderFrame {
    /// A call: the instruction to return to.
    Return(u32),
    /// A loop.
    Repeat(Loop),
}

/// A loop that the encoder is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The slot of its count.
    pub count: usize,
    /// The number of occurrences done. One more has begun, unless these are the rows of a table.
    pub done: u64,
}

/// The position of the interpreter.
pub(crate) struct Position<'m> {
    /// The next instruction.
    pub(crate) pc: u32,
    /// Whether some rows of this instruction have been written.
    pub(crate) in_rows: bool,
    /// The next slot.
    pub(crate) slot: usize,
    /// The length of the text.
    pub(crate) length: usize,
    pub(crate) stack: &'m [EncoderFrame],
    pub(crate) declared: &'m Declared,
}

impl State {
    /// The State before the first byte.
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

    /// Whether the text that follows is the same for the same values: instruction, return addresses and declarations are
    /// equal. Slots and the counts of loops may differ.
    ///
    /// Between occurrences without slots (of an element without content) a State agrees with none, not even with itself,
    /// since several of them have the same slot.
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

    /// The open loops, outermost first. Rows count as a loop.
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

    /// This State in another Record, in which `from` has become `to` and everything between `from` and this State is the
    /// same.
    ///
    /// `None` if a slot number would be negative: then `from` is not before this State, or does not [agree](Self::agrees)
    /// with `to`.
    #[must_use]
    pub fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        let mut moved = self.clone();
        moved.slot = (self.slot + to.slot).checked_sub(from.slot)?;
        let mut known = from.loops().zip(to.loops());
        let mut shift = |the_loop: &mut Loop| {
            // A loop with the same slot for its count is the same loop; loops inside a loop that has gone on are other
            // ones.
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

    /// This State with another slot, as `until` of [`PieceEncoder::run`](super::PieceEncoder::run). Its loops are those of
    /// this State, so it cannot be resumed.
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

    /// The table whose rows are being written; `None` outside of rows.
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

    /// Whether the interpreter is at this State.
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

/// Whether the last occurrence of the innermost loop had no slots.
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
