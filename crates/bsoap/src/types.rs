//! The dates and numbers of XML Schema, as generated code has them: nothing of a message is lost.
//!
//! | in the schema | in Rust | remarks |
//! |---|---|---|
//! | `dateTime`, `date`, `time` | [`DateTime`], [`Date`], [`Time`] | with a [`Zone`] or without, any number of digits |
//! | `gYearMonth`, `gYear`, `gMonthDay`, `gDay`, `gMonth` | [`GYearMonth`], [`GYear`], [`GMonthDay`], [`GDay`], [`GMonth`] | |
//! | `duration` | [`Duration`] | months and seconds |
//! | `decimal` | [`Decimal`] | any number of digits |
//! | `integer`, `nonNegativeInteger` … | [`Integer`] | any number of digits |
//!
//! All have `Display` and `FromStr` for their lexical form, an order where XML Schema has one, and serde's traits as that text.
//! They convert from and to the types of Rust, and with features of the same name those of `jiff`, `chrono`, `time` and
//! `rust_decimal`, which are re-exported here. A conversion that would lose something is a [`ConversionError`].
//!
//! ```
//! use std::time::SystemTime;
//! use bsoap::types::{Date, DateTime, Decimal, Duration, Integer};
//!
//! let at: DateTime = "2024-02-29T12:00:00+01:00".parse()?;
//! assert_eq!(SystemTime::try_from(&at)?.duration_since(SystemTime::UNIX_EPOCH)?.as_secs(), 1_709_204_400);
//! assert_eq!(DateTime::from(SystemTime::UNIX_EPOCH).to_string(), "1970-01-01T00:00:00Z");
//! assert_eq!(Date::new(2024, 2, 29).unwrap().to_string(), "2024-02-29");
//!
//! let wait: Duration = "PT1M30S".parse()?;
//! assert_eq!(std::time::Duration::try_from(&wait)?.as_secs(), 90);
//! let price: Decimal = "12.50".parse()?;
//! assert_eq!(price.to_f64(), 12.5);
//! assert_eq!(u64::try_from(Integer::from(7))?, 7);
//!
//! let error = SystemTime::try_from("2024-02-29T12:00:00".parse::<DateTime>()?).unwrap_err();
//! assert_eq!(error.to_string(), "\"2024-02-29T12:00:00\" cannot be a SystemTime: it has no time zone");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use bsoap_datatypes::datetime::Zone;
pub use bsoap_datatypes::{
    ConversionError, Date, DateTime, Decimal, Duration, GDay, GMonth, GMonthDay, GYear, GYearMonth,
    Integer, LexicalError, Time,
};
#[cfg(feature = "chrono")]
pub use chrono;
#[cfg(feature = "jiff")]
pub use jiff;
#[cfg(feature = "rust_decimal")]
pub use rust_decimal;
#[cfg(feature = "time")]
pub use time;
