//! Conversions between values and the types of other crates, a module for each crate, each behind a feature.
//!
//! A conversion that would lose something is an error: a missing zone, a zone that the other type has no place for, digits
//! beyond the nanosecond. Years before 1 are errors, too: XML Schema 1.0 has no year zero, so other types count them otherwise.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "rust_decimal")]
mod rust_decimal;
mod std_duration;
#[cfg(feature = "time")]
mod time;

pub(crate) const NO_ZONE: &str = "it has no time zone";
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
const ZONE: &str = "it has a time zone, which that type does not keep";
pub(crate) const DIGITS: &str = "it has more than nine digits of a second";
#[cfg(any(feature = "chrono", feature = "jiff", feature = "time"))]
const YEAR: &str = "its year is before 1, where XML Schema counts otherwise";
pub(crate) const RANGE: &str = "it is out of range";
