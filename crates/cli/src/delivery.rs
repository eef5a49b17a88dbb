//! How messages of `call` are delivered: repetitions, cookies, addressing headers, and files instead of the network.

use std::path::PathBuf;

use bsoap::ClientBuilder;
use bsoap::addressing::{Addressing, AddressingVersion, EndpointReference};
use bsoap::transport::{FileTransport, Retries};
use bsoap_http::Address;

/// The options of delivery.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Delivery")]
pub(crate) struct Delivery {
    /// Repeat a call up to this many times if no connection can be established; with --idempotent, after other failures too
    #[arg(long, value_name = "N", default_value_t = 0)]
    retries: usize,
    /// The operation may run twice: repeat it also after a broken connection or an answer with status 429, 502, 503 or 504
    #[arg(long, requires = "retries")]
    idempotent: bool,
    /// Keep the cookies of answers for the next calls of --repeat
    #[arg(long)]
    cookies: bool,
    /// Send the header blocks of WS-Addressing, also if the WSDL does not require them: version 1.0, or 2004/08
    #[arg(long, value_name = "VERSION", num_args = 0..=1, require_equals = true, default_missing_value = "1.0")]
    addressing: Option<Version>,
    /// Where the answer goes, by WS-Addressing; the call then ends when the peer has accepted the message
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    reply_to: Option<String>,
    /// Where a fault goes, by WS-Addressing, if that is not where the answer goes
    #[arg(long, value_name = "URL", value_parser = endpoint)]
    fault_to: Option<String>,
    /// Write all messages to files of this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Take answers from the files that --record has written, and send nothing
    #[arg(long, value_name = "FOLDER")]
    replay: Option<PathBuf>,
}

/// A version of WS-Addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Version {
    #[value(name = "1.0")]
    Recommendation,
    #[value(name = "2004/08")]
    Submission,
}

/// The address of an endpoint: an absolute URI, which is well-formed if its scheme is one that bsoap knows. The peer sends there, so
/// other schemes are allowed. (WS-Addressing 1.0 Core §2.1)
fn endpoint(given: &str) -> Result<String, String> {
    const OPAQUE: [&str; 3] = ["urn", "mailto", "jms"];
    let expected = |found: &str| {
        format!("{found}; expected where the peer can send to, such as http://host:8080/answers")
    };
    let (scheme, rest) = given.split_once(':').unwrap_or_default();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.is_empty() || !scheme.chars().all(is_scheme) || given.contains(char::is_whitespace) {
        return Err(expected("this is not a URL"));
    }
    let scheme = scheme.to_ascii_lowercase();
    match &*scheme {
        "http" | "https" => match given.parse::<Address>() {
            Ok(_) => Ok(given.to_owned()),
            Err(error) => Err(expected(&error.to_string())),
        },
        _ if rest.starts_with("//") || OPAQUE.contains(&&*scheme) => Ok(given.to_owned()),
        _ => Err(expected("this URL has no scheme, such as http")),
    }
}

impl Delivery {
    /// The addressing headers. `None` if the WSDL decides.
    fn addressing(&self) -> Option<Addressing> {
        let is_asked = self.reply_to.is_some() || self.fault_to.is_some();
        if self.addressing.is_none() && !is_asked {
            return None;
        }
        let mut addressing = Addressing::new();
        if let Some(version) = self.addressing {
            addressing = addressing.version(match version {
                Version::Recommendation => AddressingVersion::Recommendation,
                Version::Submission => AddressingVersion::Submission,
            });
        }
        if let Some(url) = &self.reply_to {
            addressing = addressing.reply_to(EndpointReference::new(url));
        }
        match &self.fault_to {
            Some(url) => Some(addressing.fault_to(EndpointReference::new(url))),
            None => Some(addressing),
        }
    }

    /// A client that calls an operation and has these options.
    pub(crate) fn applied(&self, mut builder: ClientBuilder, operation: &str) -> ClientBuilder {
        if self.retries > 0 {
            let named = self.idempotent.then_some(operation);
            builder = builder.retries(Retries::new(self.retries).operations(named));
        }
        if self.cookies {
            builder = builder.cookies();
        }
        if let Some(addressing) = self.addressing() {
            builder = builder.addressing(addressing);
        }
        if let Some(folder) = &self.record {
            builder = builder.record_to(folder);
        }
        match &self.replay {
            Some(folder) => builder.transport(FileTransport::replay(folder)),
            None => builder,
        }
    }
}
