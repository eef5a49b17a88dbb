//! A chunk: a stretch of the text with its part of the Index and the encoder's state at its first
//! byte.
//!
//! A send in flight holds the text of each chunk. Who would patch it then gets a copy, and the send
//! never sees it: copy on write. Templates for several peers share chunks in the same way.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

/// The text of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    own: Arc<Vec<u8>>,
    /// As sends hold it: made once, for as long as it is not changed.
    sent: OnceLock<Bytes>,
}

/// What a send holds of a chunk.
struct Held(Arc<Vec<u8>>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Text {
    /// Of these bytes, with room for `reserve` more.
    pub(crate) fn new(bytes: &[u8], reserve: usize) -> Self {
        let mut own = Vec::with_capacity(bytes.len() + reserve);
        own.extend_from_slice(bytes);
        Self {
            own: Arc::new(own),
            sent: OnceLock::new(),
        }
    }

    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.own
    }

    /// The bytes as a send holds them: not copied, and never changed.
    pub(crate) fn share(&self) -> Bytes {
        let sent = || Bytes::from_owner(Held(Arc::clone(&self.own)));
        self.sent.get_or_init(sent).clone()
    }

    /// The bytes to be changed: a copy of them if somebody else holds them.
    #[inline]
    pub(crate) fn patch(&mut self, reserve: usize) -> &mut Vec<u8> {
        if !self.is_free() {
            *self = Self::new(&self.own, reserve);
        }
        Arc::get_mut(&mut self.own).expect("nobody else holds it, now or weakly")
    }

    /// Whether nobody else holds the bytes.
    #[inline]
    pub(crate) fn is_free(&mut self) -> bool {
        // If no send holds it, this lets go of the bytes too. More holders are made only through this Text, so what one counts
        // stays true.
        self.sent.take();
        Arc::strong_count(&self.own) == 1
    }

    /// Bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.own.capacity()
    }

    /// Whether both are one: the same bytes in the same place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.own, &other.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_never_sees_a_later_patch() {
        let mut text = Text::new(b"<x>1</x>", 8);
        let before = text.bytes().as_ptr();
        text.patch(8)[3] = b'2';
        assert_eq!(text.bytes().as_ptr(), before, "patched where it lies");
        let sent = text.share();
        text.patch(8)[3] = b'3';
        assert_eq!((&*sent, text.bytes()), (&b"<x>2</x>"[..], &b"<x>3</x>"[..]));
        drop(sent);
    }
}
