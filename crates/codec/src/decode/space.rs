//! How large a Record may become while its message is read.
//!
//! An absent element takes slots too, so a short message of a wide type can need a large Record. The limit on its memory is
//! therefore in proportion to the text. Of a message that is fed in pieces the length is not known before its end:
//!
//! ```text
//! memory of the Record ≤ limit for the bytes fed so far     read on
//!                      > …, and more bytes may follow       wait: the bytes fed are kept unread
//!                      > …, and the message has ended       error, at the tag where decoding the whole text would end
//! ```
//!
//! So a message is accepted or refused whatever its pieces are, and a Record never exceeds the limit for the bytes that have
//! been fed by more than one element.

use crate::record::Record;

use super::builder::Builder;
use super::error::{Error, ErrorKind};
use super::options::DecodeOptions;
use super::sink::Sink;

/// The limits of one Record.
///
/// The fast path compares with `fast_slots` and `fast_heap` only, a number each. When it is entered first, what is left is
/// [shared out](Builder::share_space) between them, half for the slots and half for the heap. When it has used up one of the shares, it
/// leaves to the slow path, and what is left then is shared out again: a few times in the largest Records only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// The number of slots, and one more, that the fast path may write.
    pub(super) fast_slots: usize,
    /// The number of heap bytes that the fast path may write.
    pub(super) fast_heap: usize,
    /// The largest number of bytes of slots and heap together.
    total: usize,
    /// Beyond this number of bytes decoding waits for more of the text.
    pause: usize,
    /// The number of bytes that the caller allows.
    most: usize,
}

/// A limit that is exceeded by so many bytes of memory, if the message ends before it is long enough for them.
#[derive(Clone, Debug)]
pub(super) struct Overrun {
    memory: usize,
    offset: u64,
    path: String,
}

impl Space {
    /// The limits for a text of `length` bytes. `most`: the limit on memory that the [caller](super::Decoder::limit_record)
    /// set.
    #[inline]
    pub(super) fn of_whole(options: &DecodeOptions, most: usize, length: u64) -> Self {
        Self {
            fast_slots: 0,
            fast_heap: 0,
            total: options.record_memory(length).min(most),
            pause: usize::MAX,
            most,
        }
    }

    /// The limits for a text of which `length` bytes are known, and more may follow.
    pub(super) fn of_part(options: &DecodeOptions, most: usize, length: u64) -> Self {
        Self {
            fast_slots: 0,
            fast_heap: 0,
            total: most,
            pause: options.record_memory(length),
            most,
        }
    }

    /// Whether a Record with these numbers of slots and heap bytes is within the limits.
    pub(super) fn holds(&self, options: &DecodeOptions, slots: usize, heap: usize) -> bool {
        slots <= options.record_slots
            && heap <= options.record_heap
            && bytes(slots, heap) <= self.total
    }

    /// The error if the message ended here: an overrun that was noted before more of the text was known.
    pub(super) fn ended_at(&self, options: &DecodeOptions, overruns: &[Overrun]) -> Option<Error> {
        let overrun = overruns.iter().find(|it| it.memory > self.total)?;
        let kind = self.exceeded(options, 0, 0);
        Some(Error::new(kind, overrun.path.clone(), overrun.offset))
    }

    /// Drops the overruns that the length of the text known now makes up for.
    pub(super) fn forgive(&self, overruns: &mut Vec<Overrun>) {
        overruns.retain(|it| it.memory > self.pause);
    }

    /// The limit that a Record with these numbers of slots and heap bytes exceeds.
    #[cold]
    fn exceeded(&self, options: &DecodeOptions, slots: usize, heap: usize) -> ErrorKind {
        let (name, limit) = if slots > options.record_slots {
            ("record_slots", options.record_slots)
        } else if heap > options.record_heap {
            ("record_heap", options.record_heap)
        } else if self.total == self.most {
            ("record_memory", self.most)
        } else if self.total == options.record_floor {
            ("record_floor", options.record_floor)
        } else {
            ("record_per_byte", options.record_per_byte)
        };
        let limit = limit as u64;
        ErrorKind::Limit { name, limit }
    }

    /// Checks the heap within a list.
    pub(super) fn check_heap(
        &self,
        options: &DecodeOptions,
        record: &Record,
    ) -> Result<(), ErrorKind> {
        let heap = record.heap.len();
        match heap <= options.record_heap.min(self.total) {
            true => Ok(()),
            false => Err(self.exceeded(options, 0, heap)),
        }
    }
}

