//! The body of a message to send: chunks that are sent without copying them, or a source that produces them on the way.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

/// The bytes of a message to send, in chunks. Cloning shares the bytes.
///
/// ```
/// use bsoap_http::Body;
///
/// let body = Body::from_chunks(["<a>".into(), "1".into(), "</a>".into()]);
/// assert_eq!(body.len(), 8);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Body {
    chunks: VecDeque<Bytes>,
    length: u64,
    announced: Announced,
    /// Compresses the chunks, instead of the general code.
    #[cfg(feature = "gzip")]
    compress: Option<Compress>,
    /// The source of the rest.
    source: Option<SharedSource>,
}

/// Produces a body while it is sent. It is polled when the connection has sent most of what it produced before.
pub trait BodySource: Send {
    /// The next bytes; `None` at the end. After an error the connection is closed, so that the peer does not take the
    /// part it has for the whole.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>>;
}

impl<S: BodySource + ?Sized> BodySource for Box<S> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>> {
        (**self).poll_next(context)
    }
}

/// Why a source cannot continue.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// A source that clones of a body share: it yields its bytes once.
#[derive(Clone)]
struct SharedSource(Arc<Mutex<dyn BodySource>>);

impl fmt::Debug for SharedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodySource")
    }
}

/// Compresses chunks to the chunks of one gzip stream.
#[cfg(feature = "gzip")]
#[derive(Clone)]
struct Compress(Arc<CompressFn>);

#[cfg(feature = "gzip")]
type CompressFn = dyn Fn(&[Bytes]) -> Vec<Bytes> + Send + Sync;

#[cfg(feature = "gzip")]
impl fmt::Debug for Compress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compress")
    }
}

/// How the length of the body is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Announced {
    /// `Content-Length`.
    #[default]
    Length,
    /// `Transfer-Encoding: chunked`.
    Nothing,
}

impl Body {
    /// A body of several chunks, written without joining them.
    pub fn from_chunks(chunks: impl IntoIterator<Item = Bytes>) -> Self {
        let chunks: VecDeque<Bytes> = chunks
            .into_iter()
            .filter(|chunk| !chunk.is_empty())
            .collect();
        let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        Self {
            chunks,
            length,
            ..Self::default()
        }
    }

    /// A body that a source produces while it is sent. A `length` is sent beforehand, and the source must yield exactly
    /// that many bytes. The body cannot be sent twice, so redirects are not followed, and it is not sent as gzip.
    pub fn from_source(source: impl BodySource + 'static, length: Option<u64>) -> Self {
        Self {
            length: length.unwrap_or(0),
            announced: match length {
                Some(_) => Announced::Length,
                None => Announced::Nothing,
            },
            source: Some(SharedSource(Arc::new(Mutex::new(source)))),
            ..Self::default()
        }
    }

    /// The same body with its own gzip compression: from its chunks to the chunks of one gzip stream. Templates reuse
    /// what they compressed for the message before.
    #[cfg(feature = "gzip")]
    #[must_use]
    pub fn with_gzip(
        mut self,
        compress: impl Fn(&[Bytes]) -> Vec<Bytes> + Send + Sync + 'static,
    ) -> Self {
        self.compress = Some(Compress(Arc::new(compress)));
        self
    }

    /// Whether all of it is in memory, so that it can be sent again.
    pub fn is_whole(&self) -> bool {
        self.source.is_none()
    }

    /// How many bytes are left to send; for a body from a source, as far as that is known.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0 && self.is_whole()
    }

    /// The bytes in one piece, without those of a source; copies only if there are several chunks.
    pub fn into_bytes(mut self) -> Bytes {
        match self.chunks.len() {
            0 => Bytes::new(),
            1 => self.chunks.pop_front().unwrap_or_default(),
            _ => self
                .chunks
                .iter()
                .fold(Vec::new(), |mut all, chunk| {
                    all.extend_from_slice(chunk);
                    all
                })
                .into(),
        }
    }

    /// The same bytes, to be sent with `Transfer-Encoding: chunked`.
    #[cfg(feature = "client")]
    pub(crate) fn chunked(mut self) -> Self {
        self.announced = Announced::Nothing;
        self
    }

    /// The chunks still to send.
    #[cfg(any(feature = "gzip", test))]
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &Bytes> {
        self.chunks.iter()
    }

    /// The body as one gzip stream, if it has a compression of its own.
    #[cfg(feature = "gzip")]
    pub(crate) fn compressed(&self) -> Option<Self> {
        let Compress(compress) = self.compress.as_ref()?;
        let chunks: Vec<Bytes> = self.chunks.iter().cloned().collect();
        Some(Self::from_chunks(compress(&chunks)))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::from_chunks([bytes])
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = AnyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        let chunk = match (self.chunks.pop_front(), &self.source) {
            (Some(chunk), _) => Some(Ok(chunk)),
            (None, Some(source)) => ready!(lock(&source.0).poll_next(context)),
            (None, None) => None,
        };
        match &chunk {
            Some(Ok(chunk)) => self.length = self.length.saturating_sub(chunk.len() as u64),
            Some(Err(_)) | None => self.source = None,
        }
        Poll::Ready(chunk.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty() && self.is_whole()
    }

    fn size_hint(&self) -> SizeHint {
        match self.announced {
            Announced::Length => SizeHint::with_exact(self.length),
            Announced::Nothing => SizeHint::default(),
        }
    }
}

/// Locks; a panic of a source does not poison the lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined_in_order_and_empty_ones_are_dropped() {
        let body = Body::from_chunks(["ab".into(), Bytes::new(), "c".into()]);
        assert_eq!((body.chunks().count(), body.len()), (2, 3));
        assert_eq!(&body.into_bytes()[..], b"abc");
    }
}
