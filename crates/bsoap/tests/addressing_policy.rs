//! WS-Addressing: what a WSDL or a policy allows, the faults for the rest, and hostile header blocks.

mod common;

use std::time::{Duration, Instant};

use bsoap::addressing::{
    Addressing, AddressingPolicy, AddressingProblem, AddressingVersion, EndpointReference, hosts,
};
use bsoap::protocol::UnknownAction;
use bsoap::{Client, Error, Fault, Message, Service, SoapVersion, Value};
use common::{BOTH, MESH, Running, content_type, envelope, mesh, numbers, post, start, under};

const BODY: &str =
    "<m:sumInts xmlns:m='urn:bsoap:mesh'><values><item>2</item></values></m:sumInts>";
const WSA: &str = "http://www.w3.org/2005/08/addressing";
const WSAW: &str = "http://www.w3.org/2006/05/addressing/wsdl";
const ACTION: &str = "<a:Action>urn:bsoap:mesh#sumInts</a:Action>";

/// Sends `sumInts` with header blocks that have the prefix `a`.
async fn send(running: &Running, version: SoapVersion, blocks: &str) -> (u16, String) {
    let header = format!("<a:MessageID xmlns:a='{WSA}'>urn:1</a:MessageID>{blocks}");
    let text = envelope(version, &header, BODY);
    let text = text.replace("<s:Header>", &format!("<s:Header xmlns:a='{WSA}'>"));
    let path = match version {
        SoapVersion::Soap11 => "/mesh",
        SoapVersion::Soap12 => "/mesh12",
    };
    post(running.address, path, content_type(version), "", &text).await
}

fn endpoint(name: &str, address: &str) -> String {
    format!("<a:{name}><a:Address>{address}</a:Address></a:{name}>")
}

/// The WSDL of the mesh with this at the beginning of its SOAP 1.1 binding, and that in its operation `sumInts`.
fn wsdl(of_binding: &str, of_operation: &str) -> String {
    let at = MESH.find("<soap:binding").expect("a SOAP binding");
    let (before, binding) = MESH.split_at(at);
    let operation = "<wsdl:operation name=\"sumInts\">";
    let with = format!("{operation}{of_operation}");
    format!(
        "{before}{of_binding}{}",
        binding.replacen(operation, &with, 1)
    )
}

fn using(required: &str) -> String {
    format!(
        "<wsaw:UsingAddressing xmlns:wsaw='{WSAW}' w:required='{required}' xmlns:w='http://schemas.xmlsoap.org/wsdl/'/>"
    )
}

fn anonymous(value: &str) -> String {
    format!("<wsaw:Anonymous xmlns:wsaw='{WSAW}'>{value}</wsaw:Anonymous>")
}

fn ints() -> Value {
    under("values", under("item", vec![2]))
}

