//! Makes a plausible message from the schema alone: for services without code, for documentation, and for users who want to
//! see what a request looks like.
//!
//! Every optional part occurs once, except where a type would contain itself again, and except wildcards, references by
//! `xs:IDREF` and what else cannot be made up; of a choice the first branch is used. Texts satisfy their facets and patterns
//! (`leaf`). A required wildcard gets an element that the schemas declare, if they declare one for it (`wildcard`).
//!
//! A schema may require any number of elements. Both the size of a sample and the work of making it are limited in total; if
//! what is required exceeds a limit, there is no sample.

mod leaf;
mod wildcard;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bsoap_datatypes::qname::NoNamespaces;

use crate::expanded::{Prefixed, is_names};
use crate::limits::{MAX_SAMPLE_BYTES, MAX_SAMPLE_STEPS};
use crate::plan::shape::{Shape, type_name};
use crate::plan::{AttributeId, Content, ElementId, LeafId, ParticleId, Plan, Term, TypeId};
use crate::value::{Object, Value};

use leaf::LeafSampler;

/// The number of elements from which on optional elements are left out, so that a schema of many small types does not give a
/// message of megabytes.
const MOST: usize = 500;
/// The depth from which on optional elements are left out.
const DEEPEST: usize = 12;
/// The greatest depth of required elements: a type that must contain itself has no finite message.
const DEEPEST_REQUIRED: usize = 64;
/// What an element counts beside its text, in bytes.
const BYTES_OF_ELEMENT: usize = 64;

/// Why there is no sample: what the schema requires exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampleTooLarge {
    /// The local name of the root element.
    pub element: String,
    /// The name of the limit: `sample_bytes` or `sample_steps`.
    pub limit: &'static str,
    /// The value of the limit.
    pub value: usize,
}

impl fmt::Display for SampleTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no sample of <{}> can be made: what its schema requires exceeds the limit `{}` ({})",
            self.element, self.limit, self.value
        )
    }
}

impl std::error::Error for SampleTooLarge {}

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
/// let value = sample(&plan, quantity)?;
/// assert_eq!(value.as_i64(), Some(1));
/// assert!(build(&plan, quantity, &value).is_ok());
/// # Ok::<(), bsoap_codec::SampleTooLarge>(())
/// ```
///
/// # Errors
/// If what the schema requires is too large, such as a million elements.
pub fn sample(plan: &Arc<Plan>, element: ElementId) -> Result<Value, SampleTooLarge> {
    samples(plan, [element]).map(|mut values| values.pop().unwrap_or_default())
}

/// The same of several elements, such as the parts of a message. The limits are those of all together.
///
/// # Errors
/// As [`sample`].
pub fn samples(
    plan: &Arc<Plan>,
    elements: impl IntoIterator<Item = ElementId>,
) -> Result<Vec<Value>, SampleTooLarge> {
    let mut sampler = Sampler {
        plan,
        leaves: LeafSampler::default(),
        open: Vec::new(),
        optional_left: MOST,
        bytes_left: MAX_SAMPLE_BYTES,
        steps_left: Cell::new(MAX_SAMPLE_STEPS),
        wildcards: 0,
        fragments: HashMap::new(),
    };
    let elements = elements.into_iter();
    elements.map(|element| sampler.root(element)).collect()
}

struct Sampler<'p> {
    plan: &'p Arc<Plan>,
    leaves: LeafSampler,
    /// The types of the open elements.
    open: Vec<TypeId>,
    optional_left: usize,
    bytes_left: usize,
    steps_left: Cell<usize>,
    /// How many wildcards are open.
    wildcards: usize,
    /// The XML that wildcards got.
    fragments: HashMap<ParticleId, Option<String>>,
}

