//! What a store has done.

use std::time::Duration;

use crate::stats::SendStats;

/// What was saved by templates, and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendCounts {
    /// What templates have done.
    pub matches: SendStats,
    /// Messages written without one: the first of their kind, and ...
    pub plain: u64,
    /// ... those of streams that have nothing in common, and ...
    pub aside: u64,
    /// ... those for which there was no room.
    pub starved: u64,
    /// Templates given up for lack of room.
    pub evicted: u64,
    /// About how much longer it would have taken without templates.
    pub saved: Duration,
}

impl SendCounts {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Self) {
        self.matches.add(&other.matches);
        self.plain += other.plain;
        self.aside += other.aside;
        self.starved += other.starved;
        self.evicted += other.evicted;
        self.saved += other.saved;
    }

    /// How many messages.
    pub fn messages(&self) -> u64 {
        self.matches.messages() + self.plain + self.aside + self.starved
    }
}
