//! Hints on the command line, and what became of them, told to people and to programs.

use bsoap::{HintCounts, Hints};
use serde_json::{Value, json};

use crate::tally::tally;

/// When hints are given.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum When {
    /// To peers that say they follow them
    Offered,
    /// To every peer
    Always,
}

/// What an option, which may be missing, asks for.
pub(crate) fn wanted(when: Option<When>) -> Hints {
    match when {
        None => Hints::Off,
        Some(When::Offered) => Hints::Offered,
        Some(When::Always) => Hints::Always,
    }
}

/// For programs.
pub(crate) fn json(counts: &HintCounts) -> Value {
    json!({
        "given": counts.given,
        "messages": counts.messages(),
        "followed": counts.followed,
        "learned": counts.learned,
        "missed": counts.missed,
        "plain": counts.plain,
        "errors": counts.errors,
        "bytes_followed": counts.followed_bytes,
        "evicted": counts.evicted,
    })
}

/// For people: how many there were, and what was made of them.
pub(crate) fn told(counts: &HintCounts) -> String {
    tally(
        &[
            (counts.given, "given"),
            (counts.followed, "followed"),
            (counts.learned, "learned from"),
            (counts.missed, "wrong"),
            (counts.plain, "passed over"),
            (counts.errors, "with errors"),
        ],
        "none",
    )
}
