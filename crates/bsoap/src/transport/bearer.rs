//! Bearer tokens (RFC 6750): obtained when they are needed, kept until they expire or are refused.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_http::{AnyError, Body, ErrorKind};
use http::{HeaderValue, Request, StatusCode};
use tokio::sync::Mutex;

use super::authorization::{has_credentials, set_authorization};
use super::interface::{Transport, Transporting};

/// A token is replaced this long before it expires, so that it does not expire on its way.
const MARGIN: Duration = Duration::from_secs(10);

/// A bearer token. `Debug` does not show it.
///
/// ```
/// use std::time::Duration;
/// use bsoap::transport::Token;
///
/// let token = Token::new("mF_9.B5f-4.1JqM").valid_for(Duration::from_secs(3600));
/// assert!(!format!("{token:?}").contains("mF_9"));
/// ```
#[derive(Clone)]
pub struct Token {
    text: String,
    expires: Option<Instant>,
}

impl Token {
    /// A token that is used until the peer refuses it.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            expires: None,
        }
    }

    /// Says for how long from now the token is valid: `expires_in` of an OAuth 2.0 server. (RFC 6749 §5.1)
    #[must_use]
    pub fn valid_for(mut self, time: Duration) -> Self {
        self.expires = Instant::now().checked_add(time);
        self
    }

    fn is_fresh(&self) -> bool {
        let soon = Instant::now() + MARGIN;
        self.expires.is_none_or(|expires| expires > soon)
    }

    /// The value of `Authorization`.
    pub(crate) fn header(&self) -> Result<HeaderValue, AnyError> {
        let value = HeaderValue::try_from(format!("Bearer {}", self.text));
        let mut value =
            value.map_err(|_| "the token has characters that HTTP headers do not allow")?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

/// The future of a [`TokenSource`].
pub type ObtainingToken = Pin<Box<dyn Future<Output = Result<Token, AnyError>> + Send>>;

/// Obtains bearer tokens, such as from an OAuth 2.0 server. Closures that return a future are token sources.
pub trait TokenSource: Send + Sync {
    /// Obtains a new token. Only one call of a client's source runs at a time.
    fn obtain(&self) -> ObtainingToken;
}

impl<F, Obtaining> TokenSource for F
where
    F: Fn() -> Obtaining + Send + Sync,
    Obtaining: Future<Output = Result<Token, AnyError>> + Send + 'static,
{
    fn obtain(&self) -> ObtainingToken {
        Box::pin(self())
    }
}

/// Adds the token to each message. A message that is refused with status 401 is sent once more with a new token.
pub(crate) struct Bearer {
    inner: Arc<dyn Transport>,
    tokens: Arc<Tokens>,
}

/// The token of a client.
struct Tokens {
    source: Arc<dyn TokenSource>,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    token: Option<Token>,
    /// How many tokens have been obtained.
    generation: u64,
}

impl Bearer {
    pub(crate) fn new(inner: Arc<dyn Transport>, source: Arc<dyn TokenSource>) -> Self {
        Self {
            inner,
            tokens: Arc::new(Tokens {
                source,
                current: Mutex::default(),
            }),
        }
    }
}

impl Tokens {
    /// The header with a token newer than the generation `refused`, and its generation. All calls that need a new one wait for the
    /// same.
    async fn header(&self, refused: Option<u64>) -> Result<(HeaderValue, u64), AnyError> {
        let mut current = self.current.lock().await;
        if let Some(token) = &current.token
            && token.is_fresh()
            && refused.is_none_or(|refused| current.generation > refused)
        {
            return Ok((token.header()?, current.generation));
        }
        let token = self.source.obtain().await?;
        let header = token.header()?;
        current.token = Some(token);
        current.generation += 1;
        Ok((header, current.generation))
    }

    /// Adds the header to a request, and returns the generation of the token.
    async fn authorize(
        &self,
        request: &mut Request<Body>,
        refused: Option<u64>,
    ) -> Result<u64, AnyError> {
        match self.header(refused).await {
            Ok((header, generation)) => {
                set_authorization(request, header);
                Ok(generation)
            }
            Err(error) => {
                let place = request.uri().to_string();
                Err(bsoap_http::Error::new(ErrorKind::Token, place)
                    .because(error)
                    .into())
            }
        }
    }

    async fn forget(&self, refused: u64) {
        let mut current = self.current.lock().await;
        if current.generation == refused {
            current.token = None;
        }
    }
}

impl Transport for Bearer {
    fn send(&self, mut request: Request<Body>) -> Transporting {
        if has_credentials(&request) {
            return self.inner.send(request);
        }
        let (inner, tokens) = (Arc::clone(&self.inner), Arc::clone(&self.tokens));
        Box::pin(async move {
            let again = request.body().is_whole().then(|| request.clone());
            let generation = tokens.authorize(&mut request, None).await?;
            let response = inner.send(request).await?;
            if response.status() != StatusCode::UNAUTHORIZED {
                return Ok(response);
            }
            let Some(mut request) = again else {
                tokens.forget(generation).await;
                return Ok(response);
            };
            tokens.authorize(&mut request, Some(generation)).await?;
            inner.send(request).await
        })
    }
}
