//! What a type declares as its children.

use std::collections::{HashMap, HashSet};

use bsoap_xml::NameId;

use super::{Content, ElementId, ParticleId, Plan, Role, Term, TypeId};

/// The children that a type declares.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// In the order of the schema.
    pub(crate) children: Vec<Child>,
    /// Whether the children have one order, or none: there is no choice, no group that repeats, and no wildcard.
    pub(crate) is_flat: bool,
    /// Whether the children may have any order.
    pub(crate) is_all: bool,
    has_wildcard: bool,
    /// Of those that are required, the ones that can be empty: their numbers.
    pub(crate) required: Vec<usize>,
    /// The numbers of the first children of a name. So a message with many unknown elements is read in linear time.
    by_name: HashMap<NameId, usize>,
    /// The numbers of children by local name; `None` if several have it.
    by_local: HashMap<Box<str>, Option<usize>>,
    /// The names of the children and of those that may replace them.
    names: HashSet<NameId>,
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
        while let Some(id) = left.pop() {
            let particle = plan.particle(id);
            match particle.term {
                Term::Element(element) => declared.children.push(Child {
                    element,
                    particle: id,
                }),
                Term::Any(_) => (declared.is_flat, declared.has_wildcard) = (false, true),
                Term::Sequence(_) => declared.is_flat &= particle.is_required_once(),
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
            self.names.insert(name);
            self.names
                .extend(particle.first.names().map(|(name, _)| name));
            let is_required = particle.is_required_once();
            if is_required && may_be_empty(plan, child.element) {
                self.required.push(index);
            }
        }
    }

    /// Whether an element of this name may be a child, at any place.
    pub(crate) fn may_be(&self, name: Option<NameId>) -> bool {
        self.has_wildcard || name.is_some_and(|name| self.names.contains(&name))
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
                !self.has_wildcard || plan.element(element).role == Role::Soap
            };
            return same.filter(is_meant).map(Fit::LocalName);
        }
        match self.children[..] {
            _ if self.has_wildcard => None,
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
