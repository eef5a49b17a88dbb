//! The machine that runs a [`Program`] over a Record. Its stack is its own, so the depth of a
//! message does not matter to it.

use bsoap_datatypes::{binary, boolean, double, float, integer};
use smallvec::SmallVec;

use crate::kept;
use crate::plan::{ElementId, LeafId, LeafKind, Plan, TypeId};
use crate::record::{Record, heap_range, marker};

use super::error::ErrorKind;
use super::escape::{self, BadCharacter};
use super::program::{Field, Form, Op, Program, Span};
use super::scope::Scope;
use super::state::Phase;
use super::straight::Clean;
use super::watch::Watch;

/// Where to go when a type's instructions, or an occurrence, are done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Back to the instruction after the call.
    Return(u32),
    /// So many occurrences are left, this one included.
    Repeat(u64),
}

/// Most messages need no more frames than these.
pub(super) type Stack = SmallVec<[Frame; 8]>;

pub(super) struct Machine<'r, 'o, P> {
    pub(super) plan: &'r Plan,
    pub(super) program: &'r Program,
    pub(super) slots: &'r [u64],
    pub(super) heap: &'r [u8],
    /// The next slot.
    pub(super) at: usize,
    pub(super) out: &'o mut Vec<u8>,
    /// Where in `out` the message starts.
    pub(super) start: usize,
    pub(super) places: P,
    pub(super) scope: Scope<'r>,
    pub(super) stack: Stack,
    pub(super) depth: usize,
    pub(super) max_depth: usize,
    pub(super) clean: Clean,
}

impl From<BadCharacter> for ErrorKind {
    fn from(bad: BadCharacter) -> Self {
        Self::Character(bad.0)
    }
}

pub(super) type Result<T> = std::result::Result<T, ErrorKind>;

impl<'r, 'o, P: Watch> Machine<'r, 'o, P> {
    pub(super) fn new(
        record: &'r Record,
        program: &'r Program,
        out: &'o mut Vec<u8>,
        start: usize,
        places: P,
        max_depth: usize,
    ) -> Self {
        let plan = record.plan.as_ref();
        Self {
            plan,
            program,
            slots: &record.slots,
            heap: &record.heap,
            at: 0,
            out,
            start,
            places,
            scope: Scope::new(plan, program),
            stack: Stack::new(),
            depth: 0,
            max_depth,
            clean: Clean::default(),
        }
    }

    /// Writes the root element with all its slots.
    pub(super) fn element(&mut self, root: ElementId) -> Result<()> {
        if let Some(pc) = self.start(root)? {
            self.run(pc)?;
        }
        self.end(root)
    }

    /// Writes the start of the root element, as far as its type's instructions do not. It is `None` if they are not to be
    /// run.
    pub(super) fn start(&mut self, root: ElementId) -> Result<Option<u32>> {
        let element = self
            .plan
            .elements
            .get(root.index())
            .ok_or(ErrorKind::Misfit)?;
        self.scope.enter();
        let (nil, ty) = if element.has_state {
            self.state(root)?.ok_or(ErrorKind::Misfit)?
        } else {
            (false, element.ty)
        };
        self.out.extend_from_slice(&element.open_tag);
        for &namespace in self.program.namespaces_of(self.plan, root) {
            self.scope.declare(namespace, self.out);
        }
        self.actual_type(element.ty, ty)?;
        if nil {
            self.nil(root)?;
            self.out.extend_from_slice(b">");
            Ok(None)
        } else {
            self.entry(ty).map(Some)
        }
    }

    /// Writes the end tag of the root element.
    pub(super) fn end(&mut self, root: ElementId) -> Result<()> {
        self.out
            .extend_from_slice(&self.plan.element(root).close_tag);
        if self.at == self.slots.len() {
            Ok(())
        } else {
            Err(ErrorKind::Misfit)
        }
    }

