//! The errors of an exchange.

use crate::header::Exceeded;
use crate::limits::MAX_LISTED_NAMES;
use crate::media::UnknownCharset;
use std::error::Error as StdError;
use std::fmt;

use bsoap_codec::nearest;
use bsoap_schema::SoapVersion;

/// The reason why an exchange failed. A [`Fault`](crate::Fault) is not an error but a reply.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    /// What else is known of the exchange.
    note: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The port has no operation of this name.
    UnknownOperation {
        /// The name requested.
        name: String,
        /// The operations of the port.
        known: Vec<String>,
    },
    /// The arguments do not match the operation. The error's source says where.
    Arguments {
        /// The operation.
        operation: String,
    },
    /// The message does not match the requested Rust type. The error's source says why.
    Type {
        /// The operation.
        operation: String,
    },
    /// The response of the operation declares no header block of this name.
    UnknownHeader {
        /// The operation.
        operation: String,
        /// The name given.
        name: String,
        /// The parts that are declared as header blocks.
        known: Vec<String>,
    },
    /// A header block does not match its declaration. The error's source says where.
    Header {
        /// The operation.
        operation: String,
        /// The name of the block.
        name: String,
    },
    /// A response was given or requested, but the operation is one-way.
    OneWay {
        /// The operation.
        operation: String,
    },
    /// The message cannot be encoded. The error's source says where.
    Unwritable {
        /// The operation.
        operation: String,
    },
    /// The reply does not match the WSDL. The error's source says where.
    Reply {
        /// The operation.
        operation: String,
    },
    /// The reply is not a SOAP message.
    NotSoap {
        /// The HTTP status of the reply.
        status: u16,
        /// The `Content-Type` of the reply.
        content_type: Option<String>,
        /// The beginning of the reply's body.
        beginning: String,
    },
    /// The `Content-Type` of the reply has a charset that is not known.
    UnknownCharset {
        /// The operation.
        operation: String,
        /// The charset.
        charset: String,
    },
    /// The Header of the reply exceeds a [limit](crate::header::HeaderLimits).
    HeaderLimit {
        /// The operation.
        operation: String,
        /// The name of the limit.
        name: &'static str,
        /// Its value.
        limit: usize,
        /// The byte in the message, as UTF-8, at which it was exceeded.
        offset: u64,
    },
    /// The reply is an Envelope of another SOAP version.
    Version {
        /// The version of the binding.
        expected: SoapVersion,
        /// The namespace of the reply's Envelope.
        found: String,
    },
    /// The reply belongs to another operation.
    OtherReply {
        /// The operation.
        operation: String,
        /// The name of the first element in the reply's Body.
        found: String,
    },
    /// The reply answers another message: its `RelatesTo` is not the `MessageID` of the request. (WS-Addressing)
    OtherMessage {
        /// The operation.
        operation: String,
        /// The `MessageID` of the request.
        expected: String,
        /// The `RelatesTo` of the reply.
        found: String,
    },
    /// The reply is empty, but the operation has a response.
    NoReply {
        /// The operation.
        operation: String,
        /// The HTTP status of the reply.
        status: u16,
    },
}

/// Who caused an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blame {
    /// The program that called this crate.
    Caller,
    /// The peer.
    Peer,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            note: None,
            source: None,
        }))
    }

    /// Adds what the transport knows of the exchange, such as how often it was attempted: the message ends with it.
    #[must_use]
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        self.0.note = Some(note.into());
        self
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Who caused the error.
    pub fn blame(&self) -> Blame {
        match self.0.kind {
            ErrorKind::UnknownOperation { .. }
            | ErrorKind::Arguments { .. }
            | ErrorKind::OneWay { .. }
            | ErrorKind::Type { .. }
            | ErrorKind::UnknownHeader { .. }
            | ErrorKind::Header { .. }
            | ErrorKind::Unwritable { .. } => Blame::Caller,
            _ => Blame::Peer,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_fact(f)?;
        match &self.0.note {
            Some(note) => write!(f, " ({note})"),
            None => Ok(()),
        }
    }
}

