//! Reads an element of a Record as a tree: into a [`Value`], into what another [`Maker`] makes, or into JSON.
//!
//! [`Tree`] follows the Plan by recursion, which [`MAX_DEPTH`] and [`MAX_GROUPS`] limit, and hands the members of an element to [`Members`]:
//! an [`ObjectBuilder`], which calls a Maker, or a [`JsonWriter`](super::json::JsonWriter), which writes them at once.

use crate::decode::encoded::numbers;
use crate::plan::shape::{Shape, type_name};
use crate::plan::{Content, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId};
use crate::record::walk::{Event, Mismatch, Start, named};
use crate::record::{Record, kept, marker};
use crate::value::build::place::{Head, canonical};
use crate::value::{MAX_DEPTH, MAX_GROUPS, Object, Value};

use super::leaf::LeafView;
use super::maker::{Key, Maker, Values};
use super::{Rows, View};

/// Objects begin with space for at most this many members.
const FIRST: usize = 16;

/// Why a view could not be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeError {
    /// The slots do not fit the Plan.
    Mismatch,
    /// Elements nest deeper than [`MAX_DEPTH`].
    Depth,
}

impl From<Mismatch> for TreeError {
    fn from(_: Mismatch) -> Self {
        Self::Mismatch
    }
}

impl std::fmt::Display for TreeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mismatch => f.write_str("the record does not fit its plan"),
            Self::Depth => write!(
                f,
                "elements nest deeper than {MAX_DEPTH} (limit `MAX_DEPTH`)"
            ),
        }
    }
}

impl std::error::Error for TreeError {}

impl<'r> View<'r> {
    /// The element as a dynamic value.
    ///
    /// # Errors
    /// If elements nest deeper than [`MAX_DEPTH`], or the Record does not fit its Plan.
    pub fn to_value(&self) -> Result<Value, TreeError> {
        self.make(&mut Values)
    }

    /// The element as a value that a [`Maker`] makes of it.
    ///
    /// # Errors
    /// As [`to_value`](Self::to_value).
    pub fn make<M: Maker<'r>>(&self, maker: &mut M) -> Result<M::Value, TreeError> {
        Tree::new(self).value(self.start, maker)
    }

    /// Makes the children with a name one after another and hands them to `each`. [`all`](Self::all) reads a child to find the next one;
    /// this reads each child once.
    ///
    /// # Errors
    /// As [`to_value`](Self::to_value).
    pub fn make_all<M: Maker<'r>>(
        &self,
        name: &str,
        maker: &mut M,
        mut each: impl FnMut(M::Value),
    ) -> Result<(), TreeError> {
        let mut walk = self.walk();
        while let Some(event) = walk.next()? {
            let mut tree = Tree::new(self);
            match event {
                Event::Array { element, count, at } if self.is_called(element, name) => {
                    tree.at = at;
                    for _ in 0..count {
                        let start = tree.start(element)?;
                        each(tree.value(start, maker)?);
                    }
                    walk.pass(tree.at);
                }
                Event::Start(start) if self.is_called(start.element, name) => {
                    tree.at = start.at;
                    each(tree.value(start, maker)?);
                    walk.pass(tree.at);
                }
                event => walk.skip(event)?,
            }
        }
        Ok(())
    }
}

/// Reads slots by the Plan.
pub(super) struct Tree<'r> {
    pub(super) record: &'r Record,
    pub(super) plan: &'r Plan,
    /// The next slot.
    at: usize,
    depth: usize,
    /// The number of open groups.
    groups: usize,
}

