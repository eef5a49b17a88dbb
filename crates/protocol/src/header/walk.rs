//! Reads the beginning of a message without decoding it.

use std::ops::ControlFlow;

use bsoap_xml::{Event, Reader};

/// The first piece of a message that is read, in bytes. Each further piece is twice as long.
const FIRST_PIECE: usize = 512;

/// The longest piece that is read, in bytes.
const LONGEST_PIECE: usize = 64 << 10;

/// What is between two pieces: how many bytes have been read.
pub(crate) struct Fed(pub(crate) usize);

/// Calls `see` with each event of a message, and `fed` after each piece, until one of them breaks, and returns what that gives. `None`
/// at the end of the message, or where it is not well-formed: nothing behind that is read.
pub(crate) fn walk<T>(
    message: &[u8],
    mut reader: Reader,
    mut see: impl FnMut(Result<Event<'_>, Fed>) -> ControlFlow<T>,
) -> Option<T> {
    let (mut from, mut length) = (0, FIRST_PIECE);
    while from < message.len() {
        let to = message.len().min(from + length);
        reader.feed(message.get(from..to)?).ok()?;
        while let Some(event) = reader.next().ok()? {
            if let ControlFlow::Break(result) = see(Ok(event)) {
                return Some(result);
            }
        }
        if let ControlFlow::Break(result) = see(Err(Fed(to))) {
            return Some(result);
        }
        (from, length) = (to, (2 * length).min(LONGEST_PIECE));
    }
    None
}
