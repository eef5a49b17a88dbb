//! What is known of a connection, and a place for what others want to remember of it.

use std::any::{Any, TypeId};
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// A connection that requests come in by, one after the other. Cloning gives the same connection.
///
/// The server remembers nothing of what was said on it, but others may: one value of each type, from when it is asked for
/// first until the connection has ended and nobody holds it any more.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use bsoap_http::{Request, Response, Routes};
///
/// let routes = Routes::new().at("/count", async |request: Request| {
///     let count = request.connection.keep(AtomicU32::default);
///     Response::new(200, "text/plain", format!("request {}", count.fetch_add(1, Ordering::Relaxed) + 1))
/// });
/// ```
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner {
    peer: SocketAddr,
    local: Option<SocketAddr>,
    /// Few: whoever keeps something keeps one thing.
    kept: Mutex<Vec<(TypeId, Arc<dyn Any + Send + Sync>)>>,
}

impl Connection {
    pub(super) fn new(peer: SocketAddr, local: Option<SocketAddr>) -> Self {
        Self {
            inner: Arc::new(Inner {
                peer,
                local,
                kept: Mutex::default(),
            }),
        }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> SocketAddr {
        self.inner.peer
    }

    /// The address the peer connected to, if the system tells.
    pub fn local(&self) -> Option<SocketAddr> {
        self.inner.local
    }

    /// What is kept of a type; `make` gives it if it is not there yet.
    pub fn keep<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut kept = self
            .inner
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|(ty, _)| *ty == TypeId::of::<T>());
        if let Some(known) = known.and_then(|(_, value)| Arc::clone(value).downcast().ok()) {
            return known;
        }
        let value = Arc::new(make());
        kept.push((TypeId::of::<T>(), value.clone()));
        value
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("peer", &self.inner.peer)
            .field("local", &self.inner.local)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_of_each_type_is_kept_until_the_end() {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        let connection = Connection::new(address, None);
        let text = connection.keep(|| "first".to_owned());
        assert_eq!(*connection.keep(|| 5_u8), 5);
        assert_eq!(*connection.keep(|| 6_u8), 5);
        assert!(Arc::ptr_eq(&text, &connection.clone().keep(String::new)));
        let weak = Arc::downgrade(&text);
        drop((text, connection));
        assert!(weak.upgrade().is_none());
    }
}
