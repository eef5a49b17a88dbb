//! The HTTP headers of SOAP: `Content-Type` and `SOAPAction`.
//!
//! | | SOAP 1.1 | SOAP 1.2 |
//! |---|---|---|
//! | `Content-Type` | `text/xml; charset=utf-8` | `application/soap+xml; charset=utf-8; action="…"` |
//! | `SOAPAction` | `"…"`, always there | – |

use std::borrow::Cow;
use std::fmt;

use bsoap_schema::SoapVersion;
use bytes::Bytes;

/// A parsed `Content-Type`.
///
/// ```
/// use bsoap_protocol::MediaType;
///
/// let media = MediaType::parse("application/soap+xml; charset=utf-8; action=\"urn:a;b\"").unwrap();
/// assert_eq!(media.essence, "application/soap+xml");
/// assert_eq!(media.action.as_deref(), Some("urn:a;b"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaType {
    /// Type and subtype, in lower case.
    pub essence: String,
    /// The `charset` parameter.
    pub charset: Option<String>,
    /// The `action` parameter.
    pub action: Option<String>,
    /// All other parameters: their names in lower case, and their values.
    pub others: Vec<(String, String)>,
}

impl MediaType {
    /// Parses a `Content-Type`. `None` if it has no type and subtype. (RFC 9110 §8.3.1)
    pub fn parse(text: &str) -> Option<Self> {
        let (essence, mut parameters) = text.split_once(';').unwrap_or((text, ""));
        let essence = essence.trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        if kind.is_empty() || subtype.is_empty() {
            return None;
        }
        let mut media = Self {
            essence,
            ..Self::default()
        };
        while !parameters.is_empty() {
            let (name, value, rest) = parameter(parameters);
            match value {
                Some(value) if name.eq_ignore_ascii_case("charset") => media.charset = Some(value),
                Some(value) if name.eq_ignore_ascii_case("action") => media.action = Some(value),
                Some(value) => media.others.push((name.to_ascii_lowercase(), value)),
                None => {}
            }
            parameters = rest;
        }
        Some(media)
    }

    /// The value of a parameter other than `charset` and `action`, by its name in lower case. Of several, it is the first.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut others = self.others.iter();
        others
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The SOAP version that uses this media type. `None` if no version does.
    pub fn version(&self) -> Option<SoapVersion> {
        match self.essence.as_str() {
            "text/xml" => Some(SoapVersion::Soap11),
            "application/soap+xml" => Some(SoapVersion::Soap12),
            _ => None,
        }
    }

    /// True if this is a media type of XML.
    pub fn is_xml(&self) -> bool {
        matches!(self.essence.as_str(), "text/xml" | "application/xml")
            || self.essence.ends_with("+xml")
    }
}

/// Splits the next parameter from the text. Returns its name, its value (`None` if missing) and the text after it.
fn parameter(text: &str) -> (&str, Option<String>, &str) {
    let end = text.find(['=', ';']).unwrap_or(text.len());
    let name = text[..end].trim();
    let Some(rest) = text[end..].strip_prefix('=') else {
        return (name, None, text.get(end + 1..).unwrap_or_default());
    };
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        let (value, rest) = rest.split_once(';').unwrap_or((rest, ""));
        return (name, Some(value.trim_end().to_owned()), rest);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((offset, c)) = characters.next() {
        match c {
            '"' => {
                let rest = quoted[offset + 1..].trim_start();
                let rest = rest.strip_prefix(';').unwrap_or(rest);
                return (name, Some(value), rest);
            }
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            c => value.push(c),
        }
    }
    (name, Some(value), "")
}

/// The `Content-Type` of a message.
pub fn content_type(version: SoapVersion, action: Option<&str>) -> Cow<'static, str> {
    match (version, action) {
        (SoapVersion::Soap11, _) => "text/xml; charset=utf-8".into(),
        (SoapVersion::Soap12, None | Some("")) => "application/soap+xml; charset=utf-8".into(),
        (SoapVersion::Soap12, Some(action)) => {
            let action = quoted(action);
            format!("application/soap+xml; charset=utf-8; action={action}").into()
        }
    }
}

