//! The interpreter that runs a [`Program`] over a Record. It has a stack of its own, so deep messages cannot overflow the
//! thread's stack.
//!
//! The fast path runs instructions that copy markup and write plain values. The buffer grows by a window at a time; inside
//! a window only the end of the text, the next slot and the next instruction change, and they stay in registers:
//!
//! ```text
//!           written                                         window
//! out  ├──────────────────┼───────────────────────────────────────────────────────────────┤
//!       … </city><postcode>69117</postcode><country>DE
//!                          value  markup            value
//! ```
//!
//! Markup of up to [`PAD`] bytes is copied with a fixed size. An instruction first checks that there is space for all it
//! writes and that its slots are valid. If not, or if it needs more work (an actual type, a list, a QName, a long text, an
//! error), the fast path ends before it, and the slow path runs it.
//!
//! [`Places`] receives the locations of values; [`Control`] decides where to stop and how wide values are. Both cost
//! nothing if they are `()`.

use bsoap_datatypes::{double, integer};
use bsoap_xml::{NamespaceId, scan};
use smallvec::SmallVec;

use crate::escape;
use crate::plan::program::{Action, Field, Form, LeafRef, Markup, Op, PAD, Program, SHORT_TEXT};
use crate::plan::{ElementId, Plan};
use crate::record::{Record, heap_range, marker};

use super::control::Control;
use super::error::{ErrorKind, Result};
use super::leaf::number;
use super::places::Places;
use super::rows::Locations;
use super::scope::Scope;
use super::state::{EncoderFrame, Loop, Phase, Position};

/// Text up to this length is copied as this many bytes.
const TINY_TEXT: usize = 32;
/// The buffer is made longer by this many bytes at a time.
const WINDOW: usize = 1024;
/// This many bytes of the heap are searched at once for characters that must be escaped.
const LOOK_AHEAD: usize = 2048;

/// The stack; most messages need no more than 8 frames.
pub(super) type Stack = SmallVec<[EncoderFrame; 8]>;

/// The state of writing a Record.
pub(super) struct Interpreter<'r, 'o, C, P> {
    pub(super) plan: &'r Plan,
    pub(super) program: &'r Program,
    pub(super) slots: &'r [u64],
    pub(super) heap: &'r [u8],
    /// The next slot.
    pub(super) at: usize,
    pub(super) out: &'o mut Vec<u8>,
    /// The index in `out` from which locations are counted.
    pub(super) start: usize,
    pub(super) control: C,
    pub(super) places: P,
    pub(super) scope: Scope<'r>,
    pub(super) stack: Stack,
    /// The number of calls on the stack.
    pub(super) depth: usize,
    pub(super) max_depth: usize,
    /// The pad of the last value, if it goes behind the end tag.
    pub(super) pad: PadBehind,
    /// For a value that the fast path left to the slow path: its width, and the length of its end tag if the pad goes
    /// behind that. [`Control`] is asked for it only once.
    pub(super) asked: Option<(usize, Option<usize>)>,
    clean: Clean,
    /// The locations of the numbers in the last rows.
    pub(super) located: Locations,
}

/// A pad behind the end tag that follows: the length of the end tag, and the number of spaces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PadBehind {
    pub(super) close: usize,
    pub(super) spaces: usize,
}

/// The position of the fast path.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// The next instruction.
    pc: u32,
    /// The next slot.
    at: usize,
    /// Where the text ends.
    end: usize,
}

impl Cursor {
    /// The position at the next instruction in order.
    #[inline(always)]
    fn next(self, at: usize, end: usize) -> Self {
        let pc = self.pc + 1;
        Self { pc, at, end }
    }

    /// The position at another instruction.
    #[inline(always)]
    fn to(self, pc: u32, at: usize) -> Self {
        Self { pc, at, ..self }
    }
}

/// Why the fast path ended before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// The instruction needs this many bytes of space.
    Full(usize),
    /// The text, or the slots, have reached a limit of [`Control`].
    Limit,
    /// The slow path must run the instruction.
    Slow,
}

/// A range of the heap without characters that must be escaped in content.
#[derive(Clone, Copy, Debug, Default)]
struct Clean {
    start: usize,
    end: usize,
}

impl Clean {
    #[inline(always)]
    fn has(self, start: usize, end: usize) -> bool {
        start >= self.start && end <= self.end
    }

