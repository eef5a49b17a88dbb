//! WS-Addressing: what clients send, what services answer, and what both refuse.

mod common;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bsoap::addressing::{
    Addressing, AddressingPolicy, AddressingVersion, EndpointReference, MessageAddressing, NONE,
    hosts,
};
use bsoap::protocol::{Code, ErrorKind};
use bsoap::{Client, Error, Fault, Message, Service, ServiceBuilder, SoapVersion, Streamed, Value};
use common::{
    BOTH, MESH, Running, client, content_type, envelope, mesh, numbers, post, send_in_every_way,
    start, under,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const BODY: &str =
    "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>2</item></values></m:sumInts>";
const WSA: &str = "http://www.w3.org/2005/08/addressing";
const OLD: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing";

type Seen = Arc<Mutex<Vec<Option<MessageAddressing>>>>;

/// Notes what the addressing headers of each request say.
fn noting(service: ServiceBuilder) -> (ServiceBuilder, Seen) {
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let service = service.handle("sumDoubles", move |message: Message| {
        let addressing = message.addressing().cloned();
        noted.lock().expect("not poisoned").push(addressing);
        async { under("sum", 4.0) }
    });
    (service, seen)
}

fn noted(seen: &Seen) -> Vec<MessageAddressing> {
    let seen = seen.lock().expect("not poisoned");
    let noted = seen.iter().map(|one| one.clone().expect("addressing"));
    noted.collect()
}

fn path(version: SoapVersion) -> &'static str {
    match version {
        SoapVersion::Soap11 => "/mesh",
        SoapVersion::Soap12 => "/mesh12",
    }
}

/// The action of a request of this operation.
fn action(running: &Running, operation: &str) -> String {
    let client = client(running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let target = client.target(operation).expect("an operation");
    target.operation().input.action.clone()
}

/// Sends `sumInts` with header blocks, whose names are given without a prefix; others have one.
async fn send(
    running: &Running,
    version: SoapVersion,
    namespace: &str,
    blocks: &str,
    more: &str,
) -> (u16, String) {
    let names = ["Action", "MessageID", "ReplyTo", "FaultTo"];
    let header = names.iter().fold(blocks.to_owned(), |header, name| {
        header.replace(
            &format!("<{name}>"),
            &format!("<{name} xmlns='{namespace}'>"),
        )
    });
    let text = envelope(version, &header, BODY);
    post(
        running.address,
        path(version),
        content_type(version),
        more,
        &text,
    )
    .await
}

#[tokio::test]
async fn a_client_and_a_service_exchange_addressing_headers() {
    let (service, seen) = noting(mesh().addressing(AddressingPolicy::new()));
    let running = start(service).await;
    for version in BOTH {
        let client = client(&running, version).addressing(Addressing::new());
        let client = client.build().expect("a client");
        let call = client.operation("sumDoubles").call(numbers()).await;
        let answer = call.expect("an answer");
        assert_eq!(answer.value()["sum"].as_f64(), Some(4.0));
        let request = noted(&seen).pop().expect("a request");
        let operation = answer.target().operation();
        assert_eq!(request.version, AddressingVersion::Recommendation);
        assert_eq!(request.to.as_deref(), Some(client.endpoint()));
        assert_eq!(request.action.as_ref(), Some(&operation.input.action));
        assert_eq!(request.message_id.as_deref(), answer.message_id());
        let addressing = answer.addressing().expect("addressing headers");
        assert_eq!(addressing.answered_id(), answer.message_id());
        let output = operation.output.as_ref().expect("a response");
        assert_eq!(addressing.action.as_ref(), Some(&output.action));
        assert!(output.action.ends_with("sumDoublesResponse"));
    }
    running.stop().await;
}

#[tokio::test]
async fn every_message_has_an_id_of_its_own_however_it_is_sent() {
    let (service, seen) = noting(mesh().addressing(AddressingPolicy::new()));
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap12).addressing(Addressing::new());
    let client = client.build().expect("a client");
    send_in_every_way(&client).await;
    let ids: HashSet<_> = noted(&seen)
        .into_iter()
        .map(|one| one.message_id.expect("an ID"))
        .collect();
    assert_eq!(ids.len(), 7);
    assert!(
        ids.iter()
            .all(|id| id.starts_with("urn:uuid:") && id.len() == 45)
    );
    running.stop().await;
}

