//! Shorter forms of an array of an encoded message.
//!
//! ```text
//! [1, 2]                                               {"item": [1, 2]}
//! {"item": {"@arrayType": "[1,2]", "item": [1, 2]}}    {"@arrayType": "[1,2]", "item": [1, 2]}
//! ```
//!
//! The second is what a program has that gives the items as an array of several dimensions.

use crate::plan::{Content, Plan, Term, TypeId};
use crate::value::{Object, Value};

/// The items of an array may be called so, whatever the schema calls them.
const ITEM: &str = "item";

/// The array as an object with its items by their name; `None` if the value is one already.
pub(super) fn array(plan: &Plan, ty: TypeId, value: &Value) -> Option<Value> {
    let Content::Particle(particle) = plan.ty(ty).content else {
        return None;
    };
    let Term::Element(item) = plan.particle(particle).term else {
        return None;
    };
    let name = plan.vocabulary.local(plan.element(item).name);
    let object = match value {
        Value::Object(object) => object,
        value if value.is_array() => return Some(Value::object([(name, value.clone())])),
        _ => return None,
    };
    let is_child = |key: &str| !key.starts_with(['@', '#']);
    let mut children = object.iter().filter(|(key, _)| is_child(key));
    let (Some((key, items)), None) = (children.next(), children.next()) else {
        return None;
    };
    let is_array_of_arrays = plan.is_encoded_array(plan.element(item).ty);
    let inner = match items {
        Value::Object(inner) if !is_array_of_arrays && has_size(plan, ty, inner) => Some(inner),
        _ if key == name || key != ITEM => return None,
        _ => None,
    };
    let named = |key: &str| if is_child(key) { name } else { key }.to_owned();
    let all = object
        .iter()
        .filter(|(key, _)| inner.is_none() || !is_child(key));
    let all = all.chain(inner.into_iter().flat_map(Object::iter));
    let all = all.map(|(key, value)| (named(key), value.clone()));
    Some(Value::Object(all.collect()))
}

fn has_size(plan: &Plan, ty: TypeId, object: &Object) -> bool {
    let mut attributes = plan.ty(ty).attribute_ids();
    let size = attributes.find(|&id| plan.is_array_size(id));
    size.is_some_and(|size| object.get(plan.attribute_key(size)).is_some())
}
