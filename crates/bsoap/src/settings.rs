//! The settings that clients and services share.

use bsoap_codec::DecodeOptions;

use crate::Fetch;
use crate::scope::Keeping;
use crate::tuning::Budget;

/// How the WSDL is loaded, how messages are decoded, and how messages are saved.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) fetch: Fetch,
    pub(crate) decoding: DecodeOptions,
    pub(crate) budget: Budget,
    pub(crate) keeping: Keeping,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fetch: Fetch::default(),
            decoding: DecodeOptions::default(),
            budget: Budget::process().clone(),
            keeping: Keeping::default(),
        }
    }
}

/// Generates the builder methods that set a field of `settings`.
macro_rules! settings_methods {
    () => {
        /// Sets which documents may be fetched from the network while the WSDL is loaded.
        pub fn fetch(mut self, fetch: $crate::Fetch) -> Self {
            self.settings.fetch = fetch;
            self
        }

        /// Sets how incoming messages are decoded: limits, and which checks are made. By default, elements nest no deeper
        /// than a [`Value`](crate::Value) can ([`MAX_DEPTH`](bsoap_codec::MAX_DEPTH)); with a higher limit, messages that
        /// are deeper are only available as [`Record`](crate::Record)s. The size of a Record is limited by the longest body
        /// that the transport accepts.
        pub fn decoding(mut self, options: bsoap_codec::DecodeOptions) -> Self {
            self.settings.decoding = options;
            self
        }

        /// Sets the memory budget for saved messages. By default it is that of the
        /// [process](crate::tuning::Budget::process). No connection of a service uses messages saved for another.
        pub fn budget(mut self, budget: impl Into<$crate::tuning::Budget>) -> Self {
            self.settings.budget = budget.into();
            self
        }

        /// Sets whether and how templates of outgoing messages are saved, so that only changes are encoded (differential
        /// serialization). A service saves them for each connection. On by default.
        pub fn sending(mut self, sending: impl Into<$crate::tuning::Sending>) -> Self {
            self.settings.keeping.sending = sending.into();
            self
        }

        /// Sets whether and how incoming messages are saved, so that only changes are decoded (differential
        /// deserialization). A service saves them for each connection. On by default.
        pub fn receiving(mut self, receiving: impl Into<$crate::tuning::Receiving>) -> Self {
            self.settings.keeping.receiving = receiving.into();
            self
        }

        /// Sets whether hints are sent to peers, and whether the hints of peers are used. Off by default.
        pub fn hints(mut self, hints: $crate::tuning::Hints) -> Self {
            self.settings.keeping.hints = hints;
            self
        }
    };
}

pub(crate) use settings_methods;
