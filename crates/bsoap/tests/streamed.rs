//! Arrays written while they are sent, and drafts that are changed in places that are known.

use std::pin::Pin;
use std::task::{Context, Poll};

use bsoap::attachments::Attachment;
use bsoap::protocol::Code;
use bsoap::tuning::SendPolicy;
use bsoap::{Client, Error, Fault, Message, Service, ServiceBuilder, Streamed, Value};

const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");

async fn sum(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let numbers = arguments["values"]["item"].as_doubles().unwrap_or_default();
    Ok(Value::object([("sum", numbers.iter().sum::<f64>().into())]))
}

/// Answers with as many numbers as there are columns, generated while they are sent.
async fn step(message: Message) -> Result<(Value, Streamed), Fault> {
    let columns = message.value()["columns"].as_i64().unwrap_or(0);
    let answer = Value::object([
        ("field", Value::object([("item", Value::Array(vec![]))])),
        ("residual", 0.5.into()),
    ]);
    let rows = (0..columns).map(|number| number as f64 / 2.0);
    Ok((answer, Streamed::new("field.item", rows)))
}

async fn client() -> Client {
    client_of(Service::builder(MESH).handle("jacobiStep", step)).await
}

/// A client of a service, which also sums numbers.
async fn client_of(service: ServiceBuilder) -> Client {
    let service = service.handle("sumDoubles", sum);
    let bound = service.build().expect("a service").bind("127.0.0.1:0");
    let bound = bound.await.expect("a port");
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    Client::builder(MESH)
        .endpoint(&url)
        .build()
        .expect("a client")
}

fn empty() -> Value {
    Value::object([("values", Value::object([("item", Value::Array(vec![]))]))])
}

#[tokio::test]
async fn a_streamed_array_arrives_as_if_it_had_been_there() {
    let client = client().await;
    for count in [0_u64, 1, 2, 100_000] {
        let expected = (0..count).map(|number| number as f64 / 4.0).sum::<f64>();
        let rows = move || (0..count).map(|number| number as f64 / 4.0);
        for streamed in [
            Streamed::new("values.item", rows()),
            Streamed::new("item", rows()).exactly(count),
            Streamed::new("sumDoubles.values.item", rows()).at_most(count + 7),
        ] {
            let answer = client.call_streamed("sumDoubles", &empty(), streamed).await;
            let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
            assert_eq!(answer["sum"].as_f64(), Some(expected));
        }
    }
}

/// Gives a number at every second question.
struct Hesitant {
    left: u32,
    hesitates: bool,
}

impl futures_core::Stream for Hesitant {
    type Item = f64;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<f64>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.hesitates = !self.hesitates;
        if self.hesitates {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.left -= 1;
        Poll::Ready(Some(1.5))
    }
}

#[tokio::test]
async fn an_async_stream_is_sent_as_it_comes() {
    let client = client().await;
    let rows = Hesitant {
        left: 500,
        hesitates: false,
    };
    let streamed = Streamed::from_stream("values.item", rows);
    let answer = client.call_streamed("sumDoubles", &empty(), streamed).await;
    assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(750.0));
}

#[tokio::test]
async fn an_answer_can_be_streamed() {
    let client = client().await;
    for columns in [0, 3, 50_000] {
        let arguments = Value::object([
            ("rows", Value::from(1)),
            ("columns", Value::from(columns)),
            ("field", Value::object([("item", Value::Array(vec![]))])),
        ]);
        let answer = client.call("jacobiStep", &arguments).await;
        let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
        let found = answer["field"]["item"].as_doubles().unwrap_or_default();
        let expected: Vec<f64> = (0..columns).map(|number| f64::from(number) / 2.0).collect();
        assert_eq!(found, expected);
        assert_eq!(answer["residual"].as_f64(), Some(0.5));
    }
}

