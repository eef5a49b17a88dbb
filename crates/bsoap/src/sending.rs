//! Encodes messages: only the differences to a saved template, or the whole message.

#[cfg(feature = "gzip")]
use std::sync::PoisonError;

use bsoap_codec::Record;
use bsoap_codec::encode;
use bsoap_codec::plan::ElementId;
use bsoap_differential::send::{Policy, StreamKey, TemplateCache, TemplateCachePolicy};
use bsoap_http::Body;
use bsoap_protocol::Target;

use crate::scope::PeerScope;
use crate::tuning::Meter;

/// Whether and how a client or a service saves templates of its messages. If a message is similar to a template, only its
/// changes are encoded.
///
/// On by default. Each message has the same bytes as without templates. Policies other than the default pad values with
/// white space, so that values can grow in place.
///
/// ```
/// use bsoap::Client;
/// use bsoap::tuning::{Sending, SendPolicy};
///
/// let builder = || Client::builder(include_str!("../../../examples/mesh/mesh.wsdl"));
/// let plain = builder().sending(Sending::off()).build()?;
/// let roomy = builder().sending(Sending::new(SendPolicy::MAXIMUM).templates(2).bytes(1 << 20)).build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    policy: Option<TemplateCachePolicy>,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            policy: Some(TemplateCachePolicy::default()),
        }
    }
}

impl From<Policy> for Sending {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

impl Sending {
    /// Encodes every message in full.
    pub fn off() -> Self {
        Self { policy: None }
    }

    /// Saves templates with this policy.
    pub fn new(policy: Policy) -> Self {
        let mut sending = Self::default();
        sending.change(|cache| cache.template = policy);
        sending
    }

    /// Sets the maximum number of templates for each operation. Default: 4. Each is for messages of another structure.
    #[must_use]
    pub fn templates(mut self, most: usize) -> Self {
        self.change(|policy| policy.templates = most);
        self
    }

    /// Sets the maximum number of bytes of the templates of one client, or of one connection of a service. Default: 64 MiB.
    /// The [`Budget`](crate::tuning::Budget) limits the sum over all of them.
    #[must_use]
    pub fn bytes(mut self, most: usize) -> Self {
        self.change(|policy| policy.bytes = most);
        self
    }

    /// Sets whether messages may be sent as gzip.
    pub(crate) fn as_gzip(mut self, may_be: bool) -> Self {
        self.change(|policy| policy.keeps_compressed = may_be);
        self
    }

    fn change(&mut self, change: impl FnOnce(&mut TemplateCachePolicy)) {
        if let Some(policy) = &mut self.policy {
            change(policy);
        }
    }

    /// The policy of templates.
    #[cfg(feature = "client")]
    pub(crate) fn template(self) -> Policy {
        self.policy
            .map(|policy| policy.template)
            .unwrap_or_default()
    }

    /// An empty cache for templates. `None` if templates are off.
    pub(crate) fn cache(self) -> Option<TemplateCache> {
        self.policy.map(TemplateCache::new)
    }
}

/// The key of the stream of an operation's messages to an endpoint. The messages of a stream are expected to be similar.
pub(crate) fn stream(endpoint: u32, root: ElementId, target: &Target) -> StreamKey {
    StreamKey {
        endpoint,
        root,
        operation: u32::try_from(target.number()).unwrap_or(u32::MAX - 1),
    }
}

/// The key of the stream of faults. Faults are similar to each other, but not to responses.
#[cfg(feature = "server")]
pub(crate) fn faults(root: ElementId) -> StreamKey {
    StreamKey {
        endpoint: 0,
        root,
        operation: u32::MAX,
    }
}

/// Checks a message, and encodes it with the scope's template of its stream. If there is no template, a hint is added if `gives_hint` is
/// true.
pub(crate) fn write(
    scope: &PeerScope,
    stream: StreamKey,
    meter: &Meter,
    record: Record,
    gives_hint: bool,
) -> Result<Body, encode::Error> {
    record.check_with(scope.validation())?;
    let (sent, hints) = scope.write(stream, record, gives_hint)?;
    meter.writes(&sent.counts, &hints);
    let body = Body::from_chunks(sent.outgoing.chunks);
    #[cfg(feature = "gzip")]
    if let Some(compressed) = sent.compressed {
        return Ok(body.with_gzip(move |chunks| {
            let mut compressed = compressed.lock().unwrap_or_else(PoisonError::into_inner);
            compressed.compress(chunks).chunks
        }));
    }
    Ok(body)
}
