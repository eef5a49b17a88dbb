//! Real peers at the other end of the wire: zeep, suds, node-soap, PHP, gSOAP, SOAP::Lite and CXF call our services; our client calls
//! the services of gSOAP, CXF, spyne, node-soap, PHP and SOAP::Lite.
//!
//! `make peers` installs what the machine can have. A test whose peer is missing says so and ends: see [`install`].

mod album;
mod calls;
mod cxf;
mod encoded;
mod install;
mod process;
mod service;
mod values;

use std::path::{Path, PathBuf};
use std::process::Command;

use bsoap::tuning::{Hints, Sending};
use bsoap::{Client, ClientBuilder, SoapVersion, Tolerance, blocking};

use calls::{check, check_spyne};
use cxf::Cxf;
use encoded::Shared;
use install::say;
use process::Peer;
use service::{Running, mesh};

const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

#[test]
fn zeep_calls_our_service() {
    let Some(python) = install::python("zeep", &["zeep"]) else {
        return;
    };
    let service = Running::start(mesh());
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
    let service = Running::start(mesh());
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
    let service = Running::start(mesh());
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
    let service = Running::start(mesh());
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
#[test]
fn cxf_exchanges_messages() {
    let Some(cxf) = Cxf::start() else {
        return;
    };
    cxf.takes_hints();
    cxf.check();
    cxf.calls(succeeds, |service, call| {
        let service = Running::start(service);
        call(&service.urls[0]);
        service.stop();
    });
    say(
        "our client called CXF's service and CXF our service: without options, with MTOM and WS-Addressing; hints were ignored",
    );
}

#[test]
fn gsoap_exchanges_encoded_messages() {
    let Some(program) = install::gsoap_inventory() else {
        return;
    };
    let service = Running::start(encoded::inventory());
    succeeds(Command::new(&program).arg(&service.urls[0]));
    service.stop();
    let server = Peer::start(&mut Command::new(program));
    encoded::check(&built(encoded::builder(server.port)), Shared::Kept);
    say("gSOAP called our rpc/encoded service, and our client called its");
}

#[test]
fn gsoap_exchanges_attachments() {
    let Some(program) = install::gsoap_album() else {
        return;
    };
    let service = Running::start(album::album());
    succeeds(Command::new(&program).args(&service.urls));
    service.stop();
    let server = Peer::start(&mut Command::new(program));
    for version in BOTH {
        album::check(&built(album::builder(version, server.port)));
    }
    say("gSOAP called our service with MTOM, and our client called its: both versions");
}

#[test]
fn php_exchanges_encoded_messages() {
    let php = || {
        let mut php = install::php()?;
        php.env("BSOAP_INVENTORY_WSDL", encoded::inventory_wsdl());
        Some(php)
    };
    let (Some(mut client), Some(mut server)) = (php(), php()) else {
        return;
    };
    let service = Running::start(encoded::inventory());
    let script = here("peers/php_inventory.php");
    succeeds(client.arg(&script).arg(&service.urls[0]));
    service.stop();
    let port = process::free_port();
    server.arg("-S").arg(format!("127.0.0.1:{port}"));
    let _server = Peer::start_at(server.arg(script), port);
    encoded::check(&built(encoded::builder(port)), Shared::Kept);
    say("PHP called our rpc/encoded service, and our client called its");
}

#[test]
fn soap_lite_exchanges_encoded_messages() {
    let Some(mut client) = install::soap_lite() else {
        return;
    };
    let script = here("peers/soap_lite_inventory.pl");
    let service = Running::start(encoded::inventory());
    succeeds(client.arg(&script).arg(&service.urls[0]));
    service.stop();
    let server = Peer::start(Command::new("perl").arg(script));
    // It types structs by its own names, which only lenient clients accept.
    let client = encoded::builder(server.port).tolerance(Tolerance::Lenient);
    encoded::check(&built(client), Shared::Copied);
    say("SOAP::Lite called our rpc/encoded service, and our client called its");
}

#[test]
fn our_client_calls_our_service() {
    let service = Running::start(mesh());
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
