//! A client's exchange and a server's, one after the other, without a wire between them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::{DecodeOptions, Decoder, Value};
use bsoap_protocol::header::Node;
use bsoap_protocol::{
    AwaitingReply, Code, Endpoint, ErrorKind, Fault, HeaderLimits, IncomingReply, IncomingRequest,
    OutgoingReply, OutgoingRequest, Reply, SoapVersion, Target,
};
use bsoap_schema::{Definitions, MemoryLoader};
use bytes::Bytes;

const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");
const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

struct World {
    definitions: Definitions,
    decoder: Decoder,
}

impl World {
    fn new() -> Self {
        let mut loader = MemoryLoader::default();
        loader.add("mesh.wsdl", MESH);
        let definitions = Definitions::load("mesh.wsdl", &loader).expect("the WSDL loads");
        let decoder = Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default());
        Self {
            definitions,
            decoder,
        }
    }

    fn target(&self, version: SoapVersion, operation: &str) -> Target {
        let mut ports = self.definitions.ports();
        let (_, port) = ports
            .find(|(_, port)| port.binding.version == version)
            .expect("a port");
        Target::new(self.definitions.plan(), &port.binding, operation).expect("an operation")
    }

    /// An endpoint of both versions.
    fn endpoint(&self) -> Endpoint {
        let bindings = self
            .definitions
            .ports()
            .map(|(_, port)| Arc::clone(&port.binding))
            .collect();
        Endpoint::new(self.definitions.plan(), bindings, Node::new())
    }

    fn asked(&self, version: SoapVersion) -> (OutgoingRequest, AwaitingReply) {
        let arguments = Value::object([(
            "values",
            Value::object([("item", Value::from(vec![1_i64, 2, 3]))]),
        )]);
        self.target(version, "sumInts")
            .request(&arguments)
            .expect("a request")
            .write()
            .expect("written")
    }
}

fn incoming(request: &OutgoingRequest) -> IncomingRequest<'_> {
    IncomingRequest {
        content_type: Some(&request.headers.content_type),
        soap_action: request.headers.soap_action.as_deref(),
        body: request.body.clone().into(),
    }
}

#[test]
fn each_version_is_listed_once_whatever_the_order_of_bindings() {
    let mut world = World::new();
    let mut bindings = world.endpoint().bindings().to_vec();
    bindings.extend(bindings.clone());
    let endpoint = Endpoint::new(world.definitions.plan(), bindings, Node::new());
    let request = IncomingRequest {
        content_type: Some("text/xml"),
        body: b"<e:Envelope xmlns:e='urn:soap13'/>"[..].into(),
        ..IncomingRequest::default()
    };
    let reply = endpoint.receive(&mut world.decoder, request).unwrap_err();
    let body = String::from_utf8_lossy(&reply.body);
    assert_eq!(body.matches("SupportedEnvelope").count(), 2, "{body}");
    assert!(body.contains("expected SOAP 1.1 or SOAP 1.2"), "{body}");
}

fn replied(reply: &OutgoingReply) -> IncomingReply<'_> {
    IncomingReply {
        status: reply.status,
        content_type: reply.content_type.as_deref(),
        body: reply.body.clone().into(),
    }
}

#[test]
fn a_question_gets_its_answer_in_both_versions() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    for version in BOTH {
        let (request, awaiting) = world.asked(version);
        let (received, answering) = endpoint
            .receive(&mut world.decoder, incoming(&request))
            .expect("received");
        assert_eq!(received.target().operation().name, "sumInts");
        assert_eq!(received.target().version(), version);
        assert_eq!(
            received.value()["values"]["item"].as_ints(),
            Some(&[1, 2, 3][..])
        );
        let reply = answering
            .answer(Value::object([("sum", Value::from(6))]))
            .expect("answered");
        let Reply::Answer(answer) = awaiting
            .read(&mut world.decoder, replied(&reply))
            .expect("read")
        else {
            panic!("an answer")
        };
        assert_eq!(answer.value()["sum"].as_i64(), Some(6));
    }
}

#[test]
fn a_fault_is_an_end_and_not_an_error() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    for version in BOTH {
        let (request, awaiting) = world.asked(version);
        let (_, answering) = endpoint
            .receive(&mut world.decoder, incoming(&request))
            .expect("received");
        let reply = answering.fault(&Fault::sender("too many"));
        let Reply::Fault(fault) = awaiting
            .read(&mut world.decoder, replied(&reply))
            .expect("read")
        else {
            panic!("a fault")
        };
        assert_eq!((&fault.code, fault.reason()), (&Code::Sender, "too many"));
    }
}

