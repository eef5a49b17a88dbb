//! MIME packages: an Envelope with attachments, as MTOM (with XOP) and as SOAP with Attachments. No I/O.
//!
//! ```text
//! multipart/related      one part is the root, the Envelope; the others are attachments, named by their Content-ID
//!   MTOM, XOP            a base64Binary element contains <xop:Include href="cid:…"/> instead of its text
//!   with Attachments     an element of type ref:swaRef contains the text cid:…, or nothing refers to a part
//! ```
//!
//! [`Reader`] takes a package apart while it arrives: feed bytes, get events. [`Package`] is what its events amount to apart from
//! the octets of the parts, which the caller stores. [`rewrite`] and [`Parts::frame`] put a message and its attachments together as
//! segments to send.
//!
//! Specifications: RFC 2046 §5.1 (multipart), RFC 2387 (related), RFC 2392 (`cid:`), XOP 1.0, SOAP 1.2 MTOM, SOAP Messages with
//! Attachments, WS-I Attachments Profile 1.0 (`swaRef`).

use std::fmt;

mod base64;
mod multipart;
mod reader;
mod writer;
mod xop;

pub use reader::{Event, Package, PartHead, Reader, find, is_package};
pub use writer::{Packed, Packing, Parts, Rewritten, Segment, length, rewrite};

/// The namespace of `xop:Include`.
pub const XOP: &str = "http://www.w3.org/2004/08/xop/include";

/// The media type of the root of a package with XOP.
pub const XOP_MEDIA_TYPE: &str = "application/xop+xml";

/// What a received package cannot pass.
///
/// ```
/// use bsoap_protocol::package::PackageLimits;
///
/// let mut limits = PackageLimits::default();
/// limits.parts = 10;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageLimits {
    /// The maximum number of parts, the root among them. Default 101.
    pub parts: usize,
    /// The maximum number of headers of a part. Default 32.
    pub headers: usize,
    /// The maximum number of bytes of the headers of a part, and of what precedes the first part. Default 8 KiB.
    pub header_bytes: usize,
    /// The maximum number of bytes of the root. Default 64 MiB.
    pub root_bytes: u64,
    /// The maximum number of octets of an attachment. Default 1 GiB.
    pub attachment_bytes: u64,
    /// The maximum number of bytes of a whole package. Default 2 GiB.
    pub total_bytes: u64,
}

impl Default for PackageLimits {
    fn default() -> Self {
        Self {
            parts: 101,
            headers: 32,
            header_bytes: 8 << 10,
            root_bytes: 64 << 20,
            attachment_bytes: 1 << 30,
            total_bytes: 2 << 30,
        }
    }
}

impl PackageLimits {
    /// The names of the limits, as errors have them.
    pub const NAMES: [&str; 6] = [
        "parts",
        "headers",
        "header_bytes",
        "root_bytes",
        "attachment_bytes",
        "total_bytes",
    ];

    /// Sets the limit of this name. Returns `false` if there is none.
    ///
    /// ```
    /// use bsoap_protocol::package::PackageLimits;
    ///
    /// let mut limits = PackageLimits::default();
    /// assert!(limits.set("parts", 10) && limits.parts == 10);
    /// assert!(!limits.set("part", 10));
    /// ```
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "parts" => self.parts = size,
            "headers" => self.headers = size,
            "header_bytes" => self.header_bytes = size,
            "root_bytes" => self.root_bytes = value,
            "attachment_bytes" => self.attachment_bytes = value,
            "total_bytes" => self.total_bytes = value,
            _ => return false,
        }
        true
    }
}

/// What is wrong with a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageError {
    kind: PackageErrorKind,
    /// Where in the package, in bytes; in the root for errors of XOP.
    offset: u64,
}

/// The kind of a [`PackageError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackageErrorKind {
    /// The media type has no usable `boundary`.
    Boundary,
    /// The package is not framed as its media type says.
    Framing(&'static str),
    /// A header of a part is malformed.
    Header(&'static str),
    /// The `Content-Transfer-Encoding` of a part is not supported.
    TransferEncoding(String),
    /// A part is not the base64 text that its `Content-Transfer-Encoding` says.
    Base64,
    /// Two parts have this Content-ID.
    DuplicateId(String),
    /// No part has the Content-ID that the parameter `start` names.
    NoRoot(String),
    /// `xop:Include` is not used as XOP says.
    Include(String),
    /// A limit is exceeded.
    Limit {
        /// The name of the limit.
        name: &'static str,
        /// The most that is allowed.
        limit: u64,
    },
    /// An attachment cannot be sent as it is.
    Unsendable(String),
}

impl PackageError {
    pub(crate) fn new(kind: PackageErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    /// The kind of the error.
    pub fn kind(&self) -> &PackageErrorKind {
        &self.kind
    }

    /// Where the error was found: the number of bytes of the package before it; of the root for errors of `xop:Include`.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// True if a limit is exceeded.
    pub fn is_limit(&self) -> bool {
        matches!(self.kind, PackageErrorKind::Limit { .. })
    }
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use PackageErrorKind as Kind;

        let at = self.offset;
        match &self.kind {
            Kind::Boundary => f.write_str(
                "the Content-Type multipart/related has no boundary of 1 to 70 characters, such as boundary=\"uuid:7\"",
            ),
            Kind::Framing(problem) => write!(f, "the MIME package is malformed at byte {at}: {problem}"),
            Kind::Header(problem) => {
                write!(f, "the headers of a MIME part are malformed at byte {at}: {problem}")
            }
            Kind::TransferEncoding(found) => write!(
                f,
                "the Content-Transfer-Encoding {found:?} of the MIME part at byte {at} is not supported, expected binary, 8bit, 7bit or base64"
            ),
            Kind::Base64 => write!(f, "the MIME part is not base64 text at byte {at} although its Content-Transfer-Encoding says so"),
            Kind::DuplicateId(id) => {
                write!(f, "two MIME parts have the Content-ID <{id}>, the second at byte {at}")
            }
            Kind::NoRoot(id) => write!(
                f,
                "no MIME part has the Content-ID <{id}> that the parameter start of the Content-Type names"
            ),
            Kind::Include(problem) => write!(f, "{problem}, at byte {at} of the Envelope"),
            Kind::Limit { name, limit } => write!(
                f,
                "the MIME package exceeds the limit `{name}` ({limit} {}) at byte {at}",
                unit(name)
            ),
            Kind::Unsendable(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for PackageError {}

/// What a limit counts.
fn unit(limit: &str) -> &'static str {
    match limit {
        "parts" => "parts",
        "headers" => "headers of a part",
        "header_bytes" => "bytes of the headers of a part",
        "root_bytes" => "bytes of the root part",
        "attachment_bytes" => "octets of an attachment",
        _ => "bytes",
    }
}
