//! An operation of a binding with the [`Plan`] of its messages. It converts between values and Records of Envelopes.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::sync::Arc;

use bsoap_codec::graph::{self, GraphError};
use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{
    Item, Object, Pack, PackError, Record, Unpack, Value, View, build, encode, pack,
};
use serde::de::DeserializeOwned;

use bsoap_schema::{AddressingVersion, Binding, HeaderPart, Message, Operation, SoapVersion};

use crate::arguments::{
    Contents, Sections, add_xml_blocks, header_faults, is_wrapped, with_blocks,
};
use crate::envelope::{Children, Opened};
use crate::header::{self, HeaderBlock};
use crate::name::element_name;
use crate::{Error, ErrorKind, Fault};

/// An operation of a binding, with the Plan of its messages.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) plan: Arc<Plan>,
    pub(crate) binding: Arc<Binding>,
    pub(crate) index: usize,
}

/// Selects one of the two messages of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Response,
}

impl Target {
    /// Finds the operation of this name. If there are several of the same name, it is the first one.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownOperation`] if the binding has no such operation.
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

    /// The operation as the WSDL defines it.
    pub fn operation(&self) -> &Operation {
        &self.binding.operations[self.index]
    }

    /// The index of the operation in its binding.
    pub fn number(&self) -> usize {
        self.index
    }

