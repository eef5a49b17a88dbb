//! Writing messages with hints.
//!
//! ```text
//! <?xml …?><e:Envelope …>│<e:Body>…</e:Body></e:Envelope>          the text as it was encoded
//!                        └ <e:Header><b:hint …/></e:Header>        a separate buffer that is sent in between
//! ```
//!
//! The key is computed once for each structure. The [`Outline`] that is made while a message is encoded identifies its
//! structure. If two structures had the same outline, receivers would find the hint wrong and decode the message. The block is
//! kept from message to message, and new lengths are written over the old ones.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::encode::{EncodeOptions, Encoder, Error, LeafRef, Places};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bytes::{Bytes, BytesMut};

use super::block::{CLOSE, HintBlock, Key};
use super::outline::{Outline, OutlineRecorder};

/// The approximate size in bytes of what is kept of a structure.
const SIZE: usize = 1024;
/// The number of structures that are kept.
const KNOWN: usize = 8;
/// After this number of new structures in a row, the next messages are written without hints.
const PATIENCE: u32 = 8;
/// The number of messages that are then written without hints.
const PAUSE: u32 = 64;

/// Writes the messages of one or several streams with hints.
#[derive(Debug, Default)]
pub struct Writer {
    /// The structures of the last messages, the most recently used last.
    known: Vec<Known>,
    outline: Outline,
    /// The number of new structures in a row.
    new: u32,
    /// The number of messages that are still to be written without hints.
    pause: u32,
}

/// A header block with a hint, and its place in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint<'w> {
    /// The text of the block, inside a Header element if the message has no Header.
    pub text: &'w [u8],
    /// The offset in the message at which the text is to be inserted.
    pub at: usize,
}

/// A structure of messages, and its header block.
#[derive(Debug)]
struct Known {
    /// The Plan is held so that no other Plan gets its address.
    plan: Arc<Plan>,
    shape: StructureShape,
    key: Key,
    place: BlockPosition,
    /// The text inserted into the last message.
    text: Vec<u8>,
    /// The range of the lengths in `text`.
    lengths: Range<usize>,
}

/// Identifies a structure among those of a Plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StructureShape {
    root: ElementId,
    options: EncodeOptions,
    slots: usize,
    values: usize,
    structure: u64,
}

/// The place of a block in the messages of a structure.
#[derive(Clone, Debug)]
struct BlockPosition {
    /// The offset in the message.
    at: usize,
    /// What is written before the hint block: the start tag of a Header that is added because the message has none;
    /// otherwise empty.
    before: Vec<u8>,
    /// What is written after the hint block: the end tag of a Header that is added because the message has none; otherwise
    /// empty.
    after: Vec<u8>,
}

/// The offsets and lengths of a message's values, in the order of the text.
#[derive(Default)]
pub(super) struct ValueLocations(pub(super) Vec<(usize, usize)>);

impl Places for ValueLocations {
    fn value(&mut self, _: usize, offset: usize, length: usize, _: usize, _: LeafRef) {
        self.0.push((offset, length));
    }
}

