//! Counts that tests, benchmarks, metrics and the console read.

/// What a template has done, or several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendStats {
    /// Messages encoded from first to last.
    pub first_time: u64,
    /// Messages sent again as they were.
    pub content: u64,
    /// Messages of which values were written into their rooms, and nothing else.
    pub perfect_structural: u64,
    /// Messages of which values changed their length, or which changed in structure.
    pub partial_structural: u64,
    /// Values written into the text of a message before. Where most values of an array or of a stretch of strings have
    /// changed nobody finds out which, and all of it is written: then those count too that are what they were.
    pub values: u64,
    /// Of those, how many took room from a neighbour ...
    pub stolen: u64,
    /// ... moved the rest of their chunk ...
    pub shifted: u64,
    /// ... or were written with their whole chunk in one pass.
    pub rewritten: u64,
    /// Chunks whose text was encoded anew.
    pub encoded_chunks: u64,
    /// Chunks that were kept when messages changed in structure.
    pub kept_chunks: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Of those, bytes of chunks that were sent as they were.
    pub unchanged_bytes: u64,
}

impl SendStats {
    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.first_time + self.content + self.perfect_structural + self.partial_structural
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        let Self {
            first_time,
            content,
            perfect_structural,
            partial_structural,
            values,
            stolen,
            shifted,
            rewritten,
            encoded_chunks,
            kept_chunks,
            bytes,
            unchanged_bytes,
        } = self;
        *first_time += other.first_time;
        *content += other.content;
        *perfect_structural += other.perfect_structural;
        *partial_structural += other.partial_structural;
        *values += other.values;
        *stolen += other.stolen;
        *shifted += other.shifted;
        *rewritten += other.rewritten;
        *encoded_chunks += other.encoded_chunks;
        *kept_chunks += other.kept_chunks;
        *bytes += other.bytes;
        *unchanged_bytes += other.unchanged_bytes;
    }

    /// What was counted after `earlier` was read.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            first_time: self.first_time - earlier.first_time,
            content: self.content - earlier.content,
            perfect_structural: self.perfect_structural - earlier.perfect_structural,
            partial_structural: self.partial_structural - earlier.partial_structural,
            values: self.values - earlier.values,
            stolen: self.stolen - earlier.stolen,
            shifted: self.shifted - earlier.shifted,
            rewritten: self.rewritten - earlier.rewritten,
            encoded_chunks: self.encoded_chunks - earlier.encoded_chunks,
            kept_chunks: self.kept_chunks - earlier.kept_chunks,
            bytes: self.bytes - earlier.bytes,
            unchanged_bytes: self.unchanged_bytes - earlier.unchanged_bytes,
        }
    }
}

/// What receivers have done that keep the message before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveStats {
    /// Messages read from first to last, and kept for the next.
    pub regular: u64,
    /// Messages compared with the one before, to the end.
    pub fast: u64,
    /// Of those read from first to last, how many were begun to be compared.
    pub failed: u64,
    /// Values read again alone, where texts differed.
    pub values: u64,
    /// How often the decoder read on, where markup differed.
    pub restructured: u64,
    /// Slots of the messages compared to the end.
    pub slots: u64,
    /// Of those, slots that are what they were.
    pub unchanged_slots: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Of those, bytes of messages compared to the end.
    pub fast_bytes: u64,
}

impl ReceiveStats {
    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.regular + self.fast
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        let Self {
            regular,
            fast,
            failed,
            values,
            restructured,
            slots,
            unchanged_slots,
            bytes,
            fast_bytes,
        } = self;
        *regular += other.regular;
        *fast += other.fast;
        *failed += other.failed;
        *values += other.values;
        *restructured += other.restructured;
        *slots += other.slots;
        *unchanged_slots += other.unchanged_slots;
        *bytes += other.bytes;
        *fast_bytes += other.fast_bytes;
    }
}
