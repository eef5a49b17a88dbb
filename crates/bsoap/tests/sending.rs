//! What is kept of messages changes nothing of what the other side gets.

use std::sync::{Arc, Mutex};

use bsoap::tuning::{Budget, SendPolicy, Sending};
use bsoap::{Client, ClientBuilder, Error, Fault, Message, Service, ServiceBuilder, Value};

const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }

    fn double(&mut self) -> f64 {
        match self.next(4) {
            0 => self.next(10) as f64,
            1 => -(self.next(1 << 40) as f64) / 1024.0,
            2 => f64::from_bits(self.next(u64::MAX) & 0x7fef_ffff_ffff_ffff),
            _ => self.next(1 << 53) as f64 / 9e15,
        }
    }
}

fn field(values: &[f64]) -> Value {
    Value::object([
        ("rows", Value::from(1)),
        ("columns", Value::from(values.len() as i64)),
        (
            "field",
            Value::object([("item", Value::from(values.to_vec()))]),
        ),
    ])
}

/// Answers with the field as it came, or refuses it if it is empty.
async fn step(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let values = arguments["field"]["item"].as_doubles().unwrap_or_default();
    if values.is_empty() {
        return Err(Fault::sender(format!(
            "{} columns and no value",
            arguments["columns"].as_i64().unwrap_or(-1)
        )));
    }
    Ok(Value::object([
        (
            "field",
            Value::object([("item", Value::from(values.to_vec()))]),
        ),
        ("residual", values[0].into()),
    ]))
}

fn service() -> ServiceBuilder {
    Service::builder(MESH).handle("jacobiStep", step)
}

fn client() -> ClientBuilder {
    Client::builder(MESH)
}

/// Serves, and gives the URL and what the service has counted.
async fn serve(service: ServiceBuilder) -> (String, bsoap::tuning::Meter) {
    let service = service.build().expect("a service");
    let meter = service.meter().clone();
    let bound = service.bind("127.0.0.1:0").await.expect("a port");
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    (url, meter)
}

/// Changes a few values, or all, or how many there are.
fn change(values: &mut Vec<f64>, random: &mut Random) {
    match random.next(20) {
        0 => {}
        1 => values.push(random.double()),
        2 => {
            let at = random.next(values.len() as u64 + 1) as usize;
            values.insert(at, random.double());
        }
        3 if values.len() > 1 => drop(values.remove(random.next(values.len() as u64) as usize)),
        4 => values.truncate(values.len() / 8 * 7),
        5 => values.extend((0..random.next(300)).map(|number| number as f64 / 3.0)),
        6 => values.iter_mut().for_each(|value| *value = random.double()),
        _ => {
            for _ in 0..random.next(20) {
                if values.is_empty() {
                    break;
                }
                let at = random.next(values.len() as u64) as usize;
                values[at] = random.double();
            }
        }
    }
}

#[tokio::test]
async fn two_hundred_messages_with_random_changes_are_what_they_would_be_without_templates() {
    let (plain_url, _) = serve(service().sending(Sending::off())).await;
    for policy in [
        SendPolicy::IDENTICAL,
        SendPolicy::EXACT,
        SendPolicy::INTERMEDIATE,
        SendPolicy::MAXIMUM,
    ] {
        let (url, served) = serve(service().sending(policy)).await;
        let plain = client().sending(Sending::off()).endpoint(&plain_url);
        let plain = plain.build().expect("a client");
        let client = client().sending(policy).endpoint(&url);
        let client = client.build().expect("a client");
        let mut random = Random(0x1234_5678_9abc_def1);
        let mut values: Vec<f64> = (0..10_000).map(f64::from).collect();
        for round in 0..200 {
            change(&mut values, &mut random);
            let arguments = field(&values);
            let expected = plain.call("jacobiStep", &arguments).await;
            let found = client.call("jacobiStep", &arguments).await;
            match (expected, found) {
                (Ok(expected), Ok(found)) => assert!(expected == found, "round {round}"),
                (Err(Error::Fault(expected)), Err(Error::Fault(found))) => {
                    assert_eq!(expected, found, "round {round}");
                }
                (expected, found) => panic!("round {round}: {expected:?} and {found:?}"),
            }
        }
        assert_eq!(plain.sender_stats(), bsoap::tuning::SendCounts::default());
        for counts in [client.sender_stats(), served.sending()] {
            assert_eq!(counts.messages(), 200, "{counts:?}");
            let matches = counts.matches;
            assert!(matches.content > 0, "{counts:?}");
            assert!(matches.partial_structural > 0, "{counts:?}");
            assert!(matches.first_time < 60, "{counts:?}");
        }
    }
}

