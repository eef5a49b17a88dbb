//! Differential serialization: the text of the message before is kept, and made the text of the next.

use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::encode::EncodeOptions;
use bsoap_differential::send::{Outgoing, Policy, Template};

use super::sender::Sender;
use crate::wire::Wire;

/// Sends by a template.
///
/// The template takes the Record of the message, and gives that of the message before in exchange. So there is one Record
/// less than there are messages: the one that the template has.
pub(crate) struct Templated {
    policy: Policy,
    template: Template,
    /// What the messages are; never given away.
    messages: Arc<Vec<Record>>,
    /// A Record for each message. That of `current` is of no use.
    records: Vec<Record>,
    /// The message that the template has.
    current: Option<usize>,
    /// A second Record of the same message, for messages that are sent twice in a row.
    twin: Option<(usize, Record)>,
    outgoing: Outgoing,
}

impl Templated {
    /// Of the messages of a stream.
    pub(crate) fn new(messages: Arc<Vec<Record>>, policy: Policy) -> Self {
        Self {
            template: Template::new(policy, EncodeOptions::default()),
            policy,
            records: messages.to_vec(),
            messages,
            current: None,
            twin: None,
            outgoing: Outgoing::default(),
        }
    }

    /// Sends the message that the template has once more.
    fn repeat(&mut self, message: usize) -> Result<(), String> {
        let mut record = match self.twin.take() {
            Some((twin, record)) if twin == message => record,
            _ => self.messages[message].clone(),
        };
        let updated = self.template.update(&mut record);
        self.twin = Some((message, record));
        updated.map(drop).map_err(|error| error.to_string())
    }
}

impl Sender for Templated {
    fn begin(&mut self, message: usize) -> Result<(), String> {
        if let Some(current) = self.current {
            self.records[current] = self.messages[current].clone();
        }
        self.outgoing = Outgoing::default();
        let record = self.messages[message].clone();
        self.template = Template::first(self.policy, EncodeOptions::default(), record)
            .map_err(|error| error.to_string())?;
        self.current = Some(message);
        Ok(())
    }

    fn prepare(&mut self, message: usize) -> Result<(), String> {
        // What was sent has left: its chunks may be changed where they lie.
        self.outgoing = Outgoing::default();
        match self.current {
            Some(current) if current == message => self.repeat(message)?,
            Some(current) => {
                self.template
                    .update(&mut self.records[message])
                    .map_err(|error| error.to_string())?;
                self.records.swap(current, message);
            }
            None => {
                self.template
                    .update(&mut self.records[message])
                    .map_err(|error| error.to_string())?;
            }
        }
        self.current = Some(message);
        self.outgoing = self.template.outgoing();
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.send(self.outgoing.chunks.iter().map(AsRef::as_ref))
    }
}