impl Writer {
    /// A writer that knows no structure.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the text of a message to `out`, which is empty, and returns the hint to be inserted into it. `None` if the text
    /// has no place for a hint, or if most of the last messages had new structures.
    ///
    /// # Errors
    /// As [`bsoap_codec::encode()`].
    pub fn write(
        &mut self,
        record: &Record,
        options: EncodeOptions,
        out: &mut Vec<u8>,
    ) -> Result<Option<Hint<'_>>, Error> {
        let encoder = Encoder::new(options);
        if self.pause > 0 {
            self.pause -= 1;
            encoder.encode(record, out)?;
            return Ok(None);
        }
        let mut recorder = OutlineRecorder::new(record, &mut self.outline);
        encoder.encode_with(record, out, &mut recorder)?;
        recorder.finish();
        let shape = StructureShape {
            root: record.root(),
            options,
            slots: record.slots().len(),
            values: self.outline.values,
            structure: self.outline.structure,
        };
        if self.find(shape, record.plan()) {
            self.new = 0;
        } else {
            let Some(known) = self.meet(shape, record)? else {
                return Ok(None);
            };
            self.add(known);
        }
        let lengths = self.outline.lengths();
        Ok(self.known.last_mut().map(|known| known.hint(lengths)))
    }

    /// Moves a structure to the end of `known`. Returns `false` if it is not known.
    fn find(&mut self, shape: StructureShape, plan: &Arc<Plan>) -> bool {
        let is_it = |known: &Known| known.shape == shape && Arc::ptr_eq(&known.plan, plan);
        let Some(index) = self.known.iter().rposition(is_it) else {
            return false;
        };
        self.known[index..].rotate_left(1);
        true
    }

    /// Makes a structure for the first message that has it. `None` if its text has no place for a hint.
    #[cold]
    fn meet(&mut self, shape: StructureShape, record: &Record) -> Result<Option<Known>, Error> {
        self.new += 1;
        if self.new > PATIENCE {
            self.pause = PAUSE;
        }
        let (mut text, mut values) = (Vec::new(), ValueLocations::default());
        Encoder::new(shape.options).encode_with(record, &mut text, &mut values)?;
        // The place of a block must be the same in all messages of the structure, so no value may precede it.
        let first = values.0.first().map_or(text.len(), |&(offset, _)| offset);
        Ok(place(&text)
            .filter(|place| place.at <= first)
            .map(|place| Known {
                plan: record.plan().clone(),
                shape,
                key: key(&text, &values.0),
                place,
                text: Vec::new(),
                lengths: 0..0,
            }))
    }

    fn add(&mut self, known: Known) {
        if self.known.len() >= KNOWN {
            self.known.remove(0);
        }
        self.known.push(known);
    }

    /// The approximate number of bytes held.
    pub fn memory(&self) -> usize {
        self.known.len() * (size_of::<Known>() + SIZE)
    }
}

impl Known {
    /// The hint of a message of this structure, whose values have these lengths.
    fn hint(&mut self, lengths: &[u8]) -> Hint<'_> {
        match self.text.get_mut(self.lengths.clone()) {
            Some(last) if !last.is_empty() && last.len() == lengths.len() => {
                last.copy_from_slice(lengths);
            }
            _ => self.write_block(lengths),
        }
        Hint {
            text: &self.text,
            at: self.place.at,
        }
    }

    fn write_block(&mut self, lengths: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(&self.place.before);
        HintBlock::write(self.key, lengths, &mut self.text);
        let end = self.text.len() - CLOSE.len();
        self.lengths = end - lengths.len()..end;
        self.text.extend_from_slice(&self.place.after);
    }
}

impl Hint<'_> {
    /// Inserts the hint into a message that consists of chunks.
    pub fn splice(&self, chunks: &mut Vec<Bytes>) {
        let mut before = 0;
        for index in 0..chunks.len() {
            let chunk = &chunks[index];
            if self.at <= before + chunk.len() {
                let behind = chunk.slice(self.at - before..);
                let front = chunk.slice(..self.at - before);
                let text = Bytes::copy_from_slice(self.text);
                chunks.splice(index..=index, [front, text, behind]);
                return;
            }
            before += chunk.len();
        }
    }

    /// Returns a copy of the message with the hint inserted.
    pub fn within(&self, text: &[u8]) -> Bytes {
        let at = self.at.min(text.len());
        let mut whole = BytesMut::with_capacity(text.len() + self.text.len());
        whole.extend_from_slice(&text[..at]);
        whole.extend_from_slice(self.text);
        whole.extend_from_slice(&text[at..]);
        whole.freeze()
    }
}

/// The key of a text whose values are at these locations, in order: a hash of the text between them. It need not be a
/// cryptographic one, because a receiver compares the text.
fn key(text: &[u8], values: &[(usize, usize)]) -> Key {
    let mut hashers = [0, 1].map(|half: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(half);
        hasher
    });
    let mut end = 0;
    for &(offset, length) in values.iter().chain([&(text.len(), 0)]) {
        // The items of a list are within the text of the list.
        if let Some(piece) = text.get(end..offset) {
            hashers.iter_mut().for_each(|hasher| piece.hash(hasher));
            end = offset + length;
        }
    }
    let [high, low] = hashers.map(|hasher| u128::from(hasher.finish()));
    Key(high << 64 | low)
}

