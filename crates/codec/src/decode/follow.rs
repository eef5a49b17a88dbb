//! The fast path: from value to value over gaps that are known, without events, and without a stack.
//!
//! It starts from the slow path's state at a node, and leaves a state the slow path can continue from: that of the last node
//! it came to. What is not known, and whatever is wrong, it leaves to the slow path, which reports it.

use std::ops::RangeInclusive;

use bsoap_datatypes::NamespaceContext;
use bsoap_xml::{ScopeId, Scopes, State, scan};

use super::sink::Sink;
use crate::plan::{Leaf, Plan};
use crate::record::heap_slot;

use super::builder::{Builder, Lexical, Stands};
use super::checkpoint::each_loop;
use super::frame::Machine;
use super::piece::Piece;
use super::plain::number_before;
use super::run::Run;
use super::skeleton::{
    Effect, Gap, Leads, Node, NodeId, NodeKind, NodeLoops, OpenLoop, ValueRule, Written,
};

/// Longer values of attributes are left to the slow path.
const MAX_ATTRIBUTE_LENGTH: usize = 1 << 12;

/// The bindings of a scope.
struct InScope<'a>(&'a Scopes, ScopeId);

impl NamespaceContext for InScope<'_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.0
            .resolve(self.1, prefix)
            .map(|namespace| namespace.uri)
    }
}

/// A node that was reached: where its value begins in the text at hand, and what had been written.
#[derive(Clone, Copy)]
struct Reached {
    node: NodeId,
    at: usize,
    written: Written,
    /// How many slots had been reported.
    reported: usize,
}

impl<S: Sink> Run<'_, S> {
    /// Goes as far as gaps are known from a node, at which the slow path is.
    pub(super) fn follow(&mut self, window: &Piece<'_>, node: NodeId) {
        let (skeleton, builder) = (&mut *self.skeleton, &mut self.builder);
        let from = (self.reader.offset() - window.base) as usize;
        let mut here = Reached {
            node,
            at: from,
            written: Written::of(builder.record),
            reported: builder.sink.reported(),
        };
        // The last node that has a state, and the loops there.
        let mut last = here;
        let NodeLoops {
            here: loops,
            before,
        } = &mut *self.loops;
        builder.machine.open_loops(builder.plan, loops);
        builder.log.is_on = false;
        while let Some(node) = skeleton.nodes.get(here.node as usize) {
            let mut end = here.at;
            if let NodeKind::Value(rule) = &node.kind {
                if let Some(cycle) = &node.cycle
                    && let Some(innermost) = loops.last()
                {
                    let most = innermost.most - innermost.count;
                    if builder.notes_within(window) {
                        let offset = window.base + here.at as u64;
                        node.restore(self.reader, builder.machine, builder.plan, loops, offset);
                    }
                    let begun = loops.last().map_or(0, |innermost| innermost.count);
                    let stop = builder.cycle(window, cycle, (here.at, begun), most, self.reader);
                    if stop.at != here.at {
                        if let Some(innermost) = loops.last_mut() {
                            innermost.count += stop.rows as u32;
                        }
                        here = Reached {
                            node: cycle.nodes[stop.column],
                            at: stop.at,
                            written: Written::of(builder.record),
                            reported: builder.sink.reported(),
                        };
                        end = here.at;
                    }
                    if stop.column > 0 {
                        continue;
                    }
                }
                if rule.quote == 0 {
                    last = here;
                    if builder.note_is_due(window.base + here.at as u64) {
                        break;
                    }
                }
                let bindings = InScope(self.scopes, rule.scope);
                match builder.value(window, rule, end, &bindings) {
                    Some(to) => end = to,
                    None => break,
                }
            }
            let bytes = window.text.as_bytes();
            let Some(way) = node.way(bytes, end) else {
                break;
            };
            let gap = &node.gaps[way];
            let to = end + gap.text.len();
            let is_at_end = window.last && to == bytes.len();
            if !builder.may_add(gap) || (gap.leads == Leads::End && !is_at_end) {
                break;
            }
            if gap.leads == Leads::Attribute && last.node == here.node {
                before.clone_from(loops);
            }
            match (&gap.more, loops.last_mut()) {
                (None, _) => builder.record.slots.extend_from_slice(&gap.slots),
                (Some(_), Some(innermost)) if gap.is_again && innermost.count < innermost.most => {
                    innermost.count += 1;
                    builder.record.slots.extend_from_slice(&gap.slots);
                }
                (Some(more), _) => {
                    let offset = window.base + end as u64;
                    if builder.add(gap, more, loops, offset).is_none() {
                        break;
                    }
                }
            }
            let next = gap.to;
            if way > 0 {
                skeleton.nodes[here.node as usize].gaps.swap(way, way - 1);
            }
            here = Reached {
                node: next,
                at: to,
                written: Written::of(builder.record),
                reported: builder.sink.reported(),
            };
        }
        // The slow path goes on from the last state.
        let is_state = skeleton.nodes[here.node as usize].has_state();
        if is_state {
            last = here;
        } else {
            loops.clone_from(before);
        }
        builder.record.slots.truncate(last.written.slots);
        builder.record.heap.truncate(last.written.heap);
        builder.sink.take_back(last.reported);
        if last.at != from {
            let node = &skeleton.nodes[last.node as usize];
            let offset = window.base + last.at as u64;
            node.restore(self.reader, builder.machine, builder.plan, loops, offset);
        }
        builder.log.begin();
        self.origin = Some((last.node, last.written));
        self.is_at_end = matches!(skeleton.nodes[last.node as usize].kind, NodeKind::End);
    }
}

