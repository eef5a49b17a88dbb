//! How a command fails: the exit code says whose fault it is, the message what is wrong and where.

use std::error::Error;

use bsoap_codec::nearest;
use bsoap_http::ErrorKind;

use crate::limits::MAX_LISTED_OPERATIONS;
use crate::message_limits;
use crate::style::{BAD, DIM, paint};

/// The exit codes, for `--help`.
pub(crate) const EXIT_CODES: &str = "Exit codes:
  0  success
  1  the peer answered with a fault, or validation or a check found violations
  2  the command line is wrong
  3  a WSDL, message or other input is wrong or cannot be read
  4  the transport failed: no connection, no answer in time, a status that is not SOAP's";

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A fault from the peer, or violations found.
    Violation = 1,
    /// The command line.
    Usage = 2,
    /// What was read.
    Input = 3,
    /// The network.
    Transport = 4,
}

/// Why a command ends early.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    source: Option<Box<dyn Error>>,
    /// The option that may help.
    advice: Option<String>,
}

impl Failure {
    /// A fault or violations.
    pub(crate) fn violation(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Violation,
            message: message.into(),
            source: None,
            advice: None,
        }
    }

    /// A wrong command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            message: message.into(),
            source: None,
            advice: None,
        }
    }

    /// Bad input.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Input,
            message: message.into(),
            source: None,
            advice: None,
        }
    }

    /// The network.
    pub(crate) fn transport(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Transport,
            message: message.into(),
            source: None,
            advice: None,
        }
    }

    /// An operation that a WSDL does not have: lists all that it has or, if there are many, the most similar names.
    pub(crate) fn no_operation(wsdl: &str, name: &str, known: &[&str]) -> Self {
        let count = known.len();
        let has = match nearest(name, known).as_slice() {
            _ if count == 0 => "it has none".to_owned(),
            _ if count <= MAX_LISTED_OPERATIONS => format!("it has {}", known.join(", ")),
            [] => format!("`bsoap describe {wsdl}` lists the {count} that it has"),
            near => format!(
                "it has {} ({count} in all: `bsoap describe {wsdl}` lists them)",
                near.join(", ")
            ),
        };
        Self::usage(format!("{wsdl} has no operation {name}; {has}"))
    }

    /// Adds the cause.
    pub(crate) fn because(self, source: impl Error + 'static) -> Self {
        Self {
            source: Some(Box::new(source)),
            ..self
        }
    }

    /// Adds the cause as text.
    pub(crate) fn because_of(self, cause: &str) -> Self {
        Self {
            source: Some(cause.into()),
            ..self
        }
    }

    /// True if the reader of the output has closed it, such as `head`: this is not a failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let io = self
            .source
            .as_ref()
            .and_then(|source| source.downcast_ref::<std::io::Error>());
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The exit code of the process.
    pub(crate) fn code(&self) -> u8 {
        self.exit as u8
    }

    /// The message and its chain of causes, one per line.
    pub(crate) fn report(&self) -> String {
        let mut text = format!("{}: {}", paint(BAD.bold(), "error"), self.message);
        let mut cause: Option<&dyn Error> = self.source.as_deref();
        while let Some(error) = cause {
            text.push_str(&format!("\n  {} {error}", paint(DIM, "because")));
            cause = error.source();
        }
        if let Some(advice) = &self.advice {
            text.push_str(&format!("\n  {} {advice}", paint(DIM, "help:")));
        }
        text
    }
}

impl From<bsoap_protocol::Error> for Failure {
    fn from(error: bsoap_protocol::Error) -> Self {
        Self::input("the message does not conform to the WSDL").because(error)
    }
}

