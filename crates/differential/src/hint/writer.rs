//! Making hints: what a sender adds to messages that it writes.
//!
//! ```text
//! <?xml …?><e:Envelope …>│<e:Body>…</e:Body></e:Envelope>          the text, as it lies
//!                        └ <e:Header><b:hint …/></e:Header>        a small buffer of its own, sent in between
//! ```
//!
//! The key is made once for a structure. Whether a message has the structure of the one before is told by how many slots and
//! values it has, and by the distances between its first values: where that is not enough, a receiver finds the hint wrong.

use bsoap_codec::encode::{
    EncodeOptions, Encoder, Error, LeafRef, PieceEncoder, Places, Rows, Stop,
};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Index, Record};
use bytes::{Bytes, BytesMut};

use super::block::{Block, Key, LengthWriter};
use super::key::Hasher;

/// Of so many values the lengths are told; those behind are nearly always of arrays, whose ends are found as fast.
const TOLD: usize = 48;
/// The values told of stand in so much text.
const FRONT: usize = 4 << 10;
/// About so many bytes a structure takes.
const ROOM: usize = 1024;
/// So many structures are known.
const KNOWN: usize = 8;
/// So many structures in a row that did not come again, and messages go without hints for a while.
const PATIENCE: u32 = 8;
/// For so many messages.
const PAUSE: u32 = 64;

/// Writes messages with hints. It belongs to a stream of messages, and serves several as well.
#[derive(Debug, Default)]
pub struct Writer {
    /// Structures; the one used last is last.
    known: Vec<Known>,
    lengths: LengthWriter,
    index: Index,
    /// Structures in a row that were new.
    new: u32,
    /// So many messages go without.
    pause: u32,
}

/// A header block, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// Its text, with the tags of a Header around it if the message has none.
    pub text: Bytes,
    /// The byte of the message that it stands before.
    pub at: usize,
}

/// A structure.
#[derive(Debug)]
struct Known {
    shape: Shape,
    key: Key,
    place: Place,
    /// The lengths told last, and the block that tells them.
    last: Vec<u8>,
    text: Bytes,
}

/// By what structures are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    root: ElementId,
    slots: usize,
    /// Of the first values, how many they are, and a digest of what lies between them.
    values: usize,
    gaps: u64,
    /// Of a message all values of which were told of: how long its text is without them.
    rest: usize,
}

/// Where a block goes in the messages of a structure.
#[derive(Clone, Debug)]
struct Place {
    at: usize,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// What the encoder tells of the first values.
struct Front<'w> {
    lengths: &'w mut LengthWriter,
    /// Where the piece at hand begins.
    base: usize,
    end: usize,
    /// Text of values.
    told: usize,
    values: usize,
    gaps: u64,
}

impl Front<'_> {
    #[inline(always)]
    fn add(&mut self, offset: usize, length: usize) {
        if self.values < TOLD {
            let offset = self.base + offset;
            self.lengths.push(length);
            self.gaps = self.gaps.rotate_left(7) ^ (offset.wrapping_sub(self.end)) as u64;
            self.end = offset + length;
            self.told += length;
        }
        self.values += 1;
    }
}

