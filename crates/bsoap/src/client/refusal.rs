//! What an error says of an answer that is no SOAP message: how the peer wants to be authenticated, and how often it was asked.

use bsoap_http::header::{self, HeaderMap};
use bsoap_protocol::ErrorKind;

use crate::Error;
use crate::transport::attempts_note;

/// The error of an answer, with what its headers and its attempts say.
pub(super) fn explained(error: Error, headers: &HeaderMap, attempts: u32) -> Error {
    let Error::Exchange(error) = error else {
        return error;
    };
    let wanted = match error.kind() {
        ErrorKind::NotSoap { status: 401, .. } | ErrorKind::NoReply { status: 401, .. } => {
            wanted_authentication(headers)
        }
        _ => None,
    };
    let notes: Vec<String> = wanted.into_iter().chain(attempts_note(attempts)).collect();
    match notes.is_empty() {
        true => error.into(),
        false => error.noting(notes.join(", ")).into(),
    }
}

/// The authentication that a peer asks for, and the option for it.
fn wanted_authentication(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(header::WWW_AUTHENTICATE).iter();
    let mut wanted: Vec<&str> = values
        .filter_map(|value| value.to_str().ok()?.split_ascii_whitespace().next())
        .map(|scheme| match scheme.to_ascii_lowercase().as_str() {
            "basic" => "Basic (`basic_auth`, `--user`)",
            "digest" => "Digest (`digest_auth`, `--digest`)",
            "bearer" => "Bearer (`bearer_auth`, `--bearer`)",
            "ntlm" | "negotiate" => "NTLM or Kerberos, which is not supported",
            _ => "a scheme that is not supported",
        })
        .collect();
    wanted.dedup();
    (!wanted.is_empty()).then(|| {
        format!(
            "the peer asks for authentication by {}: none was sent, or it was refused",
            wanted.join(" or ")
        )
    })
}
