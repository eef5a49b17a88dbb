//! How long a text can become, before it is written: so that its length can be announced while it is being sent, what is
//! missing at its end being white space. (Chiu et al., 2002)
//!
//! The same instructions as for writing, but numbers count as their widest lexical form, rows of them all at once, and
//! texts without anything to escape as what they are. Declarations count wherever they may be needed.

use bsoap_xml::{XML_NAMESPACE, scan};

use crate::expanded;
use crate::kept;
use crate::plan::{ElementId, LeafId, Plan, TypeId};
use crate::record::{Record, heap_range, marker};

use super::error::ErrorKind;
use super::escape;
use super::leaf::LeafForm;
use super::machine::{Frame, Result};
use super::program::{Field, Form, MAX_NUMBER, Op, Program, Span, Table, XSI};

/// The longest `q1`, `q2` … that stands for a namespace the Plan does not know.
const PREFIX: usize = "q4294967295".len();

pub(super) struct Bound<'r> {
    plan: &'r Plan,
    program: &'r Program,
    slots: &'r [u64],
    heap: &'r [u8],
    /// Whether nothing in the heap is to be escaped, wherever it stands.
    is_clean: bool,
    /// The next slot.
    pub(super) at: usize,
    length: usize,
    stack: Vec<Frame>,
    depth: usize,
    max_depth: usize,
}

impl<'r> Bound<'r> {
    pub(super) fn new(record: &'r Record, max_depth: usize) -> Self {
        Self {
            plan: &record.plan,
            program: record.plan.program(),
            slots: &record.slots,
            heap: &record.heap,
            is_clean: scan::find_value_escape(&record.heap) == record.heap.len(),
            at: 0,
            length: 0,
            stack: Vec::new(),
            depth: 0,
            max_depth,
        }
    }

    /// Bytes the element takes at most.
    pub(super) fn element(&mut self, root: ElementId) -> Result<usize> {
        let element = self
            .plan
            .elements
            .get(root.index())
            .ok_or(ErrorKind::Misfit)?;
        self.add(element.open_tag.len() + element.close_tag.len());
        self.declarations_of(root);
        let (nil, ty) = if element.has_state {
            self.state(root)?.ok_or(ErrorKind::Misfit)?
        } else {
            (false, element.ty)
        };
        self.actual_type(element.ty, ty)?;
        if nil {
            self.nil(root)?;
        } else {
            let pc = self.entry(ty)?;
            self.run(pc)?;
        }
        if self.at == self.slots.len() {
            Ok(self.length)
        } else {
            Err(ErrorKind::Misfit)
        }
    }

    #[inline]
    fn add(&mut self, bytes: usize) {
        self.length = self.length.saturating_add(bytes);
    }

