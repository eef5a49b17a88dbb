//! The settings that clients and services share.

use bsoap_codec::DecodeOptions;
use bsoap_codec::decode::{Deviations, Validation};
use bsoap_protocol::HeaderLimits;

use crate::Fetch;
use crate::attachments::Attachments;
use crate::scope::Keeping;
use crate::tuning::Budget;

/// How the WSDL is loaded, how messages are decoded, and how messages are saved.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) fetch: Fetch,
    pub(crate) decoding: DecodeOptions,
    /// The deviations that are accepted, if they are not those in `decoding`.
    pub(crate) accepted: Option<Deviations>,
    /// How much is checked, if it is not what `decoding` says.
    pub(crate) validation: Option<Validation>,
    /// How large the Header of a message may be.
    pub(crate) header_limits: HeaderLimits,
    pub(crate) budget: Budget,
    pub(crate) keeping: Keeping,
    /// How attachments are sent and received.
    pub(crate) attachments: Attachments,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            fetch: Fetch::default(),
            decoding: DecodeOptions::default(),
            accepted: None,
            validation: None,
            header_limits: HeaderLimits::default(),
            budget: Budget::process().clone(),
            keeping: Keeping::default(),
            attachments: Attachments::default(),
        }
    }
}

impl Settings {
    /// How messages are decoded. Their size, and that of their Records, is limited to `bytes`, the most that the transport allows.
    pub(crate) fn decoding(&self, bytes: u64) -> DecodeOptions {
        let mut options = self.decoding;
        options.accepted = self.accepted.unwrap_or(options.accepted);
        options.validation = self.validation.unwrap_or(options.validation);
        options.limits.total_size = options.limits.total_size.min(bytes);
        options
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

        /// Sets which deviations from the WSDL are accepted in incoming messages: a [mode](crate::Tolerance), or a
        /// [set of deviations](crate::codec::decode::Deviations). An accepted deviation gives a [warning](crate::Warning), a
        /// refused one an error that names the mode which would accept it. What is sent is never allowed to deviate.
        ///
        /// ```
        /// use bsoap::codec::decode::{Deviation, Deviations};
        /// use bsoap::{Client, Tolerance};
        ///
        /// let builder = || Client::builder(include_str!("../../../examples/mesh/mesh.wsdl"));
        /// let lenient = builder().tolerance(Tolerance::Lenient).build()?;
        /// let accepted = Deviations::from(Tolerance::Strict).with(Deviation::UnknownElement);
        /// let others = builder().tolerance(accepted).build()?;
        /// # Ok::<(), bsoap::Error>(())
        /// ```
        pub fn tolerance(mut self, accepted: impl Into<bsoap_codec::decode::Deviations>) -> Self {
            self.settings.accepted = Some(accepted.into());
            self
        }

        /// Sets how much of messages is checked, in both directions: structure, lexical forms and enumerations (the default), or
        /// all facets.
        pub fn validation(mut self, validation: bsoap_codec::decode::Validation) -> Self {
            self.settings.validation = Some(validation);
            self
        }

        /// Sets how incoming messages are decoded: limits, and which checks are made;
        /// [`tolerance`](Self::tolerance) and [`validation`](Self::validation) replace parts of it. By default, elements nest no deeper
        /// than a [`Value`](crate::Value) can ([`MAX_DEPTH`](bsoap_codec::MAX_DEPTH)); with a higher limit, messages that
        /// are deeper are only available as [`Record`](crate::Record)s. The size of a Record is limited by the longest body
        /// that the transport accepts.
        pub fn decoding(mut self, options: bsoap_codec::DecodeOptions) -> Self {
            self.settings.decoding = options;
            self
        }

        /// Sets how large the Header of an incoming message may be. A message that exceeds a limit is refused before it is decoded;
        /// the fault or error names the limit.
        ///
        /// ```
        /// use bsoap::Client;
        /// use bsoap::protocol::HeaderLimits;
        ///
        /// let mut limits = HeaderLimits::default();
        /// limits.blocks = 1000;
        /// let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
        /// let client = Client::builder(wsdl).header_limits(limits).build()?;
        /// # Ok::<(), bsoap::Error>(())
        /// ```
        pub fn header_limits(mut self, limits: $crate::protocol::HeaderLimits) -> Self {
            self.settings.header_limits = limits;
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

        /// Sets how attachments are sent and received. By default packages are accepted; a service answers to MTOM with MTOM.
        pub fn attachments(mut self, attachments: $crate::attachments::Attachments) -> Self {
            self.settings.attachments = attachments;
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
