//! The kind of a message, and its similarity to other messages of this kind, judged by a few bytes before anything is parsed.
//!
//! ```text
//! <s:Envelope …><s:Header>…</s:Header><s:Body><m:status>…12…</m:status></s:Body></s:Envelope>
//!   ▪▪  ▪▪  ▪▪  ▪▪  ▪▪  ▪▪  ▪▪  ▪▪    ▪▪  ▪▪  ▪▪  ▪▪  └────────────── tail ──────────────┘
//!   from the front                    from the end
//! ```
//!
//! The last tags name the operation, whatever the header contains and however long it is. Offsets of samples are counted from
//! the nearer end, so an insertion leaves most samples unchanged.

use memchr::memmem;

/// The number of samples from either end.
const HALF: usize = 8;
/// The longest tail, in bytes.
pub(super) const MAX_TAIL: usize = 256;
/// The number of tags in a tail: those of the operation, the Body and the Envelope.
const TAIL_TAGS: usize = 3;
/// The number of bytes at the end of a message that are not sampled, because they are the same in all messages of a kind.
const UNSAMPLED: usize = 32;

/// The number of bytes in the middle that are searched for in a message that may be shifted.
const MIDDLE: usize = 32;
/// They are searched for at most this share of the message and this number of bytes away from where they were.
const MAX_SHIFT: (usize, usize) = (8, 4 << 10);
/// In messages below this size in bytes they are not searched for, because that takes as long as decoding a part of them.
const LONG: usize = 2 << 10;

/// The end tags at the end of a message: at most three, and at most [`MAX_TAIL`] bytes.
pub(super) fn tail(message: &[u8]) -> &[u8] {
    let from = message.len().saturating_sub(MAX_TAIL);
    let last = &message[from..];
    let tags = memchr::memrchr_iter(b'<', last).take(TAIL_TAGS);
    let end_tags = tags.take_while(|at| last.get(at + 1) == Some(&b'/'));
    &last[end_tags.last().unwrap_or(last.len())..]
}

/// Samples of a message's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextSample {
    /// The length of the message in bytes.
    length: usize,
    /// The distance between samples. It is the same for messages of about the same length, so the samples of a new message
    /// are taken once and compared with those of many messages.
    step: usize,
    words: [u64; 2 * HALF],
    /// The bytes in the middle. They are found elsewhere if rows were inserted or removed.
    middle: [u8; MIDDLE],
}

/// The similarity of two messages: the number of equal samples, and whether the lengths are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Similarity {
    same: u8,
    same_length: bool,
}

impl Similarity {
    /// Whether at least half of the samples are equal.
    pub(super) fn is_high(self) -> bool {
        usize::from(self.same) >= HALF
    }

    /// Whether less than a quarter of the samples is equal.
    pub(super) fn is_low(self) -> bool {
        usize::from(self.same) < HALF / 2
    }

    /// Whether all samples and the length are equal.
    pub(super) fn is_full(self) -> bool {
        self.same_length && usize::from(self.same) == 2 * HALF
    }
}

impl TextSample {
    /// Takes the samples of a message.
    pub(super) fn of(message: &[u8]) -> Self {
        let step = (message.len() + 1).next_power_of_two() / (4 * HALF);
        Self::with_step(message, step.max(1))
    }

