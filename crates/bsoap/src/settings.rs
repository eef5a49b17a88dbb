//! The settings that clients and services share.

use bsoap_codec::DecodeOptions;

use crate::Fetch;
use crate::scope::Keeping;
use crate::tuning::Budget;

/// How the WSDL is loaded, how messages are decoded, and what is saved of them.
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

/// The methods of a builder that change its field `settings`.
macro_rules! settings_methods {
    () => {
        /// What may be fetched from the network while the WSDL is loaded.
        pub fn fetch(mut self, fetch: $crate::Fetch) -> Self {
            self.settings.fetch = fetch;
            self
        }

        /// How incoming messages are decoded: limits, and how much is checked. By default elements nest no deeper than a
        /// [`Value`](crate::Value) can ([`MAX_DEPTH`](bsoap_codec::MAX_DEPTH)); deeper messages are only available as
        /// [`Record`](crate::Record)s. The size of a Record is bounded by the longest body that the transport accepts.
        pub fn decoding(mut self, options: bsoap_codec::DecodeOptions) -> Self {
            self.settings.decoding = options;
            self
        }

        /// The memory for what is saved of messages; by default the budget of the
        /// [process](crate::tuning::Budget::process). No connection of a service uses what another one sent.
        pub fn budget(mut self, budget: impl Into<$crate::tuning::Budget>) -> Self {
            self.settings.budget = budget.into();
            self
        }

        /// Whether and how templates of outgoing messages are saved, by a service for each connection, so that only
        /// changes are encoded for the next message (differential serialization). On by default.
        pub fn sending(mut self, sending: impl Into<$crate::tuning::Sending>) -> Self {
            self.settings.keeping.sending = sending.into();
            self
        }

        /// Whether and how incoming messages are saved, by a service for each connection, so that only changes are
        /// decoded of the next message (differential deserialization). On by default.
        pub fn receiving(mut self, receiving: impl Into<$crate::tuning::Receiving>) -> Self {
            self.settings.keeping.receiving = receiving.into();
            self
        }

        /// Whether hints are sent to peers, and those of peers used. Off by default.
        pub fn hints(mut self, hints: $crate::tuning::Hints) -> Self {
            self.settings.keeping.hints = hints;
            self
        }
    };
}

pub(crate) use settings_methods;
