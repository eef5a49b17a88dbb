//! Puts a message and its attachments together.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use bsoap_codec::Attachment;
use bsoap_codec::attachment::reference;
use bytes::Bytes;
use memchr::memmem;

use super::{PackageError, PackageErrorKind, XOP, XOP_MEDIA_TYPE};
use crate::media::{MediaType, quoted};

/// The content id of the root.
const ROOT_ID: &str = "envelope@bsoap";

/// How attachments travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Packing {
    /// Binary values are base64 text in the message. What it does not refer to as binary values are parts of a package (SOAP with
    /// Attachments).
    #[default]
    Inline,
    /// MTOM: attachments are parts of a package, also if there are none. Binary values are `xop:Include` elements.
    Mtom,
}

/// A piece of what is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    /// Bytes as they are.
    Bytes(Bytes),
    /// The octets of an attachment.
    Octets(Attachment),
    /// The octets of an attachment as base64 text.
    Base64(Attachment),
}

/// A message with its attachments, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Packed {
    /// The `Content-Type`.
    pub content_type: String,
    /// What is sent, in order.
    pub segments: Vec<Segment>,
}

/// The number of bytes of segments. `None` if an attachment does not know its length.
pub fn length(segments: &[Segment]) -> Option<u64> {
    segments.iter().try_fold(0u64, |sum, segment| {
        let length = match segment {
            Segment::Bytes(bytes) => bytes.len() as u64,
            Segment::Octets(attachment) => attachment.len()?,
            Segment::Base64(attachment) => attachment.len()?.div_ceil(3).checked_mul(4)?,
        };
        sum.checked_add(length)
    })
}

/// A message whose references to attachments are replaced by what is sent for them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rewritten {
    /// The text of the message.
    pub root: Vec<Segment>,
    /// What is sent beside the message. `None` if the message is sent alone.
    pub parts: Option<Parts>,
}

/// The attachments that are parts of a package.
#[derive(Clone, Debug)]
pub struct Parts {
    packing: Packing,
    /// Each with its content id.
    attachments: Vec<(String, Attachment)>,
}

/// Replaces the references in the text of a message, which are positions in `attachments`.
///
/// ```
/// use bsoap_codec::Attachment;
/// use bsoap_codec::attachment::reference;
/// use bsoap_protocol::package::{Packing, Segment, rewrite};
///
/// let attachments = [Attachment::from_bytes(*b"octets")];
/// let text = format!("<a>{}</a>", reference::text(0));
/// let rewritten = rewrite(text.into(), &attachments, Packing::Mtom)?;
/// let packed = rewritten.parts.expect("a package").frame(rewritten.root, "text/xml; charset=utf-8");
/// assert!(packed.content_type.starts_with("multipart/related; boundary="));
/// assert!(packed.segments.contains(&Segment::Octets(attachments[0].clone())));
/// # Ok::<(), bsoap_protocol::package::PackageError>(())
/// ```
///
/// # Errors
/// If the content id or the media type of an attachment cannot be a header, or two that no value refers to have the same content id.
pub fn rewrite(
    text: Bytes,
    attachments: &[Attachment],
    packing: Packing,
) -> Result<Rewritten, PackageError> {
    let found = || references(&text).filter(|(_, index)| *index < attachments.len());
    let mut is_referred = vec![false; attachments.len()];
    found().for_each(|(_, index)| is_referred[index] = true);
    let ids = content_ids(attachments, &is_referred)?;
    let mut root = Vec::new();
    let mut copied = 0;
    for (at, index) in found() {
        let end = at + reference::TEXT_LENGTH;
        root.push(Segment::Bytes(text.slice(copied..at)));
        root.push(match packing {
            Packing::Mtom if is_alone(&text, at, end) => {
                let uri = uri_of(&ids[index]);
                let include = format!("<xop:Include xmlns:xop=\"{XOP}\" href=\"{uri}\"/>");
                Segment::Bytes(include.into())
            }
            _ => Segment::Base64(attachments[index].clone()),
        });
        copied = end;
    }
    root.push(Segment::Bytes(text.slice(copied..)));
    // Inline, the octets of a value are in the message.
    let is_part = |index: usize| packing == Packing::Mtom || !is_referred[index];
    let named = ids.into_iter().zip(attachments.iter().cloned());
    let parts = named.enumerate().filter(|(index, _)| is_part(*index));
    let attachments: Vec<_> = parts.map(|(_, part)| part).collect();
    let is_package = packing == Packing::Mtom || !attachments.is_empty();
    let parts = is_package.then_some(Parts {
        packing,
        attachments,
    });
    Ok(Rewritten { root, parts })
}