    /// Runs the instructions from `pc` until the root's type returns, or where the sink has it stop: before that
    /// instruction.
    pub(super) fn run(&mut self, mut pc: u32) -> Result<Option<Phase>> {
        let program = self.program;
        loop {
            if !P::STUFFS {
                pc = self.straight(pc);
            }
            if P::STOPS && self.is_to_stop(pc) {
                return Ok(Some(Phase::Before { pc }));
            }
            if P::LISTENS {
                self.places.instruction(pc);
            }
            let op = &program.ops[pc as usize];
            pc += 1;
            match *op {
                Op::Rows(table) if P::STOPS => {
                    let pc = pc - 1;
                    let table = &program.tables[table as usize];
                    if let Some(rows) = self.rows_in_pieces(pc, table, None)? {
                        return Ok(Some(Phase::Rows { pc, rows }));
                    }
                }
                Op::Return => match self.stack.pop() {
                    Some(Frame::Return(to)) => {
                        self.depth -= 1;
                        pc = to;
                    }
                    _ => return Ok(None),
                },
                ref op => pc = self.step(op, pc)?,
            }
        }
    }

    /// Runs one instruction. Returns which one is next, `pc` if it is the one that follows.
    #[inline]
    fn step(&mut self, op: &Op, pc: u32) -> Result<u32> {
        match *op {
            Op::Literal(span) => self.literal(span),
            Op::Text(before) => self.leaf_behind(before, Form::Text)?,
            Op::Signed(before) => self.leaf_behind(before, Form::Signed)?,
            Op::Double(before) => self.leaf_behind(before, Form::Double)?,
            Op::Leaf { before, form } => self.leaf_behind(before, form)?,
            Op::OptionalField(ref field) => self.optional_field(field)?,
            Op::NillableField {
                ref field,
                element,
                optional,
            } => self.nillable_field(field, element, optional)?,
            Op::Fragment => self.fragment()?,
            Op::Attribute { open, form } => self.attribute(open, form)?,
            Op::OptionalAttribute { open, form } => match self.next()? {
                marker::PRESENT => self.attribute(open, form)?,
                marker::ABSENT | marker::DEFAULTED => self.pass(form)?,
                _ => return Err(ErrorKind::Misfit),
            },
            Op::AnyAttribute => self.any_attribute()?,
            Op::DeclareNames(form) => self.declare_names(form)?,
            Op::Rows(table) => self.rows(&self.program.tables[table as usize])?,
            Op::Enter => self.scope.enter(),
            Op::Leave => self.scope.leave(),
            Op::Declare(element) => {
                for &namespace in self.program.namespaces_of(self.plan, element) {
                    self.scope.declare(namespace, self.out);
                }
            }
            ref turn => return self.turn(turn, pc),
        }
        Ok(pc)
    }

    /// Runs an instruction that may lead elsewhere.
    #[inline]
    fn turn(&mut self, op: &Op, pc: u32) -> Result<u32> {
        Ok(match *op {
            Op::Optional { absent } => {
                if self.is_present()? {
                    pc
                } else {
                    absent
                }
            }
            Op::OptionalValue { absent } => {
                if self.is_present()? {
                    pc
                } else {
                    self.next()?;
                    absent
                }
            }
            Op::State {
                element,
                done,
                scoped,
            }
            | Op::OptionalState {
                element,
                done,
                scoped,
            } => match self.state(element)? {
                Some(state) => self.enter(element, state, scoped, pc)?,
                None if matches!(op, Op::OptionalState { .. }) => {
                    if self.plan.element(element).is_scalar {
                        self.next()?;
                    }
                    done
                }
                None => return Err(ErrorKind::Misfit),
            },
            Op::Repeat { done } => match self.next()? {
                0 => done,
                count => {
                    if P::STOPS {
                        self.places.begin_loop(self.at - 1);
                    }
                    self.stack.push(Frame::Repeat(count));
                    pc
                }
            },
            Op::Again { before, body } => {
                self.literal(before);
                if let Some(Frame::Repeat(left @ 2..)) = self.stack.last_mut() {
                    *left -= 1;
                    return Ok(body);
                }
                if P::STOPS {
                    self.places.end_loop();
                }
                self.stack.pop();
                pc
            }
            Op::Choice { targets, count } => {
                let branch = self.next()?;
                if branch >= u64::from(count) {
                    return Err(ErrorKind::Misfit);
                }
                self.program.targets[targets as usize + branch as usize]
            }
            Op::Jump(to) => to,
            Op::Call(ty) => {
                self.call(pc)?;
                self.entry(ty)?
            }
            _ => return Err(ErrorKind::Misfit),
        })
    }

