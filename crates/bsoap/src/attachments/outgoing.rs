//! Sends a message with attachments: those that are not in memory are read while they are sent.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bsoap_codec::Attachment;
use bsoap_codec::attachment::Content;
use bsoap_datatypes::binary;
use bsoap_http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use bsoap_http::{AnyError, Body, BodySource, Bytes};
use bsoap_protocol::package::{self, PackageError, Packing, Parts, Segment, length};
use futures_core::Stream;
use tokio::task::JoinHandle;

use super::spool::Chunks;

/// This many bytes of a file are read at once.
const READ_STEP: usize = 256 << 10;

/// Base64 text of attachments in memory with more octets than this is made while it is sent.
const MAX_ENCODED_BYTES: u64 = 64 << 10;

/// An attachment whose octets an asynchronous stream produces while it is sent. It can be sent once. If its `length` is not known,
/// the message is sent with `Transfer-Encoding: chunked`.
///
/// ```
/// use bsoap::attachments::from_stream;
/// use bsoap::http::Bytes;
///
/// # struct Lines;
/// # impl futures_core::Stream for Lines {
/// #     type Item = std::io::Result<Bytes>;
/// #     fn poll_next(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Option<Self::Item>> {
/// #         std::task::Poll::Ready(None)
/// #     }
/// # }
/// let log = from_stream(Lines, None).with_media_type("text/plain");
/// assert_eq!(log.len(), None);
/// ```
pub fn from_stream<S>(stream: S, length: Option<u64>) -> Attachment
where
    S: Stream<Item = io::Result<Bytes>> + Send + 'static,
{
    let stream: OctetStream = Box::pin(stream);
    Attachment::new(Streamed {
        stream: Mutex::new(Some(stream)),
        length,
    })
}

type OctetStream = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// Octets that are produced while they are sent.
struct Streamed {
    /// `None` after it was sent.
    stream: Mutex<Option<OctetStream>>,
    length: Option<u64>,
}

impl Content for Streamed {
    fn length(&self) -> Option<u64> {
        self.length
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Err(io::Error::other(
            "the octets of a streamed attachment are produced when it is sent",
        ))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A message that is ready for hooks, and will be put together with its attachments.
#[derive(Default)]
pub(crate) struct Prepared {
    /// The message: its text, in which nothing stands for an attachment that the peer cannot understand.
    pub(crate) body: Body,
    /// The attachments, and the text if it is not in memory.
    package: Option<(Parts, Vec<Segment>)>,
}

impl Prepared {
    /// Replaces the references in the text of a message. A text that is not in memory has none.
    ///
    /// # Errors
    /// If an attachment cannot be sent.
    pub(crate) fn new(
        text: Body,
        attachments: &[Attachment],
        packing: Packing,
    ) -> Result<Self, PackageError> {
        if !text.is_whole() || attachments.is_empty() && packing == Packing::Inline {
            return Ok(Self {
                body: text,
                package: None,
            });
        }
        let rewritten = package::rewrite(text.into_bytes(), attachments, packing)?;
        Ok(Self {
            package: rewritten.parts.map(|parts| (parts, rewritten.root.clone())),
            body: body(rewritten.root),
        })
    }

    /// The body to send: what hooks have made of the message, and its attachments. The headers get the media type of the package.
    pub(crate) fn frame(self, headers: &mut HeaderMap) -> Body {
        let Some((parts, root)) = self.package else {
            return self.body;
        };
        let content_type = headers.get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        let root = match self.body.is_whole() {
            true => vec![Segment::Bytes(self.body.into_bytes())],
            false => root,
        };
        let packed = parts.frame(root, content_type.unwrap_or_default());
        if let Ok(content_type) = HeaderValue::try_from(packed.content_type) {
            headers.insert(CONTENT_TYPE, content_type);
        }
        body(packed.segments)
    }
}

/// The body of these segments. It is in memory if all of them are.
fn body(given: Vec<Segment>) -> Body {
    let length = length(&given);
    let mut segments: VecDeque<Segment> = VecDeque::new();
    let mut is_whole = true;
    for segment in given {
        match in_memory(&segment) {
            Some(chunks) => segments.extend(chunks.into_iter().map(Segment::Bytes)),
            None => {
                is_whole = false;
                segments.push_back(segment);
            }
        }
    }
    if is_whole {
        return Body::from_chunks(segments.into_iter().filter_map(|segment| match segment {
            Segment::Bytes(bytes) => Some(bytes),
            _ => None,
        }));
    }
    let current = None;
    Body::from_source(SegmentSource { segments, current }, length)
}

/// The chunks of a segment, if they are in memory.
fn in_memory(segment: &Segment) -> Option<Vec<Bytes>> {
    match segment {
        Segment::Bytes(bytes) => Some(vec![bytes.clone()]),
        Segment::Octets(attachment) => chunks_of(attachment),
        Segment::Base64(attachment) => {
            let octets = attachment.content().as_bytes()?;
            if octets.len() as u64 > MAX_ENCODED_BYTES {
                return None;
            }
            let mut text = Vec::new();
            binary::write_base64(octets, &mut text);
            Some(vec![text.into()])
        }
    }
}

/// The octets of an attachment in memory, without copying them.
fn chunks_of(attachment: &Attachment) -> Option<Vec<Bytes>> {
    /// Keeps an attachment for as long as its octets are in use.
    struct Owner(Attachment);

    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            self.0.content().as_bytes().unwrap_or_default()
        }
    }

