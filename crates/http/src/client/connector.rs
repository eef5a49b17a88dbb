//! Opens connections within a time limit: TCP without Nagle's delay, and TLS if the address is `https`.

use std::fmt;
use std::pin::Pin;
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::ClientOptions;
#[cfg(feature = "tls")]
use super::tls::Trust;
use crate::Error;
use crate::body::AnyError;

#[cfg(feature = "tls")]
pub(crate) type PeerStream = hyper_rustls::MaybeHttpsStream<TokioIo<TcpStream>>;
#[cfg(not(feature = "tls"))]
pub(crate) type PeerStream = TokioIo<TcpStream>;

#[derive(Clone)]
pub(crate) struct Connector {
    http: HttpConnector,
    #[cfg(feature = "tls")]
    trust: Arc<Trust>,
    timeout: Duration,
}

impl Connector {
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, Error> {
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.enforce_http(false);
        Ok(Self {
            http,
            #[cfg(feature = "tls")]
            trust: Arc::new(Trust::new(&options.roots)?),
            timeout: options.connect_timeout,
        })
    }

    #[cfg(feature = "tls")]
    async fn connect(mut self, target: Uri) -> Result<PeerStream, AnyError> {
        if target.scheme_str() != Some("https") {
            return Ok(PeerStream::Http(self.http.call(target).await?));
        }
        let mut https = hyper_rustls::HttpsConnector::from((self.http, self.trust.config()?));
        https.call(target).await
    }

    #[cfg(not(feature = "tls"))]
    async fn connect(mut self, target: Uri) -> Result<PeerStream, AnyError> {
        if target.scheme_str() == Some("https") {
            return Err("https needs the feature `tls`, which this build leaves out".into());
        }
        Ok(self.http.call(target).await?)
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
    type Response = PeerStream;
    type Error = AnyError;
    type Future = Pin<Box<dyn Future<Output = Result<PeerStream, AnyError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), AnyError>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let (connector, timeout) = (self.clone(), self.timeout);
        Box::pin(async move {
            tokio::time::timeout(timeout, connector.connect(target))
                .await
                .unwrap_or_else(|_| Err(TimedOut.into()))
        })
    }
}

/// The error for a connection that was not established in time.
#[derive(Debug)]
pub(crate) struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl std::error::Error for TimedOut {}
