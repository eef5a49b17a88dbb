//! Decodes messages: only the differences to a saved message, or the whole message.

use bsoap_codec::decode::Error;
use bsoap_codec::plan::ElementId;
use bsoap_codec::repair::Repair;
use bsoap_differential::receive::{HistoryCache, HistoryCachePolicy, Received, Way};
use bytes::Bytes;

use crate::scope::PeerScope;
use crate::tuning::Meter;

/// Whether and how a client or a service saves received messages. If a message is similar to a saved one, only its changes
/// are decoded.
///
/// On by default. Values and errors are the same as without saved messages.
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
/// The other [ways](crate::tuning::ReceiveWay) of saving are those of the papers. The following one needs little memory: it
/// keeps digests instead of texts, about 3.5 % of their size:
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
    /// Decodes every message in full, and saves none.
    pub fn off() -> Self {
        Self { policy: None }
    }

    /// Saves messages in this way.
    pub fn new(way: Way) -> Self {
        if way == Way::Off {
            return Self::off();
        }
        let mut receiving = Self::default();
        receiving.change(|policy| policy.way = way);
        receiving
    }

    /// Sets the maximum number of messages saved for each operation. Default: 8. A new message is compared with them.
    #[must_use]
    pub fn histories(mut self, most: usize) -> Self {
        self.change(|policy| policy.histories = most);
        self
    }

    /// Sets the maximum number of bytes of the messages saved for one client, or for one connection of a service. Default:
    /// 64 MiB. The [`Budget`](crate::tuning::Budget) limits the sum over all of them.
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

    /// An empty cache for histories. `None` if histories are off.
    pub(crate) fn cache(self) -> Option<HistoryCache> {
        self.policy.map(HistoryCache::new)
    }
}

/// Decodes a message with the saved messages of the scope, to a Record of at most `limit` bytes. Returns the Record and its
/// changes.
pub(crate) fn read(
    scope: &PeerScope,
    meter: &Meter,
    root: ElementId,
    text: &Bytes,
    repair: Repair,
    limit: usize,
) -> Result<Received, Error> {
    let (result, counts) = scope.read(root, text, repair, limit);
    meter.reads(&counts);
    result
}
