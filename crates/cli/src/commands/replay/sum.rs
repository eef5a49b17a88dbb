//! The summary of a replay: what differential processing saves on these messages.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::report::{microseconds, size};
use crate::limits::MIN_GAIN;
use crate::saved::InFull;
use crate::style::{BAD, DIM, GOOD, STRONG, paint};

/// The sum of all messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    messages: usize,
    bytes: usize,
    /// Bytes that the message before had too.
    equal: usize,
    /// Nanoseconds: differential, in full.
    times: [f64; 2],
    /// Messages that were processed differentially: how many, and their times.
    differential: (usize, [f64; 2]),
    /// How many messages were processed in each mode.
    modes: BTreeMap<&'static str, usize>,
    /// Bytes of saved messages at the end.
    pub(super) memory: usize,
    pub(super) invalid: usize,
}

impl Sum {
    /// Adds a message.
    pub(super) fn add(
        &mut self,
        bytes: usize,
        equal: usize,
        times: [f64; 2],
        is_differential: bool,
    ) {
        let more =
            |sum: &mut [f64; 2]| std::iter::zip(sum, times).for_each(|(sum, time)| *sum += time);
        self.messages += 1;
        self.bytes += bytes;
        self.equal += equal;
        more(&mut self.times);
        if is_differential {
            self.differential.0 += 1;
            more(&mut self.differential.1);
        }
    }

    /// Counts the mode of a message.
    pub(super) fn count(&mut self, mode: &'static str) {
        *self.modes.entry(mode).or_default() += 1;
    }

    /// The time in full, divided by the differential time.
    fn gain([own, full]: [f64; 2]) -> f64 {
        full / own.max(1.0)
    }

    pub(super) fn json(&self, how: &str) -> Value {
        let [own, full] = self.times;
        json!({
            "how": how, "messages": self.messages, "invalid": self.invalid, "bytes": self.bytes, "bytes_equal": self.equal,
            "modes": self.modes, "ns": own.round(), "full_ns": full.round(), "times_as_fast": rounded(Self::gain(self.times)),
            "alike": {"messages": self.differential.0, "ns": self.differential.1[0].round(), "full_ns": self.differential.1[1].round(),
                "times_as_fast": rounded(Self::gain(self.differential.1))},
            "memory": self.memory, "same_as_fresh": true,
        })
    }

    /// As text; `doing` is "reading" or "writing".
    pub(super) fn text(&self, doing: &str, how: &str) -> String {
        if self.messages == 0 {
            return String::new();
        }
        let [own, full] = self.times;
        let modes: Vec<String> = self
            .modes
            .iter()
            .map(|(mode, count)| format!("{count} {mode}"))
            .collect();
        let mut text = format!(
            "\n{} messages, {}, of which {:.1} % are the same in the message before; {}\n",
            paint(STRONG, &self.messages.to_string()),
            size(self.bytes),
            100.0 * self.equal as f64 / self.bytes.max(1) as f64,
            modes.join(", "),
        );
        text += &format!(
            "{doing} them took {} with {how}, {} in full; every result is the same\n",
            paint(STRONG, &microseconds(own)),
            paint(STRONG, &microseconds(full)),
        );
        text += &self.verdict(doing, how);
        text
    }

    fn verdict(&self, doing: &str, how: &str) -> String {
        let gain = Self::gain(self.times);
        let held = format!(
            "after the last message, the saved messages take {} of memory",
            size(self.memory)
        );
        let mut text = if how == "off" {
            return paint(
                DIM,
                "nothing was compared: both times are of reading in full\n",
            );
        } else if gain >= MIN_GAIN {
            let saved = 100.0 - 100.0 / gain;
            paint(
                GOOD,
                &format!(
                    "with {how}, {doing} these is {gain:.1} times as fast: {saved:.0} % of the time is saved"
                ),
            )
        } else if gain > 1.0 / MIN_GAIN {
            paint(
                STRONG,
                &format!(
                    "with {how}, {doing} these takes as long as in full: there is nothing to gain"
                ),
            )
        } else {
            paint(
                BAD,
                &format!(
                    "with {how}, {doing} these is {:.1} times as slow: turn it off here",
                    1.0 / gain
                ),
            )
        };
        text += &format!("; {held}\n");
        let (differential, times) = self.differential;
        if 0 < differential && differential < self.messages {
            text += &paint(
                DIM,
                &format!(
                    "of these, {differential} were processed differentially: {:.1} times as fast\n",
                    Self::gain(times)
                ),
            );
        }
        if let Some(reasons) = self.in_full().reasons() {
            text += &paint(DIM, &format!("{reasons}\n"));
        }
        if self.messages < 10 {
            text += &paint(
                DIM,
                "few messages say little: the first ones of a stream are always processed in full\n",
            );
        }
        text
    }

    /// The messages that were processed in full, by the names of their modes.
    fn in_full(&self) -> InFull {
        let count = |mode| self.modes.get(mode).map_or(0, |&count| count as u64);
        InFull {
            first: count("plain"),
            kept: count("regular") + count("first time"),
            bypassed: count("bypassed"),
            no_memory: 0,
            messages: self.messages as u64,
            bytes: self.bytes as u64,
        }
    }
}

fn rounded(ratio: f64) -> f64 {
    (ratio * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_says_what_is_gained_and_what_is_not() {
        let verdict = |own: f64, full: f64| {
            let mut sum = Sum::default();
            for _ in 0..10 {
                sum.add(1000, 900, [own, full], true);
            }
            sum.text("reading", "exact")
        };
        assert!(verdict(1e3, 4e3).contains("4.0 times as fast: 75 % of the time is saved"));
        assert!(verdict(1e3, 1.01e3).contains("nothing to gain"));
        assert!(verdict(2e3, 1e3).contains("2.0 times as slow: turn it off"));
    }

    #[test]
    fn the_summary_says_why_messages_were_processed_in_full() {
        let mut sum = Sum::default();
        for mode in ["regular", "fast", "bypassed", "bypassed"] {
            sum.add(5000, 900, [1e3, 1e3], mode == "fast");
            sum.count(mode);
        }
        let text = sum.text("reading", "exact");
        assert!(
            text.contains("not saved: 1 in full, and kept to compare later ones with it, 2 not compared, because hardly anything repeats"),
            "{text}"
        );
    }
}
