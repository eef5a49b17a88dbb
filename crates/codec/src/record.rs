//! The Record: the values of one message in document order, as 8-byte slots and a heap for strings.
//!
//! What each slot means, the [`Plan`] it was made by says; see `docs/design/record-layout.md`.

use std::sync::Arc;

use crate::attachment::Attachment;
use crate::decode::Warning;
use crate::plan::{ElementId, Plan, TypeId};

mod attached;
pub(crate) mod check;
mod column;
mod identity;
pub(crate) mod kept;
pub(crate) mod path;
pub(crate) mod regions;
pub(crate) mod walk;

pub use column::{Column, Scalar};
pub use identity::WrongIdentity;

/// The values of marker slots, which say which of the possibilities of the schema a message uses.
pub mod marker {
    /// The element or attribute is absent.
    pub const ABSENT: u64 = 0;
    /// It is present.
    pub const PRESENT: u64 = 1;
    /// It is present, with `xsi:nil="true"`.
    pub const NIL: u64 = 2;
    /// An attribute is not in the text; its value is the default of the schema.
    pub const DEFAULTED: u64 = 3;

    use crate::plan::TypeId;

    /// A state marker: [`PRESENT`] or [`NIL`], with the actual type in the high half.
    #[inline]
    pub const fn state(state: u64, ty: TypeId) -> u64 {
        state | (ty.0 as u64) << 32
    }

    /// The low half of a state marker.
    #[inline]
    pub const fn presence(marker: u64) -> u64 {
        marker & 0xffff_ffff
    }

    /// The actual type in a state marker.
    #[inline]
    pub const fn actual_type(marker: u64) -> TypeId {
        TypeId((marker >> 32) as u32)
    }
}

/// The values of one message, in document order.
#[derive(Clone, Debug)]
pub struct Record {
    pub(crate) plan: Arc<Plan>,
    pub(crate) root: ElementId,
    pub(crate) slots: Vec<u64>,
    pub(crate) heap: Vec<u8>,
    /// The deviations that were accepted when the message was decoded.
    pub(crate) warnings: Vec<Warning>,
    /// Whether some slots depend on other parts of the message's text.
    pub(crate) is_linked: bool,
    /// What binary values refer to, and what else travels beside the message.
    attachments: Vec<Attachment>,
    /// Which texts are not known to be lexical forms, and values of their enumerations.
    unchecked: Unchecked,
}

/// The values of a Record that have to be checked before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unchecked {
    None,
    /// Those of one element's attributes and content, from this slot on.
    Content(TypeId, usize),
    All,
}

impl Record {
    /// An empty Record, to be filled in document order.
    pub fn new(plan: Arc<Plan>, root: ElementId) -> Self {
        Self {
            plan,
            root,
            slots: Vec::new(),
            heap: Vec::new(),
            warnings: Vec::new(),
            is_linked: false,
            attachments: Vec::new(),
            unchecked: Unchecked::All,
        }
    }

    /// The Plan that says what the slots are.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The element whose value this is.
    pub fn root(&self) -> ElementId {
        self.root
    }

    /// The slots, in document order.
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// The heap: the octets that heap slots point to.
    pub fn heap(&self) -> &[u8] {
        &self.heap
    }

    /// Its slots and its heap, for code that knows the layout and changes values. Any content is safe to read; whether it
    /// still is a valid message is up to the caller.
    pub fn parts_mut(&mut self) -> (&mut Vec<u64>, &mut Vec<u8>) {
        self.unchecked = Unchecked::All;
        (&mut self.slots, &mut self.heap)
    }