/// Receives the members of an element, in the order of the Record.
pub(super) trait Members<'r> {
    /// A member with a simple value: an attribute or `#text`.
    fn leaf(&mut self, key: Key<'_>, leaf: LeafView<'r>) -> Result<(), TreeError>;

    /// The attributes of a wildcard, as XML.
    fn any_attribute(&mut self, xml: &'r str) -> Result<(), TreeError>;

    /// The index of a child in the shape.
    fn index(&self, plan: &Plan, element: ElementId) -> Result<usize, TreeError>;

    /// A child that is nothing but a simple value, by its index in the shape.
    fn value(&mut self, index: usize, leaf: LeafView<'r>) -> Result<(), TreeError>;

    /// Another child that does not repeat.
    fn child(&mut self, tree: &mut Tree<'r>, start: Start) -> Result<(), TreeError>;

    /// `count` children of one element, at least one.
    fn children(
        &mut self,
        tree: &mut Tree<'r>,
        element: ElementId,
        count: usize,
    ) -> Result<(), TreeError>;

    /// A text or XML: of mixed content, of an element of a wildcard, or the content of `anyType`.
    fn xml(&mut self, what: Xml, xml: &'r str) -> Result<(), TreeError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Xml {
    /// Text of mixed content.
    Text,
    /// An element of a wildcard.
    Element,
    /// The content of an `anyType`.
    Content,
}

/// The kind of the numbers in an array of this element; `None` if its values are not all numbers.
pub(super) fn number_kind(plan: &Plan, id: ElementId) -> Option<LeafKind> {
    let element = plan.element(id);
    match plan.ty(element.ty).content {
        Content::Simple(leaf) if element.stride == Some(1) => Some(plan.leaf(leaf).kind),
        _ => None,
    }
}

/// The key of an element's own value, if it has attributes.
const TEXT: &str = "#text";

impl<'r> Tree<'r> {
    pub(super) fn new(view: &View<'r>) -> Self {
        Self {
            record: view.record,
            plan: &view.record.plan,
            at: view.start.at,
            depth: 0,
            groups: 0,
        }
    }

    #[inline]
    fn slot(&mut self) -> Result<u64, TreeError> {
        let slot = *self.record.slots.get(self.at).ok_or(Mismatch)?;
        self.at += 1;
        Ok(slot)
    }

    fn count(&mut self) -> Result<usize, TreeError> {
        let count = self.slot()?;
        Ok(usize::try_from(count).map_err(|_| Mismatch)?)
    }

    fn text(&mut self) -> Result<&'r str, TreeError> {
        Ok(self.record.text(self.slot()?))
    }

    #[inline]
    fn leaf(&mut self, leaf: LeafId) -> Result<LeafView<'r>, TreeError> {
        let at = self.at;
        let first = self.slot()?;
        if let LeafKind::List(_) = self.plan.leaf(leaf).kind {
            let items = usize::try_from(first).map_err(|_| Mismatch)?;
            let end = self.at.checked_add(items);
            let end = end.filter(|&end| end <= self.record.slots.len());
            self.at = end.ok_or(Mismatch)?;
        }
        Ok(LeafView::new(self.record, leaf, at))
    }

    /// Reads the markers of an element that is present.
    #[inline]
    pub(super) fn start(&mut self, id: ElementId) -> Result<Start, TreeError> {
        let element = self.plan.element(id);
        let (mut nil, mut ty) = (false, element.ty);
        if element.has_state {
            let state = self.slot()?;
            nil = match marker::presence(state) {
                marker::PRESENT => false,
                marker::NIL => true,
                _ => return Err(TreeError::Mismatch),
            };
            ty = marker::actual_type(state);
            if ty.index() >= self.plan.types.len() {
                return Err(TreeError::Mismatch);
            }
        }
        Ok(Start {
            element: id,
            ty,
            nil,
            at: self.at,
        })
    }

    /// Reads an element that is shown as its simple value alone; `None` if it is not.
    #[inline]
    pub(super) fn simple(&mut self, start: Start) -> Result<Option<LeafView<'r>>, TreeError> {
        let ty = self.plan.ty(start.ty);
        match ty.content {
            Content::Simple(leaf)
                if !start.nil
                    && ty.attributes.is_empty()
                    && ty.any_attribute.is_none()
                    && self.plan.element(start.element).ty == start.ty =>
            {
                self.leaf(leaf).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Reads an element that has begun, to its end.
    pub(super) fn value<M: Maker<'r>>(
        &mut self,
        start: Start,
        maker: &mut M,
    ) -> Result<M::Value, TreeError> {
        if let Some(leaf) = self.simple(start)? {
            return Ok(maker.leaf(leaf));
        }
        let mut members = ObjectBuilder::new(self.record, start, maker);
        self.members(start, &mut members)?;
        Ok(members.finish())
    }

    /// Reads the attributes and the content of an element that has begun.
    pub(super) fn members<M: Members<'r>>(
        &mut self,
        start: Start,
        members: &mut M,
    ) -> Result<(), TreeError> {
        if start.nil {
            // A scalar has a slot for its value even if it is nil.
            self.at += usize::from(self.plan.element(start.element).is_scalar);
            return Ok(());
        }
        if self.depth >= MAX_DEPTH {
            return Err(TreeError::Depth);
        }
        self.depth += 1;
        let result = self
            .attributes(start.ty, members)
            .and_then(|()| self.content(start.ty, members));
        self.depth -= 1;
        result
    }

    fn attributes<M: Members<'r>>(&mut self, id: TypeId, members: &mut M) -> Result<(), TreeError> {
        let ty = self.plan.ty(id);
        for id in ty.attribute_ids() {
            let attribute = self.plan.attribute(id);
            let presence = match attribute.required {
                true => marker::PRESENT,
                false => self.slot()?,
            };
            let leaf = self.leaf(attribute.leaf)?;
            if attribute.array.is_some() && self.is_count(leaf.heap_text()) {
                continue;
            }
            if presence != marker::ABSENT {
                members.leaf(
                    Key::Attribute(id, self.plan.shapes().attribute_key(id)),
                    leaf,
                )?;
            }
        }
        if ty.any_attribute.is_some() {
            let xml = self.text()?;
            if !xml.is_empty() {
                members.any_attribute(xml)?;
            }
        }
        Ok(())
    }

    /// Whether the size of an array says no more than the number of its items, which comes next.
    fn is_count(&self, size: &str) -> bool {
        let count = self.record.slots.get(self.at);
        matches!(numbers(size).as_deref(), Some([only]) if Some(only) == count)
    }

    fn content<M: Members<'r>>(&mut self, id: TypeId, members: &mut M) -> Result<(), TreeError> {
        match &self.plan.ty(id).content {
            Content::Empty => Ok(()),
            Content::Simple(leaf) => {
                let leaf = self.leaf(*leaf)?;
                members.leaf(Key::Other(TEXT), leaf)
            }
            Content::Particle(particle) => {
                let shape = self.plan.shapes().of(id);
                match shape.is_flat {
                    true => self.flat(shape, members),
                    false => self.particle(*particle, members),
                }
            }
            Content::Mixed { elements, .. } => {
                let elements = self.plan.group(elements);
                for _ in 0..self.count()? {
                    match self.slot()? {
                        0 => {
                            let text = self.text()?;
                            members.xml(Xml::Text, text)?;
                        }
                        marker => {
                            let child = self.named(elements, marker)?;
                            self.occurrence(child, members)?;
                        }
                    }
                }
                Ok(())
            }
            Content::Any => {
                let xml = self.text()?;
                members.xml(Xml::Content, xml)
            }
        }
    }

    /// Reads children whose slots follow one another.
    fn flat<M: Members<'r>>(&mut self, shape: &'r Shape, members: &mut M) -> Result<(), TreeError> {
        let slots = &self.record.slots;
        for (index, child) in shape.children.iter().enumerate() {
            let is_there = !child.is_optional || slots.get(self.at) == Some(&marker::PRESENT);
            match child.plain {
                Some(leaf) if is_there => {
                    let at = self.at + usize::from(child.is_optional);
                    if at >= slots.len() {
                        return Err(TreeError::Mismatch);
                    }
                    self.at = at + 1;
                    members.value(index, LeafView::new(self.record, leaf, at))?;
                }
                _ => self.particle(child.particle, members)?,
            }
        }
        Ok(())
    }

    fn named(&self, children: &[ParticleId], marker: u64) -> Result<ParticleId, TreeError> {
        Ok(named(children, marker)?)
    }

    /// Reads a particle with its markers.
    fn particle<M: Members<'r>>(
        &mut self,
        id: ParticleId,
        members: &mut M,
    ) -> Result<(), TreeError> {
        let particle = self.plan.particle(id);
        if particle.repeats() {
            let count = self.count()?;
            return match particle.term {
                Term::Element(_) if count == 0 => Ok(()),
                Term::Element(element) => members.children(self, element, count),
                _ => (0..count).try_for_each(|_| self.occurrence(id, members)),
            };
        }
        let has_marker = match &particle.term {
            Term::Choice(_) => false,
            Term::Element(element) => particle.min == 0 && !self.plan.element(*element).has_state,
            _ => particle.min == 0,
        };
        if !has_marker {
            return self.occurrence(id, members);
        }
        match self.slot()? {
            marker::PRESENT => self.occurrence(id, members),
            marker::ABSENT => {
                let has_slot = match &particle.term {
                    Term::Any(_) => true,
                    Term::Element(element) => self.plan.element(*element).is_scalar,
                    _ => false,
                };
                self.at += usize::from(has_slot);
                Ok(())
            }
            _ => Err(TreeError::Mismatch),
        }
    }

    /// Reads a term without the markers of its particle.
    fn occurrence<M: Members<'r>>(
        &mut self,
        id: ParticleId,
        members: &mut M,
    ) -> Result<(), TreeError> {
        let plan = self.plan;
        let particle = plan.particle(id);
        match &particle.term {
            Term::Element(id) => {
                let element = plan.element(*id);
                let is_absent = element.has_state
                    && self.record.slots.get(self.at) == Some(&marker::ABSENT)
                    && particle.min == 0
                    && !particle.repeats();
                if is_absent {
                    self.at += 1 + usize::from(element.is_scalar);
                    return Ok(());
                }
                if let Some(leaf) = plan.shapes().of(element.ty).plain
                    && !element.has_state
                {
                    let leaf = self.leaf(leaf)?;
                    let index = members.index(plan, *id)?;
                    return members.value(index, leaf);
                }
                let start = self.start(*id)?;
                members.child(self, start)
            }
            Term::Any(_) => {
                let xml = self.text()?;
                members.xml(Xml::Element, xml)
            }
            _ => {
                if self.groups >= MAX_GROUPS {
                    return Err(TreeError::Depth);
                }
                self.groups += 1;
                let result = self.group(&particle.term, members);
                self.groups -= 1;
                result
            }
        }
    }

    /// Reads the children of a group.
    fn group<M: Members<'r>>(&mut self, term: &Term, members: &mut M) -> Result<(), TreeError> {
        let plan = self.plan;
        match term {
            Term::Sequence(children) => {
                let mut children = plan.group(children).iter();
                children.try_for_each(|&child| self.particle(child, members))
            }
            Term::Choice(children) => match self.slot()? {
                0 => Ok(()),
                marker => {
                    let child = self.named(plan.group(children), marker);
                    self.particle(child?, members)
                }
            },
            Term::All(children) => {
                let children = plan.group(children);
                for _ in 0..self.count()? {
                    let marker = self.slot()?;
                    let child = self.named(children, marker)?;
                    match plan.particle(child).repeats() {
                        true => self.particle(child, members)?,
                        false => self.occurrence(child, members)?,
                    }
                }
                Ok(())
            }
            Term::Element(_) | Term::Any(_) => Ok(()),
        }
    }

    /// Reads the simple values of an array, or its flat structs, at once. `None`, with nothing read, if the maker makes them one by
    /// one.
    fn together<M: Maker<'r>>(
        &mut self,
        element: ElementId,
        count: usize,
        maker: &mut M,
    ) -> Option<M::Value> {
        let stride = self.plan.element(element).stride? as usize;
        let end = self.at.checked_add(count.checked_mul(stride)?)?;
        let slots = self.at..end;
        let values = match number_kind(self.plan, element) {
            Some(kind) => {
                self.record.slots.get(slots.clone())?;
                maker.column(self.record, kind, slots)
            }
            None => maker.rows(Rows::at(self.record, element, self.at, count)?),
        };
        values.inspect(|_| self.at = end)
    }
}

