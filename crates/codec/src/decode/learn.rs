//! Learns nodes and gaps from what the slow path did.

use bsoap_datatypes::kernel::{Column, Separator};
use bsoap_xml::{Scopes, State};

use crate::plan::Plan;
use crate::record::Record;

use super::checkpoint::{Checkpoint, each_loop};
use super::frame::{Frame, Inside, Machine};
use super::options::{DecodeOptions, Validation};
use super::piece::Piece;
use super::plain::Plain;
use super::skeleton::{
    CREDIT_OF_MESSAGE, Cycle, Effect, FoundValue, Gap, Leads, Log, LoggedAttribute, LoopStep,
    Lowest, MAX_BYTES, MAX_CREDIT, MAX_GAP_LENGTH, MAX_GAPS, MAX_LEARNED, MAX_LEVELS, Node, NodeId,
    NodeKind, OpenLoop, Origin, Skeleton, ValueRule, Written,
};
use super::trace::Site;

/// An end of a gap: its offset in the text, how much of the Record had been written, and the loops open there.
#[derive(Clone, Copy)]
struct End<'a> {
    offset: u64,
    written: Written,
    loops: &'a [OpenLoop],
}

impl Machine {
    /// Lists the open loops, outermost first.
    pub(super) fn open_loops(&self, plan: &Plan, loops: &mut Vec<OpenLoop>) {
        loops.clear();
        for frame in self.frames.iter() {
            let most = match frame {
                Frame::Group(group) => plan.particle(group.particle).max,
                Frame::Element(_) => u32::MAX,
            };
            let mut is_first = true;
            each_loop(&mut frame.clone(), plan, &mut |it| {
                loops.push(OpenLoop {
                    slot: it.slot,
                    count: it.count,
                    least: it.least,
                    // The second loop of a frame counts the children of an `all`.
                    most: if is_first && most > 1 { most } else { u32::MAX },
                });
                is_first = false;
            });
        }
    }
}

/// The hash of a state without the slots and counts of its loops. `None` if the state can have no node, since a mixed
/// element is open.
fn hash_of(plan: &Plan, reader: &State, machine: &Machine) -> Option<u64> {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = u64::from(machine.root.0) << 1 | u64::from(machine.done);
    let mut mix = |value: u64| hash = (hash.rotate_left(23) ^ value).wrapping_mul(FACTOR);
    for frame in machine.frames.iter() {
        match frame {
            Frame::Element(frame) => {
                if let Inside::Mixed { .. } = frame.inside {
                    return None;
                }
                mix(u64::from(frame.element.0) << 32 | u64::from(frame.ty.0));
                mix(u64::from(frame.particle.0));
            }
            Frame::Group(group) => {
                let particle = plan.particle(group.particle);
                // The fast path only knows the bounds of counts.
                if group.silent || particle.counts.is_some() || particle.joins_runs {
                    return None;
                }
                let count = if particle.repeats() { 0 } else { group.count };
                mix(u64::from(group.particle.0) << 32 | u64::from(group.at));
                mix(u64::from(count));
            }
        }
    }
    machine.seen.iter().for_each(|&seen| mix(seen));
    mix(u64::from(reader.scope().0) << 32 | reader.depth() as u64);
    Some(hash ^ hash >> 29)
}

impl Checkpoint {
    /// Whether it is the same state apart from the offset and from the loops' slots and counts, which are all 0 in this
    /// checkpoint.
    fn is_state_of(&self, plan: &Plan, reader: &State, machine: &Machine) -> bool {
        let is_same = |(own, other): (&Frame, &Frame)| {
            let mut other = *other;
            each_loop(&mut other, plan, &mut |it| (it.slot, it.count) = (0, 0));
            *own == other
        };
        let own = &self.machine.frames;
        own.len() == machine.frames.len()
            && own.iter().zip(machine.frames.iter()).all(is_same)
            && self.machine.seen == machine.seen
            && self.machine.agrees_but_for_frames(machine)
            && self.reader.is_like(reader)
    }
}

