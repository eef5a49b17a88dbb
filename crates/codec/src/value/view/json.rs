//! Writes an element of a Record as JSON text, by the convention of `docs/design/between-crates.md`. No [`Value`](crate::Value)
//! is made, except where children of one name can be apart in the Record, for derived types, and in mixed content. Benchmark: `json-out`.
//!
//! Each member of an object and each item of an array is written with a comma before it. When the object or array ends, its
//! first comma is replaced by the opening bracket.

use serde::ser::{Error as _, Serialize, Serializer};

use bsoap_datatypes::{boolean, double, integer};

use crate::plan::shape::Shape;
use crate::plan::{Content, ElementId, LeafKind, Plan};
use crate::record::walk::Start;
use crate::value::json::string;

use super::View;
use super::leaf::LeafView;
use super::maker::{Key, Values};
use super::tree::{Members, Tree, TreeError, Xml, kept_attributes};

/// JSON text begins with space for at most this many bytes.
const FIRST: usize = 4096;

/// About how many bytes of JSON there are for a slot, with the key, but without what is in the heap.
const FOR_SLOT: usize = 24;

impl View<'_> {
    /// The element as a JSON document on one line.
    ///
    /// # Errors
    /// As [`to_value`](Self::to_value).
    pub fn to_json(&self) -> Result<String, TreeError> {
        let record = self.record;
        let estimate = record.slots.len() * FOR_SLOT + record.heap.len();
        let mut out = Vec::with_capacity(estimate.min(FIRST));
        element(&mut Tree::new(self), self.start, &mut out)?;
        String::from_utf8(out).map_err(|_| TreeError::Mismatch)
    }
}

/// Makes a [`Value`](crate::Value) of the whole element and serializes that. [`View::to_json`] writes JSON text without one.
impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.to_value().map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}

/// Writes an element that has begun.
fn element(tree: &mut Tree<'_>, start: Start, out: &mut Vec<u8>) -> Result<(), TreeError> {
    if let Some(leaf) = tree.simple(start)? {
        return simple(leaf, out);
    }
    let shape = tree.plan.shapes().of(start.ty);
    if !is_listed(tree.plan, shape, start) {
        return serialized(&tree.value(start, &mut Values)?, out);
    }
    let mut members = JsonWriter {
        begin: out.len(),
        out,
        shape,
        near: 0,
        fragments: Vec::new(),
    };
    tree.members(start, &mut members)?;
    members.finish()
}

/// Whether the members of an object are in the order of the Record, and nothing else is in it.
pub(super) fn is_listed(plan: &Plan, shape: &Shape, start: Start) -> bool {
    let ty = plan.ty(start.ty);
    // The attributes of a wildcard may replace one named `any`.
    let has_twin = ty.any_attribute.is_some()
        && ty
            .attribute_ids()
            .any(|id| plan.shapes().attribute_key(id) == "@any");
    let is_listed = match ty.content {
        Content::Empty | Content::Simple(_) => true,
        Content::Particle(_) => shape.streams,
        Content::Mixed { .. } | Content::Any => false,
    };
    is_listed && !has_twin && !start.nil && plan.element(start.element).ty == start.ty
}

/// Writes a simple value.
#[inline]
fn simple(leaf: LeafView<'_>, out: &mut Vec<u8>) -> Result<(), TreeError> {
    let slot = leaf.bits();
    match leaf.kind() {
        LeafKind::Text | LeafKind::Name => string(leaf.heap_text(), out),
        LeafKind::Signed { .. } => integer::write_i64(slot as i64, out),
        LeafKind::Unsigned { .. } => integer::write_u64(slot, out),
        LeafKind::Boolean => out.extend_from_slice(boolean::text(slot != 0).as_bytes()),
        LeafKind::Double if f64::from_bits(slot).is_finite() => {
            double::write_with_fraction(f64::from_bits(slot), out);
        }
        _ => return serialized(&leaf, out),
    }
    Ok(())
}

fn serialized(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), TreeError> {
    serde_json::to_writer(out, value).map_err(|_| TreeError::Mismatch)
}

/// Replaces the first comma behind `begin` by an opening bracket, and writes the closing one.
fn enclose(begin: usize, [open, close]: [u8; 2], out: &mut Vec<u8>) {
    match out.get_mut(begin) {
        Some(comma) => *comma = open,
        None => out.push(open),
    }
    out.push(close);
}

/// Writes the members of an element whose children are in the order of the Record.
struct JsonWriter<'o, 'r> {
    out: &'o mut Vec<u8>,
    /// Where the object begins.
    begin: usize,
    shape: &'r Shape,
    /// The index in the shape at which the next child is expected.
    near: usize,
    fragments: Vec<&'r str>,
}

impl JsonWriter<'_, '_> {
    /// Writes the key of a child.
    #[inline]
    fn child_key(&mut self, index: usize) {
        self.near = index + 1;
        let key = &self.shape.children[index].json_key;
        self.out.extend_from_slice(key.as_bytes());
    }

    fn key(&mut self, key: &str) {
        self.out.push(b',');
        string(key, self.out);
        self.out.push(b':');
    }

    fn finish(mut self) -> Result<(), TreeError> {
        if !self.fragments.is_empty() {
            self.key("#any");
            serialized(&self.fragments, self.out)?;
        }
        enclose(self.begin, *b"{}", self.out);
        Ok(())
    }
}

impl<'r> Members<'r> for JsonWriter<'_, 'r> {
    fn leaf(&mut self, key: Key<'_>, leaf: LeafView<'r>) -> Result<(), TreeError> {
        self.key(key.as_str());
        simple(leaf, self.out)
    }

    fn any_attribute(&mut self, xml: &'r str) -> Result<(), TreeError> {
        match kept_attributes(xml) {
            Some(attributes) => {
                self.key("@any");
                serialized(&attributes, self.out)
            }
            None => Ok(()),
        }
    }

    #[inline]
    fn index(&self, plan: &Plan, element: ElementId) -> Result<usize, TreeError> {
        let name = plan.element(element).name;
        let index = self.shape.index_near(name, self.near);
        index.ok_or(TreeError::Mismatch)
    }

    #[inline]
    fn value(&mut self, index: usize, leaf: LeafView<'r>) -> Result<(), TreeError> {
        self.child_key(index);
        simple(leaf, self.out)
    }

    fn child(&mut self, tree: &mut Tree<'r>, start: Start) -> Result<(), TreeError> {
        let index = self.index(tree.plan, start.element)?;
        self.child_key(index);
        element(tree, start, self.out)
    }

    fn children(
        &mut self,
        tree: &mut Tree<'r>,
        id: ElementId,
        count: usize,
    ) -> Result<(), TreeError> {
        let index = self.index(tree.plan, id)?;
        self.child_key(index);
        let begin = self.out.len();
        for _ in 0..count {
            self.out.push(b',');
            let start = tree.start(id)?;
            element(tree, start, self.out)?;
        }
        enclose(begin, *b"[]", self.out);
        Ok(())
    }

    fn xml(&mut self, _: Xml, xml: &'r str) -> Result<(), TreeError> {
        self.fragments.push(xml);
        Ok(())
    }
}
