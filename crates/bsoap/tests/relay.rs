//! What is relayed by its changes is what would be relayed without.

use std::sync::{Arc, Mutex};

use bsoap::tuning::{Receiving, Sending};
use bsoap::{Client, Draft, Fault, Message, Relay, Service, Value};
use proptest::prelude::*;

const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");

/// What an end received, and how it was relayed.
type Received = Arc<Mutex<(Vec<Value>, Vec<Relay>)>>;

/// An end that keeps what it receives, and a relay before it. The URL of the relay.
async fn chain(keeps: bool, received: &Received) -> String {
    let (sending, receiving) = match keeps {
        true => (Sending::default(), Receiving::default()),
        false => (Sending::off(), Receiving::off()),
    };
    let keep = Arc::clone(received);
    let end = Service::builder(MESH).handle("echoMesh", move |message: Message| {
        keep.lock().expect("the lock").0.push(message.value());
        async move { message.value() }
    });
    let end = end.sending(sending).receiving(receiving);
    let url = serve(end.build().expect("a service")).await;
    let next = Client::builder(MESH).endpoint(url).sending(sending);
    let next = next.receiving(receiving).build().expect("a client");
    let draft: Arc<tokio::sync::Mutex<Option<Draft>>> = Arc::default();
    let how = Arc::clone(received);
    let relay = Service::builder(MESH).handle("echoMesh", move |message: Message| {
        let (next, draft, how) = (next.clone(), Arc::clone(&draft), Arc::clone(&how));
        async move {
            let broken = |error: bsoap::Error| Fault::receiver(error.report().to_string());
            if !keeps {
                let answer = next.call("echoMesh", &message.value()).await;
                return answer.map_err(broken);
            }
            let mut draft = draft.lock().await;
            let draft = match &mut *draft {
                Some(draft) => draft,
                none => none.insert(next.draft("echoMesh", message.value()).map_err(broken)?),
            };
            let relayed = draft.relay(message.changes()).map_err(broken)?;
            how.lock().expect("the lock").1.push(relayed);
            next.send(draft).await.map_err(broken)
        }
    });
    let relay = relay.sending(sending).receiving(receiving);
    serve(relay.build().expect("a service")).await
}

async fn serve(service: Service) -> String {
    let bound = service.bind("127.0.0.1:0").await.expect("a port");
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    url
}

fn client(url: &str) -> Client {
    let client = Client::builder(MESH).endpoint(url).build();
    client.expect("a client")
}

type Point = (i32, i32, f64);

fn points(points: &[Point]) -> Value {
    let points = points.iter().map(|(x, y, value)| {
        Value::object([
            ("x", Value::from(i64::from(*x))),
            ("y", Value::from(i64::from(*y))),
            ("value", Value::from(*value)),
        ])
    });
    Value::object([(
        "objects",
        Value::object([("item", Value::Array(points.collect()))]),
    )])
}

/// A change to the messages of one of two senders.
#[derive(Clone, Debug)]
enum Change {
    Set(usize, f64),
    Insert(usize, Point),
    Remove(usize),
    Nothing,
    Twice,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (any::<usize>(), -1e6..1e6).prop_map(|(at, value)| Change::Set(at, value)),
        1 => (any::<usize>(), any::<i32>()).prop_map(|(at, x)| Change::Insert(at, (x, -x / 2, 0.5))),
        1 => any::<usize>().prop_map(Change::Remove),
        1 => Just(Change::Nothing),
        1 => Just(Change::Twice),
    ]
}

fn apply(change: &Change, points: &mut Vec<Point>) {
    let length = points.len();
    match change {
        Change::Set(at, value) if length > 0 => points[at % length].2 = *value,
        Change::Insert(at, point) => points.insert(at % (length + 1), *point),
        Change::Remove(at) if length > 0 => drop(points.remove(at % length)),
        Change::Twice if length > 1 => (points[0].0, points[length - 1].1) = (7, 8),
        _ => {}
    }
}

async fn relays_the_same(streams: Vec<(usize, Change)>) -> Vec<Relay> {
    let (received, plainly): (Received, Received) = Default::default();
    let urls = [chain(true, &received).await, chain(false, &plainly).await];
    let mut meshes: Vec<Vec<Point>> = [40, 40, 90]
        .map(|length| {
            (0..length)
                .map(|it| (it, it * 2, f64::from(it) / 3.0))
                .collect()
        })
        .into();
    meshes[1][20].2 = 1e9;
    // Each sender has a connection of its own; all share the draft of the relay.
    let clients = urls.map(|url| meshes.iter().map(|_| client(&url)).collect::<Vec<_>>());
    for (sender, change) in streams {
        apply(&change, &mut meshes[sender]);
        let arguments = points(&meshes[sender]);
        let mut answers = Vec::new();
        for clients in &clients {
            let answer = clients[sender].call("echoMesh", &arguments).await;
            answers.push(answer.expect("an answer"));
        }
        assert_eq!(answers[0], answers[1]);
    }
    let (received, plainly) = (
        received.lock().expect("the lock"),
        plainly.lock().expect("the lock"),
    );
    assert_eq!(received.0, plainly.0);
    received.1.clone()
}

