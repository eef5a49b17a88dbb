//! What the transport adds: gzip, HTTPS, authentication, limits, publication, an orderly end.

mod common;

use std::time::{Duration, Instant};

use bsoap::{Blame, Client, Message, SoapVersion, Value};
use common::{BOTH, MESH, TOUR, client, mesh, raw, start, under};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn values(count: u32) -> Value {
    under(
        "values",
        under("item", (0..count).map(f64::from).collect::<Vec<f64>>()),
    )
}

#[tokio::test]
async fn gzip_works_both_ways_and_chunked_too() {
    let running = start(mesh()).await;
    for version in BOTH {
        let client = client(&running, version)
            .gzip_requests()
            .accept_gzip()
            .chunked()
            .build()
            .expect("a client");
        assert_eq!(
            client
                .call("echoDoubles", &values(10_000))
                .await
                .expect("an answer"),
            values(10_000)
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn answers_past_the_cap_and_past_the_time_are_given_up() {
    let slow = async |_: Message| {
        tokio::time::sleep(Duration::from_secs(5)).await;
        under("sum", 1)
    };
    let running = start(mesh().handle("sumInts", slow)).await;
    let small = client(&running, SoapVersion::Soap11)
        .max_response(1000)
        .build()
        .expect("a client");
    let error = small
        .call("echoDoubles", &values(1000))
        .await
        .expect_err("too large");
    assert_eq!(error.blame(), Blame::Peer);
    assert!(error.report().contains("1000 bytes"), "{}", error.report());
    let hasty = client(&running, SoapVersion::Soap11)
        .timeout(Duration::from_millis(100))
        .build()
        .expect("a client");
    let begun = Instant::now();
    let error = hasty
        .call("sumInts", &under("values", Value::object::<&str>([])))
        .await
        .expect_err("too late");
    assert_eq!(error.blame(), Blame::Transport);
    assert!(begun.elapsed() < Duration::from_secs(2));
    running.stop().await;
}

#[tokio::test]
async fn https_works_with_a_given_authority() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let service = mesh().identity(made.cert.pem(), made.signing_key.serialize_pem());
    let running = start(service).await;
    let endpoint = format!("https://localhost:{}/mesh", running.address.port());
    let client = |pem: Option<String>| {
        let builder = Client::builder(MESH).endpoint(&endpoint);
        pem.into_iter()
            .fold(builder, bsoap::ClientBuilder::trust_only)
            .build()
            .expect("a client")
    };
    assert!(
        client(Some(made.cert.pem()))
            .call("echoDoubles", &values(3))
            .await
            .is_ok()
    );
    let error = client(None)
        .call("echoDoubles", &values(3))
        .await
        .expect_err("not trusted");
    assert_eq!(error.blame(), Blame::Transport);
    running.stop().await;
}

#[tokio::test]
async fn headers_and_credentials_reach_the_handler() {
    let service = mesh().handle("sumInts", async |message: Message| {
        let header = |name: &str| {
            message
                .http_headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        assert_eq!(header("authorization").as_deref(), Some("Basic dTpw"));
        assert_eq!(header("x-trace").as_deref(), Some("7"));
        assert!(header("user-agent").is_some_and(|agent| agent.starts_with("bsoap/")));
        under("sum", 1)
    });
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11)
        .basic_auth("u", "p")
        .http_header("X-Trace", "7")
        .build()
        .expect("a client");
    assert!(
        client
            .call("sumInts", &under("values", Value::object::<&str>([])))
            .await
            .is_ok()
    );
    running.stop().await;
}

#[tokio::test]
async fn one_connection_serves_many_calls() {
    let ports = std::sync::Arc::new(std::sync::Mutex::new(std::collections::HashSet::new()));
    let seen = std::sync::Arc::clone(&ports);
    let running = start(mesh().handle("sumInts", move |message: Message| {
        seen.lock().expect("not poisoned").insert(message.peer());
        async { under("sum", 1) }
    }))
    .await;
    let client = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    for _ in 0..50 {
        client
            .call("sumInts", &under("values", Value::object::<&str>([])))
            .await
            .expect("an answer");
    }
    assert_eq!(ports.lock().expect("not poisoned").len(), 1);
    running.stop().await;
}

#[tokio::test]
async fn a_running_call_ends_well_when_the_service_stops() {
    let running = start(mesh().handle("sumInts", async |_: Message| {
        tokio::time::sleep(Duration::from_millis(300)).await;
        under("sum", 1)
    }))
    .await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let call = tokio::spawn(async move {
        client
            .call("sumInts", &under("values", Value::object::<&str>([])))
            .await
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.stop().await;
    assert_eq!(
        call.await.expect("no panic").expect("an answer")["sum"].as_i64(),
        Some(1)
    );
}

#[tokio::test]
async fn the_wsdl_is_published_and_a_client_can_be_made_from_it() {
    let running = start(mesh()).await;
    let location = format!("{}?wsdl", running.urls[0]);
    let client = tokio::task::spawn_blocking(move || Client::from_wsdl(location))
        .await
        .expect("no panic")
        .expect("a client");
    assert_eq!(client.endpoint(), running.urls[0]);
    assert!(client.call("echoDoubles", &values(3)).await.is_ok());
    let page = raw(
        running.address,
        b"GET /mesh HTTP/1.1\r\nHost: here:1\r\nConnection: close\r\n\r\n",
    )
    .await;
    for part in [
        "200 OK",
        "MeshService",
        "jacobiStep(",
        "http://here:1/mesh12?wsdl",
        "SOAP 1.2",
        "heat equation",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    running.stop().await;
}

#[tokio::test]
async fn published_schemas_lead_back_here() {
    let directory = tempfile::tempdir().expect("a directory");
    let schema = r#"<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:p"><xsd:element name="a" type="xsd:int"/></xsd:schema>"#;
    let wsdl = r#"<wsdl:definitions targetNamespace="urn:s" xmlns:t="urn:s" xmlns:p="urn:p" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
      <wsdl:types><xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:import namespace="urn:p" schemaLocation="types/p.xsd"/></xsd:schema></wsdl:types>
      <wsdl:message name="m"><wsdl:part name="v" element="p:a"/></wsdl:message>
      <wsdl:portType name="P"><wsdl:operation name="o"><wsdl:input message="t:m"/><wsdl:output message="t:m"/></wsdl:operation></wsdl:portType>
      <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><wsdl:operation name="o"><soap:operation soapAction=""/><wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>
      <wsdl:service name="S"><wsdl:port name="P" binding="t:B"><soap:address location="http://elsewhere/s"/></wsdl:port></wsdl:service></wsdl:definitions>"#;
    std::fs::create_dir(directory.path().join("types")).expect("made");
    std::fs::write(directory.path().join("types/p.xsd"), schema).expect("written");
    std::fs::write(directory.path().join("s.wsdl"), wsdl).expect("written");
    let location = directory.path().join("s.wsdl");
    let running = start(
        bsoap::Service::builder(location.as_path())
            .handle("o", async |message: Message| message.value()),
    )
    .await;
    let get = |target: &str| {
        format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            running.address
        )
    };
    let published = raw(running.address, get("/s?wsdl").as_bytes()).await;
    let reference = format!("schemaLocation=\"http://{}/s?xsd=p.xsd\"", running.address);
    assert!(published.contains(&reference), "{published}");
    assert!(
        raw(running.address, get("/s?xsd=p.xsd").as_bytes())
            .await
            .contains("urn:p")
    );
    let url = format!("{}?wsdl", running.urls[0]);
    let client = tokio::task::spawn_blocking(move || Client::from_wsdl(url))
        .await
        .expect("no panic")
        .expect("a client");
    assert_eq!(
        client.call("o", &under("v", 5)).await.expect("an answer"),
        under("v", 5)
    );
    running.stop().await;
}

#[test]
fn the_first_port_with_an_address_is_taken() {
    let address = r#"<soap:address location="http://localhost/tour"/>"#;
    let wsdl = TOUR.replacen(address, "", 1);
    let client = Client::from_wsdl(wsdl.as_str()).expect("a client");
    assert_eq!(client.port().name, "Tour12");
    let anywhere = Client::builder(wsdl).endpoint("http://localhost/").build();
    assert_eq!(anywhere.expect("a client").port().name, "Tour11");
}

#[test]
fn what_shows_a_client_shows_no_secrets() {
    let builder = Client::builder(MESH)
        .http_header("Authorization", "Bearer hush")
        .basic_auth("jo", "hush");
    assert!(!format!("{builder:?}").contains("hush"));
    let client = builder.build().expect("a client");
    assert!(!format!("{client:?}").contains("hush"));
    let endpoint = Client::builder(MESH).endpoint("http://jo:hush@localhost/");
    assert!(!format!("{endpoint:?}").contains("hush"));
    assert!(!format!("{:?}", endpoint.build().expect("a client")).contains("hush"));
    let inside = MESH.replace("http://localhost", "http://jo:hush@localhost");
    assert!(inside.contains("hush"));
    let client = Client::from_wsdl(inside).expect("a client");
    assert!(!format!("{client:?}").contains("hush"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_while_loading_shows_no_password() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 4096];
            let asked = stream.read(&mut buffer).await.unwrap_or_default();
            let asked = String::from_utf8_lossy(&buffer[..asked]).into_owned();
            // The password goes where it is meant to go.
            assert!(
                asked.to_ascii_lowercase().contains("authorization: basic"),
                "{asked}"
            );
            let body = match asked.split(' ').nth(1) {
                Some("/malformed.wsdl") => "<definitions",
                Some("/other.wsdl") => "<other/>",
                _ => {
                    "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><import namespace='a' location='missing.wsdl'/><import namespace='b' location='ftp://jo:hush@h/x'/></definitions>"
                }
            };
            let status = if asked.contains("missing") {
                "404 Not Found"
            } else {
                "200 OK"
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    for location in [
        format!("http://jo:hush@{address}/malformed.wsdl"),
        format!("http://jo:hush@{address}/other.wsdl"),
        format!("http://jo:hush@{address}/imports.wsdl"),
        "http://jo:hush@127.0.0.1:1/closed.wsdl".into(),
        "http://jo:hush@exa mple/no/address.wsdl".into(),
        "jo:hush@example.com/no-scheme.wsdl".into(),
    ] {
        let loading = tokio::task::spawn_blocking(move || Client::from_wsdl(location));
        let error = loading.await.expect("no panic").expect_err("no WSDL");
        let shown = format!("{} {error:?}", error.report());
        assert!(!shown.contains("hush"), "{shown}");
    }
}