    fn entry(&self, ty: TypeId) -> Result<u32> {
        self.program
            .types
            .get(ty.index())
            .copied()
            .ok_or(ErrorKind::Misfit)
    }

    fn call(&mut self, back: u32) -> Result<()> {
        if self.depth >= self.max_depth {
            return Err(ErrorKind::Depth(self.max_depth));
        }
        self.depth += 1;
        self.stack.push(Frame::Return(back));
        Ok(())
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<u64> {
        let slot = *self.slots.get(self.at).ok_or(ErrorKind::Misfit)?;
        self.at += 1;
        Ok(slot)
    }

    fn is_present(&mut self) -> Result<bool> {
        match self.next()? {
            marker::ABSENT => Ok(false),
            marker::PRESENT => Ok(true),
            _ => Err(ErrorKind::Misfit),
        }
    }

    #[inline]
    pub(super) fn literal(&mut self, span: Span) {
        if P::STUFFS
            && !span.is_empty()
            && let Some(pad) = self.places.take_pad_behind()
        {
            return self.padded_literal(span, pad);
        }
        match self.program.padded(span) {
            Some((bytes, length)) => {
                // A copy of fixed size and a new length cost less than a copy of varying size.
                let end = self.out.len() + length;
                self.out.extend_from_slice(bytes);
                self.out.truncate(end);
            }
            None => self.out.extend_from_slice(self.program.literal(span)),
        }
    }

    /// Presence and actual type in a state marker; `None` if absent.
    fn state(&mut self, id: ElementId) -> Result<Option<(bool, TypeId)>> {
        let state = self.next()?;
        let element = self.plan.element(id);
        let nil = match marker::presence(state) {
            marker::ABSENT => return Ok(None),
            marker::PRESENT => false,
            marker::NIL if element.nillable => true,
            _ => return Err(ErrorKind::Misfit),
        };
        let ty = marker::actual_type(state);
        let admitted = ty == element.ty || self.plan.ty(element.ty).alternatives.contains(&ty);
        if admitted {
            Ok(Some((nil, ty)))
        } else {
            Err(ErrorKind::Misfit)
        }
    }

    /// Writes the start of an element with a state, as far as its type's instructions do not.
    fn enter(
        &mut self,
        id: ElementId,
        (nil, ty): (bool, TypeId),
        scoped: bool,
        pc: u32,
    ) -> Result<u32> {
        let element = self.plan.element(id);
        if scoped {
            self.scope.enter();
        }
        self.out.extend_from_slice(&element.open_tag);
        if scoped && self.program.is_scope[id.index()] {
            for &namespace in self.program.namespaces_of(self.plan, id) {
                self.scope.declare(namespace, self.out);
            }
        }
        self.actual_type(element.ty, ty)?;
        if nil {
            self.nil(id)?;
            self.out.extend_from_slice(b">");
            Ok(pc)
        } else {
            self.call(pc)?;
            self.entry(ty)
        }
    }

    /// `xsi:type`, where the actual type is not the declared one.
    fn actual_type(&mut self, declared: TypeId, actual: TypeId) -> Result<()> {
        if declared == actual {
            return Ok(());
        }
        let name = self.plan.ty(actual).name.ok_or(ErrorKind::Misfit)?;
        for &namespace in self.program.namespaces_of_type(self.plan, actual) {
            self.scope.declare(namespace, self.out);
        }
        self.scope.declare(self.program.xsi, self.out);
        let namespace = self.plan.vocabulary.namespace(name);
        self.scope.bind(namespace, self.out);
        self.xsi(b"type");
        self.prefixed(namespace, self.plan.vocabulary.local(name));
        self.out.push(b'"');
        Ok(())
    }

    /// `xsi:nil`, and past the value a scalar keeps.
    fn nil(&mut self, id: ElementId) -> Result<()> {
        self.scope.declare(self.program.xsi, self.out);
        self.xsi(b"nil");
        self.out.extend_from_slice(b"true\"");
        if self.plan.element(id).is_scalar {
            self.next()?;
        }
        Ok(())
    }

    fn xsi(&mut self, local: &[u8]) {
        self.out.push(b' ');
        self.out
            .extend_from_slice(self.program.xsi_prefix.as_bytes());
        self.out.push(b':');
        self.out.extend_from_slice(local);
        self.out.extend_from_slice(b"=\"");
    }

    fn prefixed(&mut self, namespace: &str, local: &str) {
        let prefix = self.scope.prefix(namespace).unwrap_or_default();
        if !prefix.is_empty() {
            self.out.extend_from_slice(prefix.as_bytes());
            self.out.push(b':');
        }
        self.out.extend_from_slice(local.as_bytes());
    }
}

/// Fields: scalars with their tags.
impl<P: Watch> Machine<'_, '_, P> {
    #[inline]
    fn optional_field(&mut self, field: &Field) -> Result<()> {
        self.literal(field.before);
        if !self.is_present()? {
            return self.next().map(drop);
        }
        self.literal(field.open);
        self.leaf(field.form)?;
        self.literal(field.close);
        Ok(())
    }