impl<S: Sink> Builder<'_, S> {
    /// Whether a place may have to be noted in the text at hand.
    #[inline(always)]
    fn notes_within(&mut self, window: &Piece<'_>) -> bool {
        let end = window.base + window.text.len() as u64;
        S::NOTES && self.sink.places().is_some_and(|places| places.due() <= end)
    }

    /// Whether a place is to be noted between the next two tags.
    #[inline(always)]
    fn note_is_due(&mut self, offset: u64) -> bool {
        S::NOTES
            && self
                .sink
                .places()
                .is_some_and(|places| places.due() <= offset)
    }

    /// Whether there is space for what a gap adds and for the value behind it, and decoding is not to stop in it.
    #[inline(always)]
    fn may_add(&self, gap: &Gap) -> bool {
        let slots = self.record.slots.len() + gap.slots.len();
        slots < self.options.record_slots
            && (slots < self.until.slots || gap.lowest as usize > self.until.depth)
    }

    /// Adds what a gap at an offset means; `None`, and nothing is changed, if that is not allowed here.
    fn add(
        &mut self,
        gap: &Gap,
        more: &Effect,
        loops: &mut Vec<OpenLoop>,
        offset: u64,
    ) -> Option<()> {
        let (kept, ended) = loops.split_at_checked(more.kept as usize)?;
        let is_ended_well = ended.iter().zip(&more.ended).all(|(it, step)| {
            let count = it.count.saturating_add(step.by);
            count <= step.most && count >= step.least
        });
        let is_counted_well = more.counted.iter().all(|(index, step)| {
            kept.get(*index as usize)
                .is_some_and(|it| it.count < step.most && step.by <= step.most - it.count)
        });
        let heap = self.record.heap.len();
        if !is_ended_well
            || !is_counted_well
            || ended.len() != more.ended.len()
            || heap + more.heap.len() > self.options.record_heap
        {
            return None;
        }
        for (it, step) in ended.iter().zip(&more.ended) {
            self.fill(it.slot, u64::from(it.count + step.by));
        }
        loops.truncate(more.kept as usize);
        for (index, step) in &more.counted {
            loops[*index as usize].count += step.by;
        }
        let first = self.record.slots.len();
        self.record.slots.extend_from_slice(&gap.slots);
        for begun in &more.begun {
            loops.push(OpenLoop {
                slot: first as u32 + begun.slot,
                ..*begun
            });
        }
        self.record.heap.extend_from_slice(&more.heap);
        for &slot in &more.in_heap {
            self.record.slots[first + slot as usize] += heap as u64;
        }
        for found in &more.found {
            let (slot, at) = (first + found.slot as usize, offset + u64::from(found.at));
            self.sink.found(slot, at, found.length as usize, found.site);
        }
        Some(())
    }

    /// Reads the value that begins at `at`: where it ends. If it is not that simple, what was written is of no use.
    #[inline]
    fn value(
        &mut self,
        window: &Piece<'_>,
        rule: &ValueRule,
        at: usize,
        bindings: &dyn NamespaceContext,
    ) -> Option<usize> {
        let bytes = window.text.as_bytes();
        if let Some(plain) = &rule.plain {
            if let Some((slot, length)) = number_before(plain.kind, bytes, at, rule.end())
                && bytes.get(at + length) == Some(&rule.end())
                && plain.has(slot)
            {
                self.place(window, at, length, rule.site);
                self.record.push(slot);
                return Some(at + length);
            }
            if rule.is_verbatim {
                let (slot, length) = self.text_value(window, rule, at)?;
                self.place(window, at, length, rule.site);
                self.record.push(slot);
                return Some(at + length);
            }
        }
        let rest = bytes.get(at..)?;
        let length = rule.find_special(rest);
        if rest.get(length) != Some(&rule.end()) || length > self.most_text(rule) {
            return None;
        }
        let text = window.text.get(at..at + length)?;
        if text.is_empty() && rule.has_default {
            return None;
        }
        let from = window.base + at as u64;
        let lexical = Lexical {
            text,
            from,
            to: from + length as u64,
            stands: match rule.quote {
                0 => Stands::Content,
                _ => Stands::Attribute,
            },
        };
        self.push_leaf(rule.leaf, lexical, bindings).ok()?;
        self.check_room(from).ok()?;
        Some(at + length)
    }

    /// The longest text of a value.
    fn most_text(&self, rule: &ValueRule) -> usize {
        match rule.quote {
            0 => self.options.limits.text_length,
            _ => MAX_ATTRIBUTE_LENGTH,
        }
    }

    /// A text that is its own value, appended to the heap: its slot and its length. `None` if there is more to it, or it does
    /// not surely have the facets of its leaf.
    #[inline]
    fn text_value(
        &mut self,
        window: &Piece<'_>,
        rule: &ValueRule,
        at: usize,
    ) -> Option<(u64, usize)> {
        let rest = window.text.as_bytes().get(at..)?;
        let plain = rule.find_special(rest);
        let mut length = plain;
        while *rest.get(length)? != rule.end() {
            if rule.quote != 0 {
                return None;
            }
            length += 1 + scan::find_markup(&rest[length + 1..]);
        }
        if length > self.most_text(rule) || (length == 0 && rule.has_default) {
            return None;
        }
        let start = self.record.heap.len();
        if plain == length {
            self.record.heap.extend_from_slice(&rest[..length]);
        } else {
            let raw = window.text.get(at..at + length)?;
            bsoap_xml::decode_text(raw, &self.options.limits, &mut self.record.heap)?;
        }
        if rule.plain.is_some_and(|plain| plain.is_checked)
            && !self.surely_takes(self.plan.leaf(rule.leaf), start)
        {
            return None;
        }
        let heap = &self.record.heap;
        let slot = heap_slot(start, heap.len() - start)?;
        (heap.len() <= self.options.record_heap).then_some((slot, length))
    }

    /// Whether what is in the heap from `start` on surely has the facets of a leaf.
    #[inline]
    fn surely_takes(&self, leaf: &Leaf, start: usize) -> bool {
        let text = self.record.heap.get(start..).unwrap_or_default();
        let is_sure = |sure: &RangeInclusive<u32>| {
            u32::try_from(text.len()).is_ok_and(|length| sure.contains(&length))
        };
        leaf.sure.as_ref().is_some_and(is_sure)
            || std::str::from_utf8(text).is_ok_and(|text| leaf.simple.surely_takes(text))
    }
}

