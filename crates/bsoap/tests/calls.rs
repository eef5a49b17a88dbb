//! What calls promise beyond their answers: where they may run, what they refuse to send, and what their errors tell.

mod common;

use std::error::Error as _;
use std::time::Duration;

use bsoap::codec::Packer;
use bsoap::{Client, Error, Fault, Message, SoapVersion, Value, blocking};
use common::{client, mesh, start, under};

fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
}

/// The arguments of `sumDoubles`, of a type that no other thread may see.
struct Local(std::rc::Rc<Vec<f64>>);

impl bsoap::codec::Pack for Local {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.array(&self.0);
    }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test]
async fn typed_calls_can_be_moved_to_other_threads_whatever_their_arguments() {
    let running = start(mesh()).await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let calling = {
        let local = Local(std::rc::Rc::new(vec![1.5, 2.5]));
        is_send(client.call_typed::<f64>("sumDoubles", &local))
    };
    assert_eq!(calling.await.expect("an answer"), 4.0);
    let local = Local(std::rc::Rc::new(Vec::new()));
    let error = is_send(client.notify_typed("missing", &local)).await;
    assert!(error.expect_err("no such operation").was_not_sent());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocking_client_works_inside_a_runtime() {
    let running = start(mesh()).await;
    let builder = client(&running, SoapVersion::Soap12);
    let client = blocking::Client::new(builder).expect("a client");
    let answer = client.call("sumDoubles", &numbers()).expect("an answer");
    assert_eq!(answer["sum"].as_f64(), Some(4.0));
    // The runtime of a client may be dropped only outside of another one.
    tokio::task::spawn_blocking(|| drop(client))
        .await
        .expect("dropped");
}

#[tokio::test]
async fn a_request_or_draft_of_another_wsdl_or_port_is_not_sent() {
    let running = start(mesh()).await;
    let own = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let other_port = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    let tour = Client::builder(common::TOUR)
        .endpoint("http://127.0.0.1:9/")
        .build()
        .expect("a client");

    let request = other_port
        .request("sumDoubles", numbers())
        .expect("a request");
    let error = own.exchange(request).await.expect_err("refused");
    assert!(error.was_not_sent(), "{error}");
    assert!(
        error.to_string().contains("another WSDL or another port"),
        "{error}"
    );

    let mut draft = other_port.draft("sumDoubles", numbers()).expect("a draft");
    let error = own.send(&mut draft).await.expect_err("refused");
    assert!(error.to_string().contains("another port"), "{error}");
    other_port
        .send(&mut draft)
        .await
        .expect("the draft can still be used");

    let foreign = own.request("sumDoubles", numbers()).expect("a request");
    let envelope = foreign.into_record();
    let error = tour
        .call_record("ping", envelope)
        .await
        .expect_err("refused");
    assert!(
        error.to_string().contains("not a request Envelope"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_tell_what_may_be_repeated() {
    let slow = mesh().handle("sumDoubles", async |_: Message| {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Value::Nil
    });
    let running = start(slow).await;
    let hasty = client(&running, SoapVersion::Soap11)
        .timeout(Duration::from_millis(100))
        .build()
        .expect("a client");

    let late = hasty
        .call("sumDoubles", &numbers())
        .await
        .expect_err("too late");
    assert!(late.is_timeout() && late.is_transport() && !late.is_connect());
    assert!(!late.was_not_sent(), "the handler may have run");

    let wrong = hasty
        .call("sumDoubles", &under("values", "x"))
        .await
        .expect_err("wrong");
    assert!(wrong.was_not_sent() && !wrong.is_transport());
    assert_eq!(wrong.to_string(), "the call was not made");
    assert!(wrong.source().is_some(), "the place of the wrong argument");
    assert_eq!(wrong.http_status(), None);
}

#[tokio::test]
async fn a_failed_call_of_a_handler_is_a_fault_without_its_causes() {
    let next = Client::builder(common::MESH)
        .endpoint("http://127.0.0.1:9/secret")
        .build()
        .expect("a client");
    let relay = mesh().handle("sumDoubles", move |message: Message| {
        let next = next.clone();
        async move { Ok::<_, Fault>(next.call("sumDoubles", &message.value()).await?) }
    });
    let running = start(relay).await;
    let own = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    let error = own
        .call("sumDoubles", &numbers())
        .await
        .expect_err("a fault");
    let Error::Fault(fault) = &error else {
        panic!("{error}");
    };
    assert_eq!(fault.code, bsoap::protocol::Code::Receiver);
    assert_eq!(error.http_status(), Some(500));
    assert!(!error.report().contains("secret"), "{}", error.report());
}

#[tokio::test]
async fn a_chain_of_causes_tells_the_whole_story_and_nothing_twice() {
    let running = start(mesh()).await;
    let own = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    let closed = own.at("http://127.0.0.1:9/").expect("a client");
    let shape = Value::object([
        ("rows", 5.into()),
        ("columns", 5.into()),
        ("field", under("item", vec![1.0])),
    ]);
    let odd = client(&running, SoapVersion::Soap12)
        .after_receive(|incoming| {
            incoming.body = "<html>busy</html>".into();
            Ok(())
        })
        .build()
        .expect("a client");
    for (error, last) in [
        (
            own.call("sumDoubles", &under("values", "x")).await,
            "values",
        ),
        (closed.call("sumDoubles", &numbers()).await, "refused"),
        (own.call("jacobiStep", &shape).await, "another shape"),
        (odd.call("sumDoubles", &numbers()).await, "html"),
    ] {
        let error = error.expect_err("an error");
        let mut levels = vec![error.to_string()];
        let mut next = error.source();
        while let Some(cause) = next {
            levels.push(cause.to_string());
            next = cause.source();
        }
        assert!(levels.len() > 1, "{levels:?}");
        let report = levels.join(": ");
        assert_eq!(report, error.report());
        assert!(report.contains(last), "{report}");
        for pair in levels.windows(2) {
            assert!(!pair[0].contains(&pair[1]), "told twice: {levels:?}");
        }
        // The one-line form and the report of a `main` that returns `anyhow::Result`.
        let error = anyhow::Error::new(error).context("the mesh is not available");
        assert_eq!(
            format!("{error:#}"),
            format!("the mesh is not available: {report}")
        );
        let printed = format!("{error:?}");
        let mut rest = printed.as_str();
        for level in &levels {
            let at = rest.find(level).expect("every level in its order");
            rest = &rest[at + level.len()..];
        }
    }
    running.stop().await;
}