/// The place of a block: after the start tag of the Header, or, with a new Header, after the start tag of the Envelope. `None`
/// if the text does not begin with an Envelope that contains a Header or a Body.
fn place(text: &[u8]) -> Option<BlockPosition> {
    let mut from = 0;
    // Skips the XML declaration, comments and processing instructions.
    let root = loop {
        let at = from + memchr::memchr(b'<', &text[from..])?;
        match text.get(at + 1)? {
            b'?' => from = at + memchr::memmem::find(&text[at..], b"?>")? + 2,
            b'!' => from = at + memchr::memmem::find(&text[at..], b"-->")? + 3,
            _ => break at,
        }
    };
    let end = tag_end(text, root)?;
    let name = name(&text[root + 1..]);
    let prefix = name.strip_suffix(b"Envelope")?;
    let space = text[end..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace());
    let next = end + space.count();
    let header = [b"<", prefix, b"Header"].concat();
    if text[next..].starts_with(&header) {
        let is_it = self::name(&text[next + 1..]) == &header[1..];
        let at = tag_end(text, next)?;
        return (is_it && text[at - 2] != b'/').then_some(BlockPosition {
            at,
            before: Vec::new(),
            after: Vec::new(),
        });
    }
    let body = [b"<", prefix, b"Body"].concat();
    text[next..].starts_with(&body).then_some(BlockPosition {
        at: end,
        before: [&header[..], b">"].concat(),
        after: [b"</", &header[1..], b">"].concat(),
    })
}

/// The end of the tag that begins at `from`; `None` if it does not end.
fn tag_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', text.get(at..)?)?;
        match text[at] {
            b'>' => return Some(at + 1),
            quote => at += 2 + memchr::memchr(quote, &text[at + 1..])?,
        }
    }
}

/// The name at the front of a text.
fn name(text: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    &text[..text.iter().position(is_end).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str) -> Option<String> {
        let BlockPosition { at, before, after } = place(text.as_bytes())?;
        let (front, behind) = text.split_at(at);
        let [before, after] = [before, after].map(|part| String::from_utf8(part).expect("text"));
        Some(format!("{front}{before}|{after}{behind}"))
    }

    #[test]
    fn a_block_is_the_first_of_the_header() {
        for (text, expected) in [
            (
                "<?xml version='1.0'?><!-- <a> --><e:Envelope xmlns:e='>'><e:Body/></e:Envelope>",
                "<?xml version='1.0'?><!-- <a> --><e:Envelope xmlns:e='>'><e:Header>|</e:Header><e:Body/></e:Envelope>",
            ),
            (
                "<Envelope>\n <Header a=\"/>\"><x/></Header><Body/></Envelope>",
                "<Envelope>\n <Header a=\"/>\">|<x/></Header><Body/></Envelope>",
            ),
        ] {
            assert_eq!(placed(text).as_deref(), Some(expected));
        }
        for text in [
            "",
            "<e:Envelope",
            "<e:Envelope><e:Header/><e:Body/></e:Envelope>",
            "<e:Envelope><e:Headers><e:Body/></e:Envelope>",
            "<e:Envelope><!-- --><e:Body/></e:Envelope>",
            "<order><Body/></order>",
        ] {
            assert_eq!(placed(text), None, "{text}");
        }
    }

    #[test]
    fn a_block_is_put_between_chunks_or_into_one() {
        let text = b"0123456789";
        for at in 0..=10 {
            let hint = Hint { text: b"<>", at };
            let whole = hint.within(text);
            let mut chunks: Vec<Bytes> = text.chunks(3).map(Bytes::copy_from_slice).collect();
            hint.splice(&mut chunks);
            assert_eq!(chunks.concat(), whole);
            assert_eq!(whole.len(), 12);
        }
    }
}
