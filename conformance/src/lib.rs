//! bsoap against test suites that others wrote: one module for each suite, one score for each run.
//!
//! The suites are data outside of this repository ([`corpus`]). What fails for a reason is named in `known-failures.toml`,
//! a reason a line ([`known`]); a failure that is not named there fails the run, and so does a named one that passes.

pub mod axis1;
pub mod compare;
pub mod corpus;
pub mod cxf;
pub mod kdsoap;
pub mod kdsoap_addressing;
pub mod known;
pub mod message;
pub mod messages;
pub mod node_soap;
pub mod php_soap;
pub mod samples;
pub mod savon;
pub mod soap12;
pub mod streams;
pub mod values;
pub mod wsdl_index;
pub mod xmlconf;
pub mod xsdtests;
