//! What clients and servers have in common over HTTPS: certificates with their keys, and the cryptography.

use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::{Error, ErrorKind};

/// Certificate chain and private key, both in PEM: those of a server, or those that a client proves itself with.
/// `Debug` never shows the key.
#[derive(Clone)]
#[non_exhaustive]
pub struct Identity {
    /// The certificate, followed by those that lead to the root.
    pub certificates: Vec<u8>,
    /// The private key of the first certificate.
    pub key: Vec<u8>,
}

impl Identity {
    /// Certificates and key in PEM. They are read when a client or server is made with them.
    pub fn new(certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        Self {
            certificates: certificates.into(),
            key: key.into(),
        }
    }

    /// Reads the certificates and the key.
    pub(crate) fn parse(
        &self,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
        let chain = certificates(&self.certificates, "the certificate of the identity")?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|source| {
            Error::new(ErrorKind::Certificate, "the private key of the identity").because(source)
        })?;
        Ok((chain, key))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// The error for certificates and keys that do not fit together.
pub(crate) fn unusable_identity(source: rustls::Error) -> Error {
    Error::new(ErrorKind::Certificate, "the identity").because(source)
}

/// The certificates in a PEM text. There must be one at least. `what` names them in errors.
pub(crate) fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let error = || Error::new(ErrorKind::Certificate, what);
    let certificates = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| error().because(source))?;
    if certificates.is_empty() {
        return Err(error().because("no certificate in it, expected PEM"));
    }
    Ok(certificates)
}

/// The certificates as authorities to trust.
pub(crate) fn authorities(
    certificates: &[CertificateDer<'static>],
) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in certificates {
        store.add(certificate.clone()).map_err(|source| {
            Error::new(ErrorKind::Certificate, "the given certificate authority").because(source)
        })?;
    }
    Ok(store)
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
