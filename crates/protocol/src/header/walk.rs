//! Reads the beginning of a message without decoding it.

use std::ops::ControlFlow;

use bsoap_xml::{Event, Reader};

/// The first piece of a message that is read, in bytes. Each further piece is twice as long.
const FIRST_PIECE: usize = 512;

/// The longest piece that is read, in bytes.
const LONGEST_PIECE: usize = 64 << 10;

/// What is seen of a message.
pub(crate) enum Seen<'e> {
    Event(Event<'e>),
    /// The end of a piece: this many bytes have been read, the last of which may be no event yet.
    Bytes(usize),
}

/// Calls `see` with each event of a message, and at the end of each piece, until it breaks, and returns what that gives. `None` at the
/// end of the message, or where it is not well-formed: nothing behind that is read.
pub(crate) fn walk<T>(
    message: &[u8],
    mut reader: Reader,
    mut see: impl FnMut(Seen<'_>) -> ControlFlow<T>,
) -> Option<T> {
    let (mut from, mut length) = (0, FIRST_PIECE);
    while from < message.len() {
        let to = message.len().min(from + length);
        reader.feed(message.get(from..to)?).ok()?;
        while let Some(event) = reader.next().ok()? {
            if let ControlFlow::Break(result) = see(Seen::Event(event)) {
                return Some(result);
            }
        }
        if let ControlFlow::Break(result) = see(Seen::Bytes(to)) {
            return Some(result);
        }
        (from, length) = (to, (2 * length).min(LONGEST_PIECE));
    }
    None
}
