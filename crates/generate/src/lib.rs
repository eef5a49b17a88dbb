//! Rust code from a WSDL: types, a client, a trait for the service. [`python`] generates Python.
//!
//! ```
//! use bsoap_generate::{Options, generate};
//! use bsoap_schema::{Definitions, MemoryLoader};
//!
//! let mut loader = MemoryLoader::default();
//! loader.add("calculator.wsdl", include_str!("../tests/testdata/calculator.wsdl"));
//! let definitions = Definitions::load("calculator.wsdl", &loader)?;
//! let code = generate(&definitions, &Options::default())?;
//! assert!(code.contains("pub fn add(&self, request: &Add) -> typed::Call<AddResponse, bsoap::Error>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In a `build.rs`, [`build::Config`] writes the code where `include!` finds it and lists for Cargo which documents it came from.
//! `types.rs` has the table of which schema types become which Rust types. The code uses `bsoap::typed` and is only right for the
//! WSDL it was generated from; its client checks that.

#![forbid(unsafe_code)]

pub mod build;
mod embed;
mod emit;
mod layout;
mod limits;
mod methods;
mod model;
mod names;
mod operations;
pub mod python;
mod scalars;
mod serde;
mod types;

use std::collections::HashSet;
use std::fmt;

use bsoap_schema::Definitions;
use proc_macro2::TokenStream;
use quote::quote;

/// What is generated.
///
/// ```
/// let mut options = bsoap_generate::Options::default();
/// options.service = false;
/// options.operations = vec!["Add".to_owned()];
/// options.derives = vec!["serde::Serialize".to_owned()];
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Clients: needs the feature `client` of `bsoap`. On by default.
    pub client: bool,
    /// Traits of services, and functions that register them: needs the feature `server` of `bsoap`. On by default.
    pub service: bool,
    /// Only these operations, with the types they use. Empty, as by default: all.
    pub operations: Vec<String>,
    /// Derives that all types get besides the usual ones, by their paths: `serde::Serialize`.
    pub derives: Vec<String>,
    /// Enumerations without a variant for values that the schema does not list. They are `Copy`; a message with another value
    /// cannot be read. Off by default.
    pub closed_enumerations: bool,
    /// The Rust types of dates and times.
    pub dates: Dates,
    /// The Rust types of decimals and of integers without bounds.
    pub decimals: Decimals,
    /// Whether the code contains the WSDL and all documents it refers to, so that nothing is read when the program runs. A
    /// function `wsdl` returns them, and clients have a function `embedded`. Off by default.
    pub embed: bool,
    /// The maximum number of fields and variants of all generated types together. A type has the fields of all its base types,
    /// so a small schema can ask for very much code.
    pub max_members: usize,
}

/// The Rust types of dates and times. Those of other crates need the feature of `bsoap` that is called as the crate; a value
/// that they cannot represent, such as one without a zone, is an error when the message is read or written.
///
/// | | dateTime | date | time | duration, gYear … |
/// |---|---|---|---|---|
/// | `Bsoap` | `DateTime` | `Date` | `Time` | `Duration`, `GYear` … |
/// | `Jiff` | `Timestamp` | `civil::Date` | `civil::Time` | as `Bsoap` |
/// | `Chrono` | `DateTime<FixedOffset>` | `NaiveDate` | `NaiveTime` | as `Bsoap` |
/// | `Time` | `OffsetDateTime` | `Date` | `Time` | as `Bsoap` |
/// | `Strings` | `String` | `String` | `String` | `String` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dates {
    /// Those of `bsoap::types`, which lose nothing.
    #[default]
    Bsoap,
    /// Those of the crate `jiff`. The offset of a dateTime is not kept.
    Jiff,
    /// Those of the crate `chrono`.
    Chrono,
    /// Those of the crate `time`.
    Time,
    /// Strings, with the lexical form.
    Strings,
}

/// The Rust types of decimals and of integers without bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decimals {
    /// `Decimal` and `Integer` of `bsoap::types`, which lose nothing.
    #[default]
    Bsoap,
    /// The `Decimal` of the crate `rust_decimal`, of up to 28 digits; it needs that feature of `bsoap`. Integers without bounds
    /// are `bsoap::types::Integer`.
    RustDecimal,
    /// Strings, with the lexical form.
    Strings,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client: true,
            service: true,
            operations: Vec::new(),
            derives: Vec::new(),
            closed_enumerations: false,
            dates: Dates::default(),
            decimals: Decimals::default(),
            embed: false,
            max_members: limits::MAX_MEMBERS,
        }
    }
}

