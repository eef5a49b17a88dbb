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

/// The memory that all nodes and gaps may take. If messages with ever new structures fill it, everything is forgotten.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The number of nodes that may be learned before a known node is met again.
pub(super) const MAX_CREDIT: u32 = 1 << 11;

/// How many more nodes may be learned with each message. A stream whose structures are always new is left to the slow path
/// until they repeat.
pub(super) const CREDIT_OF_MESSAGE: u32 = 4;

/// States with more levels are not learned: comparing and restoring them would take longer than the slow path.
pub(super) const MAX_LEVELS: usize = 96;

/// A gap with more values and attributes in it is not learned.
pub(super) const MAX_LOGGED: usize = 256;

/// A node that has learned this number of gaps learns another only when the number of attempts is a power of two.
pub(super) const MAX_LEARNED: u32 = 32;

/// What a decoder has learned of the structures of its stream.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) nodes: Vec<Node>,
    /// The nodes by the hash of their state.
    pub(super) by_state: HashMap<u64, NodeId>,
    /// The root of the last message, and the node at the beginning of such messages.
    pub(super) start: Option<(ElementId, NodeId)>,
    /// A namespace scope of one of the states: if it is forgotten, all are.
    pub(super) scope: Option<ScopeId>,
    pub(super) bytes: usize,
    /// How many nodes may still be learned before a known one is met.
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

/// A place in the structure of messages: in front of a value, or at the start or end of a message.
#[derive(Debug)]
pub(super) struct Node {
    /// The state there; `None` in front of an attribute's value, where the slow path cannot start.
    pub(super) state: Option<Box<Checkpoint>>,
    pub(super) kind: NodeKind,
    /// The gaps that may follow, the one used most recently first.
    pub(super) gaps: Vec<Gap>,
    /// If the value is the first of an array's items, all of whose values are numbers: the nodes from there to the next
    /// item.
    pub(super) cycle: Option<Box<Cycle>>,
    /// The number of gaps learned, and of those refused since there had been too many.
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
    /// How it is read quickly; `None` if facets of its type need the lexical form.
    pub(super) plain: Option<Plain>,
    pub(super) site: Site,
    /// Whether the value is its text unchanged, and its facets can be proved without the slow path.
    pub(super) is_text: bool,
    /// Whether an empty text is replaced by another value.
    pub(super) has_default: bool,
    /// Of an attribute, the quote that ends it; 0 for the content of an element.
    pub(super) quote: u8,
    /// Whether it is the size of an array of an encoded message: the last part of an attribute.
    pub(super) is_size: bool,
    /// The namespaces in which a name in the value is resolved.
    pub(super) scope: ScopeId,
}

/// The text from a value to the next one, and what it stands for.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) text: Separator,
    /// The slots that it adds.
    pub(super) slots: Box<[u64]>,
    pub(super) to: NodeId,
    pub(super) leads: Leads,
    /// The least number of levels that are open in it between two tags.
    pub(super) lowest: u32,
    /// Whether it leads to the next item of an array: its only other effect is one more occurrence of the innermost loop.
    pub(super) is_again: bool,
    /// Its other effects; `None` for most gaps.
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
    /// The octets that it adds to the heap.
    pub(super) heap: Box<[u8]>,
    /// Which of its slots point to these octets, by an offset from the first.
    pub(super) in_heap: Box<[u32]>,
    /// The lexical forms inside the gap that are reported to a trace.
    pub(super) found: Box<[FoundValue]>,
    /// The loops that it counts on: the index of each, outermost first, and by how much.
    pub(super) counted: Box<[(u32, LoopStep)]>,
    /// How many of the loops open before it stay open.
    pub(super) kept: u32,
    pub(super) ended: Box<[LoopStep]>,
    /// The loops that it begins: the slot of each count, from the gap's first slot on, and the count so far.
    pub(super) begun: Box<[OpenLoop]>,
    /// Where in it the least number of levels is reached.
    pub(super) lowest_at: u32,
    /// How many of its slots have been written there.
    pub(super) lowest_slots: u32,
}

