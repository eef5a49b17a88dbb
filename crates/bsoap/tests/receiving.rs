//! What is kept of messages changes nothing of what is read of the next one.

mod common;

use std::sync::{Arc, Mutex};

use bsoap::tuning::{Budget, Portioning, ReceiveCounts, ReceiveWay, Receiving, Sending};
use bsoap::{Client, Message, Principal, Service, ServiceBuilder, SoapVersion, Value};
use common::{BOTH, MESH, content_type, envelope, mesh, start, under};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Serves, and gives URL and counts.
async fn serve(service: ServiceBuilder) -> (String, bsoap::tuning::Meter) {
    let service = service.build().expect("a service");
    let meter = service.meter().clone();
    let bound = service.bind("127.0.0.1:0").await.expect("a port");
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    (url, meter)
}

fn client(url: &str) -> Client {
    let client = Client::builder(MESH).endpoint(url).build();
    client.expect("a client")
}

fn array(values: &[f64]) -> Value {
    under("values", under("item", values.to_vec()))
}

async fn echo(client: &Client, values: &[f64]) {
    let answer = client.call("echoDoubles", &array(values)).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer["values"]["item"].as_doubles(), Some(values));
}

fn modes(counts: &ReceiveCounts) -> (u64, u64, u64) {
    (counts.plain, counts.reads.regular, counts.reads.fast)
}

#[tokio::test]
async fn from_the_third_on_messages_are_compared_and_only_what_changed_is_read() {
    let (url, served) = serve(mesh()).await;
    let client = client(&url);
    // For longer messages the clock would decide whether comparing pays.
    let mut values: Vec<f64> = (0..300).map(f64::from).collect();
    for round in 0..10 {
        values[round * 10] = 0.5 + round as f64;
        echo(&client, &values).await;
    }
    for counts in [served.receiving(), client.receiver_stats()] {
        assert_eq!(modes(&counts), (1, 1, 8), "{counts:?}");
        assert_eq!(counts.reads.values, 8);
        assert_eq!(counts.reads.slots - counts.reads.unchanged_slots, 8);
        assert_eq!(counts.messages(), 10);
    }
}

#[tokio::test]
async fn who_keeps_nothing_counts_nothing() {
    let (url, served) = serve(mesh().receiving(Receiving::off())).await;
    let builder = Client::builder(MESH).endpoint(&url);
    let client = builder
        .receiving(Receiving::off())
        .build()
        .expect("a client");
    for _ in 0..4 {
        echo(&client, &[1.0, 2.0]).await;
    }
    assert_eq!(served.receiving(), ReceiveCounts::default());
    assert_eq!(client.receiver_stats(), ReceiveCounts::default());
}

#[tokio::test]
async fn every_way_to_receive_can_be_chosen() {
    let portions = [
        Portioning::full(),
        Portioning::differential(),
        Portioning::lightweight(),
        Portioning::hashed(),
    ];
    let mut ways = portions.map(ReceiveWay::Portions).to_vec();
    ways.push(ReceiveWay::default());
    for way in ways {
        let (url, served) = serve(mesh().receiving(way)).await;
        let builder = Client::builder(MESH).endpoint(&url);
        let client = builder.receiving(way).build().expect("a client");
        let mut values: Vec<f64> = (0..3000).map(f64::from).collect();
        for round in 0..6 {
            values[round * 10] = 0.5 + round as f64;
            echo(&client, &values).await;
        }
        for counts in [served.receiving(), client.receiver_stats()] {
            assert!(counts.reads.fast >= 3, "{way:?} {counts:?}");
        }
    }
}

#[tokio::test]
async fn two_connections_never_share() {
    let (url, served) = serve(mesh()).await;
    let values: Vec<f64> = (0..100).map(f64::from).collect();
    for connections in 1..4 {
        let client = client(&url);
        for _ in 0..5 {
            echo(&client, &values).await;
        }
        let counts = served.receiving();
        assert_eq!(modes(&counts), (connections, connections, 3 * connections));
    }
}

