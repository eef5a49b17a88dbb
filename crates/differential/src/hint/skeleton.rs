//! The skeleton: what a receiver keeps for all messages with one structure key.
//!
//! ```text
//! <e:Envelope …><e:Header><b:hint … key="…" at="…"/></e:Header><e:Body><m:op><x>1.5</x><y>two</y></m:op></e:Body></e:Envelope>
//! └─────────────── head ────────────────┘          └──────── piece 0 ─────────┘   └ piece ┘   └────────── tail ──────────────┘
//!                                                                              field 0     field 1
//! ```
//!
//! Only the lengths in the block and the values of the fields differ between messages of a skeleton. A skeleton is therefore a
//! list of pieces and fields, and the Record of the message from which it was made. Only the slots of the fields and of the
//! block change.

use std::ops::Range;
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error, Piece, Site, Trace};
use bsoap_codec::plan::{ElementId, LeafId, LeafKind};
use bsoap_codec::{Plan, Record};
use bsoap_datatypes::kernel::form::{Blank, Filling, Form, WIDEST};
use bsoap_datatypes::{Datatype, Variety, WhiteSpace};

use super::block::{DIGITS, HintBlock, Key, Lengths, OPEN};

/// The maximum space in bytes that is reserved for a string.
const LARGEST: usize = 4096;

/// The text that all messages with one structure key have in common, and the slots of their values.
#[derive(Debug)]
pub(super) struct Skeleton {
    pub(super) root: ElementId,
    pub(super) key: Key,
    /// The text from the first byte of a message to the end of the key.
    pub(super) head: Box<[u8]>,
    /// The pieces and fields after the block. Equal pieces that are near one another are stored once. A field's `kind` is an
    /// index of `infos`.
    pub(super) form: Form,
    /// How the values of the fields are read.
    pub(super) infos: Vec<Info>,
    /// The slot that stores the block as XML, and the space of the block in the heap.
    pub(super) block: (u32, BlockSpace),
    /// The values of the last message.
    pub(super) values: Arc<Record>,
    /// The number of octets of the heap that every message has: those of the first message, and the space of the strings.
    pub(super) heap: usize,
    /// Messages up to this length in bytes stay within the limits of a Record.
    pub(super) longest: usize,
    /// The limit of a value's length in bytes.
    pub(super) text_length: usize,
    /// The limits of a Record in proportion to its message.
    pub(super) options: DecodeOptions,
    /// Whether the given lengths are ignored, because the sender counts other values than the fields.
    pub(super) is_left_alone: bool,
    /// Whether the kernel may read all values together, if one byte gives the length of each.
    pub(super) is_plain: bool,
    /// The number of messages in a row that did not follow the skeleton.
    pub(super) misses: u32,
}

/// The space of the block in the heap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockSpace {
    /// The offset in the heap.
    pub(super) at: u32,
    /// The size in octets, a multiple of [`WIDEST`].
    pub(super) width: u32,
}

/// How the values of a field are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Info {
    /// The leaf of the value.
    pub(super) site: Site,
    pub(super) kind: LeafKind,
    /// How the kernel reads the value.
    pub(super) filling: Filling,
    /// The quote that ends an attribute value; 0 for an element.
    pub(super) quote: u8,
}

impl Info {
    /// The byte that ends the value.
    #[inline]
    pub(super) fn end(&self) -> u8 {
        match self.quote {
            0 => b'<',
            quote => quote,
        }
    }
}

/// Decodes a message with this hint block, and makes a skeleton of it if possible.
pub(super) fn learn(
    decoder: &mut Decoder,
    root: ElementId,
    message: &[u8],
    block: &HintBlock,
) -> Result<(Arc<Record>, Option<Box<Skeleton>>), Error> {
    let plain = |decoder: &mut Decoder| Ok((Arc::new(decoder.decode(root, message)?), None));
    let Some(text) = plain_text(message) else {
        return plain(decoder);
    };
    let mut record = Record::new(decoder.plan().clone(), root);
    let mut trace = Trace::default();
    decoder.start(root);
    let read = decoder.read(Piece::whole(text), &mut record, Some(&mut trace));
    if read.is_err() {
        // Decoding the whole message reports the error.
        return plain(decoder);
    }
    trace.fit(record.slots().len(), text.len() as u32);
    if !record.warnings().is_empty() || record.is_linked() {
        // A message that follows the skeleton would not get them, or the values that other parts of it have.
        return Ok((Arc::new(record), None));
    }
    let mark = message.len() - text.len();
    let skeleton = Maker::new(decoder, message, mark).make(root, block, &record, &trace);
    let record = Arc::new(record);
    Ok((record, skeleton.map(Box::new)))
}

