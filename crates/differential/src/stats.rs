//! What was sent, received and saved, in numbers: for tests, benchmarks, metrics and the console.

use std::ops::{AddAssign, Sub};
use std::time::Duration;

/// Defines counts that can be added up, and subtracted to learn what was counted in between.
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
            /// Adds the counts of another.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// What was counted after `earlier` was read.
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
    /// What a template has done, or several together.
    pub struct SendStats {
        /// Messages encoded from first to last.
        pub first_time: u64,
        /// Messages sent again as they were.
        pub content: u64,
        /// Messages of which values were written within their widths, and nothing else.
        pub perfect_structural: u64,
        /// Messages of which values changed their length, or which changed in structure.
        pub partial_structural: u64,
        /// Values written into the text of a message before. Where most values of an array or of a run of strings have
        /// changed, all of them are written without looking for the changed ones: then unchanged ones count too.
        pub values: u64,
        /// Of those, how many took padding from a neighbour, ...
        pub stolen: u64,
        /// ... moved the rest of their chunk, ...
        pub shifted: u64,
        /// ... or were written with their whole chunk in one pass.
        pub rewritten: u64,
        /// Chunks whose text was encoded again.
        pub encoded_chunks: u64,
        /// Chunks that were kept when messages changed in structure.
        pub kept_chunks: u64,
        /// Bytes of all messages.
        pub bytes: u64,
        /// Of those, bytes of chunks that were sent as they were.
        pub unchanged_bytes: u64,
    }

    /// What receivers have done that keep the message before.
    pub struct ReceiveStats {
        /// Messages read from first to last, and kept for the next.
        pub regular: u64,
        /// Messages compared with the one before, to the end.
        pub fast: u64,
        /// Of those read from first to last, how many comparisons were begun and given up.
        pub failed: u64,
        /// Values re-read alone, where texts differed.
        pub values: u64,
        /// How often the decoder read on, where markup differed.
        pub restructured: u64,
        /// Slots of the messages compared to the end.
        pub slots: u64,
        /// Of those, unchanged slots.
        pub unchanged_slots: u64,
        /// Bytes of all messages.
        pub bytes: u64,
        /// Of those, bytes of messages compared to the end.
        pub fast_bytes: u64,
    }

    /// What templates saved, and what they did not.
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
        /// About how much longer it would have taken without templates.
        pub saved: Duration,
    }

    /// What histories saved, and what they did not.
    pub struct ReceiveCounts {
        /// What histories have done.
        pub reads: ReceiveStats,
        /// Messages read without one: the first of their kind, ...
        pub plain: u64,
        /// ... and those of streams that do not repeat.
        pub bypassed: u64,
        /// Messages with errors, however they were read.
        pub errors: u64,
        /// Histories evicted for lack of memory.
        pub evicted: u64,
        /// About how much longer it would have taken without histories.
        pub saved: Duration,
    }

    /// What became of messages with hints.
    pub struct HintCounts {
        /// Messages that followed a skeleton.
        pub followed: u64,
        /// Messages read as any other, of which skeletons were made: the first of their key, and those that ...
        pub learned: u64,
        /// ... began like a skeleton, and did not follow it.
        pub missed: u64,
        /// Messages read as any other, of which no skeleton was made.
        pub plain: u64,
        /// Messages with errors.
        pub errors: u64,
        /// Bytes of the messages that followed a skeleton.
        pub followed_bytes: u64,
        /// Skeletons evicted for lack of memory.
        pub evicted: u64,
        /// Of the messages sent, those with a hint.
        pub given: u64,
    }
}

impl SendStats {
    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.first_time + self.content + self.perfect_structural + self.partial_structural
    }
}

impl ReceiveStats {
    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.regular + self.fast
    }
}

impl SendCounts {
    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.matches.messages() + self.plain + self.bypassed + self.no_memory
    }
}

impl ReceiveCounts {
    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.reads.messages() + self.plain + self.bypassed + self.errors
    }
}

impl HintCounts {
    /// How many messages with hints were received.
    pub fn messages(&self) -> u64 {
        self.followed + self.learned + self.plain + self.errors
    }
}
