//! Security of messages (WS-Security): what a client puts into the header block `wsse:Security`.
//!
//! The block is inserted into the encoded message when it is sent. So each message has a fresh one, also if it is a draft or a
//! request that is sent again, and templates do not contain secrets.

mod username_token;

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
