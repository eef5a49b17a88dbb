//! In plain words: what saved messages saved, and why messages were written or read in full all the same.

use std::time::Duration;

use crate::limits::SMALL_MESSAGE;
use crate::tally::tally;

/// What saved messages saved in one direction.
pub(crate) struct Saved {
    /// `read` or `written`.
    pub(crate) done: &'static str,
    /// What was kept: `of their values` or `of the bytes`.
    pub(crate) of: &'static str,
    /// The messages of which only what changed was converted, and all messages.
    pub(crate) differential: u64,
    pub(crate) all: u64,
    /// The values converted in the former.
    pub(crate) values: u64,
    /// The share that was kept in these.
    pub(crate) share: f64,
    pub(crate) time: Duration,
    pub(crate) in_full: InFull,
}

impl Saved {
    /// A line with what was saved, and one with the reasons for what was not.
    pub(crate) fn lines(&self) -> Vec<String> {
        let saved = match self.differential {
            0 => "saved: nothing".to_owned(),
            differential => format!(
                "saved: about {:.1} ms; of {differential} of {} messages only what changed was {} ({} values), and {:.0} % {} were kept as they were",
                self.time.as_secs_f64() * 1e3,
                self.all,
                self.done,
                self.values,
                self.share * 100.0,
                self.of,
            ),
        };
        std::iter::once(saved)
            .chain(self.in_full.reasons())
            .collect()
    }
}

/// How many messages were written or read in full, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFull {
    /// There was nothing similar to compare with.
    pub(crate) first: u64,
    /// In full, and kept for the next.
    pub(crate) kept: u64,
    /// Not compared, because their stream has too little in common.
    pub(crate) bypassed: u64,
    /// There was no memory to keep anything.
    pub(crate) no_memory: u64,
    /// The messages whose bytes were counted, those that were not processed in full included; and their bytes.
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl InFull {
    /// The reasons as a line; `None` if nothing was left to save.
    pub(crate) fn reasons(&self) -> Option<String> {
        let reasons = tally(
            &[
                (self.first, "without a similar message before"),
                (self.kept, "in full, and kept to compare later ones with it"),
                (
                    self.bypassed,
                    "not compared, because hardly anything repeats from one message to the next",
                ),
                (
                    self.no_memory,
                    "not kept, because the memory for saved messages is used up",
                ),
            ],
            "",
        );
        let average = self.bytes / self.messages.max(1);
        let is_small = self.messages > 0 && average < SMALL_MESSAGE;
        let small = format!("messages of {average} bytes leave little to save");
        let all = [(!reasons.is_empty(), reasons), (is_small, small)];
        let given = all.into_iter().filter(|(is_given, _)| *is_given);
        let given: Vec<String> = given.map(|(_, reason)| reason).collect();
        (!given.is_empty()).then(|| format!("not saved: {}", given.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_given_in_words() {
        let all = InFull {
            first: 1,
            kept: 2,
            bypassed: 3,
            no_memory: 4,
            messages: 20,
            bytes: 4000,
        };
        assert_eq!(
            all.reasons().unwrap(),
            "not saved: 1 without a similar message before, 2 in full, and kept to compare later ones with it, \
             3 not compared, because hardly anything repeats from one message to the next, \
             4 not kept, because the memory for saved messages is used up; messages of 200 bytes leave little to save"
        );
        let large = InFull {
            messages: 20,
            bytes: 400_000,
            ..InFull::default()
        };
        assert_eq!(large.reasons(), None);
        let first = InFull { first: 1, ..large };
        assert_eq!(
            first.reasons().unwrap(),
            "not saved: 1 without a similar message before"
        );
    }
}
