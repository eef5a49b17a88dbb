//! A chunk: a stretch of the text with its part of the Index and the encoder's state at its first
//! byte.
//!
//! A send in flight holds the text of each chunk. Who would patch it then gets a copy, and the send
//! never sees it: copy on write. Templates for several peers share chunks in the same way.

use std::sync::Arc;

use bytes::Bytes;

/// The text of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text(Arc<Vec<u8>>);

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
        Self(Arc::new(own))
    }

    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as a send holds them: not copied, and never changed.
    pub(crate) fn share(&self) -> Bytes {
        Bytes::from_owner(Held(Arc::clone(&self.0)))
    }

    /// The bytes to be changed: a copy of them if somebody else holds them.
    #[inline]
    pub(crate) fn patch(&mut self, reserve: usize) -> &mut Vec<u8> {
        // Only here are more holders made, so what one counts stays true.
        if Arc::strong_count(&self.0) > 1 {
            *self = Self::new(&self.0, reserve);
        }
        Arc::get_mut(&mut self.0).expect("nobody else holds it, now or weakly")
    }

    /// Bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.0.capacity()
    }

    /// Whether both are one: the same bytes in the same place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
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
