//! A stretch of an array whose values are all others than before, and the suspicion that they are only shifted.

use bsoap_codec::decode::Site;
use bsoap_codec::plan::LeafKind;

use super::locate::Gap;

/// The array at hand.
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) site: Site,
    pub(super) kind: LeafKind,
    /// What stands between two items.
    pub(super) gap: Option<Gap>,
    /// Where the items passed in this stretch began in the old text.
    pub(super) passed: Vec<u32>,
    /// So many of them, and it is time to look whether they were shifted.
    due: usize,
    /// How often it seemed so and was not.
    alarms: u32,
    /// How much further the new text seems to be than the old one, modulo 2⁶⁴.
    pub(super) hint: Option<usize>,
}

impl Default for Stretch {
    fn default() -> Self {
        Self {
            site: Site::NONE,
            kind: LeafKind::Boolean,
            gap: None,
            passed: Vec::new(),
            due: FIRST,
            alarms: 0,
            hint: None,
        }
    }
}

/// So many values are read again before anything is suspected.
const FIRST: usize = 2;

impl Stretch {
    /// Another message.
    pub(super) fn restart(&mut self) {
        (self.site, self.gap, self.hint, self.alarms) = (Site::NONE, None, None, 0);
        self.again();
    }

    /// The first item of an array.
    pub(super) fn begin(&mut self, site: Site, kind: LeafKind, gap: Gap) {
        (self.site, self.kind, self.gap) = (site, kind, Some(gap));
        self.again();
    }

    /// The first item of another stretch of it.
    #[inline]
    pub(super) fn again(&mut self) {
        self.passed.clear();
        self.due = FIRST << (3 * self.alarms.min(8));
    }

    /// One more item.
    #[inline]
    pub(super) fn pass(&mut self, start: usize) {
        self.passed.push(start as u32);
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.passed.len() >= self.due
    }

    /// How far to look, this time; the next time is later, and further. Looking takes a fiftieth of the reading's time.
    pub(super) fn probe(&mut self) -> usize {
        let passed = self.passed.len();
        self.due = (4 * passed).max(16);
        match passed {
            0..=3 => 2,
            4..=31 => 16,
            _ => passed / 2,
        }
    }

    /// The suspicion was wrong.
    pub(super) fn false_alarm(&mut self) {
        self.alarms += 1;
    }
}
