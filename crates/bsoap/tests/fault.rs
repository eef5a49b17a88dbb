//! Faults of both versions, from handlers, from the rules of SOAP, and from peers that bend them.

mod common;

use bsoap::protocol::{Code, Name, SenderStatus};
use bsoap::{Client, Error, Fault, Message, Service, SoapVersion, Value};
use common::{BOTH, MESH, client, content_type, envelope, mesh, post, start, under};

#[tokio::test]
async fn a_declared_fault_arrives_with_its_detail_decoded() {
    let running = start(mesh()).await;
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        let step = Value::object([
            ("rows", 3.into()),
            ("columns", Value::from(3)),
            ("field", under("item", vec![1.0])),
        ]);
        let error = client.call("jacobiStep", &step).await.expect_err("a fault");
        let fault = error.fault().expect("a fault");
        assert_eq!(
            (&fault.code, fault.reason()),
            (&Code::Sender, "the field has another shape"),
            "{version}"
        );
        let detail = fault.detail.as_ref().expect("a detail");
        assert_eq!(
            detail["badShape"]["expected"].as_i64(),
            Some(9),
            "{}",
            detail.to_json()
        );
        assert_eq!(detail["badShape"]["found"].as_i64(), Some(1));
    }
    running.stop().await;
}

#[tokio::test]
async fn everything_a_fault_can_say_arrives() {
    let said = || {
        let mut fault = Fault::receiver("no & <never>").with_subcode(Name::new("urn:m", "Late"));
        fault
            .reasons
            .push(bsoap::protocol::Reason::new("de", "nein"));
        fault.role = Some("urn:role".into());
        fault.node = Some("urn:node".into());
        fault.with_detail(under("#any", vec![Value::from("<x xmlns=\"urn:x\">1</x>")]))
    };
    let running = start(Service::builder(MESH).handle_others(move |_: Message| {
        let fault = said();
        async { Err::<Value, _>(fault) }
    }))
    .await;
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        let error = client
            .call("sumInts", &under("values", Value::object::<&str>([])))
            .await
            .expect_err("a fault");
        let Error::Fault(fault) = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (&fault.code, fault.reason()),
            (&Code::Receiver, "no & <never>")
        );
        assert_eq!(fault.role.as_deref(), Some("urn:role"));
        assert_eq!(fault.subcodes[0].local, "Late");
        assert!(
            fault.detail.as_ref().expect("a detail")["#any"][0]
                .as_str()
                .expect("XML")
                .contains("urn:x")
        );
        if version == SoapVersion::Soap12 {
            assert_eq!(fault.node.as_deref(), Some("urn:node"));
            assert_eq!(fault.reasons.len(), 2);
            assert_eq!(fault.subcodes, [Name::new("urn:m", "Late")]);
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn faults_have_status_500_and_sender_faults_of_soap_12_have_400_by_option() {
    let strict = start(mesh().sender_status(SenderStatus::BadRequest)).await;
    let running = start(mesh()).await;
    let wrong =
        "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>much</item></values></m:sumInts>";
    for (running, version, path, expected) in [
        (&running, SoapVersion::Soap11, "/mesh", 500),
        (&running, SoapVersion::Soap12, "/mesh12", 500),
        (&strict, SoapVersion::Soap11, "/mesh", 500),
        (&strict, SoapVersion::Soap12, "/mesh12", 400),
    ] {
        let (status, answer) = post(
            running.address,
            path,
            content_type(version),
            "",
            &envelope(version, "", wrong),
        )
        .await;
        assert_eq!(status, expected, "{answer}");
        assert!(
            answer.contains("much")
                && answer.contains("byte")
                && answer.contains("/Envelope/Body/sumInts"),
            "{answer}"
        );
        assert!(
            answer
                .to_lowercase()
                .contains(&format!("content-type: {}", content_type(version))),
            "{answer}"
        );
    }
    for (content_type, expected) in [
        ("application/json", 415),
        ("multipart/related", 400),
        ("text/plain", 415),
    ] {
        let (status, _) = post(running.address, "/mesh", content_type, "", "{}").await;
        assert_eq!(status, expected, "{content_type}");
    }
    strict.stop().await;
    running.stop().await;
}

#[tokio::test]
async fn an_unknown_body_is_the_senders_fault_and_names_what_there_is() {
    let running = start(mesh()).await;
    for (version, path) in [
        (SoapVersion::Soap11, "/mesh"),
        (SoapVersion::Soap12, "/mesh12"),
    ] {
        let (_, answer) = post(
            running.address,
            path,
            content_type(version),
            "",
            &envelope(version, "", "<nope/>"),
        )
        .await;
        assert!(
            answer.contains("nope") && answer.contains("echoDoubles"),
            "{answer}"
        );
        let (_, answer) = post(
            running.address,
            path,
            content_type(version),
            "",
            &envelope(version, "", ""),
        )
        .await;
        assert!(answer.contains("Fault"), "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn other_versions_get_the_list_of_known_ones() {
    let running = start(mesh()).await;
    let body = "<m:echoInts xmlns:m='urn:bsoap:mesh'><values/></m:echoInts>";
    // 1.2 to a 1.1 port, 1.1 to a 1.2 port, something else to both.
    let (status, answer) = post(
        running.address,
        "/mesh",
        "application/soap+xml",
        "",
        &envelope(SoapVersion::Soap12, "", body),
    )
    .await;
    assert!(
        status == 500
            && answer.contains("VersionMismatch")
            && answer.contains(SoapVersion::Soap11.envelope_namespace()),
        "{answer}"
    );
    let (status, answer) = post(
        running.address,
        "/mesh12",
        "text/xml",
        "",
        &envelope(SoapVersion::Soap11, "", body),
    )
    .await;
    assert!(
        status == 500 && answer.contains("VersionMismatch") && answer.contains("Upgrade"),
        "{answer}"
    );
    assert!(
        answer.contains(&format!(
            "<soap:Envelope xmlns:soap=\"{}\"",
            SoapVersion::Soap11.envelope_namespace()
        )),
        "{answer}"
    );
    let foreign = envelope(SoapVersion::Soap12, "", body)
        .replace(SoapVersion::Soap12.envelope_namespace(), "urn:soap13");
    for path in ["/mesh", "/mesh12"] {
        let (status, answer) = post(running.address, path, "text/xml", "", &foreign).await;
        assert!(
            status == 500 && answer.contains("VersionMismatch") && answer.contains("urn:soap13"),
            "{answer}"
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_the_services_fault() {
    let running =
        start(Service::builder(MESH).handle_others(async |_: Message| under("sum", "much"))).await;
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        let error = client
            .call("sumInts", &under("values", Value::object::<&str>([])))
            .await
            .expect_err("a fault");
        assert_eq!(
            error.fault().map(|fault| &fault.code),
            Some(&Code::Receiver)
        );
        assert!(!error.report().contains("much"));
    }
    running.stop().await;
}

#[tokio::test]
async fn a_detail_that_nobody_declared_is_no_reason_to_say_nothing() {
    let odd = || Fault::sender("odd").with_detail(under("nobody", under("knows", 1)));
    let running = start(Service::builder(MESH).handle_others(move |_: Message| {
        let fault = odd();
        async { Err::<Value, _>(fault) }
    }))
    .await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let error = client
        .call("sumInts", &under("values", Value::object::<&str>([])))
        .await
        .expect_err("a fault");
    assert_eq!(
        error
            .fault()
            .map(|fault| (fault.code.clone(), fault.reason())),
        Some((Code::Sender, "odd"))
    );
    running.stop().await;
}

/// A client of a peer that answers with fixed bytes.
async fn error_of(status: &str, content_type: &str, body: &str) -> Result<Value, Error> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("bound");
    let answer = format!(
        "HTTP/1.1 {status} x\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut buffer = [0; 65536];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(answer.as_bytes()).await;
    });
    let client = Client::builder(MESH)
        .endpoint(format!("http://{address}/"))
        .build()
        .expect("a client");
    client
        .call("sumInts", &under("values", Value::object::<&str>([])))
        .await
}

#[tokio::test]
async fn faults_that_bend_the_rules_are_understood() {
    let soap11 = |fault: &str| {
        envelope(
            SoapVersion::Soap11,
            "",
            &format!("<s:Fault>{fault}</s:Fault>"),
        )
    };
    for (body, code) in [
        (
            soap11("<faultcode>Client</faultcode><faultstring>no</faultstring>"),
            Code::Sender,
        ),
        (
            soap11(
                "<faultcode>x:Server.Busy</faultcode><faultstring>no</faultstring><detail>plain text</detail>",
            ),
            Code::Receiver,
        ),
        (
            soap11("<faultstring>no</faultstring><faultcode>s:Server</faultcode><extra/>"),
            Code::Receiver,
        ),
        (
            envelope(
                SoapVersion::Soap12,
                "",
                "<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text>no</s:Text></s:Reason></s:Fault>",
            ),
            Code::Sender,
        ),
    ] {
        let error = error_of("500", "text/xml", &body)
            .await
            .expect_err("a fault");
        let fault = error
            .fault()
            .unwrap_or_else(|| panic!("{body}: {}", error.report()));
        assert_eq!((&fault.code, fault.reason()), (&code, "no"), "{body}");
    }
}

#[tokio::test]
async fn what_is_no_reply_says_what_it_is() {
    let reports = |result: Result<Value, Error>| {
        let error = result.expect_err("no reply");
        assert_eq!(error.blame(), bsoap::Blame::Peer);
        error.report()
    };
    let html = reports(error_of("404", "text/html", "<html>not here</html>").await);
    assert!(
        html.contains("404") && html.contains("text/html") && html.contains("not here"),
        "{html}"
    );
    let proxy = reports(error_of("502", "text/xml", "<oops/>").await);
    assert!(proxy.contains("502") && proxy.contains("oops"), "{proxy}");
    let empty = reports(error_of("200", "text/xml", "").await);
    assert!(
        empty.contains("sumInts") && empty.contains("empty"),
        "{empty}"
    );
    let other = envelope(
        SoapVersion::Soap11,
        "",
        "<m:echoIntsResponse xmlns:m='urn:bsoap:mesh'><values/></m:echoIntsResponse>",
    );
    let other = reports(error_of("200", "text/xml", &other).await);
    assert!(other.contains("echoIntsResponse"), "{other}");
    let broken = envelope(
        SoapVersion::Soap11,
        "",
        "<m:sumIntsResponse xmlns:m='urn:bsoap:mesh'><sum>x</sum></m:sumIntsResponse>",
    );
    let broken = reports(error_of("200", "text/xml", &broken).await);
    assert!(
        broken.contains("\"x\"") && broken.contains("/Envelope/Body/sumIntsResponse/sum"),
        "{broken}"
    );
    let version = envelope(
        SoapVersion::Soap12,
        "",
        "<m:sumIntsResponse xmlns:m='urn:bsoap:mesh'><sum>1</sum></m:sumIntsResponse>",
    );
    let version = reports(error_of("200", "text/xml", &version).await);
    assert!(
        version.contains(SoapVersion::Soap12.envelope_namespace()),
        "{version}"
    );
}
