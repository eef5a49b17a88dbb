//! The body of an answer while the connection sends it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::Version;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::activity::InWork;
use super::answered::Observation;
use crate::body::{AnyError, Body};
use crate::limits::MAX_HTTP2_PIECE;

/// The body of an answer. Its request is in work until the connection has taken all of it.
pub(super) struct AnswerBody {
    body: Body,
    /// The rest of a chunk, of which the connection takes a piece at a time.
    rest: Bytes,
    max_piece: usize,
    request: InWork,
    /// `None` if nobody wants to know about the answer.
    observation: Option<Observation>,
}

impl AnswerBody {
    /// From now on the server waits for the peer to take the answer. HTTP/2 buffers what it takes until the peer opens a window,
    /// so it gets pieces.
    pub(super) fn new(
        body: Body,
        mut request: InWork,
        version: Version,
        observation: Option<Observation>,
    ) -> Self {
        request.waits_for_peer(true);
        Self {
            body,
            rest: Bytes::new(),
            max_piece: match version > Version::HTTP_11 {
                true => MAX_HTTP2_PIECE,
                false => usize::MAX,
            },
            request,
            observation,
        }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = AnyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        if self.rest.is_empty() {
            let frame = Pin::new(&mut self.body).poll_frame(context);
            // A source that has no bytes yet does not wait for the peer.
            self.request.waits_for_peer(frame.is_ready());
            let frame = match ready!(frame) {
                Some(frame) => frame?,
                None => return Poll::Ready(None),
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(other) => return Poll::Ready(Some(Ok(other))),
            }
        }
        let length = self.rest.len().min(self.max_piece);
        let piece = self.rest.split_to(length);
        if let Some(observation) = &mut self.observation {
            observation.sent(length as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.body.size_hint();
        match hint.exact() {
            Some(length) => SizeHint::with_exact(length + self.rest.len() as u64),
            None => hint,
        }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if let Some(charge) = self.body.release() {
            self.request.keep_until_sent(charge);
        }
    }
}