#[tokio::test]
async fn messages_with_addressing_stay_patched_templates() {
    let running = start(mesh().addressing(AddressingPolicy::new())).await;
    let counts = async |addressing: bool| {
        let client = client(&running, SoapVersion::Soap11);
        let client = match addressing {
            true => client.addressing(Addressing::new()),
            false => client,
        };
        let client = client.build().expect("a client");
        for number in 0..20 {
            let mut items = vec![0.125; 200];
            items[100] = f64::from(number) / 8.0;
            let arguments = under("values", under("item", items));
            let answer = client.call("sumDoubles", &arguments).await;
            answer.expect("an answer");
        }
        client.sender_stats()
    };
    let (with, without) = (counts(true).await.matches, counts(false).await.matches);
    // The templates do the same work as without addressing: only the first message is encoded in full.
    assert_eq!(with, without);
    assert_eq!(with.first_time, 1, "{with:?}");
    running.stop().await;
}

#[tokio::test]
async fn a_service_refuses_what_breaks_the_rules() {
    let running = start(mesh().addressing(AddressingPolicy::new())).await;
    let action = action(&running, "sumInts");
    let (right, id) = (
        format!("<Action>{action}</Action>"),
        "<MessageID>urn:1</MessageID>",
    );
    let to = |name: &str, address: &str| format!("<{name}><Address>{address}</Address></{name}>");
    let cases = [
        (
            id.to_owned(),
            "MessageAddressingHeaderRequired",
            "wsa:Action",
        ),
        (
            format!("{right}{id}{right}"),
            "InvalidAddressingHeader",
            "wsa:Action",
        ),
        (
            format!("{right}{id}{}", to("ReplyTo", "http://localhost:1/")),
            "InvalidAddressingHeader",
            "wsa:ReplyTo",
        ),
        (
            format!("{right}{id}{}", to("FaultTo", "http://localhost:1/")),
            "InvalidAddressingHeader",
            "wsa:FaultTo",
        ),
        (
            format!("{right}{id}<ReplyTo></ReplyTo>"),
            "InvalidAddressingHeader",
            "wsa:ReplyTo",
        ),
        (
            format!("<Action>urn:other</Action>{id}"),
            "ActionNotSupported",
            "urn:other",
        ),
    ];
    for version in BOTH {
        for (blocks, code, named) in &cases {
            let (status, answer) = send(&running, version, WSA, blocks, "").await;
            assert_eq!(status, 500, "{answer}");
            assert!(answer.contains(code) && answer.contains(named), "{answer}");
            assert!(answer.contains("addressing/fault</wsa:Action>"), "{answer}");
            assert!(answer.contains(">urn:1</wsa:RelatesTo>"), "{answer}");
            let has_detail = answer.contains("<wsa:FaultDetail");
            assert_eq!(has_detail, version == SoapVersion::Soap11, "{answer}");
        }
    }
    let more = "SOAPAction: \"urn:other\"\r\n";
    let (_, answer) = send(&running, SoapVersion::Soap11, WSA, &right, more).await;
    assert!(answer.contains("urn:other") && answer.contains("InvalidAddressingHeader"));
    running.stop().await;
}

