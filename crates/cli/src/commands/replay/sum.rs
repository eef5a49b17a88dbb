//! What a replay comes to: what the machinery would save here, or that it would not.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::report::{microseconds, size};
use crate::style::{BAD, DIM, GOOD, STRONG, paint};

/// Less is no gain, but the clock.
const GAIN: f64 = 1.05;

/// The sum of all messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    messages: usize,
    bytes: usize,
    /// Bytes that were there already.
    equal: usize,
    /// Nanoseconds with and without.
    times: [f64; 2],
    /// Those of messages that were made of the one before: how many, and their times.
    alike: (usize, [f64; 2]),
    /// How many were dealt with in which way.
    modes: BTreeMap<&'static str, usize>,
    /// Bytes held in the end.
    pub(super) memory: usize,
    pub(super) invalid: usize,
}

impl Sum {
    /// One more.
    pub(super) fn add(&mut self, bytes: usize, equal: usize, times: [f64; 2], is_alike: bool) {
        let more =
            |sum: &mut [f64; 2]| std::iter::zip(sum, times).for_each(|(sum, time)| *sum += time);
        self.messages += 1;
        self.bytes += bytes;
        self.equal += equal;
        more(&mut self.times);
        if is_alike {
            self.alike.0 += 1;
            more(&mut self.alike.1);
        }
    }

    /// It was dealt with so.
    pub(super) fn count(&mut self, mode: &'static str) {
        *self.modes.entry(mode).or_default() += 1;
    }

    /// How many times as fast.
    fn gain([own, full]: [f64; 2]) -> f64 {
        full / own.max(1.0)
    }

    pub(super) fn json(&self, how: &str) -> Value {
        let [own, full] = self.times;
        json!({
            "how": how, "messages": self.messages, "invalid": self.invalid, "bytes": self.bytes, "bytes_equal": self.equal,
            "modes": self.modes, "ns": own.round(), "full_ns": full.round(), "times_as_fast": rounded(Self::gain(self.times)),
            "alike": {"messages": self.alike.0, "ns": self.alike.1[0].round(), "full_ns": self.alike.1[1].round(),
                "times_as_fast": rounded(Self::gain(self.alike.1))},
            "memory": self.memory, "same_as_fresh": true,
        })
    }

    /// `doing`: reading or writing.
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
            "\n{} messages, {}, of which {:.1} % were there already; {}\n",
            paint(STRONG, &self.messages.to_string()),
            size(self.bytes),
            100.0 * self.equal as f64 / self.bytes.max(1) as f64,
            modes.join(", "),
        );
        text += &format!(
            "{doing} them took {} with {how}, {} in full; every message is what it is without\n",
            paint(STRONG, &microseconds(own)),
            paint(STRONG, &microseconds(full)),
        );
        text += &self.verdict(doing, how);
        text
    }

    fn verdict(&self, doing: &str, how: &str) -> String {
        let gain = Self::gain(self.times);
        let held = format!("{} held in the end", size(self.memory));
        let mut text = if how == "off" {
            return paint(
                DIM,
                "nothing was compared: this is what reading in full costs, twice\n",
            );
        } else if gain >= GAIN {
            let saved = 100.0 - 100.0 / gain;
            paint(
                GOOD,
                &format!(
                    "with {how}, {doing} these is {gain:.1} times as fast: {saved:.0} % of the time is saved"
                ),
            )
        } else if gain > 1.0 / GAIN {
            paint(
                STRONG,
                &format!(
                    "with {how}, {doing} these takes as long as without: there is nothing to gain"
                ),
            )
        } else {
            paint(
                BAD,
                &format!(
                    "with {how}, {doing} these is {:.1} times as slow: leave it off here",
                    1.0 / gain
                ),
            )
        };
        text += &format!("; {held}\n");
        let (alike, times) = self.alike;
        if 0 < alike && alike < self.messages {
            text += &paint(
                DIM,
                &format!(
                    "of {alike} messages that were made of the one before: {:.1} times as fast\n",
                    Self::gain(times)
                ),
            );
        }
        if self.messages < 10 {
            text += &paint(
                DIM,
                "so few messages tell little: what comes first is always dealt with in full\n",
            );
        }
        text
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
        assert!(verdict(2e3, 1e3).contains("2.0 times as slow: leave it off"));
    }
}