impl DecodeOptions {
    /// The largest number of bytes of a Record of a message with this number of bytes:
    /// [`record_per_byte`](Self::record_per_byte) for each, and at least [`record_floor`](Self::record_floor).
    pub fn record_memory(&self, length: u64) -> usize {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let share = self.record_per_byte.saturating_mul(length);
        share.max(self.record_floor)
    }
}

#[inline(always)]
fn bytes(slots: usize, heap: usize) -> usize {
    (slots * size_of::<u64>()).saturating_add(heap)
}

impl<S: Sink> Builder<'_, S> {
    /// Whether decoding has to wait for more of the text.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        let size = |record: &Record| bytes(record.slots.len(), record.heap.len());
        let checked = self.machine.check.as_ref();
        let checked = checked.map_or(0, |check| size(&check.record));
        size(self.record).saturating_add(checked) > self.space.pause
    }

    #[inline]
    pub(super) fn is_over_pause(&self, slots: usize, heap: usize) -> bool {
        bytes(slots, heap) > self.space.pause
    }

    /// The number of slots that the Record may have with its present heap. More are an error at the next check.
    #[inline]
    pub(super) fn most_slots(&self) -> usize {
        let left = self.space.total.saturating_sub(self.record.heap.len());
        self.options.record_slots.min(left / size_of::<u64>())
    }

    /// The same without waiting for more of the text, for the fast path, which leaves that to the slow path.
    #[inline]
    pub(super) fn most_fast_slots(&self) -> usize {
        let bytes = self.space.total.min(self.space.pause);
        let left = bytes.saturating_sub(self.record.heap.len());
        self.options.record_slots.min(left / size_of::<u64>())
    }

    /// Shares what is left of the Record's memory out between slots and heap, for the fast path, if a share is used up.
    #[inline]
    pub(super) fn share_space(&mut self) {
        let Record { slots, heap, .. } = &*self.record;
        if slots.len() >= self.space.fast_slots || heap.len() >= self.space.fast_heap {
            self.share_rest();
        }
    }

    #[cold]
    fn share_rest(&mut self) {
        let Record { slots, heap, .. } = &*self.record;
        let bytes = self.space.total.min(self.space.pause);
        let half = bytes.saturating_sub(self::bytes(slots.len(), heap.len())) / 2;
        let most_slots = slots.len() + half / size_of::<u64>();
        self.space.fast_slots = most_slots.min(self.options.record_slots);
        self.space.fast_heap = (heap.len() + half).min(self.options.record_heap);
    }

    /// Checks that the Record is not too large; an error at `at` otherwise.
    #[inline]
    pub(super) fn check_space(&mut self, at: u64) -> Result<(), Error> {
        let Record { slots, heap, .. } = &*self.record;
        let bytes = bytes(slots.len(), heap.len());
        if slots.len() <= self.options.record_slots
            && heap.len() <= self.options.record_heap
            && bytes <= self.space.total.min(self.space.pause)
        {
            return Ok(());
        }
        self.check_space_with(0, at)
    }

    /// The same with `more` bytes of heap.
    #[cold]
    pub(super) fn check_space_with(&mut self, more: usize, at: u64) -> Result<(), Error> {
        let (slots, heap) = (self.record.slots.len(), self.record.heap.len() + more);
        if !self.space.holds(self.options, slots, heap) {
            let kind = self.space.exceeded(self.options, slots, heap);
            return Err(Error::new(kind, self.path(), at));
        }
        if self.is_over_pause(slots, heap) {
            self.note_overrun(bytes(slots, heap), self.path(), at);
        }
        Ok(())
    }

    /// Notes where the heap has become too large within a list.
    #[cold]
    pub(super) fn note_long_list(&mut self, path: String, offset: u64) {
        self.is_long_list = false;
        self.note_overrun(self.record.heap.len(), path, offset);
    }

    /// Notes where the Record has so many bytes of memory, unless it had as many before.
    fn note_overrun(&mut self, memory: usize, path: String, offset: u64) {
        if self.overruns.last().is_none_or(|it| it.memory < memory) {
            self.overruns.push(Overrun {
                memory,
                offset,
                path,
            });
        }
    }
}
