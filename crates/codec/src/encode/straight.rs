//! The fast road through a program: instructions that only copy markup and write plain values, one after another.
//!
//! Beside every instruction lies its [`Step`]: the same, with its markup in it, padded, so that it is one copy of fixed size
//! whatever its length. The buffer is made longer by a window at a time; where in it the text ends, the next slot and the
//! next instruction are all that changes meanwhile, and stay in registers:
//!
//! ```text
//!           written                                         window
//! out  ├──────────────────┼───────────────────────────────────────────────────────────────┤
//!       … </city><postcode>69117</postcode><country>DE
//!                          value  markup            value
//! ```
//!
//! A step first makes sure that there is room for all it writes and that the slots are as it needs them; then nothing can go
//! wrong. If they are not, or if it takes more than this (a state, a list, a QName), it is as if it had not begun, and
//! [`Machine::run`], which knows all instructions, does that one.

use bsoap_datatypes::{double, integer};
use bsoap_xml::{NamespaceId, scan};

use crate::plan::{ElementId, Plan};
use crate::record::{heap_range, marker};

use super::escape;
use super::machine::{Frame, Machine, Stack, number};
use super::program::{Field, Form, Op, PAD, Program, Span};
use super::scope::Scope;
use super::watch::Watch;

/// Text up to this length is written here.
const TEXT: usize = 128;
/// Text up to this length is copied as so many bytes.
const SHORT: usize = 32;
/// What a step may write beyond markup longer than [`PAD`]: a value, markup on both sides of it, and what copies of fixed
/// size write too much.
const ROOM: usize = TEXT + 4 * PAD;
/// The buffer is made so much longer at a time.
const WINDOW: usize = 1024;
/// So much of the heap is looked through at once for what has to be escaped.
const AHEAD: usize = 2048;

/// The steps of a program, one for each of its instructions.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    fields: Vec<FieldStep>,
}

/// An instruction with its markup.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Step {
    before: Markup,
    act: Act,
    /// The room it needs.
    room: u32,
}

/// Markup, padded. If it is longer than that: where the program has it.
#[derive(Clone, Copy, Debug)]
struct Markup {
    bytes: [u8; PAD],
    span: Span,
}

/// What to do behind the markup, as in [`Op`].
#[derive(Clone, Copy, Debug)]
enum Act {
    Copy,
    Text,
    Signed,
    Double,
    Number(Form),
    Attribute(Form),
    OptionalAttribute(Form),
    Field(u32),
    AnyAttribute,
    Enter,
    Leave,
    Declare(ElementId),
    Optional {
        absent: u32,
    },
    OptionalValue {
        absent: u32,
    },
    Repeat {
        done: u32,
    },
    Again {
        body: u32,
    },
    Choice {
        targets: u32,
        count: u32,
    },
    Jump(u32),
    Call {
        entry: u32,
    },
    Return,
    /// What only the machine can do.
    General,
}

/// An element that is a scalar, with its tags.
#[derive(Clone, Copy, Debug)]
struct FieldStep {
    open: Markup,
    close: Markup,
    form: Form,
    /// The marker that says that it is there.
    present: u64,
    optional: bool,
}

impl Steps {
    pub(super) fn new(plan: &Plan, program: &Program) -> Self {
        let mut steps = Self::default();
        for op in &program.ops {
            let step = steps.step(plan, program, op);
            steps
                .steps
                .push(step.unwrap_or_else(|| Step::new(program, Span::default(), Act::General)));
        }
        steps
    }

