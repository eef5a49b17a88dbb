//! Repeats calls that may run twice, with exponential back-off.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBuilder};
use bsoap_http::{AnyError, Body, ErrorKind, header};
use bytes::Bytes;
use http::{Request, Response};

use super::context::CallContext;
use super::interface::{Transport, Transporting};

/// Whether and how calls are repeated.
///
/// A call is repeated if no connection could be established, since the peer has not seen it. A call that may run twice is also
/// repeated if its connection broke, an attempt took too long, or the answer has status 429, 502, 503 or 504. It may run twice if it
/// [says so](crate::client::Call::idempotent), if its operation is [named](Self::operations), or if the WSDL says
/// `wsdlx:safe="true"` of it. Streamed calls are not repeated.
///
/// The delays grow from [`first_delay`](Self::first_delay) to [`max_delay`](Self::max_delay), doubled each time, plus up to as much
/// again by chance; the header `Retry-After` of an answer is a lower limit. The time limit of the call includes all attempts and
/// delays. Errors say how often a call was attempted.
///
/// ```
/// use std::time::Duration;
/// use bsoap::Client;
/// use bsoap::transport::Retries;
///
/// let retries = Retries::new(3)
///     .operations(["sumDoubles"])
///     .attempt_timeout(Duration::from_secs(5));
/// let client = Client::builder(include_str!("../../../../examples/mesh/mesh.wsdl"))
///     .retries(retries)
///     .timeout(Duration::from_secs(30))
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Retries {
    max: usize,
    first_delay: Duration,
    max_delay: Duration,
    attempt_timeout: Option<Duration>,
    operations: HashSet<String>,
}

impl Retries {
    /// Repeats a call up to `max` times after its first attempt.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            first_delay: Duration::from_millis(100),
            max_delay: Duration::from_secs(10),
            attempt_timeout: None,
            operations: HashSet::new(),
        }
    }

    /// Names operations that may run twice.
    pub fn operations<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.operations.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the shortest delay before the first repetition. Default: 100 ms.
    pub fn first_delay(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
    }

    /// Sets the delay, without its part by chance, from which on it does not grow. Default: 10 s.
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// Sets the time limit of one attempt, for calls that may run twice. By default, an attempt may take the time of the whole call.
    pub fn attempt_timeout(mut self, limit: Duration) -> Self {
        self.attempt_timeout = Some(limit);
        self
    }

    /// The delays before each repetition.
    fn delays(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        // Longer ones are longer than any time limit, and could not be doubled.
        let most = Duration::from_secs(24 * 3600);
        ExponentialBuilder::new()
            .with_min_delay(self.first_delay.min(most))
            .with_max_delay(self.max_delay.min(most))
            .with_max_times(self.max)
            .with_jitter()
            .build()
    }
}

/// Repeats messages.
pub(crate) struct Retrying {
    inner: Arc<dyn Transport>,
    retries: Arc<Retries>,
}

impl Retrying {
    pub(crate) fn new(inner: Arc<dyn Transport>, retries: Retries) -> Self {
        Self {
            inner,
            retries: Arc::new(retries),
        }
    }
}

impl Transport for Retrying {
    fn send(&self, request: Request<Body>) -> Transporting {
        let context = request.extensions().get::<CallContext>().cloned();
        let Some(context) = context.filter(|_| request.body().is_whole()) else {
            return self.inner.send(request);
        };
        let (inner, retries) = (Arc::clone(&self.inner), Arc::clone(&self.retries));
        Box::pin(async move {
            let operation = &context.target().operation().name;
            let may_run_twice = context.is_idempotent() || retries.operations.contains(operation);
            let limit = retries.attempt_timeout.filter(|_| may_run_twice);
            let mut delays = retries.delays();
            loop {
                let attempt = context.count_attempt();
                let result = send_within(limit, &*inner, request.clone()).await;
                let may_help = may_help(&result, may_run_twice);
                let Some(delay) = delays.next().filter(|_| may_help) else {
                    return result;
                };
                let delay = delay.max(wanted_delay(&result));
                if context.time_left().is_some_and(|left| left <= delay) {
                    return result;
                }
                tracing::info!(target: "bsoap", operation, attempt, ?delay, "the call is repeated");
                tokio::time::sleep(delay).await;
            }
        })
    }
}

async fn send_within(
    limit: Option<Duration>,
    inner: &dyn Transport,
    request: Request<Body>,
) -> Result<Response<Bytes>, AnyError> {
    let place = request.uri().to_string();
    let sent = inner.send(request);
    let Some(limit) = limit else {
        return sent.await;
    };
    match tokio::time::timeout(limit, sent).await {
        Ok(result) => result,
        Err(_) => Err(bsoap_http::Error::new(ErrorKind::Timeout(limit), place).into()),
    }
}

/// Whether another attempt may succeed, and does no harm.
fn may_help(result: &Result<Response<Bytes>, AnyError>, may_run_twice: bool) -> bool {
    match result {
        Ok(response) => may_run_twice && matches!(response.status().as_u16(), 429 | 502..=504),
        Err(error) => match error.downcast_ref().map(bsoap_http::Error::kind) {
            Some(ErrorKind::Connect | ErrorKind::ConnectTimeout(_)) => true,
            Some(ErrorKind::Broken | ErrorKind::Timeout(_) | ErrorKind::Custom) => may_run_twice,
            // What will be the same next time, such as an address that is none.
            Some(_) => false,
            // An error of a transport or layer of the program.
            None => may_run_twice,
        },
    }
}

/// The time that the peer asks to wait: seconds, or a date. (RFC 9110 §10.2.3)
fn wanted_delay(result: &Result<Response<Bytes>, AnyError>) -> Duration {
    let wanted = || {
        let value = result.as_ref().ok()?.headers().get(header::RETRY_AFTER)?;
        let text = value.to_str().ok()?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let date = httpdate::parse_http_date(text).ok()?;
        date.duration_since(SystemTime::now()).ok()
    };
    wanted().unwrap_or_default()
}
