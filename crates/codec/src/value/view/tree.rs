//! Converts a view into a tree: into a [`Value`], and through that into JSON.

use serde::ser::{Error as _, Serialize, Serializer};

use crate::plan::shape::{Shape, type_name};
use crate::plan::{Content, ElementId, LeafKind, Plan, TypeId};
use crate::record::kept;
use crate::record::walk::{Event, Mismatch, Start, Walk};
use crate::record::{Record, marker};
use crate::value::build::place::{Head, canonical};
use crate::value::{MAX_DEPTH, Object, Value};

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

/// Whether an element of this type is shown as its simple value alone.
fn is_plain(plan: &Plan, declared: TypeId, actual: TypeId) -> bool {
    let ty = plan.ty(actual);
    declared == actual
        && ty.attributes.is_empty()
        && ty.any_attribute.is_none()
        && matches!(ty.content, Content::Simple(_))
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
        if is_plain(self.plan, declared, start.ty) && !start.nil {
            let mut value = Value::Nil;
            while let Some(event) = self.walk.next()? {
                match event {
                    Event::Leaf { leaf, at } => {
                        value = LeafView::new(self.record, leaf, at).to_value();
                    }
                    Event::End(_) => break,
                    _ => {}
                }
            }
            return Ok(value);
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
            object: Object::new(),
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
        let mut values = Vec::new();
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
                    self.object.insert(plan.shapes().attribute_key(id), value);
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
                let key = self.shape.key(plan, name);
                // If children of this name can also be elsewhere, they are added one by one.
                let is_alone = self.shape.streams && self.mixed.is_none();
                let is_first =
                    || number_kind(plan, element).is_some() && self.object.get(key).is_none();
                if (is_alone || is_first())
                    && let Some(values) = self.tree.array(event)?
                {
                    let head = self.shape.index(name).filter(|_| !is_alone);
                    let head = head.map(Head::Child).into_iter();
                    self.order.extend(head.cycle().take(count));
                    self.object.insert(key, values);
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

    fn child(&mut self, name: bsoap_xml::NameId, value: Value) {
        let key = self.shape.key(self.tree.plan, name);
        if let Some(items) = &mut self.mixed {
            items.push(Value::object([(key, value)]));
            return;
        }
        self.order.extend(self.shape.index(name).map(Head::Child));
        if self.shape.repeats(name) {
            self.object.append(key, value);
        } else {
            self.object.insert(key, value);
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
                    Head::Child(index) => Value::from(&*self.shape.children[*index].key),
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