    /// `None` for what only the machine can do.
    fn step(&mut self, plan: &Plan, program: &Program, op: &Op) -> Option<Step> {
        let nothing = Span::default();
        let (before, act) = match *op {
            Op::Literal(before) => (before, Act::Copy),
            Op::Text(before) => (before, Act::Text),
            Op::Signed(before) => (before, Act::Signed),
            Op::Double(before) => (before, Act::Double),
            Op::Leaf { before, form } if form.is_number() => (before, Act::Number(form)),
            Op::Attribute { open, form } if is_plain(form) => (open, Act::Attribute(form)),
            Op::OptionalAttribute { open, form } if is_plain(form) => {
                (open, Act::OptionalAttribute(form))
            }
            Op::OptionalField(ref field) => {
                return self.field(program, field, b"", marker::PRESENT, true);
            }
            Op::NillableField {
                ref field,
                element,
                optional,
            } => {
                let present = marker::state(marker::PRESENT, plan.element(element).ty);
                return self.field(program, field, b">", present, optional);
            }
            Op::AnyAttribute => (nothing, Act::AnyAttribute),
            Op::Enter => (nothing, Act::Enter),
            Op::Leave => (nothing, Act::Leave),
            Op::Declare(element) => (nothing, Act::Declare(element)),
            Op::Optional { absent } => (nothing, Act::Optional { absent }),
            Op::OptionalValue { absent } => (nothing, Act::OptionalValue { absent }),
            Op::Repeat { done } => (nothing, Act::Repeat { done }),
            Op::Again { before, body } => (before, Act::Again { body }),
            Op::Choice { targets, count } => (nothing, Act::Choice { targets, count }),
            Op::Jump(to) => (nothing, Act::Jump(to)),
            Op::Call(ty) => {
                let entry = *program.types.get(ty.index())?;
                (nothing, Act::Call { entry })
            }
            Op::Return => (nothing, Act::Return),
            _ => return None,
        };
        Some(Step::new(program, before, act))
    }

    fn field(
        &mut self,
        program: &Program,
        field: &Field,
        start_end: &[u8],
        present: u64,
        optional: bool,
    ) -> Option<Step> {
        let mut open = Markup::new(program, field.open);
        let length = open.span.len();
        if !start_end.is_empty() {
            open.bytes
                .get_mut(length..)?
                .get_mut(..start_end.len())?
                .copy_from_slice(start_end);
            open.span = open.span.longer(start_end.len());
        }
        if !is_plain(field.form) {
            return None;
        }
        let close = Markup::new(program, field.close);
        self.fields.push(FieldStep {
            open,
            close,
            form: field.form,
            present,
            optional,
        });
        let step = Step::new(
            program,
            field.before,
            Act::Field(self.fields.len() as u32 - 1),
        );
        let longer = open.span.len() + close.span.len();
        Some(Step {
            room: step.room + longer as u32,
            ..step
        })
    }
}

impl Step {
    fn new(program: &Program, before: Span, act: Act) -> Self {
        Self {
            before: Markup::new(program, before),
            act,
            room: (ROOM + before.len()) as u32,
        }
    }
}

impl Markup {
    fn new(program: &Program, span: Span) -> Self {
        let mut bytes = [0; PAD];
        for (byte, literal) in bytes.iter_mut().zip(program.literal(span)) {
            *byte = *literal;
        }
        Self { bytes, span }
    }
}

/// Whether values of this form need nothing but their slot and the heap.
fn is_plain(form: Form) -> bool {
    form.is_number() || form == Form::Text
}

/// A stretch of the heap without anything that has to be escaped in content.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clean {
    start: usize,
    end: usize,
}

impl Clean {
    #[inline(always)]
    fn has(self, start: usize, end: usize) -> bool {
        start >= self.start && end <= self.end
    }

    /// The stretch from `start` on. Strings mostly lie in the order in which they are written: looking ahead is one long
    /// scan instead of many short ones. Where they do not, each is looked at by itself.
    #[inline(never)]
    fn from(self, heap: &[u8], start: usize, end: usize) -> Self {
        let ahead = if start >= self.start { AHEAD } else { 0 };
        let until = start.saturating_add(ahead).max(end).min(heap.len());
        let bytes = heap.get(start..until).unwrap_or_default();
        Self {
            start,
            end: start + scan::find_text_escape(bytes),
        }
    }
}

impl<P: Watch> Machine<'_, '_, P> {
    /// Takes the steps from `pc` on for as long as it can. Returns the first instruction that is left to the machine, or
    /// before which the sink may want to stop.
    ///
    /// Never inlined: among the machine's own variables, its own do not stay in registers.
    #[inline(never)]
    pub(super) fn straight(&mut self, pc: u32) -> u32 {
        let mut pen = Pen {
            pc,
            at: self.at,
            end: self.out.len(),
        };
        loop {
            let mut road = Road {
                plan: self.plan,
                program: self.program,
                slots: self.slots,
                heap: self.heap,
                start: self.start,
                clean: self.clean,
                places: &mut self.places,
                scope: &mut self.scope,
                stack: &mut self.stack,
                depth: &mut self.depth,
                max_depth: self.max_depth,
            };
            let room;
            (pen, room) = road.go(pen, self.out);
            self.clean = road.clean;
            self.at = pen.at;
            if room == 0 {
                self.out.truncate(pen.end);
                return pen.pc;
            }
            // By a window, but not beyond what the buffer holds without growing if that is enough.
            let length = (self.out.len() + WINDOW).min(self.out.capacity());
            self.out.resize(length.max(pen.end + room), 0);
        }
    }
}

