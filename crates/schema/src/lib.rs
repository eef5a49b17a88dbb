//! WSDL 1.1 and XSD 1.0 documents → components → [`Plan`](bsoap_codec::Plan)s.
//!
//! Documents come from a [`Loader`], which decides what may be read: nothing is fetched from the
//! network unless a loader does it.
//!
//! ```text
//! Loader ─► SchemaSetBuilder ─► SchemaSet ─► Compiler ─► PlanBuilder ─► Plan
//! ```

#![forbid(unsafe_code)]

mod compile;
pub mod components;
mod document;
mod error;
mod loader;
mod name;
mod wildcard;
mod xsd;

pub use compile::{Compiled, Compiler, Offers};
pub use components::{SchemaSet, Strictness};
pub use document::{Document, Documents, LoadLimits, Place};
pub use error::{Error, ErrorKind, Result, Sort, TextPlace};
pub use loader::{
    CatalogueLoader, Chain, FileLoader, LoadError, Loader, MemoryLoader, Source, WellKnown,
    resolve_location,
};
pub use name::{
    ENCODING_NAMESPACE, ENCODING12_NAMESPACE, ExpandedName, WSDL_NAMESPACE, XML_NAMESPACE,
    XSD_NAMESPACE, XSI_NAMESPACE,
};
pub use xsd::SchemaSetBuilder;
