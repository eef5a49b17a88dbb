//! What was accepted in a message although its schema does not allow it.

use std::fmt;

use super::error::{Error, ErrorKind};
use super::tolerance::Deviation;

/// A deviation of a message that was accepted, and where.
///
/// Prints the fact, the path and the byte, and what was done:
/// `"nan" is not a xs:double at /order/price (byte 412): read as that number`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    deviation: Deviation,
    error: Error,
}

impl Warning {
    pub(crate) fn new(deviation: Deviation, error: Error) -> Self {
        Self { deviation, error }
    }

    /// The same warning at another byte.
    pub fn at(&self, offset: u64) -> Self {
        Self {
            deviation: self.deviation,
            error: self.error.clone().moved(offset),
        }
    }

    /// Which deviation it is.
    pub fn deviation(&self) -> Deviation {
        self.deviation
    }

    /// The fact: the error that a mode reports which does not accept the deviation.
    pub fn kind(&self) -> &ErrorKind {
        self.error.kind()
    }

    /// The elements open there, as `/Envelope/Body/order/item[3]`; an attribute is a last step `@name`.
    pub fn path(&self) -> &str {
        self.error.path()
    }

    /// The byte in the message, as UTF-8 without its byte order mark.
    pub fn offset(&self) -> u64 {
        self.error.offset()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt_fact(f)?;
        write!(f, ": {}", self.deviation.done())
    }
}