/// Why code cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The WSDL has no operations over SOAP, so the code would be empty.
    NoOperations,
    /// There is no operation of the name that the options have.
    UnknownOperation {
        /// The name.
        name: String,
        /// The names of operations that are similar, or all if there are few.
        known: Vec<String>,
    },
    /// A derive of the options is not a path.
    Derive(String),
    /// The types would have more fields and variants than [`Options::max_members`], which is this number.
    TooLarge(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOperations => f.write_str(
                "there is nothing to generate: the WSDL has no port with a SOAP binding that has operations",
            ),
            Self::UnknownOperation { name, known } => {
                write!(f, "the WSDL has no operation {name:?}; it has {}", known.join(", "))
            }
            Self::TooLarge(limit) => write!(
                f,
                "the types have more fields and variants than the limit `max_members` ({limit}); `operations` can select a part"
            ),
            Self::Derive(path) => write!(
                f,
                "{path:?} cannot be derived: it is not the path of a macro, such as serde::Serialize"
            ),
        }
    }
}

impl std::error::Error for Error {}

/// The code for a WSDL: a file, or the content of a module.
///
/// # Errors
/// If the code would be empty, or the options do not fit the WSDL.
pub fn generate(definitions: &Definitions, options: &Options) -> Result<String, Error> {
    let tokens = tokens(definitions, options)?;
    let code = match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        // A bug of this crate: the compiler then shows what is wrong.
        Err(_) => tokens.to_string(),
    };
    Ok(format!(
        "{}\n{}",
        header(definitions),
        layout::laid_out(&code)
    ))
}

/// The same code for macros.
///
/// # Errors
/// As [`generate`].
pub fn tokens(definitions: &Definitions, options: &Options) -> Result<TokenStream, Error> {
    let derives = options
        .derives
        .iter()
        .map(|path| syn::parse_str::<syn::Path>(path).map_err(|_| Error::Derive(path.clone())));
    let derives = derives.collect::<Result<Vec<_>, _>>()?;
    know(definitions, &options.operations)?;
    let mut types = types::Types::new(definitions, options);
    let interfaces = operations::interfaces(definitions, &options.operations, &mut types);
    if interfaces.is_empty() {
        return Err(Error::NoOperations);
    }
    types.finish()?;
    let items = emit::ItemEmitter::new(&types.items, &derives);
    let item_tokens = items.tokens();
    let interface_tokens = interfaces
        .iter()
        .filter(|_| options.client || options.service)
        .map(|one| methods::interface(&items, one, options));
    // In the prelude since edition 2024 only.
    let future = options.service.then(|| quote! { use std::future::Future; });
    let documents = options.embed.then(|| embed::documents(definitions));
    Ok(quote! {
        #[allow(unused_imports, unreachable_pub)]
        pub use self::generated::*;

        #[allow(dead_code, missing_docs, unreachable_code, unreachable_pub, unused_qualifications)]
        #[allow(non_camel_case_types, non_snake_case, rustdoc::all, clippy::all)]
        mod generated {
            use bsoap::typed;
            #future
            #(#interface_tokens)*
            #item_tokens
            #documents
        }
    })
}

/// Checks that there are operations of these names.
fn know(definitions: &Definitions, names: &[String]) -> Result<(), Error> {
    let known: Vec<&str> = definitions
        .ports()
        .flat_map(|(_, port)| &port.binding.operations)
        .map(|operation| operation.name.as_str())
        .collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let mut similar: Vec<&str> = known.clone();
            similar.sort_by_key(|known| !known.eq_ignore_ascii_case(name));
            // Each port has its operations, often the same.
            let mut listed = HashSet::new();
            similar.retain(|name| listed.insert(*name));
            similar.truncate(10);
            Err(Error::UnknownOperation {
                name: name.clone(),
                known: similar.into_iter().map(str::to_owned).collect(),
            })
        }
    }
}

fn header(definitions: &Definitions) -> String {
    let location = definitions
        .documents()
        .first()
        .map_or("a WSDL", |document| document.location());
    let file = location.rsplit(['/', '\\']).next().unwrap_or(location);
    format!(
        "// Generated by bsoap-generate from {file}. What is changed here is lost when it is generated again.\n"
    )
}
