//! The fast path: goes from value to value over known gaps, without events of the reader and without a stack.
//!
//! It starts where the slow path is at a node, and ends with a state that the slow path can continue from: that of the last
//! node it reached. Unknown gaps and errors are left to the slow path.

use std::ops::RangeInclusive;

use bsoap_datatypes::NamespaceContext;
use bsoap_xml::{ScopeId, Scopes, scan};

use super::sink::Sink;
use crate::plan::Leaf;
use crate::record::heap_slot;

use super::builder::{Builder, FormLocation, Lexical};
use super::encoded::is_plain_size;
use super::piece::Piece;
use super::plain::number_before;
use super::run::Run;
use super::skeleton::{
    Effect, Gap, Leads, MAX_ATTRIBUTE_LENGTH, Node, NodeId, NodeKind, NodeLoops, OpenLoop,
    ValueRule, Written,
};

/// The namespace bindings of a scope.
struct InScope<'a>(&'a Scopes, ScopeId);

impl NamespaceContext for InScope<'_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        self.0
            .resolve(self.1, prefix)
            .map(|namespace| namespace.uri)
    }
}

/// A node that was reached: where its value begins in this piece of the text, and how much of the Record had been written.
#[derive(Clone, Copy)]
struct Reached {
    node: NodeId,
    at: usize,
    written: Written,
    /// The number of slots that had been reported to the sink.
    reported: usize,
}

impl Reached {
    #[inline(always)]
    fn new<S: Sink>(builder: &Builder<'_, S>, node: NodeId, at: usize) -> Self {
        Self {
            node,
            at,
            written: Written::of(builder.record),
            reported: builder.sink.reported(),
        }
    }
}

impl<S: Sink> Run<'_, S> {
    /// Goes on from a node, at which the slow path is, as far as gaps are known.
    pub(super) fn follow(&mut self, window: &Piece<'_>, node: NodeId) {
        let at = (self.reader.offset() - window.base) as usize;
        let from = Reached::new(&self.builder, node, at);
        self.builder
            .machine
            .open_loops(self.builder.plan, &mut self.loops.here);
        self.builder.log.is_on = false;
        self.builder.share_space();
        // The last node that has a state; the loops there are in `before` if it is not this one.
        let (mut here, mut last) = (from, from);
        while let Some(next) = self.step(window, &mut here, &mut last) {
            here = next;
        }
        self.leave(window, &from, here, last);
    }

    /// Reads the value at a node and the gap behind it. Returns the next node, or `None` if the slow path has to continue: the gap
    /// is not known, the value is not valid, or a place has to be noted.
    #[inline(always)]
    fn step(
        &mut self,
        window: &Piece<'_>,
        here: &mut Reached,
        last: &mut Reached,
    ) -> Option<Reached> {
        let builder = &mut self.builder;
        let NodeLoops {
            here: loops,
            before,
        } = &mut *self.loops;
        let node = self.skeleton.nodes.get(here.node as usize)?;
        let mut end = here.at;
        if let NodeKind::Value(rule) = &node.kind {
            if let Some(cycle) = &node.cycle {
                let (to, at) = builder.cycle(window, (node, cycle), here.at, loops, self.reader);
                if at != here.at {
                    let next = Reached::new(builder, to.unwrap_or(here.node), at);
                    if to.is_some() {
                        return Some(next);
                    }
                    *here = next;
                    end = at;
                }
            } else if let Some(gap) = node.repeated_text(here.node, rule)
                && let Some(innermost) = loops.last_mut()
            {
                end = builder.texts(window, (rule, gap), end, innermost);
                *here = Reached::new(builder, here.node, end);
            }
            if rule.quote == 0 {
                *last = *here;
                if builder.note_is_due(window.base + end as u64) {
                    return None;
                }
            }
            let bindings = InScope(self.scopes, rule.scope);
            end = builder.value(window, rule, end, &bindings)?;
        }
        let bytes = window.text.as_bytes();
        let Some(way) = node.way(bytes, end) else {
            let slots = builder.record.slots.len();
            // At the slot where decoding is to stop, the place may be before the end of the item.
            let has_space = slots < builder.space.fast_slots && slots < builder.until.slots;
            self.stops_at = node.end_of_item(bytes, end).filter(|_| has_space);
            if self.stops_at.is_some() {
                *here = Reached::new(builder, here.node, bytes.len());
            }
            return None;
        };
        let gap = &node.gaps[way];
        let to = end + gap.text.len();
        let is_at_end = window.last && to == bytes.len();
        if !builder.may_add(gap, 0) || (gap.leads == Leads::End && !is_at_end) {
            return None;
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
            (Some(more), _) => builder.add(gap, more, loops, window.base + end as u64)?,
        }
        let next = Reached::new(builder, gap.to, to);
        if way > 0 {
            self.skeleton.nodes[here.node as usize]
                .gaps
                .swap(way, way - 1);
        }
        Some(next)
    }

    /// Hands over to the slow path at the last node that has a state.
    fn leave(&mut self, window: &Piece<'_>, from: &Reached, here: Reached, mut last: Reached) {
        let builder = &mut self.builder;
        let loops = &mut self.loops.here;
        if self.skeleton.nodes[here.node as usize].state.is_some() {
            last = here;
        } else {
            loops.clone_from(&self.loops.before);
        }
        builder.record.slots.truncate(last.written.slots);
        builder.record.heap.truncate(last.written.heap);
        builder.sink.take_back(last.reported);
        let node = &self.skeleton.nodes[last.node as usize];
        if last.at != from.at {
            let offset = window.base + last.at as u64;
            node.restore(self.reader, builder.machine, builder.plan, loops, offset);
        }
        if let Some(levels) = self.stops_at.take() {
            let offset = window.base + last.at as u64;
            builder
                .machine
                .cut_to(self.reader, builder.plan, levels, offset);
            builder.note(self.reader, offset);
            return;
        }
        self.is_at_end = matches!(node.kind, NodeKind::End);
        if !self.is_at_end {
            builder.log.begin();
            self.origin = Some((last.node, last.written));
        }
    }
}

