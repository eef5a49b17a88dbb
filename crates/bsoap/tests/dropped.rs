//! Connections that break while a message is sent leave what is kept of messages as it was: the next message is whole, and
//! is made of what was kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bsoap::tuning::SendPolicy;
use bsoap::{Client, ClientBuilder, Fault, Message, Service, Streamed, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MESH: &str = include_str!("../../../examples/mesh/mesh.wsdl");
const COUNT: usize = 20_000;

async fn sum(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let numbers = arguments["values"]["item"].as_doubles().unwrap_or_default();
    Ok(Value::object([("sum", numbers.iter().sum::<f64>().into())]))
}

/// A proxy between client and service that breaks connections.
#[derive(Clone)]
struct Gate {
    url: String,
    /// How many bytes of requests still pass before the connection breaks.
    left: Arc<AtomicI64>,
}

impl Gate {
    async fn start() -> Self {
        let service = Service::builder(MESH).handle("sumDoubles", sum);
        let bound = service.build().expect("a service").bind("127.0.0.1:0");
        let bound = bound.await.expect("a port");
        let behind = bound.address();
        let path = bound.urls()[0].rsplit('/').next().unwrap_or("").to_owned();
        tokio::spawn(bound.run(std::future::pending()));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let gate = Self {
            url: format!("http://{address}/{path}"),
            left: Arc::clone(&left),
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let service = TcpStream::connect(behind).await.expect("the service");
                tokio::spawn(pass(client, service, Arc::clone(&left)));
            }
        });
        gate
    }

    /// The connection breaks after this many bytes.
    fn break_after(&self, bytes: i64) {
        self.left.store(bytes, Ordering::SeqCst);
    }

    fn repair(&self) {
        self.break_after(i64::MAX);
    }
}

async fn pass(mut client: TcpStream, mut service: TcpStream, left: Arc<AtomicI64>) {
    let (mut asked, mut answered) = (vec![0; 4096], vec![0; 4096]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(length) if length > 0 => {
                    if left.fetch_sub(length as i64, Ordering::SeqCst) < length as i64 {
                        return;
                    }
                    if service.write_all(&asked[..length]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            read = service.read(&mut answered) => match read {
                Ok(length) if length > 0 => {
                    if client.write_all(&answered[..length]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}

fn message(values: &[f64]) -> Value {
    let array = Value::object([("item", Value::from(values.to_vec()))]);
    Value::object([("values", array)])
}

/// Values that change a little: some keep their length, some do not.
fn change(values: &mut [f64], round: usize) {
    for at in (round * 7..values.len()).step_by(997) {
        values[at] = (at * (round + 1)) as f64 / 8.0;
    }
}

async fn goes_on_after_broken_connections(builder: ClientBuilder) -> Client {
    let gate = Gate::start().await;
    let client = builder.endpoint(&gate.url).build().expect("a client");
    let mut values: Vec<f64> = (0..COUNT).map(|number| number as f64 / 4.0).collect();
    for round in 0..12 {
        change(&mut values, round);
        if round % 3 == 2 {
            // In the head, in the first chunk, later.
            gate.break_after([0, 700, 5_000, 15_000][round / 3 % 4]);
            let broken = client.call("sumDoubles", &message(&values)).await;
            broken.expect_err("the connection broke");
            gate.repair();
            if round % 2 == 0 {
                change(&mut values, round + 100);
            }
        }
        let answer = client.call("sumDoubles", &message(&values)).await;
        let answer = answer.unwrap_or_else(|error| panic!("round {round}: {}", error.report()));
        assert_eq!(answer["sum"].as_f64(), Some(values.iter().sum()), "{round}");
    }
    client
}

#[tokio::test]
async fn a_broken_connection_leaves_the_template_valid() {
    for policy in [SendPolicy::IDENTICAL, SendPolicy::MAXIMUM] {
        let builder = Client::builder(MESH).sending(policy);
        let client = goes_on_after_broken_connections(builder).await;
        let matches = client.sender_stats().matches;
        // What was not whole was kept all the same, and sent again as it lay.
        assert_eq!(matches.first_time, 1, "{matches:?}");
        assert!(matches.content > 0, "{matches:?}");
    }
}

#[tokio::test]
async fn a_broken_connection_leaves_what_was_compressed_valid() {
    let builder = Client::builder(MESH).gzip_requests();
    let client = goes_on_after_broken_connections(builder).await;
    let matches = client.sender_stats().matches;
    assert_eq!(matches.first_time, 1, "{matches:?}");
}

#[tokio::test]
async fn a_broken_connection_ends_a_streamed_array_and_nothing_else() {
    let gate = Gate::start().await;
    let client = Client::builder(MESH).endpoint(&gate.url);
    let client = client.build().expect("a client");
    let rows = || (0..COUNT as u32).map(|number| f64::from(number) / 4.0);
    let expected: f64 = rows().sum();
    for round in 0..4 {
        for streamed in [
            Streamed::new("values.item", rows()),
            Streamed::new("values.item", rows()).exactly(COUNT as u64),
        ] {
            let empty = message(&[]);
            gate.break_after([0, 700, 5_000, 15_000][round]);
            let broken = client.call_streamed("sumDoubles", &empty, streamed).await;
            broken.expect_err("the connection broke");
            gate.repair();
            let again = Streamed::new("values.item", rows());
            let answer = client.call_streamed("sumDoubles", &empty, again).await;
            assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(expected));
        }
    }
}
