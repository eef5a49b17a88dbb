//! The text of a message that is kept, and where it may be divided.

use bytes::Bytes;

/// The text of a message.
#[derive(Debug)]
pub(super) enum Text {
    /// As it came, in UTF-8; so many bytes are a byte order mark.
    Came(Bytes, usize),
    /// Decoded or put together.
    Made(String),
}

impl Default for Text {
    fn default() -> Self {
        Self::Made(String::new())
    }
}

impl Text {
    /// The text, without a byte order mark.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Came(bytes, mark) => bytes.get(*mark..).unwrap_or_default(),
            Self::Made(text) => text.as_bytes(),
        }
    }

    /// Whether it came as these bytes.
    #[inline]
    pub(super) fn came_as(&self, message: &[u8]) -> bool {
        matches!(self, Self::Came(bytes, _) if bytes == message)
    }

    /// The byte order mark's length, if it is as it came.
    pub(super) fn mark(&self) -> Option<usize> {
        match self {
            Self::Came(_, mark) => Some(*mark),
            Self::Made(_) => None,
        }
    }
}

/// Where a text tells its encoding: its first bytes, and the XML declaration.
pub(super) fn opening(text: &[u8]) -> usize {
    let declaration = match text.starts_with(b"<?xml") {
        true => memchr::memmem::find(text, b"?>").map_or(text.len(), |at| at + 2),
        false => 0,
    };
    declaration.max(FIRST)
}

/// The bytes that tell UTF-16, a byte order mark, and whether there is a declaration.
const FIRST: usize = 6;

/// A good place to stop, behind a tag: the last one that ends before `end` and begins behind `from`.
pub(super) fn cut(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let mut stretch = text.get(from..end)?;
    // The last tag may go on behind the end; then it is the one before.
    for _ in 0..2 {
        let tag = memchr::memmem::rfind(stretch, b"</")?;
        if let Some(length) = memchr::memchr(b'>', &stretch[tag..]) {
            return Some(from + tag + length + 1);
        }
        stretch = &stretch[..tag];
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
