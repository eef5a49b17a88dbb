//! Differential serialization off: every message is formatted from its first byte to its last, and sent.

use std::sync::Arc;

use bsoap_codec::encode::{EncodeOptions, PieceEncoder, Stop};
use bsoap_codec::{Encoder, Record};

use super::sender::Sender;
use crate::wire::Wire;

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

/// Bytes of a piece: it is still in the processor's cache when it is written to the connection.
const PIECE: usize = 64 << 10;

/// Formats every message in full, piece by piece, and sends each before it formats the next.
pub(crate) struct Streamed {
    records: Arc<Vec<Record>>,
    piece: Vec<u8>,
    next: usize,
}

impl Streamed {
    /// Of the messages of a stream.
    pub(crate) fn new(records: Arc<Vec<Record>>) -> Self {
        Self {
            records,
            piece: Vec::new(),
            next: 0,
        }
    }
}

impl Sender for Streamed {
    /// Nothing is made ready.
    fn prepare(&mut self, message: usize) -> Result<(), String> {
        self.next = message;
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.begin(None);
        let mut encoder = PieceEncoder::new(&self.records[self.next], EncodeOptions::default());
        loop {
            self.piece.clear();
            let stop = encoder
                .run(&mut self.piece, PIECE, None, &(), &mut ())
                .map_err(|error| error.to_string())?;
            if !self.piece.is_empty() {
                wire.piece(&self.piece)?;
            }
            if stop == Stop::End {
                return wire.end();
            }
        }
    }
}
