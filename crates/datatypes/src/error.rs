//! The errors of a text that is not a lexical form of its datatype, and of a value that another type cannot represent.

use std::fmt;

use crate::Datatype;

/// How many characters of a wrong text an error carries.
const SHOWN: usize = 64;

/// A text is not a lexical form of a datatype.
///
/// ```
/// use bsoap_datatypes::{Datatype, LexicalError};
///
/// let error = Datatype::Int.check("12,5").unwrap_err();
/// assert_eq!(error.to_string(), r#""12,5" is not an xs:int"#);
/// assert_eq!(error.datatype(), Datatype::Int);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LexicalError {
    datatype: Datatype,
    found: Box<str>,
}

impl LexicalError {
    /// `found` is not a lexical form of `datatype`. What is kept of `found` is bounded; bytes that
    /// are not UTF-8 are shown as U+FFFD.
    #[cold]
    pub fn new(datatype: Datatype, found: impl AsRef<[u8]>) -> Self {
        let found = found.as_ref();
        let head = &found[..found.len().min(SHOWN * 4)];
        Self {
            datatype,
            found: cut(&String::from_utf8_lossy(head), found.len() > head.len()),
        }
    }

    /// The datatype that was asked for.
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// The text that was found, cut to a bounded length; a cut text ends in `…`.
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for LexicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let article = self.datatype.article();
        write!(
            f,
            "\"{}\" is not {article} xs:{}",
            self.found,
            self.datatype.name()
        )
    }
}

impl std::error::Error for LexicalError {}

/// A value that a type cannot represent: a date without a zone is no instant, XML Schema has no year zero.
///
/// ```
/// use bsoap_datatypes::Integer;
///
/// let number: Integer = "300".parse().unwrap();
/// let error = u8::try_from(&number).unwrap_err();
/// assert_eq!(error.to_string(), r#""300" cannot be a u8: it is out of range"#);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConversionError(Problem);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Problem {
    /// The text is not even a value of the datatype.
    Text(LexicalError),
    Value {
        found: Box<str>,
        target: &'static str,
        reason: &'static str,
    },
}

impl ConversionError {
    /// `found` cannot be a `target`, for a reason that begins with "it" or "its". What is kept of `found` is bounded.
    #[cold]
    pub fn new(found: impl fmt::Display, target: &'static str, reason: &'static str) -> Self {
        Self(Problem::Value {
            found: bounded(&found.to_string()),
            target,
            reason,
        })
    }

    /// The value, as text.
    pub fn found(&self) -> &str {
        match &self.0 {
            Problem::Text(error) => error.found(),
            Problem::Value { found, .. } => found,
        }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::Text(error) => error.fmt(f),
            Problem::Value {
                found,
                target,
                reason,
            } => write!(f, "\"{found}\" cannot be a {target}: {reason}"),
        }
    }
}

impl std::error::Error for ConversionError {}

impl From<LexicalError> for ConversionError {
    fn from(error: LexicalError) -> Self {
        Self(Problem::Text(error))
    }
}

impl From<std::convert::Infallible> for ConversionError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// The first characters of `text`, with `…` where some were left off: errors must not grow with
/// what a peer sends.
pub(crate) fn bounded(text: &str) -> Box<str> {
    cut(text, false)
}

fn cut(text: &str, already_cut: bool) -> Box<str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None if already_cut => format!("{text}…").into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let error = LexicalError::new(Datatype::Int, "é".repeat(1000));
        assert_eq!(error.found(), format!("{}…", "é".repeat(SHOWN)));
        let error = LexicalError::new(Datatype::Int, "é".repeat(SHOWN));
        assert_eq!(error.found(), "é".repeat(SHOWN));
        let error = LexicalError::new(Datatype::Int, "𝄞".repeat(SHOWN + 1));
        assert_eq!(error.found(), format!("{}…", "𝄞".repeat(SHOWN)));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_shown_as_replacement_characters() {
        assert_eq!(
            LexicalError::new(Datatype::Double, b"1\xff").found(),
            "1\u{fffd}"
        );
    }
}
