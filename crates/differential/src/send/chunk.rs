//! A chunk: a stretch of the text with its part of the Index and the encoder's state at its first
//! byte.
//!
//! A send in flight holds the text of each chunk. Who would patch it then gets a copy, and the send
//! never sees it: copy on write. Templates for several peers share chunks in the same way.

use std::mem;

use bytes::Bytes;

/// The text of a chunk.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    /// It is being changed, and nobody else has it.
    Open(Vec<u8>),
    /// At rest, as sends hold it. Whoever is the only one to hold it may have the memory back as it is.
    Sealed {
        bytes: Bytes,
        /// Bytes of memory, those behind the text included.
        memory: usize,
    },
}

impl Default for Text {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl Text {
    /// Of these bytes, with room for `reserve` more.
    pub(crate) fn new(bytes: &[u8], reserve: usize) -> Self {
        let mut own = Vec::with_capacity(bytes.len() + reserve);
        own.extend_from_slice(bytes);
        Self::Open(own)
    }

    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Open(own) => own,
            Self::Sealed { bytes, .. } => bytes,
        }
    }

    /// The bytes as a send holds them: not copied if they are [sealed](Self::seal), and never changed.
    #[inline]
    pub(crate) fn share(&self) -> Bytes {
        match self {
            Self::Open(own) => Bytes::copy_from_slice(own),
            Self::Sealed { bytes, .. } => bytes.clone(),
        }
    }

    /// It will not be changed for now, and may be sent.
    #[inline]
    pub(crate) fn seal(&mut self) {
        if let Self::Open(own) = self {
            let memory = own.capacity();
            let bytes = mem::take(own).into();
            *self = Self::Sealed { bytes, memory };
        }
    }

    /// The bytes to be changed: a copy of them if somebody else holds them.
    #[inline]
    pub(crate) fn patch(&mut self, reserve: usize) -> &mut Vec<u8> {
        if let Self::Sealed { bytes, .. } = self {
            *self = if bytes.is_unique() {
                Self::Open(mem::take(bytes).into())
            } else {
                Self::new(bytes, reserve)
            };
        }
        match self {
            Self::Open(own) => own,
            Self::Sealed { .. } => unreachable!("it was opened"),
        }
    }

    /// Nothing, to become another text: in the same memory, unless somebody else holds that.
    #[inline]
    pub(crate) fn clear(&mut self) -> &mut Vec<u8> {
        if let Self::Sealed { bytes, .. } = self {
            let mut bytes = mem::take(bytes);
            let is_free = bytes.is_unique();
            // On their way back to a Vec bytes are copied, onto themselves.
            bytes.clear();
            let own = if is_free { bytes.into() } else { Vec::new() };
            *self = Self::Open(own);
        }
        let own = self.patch(0);
        own.clear();
        own
    }

    /// Bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Open(own) => own.capacity(),
            Self::Sealed { memory, .. } => *memory,
        }
    }

    /// Whether both are one: the same bytes in the same place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let (own, other) = (self.bytes(), other.bytes());
        own.as_ptr() == other.as_ptr() && own.len() == other.len()
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
        text.seal();
        drop(text.share());
        let other = text.clone();
        assert!(other.is(&text));
        drop(other);
        text.patch(8)[3] = b'2';
        assert_eq!(text.bytes().as_ptr(), before, "patched where it lies");
        text.seal();
        assert_eq!(text.memory(), 16);
        let sent = text.share();
        text.patch(8)[3] = b'3';
        assert_eq!((&*sent, text.bytes()), (&b"<x>2</x>"[..], &b"<x>3</x>"[..]));
        text.seal();
        let sent = text.share();
        text.clear().extend_from_slice(b"<y/>");
        assert_eq!((&*sent, text.bytes()), (&b"<x>3</x>"[..], &b"<y/>"[..]));
    }

    #[test]
    fn another_text_has_the_memory_of_the_one_before() {
        let mut text = Text::new(b"<x>1</x>", 8);
        let before = text.bytes().as_ptr();
        for _ in 0..2 {
            text.seal();
            drop(text.share());
            text.clear().extend_from_slice(b"<y/>");
            assert_eq!(text.bytes(), b"<y/>");
            assert_eq!((text.bytes().as_ptr(), text.memory()), (before, 16));
        }
    }
}
