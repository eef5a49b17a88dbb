//! Differential serialization: the text of the message before is kept, and made the text of the next.

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_codec::encode::EncodeOptions;
use bsoap_differential::send::{Outgoing, Policy, Template};

use super::Sender;
use crate::bench::wire::Wire;

/// How the template learns what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// It compares.
    Found,
    /// It is told.
    Told,
}

/// Sends by a template.
///
/// The template takes the Record of the message, and gives that of the message before in exchange. So there is one Record
/// less than there are messages: the one that the template has.
pub(crate) struct Templated {
    policy: Policy,
    template: Template,
    changes: Changes,
    /// What the messages are; never given away.
    messages: Arc<Vec<Record>>,
    /// A Record for each message. That of `current` is of no use.
    records: Vec<Record>,
    /// The message that the template has.
    current: Option<usize>,
    /// A second Record of the same message, for messages that are sent twice in a row.
    twin: Option<(usize, Record)>,
    outgoing: Outgoing,
    /// Which slots differ between two messages, by the numbers of both.
    changed: Vec<Vec<Vec<Range<usize>>>>,
}

impl Templated {
    /// Of the messages of a stream.
    pub(crate) fn new(messages: Arc<Vec<Record>>, policy: Policy, changes: Changes) -> Self {
        let changed = match changes {
            Changes::Told => {
                let from = |before| messages.iter().map(move |after| differences(before, after));
                messages
                    .iter()
                    .map(|before| from(before).collect())
                    .collect()
            }
            Changes::Found => Vec::new(),
        };
        Self {
            template: Template::new(policy, EncodeOptions::default()),
            policy,
            changes,
            records: messages.to_vec(),
            messages,
            current: None,
            twin: None,
            outgoing: Outgoing::default(),
            changed,
        }
    }

    /// Sends the message that the template has once more.
    fn repeat(&mut self, message: usize) -> Result<(), String> {
        let mut record = match self.twin.take() {
            Some((twin, record)) if twin == message => record,
            _ => self.messages[message].clone(),
        };
        let updated = match self.changes {
            Changes::Found => self.template.update(&mut record),
            Changes::Told => self.template.update_slots(&mut record, &[]),
        };
        self.twin = Some((message, record));
        updated.map(drop).map_err(|error| error.to_string())
    }
}

/// The slots in which two Records differ; all of one if their lengths differ.
fn differences(before: &Record, after: &Record) -> Vec<Range<usize>> {
    let (old, new) = (before.slots(), after.slots());
    if old.len() != new.len() || before.heap() != after.heap() {
        return std::iter::once(0..new.len()).collect();
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for slot in (0..new.len()).filter(|&slot| old[slot] != new[slot]) {
        match ranges.last_mut() {
            Some(last) if last.end == slot => last.end += 1,
            _ => ranges.push(slot..slot + 1),
        }
    }
    ranges
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
                let record = &mut self.records[message];
                let updated = match self.changes {
                    Changes::Found => self.template.update(record),
                    Changes::Told => {
                        let changed = &self.changed[current][message];
                        self.template.update_slots(record, changed)
                    }
                };
                updated.map_err(|error| error.to_string())?;
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
