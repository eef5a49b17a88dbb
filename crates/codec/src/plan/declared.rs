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
    /// The places of the names of the children and of those that may replace them.
    names: HashMap<NameId, Places>,
    /// The places of the particles in the order of the schema, groups before what is in them.
    places: HashMap<ParticleId, u32>,
    /// The required children of sequences: their numbers, and the last places in them.
    required_in: HashMap<ParticleId, Vec<(usize, u32)>>,
}

/// The first and the last of several places.
#[derive(Clone, Copy, Debug)]
struct Places {
    first: u32,
    last: u32,
}

impl Places {
    fn at(place: u32) -> Self {
        Self {
            first: place,
            last: place,
        }
    }

    /// Whether one of them may be between these.
    fn meets(self, (from, to): (u32, u32)) -> bool {
        self.first <= to && self.last >= from
    }
}

/// The wildcards of a type: the places of those that admit a namespace.
#[derive(Debug, Default)]
struct Wildcards {
    /// Of those for all namespaces.
    any: Option<Places>,
    /// Of those for all namespaces but one.
    not: Vec<(String, Places)>,
    /// Of those for this namespace.
    listed: HashMap<String, Places>,
}

impl Wildcards {
    fn is_empty(&self) -> bool {
        self.any.is_none() && self.not.is_empty() && self.listed.is_empty()
    }

    /// Adds a wildcard, which is behind those that were added before.
    fn add(&mut self, namespaces: &NamespaceConstraint, place: u32) {
        let here = Places::at(place);
        match namespaces {
            NamespaceConstraint::Any => self.any.get_or_insert(here).last = place,
            NamespaceConstraint::Not(other) => {
                match self.not.iter_mut().find(|it| it.0 == *other) {
                    Some(it) => it.1.last = place,
                    None => self.not.push((other.clone(), here)),
                }
            }
            NamespaceConstraint::OneOf(list) => {
                for one in list {
                    self.listed.entry(one.clone()).or_insert(here).last = place;
                }
            }
        }
    }

    /// Whether a wildcard between these places may admit a namespace.
    fn may_admit(&self, namespace: &str, range: (u32, u32)) -> bool {
        let listed = self.listed.get(namespace);
        let mut not = self.not.iter();
        self.any.is_some_and(|any| any.meets(range))
            || listed.is_some_and(|listed| listed.meets(range))
            || not.any(|it| !namespace.is_empty() && it.0 != namespace && it.1.meets(range))
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

/// A step of a walk through the particles of a type.
enum Visit {
    Begin(ParticleId),
    /// The end of the child of this number, which the sequence requires.
    EndRequired(ParticleId, usize),
}

impl Declared {
    pub(crate) fn of(plan: &Plan, ty: TypeId) -> Self {
        let mut declared = Self::default();
        let Content::Particle(root) = plan.ty(ty).content else {
            return declared;
        };
        declared.is_flat = true;
        let mut left = vec![Visit::Begin(root)];
        let mut next = 0;
        while let Some(visit) = left.pop() {
            let (id, place) = match visit {
                Visit::Begin(id) => (id, next),
                Visit::EndRequired(sequence, index) => {
                    let required = declared.required_in.entry(sequence).or_default();
                    required.push((index, next - 1));
                    continue;
                }
            };
            next += 1;
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
                    for name in names {
                        let places = declared.names.entry(name);
                        places.or_insert(Places::at(place)).last = place;
                    }
                }
                Term::Any(wildcard) => {
                    declared.is_flat = false;
                    declared.wildcards.add(&wildcard.namespaces, place);
                }
                Term::Sequence(_) => {
                    declared.is_flat &= particle.is_required_once();
                    // Of a sequence with several places, the last one counts.
                    declared.required_in.remove(&id);
                }
                Term::All(_) => {
                    declared.is_all = true;
                    declared.is_flat &= particle.is_required_once();
                }
                Term::Choice(_) => declared.is_flat = false,
            }
            let is_sequence = matches!(particle.term, Term::Sequence(_));
            for (index, &child) in plan.children_of(id).iter().enumerate().rev() {
                if is_sequence && !plan.particle(child).is_emptiable {
                    left.push(Visit::EndRequired(id, index));
                }
                left.push(Visit::Begin(child));
            }
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

    /// The last place in the first required child of a sequence that has this number or is behind it.
    pub(crate) fn required_end(&self, sequence: ParticleId, at: usize) -> Option<u32> {
        let required = self.required_in.get(&sequence)?;
        let next = required.partition_point(|(index, _)| *index < at);
        required.get(next).map(|(_, end)| *end)
    }

    /// The place of a particle of this type; 0 if it has none.
    pub(crate) fn place(&self, particle: ParticleId) -> u32 {
        self.places.get(&particle).copied().unwrap_or_default()
    }

    /// Whether an element of this name may be a child between these places.
    pub(crate) fn may_be(&self, name: Option<NameId>, namespace: &str, range: (u32, u32)) -> bool {
        let named = name.and_then(|name| self.names.get(&name));
        named.is_some_and(|places| places.meets(range))
            || self.wildcards.may_admit(namespace, range)
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
