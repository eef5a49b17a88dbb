//! What a type declares as its children.

use std::collections::HashMap;

use bsoap_xml::NameId;

use super::{Content, ElementId, NamespaceConstraint, ParticleId, Plan, Role, Term, TypeId};

/// The children that a type declares.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// In the order of the schema.
    pub(crate) children: Vec<Child>,
    /// Whether the children have one order, or none: there is no choice, no group that repeats, and no wildcard.
    pub(crate) is_flat: bool,
    /// Whether the children may have any order.
    pub(crate) is_all: bool,
    wildcards: Wildcards,
    /// Of those that are required, the ones that can be empty: their numbers.
    pub(crate) required: Vec<usize>,
    /// The numbers of the first children of a name. So a message with many unknown elements is read in linear time.
    by_name: HashMap<NameId, usize>,
    /// The numbers of children by local name; `None` if several have it.
    by_local: HashMap<Box<str>, Option<usize>>,
    /// The last places of the names of the children and of those that may replace them.
    names: HashMap<NameId, u32>,
    /// The places of the particles in the order of the schema, groups before what is in them.
    places: HashMap<ParticleId, u32>,
    /// Of sequences, how many of the children there are up to the last one that is required.
    last_required: HashMap<ParticleId, u32>,
}

/// The wildcards of a type: the last places of those that admit a namespace.
#[derive(Debug, Default)]
struct Wildcards {
    /// Of those for all namespaces.
    any: Option<u32>,
    /// Of those for all namespaces but one.
    not: Vec<(String, u32)>,
    /// Of those for this namespace.
    listed: HashMap<String, u32>,
}

impl Wildcards {
    fn is_empty(&self) -> bool {
        self.any.is_none() && self.not.is_empty() && self.listed.is_empty()
    }

    /// Adds a wildcard, which is behind those that were added before.
    fn add(&mut self, namespaces: &NamespaceConstraint, place: u32) {
        match namespaces {
            NamespaceConstraint::Any => self.any = Some(place),
            NamespaceConstraint::Not(other) => {
                match self.not.iter_mut().find(|it| it.0 == *other) {
                    Some(it) => it.1 = place,
                    None => self.not.push((other.clone(), place)),
                }
            }
            NamespaceConstraint::OneOf(list) => {
                let listed = list.iter().map(|one| (one.clone(), place));
                self.listed.extend(listed);
            }
        }
    }

    /// The last place of a wildcard that admits a namespace.
    fn last(&self, namespace: &str) -> Option<u32> {
        let admits = |it: &&(String, u32)| !namespace.is_empty() && it.0 != namespace;
        let not = self.not.iter().filter(admits).map(|it| it.1).max();
        self.any.max(not).max(self.listed.get(namespace).copied())
    }
}

/// A declared child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Child {
    pub(crate) element: ElementId,
    pub(crate) particle: ParticleId,
}

/// How a name fits to the declared children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is the name of this child.
    Name(usize),
    /// It is the local name of this child, which is in another namespace.
    LocalName(usize),
    /// It is another name, and this is the only child: the item of an array.
    OnlyItem(usize),
}

impl Declared {
    pub(crate) fn of(plan: &Plan, ty: TypeId) -> Self {
        let mut declared = Self::default();
        let Content::Particle(root) = plan.ty(ty).content else {
            return declared;
        };
        declared.is_flat = true;
        let mut left = vec![root];
        for place in 0.. {
            let Some(id) = left.pop() else { break };
            let particle = plan.particle(id);
            declared.places.entry(id).or_insert(place);
            match &particle.term {
                &Term::Element(element) => {
                    let child = Child {
                        element,
                        particle: id,
                    };
                    declared.children.push(child);
                    let replacing = particle.first.names().map(|(name, _)| name);
                    let names = replacing.chain([plan.element(element).name]);
                    declared.names.extend(names.map(|name| (name, place)));
                }
                Term::Any(wildcard) => {
                    declared.is_flat = false;
                    declared.wildcards.add(&wildcard.namespaces, place);
                }
                Term::Sequence(_) => {
                    declared.is_flat &= particle.is_required_once();
                    declared.add_required(plan, id);
                }
                Term::All(_) => {
                    declared.is_all = true;
                    declared.is_flat &= particle.is_required_once();
                }
                Term::Choice(_) => declared.is_flat = false,
            }
            left.extend(plan.children_of(id).iter().rev());
        }
        declared.number(plan);
        // With two declarations of one name, the order says which one an element has.
        declared.is_flat &= declared.by_name.len() == declared.children.len();
        declared
    }

