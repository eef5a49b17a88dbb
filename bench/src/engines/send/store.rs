//! Differential serialization as clients and services have it: templates are kept in a cache, which bypasses streams where
//! messages have nothing in common. And what they do if differential serialization is off.

use std::collections::VecDeque;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_differential::send::{Outgoing, Sent, StreamKey, TemplateCache, TemplateCachePolicy};

use super::sender::Sender;
use crate::wire::Wire;

/// Sends by a store.
pub(crate) struct Stored {
    /// `None`: off.
    store: Option<TemplateCache>,
    messages: Arc<Vec<Record>>,
    /// The messages to be sent next, as a program would have made them.
    given: VecDeque<Record>,
    /// What it got in exchange: buffers for those that follow. (With differential serialization off it keeps its own.)
    spent: Vec<Record>,
    outgoing: Outgoing,
}

impl Stored {
    /// Of the messages of a stream.
    pub(crate) fn new(messages: Arc<Vec<Record>>) -> Self {
        Self {
            store: Some(TemplateCache::new(TemplateCachePolicy::default())),
            ..Self::off(messages)
        }
    }

    /// The same with nothing saved.
    pub(crate) fn off(messages: Arc<Vec<Record>>) -> Self {
        Self {
            store: None,
            messages,
            given: VecDeque::new(),
            spent: Vec::new(),
            outgoing: Outgoing::default(),
        }
    }
}

impl Sender for Stored {
    const IS_FILLED: bool = true;

    fn fill(&mut self, message: usize) {
        let values = &self.messages[message];
        let record = match self.spent.pop() {
            Some(mut record) => {
                record.copy_from(values);
                record
            }
            None => values.clone(),
        };
        self.given.push_back(record);
    }

    fn prepare(&mut self, message: usize) -> Result<(), String> {
        // What was sent has left: its chunks may be changed where they lie.
        self.outgoing = Outgoing::default();
        let record = self.given.pop_front();
        let mut record = record.unwrap_or_else(|| self.messages[message].clone());
        let sent = match &mut self.store {
            Some(store) => {
                let stream = StreamKey {
                    endpoint: 0,
                    root: record.root(),
                    operation: 0,
                };
                let mut checkout = store.check_out(stream, &record);
                match checkout.is_plain() {
                    Some(why) => Sent::plain(&record).map(|sent| sent.counted(why)),
                    None => {
                        let sent = checkout.send(&mut record);
                        store.check_in(checkout);
                        sent
                    }
                }
            }
            None => Sent::plain(&record),
        };
        self.spent.push(record);
        self.outgoing = sent.map_err(|error| error.to_string())?.outgoing;
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.send(self.outgoing.chunks.iter().map(AsRef::as_ref))
    }
}
