//! Attributes of `anyAttribute`, kept as XML: an empty element `<a .../>` that declares the prefixes it uses.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_datatypes::{qname, trim};
use bsoap_xml::{Attribute, Event, Limits, Options, Reader, WriteError};

use crate::expanded::{self, XSI};

/// An attribute that no declaration accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Its namespace; empty for none.
    pub(crate) namespace: String,
    /// Its local name.
    pub(crate) local: String,
    /// Its value with references resolved. That of `xsi:type` is `{namespace}local`, since its prefix is bound only here.
    pub(crate) value: String,
    /// Whether it is an `xsi:type`.
    pub(crate) is_type: bool,
}

/// The attributes in `<a .../>`; an empty list for an empty text, `None` if the text is anything else.
pub(crate) fn attributes(xml: &str) -> Option<Vec<Kept>> {
    if xml.is_empty() {
        return Some(Vec::new());
    }
    // This text has been within the limits of its message.
    let mut limits = Limits::default();
    (limits.attributes, limits.namespaces) = (usize::MAX, usize::MAX);
    (limits.name_length, limits.markup_length) = (usize::MAX, usize::MAX);
    limits.text_length = usize::MAX;
    let mut reader = Reader::new(Options::with_limits(limits), Arc::default());
    reader.feed(xml.as_bytes()).ok()?;
    reader.finish().ok()?;
    let Some(Event::Start(tag)) = reader.next().ok()? else {
        return None;
    };
    if tag.qname() != "a" || tag.raw.len() != xml.len() || !xml.ends_with("/>") {
        return None;
    }
    let kept = |attribute: Attribute<'_>| {
        let (namespace, value) = (attribute.namespace(), attribute.value());
        let is_type = is_type(namespace, attribute.local);
        let value = match qname::split(trim(&value)).filter(|_| is_type) {
            // A name without prefix is in the default namespace, an attribute is not.
            Some((prefix, name)) => match tag.resolve(prefix) {
                Some(namespace) if !namespace.uri.is_empty() => {
                    format!("{{{}}}{name}", namespace.uri)
                }
                None if !prefix.is_empty() => return None,
                _ => name.to_owned(),
            },
            None => value.into_owned(),
        };
        Some(Kept {
            namespace: namespace.to_owned(),
            local: attribute.local.to_owned(),
            value,
            is_type,
        })
    };
    tag.attributes().map(kept).collect()
}

/// Writes attributes, given as namespace, local name and value, as `<a .../>`; an empty text if there are none. The value
/// of `xsi:type` is as in [`Kept::value`].
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

/// The prefix of a namespace with its colon. A new namespace is added to the declarations.
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
            .map(|kept| (kept.namespace.clone(), &*kept.local, kept.value.clone()))
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
            one.value.clone()
        };
        assert_eq!(value("i:type='T'"), "{urn:d}T");
        assert_eq!(value("i:type='&#10;p:T '"), "{urn:p}T");
        assert_eq!(value("type='T'"), "T");
        let xml = format!("<a xmlns:i='{XSI}' i:type=' T '/>");
        assert_eq!(attributes(&xml).unwrap()[0].value, "T");
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
