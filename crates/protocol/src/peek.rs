//! The kind of a message by its first tag: a SOAP version, another XML document, or not XML.

use std::sync::Arc;

use bsoap_schema::SoapVersion;
use bsoap_xml::{DoctypePolicy, Event, Options, Reader, Tag, Vocabulary};

use crate::Name;

/// The kind of a message by its first tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peek {
    /// An Envelope of a known version.
    Envelope(SoapVersion),
    /// An Envelope of some other namespace.
    ForeignEnvelope(String),
    /// Another element.
    Other(Name),
    /// No tag that can be read.
    Nothing,
}

/// Looks at the first tag of a message.
pub fn peek(bytes: &[u8], doctype: DoctypePolicy) -> Peek {
    // White space, comments and a declaration may precede it, up to a limit.
    let start = bytes.get(..64 << 10).unwrap_or(bytes);
    let first = walk(start, doctype, |_, tag| {
        Some(seen(tag.namespace(), tag.local()))
    });
    first.unwrap_or(Peek::Nothing)
}

/// The name of the first element in the Body of a message.
pub fn peek_body(bytes: &[u8], doctype: DoctypePolicy) -> Option<Name> {
    let mut in_body = false;
    walk(bytes, doctype, |depth, tag| match depth {
        2 => {
            in_body = tag.local() == "Body" && version_of(tag.namespace()).is_some();
            None
        }
        3 if in_body => Some(Name::new(tag.namespace(), tag.local())),
        _ => None,
    })
}

/// Calls `see` with the start tags of a message and their depth until it returns something.
fn walk<T>(
    bytes: &[u8],
    doctype: DoctypePolicy,
    mut see: impl FnMut(usize, &Tag<'_>) -> Option<T>,
) -> Option<T> {
    let options = Options::default().doctype(doctype);
    let mut reader = Reader::new(options, Arc::new(Vocabulary::default()));
    let mut depth = 0;
    for chunk in bytes.chunks(512) {
        reader.feed(chunk).ok()?;
        while let Some(event) = reader.next().ok()? {
            match event {
                Event::Start(tag) => {
                    depth += 1;
                    if let Some(found) = see(depth, &tag) {
                        return Some(found);
                    }
                }
                Event::End(_) => depth -= 1,
                Event::EndOfDocument => return None,
                _ => {}
            }
        }
    }
    None
}

fn seen(namespace: &str, local: &str) -> Peek {
    match (version_of(namespace), local) {
        (Some(version), "Envelope") => Peek::Envelope(version),
        (None, "Envelope") => Peek::ForeignEnvelope(namespace.to_owned()),
        _ => Peek::Other(Name::new(namespace, local)),
    }
}

/// The version whose Envelope is in a namespace.
pub fn version_of(namespace: &str) -> Option<SoapVersion> {
    [SoapVersion::Soap11, SoapVersion::Soap12]
        .into_iter()
        .find(|version| version.envelope_namespace() == namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DoctypePolicy::Refuse;

    #[test]
    fn the_first_tag_gives_the_version() {
        let envelope = |namespace: &str| {
            let comment = "-".repeat(600).replace("--", "- ");
            peek(
                format!(
                    "<?xml version='1.0'?>\n<!-- {comment} --><e:Envelope\n xmlns:e='{namespace}'>"
                )
                .as_bytes(),
                Refuse,
            )
        };
        for version in [SoapVersion::Soap11, SoapVersion::Soap12] {
            assert_eq!(
                envelope(version.envelope_namespace()),
                Peek::Envelope(version)
            );
        }
        assert_eq!(envelope("urn:x"), Peek::ForeignEnvelope("urn:x".into()));
        assert_eq!(peek(b"<html>", Refuse), Peek::Other(Name::new("", "html")));
        for nothing in [
            &b""[..],
            b"  ",
            b"{}",
            b"<",
            b"<!DOCTYPE a><a/>",
            b"\xff\xfe\xfd",
        ] {
            assert_eq!(peek(nothing, Refuse), Peek::Nothing, "{nothing:?}");
        }
        let document = b"<!DOCTYPE a><a/>";
        let first = peek(document, DoctypePolicy::Skip);
        assert_eq!(first, Peek::Other(Name::new("", "a")));
    }

    #[test]
    fn the_first_body_element_is_found_behind_any_header() {
        let namespace = SoapVersion::Soap11.envelope_namespace();
        let message = |body: &str| {
            format!(
                "<s:Envelope xmlns:s='{namespace}'><s:Header><x><Body><y/></Body></x></s:Header>{body}</s:Envelope>"
            )
        };
        assert_eq!(
            peek_body(
                message("<s:Body> <z xmlns='urn:z'/></s:Body>").as_bytes(),
                Refuse
            ),
            Some(Name::new("urn:z", "z"))
        );
        for none in ["<s:Body/>", "<Body><z/></Body>", "<s:Body>", ""] {
            assert_eq!(peek_body(message(none).as_bytes(), Refuse), None, "{none}");
        }
    }
}
