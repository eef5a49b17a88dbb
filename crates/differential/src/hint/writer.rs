//! Making hints: what a sender adds to messages that it writes.
//!
//! ```text
//! <?xml …?><e:Envelope …>│<e:Body>…</e:Body></e:Envelope>          the text, as it lies
//!                        └ <e:Header><b:hint …/></e:Header>        a small buffer of its own, sent in between
//! ```
//!
//! The key is computed once for a structure. Which structure a message has is decided by its [`Outline`], which is made while it is
//! encoded; where two structures had the same, a receiver would find the hint wrong. The block stays as it is from message to
//! message, and lengths are written over lengths.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::encode::{EncodeOptions, Encoder, Error, LeafRef, Places};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bytes::{Bytes, BytesMut};

use super::block::{CLOSE, HintBlock, Key};
use super::outline::{Outline, OutlineRecorder};

/// The approximate size of a structure in bytes.
const SIZE: usize = 1024;
/// The number of structures that are kept.
const KNOWN: usize = 8;
/// After this number of structures in a row that did not come again, messages go without hints for a while.
const PATIENCE: u32 = 8;
/// How many messages go without.
const PAUSE: u32 = 64;

/// Writes messages with hints. It belongs to a stream of messages, and serves several as well.
#[derive(Debug, Default)]
pub struct Writer {
    /// Structures; the one used last is last.
    known: Vec<Known>,
    outline: Outline,
    /// Structures in a row that were new.
    new: u32,
    /// How many messages go without hints from now on.
    pause: u32,
}

/// A header block, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint<'w> {
    /// Its text, with the tags of a Header around it if the message has none.
    pub text: &'w [u8],
    /// The byte of the message that it precedes.
    pub at: usize,
}

/// A structure.
#[derive(Debug)]
struct Known {
    /// Held, so that no other Plan has its address.
    plan: Arc<Plan>,
    shape: StructureShape,
    key: Key,
    place: BlockPosition,
    /// What was sent last within a message, and where in it the lengths are.
    text: Vec<u8>,
    lengths: Range<usize>,
}

/// What distinguishes the structures of a Plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StructureShape {
    root: ElementId,
    options: EncodeOptions,
    slots: usize,
    values: usize,
    structure: u64,
}

/// Where a block goes in the messages of a structure.
#[derive(Clone, Debug)]
struct BlockPosition {
    at: usize,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The locations of a message's values, in order.
#[derive(Default)]
pub(super) struct ValueLocations(pub(super) Vec<(usize, usize)>);

impl Places for ValueLocations {
    fn value(&mut self, _: usize, offset: usize, length: usize, _: usize, _: LeafRef) {
        self.0.push((offset, length));
    }
}

impl Writer {
    /// One that knows no structure yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the text of a message to `out`, which is empty, and says what is to be sent within it. Nothing, if a hint is
    /// not worth it, or has no place.
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

    /// Brings a structure to the end, if it is known.
    fn find(&mut self, shape: StructureShape, plan: &Arc<Plan>) -> bool {
        let is_it = |known: &Known| known.shape == shape && Arc::ptr_eq(&known.plan, plan);
        let Some(index) = self.known.iter().rposition(is_it) else {
            return false;
        };
        self.known[index..].rotate_left(1);
        true
    }

    /// A structure that is new.
    #[cold]
    fn meet(&mut self, shape: StructureShape, record: &Record) -> Result<Option<Known>, Error> {
        self.new += 1;
        if self.new > PATIENCE {
            self.pause = PAUSE;
        }
        let (mut text, mut values) = (Vec::new(), ValueLocations::default());
        Encoder::new(shape.options).encode_with(record, &mut text, &mut values)?;
        // The location of a block is computed once for all messages of the structure: no value precedes it.
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

    /// About how many bytes it holds.
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
    /// Puts it into a message that lies in chunks.
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

    /// The message with the hint in it.
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

/// Where a block goes: behind the start tag of the Header, or with a Header of its own behind that of the Envelope.
fn place(text: &[u8]) -> Option<BlockPosition> {
    let mut from = 0;
    // What is not the root's start tag: the declaration, comments, instructions.
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

/// Behind the tag that begins at a place.
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
