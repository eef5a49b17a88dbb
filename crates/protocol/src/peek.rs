//! Finds the kind of a message from its first tag: an Envelope of a SOAP version, another XML document, or no XML.

use std::sync::Arc;

use bsoap_schema::SoapVersion;
use bsoap_xml::{DoctypePolicy, Event, Options, Reader, Tag, Vocabulary};

use crate::Name;

// Exhaustive: a message begins with one of these.
/// The kind of a message, found from its first tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peek {
    /// An Envelope of a supported SOAP version.
    Envelope(SoapVersion),
    /// An Envelope in another namespace, which is given.
    ForeignEnvelope(String),
    /// An element that is not an Envelope.
    Other(Name),
    /// The message does not start with a tag that can be read.
    Nothing,
}

/// Reads the first tag of a message.
pub fn peek(bytes: &[u8], doctype: DoctypePolicy) -> Peek {
    // White space, comments and an XML declaration may precede the tag, up to this many bytes.
    let start = bytes.get(..64 << 10).unwrap_or(bytes);
    let first = walk(start, doctype, |_, tag| {
        Some(seen(tag.namespace(), tag.local()))
    });
    first.unwrap_or(Peek::Nothing)
}

/// The name of the first element in the Body of a message. `None` if there is none.
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

/// True if the message has a Body, empty or not.
pub fn has_body(bytes: &[u8], doctype: DoctypePolicy) -> bool {
    let body = walk(bytes, doctype, |depth, tag| {
        let is_body = depth == 2 && tag.local() == "Body" && version_of(tag.namespace()).is_some();
        is_body.then_some(())
    });
    body.is_some()
}

/// Calls `see` with each start tag of a message and its depth until it returns `Some`, and returns that.
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

/// The SOAP version whose Envelope is in this namespace. `None` for other namespaces.
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
        for (none, is_body) in [
            ("<s:Body/>", true),
            ("<Body><z/></Body>", false),
            ("<s:Body>", true),
            ("", false),
        ] {
            assert_eq!(peek_body(message(none).as_bytes(), Refuse), None, "{none}");
            let has_body = has_body(message(none).as_bytes(), Refuse);
            assert_eq!(has_body, is_body, "{none}");
        }
    }
}
