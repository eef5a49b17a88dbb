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
    /// How far apart they stand: the same for messages of about one length, so that those of a new message, once taken, are
    /// compared with those of many.
    step: usize,
    words: [u64; 2 * HALF],
}

/// How many samples are the same, and whether the length is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Likeness {
    same: u8,
    same_length: bool,
}

impl Likeness {
    /// Whether there is hardly a doubt.
    pub(super) fn is_high(self) -> bool {
        usize::from(self.same) >= HALF
    }

    /// Whether there is hardly a hope.
    pub(super) fn is_low(self) -> bool {
        usize::from(self.same) < HALF / 2
    }

    /// Whether nothing tells one from the other.
    pub(super) fn is_full(self) -> bool {
        self.same_length && usize::from(self.same) == 2 * HALF
    }
}

impl Sample {
    pub(super) fn of(message: &[u8]) -> Self {
        let step = (message.len() + 1).next_power_of_two() / (4 * HALF);
        Self::with_step(message, step.max(1))
    }

    /// What stands where the samples of another one with this step are taken.
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
            let at = message.len().checked_sub((index + 1) * step + TAIL);
            *back = at.and_then(word).unwrap_or(0);
        }
        Self {
            length: message.len(),
            step,
            words,
        }
    }

    /// How like this one is a `message`, of which `other` was taken.
    #[inline]
    pub(super) fn likeness(&self, other: &Self, message: &[u8]) -> Likeness {
        if self.step != other.step {
            return self.likeness(&Self::with_step(message, self.step), message);
        }
        let same = self.words.iter().zip(&other.words);
        Likeness {
            same: same.map(|(own, other)| u8::from(own == other)).sum(),
            same_length: self.length == other.length,
        }
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

    fn likeness(sample: &Sample, text: &str) -> Likeness {
        let other = Sample::of(text.as_bytes());
        sample.likeness(&other, text.as_bytes())
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
        let [same, like, unlike] = [&text, &inserted, &other].map(|text| likeness(&sample, text));
        assert!(same > like && like > unlike, "{same:?} {like:?} {unlike:?}");
        assert!(same.is_high() && like.is_high() && !unlike.is_high());
        for short in ["", "<a/>", "<a>text</a>"] {
            let sample = Sample::of(short.as_bytes());
            assert!(likeness(&sample, short).is_full());
        }
        // Of nearly the same length, but sampled at other places.
        let (shorter, longer) = (&text[..1023], &text[..1025]);
        let sample = Sample::of(shorter.as_bytes());
        assert!(sample.step != Sample::of(longer.as_bytes()).step);
        assert!(likeness(&sample, longer).is_high());
    }
}
