//! What a client or a service refuses to send, and what it accepts with warnings.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bsoap::codec::decode::{Deviation, Deviations};
use bsoap::codec::{Pack, PackError, Packer, Unpack, Unpacker};
use bsoap::http::http::{Request, Response};
use bsoap::http::{AnyError, Body, Bytes};
use bsoap::tuning::Receiving;
use bsoap::{
    Blame, Client, ClientBuilder, Error, Message, Record, Service, SoapVersion, Tolerance,
    Validation, Value, Warning,
};
use common::{content_type, envelope, post, start};

const REPORT: &str = include_str!("report.wsdl");
const NOW: &str = "2024-02-29T12:00:00Z";

/// The content of both messages.
#[derive(Clone, Debug, PartialEq)]
struct Reading {
    at: String,
    colour: String,
    level: f64,
    code: Option<String>,
}

impl Pack for Reading {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.value(&self.at);
        packer.value(&self.colour);
        packer.value(&self.level);
        packer.value(&self.code);
    }
}

impl Unpack for Reading {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        Ok(Self {
            at: from.value()?,
            colour: from.value()?,
            level: from.value()?,
            code: from.value()?,
        })
    }
}

fn reading(at: &str, colour: &str) -> Reading {
    Reading {
        at: at.to_owned(),
        colour: colour.to_owned(),
        level: 1.5,
        code: None,
    }
}

fn value(at: &str, colour: &str) -> Value {
    Value::object([
        ("at", Value::from(at)),
        ("colour", Value::from(colour)),
        ("level", Value::from(1.5)),
    ])
}

fn answer(colour: &str, level: &str, more: &str) -> String {
    let body = format!(
        "<t:reportResponse xmlns:t='urn:report'><at>{NOW}</at><colour>{colour}</colour><level>{level}</level>{more}</t:reportResponse>"
    );
    envelope(SoapVersion::Soap11, "", &body)
}

/// A client whose peer answers every message with this one. The number counts the messages sent.
fn answered(answer: &str) -> (ClientBuilder, Arc<AtomicU32>) {
    let (answer, sent) = (Bytes::from(answer.to_owned()), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&sent);
    let transport = move |_: Request<Body>| {
        count.fetch_add(1, Ordering::Relaxed);
        let answer = answer.clone();
        async move {
            let response = Response::builder().header("Content-Type", "text/xml");
            Ok::<_, AnyError>(response.body(answer)?)
        }
    };
    (Client::builder(REPORT).transport(transport), sent)
}

fn is_refused(error: &Error, place: &str, problem: &str) {
    assert_eq!(error.blame(), Blame::Caller, "{}", error.report());
    assert!(error.was_not_sent(), "{}", error.report());
    let report = error.report();
    assert!(
        report.contains(place) && report.contains(problem),
        "{report}"
    );
}

#[tokio::test]
async fn wrong_texts_and_unlisted_values_are_not_sent_whatever_they_are_made_of() {
    let (builder, sent) = answered(&answer("red", "1", ""));
    let client = builder.build().expect("a client");
    let good = client.request("report", value(NOW, "red")).expect("valid");
    for (at, colour, place, problem) in [
        ("yesterday", "red", "at", "\"yesterday\" is not a"),
        (NOW, "green", "colour", "\"green\" is not one of red, blue"),
    ] {
        // A value.
        let error = client.call("report", &value(at, colour)).await;
        is_refused(&error.expect_err("a value"), place, problem);
        // A typed value, alone and with options.
        let typed = reading(at, colour);
        let error = client.call_typed::<Reading>("report", &typed).await;
        is_refused(
            &error.expect_err("typed"),
            &format!("/report/{place}"),
            problem,
        );
        let error = client.operation("report").call_packed(&typed).await;
        is_refused(
            &error.expect_err("typed"),
            &format!("/report/{place}"),
            problem,
        );
        // A value by serde.
        let given = value(at, colour).to_json();
        let given: serde_json::Value = serde_json::from_str(&given).expect("JSON");
        let error = client
            .call_serde::<serde_json::Value, _>("report", &given)
            .await;
        is_refused(&error.expect_err("serde"), place, problem);
        // Drafts.
        let error = client.draft("report", bsoap::Contents::packed(&typed));
        is_refused(&error.expect_err("a draft"), place, problem);
        let mut draft = client.draft("report", value(NOW, "red")).expect("valid");
        let (name, text) = [("at", at), ("colour", colour)][usize::from(at == NOW)];
        let error = draft.set(name, text).expect_err("a draft's value");
        assert_eq!(error.blame(), Blame::Caller);
        // A Record that was changed.
        let mut record: Record = good.record().clone();
        let (slot, text) = find(&record, name, text);
        let octets = record.append_octets(text.as_bytes()).expect("little");
        assert!(record.set_slot(slot, octets));
        let error = client.call_record("report", record).await;
        is_refused(
            &error.expect_err("a Record"),
            &format!("/report/{place}"),
            problem,
        );
    }
    assert_eq!(sent.load(Ordering::Relaxed), 0);
    let typed = client
        .call_typed::<Reading>("report", &reading(NOW, "red"))
        .await;
    assert_eq!(typed.expect("an answer").colour, "red");
    assert_eq!(sent.load(Ordering::Relaxed), 1);
}

