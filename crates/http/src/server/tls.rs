//! The TLS configuration of an HTTPS server.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;

use super::options::ServerOptions;
use crate::tls::{authorities, certificates, provider, unusable_identity};
use crate::{Error, ErrorKind};

/// Accepts TLS connections as the options say. `None` if they ask for plain HTTP.
pub(super) fn acceptor(options: &ServerOptions) -> Result<Option<TlsAcceptor>, Error> {
    let client_authorities = || Error::new(ErrorKind::Certificate, "the authorities of clients");
    let Some(identity) = &options.identity else {
        return match options.client_authorities {
            None => Ok(None),
            Some(_) => {
                Err(client_authorities()
                    .because("without `identity`, the server speaks plain HTTP"))
            }
        };
    };
    let (chain, key) = identity.parse()?;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable_identity)?;
    let builder = match &options.client_authorities {
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
    let config = builder
        .with_single_cert(chain, key)
        .map_err(unusable_identity)?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}
