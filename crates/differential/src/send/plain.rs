//! Messages written from first to last, of which nothing is kept: their text goes to a buffer that is used again, once the
//! message before has left. (A buffer of some kilobytes that is asked for anew costs as much as a small message, and one of
//! megabytes comes from the system page by page.)
//!
//! | text | buffer |
//! |---|---|
//! | of some hundred bytes | the thread's; what is sent is a copy |
//! | of up to 64 KB | the thread's, if the message before has left |
//! | longer | the store's, which counts it |

use std::cell::Cell;

use bsoap_codec::Record;
use bsoap_codec::encode::{Encoder, Error};
use bytes::Bytes;

use super::chunk::Text;
use super::template::Outgoing;

/// The largest text and buffer that a thread keeps.
const LARGEST: usize = 64 << 10;
/// Of messages of about so many bytes a copy costs less than to share them.
const COPIED: usize = 512;
/// The largest buffer for messages that are copied.
const SCRATCH: usize = 16 << 10;

thread_local! {
    /// The buffer for small texts.
    static SMALL: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    /// The last larger text, which somebody may still hold.
    static SPARE: Cell<Option<Text>> = const { Cell::new(None) };
}

/// What the encoder asks for: most texts are somewhat longer.
#[inline]
fn estimate(record: &Record) -> usize {
    record.slots().len() * 16 + record.heap().len()
}

/// Whether the text of a message is too long for the buffer of a thread.
#[inline]
pub(super) fn is_large(record: &Record) -> bool {
    estimate(record) > LARGEST
}

/// Makes a message ready to be sent, in what has no chunk. Its text, if that is large, goes to `buffer`, if nobody holds
/// what is in that any more.
///
/// # Errors
/// As [`bsoap_codec::encode()`].
#[inline]
pub(super) fn prepare(
    record: &Record,
    buffer: &mut Option<Box<Text>>,
    outgoing: &mut Outgoing,
) -> Result<(), Error> {
    let about = estimate(record);
    if about <= COPIED {
        copied(record, outgoing)
    } else if about <= LARGEST {
        shared(record, outgoing)
    } else {
        let text = buffer.get_or_insert_default();
        write(record, text)?;
        put(outgoing, text.share());
        Ok(())
    }
}

// The bytes are made where they stay: on their way through a `Result` they are read wider than they were written, which
// waits.
#[inline]
fn put(outgoing: &mut Outgoing, bytes: Bytes) {
    outgoing.length = bytes.len() as u64;
    outgoing.chunks.push(bytes);
}

/// (A thread at its end has no buffers any more.)
fn copied(record: &Record, outgoing: &mut Outgoing) -> Result<(), Error> {
    let mut buffer = SMALL.try_with(Cell::take).unwrap_or_default();
    buffer.clear();
    Encoder::default().encode(record, &mut buffer)?;
    put(outgoing, Bytes::copy_from_slice(&buffer));
    if buffer.capacity() <= SCRATCH {
        let _ = SMALL.try_with(|small| small.set(buffer));
    }
    Ok(())
}

fn shared(record: &Record, outgoing: &mut Outgoing) -> Result<(), Error> {
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    let mut text = spare.unwrap_or_default();
    write(record, &mut text)?;
    put(outgoing, text.share());
    if text.memory() <= LARGEST {
        let _ = SPARE.try_with(|spare| spare.set(Some(text)));
    }
    Ok(())
}

/// Writes a message in place of another, which whoever holds it keeps.
fn write(record: &Record, text: &mut Text) -> Result<(), Error> {
    text.write(|text| Encoder::default().encode(record, text))
}
