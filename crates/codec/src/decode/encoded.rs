//! What the slow path does for encoded messages: references to simple values, and arrays with omitted items. (SOAP 1.1 §5)
//!
//! A reference to a struct or an array is kept in the Record, and views resolve it. A column of numbers has no place for a
//! reference, so one to a simple value is replaced by the value when the message ends:
//!
//! ```text
//! <a href="#1"/> … <multiRef id="1" xsi:type="xsd:int">5</multiRef>
//! slot of a: 0, pending "1"    values: "1" → "5"                       at the end: slot of a = 5
//! ```
//!
//! An omitted item of an array (by `offset` or `position`) is nil; in an array of numbers it is 0, or NaN for floats and doubles.
//!
//! Such slots depend on other parts of the text. So nothing is learned from the tags around them, and the Record is
//! [linked](crate::Record::is_linked): a differential reader does not keep the message.

use std::collections::HashMap;

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::trim;
use bsoap_xml::Tag;

use super::builder::{Builder, Lexical};
use super::error::{Error, ErrorKind, bounded};
use super::frame::{Frame, GroupFrame};
use super::sink::Sink;
use crate::plan::{Content, Element, Encoded, LeafId, LeafKind, ParticleId};
use crate::record::marker;

/// What is remembered of an encoded message until it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Links {
    /// The texts of the simple values that have an id.
    values: HashMap<String, String>,
    /// The references to simple values.
    pending: Vec<Pending>,
    /// The id of the open element.
    current: Option<String>,
    /// The open arrays with several dimensions or an offset.
    arrays: Vec<OpenArray>,
    /// How many items have been omitted.
    omitted: usize,
}

/// A reference to a simple value.
#[derive(Clone, Debug, PartialEq)]
struct Pending {
    slot: usize,
    leaf: LeafId,
    id: String,
    path: String,
    offset: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct OpenArray {
    /// The level of its element on the stack.
    level: usize,
    sizes: Vec<u64>,
    offset: u64,
}

/// What an element of an encoded message is.
pub(super) enum Opened {
    /// A value.
    Value,
    /// A reference, which the Record keeps.
    Reference,
    /// A reference to this simple value.
    Simple(String),
}

impl<S: Sink> Builder<'_, S> {
    /// Reads what the attributes of an element's start tag say about references and positions. The element is the innermost
    /// frame already.
    pub(super) fn open_encoded(
        &mut self,
        element: &Element,
        encoded: &Encoded,
        particle: ParticleId,
        tag: &Tag<'_>,
    ) -> Result<Opened, Error> {
        let rules = &encoded.rules;
        if encoded.has_any_name {
            let position = rules.position.and_then(|name| tag.attribute(name));
            let position = position.map(|attribute| attribute.value().into_owned());
            self.skip_omitted(element, particle, position.as_deref(), tag.offset)?;
        }
        if tag.attributes().len() == 0 {
            return Ok(Opened::Value);
        }
        self.note_array(encoded, tag)?;
        let reference = self.plan.ty(rules.reference).attribute_ids().next();
        let reference = reference.and_then(|id| tag.attribute(self.plan.attribute(id).name));
        if let Some(reference) = reference {
            if encoded.may_refer {
                return Ok(Opened::Reference);
            }
            if element.is_scalar {
                self.link(tag.offset)?;
                let value = reference.value();
                return Ok(Opened::Simple(fragment_of(&value).to_owned()));
            }
        }
        let is_simple = element.is_scalar || self.plan.ty(element.ty).content == Content::Any;
        if let (Some(id), true) = (tag.attribute(rules.id), is_simple) {
            // Its value is noted at its end tag, which the fast path would not see.
            self.log.is_void = true;
            self.links().current = Some(id.value().into_owned());
        }
        Ok(Opened::Value)
    }

    fn links(&mut self) -> &mut Links {
        self.machine.links.get_or_insert_default()
    }

    /// Says that slots depend on other parts of the text. It is an error if only a part of the message is read.
    fn link(&mut self, offset: u64) -> Result<(), Error> {
        if !self.options.is_whole {
            return Err(Error::new(ErrorKind::UnexpectedEnd, self.path(), offset));
        }
        self.log.is_void = true;
        self.record.is_linked = true;
        Ok(())
    }

