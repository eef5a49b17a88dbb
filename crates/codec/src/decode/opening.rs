//! How messages begin: the XML declaration and the start tag of the root element, with its namespace declarations.
//!
//! In most streams they are the same bytes each time. Then what they led to is taken from the message before.

use bsoap_xml::{Scopes, State};

use crate::record::Record;

use super::frame::{Frame, Machine};
use super::learned::LONGEST;

/// The first bytes of a message, and all that was known behind them.
#[derive(Debug)]
struct Opening {
    bytes: Box<[u8]>,
    reader: State,
    machine: Machine,
    slots: Box<[u64]>,
    heap: Box<[u8]>,
    /// Whether the root's tag may have values, which an Index would have to tell.
    has_values: bool,
}

/// The opening met last.
#[derive(Debug, Default)]
pub(super) struct Openings {
    last: Option<Box<Opening>>,
    /// How many messages in a row began otherwise.
    misses: u32,
    /// Whether the message at hand was resumed, with a Record that may have had something in it before its beginning.
    pub(super) off: bool,
}

/// A stream whose messages begin differently each time is not worth the copies.
const MOST_MISSES: u32 = 16;

impl Openings {
    /// Goes on behind the opening, if a message begins as the one before did.
    pub(super) fn reopen(
        &mut self,
        text: &[u8],
        indexed: bool,
        scopes: &mut Scopes,
        reader: &mut State,
        machine: &mut Machine,
        record: &mut Record,
    ) -> bool {
        if self.off {
            return false;
        }
        scopes.renew_if_full();
        let known = self.last.as_deref().filter(|known| {
            known.machine.root == machine.root
                && !(indexed && known.has_values)
                && text.starts_with(&known.bytes)
                && scopes.contains(known.reader.scope())
        });
        let Some(known) = known else {
            self.misses = self.misses.saturating_add(1);
            return false;
        };
        self.misses = 0;
        reader.restore(&known.reader);
        machine.restore(&known.machine);
        record.slots.extend_from_slice(&known.slots);
        record.heap.extend_from_slice(&known.heap);
        true
    }

    /// About how many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        self.last.as_deref().map_or(0, |last| {
            size_of::<Opening>() + last.bytes.len() + last.slots.len() * 8 + last.heap.len()
        })
    }

    /// Remembers how a message began: its root element has just been opened.
    #[cold]
    pub(super) fn remember(
        &mut self,
        text: &str,
        reader: &State,
        machine: &Machine,
        record: &Record,
    ) {
        let Some(bytes) = text
            .as_bytes()
            .get(..usize::try_from(reader.offset()).unwrap_or(usize::MAX))
        else {
            return;
        };
        let is_plain = machine.fragment.is_none() && !machine.text.begun && machine.skipping == 0;
        if !is_plain
            || self.off
            || self.misses > MOST_MISSES
            || bytes.len() > LONGEST
            || !reader.in_content()
        {
            return;
        }
        let has_values = match machine.frames.first() {
            Some(Frame::Element(frame)) => !record.plan.ty(frame.ty).attributes.is_empty(),
            _ => return,
        };
        self.last = Some(Box::new(Opening {
            has_values,
            bytes: bytes.into(),
            reader: reader.clone(),
            machine: machine.clone(),
            slots: record.slots.as_slice().into(),
            heap: record.heap.as_slice().into(),
        }));
    }
}
