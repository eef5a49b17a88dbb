//! The order in which short answers are written: after the requests that are ready have been processed.
//!
//! A write wakes the peer's thread, which then often sleeps again at once, because the next answer is not ready yet. If the
//! answers of several connections are written one directly after the other, a peer with many connections, or the processor
//! that handles the network, is woken once for all of them. A wake-up can cost more than processing a request.
//! (`bench rpc`, 64 connections)

use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Context;

use crate::limits::MAX_DELAYED_BYTES;

thread_local! {
    /// The number of the connection that was last about to write on this thread.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// The number of the last connection.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Decides when a connection writes an answer.
pub(super) struct WriteTurn {
    /// The number of the connection.
    number: u64,
    /// True if the answer was delayed and may be written now.
    has_waited: bool,
}

impl WriteTurn {
    pub(super) fn new() -> Self {
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed) + 1,
            has_waited: false,
        }
    }

    /// True if these bytes are to be written now. Otherwise the task is woken as soon as its thread has run all others that
    /// are ready. The bytes are not delayed if the thread has served no other connection meanwhile.
    pub(super) fn has_come(&mut self, context: &mut Context<'_>, bytes: usize) -> bool {
        if self.has_waited || bytes > MAX_DELAYED_BYTES {
            return true;
        }
        self.has_waited = true;
        if LAST.replace(self.number) == self.number {
            return true;
        }
        pin!(tokio::task::yield_now()).poll(context).is_ready()
    }

    /// The answer has been written: the next one may be delayed again.
    pub(super) fn end(&mut self) {
        self.has_waited = false;
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[tokio::test]
    async fn a_short_answer_waits_once_if_another_connection_came_before() {
        let context = &mut Context::from_waker(Waker::noop());
        let (mut one, mut other) = (WriteTurn::new(), WriteTurn::new());
        assert!(!one.has_come(context, 100));
        assert!(one.has_come(context, 100));
        one.end();
        assert!(one.has_come(context, 100), "no other connection came");
        one.end();
        assert!(!other.has_come(context, 100));
        other.end();
        assert!(one.has_come(context, MAX_DELAYED_BYTES + 1));
        assert!(!one.has_come(context, 100));
    }
}
