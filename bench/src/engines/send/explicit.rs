//! Differential serialization with nothing to find out: the program sets the values that change, one by one.

use bsoap_codec::Record;
use bsoap_codec::encode::EncodeOptions;
use bsoap_differential::send::{Outgoing, Policy, SetError, Template};

use super::sender::Sender;
use crate::shape::Values;
use crate::wire::Wire;
use crate::workload::Workload;

/// Sends by a template in which values are set. Setting them is timed too.
pub(crate) struct Explicit {
    template: Template,
    /// Which values differ between two messages, by the numbers of both.
    changes: Vec<Vec<Vec<Change>>>,
    current: usize,
    outgoing: Outgoing,
}

/// A value that is different.
enum Change {
    Double(usize, f64),
    Int(usize, i32),
    Text(usize, String),
}

impl Explicit {
    /// Of the messages of a stream; `None` if not all have the same structure.
    ///
    /// # Errors
    /// The first message cannot be written.
    pub(crate) fn new(work: &Workload) -> Result<Option<Self>, String> {
        let messages = &work.records;
        let Some(first) = messages.first() else {
            return Ok(None);
        };
        let is_document = matches!(work.values, Values::Readings(_) | Values::Orders(_));
        let slots = first.slots().len();
        if is_document || messages.iter().any(|one| one.slots().len() != slots) {
            return Ok(None);
        }
        let from = |before| {
            messages
                .iter()
                .map(move |after| changes(work, before, after))
        };
        Ok(Some(Self {
            template: Template::first(Policy::default(), EncodeOptions::default(), first.clone())
                .map_err(|error| error.to_string())?,
            changes: messages
                .iter()
                .map(|before| from(before).collect())
                .collect(),
            current: 0,
            outgoing: Outgoing::default(),
        }))
    }
}

fn changes(work: &Workload, before: &Record, after: &Record) -> Vec<Change> {
    let is_text = matches!(work.values, Values::Strings(_));
    let (old, new) = (before.slots(), after.slots());
    let change = |slot: usize| {
        let bits = new[slot];
        if is_text {
            return Change::Text(slot, after.text(bits).to_owned());
        }
        // Integers of 32 bits have few bits; doubles of these streams have an exponent.
        match i32::try_from(bits as i64) {
            Ok(int) => Change::Int(slot, int),
            Err(_) => Change::Double(slot, f64::from_bits(bits)),
        }
    };
    let differs = |slot: &usize| match is_text {
        false => old[*slot] != new[*slot],
        true => before.octets(old[*slot]) != after.octets(new[*slot]),
    };
    (0..new.len()).filter(differs).map(change).collect()
}

impl Change {
    fn make(&self, template: &mut Template) -> Result<(), SetError> {
        match self {
            Self::Double(slot, value) => template.set(*slot, *value),
            Self::Int(slot, value) => template.set(*slot, *value),
            Self::Text(slot, value) => template.set_text(*slot, value),
        }
    }
}

impl Sender for Explicit {
    fn prepare(&mut self, message: usize) -> Result<(), String> {
        self.outgoing = Outgoing::default();
        for change in &self.changes[self.current][message] {
            change
                .make(&mut self.template)
                .map_err(|error| error.to_string())?;
        }
        self.template.commit().map_err(|error| error.to_string())?;
        self.current = message;
        self.outgoing = self.template.outgoing();
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.send(self.outgoing.chunks.iter().map(AsRef::as_ref))
    }
}
