//! What can go wrong in an exchange, and whose doing it is.

use std::error::Error as StdError;
use std::fmt;

use bsoap_codec::nearest;
use bsoap_schema::SoapVersion;

/// So many names are all told, of more those that look like the one asked for.
const FEW: usize = 8;

/// An exchange that did not come to its end. A [`Fault`](crate::Fault) is not an error but an answer.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The port has no operation of this name.
    UnknownOperation {
        /// The name asked for.
        name: String,
        /// The operations there are.
        known: Vec<String>,
    },
    /// The arguments do not fit the operation; the source says where.
    Arguments {
        /// The operation.
        operation: String,
    },
    /// The message is not of the Rust type asked for; the source says why.
    Type {
        /// The operation.
        operation: String,
    },
    /// There is no answer to a one-way message.
    OneWay {
        /// The operation.
        operation: String,
    },
    /// The message cannot be written; the source says where.
    Unwritable {
        /// The operation.
        operation: String,
    },
    /// The reply is not what the WSDL says; the source says where.
    Reply {
        /// The operation.
        operation: String,
    },
    /// The reply is no SOAP message.
    NotSoap {
        /// Its HTTP status.
        status: u16,
        /// Its `Content-Type`.
        content_type: Option<String>,
        /// How its body begins.
        beginning: String,
    },
    /// The reply is an Envelope of another version.
    Version {
        /// The version spoken.
        expected: SoapVersion,
        /// The namespace of its Envelope.
        found: String,
    },
    /// The reply is a message, but not this operation's.
    OtherReply {
        /// The operation.
        operation: String,
        /// What is in its Body.
        found: String,
    },
    /// The reply is empty, though the operation has an answer.
    NoReply {
        /// The operation.
        operation: String,
        /// Its HTTP status.
        status: u16,
    },
}

/// Whose doing an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Who called this crate.
    Caller,
    /// Who is at the other end.
    Peer,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, source: None }))
    }

    pub(crate) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whose doing it is.
    pub fn blame(&self) -> Blame {
        match self.0.kind {
            ErrorKind::UnknownOperation { .. }
            | ErrorKind::Arguments { .. }
            | ErrorKind::OneWay { .. }
            | ErrorKind::Type { .. }
            | ErrorKind::Unwritable { .. } => Blame::Caller,
            _ => Blame::Peer,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::UnknownOperation { name, known } => {
                write!(
                    f,
                    "no operation {name:?}, expected {}",
                    Expected(name, known)
                )
            }
            ErrorKind::Arguments { operation } => write!(f, "the arguments do not fit {operation}"),
            ErrorKind::Type { operation } => {
                write!(f, "a message of {operation} is not of the type asked for")
            }
            ErrorKind::OneWay { operation } => {
                write!(f, "{operation} is one-way: it has no answer")
            }
            ErrorKind::Unwritable { operation } => {
                write!(f, "a message of {operation} cannot be written")
            }
            ErrorKind::Reply { operation } => {
                write!(f, "the reply to {operation} is not what the WSDL says")
            }
            ErrorKind::NotSoap {
                status,
                content_type,
                beginning,
            } => {
                let content_type = content_type.as_deref().unwrap_or("no content type");
                write!(
                    f,
                    "the reply is no SOAP message: status {status}, {content_type}, {beginning:?}"
                )
            }
            ErrorKind::Version { expected, found } => {
                write!(
                    f,
                    "the reply has an Envelope of {found:?}, expected {expected}"
                )
            }
            ErrorKind::OtherReply { operation, found } => {
                write!(
                    f,
                    "the reply to {operation} holds {found}, which is not its answer"
                )
            }
            ErrorKind::NoReply { operation, status } => {
                write!(f, "the reply to {operation} is empty (status {status})")
            }
        }
    }
}

/// What is expected where there is nothing of a name.
struct Expected<'e>(&'e str, &'e [String]);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name, known) = self;
        if known.len() <= FEW {
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
    fn of_many_operations_those_that_look_like_it_are_told() {
        let told = |name: &str, count: usize| {
            let known = (0..count).map(|number| format!("add{number}")).collect();
            let name = name.to_owned();
            Error::new(ErrorKind::UnknownOperation { name, known }).to_string()
        };
        for (name, count, expected) in [
            ("x", 2, "no operation \"x\", expected one of add0, add1"),
            (
                "add91x",
                100,
                "no operation \"add91x\", expected add91, add9, add10 or another of 100",
            ),
            ("x", 100, "no operation \"x\", expected one of 100 others"),
        ] {
            assert_eq!(told(name, count), expected);
        }
    }
}
