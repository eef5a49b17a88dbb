//! Attributes kept as XML: what `anyAttribute` admitted, as an empty element `<a .../>` that
//! declares the prefixes it uses.

use std::borrow::Cow;

use bsoap_datatypes::qname;
use bsoap_datatypes::trim;
use bsoap_xml::WriteError;

use crate::expanded::{self, XSI};

/// An attribute no declaration took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept<'x> {
    /// Its namespace; empty for none.
    pub(crate) namespace: Cow<'x, str>,
    /// Its local name.
    pub(crate) local: &'x str,
    /// Its value as it is in the XML.
    raw: &'x str,
    /// Of `xsi:type`: namespace and local name of the type, whose prefix means nothing elsewhere.
    pub(crate) type_name: Option<(Cow<'x, str>, String)>,
}

impl Kept<'_> {
    /// Its value, references resolved; that of `xsi:type` as `{namespace}local`.
    pub(crate) fn value(&self) -> Cow<'_, str> {
        match &self.type_name {
            Some((namespace, local)) if namespace.is_empty() => Cow::Borrowed(local),
            Some((namespace, local)) => Cow::Owned(format!("{{{namespace}}}{local}")),
            None => unescape(self.raw),
        }
    }
}

/// The attributes in `<a .../>`; none in the empty text, `None` if it is something else.
pub(crate) fn attributes(xml: &str) -> Option<Vec<Kept<'_>>> {
    if xml.is_empty() {
        return Some(Vec::new());
    }
    let mut rest = xml.strip_prefix("<a")?;
    let (mut declared, mut found) = (Vec::new(), Vec::new());
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        if rest == "/>" || rest == "></a>" {
            break;
        }
        let (name, after) = rest.split_once('=')?;
        let quote = after.chars().next().filter(|&c| c == '"' || c == '\'')?;
        let (raw, after) = after[1..].split_once(quote)?;
        rest = after;
        match name.split_once(':') {
            Some(("xmlns", prefix)) => declared.push((prefix, unescape(raw))),
            None if name == "xmlns" => declared.push(("", unescape(raw))),
            Some((prefix, local)) => found.push((prefix, local, raw)),
            None => found.push(("", name, raw)),
        }
    }
    let resolve = |prefix: &str| match prefix {
        "xml" => Some(Cow::Borrowed(bsoap_xml::XML_NAMESPACE)),
        _ => declared
            .iter()
            .find(|(known, _)| *known == prefix)
            .map(|(_, uri)| uri.clone()),
    };
    let mut kept = Vec::with_capacity(found.len());
    for (prefix, local, raw) in found {
        // What a default namespace is declared for is the name of a type: an attribute without prefix is in none.
        let namespace = match prefix {
            "" => Cow::Borrowed(""),
            _ => resolve(prefix)?,
        };
        let value = is_type(&namespace, local).then(|| unescape(raw));
        let type_name = match value.as_deref().map(trim).and_then(qname::split) {
            Some(("", name)) => Some((resolve("").unwrap_or_default(), name.to_owned())),
            Some((prefix, name)) => Some((resolve(prefix)?, name.to_owned())),
            None => None,
        };
        kept.push(Kept {
            namespace,
            local,
            raw,
            type_name,
        });
    }
    Some(kept)
}

