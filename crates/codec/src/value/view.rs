//! A view: the value of an element within a Record, read without copying.
//!
//! Finding a child skips the children before it, those of fixed size in one step. Arrays of numbers are [`Column`]s, and
//! arrays of flat structs are [`Rows`] whose fields are Columns: both read the slots of the Record directly.

mod deserialize;
mod json;
mod leaf;
mod maker;
pub(crate) mod tree;

pub use leaf::LeafView;
pub use maker::{Key, Maker};
pub use tree::TreeError;

use std::borrow::Cow;
use std::ops::Range;

use crate::expanded;
use crate::plan::{Content, ElementId, LeafId, Plan, Term, TypeId};
use crate::record::walk::{Event, Start, Walk};
use crate::record::{Column, Record, Scalar, marker};

/// The value of an element within a Record.
#[derive(Clone, Copy, Debug)]
pub struct View<'r> {
    record: &'r Record,
    start: Start,
}

/// An item of an element's content.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Item<'r> {
    /// An element.
    Element(View<'r>),
    /// An element of a wildcard, as XML; or the whole content of an `anyType`.
    Xml(&'r str),
    /// Text of mixed content.
    Text(&'r str),
}

impl<'r> View<'r> {
    /// The root element of a Record.
    pub fn of(record: &'r Record) -> Self {
        let nothing = Start {
            element: record.root,
            ty: TypeId(0),
            nil: true,
            at: 0,
        };
        let start = Walk::root(record).unwrap_or(nothing);
        Self { record, start }
    }

    /// The element whose markers, or content if it has none, begin at a slot; for callers that know what is there. `None` if
    /// there is no such element.
    pub fn at(record: &'r Record, element: ElementId, slot: usize) -> Option<Self> {
        let start = Walk::item(record, element, slot)?;
        Some(Self { record, start })
    }

    /// The Record that it belongs to.
    pub fn record(&self) -> &'r Record {
        self.record
    }

    fn plan(&self) -> &'r Plan {
        &self.record.plan
    }

    /// The slot of the first attribute or of the content.
    pub fn first_slot(&self) -> usize {
        self.start.at
    }

    /// The slots of its attributes and its content.
    pub fn slots(&self) -> Range<usize> {
        let mut walk = self.walk();
        while let Ok(Some(event)) = walk.next() {
            if walk.skip(event).is_err() {
                break;
            }
        }
        self.start.at..walk.at()
    }

    /// The element's declaration.
    pub fn element_id(&self) -> ElementId {
        self.start.element
    }

    /// The actual type.
    pub fn type_id(&self) -> TypeId {
        self.start.ty
    }

    /// The element's local name.
    pub fn name(&self) -> &'r str {
        self.plan()
            .vocabulary
            .local(self.plan().element(self.start.element).name)
    }

    /// The namespace of the element's name; empty for none.
    pub fn namespace(&self) -> &'r str {
        self.plan()
            .vocabulary
            .namespace(self.plan().element(self.start.element).name)
    }

    /// Whether it is nil.
    pub fn is_nil(&self) -> bool {
        self.start.nil
    }

    fn walk(&self) -> Walk<'r> {
        Walk::inside(self.record, self.start)
    }

    /// Whether an element has a name, given as local name or as `{namespace}local`.
    fn is_called(&self, element: ElementId, name: &str) -> bool {
        let (vocabulary, id) = (&self.plan().vocabulary, self.plan().element(element).name);
        expanded::is_called(vocabulary, id, name)
    }

    /// The elements, XML and text in it, in the order of the text.
    pub fn items(&self) -> Items<'r> {
        Items {
            record: self.record,
            walk: self.walk(),
        }
    }

    /// The child elements in the order of the text, those in groups and choices too.
    pub fn children(&self) -> impl Iterator<Item = View<'r>> + use<'r> {
        self.items().filter_map(|item| match item {
            Item::Element(view) => Some(view),
            _ => None,
        })
    }

    /// The first child with a name, given as local name or as `{namespace}local`.
    pub fn child(&self, name: &str) -> Option<View<'r>> {
        let mut walk = self.walk();
        while let Ok(Some(event)) = walk.next() {
            match event {
                Event::Start(start) if self.is_called(start.element, name) => {
                    return Some(View {
                        record: self.record,
                        start,
                    });
                }
                Event::Start(_) => walk.skip(event).ok()?,
                Event::Array { element, .. } if !self.is_called(element, name) => {
                    walk.skip(event).ok()?;
                }
                _ => {}
            }
        }
        None
    }

    /// The children with a name.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = View<'r>> + use<'r, 'n> {
        let this = *self;
        self.children()
            .filter(move |child| this.is_called(child.start.element, name))
    }

    /// The attribute with this name, if it is present or has a default.
    pub fn attribute(&self, name: &str) -> Option<LeafView<'r>> {
        let vocabulary = &self.plan().vocabulary;
        let mut walk = self.walk();
        while let Ok(Some(Event::Attribute { id, presence, at })) = walk.next() {
            let attribute = self.plan().attribute(id);
            if expanded::is_called(vocabulary, attribute.name, name) {
                return (presence != marker::ABSENT)
                    .then(|| LeafView::new(self.record, attribute.leaf, at));
            }
        }
        None
    }

    /// The simple value of the element, if it has one.
    pub fn leaf(&self) -> Option<LeafView<'r>> {
        if !matches!(self.plan().ty(self.start.ty).content, Content::Simple(_)) {
            return None;
        }
        let mut walk = self.walk();
        while let Ok(Some(event)) = walk.next() {
            if let Event::Leaf { leaf, at } = event {
                return Some(LeafView::new(self.record, leaf, at));
            }
        }
        None
    }

    /// The number that the element has as its value.
    pub fn as_f64(&self) -> Option<f64> {
        self.leaf()?.as_f64()
    }

    /// The integer that the element has as its value.
    pub fn as_i64(&self) -> Option<i64> {
        self.leaf()?.as_i64()
    }

    /// The integer that the element has as its value, if it is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.leaf()?.as_u64()
    }

    /// The boolean that the element has as its value.
    pub fn as_bool(&self) -> Option<bool> {
        self.leaf()?.as_bool()
    }

    /// The element's value as text: numbers and octets in their lexical form. `None` if the element has no simple value.
    pub fn text(&self) -> Option<Cow<'r, str>> {
        Some(self.leaf()?.text())
    }

    /// The octets that the element has as its value.
    pub fn octets(&self) -> Option<&'r [u8]> {
        self.leaf()?.octets()
    }

    /// The array of a repeated child: its element, its count and its first slot.
    fn array(&self, name: &str) -> Option<(ElementId, usize, usize)> {
        let mut walk = self.walk();
        while let Ok(Some(event)) = walk.next() {
            match event {
                Event::Array { element, count, at } if self.is_called(element, name) => {
                    return Some((element, count, at));
                }
                Event::Array { .. } | Event::Start(_) => walk.skip(event).ok()?,
                _ => {}
            }
        }
        None
    }

    /// The numbers of a repeated child, without copying. `None` if there is no such child, or its values are not all
    /// numbers that fit into `T`, or can be nil.
    pub fn column<T: Scalar>(&self, name: &str) -> Option<Column<'r, T>> {
        let (element, count, at) = self.array(name)?;
        let Content::Simple(leaf) = self.plan().ty(self.plan().element(element).ty).content else {
            return None;
        };
        if self.plan().element(element).stride != Some(1) || !T::holds(self.plan().leaf(leaf).kind)
        {
            return None;
        }
        Some(Column::new(
            self.record.slots.get(at..at.checked_add(count)?)?,
            1,
        ))
    }

    /// The rows of a repeated child that is a flat struct, without copying. `None` if there is no such child, or its values
    /// can have different numbers of slots.
    pub fn rows(&self, name: &str) -> Option<Rows<'r>> {
        let (element, count, at) = self.array(name)?;
        Rows::at(self.record, element, at, count)
    }
}