    fn nillable_field(&mut self, field: &Field, id: ElementId, optional: bool) -> Result<()> {
        self.literal(field.before);
        let Some((nil, _)) = self.state(id)? else {
            return if optional {
                self.next().map(drop)
            } else {
                Err(ErrorKind::Misfit)
            };
        };
        self.literal(field.open);
        if nil {
            self.nil(id)?;
        }
        self.out.push(b'>');
        if !nil {
            self.leaf(field.form)?;
        }
        self.literal(field.close);
        Ok(())
    }
}

/// Values.
impl<'r, P: Watch> Machine<'r, '_, P> {
    fn leaf_behind(&mut self, before: Span, form: Form) -> Result<()> {
        self.literal(before);
        self.leaf(form)
    }

    fn leaf(&mut self, form: Form) -> Result<()> {
        if let Form::List(item) = form {
            return self.list(item, false);
        }
        let slot = self.next()?;
        self.value(form, slot, false)
    }

    /// Writes one value and tells its place.
    fn value(&mut self, form: Form, slot: u64, in_attribute: bool) -> Result<()> {
        let begin = self.out.len();
        match form {
            Form::Text => {
                let text = self.octets(slot)?;
                if in_attribute {
                    escape::value(text, self.out)?;
                } else {
                    escape::text(text, self.out)?;
                }
            }
            Form::Base64 => binary::write_base64(self.octets(slot)?, self.out),
            Form::Hex => binary::write_hex(self.octets(slot)?, self.out),
            Form::Name => self.name(slot)?,
            Form::List(_) => return Err(ErrorKind::Misfit),
            _ => {
                let mut text = [0; 32];
                let length = number(form, slot, &mut text);
                self.out.extend_from_slice(&text);
                self.out.truncate(begin + length);
            }
        }
        if P::LISTENS {
            self.places.place(
                self.at - 1,
                (begin - self.start) as u64,
                self.out.len() - begin,
            );
            if P::STUFFS {
                self.pad();
            }
        }
        Ok(())
    }

    fn list(&mut self, item: LeafId, in_attribute: bool) -> Result<()> {
        let form = Form::of(self.plan.leaf(item).kind);
        let count = self.next()?;
        for index in 0..count {
            if index > 0 {
                self.out.push(b' ');
            }
            let slot = self.next()?;
            self.value(form, slot, in_attribute)?;
        }
        Ok(())
    }

