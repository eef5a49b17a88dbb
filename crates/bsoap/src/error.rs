//! What can go wrong, and whose doing it is.

use std::error::Error as StdError;
use std::fmt;

use bsoap_protocol::Fault;

/// Why there is no answer.
///
/// ```
/// use bsoap::{Blame, Client};
///
/// let error = Client::from_wsdl("no/such/file.wsdl").unwrap_err();
/// assert_eq!(error.blame(), Blame::Caller);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The WSDL cannot be loaded.
    Wsdl(bsoap_schema::Error),
    /// Something is missing, or does not go together, in how a client or a service was set up.
    Setup(String),
    /// The message or its reply is not what the WSDL says.
    Exchange(bsoap_protocol::Error),
    /// The bytes did not get there or back.
    Transport(bsoap_http::Error),
    /// The peer answered with a fault.
    Fault(Fault),
    /// A value is not of the type that the program asked for.
    Type(Box<dyn StdError + Send + Sync>),
}

/// Whose doing an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The program that called.
    Caller,
    /// The program at the other end.
    Peer,
    /// What lies between.
    Transport,
}

impl Error {
    /// Whose doing it is.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Wsdl(_) | Self::Setup(_) | Self::Type(_) => Blame::Caller,
            Self::Exchange(error) => match error.blame() {
                bsoap_protocol::Blame::Caller => Blame::Caller,
                bsoap_protocol::Blame::Peer => Blame::Peer,
            },
            Self::Transport(error) => match error.blame() {
                bsoap_http::Blame::Caller => Blame::Caller,
                bsoap_http::Blame::Peer => Blame::Peer,
                bsoap_http::Blame::Transport => Blame::Transport,
            },
            Self::Fault(fault) => match fault.code {
                bsoap_protocol::Code::Receiver | bsoap_protocol::Code::Other(_) => Blame::Peer,
                _ => Blame::Caller,
            },
        }
    }

    /// The fault, if the peer answered with one.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// The whole chain of causes on one line, the outermost first.
    ///
    /// ```
    /// let error = bsoap::Client::from_wsdl("<wsdl").unwrap_err();
    /// assert!(error.report().starts_with("the WSDL cannot be loaded: "));
    /// ```
    pub fn report(&self) -> String {
        report(self)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wsdl(_) => f.write_str("the WSDL cannot be loaded"),
            Self::Setup(what) => f.write_str(what),
            Self::Exchange(_) => f.write_str("the exchange failed"),
            Self::Transport(_) => f.write_str("the message did not get through"),
            Self::Fault(_) => f.write_str("the peer answered with a fault"),
            Self::Type(_) => f.write_str("the answer is not of the type asked for"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Wsdl(error) => Some(error),
            Self::Setup(_) => None,
            Self::Exchange(error) => Some(error),
            Self::Transport(error) => Some(error),
            Self::Fault(fault) => Some(fault),
            Self::Type(error) => Some(&**error),
        }
    }
}

/// An error and its causes on one line, the outermost first.
pub(crate) fn report(error: &dyn StdError) -> String {
    let mut report = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        report.push_str(": ");
        report.push_str(&cause.to_string());
        next = cause.source();
    }
    report
}

impl From<bsoap_schema::Error> for Error {
    fn from(error: bsoap_schema::Error) -> Self {
        Self::Wsdl(error)
    }
}

impl From<bsoap_protocol::Error> for Error {
    fn from(error: bsoap_protocol::Error) -> Self {
        Self::Exchange(error)
    }
}

impl From<bsoap_http::Error> for Error {
    fn from(error: bsoap_http::Error) -> Self {
        Self::Transport(error)
    }
}
