//! Writes messages without a template, to a buffer that is used again when the last message has been sent. (Allocating a
//! buffer of some kilobytes costs as much as writing a small message, and one of megabytes is allocated by the system page
//! by page.)
//!
//! | text | buffer |
//! |---|---|
//! | of some hundred bytes | the thread's; a copy is sent |
//! | of up to 64 KB | the thread's, if the message before has been sent |
//! | longer | the cache's, which counts it |

use std::cell::Cell;

use bsoap_codec::Record;
use bsoap_codec::encode::{Encoder, Error};
use bytes::Bytes;

use super::chunk::ChunkText;
use super::template::Outgoing;

/// The largest text and buffer that a thread keeps, in bytes.
const MAX_THREAD_BUFFER: usize = 64 << 10;
/// Up to about this size copying a message costs less than sharing it.
const MAX_COPIED: usize = 512;
/// The largest buffer for messages that are copied.
const MAX_COPY_BUFFER: usize = 16 << 10;

thread_local! {
    /// The buffer for small texts.
    static SMALL: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    /// The last larger text, which a send may still hold.
    static SPARE: Cell<Option<ChunkText>> = const { Cell::new(None) };
}

/// A low estimate of the length of the text, in bytes.
#[inline]
fn estimate(record: &Record) -> usize {
    record.slots().len() * 16 + record.heap().len()
}

/// Whether the text of a message is too long for the buffer of a thread.
#[inline]
pub(super) fn is_large(record: &Record) -> bool {
    estimate(record) > MAX_THREAD_BUFFER
}

/// Makes a message ready to be sent. A large text is written to `buffer`, unless the text in it is still being sent.
///
/// # Errors
/// As [`bsoap_codec::encode()`].
#[inline]
pub(super) fn prepare(
    record: &Record,
    buffer: &mut Option<Box<ChunkText>>,
    outgoing: &mut Outgoing,
) -> Result<(), Error> {
    let about = estimate(record);
    if about <= MAX_COPIED {
        copied(record, outgoing)
    } else if about <= MAX_THREAD_BUFFER {
        shared(record, outgoing)
    } else {
        let text = buffer.get_or_insert_default();
        write(record, text)?;
        put(outgoing, text.share());
        Ok(())
    }
}

/// Writes a message as if nothing were saved, to measure the time. Returns whether it could be written.
pub(super) fn rewrite(record: &Record) -> bool {
    prepare(record, &mut None, &mut Outgoing::default()).is_ok()
}

// The bytes are made in place: moving them through a `Result` would read wider words than were written, which stalls store
// forwarding.
#[inline]
fn put(outgoing: &mut Outgoing, bytes: Bytes) {
    outgoing.length = bytes.len() as u64;
    outgoing.chunks.push(bytes);
}

/// Writes a message to the buffer of the thread, and copies or shares it. (A thread that ends has no buffers any more.)
fn copied(record: &Record, outgoing: &mut Outgoing) -> Result<(), Error> {
    let mut buffer = SMALL.try_with(Cell::take).unwrap_or_default();
    buffer.clear();
    Encoder::default().encode(record, &mut buffer)?;
    put(outgoing, Bytes::copy_from_slice(&buffer));
    if buffer.capacity() <= MAX_COPY_BUFFER {
        let _ = SMALL.try_with(|small| small.set(buffer));
    }
    Ok(())
}

fn shared(record: &Record, outgoing: &mut Outgoing) -> Result<(), Error> {
    let spare = SPARE.try_with(Cell::take).ok().flatten();
    let mut text = spare.unwrap_or_default();
    write(record, &mut text)?;
    put(outgoing, text.share());
    if text.memory() <= MAX_THREAD_BUFFER {
        let _ = SPARE.try_with(|spare| spare.set(Some(text)));
    }
    Ok(())
}

/// Replaces a text by that of a message, in the same memory if the old text is not being sent.
fn write(record: &Record, text: &mut ChunkText) -> Result<(), Error> {
    text.write(|text| Encoder::default().encode(record, text))
}
