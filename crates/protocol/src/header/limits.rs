//! Limits of the Header of a message, checked before the message is decoded.
//!
//! Header blocks that no operation declares are kept as XML, one by one, so a Header of millions of tiny blocks costs far more
//! than a Body of the same length. The Header is therefore scanned first, until it ends or exceeds a limit: a message that is
//! refused costs no more than one at the limit. Most messages are too short, or have too few tags, to exceed any limit, and are
//! not scanned.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use bsoap_schema::SoapVersion;
use bsoap_xml::{Event, Limits, Options, Reader, Tag, Vocabulary};

use super::walk::{Seen, walk};
use crate::limits::MAX_COUNTED_BYTES;
use crate::peek::version_of;

/// How large the Header of a message may be. A request that exceeds a limit is answered with a fault, a reply is an error; both
/// name the limit.
///
/// ```
/// use bsoap_protocol::header::HeaderLimits;
///
/// let mut limits = HeaderLimits::default();
/// assert_eq!((limits.blocks, limits.bytes, limits.elements), (256, 1 << 20, 10_000));
/// limits.blocks = 16;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeaderLimits {
    /// The maximum number of header blocks. Default: 256.
    pub blocks: usize,
    /// The maximum number of bytes of a message, as UTF-8, up to the end of its Header: what precedes the Header counts too.
    /// Default: 1 MiB.
    pub bytes: usize,
    /// The maximum number of elements in the Header: blocks, their children and so on. Default: 10 000.
    pub elements: usize,
}

impl Default for HeaderLimits {
    fn default() -> Self {
        Self {
            blocks: 256,
            bytes: 1 << 20,
            elements: 10_000,
        }
    }
}

/// A Header that exceeds a limit. Displays as the limit and where it was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded {
    /// The name of the limit.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) limit: usize,
    /// The byte in the message, as UTF-8.
    pub(crate) offset: u64,
    /// The version of the Envelope, if that has been read.
    pub(crate) version: Option<SoapVersion>,
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            limit,
            offset,
            ..
        } = self;
        write!(
            f,
            "the limit `{name}` ({limit}) is exceeded at /Envelope/Header (byte {offset})"
        )
    }
}

impl HeaderLimits {
    /// The names of the limits, as errors have them.
    pub const NAMES: [&str; 3] = ["header_blocks", "header_bytes", "header_elements"];

    /// Sets the limit of this name. Returns `false` if there is none.
    ///
    /// ```
    /// use bsoap_protocol::header::HeaderLimits;
    ///
    /// let mut limits = HeaderLimits::default();
    /// assert!(limits.set("header_blocks", 16) && limits.blocks == 16);
    /// assert!(!limits.set("blocks", 16));
    /// ```
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "header_blocks" => self.blocks = size,
            "header_bytes" => self.bytes = size,
            "header_elements" => self.elements = size,
            _ => return false,
        }
        true
    }

    /// Checks the Header of a message. A message that is not well-formed up to the end of its Header passes: the decoder reports
    /// that.
    ///
    /// # Errors
    /// The first limit that the Header exceeds.
    pub(crate) fn check(&self, message: &[u8]) -> Result<(), Exceeded> {
        if self.is_surely_within(message) {
            return Ok(());
        }
        Scan::new(*self).run(message)
    }

    /// True if a message is so short, and has so few tags, that its Header cannot exceed a limit. Each element has at least one
    /// `<`, which is also a byte of its own in UTF-16.
    fn is_surely_within(&self, message: &[u8]) -> bool {
        let tags = || message.iter().filter(|&&byte| byte == b'<').count();
        message.len() <= self.bytes.min(MAX_COUNTED_BYTES)
            && tags() <= self.blocks.min(self.elements)
    }
}

/// Counts what is in the Header.
struct Scan {
    limits: HeaderLimits,
    version: Option<SoapVersion>,
    /// The number of elements that are open.
    depth: usize,
    blocks: usize,
    elements: usize,
}

impl Scan {
    fn new(limits: HeaderLimits) -> Self {
        Self {
            limits,
            version: None,
            depth: 0,
            blocks: 0,
            elements: 0,
        }
    }