/// The slot of an argument, and the text to write there.
fn find<'t>(record: &Record, name: &str, text: &'t str) -> (usize, &'t str) {
    let body = bsoap::codec::View::of(record)
        .child("Body")
        .expect("a Body");
    let arguments = body.children().next().expect("arguments");
    let leaf = arguments.child(name).and_then(|it| it.leaf());
    (leaf.expect("a value").slot(), text)
}

#[tokio::test]
async fn services_do_not_answer_wrong_texts_either() {
    let typed = |reading: Reading, _: Message| async move { Ok::<_, bsoap::Fault>(reading) };
    let answer = |_: Message| async { bsoap::service::Typed(reading("never", "red")) };
    for builder in [
        Service::builder(REPORT).handle("report", answer),
        Service::builder(REPORT).handle_typed("report", typed),
    ] {
        let running = start(builder).await;
        let body = format!(
            "<t:report xmlns:t='urn:report'><at>{NOW}</at><colour>green</colour><level>1</level></t:report>"
        );
        let message = envelope(SoapVersion::Soap11, "", &body);
        let media = content_type(SoapVersion::Soap11);
        let (status, answer) = post(running.address, "/report", media, "", &message).await;
        assert_eq!(status, 500, "{answer}");
        assert!(
            answer.contains("an answer that its WSDL does not allow"),
            "{answer}"
        );
        running.stop().await;
    }
}

#[tokio::test]
async fn an_answer_that_deviates_has_warnings_or_is_refused_by_the_mode() {
    let deviating = answer("green", "nan", "");
    let (builder, _) = answered(&deviating);
    let client = builder.clone().build().expect("a client");
    for _ in 0..4 {
        let answer = client.operation("report").call(value(NOW, "red")).await;
        let answer = answer.expect("accepted");
        assert_eq!(answer.value()["colour"].as_str(), Some("green"));
        let reading: Reading = answer.unpack().expect("a reading");
        assert!(reading.level.is_nan());
        let found: Vec<Deviation> = answer.warnings().iter().map(Warning::deviation).collect();
        assert_eq!(found, [Deviation::UnlistedValue, Deviation::SpecialFloat]);
        let place = answer.warnings()[0].path();
        assert_eq!(place, "/Envelope/Body/reportResponse/colour");
    }
    let strict = builder
        .tolerance(Tolerance::Strict)
        .build()
        .expect("a client");
    let error = strict.call("report", &value(NOW, "red")).await;
    let error = error.expect_err("refused");
    assert_eq!(error.blame(), Blame::Peer);
    assert!(
        error.report().ends_with("; default mode keeps it"),
        "{}",
        error.report()
    );

    let (builder, _) = answered(&answer("red", "1", "<code/><new/>"));
    let lenient = builder
        .clone()
        .tolerance(Tolerance::Lenient)
        .build()
        .expect("a client");
    let answer = lenient.operation("report").call(value(NOW, "red")).await;
    assert_eq!(answer.expect("accepted").warnings().len(), 1);
    let error = builder
        .build()
        .expect("a client")
        .call("report", &value(NOW, "red"))
        .await;
    let report = error.expect_err("refused").report();
    assert!(report.ends_with("; lenient mode skips it"), "{report}");
}

#[tokio::test]
async fn a_service_gives_its_handlers_the_warnings_of_requests() {
    let handler = async |reading: Reading, message: Message| {
        assert_eq!(message.warnings().len(), 1, "{:?}", message.warnings());
        Ok::<_, bsoap::Fault>(Reading {
            code: Some("OK".to_owned()),
            ..reading
        })
    };
    let running = start(
        Service::builder(REPORT)
            .tolerance(Deviations::from(Tolerance::Strict).with(Deviation::UnknownElement))
            .handle_typed("report", handler),
    )
    .await;
    let message = |colour: &str, more: &str| {
        let body = format!(
            "<t:report xmlns:t='urn:report'><at>{NOW}</at><colour>{colour}</colour><level>1</level>{more}</t:report>"
        );
        envelope(SoapVersion::Soap11, "", &body)
    };
    let media = content_type(SoapVersion::Soap11);
    let (status, answer) = post(
        running.address,
        "/report",
        media,
        "",
        &message("red", "<new/>"),
    )
    .await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = post(running.address, "/report", media, "", &message("green", "")).await;
    assert_eq!(status, 500);
    assert!(answer.contains("is not one of red, blue"), "{answer}");
    running.stop().await;
}

