//! A pool of decoders that have learned nothing: memory that any scope may use again.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap_codec::plan::Plan;
use bsoap_codec::{DecodeOptions, Decoder};

/// Decoders kept. More than there are threads at work are of no use.
const MAX_DECODERS: usize = 64;

/// Bytes of a decoder that is kept.
const MAX_BYTES: usize = 256 << 10;

/// Decoders of one Plan without a [scope](crate::scope::PeerScope).
#[derive(Debug)]
pub(crate) struct Decoders {
    plan: Arc<Plan>,
    options: DecodeOptions,
    unused: Mutex<Vec<Decoder>>,
}

impl Decoders {
    pub(crate) fn new(plan: &Arc<Plan>, options: DecodeOptions) -> Self {
        Self {
            plan: Arc::clone(plan),
            options,
            unused: Mutex::default(),
        }
    }

    /// A decoder that has learned nothing.
    pub(crate) fn take(&self) -> Decoder {
        let unused = self.lock().pop();
        unused.unwrap_or_else(|| Decoder::new(Arc::clone(&self.plan), self.options))
    }

    /// Takes one back; it forgets what it learned.
    pub(crate) fn give(&self, mut decoder: Decoder) {
        decoder.forget();
        if decoder.memory() > MAX_BYTES {
            return;
        }
        let mut unused = self.lock();
        if unused.len() < MAX_DECODERS {
            unused.push(decoder);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Decoder>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The options for messages up to the length that the transport allows: the memory limits of a Record follow from that.
pub(crate) fn up_to(mut options: DecodeOptions, bytes: u64) -> DecodeOptions {
    options.limits.total_size = options.limits.total_size.min(bytes);
    options
}