impl Error {
    fn fmt_fact(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::UnknownOperation { name, known } => {
                write!(
                    f,
                    "the port has no operation {name:?}, expected {}",
                    Expected(name, known)
                )
            }
            ErrorKind::Arguments { operation } => {
                write!(f, "the arguments do not match operation {operation}")
            }
            ErrorKind::Type { operation } => {
                write!(
                    f,
                    "a message of operation {operation} does not match the Rust type requested"
                )
            }
            ErrorKind::UnknownHeader {
                operation,
                name,
                known,
            } if known.is_empty() => write!(
                f,
                "the response of operation {operation} declares no header blocks, so {name:?} must be given as XML"
            ),
            ErrorKind::UnknownHeader {
                operation,
                name,
                known,
            } => write!(
                f,
                "the response of operation {operation} declares no header block {name:?}, expected {}",
                Expected(name, known)
            ),
            ErrorKind::Header { operation, name } => write!(
                f,
                "header block {name} of operation {operation} does not match its declaration"
            ),
            ErrorKind::OneWay { operation } => {
                write!(f, "operation {operation} is one-way: it has no response")
            }
            ErrorKind::Unwritable { operation } => {
                write!(f, "a message of operation {operation} cannot be encoded")
            }
            ErrorKind::Reply { operation } => {
                write!(f, "the reply to {operation} does not match the WSDL")
            }
            ErrorKind::NotSoap {
                status,
                content_type,
                beginning,
            } => {
                let content_type = content_type.as_deref().unwrap_or("no Content-Type");
                write!(
                    f,
                    "the reply is not a SOAP message: HTTP status {status}, {content_type}, it begins with {beginning:?}"
                )
            }
            ErrorKind::UnknownCharset { operation, charset } => {
                let unknown = UnknownCharset(charset.clone());
                write!(f, "the Content-Type of the reply to {operation}: {unknown}")
            }
            ErrorKind::HeaderLimit {
                operation,
                name,
                limit,
                offset,
            } => {
                let exceeded = Exceeded {
                    name,
                    limit: *limit,
                    offset: *offset,
                    version: None,
                };
                write!(f, "the reply to {operation}: {exceeded}")
            }
            ErrorKind::Version { expected, found } => {
                write!(
                    f,
                    "the reply has an Envelope in namespace {found:?}, expected {expected}"
                )
            }
            ErrorKind::OtherReply { operation, found } => {
                write!(
                    f,
                    "the reply to {operation} has {found} in its Body, which is not the response of this operation"
                )
            }
            ErrorKind::OtherMessage {
                operation,
                expected,
                found,
            } => write!(
                f,
                "the reply to {operation} answers the message {found:?} (wsa:RelatesTo), expected {expected:?}"
            ),
            ErrorKind::NoReply { operation, status } => {
                write!(
                    f,
                    "the reply to {operation} is empty (HTTP status {status}), expected a SOAP message"
                )
            }
        }
    }
}

/// Displays the known names, or only those similar to the requested name if there are many.
struct Expected<'e>(&'e str, &'e [String]);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, known) = self;
        if known.len() <= MAX_LISTED_NAMES {
            return write!(f, "one of {}", known.join(", "));
        }
        let (names, count): (Vec<&str>, _) =
            (known.iter().map(String::as_str).collect(), known.len());
        match nearest(name, &names).as_slice() {
            [] => write!(f, "one of {count} others"),
            near => write!(f, "{} or another of {count}", near.join(", ")),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0
            .source
            .as_ref()
            .map(|source| source.as_ref() as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_operations_the_similar_ones_are_listed() {
        let message = |name: &str, count: usize| {
            let known = (0..count).map(|number| format!("add{number}")).collect();
            let name = name.to_owned();
            Error::new(ErrorKind::UnknownOperation { name, known }).to_string()
        };
        for (name, count, expected) in [
            (
                "x",
                2,
                "the port has no operation \"x\", expected one of add0, add1",
            ),
            (
                "add91x",
                100,
                "the port has no operation \"add91x\", expected add91, add9, add10 or another of 100",
            ),
            (
                "x",
                100,
                "the port has no operation \"x\", expected one of 100 others",
            ),
        ] {
            assert_eq!(message(name, count), expected);
        }
    }
}