#[tokio::test]
async fn all_facets_are_checked_in_both_directions_where_that_is_asked_for() {
    let (builder, sent) = answered(&answer("red", "1", "<code>no</code>"));
    let with_code = |code: &str| Reading {
        code: Some(code.to_owned()),
        ..reading(NOW, "red")
    };
    let plain = builder.clone().build().expect("a client");
    let answer = plain
        .call_typed::<Reading>("report", &with_code("no"))
        .await;
    assert_eq!(answer.expect("accepted").code.as_deref(), Some("no"));
    let full = builder
        .validation(Validation::Full)
        .build()
        .expect("a client");
    let error = full.call_typed::<Reading>("report", &with_code("no")).await;
    is_refused(
        &error.expect_err("not sent"),
        "/report/code",
        "does not match the pattern",
    );
    let mut given = value(NOW, "red");
    if let Value::Object(members) = &mut given {
        members.insert("code", Value::from("no"));
    }
    let error = full.call("report", &given).await;
    is_refused(
        &error.expect_err("not sent"),
        "/report/code",
        "does not match the pattern",
    );
    let mut draft = full.draft("report", value(NOW, "red")).expect("valid");
    draft.set("code", "no").expect("a text");
    let error = full.send(&mut draft).await;
    is_refused(
        &error.expect_err("not sent"),
        "/report/code",
        "does not match the pattern",
    );
    assert_eq!(sent.load(Ordering::Relaxed), 1);
    let error = full.call_typed::<Reading>("report", &with_code("OK")).await;
    let error = error.expect_err("the answer is wrong");
    assert_eq!(error.blame(), Blame::Peer);
    assert!(
        error.report().contains("/reportResponse/code"),
        "{}",
        error.report()
    );
}

#[tokio::test]
async fn a_message_with_an_unlisted_value_is_not_relayed() {
    let (builder, _) = answered(&answer("green", "1", ""));
    let client = builder
        .receiving(Receiving::default())
        .build()
        .expect("a client");
    let mut draft = client.draft("report", value(NOW, "red")).expect("valid");
    for _ in 0..3 {
        let answer = client.operation("report").call(value(NOW, "red")).await;
        let answer = answer.expect("accepted");
        let error = draft
            .relay(answer.changes().expect("changes"))
            .expect_err("refused");
        assert_eq!(error.blame(), Blame::Caller);
        assert!(
            error.report().contains("\"green\" is not one of red, blue"),
            "{}",
            error.report()
        );
    }
    let (builder, _) = answered(&answer("blue", "inf", ""));
    let client = builder.build().expect("a client");
    let answer = client.operation("report").call(value(NOW, "red")).await;
    let answer = answer.expect("accepted");
    let mut draft = client.draft("report", value(NOW, "red")).expect("valid");
    draft
        .relay(answer.changes().expect("changes"))
        .expect("INF may be sent");
}

#[tokio::test]
async fn lenient_clients_read_answers_that_have_to_be_rewritten_each_time() {
    let body = format!(
        "<t:reportResponse xmlns:t='urn:report' xmlns:x='urn:x' x:new='1'><level>1</level><t:colour>red</t:colour><at>{NOW}</at></t:reportResponse>"
    );
    let text = envelope(SoapVersion::Soap12, "", &body);
    let (builder, _) = answered(&text);
    let client = builder
        .clone()
        .tolerance(Tolerance::Lenient)
        .build()
        .expect("a client");
    for _ in 0..5 {
        let answer = client.operation("report").call(value(NOW, "red")).await;
        let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
        assert_eq!(answer.value()["level"].as_f64(), Some(1.0));
        assert_eq!(answer.value()["colour"].as_str(), Some("red"));
        let found: Vec<Deviation> = answer.warnings().iter().map(Warning::deviation).collect();
        assert!(
            found.starts_with(&[Deviation::OtherVersion, Deviation::ForeignAttribute]),
            "{found:?}"
        );
        for deviation in [Deviation::OtherNamespace, Deviation::MisplacedElement] {
            assert!(found.contains(&deviation), "{found:?}");
        }
        for warning in answer.warnings() {
            let at = &text[warning.offset() as usize..];
            assert!(at.starts_with(['<', '1']), "{warning}: {at}");
        }
    }
    let client = builder.build().expect("a client");
    let error = client
        .call("report", &value(NOW, "red"))
        .await
        .expect_err("another version");
    assert!(
        error.report().contains("expected SOAP 1.1"),
        "{}",
        error.report()
    );

    let (builder, _) = answered(&envelope(SoapVersion::Soap11, "", &body));
    let client = builder.build().expect("a client");
    let error = client
        .call("report", &value(NOW, "red"))
        .await
        .expect_err("out of order");
    assert!(
        error
            .report()
            .ends_with("; lenient mode moves it to its place"),
        "{}",
        error.report()
    );
}

