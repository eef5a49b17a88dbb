//! A walk over a Record by its Plan, in document order.
//!
//! The stack is the walk's own, so the depth of a message does not matter to it. A Record that does
//! not fit its Plan gives a [`Mismatch`], never a panic.

use crate::plan::{
    AttributeId, Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId,
};
use crate::record::kept;
use crate::record::{Record, heap_range, marker};

/// The slots are not what the Plan says they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch;

/// Levels of the stack, of which an element takes about three. A schema whose element contains
/// itself, always, would otherwise never end.
const MAX_STACK: usize = 1 << 20;

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An element begins. Unless it is nil, its attributes and content follow from slot `at`.
    Start(Start),
    /// The element has ended.
    End(ElementId),
    /// `count` elements follow, the first from slot `at`. Also reported if there are none.
    Array {
        element: ElementId,
        count: usize,
        at: usize,
    },
    /// An attribute, whose value is at slot `at`; also said of absent ones.
    Attribute {
        id: AttributeId,
        presence: u64,
        at: usize,
    },
    /// The attributes of a wildcard.
    AnyAttribute { at: usize },
    /// Simple content; a list has its count at slot `at`.
    Leaf { leaf: LeafId, at: usize },
    /// Text of mixed content.
    Text { at: usize },
    /// An element that a wildcard admitted.
    Fragment { at: usize },
    /// Content of `xs:anyType`.
    Inner { at: usize },
}

/// The start of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) element: ElementId,
    /// Its actual type.
    pub(crate) ty: TypeId,
    pub(crate) nil: bool,
    /// The first slot behind its markers.
    pub(crate) at: usize,
}

