//! Header blocks that must be understood.

mod common;

use bsoap::{Message, SoapVersion};
use common::{BOTH, content_type, envelope, mesh, post, start};

const BODY: &str =
    "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>2</item></values></m:sumInts>";

fn path(version: SoapVersion) -> &'static str {
    if version == SoapVersion::Soap11 {
        "/mesh"
    } else {
        "/mesh12"
    }
}

fn block(version: SoapVersion, must_understand: &str, role: Option<&str>) -> String {
    let attribute = if version == SoapVersion::Soap11 {
        "actor"
    } else {
        "role"
    };
    let role = role
        .map(|role| format!(" s:{attribute}='{role}'"))
        .unwrap_or_default();
    format!("<h:extra xmlns:h='urn:h' s:mustUnderstand='{must_understand}'{role}>x</h:extra>")
}

#[tokio::test]
async fn a_block_that_must_be_understood_and_is_not_stops_everything() {
    let running = start(mesh()).await;
    for version in BOTH {
        let text = envelope(version, &block(version, "1", None), BODY);
        let (status, answer) = post(
            running.address,
            path(version),
            content_type(version),
            "",
            &text,
        )
        .await;
        assert!(
            status == 500 && answer.contains("MustUnderstand"),
            "{answer}"
        );
        assert_eq!(
            answer.contains("NotUnderstood"),
            version == SoapVersion::Soap12,
            "{answer}"
        );
        if version == SoapVersion::Soap12 {
            assert!(
                answer.contains("urn:h") && answer.contains(":extra\""),
                "{answer}"
            );
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_block_for_others_or_optional_or_registered_does_not() {
    let running = start(mesh().understanding("urn:h", "known").playing("urn:mine")).await;
    for version in BOTH {
        let understood = block(version, "1", None).replace("extra", "known");
        for header in [
            block(version, "0", None),
            block(version, "1", Some("urn:other")),
            understood.clone(),
            format!("{understood}{}", block(version, "0", Some("urn:mine"))),
        ] {
            let text = envelope(version, &header, BODY);
            let (status, answer) = post(
                running.address,
                path(version),
                content_type(version),
                "",
                &text,
            )
            .await;
            assert!(status == 200 && answer.contains(">2<"), "{header} {answer}");
        }
        let text = envelope(version, &block(version, "1", Some("urn:mine")), BODY);
        let (status, _) = post(
            running.address,
            path(version),
            content_type(version),
            "",
            &text,
        )
        .await;
        assert_eq!(status, 500);
    }
    running.stop().await;
}

#[tokio::test]
async fn must_understand_that_is_no_boolean_is_the_senders_fault() {
    let running = start(mesh()).await;
    let version = SoapVersion::Soap12;
    let text = envelope(version, &block(version, "9", None), BODY);
    let (status, answer) = post(
        running.address,
        path(version),
        content_type(version),
        "",
        &text,
    )
    .await;
    assert!(status == 500 && answer.contains("Sender"), "{answer}");
    running.stop().await;
}

#[tokio::test]
async fn a_handler_sees_undeclared_blocks_as_xml() {
    let service =
        mesh()
            .understanding("urn:h", "extra")
            .handle("sumInts", async |message: Message| {
                let blocks = message.blocks();
                assert!(
                    blocks.len() == 1
                        && blocks[0].must_understand
                        && blocks[0].name.local == "extra"
                );
                let xml = message
                    .headers()
                    .get("#any")
                    .map(|any| any[0].clone())
                    .unwrap_or_default();
                let length = xml.as_str().map_or(0, str::len) as i64;
                common::under("sum", length)
            });
    let running = start(service).await;
    let version = SoapVersion::Soap11;
    let text = envelope(version, &block(version, "1", None), BODY);
    let (status, answer) = post(
        running.address,
        path(version),
        content_type(version),
        "",
        &text,
    )
    .await;
    assert!(status == 200 && !answer.contains(">0<"), "{answer}");
    running.stop().await;
}
