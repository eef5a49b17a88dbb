//! Rust values as messages, and what the meter counts.

mod common;

use bsoap::codec::{Object, Pack, PackError, Packer, Unpack, Unpacker};
use bsoap::protocol::Contents;
use bsoap::{Fault, Message, SoapVersion, Value};
use common::{BOTH, client, mesh, start, under};

/// `sumDoubles`: an array of doubles in an element.
#[derive(Clone, Debug, PartialEq)]
struct Numbers(Vec<f64>);

impl Pack for Numbers {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.array(&self.0);
    }
}

impl Unpack for Numbers {
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        from.array().map(Self)
    }
}

/// A type that fits nothing.
struct Odd;

impl Pack for Odd {
    fn pack(&self, packer: &mut Packer<'_>) {
        packer.text("odd");
        packer.text("odd");
    }
}

#[tokio::test]
async fn rust_values_go_both_ways() {
    let service =
        mesh().handle_typed(
            "sumDoubles",
            async |numbers: Numbers, _: Message| match numbers.0.as_slice() {
                [] => Err(Fault::sender("nothing to add up")),
                numbers => Ok(numbers.iter().sum::<f64>()),
            },
        );
    let running = start(
        service.handle_typed("echoDoubles", async |numbers: Numbers, _: Message| {
            Ok(numbers)
        }),
    )
    .await;
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        let sum: f64 = client
            .call_typed("sumDoubles", &Numbers(vec![1.5, 2.25]))
            .await
            .expect("an answer");
        assert_eq!(sum, 3.75);
        let many = Numbers((0..10_000).map(f64::from).collect());
        assert_eq!(
            client
                .call_typed::<Numbers>("echoDoubles", &many)
                .await
                .expect("an answer"),
            many
        );
        let error = client
            .call_typed::<f64>("sumDoubles", &Numbers(Vec::new()))
            .await
            .expect_err("a fault");
        assert_eq!(error.fault().map(Fault::reason), Some("nothing to add up"));
    }
    running.stop().await;
}

#[tokio::test]
async fn a_type_that_does_not_fit_is_the_callers_doing() {
    let running = start(mesh()).await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let error = client
        .call_typed::<f64>("sumDoubles", &Odd)
        .await
        .expect_err("no fit");
    assert_eq!(error.blame(), bsoap::Blame::Caller);
    let error = client
        .call_typed::<Numbers>("sumDoubles", &Numbers(vec![1.0]))
        .await
        .expect_err("no fit");
    assert_eq!(error.blame(), bsoap::Blame::Caller);
    running.stop().await;
}

#[tokio::test]
async fn a_borrowed_value_and_a_given_one_and_a_packed_one_make_the_same_message() {
    let client = bsoap::Client::from_wsdl(common::MESH).expect("a client");
    let value = under("values", under("item", vec![1.5, 2.5]));
    let borrowed = client
        .request("sumDoubles", &value)
        .expect("a request")
        .into_record();
    let given = client
        .request("sumDoubles", value.clone())
        .expect("a request")
        .into_record();
    let numbers = Numbers(vec![1.5, 2.5]);
    let packed = client
        .request("sumDoubles", Contents::packed(&numbers))
        .expect("a request")
        .into_record();
    assert!(borrowed == given && given == packed);
    let mut headers = Object::new();
    headers.insert("#any", vec![Value::from("<h xmlns=\"urn:h\">1</h>")]);
    let with = client
        .request(
            "sumDoubles",
            Contents::packed(&numbers).with_headers(headers.clone()),
        )
        .expect("a request");
    let Value::Object(mut members) = value else {
        panic!("an object")
    };
    members.insert("@headers", headers);
    let inside = Value::from(members);
    let inside = client
        .request("sumDoubles", &inside)
        .expect("a request")
        .into_record();
    assert!(with.into_record() == inside);
}

#[tokio::test]
async fn the_meters_of_both_sides_agree() {
    let builder = mesh();
    let service = builder.build().expect("a service");
    let served = service.meter().clone();
    let bound = service.bind("127.0.0.1:0").await.expect("a free port");
    let client = bsoap::Client::builder(common::MESH)
        .endpoint(&bound.urls()[0])
        .build()
        .expect("a client");
    tokio::spawn(bound.run(std::future::pending()));
    for _ in 0..3 {
        client
            .call(
                "sumDoubles",
                &under("values", under("item", vec![1.5, 2.5])),
            )
            .await
            .expect("an answer");
    }
    let (called, served) = (client.meter().read(), served.read());
    assert_eq!((called.messages_sent, called.messages_received), (3, 3));
    assert_eq!(
        (called.sent, called.received),
        (served.received, served.sent)
    );
    assert!(called.sent > 300 && !called.converting.is_zero() && !served.converting.is_zero());
}
