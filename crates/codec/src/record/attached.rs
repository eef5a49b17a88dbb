//! The attachments of a Record: which of its binary values travel beside the message.

use std::sync::Arc;

use super::walk::{Event, Mismatch, Walk};
use super::{Record, heap_range, heap_slot};
use crate::attachment::{Attachment, reference};
use crate::plan::LeafKind;

/// A slot that points into the heap.
struct HeapSlot {
    at: usize,
    /// Whether it is the content of an element of `xs:base64Binary`.
    may_be_attached: bool,
}

impl Record {
    /// The attachments of the message. Binary values refer to them; others are only named by a URI, or by the program.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Replaces the attachments. The references in the Record are to positions in this list.
    pub fn set_attachments(&mut self, attachments: Vec<Attachment>) {
        self.attachments = attachments;
    }

    /// Takes the attachments out of the Record. References to them stay in it.
    pub fn take_attachments(&mut self) -> Vec<Attachment> {
        std::mem::take(&mut self.attachments)
    }

    /// The attachment that a binary value refers to. `None` if the octets are the value itself.
    #[inline]
    pub fn attachment(&self, octets: &[u8]) -> Option<&Attachment> {
        if self.attachments.is_empty() {
            return None;
        }
        self.attachments.get(reference::index(octets)?)
    }

    /// Adds an attachment, unless the message has it already. Returns its position.
    pub fn attach(&mut self, attachment: &Attachment) -> usize {
        let known = self
            .attachments
            .iter()
            .position(|it| it.is_same(attachment));
        known.unwrap_or_else(|| {
            self.attachments.push(attachment.clone());
            self.attachments.len() - 1
        })
    }

    /// Turns each element of `xs:base64Binary` with at least `threshold` octets into an attachment. The octets are not copied.
    pub fn attach_octets(&mut self, threshold: usize) {
        if self.heap.len() < threshold {
            return;
        }
        // A Record that does not fit its Plan is left to the encoder, which reports it.
        let Ok(slots) = heap_slots(self) else { return };
        let is_attached = |record: &Self, slot: &HeapSlot| {
            let octets = record.octets(record.slots[slot.at]);
            slot.may_be_attached
                && octets.len() >= threshold.max(1)
                && reference::index(octets).is_none()
        };
        if !slots.iter().any(|slot| is_attached(self, slot)) {
            return;
        }
        let attached: Vec<bool> = slots.iter().map(|slot| is_attached(self, slot)).collect();
        let old = Arc::new(std::mem::take(&mut self.heap));
        for (slot, is_attached) in slots.iter().zip(attached) {
            let (start, length) = heap_range(self.slots[slot.at]);
            let range = start..start.saturating_add(length);
            let place = self.heap.len();
            if is_attached {
                self.attachments.push(Attachment::of_heap(&old, range));
                let octets = reference::octets(self.attachments.len() - 1);
                self.heap.extend_from_slice(&octets);
            } else {
                self.heap
                    .extend_from_slice(old.get(range).unwrap_or_default());
            }
            // The new heap is not longer than the old one.
            self.slots[slot.at] = heap_slot(place, self.heap.len() - place).unwrap_or_default();
        }
    }
}

/// The slots of a Record that point into its heap, in document order.
fn heap_slots(record: &Record) -> Result<Vec<HeapSlot>, Mismatch> {
    let (mut walk, _) = Walk::new(record)?;
    let mut found = Vec::new();
    while let Some(event) = walk.next()? {
        let (leaf, at, is_content) = match event {
            Event::Leaf { leaf, at } => (leaf, at, true),
            Event::Attribute { id, at, .. } => (record.plan.attribute(id).leaf, at, false),
            Event::Text { at }
            | Event::Fragment { at }
            | Event::Inner { at }
            | Event::AnyAttribute { at } => {
                let may_be_attached = false;
                found.push(HeapSlot {
                    at,
                    may_be_attached,
                });
                continue;
            }
            Event::Array { element, .. } => {
                if record.plan.element(element).stride == Some(1) && !is_in_heap(record, element) {
                    walk.jump(event)?;
                }
                continue;
            }
            Event::Start(_) | Event::End(_) => continue,
        };
        let kind = record.plan.leaf(leaf).kind;
        match kind {
            LeafKind::List(item) if record.plan.leaf(item).kind.is_in_heap() => {
                let may_be_attached = false;
                found.extend((at + 1..walk.at()).map(|at| HeapSlot {
                    at,
                    may_be_attached,
                }));
            }
            kind if kind.is_in_heap() => found.push(HeapSlot {
                at,
                may_be_attached: is_content && kind == LeafKind::Base64,
            }),
            _ => {}
        }
    }
    Ok(found)
}

/// Whether the content of an element of one slot is in the heap.
fn is_in_heap(record: &Record, element: crate::plan::ElementId) -> bool {
    use crate::plan::Content;

    match record.plan.ty(record.plan.element(element).ty).content {
        Content::Simple(leaf) => record.plan.leaf(leaf).kind.is_in_heap(),
        _ => true,
    }
}
