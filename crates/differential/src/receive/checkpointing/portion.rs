//! Portions: a text cut at its checkpoints, and whether each is there again.
//!
//! ```text
//! text      <s:Envelope … <item>1</item>│<item>2</item><item>3</item>│<item>4</item> … </s:Envelope>
//! entries   0                           1                            2
//! digests   of what follows 0           of what follows 1            of what follows 2, up to the end
//! ```

use super::digest::{Crc32ForReproduction, Digest, Keyed};

/// How portions are compared with those of the previous message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sameness {
    /// By its text, which is kept.
    #[default]
    Text,
    /// By a digest of 128 bits with a secret key; no text is kept.
    Keyed,
    /// By its CRC-32, as in the papers. A sender can forge it, and have values of one message taken for
    /// those of another: only for reproducing the papers' figures.
    Crc32ForReproduction,
}

impl Sameness {
    /// The digest that is used, if any.
    pub(super) fn digest(self) -> Option<&'static dyn Digest> {
        match self {
            Self::Text => None,
            Self::Keyed => Some(Keyed::of_process()),
            Self::Crc32ForReproduction => Some(&Crc32ForReproduction),
        }
    }
}

/// Where a checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// How much of the text was read,
    pub(super) offset: u32,
    /// and how many slots were written.
    pub(super) slots: u32,
}

/// A checkpoint: where it is, and what was saved there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<S> {
    pub(super) mark: Mark,
    pub(super) saved: S,
}

/// The portions of a text.
#[derive(Debug)]
pub(super) struct Portions<S> {
    pub(super) entries: Vec<Entry<S>>,
    /// By entry, if the text is not kept: the digest of what follows it.
    pub(super) digests: Vec<u128>,
    /// The length of the whole text.
    pub(super) length: usize,
}

impl<S> Default for Portions<S> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            digests: Vec::new(),
            length: 0,
        }
    }
}

impl<S> Portions<S> {
    /// Digests all portions of the text up to `end` that have none yet.
    pub(super) fn digest(&mut self, digest: Option<&dyn Digest>, text: &[u8], end: usize) {
        self.digest_some(digest, text, self.entries.len(), end);
    }

    /// Digests those that have come to their end: while their text is near.
    pub(super) fn digest_closed(&mut self, digest: Option<&dyn Digest>, text: &[u8]) {
        self.digest_some(digest, text, self.entries.len().saturating_sub(1), 0);
    }

    /// The last portion has not come to its end.
    pub(super) fn reopen(&mut self) {
        self.digests.truncate(self.entries.len().saturating_sub(1));
    }

    fn digest_some(&mut self, digest: Option<&dyn Digest>, text: &[u8], count: usize, end: usize) {
        let Some(digest) = digest else {
            return;
        };
        for index in self.digests.len()..count {
            let from = self.entries[index].mark.offset as usize;
            let next = self.entries.get(index + 1);
            let to = next.map_or(end, |next| next.mark.offset as usize);
            let portion = text.get(from..to).unwrap_or_default();
            self.digests.push(digest.digest(portion));
        }
    }

    /// Bytes held by places and digests, without what was saved elsewhere.
    pub(super) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<S>>() + self.digest_memory()
    }

    pub(super) fn digest_memory(&self) -> usize {
        self.digests.capacity() * size_of::<u128>()
    }

    /// Gives back memory that was reserved for more than came.
    pub(super) fn fit(&mut self) {
        self.entries.shrink_to_fit();
        self.digests.shrink_to_fit();
    }
}