#[tokio::test]
async fn faults_name_the_broken_rule() {
    let ours = |to: &str| to.ends_with("/mesh");
    let running = start(mesh().addressing(AddressingPolicy::new().serving(ours))).await;
    let cases = [
        (
            endpoint("ReplyTo", "not an IRI"),
            "InvalidAddress",
            "wsa:ReplyTo<",
        ),
        (endpoint("From", "no-scheme"), "InvalidAddress", "wsa:From<"),
        (
            endpoint("FaultTo", "urn:a</a:Address><a:Address>urn:b"),
            "InvalidEPR",
            "wsa:FaultTo<",
        ),
        (
            "<a:To>urn:elsewhere</a:To>".to_owned(),
            "DestinationUnreachable",
            ">urn:elsewhere</wsa:ProblemIRI>",
        ),
    ];
    for (blocks, subcode, detail) in cases {
        for version in BOTH {
            let (status, answer) = send(&running, version, &format!("{ACTION}{blocks}")).await;
            assert_eq!(status, 500, "{answer}");
            assert!(answer.contains(detail), "{answer}");
            if version == SoapVersion::Soap12 {
                assert!(answer.contains(&format!(":{subcode}<")), "{answer}");
            }
        }
    }
    for to in [
        "http://x/mesh",
        "http://www.w3.org/2005/08/addressing/anonymous",
    ] {
        let blocks = format!("{ACTION}<a:To>{to}</a:To>");
        let (status, answer) = send(&running, SoapVersion::Soap11, &blocks).await;
        assert_eq!(status, 200, "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_handler_says_when_it_is_available_again() {
    let busy = |message: Message| async move {
        let problem = AddressingProblem::EndpointUnavailable {
            address: Some("urn:mesh".to_owned()),
            retry_after: Some(Duration::from_secs(5)),
        };
        let version = AddressingVersion::Recommendation;
        Err::<Value, Fault>(problem.fault(message.target().version(), version))
    };
    let service = Service::builder(MESH).handle("sumInts", busy);
    let running = start(service.addressing(AddressingPolicy::new())).await;
    for version in BOTH {
        let (_, answer) = send(&running, version, ACTION).await;
        assert!(answer.contains("EndpointUnavailable"), "{answer}");
        assert!(answer.contains(">5000</wsa:RetryAfter>"), "{answer}");
        assert!(answer.contains(">urn:mesh</wsa:ProblemIRI>"), "{answer}");
        let in_header = answer.find("FaultDetail").is_some();
        assert_eq!(in_header, version == SoapVersion::Soap11, "{answer}");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_unknown_action_is_accepted_if_the_service_says_so() {
    let policy = AddressingPolicy::new;
    let accepting = mesh().unknown_action(UnknownAction::Accept);
    for (service, expected) in [(mesh(), 500), (accepting, 200)] {
        let running = start(service.addressing(policy())).await;
        let blocks = "<a:Action>urn:unknown</a:Action>";
        let (status, answer) = send(&running, SoapVersion::Soap12, blocks).await;
        assert_eq!(status, expected, "{answer}");
        // An action of another operation never is.
        let blocks = "<a:Action>urn:bsoap:mesh#sumDoubles</a:Action>";
        let (status, answer) = send(&running, SoapVersion::Soap12, blocks).await;
        assert_eq!(status, 500, "{answer}");
        running.stop().await;
    }
}

#[tokio::test]
async fn a_client_sends_addressing_by_itself_only_if_the_wsdl_requires_it() {
    for (required, expected) in [("true", 1.0), ("false", 0.0)] {
        let wsdl = wsdl(&using(required), "");
        let sum = |message: Message| {
            let is_used = message.addressing().is_some();
            async move { under("sum", if is_used { 1.0 } else { 0.0 }) }
        };
        let running = start(Service::builder(&*wsdl).handle("sumDoubles", sum)).await;
        let build = |builder: bsoap::ClientBuilder| {
            let builder = builder.version(SoapVersion::Soap11);
            builder
                .endpoint(&running.urls[0])
                .build()
                .expect("a client")
        };
        let client = build(Client::builder(&*wsdl));
        let answer = client.call("sumDoubles", &numbers()).await;
        assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(expected));
        let client = build(Client::builder(&*wsdl).addressing(Addressing::new()));
        let answer = client.call("sumDoubles", &numbers()).await;
        assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(1.0));
        running.stop().await;
    }
}

#[tokio::test]
async fn a_policy_of_the_program_keeps_what_the_wsdl_requires_unless_it_says_otherwise() {
    let wsdl = wsdl(&using("true"), "");
    for (is_required, expected) in [(None, 500), (Some(true), 500), (Some(false), 200)] {
        let sum = |_: Message| async { under("sum", 2) };
        let mut policy = AddressingPolicy::new().allowing(hosts(["127.0.0.1"]));
        policy.is_required = is_required;
        let service = Service::builder(&*wsdl).handle("sumInts", sum);
        let running = start(service.addressing(policy)).await;
        let text = envelope(SoapVersion::Soap11, "", BODY);
        let kind = content_type(SoapVersion::Soap11);
        let (status, answer) = post(running.address, "/mesh", kind, "", &text).await;
        assert_eq!(status, expected, "{is_required:?} {answer}");
        let is_refused = answer.contains("MessageAddressingHeaderRequired");
        assert_eq!(is_refused, expected == 500, "{answer}");
        running.stop().await;
    }
}

#[tokio::test]
async fn services_and_clients_send_answers_only_where_the_wsdl_allows_it() {
    let elsewhere = EndpointReference::new("http://127.0.0.1:9/replies");
    let to = endpoint("ReplyTo", &elsewhere.address);
    let policy = || AddressingPolicy::new().allowing(hosts(["127.0.0.1"]));
    let cases = [
        ("required", &*to, "OnlyAnonymousAddressSupported", true),
        ("prohibited", "", "OnlyNonAnonymousAddressSupported", false),
    ];
    for (value, blocks, code, is_elsewhere) in cases {
        let wsdl = wsdl(&using("true"), &anonymous(value));
        let sum = |_: Message| async { under("sum", 2) };
        let service = Service::builder(&*wsdl).handle("sumInts", sum);
        let running = start(service.addressing(policy())).await;
        let (status, answer) =
            send(&running, SoapVersion::Soap11, &format!("{ACTION}{blocks}")).await;
        assert!(
            status == 500 && answer.contains("InvalidAddressingHeader"),
            "{answer}"
        );
        assert!(
            code.contains("Only") && answer.contains(">wsa:ReplyTo<"),
            "{answer}"
        );
        let mut addressing = Addressing::new();
        if is_elsewhere {
            addressing = addressing.reply_to(elsewhere.clone());
        }
        let client = Client::builder(&*wsdl).version(SoapVersion::Soap11);
        let client = client.addressing(addressing).endpoint(&running.urls[0]);
        let client = client.build().expect("a client");
        let refused = client.call("sumInts", &ints()).await;
        assert!(
            matches!(&refused, Err(Error::Setup(why)) if why.contains("WSDL")),
            "{refused:?}"
        );
        running.stop().await;
    }
}

/// Header blocks that are made to cost much, or to confuse.
fn hostile() -> Vec<String> {
    let many = |count: usize, block: &str| block.repeat(count);
    let parameters = |content: &str| {
        format!(
            "<a:ReplyTo><a:Address>{WSA}/anonymous</a:Address><a:ReferenceParameters>{content}</a:ReferenceParameters></a:ReplyTo>"
        )
    };
    let declarations: String = (0..200).map(|n| format!(" xmlns:p{n}='urn:{n}'")).collect();
    vec![
        many(300, &endpoint("ReplyTo", "urn:a")),
        many(200, "<a:RelatesTo>urn:1</a:RelatesTo>"),
        many(100, ACTION),
        endpoint("ReplyTo", &"x".repeat(1 << 20)),
        endpoint("ReplyTo", &format!("urn:{}", "é".repeat(100_000))),
        parameters(&many(9_000, "<p xmlns='urn:p'/>")),
        parameters(&format!("<p{declarations}>{}</p>", "<q/>".repeat(5_000))),
        parameters(&format!(
            "{}{}",
            "<p xmlns='urn:p'>".repeat(250),
            "</p>".repeat(250)
        )),
        parameters(&many(2_000, "<p xmlns='urn:p'>&#x41;&lt;</p>")),
        parameters("<a:Action>urn:bsoap:mesh#echo</a:Action>"),
        format!(
            "<a:RelatesTo RelationshipType='{}'>urn:1</a:RelatesTo>",
            "y".repeat(500_000)
        ),
        "<a:ReplyTo><a:ReplyTo><a:Address>urn:a</a:Address></a:ReplyTo></a:ReplyTo>".to_owned(),
        "<a:ReplyTo><a:Address><b xmlns='urn:b'/></a:Address></a:ReplyTo>".to_owned(),
        "<a:MessageID><![CDATA[\r\nSOAPAction: x\r\n]]></a:MessageID>".to_owned(),
    ]
}

#[tokio::test]
async fn hostile_header_blocks_are_answered_in_bounded_time() {
    let running = start(mesh().addressing(AddressingPolicy::new())).await;
    for version in BOTH {
        for blocks in hostile() {
            let begun = Instant::now();
            let (status, answer) = send(&running, version, &format!("{ACTION}{blocks}")).await;
            let label: String = blocks.chars().take(100).collect();
            assert!(matches!(status, 200 | 400 | 500), "{status} {label}");
            assert!(begun.elapsed() < Duration::from_secs(5), "{label}");
            // What is sent back is not much more than what came.
            assert!(
                answer.len() < 2 * blocks.len() + 20_000,
                "{} {label}",
                answer.len()
            );
        }
        let (status, answer) = send(&running, version, ACTION).await;
        assert!(status == 200 && answer.contains(">2<"), "{answer}");
    }
    running.stop().await;
}
