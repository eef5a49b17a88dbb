//! The fast road: past tags that are known by their bytes, and straight through their values.
//!
//! It goes on from the same state as the general road and leaves the same state behind, wherever it stops. What it does not
//! recognise, or what is wrong, it leaves for the general road to read and to report.

use std::sync::Arc;

use bsoap_datatypes::NamespaceContext;
use bsoap_xml::{NameId, ScopeId, Scopes, scan};

use super::sink::Sink;
use crate::plan::{Content, Element, ElementId, LeafId, ParticleId, Term, Type, TypeId};
use crate::record::{heap_slot, marker};

use super::Error;
use super::builder::{Builder, Lexical, Stands, is_array};
use super::content::Sought;
use super::frame::{ElementFrame, Frame, GroupFrame, Inside, Last, Target};
use super::learned::{Start, TagId, Values, What};
use super::options::Validation;
use super::piece::Piece;
use super::plain::{Plain, number_before_tag};
use super::rows::{Done, Field, Rows};
use super::run::Run;
use super::spelling::Spelling;

/// The bindings of a scope.
pub(super) struct InScope<'a>(pub(super) &'a Scopes, pub(super) ScopeId);

impl NamespaceContext for InScope<'_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.0
            .resolve(self.1, prefix)
            .map(|namespace| namespace.uri)
    }
}

/// How far a step of the fast road came.
enum Step {
    /// To here, and on.
    On(usize),
    /// The tag at hand is left to the general road.
    Stop,
    /// To here: a start tag has been passed, what is inside is left to the general road.
    Inside(usize),
}