impl Parts {
    /// Puts the text of a message together with its parts. `content_type` is that of the message alone.
    pub fn frame(self, mut root: Vec<Segment>, content_type: &str) -> Packed {
        let boundary = boundary();
        let (package_type, root_type) = media_types(self.packing, content_type, &boundary);
        let mut segments = vec![head("--", &boundary, ROOT_ID, &root_type)];
        segments.append(&mut root);
        for (id, attachment) in self.attachments {
            let media_type = attachment
                .media_type()
                .unwrap_or("application/octet-stream");
            segments.push(head("\r\n--", &boundary, &id, media_type));
            segments.push(Segment::Octets(attachment));
        }
        segments.push(Segment::Bytes(format!("\r\n--{boundary}--\r\n").into()));
        Packed {
            content_type: package_type,
            segments,
        }
    }
}

/// The headers of a part.
fn head(begin: &str, boundary: &str, id: &str, media_type: &str) -> Segment {
    let head = format!(
        "{begin}{boundary}\r\nContent-Type: {media_type}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <{id}>\r\n\r\n"
    );
    Segment::Bytes(head.into())
}

/// The media types of a package and of its root. (SOAP 1.2 MTOM §3.2, RFC 2387)
fn media_types(packing: Packing, content_type: &str, boundary: &str) -> (String, String) {
    let message = MediaType::parse(content_type).unwrap_or_default();
    let essence = message.essence.as_str();
    let package = |root: &str| {
        format!(
            "multipart/related; boundary=\"{boundary}\"; type=\"{root}\"; start=\"<{ROOT_ID}>\""
        )
    };
    let action = |text: &str| match &message.action {
        Some(action) => format!("{text}; action={}", quoted(action)),
        None => text.to_owned(),
    };
    match packing {
        Packing::Inline => (package(essence), content_type.to_owned()),
        Packing::Mtom => {
            let package = format!("{}; start-info=\"{essence}\"", package(XOP_MEDIA_TYPE));
            let inner = quoted(&action(essence));
            let root = format!("{XOP_MEDIA_TYPE}; charset=utf-8; type={inner}");
            (action(&package), root)
        }
    }
}

/// The content id of each attachment: its own, or one by its position, so that similar messages are similar. Values may be attachments
/// of several received messages, whose ids can be the same: the later one gets another.
fn content_ids(
    attachments: &[Attachment],
    is_referred: &[bool],
) -> Result<Vec<String>, PackageError> {
    let mut known = HashSet::from([ROOT_ID.to_owned()]);
    let mut ids = vec![None; attachments.len()];
    // Programs may have written the ids of those that no value refers to into the message.
    for kept in [false, true] {
        let of_kind = attachments.iter().zip(is_referred).enumerate();
        for (index, (attachment, _)) in of_kind.filter(|(_, (_, referred))| **referred == kept) {
            check_headers(attachment)?;
            let Some(id) = attachment.content_id() else {
                continue;
            };
            if known.insert(id.to_owned()) {
                ids[index] = Some(id.to_owned());
            } else if !kept {
                return Err(unsendable(format!(
                    "two attachments of the message have the content id {id:?}: give them different ones, or none"
                )));
            }
        }
    }
    let assigned = ids.into_iter().enumerate().map(|(index, id)| {
        id.unwrap_or_else(|| {
            let mut id = format!("{}@bsoap", index + 1);
            while !known.insert(id.clone()) {
                id.insert(0, '+');
            }
            id
        })
    });
    Ok(assigned.collect())
}

/// Whether the content id and the media type of an attachment can be headers.
fn check_headers(attachment: &Attachment) -> Result<(), PackageError> {
    let is_id = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"');
    if let Some(id) = attachment.content_id()
        && (id.is_empty() || !id.chars().all(is_id))
    {
        return Err(unsendable(format!(
            "the content id {id:?} of an attachment has characters other than visible ASCII, or <, > or a quote"
        )));
    }
    let media_type = attachment.media_type().unwrap_or_default();
    let is_value = |c: char| c.is_ascii() && !c.is_ascii_control();
    if !media_type.chars().all(is_value) {
        return Err(unsendable(format!(
            "the media type {media_type:?} of an attachment has characters that a header cannot have"
        )));
    }
    Ok(())
}

fn unsendable(problem: String) -> PackageError {
    PackageError::new(PackageErrorKind::Unsendable(problem), 0)
}

/// The `cid:` URI of a content id, as the value of an attribute. (RFC 2392 §2)
fn uri_of(id: &str) -> String {
    let mut uri = String::from("cid:");
    for c in id.chars() {
        match c {
            '%' | '&' | '\'' | '#' | '?' | '/' => uri.push_str(&format!("%{:02X}", u32::from(c))),
            c => uri.push(c),
        }
    }
    uri
}

/// The references in a text: where they are, and the position that each has.
fn references(text: &Bytes) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + memmem::find(&text[from..], reference::prefix())?;
            from = at + reference::prefix().len();
            let form = text.get(at..at + reference::TEXT_LENGTH);
            if let Some(index) = form.and_then(reference::index_in_text) {
                from = at + reference::TEXT_LENGTH;
                return Some((at, index));
            }
        }
    })
}

