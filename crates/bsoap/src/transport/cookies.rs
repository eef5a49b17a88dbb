//! The cookies of a client (RFC 6265), for services that keep a session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bsoap_http::{Address, Body, Credentials, HeaderMap, header};
use cookie_store::{CookieStore, RawCookie};
use http::{HeaderValue, Request};
use url::Url;

use super::authorization::AddedAuthorization;
use super::interface::{Transport, Transporting};

/// The most cookies that are kept, as browsers do. (RFC 6265 §6.1)
const MAX_COOKIES: usize = 3000;
/// The most bytes of a cookie. (RFC 6265 §6.1)
const MAX_COOKIE_LENGTH: usize = 4096;

/// Stores the cookies of answers, and sends them back to the host that set them.
pub(crate) struct Cookies {
    inner: Arc<dyn Transport>,
    jar: Arc<Mutex<CookieStore>>,
    principal: Principal,
}

/// Who the client is for the peer. Requests with other credentials are those of another principal.
struct Principal {
    /// The `Authorization` that all requests of the client have.
    authorization: Option<HeaderValue>,
    /// The credentials in the client's address.
    credentials: Option<Credentials>,
}

impl Cookies {
    /// `address` is that of the client, `defaults` are the headers of all its requests.
    pub(crate) fn new(inner: Arc<dyn Transport>, address: &Address, defaults: &HeaderMap) -> Self {
        Self {
            inner,
            jar: Arc::default(),
            principal: Principal {
                authorization: defaults.get(header::AUTHORIZATION).cloned(),
                credentials: address.credentials().cloned(),
            },
        }
    }

    /// Whether a request is one of the client's own principal, and has no cookies of its caller.
    fn applies_to(&self, request: &Request<Body>) -> bool {
        let (headers, extensions) = (request.headers(), request.extensions());
        let address = extensions.get::<Address>();
        let is_own = extensions.get::<AddedAuthorization>().is_some()
            || headers.get(header::AUTHORIZATION) == self.principal.authorization.as_ref();
        is_own
            && address.and_then(Address::credentials) == self.principal.credentials.as_ref()
            && !headers.contains_key(header::COOKIE)
    }
}

impl Transport for Cookies {
    fn send(&self, mut request: Request<Body>) -> Transporting {
        let url = Url::parse(&request.uri().to_string());
        let Some(url) = url.ok().filter(|_| self.applies_to(&request)) else {
            return self.inner.send(request);
        };
        if let Some(cookies) = cookies_for(&lock(&self.jar), &url) {
            request.headers_mut().insert(header::COOKIE, cookies);
        }
        let (sent, jar) = (self.inner.send(request), Arc::clone(&self.jar));
        Box::pin(async move {
            let response = sent.await?;
            store(&mut lock(&jar), response.headers(), &url);
            Ok(response)
        })
    }
}

/// The header `Cookie` of a request.
fn cookies_for(jar: &CookieStore, url: &Url) -> Option<HeaderValue> {
    let pairs = jar.get_request_values(url);
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut cookies = HeaderValue::try_from(pairs.join("; ")).ok()?;
    cookies.set_sensitive(true);
    (!cookies.is_empty()).then_some(cookies)
}

fn store(jar: &mut CookieStore, headers: &HeaderMap, url: &Url) {
    for value in headers.get_all(header::SET_COOKIE) {
        let Ok(text) = value.to_str() else { continue };
        if text.len() > MAX_COOKIE_LENGTH {
            tracing::warn!(
                limit = MAX_COOKIE_LENGTH,
                "a cookie of {url} is ignored: it is too long"
            );
            continue;
        }
        let Ok(mut cookie) = RawCookie::parse(text.to_owned()) else {
            continue;
        };
        // It is sent to this host alone, so that no list of public suffixes is needed.
        cookie.unset_domain();
        if jar.iter_any().count() >= MAX_COOKIES {
            tracing::warn!(
                limit = MAX_COOKIES,
                "a cookie of {url} is ignored: the client has too many"
            );
            continue;
        }
        // What the standard says to ignore, such as a `Secure` cookie over plain HTTP.
        drop(jar.insert_raw(&cookie, url));
    }
}

fn lock(jar: &Mutex<CookieStore>) -> MutexGuard<'_, CookieStore> {
    jar.lock().unwrap_or_else(PoisonError::into_inner)
}
