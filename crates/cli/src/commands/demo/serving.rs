//! A service on a free port of this machine, for as long as an act lasts.

use bsoap::ServiceBuilder;
use bsoap::tuning::Meter;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::error::Failure;

/// A service that runs until it is stopped.
pub(super) struct Serving {
    url: String,
    meter: Meter,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Serving {
    pub(super) async fn start(builder: ServiceBuilder) -> Result<Self, Failure> {
        let service = builder.build()?;
        let meter = service.meter().clone();
        let bound = service.bind("127.0.0.1:0").await?;
        let url = bound.urls().first().cloned().unwrap_or_default();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(bound.run(async { drop(stopped.await) }));
        Ok(Self {
            url,
            meter,
            stop,
            task,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The counts of the service.
    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Waits until the last exchange has ended.
    pub(super) async fn stop(self) -> Result<(), Failure> {
        // An error means that the service has ended by itself: the task's result says why.
        let _ = self.stop.send(());
        self.task.await.map_err(|error| {
            Failure::transport("the demo's service stopped with an error").because(error)
        })
    }
}