impl Places for Front<'_> {
    #[inline(always)]
    fn value(&mut self, _: usize, offset: usize, length: usize, _: usize, _: LeafRef) {
        self.add(offset, length);
    }

    #[inline]
    fn rows(&mut self, rows: Rows<'_>) {
        let few = TOLD.saturating_sub(self.values).min(rows.places.len());
        for place in &rows.places[..few] {
            self.add(rows.offset + place.offset as usize, place.length.into());
        }
        self.values += rows.places.len() - few;
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
    ) -> Result<Option<Hint>, Error> {
        if self.pause > 0 {
            self.pause -= 1;
            Encoder::new(options).encode(record, out)?;
            return Ok(None);
        }
        self.lengths.clear();
        let mut front = Front {
            lengths: &mut self.lengths,
            base: 0,
            end: 0,
            told: 0,
            values: 0,
            gaps: 0,
        };
        let mut encoder = PieceEncoder::new(record, options);
        out.reserve(256 + record.slots().len() * 16 + record.heap().len());
        let mut stop = Stop::Size;
        // However long the values are, it is as many of them that are told of.
        while stop != Stop::End && front.values < TOLD {
            front.base = out.len();
            stop = encoder.run(out, FRONT, None, &(), &mut front)?;
        }
        let is_all = stop == Stop::End && front.values <= TOLD;
        let told = front.told;
        let mut shape = Shape {
            root: record.root(),
            slots: record.slots().len(),
            values: front.values.min(TOLD),
            gaps: front.gaps,
            rest: 0,
        };
        while stop != Stop::End {
            stop = encoder.run(out, usize::MAX, None, &(), &mut ())?;
        }
        if is_all {
            shape.rest = out.len() - told;
        }
        let is_last = self.known.last().is_some_and(|last| last.shape == shape);
        if !is_last && !self.find(shape) {
            let Some(known) = self.meet(shape, record, options)? else {
                return Ok(None);
            };
            self.add(known);
        }
        Ok(self.hint())
    }

    /// Brings a structure to the end, if it is known.
    fn find(&mut self, shape: Shape) -> bool {
        let Some(index) = self.known.iter().rposition(|known| known.shape == shape) else {
            return false;
        };
        self.new = 0;
        self.known[index..].rotate_left(1);
        true
    }

    /// A structure that is new.
    #[cold]
    fn meet(
        &mut self,
        shape: Shape,
        record: &Record,
        options: EncodeOptions,
    ) -> Result<Option<Known>, Error> {
        self.new += 1;
        if self.new > PATIENCE {
            self.pause = PAUSE;
        }
        let mut text = Vec::new();
        Encoder::new(options).encode_indexed(record, &mut text, &mut self.index)?;
        let values = self.index.iter().map(|(_, place)| place);
        let values = values.map(|place| (place.offset as usize, place.length as usize));
        Ok(place(&text).map(|place| Known {
            shape,
            key: key(&text, values),
            place,
            last: Vec::new(),
            text: Bytes::new(),
        }))
    }

    fn add(&mut self, known: Known) {
        if self.known.len() >= KNOWN {
            self.known.remove(0);
        }
        self.known.push(known);
    }

    /// The hint of a message of the structure used last, the lengths of whose values have been told.
    #[inline]
    fn hint(&mut self) -> Option<Hint> {
        let known = self.known.last_mut()?;
        let told = self.lengths.finish();
        if known.last != told || known.text.is_empty() {
            known.last.clear();
            known.last.extend_from_slice(told);
            let place = &known.place;
            let room = place.before.len() + place.after.len() + told.len() + 128;
            let mut text = Vec::with_capacity(room);
            text.extend_from_slice(&place.before);
            Block::write(known.key, told, &mut text);
            text.extend_from_slice(&place.after);
            known.text = text.into();
        }
        Some(Hint {
            text: known.text.clone(),
            at: known.place.at,
        })
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        self.known.len() * (size_of::<Known>() + ROOM) + self.index.len() * size_of::<u64>()
    }
}

impl Hint {
    /// That of a message whose text is there already, with the places of its values. Nothing, if it has no place.
    pub fn of(text: &[u8], index: &Index) -> Option<Self> {
        let place = place(text)?;
        let (mut end, mut lengths) = (0, LengthWriter::default());
        let values = || {
            let places = index.iter().map(|(_, found)| found);
            places.map(|found| (found.offset as usize, found.length as usize))
        };
        for (offset, length) in values().take(TOLD) {
            // Items of a list stand in the text of the list.
            if offset >= end {
                lengths.push(length);
                end = offset + length;
            }
        }
        let mut block = place.before;
        Block::write(key(text, values()), lengths.finish(), &mut block);
        block.extend_from_slice(&place.after);
        Some(Self {
            text: block.into(),
            at: place.at,
        })
    }

    /// Puts it into a message that lies in chunks.
    pub fn splice(self, chunks: &mut Vec<Bytes>) {
        let mut before = 0;
        for index in 0..chunks.len() {
            let chunk = &chunks[index];
            if self.at <= before + chunk.len() {
                let behind = chunk.slice(self.at - before..);
                let front = chunk.slice(..self.at - before);
                chunks.splice(index..=index, [front, self.text, behind]);
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
        whole.extend_from_slice(&self.text);
        whole.extend_from_slice(&text[at..]);
        whole.freeze()
    }
}

/// The key of a text whose values stand at these places, in order.
fn key(text: &[u8], values: impl Iterator<Item = (usize, usize)>) -> Key {
    let mut hasher = Hasher::new();
    let mut end = 0;
    for (offset, length) in values {
        // Items of a list stand in the text of the list.
        if let Some(piece) = text.get(end..offset) {
            hasher.text(piece);
            hasher.value();
            end = offset + length;
        }
    }
    hasher.text(text.get(end..).unwrap_or_default());
    hasher.finish()
}

/// Where a block goes: behind the start tag of the Header, or with a Header of its own behind that of the Envelope.
fn place(text: &[u8]) -> Option<Place> {
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
        return (is_it && text[at - 2] != b'/').then_some(Place {
            at,
            before: Vec::new(),
            after: Vec::new(),
        });
    }
    let body = [b"<", prefix, b"Body"].concat();
    text[next..].starts_with(&body).then_some(Place {
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
        let Place { at, before, after } = place(text.as_bytes())?;
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
            let hint = Hint {
                text: Bytes::from_static(b"<>"),
                at,
            };
            let whole = hint.within(text);
            let mut chunks: Vec<Bytes> = text.chunks(3).map(Bytes::copy_from_slice).collect();
            hint.splice(&mut chunks);
            assert_eq!(chunks.concat(), whole);
            assert_eq!(whole.len(), 12);
        }
    }
}
