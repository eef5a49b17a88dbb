//! Differential serialization off: every message is formatted from its first byte to its last, and sent.

use std::sync::Arc;

use bsoap_codec::{Encoder, Record};

use super::Sender;
use crate::bench::wire::Wire;

/// Formats every message in full, into one buffer that is used again.
pub(crate) struct Full {
    records: Arc<Vec<Record>>,
    encoder: Encoder,
    text: Vec<u8>,
}

impl Full {
    /// Of the messages of a stream.
    pub(crate) fn new(records: Arc<Vec<Record>>) -> Self {
        Self {
            records,
            encoder: Encoder::default(),
            text: Vec::new(),
        }
    }
}

impl Sender for Full {
    fn prepare(&mut self, message: usize) -> Result<(), String> {
        self.text.clear();
        self.encoder
            .encode(&self.records[message], &mut self.text)
            .map_err(|error| error.to_string())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.send(std::iter::once(self.text.as_slice()))
    }
}