impl ValueRule {
    /// The byte that ends it.
    #[inline(always)]
    fn end(&self) -> u8 {
        match self.quote {
            0 => b'<',
            quote => quote,
        }
    }

    /// The first byte of a text that may be more than itself.
    #[inline(always)]
    fn find_special(&self, text: &[u8]) -> usize {
        match self.quote {
            0 => scan::find_text_special(text),
            quote => scan::find_value_special(text, quote),
        }
    }
}

impl Node {
    /// Which of the gaps is at a place of a text.
    #[inline(always)]
    fn way(&self, bytes: &[u8], at: usize) -> Option<usize> {
        self.gaps
            .iter()
            .position(|gap| gap.text.stands_at(bytes, at))
    }

    fn has_state(&self) -> bool {
        self.state.is_some()
    }

    /// Sets a decoder to the state of the node, where loops have these numbers.
    fn restore(
        &self,
        reader: &mut State,
        machine: &mut Machine,
        plan: &Plan,
        loops: &[OpenLoop],
        offset: u64,
    ) {
        let Some(state) = &self.state else { return };
        reader.restore(&state.reader);
        reader.move_by(offset);
        let mut numbers = loops.iter();
        machine.restore(&state.machine, |frame| {
            each_loop(frame, plan, &mut |it| {
                if let Some(numbers) = numbers.next() {
                    (it.slot, it.count) = (numbers.slot, numbers.count);
                }
            });
        });
        machine.tag_end = offset;
    }
}