impl<S: Sink> Run<'_, S> {
    /// Goes as far as tags are known.
    ///
    /// # Errors
    /// A limit of the Record, as the general road finds it.
    pub(super) fn fast(&mut self, window: &Piece<'_>) -> Result<(), Error> {
        let mut at = (self.reader.offset() - window.base) as usize;
        let mut values = Values::default();
        loop {
            let bytes = window.text.as_bytes();
            let machine = &*self.builder.machine;
            let is_open = match machine.frames.last() {
                Some(Frame::Group(group)) => !group.silent,
                Some(Frame::Element(frame)) => matches!(frame.inside, Inside::Model { .. }),
                None => false,
            };
            if !is_open
                || machine.text.begun
                || machine.skipping > 0
                || machine.fragment.is_some()
                || machine.pending.is_some()
            {
                break;
            }
            if self.builder.is_there() {
                break;
            }
            self.note(window.base + at as u64);
            if let Some(to) = self.fast_fields(window, at) {
                at = to;
                continue;
            }
            let machine = &*self.builder.machine;
            let (last, scope) = (machine.last, self.reader.scope());
            let Some((way, id, after)) = self.learned.here(last, scope, bytes, at, &mut values)
            else {
                break;
            };
            self.learned.promote(last, way);
            let step = match self.learned.tag(id).map(|known| &known.what) {
                Some(What::Start(_)) => self.fast_start(window, id, after, &values),
                Some(What::End(_)) => match self.fast_end(window, id, after) {
                    Step::On(to) => {
                        // What an end leaves out takes room, too.
                        let gap = scan::find_markup(&bytes[at..]);
                        let offset = window.base + (at + gap) as u64;
                        self.builder.check_room(offset)?;
                        Step::On(to)
                    }
                    step => step,
                },
                None => break,
            };
            match step {
                Step::On(to) => {
                    at = to;
                    self.builder.machine.tag_end = window.base + at as u64;
                }
                Step::Inside(to) => {
                    at = to;
                    self.builder.machine.tag_end = window.base + at as u64;
                    break;
                }
                Step::Stop => break,
            }
        }
        let passed = at - (self.reader.offset() - window.base) as usize;
        if passed > 0 {
            self.reader.skip(passed);
        }
        Ok(())
    }

    /// An end tag that is known.
    fn fast_end(&mut self, window: &Piece<'_>, id: TagId, after: usize) -> Step {
        let Some(What::End(qname)) = self.learned.tag(id).map(|known| &known.what) else {
            return Step::Stop;
        };
        if self.reader.qname().as_bytes() != qname.as_bytes()
            || !self.builder.machine.may_end(self.builder.plan)
        {
            return Step::Stop;
        }
        self.builder.close_content();
        self.builder.close_frame();
        let passed = window.base + after as u64 - self.reader.offset();
        self.reader.close(passed as usize);
        Step::On(after)
    }

    /// A start tag that is known.
    fn fast_start(&mut self, window: &Piece<'_>, id: TagId, after: usize, values: &Values) -> Step {
        let limits = &self.builder.options.limits;
        if self.reader.depth() + 2 > limits.depth || self.builder.check_room(0).is_err() {
            return Step::Stop;
        }
        let Some(What::Start(start)) = self.learned.tag(id).map(|known| &known.what) else {
            return Step::Stop;
        };
        let Some(target) = self.builder.enter_known(start.name) else {
            return Step::Stop;
        };
        // From here on, what this road cannot do is left to the other with the target found.
        let Some(opened) = Opened::new(&self.builder, start, target) else {
            self.builder.machine.pending = Some(target);
            return Step::Stop;
        };
        let (slots, heap) = (
            self.builder.record.slots.len(),
            self.builder.record.heap.len(),
        );
        self.builder
            .mark_element(opened.element, opened.id.1, opened.optional, start.nil);
        let mut are_known = true;
        if start.values.is_empty() {
            if !start.nil {
                self.builder.bare_attributes(opened.ty);
            }
        } else {
            let bindings = InScope(self.scopes, start.inner);
            let known = self
                .builder
                .known_attributes(window, start, opened.ty, values, &bindings);
            are_known = known.is_some();
        }
        // That there is no room shows at the next tag, which is that of the end if the element is empty.
        if !are_known || (start.is_empty && self.builder.check_room(0).is_err()) {
            self.builder.record.slots.truncate(slots);
            self.builder.record.heap.truncate(heap);
            self.builder.machine.pending = Some(target);
            return Step::Stop;
        }
        self.builder.machine.last = Last::opened(opened.particle);
        match opened.inside {
            Inside::Leaf(leaf) => self.fast_leaf(window, id, &opened, leaf, after),
            Inside::Model { particle, .. } => {
                self.builder.push_element(
                    &opened,
                    Inside::Model {
                        particle,
                        entered: false,
                    },
                );
                self.builder.begin_model();
                let step = self.open(window, id, after);
                self.fast_rows(window, id, &opened, after).unwrap_or(step)
            }
            // Empty or nil.
            _ => {
                self.builder.machine.last = Last::closed(opened.particle);
                Step::On(after)
            }
        }
    }

    /// Tells the reader that the element of a known start tag is open.
    fn open(&mut self, window: &Piece<'_>, id: TagId, after: usize) -> Step {
        let Some(What::Start(start)) = self.learned.tag(id).map(|known| &known.what) else {
            return Step::Stop;
        };
        let passed = window.base + after as u64 - self.reader.offset();
        // The limit of depth, the only thing that can be wrong, has been looked at.
        match self
            .reader
            .open(&start.qname, Some(start.name), start.inner, passed as usize)
        {
            Ok(()) => Step::On(after),
            Err(_) => Step::Stop,
        }
    }

    /// The value of an element with a known start tag; if it repeats, the values of all that follow in the same spelling.
    fn fast_leaf(
        &mut self,
        window: &Piece<'_>,
        id: TagId,
        opened: &Opened<'_>,
        leaf: LeafId,
        after: usize,
    ) -> Step {
        let Some(What::Start(start)) = self.learned.tag(id).map(|known| &known.what) else {
            return Step::Stop;
        };
        let mut at = after;
        if start.holes.is_empty()
            && is_array(self.builder.plan, opened.particle)
            && opened.element.is_scalar
            && !opened.element.has_state
        {
            at = self
                .builder
                .array(window, leaf, opened.element, at, start, self.reader);
        }
        let bindings = InScope(self.scopes, start.inner);
        match self
            .builder
            .value(window, leaf, opened.element, at, &start.close, &bindings)
        {
            Some(to) => {
                self.builder.machine.last = Last::closed(opened.particle);
                Step::On(to + start.close.len())
            }
            None => {
                self.builder.push_element(opened, Inside::Leaf(leaf));
                match self.open(window, id, at) {
                    Step::On(at) => Step::Inside(at),
                    other => other,
                }
            }
        }
    }

    /// Rows of an array whose tags are all known. The element of the first has been opened.
    fn fast_rows(
        &mut self,
        window: &Piece<'_>,
        id: TagId,
        opened: &Opened<'_>,
        after: usize,
    ) -> Option<Step> {
        let plan = self.builder.plan;
        if !is_array(plan, opened.particle) {
            return None;
        }
        let known = self.learned.tag(id)?;
        let What::Start(start) = &known.what else {
            return None;
        };
        if start.failures >= TRIES {
            return None;
        }
        // Until all its tags have been met, the row is not known.
        let rows = start.rows.clone().or_else(|| {
            let (learned, options) = (&*self.learned, self.builder.options);
            Rows::new(plan, options, learned, opened.particle, known).map(Arc::new)
        });
        let What::Start(start) = &mut self.learned.tags.get_mut(id as usize)?.what else {
            return None;
        };
        start.rows = rows.clone();
        let Some(rows) = rows else {
            start.failures += 1;
            return None;
        };
        let bindings = InScope(self.scopes, start.inner);
        let done = self
            .builder
            .rows(window, &rows, after, &bindings, self.reader);
        match done {
            Some(done) if done.rows > 0 => start.failures /= 2,
            // Where the text at hand ends, nothing can be told of what follows.
            Some(done) if ends_at(window, rows.fields.get(done.field), done.at) => {}
            _ => {
                start.failures += 1;
                if start.failures % 4 == 0 {
                    start.rows = None;
                }
            }
        }
        self.after_rows(window, &rows, done?)
    }

    /// The value at which rows came to their end: the last one, or one that is spelled otherwise.
    fn after_rows(&mut self, window: &Piece<'_>, rows: &Rows, done: Done) -> Option<Step> {
        let field = rows.fields.get(done.field)?;
        let scope = self.reader.scope();
        let element = self.builder.plan.element(field.element);
        let bindings = InScope(self.scopes, scope);
        if let Some(to) = self.builder.value(
            window,
            field.leaf,
            element,
            done.at,
            &field.close,
            &bindings,
        ) {
            self.builder.machine.last = Last::closed(field.particle);
            return Some(Step::On(to + field.close.len()));
        }
        let inside = Inside::Leaf(field.leaf);
        let frame = ElementFrame {
            element: field.element,
            particle: field.particle,
            ty: element.ty,
            inside,
        };
        self.builder.machine.frames.push(Frame::Element(frame));
        self.builder.machine.last = Last::opened(field.particle);
        let passed = window.base + done.at as u64 - self.reader.offset();
        // The limit of depth has been looked at before the row was opened.
        let _ = self
            .reader
            .open(&field.qname, Some(element.name), scope, passed as usize);
        Some(Step::Inside(done.at))
    }
}

