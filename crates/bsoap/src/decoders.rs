//! Decoders at rest that know nothing: memory to be used again, by whomever.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap_codec::plan::Plan;
use bsoap_codec::{DecodeOptions, Decoder};

/// How many are kept. More than there are threads at work are of no use.
const MOST: usize = 64;

/// What one may hold that is kept, in bytes.
const SMALL: usize = 256 << 10;

/// Decoders of one Plan without a [scope](crate::scope::Scope).
#[derive(Debug)]
pub(crate) struct Decoders {
    plan: Arc<Plan>,
    options: DecodeOptions,
    resting: Mutex<Vec<Decoder>>,
}

impl Decoders {
    pub(crate) fn new(plan: &Arc<Plan>, options: DecodeOptions) -> Self {
        Self {
            plan: Arc::clone(plan),
            options,
            resting: Mutex::default(),
        }
    }

    /// A decoder that knows nothing.
    pub(crate) fn take(&self) -> Decoder {
        let resting = self.lock().pop();
        resting.unwrap_or_else(|| Decoder::new(Arc::clone(&self.plan), self.options))
    }

    /// Takes one back; it forgets what it learned.
    pub(crate) fn give(&self, mut decoder: Decoder) {
        decoder.forget();
        if decoder.memory() > SMALL {
            return;
        }
        let mut resting = self.lock();
        if resting.len() < MOST {
            resting.push(decoder);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Decoder>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The options for messages that the transport lets be so long: what a Record may take of memory follows from that.
pub(crate) fn up_to(mut options: DecodeOptions, bytes: u64) -> DecodeOptions {
    options.limits.total_size = options.limits.total_size.min(bytes);
    options
}