#[tokio::test]
async fn a_principal_is_known_on_all_its_connections_and_no_other_profits() {
    let service = mesh().principal(|caller| {
        let credentials = caller.basic().filter(|it| it.password == "right")?;
        Some(Principal::from(credentials.user))
    });
    let (url, served) = serve(service).await;
    let values: Vec<f64> = (0..100).map(f64::from).collect();
    let call = async |user: &str, password: &str| {
        let builder = Client::builder(MESH)
            .endpoint(&url)
            .basic_auth(user, password);
        let client = builder.build().expect("a client");
        echo(&client, &values).await;
        modes(&served.receiving())
    };
    // Each call comes by a connection of its own.
    assert_eq!(call("ann", "right").await, (1, 0, 0));
    assert_eq!(call("ann", "right").await, (1, 1, 0));
    assert_eq!(call("bob", "right").await, (2, 1, 0));
    assert_eq!(call("ann", "right").await, (2, 1, 1));
    // Who claims to be somebody is nobody.
    assert_eq!(call("ann", "wrong").await, (3, 1, 1));
    assert_eq!(call("bob", "right").await, (3, 2, 1));
    assert_eq!(call("ann", "wrong").await, (4, 2, 1));
}

#[tokio::test]
async fn without_a_budget_nothing_is_kept_and_nothing_fails() {
    for limit in [0, 40_000, 300_000] {
        let budget = Budget::new(limit);
        let (url, served) = serve(mesh().budget(&budget)).await;
        let clients: Vec<Client> = (0..6).map(|_| client(&url)).collect();
        for round in 0..12 {
            for client in &clients {
                let mut values: Vec<f64> = (0..500).map(f64::from).collect();
                values[round] = 0.25;
                echo(client, &values).await;
                assert!(budget.used() <= budget.limit());
            }
        }
        let counts = served.receiving();
        assert_eq!(counts.messages(), 72);
        assert!(limit > 0 || counts.reads.messages() == 0, "{counts:?}");
    }
    let few = Receiving::default().bytes(30_000);
    let (url, served) = serve(mesh().receiving(few)).await;
    let client = client(&url);
    for length in [500, 600, 700].repeat(5) {
        echo(&client, &vec![1.5; length]).await;
    }
    assert!(served.receiving().evicted > 0);
}

/// Posts messages over one connection and gives status and body of each answer.
async fn posts(
    address: std::net::SocketAddr,
    path: &str,
    version: SoapVersion,
    bodies: &[String],
) -> Vec<(String, String)> {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let mut answers = Vec::new();
    for body in bodies {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{body}",
            content_type(version),
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        let (head, length) = loop {
            let text = String::from_utf8_lossy(&answer).into_owned();
            if let Some(end) = text.find("\r\n\r\n") {
                let head = text[..end].to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).expect("a length");
                let length = length
                    .lines()
                    .next()
                    .and_then(|it| it.parse::<usize>().ok());
                break (end + 4, length.expect("a number"));
            }
            let read = stream.read(&mut piece).await.expect("an answer");
            assert!(read > 0, "closed after {text}");
            answer.extend_from_slice(&piece[..read]);
        };
        while answer.len() < head + length {
            let read = stream.read(&mut piece).await.expect("an answer");
            answer.extend_from_slice(&piece[..read]);
        }
        let text = String::from_utf8(answer).expect("text");
        answers.push((text[9..12].to_owned(), text[head..].to_owned()));
    }
    answers
}

#[tokio::test]
async fn an_invalid_message_after_valid_ones_gets_the_fault_it_would_get_alone() {
    let body = |items: &str| {
        format!("<m:sumInts xmlns:m=\"urn:bsoap:mesh\"><values>{items}</values></m:sumInts>")
    };
    for version in BOTH {
        let good = envelope(version, "", &body("<item>1</item><item>2</item>"));
        let mut bodies = Vec::new();
        for bad in [
            envelope(version, "", &body("<item>1</item><item>x</item>")),
            envelope(version, "", &body("<item>1</item><itme>2</itme>")),
            envelope(version, "", &body("<item>1</item><item>99999999999</item>")),
            good.replace("sumInts", "other"),
            good.replace("</values>", ""),
            good[..good.len() - 20].to_owned(),
            good.replace(
                "<s:Header>",
                "<s:Header><h:new xmlns:h=\"urn:h\" s:mustUnderstand=\"1\"/>",
            ),
            good.replace("/envelope", "/elsewhere"),
        ] {
            bodies.extend([good.clone(), good.clone(), good.clone(), bad]);
        }
        bodies.push(good);
        let mut answers = Vec::new();
        for receiving in [Receiving::off(), Receiving::default()] {
            let running = start(mesh().receiving(receiving)).await;
            let url = &running.urls[usize::from(version == SoapVersion::Soap12)];
            let path = url.splitn(4, '/').last().expect("a path");
            answers.push(posts(running.address, &format!("/{path}"), version, &bodies).await);
            running.stop().await;
        }
        assert_eq!(answers[0], answers[1]);
        assert!(answers[0].iter().filter(|it| it.0 == "200").count() > 20);
    }
}

