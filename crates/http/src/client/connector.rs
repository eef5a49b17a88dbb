//! Makes connections: TCP without Nagle's delay, TLS where the address says so, all within a time.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::tls::Trust;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Connector {
    http: HttpConnector,
    trust: Arc<Trust>,
    timeout: Duration,
}

impl Connector {
    pub(crate) fn new(trust: Trust, timeout: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.enforce_http(false);
        Self {
            http,
            trust: Arc::new(trust),
            timeout,
        }
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = AnyError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, AnyError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), AnyError>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let (mut http, trust, timeout) = (self.http.clone(), Arc::clone(&self.trust), self.timeout);
        Box::pin(async move {
            let connecting = async {
                if target.scheme_str() == Some("https") {
                    HttpsConnector::from((http, trust.config()?))
                        .call(target)
                        .await
                } else {
                    Ok(MaybeHttpsStream::Http(http.call(target).await?))
                }
            };
            tokio::time::timeout(timeout, connecting)
                .await
                .unwrap_or_else(|_| Err(TimedOut.into()))
        })
    }
}

/// The connection did not come about in time.
#[derive(Debug)]
pub(crate) struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl std::error::Error for TimedOut {}
