//! The body of an answer while the connection sends it.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::activity::InWork;
use crate::body::{AnyError, Body};

/// The body of an answer. Its request is in work until the connection has taken all of it.
pub(super) struct AnswerBody {
    body: Body,
    request: InWork,
}

impl AnswerBody {
    /// From now on the server waits for the peer to take the answer.
    pub(super) fn new(body: Body, mut request: InWork) -> Self {
        request.waits_for_peer(true);
        Self { body, request }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = AnyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnyError>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        // A source that has no bytes yet does not wait for the peer.
        self.request.waits_for_peer(frame.is_ready());
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if let Some(charge) = self.body.release() {
            self.request.keep_until_sent(charge);
        }
    }
}
