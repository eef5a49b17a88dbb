//! A walk over a Record by its Plan, in document order.
//!
//! It has a stack of its own, so deep messages cannot overflow the thread's stack. A Record that does not fit its Plan
//! gives a [`Mismatch`], never a panic.

use smallvec::SmallVec;

use crate::plan::{
    AttributeId, Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId,
};
use crate::record::kept;
use crate::record::{Record, heap_range, marker};

/// The slots do not fit the Plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch;

/// The most levels of the stack; an element takes about three. Without this limit, a walk would not end where a required
/// element contains itself.
const MAX_STACK: usize = 1 << 20;

/// An event of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// An element begins. Unless it is nil, its attributes and content follow from slot `at`.
    Start(Start),
    /// The element has ended.
    End(ElementId),
    /// `count` elements follow, the first at slot `at`. Also reported if the count is 0.
    Array {
        element: ElementId,
        count: usize,
        at: usize,
    },
    /// An attribute, whose value is at slot `at`; also reported if it is absent.
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
    /// An element of a wildcard.
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

/// A level of the walk's stack: what is still to be visited.
#[derive(Clone, Copy, Debug)]
enum WalkFrame<'p> {
    End(ElementId),
    /// The attributes from index `next` on, then the content.
    Attributes {
        ty: TypeId,
        next: u32,
    },
    Content(TypeId),
    Particle(ParticleId),
    /// The rest of a sequence.
    Sequence(&'p [ParticleId]),
    /// The rest of a repetition.
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
    stack: SmallVec<[WalkFrame<'r>; 8]>,
    /// The number of levels before the last `Start` or `Array`.
    mark: usize,
}

impl<'r> Walk<'r> {
    /// A walk over a whole Record, behind the `Start` of its root, which is returned.
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

    /// The start of the root of a Record; `None` if it has none.
    pub(crate) fn root(record: &'r Record) -> Option<Start> {
        if record.plan.elements.len() <= record.root.index() {
            return None;
        }
        Self::empty(record, 0).start(record.root).ok()
    }

    /// A walk over the attributes and the content of an element.
    pub(crate) fn inside(record: &'r Record, start: Start) -> Self {
        if start.nil {
            return Self::empty(record, start.at);
        }
        Self::over(record, start.ty, start.at)
    }

    /// The start of an array's item whose first slot is `at`; `None` if it has none there.
    pub(crate) fn item(record: &'r Record, element: ElementId, at: usize) -> Option<Start> {
        Self::empty(record, at).start(element).ok()
    }

    fn empty(record: &'r Record, at: usize) -> Self {
        Self {
            plan: &record.plan,
            slots: &record.slots,
            at,
            stack: SmallVec::new(),
            mark: 0,
        }
    }

    /// A walk over the attributes and the content of a type, from slot `at` on.
    pub(crate) fn over(record: &'r Record, ty: TypeId, at: usize) -> Self {
        let mut walk = Self::empty(record, at);
        walk.stack.push(WalkFrame::Attributes { ty, next: 0 });
        walk
    }

    /// The next slot.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next event; `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Event>, Mismatch> {
        while let Some(frame) = self.stack.pop() {
            if let Some(event) = self.step(frame)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Skips the element or array that the last event began.
    pub(crate) fn skip(&mut self, event: Event) -> Result<(), Mismatch> {
        if !matches!(event, Event::Start(_) | Event::Array { .. }) || self.jump(event)? {
            return Ok(());
        }
        let mark = self.mark;
        while self.stack.len() > mark {
            let Some(frame) = self.stack.pop() else { break };
            // Parts of it may have a known number of slots, such as a large array.
            if let Some(event) = self.step(frame)? {
                self.jump(event)?;
            }
        }
        Ok(())
    }

    /// Leaves out what the last event began, which the caller has read up to a slot.
    pub(crate) fn pass(&mut self, at: usize) {
        self.stack.truncate(self.mark);
        self.at = at;
    }

    /// Skips what the last event began, if the Plan knows its number of slots. Returns whether it does.
    pub(crate) fn jump(&mut self, event: Event) -> Result<bool, Mismatch> {
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

    /// Skips a value of one slot, and returns its index.
    fn value(&mut self) -> Result<usize, Mismatch> {
        self.read()?;
        Ok(self.at - 1)
    }

    /// Skips the value of a leaf, and returns its first slot.
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

    /// Visits a particle with its markers.
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

    /// Visits a term without the markers of its particle.
    fn occurrence(&mut self, id: ParticleId) -> Result<Option<Event>, Mismatch> {
        let particle = self.plan.particle(id);
        match &particle.term {
            Term::Element(element) => {
                if self.plan.element(*element).has_state
                    && self.slots.get(self.at) == Some(&marker::ABSENT)
                {
                    // A choice without a branch is valid only where the particle is optional and does not repeat.
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

    /// Visits an element that is present.
    fn element(&mut self, id: ElementId) -> Result<Event, Mismatch> {
        let start = self.start(id)?;
        self.mark = self.stack.len();
        self.push(WalkFrame::End(id))?;
        if !start.nil {
            let ty = start.ty;
            self.push(WalkFrame::Attributes { ty, next: 0 })?;
        } else if self.plan.element(id).is_scalar {
            self.value()?;
        }
        Ok(Event::Start(start))
    }

    /// Reads the markers of an element that is present.
    fn start(&mut self, id: ElementId) -> Result<Start, Mismatch> {
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
        Ok(Start {
            element: id,
            ty,
            nil,
            at: self.at,
        })
    }
}

/// The child that a marker names.
pub(crate) fn named(children: &[ParticleId], marker: u64) -> Result<ParticleId, Mismatch> {
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
    // The slots before this one are known to be the same.
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

/// The octets that the slot at `at` points to; `None` if it points outside of the heap.
pub(crate) fn octets(record: &Record, at: usize) -> Option<&[u8]> {
    let (start, length) = heap_range(*record.slots.get(at)?);
    record.heap.get(start..start + length)
}