    /// Runs the instructions from `pc` until the root's type returns.
    fn run(&mut self, mut pc: u32) -> Result<()> {
        let program = self.program;
        loop {
            let op = program.ops.get(pc as usize).ok_or(ErrorKind::Misfit)?;
            let here = pc;
            pc += 1;
            match *op {
                Op::Literal(span) => self.add(span.len()),
                Op::Text(before) => self.leaf(here, before, Form::Text)?,
                Op::Signed(before) => self.leaf(here, before, Form::Signed)?,
                Op::Double(before) => self.leaf(here, before, Form::Double)?,
                Op::Leaf { before, form } => self.leaf(here, before, form)?,
                Op::OptionalField(ref field) => {
                    if self.is_present(field.before)? {
                        self.field(here, field)?;
                    } else {
                        self.next()?;
                    }
                }
                Op::NillableField {
                    ref field,
                    element,
                    optional,
                } => self.nillable(here, field, element, optional)?,
                Op::Fragment => {
                    let octets = self.octets()?;
                    self.add(octets.len());
                }
                Op::Attribute { open, form } => self.attribute(here, open, form)?,
                Op::OptionalAttribute { open, form } => match self.next()? {
                    marker::PRESENT => self.attribute(here, open, form)?,
                    marker::ABSENT | marker::DEFAULTED => self.pass(form)?,
                    _ => return Err(ErrorKind::Misfit),
                },
                Op::AnyAttribute => self.any_attribute()?,
                Op::DeclareNames(form) => self.declare_names(form)?,
                Op::Optional { absent } => {
                    if !self.is_present(Span::default())? {
                        pc = absent;
                    }
                }
                Op::OptionalValue { absent } => {
                    if !self.is_present(Span::default())? {
                        self.next()?;
                        pc = absent;
                    }
                }
                Op::State { element, done, .. } => pc = self.enter(element, pc, done, false)?,
                Op::OptionalState { element, done, .. } => {
                    pc = self.enter(element, pc, done, true)?;
                }
                Op::Repeat { done } => match self.next()? {
                    0 => pc = done,
                    count => self.stack.push(Frame::Repeat(count)),
                },
                Op::Again { before, body } => {
                    self.add(before.len());
                    match self.stack.last_mut() {
                        Some(Frame::Repeat(left @ 2..)) => {
                            *left -= 1;
                            pc = body;
                        }
                        _ => drop(self.stack.pop()),
                    }
                }
                Op::Choice { targets, count } => {
                    let branch = self.next()?;
                    if branch >= u64::from(count) {
                        return Err(ErrorKind::Misfit);
                    }
                    pc = program.targets[targets as usize + branch as usize];
                }
                Op::Rows(table) => self.rows(&program.tables[table as usize])?,
                Op::Jump(to) => pc = to,
                Op::Call(ty) => pc = self.call(ty, pc)?,
                Op::Return => match self.stack.pop() {
                    Some(Frame::Return(to)) => {
                        self.depth -= 1;
                        pc = to;
                    }
                    _ => return Ok(()),
                },
                Op::Enter | Op::Leave => {}
                Op::Declare(element) => self.declarations_of(element),
                Op::Misfit => return Err(ErrorKind::Misfit),
            }
        }
    }

    fn entry(&self, ty: TypeId) -> Result<u32> {
        let entry = self.program.types.get(ty.index());
        entry.copied().ok_or(ErrorKind::Misfit)
    }

    fn call(&mut self, ty: TypeId, back: u32) -> Result<u32> {
        if self.depth >= self.max_depth {
            return Err(ErrorKind::Depth(self.max_depth));
        }
        self.depth += 1;
        self.stack.push(Frame::Return(back));
        self.entry(ty)
    }

    #[inline]
    fn next(&mut self) -> Result<u64> {
        let slot = *self.slots.get(self.at).ok_or(ErrorKind::Misfit)?;
        self.at += 1;
        Ok(slot)
    }

    fn is_present(&mut self, before: Span) -> Result<bool> {
        self.add(before.len());
        match self.next()? {
            marker::ABSENT => Ok(false),
            marker::PRESENT => Ok(true),
            _ => Err(ErrorKind::Misfit),
        }
    }

    /// Past the value of an attribute that is not written.
    fn pass(&mut self, form: Form) -> Result<()> {
        let first = self.next()?;
        if let Form::List(_) = form {
            let items = usize::try_from(first).map_err(|_| ErrorKind::Misfit)?;
            self.take(items)?;
        }
        Ok(())
    }

    /// The next slots.
    fn take(&mut self, count: usize) -> Result<&'r [u64]> {
        let end = self.at.checked_add(count).ok_or(ErrorKind::Misfit)?;
        let slots = self.slots.get(self.at..end).ok_or(ErrorKind::Misfit)?;
        self.at = end;
        Ok(slots)
    }
}

