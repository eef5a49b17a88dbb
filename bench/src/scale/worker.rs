//! A worker: this program as a process that serves, and for each line of its input says what it has saved so far.

use std::io::{BufRead as _, Write as _};

use bsoap::tuning::{Budget, HealthPaths, Meter, ServerOptions};
use bsoap::{Fault, Message, Service};
use serde::{Deserialize, Serialize};

use crate::generated::Doubles;
use crate::terms::WSDL;

/// The worker behind a proxy that names the client of each connection.
pub(super) const NAMED: &str = "worker";

/// The worker behind a proxy whose connections are those of many clients.
pub(super) const SHARED: &str = "worker:shared";

/// What a worker says of itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Said {
    pub(super) unchanged_slots: u64,
    /// Slots of the messages that were compared to the end, and their number.
    pub(super) slots: u64,
    pub(super) compared: u64,
    /// Messages written by a template, and the values written into their texts.
    pub(super) patched: u64,
    pub(super) written: u64,
    pub(super) saved_memory: u64,
}

/// Whether `--serve` names a worker.
pub(crate) fn is_one(engine: &str) -> bool {
    matches!(engine, NAMED | SHARED)
}

/// Serves until the input ends.
///
/// # Errors
/// What cannot be served, as a sentence.
pub(crate) fn run(engine: &str) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = { runtime }.enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime
        .block_on(serve(engine))
        .map_err(|error| error.to_string())
}

async fn serve(engine: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut options = ServerOptions::default();
    options.health = Some(HealthPaths::default());
    options.trusted_proxies = vec!["127.0.0.1".parse()?];
    options.proxy_protocol = engine == NAMED;
    let echo = async |arguments: Doubles, _: Message| Ok::<_, Fault>(arguments);
    let service = Service::builder(WSDL).handle_typed("doubles", echo);
    let service = service.options(options).build()?;
    let meter = service.meter().clone();
    let bound = service.bind("127.0.0.1:0").await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", bound.address())?;
    out.flush()?;
    std::thread::spawn(move || {
        for _ in std::io::stdin().lock().lines() {
            let said = serde_json::to_string(&Said::of(&meter)).unwrap_or_default();
            let mut out = std::io::stdout();
            let _ = writeln!(out, "{said}").and_then(|()| out.flush());
        }
        std::process::exit(0);
    });
    bound.run(std::future::pending()).await;
    Ok(())
}

impl Said {
    fn of(meter: &Meter) -> Self {
        let (reads, sent) = (meter.receiving().reads, meter.sending().matches);
        Self {
            unchanged_slots: reads.unchanged_slots,
            slots: reads.slots,
            compared: reads.fast,
            patched: sent.content + sent.perfect_structural + sent.partial_structural,
            written: sent.values,
            saved_memory: Budget::process().used() as u64,
        }
    }
}
