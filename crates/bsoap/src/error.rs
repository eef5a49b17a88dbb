//! The errors of clients and services.

use std::error::Error as StdError;
use std::fmt;

use bsoap_protocol::Fault;

use crate::exceeded::ExceededLimit;

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
    /// A hook of the program refused the message.
    #[cfg(feature = "http")]
    Hook {
        /// The hook that refused it.
        point: crate::hooks::HookPoint,
        /// The error that the hook returned.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A Rust value does not have the type that the WSDL or the program requires.
    Type(Box<dyn StdError + Send + Sync>),
}

/// Who caused an error.
///
/// ```
/// use bsoap::{Blame, Client, Error};
///
/// fn may_pass_by_itself(error: &Error) -> bool {
///     match error.blame() {
///         Blame::Caller => false,
///         Blame::Peer | Blame::Transport => true,
///         _ => false,
///     }
/// }
/// let error = Client::from_wsdl("<no-wsdl/>").unwrap_err();
/// assert!(!may_pass_by_itself(&error));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
            #[cfg(feature = "http")]
            Self::Hook { .. } => Blame::Caller,
            Self::Exchange(error) => match error.blame() {
                bsoap_protocol::Blame::Caller => Blame::Caller,
                _ => Blame::Peer,
            },
            #[cfg(feature = "http")]
            Self::Transport(error) => match error.blame() {
                bsoap_http::Blame::Caller => Blame::Caller,
                bsoap_http::Blame::Peer => Blame::Peer,
                _ => Blame::Transport,
            },
            Self::Fault(fault) => match fault.code {
                bsoap_protocol::Code::Receiver | bsoap_protocol::Code::Other(_) => Blame::Peer,
                _ => Blame::Caller,
            },
        }
    }

    /// Whether a time limit was reached: of connecting, or of the whole exchange.
    #[cfg(feature = "http")]
    pub fn is_timeout(&self) -> bool {
        use bsoap_http::ErrorKind;
        self.transport_kind().is_some_and(|kind| {
            matches!(kind, ErrorKind::Timeout(_) | ErrorKind::ConnectTimeout(_))
        })
    }

    /// Whether no connection to the peer could be established.
    #[cfg(feature = "http")]
    pub fn is_connect(&self) -> bool {
        use bsoap_http::ErrorKind;
        self.transport_kind().is_some_and(|kind| {
            matches!(
                kind,
                ErrorKind::Connect | ErrorKind::ConnectTimeout(_) | ErrorKind::Untrusted { .. }
            )
        })
    }

    /// Whether the network failed: there was no connection, it broke, or a time limit was reached.
    pub fn is_transport(&self) -> bool {
        self.blame() == Blame::Transport
    }

    /// Whether the peer has certainly not received the message, so that any call may be repeated: the message could not be made,
    /// or no connection could be established. If this is `false`, the peer may have run the operation, and only calls that may
    /// run twice should be repeated.
    ///
    /// ```
    /// use bsoap::{Client, Value};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
    /// let client = Client::builder(wsdl).endpoint("http://127.0.0.1:9/").build()?;
    /// let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5]))]))]);
    /// let error = client.call("sumDoubles", &numbers).await.unwrap_err();
    /// assert!(error.is_connect() && error.was_not_sent());
    /// # Ok::<(), bsoap::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn was_not_sent(&self) -> bool {
        match self {
            Self::Wsdl(_) | Self::Setup(_) => true,
            Self::Exchange(error) => {
                use bsoap_protocol::ErrorKind;
                matches!(
                    error.kind(),
                    ErrorKind::UnknownOperation { .. }
                        | ErrorKind::Arguments { .. }
                        | ErrorKind::Unwritable { .. }
                )
            }
            #[cfg(feature = "http")]
            Self::Transport(error) => {
                use bsoap_http::ErrorKind;
                matches!(
                    error.kind(),
                    ErrorKind::Address
                        | ErrorKind::Header
                        | ErrorKind::Certificate
                        | ErrorKind::Proxy
                        | ErrorKind::Untrusted { .. }
                        | ErrorKind::Connect
                        | ErrorKind::ConnectTimeout(_)
                        | ErrorKind::Token
                )
            }
            #[cfg(feature = "http")]
            Self::Hook { point, .. } => point.is_before(),
            // The value to send, or that of the answer.
            Self::Type(_) | Self::Fault(_) => false,
        }
    }

    /// The HTTP status of the answer, if that is a fault, empty, or no SOAP message: 500 for most faults, 401 or 503 of a proxy.
    /// `None` for other errors.
    pub fn http_status(&self) -> Option<u16> {
        use bsoap_protocol::ErrorKind;
        match self {
            Self::Exchange(error) => match error.kind() {
                ErrorKind::NotSoap { status, .. } | ErrorKind::NoReply { status, .. } => {
                    Some(*status)
                }
                _ => None,
            },
            Self::Fault(fault) => fault.http_status(),
            _ => None,
        }
    }

    #[cfg(feature = "http")]
    fn transport_kind(&self) -> Option<&bsoap_http::ErrorKind> {
        match self {
            Self::Transport(error) => Some(error.kind()),
            _ => None,
        }
    }

    /// The limit that was exceeded. `None` for other errors; a limit that a fault names is the peer's.
    pub fn exceeded_limit(&self) -> Option<ExceededLimit> {
        ExceededLimit::of(self)
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
            Self::Exchange(_) if self.was_not_sent() => f.write_str("the call was not made"),
            Self::Exchange(_) => f.write_str("the exchange failed"),
            #[cfg(feature = "http")]
            Self::Transport(error) if *error.kind() == bsoap_http::ErrorKind::Listen => {
                f.write_str("the service cannot be started")
            }
            #[cfg(feature = "http")]
            Self::Transport(error) if error.blame() == bsoap_http::Blame::Caller => {
                f.write_str("the options of the connection cannot be used")
            }
            #[cfg(feature = "http")]
            Self::Transport(_) => f.write_str("the message could not be exchanged over HTTP"),
            Self::Fault(_) => f.write_str("the peer answered with a fault"),
            #[cfg(feature = "http")]
            Self::Hook { point, .. } => write!(f, "the hook {point} refused the message"),
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
            #[cfg(feature = "http")]
            Self::Hook { source, .. } => Some(&**source),
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

/// A Rust value could not be converted with serde.
impl From<bsoap_codec::SerdeError> for Error {
    fn from(error: bsoap_codec::SerdeError) -> Self {
        Self::Type(error.into())
    }
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

/// The fault of a handler whose own call or conversion failed, so that `?` works in handlers: a fault of the receiver. Its reason
/// is the message of the error without its causes, which may contain addresses that the client should not see.
impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::receiver(error.to_string())
    }
}

#[cfg(feature = "http")]
impl From<bsoap_http::Error> for Error {
    fn from(error: bsoap_http::Error) -> Self {
        Self::Transport(error)
    }
}
