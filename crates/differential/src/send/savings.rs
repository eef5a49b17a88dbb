//! The time that a template saves which is kept outside of a cache.

use std::time::{Duration, Instant};

use super::plain;
use super::template::Template;
use crate::timing::{Cost, Timer};

/// The encoding of a first message takes about this many times as long with its template as without.
const TEMPLATE: u32 = 2;

/// Estimates the time that a template saves, compared with encoding each message as a whole. From time to time, it encodes a
/// message to measure that.
#[derive(Clone, Debug)]
pub struct Savings {
    cost: Cost,
}

impl Savings {
    /// For a template that was made in this time.
    pub fn new(template: &Template, taken: Duration) -> Self {
        let mut timer = Timer::new(Cost::default(), true, 0, true);
        let start = Instant::now().checked_sub(taken / TEMPLATE);
        timer.learn(start, template.length() as usize);
        Self { cost: timer.cost() }
    }

    /// The approximate time saved by a message of the template that was made in this time.
    pub fn add(&mut self, template: &Template, taken: Duration) -> Duration {
        let mut timer = Timer::new(self.cost, true, 0, true);
        let start = Instant::now().checked_sub(taken);
        let rewrite = || template.record().is_some_and(plain::rewrite);
        let saved = timer.saved(start, template.length() as usize, rewrite);
        self.cost = timer.cost();
        saved
    }
}
