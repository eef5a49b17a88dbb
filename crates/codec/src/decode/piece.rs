//! A piece of the text of a message, which the caller keeps.

/// A piece of the text of a message.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'t> {
    /// The text. It begins with the first byte that was not read yet, or before it.
    pub text: &'t str,
    /// Where it begins in the message.
    pub base: u64,
    /// Whether the message ends where it ends.
    pub last: bool,
    /// How many bytes are known to follow: capacity may be reserved for them.
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
}
