//! A telemetry service under axum, beside a plain HTTP route: `cargo run --example telemetry [ADDRESS]`.
//!
//! The module `telemetry` is what `bsoap generate examples/telemetry/telemetry.wsdl` writes; a program of your own would
//! generate it in a `build.rs` with `bsoap-generate` and `include!` it from there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::routing::get;
use bsoap::typed::Declared;
use bsoap::{Fault, Message, Service};

use telemetry::{
    Latest, LatestError, LatestResponse, OutOfRange, Report, ReportError, ReportResponse,
    Telemetry, UnknownStation, serve_telemetry,
};

mod telemetry {
    include!("telemetry.rs");
}

const WSDL: &str = include_str!("../../../../examples/telemetry/telemetry.wsdl");
const RANGE: (f64, f64) = (-50.0, 60.0);

/// The readings of each known station. Clones share them.
#[derive(Clone)]
struct Stations(Arc<Mutex<HashMap<String, Vec<f64>>>>);

impl Stations {
    fn new(names: &[&str]) -> Self {
        let stations = names.iter().map(|name| ((*name).to_owned(), Vec::new()));
        Self(Arc::new(Mutex::new(stations.collect())))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<f64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(station: String) -> Declared<UnknownStation> {
    let reason = format!("there is no station {station:?}");
    Declared::sender(reason, UnknownStation { station })
}

impl Telemetry for Stations {
    async fn report(
        &self,
        request: Report,
        _: Message,
    ) -> Result<ReportResponse, ReportError<Fault>> {
        let (min, max) = RANGE;
        let is_wrong = |reading: &&f64| !(min..=max).contains(*reading);
        if let Some(&reading) = request.reading.iter().find(is_wrong) {
            let detail = OutOfRange { reading, min, max };
            return Err(Declared::sender("a reading is out of range", detail).into());
        }
        let mut stations = self.lock();
        let Some(readings) = stations.get_mut(&request.station) else {
            return Err(unknown(request.station).into());
        };
        readings.extend(&request.reading);
        let stored = readings.len() as i32;
        Ok(ReportResponse { stored })
    }

    async fn latest(
        &self,
        request: Latest,
        _: Message,
    ) -> Result<LatestResponse, LatestError<Fault>> {
        let stations = self.lock();
        let Some(readings) = stations.get(&request.station) else {
            return Err(unknown(request.station).into());
        };
        // A fault that the WSDL does not declare.
        let none = || Fault::receiver("the station has not reported yet");
        let &reading = readings.last().ok_or_else(none)?;
        let mean = readings.iter().sum::<f64>() / readings.len() as f64;
        Ok(LatestResponse { reading, mean })
    }
}

/// The SOAP service at the path of its WSDL, and the number of readings as plain text.
fn router(stations: &Stations) -> Result<Router, bsoap::Error> {
    let service = serve_telemetry(stations.clone(), Service::builder(WSDL)).build()?;
    let counted = stations.clone();
    let count = async move || {
        counted
            .lock()
            .values()
            .map(Vec::len)
            .sum::<usize>()
            .to_string()
    };
    Ok(Router::new()
        .route("/readings", get(count))
        .route_service("/telemetry", service))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8080");
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("serving http://{address}/telemetry?wsdl and http://{address}/readings");
    axum::serve(listener, router(&Stations::new(&["north", "south"]))?).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::TelemetryClient;

    #[tokio::test]
    async fn readings_are_stored_and_wrong_ones_are_declared_faults() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/telemetry", listener.local_addr().unwrap());
        let stations = Stations::new(&["north", "south"]);
        let router = router(&stations).unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let client = bsoap::Client::builder(WSDL).endpoint(endpoint).build();
        let client = TelemetryClient::new(client.unwrap()).unwrap();

        let report = async |station: &str, reading: Vec<f64>| {
            let station = station.to_owned();
            client.report(&Report { station, reading }).await
        };
        assert_eq!(report("north", vec![1.5, 2.5]).await.unwrap().stored, 2);
        let Err(ReportError::OutOfRange(wrong)) = report("north", vec![99.0]).await else {
            panic!("stored");
        };
        assert_eq!((wrong.reading, wrong.max), (99.0, 60.0));
        assert_eq!(wrong.fault().reason(), "a reading is out of range");
        let latest = async |name: &str| {
            let station = name.to_owned();
            client.latest(&Latest { station }).await
        };
        assert_eq!(latest("north").await.unwrap().mean, 2.0);
        assert!(matches!(latest("south").await, Err(LatestError::Other(_))));
        assert!(
            matches!(latest("x").await, Err(LatestError::UnknownStation(it)) if it.station == "x")
        );
    }
}
