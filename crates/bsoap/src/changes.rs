//! What of a message is not what it was in the message before.

use std::sync::Arc;

use bsoap_codec::{Record, Region, regions};
use bsoap_differential::receive::{self, Arrived, Span, Stamp};

/// What changed since the message before: the last one of the same operation, connection (or principal) and likeness.
///
/// ```
/// use bsoap::{Fault, Message, Value};
///
/// async fn watch(message: Message) -> Result<Value, Fault> {
///     match message.changes() {
///         changes if changes.is_all() => println!("a new message"),
///         changes => changes.regions().iter().for_each(|region| println!("{region} changed")),
///     }
///     Ok(Value::Nil)
/// }
/// ```
///
/// It is never more than a hint of what to look at: a value may be told to have changed that is the same, never the other
/// way round.
#[derive(Clone, Debug)]
pub struct Changes {
    record: Arc<Record>,
    changes: receive::Changes,
    /// Which message it is, and which one the changes are counted from.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) since: Option<Stamp>,
}

impl Changes {
    pub(crate) fn of(arrived: &Arrived) -> Self {
        Self {
            record: Arc::clone(&arrived.record),
            changes: arrived.changes.clone(),
            stamp: arrived.stamp,
            since: arrived.since,
        }
    }

    /// The message: it never changes.
    pub fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Whether these are the changes since that message, and not since another one.
    pub fn follow(&self, other: &Self) -> bool {
        self.since.is_some() && self.since == other.stamp
    }

    /// Whether everything may have changed, and no more is known.
    pub fn is_all(&self) -> bool {
        self.changes.is_all()
    }

    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.changes.is_none()
    }

    /// Whether all values still stand in the slots they stood in: nothing was inserted or left out.
    pub fn keeps_places(&self) -> bool {
        self.changes.keeps_places()
    }

    /// What changed, by the slots of both Records, in their order; nothing if [all](Self::is_all) did.
    pub fn spans(&self) -> impl DoubleEndedIterator<Item = Span> + Clone {
        self.changes.spans()
    }

    /// How many slots of the message may have changed.
    pub fn count(&self) -> usize {
        self.changes.count(self.record.slots().len())
    }

    /// What changed, by paths from the Envelope on, such as `/Envelope/Body/sumDoubles/values/item[17]`, in the order of
    /// the message. What was left out and has nothing in its place is not named; if [all](Self::is_all) may have changed,
    /// that is the root.
    pub fn regions(&self) -> Vec<Region> {
        if self.is_all() {
            let all = 0..self.record.slots().len();
            return regions(&self.record, std::slice::from_ref(&all));
        }
        let spans = self.spans().map(|span| span.now);
        regions(&self.record, &spans.collect::<Vec<_>>())
    }
}
