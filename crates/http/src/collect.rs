//! Reads a body into memory: up to a limit, within a budget, and not slower than allowed.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures_util::future::{Either, select};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use tokio::time::Instant;

use crate::limits::{MAX_ANNOUNCED_BYTES, MAX_COPIED_BYTES};
use crate::pace::Pace;
use crate::reading::{BodyReader, BodyRefusal, ReadBody};
use crate::work::{Charge, WorkError};

/// The reason why a body could not be read into memory.
pub(crate) enum CollectError<E> {
    /// The body is longer than allowed.
    TooLarge,
    /// It arrives more slowly than allowed.
    TooSlow,
    /// There is no memory for it.
    NoMemory(WorkError),
    /// Its reader does not take it.
    Refused(BodyRefusal),
    /// The connection broke.
    Broken(E),
}

/// How a body is read.
pub(crate) struct CollectOptions {
    /// The maximum length in bytes.
    pub(crate) limit: u64,
    /// How slowly it may arrive. `None` means as slowly as it likes.
    pub(crate) pace: Option<Pace>,
    /// What its memory is charged to.
    pub(crate) charge: Arc<Charge>,
    /// Counts the bytes received. `None` if nobody wants to know.
    pub(crate) count: Option<Arc<AtomicU64>>,
}

/// Reads a body in one piece; reports when it begins and ends to wait for the peer. A long body that arrived in one piece is not copied. A short one is: it is a part of the connection's
/// buffer, all of which would stay in memory for as long as somebody keeps the body.
pub(crate) async fn collect<B: Body + Unpin>(
    incoming: &mut B,
    options: &CollectOptions,
    on_wait: &mut (dyn FnMut(bool) + Send),
) -> Result<Bytes, CollectError<B::Error>> {
    let (limit, charge) = (options.limit, &options.charge);
    let announced = incoming.size_hint().lower();
    if announced > limit {
        return Err(CollectError::TooLarge);
    }
    let mut clock = Clock {
        options,
        on_wait,
        begun: None,
        received: 0,
    };
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(data) = clock.data(incoming).await? {
        if clock.received > limit {
            return Err(CollectError::TooLarge);
        }
        if first.is_empty() && all.is_empty() {
            charge.grow(data.len() as u64).await?;
            first = data;
            continue;
        }
        if all.is_empty() {
            reserve(&mut all, announced.min(MAX_ANNOUNCED_BYTES), charge).await?;
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        reserve(&mut all, data.len() as u64, charge).await?;
        all.extend_from_slice(&data);
    }
    charge.has_arrived();
    Ok(match (all.is_empty(), first.len()) {
        (false, _) => all.freeze(),
        (true, 0..=MAX_COPIED_BYTES) => Bytes::copy_from_slice(&first),
        (true, _) => first,
    })
}

/// Passes a body to its reader while it arrives, and waits for the peer as [`collect`] does. The reader has limits of its own.
pub(crate) async fn read<B: Body + Unpin>(
    incoming: &mut B,
    mut reader: Box<dyn BodyReader>,
    options: &CollectOptions,
    on_wait: &mut (dyn FnMut(bool) + Send),
) -> Result<ReadBody, CollectError<B::Error>> {
    let mut clock = Clock {
        options,
        on_wait,
        begun: None,
        received: 0,
    };
    while let Some(data) = clock.data(incoming).await? {
        reader.read(data).await.map_err(CollectError::Refused)?;
        options.charge.grow(reader.memory()).await?;
    }
    options.charge.has_arrived();
    reader.finish().await.map_err(CollectError::Refused)
}

/// Makes space for more bytes, charged before it is allocated. While the bytes are moved, both buffers are charged.
async fn reserve(all: &mut BytesMut, more: u64, charge: &Arc<Charge>) -> Result<(), WorkError> {
    let before = all.capacity() as u64;
    let needed = all.len() as u64 + more;
    if needed <= before {
        return Ok(());
    }
    let after = needed.max(before * 2);
    charge.grow(before + after).await?;
    all.reserve((after - all.len() as u64) as usize);
    charge.grow(all.capacity() as u64).await
}

/// Waits for the frames of a body.
struct Clock<'o> {
    options: &'o CollectOptions,
    /// Called with true when it begins to wait, and with false at the end.
    on_wait: &'o mut (dyn FnMut(bool) + Send),
    /// When it first waited. No clock is read for a body that is there already.
    begun: Option<Instant>,
    received: u64,
}

impl Clock<'_> {
    /// The next bytes of the body, which are counted. `None` at its end.
    async fn data<B: Body + Unpin>(
        &mut self,
        incoming: &mut B,
    ) -> Result<Option<Bytes>, CollectError<B::Error>> {
        while let Some(frame) = self.frame(incoming).await? {
            let Ok(mut data) = frame.into_data() else {
                continue;
            };
            // Nothing is copied if the data are `Bytes`, as those of hyper are.
            let data = data.copy_to_bytes(data.remaining());
            self.received += data.len() as u64;
            if let Some(count) = &self.options.count {
                count.store(self.received, Ordering::Relaxed);
            }
            return Ok(Some(data));
        }
        Ok(None)
    }

    async fn frame<B: Body + Unpin>(
        &mut self,
        incoming: &mut B,
    ) -> Result<Option<Frame<B::Data>>, CollectError<B::Error>> {
        let mut next = pin!(incoming.frame());
        let first = poll_fn(|context| Poll::Ready(next.as_mut().poll(context)));
        let frame = match first.await {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                let begun = *self.begun.get_or_insert_with(Instant::now);
                let pace = self.options.pace.as_ref();
                let allowed = pace.map_or(Duration::MAX, |pace| pace.allowed(self.received));
                // Boxed because most bodies do not wait.
                let arriving = Box::pin(until(begun, allowed, next));
                let cancelled = Box::pin(self.options.charge.cancelled());
                (self.on_wait)(true);
                let ended = select(arriving, cancelled).await;
                (self.on_wait)(false);
                match ended {
                    Either::Left((Some(frame), _)) => frame,
                    Either::Left((None, _)) => return Err(CollectError::TooSlow),
                    Either::Right((error, _)) => return Err(error.into()),
                }
            }
        };
        frame.transpose().map_err(CollectError::Broken)
    }
}

/// The output of a future, or `None` if it takes longer than `allowed` from `begun` on.
async fn until<F: Future>(begun: Instant, allowed: Duration, future: F) -> Option<F::Output> {
    match begun.checked_add(allowed) {
        Some(end) => tokio::time::timeout_at(end, future).await.ok(),
        None => Some(future.await),
    }
}

impl<E> From<WorkError> for CollectError<E> {
    fn from(error: WorkError) -> Self {
        Self::NoMemory(error)
    }
}