/// Whether a part of a text is the only content of an element.
fn is_alone(text: &[u8], from: usize, end: usize) -> bool {
    text[..from].trim_ascii_end().ends_with(b">")
        && text[end..].trim_ascii_start().starts_with(b"</")
}

/// A boundary that nobody can guess, so that no attachment contains it by accident or on purpose.
fn boundary() -> String {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static NEXT: AtomicU64 = AtomicU64::new(0);

    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let half = |half: u8| KEYS.hash_one((number, half));
    format!("bsoap-{:016x}{:016x}", half(0), half(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All segments in one text.
    fn sent(segments: &[Segment]) -> String {
        let mut text = Vec::new();
        for segment in segments {
            match segment {
                Segment::Bytes(bytes) => text.extend_from_slice(bytes),
                Segment::Octets(attachment) => text.extend(attachment.read().expect("octets")),
                Segment::Base64(attachment) => {
                    bsoap_datatypes::binary::write_base64(
                        &attachment.read().expect("octets"),
                        &mut text,
                    );
                }
            }
        }
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn a_value_is_an_include_with_mtom_and_base64_text_without() {
        let text = || Bytes::from(format!("<a b='{0}'> {0} </a>", reference::text(0)));
        let attachments = [Attachment::from_bytes(*b"hello").with_content_id("a/b%c")];
        let content_type = "application/soap+xml; charset=utf-8; action=\"urn:a\"";
        let inline = rewrite(text(), &attachments, Packing::Inline).expect("rewritten");
        assert!(inline.parts.is_none());
        assert_eq!(sent(&inline.root), "<a b='aGVsbG8='> aGVsbG8= </a>");
        let mtom = rewrite(text(), &attachments, Packing::Mtom).expect("rewritten");
        let packed = mtom.parts.expect("parts").frame(mtom.root, content_type);
        let body = sent(&packed.segments);
        assert_eq!(length(&packed.segments), Some(body.len() as u64));
        assert!(body.contains("<a b='aGVsbG8='> <xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\" href=\"cid:a%2Fb%25c\"/> </a>\r\n--"), "{body}");
        assert!(
            body.contains("Content-ID: <a/b%c>\r\n\r\nhello\r\n--"),
            "{body}"
        );
        let content_type = packed.content_type;
        assert!(
            content_type.contains("start-info=\"application/soap+xml\"; action=\"urn:a\""),
            "{content_type}"
        );
    }

    #[test]
    fn parts_that_no_value_refers_to_are_sent_with_attachments() {
        let attachments = [Attachment::from_bytes(*b"hello").with_media_type("text/plain")];
        let rewritten = rewrite("<a/>".into(), &attachments, Packing::Inline).expect("rewritten");
        let packed = rewritten
            .parts
            .expect("parts")
            .frame(rewritten.root, "text/xml; charset=utf-8");
        assert!(
            packed.content_type.contains("type=\"text/xml\"; start="),
            "{}",
            packed.content_type
        );
        assert!(sent(&packed.segments).contains("Content-Type: text/plain\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <1@bsoap>\r\n\r\nhello\r\n"));
    }

    #[test]
    fn values_of_several_messages_get_ids_of_their_own() {
        let received = || Attachment::from_bytes(*b"x").with_content_id("1@bsoap");
        let attachments = [Attachment::from_bytes(*b"y"), received(), received()];
        let text: String = (0..3)
            .map(|index| format!("<a>{}</a>", reference::text(index)))
            .collect();
        let rewritten = rewrite(text.into(), &attachments, Packing::Mtom).expect("rewritten");
        let ids = rewritten.parts.expect("parts").attachments.into_iter();
        let ids: Vec<_> = ids.map(|(id, _)| id).collect();
        assert_eq!(ids, ["+1@bsoap", "1@bsoap", "3@bsoap"]);
        let named = [received(), received()];
        assert!(rewrite("<a/>".into(), &named, Packing::Mtom).is_err());
    }

    #[test]
    fn headers_cannot_be_injected() {
        let wrong = [
            Attachment::from_bytes(*b"").with_content_id("a\r\nB: c"),
            Attachment::from_bytes(*b"").with_content_id(""),
            Attachment::from_bytes(*b"").with_content_id("a>"),
            Attachment::from_bytes(*b"").with_media_type("text/plain\r\n\r\nx"),
            Attachment::from_bytes(*b"").with_content_id(ROOT_ID),
        ];
        for attachment in wrong {
            let rewritten = rewrite(
                "<a/>".into(),
                std::slice::from_ref(&attachment),
                Packing::Mtom,
            );
            assert!(rewritten.is_err(), "{attachment:?}");
        }
        assert_ne!(boundary(), boundary());
    }
}
