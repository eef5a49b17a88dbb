//! How messages of `call` are delivered: repetitions, cookies, addressing headers, and files instead of the network.

use std::path::PathBuf;

use bsoap::ClientBuilder;
use bsoap::addressing::Addressing;
use bsoap::transport::{FileTransport, Retries};

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
    /// Send the header blocks of WS-Addressing 1.0, also if the WSDL does not ask for them
    #[arg(long)]
    addressing: bool,
    /// Write all messages to files of this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Take answers from the files that --record has written, and send nothing
    #[arg(long, value_name = "FOLDER")]
    replay: Option<PathBuf>,
}

impl Delivery {
    /// A client that calls an operation and has these options.
    pub(crate) fn applied(&self, mut builder: ClientBuilder, operation: &str) -> ClientBuilder {
        if self.retries > 0 {
            let named = self.idempotent.then_some(operation);
            builder = builder.retries(Retries::new(self.retries).operations(named));
        }
        if self.cookies {
            builder = builder.cookies();
        }
        if self.addressing {
            builder = builder.addressing(Addressing::new());
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
