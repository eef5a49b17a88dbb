//! Hints: the command-line option, and their counts as text and JSON.

use bsoap::tuning::{HintCounts, Hints};
use serde_json::{Value, json};

use crate::tally::tally;

/// When hints are sent.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum When {
    /// To peers that say they use them
    Offered,
    /// To every peer
    Always,
}

/// The setting that the option asks for.
pub(crate) fn wanted(when: Option<When>) -> Hints {
    match when {
        None => Hints::Off,
        Some(When::Offered) => Hints::Offered,
        Some(When::Always) => Hints::Always,
    }
}

/// The counts as JSON.
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

/// The counts as text.
pub(crate) fn text(counts: &HintCounts) -> String {
    tally(
        &[
            (counts.given, "sent"),
            (counts.followed, "used"),
            (counts.learned, "learned from"),
            (counts.missed, "wrong"),
            (counts.plain, "ignored"),
            (counts.errors, "with errors"),
        ],
        "none",
    )
}
