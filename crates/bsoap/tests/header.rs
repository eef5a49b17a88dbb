//! Header blocks: those that must be understood, and those that handlers read and set.

mod common;

use bsoap::protocol::header::BlockAttributes;
use bsoap::typed::{Pack, Packer};
use bsoap::{Client, Fault, Message, Service, SoapVersion, Value};
use common::{BOTH, TOUR, content_type, envelope, mesh, post, start, under};

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
                under("sum", length)
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

/// Posts a message with these header blocks to the operation `secured`. Returns the answer.
async fn secured<F, Answer>(handler: F, blocks: &str) -> String
where
    F: Fn(Message) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = Result<Value, Fault>> + Send + 'static,
{
    let running = start(Service::builder(TOUR).handle("secured", handler)).await;
    let version = SoapVersion::Soap11;
    let body = "<t:sealed xmlns:t='urn:tour:types'>1</t:sealed>";
    let text = envelope(version, blocks, body);
    let (_, answer) = post(
        running.address,
        "/tour",
        content_type(version),
        "SOAPAction: \"\"\r\n",
        &text,
    )
    .await;
    running.stop().await;
    answer
}

#[tokio::test]
async fn declared_and_undeclared_blocks_are_read_as_rust_values_and_as_values() {
    let blocks = "<t:token xmlns:t='urn:tour:types' s:mustUnderstand='1'>abc</t:token>\
         <t:number xmlns:t='urn:tour:types' s:mustUnderstand='0'>42</t:number>\
         <h:extra xmlns:h='urn:h'>x</h:extra>";
    let answer = secured(
        async |message: Message| {
            for name in ["token", "{urn:tour:types}token"] {
                assert_eq!(message.header::<String>(name)?.as_deref(), Some("abc"));
            }
            assert_eq!(message.header::<i32>("number")?, Some(42));
            let number = message.header_value("{urn:tour:types}number")?;
            assert_eq!(number.and_then(|number| number.as_i64()), Some(42));
            let extra = message.header_value("extra")?.expect("the block");
            assert!(extra.as_str().is_some_and(|xml| xml.contains(">x<")));
            let error = message.header::<String>("extra").expect_err("no schema");
            assert!(error.reason().contains("extra"), "{error}");
            for name in ["stamp", "{urn:h}token"] {
                assert_eq!(message.header::<String>(name)?, None);
                assert_eq!(message.header_value(name)?, None);
            }
            Ok(under("value", "read"))
        },
        blocks,
    )
    .await;
    assert!(answer.contains(">read<"), "{answer}");
}

