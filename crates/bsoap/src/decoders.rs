//! Decoders at rest. One remembers the spelling of the tags it has met, so it is worth keeping.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap_codec::plan::Plan;
use bsoap_codec::{DecodeOptions, Decoder};

/// Decoders of one Plan, as many as there were messages read at the same time.
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

    /// Lends a decoder to `read`.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&mut Decoder) -> T) -> T {
        let resting = self.lock().pop();
        let mut decoder =
            resting.unwrap_or_else(|| Decoder::new(Arc::clone(&self.plan), self.options));
        let result = read(&mut decoder);
        self.lock().push(decoder);
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Decoder>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