/// The text of a message in UTF-8, without the byte order mark; `None` if it has another encoding or is 4 GiB long.
fn plain_text(message: &[u8]) -> Option<&str> {
    if message.len() >= u32::MAX as usize {
        return None;
    }
    match bsoap_xml::decode_str(message) {
        Ok(std::borrow::Cow::Borrowed(text)) => Some(text),
        _ => None,
    }
}

/// A piece is compared with this number of pieces before it, to store equal ones once.
const NEAR: usize = 8;

/// Makes a skeleton of a message.
struct Maker<'m> {
    decoder: &'m Decoder,
    message: &'m [u8],
    /// The length of the message's byte order mark in bytes.
    mark: usize,
    /// The bytes of all pieces.
    pieces: Vec<u8>,
    fields: Vec<Blank>,
    infos: Vec<Info>,
    /// The number of octets of heap reserved for strings.
    strings: usize,
}

impl<'m> Maker<'m> {
    fn new(decoder: &'m Decoder, message: &'m [u8], mark: usize) -> Self {
        Self {
            decoder,
            message,
            mark,
            pieces: Vec::new(),
            fields: Vec::new(),
            infos: Vec::new(),
            strings: 0,
        }
    }

    fn make(
        mut self,
        root: ElementId,
        block: &HintBlock,
        record: &Record,
        trace: &Trace,
    ) -> Option<Skeleton> {
        let own = self.slot_of(block, record, trace)?;
        let mut end = block.to;
        let mut lengths = Vec::new();
        let places = trace.starts.iter().zip(&trace.sites).enumerate();
        for (slot, (&start, &site)) in places {
            if site == Site::NONE {
                continue;
            }
            let start = start as usize + self.mark;
            if start < end {
                // There is a value before the block, or inside a text that looked like a block.
                return None;
            }
            if let Some((info, length)) = self.info(site, start) {
                self.push(end..start, (slot, info), length)?;
                lengths.push(length);
                end = start + length;
            }
        }
        let tail = self.piece(end, self.message.len());
        let space = self.reserve(super::block::LONGEST.min(256));
        let digits = block.from + OPEN.len();
        let (mut record, strings) = self.record(record);
        let at = strings + space.start;
        let own_space = BlockSpace {
            at: at as u32,
            width: space.len() as u32,
        };
        // All of the block but the lengths is the same in each message.
        let known = digits + DIGITS - block.from;
        let heap = record.parts_mut().1;
        heap[at..at + known].copy_from_slice(&self.message[block.from..block.from + known]);
        let heap = heap.len();
        let options = self.decoder.options();
        let is_left_alone = self.has_other_lengths(block, &lengths);
        let fillings: Vec<_> = self.infos.iter().map(|info| info.filling).collect();
        Some(Skeleton {
            root,
            key: block.key,
            head: self.message[..digits + DIGITS].into(),
            form: Form::new(self.pieces, self.fields, tail, &fillings)?,
            block: (own as u32, own_space),
            longest: options
                .record_heap
                .checked_sub(heap)?
                .min(usize::try_from(options.limits.total_size).unwrap_or(usize::MAX)),
            text_length: options.limits.text_length,
            options: *options,
            values: Arc::new(record),
            heap,
            is_left_alone,
            is_plain: !is_left_alone && options.limits.text_length >= WIDEST,
            misses: 0,
            infos: self.infos,
        })
    }

    /// Whether the lengths given in the message differ from those found in it.
    fn has_other_lengths(&self, block: &HintBlock, lengths: &[usize]) -> bool {
        let given = Lengths::new(&self.message[block.at..block.at_end]);
        let given: Vec<usize> = given.take(lengths.len() + 1).collect();
        !lengths.starts_with(&given)
    }

    /// The slot in which the block is kept byte for byte; `None` if there is none.
    fn slot_of(&self, block: &HintBlock, record: &Record, trace: &Trace) -> Option<usize> {
        let from = u32::try_from(block.from.checked_sub(self.mark)?).ok()?;
        let text = &self.message[block.from..block.to];
        let options = self.decoder.options();
        let longest = text.len() + super::block::LONGEST;
        if longest > options.limits.markup_length || longest > options.limits.text_length {
            return None;
        }
        let first = trace.starts.partition_point(|&start| start < from);
        let here = trace.starts[first..]
            .iter()
            .take_while(|&&start| start == from);
        (first..).zip(here).map(|(slot, _)| slot).find(|&slot| {
            trace.sites[slot] == Site::NONE && record.octets(record.slots()[slot]) == text
        })
    }