/// Iterates over the content of an element, in the order of the text.
#[derive(Clone, Debug)]
pub struct Items<'r> {
    record: &'r Record,
    walk: Walk<'r>,
}

impl<'r> Iterator for Items<'r> {
    type Item = Item<'r>;

    fn next(&mut self) -> Option<Item<'r>> {
        let record = self.record;
        let text = |at: usize| record.text(record.slots[at]);
        while let Ok(Some(event)) = self.walk.next() {
            match event {
                Event::Start(start) => {
                    self.walk.skip(event).ok()?;
                    return Some(Item::Element(View { record, start }));
                }
                Event::Fragment { at } | Event::Inner { at } => return Some(Item::Xml(text(at))),
                Event::Text { at } => return Some(Item::Text(text(at))),
                _ => {}
            }
        }
        None
    }
}

/// An array of flat structs.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'r> {
    record: &'r Record,
    element: ElementId,
    at: usize,
    count: usize,
    stride: usize,
    slots: &'r [u64],
}

impl<'r> Rows<'r> {
    /// The `count` elements that begin at a slot. `None` if they can have different numbers of slots.
    fn at(record: &'r Record, element: ElementId, at: usize, count: usize) -> Option<Self> {
        let stride = record.plan.element(element).stride? as usize;
        let slots = record
            .slots
            .get(at..at.checked_add(count.checked_mul(stride)?)?)?;
        Some(Self {
            record,
            element,
            at,
            count,
            stride,
            slots,
        })
    }