impl<S: Sink> Builder<'_, S> {
    /// Whether a place for a checkpoint is due at this offset.
    #[inline(always)]
    fn note_is_due(&mut self, offset: u64) -> bool {
        S::NOTES
            && self
                .sink
                .places()
                .is_some_and(|places| places.due() <= offset)
    }

    /// Whether there is space for `before` slots, those of a gap and the value behind it, and decoding is not to stop
    /// inside the gap.
    #[inline(always)]
    fn may_add(&self, gap: &Gap, before: usize) -> bool {
        let slots = self.record.slots.len() + before + gap.slots.len();
        slots < self.space.fast_slots
            && (slots < self.until.slots || gap.lowest as usize > self.until.depth)
    }

    /// Adds the slots, strings and loop counts that a gap at this offset stands for. Returns `None`, without a change, if a
    /// count or a limit does not allow it.
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
            || heap + more.heap.len() > self.space.fast_heap
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
            self.sink.found(slot, at, found.site);
        }
        Some(())
    }

    /// Reads the value that begins at `at`. Returns where it ends; `None` if only the slow path can read it, which then
    /// removes what was written.
    #[inline(always)]
    fn value(
        &mut self,
        window: &Piece<'_>,
        rule: &ValueRule,
        at: usize,
        bindings: &dyn NamespaceContext,
    ) -> Option<usize> {
        let bytes = window.text.as_bytes();
        let read = match &rule.plain {
            Some(_) if rule.is_text => Some(self.text_value(window, rule, at)?),
            Some(plain) => number_before(plain.kind, bytes, at, rule.end())
                .filter(|read| bytes.get(at + read.1) == Some(&rule.end()) && plain.has(read.0)),
            None => None,
        };
        if let Some((slot, length)) = read {
            self.place(window, at, rule.site);
            self.record.push(slot);
            return Some(at + length);
        }
        self.other_value(window, rule, at, bindings)
    }

    /// Reads a value that is neither a plain number nor a text without references. Returns where it ends.
    fn other_value(
        &mut self,
        window: &Piece<'_>,
        rule: &ValueRule,
        at: usize,
        bindings: &dyn NamespaceContext,
    ) -> Option<usize> {
        let rest = window.text.as_bytes().get(at..)?;
        let length = rule.find_special(rest);
        if rest.get(length) != Some(&rule.end()) || length > self.most_text(rule) {
            return None;
        }
        let text = window.text.get(at..at + length)?;
        let is_default = text.is_empty() && rule.has_default;
        if is_default || (rule.is_size && !is_plain_size(text)) {
            return None;
        }
        let from = window.base + at as u64;
        let lexical = Lexical {
            text,
            from,
            to: from + length as u64,
            location: match rule.quote {
                0 => FormLocation::Content,
                _ if rule.is_size => FormLocation::Somewhere,
                _ => FormLocation::Attribute,
            },
        };
        self.push_leaf(rule.leaf, lexical, bindings).ok()?;
        if !self.deviations.is_empty() {
            // The slow path knows the path for the warning.
            self.deviations.clear();
            return None;
        }
        let (slots, heap) = (self.record.slots.len(), self.record.heap.len());
        let has_space = slots <= self.space.fast_slots && heap <= self.space.fast_heap;
        has_space.then_some(at + length)
    }

    /// Reads the texts of an array from `at` on, as long as each is followed by the gap to the next one. Returns where the
    /// first text begins that was not read.
    #[inline(never)]
    fn texts(
        &mut self,
        window: &Piece<'_>,
        (rule, gap): (&ValueRule, &Gap),
        mut at: usize,
        innermost: &mut OpenLoop,
    ) -> usize {
        let bytes = window.text.as_bytes();
        while innermost.count < innermost.most
            && self.may_add(gap, 1)
            && !self.note_is_due(window.base + at as u64)
        {
            let heap = self.record.heap.len();
            let read = self.text_value(window, rule, at);
            let Some((slot, length)) =
                read.filter(|(_, length)| gap.text.matches_at(bytes, at + length))
            else {
                self.record.heap.truncate(heap);
                break;
            };
            self.place(window, at, rule.site);
            self.record.push(slot);
            self.record.slots.extend_from_slice(&gap.slots);
            innermost.count += 1;
            at += length + gap.text.len();
        }
        at
    }

    /// The longest text of a value that may be read here.
    fn most_text(&self, rule: &ValueRule) -> usize {
        match rule.quote {
            0 => self.options.limits.text_length,
            _ => MAX_ATTRIBUTE_LENGTH,
        }
    }

    /// Appends a text to the heap, and returns its slot and its length in the message. `None` if the text needs more than
    /// resolving references, or may violate a facet of its leaf.
    #[inline(always)]
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
        (heap.len() <= self.space.fast_heap).then_some((slot, length))
    }

    /// Whether the text in the heap from `start` on certainly satisfies the facets of a leaf.
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
    /// The byte that ends the value.
    #[inline(always)]
    fn end(&self) -> u8 {
        match self.quote {
            0 => b'<',
            quote => quote,
        }
    }

    /// The index of the first byte that ends the text or needs processing, such as `&`.
    #[inline(always)]
    fn find_special(&self, text: &[u8]) -> usize {
        match self.quote {
            0 => scan::find_text_special(text),
            quote => scan::find_value_special(text, quote),
        }
    }
}

