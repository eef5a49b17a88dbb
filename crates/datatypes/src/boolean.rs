//! `xs:boolean` (XSD 1.0 Part 2 §3.2.2): `true`, `false`, `1`, `0`.

use crate::{Datatype, LexicalError};

/// The value of a lexical form.
///
/// ```
/// use bsoap_datatypes::boolean;
///
/// assert!(boolean::parse(b"1").unwrap());
/// assert!(boolean::parse(b"TRUE").is_err());
/// ```
#[inline]
pub fn parse(text: &[u8]) -> Result<bool, LexicalError> {
    match text {
        b"true" | b"1" => Ok(true),
        b"false" | b"0" => Ok(false),
        _ => Err(LexicalError::new(Datatype::Boolean, text)),
    }
}

/// The canonical form.
#[inline]
pub fn text(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
