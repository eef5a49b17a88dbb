//! Header blocks that are inserted into a message when it is sent: they differ each time, and templates do not contain them.

use bsoap_http::Body;
use bsoap_protocol::SoapVersion;
#[cfg(feature = "client")]
use bsoap_protocol::addressing::AddressingVersion;

use crate::Error;

/// Inserts header blocks into an encoded message.
pub(crate) fn insert(body: Body, version: SoapVersion, blocks: String) -> Result<Body, Error> {
    match place_in(body.first()) {
        Some(Place::InHeader(at)) => Ok(body.insert(at, blocks.into())),
        Some(Place::BeforeBody(at)) => {
            let envelope = version.envelope_namespace();
            let header = format!("<e:Header xmlns:e=\"{envelope}\">{blocks}</e:Header>");
            Ok(body.insert(at, header.into()))
        }
        None => Err(Error::Setup(
            "the message has no place for header blocks that are added when it is sent: its Header is an empty element".into(),
        )),
    }
}

/// True if the Header of an encoded message has blocks of WS-Addressing.
#[cfg(feature = "client")]
pub(crate) fn has_addressing(message: &[u8]) -> bool {
    let Some(Place::InHeader(at)) = place_in(message) else {
        return false;
    };
    let rest = &message[at..];
    let end = find(rest, b":Header>").unwrap_or(rest.len());
    names_addressing(&rest[..end])
}

/// True if XML contains a namespace of WS-Addressing.
#[cfg(feature = "client")]
pub(crate) fn names_addressing(xml: &[u8]) -> bool {
    let versions = [
        AddressingVersion::Recommendation,
        AddressingVersion::Submission,
    ];
    let mut namespaces = versions.map(AddressingVersion::namespace).into_iter();
    namespaces.any(|namespace| find(xml, namespace.as_bytes()).is_some())
}

#[cfg(feature = "client")]
fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|part| part == needle)
}

/// Where the blocks belong in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Inside the Header: after its start tag.
    InHeader(usize),
    /// There is no Header: before the Body.
    BeforeBody(usize),
}

/// Finds the place behind the start tag of the Envelope. The message is one that bsoap has encoded.
fn place_in(message: &[u8]) -> Option<Place> {
    let mut at = 0;
    loop {
        at += message.get(at..)?.iter().position(|&byte| byte == b'<')?;
        let end = at + end_of_tag(&message[at..])?;
        let tag = &message[at..end];
        match local_name(tag) {
            b"Header" if tag.ends_with(b"/>") => return None,
            b"Header" => return Some(Place::InHeader(end)),
            b"Body" => return Some(Place::BeforeBody(at)),
            b"Envelope" => {}
            _ if tag.starts_with(b"<?") => {}
            _ => return None,
        }
        at = end;
    }
}

/// The length of the tag at the beginning of `text`. Attribute values may contain `>`.
fn end_of_tag(text: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, &byte) in text.iter().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at + 1),
            (None, _) => {}
        }
    }
    None
}

/// The local name in a start tag.
fn local_name(tag: &[u8]) -> &[u8] {
    let name = tag[1..]
        .split(|&byte| byte.is_ascii_whitespace() || byte == b'>' || byte == b'/')
        .next()
        .unwrap_or_default();
    name.rsplit(|&byte| byte == b':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_go_into_the_header_or_before_the_body() {
        let cases: [(&str, Option<&str>); 7] = [
            (
                "<?xml version=\"1.0\"?><S:Envelope a=\">\"><S:Header><x/>",
                Some("<x/>"),
            ),
            ("<Envelope><Header a='>'>text", Some("text")),
            ("<S:Envelope>\n <S:Body><Header>", Some("<S:Body><Header>")),
            ("<S:Envelope><S:Header/><S:Body>", None),
            ("<S:Envelope><other><S:Body>", None),
            ("<S:Envelope", None),
            ("", None),
        ];
        for (message, rest) in cases {
            let found = place_in(message.as_bytes()).map(|place| match place {
                Place::InHeader(at) | Place::BeforeBody(at) => &message[at..],
            });
            assert_eq!(found, rest, "{message}");
        }
    }
}