/// The value of the `SOAPAction` header of a request. `None` in SOAP 1.2, which has no such header. (SOAP 1.1 §6.1.1)
pub fn soap_action(version: SoapVersion, action: Option<&str>) -> Option<String> {
    (version == SoapVersion::Soap11).then(|| quoted(action.unwrap_or_default()))
}

/// The value of a `SOAPAction` header without its quotes.
pub fn unquoted(soap_action: &str) -> &str {
    let text = soap_action.trim();
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

/// The `charset` of a message that is not known. Displays as what was found and what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownCharset(pub(crate) String);

impl fmt::Display for UnknownCharset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "charset {:?} is not known, expected utf-8, utf-16 or another one of the Encoding Standard, such as iso-8859-1",
            self.0
        )
    }
}

/// Converts a message to an encoding that the decoder reads. The `charset` parameter overrides the encoding in the XML
/// declaration (RFC 7303 §3.2). So a message in an encoding other than UTF-8 and UTF-16 (which the decoder detects) is
/// converted to UTF-8, and its declaration is removed.
///
/// # Errors
/// If the `charset` is not known. The message could be read as UTF-8 only by a guess.
pub(crate) fn recoded(media: Option<&MediaType>, body: Bytes) -> Result<Bytes, UnknownCharset> {
    let charset = media.and_then(|media| media.charset.as_deref());
    let charset = charset.map(str::trim).filter(|charset| !charset.is_empty());
    let Some(charset) = charset else {
        return Ok(body);
    };
    let is_one_of = |names: &[&str]| names.iter().any(|name| charset.eq_ignore_ascii_case(name));
    if is_one_of(&["utf-16", "utf-16le", "utf-16be"]) {
        return Ok(body);
    }
    if is_one_of(&["utf-8", "utf8", "us-ascii"]) {
        return Ok(without_false_declaration(body));
    }
    match bsoap_xml::decode_str_as(&body, Some(charset)) {
        Ok(text) => Ok(Bytes::copy_from_slice(
            &text.as_bytes()[declaration(text.as_bytes())..],
        )),
        // The decoder says what is wrong with bytes that are not text in this charset.
        Err(_) if is_known(charset) => Ok(body),
        Err(_) => Err(UnknownCharset(charset.to_owned())),
    }
}

/// True if text in this charset can be decoded.
fn is_known(charset: &str) -> bool {
    bsoap_xml::decode_str_as(b"<a/>", Some(charset)).is_ok()
}

/// Processes a message whose media type says UTF-8. If it is UTF-8 but its XML declaration names another encoding, which is
/// a common mistake, the declaration is removed.
fn without_false_declaration(body: Bytes) -> Bytes {
    let declared = declaration(&body);
    if names_another_encoding(&body[..declared]) && std::str::from_utf8(&body).is_ok() {
        body.slice(declared..)
    } else {
        body
    }
}

/// True if an XML declaration names an encoding other than UTF-8.
fn names_another_encoding(declaration: &[u8]) -> bool {
    let key = b"encoding";
    let at = declaration.windows(key.len()).position(|word| word == key);
    at.is_some_and(|at| {
        let value = declaration[at + key.len()..]
            .trim_ascii_start()
            .strip_prefix(b"=")
            .unwrap_or_default()
            .trim_ascii_start();
        !value
            .get(1..6)
            .is_some_and(|name| name.eq_ignore_ascii_case(b"utf-8"))
    })
}

/// The length in bytes of the XML declaration at the start of a text. 0 if there is none.
pub(crate) fn declaration(text: &[u8]) -> usize {
    match text.strip_prefix(b"<?xml") {
        Some(rest @ [b' ' | b'\t' | b'\r' | b'\n', ..]) => rest
            .windows(2)
            .position(|pair| pair == b"?>")
            .map_or(0, |end| 5 + end + 2),
        _ => 0,
    }
}

