//! Compiles particles: expands group references, turns substitution groups into choices, and removes redundant nesting.
//!
//! A named group is compiled once; all references share its children. The layout of a Record must not depend on
//! redundant nesting, so `(a, (b, c))` becomes `(a, b, c)`, and `((a))*` becomes a repeated element: an array.

use std::sync::Arc;

use bsoap_codec::plan::{
    Counts, ElementDef, ElementId, NamespaceConstraint, ParticleDef, ParticleId, ProcessContents,
    Role, TermDef, UNBOUNDED, Wildcard,
};
use foldhash::{HashMap, HashSet};

use crate::components::{
    DerivationSet, ElementNumber, GroupNumber, ParticleDeclaration, TermDeclaration,
};
use crate::document::Position;
use crate::wildcard::cost;
use crate::xsd::resolve::TypeKey;
use crate::{Result, Sort};

mod runs;

use super::envelope::element_def;
use super::{Compiler, Offers};
use runs::has_run;

/// A particle of the Plan with the facts needed to merge it into another.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) id: ParticleId,
    min: u32,
    max: u32,
    term: CompiledTerm,
    /// The number of particles in it. The particles of a named group count for each reference to the group.
    size: usize,
    /// The nesting depth of the groups in it.
    depth: usize,
    /// Whether one occurrence of the term may be empty.
    is_emptiable_term: bool,
    /// Whether, if the term repeats, its occurrences alone do not say which numbers of them are possible: a run of a child in it may
    /// go on through several.
    is_sensitive_term: bool,
    /// Whether, if the term repeats, a run of a child in it may go on through several occurrences at all.
    has_runs: bool,
    /// If not all numbers of occurrences from `min` to `max` are possible: the repeats of the term, innermost first.
    levels: Option<Arc<[(u32, u32)]>>,
    /// If it is a branch whose last level counts the occurrences of its choice: the branch without that level.
    unjoined: Option<Arc<Compiled>>,
}

#[derive(Clone, Debug)]
enum CompiledTerm {
    Element(ElementId),
    Any(Arc<Wildcard>),
    Sequence(Arc<[Compiled]>),
    Choice(Arc<[Compiled]>),
    All(Arc<[Compiled]>),
}

/// The particles compiled so far, and their number.
#[derive(Debug, Default)]
pub(super) struct ParticleMemo {
    elements: HashMap<(ElementId, u32, u32), Compiled>,
    /// The elements that may replace an element. `None` if no element can replace it.
    substitutes: HashMap<ElementNumber, Option<Arc<[Compiled]>>>,
    /// The global elements that each wildcard allows.
    admitted: Vec<(NamespaceConstraint, Arc<[Compiled]>)>,
    total: usize,
}

impl Compiled {
    fn is_once(&self) -> bool {
        (self.min, self.max) == (1, 1)
    }

    /// Whether it may be empty.
    fn is_emptiable(&self) -> bool {
        self.min == 0 || self.is_emptiable_term
    }

    /// The repeats of its term, innermost first.
    fn levels(&self) -> Vec<(u32, u32)> {
        match &self.levels {
            Some(levels) => levels.to_vec(),
            None => vec![(self.least(), self.max)],
        }
    }

    /// The least number of occurrences that are not empty.
    fn least(&self) -> u32 {
        match self.is_emptiable_term {
            true => 0,
            false => self.min,
        }
    }

    /// Whether it must occur more than once where it occurs.
    fn has_fewest(&self) -> bool {
        self.max > 1 && (self.least() > 1 || self.levels.is_some())
    }

    fn is_empty_sequence(&self) -> bool {
        matches!(&self.term, CompiledTerm::Sequence(children) if children.is_empty())
    }
}

