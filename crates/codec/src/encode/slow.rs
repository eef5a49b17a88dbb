//! The slow path: all that is more than copying into the window, and all errors.

use bsoap_datatypes::binary;
use bsoap_xml::NameId;

use crate::escape;
use crate::plan::program::{Action, Field, Form, LeafRef, Op, Span};
use crate::plan::{Content, ElementId, Encoded, LeafId, LeafKind, StatedType, TypeId};
use crate::record::kept;
use crate::record::{heap_range, marker};

use super::control::Control;
use super::error::{ErrorKind, Result};
use super::interpreter::{Interpreter, PadBehind};
use super::leaf::number;
use super::places::Places;
use super::state::EncoderFrame;

/// Instructions and elements.
impl<C: Control, P: Places> Interpreter<'_, '_, C, P> {
    /// Writes the start of the root element up to where its type's instructions begin, and returns the first of these;
    /// `None` if the element is nil.
    pub(super) fn start(&mut self, root: ElementId) -> Result<Option<u32>> {
        let plan = self.plan;
        let element = plan.elements.get(root.index()).ok_or(ErrorKind::Mismatch)?;
        self.scope.enter();
        let (nil, ty) = if element.has_state {
            self.state(root)?.ok_or(ErrorKind::Mismatch)?
        } else {
            (false, element.ty)
        };
        self.out.extend_from_slice(&element.open_tag);
        self.declare_all(root);
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
            Err(ErrorKind::Mismatch)
        }
    }

    /// Runs an instruction that the fast path left. Returns the next one.
    #[cold]
    pub(super) fn run_slow(&mut self, op: &Op, pc: u32) -> Result<u32> {
        match op.action {
            Action::Text => self.leaf(op, Form::Text)?,
            Action::Signed => self.leaf(op, Form::Signed)?,
            Action::Double => self.leaf(op, Form::Double)?,
            Action::Value(form) => self.leaf(op, form)?,
            Action::Field(field) => self.slow_field(op, &self.program.fields[field as usize])?,
            Action::Fragment => self.fragment(op.leaf)?,
            Action::Attribute(form) => self.slow_attribute(op, form)?,
            Action::OptionalAttribute(form) => match self.next()? {
                marker::PRESENT => self.slow_attribute(op, form)?,
                marker::ABSENT | marker::DEFAULTED => self.pass(form)?,
                _ => return Err(ErrorKind::Mismatch),
            },
            Action::AnyAttribute => self.any_attribute()?,
            Action::DeclareNames(form) => self.declare_names(form)?,
            Action::Declare(element) => self.declare_all(element),
            Action::Call { .. } if self.depth >= self.max_depth => {
                return Err(ErrorKind::Depth(self.max_depth));
            }
            Action::State {
                element,
                done,
                is_scope,
                is_optional,
            } => {
                return match self.state(element)? {
                    Some(state) => self.enter(element, state, is_scope, pc + 1),
                    None if is_optional => {
                        if self.plan.element(element).is_scalar {
                            self.next()?;
                        }
                        Ok(done)
                    }
                    None => Err(ErrorKind::Mismatch),
                };
            }
            _ => return Err(ErrorKind::Mismatch),
        }
        Ok(pc + 1)
    }

    fn entry(&self, ty: TypeId) -> Result<u32> {
        let entry = self.program.types.get(ty.index()).copied();
        entry.ok_or(ErrorKind::Mismatch)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<u64> {
        let slot = *self.slots.get(self.at).ok_or(ErrorKind::Mismatch)?;
        self.at += 1;
        Ok(slot)
    }

    pub(super) fn literal(&mut self, span: Span) {
        let bytes = self.program.literal(span);
        if bytes.is_empty() {
            return;
        }
        let PadBehind { close, spaces } = std::mem::take(&mut self.pad);
        let (close, rest) = bytes.split_at(if spaces > 0 {
            close.min(bytes.len())
        } else {
            0
        });
        self.out.extend_from_slice(close);
        self.spaces(spaces);
        self.out.extend_from_slice(rest);
    }

    fn spaces(&mut self, spaces: usize) {
        self.out.resize(self.out.len() + spaces, b' ');
    }

    /// Reads a state marker: whether the element is nil, and its actual type; `None` if it is absent.
    fn state(&mut self, id: ElementId) -> Result<Option<(bool, TypeId)>> {
        let state = self.next()?;
        let element = self.plan.element(id);
        let nil = match marker::presence(state) {
            marker::ABSENT => return Ok(None),
            marker::PRESENT => false,
            marker::NIL if element.nillable => true,
            _ => return Err(ErrorKind::Mismatch),
        };
        let ty = marker::actual_type(state);
        if self.plan.admits_type(id, ty) {
            Ok(Some((nil, ty)))
        } else {
            Err(ErrorKind::Mismatch)
        }
    }

    /// Writes the start of an element with a state up to where its type's instructions begin. Returns the first of these;
    /// `back` if there is nothing to run.
    fn enter(
        &mut self,
        id: ElementId,
        (nil, ty): (bool, TypeId),
        is_scope: bool,
        back: u32,
    ) -> Result<u32> {
        let element = self.plan.element(id);
        if is_scope {
            self.scope.enter();
        }
        self.out.extend_from_slice(&element.open_tag);
        if is_scope && self.program.is_scope[id.index()] {
            self.declare_all(id);
        }
        match self.plan.encoded(id) {
            Some(encoded) if encoded.stated_type == StatedType::Actual => {
                self.stated_type(encoded, ty)?;
            }
            _ => self.actual_type(element.ty, ty)?,
        }
        if nil {
            self.nil(id)?;
            self.out.push(b'>');
            return Ok(back);
        }
        if self.depth >= self.max_depth {
            return Err(ErrorKind::Depth(self.max_depth));
        }
        self.depth += 1;
        self.stack.push(EncoderFrame::Return(back));
        self.entry(ty)
    }

    fn declare_all(&mut self, element: ElementId) {
        for &namespace in self.program.namespaces_of(self.plan, element) {
            self.scope.declare(namespace, self.out);
        }
    }

    /// Writes `xsi:type` if the actual type is not the declared one.
    fn actual_type(&mut self, declared: TypeId, actual: TypeId) -> Result<()> {
        if declared == actual {
            return Ok(());
        }
        let name = self.plan.ty(actual).name.ok_or(ErrorKind::Mismatch)?;
        self.type_attribute(actual, name)
    }

    /// Writes the `xsi:type` of a value of an encoded message. A reference has none, and `anyType` keeps its own with its
    /// attributes.
    fn stated_type(&mut self, encoded: &Encoded, actual: TypeId) -> Result<()> {
        let ty = self.plan.ty(actual);
        match ty.name {
            Some(name) if actual != encoded.rules.reference && ty.content != Content::Any => {
                self.type_attribute(actual, name)
            }
            _ => Ok(()),
        }
    }

    fn type_attribute(&mut self, actual: TypeId, name: NameId) -> Result<()> {
        for &namespace in self.program.namespaces_of_type(self.plan, actual) {
            self.scope.declare(namespace, self.out);
        }
        self.scope.declare(self.program.xsi, self.out);
        // By number: texts of namespaces would be hashed for each value. (benchmark `encoded-out`)
        let vocabulary = &self.plan.vocabulary;
        let namespace = vocabulary.namespace_of(name);
        let prefix = self.scope.known_prefix(namespace);
        if !prefix.is_empty() {
            self.scope.declare(namespace, self.out);
        }
        self.xsi(b"type");
        write_name(prefix, vocabulary.local(name), self.out);
        self.out.push(b'"');
        Ok(())
    }

    /// Writes `xsi:nil`, and skips the slot of a scalar.
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
        write_name(prefix, local, self.out);
    }

    /// Writes a scalar with its tags, which may be absent or nil.
    fn slow_field(&mut self, op: &Op, field: &Field) -> Result<()> {
        let element = self.plan.element(field.element);
        self.literal(op.before.span);
        let nil = if element.has_state {
            self.state(field.element)?.map(|(nil, _)| nil)
        } else {
            match self.next()? {
                marker::ABSENT => None,
                marker::PRESENT => Some(false),
                _ => return Err(ErrorKind::Mismatch),
            }
        };
        match nil {
            None if field.is_optional => return self.next().map(drop),
            None => return Err(ErrorKind::Mismatch),
            Some(true) => {
                self.out.extend_from_slice(&element.open_tag);
                self.nil(field.element)?;
                self.out.push(b'>');
            }
            Some(false) => {
                self.literal(field.open.span);
                self.value_of(field.form, op.leaf)?;
            }
        }
        self.literal(field.close.span);
        Ok(())
    }
}

