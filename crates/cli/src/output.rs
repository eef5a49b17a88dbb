//! Where results go: standard output, as text for people or as JSON for programs. Notes go to standard error.

use std::io::{self, Write as _};

use crate::error::Failure;

/// Results and notes of a command.
#[derive(Debug, Default)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether results are wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Text as it is; colours are stripped where no terminal is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        anstream::stdout()
            .lock()
            .write_all(text.as_bytes())
            .map_err(Failure::from)
    }

    /// A line of text.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.text(&format!("{text}\n"))
    }

    /// Bytes, unchanged.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(bytes)
            .and_then(|()| stdout.flush())
            .map_err(Failure::from)
    }

    /// A line of JSON.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(io::Error::from)?;
        self.bytes(format!("{text}\n").as_bytes())
    }

    /// Indented JSON.
    pub(crate) fn pretty_json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.bytes(format!("{text}\n").as_bytes())
    }

    /// A note on standard error. It is no failure if that cannot be written.
    pub(crate) fn note(&self, text: &str) {
        let _ = writeln!(anstream::stderr().lock(), "{text}");
    }
}