    if let Some(Chunks(chunks)) = attachment.content().as_any().downcast_ref() {
        return Some(chunks.clone());
    }
    attachment.content().as_bytes()?;
    Some(vec![Bytes::from_owner(Owner(attachment.clone()))])
}

/// Produces the segments of a message.
struct SegmentSource {
    segments: VecDeque<Segment>,
    /// The attachment that is being sent.
    current: Option<Current>,
}

/// An attachment that is being sent.
struct Current {
    octets: Octets,
    /// What is left to send, if the length was announced.
    left: Option<u64>,
    /// `None` if the octets are sent as they are.
    base64: Option<Base64Encoder>,
}

/// Where the octets come from.
enum Octets {
    Chunks(std::vec::IntoIter<Bytes>),
    Stream(OctetStream),
    /// A blocking thread reads the next block.
    Reading(JoinHandle<io::Result<(Bytes, Source)>>),
    End,
}

/// What a blocking thread reads.
type Source = Box<dyn Read + Send>;

impl BodySource for SegmentSource {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>> {
        loop {
            if let Some(current) = &mut self.current {
                match ready!(current.poll_next(context)) {
                    Some(Ok(bytes)) if bytes.is_empty() => continue,
                    Some(result) => return Poll::Ready(Some(result.map_err(Into::into))),
                    None => self.current = None,
                }
            }
            match self.segments.pop_front() {
                None => return Poll::Ready(None),
                Some(Segment::Bytes(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                Some(Segment::Octets(attachment)) => {
                    self.current = Some(Current::new(&attachment, None)?);
                }
                Some(Segment::Base64(attachment)) => {
                    let encoder = Base64Encoder::default();
                    self.current = Some(Current::new(&attachment, Some(encoder))?);
                }
            }
        }
    }
}

impl Current {
    fn new(attachment: &Attachment, base64: Option<Base64Encoder>) -> Result<Self, AnyError> {
        let octets = match attachment.content().as_any().downcast_ref::<Streamed>() {
            Some(Streamed { stream, .. }) => {
                let taken = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
                Octets::Stream(taken.ok_or("a streamed attachment can be sent only once")?)
            }
            None => match chunks_of(attachment) {
                Some(chunks) => Octets::Chunks(chunks.into_iter()),
                None => {
                    let attachment = attachment.clone();
                    Octets::Reading(tokio::task::spawn_blocking(move || {
                        next_block(attachment.open()?)
                    }))
                }
            },
        };
        Ok(Self {
            octets,
            left: attachment.len(),
            base64,
        })
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let octets = match ready!(self.octets.poll_next(context)) {
            Some(Ok(octets)) => octets,
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(self.end()),
        };
        if let Some(left) = &mut self.left {
            match left.checked_sub(octets.len() as u64) {
                Some(less) => *left = less,
                None => return Poll::Ready(Some(Err(changed()))),
            }
        }
        Poll::Ready(Some(Ok(match &mut self.base64 {
            Some(encoder) => encoder.encode(&octets),
            None => octets,
        })))
    }

