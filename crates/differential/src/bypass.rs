//! Bypass with back-off: messages of a stream without similarity are not compared, except for a few messages from time to
//! time that show whether this has changed.
//!
//! ```text
//! compared    bypassed    compared    bypassed    compared     bypassed
//! │ 1 2 3 4 │ ─── 8 ──── │ 1 2 3 4 │ ─── 32 ─── │ 1 2 3 4 │ ─── 128 … 512 ─── │ …       sending, four templates
//! ```
//!
//! This file only counts similar and dissimilar messages. The caller decides which messages are similar: the sender by
//! counting, the receiver also by time for long messages.

/// How long pauses are, and how many dissimilar messages lead to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    /// The shortest and the longest pause, in messages.
    pauses: (u32, u32),
    /// Each pause is this many times as long as the previous one.
    growth: u32,
    /// Each useful message divides the length of the next pause by this.
    recovery: u32,
    /// The number of dissimilar messages that are tolerated before the first pause.
    first: u32,
    /// The number of dissimilar messages that are tolerated after a pause.
    after_pause: u32,
    /// Each useful message adds this to the number of dissimilar messages that are tolerated.
    reward: u32,
    /// The maximum number of dissimilar messages that are tolerated.
    most: u32,
}

impl Backoff {
    /// For the receiver. A session alternates between operations, so some dissimilar messages are tolerated.
    pub(crate) const RECEIVE: Self = Self {
        pauses: (2, 128),
        growth: 4,
        recovery: u32::MAX,
        first: 1,
        after_pause: 0,
        reward: 2,
        most: 4,
    };

    /// For all messages of a kind at the receiver. Several are compared in vain until there is a history for each of some
    /// alternating streams; after a pause, one message is kept and the next one is compared with it.
    pub(crate) const KIND: Self = Self {
        pauses: (4, 64),
        growth: 2,
        recovery: u32::MAX,
        first: 2,
        after_pause: 1,
        reward: 1,
        most: 4,
    };

    /// For the sender, with this maximum number of templates per stream. A template costs more than a history, so pauses are
    /// longer. Alternating messages must be recognised within one series, so as many are compared as there may be templates.
    pub(crate) fn send(templates: usize) -> Self {
        let tolerated = templates.clamp(3, 16) as u32 - 1;
        Self {
            pauses: (8, 512),
            growth: 4,
            recovery: 2,
            first: tolerated,
            after_pause: tolerated,
            reward: tolerated,
            most: tolerated,
        }
    }
}

/// Decides which messages of a stream are compared with saved ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bypass {
    backoff: Backoff,
    /// The number of messages of the current pause that are still to come.
    left: u32,
    /// The length of the last pause in messages; 0 if there was none, or if the stream has been useful since.
    pause: u32,
    /// The number of further dissimilar messages that are tolerated.
    tolerated: u32,
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Compare it, and keep it for the next one.
    Compare,
    /// The last of a pause: keep it, so that the next one can be compared with it.
    Keep,
    /// Convert it as if it were the only one.
    Bypass,
}