    /// The binding of the operation.
    pub fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }

    /// The SOAP version of the binding.
    pub fn version(&self) -> SoapVersion {
        self.binding.version
    }

    /// The Plan of the messages.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// True if the request declares header blocks of WS-Addressing: then a program sets them itself.
    pub fn declares_addressing(&self) -> bool {
        let mut headers = self.operation().input.headers.iter();
        headers.any(|part| {
            let name = element_name(&self.plan, part.element);
            let versions = [
                AddressingVersion::Recommendation,
                AddressingVersion::Submission,
            ];
            let mut namespaces = versions.map(AddressingVersion::namespace).into_iter();
            namespaces.any(|namespace| namespace == name.namespace)
        })
    }

    /// The arguments in a request: the children of the wrapper element, or the parts by name if there is no wrapper. Header
    /// blocks are under `@headers`. Nil if elements nest deeper than values can ([`bsoap_codec::MAX_DEPTH`]).
    pub fn request_value(&self, record: &Record) -> Value {
        self.value(Direction::Request, record)
    }

    /// Builds the Record of a response Envelope with these contents.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if the contents do not match the operation, [`ErrorKind::OneWay`] if it has no response.
    pub fn response<'c>(&self, contents: impl Into<Contents<'c>>) -> Result<Record, Error> {
        self.record(Direction::Response, contents.into())
    }

    /// The result in a response. Nil if the operation is one-way.
    pub fn response_value(&self, record: &Record) -> Value {
        self.value(Direction::Response, record)
    }

    /// The arguments or the result in a message. Nil if the operation has no such message.
    fn value(&self, direction: Direction, record: &Record) -> Value {
        let Some(message) = self.message(direction) else {
            return Value::Nil;
        };
        // Without a Header, the children of a wrapper are all.
        if is_wrapped(message)
            && let Some(opened) = Opened::of(record)
            && opened.header.is_none()
            && let Some(first) = opened.first()
            && message.body.first_element() == Some(first.element_id())
        {
            return value_of(&first);
        }
        self.sections(direction)
            .unwrap(message, value_of(&View::of(record)))
    }

    /// Checks a header block of the response: its name, which is that of a declared part or of the part's element, and its
    /// value. Returns the name of the part.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownHeader`] if the response declares no such block, [`ErrorKind::Header`] if the value does not match.
    pub fn response_header(&self, name: &str, value: &Value) -> Result<&str, Error> {
        let part = self.header_part(Direction::Response, name)?;
        let built = build(&self.plan, part.element, value);
        built.map_err(|source| self.wrong_header(name).because(source))?;
        Ok(&part.name)
    }

    /// The value of a header block of the response that a Rust value packs.
    ///
    /// # Errors
    /// As for [`response_header`](Self::response_header).
    pub fn packed_response_header(&self, name: &str, block: &dyn Pack) -> Result<Value, Error> {
        Ok(self.packed_header(Direction::Response, name, block)?.1)
    }

    /// The name of the part of a header block of the request, and the value that a Rust value packs.
    ///
    /// # Errors
    /// As for [`response_header`](Self::response_header).
    pub fn packed_request_header(
        &self,
        name: &str,
        block: &dyn Pack,
    ) -> Result<(&str, Value), Error> {
        self.packed_header(Direction::Request, name, block)
    }

    fn packed_header(
        &self,
        direction: Direction,
        name: &str,
        block: &dyn Pack,
    ) -> Result<(&str, Value), Error> {
        let part = self.header_part(direction, name)?;
        let record = pack(&self.plan, part.element, block)
            .map_err(|source| self.wrong_header(name).because(source))?;
        Ok((&part.name, value_of(&View::of(&record))))
    }

    /// Adds header blocks to those in the Record of a request Envelope: declared ones by the name of their part, others as XML
    /// under `#any`. Declared blocks that the Record has are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if the operation declares no such block, or a value does not match its declaration.
    pub fn add_request_headers(&self, record: Record, more: &Object) -> Result<Record, Error> {
        if more.is_empty() {
            return Ok(record);
        }
        let headers = with_blocks(more.clone(), self.headers(Direction::Request, &record));
        let input = &self.operation().input;
        let sections = self.sections(Direction::Request);
        let record = sections
            .replace_header(record, input, headers)
            .map_err(|source| self.wrong_arguments(source))?;
        self.completed(record)
    }

    /// The Record of a message that is to be sent: arrays of an encoded one have their sizes, and with them the types of their
    /// items. (SOAP 1.1 §5.4.2)
    ///
    /// # Errors
    /// [`ErrorKind::Arguments`] if a reference of an encoded message names no value, or one of a type that is not allowed.
    pub fn completed(&self, mut record: Record) -> Result<Record, Error> {
        if self.operation().encoded {
            graph::complete(&mut record).map_err(|source| self.wrong_arguments(source))?;
        }
        Ok(record)
    }

    fn wrong_arguments(&self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.error(|operation| ErrorKind::Arguments { operation })
            .because(source)
    }

    /// Checks the XML of an undeclared header block of the response.
    ///
    /// # Errors
    /// [`ErrorKind::Header`] if it is not one well-formed element.
    pub fn undeclared_response_header(&self, xml: &str) -> Result<(), Error> {
        let header = Children::of(&self.plan, self.binding.response).map(|it| it.header);
        let block = Value::object([("#any", Value::Array(vec![Value::from(xml)]))]);
        let built = header.map(|header| build(&self.plan, header, &block));
        match built {
            Some(Err(source)) => Err(self.wrong_header("of XML").because(source)),
            _ => Ok(()),
        }
    }

    /// The name of the part of a header block of the request, which may be called by the name of the part's element.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownHeader`] if the request declares no such block.
    pub fn request_header_part(&self, name: &str) -> Result<&str, Error> {
        Ok(&self.header_part(Direction::Request, name)?.name)
    }

    /// The name of the part of a header block of the response, as [`request_header_part`](Self::request_header_part).
    ///
    /// # Errors
    /// [`ErrorKind::UnknownHeader`] if the response declares no such block, [`ErrorKind::OneWay`] if there is no response.
    pub fn response_header_part(&self, name: &str) -> Result<&str, Error> {
        Ok(&self.header_part(Direction::Response, name)?.name)
    }

    fn header_part(&self, direction: Direction, name: &str) -> Result<&HeaderPart, Error> {
        let message = self.message(direction).ok_or_else(|| self.one_way())?;
        self.named(|| message.headers.iter(), name).ok_or_else(|| {
            let known = message
                .headers
                .iter()
                .map(|part| part.name.clone())
                .collect();
            self.error(|operation| ErrorKind::UnknownHeader {
                operation,
                name: name.to_owned(),
                known,
            })
        })
    }

    /// The part of this name, or, if there is none, the one whose element has this name.
    fn named<'p, I: Iterator<Item = &'p HeaderPart>>(
        &self,
        parts: impl Fn() -> I,
        name: &str,
    ) -> Option<&'p HeaderPart> {
        let is_element =
            |part: &&HeaderPart| element_name(&self.plan, part.element).is_called(name);
        let own = parts().find(|part| part.name == name);
        own.or_else(|| parts().find(is_element))
    }

    fn wrong_header(&self, name: &str) -> Error {
        self.error(|operation| ErrorKind::Header {
            operation,
            name: name.to_owned(),
        })
    }

    /// The error for a response that a caller expects of this one-way operation.
    pub fn one_way(&self) -> Error {
        self.error(|operation| ErrorKind::OneWay { operation })
    }

    /// The error for a message of this operation that could not be encoded.
    pub fn unwritable(&self, source: encode::Error) -> Error {
        self.error(|operation| ErrorKind::Unwritable { operation })
            .because(source)
    }

    /// The first header block of this name in a message: that of a declared part, or the local or expanded name of the block.
    pub(crate) fn header<'r>(
        &self,
        direction: Direction,
        record: &'r Record,
        name: &str,
    ) -> Option<Item<'r>> {
        let header = Opened::of(record)?.header?;
        let parts = &self.message(direction)?.headers;
        let part = parts.iter().find(|part| part.name == name);
        header.items().find(|item| match (item, part) {
            (Item::Element(view), Some(part)) => view.element_id() == part.element,
            (Item::Element(view), None) => {
                element_name(&self.plan, view.element_id()).is_called(name)
            }
            (Item::Xml(xml), None) => {
                header::name_of_xml(xml).is_some_and(|found| found.is_called(name))
            }
            _ => false,
        })
    }

    /// The header blocks of a message as an object: declared ones by the name of their part, others as XML under `#any`.
    pub(crate) fn headers(&self, direction: Direction, record: &Record) -> Object {
        let header = Opened::of(record).and_then(|opened| opened.header);
        match (self.message(direction), header) {
            (Some(message), Some(header)) => self
                .sections(direction)
                .unwrap_headers(message, value_of(&header)),
            _ => Object::new(),
        }
    }

    /// Gives a fault the header blocks of its message: those of the Record, if there is one, those that it has as XML, and those for
    /// other nodes.
    pub(crate) fn add_fault_headers(
        &self,
        fault: &mut Fault,
        record: Option<&Record>,
        others: Vec<HeaderBlock>,
    ) {
        let own = std::mem::take(&mut fault.headers).remove("#any");
        let own = own.as_ref().and_then(Value::as_array).unwrap_or_default();
        let own = own.iter().filter_map(Value::as_str).map(str::to_owned);
        let blocks = own.chain(others.into_iter().filter_map(|block| block.raw));
        let mut headers = record.map_or_else(Object::new, |record| self.fault_headers(record));
        let called = (&*self.binding, self.operation());
        add_xml_blocks(&mut headers, &self.plan, called, blocks);
        fault.headers = headers;
    }

    fn fault_headers(&self, record: &Record) -> Object {
        let header = Opened::of(record).and_then(|opened| opened.header);
        let sections = self.sections(Direction::Response);
        header.map_or_else(Object::new, |header| {
            sections.unwrap_fault_headers(&self.binding, self.operation(), value_of(&header))
        })
    }

    /// The value of a header block of a fault that a Rust value packs, for [`Fault::with_header`](crate::Fault::with_header). The
    /// name is that of the part in `soap:headerfault`.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownHeader`] if the operation declares no such block, [`ErrorKind::Header`] if the value does not match.
    pub fn packed_fault_header(&self, name: &str, block: &dyn Pack) -> Result<Value, Error> {
        let part = self.fault_header_part(name)?;
        let record = pack(&self.plan, part.element, block)
            .map_err(|source| self.wrong_header(name).because(source))?;
        Ok(value_of(&View::of(&record)))
    }

    /// The header block of a fault as a Rust value. `None` if the fault came without it.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownHeader`] if the operation declares no such block, [`ErrorKind::Header`] if it does not match the type.
    pub fn unpack_fault_header<T: Unpack>(
        &self,
        fault: &Fault,
        name: &str,
    ) -> Result<Option<T>, Error> {
        let part = self.fault_header_part(name)?;
        let Some(block) = fault.headers.get(&part.name) else {
            return Ok(None);
        };
        let record = build(&self.plan, part.element, block)
            .map_err(|source| self.wrong_header(name).because(source))?;
        let view = View::of(&record);
        let unpacked = match T::fingerprint() {
            None if view.leaf().is_some() => view.unpack_text(),
            _ => view.unpack(),
        };
        unpacked
            .map(Some)
            .map_err(|source| self.wrong_header(name).because(source))
    }

    fn fault_header_part(&self, name: &str) -> Result<&HeaderPart, Error> {
        let parts = || header_faults(&self.binding, Some(self.operation()));
        self.named(parts, name).ok_or_else(|| {
            let mut known: Vec<String> = Vec::new();
            for part in parts() {
                if !known.contains(&part.name) {
                    known.push(part.name.clone());
                }
            }
            self.error(|operation| ErrorKind::UnknownHeader {
                operation,
                name: name.to_owned(),
                known,
            })
        })
    }

    /// Builds the Record of a message with these contents.
    pub(crate) fn record(
        &self,
        direction: Direction,
        contents: Contents<'_>,
    ) -> Result<Record, Error> {
        let message = self
            .message(direction)
            .ok_or_else(|| self.error(|operation| ErrorKind::OneWay { operation }))?;
        let sections = self.sections(direction);
        let wrapped = sections.wrap(message, contents);
        let record = sections
            .build(&self.plan, self.root(direction), &wrapped)
            .map_err(|source| self.wrong_arguments(source))?;
        self.completed(record)
    }

    /// A received message with its shared values where they are referred to first.
    ///
    /// # Errors
    /// If a reference names no value of the message.
    pub(crate) fn shared(&self, record: Arc<Record>) -> Result<Arc<Record>, GraphError> {
        if !self.operation().encoded {
            return Ok(record);
        }
        let shared = match graph::share(&record)? {
            Cow::Owned(shared) => Some(Arc::new(shared)),
            Cow::Borrowed(_) => None,
        };
        Ok(shared.unwrap_or(record))
    }

    /// A message as a tree: a copy of what is referred to for each reference.
    fn tree<'r>(&self, record: &'r Record) -> Result<Cow<'r, Record>, Error> {
        if !self.operation().encoded {
            return Ok(Cow::Borrowed(record));
        }
        graph::expand(record, graph::REFERENCE_EXPANSION).map_err(|source| {
            self.error(|operation| ErrorKind::Type { operation })
                .because(source)
        })
    }

    /// The Rust value in a message: the contents of the wrapper element, or of the only part if there is no wrapper.
    pub(crate) fn unpack<T: Unpack>(&self, record: &Record) -> Result<T, Error> {
        let record = self.tree(record)?;
        let unpacked = match first_in_body(&record) {
            Some(child) => child.unpack(),
            None => Err(PackError::Mismatch),
        };
        unpacked.map_err(|source| {
            self.error(|operation| ErrorKind::Type { operation })
                .because(source)
        })
    }

    /// The message as a Rust type with `Deserialize`: the children of the wrapper element, or the parts by name if there is no
    /// wrapper.
    pub(crate) fn deserialize<T: DeserializeOwned>(
        &self,
        direction: Direction,
        record: &Record,
    ) -> Result<T, Error> {
        let record = &*self.tree(record)?;
        let wrapper = match self.message(direction) {
            Some(message) if is_wrapped(message) => {
                let first = first_in_body(record);
                first.filter(|it| message.body.first_element() == Some(it.element_id()))
            }
            _ => None,
        };
        let deserialized = match wrapper {
            Some(wrapper) => wrapper.deserialize_as(),
            None => self.value(direction, record).deserialize_as(),
        };
        deserialized.map_err(|source| {
            self.error(|operation| ErrorKind::Type { operation })
                .because(source)
        })
    }

    pub(crate) fn error(&self, kind: impl FnOnce(String) -> ErrorKind) -> Error {
        Error::new(kind(self.operation().name.clone()))
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

    /// The Envelope element of the request or the response.
    fn root(&self, direction: Direction) -> ElementId {
        match direction {
            Direction::Request => self.binding.request,
            Direction::Response => self.binding.response,
        }
    }
}

/// The first element of the Body. `None` if the Body is empty.
pub(crate) fn first_in_body(record: &Record) -> Option<View<'_>> {
    Opened::of(record)?.first()
}

/// The elements of the Body, in order.
pub(crate) fn elements_in_body(record: &Record) -> Vec<ElementId> {
    let opened = Opened::of(record);
    let elements = opened.iter().flat_map(Opened::elements);
    elements.map(|view| view.element_id()).collect()
}

/// The value of an element. Nil if it cannot be converted: elements nest deeper than values can.
pub(crate) fn value_of(view: &View<'_>) -> Value {
    view.to_value().unwrap_or_default()
}