#[tokio::test]
async fn the_bytes_on_the_wire_are_those_of_a_fresh_message() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let routes = bsoap_http::Routes::new().at("/Mesh", move |request: bsoap_http::Request| {
        sender.send(request.body).expect("somebody listens");
        async { bsoap_http::Response::empty(500) }
    });
    let options = bsoap::tuning::ServerOptions::default();
    let server = bsoap_http::Server::bind("127.0.0.1:0", routes, options);
    let server = server.await.expect("a port");
    let url = format!("http://{}/Mesh", server.address());
    tokio::spawn(server.run(std::future::pending()));
    let client = client().endpoint(&url).build().expect("a client");
    let mut random = Random(99);
    let mut values: Vec<f64> = (0..3000).map(f64::from).collect();
    for round in 0..100 {
        change(&mut values, &mut random);
        let request = client
            .request("jacobiStep", field(&values))
            .expect("a request");
        let (fresh, _) = request.clone().write().expect("written");
        client
            .exchange(request)
            .await
            .expect_err("there is no answer");
        let found = receiver.recv().await.expect("a request");
        assert!(found == fresh.body, "round {round}");
    }
    assert!(client.sender_stats().matches.unchanged_bytes > 0);
}

#[tokio::test]
async fn what_is_sent_once_makes_no_template_and_what_has_nothing_in_common_is_bypassed() {
    let (url, _) = serve(service()).await;
    let client = client().endpoint(&url).build().expect("a client");
    client
        .call("jacobiStep", &field(&[1.0]))
        .await
        .expect("an answer");
    let once = client.sender_stats();
    assert_eq!((once.plain, once.matches.messages()), (1, 0));
    let mut random = Random(3);
    for _ in 0..100 {
        let values: Vec<f64> = (0..500).map(|_| random.double()).collect();
        client
            .call("jacobiStep", &field(&values))
            .await
            .expect("an answer");
    }
    let counts = client.sender_stats();
    // One plain, one first, and then a bypass of 1, 2, 4 … 32 messages after each that was of no use.
    assert!(counts.matches.messages() <= 9, "{counts:?}");
    assert!(counts.bypassed >= 88, "{counts:?}");
}

#[tokio::test]
async fn faults_have_templates_too() {
    let (url, served) = serve(service()).await;
    let client = client().endpoint(&url).build().expect("a client");
    // Its text is all there is to a fault: one with another text is written as fast without a template.
    let columns = std::iter::repeat_n(7, 20).chain(0..20);
    for (number, columns) in columns.enumerate() {
        let arguments = Value::object([
            ("rows", Value::from(1)),
            ("columns", Value::from(columns)),
            ("field", Value::object([("item", Value::Array(vec![]))])),
        ]);
        match client.call("jacobiStep", &arguments).await {
            Err(Error::Fault(fault)) => {
                assert_eq!(
                    fault.reasons[0].text,
                    format!("{columns} columns and no value")
                );
            }
            other => panic!("{other:?}"),
        }
        if number == 19 {
            let counts = served.sending();
            assert_eq!(counts.matches.content, 18, "{counts:?}");
        }
    }
    assert_eq!(served.sending().messages(), 40);
}

