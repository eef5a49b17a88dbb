//! The slow path: turns tags and text into slots, one event of the reader at a time.

use bsoap_datatypes::{NamespaceContext, is_white_space};
use bsoap_xml::{EndTag, Tag, Text};

use super::sink::Sink;
use crate::plan::{
    Content, Element, ElementId, LeafId, ParticleId, Plan, Role, Term, Type, TypeId,
};
use crate::record::{Record, heap_slot, marker};

use super::content::Sought;
use super::declared;
use super::encoded::{Opened, array_type};
use super::error::{Error, ErrorKind, Name, Violation, bounded};
use super::fragment::Fragment;
use super::frame::{ElementFrame, Frame, GroupFrame, Inside, Machine, NO_PARTICLE, Target};
use super::leaf;
use super::leaf::Wrong;
use super::options::{DecodeOptions, Validation};
use super::place::Until;
use super::skeleton::{Log, LoggedValue, Written};
use super::space::{Overrun, Space};
use super::tolerance::Deviation;
use super::trace::Site;
use super::undeclared::{Outer, path_of};
use super::warning::Warning;

/// Fills a Record from events.
pub(super) struct Builder<'r, S> {
    pub(super) plan: &'r Plan,
    pub(super) options: &'r DecodeOptions,
    /// How large the Record may become.
    pub(super) space: Space,
    /// Where it became larger than the part of the text known by then allows.
    pub(super) overruns: &'r mut Vec<Overrun>,
    /// Whether the last list was one of these places.
    pub(super) is_long_list: bool,
    pub(super) machine: &'r mut Machine,
    pub(super) record: &'r mut Record,
    /// What the root element is inside of, if it is checked within a message.
    pub(super) outer: Option<Outer<'r>>,
    pub(super) sink: S,
    /// The violations found so far, if they are collected instead of ending the decoding.
    pub(super) violations: Option<&'r mut Vec<Violation>>,
    /// The deviations that were accepted in the last value, and are not warnings of the Record yet.
    pub(super) deviations: Vec<(Deviation, ErrorKind)>,
    /// Where decoding is to stop.
    pub(super) until: Until,
    /// What the slow path did, for the fast path to learn from.
    pub(super) log: &'r mut Log,
}

/// The lexical form of a value, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexical<'a> {
    pub(super) text: &'a str,
    /// Where it begins in the message.
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) location: FormLocation,
}

/// What kind of location a lexical form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormLocation {
    /// The whole content of an element, from its start tag to its end tag.
    Content,
    /// The whole value of an attribute.
    Attribute,
    /// In the message, but its own text is not enough to read its value: it is part of a list, or was put together from
    /// pieces.
    Somewhere,
    /// Not in the message: it comes from the schema.
    Nowhere,
}

impl<'a> Lexical<'a> {
    /// A value that comes from the schema.
    pub(super) fn of_schema(text: &'a str, at: u64) -> Self {
        Self {
            text,
            from: at,
            to: at,
            location: FormLocation::Nowhere,
        }
    }
}

/// The namespace bindings that apply to the values in a start tag.
pub(super) struct InTag<'a, 'e>(pub(super) &'a Tag<'e>);

impl NamespaceContext for InTag<'_, '_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.0.resolve(prefix).map(|namespace| namespace.uri)
    }
}

/// The namespace bindings inside the element that an end tag closes.
struct InEnd<'a, 'e>(&'a EndTag<'e>);

impl NamespaceContext for InEnd<'_, '_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.0.resolve(prefix).map(|namespace| namespace.uri)
    }
}

