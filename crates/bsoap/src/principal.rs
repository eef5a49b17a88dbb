//! Whose messages are remembered together, where it is not a connection's: those of one principal, who has shown who it is.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bsoap_http::HeaderMap;

use crate::scope::Scope;

/// Who sends messages, by any name that no two share: a user, the subject of a certificate.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Box<[u8]>);

/// The name is not shown: it may be a secret.
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

/// Tells who sent a request.
type Tell = dyn Fn(&HeaderMap, SocketAddr) -> Option<Principal> + Send + Sync;

/// So many principals are known at a time.
const MOST: usize = 1024;

/// The scopes of all principals of a service. What one has sent no other profits from.
#[derive(Clone)]
pub(crate) struct Principals {
    tell: Arc<Tell>,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    scopes: HashMap<Principal, (Scope, u64)>,
    /// Goes up by one with each request.
    clock: u64,
}

impl Principals {
    pub(crate) fn new(
        tell: impl Fn(&HeaderMap, SocketAddr) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        Self {
            tell: Arc::new(tell),
            known: Arc::default(),
        }
    }

    /// The scope of whoever sent a request, if it is known who that is.
    pub(crate) fn scope(
        &self,
        headers: &HeaderMap,
        peer: SocketAddr,
        new: impl FnOnce() -> Scope,
    ) -> Option<Scope> {
        let principal = (self.tell)(headers, peer)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let clock = known.clock;
        if let Some((scope, last_used)) = known.scopes.get_mut(&principal) {
            *last_used = clock;
            return Some(scope.clone());
        }
        if known.scopes.len() >= MOST {
            let oldest = known.scopes.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(principal, _)| principal.clone());
            oldest.and_then(|oldest| known.scopes.remove(&oldest));
        }
        let scope = new();
        known.scopes.insert(principal, (scope.clone(), clock));
        Some(scope)
    }
}
