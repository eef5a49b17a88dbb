//! A received package: its message, and its attachments.

use std::sync::Arc;

use bsoap_codec::{Attachment, DecodeOptions, Record};
use bsoap_http::{BodyRefusal, Bytes, Extensions, StatusCode};
use bsoap_protocol::package::{Package, PackageError, is_package};

use super::Attachments;
#[cfg(feature = "server")]
use super::spool::InTempFile;
use super::spool::{PartFile, Spool};

/// A received package.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(super) package: Package,
    pub(super) attachments: Vec<Attachment>,
}

impl Received {
    /// The package that came as a body: read while it arrived, or, of a body that was collected, now. `None` if the body is a
    /// message without attachments.
    pub(crate) fn of(
        extensions: &mut Extensions,
        content_type: Option<&str>,
        body: &Bytes,
        options: &Attachments,
    ) -> Result<Option<Self>, BodyRefusal> {
        if let Some(received) = extensions.remove::<Self>() {
            return Ok(Some(received));
        }
        match content_type {
            Some(content_type) if is_package(content_type) => {
                Self::read(content_type, body, options).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn read(content_type: &str, body: &Bytes, options: &Attachments) -> Result<Self, BodyRefusal> {
        let mut spool = Spool::new(content_type, options)?;
        spool.feed(body.clone())?;
        spool.end()?;
        let file = PartFile::append(None, spool.for_file(), options)?;
        spool.into_received(file)
    }

    /// The root: the message as it was received.
    pub(crate) fn root(&self) -> &Bytes {
        &self.package.root
    }

    /// The `Content-Type` that the message would have alone.
    pub(crate) fn content_type(&self) -> &str {
        &self.package.content_type
    }

    /// True for MTOM.
    #[cfg(feature = "server")]
    pub(crate) fn is_mtom(&self) -> bool {
        self.package.is_xop
    }

    /// The bytes of memory of the attachments.
    #[cfg(feature = "server")]
    pub(crate) fn memory(&self) -> u64 {
        let in_memory = self
            .attachments
            .iter()
            .filter(|it| !it.content().as_any().is::<InTempFile>());
        in_memory.filter_map(Attachment::len).sum()
    }

    /// The text to decode: that of the root, or what a hook has made of it, with references for `xop:Include`.
    pub(crate) fn text(
        &mut self,
        root: Bytes,
        options: &DecodeOptions,
    ) -> Result<Bytes, PackageError> {
        self.package.root = root;
        let options = bsoap_xml::Options::with_limits(options.limits);
        self.package.text(options)
    }

    /// The decoded message with its attachments. It is copied if it is shared: saved messages have no attachments.
    pub(crate) fn attach(self, record: Arc<Record>) -> Arc<Record> {
        let mut record = Arc::unwrap_or_clone(record);
        record.set_attachments(self.attachments);
        Arc::new(record)
    }
}

/// The refusal of a package.
pub(crate) fn refusal(error: PackageError) -> BodyRefusal {
    BodyRefusal {
        status: match error.is_limit() {
            true => StatusCode::PAYLOAD_TOO_LARGE,
            false => StatusCode::BAD_REQUEST,
        },
        reason: error.to_string(),
    }
}
