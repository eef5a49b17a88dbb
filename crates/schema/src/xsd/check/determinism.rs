//! Checks that the name of an element always determines its particle. (§3.8.6, Unique Particle Attribution)
//!
//! This is Glushkov's construction: each element particle and wildcard of a content model is a position. From the model
//! follow the positions it can begin with and those that can follow each position. Two positions in one such set must not
//! match the same name, unless they are of the same particle.
//!
//! ```text
//! (a, b*, c)     first {a}   after a: {b, c}   after b: {b, c}
//! a{2,2}         as (a, a), where both positions are of one particle
//! ```

use bsoap_codec::plan::NamespaceConstraint;
use foldhash::{HashMap, HashMapExt as _};

use crate::ExpandedName;
use crate::components::{ElementNumber, WildcardDeclaration};
use crate::document::Position;
use crate::limits::MAX_DETERMINISM_EDGES;
use crate::wildcard::intersection;

use super::Checker;
use super::model::{GroupKind, ModelTerm, Particle};

/// The number of pairs of positions that are compared for one unit of work.
const EDGES_PER_UNIT: usize = 8;

/// The positions of a part of the model.
#[derive(Default)]
struct Fragment {
    nullable: bool,
    first: Vec<usize>,
    last: Vec<usize>,
}

#[derive(Default)]
struct Automaton<'p> {
    /// The particle of each position. A particle may have several positions.
    positions: Vec<&'p Particle>,
    after: Vec<Vec<usize>>,
    /// For each `all`, the positions it can begin with: after each of its children the others can follow. One set for all
    /// of them instead of one for each child keeps the check linear in the number of children.
    alls: Vec<Vec<usize>>,
    edges: usize,
}

impl Checker<'_> {
    pub(super) fn check_determinism(&mut self, model: &Particle, place: Position) {
        let mut automaton = Automaton::default();
        let whole = automaton.particle(model);
        self.charge(automaton.edges / EDGES_PER_UNIT);
        if automaton.edges > MAX_DETERMINISM_EDGES {
            return;
        }
        let followers = automaton.after.iter().chain(&automaton.alls);
        let sets = std::iter::once(&whole.first).chain(followers);
        for set in sets {
            let particles: Vec<&Particle> = set.iter().map(|&at| automaton.positions[at]).collect();
            if let Some(name) = self.conflict(&particles) {
                let problem =
                    format!("the content model is ambiguous: {name} can match two particles");
                return self.broken("cos-nonambig", problem, place);
            }
        }
    }

    /// A name that two different particles of a set can match.
    fn conflict(&self, particles: &[&Particle]) -> Option<String> {
        let mut names: HashMap<&ExpandedName, &Particle> = HashMap::new();
        let mut wildcards: Vec<(&WildcardDeclaration, &Particle)> = Vec::new();
        for &particle in particles {
            if self.set.work.is_used_up() {
                return None;
            }
            match &particle.term {
                ModelTerm::Element(number) => {
                    for name in self.names_of(*number) {
                        if !std::ptr::eq(*names.entry(name).or_insert(particle), particle) {
                            return Some(name.to_string());
                        }
                    }
                }
                ModelTerm::Any(wildcard) => wildcards.push((wildcard, particle)),
                ModelTerm::Group(..) => {}
            }
        }
        for (at, &(wildcard, particle)) in wildcards.iter().enumerate() {
            if let Some(name) = names
                .keys()
                .find(|name| wildcard.namespaces.admits(&name.namespace))
            {
                return Some(name.to_string());
            }
            let others = &wildcards[at + 1..];
            if others.iter().any(|other| {
                !std::ptr::eq(other.1, particle)
                    && overlap(&wildcard.namespaces, &other.0.namespaces)
            }) {
                return Some("an element".to_owned());
            }
        }
        None
    }

    /// The names that an element particle can match. Abstract substitutes do not occur.
    fn names_of(&self, number: ElementNumber) -> Vec<&ExpandedName> {
        let members = self.substitutable(number).into_iter();
        let declarations = members.map(|member| (member, self.set.element_declaration(member)));
        declarations
            .filter(|(member, element)| *member == number || !element.is_abstract)
            .map(|(_, element)| &element.name)
            .collect()
    }
}

impl<'p> Automaton<'p> {
    /// The recursion is bounded by the limit on the depth of models.
    fn particle(&mut self, particle: &'p Particle) -> Fragment {
        if self.edges > MAX_DETERMINISM_EDGES {
            return Fragment::default();
        }
        let mut part = self.term(particle);
        if particle.max > 1 && particle.max == particle.min {
            let again = self.term(particle);
            part = self.then(part, again);
        } else if particle.max > 1 {
            self.connect(&part.last, &part.first);
        }
        part.nullable |= particle.min == 0;
        part
    }

    fn term(&mut self, particle: &'p Particle) -> Fragment {
        // Nested exact counts multiply the visits, so visits are counted too.
        self.edges += 1;
        let (kind, children) = match &particle.term {
            ModelTerm::Group(kind, children) => (*kind, children),
            _ => {
                self.positions.push(particle);
                self.after.push(Vec::new());
                let at = self.positions.len() - 1;
                return Fragment {
                    nullable: false,
                    first: vec![at],
                    last: vec![at],
                };
            }
        };
        let parts: Vec<Fragment> = children.iter().map(|child| self.particle(child)).collect();
        match kind {
            GroupKind::Sequence => {
                let nothing = Fragment {
                    nullable: true,
                    ..Fragment::default()
                };
                parts
                    .into_iter()
                    .fold(nothing, |before, part| self.then(before, part))
            }
            GroupKind::Choice | GroupKind::All => {
                let mut nullable = parts.iter().map(|part| part.nullable);
                let nullable = match kind {
                    GroupKind::All => nullable.all(|nullable| nullable),
                    _ => parts.is_empty() || nullable.any(|nullable| nullable),
                };
                let all = |positions: fn(&Fragment) -> &Vec<usize>| -> Vec<usize> {
                    parts.iter().flat_map(positions).copied().collect()
                };
                let first = all(|part| &part.first);
                if kind == GroupKind::All {
                    self.edges += first.len();
                    self.alls.push(first.clone());
                }
                Fragment {
                    nullable,
                    first,
                    last: all(|part| &part.last),
                }
            }
        }
    }

    fn then(&mut self, mut before: Fragment, mut part: Fragment) -> Fragment {
        self.connect(&before.last, &part.first);
        if before.nullable {
            before.first.append(&mut part.first);
        }
        if part.nullable {
            part.last.append(&mut before.last);
        }
        Fragment {
            nullable: before.nullable && part.nullable,
            first: before.first,
            last: part.last,
        }
    }

    fn connect(&mut self, from: &[usize], to: &[usize]) {
        self.edges += from.len().saturating_mul(to.len());
        if self.edges <= MAX_DETERMINISM_EDGES {
            for &at in from {
                self.after[at].extend(to);
            }
        }
    }
}

fn overlap(a: &NamespaceConstraint, b: &NamespaceConstraint) -> bool {
    !matches!(intersection(a, b), Some(NamespaceConstraint::OneOf(both)) if both.is_empty())
}