impl Compiler<'_> {
    /// The particle of a type's content. `None` for empty content.
    pub(super) fn content_particle(
        &mut self,
        declaration: &ParticleDeclaration,
    ) -> Result<Option<Compiled>> {
        let compiled = self.particle(declaration)?;
        Ok(Some(compiled).filter(|compiled| !compiled.is_empty_sequence()))
    }

    fn particle(&mut self, declaration: &ParticleDeclaration) -> Result<Compiled> {
        if self.depth >= self.set.limits.depth {
            return Err(self
                .set
                .too_many("depth", self.set.limits.depth, declaration.place));
        }
        self.depth += 1;
        let compiled = self.particle_in(declaration);
        self.depth -= 1;
        compiled
    }

    fn particle_in(&mut self, declaration: &ParticleDeclaration) -> Result<Compiled> {
        let (min, max, place) = (declaration.min, declaration.max, declaration.place);
        match &declaration.term {
            TermDeclaration::Element(number) => {
                let element = self.element(*number)?;
                self.add(min, max, CompiledTerm::Element(element), place)
            }
            TermDeclaration::ElementRef(reference) => {
                let number = self.set.resolve_element(reference)?;
                match self.substitutes(number, place)? {
                    Some(branches) => self.choice(min, max, &branches, place),
                    None => {
                        let element = self.element(number)?;
                        self.add(min, max, CompiledTerm::Element(element), place)
                    }
                }
            }
            TermDeclaration::Group(reference) => {
                let number = self.set.resolve_group(reference)?;
                let group = self.group(number, place)?;
                self.repeat(group, min, max, place)
            }
            TermDeclaration::Resolved(number) => {
                let group = self.group(*number, place)?;
                self.repeat(group, min, max, place)
            }
            TermDeclaration::Sequence(children) => {
                let children = self.children(children)?;
                self.sequence(min, max, &children, place)
            }
            TermDeclaration::Choice(children) => {
                let children = self.children(children)?;
                self.choice(min, max, &children, place)
            }
            TermDeclaration::All(children) => {
                let children = self.children(children)?;
                self.add(min, max, CompiledTerm::All(children.into()), place)
            }
            TermDeclaration::Any(wildcard) => {
                let wildcard = Wildcard {
                    namespaces: wildcard.namespaces.clone(),
                    process: wildcard.process,
                };
                if self.offers == Offers::All && wildcard.process != ProcessContents::Skip {
                    return self.declared(min, max, wildcard, place);
                }
                self.any(min, max, wildcard, place)
            }
        }
    }

    /// For a validator: a wildcard compiled as a choice of the global elements it allows, and of any other element, which is
    /// checked by its `xsi:type`.
    pub(super) fn declared(
        &mut self,
        min: u32,
        max: u32,
        wildcard: Wildcard,
        place: Position,
    ) -> Result<Compiled> {
        self.set.charge(self.particles.admitted.len() / 8, place)?;
        let known = self
            .particles
            .admitted
            .iter()
            .find(|known| known.0 == wildcard.namespaces);
        let mut branches = match known {
            Some((_, known)) => known.to_vec(),
            None => {
                let set = self.set;
                let mut branches = Vec::new();
                set.charge(set.elements.len() / 8, place)?;
                for (number, element) in set.elements.iter().enumerate() {
                    if element.is_global && wildcard.namespaces.admits(&element.name.namespace) {
                        let element = self.element(ElementNumber(number as u32))?;
                        branches.push(self.add(1, 1, CompiledTerm::Element(element), place)?);
                    }
                }
                self.particles
                    .admitted
                    .push((wildcard.namespaces.clone(), branches.clone().into()));
                branches
            }
        };
        branches.push(self.any(1, 1, wildcard, place)?);
        self.check_undeclared();
        self.add(min, max, CompiledTerm::Choice(branches.into()), place)
    }

    /// Has elements at wildcards checked that have no declaration.
    fn check_undeclared(&mut self) {
        if self.checks_undeclared {
            return;
        }
        self.checks_undeclared = true;
        let ty = self.reserve(TypeKey::AnyType, DerivationSet::NONE);
        let name = self.builder.name("", "*");
        let element = self.builder.element(ElementDef {
            nillable: true,
            ..element_def(name, ty, Role::Application)
        });
        self.builder.check_undeclared(element);
    }

    fn children(&mut self, declarations: &[ParticleDeclaration]) -> Result<Vec<Compiled>> {
        declarations
            .iter()
            .map(|child| self.particle(child))
            .collect()
    }

    /// The particle of a named group that occurs once.
    fn group(&mut self, number: GroupNumber, place: Position) -> Result<Compiled> {
        if let Some(group) = self.groups.get(&number) {
            return Ok(group.clone());
        }
        let definition = self.set.group(number);
        if self.open_groups.contains(&number) {
            return Err(self.set.circular(Sort::Group, &definition.name, place));
        }
        self.open_groups.push(number);
        let group = match &definition.particle {
            Some(particle) => self.particle(particle),
            None => self.empty(place),
        };
        self.open_groups.pop();
        let group = group?;
        self.groups.insert(number, group.clone());
        Ok(group)
    }

    /// The elements allowed at a reference to an element: the element and its substitutes. `None` if it has no substitutes.
    fn substitutes(
        &mut self,
        head: ElementNumber,
        place: Position,
    ) -> Result<Option<Arc<[Compiled]>>> {
        if let Some(known) = self.particles.substitutes.get(&head) {
            return Ok(known.clone());
        }
        let mut branches = Vec::new();
        for number in self.members_of(head, place)? {
            let element = self.element(number)?;
            branches.push(self.add(1, 1, CompiledTerm::Element(element), place)?);
        }
        let is_alone = matches!(&branches[..], [Compiled { term: CompiledTerm::Element(one), .. }] if Some(one) == self.elements.get(&head));
        let branches: Option<Arc<[Compiled]>> =
            (!branches.is_empty() && !is_alone).then(|| branches.into());
        self.particles.substitutes.insert(head, branches.clone());
        Ok(branches)
    }

    /// The head of a substitution group, unless it is abstract, and its direct and indirect substitutes, in document order.
    /// (XML Schema Part 1 §3.3.6, Substitution Group)
    fn members_of(&self, head: ElementNumber, place: Position) -> Result<Vec<ElementNumber>> {
        let declaration = self.set.element_declaration(head);
        let head_type = self.set.type_of(declaration).ok();
        let blocked = head_type.map_or(declaration.block, |key| {
            declaration.block.with(self.set.block_of(key))
        });
        let mut members = Vec::new();
        let mut seen = HashSet::from_iter([head]);
        let mut waiting = vec![head];
        while let Some(number) = waiting.pop() {
            // The search for the head among the base types of a member is bounded by the limit `depth`.
            self.set.charge(2, place)?;
            let member = self.set.element_declaration(number);
            let is_allowed = number == head
                || head_type.is_none_or(|head_type| {
                    let path = self
                        .set
                        .type_of(member)
                        .ok()
                        .and_then(|key| self.set.derivation_path(key, head_type));
                    path.is_none_or(|path| !path.meets(blocked))
                });
            if is_allowed && !member.is_abstract {
                members.push(number);
            }
            if !declaration.block.meets(DerivationSet::SUBSTITUTION) {
                let more = self
                    .set
                    .substitutes
                    .get(&member.name)
                    .map_or(&[][..], Vec::as_slice);
                waiting.extend(more.iter().rev().filter(|&&number| seen.insert(number)));
            }
        }
        Ok(members)
    }

    /// A particle that is a sequence of the children.
    pub(super) fn sequence(
        &mut self,
        min: u32,
        max: u32,
        children: &[Compiled],
        place: Position,
    ) -> Result<Compiled> {
        let flat = flattened(children, |child| match &child.term {
            CompiledTerm::Sequence(inner) if child.is_once() || inner.is_empty() => Some(inner),
            _ => None,
        });
        match <[Compiled; 1]>::try_from(flat) {
            Ok([single]) => self.repeat(single, min, max, place),
            Err(children) => self.sequence_of(children, (min, max), None, place),
        }
    }

    /// A particle that is a choice of the children.
    pub(super) fn choice(
        &mut self,
        min: u32,
        max: u32,
        children: &[Compiled],
        place: Position,
    ) -> Result<Compiled> {
        let flat = flattened(children, |child| match &child.term {
            CompiledTerm::Choice(inner) if child.is_once() => Some(inner),
            _ => None,
        });
        match <[Compiled; 1]>::try_from(flat) {
            Ok([single]) => self.repeat(single, min, max, place),
            Err(branches) => self.choice_of(branches, (min, max), None, place),
        }
    }

    /// An element of the Plan as a particle.
    pub(super) fn element_particle(
        &mut self,
        min: u32,
        max: u32,
        element: ElementId,
        place: Position,
    ) -> Result<Compiled> {
        self.add(min, max, CompiledTerm::Element(element), place)
    }

    /// A particle that is a wildcard.
    pub(super) fn any(
        &mut self,
        min: u32,
        max: u32,
        wildcard: Wildcard,
        place: Position,
    ) -> Result<Compiled> {
        let copied = cost(std::iter::once(&wildcard.namespaces));
        self.set.charge(copied, place)?;
        self.add(min, max, CompiledTerm::Any(Arc::new(wildcard)), place)
    }

    /// A particle that is an empty sequence.
    pub(super) fn empty(&mut self, place: Position) -> Result<Compiled> {
        self.add(1, 1, CompiledTerm::Sequence(Arc::new([])), place)
    }

    /// A particle that repeats another from `min` to `max` times.
    fn repeat(&mut self, inner: Compiled, min: u32, max: u32, place: Position) -> Result<Compiled> {
        if (min, max) == (1, 1) || inner.is_empty_sequence() {
            return Ok(inner);
        }
        let merged = match inner.levels {
            None => product((inner.min, inner.max), (min, max)),
            Some(_) => None,
        };
        let (range, levels) = match merged {
            Some(range) => (range, None),
            None => {
                let times = |a: u32, b: u32| match (a, b) {
                    (0, _) | (_, 0) => 0,
                    (a, b) => a.saturating_mul(b),
                };
                let range = (times(inner.min, min), times(inner.max, max));
                let mut levels = inner.levels();
                levels.push((min, max));
                // Where an occurrence may be empty, any number of others is possible.
                (range, Some(levels).filter(|_| !inner.is_emptiable_term))
            }
        };
        self.occurring(inner.term, range, levels, place)
    }

    /// A particle of a term with these occurrences. If it is a choice or a sequence, what it has is joined to runs again.
    fn occurring(
        &mut self,
        term: CompiledTerm,
        range: (u32, u32),
        levels: Option<Vec<(u32, u32)>>,
        place: Position,
    ) -> Result<Compiled> {
        match (term, levels) {
            (CompiledTerm::Choice(branches), levels) if range.1 > 1 => {
                let branches = branches.iter();
                let branches = branches.map(|it| it.unjoined.as_deref().unwrap_or(it).clone());
                self.choice_of(branches.collect(), range, levels, place)
            }
            (CompiledTerm::Sequence(children), levels) if range.1 > 1 => {
                let children = children.iter();
                let children = children.map(|it| it.unjoined.as_deref().unwrap_or(it).clone());
                self.sequence_of(children.collect(), range, levels, place)
            }
            (term, Some(levels)) => self.add_counted(range, term, levels, place),
            (term, None) => self.add(range.0, range.1, term, place),
        }
    }

    /// A particle for which not all numbers of occurrences are possible: those of the levels, innermost first.
    fn add_counted(
        &mut self,
        (min, max): (u32, u32),
        term: CompiledTerm,
        levels: Vec<(u32, u32)>,
        place: Position,
    ) -> Result<Compiled> {
        self.set.charge(levels.len(), place)?;
        let mut compiled = self.add_new(min, max, term, place)?;
        if let Some((&outermost, inner)) = levels.split_last() {
            let counts = Counts::new(inner.iter().copied(), outermost);
            self.builder.limit_counts(compiled.id, counts);
        }
        compiled.levels = Some(levels.into());
        Ok(compiled)
    }

    /// A particle. An element with the same numbers of occurrences is added once.
    fn add(&mut self, min: u32, max: u32, term: CompiledTerm, place: Position) -> Result<Compiled> {
        let CompiledTerm::Element(element) = term else {
            return self.add_new(min, max, term, place);
        };
        if let Some(known) = self.particles.elements.get(&(element, min, max)) {
            return Ok(known.clone());
        }
        let added = self.add_new(min, max, term, place)?;
        let key = (element, min, max);
        self.particles.elements.insert(key, added.clone());
        Ok(added)
    }

    fn add_new(
        &mut self,
        min: u32,
        max: u32,
        term: CompiledTerm,
        place: Position,
    ) -> Result<Compiled> {
        let children: &[Compiled] = match &term {
            CompiledTerm::Sequence(children)
            | CompiledTerm::Choice(children)
            | CompiledTerm::All(children) => children,
            CompiledTerm::Element(_) | CompiledTerm::Any(_) => &[],
        };
        let size = children
            .iter()
            .fold(1, |sum: usize, child| sum.saturating_add(child.size));
        let depth = children
            .iter()
            .map(|child| child.depth + 1)
            .max()
            .unwrap_or(0);
        let limits = &self.set.limits;
        if depth > limits.depth {
            return Err(self.set.too_many("depth", limits.depth, place));
        }
        if size > limits.particles {
            return Err(self.set.too_many("particles", limits.particles, place));
        }
        let ids = || children.iter().map(|child| child.id).collect();
        let def = match &term {
            CompiledTerm::Element(element) => TermDef::Element(*element),
            CompiledTerm::Any(wildcard) => TermDef::Any((**wildcard).clone()),
            CompiledTerm::Sequence(_) => TermDef::Sequence(ids()),
            CompiledTerm::Choice(_) => TermDef::Choice(ids()),
            CompiledTerm::All(_) => TermDef::All(ids()),
        };
        // What a Plan derives from a particle, such as the names it can begin with, is as large as all that is in it.
        self.set.charge(size, place)?;
        self.particles.total += 1 + children.len();
        if self.particles.total > limits.total_particles {
            return Err(self
                .set
                .too_many("total_particles", limits.total_particles, place));
        }
        let id = self.builder.particle(ParticleDef {
            min,
            max,
            term: def,
        });
        let is_emptiable_term = match &term {
            CompiledTerm::Element(_) | CompiledTerm::Any(_) => false,
            CompiledTerm::Choice(branches) => branches.iter().any(Compiled::is_emptiable),
            CompiledTerm::Sequence(all) | CompiledTerm::All(all) => {
                all.iter().all(Compiled::is_emptiable)
            }
        };
        let is_sensitive_term =
            has_run(&term, |child| child.has_fewest() || child.is_sensitive_term);
        let has_runs = has_run(&term, |child| {
            !child.is_emptiable_term && child.max > 1 || child.has_runs
        });
        Ok(Compiled {
            id,
            min,
            max,
            term,
            size,
            depth,
            is_emptiable_term,
            is_sensitive_term,
            has_runs,
            levels: None,
            unjoined: None,
        })
    }
}

