//! The body of a message to send: chunks that lie where the encoder left them, or a source that makes them as they go.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bsoap_differential::send::Folds;
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
    /// What the chunks were compressed to, if that is kept.
    folds: Option<Arc<Mutex<Folds>>>,
    /// Where more comes from.
    source: Option<Shared>,
}

/// Makes a body while it is sent. It is asked for more when the connection has taken most of what it gave.
pub trait Source: Send {
    /// The next bytes; `None` at the end. After an error the connection is closed: the peer must not take what it
    /// has for the whole.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>>;
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, AnyError>>> {
        (**self).poll_next(context)
    }
}

/// Why a source cannot go on.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// A source that clones of a body share: it gives its bytes once.
#[derive(Clone)]
struct Shared(Arc<Mutex<dyn Source>>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

/// Whether the peer is told the length before it sees the body.
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

    /// A body that a source makes while it is sent. Its length is told beforehand if it is known; then the source has to
    /// keep to it. It cannot be sent twice, so redirects are not followed, and it is not sent as gzip.
    pub fn from_source(source: impl Source + 'static, length: Option<u64>) -> Self {
        Self {
            length: length.unwrap_or(0),
            announced: match length {
                Some(_) => Announced::Length,
                None => Announced::Nothing,
            },
            source: Some(Shared(Arc::new(Mutex::new(source)))),
            ..Self::default()
        }
    }

    /// The same; if it is sent as gzip, only chunks are compressed that were not in the body before with these folds.
    #[must_use]
    pub fn with_folds(mut self, folds: Arc<Mutex<Folds>>) -> Self {
        self.folds = Some(folds);
        self
    }

    /// Whether all of it is there, to be sent as often as is needed.
    pub fn is_whole(&self) -> bool {
        self.source.is_none()
    }

    /// How many bytes are left to send; of a body that comes from a source, as far as it is known.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0 && self.is_whole()
    }

    /// The bytes in one piece, without what is still to come from a source; copies only if there are several chunks.
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
    pub(crate) fn chunked(mut self) -> Self {
        self.announced = Announced::Nothing;
        self
    }

    /// The chunks still to send.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = &Bytes> {
        self.chunks.iter()
    }

    /// The body as one gzip stream, if what it was compressed to before is kept.
    pub(crate) fn folded(&self) -> Option<Self> {
        let mut folds = lock(self.folds.as_deref()?);
        let chunks: Vec<Bytes> = self.chunks.iter().cloned().collect();
        Some(Self::from_chunks(folds.fold(&chunks).chunks))
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

/// What holds the lock does not panic.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_chunks_join_in_order_and_empty_ones_vanish() {
        let body = Body::from_chunks(["ab".into(), Bytes::new(), "c".into()]);
        assert_eq!((body.chunks().count(), body.len()), (2, 3));
        assert_eq!(&body.into_bytes()[..], b"abc");
    }
}