impl Skeleton {
    /// Called before each message. Forgets everything if it takes too much memory, or if its namespaces have been
    /// forgotten.
    pub(super) fn begin(&mut self, scopes: &mut Scopes) {
        scopes.renew_if_full();
        if self.is_full() || self.scope.is_some_and(|scope| !scopes.contains(scope)) {
            let credit = self.credit;
            *self = Self::default();
            self.credit = credit;
        }
        self.credit = (self.credit + CREDIT_OF_MESSAGE).min(MAX_CREDIT);
    }

    /// The node of a state. A new state gets a new node; `None` if it can or may have none.
    pub(super) fn node(
        &mut self,
        plan: &Plan,
        options: &DecodeOptions,
        reader: &State,
        machine: &Machine,
    ) -> Option<NodeId> {
        // What is remembered of references belongs to this message: another in the same state has other ones.
        if machine.links.is_some() {
            return None;
        }
        // All messages with the same root begin in the same state.
        let is_start = machine.frames.is_empty() && !machine.done && reader.offset() == 0;
        if let (true, Some((root, id))) = (is_start, self.start)
            && root == machine.root
        {
            return Some(id);
        }
        let kind = kind_of(plan, options, reader, machine)?;
        let hash = hash_of(plan, reader, machine)?;
        if let Some(&id) = self.by_state.get(&hash) {
            let state = self.nodes[id as usize].state.as_ref();
            let is_it = state.is_some_and(|state| state.is_state_of(plan, reader, machine));
            self.credit = (self.credit + u32::from(is_it)).min(MAX_CREDIT);
            if is_it && is_start {
                self.start = Some((machine.root, id));
            }
            return is_it.then_some(id);
        }
        if self.is_full() || self.credit == 0 {
            return None;
        }
        self.credit -= 1;
        let mut state = Checkpoint::new(reader, machine, (0, 0));
        state.renumber(plan, 0, 0, |it| (it.slot, it.count) = (0, 0));
        self.bytes += size_of::<Node>() + state.memory();
        self.scope = Some(reader.scope());
        let id = self.add(Node::new(kind, Some(Box::new(state))));
        self.by_state.insert(hash, id);
        Some(id)
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    /// Learns what the slow path did from a node to the next, which is `to` and begins at `offset`.
    #[cold]
    #[inline(never)]
    pub(super) fn learn(
        &mut self,
        (plan, options): (&Plan, &DecodeOptions),
        ((origin, written), loops_there): (Origin, &[OpenLoop]),
        log: &Log,
        (window, record): (&Piece<'_>, &Record),
        (to, offset, loops): (NodeId, u64, &[OpenLoop]),
    ) -> Option<()> {
        let start = &mut self.nodes[origin as usize];
        if log.is_void || self.bytes >= MAX_BYTES || !start.may_learn() {
            return None;
        }
        let mut from = End {
            offset: 0,
            written,
            loops: loops_there,
        };
        if let NodeKind::Value(_) = start.kind {
            let value = log.value?;
            // If there is markup in the value, it is more than its text.
            let text = window.between(value.from, value.to)?;
            if text.contains('<') {
                return None;
            }
            (from.offset, from.written) = (value.to, value.after);
        }
        let mut node = origin;
        let maker = Maker {
            log,
            window,
            record,
        };
        let mut tags = log.tags.iter();
        let mut tag = tags.next();
        for (index, attribute) in log.attributes.iter().enumerate() {
            while tag.is_some_and(|(behind, _)| *behind <= index) {
                tag = tags.next();
            }
            let end = End {
                offset: attribute.value.from,
                written: attribute.before,
                loops: &tag?.1,
            };
            let mut gap = maker.gap(from, end)?;
            gap.leads = Leads::Attribute;
            node = self.attribute(node, gap, (plan, options), attribute, window)?;
            from = End {
                offset: attribute.value.to,
                written: attribute.value.after,
                loops: end.loops,
            };
        }
        let end = End {
            offset,
            written: Written::of(record),
            loops,
        };
        let mut gap = maker.gap(from, end)?;
        gap.to = to;
        gap.leads = match self.nodes[to as usize].kind {
            NodeKind::End => Leads::End,
            _ => Leads::Content,
        };
        let is_again = gap.is_again;
        self.link(node, gap);
        if is_again {
            let cycle = Cycle::new(&self.nodes, to, node).map(Box::new);
            self.bytes += cycle.as_ref().map_or(0, |cycle| cycle.memory());
            let before = std::mem::replace(&mut self.nodes[to as usize].cycle, cycle);
            self.bytes -= before.map_or(0, |cycle| cycle.memory());
        }
        Some(())
    }

    /// Finds or adds the node of an attribute's value behind a gap.
    fn attribute(
        &mut self,
        node: NodeId,
        mut gap: Gap,
        (plan, options): (&Plan, &DecodeOptions),
        attribute: &LoggedAttribute,
        window: &Piece<'_>,
    ) -> Option<NodeId> {
        // The type in the element's marker may be stated behind this attribute. Then each type has a node of its own, so that
        // the marker and the text of what follows agree; the last one is kept.
        let mut known = self.nodes[node as usize].gaps.iter();
        let is_it =
            |known: &&Gap| known.text.as_bytes() == gap.text.as_bytes() && known.slots == gap.slots;
        if let Some(known) = known.find(is_it) {
            return Some(known.to);
        }
        let (to, is_size) = (attribute.value.to, attribute.is_size);
        let quote = *window.between(to, to + 1)?.as_bytes().first()?;
        let plain = Plain::of(plan.leaf(attribute.leaf), options.validation).filter(|_| !is_size);
        let rule = ValueRule {
            leaf: attribute.leaf,
            plain,
            site: match plain {
                Some(plain) if plain.is_alone => Site::attribute(attribute.leaf),
                _ => Site::NONE,
            },
            is_text: plain.is_some() && plan.leaf(attribute.leaf).is_verbatim,
            has_default: false,
            quote,
            is_size,
            scope: attribute.scope,
        };
        self.bytes += size_of::<Node>();
        gap.to = self.add(Node::new(NodeKind::Value(rule), None));
        let to = gap.to;
        self.link(node, gap);
        Some(to)
    }

    /// Adds a gap to a node, in front of its other gaps.
    fn link(&mut self, node: NodeId, gap: Gap) {
        self.bytes += gap.memory();
        let node = &mut self.nodes[node as usize];
        let same = node
            .gaps
            .iter()
            .position(|it| it.text.as_bytes() == gap.text.as_bytes());
        let is_many = node.gaps.len() == MAX_GAPS;
        if let Some(replaced) = same.or(is_many.then_some(MAX_GAPS - 1)) {
            self.bytes -= node.gaps.remove(replaced).memory();
        }
        node.gaps.insert(0, gap);
        node.learned = node.learned.saturating_add(1);
    }
}

/// The largest number of values of an item that kernels read.
const MAX_COLUMNS: usize = 256;

impl Cycle {
    /// Bytes held.
    fn memory(&self) -> usize {
        let columns = self.columns.iter();
        let separators: usize = columns.map(|it| it.separator.as_bytes().len()).sum();
        size_of::<Self>() + size_of_val(&*self.columns) + separators + 32 * self.slots
    }

    /// The nodes from `first` to `last`, whose first gap leads to `first` again. `None` if not all their values are
    /// numbers.
    pub(super) fn new(nodes: &[Node], first: NodeId, last: NodeId) -> Option<Self> {
        let again = nodes[last as usize].gaps.first()?;
        let (mut ids, mut columns) = (Vec::new(), Vec::new());
        let (mut sites, mut ranges) = (Vec::new(), Vec::new());
        let (mut id, mut into) = (first, again);
        loop {
            let node = &nodes[id as usize];
            let NodeKind::Value(rule) = node.kind else {
                return None;
            };
            let plain = rule.plain.filter(|_| rule.quote == 0)?;
            let marker = match *into.slots {
                [] => None,
                [marker] => Some(marker),
                _ => return None,
            };
            let gap = match id == last {
                true => again,
                false => node.gaps.first()?,
            };
            sites.extend(marker.map(|_| Site::NONE));
            ranges.extend(plain.range.map(|range| (sites.len(), range)));
            sites.push(rule.site);
            ids.push(id);
            columns.push(Column {
                number: plain.kind.number()?,
                marker,
                separator: gap.text.clone(),
            });
            if id == last {
                break;
            }
            if gap.more.is_some() || gap.leads != Leads::Content || columns.len() > MAX_COLUMNS {
                return None;
            }
            (id, into) = (gap.to, gap);
        }
        let levels = again.lowest as usize;
        let more = again.more.as_ref()?;
        nodes[first as usize].state.as_ref()?;
        Some(Self {
            nodes: ids.into(),
            columns: columns.into(),
            slots: sites.len(),
            sites: sites.into(),
            ranges: ranges.into(),
            levels,
            end: more.lowest_at as usize,
            end_slots: more.lowest_slots as usize,
        })
    }
}

/// Makes gaps of what was logged.
struct Maker<'m> {
    log: &'m Log,
    window: &'m Piece<'m>,
    record: &'m Record,
}

impl Maker<'_> {
    fn gap(&self, from: End<'_>, to: End<'_>) -> Option<Gap> {
        let text = self.window.between(from.offset, to.offset)?;
        // A value is followed by its end tag or quote: a comment or a CDATA section would be part of its text.
        if from.offset > 0 && !text.starts_with("</") && !text.starts_with(['"', '\'']) {
            return None;
        }
        let (slots, heap) = (
            from.written.slots..to.written.slots,
            from.written.heap..to.written.heap,
        );
        let heap = self.record.heap.get(heap)?;
        let mut added: Box<[u64]> = self.record.slots.get(slots.clone())?.into();
        if text.len().max(added.len()).max(heap.len()) > MAX_GAP_LENGTH {
            return None;
        }
        let mut more = self.loops(from, to)?;
        for begun in &more.begun {
            *added.get_mut(begun.slot as usize)? = 0;
        }
        let in_heap = self.log.in_heap.iter().filter(|slot| slots.contains(slot));
        more.in_heap = in_heap.map(|slot| (slot - slots.start) as u32).collect();
        for &slot in &more.in_heap {
            added[slot as usize] = added[slot as usize].checked_sub(from.written.heap as u64)?;
        }
        more.heap = heap.into();
        let found = self
            .log
            .found
            .iter()
            .filter(|found| slots.contains(&found.slot));
        more.found = found
            .map(|found| FoundValue {
                slot: (found.slot - slots.start) as u32,
                at: found.from.wrapping_sub(from.offset) as u32,
                site: found.site,
            })
            .collect();
        let lowest = self.log.lowest.unwrap_or(Lowest {
            levels: 0,
            offset: from.offset,
            slots: from.written.slots,
        });
        more.lowest_at = lowest.offset.saturating_sub(from.offset) as u32;
        more.lowest_slots = lowest.slots.saturating_sub(from.written.slots) as u32;
        let is_plain = more.counted.is_empty()
            && more.ended.is_empty()
            && more.begun.is_empty()
            && more.in_heap.is_empty()
            && more.heap.is_empty()
            && more.found.is_empty();
        Some(Gap {
            text: Separator::new(text.as_bytes()),
            slots: added,
            to: NodeId::MAX,
            leads: Leads::Content,
            lowest: lowest.levels as u32,
            is_again: more.is_again(to.loops.len()),
            more: (!is_plain).then(|| Box::new(more)),
        })
    }

