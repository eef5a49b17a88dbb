//! Content models for the checks: group references are resolved, and extensions include their base type's content.

use std::sync::Arc;

use bsoap_codec::plan::{ProcessContents, UNBOUNDED};

use crate::components::{
    ComplexContent, Derivation, DerivationSet, ElementNumber, GroupNumber, ParticleDeclaration,
    TermDeclaration, TypeKind, TypeNumber, WildcardDeclaration,
};
use crate::document::Position;
use crate::{Result, Sort};

use super::super::resolve::TypeKey;
use super::Checker;

/// The content of a complex type.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A simple value.
    Simple,
    /// Elements (possibly none), with text between them if mixed.
    Elements {
        particle: Option<Particle>,
        mixed: bool,
    },
    /// Any content.
    Any,
}

/// A particle with resolved references.
#[derive(Clone, Debug)]
pub(super) struct Particle {
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) term: ModelTerm,
    /// The number of particles in it; those of a group count for each reference.
    size: usize,
    /// The nesting depth of groups in it.
    depth: usize,
}

#[derive(Clone, Debug)]
pub(super) enum ModelTerm {
    Element(ElementNumber),
    Any(Arc<WildcardDeclaration>),
    Group(GroupKind, Arc<[Particle]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupKind {
    Sequence,
    Choice,
    All,
}

impl Content {
    /// Whether only white space is allowed.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Elements { particle, mixed } => {
                !mixed && particle.as_ref().is_none_or(Particle::is_nothing)
            }
            _ => false,
        }
    }
}

impl Particle {
    pub(super) fn new(min: u32, max: u32, term: ModelTerm) -> Self {
        let children: &[Self] = match &term {
            ModelTerm::Group(_, children) => children,
            _ => &[],
        };
        let size = children
            .iter()
            .fold(1, |sum: usize, child| sum.saturating_add(child.size));
        let depth = children
            .iter()
            .map(|child| child.depth + 1)
            .max()
            .unwrap_or(0);
        Self {
            min,
            max,
            term,
            size,
            depth,
        }
    }

    pub(super) fn once(term: ModelTerm) -> Self {
        Self::new(1, 1, term)
    }

    fn is_nothing(&self) -> bool {
        matches!(&self.term, ModelTerm::Group(kind, children) if children.is_empty() && (*kind != GroupKind::Choice || self.min == 0))
    }

    pub(super) fn is_emptiable(&self) -> bool {
        self.min == 0 || self.total_range().0 == 0
    }

    /// The minimum and maximum number of elements. (§3.8.6, Effective Total Range)
    pub(super) fn total_range(&self) -> (u32, u32) {
        let (least, most) = match &self.term {
            ModelTerm::Element(_) | ModelTerm::Any(_) => (1, 1),
            ModelTerm::Group(GroupKind::Choice, children) => {
                let ranges = || children.iter().map(Self::total_range);
                (
                    ranges().map(|range| range.0).min().unwrap_or(0),
                    ranges().map(|range| range.1).max().unwrap_or(0),
                )
            }
            ModelTerm::Group(_, children) => {
                children
                    .iter()
                    .map(Self::total_range)
                    .fold((0, 0), |sum: (u32, u32), range| {
                        (sum.0.saturating_add(range.0), sum.1.saturating_add(range.1))
                    })
            }
        };
        let most = match (self.max, most) {
            (_, 0) | (0, _) => 0,
            (UNBOUNDED, _) | (_, UNBOUNDED) => UNBOUNDED,
            (max, most) => max.saturating_mul(most),
        };
        (self.min.saturating_mul(least), most)
    }

    /// The element particles and wildcards in it.
    pub(super) fn leaves(&self) -> Vec<&Particle> {
        let mut leaves = Vec::new();
        let mut waiting = vec![self];
        while let Some(particle) = waiting.pop() {
            match &particle.term {
                ModelTerm::Group(_, children) => waiting.extend(children.iter().rev()),
                _ => leaves.push(particle),
            }
        }
        leaves
    }
}

/// The order of strictness: strict > lax > skip.
pub(super) fn strictness(process: ProcessContents) -> u8 {
    match process {
        ProcessContents::Strict => 2,
        ProcessContents::Lax => 1,
        ProcessContents::Skip => 0,
    }
}