    /// The last bytes, after the last octets.
    fn end(&mut self) -> Option<io::Result<Bytes>> {
        if self.left.is_some_and(|left| left > 0) {
            return Some(Err(changed()));
        }
        self.base64.take()?.finish().map(Ok)
    }
}

impl Octets {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let next = match self {
            Self::Chunks(chunks) => return Poll::Ready(chunks.next().map(Ok)),
            Self::Stream(stream) => ready!(stream.as_mut().poll_next(context)),
            Self::Reading(reading) => match ready!(Pin::new(reading).poll(context)) {
                Ok(Ok((block, source))) if !block.is_empty() => {
                    // The next block is read while this one is sent.
                    *self = Self::Reading(tokio::task::spawn_blocking(|| next_block(source)));
                    return Poll::Ready(Some(Ok(block)));
                }
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(Err(error)),
                Err(_) => Some(Err(io::Error::other(
                    "the thread that reads an attachment has ended",
                ))),
            },
            Self::End => None,
        };
        if !matches!(next, Some(Ok(_))) {
            *self = Self::End;
        }
        Poll::Ready(next)
    }
}

/// The next bytes of a reader; none at its end.
fn next_block(mut source: Source) -> io::Result<(Bytes, Source)> {
    let mut block = Vec::with_capacity(READ_STEP);
    source
        .by_ref()
        .take(READ_STEP as u64)
        .read_to_end(&mut block)?;
    Ok((block.into(), source))
}

fn changed() -> io::Error {
    io::Error::other("an attachment has another length than when the message was made")
}

/// Encodes octets that come in chunks as base64.
#[derive(Default)]
struct Base64Encoder {
    /// Up to two octets that do not make a group of three yet.
    rest: Vec<u8>,
}

impl Base64Encoder {
    fn encode(&mut self, octets: &[u8]) -> Bytes {
        let mut text = Vec::new();
        let missing = (3 - self.rest.len()) % 3;
        let (first, others) = octets.split_at(missing.min(octets.len()));
        self.rest.extend_from_slice(first);
        if self.rest.len() == 3 {
            binary::write_base64(&self.rest, &mut text);
            self.rest.clear();
        }
        let (groups, rest) = others.split_at(others.len() / 3 * 3);
        binary::write_base64(groups, &mut text);
        self.rest.extend_from_slice(rest);
        text.into()
    }

    /// The last group. `None` if all octets are encoded.
    fn finish(self) -> Option<Bytes> {
        if self.rest.is_empty() {
            return None;
        }
        let mut text = Vec::new();
        binary::write_base64(&self.rest, &mut text);
        Some(text.into())
    }
}

impl fmt::Debug for SegmentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SegmentSource")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_text_is_the_same_however_the_octets_come() {
        let octets: Vec<u8> = (0..100).collect();
        let mut expected = Vec::new();
        binary::write_base64(&octets, &mut expected);
        for chunk in 1..=octets.len() {
            let (mut encoder, mut text) = (Base64Encoder::default(), Vec::new());
            for chunk in octets.chunks(chunk) {
                text.extend_from_slice(&encoder.encode(chunk));
            }
            text.extend(encoder.finish().unwrap_or_default());
            assert_eq!(text, expected, "in chunks of {chunk}");
        }
    }
}