impl Node {
    /// The index of the gap whose bytes are at `at`; `None` if no known gap is there.
    #[inline(always)]
    fn way(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (first, others) = self.gaps.split_first()?;
        if first.text.matches_at(bytes, at) {
            return Some(0);
        }
        other_way(others, bytes, at).map(|index| 1 + index)
    }

    /// If the text ends right behind an item of an array, whose last value ends at `at`: the number of levels open there.
    #[cold]
    fn end_of_item(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..)?;
        let is_end = |gap: &&Gap| {
            let end = gap.more.as_ref().map(|more| more.lowest_at as usize);
            let is_plain = gap.is_again && gap.slots.is_empty();
            is_plain && end.is_some_and(|end| gap.text.as_bytes().get(..end) == Some(rest))
        };
        let gap = self
            .gaps
            .iter()
            .find(is_end)
            .filter(|_| self.state.is_some())?;
        Some(gap.lowest as usize)
    }

    /// The gap to the next item of an array, if this node is the only value of the items and is read as a text.
    #[inline(always)]
    fn repeated_text(&self, own: NodeId, rule: &ValueRule) -> Option<&Gap> {
        let is_text = rule.is_text && rule.quote == 0;
        let gap = self.gaps.first();
        gap.filter(|gap| is_text && gap.is_again && gap.to == own)
    }
}

/// The index of the gap whose bytes are at `at`. Apart from [`Node::way`], so that the check of the first gap is inlined.
#[inline(never)]
fn other_way(gaps: &[Gap], bytes: &[u8], at: usize) -> Option<usize> {
    gaps.iter().position(|gap| gap.text.matches_at(bytes, at))
}
