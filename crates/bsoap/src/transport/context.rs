//! What transports and layers may know of the call that a message belongs to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bsoap_protocol::Target;
use tokio::time::Instant;

/// The call that a message belongs to: in the extensions of each request that a [`Transport`](crate::Transport) or a
/// [layer](crate::ClientBuilder::layer) sees.
///
/// ```
/// use bsoap::http::{Body, http::Request};
/// use bsoap::transport::CallContext;
///
/// fn name_of_operation(request: &Request<Body>) -> &str {
///     let context = request.extensions().get::<CallContext>();
///     context.map_or("", |context| &context.target().operation().name)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct CallContext {
    target: Target,
    is_idempotent: bool,
    deadline: Option<Instant>,
    attempts: Arc<AtomicU32>,
}

impl CallContext {
    pub(super) fn new(target: Target, is_idempotent: bool, limit: Duration) -> Self {
        Self {
            is_idempotent: is_idempotent || target.operation().is_safe,
            target,
            deadline: Instant::now().checked_add(limit),
            attempts: Arc::default(),
        }
    }

    /// The operation that is called.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Whether the operation may run twice: the call [says so](crate::client::Call::idempotent), or the WSDL says that the operation
    /// is safe.
    pub fn is_idempotent(&self) -> bool {
        self.is_idempotent
    }

    /// The time that is left of the call's limit. `None` if the limit is too long to be represented.
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Counts an attempt to deliver the message, and returns how many there have been.
    #[cfg(feature = "retry")]
    pub(super) fn count_attempt(&self) -> u32 {
        self.attempts.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How often a layer attempted to deliver the message; 0 if nothing counts.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }
}