/// Whether the text at hand, which is not the last, ends before the end of a value and what should follow it.
#[cold]
fn ends_at(window: &Piece<'_>, field: Option<&Field>, at: usize) -> bool {
    let (Some(field), false) = (field, window.last) else {
        return false;
    };
    let rest = window.text.as_bytes().get(at..).unwrap_or_default();
    rest.len() < scan::find_text_special(rest) + field.after.len()
}

/// Rows that did not come so often are not looked for any more.
const TRIES: u32 = 32;

/// An element whose start tag is known, if the fast road can go on behind it.
struct Opened<'p> {
    id: (ElementId, TypeId),
    element: &'p Element,
    ty: &'p Type,
    particle: ParticleId,
    optional: bool,
    inside: Inside,
}

impl<'p> Opened<'p> {
    #[inline]
    fn new<S: Sink>(builder: &Builder<'p, S>, start: &Start, target: Target) -> Option<Self> {
        let Target::Element {
            element: id,
            particle,
            optional,
        } = target
        else {
            return None;
        };
        let plan = builder.plan;
        let element = plan.element(id);
        let ty = match start.ty {
            None => element.ty,
            Some((of, ty)) if of == id => ty,
            Some(_) => return None,
        };
        let id = (id, ty);
        let ty = plan.ty(ty);
        if element.is_abstract
            || ty.is_abstract
            || (start.nil && !element.nillable)
            || (start.ty.is_none() && !builder.may_be_bare(ty))
        {
            return None;
        }
        let inside = match ty.content {
            _ if start.nil => Inside::Empty,
            Content::Empty if start.is_empty => Inside::Empty,
            Content::Simple(leaf) if !start.is_empty => Inside::Leaf(leaf),
            Content::Particle(particle) if !start.is_empty => Inside::Model {
                particle,
                entered: false,
            },
            _ => return None,
        };
        // Whether a nil element is empty, as it must be, shows only later if its tag does not say so.
        (!start.nil || start.is_empty).then_some(Self {
            id,
            element,
            ty,
            particle,
            optional,
            inside,
        })
    }
}

