//! Scopes of authenticated principals: all connections of a principal share its saved messages.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bsoap_http::HeaderMap;

use crate::limits::MAX_PRINCIPALS;
use crate::scope::PeerScope;

/// The authenticated sender of messages, identified by a unique name such as a user name or the subject of a certificate.
///
/// ```
/// use bsoap::{Principal, Service};
///
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// // Behind a proxy that authenticates users.
/// let service = Service::builder(wsdl)
///     .principal(|headers, _peer| Some(Principal::from(headers.get("x-user")?.as_bytes())))
///     .build()?;
/// assert_eq!(Principal::from("mary"), Principal::from(b"mary"));
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Box<[u8]>);

/// Does not show the name, which may be a secret.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Principal")
    }
}

impl<T: Into<Vec<u8>>> From<T> for Principal {
    fn from(name: T) -> Self {
        Self(name.into().into())
    }
}

/// A function that returns the authenticated sender of a request, or `None` if it is unknown.
type Identify = dyn Fn(&HeaderMap, SocketAddr) -> Option<Principal> + Send + Sync;

/// The scopes of all principals of a service.
#[derive(Clone)]
pub(crate) struct Principals {
    identify: Arc<Identify>,
    known: Arc<Mutex<KnownPrincipals>>,
}

#[derive(Default)]
struct KnownPrincipals {
    scopes: HashMap<Principal, (PeerScope, u64)>,
    /// The time in requests: it increases by one with each request.
    clock: u64,
}

impl Principals {
    pub(crate) fn new(
        identify: impl Fn(&HeaderMap, SocketAddr) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identify: Arc::new(identify),
            known: Arc::default(),
        }
    }

    /// The scope of the sender of a request. `None` if the sender is unknown.
    pub(crate) fn scope(
        &self,
        headers: &HeaderMap,
        peer: SocketAddr,
        new: impl FnOnce() -> PeerScope,
    ) -> Option<PeerScope> {
        let principal = (self.identify)(headers, peer)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let clock = known.clock;
        if let Some((scope, last_used)) = known.scopes.get_mut(&principal) {
            *last_used = clock;
            return Some(scope.clone());
        }
        if known.scopes.len() >= MAX_PRINCIPALS {
            let oldest = known.scopes.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(principal, _)| principal.clone());
            oldest.and_then(|oldest| known.scopes.remove(&oldest));
        }
        let scope = new();
        known.scopes.insert(principal, (scope.clone(), clock));
        Some(scope)
    }
}
