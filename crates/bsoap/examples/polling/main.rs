//! A client that polls a weather station, shows what changed, and passes the changes on to an archive:
//! `cargo run --example polling [ROUNDS]`. The station and the archive are services in this program.
//!
//! ```text
//! station ◄── read ── this client ── store ──► archive
//!         answer + changes    a draft, of which only the changes are encoded
//! ```

#![allow(clippy::print_stdout)]

use std::sync::{Arc, Mutex};

use bsoap::{Client, Error, Fault, Message, Relay, Service, Value};
use serde::{Deserialize, Serialize};

const WSDL: &str = include_str!("station.wsdl");

/// What the station answers, and what the archive stores.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Sensors {
    #[serde(default)]
    sensor: Vec<Sensor>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Sensor {
    name: String,
    celsius: f64,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let rounds = std::env::args().nth(1).and_then(|it| it.parse().ok());
    let (stored, _) = poll(rounds.unwrap_or(8)).await?;
    println!("the archive has {:?}", stored.sensor.last());
    Ok(())
}

/// Polls the station this many times. Returns what the archive stored last, and how many answers were passed on by their
/// changes alone.
async fn poll(rounds: usize) -> Result<(Sensors, usize), Error> {
    let stored = Arc::new(Mutex::new(Sensors::default()));
    let station = Client::builder(WSDL)
        .endpoint(&serve_station().await?)
        .build()?;
    let archive = Client::builder(WSDL)
        .endpoint(&serve_archive(&stored).await?)
        .build()?;
    // The request to the archive is kept and changed, not made again.
    let mut draft = archive.draft("store", Value::from_serialize(&Sensors::default())?)?;
    let mut changed = 0;
    for round in 0..rounds {
        let read = station.operation("read");
        let answer = read.call(Value::object::<&str>([])).await?;
        let changes = answer.changes().expect("an operation with an answer");
        // Also if nothing changed: the changes of the next answer are counted from this one.
        let relay = draft.relay(changes)?;
        if changes.is_none() {
            println!("{round}: nothing changed");
            continue;
        }
        match changes.is_all() {
            true => println!("{round}: all is new"),
            false => {
                for region in changes.regions() {
                    println!("{round}: {region}");
                }
            }
        }
        match relay {
            Relay::Changed(values) => println!("{round}: passing on {values} values"),
            _ => println!("{round}: comparing all values"),
        }
        changed += usize::from(matches!(relay, Relay::Changed(_)));
        archive.send(&mut draft).await?;
    }
    println!("{changed} of {rounds} answers were passed on by their changes alone");
    let stored = stored.lock().expect("no handler panics").clone();
    Ok((stored, changed))
}

/// A station with 200 sensors; every other time that it is asked, one of them has changed.
async fn serve_station() -> Result<String, Error> {
    let sensors = (0..200).map(|number| Sensor {
        name: format!("sensor {number}"),
        celsius: f64::from(number) / 8.0,
    });
    let state = Arc::new(Mutex::new((
        0,
        Sensors {
            sensor: sensors.collect(),
        },
    )));
    let read = move |_: Message| {
        let (asked, sensors) = &mut *state.lock().expect("no handler panics");
        *asked += 1;
        if *asked % 2 == 0 {
            sensors.sensor[*asked % 200].celsius += 0.5;
        }
        let answer = Value::from_serialize(sensors).map_err(Fault::from);
        async { answer }
    };
    serve(Service::builder(WSDL).handle("read", read).build()?).await
}

/// An archive that keeps what it received last.
async fn serve_archive(stored: &Arc<Mutex<Sensors>>) -> Result<String, Error> {
    let stored = Arc::clone(stored);
    let store = move |message: Message| {
        let stored = Arc::clone(&stored);
        async move {
            let sensors: Sensors = message.deserialize()?;
            let count = sensors.sensor.len();
            *stored.lock().expect("no handler panics") = sensors;
            Ok::<_, Fault>(Value::object([("stored", Value::from(count))]))
        }
    };
    serve(Service::builder(WSDL).handle("store", store).build()?).await
}

/// Serves on a free port. Returns the address.
async fn serve(service: Service) -> Result<String, Error> {
    let bound = service.bind("127.0.0.1:0").await?;
    let url = bound.urls()[0].clone();
    tokio::spawn(bound.run(std::future::pending()));
    Ok(url)
}

#[cfg(test)]
mod tests {
    #[tokio::test(flavor = "multi_thread")]
    async fn the_archive_has_what_the_station_said_last() {
        let (stored, changed) = super::poll(9).await.expect("messages");
        assert_eq!((stored.sensor.len(), changed), (200, 3));
        // Sensors 2, 4, 6 and 8 have changed.
        for (number, sensor) in stored.sensor.iter().enumerate() {
            let change = if [2, 4, 6, 8].contains(&number) {
                0.5
            } else {
                0.0
            };
            assert_eq!(sensor.celsius, number as f64 / 8.0 + change, "{number}");
        }
    }
}
