//! A state in two parts: the outer elements, which it may have in common with another, and those inside of them.

use super::super::partial::Partial;
use super::super::scopes::Scopes;
use super::super::stack::OpenElements;
use super::{Phase, State};

/// The elements that a state has open inside of the outermost few.
#[derive(Clone, Debug, Default)]
pub struct Upper(OpenElements);

impl Upper {
    /// About how many bytes they hold beside themselves.
    pub fn memory(&self) -> usize {
        self.0.memory()
    }
}

impl State {
    /// Whether its open elements and its offset determine it: it is after a tag, and so is every other such state of
    /// the same document.
    pub fn is_plain(&self) -> bool {
        self.phase == Phase::Content
            && self.expansions.is_empty()
            && self.partial == Partial::default()
            && self.text_length == 0
    }

    /// The elements open inside of the outermost `outer`.
    pub fn upper(&self, outer: usize) -> Upper {
        Upper(self.open.above(outer))
    }

    /// Puts others in the place of the elements open inside of the outermost `outer`: those of another state between
    /// `outer` and `shared`, and then the upper ones.
    pub fn replace_upper(&mut self, outer: usize, other: &State, shared: usize, upper: &Upper) {
        self.open
            .replace_above(outer, &other.open, shared, &upper.0);
    }

    /// Takes over all but the open elements.
    pub fn restore_plain(&mut self, copy: &State) {
        let open = std::mem::take(&mut self.open);
        let outer = State {
            open: OpenElements::default(),
            doctype: copy.doctype.clone(),
            expansions: copy.expansions.clone(),
            scratch: std::mem::take(&mut self.scratch),
            ..*copy
        };
        *self = outer;
        self.open = open;
    }

    /// Whether the elements inside of the outermost `skip`, which are the same in both, are `other`'s up to `shared` and then
    /// the upper ones.
    pub fn agrees_upper(
        &self,
        skip: usize,
        other: &State,
        shared: usize,
        upper: &Upper,
        scopes: &Scopes,
    ) -> bool {
        self.open
            .agrees_above(skip, &other.open, shared, &upper.0, scopes)
    }

    /// Whether the scopes of these elements are known.
    pub fn is_known_upper(&self, outer: usize, upper: &Upper, scopes: &Scopes) -> bool {
        self.open.is_known_below(outer, scopes) && upper.0.is_known(scopes)
    }
}