fn relaying(streams: Vec<(usize, Change)>) -> Vec<Relay> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .expect("a runtime")
        .block_on(relays_the_same(streams))
}

#[test]
fn one_sender_is_relayed_by_changes() {
    let streams = (0..10).map(|it| (0, Change::Set(it * 3, it as f64 + 0.5)));
    let how = relaying(streams.collect());
    // The first two messages have no history; the draft began with the first.
    assert_eq!(how[..2], [Relay::Compared; 2]);
    assert_eq!(how[2..], [Relay::Changed(1); 8]);
}

#[test]
fn where_another_sender_came_between_all_is_compared() {
    let streams = (0..12).map(|it| (it % 2, Change::Set(it, it as f64 + 0.5)));
    let how = relaying(streams.collect());
    assert_eq!(how, [Relay::Compared; 12]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_changes_in_whatever_order_the_end_receives_the_same(
        streams in proptest::collection::vec((0_usize..3, change()), 1..40)
    ) {
        relaying(streams);
    }

    #[test]
    fn one_sender_whatever_changes(changes in proptest::collection::vec(change(), 1..40)) {
        relaying(changes.into_iter().map(|change| (0, change)).collect());
    }
}

#[tokio::test]
async fn a_value_set_in_between_is_not_forgotten_and_not_kept() {
    let received: Received = Received::default();
    let url = chain(true, &received).await;
    let client = client(&url);
    let mut mesh: Vec<Point> = (0..40).map(|it| (it, it, 0.0)).collect();
    let kept: Arc<Mutex<Vec<bsoap::Changes>>> = Arc::default();
    // The messages as a service gets them.
    let service = Service::builder(MESH).handle("echoMesh", {
        let kept = Arc::clone(&kept);
        move |message: Message| {
            kept.lock()
                .expect("the lock")
                .push(message.changes().clone());
            async move { message.value() }
        }
    });
    let source = self::client(&serve(service.build().expect("a service")).await);
    let mut draft = client.draft("echoMesh", points(&mesh)).expect("a draft");
    for round in 0..8 {
        mesh[round].2 = 0.5;
        source
            .call("echoMesh", &points(&mesh))
            .await
            .expect("an answer");
        let changes = kept.lock().expect("the lock").pop().expect("a message");
        let relayed = draft.relay(&changes).expect("relayed");
        let again = draft.relay(&changes).expect("relayed");
        assert_eq!(again, Relay::Changed(0));
        if round == 4 {
            draft.set("objects.item[30].value", 77.0).expect("set");
        }
        assert_eq!(
            relayed == Relay::Changed(1),
            ![0, 1, 5].contains(&round),
            "{round} {relayed:?}"
        );
        let answer = client.send(&mut draft).await.expect("an answer");
        let mut expected = mesh.clone();
        if round == 4 {
            expected[30].2 = 77.0;
        }
        assert_eq!(answer.to_json(), points(&expected).to_json());
    }
}

#[tokio::test]
async fn what_lies_otherwise_is_built() {
    let kept: Arc<Mutex<Vec<bsoap::Changes>>> = Arc::default();
    let service = Service::builder(MESH).handle_others({
        let kept = Arc::clone(&kept);
        move |message: Message| {
            kept.lock()
                .expect("the lock")
                .push(message.changes().clone());
            async move { Value::object([("sum", Value::from(1.0))]) }
        }
    });
    let url = serve(service.build().expect("a service")).await;
    let client = client(&url);
    let array = |values: Value| Value::object([("values", Value::object([("item", values)]))]);
    let call = async |operation: &str, arguments: Value| {
        client.call(operation, &arguments).await.expect("an answer");
        kept.lock().expect("the lock").pop().expect("a message")
    };
    let doubles = call("sumDoubles", array(vec![1.0, 2.5].into())).await;
    let ints = call("sumInts", array(vec![1, 2].into())).await;
    let mut draft = client
        .draft("sumDoubles", array(vec![9.0].into()))
        .expect("a draft");
    assert_eq!(draft.relay(&doubles).expect("relayed"), Relay::Compared);
    assert_eq!(draft.relay(&ints).expect("relayed"), Relay::Built);
    client.send(&mut draft).await.expect("an answer");
    let sent = kept.lock().expect("the lock").pop().expect("a message");
    let view = bsoap::codec::View::of(sent.record())
        .child("Body")
        .expect("a body");
    let values = view
        .child("sumDoubles")
        .and_then(|it| it.child("values"))
        .expect("values");
    assert_eq!(
        values
            .column::<f64>("item")
            .expect("doubles")
            .iter()
            .sum::<f64>(),
        3.0
    );
    // What is no argument of the operation is an error, and the draft stays what it was.
    let mut draft = client
        .draft("sumInts", array(vec![9].into()))
        .expect("a draft");
    assert!(draft.relay(&doubles).is_err());
    client.send(&mut draft).await.expect("an answer");
}