/// Values.
impl<'r, C: Control, P: Places> Interpreter<'r, '_, C, P> {
    fn leaf(&mut self, op: &Op, form: Form) -> Result<()> {
        self.literal(op.before.span);
        self.value_of(form, op.leaf)
    }

    fn value_of(&mut self, form: Form, leaf: LeafRef) -> Result<()> {
        if let Form::List(item) = form {
            return self.list(item, leaf, false);
        }
        let slot = self.next()?;
        self.value(form, leaf, slot, false)
    }

    /// Writes one value and reports its location.
    fn value(&mut self, form: Form, leaf: LeafRef, slot: u64, in_attribute: bool) -> Result<()> {
        let begin = self.out.len();
        match form {
            Form::Text if in_attribute => escape::value(self.octets(slot)?, self.out)?,
            Form::Text => escape::text(self.octets(slot)?, self.out)?,
            Form::Base64 => binary::write_base64(self.octets(slot)?, self.out),
            Form::Hex => binary::write_hex(self.octets(slot)?, self.out),
            Form::Name => {
                let (namespace, local) = expanded(self.str(slot)?)?;
                self.prefixed(namespace, local);
            }
            Form::List(_) => return Err(ErrorKind::Mismatch),
            _ => {
                let mut text = [0; 32];
                let length = number(form, slot, &mut text);
                self.out.extend_from_slice(&text[..length]);
            }
        }
        self.record(leaf, begin);
        Ok(())
    }

    /// Reports the location of the value that begins at `begin`, and pads it.
    fn record(&mut self, leaf: LeafRef, begin: usize) {
        let length = self.out.len() - begin;
        if leaf == LeafRef::NONE {
            self.places.hidden(self.at - 1);
            return;
        }
        let mut width = length;
        if C::STUFFS {
            let close;
            let asked = self.asked.take();
            (width, close) = asked.unwrap_or_else(|| self.control.width(leaf, length));
            let spaces = width - length;
            match close {
                Some(close) => self.pad = PadBehind { close, spaces },
                None => self.spaces(spaces),
            }
        }
        if P::LISTENS {
            let offset = begin - self.start;
            self.places.value(self.at - 1, offset, length, width, leaf);
        }
    }

    fn list(&mut self, item: LeafId, leaf: LeafRef, in_attribute: bool) -> Result<()> {
        let form = Form::of(self.plan.leaf(item).kind);
        let count = self.next()?;
        for index in 0..count {
            if index > 0 {
                self.out.push(b' ');
            }
            let slot = self.next()?;
            self.value(form, leaf, slot, in_attribute)?;
        }
        Ok(())
    }

    #[inline]
    fn octets(&self, slot: u64) -> Result<&'r [u8]> {
        let (start, length) = heap_range(slot);
        self.heap
            .get(start..start + length)
            .ok_or(ErrorKind::Mismatch)
    }

    fn str(&self, slot: u64) -> Result<&'r str> {
        std::str::from_utf8(self.octets(slot)?).map_err(|_| ErrorKind::Mismatch)
    }

    fn slow_attribute(&mut self, op: &Op, form: Form) -> Result<()> {
        self.declare_names(form)?;
        self.literal(op.before.span);
        if let Form::List(item) = form {
            self.list(item, op.leaf, true)?;
        } else {
            let slot = self.next()?;
            self.value(form, op.leaf, slot, true)?;
        }
        self.out.push(b'"');
        Ok(())
    }

    /// Skips the value of an attribute that is not written.
    fn pass(&mut self, form: Form) -> Result<()> {
        let first = self.next()?;
        let mut values = self.at - 1..self.at;
        let mut form = form;
        if let Form::List(item) = form {
            let items = usize::try_from(first).map_err(|_| ErrorKind::Mismatch)?;
            let end = self.at.checked_add(items);
            let end = end.filter(|&end| end <= self.slots.len());
            values = self.at..end.ok_or(ErrorKind::Mismatch)?;
            self.at = values.end;
            form = Form::of(self.plan.leaf(item).kind);
        }
        if P::LISTENS && !form.is_number() {
            // An absent value has a zero slot.
            for slot in values.filter(|&slot| self.slots[slot] != 0) {
                self.places.hidden(slot);
            }
        }
        Ok(())
    }

    fn fragment(&mut self, leaf: LeafRef) -> Result<()> {
        let slot = self.next()?;
        let begin = self.out.len();
        self.out.extend_from_slice(self.octets(slot)?);
        self.record(leaf, begin);
        Ok(())
    }

    fn any_attribute(&mut self) -> Result<()> {
        let slot = self.next()?;
        self.places.hidden(self.at - 1);
        for kept in kept::attributes(self.str(slot)?).ok_or(ErrorKind::Fragment)? {
            self.scope.bind(&kept.namespace, self.out);
            let type_name = match kept.is_type {
                true => crate::expanded::split(&kept.value).or(Some(("", &kept.value))),
                false => None,
            };
            if let Some((namespace, _)) = type_name {
                self.scope.bind(namespace, self.out);
            }
            self.out.push(b' ');
            self.prefixed(&kept.namespace, &kept.local);
            self.out.extend_from_slice(b"=\"");
            match type_name {
                Some((namespace, local)) => self.prefixed(namespace, local),
                None => escape::value(kept.value.as_bytes(), self.out)?,
            }
            self.out.push(b'"');
        }
        Ok(())
    }

    /// Declares the namespaces of the QNames that come next, without writing them.
    fn declare_names(&mut self, form: Form) -> Result<()> {
        let slots = match form {
            Form::Name => self.slots.get(self.at..self.at + 1),
            Form::List(item) if self.plan.leaf(item).kind == LeafKind::Name => {
                let count = *self.slots.get(self.at).ok_or(ErrorKind::Mismatch)?;
                let rest = &self.slots[self.at + 1..];
                let count = usize::try_from(count).ok();
                count.and_then(|count| rest.get(..count))
            }
            _ => return Ok(()),
        };
        for &slot in slots.ok_or(ErrorKind::Mismatch)? {
            let (namespace, _) = expanded(self.str(slot)?)?;
            self.scope.bind(namespace, self.out);
        }
        Ok(())
    }
}

/// Splits `{namespace}local`, or a local name alone, into namespace and local name.
fn expanded(name: &str) -> Result<(&str, &str)> {
    let (namespace, local) = crate::expanded::split(name).unwrap_or(("", name));
    if bsoap_xml::is_ncname(local) {
        Ok((namespace, local))
    } else {
        Err(ErrorKind::Name(name.to_owned()))
    }
}

/// Writes a name with a prefix; without, if that is empty.
fn write_name(prefix: &str, local: &str, out: &mut Vec<u8>) {
    if !prefix.is_empty() {
        out.extend_from_slice(prefix.as_bytes());
        out.push(b':');
    }
    out.extend_from_slice(local.as_bytes());
}
