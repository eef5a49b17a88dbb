//! The certificate authorities that a client trusts.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::{Error, ErrorKind};

/// The certificate authorities a client trusts.
#[derive(Clone, Debug, Default)]
pub enum Roots {
    /// The authorities of the operating system, loaded at the first use.
    #[default]
    System,
    /// Only the authorities in this PEM text.
    Pem(Vec<u8>),
    /// The authorities of the operating system and those in this PEM text.
    SystemAnd(Vec<u8>),
}

/// The trusted authorities as a TLS configuration. It is built at the first `https` connection: reading the system's
/// certificates takes time that a client of plain `http` need not spend.
pub(crate) struct Trust {
    given: RootCertStore,
    system: bool,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Trust {
    pub(crate) fn new(roots: &Roots) -> Result<Self, Error> {
        let mut given = RootCertStore::empty();
        if let Roots::Pem(pem) | Roots::SystemAnd(pem) = roots {
            add(&mut given, pem)?;
        }
        Ok(Self {
            given,
            system: !matches!(roots, Roots::Pem(_)),
            config: OnceLock::new(),
        })
    }

    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, rustls::Error> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let mut store = self.given.clone();
        if self.system {
            // Certificates that cannot be read are not trusted. If one of them was needed, the TLS handshake fails.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(config))))
    }
}

fn add(store: &mut RootCertStore, pem: &[u8]) -> Result<(), Error> {
    let error = || Error::new(ErrorKind::Certificate, "the given certificate authority");
    let mut found = false;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|source| error().because(source))?;
        store
            .add(certificate)
            .map_err(|source| error().because(source))?;
        found = true;
    }
    if found {
        Ok(())
    } else {
        Err(error().because("no certificate in it"))
    }
}
