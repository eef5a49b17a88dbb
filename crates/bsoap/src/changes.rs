//! What changed since the previous message.

use std::sync::Arc;

use bsoap_codec::{Record, Region, regions};
use bsoap_differential::receive::{self, Received, Span, Stamp};

/// What changed since the previous similar message of the same operation and connection (or principal).
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
/// It may include values that did not change, but never leaves out one that did.
#[derive(Clone, Debug)]
pub struct Changes {
    record: Arc<Record>,
    changes: receive::Changes,
    /// The message, and the one that the changes count from.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) since: Option<Stamp>,
}

impl Changes {
    pub(crate) fn of(arrived: &Received) -> Self {
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

    /// Whether these are the changes since that message.
    pub fn follow(&self, other: &Self) -> bool {
        self.since.is_some() && self.since == other.stamp
    }

    /// Whether everything may have changed: nothing is known.
    pub fn is_all(&self) -> bool {
        self.changes.is_all()
    }

    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.changes.is_none()
    }

    /// Whether all values are in the same slots as before: nothing was inserted or removed.
    pub fn keeps_places(&self) -> bool {
        self.changes.keeps_places()
    }

    /// The changed slots of both Records, in order; none if [everything](Self::is_all) may have changed.
    pub fn spans(&self) -> impl DoubleEndedIterator<Item = Span> + Clone {
        self.changes.spans()
    }

    /// The number of slots of the message that may have changed.
    pub fn count(&self) -> usize {
        self.changes.count(self.record.slots().len())
    }

    /// The paths of what changed, such as `/Envelope/Body/sumDoubles/values/item[17]`, in document order. What was removed is
    /// not listed; if [everything](Self::is_all) may have changed, the only path is that of the root.
    pub fn regions(&self) -> Vec<Region> {
        if self.is_all() {
            let all = 0..self.record.slots().len();
            return regions(&self.record, std::slice::from_ref(&all));
        }
        let spans = self.spans().map(|span| span.now);
        regions(&self.record, &spans.collect::<Vec<_>>())
    }
}