#[tokio::test]
async fn subcodes_say_what_is_wrong_in_soap_12() {
    let running = start(mesh().addressing(AddressingPolicy::new())).await;
    let action = action(&running, "sumInts");
    for (address, subcode) in [
        ("http://localhost:1/", "OnlyAnonymousAddressSupported"),
        ("", "MissingAddressInEPR"),
    ] {
        let blocks =
            format!("<Action>{action}</Action><ReplyTo><Address>{address}</Address></ReplyTo>");
        let (_, answer) = send(&running, SoapVersion::Soap12, WSA, &blocks, "").await;
        assert!(answer.contains(subcode), "{answer}");
        assert!(
            answer.contains(">wsa:ReplyTo</wsa:ProblemHeaderQName>"),
            "{answer}"
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn blocks_must_be_understood_only_where_addressing_is_used() {
    let must = Addressing::new().must_understand();
    for (service, is_understood) in [
        (mesh(), false),
        (mesh().addressing(AddressingPolicy::new()), true),
    ] {
        let running = start(service).await;
        for version in BOTH {
            let client = client(&running, version).addressing(must.clone());
            let client = client.build().expect("a client");
            let answer = client.call("sumDoubles", &numbers()).await;
            match answer {
                Ok(_) => assert!(is_understood),
                Err(Error::Fault(fault)) => {
                    assert!(
                        !is_understood && fault.code == Code::MustUnderstand,
                        "{fault}"
                    );
                }
                Err(other) => panic!("{other}"),
            }
        }
        running.stop().await;
    }
}

#[tokio::test]
async fn a_fault_has_the_action_of_soap_and_relates_to_its_request() {
    let running = start(
        mesh()
            .addressing(AddressingPolicy::new())
            .handle("sumInts", |_: Message| async {
                Err::<Value, _>(Fault::sender("no"))
            }),
    )
    .await;
    let action = action(&running, "sumInts");
    let blocks = format!("<Action>{action}</Action><MessageID>urn:7</MessageID>");
    let unknown = "<x:x xmlns:x='urn:x' s:mustUnderstand='1'/>";
    for version in BOTH {
        for header in [blocks.clone(), format!("{blocks}{unknown}")] {
            let (_, answer) = send(&running, version, WSA, &header, "").await;
            assert!(
                answer.contains("addressing/soap/fault</wsa:Action>"),
                "{answer}"
            );
            assert!(answer.contains(">urn:7</wsa:RelatesTo>"), "{answer}");
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn the_submission_of_2004_is_answered_in_kind() {
    let (service, seen) = noting(mesh().addressing(AddressingPolicy::new()));
    let running = start(service).await;
    let addressing = Addressing::new().version(AddressingVersion::Submission);
    let client = client(&running, SoapVersion::Soap11).addressing(addressing);
    let client = client.build().expect("a client");
    let call = client.operation("sumDoubles").keep_envelopes();
    let answer = call.call(numbers()).await.expect("an answer");
    let sent = String::from_utf8_lossy(answer.sent().expect("kept")).into_owned();
    assert!(sent.contains(OLD) && !sent.contains(WSA), "{sent}");
    let request = noted(&seen).pop().expect("a request");
    assert!(
        request
            .reply_to
            .is_some_and(|endpoint| endpoint.is_anonymous())
    );
    let addressing = answer.addressing().expect("addressing headers");
    assert_eq!(addressing.version, AddressingVersion::Submission);
    assert_eq!(addressing.answered_id(), answer.message_id());
    let id = "<MessageID>urn:1</MessageID>";
    let (_, answer) = send(&running, SoapVersion::Soap11, OLD, id, "").await;
    assert!(
        answer.contains("MessageInformationHeaderRequired"),
        "{answer}"
    );
    running.stop().await;
}

/// An endpoint for answers, which accepts what arrives.
struct Replies {
    address: String,
    arrived: tokio::task::JoinHandle<(String, String)>,
}

impl Replies {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}/replies", listener.local_addr().expect("bound"));
        let arrived = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let (mut text, mut buffer) = (String::new(), [0; 4096]);
            while !text.contains("Envelope>") {
                let length = stream.read(&mut buffer).await.expect("bytes");
                assert!(length > 0, "{text}");
                text.push_str(&String::from_utf8_lossy(&buffer[..length]));
            }
            let accepted = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(accepted).await.expect("written");
            let (head, body) = text.split_once("\r\n\r\n").expect("a body");
            (head.to_ascii_lowercase(), body.to_owned())
        });
        Self { address, arrived }
    }

    async fn arrived(self) -> (String, String) {
        let arrived = tokio::time::timeout(Duration::from_secs(10), self.arrived).await;
        arrived.expect("in time").expect("no panic")
    }
}

#[tokio::test]
async fn an_answer_goes_to_the_endpoint_that_the_request_names() {
    let policy = AddressingPolicy::new().allowing(hosts(["127.0.0.1"]));
    let running = start(mesh().addressing(policy)).await;
    for version in BOTH {
        let replies = Replies::start().await;
        let endpoint = EndpointReference::new(&*replies.address)
            .with_parameter("<o:order xmlns:o='urn:orders'>7</o:order>");
        let client = client(&running, version);
        let client = client.addressing(Addressing::new().reply_to(endpoint));
        let client = client.build().expect("a client");
        let accepted = client.operation("sumDoubles").call(numbers()).await;
        let accepted = accepted.expect("accepted");
        assert_eq!((accepted.status(), accepted.value()), (202, Value::Nil));
        let (head, body) = replies.arrived().await;
        let media = content_type(version).split(';').next().unwrap_or_default();
        assert!(head.contains(media), "{head}");
        assert!(
            body.contains(":IsReferenceParameter=\"true\"") && body.contains(">7</o:order>"),
            "{body}"
        );
        let answer = client
            .read_answer("sumDoubles", Some(content_type(version)), body)
            .expect("an answer");
        assert_eq!(answer.value()["sum"].as_f64(), Some(4.0));
        let addressing = answer.addressing().expect("addressing headers");
        assert_eq!(addressing.answered_id(), accepted.message_id());
        assert!(
            addressing
                .to
                .as_ref()
                .is_some_and(|to| to.ends_with("/replies"))
        );
    }
    running.stop().await;
}

/// The memory of an answer that is made after its request was accepted is part of the memory in work.
#[tokio::test]
async fn an_answer_elsewhere_is_charged_until_it_is_sent() {
    let (proceed, may_proceed) = tokio::sync::watch::channel(false);
    let service = mesh()
        .addressing(AddressingPolicy::new().allowing(hosts(["127.0.0.1"])))
        .handle("sumInts", move |_: Message| {
            let mut may_proceed = may_proceed.clone();
            async move {
                may_proceed
                    .wait_for(|it| *it)
                    .await
                    .expect("the test lives");
                under("sum", 4)
            }
        });
    let bound = service.build().expect("a service").bind("127.0.0.1:0");
    let bound = bound.await.expect("a port");
    let (url, watch) = (bound.urls()[0].clone(), bound.watch());
    tokio::spawn(bound.run(std::future::pending()));
    let replies = Replies::start().await;
    let addressing = Addressing::new().reply_to(EndpointReference::new(&*replies.address));
    let client = Client::builder(MESH).endpoint(&url).addressing(addressing);
    let client = client.build().expect("a client");
    let ints = under("values", under("item", vec![1; 100_000]));
    assert_eq!(
        client.call("sumInts", &ints).await.expect("accepted"),
        Value::Nil
    );
    assert!(watch.work().used() > 100_000, "{}", watch.work().used());
    proceed.send(true).expect("the handler waits");
    replies.arrived().await;
    let is_free = async {
        while watch.work().used() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let is_free = tokio::time::timeout(Duration::from_secs(10), is_free).await;
    is_free.expect("the memory is given back");
}

#[tokio::test]
async fn a_fault_goes_elsewhere_only_if_it_should() {
    let service = mesh()
        .addressing(AddressingPolicy::new().allowing(hosts(["127.0.0.1"])))
        .handle("sumInts", |_: Message| async {
            Err::<Value, _>(Fault::sender("too many"))
        });
    let running = start(service).await;
    let replies = Replies::start().await;
    let addressing = Addressing::new().fault_to(EndpointReference::new(&*replies.address));
    let client = client(&running, SoapVersion::Soap12).addressing(addressing);
    let client = client.build().expect("a client");
    // The answer comes back on the connection.
    let answer = client.call("sumDoubles", &numbers()).await;
    assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(4.0));
    let ints = under("values", under("item", vec![1, 2]));
    let nothing = client.call("sumInts", &ints).await;
    assert!(matches!(nothing, Err(Error::Exchange(_))), "{nothing:?}");
    let (_, body) = replies.arrived().await;
    let fault = client.read_answer("sumInts", None, body);
    assert!(
        matches!(&fault, Err(Error::Fault(fault)) if fault.reason() == "too many"),
        "{fault:?}"
    );
    running.stop().await;
}

#[tokio::test]
async fn an_answer_that_nobody_wants_is_not_sent() {
    let running = start(mesh().addressing(AddressingPolicy::new())).await;
    for version in BOTH {
        let addressing = Addressing::new().reply_to(EndpointReference::new(NONE));
        let client = client(&running, version).addressing(addressing);
        let client = client.build().expect("a client");
        let call = client.operation("sumDoubles").call(numbers()).await;
        let accepted = call.expect("accepted");
        assert_eq!((accepted.status(), accepted.value()), (202, Value::Nil));
    }
    running.stop().await;
}

#[tokio::test]
async fn a_client_refuses_the_answer_to_another_message() {
    let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
    let answer = |relates_to: &str| {
        let header = format!("<a:RelatesTo xmlns:a='{WSA}'>{relates_to}</a:RelatesTo>");
        let body =
            "<m:sumDoublesResponse xmlns:m='urn:bsoap:mesh'><sum>4</sum></m:sumDoublesResponse>";
        envelope(SoapVersion::Soap11, &header, body)
    };
    for (relates_to, is_right) in [
        ("urn:mine", true),
        ("urn:other", false),
        ("http://www.w3.org/2005/08/addressing/unspecified", true),
    ] {
        let text = answer(relates_to);
        let transport = move |_: http::Request<bsoap::http::Body>| {
            let text = text.clone();
            async move {
                let response = http::Response::builder();
                let response = response.header("Content-Type", "text/xml");
                Ok::<_, bsoap::http::AnyError>(response.body(text.into())?)
            }
        };
        let client = Client::builder(wsdl)
            .endpoint("http://mesh.local/")
            .transport(transport)
            .addressing(Addressing::new().message_id("urn:mine"))
            .build()
            .expect("a client");
        let result = client.call("sumDoubles", &numbers()).await;
        match result {
            Ok(_) => assert!(is_right),
            Err(Error::Exchange(error)) => {
                assert!(!is_right);
                assert!(
                    matches!(error.kind(), ErrorKind::OtherMessage { .. }),
                    "{error}"
                );
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// A WSDL whose binding says that it uses WS-Addressing.
fn using(element: &str) -> String {
    let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
    let at = wsdl.find("<soap:binding").expect("a SOAP binding");
    format!("{}{element}{}", &wsdl[..at], &wsdl[at..])
}

#[tokio::test]
async fn a_wsdl_that_uses_addressing_turns_it_on() {
    let wsdl = using(
        "<wsaw:UsingAddressing xmlns:wsaw='http://www.w3.org/2006/05/addressing/wsdl' wsdl:required='true' xmlns:wsdl='http://schemas.xmlsoap.org/wsdl/'/>",
    );
    let sum = |message: Message| {
        let has_addressing = message.addressing().is_some();
        async move { under("sum", if has_addressing { 1.0 } else { 0.0 }) }
    };
    let service = Service::builder(&*wsdl).handle("sumDoubles", sum);
    let running = start(service).await;
    let build = |builder: bsoap::ClientBuilder| {
        let client = builder
            .version(SoapVersion::Soap11)
            .endpoint(&running.urls[0]);
        client.build().expect("a client")
    };
    let client = build(Client::builder(&*wsdl));
    let answer = client.call("sumDoubles", &numbers()).await;
    assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(1.0));
    let client = build(Client::builder(&*wsdl).without_addressing());
    let refused = client.call("sumDoubles", &numbers()).await;
    let Err(Error::Fault(fault)) = refused else {
        panic!("{refused:?}");
    };
    assert!(fault.reason().contains("wsa:Action is missing"), "{fault}");
    running.stop().await;
}

#[tokio::test]
async fn headers_that_the_program_sets_itself_are_kept() {
    let (service, seen) = noting(mesh().addressing(AddressingPolicy::new()));
    let running = start(service).await;
    let action = action(&running, "sumDoubles");
    let client = client(&running, SoapVersion::Soap11).addressing(Addressing::new());
    let client = client.build().expect("a client");
    let call = client
        .operation("sumDoubles")
        .soap_header_xml(format!("<Action xmlns='{WSA}'>{action}</Action>"))
        .soap_header_xml(format!("<MessageID xmlns='{WSA}'>urn:own</MessageID>"));
    call.call(numbers()).await.expect("an answer");
    let request = noted(&seen).pop().expect("a request");
    assert_eq!(request.message_id.as_deref(), Some("urn:own"));
    assert_eq!(request.to, None);
    // In a streamed message too.
    let blocks = [
        Value::from(format!("<Action xmlns='{WSA}'>{action}</Action>")),
        Value::from(format!("<MessageID xmlns='{WSA}'>urn:streamed</MessageID>")),
    ];
    let arguments = Value::object([
        ("values", under("item", Value::Array(Vec::new()))),
        ("@headers", under("#any", Value::Array(blocks.to_vec()))),
    ]);
    let rows = Streamed::new("values.item", [1.5, 2.5]);
    let answer = client.call_streamed("sumDoubles", &arguments, rows).await;
    answer.unwrap_or_else(|error| panic!("{}", error.report()));
    let request = noted(&seen).pop().expect("a request");
    assert_eq!(request.message_id.as_deref(), Some("urn:streamed"));
    running.stop().await;
}

/// The WSDL of the mesh whose operation `sumDoubles` declares blocks of WS-Addressing.
fn declaring_blocks() -> String {
    let elements = format!(
        "</xsd:schema><xsd:schema targetNamespace='{WSA}'><xsd:element name='Action' type='xsd:anyURI'/>\
         <xsd:element name='MessageID' type='xsd:anyURI'/></xsd:schema>"
    );
    let parts = format!(
        "<wsdl:message name='addressed' xmlns:a='{WSA}'><wsdl:part name='action' element='a:Action'/>\
         <wsdl:part name='id' element='a:MessageID'/></wsdl:message><wsdl:portType"
    );
    let operation = "soapAction=\"urn:bsoap:mesh#sumDoubles\"/>";
    let input = MESH.split_once(operation).expect("the operation").1;
    let input = input.split_once("<wsdl:input>").expect("its input").1;
    let declared = format!(
        "<soap:header message='tns:addressed' part='action' use='literal'/>\
         <soap:header message='tns:addressed' part='id' use='literal'/>{input}"
    );
    MESH.replacen(input, &declared, 1)
        .replacen("</xsd:schema>", &elements, 1)
        .replacen("<wsdl:portType", &parts, 1)
}

#[tokio::test]
async fn declared_addressing_headers_of_a_streamed_call_are_kept() {
    let wsdl = declaring_blocks();
    let sum = async |_: Message| under("sum", 4.0);
    let service = Service::builder(&*wsdl).handle("sumDoubles", sum);
    let (service, seen) = noting(service.addressing(AddressingPolicy::new()));
    let running = start(service).await;
    let client = Client::builder(&*wsdl).addressing(Addressing::new());
    let client = client
        .version(SoapVersion::Soap11)
        .endpoint(&running.urls[0]);
    let client = client.build().expect("a client");
    let action = action(&running, "sumDoubles");
    // By the names of parts, and of an element.
    for id in ["id", "MessageID"] {
        let headers = Value::object([("action", Value::from(&*action)), (id, "urn:own".into())]);
        let arguments = Value::object([
            ("values", under("item", Value::Array(Vec::new()))),
            ("@headers", headers),
        ]);
        let rows = Streamed::new("values.item", [1.5, 2.5]);
        let answer = client.call_streamed("sumDoubles", &arguments, rows).await;
        answer.unwrap_or_else(|error| panic!("{}", error.report()));
        let request = noted(&seen).pop().expect("a request");
        assert_eq!(request.message_id.as_deref(), Some("urn:own"));
    }
    running.stop().await;
}