/// A change of a loop's count, and the bounds that the count must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopStep {
    pub(super) by: u32,
    pub(super) least: u32,
    pub(super) most: u32,
}

/// An open loop: the slot of its count, the count so far, and the bounds of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenLoop {
    pub(super) slot: u32,
    pub(super) count: u32,
    pub(super) least: u32,
    pub(super) most: u32,
}

/// A lexical form inside a gap: its slot and its offset, both from the beginning of the gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundValue {
    pub(super) slot: u32,
    pub(super) at: u32,
    pub(super) site: Site,
}

/// How much of a Record has been written: its slots, and bytes of its heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) slots: usize,
    pub(super) heap: usize,
}

/// The node at which the slow path took over, and what had been written there.
pub(super) type Origin = (NodeId, Written);

/// The loops at two nodes.
#[derive(Debug, Default)]
pub(super) struct NodeLoops {
    pub(super) here: Vec<OpenLoop>,
    /// The loops at the last node that has a state.
    pub(super) before: Vec<OpenLoop>,
}

/// What the slow path did since the last node, for learning a gap.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// Whether anything is logged: the slow path started from a node.
    pub(super) is_on: bool,
    /// Whether nothing can be learned from what it did.
    pub(super) is_void: bool,
    /// The first value, which is that of the node it started from.
    pub(super) value: Option<LoggedValue>,
    pub(super) attributes: Vec<LoggedAttribute>,
    /// For each tag with attributes: the number of attributes so far, and the loops open behind the tag.
    pub(super) tags: Vec<(usize, Vec<OpenLoop>)>,
    /// The slots that point into the heap.
    pub(super) in_heap: Vec<usize>,
    pub(super) found: Vec<LoggedForm>,
    /// Where the least number of levels is open between two tags.
    pub(super) lowest: Option<Lowest>,
}

/// The place between two tags where the least number of levels is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lowest {
    /// The number of levels.
    pub(super) levels: usize,
    pub(super) offset: u64,
    /// The number of slots written.
    pub(super) slots: usize,
}

/// A value that was read: where its text is, and how much had been written behind it.
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
    /// Whether it is the size of an array.
    pub(super) is_size: bool,
    pub(super) scope: ScopeId,
}

/// The location of a lexical form.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedForm {
    pub(super) slot: usize,
    pub(super) from: u64,
    pub(super) site: Site,
}

/// The nodes from the first value of an array's item to the first value of the next item.
#[derive(Debug)]
pub(super) struct Cycle {
    /// The nodes of an item's values.
    pub(super) nodes: Box<[NodeId]>,
    /// How a kernel reads each of these values.
    pub(super) columns: Box<[Column]>,
    /// The number of slots of an item.
    pub(super) slots: usize,
    /// How each slot of an item can be read again.
    pub(super) sites: Box<[Site]>,
    /// The slots of an item whose values must be in a range.
    pub(super) ranges: Box<[(usize, RealRange)]>,
    /// The number of levels open between two items.
    pub(super) levels: usize,
    /// The bytes behind an item's last value that belong to this item, up to the end tag of the item.
    pub(super) end: usize,
    /// The slots behind an item's last value that belong to this item, such as the count of an absent child. A kernel
    /// writes them as the marker of the next item.
    pub(super) end_slots: usize,
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
    /// Notes that a slot that points into the heap was written.
    #[inline]
    pub(super) fn push_in_heap(&mut self, slot: usize) {
        if self.is_on {
            // Slots from this one on that were noted before have been removed.
            while self.in_heap.pop_if(|last| *last >= slot).is_some() {}
            self.in_heap.push(slot);
        }
    }

    /// Stops logging if there is too much.
    pub(super) fn limit(&mut self) {
        if self.found.len() + self.in_heap.len() + self.attributes.len() > MAX_LOGGED {
            (self.is_on, self.is_void) = (false, true);
        }
    }

    /// Notes a lexical form.
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
    /// Sets a decoder to the state of the node, with these loops, at an offset of the message.
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
