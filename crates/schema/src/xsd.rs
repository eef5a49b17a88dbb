//! XML Schema 1.0, read: documents to components.
//!
//! ```text
//! load.rs     which documents: include, import, redefine; each is read once
//! read.rs     one schema element to components (read/ has a file for each sort)
//! grammar.rs  strict only: is this attribute, this child allowed here?
//! resolve.rs  names to components
//! simple.rs   simple type definitions to the datatypes they are
//! check.rs    strict only: the rules between components
//! ```

mod check;
mod grammar;
mod load;
mod read;
pub(crate) mod resolve;
pub(crate) mod simple;

pub use load::SchemaSetBuilder;
