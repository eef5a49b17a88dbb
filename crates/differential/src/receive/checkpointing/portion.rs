//! Portions: the parts of a text between its checkpoints.
//!
//! ```text
//! text      <s:Envelope … <item>1</item>│<item>2</item><item>3</item>│<item>4</item> … </s:Envelope>
//! entries   0                           1                            2
//! digests   of portion 0                of portion 1                 of portion 2, up to the end
//! ```

use super::digest::{Crc32ForReproduction, Digest, Keyed};

/// How portions are compared with those of the previous message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sameness {
    /// By their text, which is kept.
    #[default]
    Text,
    /// By digests of 128 bits with a secret key. No text is kept.
    Keyed,
    /// By their CRC-32, as in the papers. A sender can forge it, so that values of one message are used for another. Only for
    /// reproducing the papers' figures.
    Crc32ForReproduction,
}

impl Sameness {
    /// The digest that is used; `None` if texts are compared.
    pub(super) fn digest(self) -> Option<&'static dyn Digest> {
        match self {
            Self::Text => None,
            Self::Keyed => Some(Keyed::of_process()),
            Self::Crc32ForReproduction => Some(&Crc32ForReproduction),
        }
    }
}

/// The location of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The number of bytes read.
    pub(super) offset: u32,
    /// The number of slots written.
    pub(super) slots: u32,
}

/// A checkpoint: its location, and the state that was saved there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<S> {
    pub(super) mark: Mark,
    pub(super) saved: S,
}

/// The portions of a text.
#[derive(Debug)]
pub(super) struct Portions<S> {
    /// The checkpoints at which the portions begin.
    pub(super) entries: Vec<Entry<S>>,
    /// The digest of the portion after each entry; empty if the text is kept.
    pub(super) digests: Vec<u128>,
    /// The length of the whole text in bytes.
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

    /// Digests the portions that are complete, while their text is in the CPU cache.
    pub(super) fn digest_closed(&mut self, digest: Option<&dyn Digest>, text: &[u8]) {
        self.digest_some(digest, text, self.entries.len().saturating_sub(1), 0);
    }

    /// Drops the digest of the last portion, which is not complete.
    pub(super) fn reopen(&mut self) {
        self.digests.truncate(self.entries.len().saturating_sub(1));
    }

    /// Digests the portions up to number `count` that have no digest yet. `end`: the end of the last one of all.
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

    /// The number of bytes held by entries and digests, without states that are stored elsewhere.
    pub(super) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry<S>>() + self.digest_memory()
    }

    /// The number of bytes held by digests.
    pub(super) fn digest_memory(&self) -> usize {
        self.digests.capacity() * size_of::<u128>()
    }

    /// Frees unused capacity.
    pub(super) fn fit(&mut self) {
        self.entries.shrink_to_fit();
        self.digests.shrink_to_fit();
    }
}