    /// What the gap does to the loops. `None` if that cannot be learned.
    fn loops(&self, from: End<'_>, to: End<'_>) -> Option<Effect> {
        let pairs = from.loops.iter().zip(to.loops);
        let kept = pairs
            .clone()
            .take_while(|(one, other)| one.slot == other.slot)
            .count();
        let mut counted = Vec::new();
        for (index, (one, other)) in pairs.take(kept).enumerate() {
            let by = other.count.checked_sub(one.count)?;
            if by > 0 {
                counted.push((index as u32, one.step(by)));
            }
        }
        let end = |it: &OpenLoop| {
            let count = u32::try_from(*self.record.slots.get(it.slot as usize)?).ok()?;
            let mut step = it.step(count.checked_sub(it.count)?);
            // After the last occurrence allowed, the same tag may belong to another particle.
            if count >= it.most {
                step.least = it.most;
            }
            Some(step)
        };
        let begin = |it: &OpenLoop| {
            let slot = (it.slot as usize).checked_sub(from.written.slots)? as u32;
            Some(OpenLoop { slot, ..*it })
        };
        Some(Effect {
            counted: counted.into(),
            kept: kept as u32,
            ended: from.loops[kept..].iter().map(end).collect::<Option<_>>()?,
            begun: to.loops[kept..].iter().map(begin).collect::<Option<_>>()?,
            ..Effect::default()
        })
    }
}

