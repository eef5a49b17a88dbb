//! The open elements: their names in one arena, so that a copy of them is two allocations whatever the depth.

use super::scopes::{ScopeId, Scopes, UriId};
use crate::names::Known;

/// The open elements, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenElements {
    /// The names as spelled, one after another. The name closed last stays after the end until the next is opened, so
    /// that its end event can still refer to it.
    names: String,
    open: Vec<Open>,
}

/// An open element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// Where its name ends in the arena; it begins where the one before ends.
    end: usize,
    /// The prefix's length; 0 for none.
    pub(crate) prefix: u32,
    pub(crate) name: Known,
    pub(crate) uri: UriId,
    /// What is bound inside.
    pub(crate) scope: ScopeId,
}

impl Open {
    /// Whether these are the same, but for what is bound inside.
    fn equals_except_bindings(&self, other: &Self) -> bool {
        let own = |open: &Self| (open.end, open.prefix, open.name, open.uri);
        own(self) == own(other)
    }
}

impl PartialEq for OpenElements {
    fn eq(&self, other: &Self) -> bool {
        self.open == other.open && self.names[..self.length()] == other.names[..other.length()]
    }
}

impl Eq for OpenElements {}

impl OpenElements {
    /// None is open; the memory is kept.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.open.clear();
    }

    /// The same as others, in the memory there is.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.names.clone_from(&other.names);
        self.open.clone_from(&other.open);
    }

    /// Whether these are the same elements, with the same bindings inside.
    pub(crate) fn agrees(&self, other: &Self, scopes: &Scopes) -> bool {
        self.names[..self.length()] == other.names[..other.length()]
            && self.open.len() == other.open.len()
            && self.open.iter().zip(&other.open).all(|(one, other)| {
                one.equals_except_bindings(other) && scopes.bind_the_same(one.scope, other.scope)
            })
    }

    /// Whether all their scopes are known.
    pub(crate) fn is_known(&self, scopes: &Scopes) -> bool {
        self.open.iter().all(|open| scopes.contains(open.scope))
    }

    /// Those inside of the outermost few, with names that begin at 0.
    pub(crate) fn above(&self, outer: usize) -> Self {
        let outer = outer.min(self.open.len());
        let from = self.end_of(outer);
        let shifted = |open: &Open| Open {
            end: open.end - from,
            ..*open
        };
        Self {
            names: self.names[from..self.length()].to_owned(),
            open: self.open[outer..].iter().map(shifted).collect(),
        }
    }

    /// Where the names of the outermost few end.
    fn end_of(&self, outer: usize) -> usize {
        outer
            .checked_sub(1)
            .and_then(|last| self.open.get(last))
            .map_or(0, |open| open.end)
    }

    /// Keeps the outermost `outer`, and adds others: those of `base` up to `shared`, and all of `upper`.
    pub(crate) fn replace_above(&mut self, outer: usize, base: &Self, shared: usize, upper: &Self) {
        let outer = outer.min(self.open.len());
        self.names.truncate(self.end_of(outer));
        self.open.truncate(outer);
        let shared = shared.min(base.open.len());
        if let Some(more) = base.open.get(outer..shared) {
            self.names
                .push_str(&base.names[base.end_of(outer)..base.end_of(shared)]);
            self.open.extend_from_slice(more);
        }
        let from = self.names.len();
        self.names.push_str(&upper.names[..upper.length()]);
        self.open.extend(upper.open.iter().map(|open| Open {
            end: open.end + from,
            ..*open
        }));
    }

    /// Compares this stack with the outermost `shared` elements of `base` followed by all elements of `upper`. The outermost `skip`
    /// elements are not compared.
    pub(crate) fn agrees_above(
        &self,
        skip: usize,
        base: &Self,
        shared: usize,
        upper: &Self,
        scopes: &Scopes,
    ) -> bool {
        let mut other = Self::default();
        let same = skip.min(shared);
        other
            .open
            .extend_from_slice(base.open.get(..same).unwrap_or_default());
        other.names.push_str(&base.names[..base.end_of(same)]);
        other.replace_above(same, base, shared, upper);
        self.open.len() == other.open.len()
            && self.end_of(same) == other.end_of(same)
            && self.names[self.end_of(same)..self.length()]
                == other.names[other.end_of(same)..other.length()]
            && self.open[same..]
                .iter()
                .zip(&other.open[same..])
                .all(|(one, other)| {
                    one.equals_except_bindings(other)
                        && scopes.bind_the_same(one.scope, other.scope)
                })
    }

    /// Whether the scopes of the outermost few are known.
    pub(crate) fn is_known_below(&self, outer: usize, scopes: &Scopes) -> bool {
        self.open
            .iter()
            .take(outer)
            .all(|open| scopes.contains(open.scope))
    }

    /// About how many bytes they hold.
    pub(crate) fn memory(&self) -> usize {
        self.names.capacity() + self.open.capacity() * size_of::<Open>()
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    #[inline]
    pub(crate) fn scope(&self) -> ScopeId {
        self.open.last().map_or(ScopeId::ROOT, |open| open.scope)
    }

    #[inline]
    fn length(&self) -> usize {
        self.open.last().map_or(0, |open| open.end)
    }

    #[inline]
    pub(crate) fn push(
        &mut self,
        qname: &str,
        prefix: u32,
        name: Known,
        uri: UriId,
        scope: ScopeId,
    ) {
        self.names.truncate(self.length());
        self.names.push_str(qname);
        self.open.push(Open {
            end: self.names.len(),
            prefix,
            name,
            uri,
            scope,
        });
    }

    /// The name of the innermost element, as spelled.
    #[inline]
    pub(crate) fn top(&self) -> Option<&str> {
        let (last, outer) = self.open.split_last()?;
        Some(&self.names[outer.last().map_or(0, |open| open.end)..last.end])
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Open> {
        self.open.pop()
    }

    /// The name, as spelled, of the element that was closed last, if none was opened since.
    #[inline]
    pub(crate) fn closed_name(&self, closed: &Open) -> &str {
        &self.names[self.length()..closed.end]
    }

    /// The names from the root inwards.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.open.iter().map(|open| open.end));
        starts
            .zip(&self.open)
            .map(|(start, open)| &self.names[start..open.end])
    }
}