impl<'s> Checker<'s> {
    /// Checks that named groups do not contain themselves and that `all` is used only where it is allowed.
    pub(super) fn check_groups(&mut self) {
        for number in (0..self.set.groups.len() as u32).map(GroupNumber) {
            let group = self.group(number);
            self.noted(group);
        }
        for &(new, old) in &self.set.redefined_groups {
            let (Ok(Some(new_particle)), Ok(Some(old))) = (self.group(new), self.group(old)) else {
                continue;
            };
            if !self.restricts(&new_particle, &old) {
                let place = self.set.group(new).place;
                self.broken(
                    "src-redefine.6.2.2",
                    "the redefined group is not a valid restriction of the original group",
                    place,
                );
            }
        }
    }

    fn group(&mut self, number: GroupNumber) -> Result<Option<Particle>> {
        if let Some(group) = self.groups.get(&number) {
            return Ok(group.clone());
        }
        let definition = self.set.group(number);
        if self.open_groups.contains(&number) {
            self.groups.insert(number, None);
            return Err(self
                .set
                .circular(Sort::Group, &definition.name, definition.place));
        }
        self.open_groups.push(number);
        let group = definition
            .particle
            .as_ref()
            .map(|particle| self.particle(particle))
            .transpose();
        self.open_groups.pop();
        self.groups
            .insert(number, group.as_ref().ok().cloned().flatten());
        group
    }

    pub(super) fn particle(&mut self, declaration: &'s ParticleDeclaration) -> Result<Particle> {
        if self.depth >= self.set.limits.depth {
            return Err(self
                .set
                .too_many("depth", self.set.limits.depth, declaration.place));
        }
        self.depth += 1;
        let particle = self.particle_in(declaration);
        self.depth -= 1;
        particle
    }

    fn particle_in(&mut self, declaration: &'s ParticleDeclaration) -> Result<Particle> {
        let (min, max) = (declaration.min, declaration.max);
        let (kind, children) = match &declaration.term {
            TermDeclaration::Element(number) => {
                return Ok(Particle::new(min, max, ModelTerm::Element(*number)));
            }
            TermDeclaration::ElementRef(reference) => {
                return Ok(Particle::new(
                    min,
                    max,
                    ModelTerm::Element(self.set.resolve_element(reference)?),
                ));
            }
            TermDeclaration::Any(wildcard) => {
                return Ok(Particle::new(
                    min,
                    max,
                    ModelTerm::Any(Arc::new(wildcard.clone())),
                ));
            }
            TermDeclaration::Group(reference) => {
                let number = self.set.resolve_group(reference)?;
                return self.group_reference(number, declaration);
            }
            TermDeclaration::Resolved(number) => return self.group_reference(*number, declaration),
            TermDeclaration::Sequence(children) => (GroupKind::Sequence, children),
            TermDeclaration::Choice(children) => (GroupKind::Choice, children),
            TermDeclaration::All(children) => (GroupKind::All, children),
        };
        let mut found = Vec::with_capacity(children.len());
        for child in children {
            let particle = self.particle(child)?;
            if matches!(particle.term, ModelTerm::Group(GroupKind::All, _)) {
                self.broken(
                    "cos-all-limited.1.2",
                    "xs:all must be the whole content model; it cannot be combined with other particles",
                    child.place,
                );
            }
            found.push(particle);
        }
        self.bounded(
            Particle::new(min, max, ModelTerm::Group(kind, found.into())),
            declaration.place,
        )
    }

    fn group_reference(
        &mut self,
        number: GroupNumber,
        declaration: &ParticleDeclaration,
    ) -> Result<Particle> {
        let (min, max) = (declaration.min, declaration.max);
        let term = match self.group(number)? {
            Some(group) => group.term,
            None => ModelTerm::Group(GroupKind::Sequence, Arc::new([])),
        };
        if matches!(term, ModelTerm::Group(GroupKind::All, _)) && max != 1 {
            self.broken(
                "cos-all-limited.1.2",
                "xs:all cannot have maxOccurs greater than 1",
                declaration.place,
            );
        }
        self.bounded(Particle::new(min, max, term), declaration.place)
    }