    /// Bytes held, capacity included.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<u64>() + self.heap.capacity()
    }

    /// The octets that a heap slot points to; empty if the slot is not a heap slot of this Record.
    #[inline]
    pub fn octets(&self, slot: u64) -> &[u8] {
        let (start, length) = heap_range(slot);
        self.heap.get(start..start + length).unwrap_or_default()
    }

    /// The text that a heap slot points to; empty if it is not text.
    #[inline]
    pub fn text(&self, slot: u64) -> &str {
        std::str::from_utf8(self.octets(slot)).unwrap_or_default()
    }

    /// Makes it a copy of another Record; keeps its memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.plan.clone_from(&other.plan);
        self.root = other.root;
        self.slots.clone_from(&other.slots);
        self.heap.clone_from(&other.heap);
        self.warnings.clone_from(&other.warnings);
        self.is_linked = other.is_linked;
        self.attachments.clone_from(&other.attachments);
        self.unchecked = other.unchecked;
    }

    /// The same heap with other slots.
    pub(crate) fn with_slots(&self, slots: Vec<u64>) -> Self {
        Self {
            plan: Arc::clone(&self.plan),
            root: self.root,
            slots,
            heap: self.heap.clone(),
            warnings: self.warnings.clone(),
            is_linked: self.is_linked,
            attachments: self.attachments.clone(),
            unchecked: self.unchecked,
        }
    }

    /// The deviations from the schema that were accepted when the message was decoded; none in a Record that was made otherwise.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Whether some values are not where the Record has them in the text of the message: an encoded message had references to
    /// simple values, or arrays with omitted items. It cannot be compared with another message part by part.
    pub fn is_linked(&self) -> bool {
        self.is_linked
    }

    /// Replaces the warnings, for code that puts together what a decoder has read.
    pub fn set_warnings(&mut self, warnings: Vec<Warning>) {
        if !warnings.is_empty() {
            self.unchecked = Unchecked::All;
        }
        self.warnings = warnings;
    }

    /// Declares that all texts are lexical forms of their types and values of their enumerations, so that
    /// [`check`](Self::check) need not look: for code that puts together what a decoder has read. A Record with
    /// [warnings](Self::warnings) stays unchecked.
    pub fn assume_checked(&mut self) {
        if self.warnings.is_empty() {
            self.unchecked = Unchecked::None;
        }
    }

    /// Declares that only some texts have to be checked.
    pub(crate) fn leave_unchecked(&mut self, unchecked: Unchecked) {
        self.unchecked = unchecked;
    }

    /// Changes a slot. Returns `false` if there is no such slot. The change is not checked against the Plan: a number may
    /// be changed only to another number of its type, and a heap slot only to one that
    /// [`append_octets`](Self::append_octets) returned.
    pub fn set_slot(&mut self, slot: usize, value: u64) -> bool {
        self.unchecked = Unchecked::All;
        let own = self.slots.get_mut(slot);
        own.map(|own| *own = value).is_some()
    }

    /// Appends octets to the heap, and returns the heap slot that points to them.
    ///
    /// # Errors
    /// [`HeapFull`] past 4 GiB.
    pub fn append_octets(&mut self, octets: &[u8]) -> Result<u64, HeapFull> {
        let slot = heap_slot(self.heap.len(), octets.len()).ok_or(HeapFull)?;
        self.heap.extend_from_slice(octets);
        Ok(slot)
    }

    /// Replaces its heap by another, and returns the old one. Heap slots then point into the new heap.
    pub fn replace_heap(&mut self, heap: Vec<u8>) -> Vec<u8> {
        self.unchecked = Unchecked::All;
        std::mem::replace(&mut self.heap, heap)
    }

    /// Empties the Record for another message of the same Plan; keeps its memory.
    pub fn clear(&mut self, root: ElementId) {
        self.root = root;
        self.slots.clear();
        self.heap.clear();
        self.warnings.clear();
        self.is_linked = false;
        self.attachments.clear();
        self.unchecked = Unchecked::All;
    }

    /// Appends a slot.
    #[inline]
    pub(crate) fn push(&mut self, slot: u64) {
        self.slots.push(slot);
    }

    /// Appends octets to the heap, and a slot that points to them.
    ///
    /// # Errors
    /// [`HeapFull`] past 4 GiB.
    #[inline]
    pub(crate) fn push_octets(&mut self, octets: &[u8]) -> Result<(), HeapFull> {
        let start = self.heap.len();
        self.heap.extend_from_slice(octets);
        let slot = heap_slot(start, octets.len()).ok_or(HeapFull)?;
        self.slots.push(slot);
        Ok(())
    }
}

/// Two Records are equal if they have the same Plan, root and values; the order of strings in the heap does not matter.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        if !Arc::ptr_eq(&self.plan, &other.plan)
            || self.root != other.root
            || self.slots.len() != other.slots.len()
            || self.attachments != other.attachments
        {
            return false;
        }
        if self.slots == other.slots && self.heap == other.heap {
            return true;
        }
        walk::same_values(self, other)
    }
}

/// The heap of a Record is full: its slots address 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapFull;

/// The heap slot for `length` octets from `start` on; `None` beyond 4 GiB.
#[inline]
pub(crate) fn heap_slot(start: usize, length: usize) -> Option<u64> {
    let (start, length) = (u32::try_from(start).ok()?, u32::try_from(length).ok()?);
    Some(u64::from(start) | u64::from(length) << 32)
}

/// The start and length of the octets that a heap slot points to.
#[inline]
pub(crate) fn heap_range(slot: u64) -> (usize, usize) {
    ((slot & 0xffff_ffff) as usize, (slot >> 32) as usize)
}
