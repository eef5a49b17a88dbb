//! Python code from a WSDL: a module of dataclasses, with a client, an asyncio client and a base class of services for each
//! port type. It runs on the package `bsoap`, whose module `bsoap.typed` converts between dataclasses and messages.
//!
//! ```
//! use bsoap_generate::python::{self, Options};
//! use bsoap_schema::{Definitions, MemoryLoader};
//!
//! let mut loader = MemoryLoader::default();
//! loader.add("calculator.wsdl", include_str!("../tests/testdata/calculator.wsdl"));
//! let definitions = Definitions::load("calculator.wsdl", &loader)?;
//! let code = python::generate(&definitions, &Options::default())?;
//! assert!(code.contains("def add(self, request: Add) -> AddResponse:"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A dataclass has the members of the object that a dynamic client would see, not the structure of the content model: a choice
//! is optional fields. `types.rs` has the table.

mod embed;
mod interfaces;
mod layout;
mod model;
mod module;
mod names;
mod types;

use bsoap_schema::Definitions;

use crate::limits::MAX_MEMBERS;
use crate::{Error, know};

/// What is generated.
///
/// ```
/// use bsoap_generate::python::{Names, Options};
///
/// let mut options = Options::default();
/// options.service = false;
/// options.names = Names::Wire;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Clients. On by default.
    pub client: bool,
    /// Base classes of services, and functions that register them. On by default.
    pub service: bool,
    /// Only these operations, with the types they use. Empty, as by default: all.
    pub operations: Vec<String>,
    /// How methods and fields are named.
    pub names: Names,
    /// Whether values that an enumeration does not list are refused. By default they are kept as `str`.
    pub closed_enumerations: bool,
    /// Whether the module contains the WSDL and all documents it refers to, so that nothing is read when the program runs.
    pub embed: bool,
    /// The maximum number of fields of all classes together, with those that they inherit.
    pub max_members: usize,
}

/// How methods and fields are named. Classes are always named as PEP 8 says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Names {
    /// `GetSystemDate` becomes `get_system_date`.
    #[default]
    Snake,
    /// As in the WSDL.
    Wire,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client: true,
            service: true,
            operations: Vec::new(),
            names: Names::default(),
            closed_enumerations: false,
            embed: false,
            max_members: MAX_MEMBERS,
        }
    }
}

/// The module for a WSDL.
///
/// # Errors
/// If the module would be empty, or the options do not fit the WSDL.
pub fn generate(definitions: &Definitions, options: &Options) -> Result<String, Error> {
    know(definitions, &options.operations)?;
    let mut types = types::Types::new(definitions, options);
    let interfaces = interfaces::interfaces(definitions, options, &mut types);
    if interfaces.is_empty() {
        return Err(Error::NoOperations);
    }
    types.finish()?;
    Ok(module::module(definitions, options, &types, &interfaces))
}
