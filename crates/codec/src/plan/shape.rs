//! The shape of a type as an object: the keys of its attributes and children, and whether its children can be listed in the
//! order of the Record.

use std::collections::{HashMap, HashSet};

use bsoap_xml::NameId;

use crate::plan::{
    AttributeId, Content, Element, ElementId, LeafId, LeafKind, ParticleId, Plan, Term, TypeId,
};
use crate::value::Text;

/// The shapes of all types of a Plan.
#[derive(Debug)]
pub(crate) struct Shapes {
    types: Vec<Shape>,
    attribute_keys: Vec<Text>,
}

/// The shape of a type as an object.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// Whether children can be listed in the order of the Record: each key belongs to one particle, which is reached once.
    pub(crate) streams: bool,
    /// Whether the name of a child says where it belongs: it is that of one particle, which is reached at most once, and there is no
    /// wildcard.
    pub(crate) is_direct: bool,
    /// Whether, besides, all groups are sequences that occur once: then the slots of the content are those of the children, one
    /// after the other.
    pub(crate) is_flat: bool,
    /// The children by name, in schema order.
    pub(crate) children: Vec<Child>,
    /// The leaf of a type that is nothing but a simple value, and that no other type can replace.
    pub(crate) plain: Option<LeafId>,
    /// Whether a wildcard is among the children.
    pub(crate) has_any: bool,
    /// Whether there are several, so that an element may be for the second.
    pub(crate) has_wildcards: bool,
    /// The indexes of children by name, if there are many.
    numbers: HashMap<NameId, usize>,
    /// Whether two children have the same local name.
    has_twins: bool,
    /// Whether an attribute is called `type`, so that the derived type needs another key.
    has_type_attribute: bool,
    /// Whether an attribute is called `nil`, so that being nil needs another key.
    has_nil_attribute: bool,
}

/// Up to this number of children, searching them is faster than a map.
const MANY: usize = 16;

/// A child element by name.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) name: NameId,
    /// The first particle that is an element of this name.
    pub(crate) particle: ParticleId,
    /// The leaf of that element, if it has one slot, no default, and does not repeat.
    pub(crate) plain: Option<LeafId>,
    /// Whether that particle may be absent.
    pub(crate) is_optional: bool,
    pub(crate) key: Text,
    /// The key as a member of a JSON object begins with it, behind a comma: `,"key":`.
    pub(crate) json_key: Box<str>,
    /// Whether an object can hold more than one of them.
    pub(crate) repeats: bool,
    /// Whether it can be nil.
    pub(crate) nillable: bool,
    /// Whether its value is a list, so that a single one is an array already.
    pub(crate) is_list: bool,
}

impl Shapes {
    pub(crate) fn new(plan: &Plan) -> Self {
        let attribute_keys = vec![Text::default(); plan.attributes.len()];
        let mut shapes = Self {
            types: Vec::with_capacity(plan.types.len()),
            attribute_keys,
        };
        for index in 0..plan.types.len() as u32 {
            shapes.attributes(plan, TypeId(index));
            let shape = shape(plan, TypeId(index));
            shapes.types.push(shape);
        }
        shapes
    }

    pub(crate) fn of(&self, ty: TypeId) -> &Shape {
        &self.types[ty.index()]
    }

    /// `@name` of an attribute.
    pub(crate) fn attribute_key(&self, id: AttributeId) -> &Text {
        &self.attribute_keys[id.index()]
    }

    fn attributes(&mut self, plan: &Plan, ty: TypeId) {
        let ids: Vec<_> = plan.ty(ty).attribute_ids().collect();
        for &id in &ids {
            let name = plan.attribute(id).name;
            let local = plan.vocabulary.local(name);
            let twin = ids.iter().any(|&other| {
                other != id && plan.vocabulary.local(plan.attribute(other).name) == local
            });
            let namespace = plan.vocabulary.namespace(name);
            let key = if twin && !namespace.is_empty() {
                format!("@{{{namespace}}}{local}")
            } else {
                format!("@{local}")
            };
            self.attribute_keys[id.index()] = key.into();
        }
    }
}

/// A child of a type as a member of its object.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ChildMember<'p> {
    /// Its key: the local name, or `{namespace}local` where two children share that.
    pub key: &'p str,
    /// The first element of its name in the content model.
    pub element: ElementId,
    /// Whether an object can hold several of them: then the member is an array.
    pub repeats: bool,
    /// Whether an element of the type can be valid without it.
    pub is_optional: bool,
    /// Whether it can be nil.
    pub nillable: bool,
}