    fn number(&mut self, plan: &Plan) {
        for (index, child) in self.children.iter().enumerate() {
            let name = plan.element(child.element).name;
            self.by_name.entry(name).or_insert(index);
            let local = plan.vocabulary().local(name).into();
            let number = self.by_local.entry(local);
            number.and_modify(|it| *it = None).or_insert(Some(index));
            let particle = plan.particle(child.particle);
            let is_required = particle.is_required_once();
            if is_required && may_be_empty(plan, child.element) {
                self.required.push(index);
            }
        }
    }

    fn add_required(&mut self, plan: &Plan, sequence: ParticleId) {
        let mut children = plan.children_of(sequence).iter();
        let last = children.rposition(|&child| !plan.particle(child).is_emptiable);
        let last = last.and_then(|last| u32::try_from(last + 1).ok());
        self.last_required.extend(last.map(|last| (sequence, last)));
    }

    /// Whether a sequence of this type requires a child of this number or one behind it.
    pub(crate) fn requires(&self, sequence: ParticleId, at: u32) -> bool {
        let last = self.last_required.get(&sequence);
        last.is_some_and(|last| *last > at)
    }

    /// The place of a particle of this type; 0 if it has none.
    pub(crate) fn place(&self, particle: ParticleId) -> u32 {
        self.places.get(&particle).copied().unwrap_or_default()
    }

    /// Whether an element of this name may be a child at this place or behind it.
    pub(crate) fn may_be(&self, name: Option<NameId>, namespace: &str, from: u32) -> bool {
        let named = name.and_then(|name| self.names.get(&name).copied());
        let last = named.max(self.wildcards.last(namespace));
        last.is_some_and(|last| last >= from)
    }

    /// The number of the first child of this name.
    pub(crate) fn index_of(&self, name: Option<NameId>) -> Option<usize> {
        self.by_name.get(&name?).copied()
    }

    /// How a name fits; `None` if it is unknown.
    pub(crate) fn fit(&self, plan: &Plan, name: Option<NameId>, local: &str) -> Option<Fit> {
        if let Some(index) = self.index_of(name) {
            return Some(Fit::Name(index));
        }
        if let Some(&same) = self.by_local.get(local) {
            // A wildcard may be what it is meant for, unless it is of SOAP itself.
            let is_meant = |&index: &usize| {
                let element = self.children[index].element;
                self.wildcards.is_empty() || plan.element(element).role == Role::Soap
            };
            return same.filter(is_meant).map(Fit::LocalName);
        }
        match self.children[..] {
            _ if !self.wildcards.is_empty() => None,
            [only] if plan.particle(only.particle).repeats() => Some(Fit::OnlyItem(0)),
            _ => None,
        }
    }
}

/// Whether an element can be empty: nil, a text, or without required children.
pub(crate) fn may_be_empty(plan: &Plan, id: ElementId) -> bool {
    let element = plan.element(id);
    let ty = plan.ty(element.ty);
    let mut attributes = ty.attribute_ids();
    if element.is_abstract || ty.is_abstract || attributes.any(|it| plan.attribute(it).required) {
        return false;
    }
    element.nillable
        || match ty.content {
            Content::Simple(leaf) => {
                element.default.is_some() || !plan.leaf(leaf).simple.needs_text()
            }
            Content::Particle(particle) => plan.particle(particle).is_emptiable,
            Content::Empty | Content::Mixed { .. } | Content::Any => true,
        }
}
