//! A pool of cleared decoders, shared by all scopes.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap_codec::plan::Plan;
use bsoap_codec::{DecodeOptions, Decoder};

use crate::limits::{MAX_POOLED_DECODER_BYTES, MAX_POOLED_DECODERS};

/// Cleared decoders of one Plan that belong to no [scope](crate::scope::PeerScope) at the moment.
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

    /// A cleared decoder from the pool, or a new one if the pool is empty.
    pub(crate) fn take(&self) -> Decoder {
        let unused = self.lock().pop();
        unused.unwrap_or_else(|| Decoder::new(Arc::clone(&self.plan), self.options))
    }

    /// Clears a decoder and puts it into the pool, unless the pool is full or the decoder uses too much memory.
    pub(crate) fn give(&self, mut decoder: Decoder) {
        decoder.forget();
        if decoder.memory() > MAX_POOLED_DECODER_BYTES {
            return;
        }
        let mut unused = self.lock();
        if unused.len() < MAX_POOLED_DECODERS {
            unused.push(decoder);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Decoder>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits the size of a Record in `options` to that of a message of `bytes`, the longest that the transport allows.
pub(crate) fn up_to(mut options: DecodeOptions, bytes: u64) -> DecodeOptions {
    options.limits.total_size = options.limits.total_size.min(bytes);
    options
}