/// The occurrences of a term that occurs `inner` times in each of `outer` occurrences, if all numbers between the fewest and
/// the most are possible: the ranges `k·fewest..=k·most` of consecutive `k` have no gaps between them. The first gap is the
/// widest.
fn product(inner: (u32, u32), outer: (u32, u32)) -> Option<(u32, u32)> {
    let [(fewest, most), (min, max)] = [inner, outer].map(|(min, max)| (u64::from(min), max));
    let has_gap = |most: u32| (min + 1) * fewest > min * u64::from(most) + 1;
    match most {
        // With no occurrence outside, there is none inside.
        UNBOUNDED if min == 0 && fewest > 1 => return None,
        UNBOUNDED => {}
        most if u64::from(max) > min && has_gap(most) => return None,
        _ => {}
    }
    let bounded = |count: u64| u32::try_from(count).ok().filter(|&count| count < UNBOUNDED);
    let least = bounded(min * fewest)?;
    match (most, max) {
        (UNBOUNDED, _) | (_, UNBOUNDED) => Some((least, UNBOUNDED)),
        (most, max) => Some((least, bounded(u64::from(most) * u64::from(max))?)),
    }
}

/// The children, where each child for which `opened` returns children is replaced by them.
fn flattened(
    children: &[Compiled],
    opened: impl Fn(&Compiled) -> Option<&Arc<[Compiled]>>,
) -> Vec<Compiled> {
    let mut flat = Vec::with_capacity(children.len());
    for child in children {
        match opened(child) {
            Some(inner) => flat.extend(inner.iter().cloned()),
            None => flat.push(child.clone()),
        }
    }
    flat
}
