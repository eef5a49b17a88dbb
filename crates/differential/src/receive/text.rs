//! The text of a message that is kept, and where it may be divided.

use bytes::Bytes;

/// The text of a message in UTF-8, as it was received.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    message: Bytes,
    /// The length of the byte order mark.
    mark: usize,
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

impl Text {
    /// That of a message which is in UTF-8.
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

    /// Whether these bytes were received.
    #[inline]
    pub(super) fn is_of(&self, message: &[u8]) -> bool {
        self.message == message
    }

    pub(super) fn mark(&self) -> usize {
        self.mark
    }
}

/// The length of what declares a text's encoding: its first bytes, and the XML declaration.
pub(super) fn opening(text: &[u8]) -> usize {
    let declaration = match text.starts_with(b"<?xml") {
        true => memchr::memmem::find(text, b"?>").map_or(text.len(), |at| at + 2),
        false => 0,
    };
    declaration.max(FIRST)
}

/// Bytes that distinguish UTF-16, a byte order mark, and an XML declaration.
const FIRST: usize = 6;

/// A good place to stop, behind a tag: the last one that ends before `end` and begins behind `from`.
pub(super) fn cut(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let mut part = text.get(from..end)?;
    // The last tag may go on behind the end; then it is the one before.
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