    /// The range from `start` on, for a string that ends at `end`. Strings mostly lie in the order in which they are
    /// written, so one long scan looks ahead for many of them. If they do not, each string is scanned by itself.
    #[inline(never)]
    fn from(self, heap: &[u8], start: usize, end: usize) -> Self {
        let ahead = if start >= self.start { LOOK_AHEAD } else { 0 };
        let until = start.saturating_add(ahead).max(end).min(heap.len());
        let bytes = heap.get(start..until).unwrap_or_default();
        Self {
            start,
            end: start + scan::find_text_escape(bytes),
        }
    }
}

impl<'r, 'o, C: Control, P: Places> Interpreter<'r, 'o, C, P> {
    /// An interpreter that appends to `out`. Locations are counted from the present end of `out`.
    pub(super) fn new(
        record: &'r Record,
        out: &'o mut Vec<u8>,
        control: C,
        places: P,
        max_depth: usize,
    ) -> Self {
        let plan = record.plan.as_ref();
        let program = plan.program();
        Self {
            plan,
            program,
            slots: &record.slots,
            heap: &record.heap,
            at: 0,
            start: out.len(),
            out,
            control,
            places,
            scope: Scope::new(plan, program),
            stack: Stack::new(),
            depth: 0,
            max_depth,
            pad: PadBehind::default(),
            asked: None,
            clean: Clean::default(),
            located: Locations::default(),
        }
    }

    /// Runs the instructions from `pc` on, until the root's type returns (`None`) or [`Control`] stops it: before an
    /// instruction, or between the rows of one.
    pub(super) fn run(&mut self, mut pc: u32) -> Result<Option<Phase>> {
        let program = self.program;
        loop {
            if C::STOPS && self.is_stopped(pc, false) {
                return Ok(Some(Phase::Before { pc }));
            }
            let exit;
            (pc, exit) = self.run_fast(pc);
            if exit == Exit::Limit {
                continue;
            }
            let op = program.ops.get(pc as usize).ok_or(ErrorKind::Mismatch)?;
            match op.action {
                // The end of the root's type; the fast path handles all other returns.
                Action::Return => return Ok(None),
                Action::Rows(table) => {
                    let table = &program.tables[table as usize];
                    if let Some(rows) = self.rows(pc, table, None)? {
                        return Ok(Some(Phase::Rows { pc, rows }));
                    }
                    pc += 1;
                }
                _ => pc = self.run_slow(op, pc)?,
            }
        }
    }

    /// Whether to stop before the instruction at `pc`, or between its rows.
    #[inline(always)]
    pub(super) fn is_stopped(&mut self, pc: u32, in_rows: bool) -> bool {
        let (length, slot) = self.control.limits();
        (self.out.len() >= length || self.at >= slot) && self.ask(pc, in_rows)
    }

    #[cold]
    fn ask(&mut self, pc: u32, in_rows: bool) -> bool {
        self.control.stops(&Position {
            pc,
            in_rows,
            slot: self.at,
            length: self.out.len(),
            stack: &self.stack,
            declared: self.scope.declared(),
        })
    }

    /// Runs instructions as long as the fast path can. Returns the first instruction that it did not run, and why.
    fn run_fast(&mut self, pc: u32) -> (u32, Exit) {
        let mut out = std::mem::take(self.out);
        let (at, end) = (self.at, out.len());
        let mut cursor = Cursor { pc, at, end };
        loop {
            let exit = self.run_in(&mut out, &mut cursor);
            if let Exit::Full(space) = exit {
                // Adds a window, but not more than the capacity of the buffer.
                let length = (out.len() + WINDOW).min(out.capacity());
                out.resize(length.max(cursor.end + space), 0);
                continue;
            }
            out.truncate(cursor.end);
            self.at = cursor.at;
            *self.out = out;
            return (cursor.pc, exit);
        }
    }

    /// Runs instructions inside a window. It is never inlined, so that its variables stay in registers; and it does not return
    /// the cursor, which would be read in wider words than it was written.
    #[inline(never)]
    fn run_in(&mut self, window: &mut [u8], at: &mut Cursor) -> Exit {
        let ops = self.program.ops.as_slice();
        let mut cursor = *at;
        let exit = loop {
            let Some(op) = ops.get(cursor.pc as usize) else {
                break Exit::Slow;
            };
            let pad = self.pad;
            let space = op.space as usize + if C::STUFFS { pad.spaces } else { 0 };
            if window.len() - cursor.end < space {
                break Exit::Full(space);
            }
            match self.step(op, window, cursor) {
                Some(next) => cursor = next,
                None => {
                    if C::STUFFS {
                        self.pad = pad;
                    }
                    break Exit::Slow;
                }
            }
            if C::STOPS {
                let (length, slot) = self.control.limits();
                if cursor.end >= length || cursor.at >= slot {
                    break Exit::Limit;
                }
            }
        };
        *at = cursor;
        exit
    }