/// The keys of objects, for those who generate code and for bindings to other languages.
impl Plan {
    /// The children of a type by name, in schema order: each once, those of groups and choices too.
    pub fn child_members(&self, ty: TypeId) -> impl Iterator<Item = ChildMember<'_>> {
        let required = self.required_children(ty);
        let children = self.shapes().of(ty).children.iter();
        children.filter_map(move |child| match self.particle(child.particle).term {
            Term::Element(element) => Some(ChildMember {
                key: &child.key,
                element,
                repeats: child.repeats,
                is_optional: !required.contains(&child.name),
                nillable: child.nillable,
            }),
            _ => None,
        })
    }

    /// The names of the children without which no element of a type is valid.
    fn required_children(&self, ty: TypeId) -> HashSet<NameId> {
        let mut required = HashSet::new();
        let mut particles = match self.ty(ty).content {
            Content::Particle(root) | Content::Mixed { particle: root, .. } => vec![root],
            _ => vec![],
        };
        while let Some(id) = particles.pop() {
            let particle = self.particle(id);
            match &particle.term {
                _ if particle.min == 0 => {}
                Term::Element(element) => drop(required.insert(self.element(*element).name)),
                Term::Choice(_) | Term::Any(_) => {}
                Term::Sequence(_) | Term::All(_) => particles.extend(self.children_of(id)),
            }
        }
        required
    }

    /// Whether the children of a type can have an order that the names of members do not say: then its object may have
    /// `#order`.
    pub fn may_have_order(&self, ty: TypeId) -> bool {
        let has_particles = matches!(self.ty(ty).content, Content::Particle(_));
        has_particles && !self.shapes().of(ty).streams
    }

    /// Whether the content of a type has wildcards, whose elements are in `#any`.
    pub fn has_wildcard(&self, ty: TypeId) -> bool {
        self.shapes().of(ty).has_any
    }

    /// The key of an attribute: `@name`.
    pub fn attribute_key(&self, attribute: AttributeId) -> &str {
        self.shapes().attribute_key(attribute)
    }

    /// Whether any type has an attribute with this key.
    pub fn has_attribute_key(&self, key: &str) -> bool {
        let keys = &self.shapes().attribute_keys;
        keys.iter().any(|known| known.as_str() == key)
    }

    /// The key and the name that say that an element of a declared type is of another one: `@type` and the name of that.
    /// `None` if the type has no name.
    pub fn derived_key(&self, declared: TypeId, actual: TypeId) -> Option<(&'static str, String)> {
        let name = type_name(self, declared, actual)?;
        Some((self.shapes().of(actual).type_key(), name))
    }
}

impl Shape {
    /// The key of a child.
    pub(crate) fn key<'s>(&'s self, plan: &'s Plan, name: NameId) -> &'s str {
        if !self.has_twins {
            return plan.vocabulary.local(name);
        }
        self.index(name).map_or_else(
            || plan.vocabulary.local(name),
            |index| &self.children[index].key,
        )
    }

    /// The index of a child among [`children`](Self::children).
    pub(crate) fn index(&self, name: NameId) -> Option<usize> {
        if self.children.len() > MANY {
            self.numbers.get(&name).copied()
        } else {
            self.children.iter().position(|child| child.name == name)
        }
    }

    /// The same, if the child is expected at an index.
    #[inline]
    pub(crate) fn index_near(&self, name: NameId, near: usize) -> Option<usize> {
        match self.children.get(near) {
            Some(child) if child.name == name => Some(near),
            _ => self.index(name),
        }
    }

    /// The key that names the actual type.
    pub(crate) fn type_key(&self) -> &'static str {
        if self.has_type_attribute {
            "@xsi:type"
        } else {
            "@type"
        }
    }

    /// The key that says an object is nil.
    pub(crate) fn nil_key(&self) -> &'static str {
        if self.has_nil_attribute {
            "@xsi:nil"
        } else {
            "@nil"
        }
    }

    /// Adds a child, unless there is one of its name: then that gets what both have in common, and the result is false.
    fn add_child(
        &mut self,
        plan: &Plan,
        id: ParticleId,
        element: &Element,
        counts: &Counts,
    ) -> bool {
        let is_list = match plan.ty(element.ty).content {
            Content::Simple(leaf) => matches!(plan.leaf(leaf).kind, LeafKind::List(_)),
            _ => plan.is_encoded_array(element.ty),
        };
        if let Some(&index) = self.numbers.get(&element.name) {
            let known = &mut self.children[index];
            known.nillable |= element.nillable;
            known.is_list |= is_list;
            self.streams &= !known.repeats;
            return false;
        }
        self.numbers.insert(element.name, self.children.len());
        self.children.push(Child {
            name: element.name,
            particle: id,
            plain: plain_child(plan, id),
            is_optional: plan.particle(id).min == 0,
            key: plan.vocabulary.local(element.name).into(),
            json_key: Box::default(),
            repeats: counts.get(element.name) > 1,
            nillable: element.nillable,
            is_list,
        });
        true
    }

    /// Makes the keys of the children: the namespace is in the key where two have one local name.
    fn name_children(&mut self, plan: &Plan) {
        let mut locals: HashMap<&str, u32> = HashMap::new();
        for child in &self.children {
            *locals.entry(plan.vocabulary.local(child.name)).or_default() += 1;
        }
        for child in &mut self.children {
            let namespace = plan.vocabulary.namespace(child.name);
            let local = plan.vocabulary.local(child.name);
            if locals[local] > 1 {
                self.has_twins = true;
                if !namespace.is_empty() {
                    child.key = format!("{{{namespace}}}{local}").into();
                }
            }
            let json = serde_json::Value::from(child.key.as_str());
            child.json_key = format!(",{json}:").into();
        }
    }
}