#[test]
fn an_answer_that_does_not_fit_can_still_become_a_fault() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    let (request, _) = world.asked(SoapVersion::Soap11);
    let (_, answering) = endpoint
        .receive(&mut world.decoder, incoming(&request))
        .expect("received");
    let unanswered = answering
        .answer(Value::object([("sum", Value::from("much"))]))
        .expect_err("no number");
    assert!(
        matches!(unanswered.error.kind(), ErrorKind::Arguments { operation } if operation == "sumInts")
    );
    assert_eq!(
        unanswered.awaiting.fault(&Fault::receiver("sorry")).status,
        500
    );
}

#[test]
fn the_envelope_decides_over_the_media_type() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    let (request, _) = world.asked(SoapVersion::Soap12);
    for content_type in [
        None,
        Some("text/xml"),
        Some("application/xml"),
        Some("application/soap+xml"),
    ] {
        let incoming = IncomingRequest {
            content_type,
            soap_action: None,
            body: request.body.clone().into(),
        };
        let (received, _answering) = endpoint
            .receive(&mut world.decoder, incoming)
            .expect("received");
        assert_eq!(
            received.target().version(),
            SoapVersion::Soap12,
            "{content_type:?}"
        );
    }
    let refused = IncomingRequest {
        content_type: Some("image/png"),
        soap_action: None,
        body: request.body.clone().into(),
    };
    assert_eq!(
        endpoint
            .receive(&mut world.decoder, refused)
            .expect_err("refused")
            .status,
        415
    );
}

#[test]
fn a_charset_that_is_not_known_is_refused_and_named() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    for version in BOTH {
        let (request, awaiting) = world.asked(version);
        for charset in ["klingon", "utf-7", "utf-16le-ish"] {
            let essence = request.headers.content_type.split(';').next();
            let content_type = format!("{}; charset={charset}", essence.unwrap_or_default());
            let asked = IncomingRequest {
                content_type: Some(&content_type),
                ..incoming(&request)
            };
            let refused = endpoint.receive(&mut world.decoder, asked);
            let reply = refused.expect_err("an unknown charset");
            let expected = format!("charset {charset:?} is not known, expected utf-8, utf-16");
            assert_eq!((reply.status, reply.fault), (415, None));
            assert!(reply.reason.is_some_and(|it| it.contains(&expected)));
            assert!(String::from_utf8_lossy(&reply.body).contains(&expected));

            let answered = IncomingReply {
                status: 200,
                content_type: Some(&content_type),
                body: request.body.clone().into(),
            };
            let read = awaiting.clone().read(&mut world.decoder, answered);
            let error = read.expect_err("an unknown charset");
            let named = charset.to_owned();
            let kind = ErrorKind::UnknownCharset {
                operation: "sumInts".into(),
                charset: named,
            };
            assert_eq!(*error.kind(), kind);
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }
}