/// How far the steps have come.
#[derive(Clone, Copy, Debug)]
struct Pen {
    /// The next instruction.
    pc: u32,
    /// The next slot.
    at: usize,
    /// Where the text ends.
    end: usize,
}

/// What the steps need of the machine. (What changes with every step is not in it: it would not stay in registers.)
struct Road<'m, 'r, P> {
    plan: &'r Plan,
    program: &'r Program,
    slots: &'r [u64],
    heap: &'r [u8],
    /// Where the message starts.
    start: usize,
    clean: Clean,
    places: &'m mut P,
    scope: &'m mut Scope<'r>,
    stack: &'m mut Stack,
    depth: &'m mut usize,
    max_depth: usize,
}

impl<P: Watch> Road<'_, '_, P> {
    /// Takes steps. Returns the room that the next one needs; 0 if it is left to the machine.
    #[inline(always)]
    fn go(&mut self, mut pen: Pen, window: &mut [u8]) -> (Pen, usize) {
        let program = self.program;
        let steps = program.steps.steps.as_slice();
        let need = loop {
            let Pen { pc, at, end } = pen;
            if P::STOPS {
                let (length, slot) = self.places.limits();
                if end >= length || at >= slot {
                    break 0;
                }
            }
            let Some(step) = steps.get(pc as usize) else {
                break 0;
            };
            let room = step.room as usize;
            if window.len() - end < room {
                break room;
            }
            if P::LISTENS && P::FOLLOWS {
                self.places.instruction(pc);
            }
            match self.step(step, window, pen) {
                Some(done) => pen = done,
                None => break 0,
            }
        };
        (pen, need)
    }

    /// Takes a step for which there is room; `None` if it is left to the machine.
    #[inline(always)]
    fn step(&mut self, step: &Step, window: &mut [u8], pen: Pen) -> Option<Pen> {
        let program = self.program;
        let Pen { at, end, .. } = pen;
        let (before, room) = (&step.before, step.room as usize);
        match step.act {
            Act::Copy => Some(pen.next(at, write(program, window, before, end))),
            Act::Text => {
                let end = write(program, window, before, end);
                self.text(window, at, end, room)
                    .map(|end| pen.next(at + 1, end))
            }
            Act::Signed => {
                let end = write(program, window, before, end);
                self.number(window, Form::Signed, at, end)
                    .map(|end| pen.next(at + 1, end))
            }
            Act::Double => {
                let end = write(program, window, before, end);
                self.number(window, Form::Double, at, end)
                    .map(|end| pen.next(at + 1, end))
            }
            Act::Number(form) => {
                let end = write(program, window, before, end);
                self.number(window, form, at, end)
                    .map(|end| pen.next(at + 1, end))
            }
            Act::Attribute(form) => self.attribute(window, before, form, pen),
            Act::OptionalAttribute(form) => match self.slot(at) {
                Some(marker::PRESENT) => {
                    self.attribute(window, before, form, Pen { at: at + 1, ..pen })
                }
                Some(marker::ABSENT | marker::DEFAULTED) => self.slot(at + 1).map(|value| {
                    if P::LISTENS && value != 0 && !form.is_number() {
                        self.places.hidden(at + 1);
                    }
                    pen.next(at + 2, end)
                }),
                _ => None,
            },
            Act::Field(field) => match program.steps.fields.get(field as usize) {
                Some(field) => self.field(window, before, field, pen, room),
                None => None,
            },
            // Wildcards hardly ever admit attributes.
            Act::AnyAttribute => {
                let is_empty = |slot: &u64| heap_range(*slot).1 == 0;
                self.slot(at)
                    .filter(is_empty)
                    .map(|_| pen.next(at + 1, end))
            }
            act => self.turn(act, before, window, pen),
        }
    }

