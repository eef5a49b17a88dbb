//! The values that lose their place when values are shared: those inside of an independent value that nothing refers to.

use std::ops::Range;

use super::{Graph, Reference};

/// Finds what the references of a shared Record need.
struct Search<'g, 'r> {
    graph: &'g Graph<'r>,
    /// The innermost value that each value is in.
    outer: Vec<Option<usize>>,
    /// The values that the shared Record has a place for.
    is_present: Vec<bool>,
    /// The slots to look at, all of which the shared Record has.
    ranges: Vec<Range<usize>>,
    /// References to values inside of others.
    inner: Vec<(usize, Reference)>,
}

/// For each value that loses its place although there are references to it, one of them: the value is put where it is referred to
/// first. Where it was, if that is copied after all, a reference remains.
pub(super) fn displaced(graph: &Graph<'_>) -> Vec<Option<Reference>> {
    let count = graph.definitions.len();
    let mut displaced = vec![None; count];
    let Some((independent, end)) = graph.independent else {
        return displaced;
    };
    let mut search = Search {
        graph,
        outer: outer(graph),
        is_present: vec![false; count],
        ranges: vec![0..independent, end..graph.record.slots.len()],
        inner: Vec::new(),
    };
    for (index, it) in graph.definitions.iter().enumerate() {
        search.is_present[index] = !(independent..end).contains(&it.start);
    }
    loop {
        search.look();
        // Those inside of values that have a place come first.
        let Some((target, reference)) = search.inner.pop() else {
            return displaced;
        };
        if !search.has_place(target) {
            displaced[target] = Some(reference);
            search.place(target);
        }
    }
}

/// The innermost value that each value is in.
fn outer(graph: &Graph<'_>) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut outer = Vec::with_capacity(graph.definitions.len());
    for (index, it) in graph.definitions.iter().enumerate() {
        while open
            .pop_if(|last| graph.definitions[*last].end <= it.start)
            .is_some()
        {}
        outer.push(open.last().copied());
        open.push(index);
    }
    outer
}

impl Search<'_, '_> {
    /// Finds the independent values that references name, one after another.
    fn look(&mut self) {
        let graph = self.graph;
        while let Some(range) = self.ranges.pop() {
            let first = graph.references.partition_point(|it| it.at < range.start);
            let references = graph.references[first..].iter();
            for reference in references.take_while(|it| it.at < range.end) {
                // One that names nothing is an error of the copy.
                let Some(&target) = graph.ids.get(graph.name(reference)) else {
                    continue;
                };
                if self.is_present[target] {
                    continue;
                }
                match graph.definitions[target].is_independent {
                    true => self.place(target),
                    false => self.inner.push((target, *reference)),
                }
            }
        }
    }

    fn place(&mut self, target: usize) {
        let definition = &self.graph.definitions[target];
        self.is_present[target] = true;
        self.ranges.push(definition.start..definition.end);
    }

    /// Whether a value, or one that it is in, has a place.
    fn has_place(&self, target: usize) -> bool {
        let mut next = Some(target);
        while let Some(index) = next {
            if self.is_present[index] {
                return true;
            }
            next = self.outer[index];
        }
        false
    }
}
