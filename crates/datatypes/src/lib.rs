//! The datatypes of XML Schema 1.0: lexical form ↔ value.

#![doc = include_str!("../../../docs/guide/datatypes.md")]

pub mod binary;
pub mod boolean;
mod convert;
mod datatype;
pub mod datetime;
mod decimal;
pub mod double;
mod duration;
mod error;
mod facet;
pub mod float;
pub mod integer;
mod integral;
pub mod kernel;
mod lexical;
mod moment;
pub mod name;
mod nearest;
mod pattern;
mod powers;
pub mod qname;
mod real;
mod restrict;
mod serde;
mod simple_type;
mod temporal;
mod uri;
mod validity;
mod value;
mod white_space;

pub use datatype::{Datatype, Width};
pub use datetime::Calendar;
pub use decimal::Decimal;
pub use duration::Duration;
pub use error::{ConversionError, LexicalError};
pub use facet::{Bound, Enumeration, Facet, FacetName, Facets};
pub use integral::Integer;
pub use pattern::{Pattern, PatternError, PatternErrorKind, PatternExamples};
pub use qname::{ExpandedName, NamespaceContext};
pub use simple_type::{NAMESPACE, SimpleType, Variety};
pub use temporal::{Date, DateTime, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time};
pub use validity::{FacetError, FacetErrorKind, ValidityError, ValidityErrorKind};
pub use value::{AtomicValue, Value};
pub use white_space::{WhiteSpace, is_white_space, trim};
