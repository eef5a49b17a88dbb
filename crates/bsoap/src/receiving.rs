//! Reads messages by comparing them with saved ones, or in full.

use bsoap_codec::decode::Error;
use bsoap_codec::plan::ElementId;
use bsoap_differential::receive::{HistoryCache, HistoryCachePolicy, Received, Way};
use bytes::Bytes;

use crate::scope::PeerScope;
use crate::tuning::Meter;

/// Whether and how a client or a service saves received messages, so that only changes are decoded of the next message.
///
/// On by default. Values and errors are the same as without.
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
    /// Every message is decoded in full, and none is saved.
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

    /// The number of messages saved for each operation (8), with which new ones are compared.
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

    /// A cache for histories, unless they are off.
    pub(crate) fn cache(self) -> Option<HistoryCache> {
        self.policy.map(HistoryCache::new)
    }
}

/// Reads a message with the saved messages of the scope.
pub(crate) fn read(
    scope: &PeerScope,
    meter: &Meter,
    root: ElementId,
    text: &Bytes,
) -> Result<Received, Error> {
    let (result, counts) = scope.read(root, text);
    meter.reads(&counts);
    result
}
