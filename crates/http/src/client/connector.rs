//! Opens connections within a time limit: TCP without Nagle's delay, through a proxy if there is one, and TLS if the
//! address is `https`.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::ClientOptions;
use super::proxy::Proxies;
#[cfg(feature = "tls")]
use super::tls::{Trust, Untrusted};
use crate::Error;
use crate::body::AnyError;

#[derive(Clone)]
pub(crate) struct Connector {
    http: HttpConnector,
    proxies: Arc<Proxies>,
    #[cfg(feature = "tls")]
    trust: Arc<Trust>,
    timeout: Duration,
}

impl Connector {
    pub(crate) fn new(options: &ClientOptions, proxies: Arc<Proxies>) -> Result<Self, Error> {
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.enforce_http(false);
        Ok(Self {
            http,
            proxies,
            #[cfg(feature = "tls")]
            trust: Arc::new(Trust::new(options)?),
            timeout: options.connect_timeout,
        })
    }

    async fn connect(mut self, target: Uri) -> Result<PeerStream, AnyError> {
        let proxy = self.proxies.proxy_for(&target)?;
        if target.scheme_str() != Some("https") {
            let through = proxy.as_ref().map(|proxy| proxy.uri().clone());
            return Ok(PeerStream::Plain {
                stream: self.http.call(through.unwrap_or(target)).await?,
                is_proxied: proxy.is_some(),
            });
        }
        let stream = match proxy {
            None => self.http.call(target.clone()).await?,
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), self.http.clone());
                if let Some(authorization) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(authorization.clone());
                }
                let failed = |reason| ProxyFailed {
                    proxy: proxy.uri().clone(),
                    reason,
                };
                tunnel.call(target.clone()).await.map_err(failed)?
            }
        };
        self.secure(&target, stream).await
    }

    /// Does the TLS handshake.
    #[cfg(feature = "tls")]
    async fn secure(
        &self,
        target: &Uri,
        stream: TokioIo<TcpStream>,
    ) -> Result<PeerStream, AnyError> {
        let host = target.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = rustls_pki_types::ServerName::try_from(host.to_owned())?;
        let tls = tokio_rustls::TlsConnector::from(self.trust.config()?);
        match tls.connect(name, stream.into_inner()).await {
            Ok(stream) => Ok(PeerStream::Tls(Box::new(TokioIo::new(stream)))),
            Err(error) => match Untrusted::in_handshake(&error) {
                Some(untrusted) => Err(untrusted.into()),
                None => Err(error.into()),
            },
        }
    }

    #[cfg(not(feature = "tls"))]
    async fn secure(&self, _: &Uri, _: TokioIo<TcpStream>) -> Result<PeerStream, AnyError> {
        Err("https needs the feature `tls`, which this build leaves out".into())
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

/// A connection to a server or a proxy.
pub(crate) enum PeerStream {
    Plain {
        stream: TokioIo<TcpStream>,
        /// True if requests go to a proxy, which needs the whole address (absolute-form). A tunnel is not visible to them.
        is_proxied: bool,
    },
    #[cfg(feature = "tls")]
    Tls(Box<TokioIo<tokio_rustls::client::TlsStream<TcpStream>>>),
}

/// Calls a method of the stream, whichever it is.
macro_rules! delegate {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            PeerStream::Plain { stream, .. } => {
                let $stream = Pin::new(stream);
                $call
            }
            #[cfg(feature = "tls")]
            PeerStream::Tls(stream) => {
                let $stream = Pin::new(&mut **stream);
                $call
            }
        }
    };
}

impl Read for PeerStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        delegate!(self, stream => stream.poll_read(context, buffer))
    }
}

impl Write for PeerStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, stream => stream.poll_shutdown(context))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain { stream, .. } => stream.is_write_vectored(),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, stream => stream.poll_write_vectored(context, slices))
    }
}

impl Connection for PeerStream {
    fn connected(&self) -> Connected {
        match self {
            Self::Plain { stream, is_proxied } => stream.connected().proxy(*is_proxied),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.inner().get_ref().0.connected(),
        }
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

/// The error for a proxy that opened no tunnel.
#[derive(Debug)]
struct ProxyFailed<E> {
    proxy: Uri,
    reason: E,
}

impl<E> fmt::Display for ProxyFailed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no tunnel through the proxy {}", self.proxy)
    }
}

impl<E: std::error::Error + 'static> std::error::Error for ProxyFailed<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.reason)
    }
}
