//! Security of messages (WS-Security): what a client puts into the header block `wsse:Security`.
//!
//! The block is inserted into the encoded message when it is sent. So each message has a fresh one, also if it is a draft or a
//! request that is sent again, and templates do not contain secrets.

mod username_token;

use bsoap_http::Body;
use bsoap_protocol::SoapVersion;

use crate::Error;

pub use username_token::UsernameToken;

/// The namespace of the header block. (Web Services Security: SOAP Message Security 1.1)
const WSSE: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
/// The namespace of times and identifiers in it.
const WSU: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";

/// The header block for a message that is sent now.
pub(crate) fn block(version: SoapVersion, token: &UsernameToken) -> Result<String, Error> {
    let (envelope, content) = (version.envelope_namespace(), token.element()?);
    Ok(format!(
        "<wsse:Security xmlns:wsse=\"{WSSE}\" xmlns:wsu=\"{WSU}\" xmlns:e=\"{envelope}\" e:mustUnderstand=\"1\">{content}</wsse:Security>"
    ))
}

/// Inserts a header block into an encoded message.
pub(crate) fn insert(body: Body, version: SoapVersion, block: String) -> Result<Body, Error> {
    match place_in(body.first()) {
        Some(Place::InHeader(at)) => Ok(body.insert(at, block.into())),
        Some(Place::BeforeBody(at)) => {
            let envelope = version.envelope_namespace();
            let header = format!("<e:Header xmlns:e=\"{envelope}\">{block}</e:Header>");
            Ok(body.insert(at, header.into()))
        }
        None => Err(Error::Setup(
            "the message has no place for the security header block".into(),
        )),
    }
}

/// Where the block belongs in a message.
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
    fn the_block_goes_into_the_header_or_before_the_body() {
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