    /// Applies the limits: references to groups can turn a small schema into a large and deep model.
    fn bounded(&mut self, particle: Particle, place: Position) -> Result<Particle> {
        let limits = &self.set.limits;
        if particle.size > limits.particles {
            return Err(self.set.too_many("particles", limits.particles, place));
        }
        self.set.charge(particle.size, place)?;
        if particle.depth > limits.depth {
            return Err(self.set.too_many("depth", limits.depth, place));
        }
        Ok(particle)
    }

    /// The content of a complex type, computed after that of its base types, the most basic first.
    pub(super) fn content(&mut self, number: TypeNumber) -> Option<Arc<Content>> {
        if self.circular.contains(&number) {
            return None;
        }
        let is_done = |base| self.contents.contains_key(&base) || self.circular.contains(&base);
        for next in self.set.base_chain(number, is_done).into_iter().rev() {
            if !self.contents.contains_key(&next) {
                let content = self.derive_content(next);
                let content = self.noted(content).unwrap_or(Content::Any);
                self.contents.insert(next, Arc::new(content));
            }
        }
        self.contents.get(&number).cloned()
    }

    fn derive_content(&mut self, number: TypeNumber) -> Result<Content> {
        let definition = self.set.type_definition(number);
        let TypeKind::Complex(complex) = &definition.kind else {
            return Ok(Content::Simple);
        };
        let (derivation, particle, base) = match &complex.content {
            ComplexContent::Simple { .. } => return Ok(Content::Simple),
            ComplexContent::Complex {
                base,
                derivation,
                particle,
            } => (*derivation, particle, base),
        };
        let own = match particle {
            Some(particle) => {
                Some(self.particle(particle)?).filter(|particle| !particle.is_nothing())
            }
            None => None,
        };
        let base = match base
            .as_ref()
            .map(|base| self.set.resolve_use(base))
            .transpose()?
        {
            Some(TypeKey::Defined(base)) if derivation == Derivation::Extension => {
                self.contents.get(&base).cloned()
            }
            Some(TypeKey::AnyType) if derivation == Derivation::Extension => {
                Some(Arc::new(Content::Any))
            }
            _ => None,
        };
        let mixed = complex.mixed;
        let Some(base) = base else {
            return Ok(Content::Elements {
                particle: own,
                mixed,
            });
        };
        Ok(match (&*base, own) {
            (base, None) => base.clone(),
            (
                Content::Elements {
                    particle: Some(base),
                    ..
                },
                Some(own),
            ) => {
                self.check_extension(base, &own, definition.place);
                let mut children = match &base.term {
                    ModelTerm::Group(GroupKind::Sequence, children)
                        if (base.min, base.max) == (1, 1) =>
                    {
                        children.to_vec()
                    }
                    _ => vec![base.clone()],
                };
                children.push(own);
                let all = Particle::once(ModelTerm::Group(GroupKind::Sequence, children.into()));
                Content::Elements {
                    particle: Some(self.bounded(all, definition.place)?),
                    mixed,
                }
            }
            (_, own) => Content::Elements {
                particle: own,
                mixed,
            },
        })
    }

    /// An `all` group can neither be extended nor extend a base type. (cos-all-limited.1)
    fn check_extension(&mut self, base: &Particle, own: &Particle, place: Position) {
        let is_all =
            |particle: &Particle| matches!(particle.term, ModelTerm::Group(GroupKind::All, _));
        if is_all(base) || is_all(own) {
            self.broken(
                "cos-all-limited.1.2",
                "xs:all must be the whole content model; it cannot be combined with other particles",
                place,
            );
        }
    }

    /// The derivations between a type and an ancestor; for simple types the ancestor may be a union with the type as a member.
    pub(super) fn derivation(&mut self, key: TypeKey, ancestor: TypeKey) -> Option<DerivationSet> {
        if let Some(path) = self.set.derivation_path(key, ancestor) {
            return Some(path);
        }
        if !self.set.is_simple(key) || !self.set.is_simple(ancestor) {
            return None;
        }
        let one = self.simple.simple(self.set, key).ok()?;
        let other = self.simple.simple(self.set, ancestor).ok()?;
        one.is_derived_from(&other).then_some(DerivationSet::NONE)
    }
}