impl Sampler<'_> {
    /// Whether an optional element of this type should be included.
    fn wants(&self, ty: TypeId) -> bool {
        self.has_space() && self.open.len() < DEEPEST && !self.open.contains(&ty)
    }

    /// Whether there is space for optional parts: what is required may need the rest.
    fn has_space(&self) -> bool {
        self.optional_left > 0
            && self.bytes_left > MAX_SAMPLE_BYTES / 2
            && self.steps_left.get() > MAX_SAMPLE_STEPS / 2
    }

    /// Whether a limit is reached. Then everything ends early: there will be no sample.
    fn is_full(&self) -> bool {
        self.bytes_left == 0 || self.steps_left.get() == 0
    }

    fn step(&self, steps: usize) {
        self.steps_left
            .set(self.steps_left.get().saturating_sub(steps));
    }

    /// A sample of a root element, if the limits allow one.
    fn root(&mut self, id: ElementId) -> Result<Value, SampleTooLarge> {
        self.optional_left = MOST;
        let value = self.element(id);
        let (limit, limit_value) = match (self.bytes_left, self.steps_left.get()) {
            (0, _) => ("sample_bytes", MAX_SAMPLE_BYTES),
            (_, 0) => ("sample_steps", MAX_SAMPLE_STEPS),
            _ => return Ok(value),
        };
        let name = self.plan.element(id).name;
        Err(SampleTooLarge {
            element: self.plan.vocabulary().local(name).to_owned(),
            limit,
            value: limit_value,
        })
    }

    fn element(&mut self, id: ElementId) -> Value {
        let element = self.plan.element(id);
        self.optional_left = self.optional_left.saturating_sub(1);
        self.spend(BYTES_OF_ELEMENT);
        if self.is_full() || self.open.len() >= DEEPEST_REQUIRED {
            return Value::Nil;
        }
        let given = element.fixed.as_deref().or(element.default.as_deref());
        let actual = self.actual_type(element.ty);
        // Here a type that contains itself can end.
        if element.nillable && self.open.contains(&actual) {
            return Value::Nil;
        }
        self.open.push(actual);
        let mut value = self.value(actual, element.ty, given);
        self.open.pop();
        if let (Some(encoded), Value::Object(object)) = (self.plan.encoded(id), &mut value) {
            // Ids have to differ, and the size of an array to be right: neither is made up.
            for id in self.plan.ty(actual).attribute_ids() {
                let attribute = self.plan.attribute(id);
                if attribute.array.is_some() || attribute.name == encoded.rules.id {
                    object.remove(self.plan.shapes().attribute_key(id).as_str());
                }
            }
        }
        value
    }

    fn spend(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }

    /// The type itself, or one derived from it if it is abstract; one that is not open, if possible.
    fn actual_type(&self, id: TypeId) -> TypeId {
        let declared = self.plan.ty(id);
        if !declared.is_abstract {
            return id;
        }
        self.step(declared.alternatives.len());
        let concrete = || {
            let alternatives = declared.alternatives.iter().copied();
            alternatives.filter(|&ty| !self.plan.ty(ty).is_abstract)
        };
        let closed = concrete().find(|ty| !self.open.contains(ty));
        closed.or_else(|| concrete().next()).unwrap_or(id)
    }

    /// The value of an element; `given` is its text, if the declaration has one.
    fn value(&mut self, id: TypeId, declared: TypeId, given: Option<&str>) -> Value {
        let plan = self.plan;
        let ty = plan.ty(id);
        let shape = plan.shapes().of(id);
        let mut object = Object::new();
        if id != declared
            && let Some(name) = type_name(plan, declared, id)
        {
            object.insert(shape.type_key(), name);
        }
        for attribute in ty.attribute_ids() {
            if self.is_full() {
                break;
            }
            if let Some(value) = self.attribute(attribute) {
                object.insert(plan.shapes().attribute_key(attribute).as_str(), value);
            }
        }
        match &ty.content {
            Content::Empty => {}
            Content::Simple(leaf) => {
                return with_text(object, "#text", self.leaf(*leaf, given));
            }
            Content::Particle(particle) => {
                let optional = self.wildcards == 0;
                self.particle(*particle, shape, &mut object, optional);
            }
            Content::Mixed { particle, .. } => {
                if let Some(text) = given {
                    return with_text(object, "#mixed", Value::from(text));
                }
                self.particle(*particle, shape, &mut object, false);
                if object.is_empty() {
                    return Value::from("text");
                }
            }
            Content::Any if object.is_empty() => return Value::from(given.unwrap_or("text")),
            Content::Any => {}
        }
        Value::Object(object)
    }

    /// The value of an attribute; `None` to leave it out.
    fn attribute(&mut self, id: AttributeId) -> Option<Value> {
        self.step(1);
        let attribute = self.plan.attribute(id);
        let given = attribute.fixed.as_deref().or(attribute.default.as_deref());
        let is_wanted = || {
            self.bytes_left > MAX_SAMPLE_BYTES / 2
                && !leaf::is_reference(&self.plan.leaf(attribute.leaf).simple)
        };
        (attribute.required || is_wanted()).then(|| self.leaf(attribute.leaf, given))
    }

    /// A simple value; `given` is its text, if the declaration has one.
    fn leaf(&mut self, id: LeafId, given: Option<&str>) -> Value {
        // Some schemas have defaults that are none of the type's values.
        let simple = &self.plan.leaf(id).simple;
        let is_valid = |text: &&str| match is_names(simple) {
            true => {
                let names = Prefixed::new(text);
                simple.check(&names.text, &names).is_ok()
            }
            false => simple.check(text, &NoNamespaces).is_ok(),
        };
        let value = match given.filter(is_valid) {
            Some(text) => Value::from(text),
            None => self.leaves.sample(self.plan, id),
        };
        self.spend(leaf::size(&value));
        value
    }

    /// Adds the children of a particle, with the optional ones if `optional`. (Groups nest no deeper than a schema document
    /// does.)
    fn particle(&mut self, id: ParticleId, shape: &Shape, object: &mut Object, optional: bool) {
        let particle = self.plan.particle(id);
        let is_wanted = particle.min > 0 || optional && self.wanted(id);
        if !is_wanted {
            return;
        }
        for _ in 0..particle.min.max(1) {
            let before = self.bytes_left;
            self.occurrence(id, shape, object, optional);
            // Full, or of nothing.
            if self.is_full() || self.bytes_left == before {
                break;
            }
        }
    }

    /// Adds one occurrence of a particle.
    fn occurrence(&mut self, id: ParticleId, shape: &Shape, object: &mut Object, optional: bool) {
        let plan = self.plan;
        self.step(1);
        match &plan.particle(id).term {
            _ if self.is_full() => {}
            Term::Element(element) => {
                let name = plan.element(*element).name;
                let value = self.element(*element);
                let key = shape.key(plan, name);
                let index = shape.index(name);
                if index.is_some_and(|index| shape.children[index].repeats) {
                    object.append(key, value);
                } else {
                    object.insert(key, value);
                }
            }
            Term::Any(wildcard) => {
                let fragment = self.fragment(id, wildcard);
                object.append("#any", Value::from(fragment));
            }
            Term::Sequence(_) | Term::All(_) => {
                for &child in plan.children_of(id) {
                    self.particle(child, shape, object, optional);
                }
            }
            Term::Choice(_) => {
                let children = plan.children_of(id);
                let wanted = children.iter().find(|&&child| self.wanted(child));
                if let Some(&child) = wanted.or(children.first()) {
                    // This child is included even if it is optional.
                    let optional = optional || plan.particle(child).min == 0;
                    self.particle(child, shape, object, optional);
                }
            }
        }
    }

    /// Whether a particle can be included without a type that contains itself.
    fn wanted(&self, id: ParticleId) -> bool {
        self.step(1);
        match &self.plan.particle(id).term {
            _ if self.is_full() => false,
            Term::Element(element) => {
                let element = self.plan.element(*element);
                !element.is_abstract && self.wants(element.ty)
            }
            Term::Any(_) => false,
            Term::Choice(_) => {
                let children = self.plan.children_of(id);
                children.iter().any(|&child| self.wanted(child))
            }
            Term::Sequence(_) | Term::All(_) => {
                let required = |child: &&ParticleId| self.plan.particle(**child).min > 0;
                let children = self.plan.children_of(id);
                self.has_space()
                    && children
                        .iter()
                        .filter(required)
                        .all(|&child| self.wanted(child))
            }
        }
    }
}

/// A text with attributes; the text alone if there are none.
fn with_text(mut object: Object, key: &str, text: Value) -> Value {
    if object.is_empty() {
        return text;
    }
    object.insert(key, text);
    Value::Object(object)
}
