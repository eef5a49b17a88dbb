//! The text of a message that is kept, and the places where a text may be divided.

use bytes::Bytes;

/// The text of a message in UTF-8, as it was received.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    message: Bytes,
    /// The length of the byte order mark in bytes; 0 if there is none.
    mark: usize,
}

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

impl Text {
    /// The text of a message in UTF-8.
    pub(super) fn new(message: Bytes) -> Self {
        let mark = match message.starts_with(MARK) {
            true => MARK.len(),
            false => 0,
        };
        Self { message, mark }
    }

    /// The text, without the byte order mark.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.message.get(self.mark..).unwrap_or_default()
    }

    /// Whether the message received has exactly these bytes.
    #[inline]
    pub(super) fn is_of(&self, message: &[u8]) -> bool {
        self.message == message
    }

    /// The length of the byte order mark in bytes; 0 if there is none.
    pub(super) fn mark(&self) -> usize {
        self.mark
    }
}

/// The number of bytes at the front of a text that determine its encoding: the first bytes and the XML declaration.
pub(super) fn opening(text: &[u8]) -> usize {
    let declaration = match text.starts_with(b"<?xml") {
        true => memchr::memmem::find(text, b"?>").map_or(text.len(), |at| at + 2),
        false => 0,
    };
    declaration.max(FIRST)
}

/// This number of bytes distinguishes UTF-16, a byte order mark and an XML declaration.
const FIRST: usize = 6;

/// The offset behind the last end tag that lies completely between `from` and `end`. `None` if there is none.
pub(super) fn cut(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let mut part = text.get(from..end)?;
    // If the last tag continues beyond `end`, the tag before it is used.
    for _ in 0..2 {
        let tag = memchr::memmem::rfind(part, b"</")?;
        if let Some(length) = memchr::memchr(b'>', &part[tag..]) {
            return Some(from + tag + length + 1);
        }
        part = &part[..tag];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_the_last_tag_that_is_whole() {
        let text = b"<a><i>1</i><i>22</i></a>";
        let cuts: Vec<_> = (6..25).map(|end| cut(text, 3, end)).collect();
        let at = |end: usize| [24, 20, 11].into_iter().find(|&cut| cut <= end);
        assert_eq!(cuts, (6..25).map(at).collect::<Vec<_>>());
        assert_eq!(cut(text, 3, 99), None);
    }
}
