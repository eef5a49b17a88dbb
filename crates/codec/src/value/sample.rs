//! Makes a plausible message from the schema alone: for services without code, for documentation, and for users who want to
//! see what a request looks like.
//!
//! Every optional part occurs once, except where a type would contain itself again; of a choice the first branch is used.
//! Texts satisfy their facets where that is easy; patterns are tried with a few guesses.

mod leaf;

use crate::plan::shape::{Shape, type_name};
use crate::plan::{Content, ElementId, ParticleId, Plan, Term, TypeId};
use crate::value::{Object, Value};

/// The most elements of a sample, so that a schema of many small types does not give a message of megabytes.
const MOST: usize = 500;
/// The depth from which on optional elements are left out.
const DEEPEST: usize = 12;
/// The greatest depth of required elements: a type that must contain itself has no finite message.
const LIMIT: usize = 64;

/// A small message with an element as its root, as a value.
///
/// ```
/// use std::sync::Arc;
/// use bsoap_codec::plan::{Content, ElementDef, PlanBuilder, Role, TypeDef};
/// use bsoap_codec::{build, sample};
/// use bsoap_datatypes::{Datatype, SimpleType};
///
/// let mut builder = PlanBuilder::new();
/// let leaf = builder.leaf(&SimpleType::builtin(Datatype::Int));
/// let ty = builder.reserve_type();
/// let content = Content::Simple(leaf);
/// builder.define_type(ty, TypeDef { name: None, attributes: vec![], any_attribute: None, content, alternatives: vec![], base: None, is_abstract: false });
/// let name = builder.name("urn:shop", "quantity");
/// let quantity = builder.element(ElementDef { name, ty, nillable: false, is_abstract: false, default: None, fixed: None, role: Role::Application });
/// let plan = Arc::new(builder.finish().unwrap());
///
/// let value = sample(&plan, quantity);
/// assert_eq!(value.as_i64(), Some(1));
/// assert!(build(&plan, quantity, &value).is_ok());
/// ```
pub fn sample(plan: &Plan, element: ElementId) -> Value {
    let mut sampler = Sampler {
        plan,
        open: Vec::new(),
        left: MOST,
    };
    sampler.element(element)
}

struct Sampler<'p> {
    plan: &'p Plan,
    /// The types of the open elements.
    open: Vec<TypeId>,
    left: usize,
}

impl Sampler<'_> {
    /// Whether an optional element of this type should be included.
    fn wants(&self, ty: TypeId) -> bool {
        self.left > 0 && self.open.len() < DEEPEST && !self.open.contains(&ty)
    }

    fn element(&mut self, id: ElementId) -> Value {
        let element = self.plan.element(id);
        self.left = self.left.saturating_sub(1);
        if let Some(text) = element.fixed.as_deref().or(element.default.as_deref()) {
            return Value::from(text);
        }
        let declared = self.plan.ty(element.ty);
        let concrete = |ty: &&TypeId| !self.plan.ty(**ty).is_abstract;
        let actual = match declared.is_abstract {
            true => declared
                .alternatives
                .iter()
                .find(concrete)
                .copied()
                .unwrap_or(element.ty),
            false => element.ty,
        };
        if self.open.len() >= LIMIT {
            return Value::Nil;
        }
        self.open.push(actual);
        let value = self.value(actual, element.ty);
        self.open.pop();
        value
    }

    fn value(&mut self, id: TypeId, declared: TypeId) -> Value {
        let ty = self.plan.ty(id);
        let shape = self.plan.shapes().of(id);
        let mut object = Object::new();
        if id != declared
            && let Some(name) = type_name(self.plan, declared, id)
        {
            object.insert(shape.type_key(), name);
        }
        for attribute in ty.attribute_ids() {
            let key = self.plan.shapes().attribute_key(attribute);
            let attribute = self.plan.attribute(attribute);
            let given = attribute.fixed.as_deref().or(attribute.default.as_deref());
            object.insert(
                key.as_str(),
                given.map_or_else(|| leaf::sample(self.plan, attribute.leaf), Value::from),
            );
        }
        match &ty.content {
            Content::Empty => {}
            Content::Simple(leaf) => {
                let value = leaf::sample(self.plan, *leaf);
                if object.is_empty() && ty.attributes.is_empty() && ty.any_attribute.is_none() {
                    return value;
                }
                object.insert("#text", value);
            }
            Content::Particle(particle) => self.particle(*particle, shape, &mut object, true),
            Content::Mixed { particle, .. } => {
                self.particle(*particle, shape, &mut object, false);
                if object.is_empty() {
                    return Value::from("text");
                }
            }
            Content::Any => {
                return if object.is_empty() {
                    Value::from("text")
                } else {
                    Value::Object(object)
                };
            }
        }
        Value::Object(object)
    }

    /// Adds the children of a particle, with the optional ones if `optional`. (Groups nest no deeper than a schema document
    /// does.)
    fn particle(&mut self, id: ParticleId, shape: &Shape, object: &mut Object, optional: bool) {
        let particle = self.plan.particle(id);
        let is_required = particle.min > 0;
        let is_wanted = is_required || optional && self.wanted(id);
        if !is_wanted {
            return;
        }
        let times = particle.min.clamp(1, 3);
        for _ in 0..times {
            match &particle.term {
                Term::Element(element) => {
                    let name = self.plan.element(*element).name;
                    let value = self.element(*element);
                    let key = shape.key(self.plan, name);
                    if shape
                        .index(name)
                        .is_some_and(|index| shape.children[index].repeats)
                    {
                        object.append(key, value);
                    } else {
                        object.insert(key, value);
                    }
                }
                Term::Any(wildcard) => {
                    if is_required {
                        object.append("#any", Value::from(leaf::element(wildcard)));
                    }
                }
                Term::Sequence(_) | Term::All(_) => {
                    for &child in self.plan.children_of(id) {
                        self.particle(child, shape, object, optional);
                    }
                }
                Term::Choice(_) => {
                    let children = self.plan.children_of(id);
                    let first = children
                        .iter()
                        .find(|&&child| self.wanted(child))
                        .or(children.first());
                    if let Some(&child) = first {
                        // This child is included even if it is optional.
                        let optional = optional || self.plan.particle(child).min == 0;
                        self.particle(child, shape, object, optional);
                    }
                }
            }
        }
    }

    /// Whether a particle can be included without a type that contains itself.
    fn wanted(&self, id: ParticleId) -> bool {
        match &self.plan.particle(id).term {
            Term::Element(element) => {
                !self.plan.element(*element).is_abstract
                    && self.wants(self.plan.element(*element).ty)
            }
            Term::Any(_) => false,
            Term::Choice(_) => self
                .plan
                .children_of(id)
                .iter()
                .any(|&child| self.wanted(child)),
            Term::Sequence(_) | Term::All(_) => {
                let required = |child: &&ParticleId| self.plan.particle(**child).min > 0;
                self.left > 0
                    && self
                        .plan
                        .children_of(id)
                        .iter()
                        .filter(required)
                        .all(|&child| self.wanted(child))
            }
        }
    }
}
