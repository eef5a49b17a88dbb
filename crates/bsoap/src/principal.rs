//! Scopes of authenticated principals: all connections of a principal share its saved messages.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bsoap_http::{Credentials, HeaderMap, RequestClient};

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
///     .principal(|caller| Some(Principal::from(caller.headers().get("x-user")?.as_bytes())))
///     .build()?;
/// assert_eq!(Principal::from("mary"), Principal::from(b"mary"));
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Box<[u8]>);

impl Principal {
    /// The name that it was made of.
    pub fn name(&self) -> &[u8] {
        &self.0
    }
}

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

/// Who sends a request, as far as the connection and the HTTP headers tell: what authentication works with. The credentials are
/// those that the client has sent: they are not checked, except that a client with a certificate has its private key, and
/// that one of the [authorities](crate::ServiceBuilder::client_authorities) has signed it.
///
/// ```
/// use bsoap::{Principal, Service};
///
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// # fn user_of(token: &str) -> Option<&'static str> { (token == "secret").then_some("mary") }
/// let by_certificate = Service::builder(wsdl).principal(|caller| caller.certificate().map(Principal::from)).build()?;
/// let by_token = Service::builder(wsdl)
///     .authenticate("Bearer", |caller| user_of(caller.bearer()?).map(Principal::from))
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Caller<'r> {
    headers: &'r HeaderMap,
    peer: SocketAddr,
    certificate: Option<&'r [u8]>,
}

impl<'r> Caller<'r> {
    pub(crate) fn new(headers: &'r HeaderMap, client: &RequestClient<'r>) -> Self {
        Self {
            headers,
            peer: client.address,
            certificate: client.connection.certificate(),
        }
    }

    /// The HTTP headers of the request.
    pub fn headers(&self) -> &'r HeaderMap {
        self.headers
    }

    /// The address of the client.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The certificate of the client, in DER. `None` if the connection has none.
    pub fn certificate(&self) -> Option<&'r [u8]> {
        self.certificate
    }

    /// User name and password of Basic authentication. (RFC 7617)
    pub fn basic(&self) -> Option<Credentials> {
        Credentials::of(self.headers)
    }

    /// The token of Bearer authentication. (RFC 6750)
    pub fn bearer(&self) -> Option<&'r str> {
        let value = self.headers.get("authorization")?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    }
}

/// A function that returns the authenticated sender of a request, or `None` if it is unknown.
type Identify = dyn Fn(&Caller<'_>) -> Option<Principal> + Send + Sync;

/// The principals of a service, and their scopes.
#[derive(Clone)]
pub(crate) struct Principals {
    identify: Arc<Identify>,
    /// What a request without a principal is answered with: the value of `WWW-Authenticate`. `None` if it is processed.
    challenge: Option<String>,
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
        challenge: Option<String>,
        identify: impl Fn(&Caller<'_>) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        Self {
            identify: Arc::new(identify),
            challenge,
            known: Arc::default(),
        }
    }

    /// The principal of a request. `None` if it has none, but is processed.
    ///
    /// # Errors
    /// The value of `WWW-Authenticate`, if a request must have a principal.
    pub(crate) fn identify(&self, caller: &Caller<'_>) -> Result<Option<Principal>, &str> {
        match ((self.identify)(caller), &self.challenge) {
            (None, Some(challenge)) => Err(challenge),
            (principal, _) => Ok(principal),
        }
    }

    /// The scope of a principal.
    pub(crate) fn scope(
        &self,
        principal: &Principal,
        new: impl FnOnce() -> PeerScope,
    ) -> PeerScope {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let clock = known.clock;
        if let Some((scope, last_used)) = known.scopes.get_mut(principal) {
            *last_used = clock;
            return scope.clone();
        }
        if known.scopes.len() >= MAX_PRINCIPALS {
            let oldest = known.scopes.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(principal, _)| principal.clone());
            oldest.and_then(|oldest| known.scopes.remove(&oldest));
        }
        let scope = new();
        known
            .scopes
            .insert(principal.clone(), (scope.clone(), clock));
        scope
    }
}