/// Makes an object of the members of an element.
struct ObjectBuilder<'r, 'm, M: Maker<'r>> {
    maker: &'m mut M,
    plan: &'r Plan,
    record: &'r Record,
    shape: &'r Shape,
    start: Start,
    object: M::Object,
    /// The number of members in the object.
    members: usize,
    /// The index in the shape at which the next child is expected.
    near: usize,
    /// The children in the order of the text, in case `#order` is needed.
    order: Vec<Head>,
    /// By index in the shape, whether there was a child, if children of one name can be apart.
    seen: Vec<bool>,
    mixed: Option<Vec<M::Value>>,
    fragments: Vec<M::Value>,
    /// The XML that is the content of an `anyType`.
    content: Option<&'r str>,
}

impl<'r, 'm, M: Maker<'r>> ObjectBuilder<'r, 'm, M> {
    fn new(record: &'r Record, start: Start, maker: &'m mut M) -> Self {
        let plan: &Plan = &record.plan;
        let shape = plan.shapes().of(start.ty);
        let expected = shape.children.len() + plan.ty(start.ty).attribute_ids().len();
        let mut object = maker.begin(record, Some(start.ty), expected.min(FIRST));
        let mut members = 0;
        if start.nil {
            let nil = maker.boolean(true);
            maker.push(&mut object, Key::Other(shape.nil_key()), nil);
            members += 1;
        }
        let declared = plan.element(start.element).ty;
        if start.ty != declared
            && let Some(name) = type_name(plan, declared, start.ty)
        {
            let name = maker.text(&name);
            maker.push(&mut object, Key::Other(shape.type_key()), name);
            members += 1;
        }
        let is_mixed = matches!(plan.ty(start.ty).content, Content::Mixed { .. }) && !start.nil;
        Self {
            maker,
            plan,
            record,
            shape,
            start,
            object,
            members,
            near: 0,
            order: Vec::new(),
            seen: match shape.streams {
                true => Vec::new(),
                false => vec![false; shape.children.len()],
            },
            mixed: is_mixed.then(Vec::new),
            fragments: Vec::new(),
            content: None,
        }
    }

    #[inline]
    fn push(&mut self, key: Key<'_>, value: M::Value) {
        self.members += 1;
        self.maker.push(&mut self.object, key, value);
    }

    fn key(&self, index: usize) -> Key<'r> {
        Key::Child(index, &self.shape.children[index].key)
    }

    #[inline]
    fn add(&mut self, index: usize, value: M::Value) {
        let key = self.key(index);
        if let Some(items) = &mut self.mixed {
            let mut item = self.maker.begin(self.record, None, 1);
            self.maker.push(&mut item, Key::Other(key.as_str()), value);
            items.push(self.maker.end(item));
            return;
        }
        if !self.shape.streams {
            self.order.push(Head::Child(index));
            self.seen[index] = true;
        }
        if self.shape.children[index].repeats {
            self.members += 1;
            self.maker.append(&mut self.object, key, value);
        } else {
            self.push(key, value);
        }
    }

    fn finish(mut self) -> M::Value {
        let start = self.start;
        let plan = self.plan;
        let declared = plan.element(start.element).ty;
        if let Some(items) = self.mixed.take() {
            let items = self.maker.array(items);
            self.push(Key::Other("#mixed"), items);
        }
        if !self.fragments.is_empty() {
            let fragments = std::mem::take(&mut self.fragments);
            let fragments = self.maker.array(fragments);
            self.push(Key::Other("#any"), fragments);
        }
        if start.nil && start.ty == declared {
            return self.maker.nil();
        }
        if matches!(plan.ty(start.ty).content, Content::Any) {
            return self.any_content();
        }
        if let Content::Particle(particle) = plan.ty(start.ty).content
            && !self.shape.streams
            && !start.nil
            // The order of accessors means nothing.
            && plan.encoded(start.element).is_none()
        {
            let mut counts = vec![0; self.shape.children.len()];
            let mut any = 0;
            for head in &self.order {
                match head {
                    Head::Child(index) => counts[*index] += 1,
                    Head::Any => any += 1,
                }
            }
            if canonical(plan, start.ty, particle, &counts, any).as_ref() != Some(&self.order) {
                let order = std::mem::take(&mut self.order);
                let names = order.iter().map(|head| match head {
                    Head::Child(index) => self.maker.text(&self.shape.children[*index].key),
                    Head::Any => self.maker.text("#any"),
                });
                let names = names.collect();
                let names = self.maker.array(names);
                self.push(Key::Other("#order"), names);
            }
        }
        self.maker.end(self.object)
    }

    /// The content of `anyType`: a text if it is only text, nothing if there is no content.
    fn any_content(mut self) -> M::Value {
        let xml = self.content.unwrap_or_default();
        if self.members == 0 && !xml.contains(['<', '&']) && self.content.is_some() {
            return self.maker.text(xml);
        }
        if !xml.is_empty() {
            let xml = self.maker.text(xml);
            let xml = self.maker.array(vec![xml]);
            self.push(Key::Other("#any"), xml);
        }
        self.maker.end(self.object)
    }
}

