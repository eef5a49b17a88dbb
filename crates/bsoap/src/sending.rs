//! How messages are written: with what is kept of those before them, or each from first to last.

use std::sync::PoisonError;

use bsoap_codec::Record;
use bsoap_codec::encode;
use bsoap_codec::plan::ElementId;
use bsoap_differential::hint::HintCounts;
use bsoap_differential::send::{Policy, Sent, Store, StorePolicy, Stream};
use bsoap_http::Body;
use bsoap_protocol::Target;

use crate::Meter;
use crate::scope::{Hinting, Scope};

/// Whether a client or a service keeps the text of its messages, and how, so that only what changes has to be written
/// for the next one.
///
/// By default it does, and no peer can tell: each message is, byte for byte, what it would be otherwise. Other policies
/// give values room to grow, which peers see as white space.
///
/// ```
/// use bsoap::{Client, Sending, SendPolicy};
///
/// let builder = || Client::builder(include_str!("../../../examples/mesh/mesh.wsdl"));
/// let plain = builder().sending(Sending::off()).build()?;
/// let roomy = builder().sending(Sending::new(SendPolicy::MAXIMUM).templates(2).bytes(1 << 20)).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    policy: Option<StorePolicy>,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            policy: Some(StorePolicy::default()),
        }
    }
}

impl From<Policy> for Sending {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

impl Sending {
    /// Every message is written from first to last.
    pub fn off() -> Self {
        Self { policy: None }
    }

    /// Templates are kept like this.
    pub fn new(policy: Policy) -> Self {
        let mut sending = Self::default();
        sending.change(|store| store.template = policy);
        sending
    }

    /// So many templates for each operation (4), each for messages of another structure.
    #[must_use]
    pub fn templates(mut self, most: usize) -> Self {
        self.change(|store| store.templates = most);
        self
    }

    /// So many bytes for the templates of one client, or of one connection of a service (64 MiB); the
    /// [`Budget`](crate::Budget) bounds all together.
    #[must_use]
    pub fn bytes(mut self, most: usize) -> Self {
        self.change(|store| store.bytes = most);
        self
    }

    /// Whether messages may be sent as gzip.
    pub(crate) fn as_gzip(mut self, may_be: bool) -> Self {
        self.change(|store| store.folds = may_be);
        self
    }

    fn change(&mut self, change: impl FnOnce(&mut StorePolicy)) {
        if let Some(policy) = &mut self.policy {
            change(policy);
        }
    }

    /// How templates are kept.
    pub(crate) fn template(self) -> Policy {
        self.policy.map(|store| store.template).unwrap_or_default()
    }

    /// Where templates are kept, if they are.
    pub(crate) fn store(self) -> Option<Store> {
        self.policy.map(Store::new)
    }
}

/// Which of the messages of a target are expected to be alike.
pub(crate) fn stream(endpoint: u32, root: ElementId, target: &Target) -> Stream {
    Stream {
        endpoint,
        root,
        operation: u32::try_from(target.number()).unwrap_or(u32::MAX - 1),
    }
}

/// Faults are more like one another than like answers.
pub(crate) fn faults(root: ElementId) -> Stream {
    Stream {
        endpoint: 0,
        root,
        operation: u32::MAX,
    }
}

/// Writes a message with what the scope knows of the stream. `has_hint`: with a hint, if little of it is known.
pub(crate) fn write(
    scope: &Scope,
    stream: Stream,
    meter: &Meter,
    record: Record,
    has_hint: bool,
) -> Result<Body, encode::Error> {
    let mut given = HintCounts::default();
    let hints = match has_hint {
        true => Hinting::Yes(&mut given),
        false => Hinting::No,
    };
    let Sent {
        outgoing,
        counts,
        folds,
        ..
    } = scope.sending(stream, record, hints)?;
    meter.writes(&counts);
    if has_hint {
        meter.hints_at(&given);
    }
    let body = Body::from_chunks(outgoing.chunks);
    Ok(match folds {
        Some(folds) => body.with_gzip(move |chunks| {
            let mut folds = folds.lock().unwrap_or_else(PoisonError::into_inner);
            folds.compress(chunks).chunks
        }),
        None => body,
    })
}
