//! The body of a message to send: chunks that lie where the encoder left them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

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
            announced: Announced::Length,
        }
    }

    /// How many bytes are left to send.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bytes in one piece; copies only if there are several chunks.
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
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = self.chunks.pop_front();
        if let Some(chunk) = &chunk {
            self.length -= chunk.len() as u64;
        }
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match self.announced {
            Announced::Length => SizeHint::with_exact(self.length),
            Announced::Nothing => SizeHint::default(),
        }
    }
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
