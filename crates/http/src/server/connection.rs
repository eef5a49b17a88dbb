//! A connection for handlers: its addresses, and the values that handlers attach to it.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// A connection on which requests arrive, one after the other. Clones refer to the same connection.
///
/// A handler can attach values to it, one of each type. They live until the connection has ended and all clones are dropped.
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
    is_lasting: bool,
    /// The certificate of the client, in DER.
    certificate: Option<Vec<u8>>,
    kept: Slot,
}

/// A node of a lock-free list: a value is added once and never replaced. The list rarely has more than one value.
type Slot = OnceLock<Box<Kept>>;

struct Kept {
    value: Arc<dyn Any + Send + Sync>,
    next: Slot,
}

impl Connection {
    /// A connection of another server: to put into the extensions of all requests that arrive on it.
    pub fn new(peer: SocketAddr, local: Option<SocketAddr>) -> Self {
        Self::from_parts(peer, local, true)
    }

    /// The same connection, of a client with this certificate (DER). Call it before the connection is used.
    #[must_use]
    pub fn with_certificate(mut self, certificate: Option<Vec<u8>>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.certificate = certificate;
        }
        self
    }

    /// The connection of a request that came without one: it lasts for this request only.
    pub(super) fn unknown() -> Self {
        Self::from_parts(SocketAddr::from(([0, 0, 0, 0], 0)), None, false)
    }

    fn from_parts(peer: SocketAddr, local: Option<SocketAddr>, is_lasting: bool) -> Self {
        Self {
            inner: Arc::new(Inner {
                peer,
                local,
                is_lasting,
                certificate: None,
                kept: OnceLock::new(),
            }),
        }
    }

    /// False if nothing is known of the connection: then each request has one of its own.
    pub fn is_lasting(&self) -> bool {
        self.inner.is_lasting
    }

    /// The address of the peer.
    pub fn peer(&self) -> SocketAddr {
        self.inner.peer
    }

    /// The address that the peer connected to. `None` if the system does not report it.
    pub fn local(&self) -> Option<SocketAddr> {
        self.inner.local
    }

    /// The certificate that the client has proved itself with, in DER. `None` if it has none.
    pub fn certificate(&self) -> Option<&[u8]> {
        self.inner.certificate.as_deref()
    }

    /// The value of type `T` that is attached to the connection. `make` creates it at the first call.
    pub fn keep<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut make = Some(make);
        let mut slot = &self.inner.kept;
        loop {
            let kept = slot.get_or_init(|| {
                let make = make.take().expect("the search ends at the value it made");
                Box::new(Kept {
                    value: Arc::new(make()),
                    next: OnceLock::new(),
                })
            });
            match Arc::clone(&kept.value).downcast() {
                Ok(value) => return value,
                Err(_) => slot = &kept.next,
            }
        }
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
