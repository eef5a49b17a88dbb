//! Counts of messages, values and bytes that were sent and received, and of the time saved.

use std::ops::{AddAssign, Sub};
use std::time::Duration;

/// Defines structs of counts that can be added up and subtracted.
macro_rules! counts {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl $name {
            /// Adds the counts of `other`.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// The difference to `earlier`, an older copy of these counts.
            #[must_use]
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)* }
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.add(&other);
            }
        }

        impl Sub for $name {
            type Output = Self;

            fn sub(self, earlier: Self) -> Self {
                self.since(&earlier)
            }
        }
    )*};
}

counts! {
    /// What one or more templates have done.
    pub struct SendStats {
        /// Messages encoded in full.
        pub first_time: u64,
        /// Messages whose text was sent again unchanged.
        pub content: u64,
        /// Messages of which values were written within their widths, and nothing else changed.
        pub perfect_structural: u64,
        /// Messages of which values changed their length, or whose structure changed.
        pub partial_structural: u64,
        /// Values written into the text of the previous message. If most values of an array or of a run of strings have
        /// changed, all of them are written without looking for the changed ones, and unchanged ones are counted too.
        pub values: u64,
        /// Those of `values` that took padding from a neighbour.
        pub stolen: u64,
        /// Those of `values` that moved the rest of their chunk.
        pub shifted: u64,
        /// Those of `values` that were written with their whole chunk in one pass.
        pub rewritten: u64,
        /// Chunks whose text was encoded again.
        pub encoded_chunks: u64,
        /// Chunks that were kept when the structure of a message changed.
        pub kept_chunks: u64,
        /// Bytes of all messages.
        pub bytes: u64,
        /// Those of `bytes` that are in chunks that were sent again unchanged.
        pub unchanged_bytes: u64,
    }

    /// What receivers have done that compare each message with the previous one.
    pub struct ReceiveStats {
        /// Messages read in full and kept for the next.
        pub regular: u64,
        /// Messages compared with the previous one to the end.
        pub fast: u64,
        /// Comparisons that were begun and given up; the message was then read in full.
        pub failed: u64,
        /// Values re-read alone where texts differed.
        pub values: u64,
        /// How often the decoder read on because markup differed.
        pub restructured: u64,
        /// Slots of the messages compared to the end.
        pub slots: u64,
        /// Those of `slots` that did not change.
        pub unchanged_slots: u64,
        /// Bytes of all messages.
        pub bytes: u64,
        /// Bytes of the messages compared to the end.
        pub fast_bytes: u64,
    }

    /// What templates saved, and how many messages were written without one.
    pub struct SendCounts {
        /// What templates have done.
        pub matches: SendStats,
        /// Messages written without a template because none was similar, such as the first of a stream.
        pub plain: u64,
        /// Messages written without a template because the messages of their stream have nothing in common.
        pub bypassed: u64,
        /// Messages written without a template because the budget had no memory for one.
        pub no_memory: u64,
        /// Templates evicted for lack of memory.
        pub evicted: u64,
        /// The approximate time saved, compared with sending without templates.
        pub saved: Duration,
    }

    /// What histories saved, and how many messages were read without one.
    pub struct ReceiveCounts {
        /// What histories have done.
        pub reads: ReceiveStats,
        /// Messages read without a history because they were the first of their kind.
        pub plain: u64,
        /// Messages read without a history because the messages of their stream have nothing in common.
        pub bypassed: u64,
        /// Messages with errors, with or without a history.
        pub errors: u64,
        /// Histories evicted for lack of memory.
        pub evicted: u64,
        /// The approximate time saved, compared with receiving without histories.
        pub saved: Duration,
    }

    /// How messages with hints were read.
    pub struct HintCounts {
        /// Messages that followed a skeleton.
        pub followed: u64,
        /// Messages read by a decoder of which a skeleton was made: the first of their key, or missed ones.
        pub learned: u64,
        /// Messages that began like a skeleton but did not follow it.
        pub missed: u64,
        /// Messages read by a decoder of which no skeleton was made.
        pub plain: u64,
        /// Messages with errors.
        pub errors: u64,
        /// Bytes of the messages that followed a skeleton.
        pub followed_bytes: u64,
        /// Skeletons evicted for lack of memory.
        pub evicted: u64,
        /// Messages that were sent with a hint.
        pub given: u64,
    }
}

impl SendStats {
    /// The number of messages counted.
    pub fn messages(&self) -> u64 {
        self.first_time + self.content + self.perfect_structural + self.partial_structural
    }
}

impl ReceiveStats {
    /// The number of messages counted.
    pub fn messages(&self) -> u64 {
        self.regular + self.fast
    }
}

impl SendCounts {
    /// The number of messages counted.
    pub fn messages(&self) -> u64 {
        self.matches.messages() + self.plain + self.bypassed + self.no_memory
    }
}

impl ReceiveCounts {
    /// The number of messages counted.
    pub fn messages(&self) -> u64 {
        self.reads.messages() + self.plain + self.bypassed + self.errors
    }
}

impl HintCounts {
    /// The number of messages with hints that were received.
    pub fn messages(&self) -> u64 {
        self.followed + self.learned + self.plain + self.errors
    }
}