#[tokio::test]
async fn a_budget_bounds_what_is_kept_and_nothing_fails_without_it() {
    let (url, _) = serve(service()).await;
    for (bytes, expect_templates) in [(0, false), (20 << 10, false), (8 << 20, true)] {
        let budget = Budget::new(bytes);
        let client = client().endpoint(&url).budget(&budget).build();
        let client = client.expect("a client");
        let values: Vec<f64> = (0..5000).map(f64::from).collect();
        for _ in 0..40 {
            client
                .call("jacobiStep", &field(&values))
                .await
                .expect("an answer");
            assert!(budget.used() <= budget.limit());
        }
        let content = client.sender_stats().matches.content;
        assert_eq!(
            content > 30,
            expect_templates,
            "{bytes}: {:?}",
            client.sender_stats()
        );
    }
    // The bound of one client: two structures, space for one.
    let sending = Sending::default().bytes(220 << 10);
    let client = client().endpoint(&url).sending(sending).build();
    let client = client.expect("a client");
    for _ in 0..5 {
        for count in [4000, 6000] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            client
                .call("jacobiStep", &field(&values))
                .await
                .expect("an answer");
        }
    }
    assert!(
        client.sender_stats().evicted > 0,
        "{:?}",
        client.sender_stats()
    );
}

#[tokio::test]
async fn several_structures_of_one_operation_have_a_template_each() {
    let (url, _) = serve(service()).await;
    let client = client().endpoint(&url).build().expect("a client");
    let messages: Vec<Value> = [10, 100, 1000]
        .map(|count| field(&(0..count).map(f64::from).collect::<Vec<_>>()))
        .into();
    for _ in 0..10 {
        for message in &messages {
            client.call("jacobiStep", message).await.expect("an answer");
        }
    }
    let counts = client.sender_stats();
    assert_eq!(
        (counts.plain, counts.matches.first_time),
        (3, 3),
        "{counts:?}"
    );
    assert_eq!(counts.matches.content, 24, "{counts:?}");
}

#[tokio::test]
async fn two_endpoints_share_what_they_are_both_sent() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let mut urls = Vec::new();
    for number in 0..2 {
        let received = Arc::clone(&received);
        let answer = move |message: Message| {
            let values = message.value()["field"]["item"]
                .as_doubles()
                .map(<[f64]>::to_vec);
            received
                .lock()
                .expect("not poisoned")
                .push((number, values));
            async { Err::<Value, _>(Fault::receiver("seen")) }
        };
        let service = Service::builder(MESH).handle("jacobiStep", answer);
        urls.push(serve(service).await.0);
    }
    let first = client().endpoint(&urls[0]).build().expect("a client");
    let second = first.at(&urls[1]).expect("a client");
    let mut values: Vec<f64> = (0..20_000).map(f64::from).collect();
    for round in 0..4 {
        values[7] = f64::from(round) / 3.0;
        for client in [&first, &second] {
            client
                .call("jacobiStep", &field(&values))
                .await
                .expect_err("a fault");
        }
        let mut received = received.lock().expect("not poisoned");
        for (number, found) in received.drain(..) {
            assert!(
                found.as_ref() == Some(&values),
                "round {round}, endpoint {number}"
            );
        }
    }
    // The second endpoint never needed a first message: a copy of the first one's template did.
    let counts = first.sender_stats();
    assert_eq!(counts, second.sender_stats());
    assert_eq!(counts.matches.first_time, 1, "{counts:?}");
}

#[tokio::test]
async fn calls_at_the_same_time_get_their_own_answers() {
    let (url, _) = serve(service()).await;
    let client = client().endpoint(&url).build().expect("a client");
    let calls = (0..8).map(|task| {
        let client = client.clone();
        tokio::spawn(async move {
            let mut random = Random(task + 1);
            let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
            for _ in 0..25 {
                values[random.next(1000) as usize] = random.double();
                let answer = client.call("jacobiStep", &field(&values)).await;
                let answer = answer.expect("an answer");
                assert!(answer["field"]["item"].as_doubles() == Some(&values[..]));
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic");
    }
    assert_eq!(client.sender_stats().messages(), 200);
}
