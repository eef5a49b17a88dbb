//! Converts a view into a tree: into a [`Value`], and through that into JSON.

use serde::ser::{Error as _, Serialize, Serializer};

use bsoap_xml::NameId;

use crate::plan::shape::{Shape, type_name};
use crate::plan::{Content, ElementId, LeafKind, Plan, TypeId};
use crate::record::kept;
use crate::record::walk::{Event, Mismatch, Start, Walk};
use crate::record::{Record, marker};
use crate::value::build::place::{Head, canonical};
use crate::value::{MAX_DEPTH, Object, Value};

/// Objects begin with space for at most this many members.
const FIRST: usize = 12;


use super::View;
use super::leaf::{LeafView, numbers};

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

impl View<'_> {
    /// The element as a dynamic value.
    ///
    /// # Errors
    /// If elements nest deeper than [`MAX_DEPTH`], or the Record does not fit its Plan.
    pub fn to_value(&self) -> Result<Value, TreeError> {
        let mut tree = Tree {
            record: self.record,
            plan: &self.record.plan,
            walk: self.walk(),
            depth: 0,
        };
        tree.element(self.start)
    }
}

/// Makes values of the events of a walk.
struct Tree<'r> {
    record: &'r Record,
    plan: &'r Plan,
    walk: Walk<'r>,
    depth: usize,
}

/// The kind of the numbers in an array of this element; `None` if its values are not all numbers.
fn number_kind(plan: &Plan, id: ElementId) -> Option<LeafKind> {
    let element = plan.element(id);
    match plan.ty(element.ty).content {
        Content::Simple(leaf) if element.stride == Some(1) => Some(plan.leaf(leaf).kind),
        _ => None,
    }
}

impl<'r> Tree<'r> {
    fn text(&self, at: usize) -> &'r str {
        self.record.text(self.record.slots[at])
    }

    /// Reads an element that has begun, to its end.
    fn element(&mut self, start: Start) -> Result<Value, TreeError> {
        let declared = self.plan.element(start.element).ty;
        if declared == start.ty
            && let Some((leaf, at)) = self.walk.simple(start)?
        {
            return Ok(LeafView::new(self.record, leaf, at).to_value());
        }
        if self.depth >= MAX_DEPTH {
            return Err(TreeError::Depth);
        }
        self.depth += 1;
        let value = self.object(start, declared);
        self.depth -= 1;
        value
    }

    fn object(&mut self, start: Start, declared: TypeId) -> Result<Value, TreeError> {
        let shape = self.plan.shapes().of(start.ty);
        let mut members = Members {
            tree: self,
            shape,
            object: Object::with_capacity(shape.children.len().min(FIRST)),
            near: 0,
            order: Vec::new(),
            mixed: None,
            fragments: Vec::new(),
        };
        if start.nil {
            members.object.insert(shape.nil_key(), true);
        }
        if start.ty != declared
            && let Some(name) = type_name(members.tree.plan, declared, start.ty)
        {
            members.object.insert(shape.type_key(), name);
        }
        if matches!(
            members.tree.plan.ty(start.ty).content,
            Content::Mixed { .. }
        ) && !start.nil
        {
            members.mixed = Some(Vec::new());
        }
        while let Some(event) = members.tree.walk.next()? {
            if matches!(event, Event::End(_)) {
                break;
            }
            members.add(event)?;
        }
        Ok(members.finish(start, declared))
    }

    /// Reads an array that has begun.
    fn array(&mut self, event: Event) -> Result<Option<Value>, TreeError> {
        let Event::Array { element, count, at } = event else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(None);
        }
        if let Some(values) =
            number_kind(self.plan, element).and_then(|kind| numbers(self.record, kind, at, count))
        {
            self.walk.skip(event)?;
            return Ok(Some(values));
        }
        // Each element has at least one slot, unless it is empty.
        let mut values = Vec::with_capacity(count.min(self.record.slots.len() - at));
        for _ in 0..count {
            if let Some(Event::Start(start)) = self.walk.next()? {
                values.push(self.element(start)?);
            }
        }
        Ok(Some(Value::Array(values)))
    }
}

/// The members of an object so far.
struct Members<'t, 'r> {
    tree: &'t mut Tree<'r>,
    shape: &'r Shape,
    object: Object,
    /// Where the next child is expected among those of the shape.
    near: usize,
    /// The children in the order of the text, in case `#order` is needed.
    order: Vec<Head>,
    mixed: Option<Vec<Value>>,
    fragments: Vec<Value>,
}