    /// Runs an instruction for which there is space. Returns the position behind it; `None` if the slow path must run it.
    #[inline(always)]
    fn step(&mut self, op: &Op, window: &mut [u8], cursor: Cursor) -> Option<Cursor> {
        let Cursor { at, end, .. } = cursor;
        match op.action {
            Action::Literal => Some(cursor.next(at, self.markup(window, &op.before, end))),
            Action::Text => {
                let end = self.markup(window, &op.before, end);
                let end = self.text(window, op, at, end)?;
                Some(cursor.next(at + 1, end))
            }
            Action::Signed => {
                let end = self.markup(window, &op.before, end);
                let end = self.number(window, (Form::Signed, op.leaf), at, end)?;
                Some(cursor.next(at + 1, end))
            }
            Action::Double => {
                let end = self.markup(window, &op.before, end);
                let end = self.number(window, (Form::Double, op.leaf), at, end)?;
                Some(cursor.next(at + 1, end))
            }
            Action::Value(form) => {
                let end = self.markup(window, &op.before, end);
                let end = self.number(window, (form, op.leaf), at, end)?;
                Some(cursor.next(at + 1, end))
            }
            Action::Attribute(form) => self.attribute(window, op, form, cursor),
            Action::OptionalAttribute(form) => match self.slot(at)? {
                marker::PRESENT => {
                    let at = at + 1;
                    self.attribute(window, op, form, Cursor { at, ..cursor })
                }
                marker::ABSENT | marker::DEFAULTED if form.is_plain() => {
                    let value = self.slot(at + 1)?;
                    if P::LISTENS && value != 0 && !form.is_number() {
                        self.places.hidden(at + 1);
                    }
                    Some(cursor.next(at + 2, end))
                }
                _ => None,
            },
            Action::Field(field) => {
                let field = self.program.fields.get(field as usize)?;
                self.field(window, op, field, cursor)
            }
            // Messages hardly ever have attributes that only a wildcard allows.
            Action::AnyAttribute => {
                let is_empty = heap_range(self.slot(at)?).1 == 0;
                is_empty.then_some(cursor.next(at + 1, end))
            }
            _ => self.turn(op, window, cursor),
        }
    }

