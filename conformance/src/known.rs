//! Scores, and the failures that are known.
//!
//! ```
//! use bsoap_conformance::known::{Outcome, Score};
//!
//! let mut score = Score::new("a-suite-without-known-failures");
//! score.record("case-1", Outcome::Pass);
//! score.record("case-2", Outcome::Skip("needs the network"));
//! assert_eq!(score.to_string(), "a-suite-without-known-failures: 1 of 1 passed (100.00 %), 1 skipped: 1 needs the network");
//! assert_eq!(score.verdict(), Ok(()));
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::path::Path;

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As the suite demands.
    Pass,
    /// Otherwise: what happened.
    Fail(String),
    /// Not to be run here, and why.
    Skip(&'static str),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Outcome::Fail, |()| Outcome::Pass)
    }
}

/// The outcomes of a suite.
#[derive(Debug)]
pub struct Score {
    suite: String,
    passed: Vec<String>,
    failed: BTreeMap<String, String>,
    skipped: BTreeMap<&'static str, usize>,
    known: BTreeMap<String, String>,
}

impl Score {
    /// An empty score; reads what is known of the suite from `known-failures.toml`.
    ///
    /// # Panics
    /// If that file cannot be read: it belongs to this crate.
    pub fn new(suite: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("known-failures.toml");
        let text =
            std::fs::read_to_string(&path).expect("known-failures.toml is next to Cargo.toml");
        let mut suites: BTreeMap<String, BTreeMap<String, String>> =
            toml::from_str(&text).unwrap_or_else(|error| panic!("known-failures.toml: {error}"));
        let known = suites.remove(suite).unwrap_or_default();
        let (passed, failed, skipped) = Default::default();
        Score {
            suite: suite.to_owned(),
            passed,
            failed,
            skipped,
            known,
        }
    }

    /// Adds a case.
    pub fn record(&mut self, case: &str, outcome: impl Into<Outcome>) {
        match outcome.into() {
            Outcome::Pass => self.passed.push(case.to_owned()),
            Outcome::Fail(reason) => {
                self.failed.insert(case.to_owned(), reason);
            }
            Outcome::Skip(reason) => *self.skipped.entry(reason).or_default() += 1,
        }
    }

    /// The share of cases passed, of those run; 1 if none was.
    pub fn share(&self) -> f64 {
        match self.passed.len() + self.failed.len() {
            0 => 1.0,
            run => self.passed.len() as f64 / run as f64,
        }
    }

    /// Whether the failures are exactly those known; otherwise a line for each that is not.
    pub fn verdict(&self) -> Result<(), String> {
        let mut lines = String::new();
        for (case, reason) in self
            .failed
            .iter()
            .filter(|(case, _)| !self.known.contains_key(*case))
        {
            let _ = writeln!(lines, "{} {case}: {reason}", self.suite);
        }
        for case in self
            .known
            .keys()
            .filter(|case| !self.failed.contains_key(*case))
        {
            let what = if self.passed.contains(case) {
                "passes"
            } else {
                "is not run"
            };
            let _ = writeln!(
                lines,
                "{} {case}: {what}, but known-failures.toml names it",
                self.suite
            );
        }
        if lines.is_empty() { Ok(()) } else { Err(lines) }
    }

    /// Prints the score.
    ///
    /// # Panics
    /// If a failure is not known, or a known one none.
    pub fn settle(&self) {
        crate::corpus::say(&self.to_string());
        if let Err(lines) = self.verdict() {
            panic!("{lines}");
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed) = (self.passed.len(), self.failed.len());
        write!(
            f,
            "{}: {passed} of {} passed ({:.2} %)",
            self.suite,
            passed + failed,
            100.0 * self.share()
        )?;
        if failed > 0 {
            let known = self
                .failed
                .keys()
                .filter(|case| self.known.contains_key(*case))
                .count();
            write!(f, ", {failed} failed ({known} of them known)")?;
        }
        let skipped: usize = self.skipped.values().sum();
        if skipped > 0 {
            let reasons: Vec<String> = self
                .skipped
                .iter()
                .map(|(reason, count)| format!("{count} {reason}"))
                .collect();
            write!(f, ", {skipped} skipped: {}", reasons.join(", "))?;
        }
        Ok(())
    }
}
