//! A copy of a Record's slots in which values are where they are referred to.

use std::ops::Range;

use super::displaced::displaced;
use super::error::{GraphError, GraphErrorKind};
use super::{Definition, Graph, Reference};
use crate::record::{Record, marker, path};
use crate::value::MAX_DEPTH;

#[derive(Clone, Copy, Debug)]
pub(super) enum Mode {
    Share,
    Expand { limit: usize },
}

/// A copy of the slots with references replaced.
pub(super) struct Copy<'g, 'r> {
    graph: &'g Graph<'r>,
    mode: Mode,
    copied: Vec<u64>,
    /// The values that have been put where they are referred to, or are being put there.
    is_placed: Vec<bool>,
    /// The values that are not where they were, each with a reference to it.
    displaced: Vec<Option<Reference>>,
    /// Those values, in the order of their slots.
    holes: Vec<usize>,
    /// The values that references of the copy name.
    is_named: Vec<bool>,
    /// The slots of ids in the copy, with their values.
    ids: Vec<(usize, usize)>,
    weight: usize,
}

/// A range of slots being copied.
struct Part {
    at: usize,
    end: usize,
    /// The value that it is the content of.
    definition: Option<usize>,
    /// How many elements are open around its elements in the copy, less those around them in the Record.
    depth: isize,
}

impl<'g, 'r> Copy<'g, 'r> {
    pub(super) fn new(graph: &'g Graph<'r>, mode: Mode) -> Self {
        let displaced = match mode {
            Mode::Share => displaced(graph),
            Mode::Expand { .. } => vec![None; graph.definitions.len()],
        };
        let holes = (0..displaced.len()).filter(|&it| displaced[it].is_some());
        Self {
            graph,
            mode,
            holes: holes.collect(),
            displaced,
            copied: Vec::new(),
            is_placed: vec![false; graph.definitions.len()],
            is_named: vec![false; graph.definitions.len()],
            ids: Vec::new(),
            weight: 0,
        }
    }

    /// Copies a range of slots.
    fn copy(&mut self, range: Range<usize>) {
        let (graph, base) = (self.graph, self.copied.len());
        let slots = &graph.record.slots[range.clone()];
        self.copied.extend_from_slice(slots);
        let slot = |it: &Definition| it.id.unwrap_or(it.start);
        let first = graph
            .definitions
            .partition_point(|it| slot(it) < range.start);
        for (index, definition) in graph.definitions.iter().enumerate().skip(first) {
            match definition.id {
                _ if slot(definition) >= range.end => break,
                Some(id) => self.ids.push((index, base + id - range.start)),
                None => {}
            }
        }
    }

    pub(super) fn run(mut self) -> Result<Record, GraphError> {
        let mut parts = vec![Part {
            at: 0,
            end: self.graph.record.slots.len(),
            definition: None,
            depth: 0,
        }];
        while let Some(part) = parts.last_mut() {
            let references = &self.graph.references;
            let next = references.partition_point(|it| it.at < part.at);
            let next = references.get(next).filter(|it| it.at < part.end);
            let until = next.map_or(part.end, |it| it.at);
            if let Some((count, end)) = self.graph.independent
                && part.at <= count
                && count < until
            {
                let range = part.at..count;
                part.at = end;
                self.copy(range);
                self.copied.push(0);
                continue;
            }
            let start = |hole: usize| self.graph.definitions[hole].start - 1;
            let hole = self.holes.partition_point(|&it| start(it) < part.at);
            if let Some(&hole) = self.holes.get(hole).filter(|&&it| start(it) < until) {
                let range = part.at..start(hole);
                part.at = self.graph.definitions[hole].end;
                self.copy(range);
                self.leave(hole)?;
                continue;
            }
            let (range, depth) = (part.at..until, part.depth);
            part.at = next.map_or(until, |it| it.at + 2);
            self.copy(range);
            match next {
                Some(&reference) => {
                    parts.extend(self.reference(reference, depth)?);
                }
                None => {
                    let ended = parts.pop().and_then(|part| part.definition);
                    if let (Some(ended), Mode::Expand { .. }) = (ended, self.mode) {
                        self.is_placed[ended] = false;
                    }
                }
            }
        }
        for (index, slot) in self.ids {
            if !self.is_named[index] {
                (self.copied[slot - 1], self.copied[slot]) = (marker::ABSENT, 0);
            }
        }
        Ok(self.graph.record.with_slots(self.copied))
    }

    /// Writes a reference where a value was that is put elsewhere.
    fn leave(&mut self, hole: usize) -> Result<(), GraphError> {
        let (graph, definition) = (self.graph, &self.graph.definitions[hole]);
        let Some(reference) = self.displaced[hole] else {
            return Ok(());
        };
        let encoded = |element| graph.record.plan.encoded(element);
        let may_refer = encoded(definition.element).is_some_and(|it| {
            let other = encoded(reference.element);
            it.may_refer && other.is_some_and(|other| other.rules.reference == it.rules.reference)
        });
        if !may_refer {
            let at = path::of_slot(graph.record, reference.at + 1);
            return Err(GraphErrorKind::Dangling(graph.name(&reference).to_owned()).at(at));
        }
        self.is_named[hole] = true;
        self.copy(reference.at..reference.at + 2);
        Ok(())
    }

    /// Replaces a reference: the part that takes its place, if the reference does not remain.
    fn reference(
        &mut self,
        reference: Reference,
        depth: isize,
    ) -> Result<Option<Part>, GraphError> {
        let graph = self.graph;
        let (target, ty) = graph.target(&reference)?;
        let definition = &graph.definitions[target];
        let stays = !definition.is_independent && self.displaced[target].is_none();
        let at = || path::of_slot(graph.record, reference.at + 1);
        let id = || graph.name(&reference).to_owned();
        match self.mode {
            Mode::Share if self.is_placed[target] || stays => {
                self.is_named[target] = true;
                self.copy(reference.at..reference.at + 2);
                return Ok(None);
            }
            Mode::Share => {}
            Mode::Expand { limit } => {
                if self.is_placed[target] {
                    return Err(GraphErrorKind::Cycle(id()).at(at()));
                }
                self.weight = self.weight.saturating_add(definition.weight);
                if self.weight > limit {
                    return Err(GraphErrorKind::Expansion(limit).at(at()));
                }
            }
        }
        let around = reference.depth as isize + 1 + depth;
        if around > MAX_DEPTH as isize {
            return Err(GraphErrorKind::Depth.at(at()));
        }
        self.is_placed[target] = true;
        self.copied.push(marker::state(marker::PRESENT, ty));
        Ok(Some(Part {
            at: definition.start,
            end: definition.end,
            definition: Some(target),
            depth: around - definition.depth as isize,
        }))
    }
}