/// Headers that exceed a limit, with the limit's name and value. Each is long enough to be noticed if it is read to its end.
fn large_headers() -> [(String, &'static str, usize); 6] {
    let many = 1_000_000;
    [
        ("<b/>".repeat(many), "header_blocks", 256),
        ("<b xmlns='urn:b'>1</b>".repeat(many), "header_blocks", 256),
        (
            format!("<b>{}</b>", "<c/>".repeat(many)),
            "header_elements",
            10_000,
        ),
        ("<b>".repeat(many), "header_elements", 10_000),
        (
            format!("<b>{}</b>", "x".repeat(4 * many)),
            "header_bytes",
            1 << 20,
        ),
        (
            format!("<!--{}-->", "x".repeat(4 * many)),
            "header_bytes",
            1 << 20,
        ),
    ]
}

#[test]
fn a_header_beyond_a_limit_is_refused_before_it_is_decoded() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    for version in BOTH {
        let (request, awaiting) = world.asked(version);
        let namespace = version.envelope_namespace();
        for (header, name, limit) in large_headers() {
            let body: Bytes = format!(
                "<e:Envelope xmlns:e='{namespace}'><e:Header>{header}</e:Header><e:Body/></e:Envelope>"
            )
            .into();
            let asked = IncomingRequest {
                body: body.clone(),
                ..incoming(&request)
            };
            let expected = format!("the limit `{name}` ({limit}) is exceeded at /Envelope/Header");
            let begun = Instant::now();
            let reply = endpoint.open(asked).expect_err("refused before decoding");
            assert!(begun.elapsed() < Duration::from_secs(2), "{name}");
            assert_eq!(
                (&reply.fault, reply.version),
                (&Some(Code::Sender), Some(version))
            );
            let reason = reply.reason.as_deref().unwrap_or_default();
            assert!(reason.starts_with(&expected), "{reason}");
            let read = awaiting.clone().read(&mut world.decoder, replied(&reply));
            assert!(matches!(read, Ok(Reply::Fault(_))), "{read:?}");

            let answered = IncomingReply {
                status: 200,
                content_type: Some(&request.headers.content_type),
                body,
            };
            let error = awaiting.clone().open(answered).expect_err("refused");
            assert!(
                matches!(error.kind(), ErrorKind::HeaderLimit { name: found, .. } if *found == name)
            );
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }
}

#[test]
fn the_limits_of_the_header_are_those_of_the_node() {
    let mut world = World::new();
    let mut limits = HeaderLimits::default();
    limits.blocks = 2000;
    let bindings = world.endpoint().bindings().to_vec();
    let node = Node::new().with_header_limits(limits);
    let endpoint = Endpoint::new(world.definitions.plan(), bindings, node);
    for version in BOTH {
        let (request, _) = world.asked(version);
        for (blocks, is_accepted) in [(2000, true), (2001, false)] {
            let text = String::from_utf8(request.body.clone()).expect("UTF-8");
            let at = text.find("Body").and_then(|at| text[..at].rfind('<'));
            let (before, after) = text.split_at(at.expect("a Body"));
            let namespace = version.envelope_namespace();
            let blocks = "<h:b/>".repeat(blocks);
            let header = format!("<h:Header xmlns:h='{namespace}'>{blocks}</h:Header>");
            let asked = IncomingRequest {
                body: [before, &header, after].concat().into(),
                ..incoming(&request)
            };
            let received = endpoint.receive(&mut world.decoder, asked);
            assert_eq!(received.is_ok(), is_accepted, "{received:?}");
        }
    }
}

/// What a peer may do to a message: cut it, repeat a part, change bytes.
fn mutations(message: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let cut = (0..message.len())
        .step_by(3)
        .map(|place| message[..place].to_vec());
    let changed = (0..message.len()).flat_map(move |place| {
        [b'<', b'>', b'&', b'/', b'"', b' ', 0, 0xff].map(|byte| {
            let mut message = message.to_vec();
            message[place] = byte;
            message
        })
    });
    let repeated = (0..message.len()).step_by(5).map(|place| {
        let end = message.len().min(place + 40);
        [&message[..end], &message[place..]].concat()
    });
    cut.chain(changed).chain(repeated)
}

#[test]
fn whatever_is_done_to_a_request_there_is_a_reply_that_can_be_read() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    for version in BOTH {
        let (request, awaiting) = world.asked(version);
        for body in mutations(&request.body) {
            let incoming = IncomingRequest {
                body: body.clone().into(),
                ..incoming(&request)
            };
            let reply = match endpoint.receive(&mut world.decoder, incoming) {
                Ok((received, answering)) => {
                    let _ = received.value();
                    answering
                        .answer(Value::object([("sum", Value::from(0))]))
                        .expect("answered")
                }
                Err(reply) => *reply,
            };
            let read = awaiting.clone().read(&mut world.decoder, replied(&reply));
            assert!(
                read.is_ok(),
                "{read:?} for {}",
                String::from_utf8_lossy(&body)
            );
        }
    }
}

#[test]
fn whatever_is_done_to_a_reply_it_is_read_or_refused() {
    let mut world = World::new();
    let endpoint = world.endpoint();
    for version in BOTH {
        let (request, awaiting) = world.asked(version);
        let (_, answering) = endpoint
            .receive(&mut world.decoder, incoming(&request))
            .expect("received");
        let answer = answering
            .answer(Value::object([("sum", Value::from(6))]))
            .expect("answered");
        let (_, answering) = endpoint
            .receive(&mut world.decoder, incoming(&request))
            .expect("received");
        let fault = answering.fault(&Fault::sender("no").with_detail(Value::object([(
            "#any",
            Value::from(vec![Value::from("<x/>")]),
        )])));
        for reply in [answer, fault] {
            for body in mutations(&reply.body) {
                let _ = awaiting.clone().read(
                    &mut world.decoder,
                    IncomingReply {
                        body: body.into(),
                        ..replied(&reply)
                    },
                );
            }
        }
    }
}

#[test]
fn an_empty_body_is_answered_with_what_a_body_can_contain_and_a_missing_one_is_named() {
    let mut world = World::new();
    for version in BOTH {
        for (body, expected) in [
            (
                "<e:Body/>",
                "the Body is empty, expected &lt;{urn:bsoap:mesh}",
            ),
            ("", "the element ends here, expected &lt;"),
        ] {
            let namespace = version.envelope_namespace();
            let text = format!("<e:Envelope xmlns:e='{namespace}'>{body}</e:Envelope>");
            let request = IncomingRequest {
                body: text.into(),
                ..IncomingRequest::default()
            };
            let refused = world.endpoint().receive(&mut world.decoder, request);
            let reply = refused.expect_err("no operation has such a message");
            let text = String::from_utf8(reply.body).expect("UTF-8");
            assert!(text.contains(expected), "{text}");
            assert_eq!(reply.fault, Some(Code::Sender));
        }
    }
}