    /// Runs an instruction that may jump. Returns the next position; `None` if the slow path must run it.
    #[inline(always)]
    fn turn(&mut self, op: &Op, window: &mut [u8], cursor: Cursor) -> Option<Cursor> {
        let Cursor { pc, at, end } = cursor;
        Some(match op.action {
            Action::Enter => {
                self.scope.enter();
                cursor.next(at, end)
            }
            Action::Leave => {
                self.scope.leave();
                cursor.next(at, end)
            }
            Action::Declare(element) => cursor.next(at, self.declare(window, element, end)?),
            Action::Optional { absent } => match self.slot(at)? {
                marker::PRESENT => cursor.next(at + 1, end),
                marker::ABSENT => cursor.to(absent, at + 1),
                _ => return None,
            },
            Action::OptionalValue { absent } => match self.slot(at)? {
                marker::PRESENT => cursor.next(at + 1, end),
                marker::ABSENT => {
                    self.slot(at + 1)?;
                    cursor.to(absent, at + 2)
                }
                _ => return None,
            },
            Action::Repeat { done } => match self.slot(at)? {
                0 => cursor.to(done, at + 1),
                _ => {
                    self.stack
                        .push(EncoderFrame::Repeat(Loop { count: at, done: 0 }));
                    cursor.next(at + 1, end)
                }
            },
            Action::Again { body } => {
                let end = self.markup(window, &op.before, end);
                let pc = if self.is_again() { body } else { pc + 1 };
                Cursor { pc, at, end }
            }
            Action::Choice { targets, count } => match self.slot(at)? {
                branch if branch < u64::from(count) => {
                    let target = targets as usize + branch as usize;
                    cursor.to(*self.program.targets.get(target)?, at + 1)
                }
                _ => return None,
            },
            Action::Jump(to) => cursor.to(to, at),
            Action::Call { entry } if self.depth < self.max_depth => {
                self.depth += 1;
                self.stack.push(EncoderFrame::Return(pc + 1));
                cursor.to(entry, at)
            }
            Action::Return => cursor.to(self.back()?, at),
            _ => return None,
        })
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> Option<u64> {
        self.slots.get(at).copied()
    }

    /// Whether the innermost loop has another occurrence; if not, the loop is removed.
    #[inline(always)]
    fn is_again(&mut self) -> bool {
        if let Some(EncoderFrame::Repeat(innermost)) = self.stack.last_mut() {
            innermost.done += 1;
            if self.slots.get(innermost.count) > Some(&innermost.done) {
                return true;
            }
        }
        self.stack.pop();
        false
    }

    /// Returns from a call: the instruction behind it; `None` for the root's type.
    #[inline(always)]
    fn back(&mut self) -> Option<u32> {
        let Some(&EncoderFrame::Return(to)) = self.stack.last() else {
            return None;
        };
        self.stack.pop();
        self.depth -= 1;
        Some(to)
    }

    /// Declares the namespaces that an element needs.
    #[inline(never)]
    fn declare(&mut self, window: &mut [u8], element: ElementId, mut end: usize) -> Option<usize> {
        let namespaces = self.program.namespaces_of(self.plan, element);
        let declarations = &self.program.declarations;
        let length = |id: &NamespaceId| declarations[id.0 as usize].len();
        if end + namespaces.iter().map(length).sum::<usize>() > window.len() {
            return None;
        }
        for &namespace in namespaces {
            if let Some(bytes) = self.scope.declaration(namespace) {
                window[end..end + bytes.len()].copy_from_slice(bytes);
                end += bytes.len();
            }
        }
        Some(end)
    }
}

/// Markup and values on the fast path.
impl<C: Control, P: Places> Interpreter<'_, '_, C, P> {
    /// Writes markup. If a pad is due behind the end tag at its beginning, writes that, too. Returns where the text ends.
    #[inline(always)]
    fn markup(&mut self, window: &mut [u8], markup: &Markup, end: usize) -> usize {
        if C::STUFFS && self.pad.spaces > 0 && markup.len() > 0 {
            return self.padded_markup(window, markup, end);
        }
        let length = markup.len();
        if length > PAD {
            let bytes = self.program.literal(markup.span);
            return long_markup(window, bytes, end);
        }
        *front(window, end) = markup.bytes;
        end + length
    }

    #[inline(never)]
    fn padded_markup(&mut self, window: &mut [u8], markup: &Markup, end: usize) -> usize {
        let PadBehind { close, spaces } = std::mem::take(&mut self.pad);
        let bytes = self.program.literal(markup.span);
        let (close, rest) = bytes.split_at(close.min(bytes.len()));
        let end = long_markup(window, close, end);
        window[end..end + spaces].fill(b' ');
        long_markup(window, rest, end + spaces)
    }

    /// Writes an element that is a scalar and may be absent or nil.
    #[inline(always)]
    fn field(
        &mut self,
        window: &mut [u8],
        op: &Op,
        field: &Field,
        cursor: Cursor,
    ) -> Option<Cursor> {
        let Cursor { at, end, .. } = cursor;
        let mut end = self.markup(window, &op.before, end);
        let state = self.slot(at)?;
        if state == field.present {
            end = self.markup(window, &field.open, end);
            end = match field.form {
                Form::Text => self.text(window, op, at + 1, end)?,
                Form::Double => self.number(window, (Form::Double, op.leaf), at + 1, end)?,
                form => self.number(window, (form, op.leaf), at + 1, end)?,
            };
            end = self.markup(window, &field.close, end);
        } else if state != marker::ABSENT || !field.is_optional || at + 1 >= self.slots.len() {
            return None;
        }
        Some(cursor.next(at + 2, end))
    }

