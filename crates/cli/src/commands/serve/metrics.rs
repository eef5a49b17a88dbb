//! `--metrics`: what the service counts, in the text format of Prometheus.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bsoap::http::{PageRequest, Response, Routes, Server};
use bsoap::metrics::{DURATION_BUCKETS, Sampler, describe};
use bsoap::tuning::ServerOptions;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use super::listen_address;
use crate::error::Failure;

/// The path at a listener of its own.
const PATH: &str = "/metrics";

/// How often durations are added to the histograms if nobody reads them.
const UPKEEP: Duration = Duration::from_secs(5);

/// Where the metrics are published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MetricsPlace {
    /// At a listener of their own.
    Listener(String),
    /// At a path of the service.
    Path(String),
}

impl std::str::FromStr for MetricsPlace {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        match given.starts_with('/') {
            true => Ok(Self::Path(given.to_owned())),
            false => listen_address(given).map(Self::Listener),
        }
    }
}

/// The metrics of the process.
#[derive(Clone)]
pub(super) struct Metrics {
    handle: PrometheusHandle,
    /// Set as soon as the service listens.
    sampler: Arc<OnceLock<Sampler>>,
}

impl Metrics {
    /// Installs the recorder.
    pub(super) fn install() -> Result<Self, Failure> {
        let failed = |error| Failure::input("metrics cannot be recorded").because(error);
        let builder = PrometheusBuilder::new().set_buckets(DURATION_BUCKETS);
        let handle = builder.and_then(PrometheusBuilder::install_recorder);
        describe();
        Ok(Self {
            handle: handle.map_err(failed)?,
            sampler: Arc::default(),
        })
    }

    /// Samples this server as well, whenever the metrics are read.
    pub(super) fn sample(&self, sampler: Sampler) {
        let _ = self.sampler.set(sampler);
        let handle = self.handle.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(UPKEEP).await;
                handle.run_upkeep();
            }
        });
    }

    /// The page with the metrics.
    pub(super) fn page(&self) -> Response {
        if let Some(sampler) = self.sampler.get() {
            sampler.sample();
        }
        let text = self.handle.render();
        Response::new(200, "text/plain; version=0.0.4; charset=utf-8", text)
    }

    /// Serves the page at a listener of its own, and returns its URL.
    pub(super) async fn listen(&self, address: &str) -> Result<String, Failure> {
        let metrics = self.clone();
        let routes = Routes::new().page(PATH, move |_: &PageRequest<'_>| metrics.page());
        let server = Server::bind(address, routes, ServerOptions::default()).await;
        let server = server.map_err(|error| {
            super::cannot_listen(address, "--metrics", bsoap::Error::from(error))
        })?;
        let url = format!("http://{}{PATH}", server.address());
        tokio::spawn(server.run(std::future::pending()));
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::MetricsPlace;

    #[test]
    fn metrics_are_at_a_path_or_at_an_address() {
        let place = |text: &str| text.parse::<MetricsPlace>();
        assert_eq!(place("/m"), Ok(MetricsPlace::Path("/m".into())));
        let address = MetricsPlace::Listener("127.0.0.1:9100".into());
        assert_eq!(place("9100"), Ok(address));
        assert!(place("metrics").is_err());
    }
}