/// What kind of node a decoder's state has; `None` if it can have none.
fn kind_of(
    plan: &Plan,
    options: &DecodeOptions,
    reader: &State,
    machine: &Machine,
) -> Option<NodeKind> {
    let Some(frame) = machine.frames.last() else {
        return match machine.done {
            false if reader.offset() == 0 => Some(NodeKind::Start),
            true if reader.is_finished() => Some(NodeKind::End),
            _ => None,
        };
    };
    let Frame::Element(frame) = frame else {
        return None;
    };
    let Inside::Leaf(leaf) = frame.inside else {
        return None;
    };
    let element = plan.element(frame.element);
    // A fixed value has to be compared with the only one allowed, which the slow path does.
    let is_fixed = options.validation == Validation::Full && element.fixed.is_some();
    let is_deep = machine.frames.len() > MAX_LEVELS;
    if is_fixed || is_deep || !reader.is_between() || !machine.is_between() {
        return None;
    }
    let plain = Plain::of(plan.leaf(leaf), options.validation);
    Some(NodeKind::Value(ValueRule {
        leaf,
        plain,
        site: plain.map_or(Site::NONE, |plain| plain.site(leaf)),
        is_text: plain.is_some() && plan.leaf(leaf).is_verbatim,
        has_default: element.default.is_some() || element.fixed.is_some(),
        quote: 0,
        is_size: false,
        scope: reader.scope(),
    }))
}