/// `<a .../>` of attributes given as namespace, local name and value; nothing if there are none. The value of `xsi:type` is
/// given as [`Kept::value`] gives it.
pub(crate) fn write<'x>(
    attributes: impl Iterator<Item = (&'x str, &'x str, &'x str)>,
) -> Result<String, WriteError> {
    let mut out = Vec::new();
    let mut prefixes: Vec<&str> = Vec::new();
    for (namespace, local, value) in attributes {
        if out.is_empty() {
            out.extend_from_slice(b"<a");
        }
        let value = match is_type(namespace, local) {
            true => {
                let (namespace, name) = expanded::split(value).unwrap_or(("", value));
                if !bsoap_xml::is_ncname(name) {
                    return Err(WriteError::InvalidName(value.to_owned()));
                }
                Cow::Owned(prefix(namespace, &mut prefixes, &mut out)? + name)
            }
            false => Cow::Borrowed(value),
        };
        let prefix = prefix(namespace, &mut prefixes, &mut out)?;
        out.extend_from_slice(format!(" {prefix}{local}=\"").as_bytes());
        bsoap_xml::escape_attribute(&value, &mut out)?;
        out.push(b'"');
    }
    if !out.is_empty() {
        out.extend_from_slice(b"/>");
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The prefix of a namespace with its colon, declared here if it is new.
fn prefix<'x>(
    namespace: &'x str,
    prefixes: &mut Vec<&'x str>,
    out: &mut Vec<u8>,
) -> Result<String, WriteError> {
    match namespace {
        "" => return Ok(String::new()),
        bsoap_xml::XML_NAMESPACE => return Ok("xml:".to_owned()),
        _ => {}
    }
    if let Some(known) = prefixes.iter().position(|known| *known == namespace) {
        return Ok(format!("a{known}:"));
    }
    out.extend_from_slice(format!(" xmlns:a{}=\"", prefixes.len()).as_bytes());
    bsoap_xml::escape_attribute(namespace, out)?;
    out.push(b'"');
    prefixes.push(namespace);
    Ok(format!("a{}:", prefixes.len() - 1))
}

fn is_type(namespace: &str, local: &str) -> bool {
    namespace == XSI && local == "type"
}

/// Resolves character references and the five entities; what is none stays as it is.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('&') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let resolved = rest
            .split_once(';')
            .and_then(|(reference, after)| Some((referred(&reference[1..])?, after)));
        match resolved {
            Some((character, after)) => {
                out.push(character);
                rest = after;
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn referred(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let given = [
            ("", "a", "1 < 2"),
            ("urn:x", "b", "\"&\n"),
            ("urn:x", "c", ""),
            (bsoap_xml::XML_NAMESPACE, "lang", "de"),
            (XSI, "type", "{urn:x}T"),
        ];
        let xml = write(given.into_iter()).unwrap();
        let read = attributes(&xml).unwrap();
        let read: Vec<_> = read
            .iter()
            .map(|kept| {
                (
                    kept.namespace.to_string(),
                    kept.local,
                    kept.value().into_owned(),
                )
            })
            .collect();
        assert_eq!(
            read,
            given.map(|(namespace, local, value)| (namespace.to_owned(), local, value.to_owned()))
        );
        assert_eq!(write(std::iter::empty()).unwrap(), "");
        assert_eq!(attributes("").unwrap(), []);
    }

    #[test]
    fn a_type_without_prefix_is_in_the_default_namespace() {
        let declared = format!("<a xmlns='urn:d' xmlns:i='{XSI}' xmlns:p='urn:p'");
        let value = |rest: &str| {
            let xml = format!("{declared} {rest}/>");
            let read = attributes(&xml).unwrap();
            let one = read.first().expect("one");
            assert_eq!(read.len(), 1, "{xml}");
            one.value().into_owned()
        };
        assert_eq!(value("i:type='T'"), "{urn:d}T");
        assert_eq!(value("i:type='&#10;p:T '"), "{urn:p}T");
        assert_eq!(value("type='T'"), "T");
        let xml = format!("<a xmlns:i='{XSI}' i:type=' T '/>");
        assert_eq!(attributes(&xml).unwrap()[0].value(), "T");
        for name in ["p:T", "{urn:p}", "{urn:p}a b", "1esaB}a:nru{", ""] {
            assert!(write([(XSI, "type", name)].into_iter()).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_no_such_element_is_refused() {
        for xml in [
            "<b/>",
            "<a",
            "<a x",
            "<a x=1/>",
            "<a x='1/>",
            "<a p:x='1'/>",
            "<a x='1'></a><b/>",
        ] {
            assert_eq!(attributes(xml), None, "{xml}");
        }
    }
}
