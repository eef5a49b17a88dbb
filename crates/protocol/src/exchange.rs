//! One exchange, a type for each step, each taken by value: a wrong order does not compile.
//!
//! ```text
//! client   Target ─request─► Request ─write─► AwaitingReply ─read─► Reply
//! server   Endpoint ─receive─► Received, AwaitingAnswer ─answer | fault | accept─► OutgoingReply
//! ```
//!
//! Nothing here does I/O: bytes of a message go in, bytes of a message come out.

use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{Record, Value, View};
use bsoap_schema::{Binding, Operation};

use crate::{Error, ErrorKind};

pub(crate) mod client;
pub(crate) mod server;
mod values;

/// An operation of a binding, with the Plan of its messages.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) plan: Arc<Plan>,
    pub(crate) binding: Arc<Binding>,
    pub(crate) index: usize,
}

impl Target {
    /// The operation of this name; of overloaded ones the first.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownOperation`].
    pub fn new(plan: &Arc<Plan>, binding: &Arc<Binding>, operation: &str) -> Result<Self, Error> {
        let index = binding
            .operations
            .iter()
            .position(|known| known.name == operation);
        let index = index.ok_or_else(|| {
            let known = binding
                .operations
                .iter()
                .map(|operation| operation.name.clone())
                .collect();
            Error::new(ErrorKind::UnknownOperation {
                name: operation.to_owned(),
                known,
            })
        })?;
        Ok(Self {
            plan: Arc::clone(plan),
            binding: Arc::clone(binding),
            index,
        })
    }

    /// The operation.
    pub fn operation(&self) -> &Operation {
        &self.binding.operations[self.index]
    }

    /// Its binding.
    pub fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }

    /// The Plan of its messages.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
}

/// What stands first in the Body of a message.
fn body_element(record: &Record) -> Option<ElementId> {
    body_child(record).map(|view| view.element_id())
}

/// The first element of the Body.
fn body_child(record: &Record) -> Option<View<'_>> {
    View::of(record).child("Body")?.children().next()
}

/// The value of an element. What a decoder made fits its Plan and nests no deeper than messages do.
fn value_of(view: &View<'_>) -> Value {
    view.to_value().unwrap_or_default()
}