    fn run(mut self, message: &[u8]) -> Result<(), Exceeded> {
        let walked = walk(message, reader(), |seen| match self.step(seen) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(Ok(())),
            Err(exceeded) => ControlFlow::Break(Err(exceeded)),
        });
        walked.unwrap_or(Ok(()))
    }

    /// Whether the scan goes on behind an event, or between two pieces.
    fn step(&mut self, seen: Seen<'_>) -> Result<bool, Exceeded> {
        match seen {
            Seen::Event(Event::Start(tag)) => {
                let goes_on = self.start(&tag)?;
                self.depth += 1;
                Ok(goes_on)
            }
            Seen::Event(Event::End(tag)) => {
                self.depth = self.depth.saturating_sub(1);
                self.check_bytes(tag.offset + tag.raw.len() as u64)?;
                // Otherwise the Header or the Envelope has ended.
                Ok(self.depth > 1)
            }
            Seen::Event(Event::Text(text)) => {
                self.check_bytes(text.offset + text.raw.len() as u64)?;
                Ok(true)
            }
            Seen::Event(Event::EndOfDocument) => Ok(false),
            Seen::Event(_) => Ok(true),
            // What is not an event yet, such as half a comment, has been fed: at least half as many bytes of UTF-8, if the
            // message is in UTF-16.
            Seen::Bytes(bytes) => self.check_bytes((bytes / 2) as u64).map(|()| true),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) -> Result<bool, Exceeded> {
        let end = tag.offset + tag.raw.len() as u64;
        match self.depth {
            0 => {
                self.version = version_of(tag.namespace());
                if self.version.is_none() || tag.local() != "Envelope" {
                    return Ok(false);
                }
            }
            1 => {
                if version_of(tag.namespace()).is_none() || tag.local() != "Header" {
                    return Ok(false);
                }
            }
            depth => {
                self.blocks += usize::from(depth == 2);
                self.elements += 1;
                let Self { limits, .. } = *self;
                self.bound(
                    "header_blocks",
                    self.blocks as u64,
                    limits.blocks,
                    tag.offset,
                )?;
                self.bound(
                    "header_elements",
                    self.elements as u64,
                    limits.elements,
                    tag.offset,
                )?;
            }
        }
        self.check_bytes(end)?;
        Ok(true)
    }

    fn check_bytes(&self, end: u64) -> Result<(), Exceeded> {
        self.bound("header_bytes", end, self.limits.bytes, end)
    }

    fn bound(
        &self,
        name: &'static str,
        found: u64,
        limit: usize,
        offset: u64,
    ) -> Result<(), Exceeded> {
        if found <= limit as u64 {
            return Ok(());
        }
        Err(Exceeded {
            name,
            limit,
            offset,
            version: self.version,
        })
    }
}

/// A reader without limits of its own: what it would refuse would pass without a check.
fn reader() -> Reader {
    const NO_LIMIT: usize = isize::MAX as usize;
    let mut limits = Limits::default();
    limits.depth = NO_LIMIT;
    limits.attributes = NO_LIMIT;
    limits.name_length = NO_LIMIT;
    limits.text_length = NO_LIMIT;
    limits.markup_length = NO_LIMIT;
    limits.namespaces = NO_LIMIT;
    limits.total_size = NO_LIMIT as u64;
    Reader::new(
        Options::with_limits(limits),
        Arc::new(Vocabulary::default()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HeaderLimits = HeaderLimits {
        blocks: 3,
        bytes: 400,
        elements: 8,
    };

    fn envelope(header: &str) -> String {
        format!(
            "<s:Envelope xmlns:s='{}'><s:Header>{header}</s:Header><s:Body>{}</s:Body></s:Envelope>",
            SoapVersion::Soap12.envelope_namespace(),
            "<x/>".repeat(1000)
        )
    }

    fn exceeded(message: &[u8]) -> Option<&'static str> {
        LIMITS.check(message).err().map(|exceeded| exceeded.name)
    }

    #[test]
    fn each_limit_holds_at_its_value_and_not_beyond() {
        for (header, expected) in [
            ("<a/>".repeat(3), None),
            ("<a/>".repeat(4), Some("header_blocks")),
            (format!("<a>{}</a>", "<b/>".repeat(7)), None),
            (
                format!("<a>{}</a>", "<b/>".repeat(8)),
                Some("header_elements"),
            ),
            (format!("<a>{}</a>", "x".repeat(200)), None),
            (format!("<a>{}</a>", "x".repeat(400)), Some("header_bytes")),
            (
                format!("<a b='{}'/>", "x".repeat(400)),
                Some("header_bytes"),
            ),
            (format!("<!--{}-->", "x".repeat(2000)), Some("header_bytes")),
        ] {
            assert_eq!(exceeded(envelope(&header).as_bytes()), expected, "{header}");
            let utf16 = envelope(&header)
                .encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect();
            let utf16: Vec<u8> = [vec![0xfe, 0xff], utf16].concat();
            assert_eq!(exceeded(&utf16), expected, "{header} in UTF-16");
        }
    }

    #[test]
    fn what_follows_the_header_is_not_counted() {
        for message in [
            envelope(""),
            envelope("").replace("<s:Header></s:Header>", ""),
            envelope("").replace("<s:Header></s:Header>", "<s:Header/>"),
            envelope("<a/>").replace("s:Header", "Other"),
            "<a/>".repeat(1000),
            format!("<a>{}</a>", "<b/>".repeat(1000)),
        ] {
            assert_eq!(exceeded(message.as_bytes()), None, "{message}");
        }
    }

    #[test]
    fn a_header_that_is_not_well_formed_is_left_to_the_decoder() {
        for header in ["<a>", "<a></b>", "<a", "&x;", "<p:a/>"] {
            assert_eq!(exceeded(envelope(header).as_bytes()), None, "{header}");
        }
        // But not behind a limit.
        let header = format!("{}<p:a", "<a/>".repeat(4));
        assert_eq!(
            exceeded(envelope(&header).as_bytes()),
            Some("header_blocks")
        );
    }

    #[test]
    fn the_time_of_a_refusal_does_not_depend_on_the_length_of_the_header() {
        let limits = HeaderLimits::default();
        for header in ["<a/>", "<a><b/>", "x", " "] {
            let text = envelope(&header.repeat(8_000_000 / header.len()));
            let begun = std::time::Instant::now();
            let exceeded = limits.check(text.as_bytes()).expect_err("too much");
            assert!(exceeded.offset < 4 << 20, "{exceeded}");
            // Without optimisation on a busy machine; otherwise it takes milliseconds.
            assert!(begun.elapsed().as_secs() < 2, "{header} {exceeded}");
        }
    }
}
