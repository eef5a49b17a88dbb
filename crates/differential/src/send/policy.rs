//! The policy of a template: the size of its chunks, the width of its values, and what happens when a value overflows.
//!
//! ```text
//! <x>1.5</x>              no stuffing: the text is what a fresh message would be, byte for byte
//! <x>1.5</x>     <x>      stuffed, the pad behind the end tag (the paper)
//! <x>1.5     </x><x>      stuffed, the pad inside, where white space means nothing
//! ```

/// The policy of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The width of values.
    pub stuffing: Stuffing,
    /// Where the padding of a value is written.
    pub pad: Pad,
    /// How the text is cut into chunks.
    pub chunks: Chunks,
    /// Whether values that overflow take padding from their neighbours.
    pub steal: Steal,
    /// The largest number of values of a chunk that are shifted one by one. If more values overflow, the chunk is rewritten
    /// in one pass.
    pub shifts: usize,
}

/// The width that values get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stuffing {
    /// Always the length of the lexical form: a value that becomes shorter gets narrower.
    #[default]
    None,
    /// The length of the first lexical form; a value that becomes shorter keeps its width.
    Exact,
    /// Three quarters of the longest lexical form of its type.
    Intermediate,
    /// The longest lexical form of its type, so that it never has to grow.
    Maximum,
}

/// Where the padding of a stuffed value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pad {
    /// Inside the element, before the end tag: a new value is written in place.
    #[default]
    Inside,
    /// Behind the end tag, which moves with the length of the value.
    AfterTag,
}

/// How the text is cut into chunks, in bytes.
///
/// With small chunks, changes of length and structure are cheap; with large chunks sending is, since the transport gets
/// each chunk as one piece. So chunks may grow with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunks {
    /// The size of a new chunk.
    pub initial: usize,
    /// The largest size of a new chunk: in a large message a chunk is a thirty-second of the message, up to this size. The
    /// other sizes grow with it.
    pub largest: usize,
    /// A chunk that becomes longer than this is split.
    pub split: usize,
    /// The spare capacity at the end of a chunk, so that it can grow in place.
    pub reserve: usize,
}

impl Chunks {
    /// Chunks of `initial` bytes for messages of any length. They are split at twice that size, and have a thirty-second of
    /// it as spare capacity.
    pub const fn of(initial: usize) -> Self {
        let initial = if initial == 0 { 1 } else { initial };
        Self {
            initial,
            largest: initial,
            split: initial.saturating_mul(2),
            reserve: initial / 32,
        }
    }

    /// As [`of`](Self::of), but up to `largest` bytes in large messages.
    pub const fn growing(initial: usize, largest: usize) -> Self {
        Self {
            largest,
            ..Self::of(initial)
        }
    }

    /// The size of a chunk that is encoded again in place of `left` bytes of text. If these are few, the size is the
    /// largest possible, so that no small chunks result.
    pub(crate) fn size_for(self, left: usize) -> usize {
        if left <= self.split - self.split / 4 {
            self.split
        } else {
            self.initial
        }
    }

    /// The sizes for a sliding window of `bytes` bytes. With each message its first and its last chunk are encoded again,
    /// and those between them move, so they are smaller. Sizes that may not grow with the message stay as they are.
    pub(crate) fn for_window(self, bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let initial = (bytes / WINDOW_PIECES).max(SMALLEST_IN_WINDOW);
        if self.largest <= self.initial || initial >= self.initial {
            return self;
        }
        Self {
            largest: self.largest,
            ..Self::of(initial)
        }
    }

    /// The sizes for a message of about `bytes` bytes.
    pub(crate) fn for_message(self, bytes: usize) -> Self {
        let initial = (bytes / PIECES).min(self.largest);
        if initial <= self.initial {
            return self;
        }
        let grown = |size: usize| {
            let size = size as u128 * initial as u128 / self.initial.max(1) as u128;
            usize::try_from(size).unwrap_or(usize::MAX)
        };
        Self {
            initial,
            split: grown(self.split),
            reserve: grown(self.reserve),
            ..self
        }
    }
}