impl<S: Sink> Builder<'_, S> {
    /// [`enter`](Self::enter) for a name that may not be accepted; usually it is that of the next child of a sequence.
    #[inline]
    fn enter_known(&mut self, name: NameId) -> Option<Target> {
        if let Some(target) = self.enter_next(name) {
            return Some(target);
        }
        let sought = Sought::Known(name);
        if self.machine.accepts(self.plan, sought) {
            self.enter(sought)
        } else {
            None
        }
    }

    /// The usual case: a child of the innermost sequence, or one more of an element that repeats. Nothing is changed if it
    /// is another.
    #[inline]
    fn enter_next(&mut self, name: NameId) -> Option<Target> {
        let plan = self.plan;
        let Some(Frame::Group(group)) = self.machine.frames.last_mut() else {
            return None;
        };
        let particle = plan.particle(group.particle);
        let children = match &particle.term {
            Term::Sequence(children) if !group.silent => plan.group(children),
            Term::Element(element)
                if group.count < particle.max && particle.first.named(name).is_some() =>
            {
                group.count += 1;
                return Some(Target::Element {
                    element: *element,
                    particle: group.particle,
                    optional: false,
                });
            }
            _ => return None,
        };
        let mut absent = 0;
        for (index, &child) in children.iter().enumerate().skip(group.at as usize) {
            let next = plan.particle(child);
            if next.first.named(name).is_some() {
                let Term::Element(element) = next.term else {
                    return None;
                };
                group.at = index as u32 + 1;
                self.absent(absent, false);
                if next.repeats() {
                    let marker = self.record.slots.len() as u32;
                    self.record.push(0);
                    self.machine.frames.push(Frame::Group(GroupFrame {
                        marker,
                        ..GroupFrame::once(child)
                    }));
                    return Some(Target::Element {
                        element,
                        particle: child,
                        optional: false,
                    });
                }
                return Some(Target::Element {
                    element,
                    particle: child,
                    optional: next.min == 0,
                });
            }
            if !next.is_emptiable || next.first.wildcards().next().is_some() {
                return None;
            }
            absent += u64::from(next.absent);
        }
        None
    }

    /// Whether an element of this type may come without attributes, and what that means is known beforehand.
    #[inline]
    fn may_be_bare(&self, ty: &Type) -> bool {
        ty.attributes.is_empty()
            || ty.attribute_ids().all(|id| {
                let attribute = self.plan.attribute(id);
                !attribute.required && attribute.default.is_none() && attribute.fixed.is_none()
            })
    }

    /// The slots of attributes whose values have been found in a tag that is known; `None` if one is wrong.
    fn known_attributes(
        &mut self,
        window: &Piece<'_>,
        start: &Start,
        ty: &Type,
        values: &Values,
        bindings: &dyn NamespaceContext,
    ) -> Option<()> {
        let plan = self.plan;
        for (id, hole) in ty.attribute_ids().zip(&start.values) {
            let attribute = plan.attribute(id);
            let Some(hole) = hole else {
                self.record.push(marker::ABSENT);
                self.record.push(0);
                continue;
            };
            if !attribute.required {
                self.record.push(marker::PRESENT);
            }
            let &(from, to) = values.get(usize::from(*hole))?;
            let text = window.text.get(from..to)?;
            let lexical = Lexical {
                text,
                from: window.base + from as u64,
                to: window.base + to as u64,
                stands: Stands::Attribute,
            };
            self.push_leaf(attribute.leaf, lexical, bindings).ok()?;
        }
        self.bare_any_attribute(ty);
        Some(())
    }

    /// The slots of attributes none of which is there.
    #[inline]
    fn bare_attributes(&mut self, ty: &Type) {
        for _ in ty.attributes.clone() {
            self.record.push(marker::ABSENT);
            self.record.push(0);
        }
        self.bare_any_attribute(ty);
    }

    fn bare_any_attribute(&mut self, ty: &Type) {
        if ty.any_attribute.is_some() {
            self.record
                .push(heap_slot(self.record.heap.len(), 0).unwrap_or_default());
        }
    }

    fn push_element(&mut self, opened: &Opened<'_>, inside: Inside) {
        let (element, ty) = opened.id;
        let frame = ElementFrame {
            element,
            particle: opened.particle,
            ty,
            inside,
        };
        self.machine.frames.push(Frame::Element(frame));
    }

    /// A value that stands at `at` and is followed by `close`: where it ends. Nothing is changed if it is not that simple.
    #[inline]
    fn value(
        &mut self,
        window: &Piece<'_>,
        leaf: LeafId,
        element: &Element,
        at: usize,
        close: &Spelling,
        bindings: &dyn NamespaceContext,
    ) -> Option<usize> {
        if self.options.validation == Validation::Full && element.fixed.is_some() {
            return None;
        }
        let has_default = element.default.is_some() || element.fixed.is_some();
        self.value_before(window, leaf, at, close, has_default, bindings)
    }

    #[inline]
    pub(super) fn value_before(
        &mut self,
        window: &Piece<'_>,
        id: LeafId,
        at: usize,
        close: &Spelling,
        has_default: bool,
        bindings: &dyn NamespaceContext,
    ) -> Option<usize> {
        let bytes = window.text.as_bytes();
        let leaf = self.plan.leaf(id);
        if let Some(plain) = Plain::of(leaf, self.options.validation)
            && let Some((slot, length)) = number_before_tag(plain.kind, bytes, at)
            && plain.has(slot)
            && close.stands_at(bytes, at + length)
            && self.record.slots.len() < self.options.record_slots
        {
            self.place(window, at, length, plain.site(id));
            self.record.push(slot);
            return Some(at + length);
        }
        if leaf.is_verbatim
            && let Some(plain) = Plain::of(leaf, self.options.validation)
            && self.record.slots.len() < self.options.record_slots
        {
            let checked = plain.is_checked.then_some(leaf);
            let (slot, length) = self.text_before(window, at, close, has_default, checked)?;
            self.place(window, at, length, plain.site(id));
            self.record.push(slot);
            return Some(at + length);
        }
        let length = scan::find_text_special(&bytes[at..]);
        let end = at + length;
        if bytes.get(end) != Some(&b'<')
            || !close.stands_at(bytes, end)
            || length > self.options.limits.text_length
        {
            return None;
        }
        let text = window.text.get(at..end)?;
        if text.is_empty() && has_default {
            return None;
        }
        let (slots, heap) = (self.record.slots.len(), self.record.heap.len());
        let from = window.base + at as u64;
        let lexical = Lexical {
            text,
            from,
            to: from + length as u64,
            stands: Stands::Content,
        };
        // That there is no room is found at the end tag.
        let is_pushed = self.push_leaf(id, lexical, bindings).is_ok();
        if !is_pushed || self.check_room(from).is_err() {
            self.record.slots.truncate(slots);
            self.record.heap.truncate(heap);
            return None;
        }
        Some(end)
    }
}
