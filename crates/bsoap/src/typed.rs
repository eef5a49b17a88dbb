//! What generated code is made of: descriptors of its types and operations, and the functions that run them.
//!
//! `bsoap generate` and `bsoap-generate` write plain structs and enums, a client with a method for each operation, and a
//! trait for the service. A line beside each type ([`record!`](record), [`choice!`](choice) …) describes how it is stored in a
//! [`Record`](crate::Record), and an [`Operation`] describes each operation. Such code depends on the layout of its types in a Record, so it
//! is only correct for the schema it was generated for: a [`Schema`] is compared before anything is written or read.

#[cfg(feature = "client")]
mod call;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "http")]
mod fault;
#[cfg(feature = "http")]
mod headers;
mod macros;
#[cfg(feature = "http")]
mod operation;
#[cfg(feature = "http")]
mod schema;
#[cfg(feature = "server")]
mod service;

#[cfg(feature = "server")]
pub use crate::__handler as handler;
pub use crate::{
    __alternatives as alternatives, __choice as choice, __enumeration as enumeration,
    __mixed as mixed, __record as record,
};
#[cfg(feature = "http")]
pub use crate::{
    __fault_conversions as fault_conversions, __faults as faults, __headers as headers,
};
pub use bsoap_codec::plan::TypeId;
pub use serde;

pub use bsoap_codec::typed_serde::{
    Any, Text, any, any_attribute, as_text, deserialize_parsed, deserialize_xml, from_members,
    from_value, has_any, members, no_branch, serialize_derived, serialize_member, serialize_xml,
    take_type, text_or_members,
};
pub use bsoap_codec::{
    AsText, ElementState, Foreign, Nillable, Octets, Pack, PackError, PackNillable, Packer, Unpack,
    UnpackNillable, Unpacker,
};

#[cfg(feature = "client")]
pub use call::{Answered, Call};
#[cfg(feature = "client")]
pub use client::TypedClient;
#[cfg(feature = "http")]
pub use fault::{Declared, IntoFault, fault};
#[cfg(feature = "client")]
pub use fault::{Details, OperationError};
#[cfg(feature = "http")]
pub use headers::{BlockField, Blocks, Headers};
#[cfg(feature = "http")]
pub use operation::{Body, Operation, array_size};
#[cfg(feature = "http")]
pub use schema::Schema;
#[cfg(feature = "server")]
pub use service::TypedService;

/// The error for a text that a closed enumeration does not list.
///
/// ```
/// use bsoap::typed::Unlisted;
///
/// let error = Unlisted::new("mauve", &["red", "green"]);
/// assert_eq!(error.to_string(), "\"mauve\" is none of red, green");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    found: String,
    listed: &'static [&'static str],
}

impl Unlisted {
    /// This text is not one of those listed.
    pub fn new(found: &str, listed: &'static [&'static str]) -> Self {
        Self {
            found: found.to_owned(),
            listed,
        }
    }
}

impl std::fmt::Display for Unlisted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} is none of {}", self.found, self.listed.join(", "))
    }
}

impl std::error::Error for Unlisted {}