impl Members<'_, '_> {
    fn add(&mut self, event: Event) -> Result<(), TreeError> {
        let plan = self.tree.plan;
        match event {
            Event::Attribute { id, presence, at } => {
                if presence != marker::ABSENT {
                    let value =
                        LeafView::new(self.tree.record, plan.attribute(id).leaf, at).to_value();
                    let key = plan.shapes().attribute_key(id);
                    self.object.push(key.clone(), value);
                }
            }
            Event::AnyAttribute { at } => {
                if let Some(attributes) = kept_attributes(self.tree.text(at)) {
                    self.object.insert("@any", attributes);
                }
            }
            Event::Leaf { leaf, at } => {
                self.object.insert(
                    "#text",
                    LeafView::new(self.tree.record, leaf, at).to_value(),
                );
            }
            Event::Array { element, count, .. } => {
                let name = plan.element(element).name;
                let Some(index) = self.index(name) else {
                    return Ok(());
                };
                let key = &self.shape.children[index].key;
                // If children of this name can also be elsewhere, they are added one by one.
                let is_alone = self.shape.streams && self.mixed.is_none();
                let is_first =
                    || number_kind(plan, element).is_some() && self.object.get(key).is_none();
                if (is_alone || is_first())
                    && let Some(values) = self.tree.array(event)?
                {
                    if !is_alone {
                        self.order
                            .extend(std::iter::repeat_n(Head::Child(index), count));
                    }
                    self.object.push(key.clone(), values);
                }
            }
            Event::Start(start) => {
                let name = plan.element(start.element).name;
                let value = self.tree.element(start)?;
                self.child(name, value);
            }
            Event::Text { at } => {
                let text = Value::from(self.tree.text(at));
                self.mixed.get_or_insert_default().push(text);
            }
            Event::Fragment { at } => {
                let xml = Value::from(self.tree.text(at));
                match &mut self.mixed {
                    Some(items) => items.push(Value::object([("#any", xml)])),
                    None => {
                        self.order.push(Head::Any);
                        self.fragments.push(xml);
                    }
                }
            }
            Event::Inner { at } => {
                let xml = self.tree.text(at);
                self.object.append("#any", Value::from(xml));
            }
            Event::End(_) => {}
        }
        Ok(())
    }

    /// The index of a child in the shape.
    fn index(&mut self, name: NameId) -> Option<usize> {
        let index = self.shape.index_near(name, self.near)?;
        self.near = index;
        Some(index)
    }

    fn child(&mut self, name: NameId, value: Value) {
        let Some(index) = self.index(name) else {
            return;
        };
        let child = &self.shape.children[index];
        if let Some(items) = &mut self.mixed {
            items.push(Value::object([(child.key.clone(), value)]));
            return;
        }
        if !self.shape.streams {
            self.order.push(Head::Child(index));
        }
        if child.repeats {
            self.object.append(&child.key, value);
        } else {
            self.object.push(child.key.clone(), value);
        }
    }

    fn finish(mut self, start: Start, declared: TypeId) -> Value {
        let plan = self.tree.plan;
        if let Some(items) = self.mixed.take() {
            self.object.insert("#mixed", Value::Array(items));
        }
        if !self.fragments.is_empty() {
            self.object
                .insert("#any", Value::Array(std::mem::take(&mut self.fragments)));
        }
        if start.nil && start.ty == declared {
            return Value::Nil;
        }
        if matches!(plan.ty(start.ty).content, Content::Any) {
            return any_content(self.object);
        }
        if let Content::Particle(particle) = plan.ty(start.ty).content
            && !self.shape.streams
            && !start.nil
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
                let names = self.order.iter().map(|head| match head {
                    Head::Child(index) => Value::from(self.shape.children[*index].key.clone()),
                    Head::Any => Value::from("#any"),
                });
                self.object.insert("#order", Value::Array(names.collect()));
            }
        }
        Value::Object(self.object)
    }
}

/// The content of `anyType`: a text if it is only text, nothing if there is no content.
fn any_content(mut object: Object) -> Value {
    let xml = match object.get("#any") {
        Some(Value::Array(pieces)) => pieces.first().and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    };
    if object.len() == 1 && !xml.contains(['<', '&']) {
        return Value::from(xml);
    }
    if xml.is_empty() {
        object.remove("#any");
    }
    Value::Object(object)
}

fn kept_attributes(xml: &str) -> Option<Value> {
    let attributes = kept::attributes(xml)?;
    let members = attributes.into_iter().map(|kept| {
        let name = match &*kept.namespace {
            "" => kept.local,
            namespace => format!("{{{namespace}}}{}", kept.local),
        };
        (name, Value::from(kept.value))
    });
    let members: Object = members.collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// Serialises the view as JSON, by the convention of `docs/design/between-crates.md`.
impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.to_value().map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}
