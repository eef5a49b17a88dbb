//! HTTPS with certificates that no authority issued, and proxies.

mod common;

use std::net::SocketAddr;

use bsoap::{Message, Service, Value};
use common::{bsoap, mesh, run};
use tokio::runtime::Runtime;

/// A service over HTTPS with a certificate of its own, and what is needed to trust it.
struct Served {
    _runtime: Runtime,
    url: String,
    certificate: tempfile::NamedTempFile,
}

fn served(client_authorities: Option<&str>) -> Served {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut parameters = rcgen::CertificateParams::new([]).expect("no names");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = parameters.self_signed(&key).expect("a certificate");
    let mut service = Service::builder(bsoap::Wsdl::Location(mesh()))
        .handle("sumInts", async |_: Message| {
            Ok::<_, bsoap::Fault>(Value::object([("sum", Value::from(7))]))
        })
        .identity(certificate.pem(), key.serialize_pem());
    if let Some(pem) = client_authorities {
        service = service.client_authorities(pem);
    }
    let runtime = Runtime::new().expect("a runtime");
    let service = service.build().expect("a service");
    let bound = runtime
        .block_on(service.bind("127.0.0.1:0"))
        .expect("a free port");
    let url = bound.urls()[0].clone();
    runtime.spawn(bound.run(std::future::pending()));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), certificate.pem()).expect("written");
    Served {
        _runtime: runtime,
        url,
        certificate: file,
    }
}

#[test]
fn a_certificate_that_is_not_trusted_can_be_given_pinned_or_ignored() {
    let served = served(None);
    let wsdl = format!("{}?wsdl", served.url);
    let refused = run(&["describe", &wsdl]);
    assert_eq!(refused.code, 3, "{refused:?}");
    for option in ["--cacert", "--pin", "--insecure"] {
        assert!(refused.err.contains(option), "{refused:?}");
    }
    let shown = refused
        .err
        .split_once("SHA-256 ")
        .expect("the fingerprint")
        .1;
    let fingerprint = &shown[..95];
    let file = served.certificate.path().to_string_lossy().into_owned();
    for trust in [
        &["--cacert", &file][..],
        &["--pin", fingerprint],
        &["--insecure"],
    ] {
        let described = run(&[&["describe", &wsdl][..], trust].concat());
        assert!(described.out.contains("sumInts"), "{described:?}");
        assert_eq!(
            described.err.contains("warning"),
            trust == ["--insecure"],
            "{described:?}"
        );
        let call = [
            "call",
            &wsdl,
            "sumInts",
            "values.item=1",
            "--json",
            "--endpoint",
            &served.url,
        ];
        let answer = run(&[&call[..], trust].concat());
        assert!(answer.out.contains("\"sum\":7"), "{answer:?}");
    }
    let other = "00".repeat(32);
    assert_eq!(run(&["describe", &wsdl, "--pin", &other]).code, 3);
    assert_eq!(run(&["describe", &wsdl, "--pin", "00"]).code, 2);
    assert_eq!(
        run(&["describe", &wsdl, "--insecure", "--pin", &other]).code,
        2
    );
}

#[test]
fn a_client_proves_itself_with_its_certificate() {
    let key = rcgen::KeyPair::generate().expect("a key");
    let own = rcgen::CertificateParams::new(["client".to_owned()]).expect("a name");
    let own = own.self_signed(&key).expect("a certificate");
    let served = served(Some(&own.pem()));
    let wsdl = format!("{}?wsdl", served.url);
    assert_ne!(run(&["describe", &wsdl, "--insecure"]).code, 0);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{}{}", own.pem(), key.serialize_pem())).expect("written");
    let file = file.path().to_string_lossy();
    let described = run(&["describe", &wsdl, "--insecure", "--cert", &file]);
    assert!(described.out.contains("sumInts"), "{described:?}");
}

/// A service over plain HTTP. Servers also understand the requests that proxies get, so it can be one.
fn proxy() -> (Runtime, SocketAddr) {
    let service = Service::builder(bsoap::Wsdl::Location(mesh()))
        .handle("sumInts", async |_: Message| {
            Ok::<_, bsoap::Fault>(Value::object([("sum", Value::from(7))]))
        });
    let runtime = Runtime::new().expect("a runtime");
    let service = service.build().expect("a service");
    let bound = runtime
        .block_on(service.bind("127.0.0.1:0"))
        .expect("a free port");
    let address = bound.address();
    runtime.spawn(bound.run(std::future::pending()));
    (runtime, address)
}

#[test]
fn proxies_are_those_of_the_environment_unless_one_is_given() {
    let (_runtime, address) = proxy();
    let proxy = format!("http://jo:secret@{address}");
    let call = |endpoint: &str, variables: &[(&str, &str)], more: &[&str]| {
        let output = bsoap()
            .args(["call", &mesh(), "sumInts", "values.item=1", "--json"])
            .args(["--endpoint", endpoint])
            .args(more)
            .env_remove("ALL_PROXY")
            .env_remove("NO_PROXY")
            .envs(variables.iter().copied())
            .output();
        common::Ran::from(output.expect("the command runs"))
    };
    let elsewhere = "http://service.invalid/mesh";
    let here = format!("http://{address}/mesh");
    for (endpoint, variables, more) in [
        (elsewhere, &[("HTTP_PROXY", &*proxy)][..], &[][..]),
        (elsewhere, &[("all_proxy", &proxy)], &[]),
        (
            elsewhere,
            &[("HTTP_PROXY", "http://127.0.0.1:9")],
            &["--proxy", &proxy],
        ),
        // No proxy reaches this machine's own loopback.
        (&here, &[("HTTP_PROXY", "http://127.0.0.1:9")], &[]),
    ] {
        let ran = call(endpoint, variables, more);
        assert_eq!(
            (ran.code, ran.json()["sum"].as_i64()),
            (0, Some(7)),
            "{ran:?}"
        );
    }
    let excepted = [("HTTP_PROXY", &*proxy), ("NO_PROXY", "service.invalid")];
    for (variables, more, code) in [
        (&excepted[..], &[][..], 4),
        (&excepted[..1], &["--proxy", "none"], 4),
        (&[("HTTP_PROXY", "socks5://jo:secret@127.0.0.1:9")], &[], 2),
    ] {
        let ran = call(elsewhere, variables, more);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(!ran.err.contains("secret"), "{ran:?}");
    }
    let wrong = call(
        elsewhere,
        &[],
        &["--proxy", "socks5://jo:secret@127.0.0.1:9"],
    );
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(
        wrong.err.contains("only HTTP proxies") && !wrong.err.contains("secret"),
        "{wrong:?}"
    );
}
