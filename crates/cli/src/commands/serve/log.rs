//! The lines of `bsoap serve`: its addresses, each request, and what it did.

use std::sync::atomic::{AtomicU64, Ordering};

use bsoap::http::Refusal;
use bsoap::tuning::HintCounts;
use bsoap::{ExceededLimit, Message, Record};
use bsoap_protocol::Fault;
use serde_json::{Value, json};

use crate::hints;
use crate::lines::Lines;
use crate::message_limits::option_for;
use crate::style::{BAD, DIM, GOOD, STRONG, paint};
use crate::tolerance;

/// Which lines are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogOptions {
    /// Lines of JSON.
    pub(super) json: bool,
    /// No line for a request that is answered.
    pub(super) is_quiet: bool,
    /// False if there are no lines for requests at all.
    pub(super) has_requests: bool,
}

/// A line for each request.
pub(super) struct Log {
    options: LogOptions,
    lines: Lines,
    requests: AtomicU64,
    refused: AtomicU64,
}

impl Log {
    pub(super) fn new(options: LogOptions) -> Self {
        Self {
            options,
            lines: Lines::new(),
            requests: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    pub(super) fn start(&self, urls: &[String], wsdl: &str, metrics: Option<&str>) {
        if self.options.json {
            let mut start = json!({"serving": wsdl, "urls": urls});
            if let Some(metrics) = metrics {
                start["metrics"] = metrics.into();
            }
            return self.json(&start);
        }
        self.lines
            .out(format!("{} {wsdl}", paint(STRONG, "serving")));
        for url in urls {
            let published = paint(DIM, &format!("{url}?wsdl"));
            self.lines.out(format!("  {url}  {published}"));
        }
        if let Some(metrics) = metrics {
            self.lines
                .out(format!("  {metrics}  {}", paint(DIM, "metrics")));
        }
        self.lines.out(paint(DIM, "press Ctrl-C to stop"));
    }

    /// Writes the line of one request.
    pub(super) fn request(&self, message: &Message, answer: &Result<Record, Fault>) {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.options.has_requests || (self.options.is_quiet && answer.is_ok()) {
            return;
        }
        let (peer, operation) = (message.peer(), message.operation());
        if self.options.json {
            let fault = answer.as_ref().err().map(Fault::reason);
            return self.json(&json!({
                "request": number, "peer": peer.to_string(), "operation": operation, "fault": fault,
                "warnings": tolerance::json(message.warnings()),
            }));
        }
        for warning in message.warnings() {
            self.note(&format!("{} {warning}", paint(STRONG, "warning:")));
        }
        let end = match answer {
            Ok(_) => paint(GOOD, "answered"),
            Err(fault) => paint(BAD, &format!("fault: {}", printable(fault.reason()))),
        };
        let (number, operation) = (format!("{number:>5}"), paint(STRONG, operation));
        self.lines.out(format!(
            "{} {peer}  {operation}  {end}",
            paint(DIM, &number)
        ));
    }

    /// Writes the line of a request that reached no handler.
    pub(super) fn refusal(&self, refusal: &Refusal<'_>) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        if !self.options.has_requests {
            return;
        }
        let Refusal {
            peer,
            method,
            path,
            status,
            reason,
            ..
        } = *refusal;
        let option = ExceededLimit::of_reason(reason).and_then(option_for);
        let option = option.map(|option| format!(" (`{option}`)"));
        let reason = &format!("{reason}{}", option.unwrap_or_default());
        if self.options.json {
            return self.json(&json!({
                "peer": peer.to_string(), "method": method, "path": path, "status": status, "refused": reason,
            }));
        }
        let reason = format!("refused with HTTP status {status}: {}", printable(reason));
        let request = paint(STRONG, &format!("{method} {path}"));
        self.lines.out(format!(
            "{:>5} {peer}  {request}  {}",
            "",
            paint(BAD, &reason)
        ));
    }

    /// A note on standard error.
    pub(super) fn note(&self, text: &str) {
        self.lines.note(text.to_owned());
    }

    /// Writes what was done, and all lines that wait.
    pub(super) fn end(self, hints: &HintCounts) {
        let requests = self.requests.load(Ordering::Relaxed);
        let refused = self.refused.load(Ordering::Relaxed);
        self.note(&format!("{requests} requests served, {refused} refused"));
        if *hints != HintCounts::default() {
            self.note(&format!("hints: {}", hints::text(hints)));
        }
        let dropped = self.lines.dropped();
        if dropped > 0 {
            self.note(&format!("{dropped} lines were dropped"));
        }
        self.lines.finish();
    }

    fn json(&self, value: &Value) {
        self.lines.out(value.to_string());
    }
}

/// A text that may quote a message, in one line.
fn printable(text: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(visible).collect()
}
