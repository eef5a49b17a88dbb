//! The body of a message to send: chunks in memory, or a source that produces the bytes while they are sent.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

#[cfg(feature = "server")]
use crate::work::Charge;

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
    /// A function that compresses the chunks. `None` if the general compression is used.
    #[cfg(feature = "gzip")]
    compress: Option<Compress>,
    /// The source of the bytes after the chunks. `None` if all bytes are in the chunks.
    source: Option<SharedSource>,
    /// What the memory of the chunks is charged to.
    #[cfg(feature = "server")]
    charge: Option<Arc<Charge>>,
}

/// Produces a body while it is sent. It is polled when the connection has sent most of what it produced before.
pub trait BodySource: Send {
    /// Returns the next bytes, or `None` at the end. After an error the connection is closed, so that the peer notices that
    /// the body is incomplete.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>>;
}

impl<S: BodySource + ?Sized> BodySource for Box<S> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>> {
        (**self).poll_next(context)
    }
}

/// The reason why a source cannot continue.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// A source that several clones of a body share. It yields its bytes only once.
#[derive(Clone)]
struct SharedSource(Arc<Mutex<dyn BodySource>>);

impl fmt::Debug for SharedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BodySource")
    }
}

/// A function that compresses chunks to the chunks of one gzip stream.
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

/// How the peer learns the length of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Announced {
    /// From `Content-Length`.
    #[default]
    Length,
    /// From the end of the body, with `Transfer-Encoding: chunked`.
    Nothing,
}

impl Body {
    /// A body of several chunks. They are sent without joining them.
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

    /// A body that a source produces while it is sent. If `length` is given, it is sent as `Content-Length`, and the source
    /// must yield exactly that many bytes. The body cannot be sent twice, so redirects are not followed. It is not
    /// compressed.
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

    /// Sets the function that compresses the chunks of this body to the chunks of one gzip stream. Templates use it to reuse
    /// what they compressed for the previous message.
    #[cfg(feature = "gzip")]
    #[must_use]
    pub fn with_gzip(
        mut self,
        compress: impl Fn(&[Bytes]) -> Vec<Bytes> + Send + Sync + 'static,
    ) -> Self {
        self.compress = Some(Compress(Arc::new(compress)));
        self
    }

    /// Keeps a charge for as long as the body.
    #[cfg(feature = "server")]
    pub(crate) fn hold(&mut self, charge: Arc<Charge>) {
        self.charge = Some(charge);
    }

    /// The charge that it holds.
    #[cfg(feature = "server")]
    pub(crate) fn release(&mut self) -> Option<Arc<Charge>> {
        self.charge.take()
    }

    /// True if the whole body is in memory, so that it can be sent again.
    pub fn is_whole(&self) -> bool {
        self.source.is_none()
    }

    /// The number of bytes left to send, as far as it is known for a body from a source.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True if there is nothing left to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0 && self.is_whole()
    }

    /// The bytes in memory in one piece, without those of a source. They are copied only if there are several chunks.
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

    /// All bytes in one piece, also those of a source.
    ///
    /// # Errors
    /// That of the source.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use bsoap_http::Body;
    ///
    /// let body = Body::from_chunks(["<a>".into(), "</a>".into()]);
    /// assert_eq!(&body.collect().await?[..], b"<a></a>");
    /// # Ok::<(), bsoap_http::AnyError>(())
    /// # }).unwrap();
    /// ```
    #[cfg(any(feature = "client", feature = "server"))]
    pub async fn collect(self) -> Result<Bytes, AnyError> {
        match self.is_whole() {
            true => Ok(self.into_bytes()),
            false => Ok(http_body_util::BodyExt::collect(self).await?.to_bytes()),
        }
    }

    /// The first chunk of the bytes in memory.
    pub fn first(&self) -> &[u8] {
        self.chunks.front().map_or(&[], |chunk| chunk)
    }

    /// Inserts bytes into the [first](Self::first) chunk, before its byte `at` or at its end. Nothing is copied.
    #[must_use]
    pub fn insert(mut self, at: usize, bytes: Bytes) -> Self {
        self.length += bytes.len() as u64;
        let mut before = self.chunks.pop_front().unwrap_or_default();
        let after = before.split_off(at.min(before.len()));
        for chunk in [after, bytes, before] {
            if !chunk.is_empty() {
                self.chunks.push_front(chunk);
            }
        }
        // It knows the chunks as they were.
        #[cfg(feature = "gzip")]
        {
            self.compress = None;
        }
        self
    }

    /// Makes the body be sent with `Transfer-Encoding: chunked`.
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

    /// The body as one gzip stream. `None` if it has no compression function of its own.
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

/// Locks a mutex. A panic of a source does not make later calls fail.
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
        let body = body.insert(1, "--".into());
        assert_eq!((body.len(), body.first()), (5, &b"a"[..]));
        assert_eq!(&body.into_bytes()[..], b"a--bc");
    }
}
