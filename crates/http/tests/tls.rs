//! Which servers a client trusts over HTTPS, and which clients a server accepts.

mod common;

use std::error::Error as _;

use bsoap_http::{
    Address, Blame, Client, ClientOptions, Error, ErrorKind, Fingerprint, HeaderMap, Identity,
    Roots, Server, ServerOptions,
};
use common::echo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// A certificate as `openssl req -x509 -subj /CN=…` makes it: self-signed, CA:TRUE, and without alternative names.
fn as_openssl_makes_it() -> (Identity, Fingerprint) {
    let key = KeyPair::generate().expect("a key");
    let mut parameters = CertificateParams::new([]).expect("no names");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = parameters.self_signed(&key).expect("a certificate");
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate.der());
    let identity = Identity::new(certificate.pem(), key.serialize_pem());
    let octets = digest.as_ref().try_into().expect("32 octets");
    (identity, Fingerprint::new(octets))
}

/// A server that runs until the runtime ends.
async fn serve(identity: &Identity, client_authorities: Option<Vec<u8>>) -> Address {
    let mut options = ServerOptions::default();
    options.identity = Some(identity.clone());
    options.client_authorities = client_authorities;
    let server = Server::bind("127.0.0.1:0", echo(), options)
        .await
        .expect("a free port");
    let address = format!("https://localhost:{}/echo", server.address().port());
    tokio::spawn(server.run(std::future::pending()));
    address.parse().expect("an address")
}

async fn call(address: &Address, roots: Roots, identity: Option<Identity>) -> Result<(), Error> {
    let mut options = ClientOptions::default();
    options.roots = roots;
    options.identity = identity;
    let answer = Client::new(options)?
        .post(address, HeaderMap::new(), "<a/>".into())
        .await?;
    assert_eq!(&answer.body[..], b"<a/>");
    Ok(())
}

#[tokio::test]
async fn a_certificate_that_is_its_own_authority_is_trusted_if_it_is_given_or_pinned() {
    let (identity, fingerprint) = as_openssl_makes_it();
    let address = serve(&identity, None).await;
    let (other, other_fingerprint) = as_openssl_makes_it();
    let pem = identity.certificates.clone();
    for trusting in [
        Roots::Pem(pem.clone()),
        Roots::Pem([other.certificates.clone(), pem.clone()].concat()),
        Roots::SystemAnd(pem),
        Roots::Pinned(vec![fingerprint]),
        Roots::Pinned(vec![other_fingerprint, fingerprint]),
        Roots::Unchecked,
    ] {
        let called = call(&address, trusting.clone(), None).await;
        assert!(called.is_ok(), "{trusting:?}: {called:?}");
    }
    for wary in [
        Roots::System,
        Roots::Pem(other.certificates.clone()),
        Roots::SystemAnd(other.certificates),
        Roots::Pinned(vec![other_fingerprint]),
        Roots::Pinned(Vec::new()),
    ] {
        let error = call(&address, wary.clone(), None)
            .await
            .expect_err("not trusted");
        assert_eq!(
            *error.kind(),
            ErrorKind::Untrusted {
                fingerprint: fingerprint.to_string()
            },
            "{wary:?}"
        );
        assert_eq!(error.blame(), Blame::Transport);
        let text = error.to_string();
        for expected in [&*fingerprint.to_string(), "--cacert", "--pin", "--insecure"] {
            assert!(text.contains(expected), "{text}");
        }
        assert!(error.source().is_some());
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_trusted_because_its_authority_is() {
    let (authority, signed) = signed(&["elsewhere.example"]);
    let address = serve(&signed, None).await;
    let error = call(&address, Roots::Pem(authority.clone()), None)
        .await
        .expect_err("another name");
    assert!(matches!(error.kind(), ErrorKind::Untrusted { .. }));
    let reason = error.source().expect("a reason").to_string();
    assert!(
        reason.contains("localhost") || reason.contains("NotValidForName"),
        "{reason}"
    );
    // The certificate of the authority is not that of the server.
    let pinned = format!(
        "{:?}",
        call(&address, Roots::Pinned(Vec::new()), None).await
    );
    assert!(pinned.contains("Untrusted"), "{pinned}");
}

/// An authority (PEM), and an identity that it signed.
fn signed(names: &[&str]) -> (Vec<u8>, Identity) {
    let mut parameters = CertificateParams::new([]).expect("no names");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(parameters, KeyPair::generate().expect("a key"))
        .expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let certificate = CertificateParams::new(names)
        .expect("names")
        .signed_by(&key, &authority)
        .expect("a certificate");
    let identity = Identity::new(certificate.pem(), key.serialize_pem());
    (authority.pem().into_bytes(), identity)
}

#[tokio::test]
async fn a_server_that_asks_for_certificates_accepts_those_of_its_authorities_only() {
    let (authority, server) = signed(&["localhost"]);
    let (client_authority, client) = signed(&["a client"]);
    let address = serve(&server, Some(client_authority)).await;
    let roots = Roots::Pem(authority);
    call(&address, roots.clone(), Some(client))
        .await
        .expect("accepted");
    let (_, stranger) = signed(&["a stranger"]);
    for identity in [None, Some(stranger)] {
        assert!(call(&address, roots.clone(), identity).await.is_err());
    }
}

#[tokio::test]
async fn identities_that_cannot_be_used_are_errors_before_the_first_connection() {
    let (_, one) = signed(&["one"]);
    let (authority, other) = signed(&["other"]);
    for (certificates, key) in [
        (one.certificates.clone(), other.key),
        (Vec::new(), one.key.clone()),
        (one.certificates.clone(), b"no key".to_vec()),
    ] {
        let mut options = ClientOptions::default();
        options.identity = Some(Identity::new(certificates, key));
        let error = Client::new(options).expect_err("not usable");
        assert_eq!(*error.kind(), ErrorKind::Certificate, "{error}");
    }
    let mut options = ServerOptions::default();
    options.client_authorities = Some(authority);
    let error = Server::bind("127.0.0.1:0", echo(), options)
        .await
        .expect_err("clients cannot prove themselves over plain HTTP");
    assert_eq!(*error.kind(), ErrorKind::Certificate);
}
