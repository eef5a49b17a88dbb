//! Messages written from first to last, of which nothing is kept: their text goes to a buffer that is used again, once the
//! message before has left. (A buffer of some kilobytes that is asked for anew costs as much as a small message.)

use std::cell::Cell;

use bsoap_codec::Record;
use bsoap_codec::encode::{Encoder, Error};
use bytes::Bytes;

use super::chunk::Text;

/// The largest buffer that is used again.
const LARGEST: usize = 64 << 10;

thread_local! {
    /// The text of the message this thread has written last, which somebody may still hold.
    static SPARE: Cell<Option<Text>> = const { Cell::new(None) };
}

/// The text of a message.
///
/// # Errors
/// As [`bsoap_codec::encode()`].
pub(super) fn text(record: &Record) -> Result<Bytes, Error> {
    // The encoder asks for about that much.
    if record.slots().len() * 16 + record.heap().len() > LARGEST {
        let mut text = Vec::new();
        Encoder::default().encode(record, &mut text)?;
        return Ok(text.into());
    }
    // (A thread at its end has no spare any more.)
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    let mut text = spare.unwrap_or_default();
    if !text.is_free() {
        text = Text::default();
    }
    let buffer = text.patch(0);
    buffer.clear();
    Encoder::default().encode(record, buffer)?;
    let is_small = buffer.capacity() <= LARGEST;
    let bytes = text.share();
    if is_small {
        let _ = SPARE.try_with(|spare| spare.set(Some(text)));
    }
    Ok(bytes)
}