/// Elements that depend on a marker.
impl Bound<'_> {
    fn state(&mut self, id: ElementId) -> Result<Option<(bool, TypeId)>> {
        let state = self.next()?;
        let nil = match marker::presence(state) {
            marker::ABSENT => return Ok(None),
            marker::PRESENT => false,
            marker::NIL if self.plan.element(id).nillable => true,
            _ => return Err(ErrorKind::Misfit),
        };
        Ok(Some((nil, marker::actual_type(state))))
    }

    fn enter(&mut self, id: ElementId, pc: u32, done: u32, optional: bool) -> Result<u32> {
        let element = self.plan.element(id);
        match self.state(id)? {
            Some((nil, ty)) => {
                self.add(element.open_tag.len());
                if self.program.is_scope[id.index()] {
                    self.declarations_of(id);
                }
                self.actual_type(element.ty, ty)?;
                if nil {
                    self.nil(id).map(|()| pc)
                } else {
                    self.call(ty, pc)
                }
            }
            None if optional => {
                if element.is_scalar {
                    self.next()?;
                }
                Ok(done)
            }
            None => Err(ErrorKind::Misfit),
        }
    }

    fn actual_type(&mut self, declared: TypeId, actual: TypeId) -> Result<()> {
        if declared == actual {
            return Ok(());
        }
        let ty = self.plan.types.get(actual.index());
        let name = ty.and_then(|ty| ty.name).ok_or(ErrorKind::Misfit)?;
        for namespace in self.program.namespaces_of_type(self.plan, actual) {
            self.add(self.program.declarations[namespace.0 as usize].len());
        }
        let namespace = self.plan.vocabulary.namespace(name);
        self.xsi("type");
        self.declared(namespace);
        self.prefixed(namespace, self.plan.vocabulary.local(name));
        Ok(())
    }

    /// `xsi:nil` and the end of the start tag, and past the value a scalar keeps.
    fn nil(&mut self, id: ElementId) -> Result<()> {
        self.xsi("nil");
        self.add("true>".len());
        if self.plan.element(id).is_scalar {
            self.next()?;
        }
        Ok(())
    }

    /// An attribute of [`XSI`], without its value.
    fn xsi(&mut self, local: &str) {
        self.declared(XSI);
        self.prefixed(XSI, local);
        self.add(" =\"\"".len());
    }

    fn declarations_of(&mut self, id: ElementId) {
        for namespace in self.program.namespaces_of(self.plan, id) {
            self.add(self.program.declarations[namespace.0 as usize].len());
        }
    }

    /// A declaration of the namespace.
    fn declared(&mut self, uri: &str) {
        let length = match self.namespace(uri) {
            _ if uri.is_empty() || uri == XML_NAMESPACE => 0,
            Some(id) => self.program.declarations[id].len(),
            None => " xmlns:=\"\"".len() + PREFIX + escape::value_bound(uri.as_bytes()),
        };
        self.add(length);
    }

    /// The name with a prefix for its namespace.
    fn prefixed(&mut self, uri: &str, local: &str) {
        let prefix = match self.namespace(uri) {
            _ if uri.is_empty() => 0,
            // The declaration has the prefix in it.
            Some(id) => self.program.declarations[id].len().max("xml".len()),
            None => PREFIX,
        };
        self.add(prefix + ":".len() + local.len());
    }

    fn namespace(&self, uri: &str) -> Option<usize> {
        let id = if uri == XSI {
            Some(self.program.xsi)
        } else {
            self.plan.vocabulary.namespace_id(uri)
        };
        id.map(|id| id.0 as usize)
    }
}

/// Values.
impl<'r> Bound<'r> {
    fn leaf(&mut self, pc: u32, before: Span, form: Form) -> Result<()> {
        self.add(before.len());
        if let Form::List(item) = form {
            self.list(pc, item, false)
        } else {
            let slot = self.next()?;
            self.value(pc, form, slot, false)
        }
    }

    fn field(&mut self, pc: u32, field: &Field) -> Result<()> {
        self.add(field.close.len());
        self.leaf(pc, field.open, field.form)
    }

    fn nillable(&mut self, pc: u32, field: &Field, id: ElementId, optional: bool) -> Result<()> {
        self.add(field.before.len());
        match self.state(id)? {
            Some((true, _)) => {
                self.add(field.open.len() + field.close.len());
                self.nil(id)
            }
            Some((false, _)) => {
                self.add(">".len());
                self.field(pc, field)
            }
            None if optional => self.next().map(drop),
            None => Err(ErrorKind::Misfit),
        }
    }

