//! Attachments: how they are sent, and what is accepted of them. See the guide `docs/guide/attachments.md`.
//!
//! ```
//! # #[cfg(all(feature = "client", feature = "server"))] {
//! use bsoap::attachments::{Attachment, Attachments};
//! use bsoap::{Client, Message, Service, Value};
//!
//! # let wsdl = include_str!("../../../examples/photos/photos.wsdl");
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! // Answers with the number of octets that it got.
//! async fn store(message: Message) -> Value {
//!     let photo = message.value()["photo"].as_attachment().cloned().expect("it came as an attachment");
//!     Value::object([("size", Value::from(photo.len().unwrap_or_default()))])
//! }
//!
//! let service = Service::builder(wsdl).handle("store", store).build()?.bind("127.0.0.1:0").await?;
//! let client = Client::builder(wsdl).endpoint(&service.urls()[0]).attachments(Attachments::mtom()).build()?;
//! tokio::spawn(service.run(std::future::pending()));
//!
//! let photo = Attachment::from_bytes(vec![7; 100_000]).with_media_type("image/png");
//! let answer = client.call("store", &Value::object([("name", "a".into()), ("photo", photo.into())])).await?;
//! assert_eq!(answer["size"].as_u64(), Some(100_000));
//! # Ok::<(), bsoap::Error>(())
//! # }).unwrap();
//! # }
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_protocol::package::Packing;
#[cfg(feature = "client")]
use bsoap_protocol::package::is_package;
#[cfg(feature = "client")]
use bsoap_schema::Port;

mod disk;
mod outgoing;
mod received;
mod spool;

pub use bsoap_codec::Attachment;
pub use bsoap_codec::attachment::Content;
pub use bsoap_protocol::package::PackageLimits;
pub use outgoing::from_stream;

use disk::DiskBudget;
pub(crate) use outgoing::Prepared;
pub(crate) use received::Received;
#[cfg(feature = "client")]
pub(crate) use received::refusal;
pub(crate) use spool::PackageReceiver;

/// How a client or a service sends attachments, and what it accepts of them.
///
/// By default, packages (MTOM, SOAP with Attachments) are accepted and answered in the same way, and other messages have their
/// binary values as base64 text, unless a policy of the WSDL requires MTOM (`wsoma:OptimizedMimeSerialization`): then clients send it,
/// and services answer with it.
///
/// ```
/// use bsoap::attachments::{Attachments, PackageLimits};
///
/// let mut limits = PackageLimits::default();
/// limits.attachment_bytes = 8 << 30;
/// limits.total_bytes = 8 << 30;
/// let attachments = Attachments::mtom().threshold(64 << 10).limits(limits).memory(4 << 20);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Attachments {
    are_accepted: bool,
    /// `None`: as the policies of the port say.
    mtom: Option<bool>,
    threshold: usize,
    limits: PackageLimits,
    memory: usize,
    directory: Option<Arc<Path>>,
    disk: DiskBudget,
}

impl Default for Attachments {
    fn default() -> Self {
        Self {
            are_accepted: true,
            mtom: None,
            threshold: 4 << 10,
            limits: PackageLimits::default(),
            memory: 1 << 20,
            directory: None,
            disk: DiskBudget::new(16 << 30),
        }
    }
}

impl Attachments {
    /// The default: packages are accepted; a service answers to MTOM with MTOM.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends all messages with MTOM: attachments, and binary values from the [threshold](Self::threshold) on, are parts of a MIME
    /// package.
    pub fn mtom() -> Self {
        Self::default().with_mtom()
    }

    /// The same, with MTOM: see [`mtom`](Self::mtom).
    pub fn with_mtom(mut self) -> Self {
        self.mtom = Some(true);
        self
    }

    /// The same, without MTOM, also if a policy requires it. A service still answers to MTOM with MTOM, and to others without.
    pub fn without_mtom(mut self) -> Self {
        self.mtom = Some(false);
        self
    }

    /// Refuses packages.
    pub fn off() -> Self {
        Self {
            are_accepted: false,
            ..Self::default()
        }
    }

    /// Sets from how many octets on a binary value is sent as an attachment with MTOM. Default: 4 KiB. A value that is given as an
    /// [`Attachment`] always is.
    pub fn threshold(mut self, octets: usize) -> Self {
        self.threshold = octets;
        self
    }

    /// Sets what received packages cannot pass. The limit for bodies of the client or service applies to the root, too.
    pub fn limits(mut self, limits: PackageLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many octets of the attachments of a received message are kept in memory. Default: 1 MiB. More are written to
    /// temporary files, which are deleted when the message is dropped.
    pub fn memory(mut self, octets: usize) -> Self {
        self.memory = octets;
        self
    }

    /// Sets the directory of temporary files. By default it is that of the system.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into().into());
        self
    }

    /// Sets how many octets the temporary files of all messages together may have. Default: 16 GiB. A message that exceeds it is
    /// answered with the status 503.
    pub fn disk(mut self, octets: u64) -> Self {
        self.disk = DiskBudget::new(octets);
        self
    }

    /// The same, with what the policies of a port say, unless the program says something else.
    #[cfg(feature = "client")]
    pub(crate) fn for_port(mut self, port: &Port) -> Self {
        let is_required = port.mtom.map(|mtom| mtom.is_required);
        self.mtom = self.mtom.or(is_required);
        self
    }

    /// The same, with a root that is no longer than any message.
    pub(crate) fn within(mut self, max_body: u64) -> Self {
        self.limits.root_bytes = self.limits.root_bytes.min(max_body);
        self
    }

    /// How a message is sent: one that answers MTOM, or one that a policy requires MTOM of, or another one.
    pub(crate) fn packing(&self, answers_mtom: bool, is_required: bool) -> Packing {
        let is_required = is_required && self.are_accepted;
        match answers_mtom || self.mtom.unwrap_or(is_required) {
            true => Packing::Mtom,
            false => Packing::Inline,
        }
    }

    /// Takes the attachments out of a message that is to be sent; with MTOM, long binary values become attachments.
    pub(crate) fn detach(&self, record: &mut Record, packing: Packing) -> Vec<Attachment> {
        if packing == Packing::Mtom {
            record.attach_octets(self.threshold);
        }
        record.take_attachments()
    }
}

/// Packages are stored while they arrive.
#[cfg(feature = "client")]
impl bsoap_http::ReadAnswer for Attachments {
    fn reader(&self, headers: &bsoap_http::HeaderMap) -> Option<Box<dyn bsoap_http::BodyReader>> {
        let content_type = headers
            .get(bsoap_http::header::CONTENT_TYPE)?
            .to_str()
            .ok()?;
        if !is_package(content_type) {
            return None;
        }
        // A package that is not accepted is collected, and then refused with the reason.
        let receiver = PackageReceiver::new(content_type, self).ok()?;
        Some(Box::new(receiver))
    }
}
