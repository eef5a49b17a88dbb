//! Standing aside: a stream that does not repeat is not compared, but looked at again from time to time.

use memchr::memmem;

/// The most messages in a row that are not compared.
const MOST: u32 = 32;

/// After so many, a message is looked at before it is kept.
const SCEPTICAL: u32 = 8;

/// How long to stand aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Aside {
    left: u32,
    interval: u32,
    /// How much was saved of late: so many messages may be unlike the one before, such as those of the next operation.
    credit: u32,
    /// Whether anything has been compared.
    has_begun: bool,
}

/// What a message that was alike is worth, and all of them.
const WORTH: u32 = 2;
const SAVED: u32 = 4;

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Compare it, and keep it for the next to be compared with.
    Compare,
    /// Keep it, so that the next can be compared with it.
    Keep,
    /// Read it as if it were the only one.
    Pass,
}

impl Aside {
    /// The next message comes.
    #[inline]
    pub(super) fn turn(&mut self) -> Turn {
        match self.left {
            0 => Turn::Compare,
            left => {
                self.left = left - 1;
                if left == 1 { Turn::Keep } else { Turn::Pass }
            }
        }
    }

    /// Whether the next message is not to be compared.
    pub(super) fn is_on(&self) -> bool {
        self.left > 0
    }

    /// Whether the next message is neither to be compared nor kept.
    pub(super) fn passes(&self) -> bool {
        self.left > 1
    }

    /// Whether it has stood aside so long that even a look is to cost little.
    pub(super) fn is_sceptical(&self) -> bool {
        self.interval >= SCEPTICAL
    }

    /// A message was compared with the one before. Returns whether to stand aside now.
    pub(super) fn learn(&mut self, alike: bool) -> bool {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if alike {
            self.interval = 0;
            self.credit = (self.credit + WORTH).min(SAVED);
        } else if self.credit > 0 || is_first {
            self.credit = self.credit.saturating_sub(1);
            return false;
        } else {
            self.interval = (self.interval * 2).clamp(1, MOST);
            self.left = self.interval;
        }
        !alike
    }
}

/// Whether some pieces of a text stand in another about where they stood. A look that takes no longer than some values.
pub(super) fn look_alike(old: &[u8], new: &[u8]) -> bool {
    let reach = (new.len() / 8).min(REACH);
    // To look for one takes as long as to read some values: of a message that has few, few are looked for.
    let pieces = (new.len() / APART).clamp(2, PIECES);
    (0..pieces).any(|index| {
        let part = |length: usize| length / (2 * pieces) * (2 * index + 1);
        let (from, there) = (part(old.len()), part(new.len()));
        let Some(value) = old.get(from..).and_then(next_value) else {
            return false;
        };
        let (at, there) = (from + value, there + value);
        let from = there.saturating_sub(reach);
        let to = (there + reach + PIECE).min(new.len());
        match (old.get(at..at + PIECE), new.get(from..to)) {
            (Some(piece), Some(window)) => memmem::find(window, piece).is_some(),
            _ => false,
        }
    })
}

/// Where in a text the next value begins: a piece with nothing but markup says nothing.
fn next_value(text: &[u8]) -> Option<usize> {
    let is_value = |&at: &usize| {
        let next = text.get(at + 1);
        next.is_some_and(|next| *next != b'<' && !next.is_ascii_whitespace())
    };
    memchr::memchr_iter(b'>', text).find(is_value)
}

/// At most so many pieces, so far from one another, of so many bytes, so far from where they stood.
const PIECES: usize = 8;
const APART: usize = 1 << 10;
const PIECE: usize = 48;
const REACH: usize = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_look_alike_if_a_part_is_the_same_and_not_if_only_the_markup_is() {
        let text = |from: u64| -> String {
            let item = |n: u64| {
                format!(
                    "<item>{}</item>",
                    (n + from).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                )
            };
            (0..500).map(item).collect()
        };
        let (one, other) = (text(0), text(1_000_000));
        assert!(!look_alike(one.as_bytes(), other.as_bytes()));
        assert!(look_alike(one.as_bytes(), text(3).as_bytes()));
        let half = one.len() / 2;
        let mixed = format!("{}{}", &other[..half + 20], &one[half..]);
        assert!(look_alike(one.as_bytes(), mixed.as_bytes()));
        assert!(!look_alike(b"", b"") && !look_alike(b"short", b"short"));
    }

    #[test]
    fn it_looks_again_after_1_2_4_and_up_to_32_messages_if_two_were_unlike() {
        let mut aside = Aside::default();
        let mut gaps = Vec::new();
        assert_eq!(aside.turn(), Turn::Compare);
        assert!(!aside.learn(false));
        for _ in 0..8 {
            assert_eq!(aside.turn(), Turn::Compare);
            assert!(aside.learn(false));
            let mut gap = 1;
            while aside.turn() == Turn::Pass {
                gap += 1;
            }
            gaps.push(gap);
        }
        assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 32, 32]);
        assert_eq!(aside.turn(), Turn::Compare);
        assert!(!aside.learn(true));
        for _ in 0..WORTH {
            assert_eq!(aside.turn(), Turn::Compare);
            assert!(!aside.learn(false));
        }
        assert!(aside.learn(false));
    }
}
