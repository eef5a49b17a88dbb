//! What a small call over the loopback takes, with and without what is kept of messages: `exchange_speed [CALLS]`.

#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use bsoap::{Client, Error, Message, Receiving, Sending, Service, Value};

const WSDL: &str = include_str!("../../../examples/mesh/mesh.wsdl");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let calls: i32 = std::env::args()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .unwrap_or(2000);
    let ways = [
        ("nothing kept", Sending::off(), Receiving::off()),
        ("sending", Sending::default(), Receiving::off()),
        ("receiving", Sending::off(), Receiving::default()),
        ("both", Sending::default(), Receiving::default()),
    ];
    println!(
        "microseconds a call    {:>14} {:>14} {:>14} {:>14}",
        ways[0].0, ways[1].0, ways[2].0, ways[3].0
    );
    let mut clients = Vec::new();
    for (_, sending, receiving) in ways {
        let echo = async |message: Message| message.value();
        let service = Service::builder(WSDL).handle("echoDoubles", echo);
        let service = service.sending(sending).receiving(receiving).build()?;
        let bound = service.bind("127.0.0.1:0").await?;
        let url = bound.urls()[0].clone();
        tokio::spawn(bound.run(std::future::pending()));
        let client = Client::builder(WSDL).endpoint(url);
        clients.push(client.sending(sending).receiving(receiving).build()?);
    }
    for values in [3, 30, 300, 3000] {
        for (what, changes) in [("same", false), ("one changed", true)] {
            let mut best = [Duration::MAX; 4];
            // Taking turns, so that whatever else the machine does befalls all alike.
            for round in 0..20 {
                for (client, best) in clients.iter().zip(&mut best) {
                    let calls = (calls / 20).max(1);
                    let begun = Instant::now();
                    for call in 0..calls {
                        let mut numbers = vec![1.5; values];
                        if changes {
                            numbers[values / 2] = f64::from(round * calls + call) + 0.25;
                        }
                        let item = Value::object([("item", Value::from(numbers))]);
                        client
                            .call("echoDoubles", &Value::object([("values", item)]))
                            .await?;
                    }
                    *best = (*best).min(begun.elapsed() / calls as u32);
                }
            }
            let [a, b, c, d] = best.map(|it| it.as_secs_f64() * 1e6);
            println!("{values:5} {what:<16} {a:14.1} {b:14.1} {c:14.1} {d:14.1}");
        }
    }
    Ok(())
}
