//! The log of the engine, as records of Python's `logging`.

use std::fmt::{self, Write as _};

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Metadata, span};

/// Passes warnings and errors of the engine to the logger `bsoap`, unless the process has a log of its own already.
pub(crate) fn install() {
    let _ = tracing::subscriber::set_global_default(Logs);
}

struct Logs;

impl tracing::Subscriber for Logs {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() <= Level::WARN
            && metadata.target().starts_with("bsoap")
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let level = match *event.metadata().level() {
            Level::ERROR => 40,
            _ => 30,
        };
        let text = line.message + &line.fields;
        // Where the interpreter has ended, nobody reads the log. A log that cannot be written is no failure.
        let _ = Python::try_attach(|py| {
            let logger = py
                .import("logging")?
                .call_method1("getLogger", ("bsoap",))?;
            logger.call_method1("log", (level, "%s", text)).map(drop)
        });
    }

    // Spans are not logged.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// An event as a text: the message, then the other fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
