//! The servers that a client trusts over HTTPS.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use super::ClientOptions;
use crate::tls::{Identity, authorities, certificates, provider, unusable_identity};
use crate::{Error, ErrorKind};

/// The servers that a client trusts over HTTPS.
///
/// A server that presents exactly a certificate given here is trusted whatever the certificate says about names, dates
/// and uses: who has its key could issue itself any other certificate.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Roots {
    /// Those with a certificate of an authority of the operating system. These are loaded at the first use.
    #[default]
    System,
    /// Those with a certificate of an authority in this PEM text, or exactly with a certificate in it.
    Pem(Vec<u8>),
    /// Those with a certificate of an authority of the operating system or in this PEM text, or exactly with a certificate
    /// in it.
    SystemAnd(Vec<u8>),
    /// Those with exactly one of the certificates that have these fingerprints.
    Pinned(Vec<Fingerprint>),
    /// Every server. Anybody between client and server can read and change all messages, passwords included: for
    /// experiments only. The client logs a warning.
    Unchecked,
}

/// The SHA-256 fingerprint of a certificate.
///
/// It is parsed from hexadecimal digits, with or without colons. `openssl x509 -noout -fingerprint -sha256 -in cert.pem`
/// prints it.
///
/// ```
/// use bsoap_http::Fingerprint;
///
/// let printed = "sha256 Fingerprint=00:9C:51:E7:0E:4D:3D:3F:9A:1F:0B:C6:87:5E:33:0B:1D:0C:64:11:4C:0F:5B:5D:8E:2B:7A:34:0A:5C:41:FF";
/// let fingerprint: Fingerprint = printed.parse()?;
/// assert!(printed.ends_with(&fingerprint.to_string()));
/// # Ok::<(), bsoap_http::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint with these octets.
    pub fn new(octets: [u8; 32]) -> Self {
        Self(octets)
    }

    fn of(certificate: &CertificateDer<'_>) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
        Self(digest.as_ref().try_into().expect("SHA-256 has 32 octets"))
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.rsplit('=').next().unwrap_or(text).trim();
        let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b':').collect();
        let octet = |pair: &[u8]| {
            let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
            u8::try_from(digit(0)? << 4 | digit(1)?).ok()
        };
        let octets: Option<Vec<u8>> = digits.chunks(2).map(octet).collect();
        match octets.and_then(|octets| octets.try_into().ok()) {
            Some(octets) => Ok(Self(octets)),
            None => Err(
                Error::new(ErrorKind::Certificate, format!("the fingerprint {text:?}"))
                    .because("expected SHA-256 as 64 hexadecimal digits, with or without colons"),
            ),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, octet) in self.0.iter().enumerate() {
            let colon = if index > 0 { ":" } else { "" };
            write!(f, "{colon}{octet:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The trusted servers and the client's own certificate as a TLS configuration. It is built at the first `https`
/// connection: reading the system's certificates takes time that a client of plain `http` need not spend.
pub(crate) struct Trust {
    authorities: RootCertStore,
    system: bool,
    exact: Vec<Fingerprint>,
    unchecked: bool,
    identity: Option<Identity>,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Trust {
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, Error> {
        let mut trust = Self {
            authorities: RootCertStore::empty(),
            system: matches!(options.roots, Roots::System | Roots::SystemAnd(_)),
            exact: Vec::new(),
            unchecked: false,
            identity: options.identity.clone(),
            config: OnceLock::new(),
        };
        match &options.roots {
            Roots::System => {}
            Roots::Pem(pem) | Roots::SystemAnd(pem) => {
                let given = certificates(pem, "the given certificate authority")?;
                trust.authorities = authorities(&given)?;
                trust.exact = given.iter().map(Fingerprint::of).collect();
            }
            Roots::Pinned(pins) => trust.exact.clone_from(pins),
            Roots::Unchecked => {
                tracing::warn!(
                    "certificates are not checked: anybody between client and server can read and change all messages"
                );
                trust.unchecked = true;
            }
        }
        if let Some(identity) = &trust.identity {
            // Reports an identity that cannot be used before the first connection.
            trust.config_of(Some(identity), RootCertStore::empty())?;
        }
        Ok(trust)
    }

    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let mut store = self.authorities.clone();
        if self.system {
            // Certificates that cannot be read are not trusted. If one of them was needed, the TLS handshake fails.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        let config = self.config_of(self.identity.as_ref(), store)?;
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(config))))
    }

    fn config_of(
        &self,
        identity: Option<&Identity>,
        store: RootCertStore,
    ) -> Result<ClientConfig, Error> {
        let provider = provider();
        let verifier = Verifier {
            authorities: match store.is_empty() {
                true => None,
                false => Some(
                    WebPkiServerVerifier::builder_with_provider(
                        Arc::new(store),
                        Arc::clone(&provider),
                    )
                    .build()
                    .map_err(|source| {
                        Error::new(ErrorKind::Certificate, "the certificate authorities")
                            .because(source)
                    })?,
                ),
            },
            exact: self.exact.clone(),
            unchecked: self.unchecked,
            provider: Arc::clone(&provider),
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable_identity)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        match identity {
            None => Ok(builder.with_no_client_auth()),
            Some(identity) => {
                let (chain, key) = identity.parse()?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(unusable_identity)
            }
        }
    }
}

/// Trusts the given certificates themselves, and what the authorities issued. That a server has the key of its certificate
/// is always checked.
#[derive(Debug)]
struct Verifier {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    exact: Vec<Fingerprint>,
    unchecked: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let fingerprint = Fingerprint::of(certificate);
        if self.unchecked || self.exact.contains(&fingerprint) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = match &self.authorities {
            Some(authorities) => authorities.verify_server_cert(
                certificate,
                intermediates,
                server_name,
                ocsp_response,
                now,
            ),
            None => Err(CertificateError::UnknownIssuer.into()),
        };
        verified.map_err(|reason| {
            let untrusted = Untrusted {
                fingerprint,
                reason,
            };
            CertificateError::Other(OtherError(Arc::new(untrusted))).into()
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The error for a server whose certificate is not trusted.
#[derive(Clone, Debug)]
pub(crate) struct Untrusted {
    pub(crate) fingerprint: Fingerprint,
    reason: rustls::Error,
}

impl Untrusted {
    /// Finds it in the error of a handshake.
    pub(crate) fn in_handshake(error: &std::io::Error) -> Option<Self> {
        match error.get_ref()?.downcast_ref::<rustls::Error>()? {
            rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(error))) => {
                error.downcast_ref().cloned()
            }
            _ => None,
        }
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                f.write_str("it is neither trusted itself nor issued by an authority that is")
            }
            reason => write!(f, "{reason}"),
        }
    }
}

impl std::error::Error for Untrusted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_read_as_openssl_prints_them_and_nothing_shorter() {
        let digits = "0a".repeat(32);
        let colons = vec!["0A"; 32].join(":");
        for text in [&digits, &colons, &format!("SHA256 Fingerprint={colons}\n")] {
            let fingerprint: Fingerprint = text.parse().expect(text);
            assert_eq!(fingerprint, Fingerprint::new([10; 32]));
            assert_eq!(fingerprint.to_string(), colons);
        }
        for text in [
            "",
            "0a",
            &digits[1..],
            &format!("{digits}0a"),
            &digits.replace('0', "g"),
            &"é".repeat(32),
        ] {
            let error = text.parse::<Fingerprint>().expect_err(text);
            assert_eq!(*error.kind(), ErrorKind::Certificate);
        }
    }
}
