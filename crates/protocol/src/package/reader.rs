//! Takes a received package apart: which part is the root, and what the others are called.

use std::borrow::Cow;
use std::collections::HashMap;

use bsoap_codec::Attachment;
use bytes::Bytes;

use super::base64::Base64Decoder;
use super::multipart::{Multipart, Piece};
use super::{PackageError, PackageErrorKind, PackageLimits, XOP_MEDIA_TYPE, xop};
use crate::media::{self, MediaType, quoted};

/// True if a message of this `Content-Type` is a package.
///
/// ```
/// use bsoap_protocol::package::is_package;
///
/// assert!(is_package("Multipart/Related; boundary=b"));
/// assert!(!is_package("text/xml"));
/// ```
pub fn is_package(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("multipart/related")
}

/// The attachment with a content id, that a `cid:` URI names, or that is the part of the message with this name (`mime:content`).
///
/// ```
/// use bsoap_codec::Attachment;
/// use bsoap_protocol::package::find;
///
/// let attachments = [Attachment::from_bytes(*b"octets").with_content_id("a@b")];
/// assert_eq!(find(&attachments, "cid:a%40b"), Some(&attachments[0]));
/// assert_eq!(find(&attachments, "a@b"), Some(&attachments[0]));
/// ```
pub fn find<'a>(attachments: &'a [Attachment], id: &str) -> Option<&'a Attachment> {
    let known = xop::content_id(id);
    let id = known.as_deref().unwrap_or_else(|| without_brackets(id));
    attachments
        .iter()
        .find(|attachment| attachment.content_id() == Some(id))
        .or_else(|| attachments.iter().find(|it| is_part(it, id)))
}

/// Whether an attachment is the part of a message with this name: its content id begins with the name and `=`. (WS-I Attachments
/// Profile 1.0 §3.8)
fn is_part(attachment: &Attachment, name: &str) -> bool {
    let rest = attachment.content_id().and_then(|id| id.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with('='))
}

/// The headers of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartHead {
    /// The `Content-ID`, without `<` and `>`.
    pub content_id: Option<String>,
    /// The `Content-Type`.
    pub content_type: Option<String>,
}

/// What a [`Reader`] has read.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// An attachment begins.
    Attachment(PartHead),
    /// More octets of the attachment, decoded.
    Octets(Bytes),
    /// The attachment has ended.
    EndOfAttachment,
}

/// Takes a package apart while it arrives. It keeps the root, which is a message; attachments are events.
///
/// ```
/// use bsoap_protocol::package::{Event, PackageLimits, Reader};
///
/// let content_type = "multipart/related; boundary=b; type=\"text/xml\"";
/// let package = "--b\r\n\r\n<a/>\r\n--b\r\nContent-ID: <x>\r\n\r\noctets\r\n--b--\r\n";
/// let mut reader = Reader::new(content_type, PackageLimits::default())?;
/// reader.feed(package.into())?;
/// reader.finish();
/// assert!(matches!(reader.next()?, Some(Event::Attachment(head)) if head.content_id.as_deref() == Some("x")));
/// assert_eq!(reader.next()?, Some(Event::Octets("octets".into())));
/// assert_eq!(reader.next()?, Some(Event::EndOfAttachment));
/// assert_eq!(reader.next()?, None);
/// let package = reader.into_package()?;
/// assert_eq!((&package.root[..], &*package.content_type), (&b"<a/>"[..], "text/xml"));
/// # Ok::<(), bsoap_protocol::package::PackageError>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    multipart: Multipart,
    media: MediaType,
    limits: PackageLimits,
    /// The part that is being read.
    current: Current,
    /// The root's headers, as soon as it has begun.
    root: Option<PartHead>,
    root_octets: Vec<u8>,
    /// The position of each attachment by its content id.
    ids: HashMap<String, usize>,
    attachments: usize,
    decoder: Option<Base64Decoder>,
    /// The octets of the current part so far.
    octets: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    None,
    Root,
    Attachment,
}

/// A package without the octets of its attachments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// The root: the text of the message.
    pub root: Bytes,
    /// The `Content-Type` that the message would have outside of a package.
    pub content_type: String,
    /// True for MTOM: `xop:Include` elements in the message stand for base64 text.
    pub is_xop: bool,
    ids: HashMap<String, usize>,
}

impl Reader {
    /// Starts to read a package with this `Content-Type`.
    ///
    /// # Errors
    /// If it has no usable boundary.
    pub fn new(content_type: &str, limits: PackageLimits) -> Result<Self, PackageError> {
        let media = MediaType::parse(content_type).unwrap_or_default();
        let boundary = media.parameter("boundary").unwrap_or_default();
        Ok(Self {
            multipart: Multipart::new(boundary, limits)?,
            media,
            limits,
            current: Current::None,
            root: None,
            root_octets: Vec::new(),
            ids: HashMap::new(),
            attachments: 0,
            decoder: None,
            octets: 0,
        })
    }