#[tokio::test]
async fn a_streamed_answer_with_an_attachment_is_a_fault_and_never_half_an_answer() {
    let service = Service::builder(MESH).handle("jacobiStep", |message: Message| async move {
        message.add_answer_attachment(Attachment::from_bytes(vec![1, 2, 3]));
        step(message).await
    });
    let arguments = Value::object([
        ("rows", Value::from(1)),
        ("columns", Value::from(3)),
        ("field", Value::object([("item", Value::Array(vec![]))])),
    ]);
    let answer = client_of(service)
        .await
        .call("jacobiStep", &arguments)
        .await;
    assert!(
        matches!(&answer, Err(Error::Fault(fault)) if fault.code == Code::Receiver),
        "{answer:?}"
    );
}

#[tokio::test]
async fn rows_that_are_not_the_arrays_are_refused_before_anything_is_sent() {
    let client = client().await;
    let call = async |streamed| {
        let called = client.call_streamed("sumDoubles", &empty(), streamed).await;
        called.expect_err("refused").report()
    };
    let report = call(Streamed::new("values.item", vec![1_i32])).await;
    assert!(report.contains("numbers of other types"), "{report}");
    let report = call(Streamed::new("values", vec![1.5])).await;
    assert!(report.contains("no array values"), "{report}");
    assert_eq!(client.meter().read().messages_sent, 0);
    // That there are fewer than announced is only found at the end: the peer never gets a whole message.
    let report = call(Streamed::new("values.item", vec![1.5]).exactly(2)).await;
    assert!(report.contains("expected 2 rows, found 1"), "{report}");
}

#[tokio::test]
async fn a_draft_sends_what_was_set_and_looks_at_nothing_else() {
    let client = client().await;
    let values: Vec<f64> = (0..10_000).map(f64::from).collect();
    let array = Value::object([("item", Value::from(values.clone()))]);
    let arguments = Value::object([("values", array)]);
    let mut draft = client.draft("sumDoubles", &arguments).expect("a draft");
    let mut expected: f64 = values.iter().sum();
    let answer = client.send(&mut draft).await.expect("an answer");
    assert_eq!(answer["sum"].as_f64(), Some(expected));
    for at in [0_usize, 17, 9_999] {
        draft
            .set(format!("values.item[{at}]"), 0.25)
            .expect("it is there");
        expected += 0.25 - values[at];
        for _ in 0..2 {
            let answer = client.send(&mut draft).await.expect("an answer");
            assert_eq!(answer["sum"].as_f64(), Some(expected));
        }
    }
    let matches = client.sender_stats().matches;
    assert_eq!(matches.values, 3, "{matches:?}");
    let place = draft.place("values.item[4]").expect("it is there");
    for (value, number, before) in [
        (Value::from(1.5), 1.5, values[4]),
        (Value::from("2.5"), 2.5, 1.5),
        (Value::from(3), 3.0, 2.5),
    ] {
        expected += number - before;
        draft.set_at(&place, value).expect("it is a number");
        let answer = client.send(&mut draft).await.expect("an answer");
        assert_eq!(answer["sum"].as_f64(), Some(expected));
    }
    let other = Client::builder(MESH).endpoint(client.endpoint());
    let other = other.build().expect("a client");
    let mut others = other.draft("sumDoubles", &arguments).expect("a draft");
    others
        .set_at(&place, 1.5)
        .expect_err("a place of another Plan");
    for (path, value) in [
        ("values.item[10001]", Value::from(1.5)),
        ("values.other", Value::from(1.5)),
        ("values", Value::from(1.5)),
        ("values.item[0]", Value::from("much")),
    ] {
        let error = draft.set(path, value).expect_err(path);
        assert!(matches!(error, Error::Setup(_) | Error::Type(_)), "{error}");
    }
    let roomy = Client::builder(MESH).sending(SendPolicy::MAXIMUM);
    let roomy = roomy.endpoint(client.endpoint()).build().expect("a client");
    let mut draft = roomy.draft("sumDoubles", &arguments).expect("a draft");
    draft
        .set("values.item[5]", -1.25e-300)
        .expect("it is there");
    let answer = roomy.send(&mut draft).await.expect("an answer");
    let expected = values.iter().sum::<f64>() - 5.0;
    assert_eq!(answer["sum"].as_f64(), Some(expected));
}