    /// A step that may lead elsewhere.
    #[inline(always)]
    fn turn(&mut self, act: Act, before: &Markup, window: &mut [u8], pen: Pen) -> Option<Pen> {
        let program = self.program;
        let Pen { pc, at, end } = pen;
        match act {
            Act::Enter => {
                self.scope.enter();
                Some(pen.next(at, end))
            }
            Act::Leave => {
                self.scope.leave();
                Some(pen.next(at, end))
            }
            Act::Declare(element) => self
                .declare(window, element, end)
                .map(|end| pen.next(at, end)),
            Act::Optional { absent } => match self.slot(at) {
                Some(marker::PRESENT) => Some(pen.next(at + 1, end)),
                Some(marker::ABSENT) => Some(pen.to(absent, at + 1)),
                _ => None,
            },
            Act::OptionalValue { absent } => match self.slot(at) {
                Some(marker::PRESENT) => Some(pen.next(at + 1, end)),
                Some(marker::ABSENT) => self.slot(at + 1).map(|_| pen.to(absent, at + 2)),
                _ => None,
            },
            Act::Repeat { done } => match self.slot(at) {
                Some(0) => Some(pen.to(done, at + 1)),
                Some(count) => {
                    if P::STOPS {
                        self.places.begin_loop(at);
                    }
                    self.stack.push(Frame::Repeat(count));
                    Some(pen.next(at + 1, end))
                }
                None => None,
            },
            Act::Again { body } => {
                let end = write(program, window, before, end);
                let pc = if self.is_again() { body } else { pc + 1 };
                Some(Pen { pc, at, end })
            }
            Act::Choice { targets, count } => match self.slot(at) {
                Some(branch) if branch < u64::from(count) => {
                    let target = program.targets.get(targets as usize + branch as usize);
                    target.map(|&target| pen.to(target, at + 1))
                }
                _ => None,
            },
            Act::Jump(to) => Some(pen.to(to, at)),
            Act::Call { entry } if *self.depth < self.max_depth => {
                *self.depth += 1;
                self.stack.push(Frame::Return(pc + 1));
                Some(pen.to(entry, at))
            }
            Act::Return => self.back().map(|to| pen.to(to, at)),
            _ => None,
        }
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> Option<u64> {
        self.slots.get(at).copied()
    }

    /// Whether the innermost loop has an occurrence left; if not, it ends.
    #[inline(always)]
    fn is_again(&mut self) -> bool {
        if let Some(Frame::Repeat(left @ 2..)) = self.stack.last_mut() {
            *left -= 1;
            return true;
        }
        if P::STOPS {
            self.places.end_loop();
        }
        self.stack.pop();
        false
    }

    /// Where a type was called from; `None` for the root's.
    #[inline(always)]
    fn back(&mut self) -> Option<u32> {
        let Some(&Frame::Return(to)) = self.stack.last() else {
            return None;
        };
        self.stack.pop();
        *self.depth -= 1;
        Some(to)
    }

    /// An element that is a scalar and may be missing.
    #[inline(always)]
    fn field(
        &mut self,
        window: &mut [u8],
        before: &Markup,
        field: &FieldStep,
        Pen { pc, at, end }: Pen,
        room: usize,
    ) -> Option<Pen> {
        let program = self.program;
        let mut end = write(program, window, before, end);
        let state = self.slot(at)?;
        if state == field.present {
            end = write(program, window, &field.open, end);
            end = match field.form {
                Form::Text => self.text(window, at + 1, end, room)?,
                Form::Double => self.number(window, Form::Double, at + 1, end)?,
                form => self.number(window, form, at + 1, end)?,
            };
            end = write(program, window, &field.close, end);
        } else if state != marker::ABSENT || !field.optional || at + 1 >= self.slots.len() {
            return None;
        }
        Some(Pen {
            pc: pc + 1,
            at: at + 2,
            end,
        })
    }

    #[inline(always)]
    fn attribute(
        &mut self,
        window: &mut [u8],
        open: &Markup,
        form: Form,
        Pen { pc, at, end }: Pen,
    ) -> Option<Pen> {
        let end = write(self.program, window, open, end);
        let end = match form {
            Form::Text => {
                let (start, length) = heap_range(self.slot(at)?);
                let text = self.heap.get(start..start + length)?;
                if scan::find_value_escape(text) < length {
                    return None;
                }
                self.long_text(window, start, length, at, end)?
            }
            Form::Signed => self.number(window, Form::Signed, at, end)?,
            form => self.number(window, form, at, end)?,
        };
        *room(window, end) = [b'"'];
        Some(Pen {
            pc: pc + 1,
            at: at + 1,
            end: end + 1,
        })
    }

    /// A number or a truth value.
    #[inline(always)]
    fn number(&mut self, window: &mut [u8], form: Form, at: usize, end: usize) -> Option<usize> {
        let slot = self.slot(at)?;
        let room = room(window, end);
        let length = match form {
            Form::Double => double::format(f64::from_bits(slot), room),
            Form::Signed => integer::format_i64(slot as i64, room),
            form => number(form, slot, room),
        };
        self.place(at, end, length);
        Some(end + length)
    }

    /// Text as content. `keep` bytes of the window are needed for what follows.
    #[inline(always)]
    fn text(&mut self, window: &mut [u8], at: usize, end: usize, keep: usize) -> Option<usize> {
        let (start, length) = heap_range(self.slot(at)?);
        if !self.clean.has(start, start + length) {
            self.clean = self.clean.from(self.heap, start, start + length);
            if !self.clean.has(start, start + length) {
                return self.escaped_text(window, at, end, keep);
            }
        }
        let short = self
            .heap
            .get(start..)
            .and_then(<[u8]>::first_chunk::<SHORT>);
        if length <= SHORT
            && let Some(short) = short
        {
            *room(window, end) = *short;
            self.place(at, end, length);
            return Some(end + length);
        }
        self.long_text(window, start, length, at, end)
    }

    #[inline(always)]
    fn long_text(
        &mut self,
        window: &mut [u8],
        start: usize,
        length: usize,
        at: usize,
        end: usize,
    ) -> Option<usize> {
        if length > TEXT {
            return None;
        }
        let text = self.heap.get(start..start + length)?;
        room::<TEXT>(window, end)[..length].copy_from_slice(text);
        self.place(at, end, length);
        Some(end + length)
    }

    #[inline(never)]
    fn escaped_text(
        &mut self,
        window: &mut [u8],
        at: usize,
        end: usize,
        keep: usize,
    ) -> Option<usize> {
        let (start, length) = heap_range(self.slot(at)?);
        let text = self.heap.get(start..start + length)?;
        let limit = window.len().checked_sub(keep)?;
        let length = escape::text_into(text, window.get_mut(end..limit)?)?;
        self.place(at, end, length);
        Some(end + length)
    }

    /// A value has been written.
    #[inline(always)]
    fn place(&mut self, at: usize, end: usize, length: usize) {
        if P::LISTENS {
            self.places.plain(at, (end - self.start) as u64, length);
        }
    }

    /// Declares what an element needs.
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

impl Pen {
    /// The next instruction follows.
    #[inline(always)]
    fn next(self, at: usize, end: usize) -> Self {
        let pc = self.pc + 1;
        Self { pc, at, end }
    }

    /// The next instruction is another.
    #[inline(always)]
    fn to(self, pc: u32, at: usize) -> Self {
        Self { pc, at, ..self }
    }
}

/// The front of the window, from where the text ends.
#[inline(always)]
fn room<const N: usize>(window: &mut [u8], end: usize) -> &mut [u8; N] {
    match window[end..].first_chunk_mut() {
        Some(room) => room,
        None => unreachable!("a step has the room it needs"),
    }
}

/// Writes markup and returns where the text ends.
#[inline(always)]
fn write(program: &Program, window: &mut [u8], markup: &Markup, end: usize) -> usize {
    let length = markup.span.len();
    if length > PAD {
        return write_long(program, window, markup.span, end);
    }
    *room(window, end) = markup.bytes;
    end + length
}

#[inline(never)]
fn write_long(program: &Program, window: &mut [u8], markup: Span, end: usize) -> usize {
    let bytes = program.literal(markup);
    window[end..end + bytes.len()].copy_from_slice(bytes);
    end + bytes.len()
}
