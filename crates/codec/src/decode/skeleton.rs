//! Skeletons: the structures of the messages read so far, as an automaton over the text between values.
//!
//! ```text
//! <order><id> 7 </id><item><name> a </name></item><item><name> b </name></item></order>
//!             │                   │ ▲                          │
//!      node: id, a long    node: name │ gap "</name></item><item><name>", one more item
//!        gap "</id><item><name>"  └─┘                          └ gap "</name></item></order>", end
//! ```
//!
//! A *node* is the state of the decoder in front of a value: the elements open, where in their content models they are, and
//! the namespace scope. Only the numbers of loops are left out: where their counts are in the Record, and how often they have
//! come round. A *gap* is the text between a value and the next, and what it means: the slots it adds (markers, what is
//! absent), which loops it counts, ends and begins, and the node it leads to. The same text behind the same node always
//! means the same, so a gap that was read once is afterwards one comparison. Where structures differ (optional parts,
//! choices, the end of an array), a node has several gaps.
//!
//! Nodes and gaps are learned by watching the slow path read from one value to the next. A gap that is not known is left to
//! the slow path, which continues from the state in the node.

use std::collections::HashMap;

use bsoap_datatypes::kernel::{Column, Separator};
use bsoap_xml::{ScopeId, State};

use crate::plan::{ElementId, LeafId, Plan, RealRange};

use super::checkpoint::{Checkpoint, each_loop};
use super::frame::Machine;
use super::plain::Plain;
use super::trace::Site;

/// The index of a node.
pub(super) type NodeId = u32;

/// How many gaps a node may have. More variety is left to the slow path.
pub(super) const MAX_GAPS: usize = 8;

/// Longer attribute values are neither read by a skeleton nor re-read alone.
pub(super) const MAX_ATTRIBUTE_LENGTH: usize = 1 << 12;

/// Longer gaps are not learned.
pub(super) const MAX_GAP_LENGTH: usize = 1 << 12;

/// What all nodes and gaps may take. A peer whose every message is different fills this; then all is forgotten.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// How many nodes are learned before one of them has been met again.
pub(super) const MAX_CREDIT: u32 = 1 << 11;

/// How many more with each message: a stream whose structures are new each time is left to the slow path, until they repeat.
pub(super) const CREDIT_OF_MESSAGE: u32 = 4;

/// States with more levels are not learned: to compare and to restore them takes longer than to read on.
pub(super) const MAX_LEVELS: usize = 96;

/// A gap with more values and attributes in it is not learned.
pub(super) const MAX_LOGGED: usize = 256;

/// A node whose gaps were learned this many times more often than they were used only learns at powers of two.
pub(super) const MAX_IN_VAIN: u32 = 32;

/// What a decoder has learned of the structures of its stream.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) nodes: Vec<Node>,
    /// By hash of the state.
    pub(super) by_state: HashMap<u64, NodeId>,
    /// The node at the beginning of messages with the root of the last one.
    pub(super) start: Option<(ElementId, NodeId)>,
    /// A scope that is valid as long as all are.
    pub(super) scope: Option<ScopeId>,
    pub(super) bytes: usize,
    /// How many nodes may be learned until one is met again.
    pub(super) credit: u32,
}

impl Default for Skeleton {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            by_state: HashMap::new(),
            start: None,
            scope: None,
            bytes: 0,
            credit: MAX_CREDIT,
        }
    }
}

/// A place of the structure.
#[derive(Debug)]
pub(super) struct Node {
    /// The state there; `None` in front of an attribute's value, where the slow path cannot start.
    pub(super) state: Option<Box<Checkpoint>>,
    pub(super) kind: NodeKind,
    /// What may follow, the likeliest first.
    pub(super) gaps: Vec<Gap>,
    /// If the value is the first of an array's item, all whose values are numbers: the way round.
    pub(super) cycle: Option<Box<Cycle>>,
    /// How often a gap was learned, less half of that each time one was used.
    pub(super) in_vain: u32,
    pub(super) learned: u32,
}

/// What is at a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeKind {
    /// The beginning of a message.
    Start,
    Value(ValueRule),
    /// The end of a message.
    End,
}

/// How the value at a node is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueRule {
    pub(super) leaf: LeafId,
    /// `None` if facets of the type need the text.
    pub(super) plain: Option<Plain>,
    pub(super) site: Site,
    /// Whether the value is its text as it is, and its facets can be proved without the slow path.
    pub(super) is_text: bool,
    /// Whether an empty text is replaced by another value.
    pub(super) has_default: bool,
    /// Of an attribute, the quote that ends it; 0 for the content of an element.
    pub(super) quote: u8,
    /// The namespaces in which a name in the value is resolved.
    pub(super) scope: ScopeId,
}

/// What follows a value, up to the next.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) text: Separator,
    /// The slots it adds,
    pub(super) slots: Box<[u64]>,
    pub(super) to: NodeId,
    pub(super) leads: Leads,
    /// The least number of levels open in it between two tags,
    pub(super) lowest: u32,
    /// whether all else it means is one more of the innermost loop: it leads to the next item of an array,
    pub(super) is_again: bool,
    /// and what else it means, which is nothing for most.
    pub(super) more: Option<Box<Effect>>,
}

