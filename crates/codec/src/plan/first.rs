//! The names that a particle can start with; the decoder looks here at every start tag.

use bsoap_xml::{NameId, Vocabulary};

use super::NamespaceConstraint;

/// The names an occurrence of a particle can start with, and through which of its children.
///
/// Content models are deterministic (XML Schema Part 1, Unique Particle Attribution), so one name
/// leads to one child. Where a schema breaks that rule, the first child in schema order wins.
#[derive(Debug, Default, Clone)]
pub struct FirstSet {
    /// Sorted by name.
    names: Box<[(NameId, u32)]>,
    /// Wildcards, in schema order; tried after the names.
    wildcards: Box<[(NamespaceConstraint, u32)]>,
}

/// How a name enters a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// As the name of a declared element, through the child of this index.
    Named(u32),
    /// Through a wildcard, which is the child of this index or inside it.
    Wild(u32),
}

impl Step {
    /// The index of the child.
    pub fn child(self) -> u32 {
        match self {
            Self::Named(child) | Self::Wild(child) => child,
        }
    }
}

impl FirstSet {
    pub(super) fn new(
        mut names: Vec<(NameId, u32)>,
        wildcards: Vec<(NamespaceConstraint, u32)>,
    ) -> Self {
        names.sort();
        names.dedup_by_key(|entry| entry.0);
        Self {
            names: names.into(),
            wildcards: wildcards.into(),
        }
    }

    /// How a name of the vocabulary enters the particle; `None` if the particle cannot start with it.
    #[inline]
    pub fn step(&self, name: NameId, vocabulary: &Vocabulary) -> Option<Step> {
        if let Some(child) = self.named(name) {
            return Some(Step::Named(child));
        }
        if self.wildcards.is_empty() {
            return None;
        }
        self.wild(vocabulary.namespace(name))
    }

    /// The index of the child that a name enters as a declared element; `None` if there is none.
    #[inline]
    pub fn named(&self, name: NameId) -> Option<u32> {
        match &*self.names {
            // Most often there is only one element.
            [(only, child)] => (*only == name).then_some(*child),
            names => {
                let found = names.binary_search_by_key(&name, |entry| entry.0).ok()?;
                Some(names[found].1)
            }
        }
    }

    /// How a name outside the vocabulary enters the particle: only a wildcard can accept it.
    pub fn wild(&self, namespace: &str) -> Option<Step> {
        self.wildcards
            .iter()
            .find(|(admitted, _)| admitted.admits(namespace))
            .map(|entry| Step::Wild(entry.1))
    }

    /// The names, sorted by number, with the index of the child each leads to.
    pub fn names(&self) -> impl Iterator<Item = (NameId, u32)> + '_ {
        self.names.iter().copied()
    }

    /// The wildcards, with the index of the child each leads to.
    pub fn wildcards(&self) -> impl Iterator<Item = (&NamespaceConstraint, u32)> + '_ {
        self.wildcards
            .iter()
            .map(|(admitted, child)| (admitted, *child))
    }
}