    /// Takes the samples of a message at this distance from one another.
    fn with_step(message: &[u8], step: usize) -> Self {
        let word = |at: usize| {
            let bytes = message.get(at..at.checked_add(size_of::<u64>())?)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let mut words = [0; 2 * HALF];
        let (front, back) = words.split_at_mut(HALF);
        for (index, front) in front.iter_mut().enumerate() {
            *front = word(index * step).unwrap_or(0);
        }
        for (index, back) in back.iter_mut().enumerate() {
            let at = message.len().checked_sub((index + 1) * step + UNSAMPLED);
            *back = at.and_then(word).unwrap_or(0);
        }
        Self {
            length: message.len(),
            step,
            words,
            middle: *message[message.len() / 2..]
                .first_chunk()
                .unwrap_or(&[0; MIDDLE]),
        }
    }

    /// Whether another message has the text in the middle of the sampled one near its middle: a window that slides is mostly
    /// the same as before, at other offsets.
    pub(super) fn is_shifted(&self, message: &[u8]) -> bool {
        let middle = self.length / 2;
        let reach = (self.length / MAX_SHIFT.0).min(MAX_SHIFT.1);
        let end = (middle + reach + MIDDLE).min(message.len());
        let near = message.get(middle - reach..end);
        self.length >= LONG && near.is_some_and(|near| memmem::find(near, &self.middle).is_some())
    }

    /// The similarity of the sampled message to another `message` with the samples `other`.
    #[inline]
    pub(super) fn similarity(&self, other: &Self, message: &[u8]) -> Similarity {
        if self.step != other.step {
            return self.similarity(&Self::with_step(message, self.step), message);
        }
        let same = self.words.iter().zip(&other.words);
        Similarity {
            same: same.map(|(own, other)| u8::from(own == other)).sum(),
            same_length: self.length == other.length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_end_tags_up_to_three() {
        let tails: [(&[u8], &[u8]); 5] = [
            (
                b"<E><B><op>1</op></B></E>\n".as_slice(),
                b"</op></B></E>\n".as_slice(),
            ),
            (b"<E><B><op at='1'/></B></E>", b"</B></E>"),
            (b"<E></E>", b"</E>"),
            (b"nothing", b""),
            (b"", b""),
        ];
        for (message, expected) in tails {
            assert_eq!(tail(message), expected);
        }
        let long = [b"</a>".as_slice(), &[b'x'; 1000]].concat();
        assert_eq!(tail(&long), b"");
    }

    fn similarity(sample: &TextSample, text: &str) -> Similarity {
        let other = TextSample::of(text.as_bytes());
        sample.similarity(&other, text.as_bytes())
    }

    #[test]
    fn a_window_that_slides_is_found() {
        let window = |from: u64| {
            let row = |row: u64| format!("<v at=\"{row}\">{}</v>", row * 7919 % 1000);
            (from..from + 1000).map(row).collect::<String>()
        };
        let first = TextSample::of(window(1000).as_bytes());
        for from in [984, 1000, 1001, 1016] {
            assert!(first.is_shifted(window(from).as_bytes()));
        }
        for text in ["", "<a/>", &"x".repeat(30_000), &window(3000)] {
            assert!(!first.is_shifted(text.as_bytes()));
            assert!(!TextSample::of(text.as_bytes()).is_shifted(window(1000).as_bytes()));
        }
    }

    #[test]
    fn a_message_is_most_similar_to_itself_and_to_itself_with_something_inserted() {
        let text: String = (0..200)
            .map(|number| format!("<v>{}</v>", number * 7919))
            .collect();
        let other: String = (0..200)
            .map(|number| format!("<v>{}</v>", number * 104_729 + 1))
            .collect();
        let sample = TextSample::of(text.as_bytes());
        let inserted = text.replace("<v>79190</v>", "<v>79190</v><v>new</v>");
        let [same, similar, other] =
            [&text, &inserted, &other].map(|text| similarity(&sample, text));
        assert!(
            same > similar && similar > other,
            "{same:?} {similar:?} {other:?}"
        );
        assert!(same.is_high() && similar.is_high() && !other.is_high());
        for short in ["", "<a/>", "<a>text</a>"] {
            let sample = TextSample::of(short.as_bytes());
            assert!(similarity(&sample, short).is_full());
        }
        // Of nearly the same length, but sampled at other offsets.
        let (shorter, longer) = (&text[..1023], &text[..1025]);
        let sample = TextSample::of(shorter.as_bytes());
        assert!(sample.step != TextSample::of(longer.as_bytes()).step);
        assert!(similarity(&sample, longer).is_high());
    }
}