#[tokio::test]
async fn lenient_clients_read_an_answer_of_another_name_or_without_envelope() {
    let content = format!("<at>{NOW}</at><colour>red</colour><level>1</level>");
    let named = |name: &str| format!("<{name} xmlns:t='urn:report'>{content}</{name}>");
    let enveloped = |name: &str| envelope(SoapVersion::Soap11, "", &named(name));
    for (text, deviation, advice) in [
        (
            enveloped("t:Report"),
            Deviation::OtherAnswer,
            "; lenient mode reads it as the answer if it has children of the answer, or is one",
        ),
        (
            named("t:reportResponse"),
            Deviation::MissingEnvelope,
            "; lenient mode reads it as the content of an Envelope",
        ),
        (
            named("reportResponse"),
            Deviation::MissingEnvelope,
            "; lenient mode reads it as the content of an Envelope",
        ),
    ] {
        let (builder, _) = answered(&text);
        let lenient = builder.clone().tolerance(Tolerance::Lenient);
        let client = lenient.build().expect("a client");
        for _ in 0..3 {
            let answer = client.operation("report").call(value(NOW, "red")).await;
            let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
            assert_eq!(answer.value()["level"].as_f64(), Some(1.0));
            let [warning] = answer.warnings() else {
                panic!("{:?}", answer.warnings());
            };
            assert_eq!(warning.deviation(), deviation);
            let at = &text[warning.offset() as usize..];
            assert!(
                at.starts_with("<t:Report")
                    || at.starts_with("<t:reportR")
                    || at.starts_with("<reportR"),
                "{warning}"
            );
        }
        for stricter in [Tolerance::Strict, Tolerance::Default] {
            let client = builder
                .clone()
                .tolerance(stricter)
                .build()
                .expect("a client");
            let error = client.call("report", &value(NOW, "red")).await;
            let report = error.expect_err("refused").report();
            assert!(report.ends_with(advice), "{report}");
        }
    }
}

#[tokio::test]
async fn no_mode_takes_another_message_for_the_answer() {
    let fault = "<x:Fault xmlns:x='urn:x'><at>2024-02-29T12:00:00Z</at></x:Fault>";
    for body in ["<other><new/></other>", "<html/>", fault] {
        for text in [envelope(SoapVersion::Soap11, "", body), body.to_owned()] {
            let (builder, _) = answered(&text);
            let lenient = builder.tolerance(Tolerance::Lenient);
            let client = lenient.build().expect("a client");
            let error = client.call("report", &value(NOW, "red")).await;
            let report = error.expect_err(&text).report();
            assert!(!report.contains("lenient mode"), "{report}");
        }
    }
}

#[tokio::test]
async fn a_foreign_attribute_is_reported_and_refused_in_strict_mode() {
    let text =
        answer("red", "1", "").replace("<level>", "<level x:y='1' xmlns:x='urn:x' xml:lang='de'>");
    let (builder, _) = answered(&text);
    let client = builder.clone().build().expect("a client");
    let answer = client
        .operation("report")
        .call(value(NOW, "red"))
        .await
        .expect("an answer");
    let [warning] = answer.warnings() else {
        panic!("{:?}", answer.warnings());
    };
    assert_eq!(warning.deviation(), Deviation::ForeignAttribute);
    assert!(
        warning
            .to_string()
            .starts_with("unknown attribute {urn:x}y at "),
        "{warning}"
    );
    let strict = builder
        .tolerance(Tolerance::Strict)
        .build()
        .expect("a client");
    let error = strict
        .call("report", &value(NOW, "red"))
        .await
        .expect_err("refused");
    assert!(
        error.report().ends_with("; default mode skips it"),
        "{}",
        error.report()
    );
}
