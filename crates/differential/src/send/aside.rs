//! Standing aside: messages of a stream that have nothing in common are not looked at, but for a few from time to time.
//!
//! ```text
//! looked at          aside   again         aside   again      aside
//! │ 1 2 3 4 │ ─── 8 ──── │ 1 2 3 4 │ ─── 32 ─── │ … │ ─ 128 … 512 ─ │ …
//! ```
//!
//! What is found to be useless makes the pauses four times as long, what is useful halves them: a stream whose templates
//! are of use every third time is no longer looked at before long.

/// The shortest and the longest pause, in messages.
const PAUSES: (u32, u32) = (8, 512);
/// So many messages in a row are looked at, at least, before nothing is found to be like another.
const LOOKS: u32 = 3;

/// When the messages of a stream are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aside {
    /// So many are not.
    left: u32,
    /// How many that were the last time.
    pause: u32,
    /// So many of those looked at may be like none before.
    looks: u32,
}

impl Aside {
    /// To begin with, structures of so many messages that take turns are told apart.
    pub(super) fn new(structures: usize) -> Self {
        Self {
            left: 0,
            pause: 0,
            looks: looks(structures),
        }
    }

    /// The next message comes. Says whether it is not looked at.
    #[inline]
    pub(super) fn passes(&mut self) -> bool {
        let passes = self.left > 0;
        self.left -= u32::from(passes);
        passes
    }

    /// Whether nothing speaks against the stream.
    #[inline]
    pub(super) fn is_trusted(&self) -> bool {
        self.pause == 0
    }

    /// A message was written faster for what was kept.
    #[inline]
    pub(super) fn useful(&mut self, structures: usize) {
        self.pause /= 2;
        if self.pause < PAUSES.0 {
            self.pause = 0;
        }
        self.looks = looks(structures);
    }

    /// A message was not, or what was kept could not be kept.
    pub(super) fn useless(&mut self, structures: usize) {
        self.pause = (self.pause * 4).clamp(PAUSES.0, PAUSES.1);
        self.left = self.pause;
        self.looks = looks(structures);
    }

    /// A message was like none before.
    pub(super) fn unlike(&mut self, structures: usize) {
        self.looks = self.looks.saturating_sub(1);
        if self.looks == 0 {
            self.useless(structures);
        }
    }

    /// There will be no use for a long time.
    pub(super) fn hopeless(&mut self) {
        self.pause = PAUSES.1;
        self.left = PAUSES.1;
    }
}

fn looks(structures: usize) -> u32 {
    u32::try_from(structures).map_or(LOOKS, |structures| structures.clamp(LOOKS, 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many messages in a row are looked at, and how many are not, in turns.
    fn turns(aside: &mut Aside, messages: usize, mut look: impl FnMut(&mut Aside)) -> Vec<usize> {
        let mut turns = vec![0];
        let mut before = false;
        for _ in 0..messages {
            let passes = aside.passes();
            if passes != before {
                turns.push(0);
            }
            if !passes {
                look(aside);
            }
            before = passes;
            *turns.last_mut().expect("there is one") += 1;
        }
        turns
    }

    #[test]
    fn less_than_a_hundredth_of_the_messages_of_a_useless_stream_are_looked_at() {
        let mut aside = Aside::new(4);
        let found = turns(&mut aside, 1000, |aside| aside.unlike(4));
        assert_eq!(found, [4, 8, 4, 32, 4, 128, 4, 512, 4, 300]);
        let found = turns(&mut Aside::new(4), 1000, |aside| aside.useless(4));
        assert_eq!(found, [1, 8, 1, 32, 1, 128, 1, 512, 1, 315]);
    }

    #[test]
    fn what_is_useful_is_looked_at_again() {
        let mut aside = Aside::new(4);
        aside.useless(4);
        assert!(!aside.is_trusted());
        while aside.passes() {}
        aside.useful(4);
        assert!(aside.is_trusted() && !aside.passes());
        // One message in twenty that is of no use costs some of the use, not all of it.
        let mut number = 0;
        let found = turns(&mut aside, 10_000, |aside| {
            number += 1;
            if number % 20 == 0 {
                aside.useless(4);
            } else {
                aside.useful(4);
            }
        });
        let looked_at: usize = found.iter().step_by(2).sum();
        assert!(looked_at > 6000, "{looked_at}");
    }
}