fn shape(plan: &Plan, id: TypeId) -> Shape {
    let ty = plan.ty(id);
    let named = |wanted: &str| {
        ty.attribute_ids()
            .any(|id| plan.vocabulary.local(plan.attribute(id).name) == wanted)
    };
    let mut shape = Shape {
        streams: true,
        has_type_attribute: named("type"),
        has_nil_attribute: named("nil"),
        plain: plain(plan, id),
        ..Shape::default()
    };
    let (Content::Particle(root) | Content::Mixed { particle: root, .. }) = ty.content else {
        return shape;
    };
    let counts = Counts::of(plan, root);
    let mut particles = vec![root];
    let mut wildcards = 0;
    // If a group repeats, or is an `all`, the names of children do not tell their order.
    let mut has_order = false;
    // Whether two particles are elements of one name.
    let mut has_equal = false;
    let mut is_flat = true;
    while let Some(id) = particles.pop() {
        let particle = plan.particle(id);
        match &particle.term {
            Term::Element(element) => {
                has_equal |= !shape.add_child(plan, id, plan.element(*element), &counts);
            }
            Term::Any(_) => wildcards += 1,
            Term::All(_) => has_order = true,
            Term::Sequence(_) | Term::Choice(_) => has_order |= particle.repeats(),
        }
        match &particle.term {
            Term::Element(_) => {}
            Term::Sequence(_) => is_flat &= particle.is_required_once(),
            _ => is_flat = false,
        }
        particles.extend(plan.children_of(id).iter().rev());
    }
    shape.name_children(plan);
    shape.has_any = wildcards > 0;
    shape.has_wildcards = wildcards > 1;
    shape.streams &= !has_order && wildcards <= 1;
    shape.is_direct = shape.streams && !shape.has_any && !has_equal;
    shape.is_flat = shape.is_direct && is_flat;
    shape
}

/// The leaf of a type that is nothing but a simple value, and that no other type can replace.
fn plain(plan: &Plan, id: TypeId) -> Option<LeafId> {
    let ty = plan.ty(id);
    match ty.content {
        Content::Simple(leaf) if ty.attributes.is_empty() && ty.any_attribute.is_none() => {
            Some(leaf).filter(|_| ty.alternatives.is_empty())
        }
        _ => None,
    }
}

/// The leaf of a particle that is one element with one slot, and without a default.
fn plain_child(plan: &Plan, id: ParticleId) -> Option<LeafId> {
    let particle = plan.particle(id);
    let Term::Element(element) = particle.term else {
        return None;
    };
    let element = plan.element(element);
    let has_default = element.default.is_some() || element.fixed.is_some();
    let is_plain = !element.has_state && element.is_scalar && !has_default && !particle.repeats();
    plain(plan, element.ty).filter(|_| is_plain)
}

/// The largest number of elements of each name that a particle allows.
struct Counts(HashMap<NameId, u64>);

impl Counts {
    fn get(&self, name: NameId) -> u64 {
        self.0.get(&name).copied().unwrap_or(0)
    }

    /// Counts: the sum over sequences, the largest number over choices. (Groups nest no deeper than a schema document
    /// does.)
    fn of(plan: &Plan, id: ParticleId) -> Self {
        let particle = plan.particle(id);
        let mut counts: HashMap<NameId, u64> = HashMap::new();
        if let Term::Element(element) = particle.term {
            counts.insert(plan.element(element).name, 1);
        }
        let is_choice = matches!(particle.term, Term::Choice(_));
        for &child in plan.children_of(id) {
            for (name, count) in Self::of(plan, child).0 {
                let known = counts.entry(name).or_default();
                *known = if is_choice {
                    count.max(*known)
                } else {
                    count.saturating_add(*known)
                };
            }
        }
        for count in counts.values_mut() {
            *count = count.saturating_mul(particle.max.into());
        }
        Self(counts)
    }
}

/// The name of an actual type that replaces a declared one, as `@type` has it: its local name, or `{namespace}local` where
/// two types share that.
pub(crate) fn type_name(plan: &Plan, declared: TypeId, actual: TypeId) -> Option<String> {
    let name = plan.ty(actual).name?;
    let local = plan.vocabulary.local(name);
    let mut names = plan
        .ty(declared)
        .alternatives
        .iter()
        .filter_map(|&other| plan.ty(other).name);
    let is_shared = names.any(|other| other != name && plan.vocabulary.local(other) == local);
    Some(if is_shared {
        format!("{{{}}}{local}", plan.vocabulary.namespace(name))
    } else {
        local.to_owned()
    })
}
