//! A service that passes an array on, and pays for what changed: `cargo run --release --example relay [VALUES [ROUNDS]]`.
//!
//! ```text
//! source ──── sumDoubles ───► relay ──── sumDoubles ───► end
//!        a draft, a few values       the draft takes over       reads a few values again
//!        set again                   what changed
//! ```
//!
//! All three are here, and speak SOAP over the loopback. The same is done once more without anything that is kept from one
//! message to the next.

#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap::tuning::Meter;
use bsoap::tuning::{Receiving, Sending};
use bsoap::{Client, Draft, Error, Fault, Message, Service, Value};
use tokio::sync::Mutex;

const WSDL: &str = include_str!("../../../examples/mesh/mesh.wsdl");

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse().ok());
    let values = numbers.next().flatten().unwrap_or(100_000);
    let rounds = numbers.next().flatten().unwrap_or(20);
    println!("{values} doubles, {rounds} messages each; milliseconds a message\n");
    println!("             |   nothing is kept   |  changes are passed on");
    println!("     changed |    all   converting |    all   converting");
    for figures in run(values, rounds).await? {
        let [plain, relayed] = [figures.plain, figures.relayed].map(|it| {
            let (all, converting) = (
                it.all.as_secs_f64() * 1e3,
                it.converting.as_secs_f64() * 1e3,
            );
            format!("{all:7.3} {converting:9.3}  ")
        });
        println!("{:12} |{plain} |{relayed}", figures.changed);
    }
    Ok(())
}

/// What messages that differ in this many values took.
#[derive(Clone, Copy, Debug)]
struct Figures {
    /// How many.
    changed: usize,
    /// With nothing kept.
    plain: Cost,
    /// With changes passed on.
    relayed: Cost,
}

/// What a message took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// From the call to the answer.
    all: Duration,
    /// Of that, the time all three took between values and text.
    converting: Duration,
}

/// Sends messages that differ in none of `count` values, in a few, and in more; checks the answers.
///
/// # Errors
/// If a message does not get through.
async fn run(values: usize, rounds: usize) -> Result<Vec<Figures>, Error> {
    let (plain, relayed) = (Chain::start(false).await?, Chain::start(true).await?);
    let mut figures = Vec::new();
    for changed in [0, 1, 10, values / 1000, values / 100] {
        figures.push(Figures {
            changed,
            plain: plain.measure(values, changed, rounds).await?,
            relayed: relayed.measure(values, changed, rounds).await?,
        });
    }
    Ok(figures)
}

/// Source, relay and end.
struct Chain {
    source: Client,
    meters: [Meter; 4],
}

impl Chain {
    /// With or without anything that is kept.
    async fn start(keeps: bool) -> Result<Self, Error> {
        let (sending, receiving) = match keeps {
            true => (Sending::default(), Receiving::default()),
            false => (Sending::off(), Receiving::off()),
        };
        let client = |url: &str| {
            let builder = Client::builder(WSDL).endpoint(url);
            builder.sending(sending).receiving(receiving).build()
        };
        let end = Service::builder(WSDL).handle("sumDoubles", sum);
        let end = end.sending(sending).receiving(receiving).build()?;
        let end_meter = end.meter().clone();
        let next = client(&serve(end).await?)?;
        let next_meter = next.meter().clone();
        let relay = Arc::new(Relay {
            next,
            keeps,
            draft: Mutex::default(),
        });
        let relay = Service::builder(WSDL).handle("sumDoubles", move |message| {
            let relay = Arc::clone(&relay);
            async move { relay.forward(message).await }
        });
        let relay = relay.sending(sending).receiving(receiving).build()?;
        let relay_meter = relay.meter().clone();
        let source = client(&serve(relay).await?)?;
        let source_meter = source.meter().clone();
        Ok(Self {
            source,
            meters: [source_meter, relay_meter, next_meter, end_meter],
        })
    }

    async fn measure(&self, values: usize, changed: usize, rounds: usize) -> Result<Cost, Error> {
        let mut field: Vec<f64> = (0..values).map(|it| (it % 1000) as f64 / 8.0).collect();
        let mut draft = self.source.draft("sumDoubles", array(&field))?;
        // The first messages are those the others are compared with.
        for _ in 0..3 {
            self.source.send(&mut draft).await?;
        }
        let converting = self.converting();
        let mut all = Duration::ZERO;
        for round in 0..rounds {
            for number in 0..changed {
                let at = (number * 7919 + round * 31) % values;
                field[at] = ((at + round) % 1000) as f64 / 16.0;
                draft.set(format!("values.item[{at}]"), field[at])?;
            }
            let begun = Instant::now();
            let answer = self.source.send(&mut draft).await?;
            all += begun.elapsed();
            let expected: f64 = field.iter().sum();
            assert_eq!(
                answer["sum"].as_f64(),
                Some(expected),
                "the sum that came back"
            );
        }
        let rounds = u32::try_from(rounds.max(1)).unwrap_or(u32::MAX);
        Ok(Cost {
            all: all / rounds,
            converting: (self.converting() - converting) / rounds,
        })
    }

    fn converting(&self) -> Duration {
        self.meters
            .iter()
            .map(|meter| meter.read().converting)
            .sum()
    }
}

/// The service in the middle.
struct Relay {
    next: Client,
    keeps: bool,
    draft: Mutex<Option<Draft>>,
}

impl Relay {
    async fn forward(&self, message: Message) -> Result<Value, Fault> {
        let broken = |error: Error| Fault::receiver(error.to_string());
        if !self.keeps {
            let answer = self.next.call("sumDoubles", &message.value()).await;
            return answer.map_err(broken);
        }
        let mut place = self.draft.lock().await;
        let draft = match &mut *place {
            Some(draft) => draft,
            none => none.insert(self.next.draft("sumDoubles", array(&[])).map_err(broken)?),
        };
        draft.relay(message.changes()).map_err(broken)?;
        self.next.send(draft).await.map_err(broken)
    }
}

/// The service at the end.
async fn sum(message: Message) -> Result<Value, Fault> {
    let sum = bsoap::codec::View::of(message.record())
        .child("Body")
        .and_then(|body| body.child("sumDoubles")?.child("values"))
        .and_then(|values| Some(values.column::<f64>("item")?.iter().sum::<f64>()));
    let sum = sum.ok_or_else(|| Fault::sender("expected doubles"))?;
    Ok(Value::object([("sum", Value::from(sum))]))
}

fn array(values: &[f64]) -> Value {
    Value::object([(
        "values",
        Value::object([("item", Value::from(values.to_vec()))]),
    )])
}

/// Serves on a free port; gives the address.
async fn serve(service: Service) -> Result<String, Error> {
    let bound = service.bind("127.0.0.1:0").await?;
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    Ok(url)
}

#[cfg(test)]
mod tests {
    #[tokio::test(flavor = "multi_thread")]
    async fn the_example_relays() {
        let figures = super::run(500, 4).await.expect("messages");
        let changed: Vec<usize> = figures.iter().map(|it| it.changed).collect();
        assert_eq!(changed, [0, 1, 10, 0, 5]);
    }
}
