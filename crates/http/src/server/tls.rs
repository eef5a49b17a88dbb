//! The TLS configuration of an HTTPS server, which can be replaced while it runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;

use super::options::ServerOptions;
use crate::tls::{Identity, authorities, certificates, provider, unusable_identity};
use crate::{Error, ErrorKind};

/// The certificates of a server. Clones share them.
///
/// ```no_run
/// # async fn example(routes: bsoap_http::Routes, options: bsoap_http::ServerOptions) -> Result<(), Box<dyn std::error::Error>> {
/// use bsoap_http::{Identity, Server};
///
/// let server = Server::bind("0.0.0.0:8443", routes, options).await?;
/// let certificates = server.certificates().expect("it has an identity");
/// tokio::spawn(server.run(std::future::pending()));
/// // Later, when they were renewed: connections made from now on get the new ones.
/// certificates.replace(&Identity::new(std::fs::read("cert.pem")?, std::fs::read("key.pem")?), None)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Certificates {
    current: Arc<RwLock<TlsAcceptor>>,
    #[cfg(feature = "http2")]
    http2: bool,
}

impl Certificates {
    /// Those of the options. `None` if they ask for plain HTTP.
    pub(super) fn new(options: &ServerOptions) -> Result<Option<Self>, Error> {
        let Some(identity) = &options.identity else {
            return match options.client_authorities {
                None => Ok(None),
                Some(_) => Err(client_authorities()
                    .because("without `identity`, the server speaks plain HTTP")),
            };
        };
        #[cfg(feature = "http2")]
        let http2 = options.http2;
        #[cfg(not(feature = "http2"))]
        let http2 = false;
        let acceptor = acceptor(identity, options.client_authorities.as_deref(), http2)?;
        Ok(Some(Self {
            current: Arc::new(RwLock::new(acceptor)),
            #[cfg(feature = "http2")]
            http2,
        }))
    }

    /// Replaces the certificates and the key, and the authorities of clients (PEM; `None` means that clients need no
    /// certificate). Open connections keep those that they were made with.
    ///
    /// # Errors
    /// [`ErrorKind::Certificate`] if they cannot be used. Then the old ones remain.
    pub fn replace(
        &self,
        identity: &Identity,
        client_authorities: Option<&[u8]>,
    ) -> Result<(), Error> {
        #[cfg(feature = "http2")]
        let http2 = self.http2;
        #[cfg(not(feature = "http2"))]
        let http2 = false;
        let acceptor = acceptor(identity, client_authorities, http2)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}

fn client_authorities() -> Error {
    Error::new(ErrorKind::Certificate, "the authorities of clients")
}

/// Accepts TLS connections with these certificates.
fn acceptor(
    identity: &Identity,
    authorities_of_clients: Option<&[u8]>,
    http2: bool,
) -> Result<TlsAcceptor, Error> {
    let (chain, key) = identity.parse()?;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable_identity)?;
    let builder = match authorities_of_clients {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let given = certificates(pem, "the authorities of clients")?;
            let store = Arc::new(authorities(&given)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(store, provider())
                .build()
                .map_err(|source| client_authorities().because(source))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder
        .with_single_cert(chain, key)
        .map_err(unusable_identity)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    if http2 {
        config.alpn_protocols.insert(0, b"h2".to_vec());
    }
    Ok(TlsAcceptor::from(Arc::new(config)))
}