impl From<bsoap::Error> for Failure {
    fn from(error: bsoap::Error) -> Self {
        let exit = match &error {
            bsoap::Error::Fault(_) => Exit::Violation,
            bsoap::Error::Setup(_) => Exit::Usage,
            // An address that is no http or https URL comes from the command line or from the WSDL.
            bsoap::Error::Transport(error) if error.blame() == bsoap_http::Blame::Caller => {
                Exit::Usage
            }
            bsoap::Error::Transport(_) => Exit::Transport,
            // A reply that is not SOAP comes from a proxy or from a wrong address.
            bsoap::Error::Exchange(error)
                if matches!(
                    error.kind(),
                    bsoap_protocol::ErrorKind::NotSoap { .. }
                        | bsoap_protocol::ErrorKind::NoReply { .. }
                ) =>
            {
                Exit::Transport
            }
            _ => Exit::Input,
        };
        let message = error.to_string();
        Self {
            exit,
            message,
            advice: raised(&error).or_else(|| advice(&error).map(str::to_owned)),
            source: Some(Box::new(Causes(error)))
                .filter(|causes| causes.first().is_some())
                .map(|causes| causes as Box<dyn Error>),
        }
    }
}

/// The option that raises the limit which the peer has exceeded.
fn raised(error: &bsoap::Error) -> Option<String> {
    let option = message_limits::option_for(error.exceeded_limit()?)?;
    Some(format!("{option} accepts more"))
}

/// The options of `call` that may help after an error.
fn advice(error: &bsoap::Error) -> Option<&'static str> {
    let transport = match error {
        bsoap::Error::Transport(error) => Some(error.kind()),
        _ => None,
    };
    match (error.http_status(), transport) {
        (Some(401), _) => Some(
            "--user NAME and --password give a user to HTTP, --wsse-username and --wsse-password to the message",
        ),
        (Some(403), _) => {
            Some("--user NAME and --password give a user, --cert FILE a certificate of the client")
        }
        (Some(407), _) => Some("--proxy http://user:password@host:port gives a user to the proxy"),
        (Some(404 | 405 | 410), _) => Some("--endpoint URL calls another address"),
        (_, Some(ErrorKind::Connect | ErrorKind::ConnectTimeout(_))) => {
            Some("--endpoint URL calls another address, --proxy URL goes through a proxy")
        }
        (_, Some(ErrorKind::Timeout(_))) => Some("--timeout SECONDS waits longer"),
        (_, Some(ErrorKind::TooLarge { .. })) => Some("--max-response SIZE accepts longer answers"),
        _ => None,
    }
}

/// The causes of an error without the error itself, which is the message.
#[derive(Debug)]
struct Causes(bsoap::Error);

impl Causes {
    fn first(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl std::fmt::Display for Causes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.first().map_or(Ok(()), |cause| write!(f, "{cause}"))
    }
}

impl Error for Causes {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.first().and_then(Error::source)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::input("cannot write the output").because(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_whole_chain_of_causes() {
        let cause = std::io::Error::other("no such file");
        let report = Failure::input("cannot read a.wsdl").because(cause).report();
        assert!(
            report.contains("cannot read a.wsdl") && report.ends_with("no such file"),
            "{report}"
        );
    }

    #[test]
    fn of_many_operations_the_most_similar_ones_are_named() {
        let all: Vec<String> = (0..100).map(|number| format!("add{number}")).collect();
        let known: Vec<&str> = all.iter().map(String::as_str).collect();
        let message = |name: &str, count: usize| {
            Failure::no_operation("all.wsdl", name, &known[..count]).message
        };
        assert_eq!(
            message("sub", 0),
            "all.wsdl has no operation sub; it has none"
        );
        assert_eq!(
            message("sub", 3),
            "all.wsdl has no operation sub; it has add0, add1, add2"
        );
        assert_eq!(
            message("Add91", 91),
            "all.wsdl has no operation Add91; it has add11, add21, add31 (91 in all: `bsoap describe all.wsdl` lists them)"
        );
        assert_eq!(
            message("unlike", 100),
            "all.wsdl has no operation unlike; `bsoap describe all.wsdl` lists the 100 that it has"
        );
    }
}