/// What a gap leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// The content of an element.
    Content,
    /// The value of an attribute.
    Attribute,
    /// The end of the message.
    End,
}

/// The rarer effects of a gap.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// The octets it adds to the heap,
    pub(super) heap: Box<[u8]>,
    /// and which of its slots are relative to these.
    pub(super) in_heap: Box<[u32]>,
    /// Lexical forms in it that are reported to a trace.
    pub(super) found: Box<[FoundValue]>,
    /// Loops that are counted: how far in, outermost first.
    pub(super) counted: Box<[(u32, LoopStep)]>,
    /// How many of the loops open before stay open. The others end:
    pub(super) kept: u32,
    pub(super) ended: Box<[LoopStep]>,
    /// The loops it begins: which of its slots, and the count so far.
    pub(super) begun: Box<[OpenLoop]>,
    /// Where in it the lowest level is reached.
    pub(super) lowest_at: u32,
}

/// What happens to the count of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopStep {
    pub(super) by: u32,
    pub(super) least: u32,
    pub(super) most: u32,
}

/// A loop: the slot of its count, and the count so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenLoop {
    pub(super) slot: u32,
    pub(super) count: u32,
    pub(super) least: u32,
    pub(super) most: u32,
}

/// A lexical form in a gap: its slot and its place there.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundValue {
    pub(super) slot: u32,
    pub(super) at: u32,
    pub(super) site: Site,
}

/// How much of a Record has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) slots: usize,
    pub(super) heap: usize,
}

/// The node at which the slow path took over, and what had been written there.
pub(super) type Origin = (NodeId, Written);

/// The loops at a node.
#[derive(Debug, Default)]
pub(super) struct NodeLoops {
    pub(super) here: Vec<OpenLoop>,
    /// Those at the last node that had a state.
    pub(super) before: Vec<OpenLoop>,
}

/// What the slow path did since it took over.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Whether the slow path is on its way from a node.
    pub(super) is_on: bool,
    /// Nothing is to be learned of what it does.
    pub(super) is_void: bool,
    /// The first value, that of the node where it took over.
    pub(super) value: Option<LoggedValue>,
    pub(super) attributes: Vec<LoggedAttribute>,
    /// How many attributes there were behind a tag, and the loops open there.
    pub(super) tags: Vec<(usize, Vec<OpenLoop>)>,
    /// Slots that are relative to the heap.
    pub(super) in_heap: Vec<usize>,
    pub(super) found: Vec<LoggedForm>,
    /// The least number of levels open between two tags, and where.
    pub(super) lowest: Option<(usize, u64)>,
}

/// A value that was read: its text, and what had been written behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedValue {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) after: Written,
}

/// The value of an attribute that was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedAttribute {
    pub(super) value: LoggedValue,
    pub(super) before: Written,
    pub(super) leaf: LeafId,
    pub(super) scope: ScopeId,
}

/// Where a lexical form is.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedForm {
    pub(super) slot: usize,
    pub(super) from: u64,
    pub(super) site: Site,
}

/// The way round from the first value of an array's item to that of the next.
#[derive(Debug)]
pub(super) struct Cycle {
    /// The nodes of its values,
    pub(super) nodes: Box<[NodeId]>,
    /// and how a kernel reads them.
    pub(super) columns: Box<[Column]>,
    /// Slots of an item,
    pub(super) slots: usize,
    /// and how each of them can be read again.
    pub(super) sites: Box<[Site]>,
    /// Which slots of an item must be in a range.
    pub(super) ranges: Box<[(usize, RealRange)]>,
    /// Levels open between two items.
    pub(super) levels: usize,
    /// How much of what is between two items belongs to the first.
    pub(super) end: usize,
}

impl Skeleton {
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES
    }

    /// About how many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        self.bytes + self.by_state.capacity() * size_of::<(u64, NodeId)>()
    }
}

impl Log {
    /// A slot that is relative to the heap was written.
    #[inline]
    pub(super) fn push_in_heap(&mut self, slot: usize) {
        if self.is_on {
            // What was written before at this slot has been taken back.
            while self.in_heap.pop_if(|last| *last >= slot).is_some() {}
            self.in_heap.push(slot);
        }
    }

    /// Gives up if there is too much.
    pub(super) fn limit(&mut self) {
        if self.found.len() + self.in_heap.len() + self.attributes.len() > MAX_LOGGED {
            (self.is_on, self.is_void) = (false, true);
        }
    }

    /// A lexical form was found.
    #[cold]
    pub(super) fn push_found(&mut self, form: LoggedForm) {
        while self.found.pop_if(|last| last.slot >= form.slot).is_some() {}
        self.found.push(form);
    }

    pub(super) fn begin(&mut self) {
        (self.is_on, self.is_void) = (true, false);
        self.value = None;
        self.attributes.clear();
        self.tags.clear();
        self.in_heap.clear();
        self.found.clear();
        self.lowest = None;
    }
}

impl Node {
    /// Sets a decoder to the state of the node, where loops have these numbers.
    pub(super) fn restore(
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
