//! The changes of a message since the previous one.

use std::sync::Arc;

use bsoap_codec::{Record, Region, regions};
use bsoap_differential::receive::{self, Received, Span, Stamp};

/// The changes of a message since the previous similar message of the same operation and connection (or principal).
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
/// The changes may include values that did not change, but never leave out one that did.
#[derive(Clone, Debug)]
pub struct Changes {
    record: Arc<Record>,
    changes: receive::Changes,
    /// Identifies the message. `None` if it was not saved.
    pub(crate) stamp: Option<Stamp>,
    /// Identifies the earlier message that the changes are counted from. `None` if there is none.
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

    /// The message itself. A Record in an `Arc` is never modified, so it can be kept.
    pub fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// True if these changes are counted from the message of `other`.
    pub fn follow(&self, other: &Self) -> bool {
        self.since.is_some() && self.since == other.stamp
    }

    /// True if every value may have changed, because there is no earlier message to compare with.
    pub fn is_all(&self) -> bool {
        self.changes.is_all()
    }

    /// True if no value changed.
    pub fn is_none(&self) -> bool {
        self.changes.is_none()
    }

    /// True if every value is in the same slot as in the earlier message: nothing was inserted or removed.
    pub fn keeps_places(&self) -> bool {
        self.changes.keeps_places()
    }

    /// The changed slots in both Records, in order. Empty if [everything](Self::is_all) may have changed.
    pub fn spans(&self) -> impl DoubleEndedIterator<Item = Span> + Clone {
        self.changes.spans()
    }

    /// The number of this message's slots that may have changed.
    pub fn count(&self) -> usize {
        self.changes.count(self.record.slots().len())
    }

    /// The paths of the changed values, such as `/Envelope/Body/sumDoubles/values/item[17]`, in document order. Removed
    /// values are not listed. If [everything](Self::is_all) may have changed, the only path is that of the root.
    pub fn regions(&self) -> Vec<Region> {
        if self.is_all() {
            let all = 0..self.record.slots().len();
            return regions(&self.record, std::slice::from_ref(&all));
        }
        let spans = self.spans().map(|span| span.now);
        regions(&self.record, &spans.collect::<Vec<_>>())
    }
}