    /// The Record that they belong to.
    pub fn record(&self) -> &'r Record {
        self.record
    }

    /// The declaration of the elements.
    pub fn element_id(&self) -> ElementId {
        self.element
    }

    /// The slots of all rows.
    pub fn slots(&self) -> Range<usize> {
        self.at..self.at + self.slots.len()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of slots of a row, 8 bytes each.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The row with an index; `None` if there is none.
    pub fn row(&self, index: usize) -> Option<View<'r>> {
        if index >= self.count {
            return None;
        }
        let at = self.at + index * self.stride;
        Some(View {
            record: self.record,
            start: Walk::item(self.record, self.element, at)?,
        })
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = View<'r>> + use<'r> {
        let this = *self;
        (0..self.count).filter_map(move |index| this.row(index))
    }

    /// A field of all rows: `name` is a required child that is a number and not nillable, or `@name` of a required
    /// attribute. `None` if there is no such field.
    pub fn column<T: Scalar>(&self, name: &str) -> Option<Column<'r, T>> {
        let plan = &self.record.plan;
        let element = plan.element(self.element);
        if element.has_state {
            return None;
        }
        let (fields, _) = plan.fields(element.ty);
        let field = fields.into_iter().find(|field| field.key == name)?;
        let (offset, leaf) = (field.slot, field.leaf);
        if !T::holds(plan.leaf(leaf).kind) {
            return None;
        }
        if self.count == 0 {
            return Some(Column::new(&[], self.stride));
        }
        Some(Column::new(self.slots.get(offset..)?, self.stride))
    }
}

/// A field of all rows of an array: a required attribute, or a required child that is a simple value and not nillable.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field<'p> {
    /// Its key in objects.
    pub key: &'p str,
    /// The index of its slot in a row.
    pub slot: usize,
    /// How the value is stored in the slot.
    pub leaf: LeafId,
}

impl Plan {
    /// The fields of a flat struct, and whether they are all that is in its rows.
    pub fn fields(&self, id: TypeId) -> (Vec<Field<'_>>, bool) {
        let ty = self.ty(id);
        let (mut fields, mut is_all) = (Vec::new(), ty.any_attribute.is_none());
        let mut slot = 0;
        for attribute in ty.attribute_ids() {
            let leaf = self.attribute(attribute).leaf;
            if self.attribute(attribute).required {
                fields.push(Field {
                    key: self.attribute_key(attribute),
                    slot,
                    leaf,
                });
                slot += 1;
            } else {
                is_all = false;
                slot += 2;
            }
        }
        slot += usize::from(ty.any_attribute.is_some());
        let mut particles = match ty.content {
            Content::Particle(content) => vec![content],
            Content::Simple(leaf) => {
                fields.push(Field {
                    key: "#text",
                    slot,
                    leaf,
                });
                vec![]
            }
            _ => vec![],
        };
        // A flat struct contains only sequences with a stride.
        while let Some(particle_id) = particles.pop() {
            let particle = self.particle(particle_id);
            match &particle.term {
                Term::Sequence(_) if particle.is_required_once() => {
                    particles.extend(self.children_of(particle_id).iter().rev());
                }
                term => {
                    let field = match term {
                        Term::Element(element) if particle.is_required_once() => {
                            self.field_of(id, *element)
                        }
                        _ => None,
                    };
                    match field {
                        Some((key, leaf)) => fields.push(Field { key, slot, leaf }),
                        None => is_all = false,
                    }
                    let Some(stride) = particle.stride else {
                        return (fields, false);
                    };
                    slot += stride as usize;
                }
            }
        }
        (fields, is_all)
    }

    /// The key and the leaf of a child that is one slot with a simple value.
    fn field_of(&self, parent: TypeId, id: ElementId) -> Option<(&str, LeafId)> {
        let element = self.element(id);
        match self.ty(element.ty).content {
            Content::Simple(leaf) if element.is_scalar && !element.has_state => {
                Some((self.key(parent, id), leaf))
            }
            _ => None,
        }
    }
}
