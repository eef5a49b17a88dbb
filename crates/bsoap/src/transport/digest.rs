//! HTTP Digest authentication (RFC 7616): the server is asked for a challenge once, and its nonce is used until it is stale.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bsoap_http::{AnyError, Body, Credentials, header};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_auth::digest::{DigestClient, Qop};
use http_auth::{PasswordParams, parse_challenges};

use super::authorization::{has_credentials, set_authorization};
use super::interface::{Transport, Transporting};

/// The most servers whose challenges are kept.
const MAX_SERVERS: usize = 4096;

/// Adds the answer to the server's challenge to each message.
pub(crate) struct Digest {
    inner: Arc<dyn Transport>,
    state: Arc<State>,
}

struct State {
    credentials: Credentials,
    /// The last challenge of each server, by scheme, host and port, with the count of its nonce.
    challenges: Mutex<HashMap<String, DigestClient>>,
}

impl Digest {
    pub(crate) fn new(inner: Arc<dyn Transport>, credentials: Credentials) -> Self {
        Self {
            inner,
            state: Arc::new(State {
                credentials,
                challenges: Mutex::default(),
            }),
        }
    }
}

impl Transport for Digest {
    fn send(&self, request: Request<Body>) -> Transporting {
        if has_credentials(&request) {
            return self.inner.send(request);
        }
        let (inner, state) = (Arc::clone(&self.inner), Arc::clone(&self.state));
        Box::pin(async move {
            match request.body().is_whole() {
                true => state.send(&*inner, request).await,
                false => state.send_streamed(&*inner, request).await,
            }
        })
    }
}

impl State {
    /// Sends a message up to three times: the first answer may have a challenge, and the second one may say that its nonce is stale.
    async fn send(
        &self,
        inner: &dyn Transport,
        request: Request<Body>,
    ) -> Result<Response<Bytes>, AnyError> {
        let server = server_of(&request);
        let mut is_new = false;
        for sends_left in (0..3).rev() {
            let mut sent = request.clone();
            self.authorize(&server, &mut sent)?;
            let response = inner.send(sent).await?;
            match challenge_of(&response) {
                // A server that refuses the answer to its newest challenge does not accept the password.
                Some(challenge) if sends_left > 0 && (!is_new || challenge.stale()) => {
                    self.keep(server.clone(), challenge);
                }
                _ => return Ok(response),
            }
            is_new = true;
        }
        unreachable!("the last round returns the response")
    }

    /// Sends a message that can be sent only once. If no challenge is known, an empty message asks for one.
    async fn send_streamed(
        &self,
        inner: &dyn Transport,
        mut request: Request<Body>,
    ) -> Result<Response<Bytes>, AnyError> {
        let server = server_of(&request);
        if !self.lock().contains_key(&server) {
            let (head, body) = request.into_parts();
            let asked = inner.send(Request::from_parts(head.clone(), Body::default()));
            if let Some(challenge) = challenge_of(&asked.await?) {
                self.keep(server.clone(), challenge);
            }
            request = Request::from_parts(head, body);
        }
        self.authorize(&server, &mut request)?;
        let response = inner.send(request).await?;
        if let Some(challenge) = challenge_of(&response) {
            self.keep(server, challenge);
        }
        Ok(response)
    }

    /// Adds the answer to the challenge of a server, if it is known.
    fn authorize(&self, server: &str, request: &mut Request<Body>) -> Result<(), AnyError> {
        let mut challenges = self.lock();
        let Some(challenge) = challenges.get_mut(server) else {
            return Ok(());
        };
        // The text is only needed where a server wants it protected (`auth-int`) and nothing less.
        let needs_text = !(challenge.qop() & Qop::Auth);
        let text = needs_text.then(|| request.body().clone().into_bytes());
        let uri = request.uri().path_and_query();
        let answer = challenge.respond(&PasswordParams {
            username: &self.credentials.user,
            password: &self.credentials.password,
            uri: uri.map_or("/", |it| it.as_str()),
            method: request.method().as_str(),
            body: text.as_deref(),
        })?;
        let mut answer = HeaderValue::try_from(answer)
            .map_err(|_| "the user name has characters that HTTP Digest does not allow")?;
        answer.set_sensitive(true);
        set_authorization(request, answer);
        Ok(())
    }

    fn keep(&self, server: String, challenge: DigestClient) {
        let mut challenges = self.lock();
        if challenges.len() >= MAX_SERVERS && !challenges.contains_key(&server) {
            // They are asked for again.
            challenges.clear();
        }
        challenges.insert(server, challenge);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, DigestClient>> {
        self.challenges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Scheme, host and port of a request's address.
fn server_of(request: &Request<Body>) -> String {
    let uri = request.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    format!("{}://{authority}", uri.scheme_str().unwrap_or_default())
}

/// The first Digest challenge in a response that is supported: servers list them in the order of their preference. (RFC 7616 §3.7)
fn challenge_of(response: &Response<Bytes>) -> Option<DigestClient> {
    if response.status() != StatusCode::UNAUTHORIZED {
        return None;
    }
    let headers = response.headers().get_all(header::WWW_AUTHENTICATE);
    let mut texts = headers.iter().filter_map(|value| value.to_str().ok());
    texts.find_map(|text| {
        let challenges = parse_challenges(text).ok()?;
        challenges
            .iter()
            .find_map(|it| DigestClient::try_from(it).ok())
    })
}