    #[inline(always)]
    fn attribute(
        &mut self,
        window: &mut [u8],
        op: &Op,
        form: Form,
        cursor: Cursor,
    ) -> Option<Cursor> {
        let Cursor { at, end, .. } = cursor;
        let end = self.markup(window, &op.before, end);
        let end = match form {
            Form::Text => {
                let (start, length) = heap_range(self.slot(at)?);
                let text = self.heap.get(start..start + length)?;
                if scan::find_value_escape(text) < length {
                    return None;
                }
                self.short_text(window, op.leaf, (start, length), at, end)?
            }
            Form::Signed => self.number(window, (Form::Signed, op.leaf), at, end)?,
            form => self.number(window, (form, op.leaf), at, end)?,
        };
        *front(window, end) = [b'"'];
        Some(cursor.next(at + 1, end + 1))
    }

    /// Writes a number or a boolean and returns its length; `None` for other values.
    #[inline(always)]
    fn number(
        &mut self,
        window: &mut [u8],
        (form, leaf): (Form, LeafRef),
        at: usize,
        end: usize,
    ) -> Option<usize> {
        let slot = self.slot(at)?;
        let space = front(window, end);
        let length = match form {
            Form::Double => double::format(f64::from_bits(slot), space),
            Form::Signed => integer::format_i64(slot as i64, space),
            form if form.is_number() => number(form, slot, space),
            _ => return None,
        };
        self.written(window, leaf, at, (end, length))
    }

    /// Writes text as content. Returns where the text ends; `None` if the slow path must write it.
    #[inline(always)]
    fn text(&mut self, window: &mut [u8], op: &Op, at: usize, end: usize) -> Option<usize> {
        let (start, length) = heap_range(self.slot(at)?);
        if !self.clean.has(start, start + length) {
            self.clean = self.clean.from(self.heap, start, start + length);
            if !self.clean.has(start, start + length) {
                return self.escaped_text(window, op, at, end);
            }
        }
        let tiny = self
            .heap
            .get(start..)
            .and_then(<[u8]>::first_chunk::<TINY_TEXT>);
        if length <= TINY_TEXT
            && let Some(tiny) = tiny
        {
            *front(window, end) = *tiny;
            return self.written(window, op.leaf, at, (end, length));
        }
        self.short_text(window, op.leaf, (start, length), at, end)
    }

    #[inline(always)]
    fn short_text(
        &mut self,
        window: &mut [u8],
        leaf: LeafRef,
        (start, length): (usize, usize),
        at: usize,
        end: usize,
    ) -> Option<usize> {
        if length > SHORT_TEXT {
            return None;
        }
        let text = self.heap.get(start..start + length)?;
        front::<SHORT_TEXT>(window, end)[..length].copy_from_slice(text);
        self.written(window, leaf, at, (end, length))
    }

    #[inline(never)]
    fn escaped_text(&mut self, window: &mut [u8], op: &Op, at: usize, end: usize) -> Option<usize> {
        let (start, length) = heap_range(self.slot(at)?);
        let text = self.heap.get(start..start + length)?;
        let limit = window.len().checked_sub(op.space as usize)?;
        let length = escape::text_into(text, window.get_mut(end..limit)?)?;
        self.written(window, op.leaf, at, (end, length))
    }

    /// Reports the location of a value that has been written, and pads it. Returns where the text ends; `None` if the pad
    /// is too long.
    #[inline(always)]
    fn written(
        &mut self,
        window: &mut [u8],
        leaf: LeafRef,
        at: usize,
        (begin, length): (usize, usize),
    ) -> Option<usize> {
        let (mut width, mut end) = (length, begin + length);
        if C::STUFFS {
            let close;
            (width, close) = self.control.width(leaf, length);
            let spaces = width - length;
            match close {
                _ if spaces > PAD => {
                    self.asked = Some((width, close));
                    return None;
                }
                Some(close) => self.pad = PadBehind { close, spaces },
                None => {
                    *front(window, end) = [b' '; PAD];
                    end += spaces;
                }
            }
        }
        if P::LISTENS {
            let offset = begin - self.start;
            self.places.value(at, offset, length, width, leaf);
        }
        Some(end)
    }
}

/// The first `N` bytes of the window behind the text.
#[inline(always)]
fn front<const N: usize>(window: &mut [u8], end: usize) -> &mut [u8; N] {
    match window[end..].first_chunk_mut() {
        Some(front) => front,
        None => unreachable!("an instruction has the space it needs"),
    }
}

#[inline(never)]
fn long_markup(window: &mut [u8], bytes: &[u8], end: usize) -> usize {
    window[end..end + bytes.len()].copy_from_slice(bytes);
    end + bytes.len()
}
