//! A stream that writes in turn with others, and fails if its peer takes an answer too slowly.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::activity::Activity;
use super::turn::WriteTurn;
use crate::pace::Pace;

/// A stream that fails with `TimedOut` when the peer takes what is written more slowly than allowed. It counts the bytes that are
/// moved.
pub(super) struct StallGuard<S> {
    stream: S,
    pace: Pace,
    activity: Arc<Activity>,
    /// The write that waits for the peer. `None` if all has been written.
    waiting: Option<Waiting>,
    turn: WriteTurn,
}

struct Waiting {
    begun: Instant,
    /// The bytes that were written meanwhile.
    written: u64,
    limit: Pin<Box<Sleep>>,
}

impl<S: Unpin> StallGuard<S> {
    pub(super) fn new(stream: S, pace: Pace, activity: Arc<Activity>) -> Self {
        Self {
            stream,
            pace,
            activity,
            waiting: None,
            turn: WriteTurn::new(),
        }
    }

    /// Counts bytes that were written.
    fn wrote(&mut self, bytes: usize) {
        self.activity.moved(bytes);
        if let Some(waiting) = &mut self.waiting {
            waiting.written += bytes as u64;
            let allowed = self.pace.allowed(waiting.written);
            waiting.limit.as_mut().reset(waiting.begun + allowed);
        }
    }

    /// The result of a write, which fails if it has waited for too long.
    fn guard<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            return polled;
        }
        let pace = self.pace;
        let waiting = self.waiting.get_or_insert_with(|| {
            let begun = Instant::now();
            Waiting {
                begun,
                written: 0,
                limit: Box::pin(tokio::time::sleep_until(begun + pace.allowed(0))),
            }
        });
        ready!(waiting.limit.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        self.activity.moved(into.filled().len() - before);
        polled
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
        if let Poll::Ready(Ok(written)) = polled {
            self.wrote(written);
        }
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
        if let Poll::Ready(Ok(written)) = polled {
            self.wrote(written);
        }
        self.guard(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.turn.end();
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        if polled.is_ready() {
            self.waiting = None;
            self.activity.flushed();
        }
        self.guard(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.guard(context, polled)
    }
}
