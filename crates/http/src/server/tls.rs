//! The certificate and the key of an HTTPS server.

use std::fmt;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::{Error, ErrorKind};

/// Certificate chain and private key, both in PEM. `Debug` never shows the key.
#[derive(Clone)]
pub struct Identity {
    /// The server's certificate, followed by those that lead to the root.
    pub certificates: Vec<u8>,
    /// The private key of the first certificate.
    pub key: Vec<u8>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

pub(super) fn acceptor(identity: &Identity) -> Result<TlsAcceptor, Error> {
    let error = |what: &str| Error::new(ErrorKind::Certificate, what);
    let chain = CertificateDer::pem_slice_iter(&identity.certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| error("the server's certificate").because(source))?;
    let key = PrivateKeyDer::from_pem_slice(&identity.key)
        .map_err(|source| error("the server's private key").because(source))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|source| error("the server's certificate").because(source))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