    /// The index of the [`Info`] of the value that begins at `start`, and the value's length. `None` if the value cannot be
    /// read alone.
    fn info(&mut self, site: Site, start: usize) -> Option<(u32, usize)> {
        let leaf = site.leaf()?;
        let before = *self.message.get(start.checked_sub(1)?)?;
        let rest = &self.message[start..];
        let (quote, length) = match site.is_attribute() {
            true if matches!(before, b'"' | b'\'') => (before, memchr::memchr(before, rest)?),
            true => return None,
            false => (0, memchr::memchr(b'<', rest)?),
        };
        if quote == 0 && (before != b'>' || !rest[length..].starts_with(b"</")) {
            return None;
        }
        let known = |info: &Info| info.site == site && info.quote == quote;
        if let Some(index) = self.infos.iter().rposition(known) {
            return Some((index as u32, length));
        }
        // The search above would be quadratic in the number of leaves.
        if self.infos.len() >= 4096 {
            return None;
        }
        let plan = self.decoder.plan();
        let kind = plan.leaf(leaf).kind;
        self.infos.push(Info {
            site,
            kind,
            filling: filling(plan, leaf, quote),
            quote,
        });
        Some((self.infos.len() as u32 - 1, length))
    }

    /// Adds a field of this slot and info, whose value has this length, and the piece before it.
    fn push(
        &mut self,
        piece: Range<usize>,
        (slot, info): (usize, u32),
        value: usize,
    ) -> Option<()> {
        let (piece, length) = self.piece(piece.start, piece.end);
        let known = &self.infos[info as usize];
        let has_space = known.kind.is_in_heap() && known.filling != Filling::Other;
        let space = match has_space {
            true => self.reserve(value),
            false => 0..0,
        };
        self.fields.push(Blank {
            piece,
            length,
            slot: u32::try_from(slot).ok()?,
            heap: space.start as u32,
            width: space.len() as u32,
            kind: info,
        });
        Some(())
    }

    /// Stores the piece between two offsets of the message, unless one of the last pieces is equal. Returns its offset in
    /// `pieces` and its length.
    fn piece(&mut self, from: usize, to: usize) -> (u32, u32) {
        let bytes = &self.message[from..to];
        let near = self.fields.iter().rev().take(NEAR);
        for field in near {
            let (at, length) = (field.piece as usize, field.length as usize);
            if self.pieces[at..at + length] == *bytes {
                return (field.piece, field.length);
            }
        }
        let at = self.pieces.len();
        self.pieces.extend_from_slice(bytes);
        (at as u32, bytes.len() as u32)
    }

    /// Reserves heap space for a string of this length, and a quarter more. Returns the range in the strings' space.
    fn reserve(&mut self, length: usize) -> Range<usize> {
        let width = (length + length / 4 + 1)
            .next_multiple_of(WIDEST)
            .min(LARGEST);
        let at = self.strings;
        self.strings += width;
        at..at + width
    }

    /// The Record that messages are copied from: the one that was read, and behind its heap the space of the strings, whose
    /// offset is returned too.
    fn record(&mut self, record: &Record) -> (Record, usize) {
        let mut copy = record.clone();
        let heap = copy.parts_mut().1;
        let strings = heap.len();
        heap.resize(strings + self.strings, 0);
        for field in &mut self.fields {
            field.heap += strings as u32;
        }
        (copy, strings)
    }
}

/// How the kernel reads the values of a leaf.
fn filling(plan: &Plan, leaf: LeafId, quote: u8) -> Filling {
    let leaf = plan.leaf(leaf);
    if let Some(number) = leaf.kind.number() {
        return Filling::Number(number);
    }
    match leaf.kind {
        LeafKind::Text if leaf.is_listed => Filling::Other,
        LeafKind::Text => match leaf.simple.variety() {
            Variety::Atomic(Datatype::AnyUri) if quote == 0 => Filling::Uri,
            Variety::Atomic(Datatype::DateTime) if quote == 0 => Filling::DateTime,
            Variety::Atomic(_) if leaf.simple.white_space() == WhiteSpace::Preserve => {
                match quote {
                    0 => Filling::Text,
                    quote => Filling::Quoted(quote),
                }
            }
            _ => Filling::Other,
        },
        _ => Filling::Other,
    }
}

impl Skeleton {
    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.head.len()
            + self.form.memory()
            + self.infos.capacity() * size_of::<Info>()
            + self.values.memory()
    }
}