impl Node {
    fn new(kind: NodeKind, state: Option<Box<Checkpoint>>) -> Self {
        Self {
            state,
            kind,
            gaps: Vec::new(),
            cycle: None,
            learned: 0,
        }
    }

    /// Whether another gap is to be learned. An attempt that is refused is counted, too.
    fn may_learn(&mut self) -> bool {
        let may = self.learned < MAX_LEARNED || self.learned.is_power_of_two();
        self.learned = self.learned.saturating_add(u32::from(!may));
        may
    }
}

impl Effect {
    /// Bytes held.
    fn memory(&self) -> usize {
        size_of::<Self>()
            + self.heap.len()
            + size_of_val(&*self.in_heap)
            + size_of_val(&*self.found)
            + size_of_val(&*self.counted)
            + size_of_val(&*self.ended)
            + size_of_val(&*self.begun)
    }

    /// Whether the only effect is that the innermost open loop counts one more occurrence. `loops` is the number of open
    /// loops.
    fn is_again(&self, loops: usize) -> bool {
        let [(innermost, step)] = *self.counted else {
            return false;
        };
        innermost as usize + 1 == loops
            && step.by == 1
            && self.kept as usize == loops
            && self.ended.is_empty()
            && self.begun.is_empty()
            && self.heap.is_empty()
            && self.in_heap.is_empty()
            && self.found.is_empty()
    }
}

impl Gap {
    fn memory(&self) -> usize {
        let more = self.more.as_ref().map_or(0, |more| more.memory());
        size_of::<Self>() + self.text.len() + self.slots.len() * 8 + more
    }
}

impl OpenLoop {
    fn step(&self, by: u32) -> LoopStep {
        LoopStep {
            by,
            least: self.least,
            most: self.most,
        }
    }
}

impl Written {
    pub(super) fn of(record: &Record) -> Self {
        Self {
            slots: record.slots.len(),
            heap: record.heap.len(),
        }
    }
}
