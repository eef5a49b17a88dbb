//! A piece of the text of a message; the caller owns the text.

/// A piece of the text of a message.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'t> {
    /// The text. It begins at the first byte that has not been read yet, or before it.
    pub text: &'t str,
    /// The offset of the text in the message.
    pub base: u64,
    /// Whether the message ends with this piece.
    pub last: bool,
    /// The number of bytes that will follow: memory may be reserved for them, and the limit on the Record's memory is in
    /// proportion to the [whole length](Self::message_length).
    pub beyond: usize,
}

impl<'t> Piece<'t> {
    /// A whole message.
    pub fn whole(text: &'t str) -> Self {
        Self {
            text,
            base: 0,
            last: true,
            beyond: 0,
        }
    }

    /// The length of the whole message in bytes.
    pub fn message_length(&self) -> u64 {
        self.base + (self.text.len() as u64).saturating_add(self.beyond as u64)
    }
}