#[tokio::test]
async fn a_handler_gets_the_changes() {
    let changes = Arc::new(Mutex::new(Vec::new()));
    let service = Service::builder(MESH).handle("sumDoubles", {
        let changes = Arc::clone(&changes);
        move |message: Message| {
            let regions = message.changes().regions();
            let regions = regions.iter().map(ToString::to_string).collect::<Vec<_>>();
            changes.lock().expect("the lock").push(regions.join(" "));
            async { under("sum", 1.0) }
        }
    });
    let (url, _) = serve(service).await;
    let client = client(&url);
    let mut values: Vec<f64> = (0..200).map(f64::from).collect();
    for round in 0..6 {
        match round {
            3 => values[17..20].fill(0.125),
            4 => (values[0], values[199]) = (1.25, 2.5),
            5 => values.insert(100, 7.75),
            _ => {}
        }
        let calling = client.operation("sumDoubles").call(array(&values));
        let answer = calling.await.expect("an answer");
        let (Some(record), Some(changes)) = (answer.record(), answer.changes()) else {
            panic!("no answer")
        };
        assert!(Arc::ptr_eq(record, changes.record()));
        assert_eq!(changes.is_none(), round > 0);
        assert_eq!(changes.is_all(), round == 0);
    }
    let path = "/Envelope/Body/sumDoubles/values";
    let changes = changes.lock().expect("the lock");
    assert_eq!(
        changes[..5],
        [
            "/Envelope".to_owned(),
            String::new(),
            String::new(),
            format!("{path}/item[18 to 20]"),
            format!("{path}/item[1] {path}/item[200]"),
        ]
    );
    // An item more: the count, and at least the item.
    assert!(
        changes[5].starts_with(path) && changes[5].contains(&format!("{path}/item[")),
        "{}",
        changes[5]
    );
}

#[tokio::test]
async fn a_record_that_is_kept_never_changes() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let service = Service::builder(MESH).handle("sumDoubles", {
        let kept = Arc::clone(&kept);
        move |message: Message| {
            let record = Arc::clone(message.shared_record());
            let copy = bsoap::Record::clone(&record);
            kept.lock().expect("the lock").push((record, copy));
            async { under("sum", 1.0) }
        }
    });
    let (url, _) = serve(service).await;
    let client = client(&url);
    for round in 0..10 {
        let mut values: Vec<f64> = (0..50).map(f64::from).collect();
        values[round] = 0.5;
        let answer = client.call("sumDoubles", &array(&values)).await;
        answer.expect("an answer");
    }
    for (record, copy) in &*kept.lock().expect("the lock") {
        assert!(**record == *copy);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_client_at_the_same_time_are_read_at_the_same_time() {
    let (url, served) = serve(mesh()).await;
    let client = client(&url);
    let calls: Vec<_> = (0..8)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                for round in 0..20 {
                    let mut values: Vec<f64> = (0..300).map(f64::from).collect();
                    values[round] = f64::from(number) + 0.5;
                    echo(&client, &values).await;
                }
            })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic");
    }
    assert_eq!(client.receiver_stats().messages(), 160);
    assert_eq!(served.receiving().messages(), 160);
}

#[tokio::test]
async fn random_streams_are_answered_as_without_histories() {
    let (plain_url, _) = serve(mesh().receiving(Receiving::off()).sending(Sending::off())).await;
    let builder = Client::builder(MESH).endpoint(&plain_url);
    let builder = builder.receiving(Receiving::off()).sending(Sending::off());
    let plain = builder.build().expect("a client");
    let (url, served) = serve(mesh()).await;
    let client = client(&url);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let mut values: Vec<f64> = (0..2000).map(f64::from).collect();
    for _ in 0..150 {
        for _ in 0..random(5) {
            let at = random(values.len());
            match random(6) {
                0 => values.insert(at, random(1 << 30) as f64 / 7.0),
                1 if values.len() > 100 => drop(values.remove(at)),
                2 => values.rotate_left(1),
                _ => values[at] = random(1 << 30) as f64 / 1024.0,
            }
        }
        let operation = ["echoDoubles", "sumDoubles"][random(2)];
        let arguments = array(&values);
        let expected = plain.call(operation, &arguments).await.expect("an answer");
        let found = client.call(operation, &arguments).await.expect("an answer");
        assert_eq!(found, expected);
    }
    assert!(served.receiving().reads.fast > 0);
}
