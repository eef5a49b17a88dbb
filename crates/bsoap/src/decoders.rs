//! A pool of cleared decoders, shared by all scopes.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap_codec::decode::Validation;
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

    /// How messages are decoded.
    pub(crate) fn options(&self) -> DecodeOptions {
        self.options
    }

    /// How much is checked of messages.
    pub(crate) fn validation(&self) -> Validation {
        self.options.validation
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