    /// Takes the next bytes. Call [`next`](Self::next) until it returns `None` before more are fed.
    ///
    /// # Errors
    /// If the package is too long.
    pub fn feed(&mut self, bytes: Bytes) -> Result<(), PackageError> {
        self.multipart.feed(bytes)
    }

    /// The package has ended. [`next`](Self::next) returns what is left.
    pub fn finish(&mut self) {
        self.multipart.finish();
    }

    /// The bytes of the root that are in memory.
    pub fn memory(&self) -> u64 {
        self.root_octets.capacity() as u64
    }

    /// The next event. `None` if more bytes are needed, or the last attachment has ended.
    ///
    /// # Errors
    /// If the package is malformed or exceeds a limit.
    #[allow(clippy::should_implement_trait)] // an error ends it, and `None` may not
    pub fn next(&mut self) -> Result<Option<Event>, PackageError> {
        while let Some(piece) = self.multipart.next()? {
            let event = match piece {
                Piece::Head(head) => self.begin(&head)?,
                Piece::Octets(octets) => self.octets(octets)?,
                Piece::End => self.end()?,
            };
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }

    fn begin(&mut self, head: &[u8]) -> Result<Option<Event>, PackageError> {
        let fields = fields(head, &self.limits).map_err(|kind| self.error(kind))?;
        let value = |name: &str| {
            let field = fields
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            field.map(|(_, value)| value.trim().to_owned())
        };
        let part = PartHead {
            content_id: value("content-id").map(|id| without_brackets(&id).to_owned()),
            content_type: value("content-type"),
        };
        self.octets = 0;
        let encoding = value("content-transfer-encoding").unwrap_or_default();
        self.decoder = match encoding.to_ascii_lowercase().as_str() {
            "" | "binary" | "8bit" | "7bit" => None,
            "base64" => Some(Base64Decoder::default()),
            _ => return Err(self.error(PackageErrorKind::TransferEncoding(bounded(encoding)))),
        };
        let start = self.media.parameter("start").map(without_brackets);
        let is_root = match start {
            // Without `start`, the root is the first part. (RFC 2387 §3.2)
            None => self.root.is_none(),
            Some(start) => part.content_id.as_deref() == Some(start),
        };
        if let Some(id) = &part.content_id {
            let is_new = match is_root {
                true => self.root.is_none() && !self.ids.contains_key(id),
                false => {
                    let of_root = self.root.as_ref().and_then(|root| root.content_id.as_ref());
                    let is_known = self.ids.insert(id.clone(), self.attachments).is_some();
                    !is_known && of_root != Some(id)
                }
            };
            if !is_new {
                return Err(self.error(PackageErrorKind::DuplicateId(bounded(id.clone()))));
            }
        }
        if is_root {
            self.current = Current::Root;
            self.root = Some(part);
            return Ok(None);
        }
        self.current = Current::Attachment;
        self.attachments += 1;
        Ok(Some(Event::Attachment(part)))
    }

    fn octets(&mut self, octets: Bytes) -> Result<Option<Event>, PackageError> {
        let octets = match &mut self.decoder {
            None => octets,
            Some(decoder) => match decoder.decode(&octets) {
                Ok(octets) => octets,
                Err(_) => return Err(self.error(PackageErrorKind::Base64)),
            },
        };
        self.octets += octets.len() as u64;
        let (name, limit) = match self.current {
            Current::Root => ("root_bytes", self.limits.root_bytes),
            _ => ("attachment_bytes", self.limits.attachment_bytes),
        };
        if self.octets > limit {
            return Err(self.error(PackageErrorKind::Limit { name, limit }));
        }
        if self.current == Current::Root {
            self.root_octets.extend_from_slice(&octets);
            return Ok(None);
        }
        Ok((!octets.is_empty()).then_some(Event::Octets(octets)))
    }

    fn end(&mut self) -> Result<Option<Event>, PackageError> {
        if self
            .decoder
            .take()
            .is_some_and(|decoder| decoder.finish().is_err())
        {
            return Err(self.error(PackageErrorKind::Base64));
        }
        let ended = std::mem::replace(&mut self.current, Current::None);
        Ok((ended == Current::Attachment).then_some(Event::EndOfAttachment))
    }

    /// The package, when all has been read.
    ///
    /// # Errors
    /// If it has no root, or a root that is not a message.
    pub fn into_package(self) -> Result<Package, PackageError> {
        let Some(root) = self.root else {
            let start = self.media.parameter("start").unwrap_or_default();
            let kind = PackageErrorKind::NoRoot(bounded(without_brackets(start).to_owned()));
            return Err(PackageError::new(kind, 0));
        };
        let root_media = root.content_type.as_deref().and_then(MediaType::parse);
        let mut message = message_media(root_media.as_ref(), &self.media);
        let octets = Bytes::from(self.root_octets);
        let root = in_utf8(&mut message, octets);
        let essence = root_media.as_ref().map(|media| media.essence.as_str());
        Ok(Package {
            root,
            content_type: content_type(&message),
            is_xop: essence == Some(XOP_MEDIA_TYPE),
            ids: self.ids,
        })
    }

    fn error(&self, kind: PackageErrorKind) -> PackageError {
        PackageError::new(kind, self.multipart.offset())
    }
}

impl Package {
    /// The text to decode: that of the root, with a [reference](bsoap_codec::attachment::reference) to an attachment, by its
    /// position, for each `xop:Include`. References keep the length of what they replace where possible, so that locations in
    /// errors are right.
    ///
    /// # Errors
    /// If an `xop:Include` is not the only content of an element, or refers to anything else than a part of this package.
    pub fn text(&self, options: bsoap_xml::Options) -> Result<Bytes, PackageError> {
        match self.is_xop {
            true => xop::resolve(&self.root, &self.ids, options),
            false => Ok(self.root.clone()),
        }
    }
}

/// The media type of the message: its own, or the one that the root's XOP media type or the package names.
fn message_media(root: Option<&MediaType>, package: &MediaType) -> MediaType {
    let named = |media: &MediaType, name: &str| media.parameter(name).and_then(MediaType::parse);
    let is_xop = |media: &MediaType| media.essence == XOP_MEDIA_TYPE;
    let inner = match root {
        Some(root) if is_xop(root) => named(root, "type").or_else(|| named(package, "start-info")),
        Some(root) => Some(root.clone()),
        None => named(package, "type").filter(|media| !is_xop(media)),
    };
    let start_info = named(package, "start-info");
    let mut message = inner.unwrap_or_else(|| MediaType {
        // The version then follows from the Envelope.
        essence: "application/xml".into(),
        ..MediaType::default()
    });
    let root_parameter =
        |get: fn(&MediaType) -> &Option<String>| root.and_then(|root| get(root).clone());
    message.charset = message
        .charset
        .or_else(|| root_parameter(|media| &media.charset));
    message.action = message
        .action
        .or_else(|| root_parameter(|media| &media.action))
        .or_else(|| package.action.clone())
        .or_else(|| start_info.and_then(|media| media.action));
    message
}

/// The root in UTF-8, in which `xop:Include` can be looked for. Text that is not in its charset is left to the decoder, which
/// says so.
fn in_utf8(message: &mut MediaType, octets: Bytes) -> Bytes {
    let text = match bsoap_xml::decode_str_as(&octets, message.charset.as_deref()) {
        Ok(Cow::Owned(text)) => text,
        // Without a byte order mark.
        Ok(Cow::Borrowed(text)) => return octets.slice(octets.len() - text.len()..),
        Err(_) => return octets,
    };
    message.charset = Some("utf-8".into());
    let declaration = media::declaration(text.as_bytes());
    Bytes::from(text).slice(declaration..)
}

/// A media type as text, without parameters that SOAP does not use.
fn content_type(media: &MediaType) -> String {
    let mut text = media.essence.clone();
    for (name, value) in [("charset", &media.charset), ("action", &media.action)] {
        if let Some(value) = value {
            text.push_str(&format!("; {name}={}", quoted(value)));
        }
    }
    text
}

/// The headers of a part: names and values, with continued lines joined.
fn fields(head: &[u8], limits: &PackageLimits) -> Result<Vec<(String, String)>, PackageErrorKind> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(line) = std::str::from_utf8(line) else {
            return Err(PackageErrorKind::Header("a header is not UTF-8 text"));
        };
        if line.starts_with([' ', '\t']) {
            match fields.last_mut() {
                Some((_, value)) => value.push_str(line),
                None => return Err(PackageErrorKind::Header("the first line continues another")),
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(PackageErrorKind::Header("a line has no colon"));
        };
        if fields.len() == limits.headers {
            let (name, limit) = ("headers", limits.headers as u64);
            return Err(PackageErrorKind::Limit { name, limit });
        }
        fields.push((name.trim_end().to_owned(), value.to_owned()));
    }
    Ok(fields)
}

fn without_brackets(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix('<')
        .and_then(|id| id.strip_suffix('>'))
        .unwrap_or(id)
}

/// The beginning of a text of the peer, for messages.
fn bounded(mut text: String) -> String {
    let end = text
        .char_indices()
        .nth(100)
        .map_or(text.len(), |(at, _)| at);
    text.truncate(end);
    text
}
