//! A chunk: a stretch of the text with its part of the Index and the encoder's state at its first
//! byte.
//!
//! A send in flight holds the text of each chunk. Who would patch it then gets a copy, and the send
//! never sees it: copy on write. Templates for several peers share chunks in the same way.

use std::mem;

use bytes::{Bytes, BytesMut};

/// The text of a chunk, as sends hold it. Whoever is the only one to hold it may change it in its own memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    bytes: Bytes,
    /// Bytes of memory, those behind the text included.
    memory: usize,
    /// Whether their count stays with the bytes when they are edited. (That of bytes that were a `Vec` does not.)
    is_kept: bool,
}

impl Text {
    /// Of these bytes, with room for `reserve` more.
    pub(crate) fn new(bytes: &[u8], reserve: usize) -> Self {
        let own = copy(bytes, reserve);
        Self {
            memory: own.capacity(),
            bytes: own.into(),
            is_kept: false,
        }
    }

    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes as a send holds them: not copied, and never changed.
    #[inline]
    pub(crate) fn share(&self) -> Bytes {
        self.bytes.clone()
    }

    /// Changes the bytes: a copy of them with room for `reserve` more if somebody else holds them.
    //
    // What is changed stays where it is made: on its way through other places it is read wider than it was written, which
    // waits for the store.
    #[inline]
    pub(crate) fn change<R>(
        &mut self,
        reserve: usize,
        change: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> R {
        let mut own: Vec<u8> = if self.bytes.is_unique() {
            mem::take(&mut self.bytes).into()
        } else {
            copy(&self.bytes, reserve)
        };
        let result = change(&mut own);
        self.memory = own.capacity();
        self.bytes = own.into();
        self.is_kept = false;
        result
    }

    /// The same, for a few bytes: what counts who holds them is not asked for anew each time.
    #[inline]
    pub(crate) fn edit<R>(&mut self, reserve: usize, edit: impl FnOnce(&mut BytesMut) -> R) -> R {
        let (mut own, mut is_kept) = match mem::take(&mut self.bytes).try_into_mut() {
            Ok(own) => (own, self.is_kept),
            Err(shared) => {
                let mut own = BytesMut::with_capacity(shared.len() + reserve);
                own.extend_from_slice(&shared);
                (own, false)
            }
        };
        let place = own.as_ptr();
        let result = edit(&mut own);
        is_kept &= own.as_ptr() == place;
        if !is_kept {
            // Bytes of which a part was taken, be it nothing, have a count; and keep it.
            drop(own.split_off(own.capacity()));
        }
        self.is_kept = true;
        self.memory = own.capacity();
        self.bytes = own.freeze();
        result
    }

    /// Writes another text: in the same memory, unless somebody else holds that.
    #[inline]
    pub(crate) fn write<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        if self.bytes.is_unique() {
            // On their way back to a Vec bytes are copied, onto themselves.
            self.bytes.clear();
        } else {
            self.bytes = Bytes::new();
        }
        self.change(0, write)
    }

    /// Bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Whether both are one: the same bytes in the same place.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let (own, other) = (self.bytes(), other.bytes());
        own.as_ptr() == other.as_ptr() && own.len() == other.len()
    }
}

fn copy(bytes: &[u8], reserve: usize) -> Vec<u8> {
    let mut own = Vec::with_capacity(bytes.len() + reserve);
    own.extend_from_slice(bytes);
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_never_sees_a_later_patch() {
        let mut text = Text::new(b"<x>1</x>", 8);
        let before = text.bytes().as_ptr();
        text.change(8, |text| text[3] = b'2');
        drop(text.share());
        let other = text.clone();
        assert!(other.is(&text));
        drop(other);
        text.change(8, |text| text[3] = b'2');
        assert_eq!(text.bytes().as_ptr(), before, "patched where it lies");
        assert_eq!(text.memory(), 16);
        let sent = text.share();
        text.change(8, |text| text[3] = b'3');
        assert_eq!((&*sent, text.bytes()), (&b"<x>2</x>"[..], &b"<x>3</x>"[..]));
        let sent = text.share();
        text.write(|text| text.extend_from_slice(b"<y/>"));
        assert_eq!((&*sent, text.bytes()), (&b"<x>3</x>"[..], &b"<y/>"[..]));
    }

    #[test]
    fn what_is_sent_never_sees_a_later_edit() {
        let mut text = Text::new(b"<x>1</x>", 8);
        let before = text.bytes().as_ptr();
        for digit in b'2'..b'5' {
            drop(text.share());
            text.edit(8, |text| text[3] = digit);
            assert_eq!((text.bytes().as_ptr(), text.memory()), (before, 16));
        }
        let sent = text.share();
        text.edit(8, |text| text[3] = b'5');
        assert_eq!((&*sent, text.bytes()), (&b"<x>4</x>"[..], &b"<x>5</x>"[..]));
        let after = text.bytes().as_ptr();
        // In the one way and in the other.
        text.change(8, |text| text[3] = b'6');
        text.edit(8, |text| text.extend_from_slice(b"<y/>"));
        assert_eq!(
            (text.bytes(), text.bytes().as_ptr()),
            (&b"<x>6</x><y/>"[..], after)
        );
        let sent = text.share();
        text.change(8, |text| text.truncate(8));
        assert_eq!((sent.len(), text.bytes()), (12, &b"<x>6</x>"[..]));
    }

    #[test]
    fn another_text_has_the_memory_of_the_one_before() {
        let mut text = Text::new(b"<x>1</x>", 8);
        let before = text.bytes().as_ptr();
        for _ in 0..2 {
            drop(text.share());
            text.write(|text| text.extend_from_slice(b"<y/>"));
            assert_eq!(text.bytes(), b"<y/>");
            assert_eq!((text.bytes().as_ptr(), text.memory()), (before, 16));
        }
    }
}
