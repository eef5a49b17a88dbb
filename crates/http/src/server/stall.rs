//! A stream that writes in turn with others, and fails if its peer does not read for too long.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::turn::WriteTurn;

/// A stream that fails with `TimedOut` when a write makes no progress for some time.
pub(super) struct StallGuard<S> {
    stream: S,
    patience: Duration,
    /// The time limit of the write that is waiting. `None` if no write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    turn: WriteTurn,
}

impl<S: Unpin> StallGuard<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
            turn: WriteTurn::new(),
        }
    }

    fn guard<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.waiting = None;
            return polled;
        }
        let patience = self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.turn.has_come(context, bytes.len()) {
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.guard(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        chunks: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bytes = chunks.iter().map(|chunk| chunk.len()).sum();
        if !self.turn.has_come(context, bytes) {
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, chunks);
        self.guard(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turn.end();
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.guard(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.guard(context, polled)
    }
}
