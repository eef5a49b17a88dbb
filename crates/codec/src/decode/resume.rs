//! A message read piece by piece, from text that the caller keeps: so that the decoder can be asked for its state between
//! pieces, be set back to it, and be stopped at a place.

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_xml::scan;

use crate::plan::{ElementId, LeafId};
use crate::record::Record;

use super::builder::Builder;
use super::checkpoint::Checkpoint;
use super::piece::Piece;
use super::place::Until;
use super::plain::number;
use super::skeleton::{Log, MAX_ATTRIBUTE_LENGTH};
use super::trace::{Site, Trace};
use super::{Decoder, Error};

impl Decoder {
    /// Begins a message whose pieces will be [read](Self::read). One that was begun before is given up.
    pub fn start(&mut self, root: ElementId) {
        self.restart(root);
    }

    /// Reads on: all of a piece, but for what its end leaves incomplete. That is to be read again with what follows.
    ///
    /// The Record must have been cut back to where the decoder is, as it is if nobody else changed it. The trace
    /// receives the locations of the values; it covers less than 4 GiB of text.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn read(
        &mut self,
        piece: Piece<'_>,
        record: &mut Record,
        trace: Option<&mut Trace>,
    ) -> Result<(), Error> {
        match trace {
            None => self.run(piece, record, (), None),
            Some(trace) => self.run(piece, record, trace, None),
        }
    }

    /// How much of the text has been read.
    pub fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// Whether the decoder is between two tags or values, inside the root element, with nothing begun.
    pub fn is_between(&self) -> bool {
        self.reader.is_between() && self.machine.is_between()
    }

    /// All that is remembered of the message so far, of which `record` has been filled.
    pub fn checkpoint(&self, record: &Record) -> Checkpoint {
        let written = (record.slots.len(), record.heap.len());
        Checkpoint::new(&self.reader, &self.machine, written)
    }

    /// Goes back, or ahead, to a checkpoint. `false` if it is of no use any more, since the namespaces in its scope have
    /// been [forgotten](Self::forget); then nothing is changed.
    ///
    /// The Record to go on with is that of the checkpoint, [cut](Checkpoint::cut) back to it, or another that has been
    /// made to correspond by [renumbering](Checkpoint::renumber).
    #[must_use]
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> bool {
        let is_known = checkpoint.reader.is_known(&self.scopes);
        if is_known {
            self.reader.restore(&checkpoint.reader);
            self.machine.clone_from(&checkpoint.machine);
        }
        is_known
    }

    /// Whether reading on from one of these finds the same as reading on from the other, but for the counts of loops.
    pub fn agree(&self, one: &Checkpoint, other: &Checkpoint) -> bool {
        one.agrees(other, &self.plan, &self.scopes)
    }

    /// Re-reads one value by itself, at `at` of `text`: its slot, whose octets are appended to the heap of
    /// `record`, and its length. Nothing, if there is anything but its plain lexical form; or if that is wrong.
    #[inline]
    pub fn read_again(
        &mut self,
        site: Site,
        text: &[u8],
        at: usize,
        record: &mut Record,
    ) -> Option<(u64, usize)> {
        let leaf = site.leaf()?;
        let kind = self.plan.leaf(leaf).kind;
        if !site.is_attribute()
            && let Some((slot, length)) = number(kind, text.get(at..)?)
            && text.get(at + length..at + length + 2) == Some(b"</")
        {
            return Some((slot, length));
        }
        self.text_again(site, text, at, record)
    }

    /// Whether the value at a site is its own text, with nothing replaced but references and line ends.
    #[inline]
    pub fn reads_verbatim(&self, site: Site) -> bool {
        site.leaf()
            .is_some_and(|leaf| self.plan.leaf(leaf).is_verbatim)
    }

    #[inline(never)]
    fn text_again(
        &mut self,
        site: Site,
        text: &[u8],
        at: usize,
        record: &mut Record,
    ) -> Option<(u64, usize)> {
        let leaf = site.leaf()?;
        let rest = text.get(at..)?;
        let (length, special) = match site.is_attribute() {
            true => {
                let quote = *text.get(at.checked_sub(1)?)?;
                let length = scan::find_value_special(rest, quote);
                let is_it = rest.get(length) == Some(&quote) && length <= MAX_ATTRIBUTE_LENGTH;
                (is_it.then_some(length)?, length)
            }
            false => {
                let special = scan::find_text_special(rest);
                let mut length = special;
                while *rest.get(length)? != b'<' {
                    length += 1 + scan::find_markup(rest.get(length + 1..)?);
                }
                (
                    rest[length..].starts_with(b"</").then_some(length)?,
                    special,
                )
            }
        };
        // An empty text may be replaced by a default, which the leaf does not know.
        if length == 0 || length > self.options.limits.text_length {
            return None;
        }
        let text = std::str::from_utf8(rest.get(..length)?).ok()?;
        let slot = match special == length {
            true => self.atom_again(leaf, text, record)?,
            false => {
                // References or line ends are replaced.
                let mut value = Vec::with_capacity(length);
                bsoap_xml::decode_text(text, &self.options.limits, &mut value)?;
                self.atom_again(leaf, std::str::from_utf8(&value).ok()?, record)?
            }
        };
        Some((slot, length))
    }

    fn atom_again(&mut self, id: LeafId, value: &str, record: &mut Record) -> Option<u64> {
        let leaf = self.plan.leaf(id);
        let (slots, heap) = (record.slots.len(), record.heap.len());
        let mut builder = Builder {
            plan: &self.plan,
            options: &self.options,
            machine: &mut self.machine,
            record,
            sink: (),
            violations: None,
            until: Until::END,
            log: &mut Log::default(),
        };
        let pushed = builder.push_atom(leaf, value, &NoNamespaces);
        let slot = record.slots.get(slots).copied();
        record.slots.truncate(slots);
        match (pushed, slot) {
            (Ok(()), Some(slot)) => Some(slot),
            _ => {
                record.heap.truncate(heap);
                None
            }
        }
    }
}