/// The approximate number of chunks of a large message: few enough for the transport, and each a small part of the message.
const PIECES: usize = 32;
/// The approximate number of chunks of a sliding window: two or three are encoded again with each message, and moving one
/// costs as much as encoding a few hundred bytes (`Costs::moved_chunk`). (`window-sent`)
const WINDOW_PIECES: usize = 16;
/// The smallest chunk of a sliding window, in bytes: moving it costs less than encoding it.
const SMALLEST_IN_WINDOW: usize = 1 << 10;

/// Whether and where a value that grows takes padding of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Steal {
    /// On which sides it looks.
    pub order: Order,
    /// The largest number of neighbours on each side that are tried.
    pub neighbours: usize,
    /// The largest number of bytes that are moved.
    pub bytes: usize,
}

/// On which sides a value looks for padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Nowhere: the rest of the chunk is shifted.
    Never,
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// One neighbour to the right, one to the left, and so on.
    #[default]
    BackAndForth,
}

impl Policy {
    /// No padding: each message is byte for byte the same as without a template.
    pub const IDENTICAL: Self = Self {
        stuffing: Stuffing::None,
        pad: Pad::Inside,
        chunks: Chunks::growing(32 << 10, 256 << 10),
        steal: Steal {
            order: Order::BackAndForth,
            neighbours: 8,
            bytes: 512,
        },
        shifts: 2,
    };

    /// Values that become shorter keep their width.
    pub const EXACT: Self = Self {
        stuffing: Stuffing::Exact,
        ..Self::IDENTICAL
    };

    /// Values have three quarters of the longest lexical form of their type.
    pub const INTERMEDIATE: Self = Self {
        stuffing: Stuffing::Intermediate,
        ..Self::IDENTICAL
    };

    /// Values have the longest lexical form of their type.
    pub const MAXIMUM: Self = Self {
        stuffing: Stuffing::Maximum,
        ..Self::IDENTICAL
    };

    /// The policy with a name: `identical`, `exact`, `intermediate` or `maximum`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "identical" => Self::IDENTICAL,
            "exact" => Self::EXACT,
            "intermediate" => Self::INTERMEDIATE,
            "maximum" => Self::MAXIMUM,
            _ => return None,
        })
    }

    /// The same with chunks of this initial size.
    pub const fn with_chunks(mut self, chunks: Chunks) -> Self {
        self.chunks = chunks;
        self
    }

    /// The same with the pad in this place.
    pub const fn with_pad(mut self, pad: Pad) -> Self {
        self.pad = pad;
        self
    }
}

impl Default for Policy {
    /// [`Policy::IDENTICAL`].
    fn default() -> Self {
        Self::IDENTICAL
    }
}

impl Stuffing {
    /// Whether a value that becomes shorter keeps its width.
    #[inline]
    pub(crate) fn keeps_width(self) -> bool {
        self != Self::None
    }

    /// The width of a value of `length` bytes, whose type's longest lexical form has `widest` (0: there is none).
    #[inline]
    pub(crate) fn width(self, length: usize, widest: usize) -> usize {
        match self {
            Self::None | Self::Exact => length,
            Self::Intermediate => length.max((widest * 3).div_ceil(4)),
            Self::Maximum => length.max(widest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_with_the_message_up_to_the_largest() {
        let chunks = Chunks::growing(32 << 10, 256 << 10);
        assert_eq!(chunks.for_message(0), chunks);
        assert_eq!(chunks.for_message(1 << 20), chunks);
        let large = chunks.for_message(4 << 20);
        assert_eq!(
            (large.initial, large.split, large.reserve),
            (128 << 10, 256 << 10, 4 << 10)
        );
        assert_eq!(chunks.for_message(usize::MAX).initial, 256 << 10);
        let fixed = Chunks::of(8 << 10);
        assert_eq!(fixed.for_message(usize::MAX), fixed);
        let huge = Chunks::growing(usize::MAX / 2, usize::MAX).for_message(usize::MAX);
        assert_eq!(huge.split, usize::MAX - 1);
    }
}
