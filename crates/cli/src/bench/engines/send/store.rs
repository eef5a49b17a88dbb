//! Differential serialization as clients and services have it: templates are kept in a store, which stands aside where
//! messages have nothing in common.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_differential::send::{Outgoing, Store, StorePolicy, Stream};

use super::Sender;
use crate::bench::wire::Wire;

/// Sends by a store.
pub(crate) struct Stored {
    store: Store,
    messages: Arc<Vec<Record>>,
    /// The message to be sent next, as a program would have made it.
    record: Option<Record>,
    outgoing: Outgoing,
}

impl Stored {
    /// Of the messages of a stream.
    pub(crate) fn new(messages: Arc<Vec<Record>>) -> Self {
        Self {
            store: Store::new(StorePolicy::default()),
            messages,
            record: None,
            outgoing: Outgoing::default(),
        }
    }
}

impl Sender for Stored {
    const IS_FILLED: bool = true;

    fn fill(&mut self, message: usize) {
        self.outgoing = Outgoing::default();
        self.record = Some(self.messages[message].clone());
    }

    fn prepare(&mut self, message: usize) -> Result<(), String> {
        let record = self.record.take();
        let record = record.unwrap_or_else(|| self.messages[message].clone());
        let stream = Stream {
            endpoint: 0,
            root: record.root(),
            operation: 0,
        };
        let (sent, settled) = self.store.lend(stream, &record).send(record);
        self.store.settle(settled);
        self.outgoing = sent.map_err(|error| error.to_string())?.outgoing;
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.send(self.outgoing.chunks.iter().map(AsRef::as_ref))
    }
}
