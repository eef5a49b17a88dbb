//! What a message looks like from outside, for a few nanoseconds: which kind it is of, and which one of its kind it is like.
//!
//! ```text
//! <s:Envelope …><s:Header>…</s:Header><s:Body><m:status>…12…</m:status></s:Body></s:Envelope>
//!   ▪▪  ▪▪  ▪▪  ▪▪  ▪▪  ▪▪  ▪▪  ▪▪    ▪▪  ▪▪  ▪▪  ▪▪  └────────────── tail ──────────────┘
//!   from the front                    from the end
//! ```
//!
//! Whatever stands in the header, and however long it is, the last tags name the operation. Samples are taken at places
//! counted from the nearer end: if something was inserted, most of them are still where they were.

/// Samples from either end.
const HALF: usize = 8;
/// The longest tail.
const LONGEST: usize = 256;
/// Tags of the tail: those of the operation, the Body and the Envelope.
const TAGS: usize = 3;

/// The end tags at the end of a message, which no value has a part in.
pub(super) fn tail(message: &[u8]) -> &[u8] {
    let from = message.len().saturating_sub(LONGEST);
    let last = &message[from..];
    let tags = memchr::memrchr_iter(b'<', last).take(TAGS);
    let end_tags = tags.take_while(|at| last.get(at + 1) == Some(&b'/'));
    &last[end_tags.last().unwrap_or(last.len())..]
}

/// A few bytes of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    length: usize,
    words: [u64; 2 * HALF],
}

/// How many samples are the same, in steps, and whether the length is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Likeness {
    steps: u8,
    same_length: bool,
}

impl Likeness {
    /// Whether there is hardly a doubt.
    pub(super) fn is_high(self) -> bool {
        self.steps >= 2
    }
}

impl Sample {
    pub(super) fn of(message: &[u8]) -> Self {
        let mut sample = Self {
            length: 0,
            words: [0; 2 * HALF],
        };
        sample.take(message);
        sample
    }

    /// Becomes that of another message.
    pub(super) fn take(&mut self, message: &[u8]) {
        self.length = message.len();
        self.words = self.words_of(message);
    }

    pub(super) fn likeness(&self, message: &[u8]) -> Likeness {
        let words = self.words_of(message);
        let same = words.iter().zip(&self.words).filter(|(a, b)| a == b);
        Likeness {
            // A quarter of them.
            steps: (same.count() * 4 / words.len()) as u8,
            same_length: self.length == message.len(),
        }
    }

    /// What stands in a message where the samples of this one were taken.
    fn words_of(&self, message: &[u8]) -> [u64; 2 * HALF] {
        let step = (self.length / (2 * HALF)).max(1);
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
            let at = message.len().checked_sub((index + 1) * step + TAIL);
            *back = at.and_then(word).unwrap_or(0);
        }
        words
    }
}

/// The last bytes are the same in all messages of a kind.
const TAIL: usize = 32;

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

    #[test]
    fn a_message_is_most_like_itself_and_like_itself_with_something_inserted() {
        let text: String = (0..200)
            .map(|number| format!("<v>{}</v>", number * 7919))
            .collect();
        let other: String = (0..200)
            .map(|number| format!("<v>{}</v>", number * 104_729 + 1))
            .collect();
        let sample = Sample::of(text.as_bytes());
        let inserted = text.replace("<v>79190</v>", "<v>79190</v><v>new</v>");
        let [same, like, unlike] =
            [&text, &inserted, &other].map(|text| sample.likeness(text.as_bytes()));
        assert!(same > like && like > unlike, "{same:?} {like:?} {unlike:?}");
        assert!(same.is_high() && like.is_high() && !unlike.is_high());
        for short in ["", "<a/>", "<a>text</a>"] {
            let sample = Sample::of(short.as_bytes());
            assert!(sample.likeness(short.as_bytes()).is_high());
        }
    }
}