impl<'r, M: Maker<'r>> Members<'r> for ObjectBuilder<'r, '_, M> {
    fn leaf(&mut self, key: Key<'_>, leaf: LeafView<'r>) -> Result<(), TreeError> {
        let value = self.maker.leaf(leaf);
        self.push(key, value);
        Ok(())
    }

    fn any_attribute(&mut self, xml: &'r str) -> Result<(), TreeError> {
        let attributes = attributes_by_name(xml);
        if attributes.is_empty() {
            return Ok(());
        }
        let mut object = self.maker.begin(self.record, None, attributes.len());
        for (name, value) in &attributes {
            let value = self.maker.text(value);
            self.maker.push(&mut object, Key::Other(name), value);
        }
        let object = self.maker.end(object);
        self.push(Key::Other("@any"), object);
        Ok(())
    }

    #[inline]
    fn child(&mut self, tree: &mut Tree<'r>, start: Start) -> Result<(), TreeError> {
        let value = tree.value(start, self.maker)?;
        let index = self.index(tree.plan, start.element)?;
        self.near = index + 1;
        self.add(index, value);
        Ok(())
    }

    #[inline]
    fn index(&self, plan: &Plan, element: ElementId) -> Result<usize, TreeError> {
        let name = plan.element(element).name;
        let index = self.shape.index_near(name, self.near);
        index.ok_or(TreeError::Mismatch)
    }

    #[inline]
    fn value(&mut self, index: usize, leaf: LeafView<'r>) -> Result<(), TreeError> {
        self.near = index + 1;
        if !self.shape.is_flat || self.mixed.is_some() {
            let value = self.maker.leaf(leaf);
            self.add(index, value);
            return Ok(());
        }
        self.members += 1;
        let key = self.key(index);
        self.maker.push_leaf(&mut self.object, key, leaf);
        Ok(())
    }

    fn children(
        &mut self,
        tree: &mut Tree<'r>,
        element: ElementId,
        count: usize,
    ) -> Result<(), TreeError> {
        let index = self.index(tree.plan, element)?;
        self.near = index + 1;
        let is_mixed = self.mixed.is_some();
        // Children of this name can also be elsewhere: what comes later is added one by one.
        let is_first = self.shape.streams || !std::mem::replace(&mut self.seen[index], true);
        let together = match is_first && !is_mixed {
            true => tree.together(element, count, self.maker),
            false => None,
        };
        let values = match together {
            Some(values) if self.shape.streams => values,
            Some(values) => {
                let heads = std::iter::repeat_n(Head::Child(index), count);
                self.order.extend(heads);
                values
            }
            None if is_mixed || !self.shape.streams => {
                return (0..count).try_for_each(|_| {
                    let start = tree.start(element)?;
                    self.child(tree, start)
                });
            }
            None => {
                // Each element has at least one slot, unless it is empty.
                let left = tree.record.slots.len().saturating_sub(tree.at);
                let mut values = Vec::with_capacity(count.min(left));
                for _ in 0..count {
                    let start = tree.start(element)?;
                    values.push(tree.value(start, self.maker)?);
                }
                self.maker.array(values)
            }
        };
        self.push(self.key(index), values);
        Ok(())
    }

    fn xml(&mut self, what: Xml, xml: &'r str) -> Result<(), TreeError> {
        if what == Xml::Content {
            self.content = Some(xml);
            return Ok(());
        }
        let text = self.maker.text(xml);
        match (what, &mut self.mixed) {
            (Xml::Text, mixed) => mixed.get_or_insert_default().push(text),
            (_, Some(items)) => {
                let mut item = self.maker.begin(self.record, None, 1);
                self.maker.push(&mut item, Key::Other("#any"), text);
                items.push(self.maker.end(item));
            }
            (_, None) => {
                self.order.push(Head::Any);
                self.fragments.push(text);
            }
        }
        Ok(())
    }
}

/// The attributes of a wildcard as an object; `None` if there are none.
pub(crate) fn kept_attributes(xml: &str) -> Option<Value> {
    let members = attributes_by_name(xml).into_iter();
    let members: Object = members
        .map(|(name, value)| (name, Value::from(value)))
        .collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// The attributes of a wildcard by their local or expanded names.
fn attributes_by_name(xml: &str) -> Vec<(String, String)> {
    let attributes = kept::attributes(xml).unwrap_or_default();
    let members = attributes.into_iter().map(|kept| {
        let name = match &*kept.namespace {
            "" => kept.local.to_string(),
            namespace => format!("{{{namespace}}}{}", kept.local),
        };
        (name, kept.value.to_string())
    });
    members.collect()
}
