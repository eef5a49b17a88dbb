//! Real peers at the other end of the wire: zeep, suds, node-soap and PHP call our service; our client calls the services of
//! gSOAP, CXF, spyne, node-soap and PHP.
//!
//! `make peers` installs what the machine can have. A test whose peer is missing says so and ends: see [`install`].

mod calls;
mod install;
mod process;
mod service;
mod values;

use std::path::{Path, PathBuf};
use std::process::Command;

use bsoap::tuning::{Hints, Sending};
use bsoap::{Client, ClientBuilder, SoapVersion, Value, blocking};

use calls::{check, check_spyne};
use install::say;
use process::Peer;
use service::Running;
use values::hard_doubles;

const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

#[test]
fn zeep_calls_our_service() {
    let Some(python) = install::python("zeep", &["zeep"]) else {
        return;
    };
    let service = Running::start();
    let script = here("peers/zeep_client.py");
    let wsdl = mesh_wsdl().display().to_string();
    // By the file and given addresses, then by what the service publishes.
    let published = format!("{}?wsdl", service.urls[0]);
    let urls = &service.urls;
    for arguments in [&[&wsdl, &urls[0], &urls[1]][..], &[&published]] {
        succeeds(Command::new(&python).arg(&script).args(arguments));
    }
    service.stop();
    say("zeep called our service: all operations, both versions");
}

#[test]
fn suds_calls_our_service() {
    let Some(python) = install::python("suds", &["suds"]) else {
        return;
    };
    let service = Running::start();
    let published = format!("{}?wsdl", service.urls[0]);
    let script = here("peers/suds_client.py");
    for wsdl in [mesh_wsdl(), PathBuf::from(published)] {
        succeeds(
            Command::new(&python)
                .arg(&script)
                .arg(wsdl)
                .arg(&service.urls[0]),
        );
    }
    service.stop();
    say("suds called our service: all operations, SOAP 1.1");
}

#[test]
fn node_soap_calls_our_service() {
    let Some(mut node) = install::node() else {
        return;
    };
    let service = Running::start();
    node.arg(here("peers/node_client.js")).arg(mesh_wsdl());
    succeeds(node.args(&service.urls));
    service.stop();
    say("node-soap called our service: all operations, both versions");
}

#[test]
fn php_calls_our_service() {
    let Some(mut php) = install::php() else {
        return;
    };
    let service = Running::start();
    php.arg(here("peers/php_client.php")).arg(mesh_wsdl());
    succeeds(php.args(&service.urls));
    service.stop();
    say("PHP called our service: all operations, both versions");
}

#[test]
fn our_client_calls_gsoap() {
    let Some(program) = install::gsoap_server() else {
        return;
    };
    let server = Peer::start(&mut Command::new(program));
    for version in BOTH {
        let endpoint = format!("http://127.0.0.1:{}/", server.port);
        check(&client(version, &endpoint), version);
        // gSOAP ignores a header block that it does not know.
        let hinting = hinting_client(version, &endpoint);
        check(&hinting, version);
        let hints = hinting.inner().hint_stats();
        assert!(hints.given >= 5 && hints.messages() == 0, "{hints:?}");
    }
    say("our client called gSOAP's service: all operations, both versions, without hints and with");
}

#[test]
fn our_client_calls_node_soap() {
    let Some(mut node) = install::node() else {
        return;
    };
    node.arg(here("peers/node_server.js")).arg(mesh_wsdl());
    let server = Peer::start(&mut node);
    let endpoint = format!("http://127.0.0.1:{}/mesh", server.port);
    check(&client(SoapVersion::Soap11, &endpoint), SoapVersion::Soap11);
    say("our client called node-soap's service: all operations, SOAP 1.1");
}

#[test]
fn our_client_calls_php() {
    let Some(mut php) = install::php() else {
        return;
    };
    let port = process::free_port();
    php.env("BSOAP_MESH_WSDL", mesh_wsdl());
    php.arg("-S").arg(format!("127.0.0.1:{port}"));
    let _server = Peer::start_at(php.arg(here("peers/php_server.php")), port);
    let endpoint = format!("http://127.0.0.1:{port}/");
    for version in BOTH {
        check(&client(version, &endpoint), version);
    }
    say("our client called PHP's service: all operations, both versions");
}

/// spyne publishes a WSDL of its own, whose elements are optional and nillable.
#[test]
fn our_client_calls_spyne() {
    let Some(python) = install::python("spyne", &["spyne", "waitress"]) else {
        return;
    };
    let wsdl = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spyne.wsdl");
    let mut program = Command::new(python);
    let _server = Peer::start(program.arg(here("peers/spyne_server.py")).arg(&wsdl));
    check_spyne(&built(Client::builder(wsdl.as_path())));
    say("our client called spyne's service: all operations, SOAP 1.1");
}

/// CXF looks at header blocks: one that must be understood it refuses.
#[test]
fn our_client_calls_cxf() {
    let Some(mut program) = install::java("CXF", "BSOAP_CXF", "cxf") else {
        return;
    };
    let wsdl = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cxf.wsdl");
    program.arg(here("peers/CxfServer.java")).arg(&wsdl);
    let _server = Peer::start(&mut program);
    for hints in [Hints::Off, Hints::Always] {
        let builder = Client::builder(wsdl.as_path());
        let client = built(builder.sending(Sending::off()).hints(hints));
        for (quality, value) in (0_i64..).zip(hard_doubles(20)) {
            let station = format!("Łódź & {quality}");
            let reading = Value::object([
                ("station", Value::from(station.as_str())),
                ("value", Value::from(value)),
                ("quality", Value::from(quality)),
            ]);
            let answer = client.call("reading", &reading);
            let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
            let expected = format!("{station}|{}|{quality}", value.to_bits() as i64);
            assert_eq!(answer["return"].as_str(), Some(expected.as_str()));
        }
        let given = if hints == Hints::Off { 0 } else { 20 };
        assert_eq!(client.inner().hint_stats().given, given);
    }
    say("our client called CXF's service, without hints and with");
}

#[test]
fn our_client_calls_our_service() {
    let service = Running::start();
    for (version, url) in BOTH.into_iter().zip(&service.urls) {
        check(&client(version, url), version);
    }
    service.stop();
}

/// Runs a client of our service, which checks the answers itself.
fn succeeds(program: &mut Command) {
    let output = program.output().expect("the program starts");
    let (text, error) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{program:?}: {text}{error}");
}

fn client(version: SoapVersion, endpoint: &str) -> blocking::Client {
    let builder = Client::builder(mesh_wsdl().as_path());
    built(builder.version(version).endpoint(endpoint))
}

/// A client that sends a hint with each message.
fn hinting_client(version: SoapVersion, endpoint: &str) -> blocking::Client {
    let builder = Client::builder(mesh_wsdl().as_path());
    let builder = builder.version(version).endpoint(endpoint);
    built(builder.sending(Sending::off()).hints(Hints::Always))
}

fn built(builder: ClientBuilder) -> blocking::Client {
    blocking::Client::new(builder).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn mesh_wsdl() -> PathBuf {
    here("../examples/mesh/mesh.wsdl")
}
