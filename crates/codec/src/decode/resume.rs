//! Decoding piece by piece, from text that the caller owns. Between pieces the caller can copy the decoder's state, set the
//! decoder back to it, and have it stop at a place.

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
use super::space::Space;
use super::trace::{Site, Trace};
use super::{Decoder, Error};

impl Decoder {
    /// Begins a message whose pieces will be [read](Self::read). A message begun before is abandoned.
    pub fn start(&mut self, root: ElementId) {
        self.restart(root);
    }

    /// Reads a piece, except for an incomplete tag or text at its end: the next piece must begin with that.
    ///
    /// The Record must have exactly the slots and strings of the text read so far. The trace receives the locations of the
    /// values; it covers less than 4 GiB of text.
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

    /// The number of bytes of the text that have been read.
    pub fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// Whether the decoder is between two tags or values, inside the root element, with nothing begun.
    pub fn is_between(&self) -> bool {
        self.reader.is_between() && self.machine.is_between()
    }

    /// A copy of the decoder's state; `record` is the Record filled so far.
    pub fn checkpoint(&self, record: &Record) -> Checkpoint {
        let written = (record.slots.len(), record.heap.len());
        Checkpoint::new(&self.reader, &self.machine, written)
    }

    /// Sets the decoder to a checkpoint. Returns `false`, without a change, if the namespaces in its scope have been
    /// [forgotten](Self::forget).
    ///
    /// Decoding then continues with the Record of the checkpoint, [cut](Checkpoint::cut) back to it, or with another one to
    /// which the checkpoint has been adapted by [renumbering](Checkpoint::renumber).
    #[must_use]
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> bool {
        let is_known = checkpoint.reader.is_known(&self.scopes);
        if is_known {
            self.reader.restore(&checkpoint.reader);
            self.machine.clone_from(&checkpoint.machine);
        }
        is_known
    }

    /// Whether two checkpoints agree: decoding the same text from either gives the same values, apart from the counts of
    /// open loops.
    pub fn agree(&self, one: &Checkpoint, other: &Checkpoint) -> bool {
        one.agrees(other, &self.plan, &self.scopes)
    }

    /// Reads one value again, at `at` in `text`. Returns its slot and its length; its octets, if it has any, are appended
    /// to the heap of `record`. `None` if there is more than its lexical form, such as a comment, or if the value is not
    /// valid, or is a [deviation](super::Deviation), whatever the options accept.
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

    /// Whether the value at a site is its text, in which at most references and line ends are replaced, and is valid whatever it
    /// is.
    #[inline]
    pub fn reads_verbatim(&self, site: Site) -> bool {
        site.leaf()
            .is_some_and(|leaf| self.plan.leaf(leaf).is_any_text())
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
        // An empty text may stand for a default value, which the leaf does not know.
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
            space: Space::of_part(&self.options, self.most_memory, u64::MAX),
            overruns: &mut Vec::new(),
            is_long_list: false,
            machine: &mut self.machine,
            record,
            outer: None,
            sink: (),
            violations: None,
            deviations: Vec::new(),
            until: Until::END,
            log: &mut Log::default(),
        };
        let pushed = builder.push_atom(leaf, value, &NoNamespaces);
        let deviates = !builder.deviations.is_empty();
        let slot = record.slots.get(slots).copied();
        record.slots.truncate(slots);
        match (pushed, slot) {
            (Ok(()), Some(slot)) if !deviates => Some(slot),
            _ => {
                record.heap.truncate(heap);
                None
            }
        }
    }
}
