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
use bsoap_codec::{Decoder, Object, PackError, Record, Unpack, Value, View, decode, encode};
use bsoap_schema::{Binding, Message, Operation, SoapVersion};

use crate::arguments::{Contents, Sections};
use crate::{Error, ErrorKind};

pub(crate) mod client;
pub(crate) mod server;

/// The text of a message, encoded from first to last.
fn written(record: Record) -> Result<Vec<u8>, encode::Error> {
    let mut text = Vec::new();
    encode(&record, &mut text)?;
    Ok(text)
}

/// Reads messages from first to last.
fn read(
    decoder: &mut Decoder,
) -> impl FnMut(ElementId, &[u8]) -> Result<Arc<Record>, decode::Error> + '_ {
    |root, text| decoder.decode(root, text).map(Arc::new)
}

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

    /// Its number among the operations of the binding.
    pub fn number(&self) -> usize {
        self.index
    }

    /// Its binding.
    pub fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }

    /// The version of SOAP it speaks.
    pub fn version(&self) -> SoapVersion {
        self.binding.version
    }

    /// The Plan of its messages.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The arguments in a request: the children of a wrapper, otherwise the parts by name; header blocks under
    /// `@headers`. They are nil if elements nest deeper than values do ([`bsoap_codec::MAX_DEPTH`]).
    pub fn request_value(&self, record: &Record) -> Value {
        self.sections(Direction::Request)
            .unwrap(&self.operation().input, value_of(&View::of(record)))
    }

    /// The Record of a response Envelope with these contents.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if they do not fit, [`ErrorKind::OneWay`] if there is no response.
    pub fn response<'c>(&self, contents: impl Into<Contents<'c>>) -> Result<Record, Error> {
        self.record(Direction::Response, contents.into())
    }

    /// The result in a response; nil if the operation is one-way.
    pub fn response_value(&self, record: &Record) -> Value {
        match &self.operation().output {
            Some(output) => self
                .sections(Direction::Response)
                .unwrap(output, value_of(&View::of(record))),
            None => Value::Nil,
        }
    }

    /// The header blocks of a message: declared ones by the name of their part, others as XML under `#any`.
    fn headers(&self, direction: Direction, record: &Record) -> Object {
        match (self.message(direction), View::of(record).child("Header")) {
            (Some(message), Some(header)) => self
                .sections(direction)
                .unwrap_headers(message, value_of(&header)),
            _ => Object::new(),
        }
    }

    /// The Record of a message with these contents.
    fn record(&self, direction: Direction, contents: Contents<'_>) -> Result<Record, Error> {
        let message = self
            .message(direction)
            .ok_or_else(|| self.error(|operation| ErrorKind::OneWay { operation }))?;
        let wrapped = self.sections(direction).wrap(message, contents);
        wrapped
            .build(&self.plan, self.root(direction))
            .map_err(|source| {
                self.error(|operation| ErrorKind::Arguments { operation })
                    .because(source)
            })
    }

    /// The Rust value in a message: the wrapper's, or the only part's.
    fn unpack<T: Unpack>(&self, record: &Record) -> Result<T, Error> {
        let unpacked = match body_child(record) {
            Some(child) => child.unpack(),
            None => Err(PackError::Misfit),
        };
        unpacked.map_err(|source| {
            self.error(|operation| ErrorKind::Type { operation })
                .because(source)
        })
    }

    fn message(&self, direction: Direction) -> Option<&Message> {
        match direction {
            Direction::Request => Some(&self.operation().input),
            Direction::Response => self.operation().output.as_ref(),
        }
    }

    fn sections(&self, direction: Direction) -> Sections<'_> {
        Sections::of(&self.plan, self.root(direction))
    }

    /// The Envelope of a direction.
    fn root(&self, direction: Direction) -> ElementId {
        match direction {
            Direction::Request => self.binding.request,
            Direction::Response => self.binding.response,
        }
    }

    fn error(&self, kind: impl FnOnce(String) -> ErrorKind) -> Error {
        Error::new(kind(self.operation().name.clone()))
    }
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Request,
    Response,
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
