//! Checks that a content model restricts another. (§3.9.6, Particle Valid (Restriction))
//!
//! The specification compares the structure of both models case by case, and so does this code.

use std::sync::Arc;

use bsoap_codec::plan::UNBOUNDED;
use foldhash::HashSet;

use crate::components::{DerivationSet, ElementNumber, WildcardDeclaration};
use crate::limits::MAX_RESTRICTION_STEPS;
use crate::wildcard::is_subset;

use super::Checker;
use super::model::{GroupKind, ModelTerm, Particle, strictness};

/// The number of particles that are compared for one unit of work.
const STEPS_PER_UNIT: usize = 8;

impl Checker<'_> {
    pub(super) fn restricts(&mut self, particle: &Particle, base: &Particle) -> bool {
        let particle = self.normal(particle);
        let base = self.normal(base);
        self.steps = 0;
        let is_restriction = self.is_restriction(&particle, &base);
        self.charge(self.steps / STEPS_PER_UNIT);
        is_restriction
    }

    /// An element and all global elements that may substitute for it.
    pub(super) fn substitutable(&self, head: ElementNumber) -> Vec<ElementNumber> {
        let declaration = self.set.element_declaration(head);
        let mut members = vec![head];
        if !declaration.is_global || declaration.block.meets(DerivationSet::SUBSTITUTION) {
            return members;
        }
        let mut seen = HashSet::from_iter([head]);
        let mut next = 0;
        while let Some(&number) = members.get(next) {
            next += 1;
            let name = &self.set.element_declaration(number).name;
            for &member in self.set.substitutes.get(name).into_iter().flatten() {
                if seen.insert(member) {
                    members.push(member);
                }
            }
        }
        self.charge(members.len() - 1);
        members
    }

    /// The particle without redundant groups, and with heads of substitution groups as choices.
    /// (The recursion is bounded by the limit on nesting.)
    fn normal(&self, particle: &Particle) -> Particle {
        let (kind, children) = match &particle.term {
            ModelTerm::Element(head) => {
                let members = self.substitutable(*head);
                if members.len() == 1 {
                    return particle.clone();
                }
                let members: Vec<Particle> = members
                    .into_iter()
                    .map(|member| Particle::once(ModelTerm::Element(member)))
                    .collect();
                return Particle::new(
                    particle.min,
                    particle.max,
                    ModelTerm::Group(GroupKind::Choice, members.into()),
                );
            }
            ModelTerm::Any(_) => return particle.clone(),
            ModelTerm::Group(kind, children) => (*kind, children),
        };
        let mut flat: Vec<Particle> = Vec::with_capacity(children.len());
        for child in children.iter() {
            let child = self.normal(child);
            match &child.term {
                ModelTerm::Group(inner, _)
                    if *inner == kind && (child.min, child.max) == (1, 1) =>
                {
                    let ModelTerm::Group(_, inner) = &child.term else {
                        continue;
                    };
                    flat.extend(inner.iter().cloned());
                }
                ModelTerm::Group(GroupKind::Sequence | GroupKind::All, inner)
                    if inner.is_empty() =>
                {
                    if kind == GroupKind::Choice {
                        flat.push(child);
                    }
                }
                _ => flat.push(child),
            }
        }
        match <[Particle; 1]>::try_from(flat) {
            Ok([single]) if (particle.min, particle.max) == (1, 1) => single,
            Ok([single]) => Particle::new(
                particle.min,
                particle.max,
                ModelTerm::Group(kind, Arc::new([single])),
            ),
            Err(flat) => Particle::new(
                particle.min,
                particle.max,
                ModelTerm::Group(kind, flat.into()),
            ),
        }
    }

    fn is_restriction(&mut self, particle: &Particle, base: &Particle) -> bool {
        self.steps += 1;
        if self.steps > MAX_RESTRICTION_STEPS {
            return true;
        }
        match (&particle.term, &base.term) {
            (ModelTerm::Element(one), ModelTerm::Element(other)) => {
                occurs_within(particle, base) && self.element_restricts(*one, *other)
            }
            (ModelTerm::Element(one), ModelTerm::Any(wildcard)) => {
                occurs_within(particle, base)
                    && wildcard
                        .namespaces
                        .admits(&self.set.element_declaration(*one).name.namespace)
            }
            (ModelTerm::Element(_), ModelTerm::Group(kind, children)) => {
                self.element_restricts_group(particle, base, *kind, children)
            }
            (ModelTerm::Any(one), ModelTerm::Any(other)) => {
                occurs_within(particle, base) && wildcard_restricts(one, other)
            }
            (ModelTerm::Any(_), _) => false,
            (ModelTerm::Group(_, children), ModelTerm::Any(_)) => {
                let (least, most) = particle.total_range();
                let unbounded = Particle::new(0, UNBOUNDED, base.term.clone());
                least >= base.min
                    && (base.max == UNBOUNDED || most <= base.max)
                    && children
                        .iter()
                        .all(|child| self.is_restriction(child, &unbounded))
            }
            (ModelTerm::Group(..), ModelTerm::Element(_)) => false,
            (
                ModelTerm::Group(GroupKind::Sequence, children),
                ModelTerm::Group(GroupKind::Choice, others),
            ) => self.map_and_sum(particle, children, base, others),
            (
                ModelTerm::Group(GroupKind::Sequence, children),
                ModelTerm::Group(GroupKind::All, others),
            ) => occurs_within(particle, base) && self.recurse_unordered(children, others),
            (
                ModelTerm::Group(GroupKind::Choice, children),
                ModelTerm::Group(GroupKind::Choice, others),
            ) => occurs_within(particle, base) && self.recurse_lax(children, others),
            (ModelTerm::Group(one, children), ModelTerm::Group(other, others)) => {
                one == other && occurs_within(particle, base) && self.recurse(children, others)
            }
        }
    }

    /// An element is compared as a group with one member. If a choice may repeat, the element may repeat instead.
    fn element_restricts_group(
        &mut self,
        particle: &Particle,
        base: &Particle,
        kind: GroupKind,
        children: &[Particle],
    ) -> bool {
        if kind != GroupKind::Choice {
            return occurs_within(&Particle::once(particle.term.clone()), base)
                && self.recurse(std::slice::from_ref(particle), children);
        }
        let once = Particle::once(particle.term.clone());
        let in_its_place = occurs_within(particle, base)
            && self.recurse_lax(std::slice::from_ref(&once), children);
        in_its_place
            || occurs_within(&once, base)
                && self.recurse_lax(std::slice::from_ref(particle), children)
    }

    /// (Particle Restriction OK (Elt:Elt -- NameAndTypeOK))
    fn element_restricts(&mut self, one: ElementNumber, other: ElementNumber) -> bool {
        if one == other {
            return true;
        }
        let (one, other) = (
            self.set.element_declaration(one),
            self.set.element_declaration(other),
        );
        let (Ok(key), Ok(base)) = (self.set.type_of(one), self.set.type_of(other)) else {
            return true;
        };
        let path = self.derivation(key, base);
        one.name == other.name
            && (other.nillable || !one.nillable)
            && match (&one.fixed, &other.fixed) {
                (_, None) => true,
                (None, Some(_)) => false,
                (Some(a), Some(b)) => self.simple.is_same(self.set, base, (a, b)),
            }
            && one.block.with(other.block) == one.block
            && path.is_some_and(|path| !path.meets(DerivationSet::EXTENSION))
    }

    /// Each child restricts one of `others`, in the same order; the skipped ones are optional.
    fn recurse(&mut self, children: &[Particle], others: &[Particle]) -> bool {
        let mut others = others.iter();
        for child in children {
            loop {
                let Some(other) = others.next() else {
                    return false;
                };
                if self.is_restriction(child, other) {
                    break;
                }
                if !other.is_emptiable() {
                    return false;
                }
            }
        }
        others.all(Particle::is_emptiable)
    }

    /// Each child restricts one of `others`, in the same order.
    fn recurse_lax(&mut self, children: &[Particle], others: &[Particle]) -> bool {
        let mut others = others.iter();
        children.iter().all(|child| {
            others
                .by_ref()
                .any(|other| self.is_restriction(child, other))
        })
    }

    /// Each child restricts a different one of `others`; the rest are optional.
    fn recurse_unordered(&mut self, children: &[Particle], others: &[Particle]) -> bool {
        let mut left: Vec<&Particle> = others.iter().collect();
        for child in children {
            match left
                .iter()
                .position(|other| self.is_restriction(child, other))
            {
                Some(at) => drop(left.swap_remove(at)),
                None => return false,
            }
        }
        left.into_iter().all(Particle::is_emptiable)
    }

    /// Each child restricts one of the members of the choice, and the choice occurs often enough.
    fn map_and_sum(
        &mut self,
        particle: &Particle,
        children: &[Particle],
        base: &Particle,
        others: &[Particle],
    ) -> bool {
        let count = children.len() as u32;
        let most = if particle.max == UNBOUNDED {
            UNBOUNDED
        } else {
            particle.max.saturating_mul(count)
        };
        let is_within = particle.min.saturating_mul(count) >= base.min
            && (base.max == UNBOUNDED || most <= base.max);
        is_within
            && children
                .iter()
                .all(|child| others.iter().any(|other| self.is_restriction(child, other)))
    }
}

/// (§3.9.6, Occurrence Range OK)
fn occurs_within(particle: &Particle, base: &Particle) -> bool {
    particle.min >= base.min && (base.max == UNBOUNDED || particle.max <= base.max)
}

fn wildcard_restricts(one: &WildcardDeclaration, other: &WildcardDeclaration) -> bool {
    is_subset(&one.namespaces, &other.namespaces)
        && strictness(one.process) >= strictness(other.process)
}
