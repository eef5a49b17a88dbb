//! How messages are read: as what differs from those before them, or each from first to last.

use bsoap_codec::decode::Error;
use bsoap_codec::plan::ElementId;
use bsoap_differential::receive::{Arrived, HistoryCache, HistoryCachePolicy, Way};
use bytes::Bytes;

use crate::Meter;
use crate::scope::PeerScope;

/// Whether a client or a service keeps the messages it gets, and how, so that only what changes has to be read of the
/// next one.
///
/// By default it does. Values and errors are those that reading each message alone would give.
///
/// ```
/// use bsoap::Client;
/// use bsoap::tuning::Receiving;
///
/// let builder = || Client::builder(include_str!("../../../examples/mesh/mesh.wsdl"));
/// let plain = builder().receiving(Receiving::off()).build()?;
/// let small = builder().receiving(Receiving::default().histories(1).bytes(1 << 20)).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
///
/// Other [ways](crate::tuning::ReceiveWay) than the default are those of the papers. The one for small memory keeps digests instead of
/// texts, about 3.5 % of their size:
///
/// ```
/// use bsoap::Client;
/// use bsoap::tuning::{Portioning, ReceiveWay, Receiving};
///
/// let hashed = Receiving::new(ReceiveWay::Portions(Portioning::hashed()));
/// let client = Client::builder(include_str!("../../../examples/mesh/mesh.wsdl")).receiving(hashed).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiving {
    policy: Option<HistoryCachePolicy>,
}

impl Default for Receiving {
    fn default() -> Self {
        Self {
            policy: Some(HistoryCachePolicy::default()),
        }
    }
}

impl From<Way> for Receiving {
    fn from(way: Way) -> Self {
        Self::new(way)
    }
}

impl Receiving {
    /// Every message is read from first to last, and nothing of it kept.
    pub fn off() -> Self {
        Self { policy: None }
    }

    /// Messages are received in this way.
    pub fn new(way: Way) -> Self {
        if way == Way::Off {
            return Self::off();
        }
        let mut receiving = Self::default();
        receiving.change(|policy| policy.way = way);
        receiving
    }

    /// The number of messages kept for each operation (8), to be compared with similar ones.
    #[must_use]
    pub fn histories(mut self, most: usize) -> Self {
        self.change(|policy| policy.histories = most);
        self
    }

    /// Bytes for the messages of one client, or of one connection of a service (64 MiB); the
    /// [`Budget`](crate::tuning::Budget) bounds all together.
    #[must_use]
    pub fn bytes(mut self, most: usize) -> Self {
        self.change(|policy| policy.bytes = most);
        self
    }

    fn change(&mut self, change: impl FnOnce(&mut HistoryCachePolicy)) {
        if let Some(policy) = &mut self.policy {
            change(policy);
        }
    }

    /// A cache for histories, if they are kept.
    pub(crate) fn cache(self) -> Option<HistoryCache> {
        self.policy.map(HistoryCache::new)
    }
}

/// Reads a message with what the scope has saved of those before it.
pub(crate) fn read(
    scope: &PeerScope,
    meter: &Meter,
    root: ElementId,
    text: &Bytes,
) -> Result<Arrived, Error> {
    let (result, counts) = scope.read(root, text);
    meter.reads(&counts);
    result
}
