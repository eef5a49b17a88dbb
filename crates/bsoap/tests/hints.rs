//! Hints change nothing of what is said; and who does not know them hears nothing of them.

mod common;

use bsoap::tuning::{Hints, Sending};
use bsoap::{Client, Service, ServiceBuilder, SoapVersion, Value};
use common::{BOTH, MESH, client, content_type, envelope, mesh, post, start, under};

fn array(values: &[f64]) -> Value {
    under("values", under("item", values.to_vec()))
}

async fn echo(client: &Client, round: u32) {
    let values = [f64::from(round) / 7.0, 0.5, f64::from(round * round)];
    let answer = client.call("echoDoubles", &array(&values)).await;
    let answer = answer.expect("an answer");
    assert_eq!(
        answer["values"]["item"].as_doubles(),
        Some(values.as_slice())
    );
    // The block is nothing to who gets the values, here or there.
    let Value::Object(members) = &answer else {
        panic!("{answer:?} is no object");
    };
    assert_eq!(members.len(), 1, "{answer:?}");
}

fn plainly(service: ServiceBuilder) -> ServiceBuilder {
    service.sending(Sending::off())
}

#[tokio::test]
async fn peers_that_offer_it_give_each_other_hints_from_the_second_call_on() {
    for version in BOTH {
        let service = plainly(mesh()).hints(Hints::Offered);
        let running = start(service).await;
        let client = client(&running, version)
            .sending(Sending::off())
            .hints(Hints::Offered)
            .build()
            .expect("a client");
        for round in 0..10 {
            echo(&client, round).await;
        }
        let counts = client.hint_stats();
        // The service learns at once that its hints are followed, the client from the first answer.
        assert_eq!((counts.given, counts.messages()), (9, 10), "{counts:?}");
        assert_eq!((counts.learned, counts.followed), (1, 9), "{counts:?}");
        assert_eq!(counts.missed + counts.plain + counts.errors, 0);
        running.stop().await;
    }
}

#[tokio::test]
async fn peers_that_know_nothing_of_hints_hear_nothing_of_them_or_pass_over_them() {
    // No peer asks for hints, and none are sent.
    let running = start(plainly(mesh())).await;
    let offering = client(&running, SoapVersion::Soap11)
        .sending(Sending::off())
        .hints(Hints::Offered)
        .build()
        .expect("a client");
    let insisting = client(&running, SoapVersion::Soap11)
        .sending(Sending::off())
        .hints(Hints::Always)
        .build()
        .expect("a client");
    let plain = client(&running, SoapVersion::Soap11).build();
    let plain = plain.expect("a client");
    for round in 0..5 {
        echo(&offering, round).await;
        echo(&insisting, round).await;
        echo(&plain, round).await;
    }
    assert_eq!(offering.hint_stats().given, 0);
    assert_eq!(insisting.hint_stats().given, 5);
    assert_eq!(insisting.hint_stats().messages(), 0);
    running.stop().await;
    let running = start(plainly(mesh()).hints(Hints::Always)).await;
    let plain = client(&running, SoapVersion::Soap12).build();
    let plain = plain.expect("a client");
    for round in 0..5 {
        echo(&plain, round).await;
    }
    running.stop().await;
}

#[tokio::test]
async fn what_repeats_is_left_to_templates_and_histories() {
    let running = start(mesh().hints(Hints::Offered)).await;
    let client = client(&running, SoapVersion::Soap11)
        .hints(Hints::Offered)
        .build()
        .expect("a client");
    for _ in 0..6 {
        echo(&client, 3).await;
    }
    assert_eq!(client.hint_stats().given, 0);
    assert!(client.receiver_stats().reads.fast > 2);
    running.stop().await;
}

#[tokio::test]
async fn a_lie_is_answered_as_the_message_without_it() {
    let running = start(mesh().hints(Hints::Offered)).await;
    let version = SoapVersion::Soap11;
    let body = |numbers: &str| {
        format!("<m:sumInts xmlns:m='urn:bsoap:mesh'><values>{numbers}</values></m:sumInts>")
    };
    let item = |number: &str| format!("<item>{number}</item>");
    let key = "0123456789abcdef0123456789abcdef";
    for (lengths, number, expected) in [
        ("A", "2", "<sum>2</sum>"),
        ("A", "3", "<sum>3</sum>"),
        ("B", "4", "<sum>4</sum>"),
        ("@", "5", "<sum>5</sum>"),
        ("A", "x", "Fault"),
        ("A", "6</item><item>7", "<sum>13</sum>"),
        ("*99999999A", "8", "<sum>8</sum>"),
        ("A", "9", "<sum>9</sum>"),
    ] {
        let block = format!("<b:hint xmlns:b=\"urn:bsoap:hint\" key=\"{key}\" at=\"{lengths}\"/>");
        let message = envelope(version, &block, &body(&item(number)));
        let path = running.urls[0].splitn(4, '/').nth(3).unwrap_or_default();
        let path = format!("/{path}");
        let (_, answer) = post(
            running.address,
            &path,
            content_type(version),
            "SOAPAction: \"\"\r\nBsoap-Hint: 1\r\n",
            &message,
        )
        .await;
        assert!(answer.contains(expected), "{number}: {answer}");
        assert!(
            answer.to_ascii_lowercase().contains("bsoap-hint: 1"),
            "{answer}"
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn hints_are_off_unless_asked_for() {
    let running = start(plainly(
        Service::builder(MESH).handle("echoDoubles", |message: bsoap::Message| async move {
            message.value()
        }),
    ))
    .await;
    let (_, answer) = post(
        running.address,
        "/",
        content_type(SoapVersion::Soap11),
        "Bsoap-Hint: 1\r\n",
        "<nothing/>",
    )
    .await;
    assert!(!answer.to_ascii_lowercase().contains("bsoap-hint"));
    let client = client(&running, SoapVersion::Soap11).build();
    let client = client.expect("a client");
    echo(&client, 1).await;
    assert_eq!(client.hint_stats(), bsoap::tuning::HintCounts::default());
    running.stop().await;
}

/// A client of another stack: calls `echoDoubles` of the WSDL at the URL a few times, and prints what it got.
const ZEEP: &str = "
import sys
from zeep import Client
client = Client(sys.argv[1] + '?wsdl')
service = client.create_service(next(iter(client.wsdl.bindings)), sys.argv[1])
for round in range(5):
    print(service.echoDoubles(values={'item': [round + 0.25, 1.5]}))
";

#[tokio::test]
async fn another_stack_reads_answers_with_hints_as_if_there_were_none() {
    // A Python that has zeep.
    let python = std::env::var("BSOAP_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_zeep = std::process::Command::new(&python)
        .args(["-c", "import zeep"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_zeep {
        eprintln!("zeep is missing (BSOAP_PYTHON names a Python that has it): not tested");
        return;
    }
    let service = plainly(mesh()).hints(Hints::Always).build();
    let service = service.expect("a service");
    let meter = service.meter().clone();
    let bound = service.bind("127.0.0.1:0").await.expect("a port");
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    let ran = tokio::task::spawn_blocking(move || {
        std::process::Command::new(python)
            .args(["-c", ZEEP, &url])
            .output()
            .expect("it runs")
    });
    let ran = ran.await.expect("it ends");
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let said = String::from_utf8_lossy(&ran.stderr);
    for round in 0..5 {
        assert!(printed.contains(&format!("{round}.25")), "{printed}{said}");
    }
    assert_eq!(meter.hints().given, 5);
}