/// What is still to be done.
#[derive(Clone, Copy, Debug)]
enum WalkFrame<'p> {
    End(ElementId),
    /// The attributes from number `next` on, then the content.
    Attributes {
        ty: TypeId,
        next: u32,
    },
    Content(TypeId),
    Particle(ParticleId),
    /// What is left of a sequence.
    Sequence(&'p [ParticleId]),
    /// What is left of something that repeats.
    Loop(Body<'p>, usize),
}

/// What repeats.
#[derive(Clone, Copy, Debug)]
enum Body<'p> {
    Particle(ParticleId),
    /// A child of an `all`, named by a marker.
    All(&'p [ParticleId]),
    /// Text, or an element named by a marker.
    Mixed(&'p [ParticleId]),
}

/// A walk over a Record, or over one element in it.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'r> {
    plan: &'r Plan,
    slots: &'r [u64],
    at: usize,
    stack: Vec<WalkFrame<'r>>,
    /// The height of the stack before the last `Start` or `Array`.
    mark: usize,
}

impl<'r> Walk<'r> {
    /// The whole Record; begins with the `Start` of its root.
    pub(crate) fn new(record: &'r Record) -> Result<(Self, Start), Mismatch> {
        let mut walk = Self::empty(record, 0);
        if walk.plan.elements.len() <= record.root.index() {
            return Err(Mismatch);
        }
        let Event::Start(start) = walk.element(record.root)? else {
            return Err(Mismatch);
        };
        Ok((walk, start))
    }

    /// Attributes and content of an element that has begun.
    pub(crate) fn inside(record: &'r Record, start: Start) -> Self {
        if start.nil {
            return Self::empty(record, start.at);
        }
        Self::over(record, start.ty, start.at)
    }

    /// The start of an item of an array, whose first slot is `at`.
    pub(crate) fn item(record: &'r Record, element: ElementId, at: usize) -> Option<Start> {
        let mut walk = Self::empty(record, at);
        match walk.element(element) {
            Ok(Event::Start(start)) => Some(start),
            _ => None,
        }
    }

    fn empty(record: &'r Record, at: usize) -> Self {
        Self {
            plan: &record.plan,
            slots: &record.slots,
            at,
            stack: Vec::new(),
            mark: 0,
        }
    }

    /// Attributes and content of a type, from slot `at`.
    pub(crate) fn over(record: &'r Record, ty: TypeId, at: usize) -> Self {
        Self {
            stack: vec![WalkFrame::Attributes { ty, next: 0 }],
            ..Self::empty(record, at)
        }
    }

    /// The next slot.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What comes next; `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Mismatch> {
        while let Some(frame) = self.stack.pop() {
            if let Some(event) = self.step(frame)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Goes past the element or array that the last event began.
    pub(crate) fn skip(&mut self, event: Event) -> Result<(), Mismatch> {
        if !matches!(event, Event::Start(_) | Event::Array { .. }) || self.jump(event)? {
            return Ok(());
        }
        let mark = self.mark;
        while self.stack.len() > mark {
            let Some(frame) = self.stack.pop() else { break };
            // What lies in it may well be as wide as its type says: a large array, above all.
            if let Some(event) = self.step(frame)? {
                self.jump(event)?;
            }
        }
        Ok(())
    }

    /// Goes past what the last event began, if the Plan knows how many slots that has. Returns whether it does.
    fn jump(&mut self, event: Event) -> Result<bool, Mismatch> {
        let stride = match event {
            Event::Start(Start { nil: true, .. }) => Some(0),
            Event::Start(start) => self.plan.ty(start.ty).stride.map(|stride| stride as usize),
            Event::Array { element, count, .. } => self
                .plan
                .element(element)
                .stride
                .and_then(|stride| (stride as usize).checked_mul(count)),
            _ => None,
        };
        let Some(stride) = stride else {
            return Ok(false);
        };
        self.stack.truncate(self.mark);
        self.at = self
            .at
            .checked_add(stride)
            .filter(|&at| at <= self.slots.len())
            .ok_or(Mismatch)?;
        Ok(true)
    }

    #[inline]
    fn read(&mut self) -> Result<u64, Mismatch> {
        let slot = *self.slots.get(self.at).ok_or(Mismatch)?;
        self.at += 1;
        Ok(slot)
    }

    /// The count at the next slot. No count can be larger than what a message of 2^48 bytes holds.
    fn count(&mut self) -> Result<usize, Mismatch> {
        let count = self.read()?;
        usize::try_from(count)
            .ok()
            .filter(|&count| count < 1 << 48)
            .ok_or(Mismatch)
    }

    fn push(&mut self, frame: WalkFrame<'r>) -> Result<(), Mismatch> {
        if self.stack.len() >= MAX_STACK {
            return Err(Mismatch);
        }
        self.stack.push(frame);
        Ok(())
    }

    fn step(&mut self, frame: WalkFrame<'r>) -> Result<Option<Event>, Mismatch> {
        match frame {
            WalkFrame::End(element) => Ok(Some(Event::End(element))),
            WalkFrame::Attributes { ty, next } => self.attributes(ty, next),
            WalkFrame::Content(ty) => self.content(ty),
            WalkFrame::Particle(id) => self.particle(id),
            WalkFrame::Sequence(children) => {
                let Some((&first, rest)) = children.split_first() else {
                    return Ok(None);
                };
                if !rest.is_empty() {
                    self.push(WalkFrame::Sequence(rest))?;
                }
                self.particle(first)
            }
            WalkFrame::Loop(_, 0) => Ok(None),
            WalkFrame::Loop(body, left) => {
                self.push(WalkFrame::Loop(body, left - 1))?;
                match body {
                    Body::Particle(id) => self.occurrence(id),
                    Body::All(children) => {
                        let child = named(children, self.read()?)?;
                        match self.plan.particle(child).repeats() {
                            true => self.particle(child),
                            false => self.occurrence(child),
                        }
                    }
                    Body::Mixed(elements) => match self.read()? {
                        0 => self.value().map(|at| Some(Event::Text { at })),
                        marker => self.occurrence(named(elements, marker)?),
                    },
                }
            }
        }
    }

    /// Goes past one value slot.
    fn value(&mut self) -> Result<usize, Mismatch> {
        self.read()?;
        Ok(self.at - 1)
    }

    /// Goes past the value of a leaf.
    fn leaf(&mut self, leaf: LeafId) -> Result<usize, Mismatch> {
        let at = self.at;
        match self.plan.leaf(leaf).kind {
            LeafKind::List(_) => {
                let items = self.count()?;
                self.at = self
                    .at
                    .checked_add(items)
                    .filter(|&at| at <= self.slots.len())
                    .ok_or(Mismatch)?;
            }
            _ => drop(self.value()?),
        }
        Ok(at)
    }

    fn attributes(&mut self, id: TypeId, next: u32) -> Result<Option<Event>, Mismatch> {
        let ty = self.plan.ty(id);
        if let Some(attribute_id) = ty.attribute_ids().nth(next as usize) {
            self.push(WalkFrame::Attributes {
                ty: id,
                next: next + 1,
            })?;
            let attribute = self.plan.attribute(attribute_id);
            let presence = if attribute.required {
                marker::PRESENT
            } else {
                self.read()?
            };
            let at = self.leaf(attribute.leaf)?;
            return Ok(Some(Event::Attribute {
                id: attribute_id,
                presence,
                at,
            }));
        }
        if ty.any_attribute.is_some() {
            self.push(WalkFrame::Content(id))?;
            return self.value().map(|at| Some(Event::AnyAttribute { at }));
        }
        self.content(id)
    }

    fn content(&mut self, id: TypeId) -> Result<Option<Event>, Mismatch> {
        match &self.plan.ty(id).content {
            Content::Empty => Ok(None),
            Content::Simple(leaf) => self
                .leaf(*leaf)
                .map(|at| Some(Event::Leaf { leaf: *leaf, at })),
            Content::Particle(particle) => self.particle(*particle),
            Content::Mixed { elements, .. } => {
                let left = self.count()?;
                self.push(WalkFrame::Loop(
                    Body::Mixed(self.plan.group(elements)),
                    left,
                ))?;
                Ok(None)
            }
            Content::Any => self.value().map(|at| Some(Event::Inner { at })),
        }
    }

    /// A particle with its markers.
    fn particle(&mut self, id: ParticleId) -> Result<Option<Event>, Mismatch> {
        let particle = self.plan.particle(id);
        if particle.repeats() {
            let left = self.count()?;
            let mark = self.stack.len();
            self.push(WalkFrame::Loop(Body::Particle(id), left))?;
            return Ok(match particle.term {
                Term::Element(element) => {
                    self.mark = mark;
                    Some(Event::Array {
                        element,
                        count: left,
                        at: self.at,
                    })
                }
                _ => None,
            });
        }
        if particle.min > 0 || matches!(particle.term, Term::Choice(_)) {
            return self.occurrence(id);
        }
        if let Term::Element(element) = particle.term
            && self.plan.element(element).has_state
        {
            return self.occurrence(id);
        }
        match (self.read()?, &particle.term) {
            (marker::PRESENT, _) => self.occurrence(id),
            (marker::ABSENT, Term::Any(_)) => self.value().map(|_| None),
            (marker::ABSENT, Term::Element(element)) if self.plan.element(*element).is_scalar => {
                self.value().map(|_| None)
            }
            (marker::ABSENT, _) => Ok(None),
            _ => Err(Mismatch),
        }
    }

    /// A term without the markers of its particle.
    fn occurrence(&mut self, id: ParticleId) -> Result<Option<Event>, Mismatch> {
        let particle = self.plan.particle(id);
        match &particle.term {
            Term::Element(element) => {
                if self.plan.element(*element).has_state
                    && self.slots.get(self.at) == Some(&marker::ABSENT)
                {
                    // Only where the particle may be missing, and then it is not in a list.
                    if particle.min > 0 || particle.repeats() {
                        return Err(Mismatch);
                    }
                    self.at += 1 + usize::from(self.plan.element(*element).is_scalar);
                    return if self.at <= self.slots.len() {
                        Ok(None)
                    } else {
                        Err(Mismatch)
                    };
                }
                self.element(*element).map(Some)
            }
            Term::Any(_) => self.value().map(|at| Some(Event::Fragment { at })),
            Term::Sequence(children) => {
                self.push(WalkFrame::Sequence(self.plan.group(children)))?;
                Ok(None)
            }
            Term::Choice(children) => match self.read()? {
                0 => Ok(None),
                marker => {
                    let child = named(self.plan.group(children), marker)?;
                    self.push(WalkFrame::Particle(child))?;
                    Ok(None)
                }
            },
            Term::All(children) => {
                let left = self.count()?;
                self.push(WalkFrame::Loop(Body::All(self.plan.group(children)), left))?;
                Ok(None)
            }
        }
    }

    /// An element that is there.
    fn element(&mut self, id: ElementId) -> Result<Event, Mismatch> {
        let element = self.plan.element(id);
        let (nil, ty) = if element.has_state {
            let state = self.read()?;
            let nil = match marker::presence(state) {
                marker::PRESENT => false,
                marker::NIL => true,
                _ => return Err(Mismatch),
            };
            (nil, marker::actual_type(state))
        } else {
            (false, element.ty)
        };
        if ty.index() >= self.plan.types.len() {
            return Err(Mismatch);
        }
        let start = Start {
            element: id,
            ty,
            nil,
            at: self.at,
        };
        self.mark = self.stack.len();
        self.push(WalkFrame::End(id))?;
        if !nil {
            self.push(WalkFrame::Attributes { ty, next: 0 })?;
        } else if element.is_scalar {
            self.value()?;
        }
        Ok(Event::Start(start))
    }
}

/// The child that a marker names.
fn named(children: &[ParticleId], marker: u64) -> Result<ParticleId, Mismatch> {
    let index = marker
        .checked_sub(1)
        .and_then(|it| usize::try_from(it).ok());
    let child = index.and_then(|index| children.get(index));
    child.copied().ok_or(Mismatch)
}

/// Whether two Records of one Plan and root hold the same values; where strings are in the heap
/// does not matter. Numbers are compared by their bits.
pub(crate) fn same_values(a: &Record, b: &Record) -> bool {
    differs_nowhere(a, b) == Ok(true)
}

fn differs_nowhere(a: &Record, b: &Record) -> Result<bool, Mismatch> {
    let (mut walk, _) = Walk::new(a)?;
    // Slots before it are known to be the same.
    let mut same = 0;
    let mut heap_slot = |at: usize, equal: fn(&[u8], &[u8]) -> bool| -> bool {
        let between = a.slots.get(same..at) == b.slots.get(same..at);
        same = at + 1;
        match (octets(a, at), octets(b, at)) {
            (Some(x), Some(y)) => between && equal(x, y),
            _ => false,
        }
    };
    let bytes = |x: &[u8], y: &[u8]| x == y;
    while let Some(event) = walk.next()? {
        let (leaf, at) = match event {
            Event::Leaf { leaf, at } => (Some(leaf), at),
            Event::Attribute { id, at, .. } => (Some(a.plan.attribute(id).leaf), at),
            Event::Text { at } | Event::Fragment { at } | Event::Inner { at } => (None, at),
            Event::AnyAttribute { at } => {
                if !heap_slot(at, same_attributes) {
                    return Ok(false);
                }
                continue;
            }
            Event::Start(_) | Event::End(_) | Event::Array { .. } => continue,
        };
        let kind = leaf.map_or(LeafKind::Text, |leaf| a.plan.leaf(leaf).kind);
        let all_same = match kind {
            LeafKind::List(item) if a.plan.leaf(item).kind.is_in_heap() => {
                (at + 1..walk.at()).all(|at| heap_slot(at, bytes))
            }
            kind => !kind.is_in_heap() || heap_slot(at, bytes),
        };
        if !all_same {
            return Ok(false);
        }
    }
    Ok(a.slots.get(same..) == b.slots.get(same..))
}

/// Whether attributes kept as XML are the same; prefixes and quotes do not matter.
fn same_attributes(x: &[u8], y: &[u8]) -> bool {
    let read = |xml| std::str::from_utf8(xml).ok().and_then(kept::attributes);
    x == y || read(x).is_some_and(|kept| read(y) == Some(kept))
}

/// The octets that the slot at `at` points at.
pub(crate) fn octets(record: &Record, at: usize) -> Option<&[u8]> {
    let (start, length) = heap_range(*record.slots.get(at)?);
    record.heap.get(start..start + length)
}
