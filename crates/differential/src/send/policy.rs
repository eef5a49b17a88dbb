//! How a template is kept: the size of its chunks, the width of its values, what is done when a value
//! overflows.
//!
//! ```text
//! <x>1.5</x>              no stuffing: the text is what a fresh message would be, byte for byte
//! <x>1.5</x>     <x>      stuffed, the pad behind the end tag (the paper)
//! <x>1.5     </x><x>      stuffed, the pad inside, where white space means nothing
//! ```

/// How the templates of a stream are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The width of values.
    pub stuffing: Stuffing,
    /// Where the padding of a value goes.
    pub pad: Pad,
    /// How the text is cut into chunks.
    pub chunks: Chunks,
    /// Whether values that overflow take padding from their neighbours.
    pub steal: Steal,
    /// At most this many values of a chunk are shifted one by one; if more of them do not fit, the chunk is
    /// written again in one pass from left to right.
    pub shifts: usize,
}

/// The width that a value gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stuffing {
    /// The length of its lexical form, always: a value that becomes shorter gives the rest back.
    #[default]
    None,
    /// The length of its first lexical form; a value that becomes shorter keeps its width.
    Exact,
    /// Three quarters of the longest text its type can have.
    Intermediate,
    /// The longest text its type can have: it never has to grow.
    Maximum,
}

/// Where the padding of a stuffed value goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pad {
    /// Inside the element, before the end tag: nothing but the value is written again.
    #[default]
    Inside,
    /// Behind the end tag, which moves with the value's length.
    AfterTag,
}

/// How the text is cut into chunks, in bytes.
///
/// Small chunks make changes of length and structure cheap, large ones the sending: each is a piece that the
/// transport is handed. So chunks may grow with the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// The size of a new chunk.
    pub initial: usize,
    /// The size of a new chunk of a large message, where that is more: a thirty-second of the message, but not more
    /// than this. The other sizes grow with it.
    pub largest: usize,
    /// A chunk that grows past this is split.
    pub split: usize,
    /// Space kept free at the end of a chunk, so that it can grow where it lies.
    pub reserve: usize,
}

impl Chunks {
    /// Chunks of `initial` bytes, however long the message is, that split at twice that, with a thirty-second in
    /// reserve.
    pub const fn of(initial: usize) -> Self {
        let initial = if initial == 0 { 1 } else { initial };
        Self {
            initial,
            largest: initial,
            split: initial.saturating_mul(2),
            reserve: initial / 32,
        }
    }

    /// The same, but up to `largest` bytes in large messages.
    pub const fn growing(initial: usize, largest: usize) -> Self {
        Self {
            largest,
            ..Self::of(initial)
        }
    }

    /// The size of a chunk that is encoded again, where `left` bytes of text are replaced: as large as may be if that is
    /// little, lest small chunks result.
    pub(crate) fn size_for(self, left: usize) -> usize {
        if left <= self.split - self.split / 4 {
            self.split
        } else {
            self.initial
        }
    }

    /// Those of a message of about `bytes` bytes.
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

/// How many chunks a large message has, about: few enough for the transport, and one of them is little of the message.
const PIECES: usize = 32;

/// Whether and where a value that grows takes the pad of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steal {
    /// On which sides it looks.
    pub order: Order,
    /// How many neighbours it looks at on each side before it gives up.
    pub neighbours: usize,
    /// How many bytes it moves at most.
    pub bytes: usize,
}

/// On which sides a value looks for padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Nowhere: it shifts what follows.
    Never,
    /// Before it.
    Left,
    /// Behind it.
    Right,
    /// One neighbour behind it, one before it, and so on.
    #[default]
    BackAndForth,
}

impl Policy {
    /// No pads: every message is, byte for byte, what a fresh one would be.
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

    /// Three quarters of the longest lexical form.
    pub const INTERMEDIATE: Self = Self {
        stuffing: Stuffing::Intermediate,
        ..Self::IDENTICAL
    };

    /// The longest lexical form.
    pub const MAXIMUM: Self = Self {
        stuffing: Stuffing::Maximum,
        ..Self::IDENTICAL
    };

    /// A policy by its name: `identical`, `exact`, `intermediate` or `maximum`.
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
