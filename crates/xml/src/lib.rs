//! XML events without types: a reader that takes bytes and returns events, and a writer. No I/O, no schema.
//!
//! ```
//! use std::sync::Arc;
//! use bsoap_xml::{Event, Options, Reader, Vocabulary};
//!
//! let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
//! reader.feed(b"<order id='7'>two &amp; three</order>")?;
//! reader.finish()?;
//! while let Some(event) = reader.next()? {
//!     match event {
//!         Event::Start(tag) => assert_eq!(tag.attributes().next().unwrap().value(), "7"),
//!         Event::Text(text) => assert_eq!(text.value, "two & three"),
//!         Event::EndOfDocument => break,
//!         _ => {}
//!     }
//! }
//! # Ok::<(), bsoap_xml::Error>(())
//! ```
//!
//! It reads XML 1.0 (fifth edition) with Namespaces in XML 1.0, in UTF-8, UTF-16 and whatever else a document declares.
//! Names that a program knows come with a number, found by one pass over their bytes ([`NameTable`]). What the reader remembers
//! is one value ([`State`]) that can be copied between any two events. Every dimension of a document is [limited](Limits).

mod chars;
mod error;
mod input;
mod name_table;
mod names;
mod options;
mod plain;
mod reader;
pub mod scan;
mod writer;

pub use chars::{is_char, is_ncname};
pub use error::{Error, ErrorKind, Result};
pub use input::{Input, decode_str, decode_str_as};
pub use name_table::NameTable;
pub use names::{
    LocalId, NameId, NamespaceId, Vocabulary, VocabularyBuilder, XML_NAMESPACE, XMLNS_NAMESPACE,
};
pub use options::{DoctypePolicy, Limits, Options};
pub use plain::{cdata_length, decode_cdata, decode_text, decode_text_before, decoded_length};
pub use reader::{
    Attribute, Attributes, Declaration, Declared, EndTag, Event, Namespace, Reader, ScopeId,
    Scopes, State, Tag, Text, Upper,
};
pub use writer::{WriteError, Writer, escape_attribute, escape_text};
