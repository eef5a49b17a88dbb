//! The values of an encoded message as a graph: references, shared values and cycles. (SOAP 1.1 §5.2.1; SOAP 1.2 Part 2 §3.1.5)
//!
//! A Record of an encoded message is as the text was: an accessor may be a reference, and independent elements follow the
//! wrapper. Programs get one of two other Records, made by copying slots:
//!
//! ```text
//! text      <a href="#1"/> <b href="#1"/> … <multiRef id="1">v</multiRef>
//! shared    <a id="1">v</a> <b href="#1"/>        each independent value is where it is referred to first: shared values stay
//!                                                 shared, and cycles end
//! expanded  <a>v</a> <b>v</b>                     a tree; its size is limited, and a cycle is an error
//! ```
//!
//! The heap stays the same, so no text is copied. Neither walk nor copy recurses: the copy has a stack of the values that it
//! is in, and each reference is looked up once, so sharing takes time linear in the message.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::decode::encoded::fragment_of;
use crate::plan::{Content, ElementId, TypeId};
use crate::record::{Record, marker, path};

use copy::{Copy, Mode};
pub use error::{GraphError, GraphErrorKind};

mod copy;
mod displaced;
mod error;
mod scan;

/// The bytes that references may expand to by default.
pub const REFERENCE_EXPANSION: usize = 64 << 20;

/// The Record with each independent value where it is referred to first. A value with an id that is inside of an independent one
/// that nothing refers to is where it is referred to first as well. Values that are referred to more than once have an
/// id, and their other references remain. Returns the Record itself if it has no references.
///
/// # Errors
/// If a reference names no value, or one whose type is not allowed there; if values nest too deep.
pub fn share(record: &Record) -> Result<Cow<'_, Record>, GraphError> {
    let graph = scan::scan(record)?;
    if graph.is_tree() {
        return Ok(Cow::Borrowed(record));
    }
    Copy::new(&graph, Mode::Share).run().map(Cow::Owned)
}

/// The Record as a tree, without references. Returns the Record itself if it has none.
///
/// # Errors
/// As for [`share`]; also if a value contains itself, or the tree takes more than `limit` bytes.
pub fn expand(record: &Record, limit: usize) -> Result<Cow<'_, Record>, GraphError> {
    let graph = scan::scan(record)?;
    if graph.is_tree() {
        return Ok(Cow::Borrowed(record));
    }
    Copy::new(&graph, Mode::Expand { limit })
        .run()
        .map(Cow::Owned)
}

/// Prepares the Record of an encoded message for sending: arrays without a size get theirs.
///
/// # Errors
/// If a reference names no value, or one whose type is not allowed there.
pub fn complete(record: &mut Record) -> Result<(), GraphError> {
    let graph = scan::scan(record)?;
    for reference in &graph.references {
        graph.target(reference)?;
    }
    let sizes = graph.sizes.clone();
    for Size {
        slot,
        count,
        is_list,
        ..
    } in sizes
    {
        let text = match is_list {
            true => count.to_string(),
            false => format!("[{count}]"),
        };
        let Ok(size) = record.append_octets(text.as_bytes()) else {
            return Err(GraphErrorKind::Mismatch.at(String::new()));
        };
        record.slots[slot - 1] = marker::PRESENT;
        record.slots[slot] = size;
    }
    Ok(())
}

/// A value that has an id.
#[derive(Clone, Copy, Debug)]
struct Definition {
    element: ElementId,
    ty: TypeId,
    /// The slots of its attributes and content.
    start: usize,
    end: usize,
    /// The slot of its id; behind the marker of the attribute. `None` if it is among the attributes of a wildcard.
    id: Option<usize>,
    is_independent: bool,
    /// How many elements are open around its content.
    depth: usize,
    /// The bytes of its slots and texts.
    weight: usize,
}

#[derive(Clone, Copy, Debug)]
struct Reference {
    element: ElementId,
    /// The slot of its state marker; the reference's own slot is the next one.
    at: usize,
    depth: usize,
}

/// The size of an array.
#[derive(Clone, Copy, Debug)]
struct Size {
    slot: usize,
    count: usize,
    /// Whether sizes are written as in SOAP 1.2.
    is_list: bool,
    is_stated: bool,
}

/// The references and what they name.
#[derive(Debug)]
struct Graph<'r> {
    record: &'r Record,
    definitions: Vec<Definition>,
    ids: HashMap<Cow<'r, str>, usize>,
    /// In the order of their slots.
    references: Vec<Reference>,
    /// The slot of the count of the independent values, and the slot behind them.
    independent: Option<(usize, usize)>,
    /// Those that are not stated.
    sizes: Vec<Size>,
}

impl<'r> Graph<'r> {
    /// The id that a reference names.
    fn name(&self, reference: &Reference) -> &'r str {
        let slots = &self.record.slots;
        fragment_of(
            self.record
                .text(slots.get(reference.at + 1).copied().unwrap_or_default()),
        )
    }

    fn is_tree(&self) -> bool {
        self.references.is_empty() && self.independent.is_none_or(|(at, end)| at + 1 == end)
    }

    /// The value that a reference names, and its type as the element has it.
    fn target(&self, reference: &Reference) -> Result<(usize, TypeId), GraphError> {
        let id = self.name(reference);
        let at = || path::of_slot(self.record, reference.at + 1);
        let Some(&target) = self.ids.get(id) else {
            return Err(GraphErrorKind::Dangling(id.to_owned()).at(at()));
        };
        let (plan, element) = (&self.record.plan, reference.element);
        let (ty, declared) = (self.definitions[target].ty, plan.element(element).ty);
        if plan.admits_type(element, ty) {
            return Ok((target, ty));
        }
        if plan.are_like_arrays(ty, declared) {
            return Ok((target, declared));
        }
        // The independent values have an `anyType` of their own.
        if plan.ty(ty).content == Content::Any && plan.ty(declared).content == Content::Any {
            return Ok((target, declared));
        }
        if plan.ty(ty).content == Content::Any {
            return Err(GraphErrorKind::Untyped(id.to_owned()).at(at()));
        }
        Err(GraphErrorKind::Type(id.to_owned()).at(at()))
    }
}