impl<S: Sink> Builder<'_, S> {
    /// Whether the place to stop at has been reached, if the decoder is between two tags.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.record.slots.len() >= self.until.slots && self.machine.frames.len() <= self.until.depth
    }

    /// Reports a violation. Returns it as an error, unless violations are collected.
    #[cold]
    pub(super) fn report(&mut self, kind: ErrorKind, offset: u64) -> Result<(), Error> {
        let path = self.path();
        self.report_at(kind, path, offset)
    }

    #[cold]
    pub(super) fn report_at(
        &mut self,
        kind: ErrorKind,
        path: String,
        offset: u64,
    ) -> Result<(), Error> {
        self.refuse(Error::new(kind, path, offset))
    }

    #[cold]
    pub(super) fn refuse(&mut self, error: Error) -> Result<(), Error> {
        match &mut self.violations {
            Some(violations) if violations.len() < self.options.violations => {
                violations.push(error);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// The number of warnings kept so far.
    pub(super) fn warnings(&self) -> usize {
        self.record.warnings.len() + self.deviations.len()
    }

    /// Whether another warning is kept.
    fn has_space_for_warning(&self) -> bool {
        let before = self.outer.as_ref().map_or(0, |outer| outer.warnings);
        before + self.warnings() < self.options.warnings.max(1)
    }

    /// Accepts a deviation in a value, if the options do: whoever reads the value [warns](Self::warn_of_value) about it, or removes
    /// the value. Otherwise it is an error.
    #[cold]
    pub(super) fn accept(&mut self, deviation: Deviation, kind: ErrorKind) -> Result<(), Wrong> {
        if !self.options.accepted.contains(deviation) {
            return Err(Wrong::new(kind));
        }
        // A value that is no node of its own becomes part of a gap, which is followed without a warning.
        self.log.is_void = true;
        if self.has_space_for_warning() {
            self.deviations.push((deviation, kind));
        }
        Ok(())
    }

    /// Turns the deviations in the value that begins at an offset into warnings; `attribute` is its name if it is an attribute.
    #[cold]
    pub(super) fn warn_of_value(&mut self, attribute: Option<&str>, offset: u64) {
        let path = match attribute {
            Some(name) => format!("{}/@{name}", self.path()),
            None => self.path(),
        };
        for (deviation, kind) in std::mem::take(&mut self.deviations) {
            let error = Error::new(kind, path.clone(), offset);
            self.record.warnings.push(Warning::new(deviation, error));
        }
    }

    /// Reports a deviation in markup: as a warning if the options accept it, as a violation otherwise.
    #[cold]
    pub(super) fn deviate(&mut self, deviation: Deviation, error: Error) -> Result<(), Error> {
        if !self.options.accepted.contains(deviation) {
            return self.refuse(error);
        }
        // What is learned is followed without a warning.
        self.log.is_void = true;
        if self.has_space_for_warning() {
            self.record.warnings.push(Warning::new(deviation, error));
        }
        Ok(())
    }

    /// The path of the open elements, such as `/Envelope/Body/order/item[3]`.
    #[cold]
    pub(super) fn path(&self) -> String {
        let frames = &self.machine.frames;
        match &self.outer {
            None => path_of(self.plan, frames, &[]),
            Some(outer) => {
                path_of(self.plan, outer.frames, &[]) + &path_of(self.plan, frames, outer.names)
            }
        }
    }

    /// Handles a start tag.
    pub(super) fn start_tag(&mut self, tag: &Tag<'_>) -> Result<(), Error> {
        let machine = &mut *self.machine;
        if machine.skipping > 0 {
            machine.skipping += 1;
            return Ok(());
        }
        if let Some(fragment) = &mut machine.fragment {
            fragment.start(tag);
            return self.check(|check| check.start_tag(tag));
        }
        // If an element inside a leaf is skipped, the text of the leaf goes on behind it.
        let is_leaf = matches!(machine.inside(), Some(Inside::Leaf(_)));
        if machine.text.begun && !is_leaf {
            self.end_text(tag.offset)?;
        }
        self.check_space(tag.offset)?;
        if self.machine.frames.is_empty() {
            return self.start_root(tag);
        }
        let sought = match tag.name {
            Some(name) => Sought::Known(name),
            None => Sought::Unknown(tag.namespace()),
        };
        if !self.machine.accepts(self.plan, sought) {
            return self.unexpected(tag);
        }
        if self.lacks_declaration(sought, tag) {
            return self.undeclared(tag);
        }
        let Some(target) = self.enter(sought) else {
            return self.unexpected(tag);
        };
        self.mark_item(target);
        match target {
            Target::Element {
                element,
                particle,
                optional,
            } => self.open(element, particle, optional, tag),
            Target::Any { particle } => self.start_any(particle, tag),
        }
    }

    fn start_root(&mut self, tag: &Tag<'_>) -> Result<(), Error> {
        let root = self.machine.root;
        let expected = self.plan.element(root).name;
        if tag.name != Some(expected) && self.plan.undeclared != Some(root) {
            let kind = ErrorKind::RootMismatch {
                found: Name::new(tag.namespace(), tag.local()),
                expected: Name::known(self.plan, expected),
            };
            let is_other_version = match &kind {
                ErrorKind::RootMismatch { found, expected } => {
                    declared::is_envelope_of_soap(found, expected)
                }
                _ => false,
            };
            let deviation = is_other_version.then_some(Deviation::OtherVersion);
            return Err(Error::new(kind, String::new(), tag.offset).about(deviation));
        }
        self.note_name(tag);
        self.open(root, NO_PARTICLE, false, tag)
    }

    #[cold]
    fn unexpected(&mut self, tag: &Tag<'_>) -> Result<(), Error> {
        let plan = self.plan;
        let deviation = match self.innermost() {
            Some(frame) => declared::deviation_of_name(plan, frame.ty, tag.name, tag.local()),
            None => Deviation::UnknownElement,
        };
        // Beside items of the right name it is none.
        let has_items =
            matches!(self.machine.frames.last(), Some(Frame::Group(group)) if group.count > 0);
        let is_unknown = deviation == Deviation::UnknownElement;
        let is_skipped = is_unknown && self.options.accepted.contains(deviation);
        let is_start_of_body = self.is_at_start_of_body();
        // What may come here is only looked up for somebody who reads it.
        if is_skipped && !is_start_of_body && !self.has_space_for_warning() {
            self.log.is_void = true;
            self.machine.skipping = 1;
            return Ok(());
        }
        let expected = self.machine.expected(plan);
        let found = Name::new(tag.namespace(), tag.local());
        let kind = ErrorKind::Unexpected { found, expected };
        let error = Error::new(kind, self.path(), tag.offset);
        if is_unknown && is_start_of_body {
            self.refuse(error.of_no_mode())?;
            self.machine.skipping = 1;
            return Ok(());
        }
        let is_item = deviation == Deviation::OtherItemName;
        let deviation = match is_item && has_items && self.is_array() {
            true => Deviation::UnknownElement,
            false => deviation,
        };
        let accepted = self.options.accepted;
        match accepted.contains(deviation) || !accepted.contains(Deviation::UnknownElement) {
            // What is accepted is read from a rewritten message.
            true if deviation != Deviation::UnknownElement => {
                self.refuse(error.about(Some(deviation)))?;
            }
            _ => self.deviate(Deviation::UnknownElement, error)?,
        }
        self.machine.skipping = 1;
        Ok(())
    }

    /// Whether the next element is the first in the Body of SOAP: it says what the message is, so it cannot be skipped.
    fn is_at_start_of_body(&self) -> bool {
        let is_body = |frame: &ElementFrame| {
            let element = self.plan.element(frame.element);
            element.role == Role::Soap && self.plan.vocabulary().local(element.name) == "Body"
        };
        matches!(self.machine.frames.last(), Some(Frame::Element(frame))
            if is_body(frame) && matches!(frame.inside, Inside::Model { entered: false, .. }))
    }

    /// Whether the innermost group is one element that repeats.
    fn is_array(&self) -> bool {
        match self.machine.frames.last() {
            Some(Frame::Group(group)) => {
                matches!(self.plan.particle(group.particle).term, Term::Element(_))
            }
            _ => false,
        }
    }

    /// Adds the marker of an element in mixed content: it is an item there, and the marker says which.
    #[inline]
    fn mark_item(&mut self, target: Target) {
        let is_item = match self.machine.frames.last() {
            Some(Frame::Element(frame)) => matches!(frame.inside, Inside::Mixed { .. }),
            Some(Frame::Group(group)) => group.silent,
            None => false,
        };
        if !is_item {
            return;
        }
        let (Target::Element { particle, .. } | Target::Any { particle }) = target;
        let plan = self.plan;
        let Some(frame) = self.innermost() else {
            return;
        };
        let Inside::Mixed { items, .. } = &mut frame.inside else {
            return;
        };
        *items += 1;
        let ty = frame.ty;
        let Content::Mixed { elements, .. } = &plan.ty(ty).content else {
            return;
        };
        let index = plan
            .group(elements)
            .iter()
            .position(|&known| known == particle)
            .unwrap_or_default();
        self.record.push(1 + index as u64);
    }

    /// The innermost open element.
    pub(super) fn innermost(&mut self) -> Option<&mut ElementFrame> {
        self.machine.frames.innermost_mut()
    }

    /// Opens an element of the Plan: its markers, its attributes, its frame.
    pub(super) fn open(
        &mut self,
        id: ElementId,
        particle: ParticleId,
        optional: bool,
        tag: &Tag<'_>,
    ) -> Result<(), Error> {
        let plan = self.plan;
        let element = plan.element(id);
        // The element is open before its attributes are read, so that errors in them have its path.
        let frame = ElementFrame {
            element: id,
            particle,
            ty: element.ty,
            inside: Inside::Empty,
        };
        self.machine.frames.push(Frame::Element(frame));
        let has_attributes = tag.attributes().len() > 0;
        let (nil, ty) = if has_attributes {
            self.instance_attributes(element, tag)?
        } else {
            (false, element.ty)
        };
        if element.is_abstract {
            let name = Name::known(plan, element.name);
            self.report(ErrorKind::AbstractElement(name), tag.offset)?;
        }
        if plan.ty(ty).is_abstract {
            self.report(ErrorKind::AbstractType(type_name(plan, ty)), tag.offset)?;
        }
        let (mut opened, mut ty) = (Opened::Value, ty);
        if let Some(encoded) = plan.encoded(id).filter(|_| has_attributes) {
            if ty == element.ty || plan.is_encoded_array(ty) {
                ty = array_type(plan, (element.ty, ty), tag).unwrap_or(ty);
            }
            opened = self.open_encoded((element, ty), encoded, particle, tag)?;
            match opened {
                _ if nil => self.forget_id(),
                Opened::Reference => ty = encoded.rules.reference,
                Opened::Simple(_) | Opened::Value => {}
            }
        }
        self.mark_element(element, ty, optional, nil);
        let mut inside = Inside::Empty;
        if let (Opened::Simple(target), Content::Simple(leaf), false) =
            (&opened, &plan.ty(ty).content, nil)
        {
            self.push_pending(*leaf, target.clone(), tag.offset);
        } else if !nil {
            self.attributes(plan.ty(ty), tag, has_attributes)?;
            inside = self.open_content(plan.ty(ty), tag.offset + tag.raw.len() as u64);
        }
        if let Some(Frame::Element(frame)) = self.machine.frames.last_mut() {
            (frame.ty, frame.inside) = (ty, inside);
        }
        self.begin_model();
        Ok(())
    }

    /// Writes the markers before the value of an element that is present.
    #[inline]
    pub(super) fn mark_element(
        &mut self,
        element: &Element,
        ty: TypeId,
        optional: bool,
        nil: bool,
    ) {
        if element.has_state {
            self.record.push(marker::state(
                if nil { marker::NIL } else { marker::PRESENT },
                ty,
            ));
        } else if optional {
            self.record.push(marker::PRESENT);
        }
        if nil && element.is_scalar {
            self.record.push(0);
        }
    }

    /// Begins the content of an element.
    #[inline]
    pub(super) fn open_content(&mut self, ty: &Type, at: u64) -> Inside {
        match ty.content {
            Content::Empty => Inside::Empty,
            Content::Simple(leaf) => Inside::Leaf(leaf),
            Content::Particle(particle) => Inside::Model {
                particle,
                entered: false,
            },
            Content::Mixed { particle, .. } => {
                let marker = self.record.slots.len() as u32;
                self.record.push(0);
                Inside::Mixed {
                    particle,
                    entered: false,
                    marker,
                    items: 0,
                }
            }
            Content::Any => {
                self.machine.fragment = Some(Box::new(Fragment::new(at)));
                Inside::Any
            }
        }
    }

    /// Enters the content model of an element just opened, if it is a sequence that occurs exactly once.
    #[inline]
    pub(super) fn begin_model(&mut self) {
        let Some(Frame::Element(frame)) = self.machine.frames.last_mut() else {
            return;
        };
        let Inside::Model {
            particle: id,
            entered,
        } = &mut frame.inside
        else {
            return;
        };
        let (id, particle) = (*id, self.plan.particle(*id));
        if !*entered && particle.is_required_once() && matches!(particle.term, Term::Sequence(_)) {
            *entered = true;
            self.machine.frames.push(Frame::Group(GroupFrame::once(id)));
        }
    }

    /// Handles character data.
    pub(super) fn text(&mut self, text: &Text<'_>) -> Result<(), Error> {
        if self.machine.skipping > 0 {
            return Ok(());
        }
        if let Some(fragment) = &mut self.machine.fragment {
            fragment.text(text.raw, &text.value, text.offset);
            return self.check(|check| check.text(text));
        }
        let to = text.offset + text.raw.len() as u64;
        let inside = match self.machine.frames.last() {
            Some(Frame::Element(frame)) => Some(frame.inside),
            Some(Frame::Group(group)) if group.silent => None,
            _ => Some(Inside::Empty),
        };
        match inside {
            None | Some(Inside::Leaf(_) | Inside::Mixed { .. }) => {
                self.machine.text.add(&text.value, text.offset, to);
            }
            // Only white space is allowed here. The error is reported when the whole text is known, at its beginning, so
            // that it does not depend on how the message was cut into pieces.
            Some(_) => {
                let blank = if self.machine.text.begun {
                    0
                } else {
                    text.raw
                        .bytes()
                        .take_while(|&byte| is_white_space(byte))
                        .count()
                };
                if blank < text.raw.len() {
                    self.machine
                        .text
                        .add(&text.value, text.offset + blank as u64, to);
                }
            }
        }
        Ok(())
    }

    /// Checks character data that was not the content of a leaf, when it ends at a tag.
    fn end_text(&mut self, at: u64) -> Result<(), Error> {
        let text = std::mem::take(&mut self.machine.text);
        let is_mixed = matches!(
            self.innermost().map(|frame| frame.inside),
            Some(Inside::Mixed { .. })
        );
        if is_mixed {
            if !text.value.is_empty() {
                self.record.push(0);
                let lexical = Lexical {
                    text: &text.value,
                    from: text.from,
                    to: text.to,
                    location: FormLocation::Somewhere,
                };
                self.push_text(lexical, at)?;
                if let Some(ElementFrame {
                    inside: Inside::Mixed { items, .. },
                    ..
                }) = self.innermost()
                {
                    *items += 1;
                }
            }
        } else if !is_blank(&text.value) {
            let found = bounded(text.value.trim_start(), 60);
            self.report(ErrorKind::Text { found }, text.from)?;
        }
        self.machine.text = text;
        self.machine.text.clear();
        Ok(())
    }

    /// Appends the slot of a text.
    pub(super) fn push_text(&mut self, lexical: Lexical<'_>, at: u64) -> Result<(), Error> {
        let slot = self.record.slots.len();
        self.log.push_in_heap(slot);
        if self.record.push_octets(lexical.text.as_bytes()).is_err() {
            return Err(self.heap_full(at));
        }
        self.report_location(slot, &lexical, Site::NONE);
        Ok(())
    }

    #[cold]
    pub(super) fn heap_full(&self, at: u64) -> Error {
        let kind = ErrorKind::Limit {
            name: "record_heap",
            limit: u64::from(u32::MAX),
        };
        Error::new(kind, self.path(), at)
    }

    /// Handles an end tag.
    pub(super) fn end_tag(&mut self, tag: &EndTag<'_>) -> Result<(), Error> {
        if self.machine.skipping > 0 {
            self.machine.skipping -= 1;
            return Ok(());
        }
        if self.machine.fragment.is_some() && self.end_in_fragment(tag)? {
            return Ok(());
        }
        match self.machine.frames.last() {
            Some(Frame::Element(frame)) if matches!(frame.inside, Inside::Leaf(_)) => {
                self.end_leaf(*frame, tag)?;
            }
            _ => {
                if self.machine.text.begun {
                    self.end_text(tag.offset)?;
                }
                if let Some(kind) = self.machine.unfinished(self.plan) {
                    self.unfinished(kind, tag.offset)?;
                }
                if self.machine.links.is_some() {
                    self.place_items(tag.offset)?;
                }
                self.close_content();
                self.check_fixed_content(tag.offset)?;
            }
        }
        self.close_frame();
        self.check_space(tag.offset)
    }

    #[cold]
    fn unfinished(&mut self, kind: ErrorKind, offset: u64) -> Result<(), Error> {
        let plan = self.plan;
        let parent = self.innermost();
        let deviation = parent.and_then(|it| declared::deviation_of_missing(plan, it.ty, &kind));
        let error = Error::new(kind, self.path(), offset);
        self.refuse(error.about(deviation))
    }

    /// Ends the content of an element without a simple value: its groups and its items.
    pub(super) fn close_content(&mut self) {
        self.leave_all();
        let Some(Frame::Element(frame)) = self.machine.frames.last().copied() else {
            return;
        };
        match frame.inside {
            Inside::Model {
                particle,
                entered: false,
            } => self.absent(u64::from(self.plan.particle(particle).absent), false),
            Inside::Mixed { marker, items, .. } => self.fill(marker, u64::from(items)),
            _ => {}
        }
    }

    /// Checks the fixed value of an element with mixed content, or of any content: it must be the only text. An element without
    /// content has it anyway. (cvc-elt.5.2.2)
    #[inline]
    fn check_fixed_content(&mut self, offset: u64) -> Result<(), Error> {
        let Some(Frame::Element(frame)) = self.machine.frames.last().copied() else {
            return Ok(());
        };
        let plan = self.plan;
        match plan.element(frame.element).fixed.as_deref() {
            Some(fixed) if self.options.validation == Validation::Full => {
                self.compare_fixed_content(frame, fixed, offset)
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn compare_fixed_content(
        &mut self,
        frame: ElementFrame,
        fixed: &str,
        offset: u64,
    ) -> Result<(), Error> {
        let slots = &self.record.slots;
        let found = match frame.inside {
            Inside::Mixed { items: 0, .. } => return Ok(()),
            Inside::Mixed { marker, items, .. } => {
                match (items, slots.get(marker as usize + 1..)) {
                    (1, Some(&[0, text])) => Some(self.record.text(text).to_owned()),
                    _ => None,
                }
            }
            Inside::Any => match slots.last().map(|&slot| self.record.text(slot)) {
                None | Some("") => return Ok(()),
                // It is XML: references are the only markup in a text.
                Some(xml) if !xml.contains('<') => Some(unescaped(xml)),
                Some(_) => None,
            },
            _ => return Ok(()),
        };
        if found.as_deref() == Some(fixed) {
            return Ok(());
        }
        let kind = ErrorKind::Fixed {
            expected: bounded(fixed, 100),
            found: bounded(found.as_deref().unwrap_or("elements"), 100),
        };
        self.report(kind, offset)
    }

    #[inline]
    pub(super) fn close_frame(&mut self) {
        self.machine.frames.pop();
        self.machine.done = self.machine.frames.is_empty();
    }

    /// Handles an end tag while XML is copied. Returns whether the tag was part of the copy, so that nothing else has to be
    /// done.
    fn end_in_fragment(&mut self, tag: &EndTag<'_>) -> Result<bool, Error> {
        let Some(mut fragment) = self.machine.fragment.take() else {
            return Ok(false);
        };
        let is_inner = self.machine.inside() == Some(Inside::Any);
        let ends_outside = fragment.is_between();
        if !ends_outside {
            fragment.end(tag);
            self.check(|check| check.end_tag(tag))?;
            if fragment.is_between() {
                self.machine.check = None;
            }
            if is_inner || !fragment.is_between() {
                // The namespace declarations that are added can make the copy much longer than the message.
                let length = fragment.text.len();
                self.machine.fragment = Some(fragment);
                self.check_space_with(length, tag.offset)?;
                return Ok(true);
            }
        }
        match fragment.text.contains('<') {
            _ if !is_inner => {}
            true => self.forget_id(),
            false => self.note_simple(&unescaped(&fragment.text)),
        }
        let to = fragment.to.max(fragment.from);
        let lexical = Lexical {
            text: &fragment.text,
            from: fragment.from,
            to,
            location: FormLocation::Somewhere,
        };
        self.push_text(lexical, tag.offset)?;
        self.check_space(tag.offset)?;
        Ok(!ends_outside)
    }

    /// Ends an element with a simple value.
    fn end_leaf(&mut self, frame: ElementFrame, tag: &EndTag<'_>) -> Result<(), Error> {
        let Inside::Leaf(leaf) = frame.inside else {
            return Ok(());
        };
        let text = std::mem::take(&mut self.machine.text);
        let (from, to) = if text.begun {
            (text.from, text.to)
        } else {
            (tag.offset, tag.offset)
        };
        let location = if text.begun || !tag.raw.is_empty() {
            FormLocation::Content
        } else {
            FormLocation::Nowhere
        };
        self.note_simple(&text.value);
        let lexical = Lexical {
            text: &text.value,
            from,
            to,
            location,
        };
        let withdrawal = match is_blank(lexical.text) {
            true => self.withdrawal(frame, leaf),
            false => None,
        };
        match withdrawal {
            Some(how) if self.options.accepted.contains(Deviation::EmptyValue) => {
                let kind = leaf::not_lexical(self.plan.leaf(leaf), lexical.text);
                let error = Error::new(kind, self.path(), from);
                self.deviate(Deviation::EmptyValue, error)?;
                self.withdraw(frame, how);
            }
            withdrawal => {
                if let Err(kind) = self.leaf_slots(leaf, lexical, &InEnd(tag)) {
                    let error = Error::new(*kind, self.path(), from);
                    self.refuse(error.about(withdrawal.map(|_| Deviation::EmptyValue)))?;
                } else if self.is_long_list {
                    self.note_long_list(self.path(), from);
                }
            }
        }
        self.machine.text = text;
        self.machine.text.clear();
        Ok(())
    }

    /// Appends the slots of the simple value of an element.
    fn leaf_slots(
        &mut self,
        leaf: LeafId,
        given: Lexical<'_>,
        bindings: &dyn NamespaceContext,
    ) -> Result<(), Wrong> {
        let plan = self.plan;
        let (mut lexical, mut fixed, mut default) = (given, Ok(()), None);
        if let Some(Frame::Element(frame)) = self.machine.frames.last() {
            let element = plan.element(frame.element);
            if lexical.text.is_empty() {
                default = element.default.as_deref().or(element.fixed.as_deref());
            }
            if let (Validation::Full, Some(value), None) =
                (self.options.validation, element.fixed.as_deref(), default)
            {
                fixed = leaf::check_fixed(plan.leaf(leaf), value, lexical.text, bindings);
                if lexical.location == FormLocation::Content {
                    lexical.location = FormLocation::Somewhere;
                }
            }
        }
        let pushed = match default {
            Some(value) => self.push_given(leaf, value, given.from, bindings),
            None => self.push_leaf(leaf, lexical, bindings),
        };
        if !self.deviations.is_empty() {
            self.warn_of_value(None, given.from);
        }
        pushed.and(fixed)?;
        if self.log.is_on && self.log.value.is_none() {
            self.log.value = Some(LoggedValue {
                from: given.from,
                to: given.to,
                after: Written::of(self.record),
            });
        }
        Ok(())
    }
}

impl<S: Sink> Builder<'_, S> {
    /// Appends the slot of a text whose octets are on the heap from `start` on.
    pub(super) fn push_heap_slot(&mut self, start: usize) -> Result<(), Wrong> {
        let length = self.record.heap.len() - start;
        let full = || {
            Wrong::new(ErrorKind::Limit {
                name: "record_heap",
                limit: u64::from(u32::MAX),
            })
        };
        let slot = heap_slot(start, length).ok_or_else(full)?;
        self.log.push_in_heap(self.record.slots.len());
        self.record.push(slot);
        Ok(())
    }
}

/// A text without the references that a copy of XML has.
fn unescaped(xml: &str) -> String {
    let text = xml.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&#xD;", "\r").replace("&amp;", "&")
}

/// Whether a text has nothing but white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_white_space)
}

/// The name of a type, for error messages.
#[cold]
pub(super) fn type_name(plan: &Plan, ty: TypeId) -> Name {
    match plan.ty(ty).name {
        Some(name) => Name::known(plan, name),
        None => Name::new("", "(without a name)"),
    }
}