    /// Writes the slot of a reference to a simple value, which is filled in when the message ends.
    pub(super) fn push_pending(&mut self, leaf: LeafId, id: String, offset: u64) {
        let (slot, path) = (self.record.slots.len(), self.path());
        self.record.push(0);
        self.links().pending.push(Pending { slot, leaf, id, path, offset });
    }

    /// Notes the text of a simple value, if it has an id.
    #[inline]
    pub(super) fn note_simple(&mut self, text: &str) {
        if let Some(links) = &mut self.machine.links
            && let Some(id) = links.current.take()
        {
            links.values.entry(id).or_insert_with(|| text.to_owned());
        }
    }

    /// Fills in the references to simple values, at the end of the message.
    ///
    /// # Errors
    /// If no simple value has the id, or it is not of the type of the reference.
    pub(super) fn resolve_links(&mut self) -> Result<(), Error> {
        let Some(links) = self.machine.links.take() else {
            return Ok(());
        };
        let mut known: HashMap<(&str, LeafId), u64> = HashMap::new();
        let mut expanded = 0usize;
        for it in &links.pending {
            let fail = |kind| Error::new(kind, it.path.clone(), it.offset);
            let Some(text) = links.values.get(&it.id) else {
                return Err(fail(ErrorKind::DanglingReference(bounded(&it.id, 100))));
            };
            expanded = expanded.saturating_add(text.len());
            if expanded > self.options.reference_expansion {
                let limit = self.options.reference_expansion as u64;
                return Err(fail(ErrorKind::Limit { name: "reference_expansion", limit }));
            }
            let slot = match known.get(&(&*it.id, it.leaf)) {
                Some(&slot) => slot,
                None => {
                    let lexical = Lexical::of_schema(text, it.offset);
                    self.push_leaf(it.leaf, lexical, &NoNamespaces)
                        .map_err(|kind| fail(*kind))?;
                    let slot = self.record.slots.pop().unwrap_or_default();
                    known.insert((&it.id, it.leaf), slot);
                    slot
                }
            };
            self.fill(it.slot as u32, slot);
        }
        Ok(())
    }

    /// Notes an array whose items have positions that are not just their numbers.
    fn note_array(&mut self, encoded: &Encoded, tag: &Tag<'_>) -> Result<(), Error> {
        let Some(Frame::Element(frame)) = self.machine.frames.last() else {
            return Ok(());
        };
        let ty = self.plan.ty(self.plan.element(frame.element).ty);
        let mut size = ty.attribute_ids().filter(|&id| self.plan.is_array_size(id));
        let Some(size) = size.next() else {
            return Ok(());
        };
        let size = tag.attribute(self.plan.attribute(size).name);
        let sizes = size.map(|size| size_in(&size.value()).to_owned());
        let sizes = sizes.and_then(|size| numbers(&size)).unwrap_or_default();
        let offset = encoded.rules.offset.and_then(|name| tag.attribute(name));
        if offset.is_none() && sizes.len() < 2 {
            return Ok(());
        }
        let offset = match offset {
            Some(offset) => {
                self.link(tag.offset)?;
                self.index(&sizes, &offset.value(), tag.offset)?
            }
            None => 0,
        };
        let level = self.machine.frames.len();
        let links = self.links();
        links.arrays.retain(|array| array.level < level);
        links.arrays.push(OpenArray { level, sizes, offset });
        Ok(())
    }

    /// The number of the item that an index such as `[1,2]` names.
    fn index(&self, sizes: &[u64], text: &str, at: u64) -> Result<u64, Error> {
        let wrong = || {
            let kind = ErrorKind::ArrayIndex { found: bounded(text, 60), expected: "an index within the size of the array" };
            Error::new(kind, self.path(), at)
        };
        let indices = numbers(trim(text)).ok_or_else(wrong)?;
        if indices.len() == 1 && sizes.len() < 2 {
            return Ok(indices[0]);
        }
        if indices.len() != sizes.len() {
            return Err(wrong());
        }
        let item = indices.iter().zip(sizes).try_fold(0u64, |item, (&index, &size)| {
            (index < size).then_some(())?;
            item.checked_mul(size)?.checked_add(index)
        });
        item.ok_or_else(wrong)
    }