#[tokio::test]
async fn an_undeclared_block_that_does_not_match_the_schemas_is_the_senders_fault() {
    let blocks = "<t:number xmlns:t='urn:tour:types'>many</t:number>";
    let answer = secured(
        async |message: Message| {
            let number: Option<i32> = message.header("number")?;
            Ok(under("value", format!("{number:?}")))
        },
        blocks,
    )
    .await;
    assert!(
        answer.contains(":Client<")
            && answer.contains("header block number")
            && answer.contains("many"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_handler_sets_the_header_blocks_of_its_answer() {
    let answer = secured(
        async |message: Message| {
            message.set_answer_header("stamp", "first")?;
            message.set_answer_header("{urn:tour:types}stamp", "second")?;
            message.add_answer_header_xml("<h:a xmlns:h='urn:h'>1</h:a>")?;
            message.add_answer_header_xml("<h:b xmlns:h='urn:h'>2</h:b>")?;
            Ok(Value::object([
                ("value", "done".into()),
                ("@headers", under("stamp", "third")),
            ]))
        },
        "",
    )
    .await;
    for text in [">second<", ">1<", ">2<", ">done<"] {
        assert!(answer.contains(text), "{text} {answer}");
    }
    assert!(
        !answer.contains("first") && !answer.contains("third"),
        "{answer}"
    );
}

/// The header block `stamp`, as code generated from the WSDL packs it.
struct Stamp(&'static str);

impl Pack for Stamp {
    fn pack(&self, packer: &mut Packer<'_>) {
        // Three optional attributes of header blocks: absent, and without a value.
        for _ in 0..3 {
            packer.absent();
            packer.zero();
        }
        packer.text(self.0);
    }
}

#[tokio::test]
async fn a_rust_value_is_a_header_block_of_an_answer() {
    let answer = secured(
        async |message: Message| {
            message.set_answer_header_typed("stamp", &Stamp("packed"))?;
            Ok(under("value", "done"))
        },
        "",
    )
    .await;
    assert!(answer.contains(">packed<"), "{answer}");
}

#[tokio::test]
async fn wrong_header_blocks_of_an_answer_are_refused_where_they_are_set() {
    let answer = secured(
        async |message: Message| {
            let reason =
                |result: Result<(), Fault>| result.expect_err("refused").reason().to_owned();
            let unknown = reason(message.set_answer_header("stmp", "x"));
            assert!(
                unknown.contains("stmp") && unknown.contains("stamp"),
                "{unknown}"
            );
            let wrong = reason(message.set_answer_header("stamp", under("a", 1)));
            assert!(wrong.contains("stamp") && wrong.contains("/"), "{wrong}");
            for xml in ["<a>", "text", "<a/><b/>"] {
                assert!(
                    reason(message.add_answer_header_xml(xml)).contains("XML"),
                    "{xml}"
                );
            }
            Ok(under("value", "done"))
        },
        "",
    )
    .await;
    assert!(
        answer.contains(">done<") && !answer.contains("Header"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_block_for_another_node_is_neither_validated_nor_decoded() {
    let block = |actor: &str| {
        format!(
            "<t:token xmlns:t='urn:tour:types' s:mustUnderstand='1' s:actor='{actor}'><t:no/></t:token>"
        )
    };
    let handler = async |message: Message| {
        assert_eq!(message.header::<String>("token")?, None);
        let [block] = message.blocks() else {
            panic!("one block: {:?}", message.blocks());
        };
        assert_eq!(block.role.as_deref(), Some("urn:other"));
        assert!(block.must_understand && !block.is_declared);
        let raw = block.raw.as_deref().unwrap_or_default();
        assert!(raw.starts_with("<t:token") && raw.ends_with("<t:no/></t:token>"));
        Ok(under("value", "passed"))
    };
    let answer = secured(handler, &block("urn:other")).await;
    assert!(answer.contains(">passed<"), "{answer}");
    // The same block for this node is refused.
    let next = "http://schemas.xmlsoap.org/soap/actor/next";
    let answer = secured(handler, &block(next)).await;
    assert!(answer.contains(":Client<"), "{answer}");
}

#[tokio::test]
async fn a_block_for_another_node_does_not_disturb_comparing_with_saved_messages() {
    let running = start(mesh()).await;
    for version in BOTH {
        let other = block(version, "1", Some("urn:other"));
        let ours = block(version, "0", None);
        for header in [&other, &ours, &other, &other, &ours, &other] {
            let text = envelope(version, header, BODY);
            let kind = content_type(version);
            let (status, answer) = post(running.address, path(version), kind, "", &text).await;
            assert!(status == 200 && answer.contains(">2<"), "{answer}");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn unqualified_blocks_and_attributes_are_refused_and_skipped_in_lenient_mode() {
    let strict = start(mesh()).await;
    let lenient = start(mesh().tolerance(bsoap::Tolerance::Lenient)).await;
    let soap12 = SoapVersion::Soap12;
    let plain = |version| envelope(version, "", BODY);
    let unqualified = |version| envelope(version, "<extra>x</extra>", BODY);
    let cases = [
        (SoapVersion::Soap11, unqualified(SoapVersion::Soap11)),
        (soap12, unqualified(soap12)),
        (
            soap12,
            plain(soap12).replace("<s:Envelope", "<s:Envelope a='1'"),
        ),
        (
            soap12,
            plain(soap12).replace("<s:Header", "<s:Header a='1'"),
        ),
        (soap12, plain(soap12).replace("<s:Body", "<s:Body a='1'")),
    ];
    for (version, text) in cases {
        let kind = content_type(version);
        let (status, answer) = post(strict.address, path(version), kind, "", &text).await;
        let code = if version == soap12 {
            ":Sender<"
        } else {
            ":Client<"
        };
        assert!(status == 500 && answer.contains(code), "{text} {answer}");
        assert!(answer.contains("lenient"), "{answer}");
        let (status, answer) = post(lenient.address, path(version), kind, "", &text).await;
        assert!(status == 200 && answer.contains(">2<"), "{text} {answer}");
    }
    for section in ["Envelope", "Header", "Body"] {
        let start = format!("<s:{section}");
        let text = plain(soap12).replace(&start, &format!("{start} s:encodingStyle='urn:e'"));
        let kind = content_type(soap12);
        let (status, answer) = post(strict.address, path(soap12), kind, "", &text).await;
        assert!(status == 500 && answer.contains(section), "{answer}");
        // Attributes of other namespaces are allowed.
        let text = plain(soap12).replace(&start, &format!("{start} xmlns:x='urn:x' x:a='1'"));
        let (status, answer) = post(strict.address, path(soap12), kind, "", &text).await;
        assert_eq!(status, 200, "{answer}");
    }
    strict.stop().await;
    lenient.stop().await;
}

/// The WSDL of the tour, whose header block `token` has a fault.
fn tour_with_header_fault() -> String {
    let block = r#"<soap:header message="t:secured" part="token" use="literal"/>"#;
    let with_fault = block.replace(
        "/>",
        r#"><soap:headerfault message="t:number" part="value" use="literal"/></soap:header>"#,
    );
    TOUR.replace(block, &with_fault)
}

fn secured_client(running: &common::Running, wsdl: &str) -> Client {
    Client::builder(wsdl)
        .port("Secured11")
        .endpoint(format!("http://{}/tour", running.address))
        .build()
        .expect("a client")
}

#[tokio::test]
async fn a_fault_about_a_header_block_has_its_detail_in_the_header() {
    let wsdl = tour_with_header_fault();
    let service =
        Service::builder(wsdl.as_str()).handle("secured", |message: Message| async move {
            let token: Option<String> = message.header("token")?;
            let fault = Fault::sender("the token is not valid");
            Err::<Value, _>(match token.as_deref() {
                Some("xml") => fault.with_header_xml("<h:more xmlns:h='urn:h'>5</h:more>"),
                Some("wrong") => fault.with_header("value", "no number"),
                _ => fault.with_header("value", 7),
            })
        });
    let running = start(service).await;
    let client = secured_client(&running, &wsdl);
    let target = client.target("secured").expect("an operation");
    let call = async |token: &str| {
        let call = client.operation("secured").soap_header("token", token);
        let error = call.call(under("value", 1)).await.expect_err("a fault");
        error.fault().expect("a fault").clone()
    };
    let fault = call("old").await;
    assert_eq!(fault.headers.get("value").and_then(Value::as_i64), Some(7));
    assert_eq!(fault.detail, None);
    let read = |fault| target.unpack_fault_header::<i32>(fault, "value");
    assert_eq!(read(&fault).expect("a number"), Some(7));
    assert!(target.unpack_fault_header::<i32>(&fault, "token").is_err());
    let fault = call("xml").await;
    assert_eq!(read(&fault).expect("none"), None);
    let xml = fault
        .headers
        .get("#any")
        .and_then(|any| any[0].as_str())
        .unwrap_or_default();
    assert!(xml.contains(">5<"), "{fault:?}");
    // A block that does not match its declaration is left out, like such a detail.
    let fault = call("wrong").await;
    assert_eq!(fault.reason(), "the token is not valid");
    assert!(fault.headers.is_empty(), "{fault:?}");
    running.stop().await;
}

#[tokio::test]
async fn declared_blocks_are_sent_and_read_with_their_soap_attributes() {
    let next = "http://schemas.xmlsoap.org/soap/actor/next";
    let service = Service::builder(TOUR).handle("secured", move |message: Message| async move {
        let [block] = message.blocks() else {
            panic!("one block");
        };
        assert!(block.must_understand && block.is_declared);
        assert_eq!(block.role.as_deref(), Some(next));
        assert_eq!(message.header::<String>("token")?.as_deref(), Some("abc"));
        message.set_answer_header_typed("stamp", &Stamp("packed"))?;
        let attributes = BlockAttributes::new().role(next).must_understand();
        message.set_answer_header_attributes("stamp", &attributes)?;
        let missing = message.set_answer_header_attributes("other", &attributes);
        assert!(missing.is_err());
        Ok::<_, Fault>(under("value", "done"))
    });
    let running = start(service).await;
    let client = secured_client(&running, TOUR);
    let attributes = BlockAttributes::new().role(next).must_understand();
    let call = client.operation("secured").soap_header("token", "abc");
    let call = call.soap_header_attributes("token", attributes.clone());
    let answer = call.call(under("value", 1)).await.expect("an answer");
    assert_eq!(
        answer.header::<String>("stamp").expect("text").as_deref(),
        Some("packed")
    );
    let blocks = answer.blocks();
    assert!(blocks[0].must_understand && blocks[0].role.as_deref() == Some(next));
    let call = client
        .operation("secured")
        .soap_header_attributes("token", attributes);
    let error = call
        .call(under("value", 1))
        .await
        .expect_err("no such block");
    assert!(error.to_string().contains("token"), "{error}");
    running.stop().await;
}
