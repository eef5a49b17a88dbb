//! The errors of clients and services.

use std::error::Error as StdError;
use std::fmt;

use bsoap_protocol::Fault;

/// The reason why a call failed, or a client or service could not be created.
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
    /// A client or a service was not configured or used correctly.
    Setup(String),
    /// The message or its reply does not match the WSDL.
    Exchange(bsoap_protocol::Error),
    /// The message or its reply could not be transported.
    #[cfg(feature = "http")]
    Transport(bsoap_http::Error),
    /// The peer answered with a fault.
    Fault(Fault),
    /// A Rust value does not have the type that the WSDL or the program requires.
    Type(Box<dyn StdError + Send + Sync>),
}

/// Who caused an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The calling program.
    Caller,
    /// The peer.
    Peer,
    /// The network.
    Transport,
}

impl Error {
    /// Who caused the error.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Wsdl(_) | Self::Setup(_) | Self::Type(_) => Blame::Caller,
            Self::Exchange(error) => match error.blame() {
                bsoap_protocol::Blame::Caller => Blame::Caller,
                bsoap_protocol::Blame::Peer => Blame::Peer,
            },
            #[cfg(feature = "http")]
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

    /// The fault that the peer answered with. `None` for other errors.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// The error and its chain of causes on one line, the outermost first.
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
            #[cfg(feature = "http")]
            Self::Transport(_) => f.write_str("the message could not be exchanged over HTTP"),
            Self::Fault(_) => f.write_str("the peer answered with a fault"),
            Self::Type(_) => f.write_str("a value does not match its type in the WSDL"),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Wsdl(error) => Some(error),
            Self::Setup(_) => None,
            Self::Exchange(error) => Some(error),
            #[cfg(feature = "http")]
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

#[cfg(feature = "http")]
impl From<bsoap_http::Error> for Error {
    fn from(error: bsoap_http::Error) -> Self {
        Self::Transport(error)
    }
}
