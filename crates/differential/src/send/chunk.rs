//! The text of a chunk.
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

    /// Changes the bytes: a copy of them with capacity for `reserve` more if somebody else holds them. What counts who holds
    /// them stays with them.
    //
    // What is changed stays where it is made: on its way through other places it is read wider than it was written, which
    // waits for the store.
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
        let mut own = Vec::new();
        if self.bytes.is_unique() {
            // On their way back to a Vec bytes are copied, onto themselves.
            self.bytes.clear();
            own = mem::take(&mut self.bytes).into();
        }
        let result = write(&mut own);
        self.memory = own.capacity();
        self.bytes = own.into();
        self.is_kept = false;
        result
    }

    /// Bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Text {
        let mut text = Text::default();
        text.write(|text| {
            text.reserve_exact(16);
            text.extend_from_slice(bytes);
        });
        text
    }

    #[test]
    fn what_is_sent_never_sees_a_later_edit() {
        let mut text = text(b"<x>1</x>");
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
        text.edit(8, |text| text.extend_from_slice(b"<y/>"));
        assert_eq!(
            (text.bytes(), text.bytes().as_ptr()),
            (&b"<x>5</x><y/>"[..], after)
        );
        let sent = text.share();
        text.edit(8, |text| text.truncate(8));
        assert_eq!((sent.len(), text.bytes()), (12, &b"<x>5</x>"[..]));
        let other = text.clone();
        assert_eq!(other.bytes().as_ptr(), text.bytes().as_ptr());
        text.edit(8, |text| text[3] = b'6');
        assert_eq!(other.bytes(), b"<x>5</x>");
    }

    #[test]
    fn what_is_sent_never_sees_another_text_which_has_its_memory_if_it_has_left() {
        let mut text = text(b"<x>1</x>");
        let before = text.bytes().as_ptr();
        for _ in 0..2 {
            drop(text.share());
            text.write(|text| text.extend_from_slice(b"<y/>"));
            assert_eq!(text.bytes(), b"<y/>");
            assert_eq!((text.bytes().as_ptr(), text.memory()), (before, 16));
        }
        let sent = text.share();
        text.write(|text| text.extend_from_slice(b"<z/>"));
        assert_eq!((&*sent, text.bytes()), (&b"<y/>"[..], &b"<z/>"[..]));
    }
}
