//! The media types of SOAP over HTTP, and the action beside the message.
//!
//! | | SOAP 1.1 | SOAP 1.2 |
//! |---|---|---|
//! | `Content-Type` | `text/xml; charset=utf-8` | `application/soap+xml; charset=utf-8; action="…"` |
//! | `SOAPAction` | `"…"`, always there | – |

use std::borrow::Cow;

use bsoap_schema::SoapVersion;

/// A `Content-Type`, taken apart.
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
}

impl MediaType {
    /// Takes a `Content-Type` apart; `None` if it has no type and subtype. (RFC 9110 §8.3.1)
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
            match (name.to_ascii_lowercase().as_str(), value) {
                ("charset", Some(value)) => media.charset = Some(value),
                ("action", Some(value)) => media.action = Some(value),
                _ => {}
            }
            parameters = rest;
        }
        Some(media)
    }

    /// The version whose media type this is.
    pub fn version(&self) -> Option<SoapVersion> {
        match self.essence.as_str() {
            "text/xml" => Some(SoapVersion::Soap11),
            "application/soap+xml" => Some(SoapVersion::Soap12),
            _ => None,
        }
    }

    /// Whether a message may come as this: the two types of SOAP, and whatever else says that it is XML.
    pub fn is_xml(&self) -> bool {
        matches!(self.essence.as_str(), "text/xml" | "application/xml")
            || self.essence.ends_with("+xml")
    }
}

/// The next `name=value` of the parameters, and what follows it. A name may stand alone, without a value.
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
    while let Some((place, c)) = characters.next() {
        match c {
            '"' => {
                let rest = quoted[place + 1..].trim_start();
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
pub fn content_type(version: SoapVersion, action: Option<&str>) -> String {
    match (version, action) {
        (SoapVersion::Soap11, _) => "text/xml; charset=utf-8".to_owned(),
        (SoapVersion::Soap12, None | Some("")) => "application/soap+xml; charset=utf-8".to_owned(),
        (SoapVersion::Soap12, Some(action)) => {
            format!(
                "application/soap+xml; charset=utf-8; action={}",
                quoted(action)
            )
        }
    }
}

/// The `SOAPAction` of a request, if its version has one. (SOAP 1.1 §6.1.1)
pub fn soap_action(version: SoapVersion, action: Option<&str>) -> Option<String> {
    (version == SoapVersion::Soap11).then(|| quoted(action.unwrap_or_default()))
}

/// What a `SOAPAction` says, without its quotes.
pub fn unquoted(soap_action: &str) -> &str {
    let text = soap_action.trim();
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

/// The message as the decoder reads it. A `charset` outranks what the message says of itself (RFC 7303 §3.2), so a
/// message in anything but UTF-8 or UTF-16 (which cannot be mistaken) is recoded, and its own declaration dropped.
pub(crate) fn recoded<'a>(media: Option<&MediaType>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let charset = media.and_then(|media| media.charset.as_deref());
    let Some(charset) = charset.map(str::to_ascii_lowercase) else {
        return Cow::Borrowed(body);
    };
    if charset.starts_with("utf-16") {
        return Cow::Borrowed(body);
    }
    if matches!(charset.as_str(), "utf-8" | "utf8" | "us-ascii") {
        return utf8(body);
    }
    // A charset nobody knows is no reason to give up: the message may tell.
    match bsoap_xml::decode_str_as(body, Some(&charset)) {
        Ok(text) => Cow::Owned(text[declaration(text.as_bytes())..].as_bytes().to_vec()),
        Err(_) => Cow::Borrowed(body),
    }
}

/// A message that is said to be UTF-8, and believed to be if it is: many a declaration says otherwise and is wrong.
fn utf8(body: &[u8]) -> Cow<'_, [u8]> {
    let declared = &body[..declaration(body)];
    let names_another = declared
        .windows(8)
        .position(|word| word == b"encoding")
        .is_some_and(|at| {
            let value = declared[at + 8..]
                .trim_ascii_start()
                .strip_prefix(b"=")
                .unwrap_or_default()
                .trim_ascii_start();
            !value
                .get(1..6)
                .is_some_and(|name| name.eq_ignore_ascii_case(b"utf-8"))
        });
    if names_another && std::str::from_utf8(body).is_ok() {
        Cow::Borrowed(&body[declared.len()..])
    } else {
        Cow::Borrowed(body)
    }
}

/// How many bytes of a text its XML declaration takes.
fn declaration(text: &[u8]) -> usize {
    match text.strip_prefix(b"<?xml") {
        Some(rest @ [b' ' | b'\t' | b'\r' | b'\n', ..]) => rest
            .windows(2)
            .position(|pair| pair == b"?>")
            .map_or(0, |end| 5 + end + 2),
        _ => 0,
    }
}

fn quoted(text: &str) -> String {
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
    fn odd_content_types_are_no_trouble() {
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
            String::from_utf8_lossy(&recoded(media, body)).into_owned()
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
        assert!(matches!(recoded(None, b"<a/>"), Cow::Borrowed(_)));
        let odd = MediaType::parse("text/xml; charset=klingon");
        assert_eq!(read(odd.as_ref(), b"<a/>"), "<a/>");
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