impl Bypass {
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self {
            backoff,
            left: 0,
            pause: 0,
            tolerated: backoff.first,
        }
    }

    /// What to do with the next message.
    #[inline]
    pub(crate) fn turn(&mut self) -> Turn {
        match self.left {
            0 => Turn::Compare,
            left => {
                self.left = left - 1;
                match left {
                    1 => Turn::Keep,
                    _ => Turn::Bypass,
                }
            }
        }
    }

    /// The number of messages of the current pause that are still to come. The last of them may be kept.
    #[inline]
    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    /// The length of the last pause in messages; 0 if there was none, or if the stream has been useful since.
    #[inline]
    pub(crate) fn last_pause(&self) -> u32 {
        self.pause
    }

    /// Records that comparing a message saved work.
    #[inline]
    pub(crate) fn useful(&mut self) {
        if self.pause > 0 {
            let pause = self.pause / self.backoff.recovery;
            self.pause = if pause < self.backoff.pauses.0 {
                0
            } else {
                pause
            };
        }
        self.tolerated = (self.tolerated + self.backoff.reward).min(self.backoff.most);
    }

    /// Records that comparing a message saved no work, and begins a pause.
    pub(crate) fn useless(&mut self) {
        let (shortest, longest) = self.backoff.pauses;
        self.pause = (self.pause * self.backoff.growth).clamp(shortest, longest);
        self.left = self.pause;
        self.tolerated = self.backoff.after_pause;
    }

    /// Records that a message was not similar to any saved one. Returns `true` if a pause begins.
    pub(crate) fn dissimilar(&mut self) -> bool {
        if self.tolerated > 0 {
            self.tolerated -= 1;
            return false;
        }
        self.useless();
        true
    }

    /// Records whether comparing a message saved work. If not, the message was dissimilar. Returns `true` if a pause begins.
    pub(crate) fn learn(&mut self, was_useful: bool) -> bool {
        if was_useful {
            self.useful();
            return false;
        }
        self.dissimilar()
    }

    /// Begins a pause of the maximum length.
    pub(crate) fn pause_longest(&mut self) {
        self.pause = self.backoff.pauses.1;
        self.left = self.pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many messages in a row are compared, and how many are not, in turns.
    fn turns(
        bypass: &mut Bypass,
        messages: usize,
        mut compare: impl FnMut(&mut Bypass),
    ) -> Vec<usize> {
        let mut turns = vec![0];
        let mut before = false;
        for _ in 0..messages {
            let is_bypassed = bypass.turn() != Turn::Compare;
            if is_bypassed != before {
                turns.push(0);
            }
            if !is_bypassed {
                compare(bypass);
            }
            before = is_bypassed;
            *turns.last_mut().expect("there is one") += 1;
        }
        turns
    }

    #[test]
    fn less_than_a_hundredth_of_the_messages_of_a_useless_stream_are_compared() {
        let new = || Bypass::new(Backoff::send(4));
        let found = turns(&mut new(), 1000, |bypass| {
            bypass.dissimilar();
        });
        assert_eq!(found, [4, 8, 4, 32, 4, 128, 4, 512, 4, 300]);
        let found = turns(&mut new(), 1000, Bypass::useless);
        assert_eq!(found, [1, 8, 1, 32, 1, 128, 1, 512, 1, 315]);
    }

    #[test]
    fn a_stream_that_becomes_useful_is_compared_again() {
        let mut bypass = Bypass::new(Backoff::send(4));
        bypass.useless();
        assert!(bypass.last_pause() > 0);
        while bypass.turn() != Turn::Compare {}
        bypass.useful();
        assert_eq!((bypass.last_pause(), bypass.turn()), (0, Turn::Compare));
        // One useless message in twenty costs some of the gain, not all of it.
        let mut number = 0;
        let found = turns(&mut bypass, 10_000, |bypass| {
            number += 1;
            if number % 20 == 0 {
                bypass.useless();
            } else {
                bypass.useful();
            }
        });
        let compared: usize = found.iter().step_by(2).sum();
        assert!(compared > 6000, "{compared}");
    }

    #[test]
    fn a_receiver_pauses_for_2_8_32_and_128_messages_after_two_dissimilar_ones() {
        let mut bypass = Bypass::new(Backoff::RECEIVE);
        let mut pauses = Vec::new();
        assert_eq!(bypass.turn(), Turn::Compare);
        assert!(!bypass.dissimilar());
        for _ in 0..5 {
            assert_eq!(bypass.turn(), Turn::Compare);
            assert!(bypass.dissimilar());
            let mut pause = 1;
            while bypass.turn() == Turn::Bypass {
                pause += 1;
            }
            pauses.push(pause);
        }
        assert_eq!(pauses, [2, 8, 32, 128, 128]);
        assert_eq!(bypass.turn(), Turn::Compare);
        bypass.useful();
        for _ in 0..2 {
            assert_eq!(bypass.turn(), Turn::Compare);
            assert!(!bypass.dissimilar());
        }
        assert!(bypass.dissimilar());
    }
}