/// A parameter's value as a quoted string.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_in_any_order_case_and_quoting() {
        for text in [
            "application/soap+xml;action=\"u\\\"r\";charset=UTF-8",
            "Application/SOAP+XML ; Charset = \"UTF-8\" ; Action= \"u\\\"r\"",
            "application/soap+xml; x=\"a;action=b\"; action=\"u\\\"r\"; charset=UTF-8;",
            "application/soap+xml; flag; charset=UTF-8; odd ;; action=\"u\\\"r\"",
            "application/soap+xml; flag ;action=\"u\\\"r\" charset=UTF-8",
        ] {
            let media = MediaType::parse(text).expect("a media type");
            assert_eq!(media.version(), Some(SoapVersion::Soap12), "{text}");
            assert_eq!(media.charset.as_deref(), Some("UTF-8"), "{text}");
            assert_eq!(media.action.as_deref(), Some("u\"r"), "{text}");
        }
    }

    #[test]
    fn malformed_content_types_are_tolerated() {
        for text in ["", ";", "text", "/", "text/", "=", ";=;=\""] {
            assert_eq!(MediaType::parse(text), None, "{text:?}");
        }
        for text in [
            "text/xml;",
            "text/xml; charset",
            "text/xml; =\"",
            "text/xml;charset=\"a\\",
            "text/xml;;;=;=",
        ] {
            assert_eq!(
                MediaType::parse(text).expect("a media type").version(),
                Some(SoapVersion::Soap11),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_charset_outranks_the_declaration() {
        let latin = MediaType::parse("text/xml; charset=ISO-8859-1");
        let read = |media: Option<&MediaType>, body| {
            let recoded = recoded(media, Bytes::from_static(body)).expect("a known charset");
            String::from_utf8_lossy(&recoded).into_owned()
        };
        assert_eq!(
            read(
                latin.as_ref(),
                b"<?xml version='1.0' encoding='utf-8'?><a>\xe9</a>"
            ),
            "<a>\u{e9}</a>"
        );
        assert_eq!(read(latin.as_ref(), b"<a>\xe9</a>"), "<a>\u{e9}</a>");
        let tabbed = b"<?xml\tversion='1.0' encoding='ISO-8859-1'?><a>\xe9</a>";
        assert_eq!(read(latin.as_ref(), tabbed), "<a>\u{e9}</a>");
        let utf8 = MediaType::parse("text/xml; charset=utf-8");
        let mistaken = "<?xml version='1.0' encoding = \"ISO-8859-1\"?><a>\u{e9}</a>";
        assert_eq!(read(utf8.as_ref(), mistaken.as_bytes()), "<a>\u{e9}</a>");
        assert_eq!(read(None, mistaken.as_bytes()), mistaken);
        let right = "<?xml version='1.0' encoding='UTF-8'?><a/>";
        assert_eq!(read(utf8.as_ref(), right.as_bytes()), right);
        let body = Bytes::from_static(b"<a/>");
        let untouched = recoded(None, body.clone()).expect("no charset");
        assert_eq!(untouched.as_ptr(), body.as_ptr());
    }

    #[test]
    fn only_charsets_that_can_be_decoded_are_known() {
        let is_refused = |charset: &str| {
            let media = MediaType::parse(&format!("text/xml; charset={charset}"));
            match recoded(media.as_ref(), Bytes::from_static(b"<a/>")) {
                Ok(_) => false,
                Err(UnknownCharset(named)) => named == charset.trim_matches('"'),
            }
        };
        for charset in ["klingon", "utf-7", "utf-16xyz", "hz-gb-2312", "\"utf 8\""] {
            assert!(is_refused(charset), "{charset}");
        }
        for charset in [
            "",
            "\"\"",
            "UTF8",
            "us-ascii",
            "utf-16be",
            "windows-1252",
            "latin1",
            "Shift_JIS",
            "gb18030",
        ] {
            assert!(!is_refused(charset), "{charset}");
        }
        // The bytes are not text in this charset, but the charset is known.
        let media = MediaType::parse("text/xml; charset=euc-kr");
        assert!(recoded(media.as_ref(), Bytes::from_static(b"<a>\xff</a>")).is_ok());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let action = "urn:a\"b\\c;d";
        let written = content_type(SoapVersion::Soap12, Some(action));
        assert_eq!(
            MediaType::parse(&written)
                .and_then(|media| media.action)
                .as_deref(),
            Some(action)
        );
        assert_eq!(
            soap_action(SoapVersion::Soap11, None).as_deref(),
            Some("\"\"")
        );
        assert_eq!(soap_action(SoapVersion::Soap12, Some("a")), None);
        assert_eq!(
            (unquoted(" \"a\" "), unquoted("a"), unquoted("\"")),
            ("a", "a", "\"")
        );
    }
}
