//! WSDL 1.1 and XSD 1.0 documents → components → [`Plan`](bsoap_codec::plan::Plan)s.
//!
//! [`load`] reads a WSDL with its imports and returns [`Definitions`]: services, ports, bindings, operations, and
//! one Plan for all their messages. Documents come from a [`Loader`], which decides what may be read: nothing is fetched
//! from the network unless a loader does it.
//!
//! ```
//! use bsoap_schema::{Definitions, MemoryLoader};
//!
//! let mut loader = MemoryLoader::default();
//! loader.add("calculator.wsdl", include_str!("../tests/testdata/calculator.wsdl"));
//! let definitions = Definitions::load("calculator.wsdl", &loader)?;
//! for (service, port) in definitions.ports() {
//!     for operation in &port.binding.operations {
//!         println!("{}.{}: {}", service.name, port.name, definitions.signature(operation));
//!     }
//! }
//! # Ok::<(), bsoap_schema::Error>(())
//! ```

#![forbid(unsafe_code)]

mod bundle;
mod compile;
mod components;
mod cost;
mod definitions;
mod document;
mod error;
mod label;
mod limits;
mod load;
mod loader;
mod name;
mod names;
mod outline;
mod signature;
mod wildcard;
mod work;
mod wsdl;
mod xsd;

pub use compile::{Compiled, Compiler, Offers};
pub use components::{SchemaSet, Strictness};
pub use definitions::{
    AddressingVersion, Binding, Body, Definitions, FaultMessage, HeaderPart, Message, MimePart,
    Note, Operation, OtherPort, Part, Policy, Port, ResponseEndpoints, Service, SoapVersion, Style,
    TransmissionKind, Uncallable, UsingAddressing, UsingMtom,
};
pub use document::{Document, Documents, LoadLimits, Position};
pub use error::{Error, ErrorKind, Result, Sort, TextPosition};
pub use load::{LoadOptions, load};
pub use loader::{
    CatalogueLoader, Chain, FileLoader, LoadError, Loader, MappedLoader, MemoryLoader, Source,
    WellKnown, resolve_location, without_credentials,
};
pub use name::{
    ENCODING_NAMESPACE, ENCODING12_NAMESPACE, ExpandedName, WSDL_NAMESPACE, XML_NAMESPACE,
    XSD_NAMESPACE, XSI_NAMESPACE,
};
pub use outline::{Attached, DerivedType, Member, MemberKind, Outline, OutlineLine};
pub use xsd::SchemaSetBuilder;
