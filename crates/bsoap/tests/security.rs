//! User names and passwords in header blocks of WS-Security.

mod common;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bsoap::security::UsernameToken;
use bsoap::{Client, Message, ServiceBuilder};
use common::{BOTH, TOUR, client, mesh, send_in_every_way, start, under};

const WSSE: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

/// Notes the XML of the header blocks of each request.
fn noting(service: ServiceBuilder, seen: &Arc<Mutex<Vec<String>>>) -> ServiceBuilder {
    let seen = Arc::clone(seen);
    service
        .understanding(WSSE, "Security")
        .handle("sumDoubles", move |message: Message| {
            let blocks = message.blocks();
            assert!(blocks.len() == 1 && blocks[0].must_understand);
            let headers = message.headers();
            let any = headers
                .get("#any")
                .map(|any| any[0].clone())
                .unwrap_or_default();
            let xml = any.as_str().unwrap_or_default().to_owned();
            seen.lock().expect("not poisoned").push(xml);
            async { under("sum", 4.0) }
        })
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(inside, _)| inside)
}

#[tokio::test]
async fn every_message_has_a_block_of_its_own_however_it_is_sent() {
    let seen = Arc::default();
    let running = start(noting(mesh(), &seen)).await;
    for version in BOTH {
        let client = client(&running, version)
            .username_token(
                UsernameToken::digest("jo & co", "secret").clock_ahead(Duration::from_secs(90)),
            )
            .build()
            .expect("a client");
        send_in_every_way(&client).await;
    }
    running.stop().await;
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(seen.len(), 14);
    let nonces: HashSet<_> = seen
        .iter()
        .map(|xml| between(xml, "Base64Binary\">", "<"))
        .collect();
    assert!(
        nonces.len() == 14 && nonces.iter().all(|nonce| nonce.len() == 24),
        "{nonces:?}"
    );
    for xml in &*seen {
        assert!(
            xml.contains(">jo &amp; co<")
                && xml.contains("#PasswordDigest")
                && !xml.contains("secret")
        );
        assert_eq!(
            between(xml, "Created>", "<").len(),
            "2026-11-24T14:00:00.000Z".len()
        );
    }
}

#[tokio::test]
async fn the_block_joins_the_header_blocks_that_a_message_has() {
    let service = bsoap::Service::builder(TOUR)
        .understanding(WSSE, "Security")
        .handle("secured", async |message: Message| {
            let names: Vec<_> = message
                .blocks()
                .iter()
                .map(|block| block.name.local.clone())
                .collect();
            under("value", names.join(" "))
        });
    let running = start(service).await;
    let client = Client::builder(TOUR)
        .port("Secured11")
        .endpoint(&running.urls[0])
        .username_token(UsernameToken::text("jo", "secret"))
        .build()
        .expect("a client");
    let calling = client.operation("secured").soap_header("token", "t");
    let answer = calling.call(under("value", 1)).await.expect("an answer");
    assert_eq!(answer.value()["value"].as_str(), Some("Security token"));
    running.stop().await;
}

#[test]
fn a_name_that_xml_cannot_represent_is_refused_when_the_client_is_made() {
    let builder = Client::builder(TOUR).username_token(UsernameToken::text("\u{1}", "x"));
    let error = builder.build().expect_err("refused");
    assert!(error.to_string().contains("user name"), "{error}");
}
