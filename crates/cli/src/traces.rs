//! The log on standard error, and with the feature `otlp` traces for a collector.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use crate::error::Failure;

#[cfg(feature = "otlp")]
mod collector;

#[cfg(feature = "otlp")]
pub(crate) use collector::continue_trace;

/// Sends the spans that wait when it is dropped.
#[must_use]
pub(crate) struct Traces {
    #[cfg(feature = "otlp")]
    _collector: Option<collector::Collector>,
}

/// What is logged without `BSOAP_LOG`, by the number of `-v`. The command itself warns of `--insecure`, once.
const FILTERS: [&str; 3] = [
    "bsoap=warn,bsoap_http::client::tls=error",
    "bsoap=info,bsoap_http=debug",
    "trace",
];

/// Logs to standard error, without colours if that is no terminal: warnings, with -v also what happens, with -vv everything. `BSOAP_LOG` sets a filter of its own. Spans are
/// sent to a collector, if there is one.
///
/// # Errors
/// If the address of the collector cannot be used.
pub(crate) fn start(verbose: u8, collector: Option<&str>) -> Result<Traces, Failure> {
    let default = FILTERS[usize::from(verbose.min(2))];
    let filter = EnvFilter::try_from_env("BSOAP_LOG").unwrap_or_else(|_| default.into());
    let log = fmt::layer()
        .with_writer(anstream::stderr)
        .with_target(false)
        .with_filter(filter);
    let subscriber = registry().with(log);
    #[cfg(feature = "otlp")]
    if let Some(url) = collector {
        let collector = collector::Collector::new(url)?;
        let _ = subscriber.with(collector.layer()).try_init();
        return Ok(Traces {
            _collector: Some(collector),
        });
    }
    #[cfg(not(feature = "otlp"))]
    let _ = collector;
    // It fails if the program has a log already, which then remains.
    let _ = subscriber.try_init();
    Ok(Traces {
        #[cfg(feature = "otlp")]
        _collector: None,
    })
}
