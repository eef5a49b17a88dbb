//! Reads XML Schema 1.0 documents to components.
//!
//! ```text
//! load.rs     finds the documents: include, import, redefine
//! read.rs     reads a schema element to components (read/ has a file for each kind)
//! depth.rs    checks how deep derivations are
//! grammar.rs  strict only: checks the attributes and children of each element
//! resolve.rs  resolves names to components
//! simple.rs   builds datatypes from simple type definitions
//! check.rs    strict only: checks the constraints on components
//! ```

mod check;
mod depth;
mod grammar;
mod load;
mod read;
pub(crate) mod resolve;
pub(crate) mod simple;

pub use load::SchemaSetBuilder;