    fn attribute(&mut self, pc: u32, open: Span, form: Form) -> Result<()> {
        self.declare_names(form)?;
        self.add(open.len() + "\"".len());
        if let Form::List(item) = form {
            self.list(pc, item, true)
        } else {
            let slot = self.next()?;
            self.value(pc, form, slot, true)
        }
    }

    fn list(&mut self, pc: u32, item: LeafId, in_attribute: bool) -> Result<()> {
        let form = Form::of(self.plan.leaf(item).kind);
        let count = self.next()?;
        let items = self.take(usize::try_from(count).map_err(|_| ErrorKind::Misfit)?)?;
        self.add(items.len());
        for &slot in items {
            self.value(pc, form, slot, in_attribute)?;
        }
        Ok(())
    }

    #[inline]
    fn value(&mut self, pc: u32, form: Form, slot: u64, in_attribute: bool) -> Result<()> {
        let length = match form {
            Form::Text => {
                let text = self.at_slot(slot)?;
                match in_attribute {
                    _ if self.is_clean => text.len(),
                    true => escape::value_bound(text),
                    false => escape::text_bound(text),
                }
            }
            Form::Base64 => self.at_slot(slot)?.len().div_ceil(3) * 4,
            Form::Hex => self.at_slot(slot)?.len() * 2,
            Form::Name => {
                let (namespace, local) = self.name(slot)?;
                self.prefixed(namespace, local);
                0
            }
            Form::List(_) => return Err(ErrorKind::Misfit),
            _ => self.widest(pc),
        };
        self.add(length);
        Ok(())
    }

    /// The longest lexical form of a number.
    #[inline]
    fn widest(&self, pc: u32) -> usize {
        let leaf = self.program.leaf_of(pc);
        let form = leaf.and_then(|leaf| self.program.form(leaf));
        form.and_then(LeafForm::widest).unwrap_or(MAX_NUMBER)
    }

    fn rows(&mut self, table: &Table) -> Result<()> {
        let count = usize::try_from(self.next()?).map_err(|_| ErrorKind::Misfit)?;
        let slots = count.checked_mul(table.cells.len());
        self.take(slots.ok_or(ErrorKind::Misfit)?)?;
        if count > 0 {
            let row = self.program.bytes_of_row(table);
            self.add(row.saturating_mul(count));
        }
        Ok(())
    }

    fn octets(&mut self) -> Result<&'r [u8]> {
        let slot = self.next()?;
        self.at_slot(slot)
    }

    fn at_slot(&self, slot: u64) -> Result<&'r [u8]> {
        let (start, length) = heap_range(slot);
        let octets = self.heap.get(start..start + length);
        octets.ok_or(ErrorKind::Misfit)
    }

    /// Namespace and local name of a QName.
    fn name(&self, slot: u64) -> Result<(&'r str, &'r str)> {
        let name = std::str::from_utf8(self.at_slot(slot)?).map_err(|_| ErrorKind::Misfit)?;
        Ok(expanded::split(name).unwrap_or(("", name)))
    }

    /// Declarations of the QNames that come next.
    fn declare_names(&mut self, form: Form) -> Result<()> {
        let at = self.at;
        let names = match form {
            Form::Name => self.take(1)?,
            Form::List(item) if Form::of(self.plan.leaf(item).kind) == Form::Name => {
                let count = usize::try_from(self.next()?).map_err(|_| ErrorKind::Misfit)?;
                self.take(count)?
            }
            _ => &[],
        };
        self.at = at;
        for &slot in names {
            let (namespace, _) = self.name(slot)?;
            self.declared(namespace);
        }
        Ok(())
    }

    fn any_attribute(&mut self) -> Result<()> {
        let text = std::str::from_utf8(self.octets()?).map_err(|_| ErrorKind::Misfit)?;
        for kept in kept::attributes(text).ok_or(ErrorKind::Fragment)? {
            self.declared(&kept.namespace);
            self.prefixed(&kept.namespace, kept.local);
            self.add(" =\"\"".len());
            match &kept.type_name {
                Some((namespace, local)) => {
                    self.declared(namespace);
                    self.prefixed(namespace, local);
                }
                None => self.add(escape::value_bound(kept.value().as_bytes())),
            }
        }
        Ok(())
    }
}