    #[inline]
    fn octets(&self, slot: u64) -> Result<&'r [u8]> {
        let (start, length) = heap_range(slot);
        self.heap
            .get(start..start + length)
            .ok_or(ErrorKind::Misfit)
    }

    fn text(&self, slot: u64) -> Result<&'r str> {
        std::str::from_utf8(self.octets(slot)?).map_err(|_| ErrorKind::Misfit)
    }

    fn attribute(&mut self, open: Span, form: Form) -> Result<()> {
        self.names(form, |machine, uri| machine.scope.bind(uri, machine.out))?;
        self.literal(open);
        if let Form::List(item) = form {
            self.list(item, true)?;
        } else {
            let slot = self.next()?;
            self.value(form, slot, true)?;
        }
        self.out.push(b'"');
        Ok(())
    }

    /// Goes past the value of an attribute that is not written.
    fn pass(&mut self, form: Form) -> Result<()> {
        let first = self.next()?;
        let mut values = self.at - 1..self.at;
        let mut form = form;
        if let Form::List(item) = form {
            let items = usize::try_from(first).map_err(|_| ErrorKind::Misfit)?;
            values = self.at
                ..self
                    .at
                    .checked_add(items)
                    .filter(|&at| at <= self.slots.len())
                    .ok_or(ErrorKind::Misfit)?;
            self.at = values.end;
            form = Form::of(self.plan.leaf(item).kind);
        }
        if P::LISTENS && !form.is_number() {
            // What is absent has zero.
            for slot in values.filter(|&slot| self.slots[slot] != 0) {
                self.places.hidden(slot);
            }
        }
        Ok(())
    }

    fn fragment(&mut self) -> Result<()> {
        let slot = self.next()?;
        let begin = self.out.len();
        self.out.extend_from_slice(self.octets(slot)?);
        if P::LISTENS {
            self.places.place(
                self.at - 1,
                (begin - self.start) as u64,
                self.out.len() - begin,
            );
        }
        Ok(())
    }

    fn any_attribute(&mut self) -> Result<()> {
        let slot = self.next()?;
        if P::LISTENS {
            self.places.hidden(self.at - 1);
        }
        for kept in kept::attributes(self.text(slot)?).ok_or(ErrorKind::Fragment)? {
            self.scope.bind(&kept.namespace, self.out);
            if let Some((namespace, _)) = &kept.type_name {
                self.scope.bind(namespace, self.out);
            }
            self.out.push(b' ');
            self.prefixed(&kept.namespace, kept.local);
            self.out.extend_from_slice(b"=\"");
            match &kept.type_name {
                Some((namespace, local)) => self.prefixed(namespace, local),
                None => escape::value(kept.value().as_bytes(), self.out)?,
            }
            self.out.push(b'"');
        }
        Ok(())
    }

    fn declare_names(&mut self, form: Form) -> Result<()> {
        self.names(form, |machine, uri| machine.scope.bind(uri, machine.out))
    }

    /// Shows the namespaces of the QNames that come next, without going past them.
    fn names(&mut self, form: Form, mut see: impl FnMut(&mut Self, &str)) -> Result<()> {
        let slots = match form {
            Form::Name => self.slots.get(self.at..self.at + 1),
            Form::List(item) if self.plan.leaf(item).kind == LeafKind::Name => {
                let count = *self.slots.get(self.at).ok_or(ErrorKind::Misfit)?;
                let rest = &self.slots[self.at + 1..];
                usize::try_from(count)
                    .ok()
                    .and_then(|count| rest.get(..count))
            }
            _ => return Ok(()),
        };
        for &slot in slots.ok_or(ErrorKind::Misfit)? {
            let (namespace, _) = expanded(self.text(slot)?)?;
            see(self, namespace);
        }
        Ok(())
    }

    fn name(&mut self, slot: u64) -> Result<()> {
        let (namespace, local) = expanded(self.text(slot)?)?;
        self.prefixed(namespace, local);
        Ok(())
    }
}

/// Namespace and local name of `{namespace}local`, or of a local name alone.
fn expanded(name: &str) -> Result<(&str, &str)> {
    let (namespace, local) = crate::expanded::split(name).unwrap_or(("", name));
    if bsoap_xml::is_ncname(local) {
        Ok((namespace, local))
    } else {
        Err(ErrorKind::Name(name.to_owned()))
    }
}

/// Writes a number of at most 24 bytes and returns its length.
#[inline(always)]
pub(super) fn number(form: Form, slot: u64, out: &mut [u8; 32]) -> usize {
    match form {
        Form::Double => double::format(f64::from_bits(slot), out),
        Form::Float => float::format(f32::from_bits(slot as u32), out),
        Form::Signed => integer::format_i64(slot as i64, out),
        Form::Unsigned => integer::format_u64(slot, out),
        _ => {
            // Either as many bytes as the longer.
            out[..5].copy_from_slice(if slot == 0 { b"false" } else { b"true " });
            boolean::text(slot != 0).len()
        }
    }
}