    /// Writes the items of an array that are omitted before the one that begins.
    fn skip_omitted(
        &mut self,
        element: &Element,
        particle: ParticleId,
        position: Option<&str>,
        at: u64,
    ) -> Result<(), Error> {
        if position.is_none() && self.machine.links.is_none() {
            return Ok(());
        }
        // The array's element, its items, the item.
        let Some(level) = self.machine.frames.len().checked_sub(2) else {
            return Ok(());
        };
        let Some(Frame::Group(group)) = self.machine.frames.get(level).copied() else {
            return Ok(());
        };
        if group.particle != particle {
            return Ok(());
        }
        let array = self.machine.links.as_ref().and_then(|links| links.arrays.last());
        let array = array.filter(|array| array.level == level).cloned();
        let (sizes, offset) = array.map_or((Vec::new(), 0), |array| (array.sizes, array.offset));
        let next = u64::from(group.count) - 1;
        let wanted = match position {
            Some(text) => self.index(&sizes, text, at)?,
            None if next == 0 => offset,
            None => return Ok(()),
        };
        let Some(missing) = wanted.checked_sub(next) else {
            let found = bounded(position.unwrap_or_default(), 60);
            let expected = "positions that increase";
            let kind = ErrorKind::ArrayIndex { found, expected };
            return Err(Error::new(kind, self.path(), at));
        };
        self.link(at)?;
        self.omit(element, group, level, missing, at)
    }

    /// Writes items that are omitted.
    fn omit(
        &mut self,
        element: &Element,
        mut group: GroupFrame,
        level: usize,
        missing: u64,
        at: u64,
    ) -> Result<(), Error> {
        let limit = self.options.omitted_items;
        let omitted = self.links().omitted as u64;
        if missing > (limit as u64).saturating_sub(omitted) {
            let kind = ErrorKind::Limit { name: "omitted_items", limit: limit as u64 };
            return Err(Error::new(kind, self.path(), at));
        }
        self.links().omitted += missing as usize;
        let mut slots = Vec::new();
        if element.has_state {
            slots.push(marker::state(marker::NIL, element.ty));
        }
        if element.is_scalar {
            slots.push(match self.plan.ty(element.ty).content {
                Content::Simple(leaf) if !element.has_state => nothing(self.plan.leaf(leaf).kind),
                _ => 0,
            });
        }
        for _ in 0..missing {
            self.record.slots.extend_from_slice(&slots);
        }
        group.count += missing as u32;
        if let Some(frame) = self.machine.frames.get_mut(level) {
            *frame = Frame::Group(group);
        }
        self.check_space(at)
    }
}

/// The value of a number that is omitted.
fn nothing(kind: LeafKind) -> u64 {
    match kind {
        LeafKind::Double => f64::NAN.to_bits(),
        LeafKind::Float => f32::NAN.to_bits().into(),
        _ => 0,
    }
}

/// The id that a reference names: `#id`, or `id` in SOAP 1.2.
pub(crate) fn fragment_of(reference: &str) -> &str {
    let reference = trim(reference);
    reference.strip_prefix('#').unwrap_or(reference)
}

/// The part of an array's type that is its size: `[2,3]` of `xsd:int[2,3]`. The sizes of SOAP 1.2 are `2 3`.
pub(crate) fn size_in(value: &str) -> &str {
    let value = trim(value);
    &value[value.rfind('[').unwrap_or(0)..]
}

/// The numbers of `[2,3]` or `2 3`. `None` if some are not numbers.
pub(crate) fn numbers(text: &str) -> Option<Vec<u64>> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let parse = |number: &str| trim(number).parse().ok();
    match inner {
        Some(inner) => inner.split(',').map(parse).collect(),
        None => text.split_whitespace().map(parse).collect(),
    }
}
