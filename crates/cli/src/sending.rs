//! What of the messages sent had been written before, told to people and to programs.

use bsoap::SendCounts;
use serde_json::{Value, json};

use crate::tally::tally;

/// For programs.
pub(crate) fn json(counts: &SendCounts) -> Value {
    let matches = &counts.matches;
    json!({
        "messages": counts.messages(),
        "content": matches.content,
        "perfect_structural": matches.perfect_structural,
        "partial_structural": matches.partial_structural,
        "first_time": matches.first_time,
        "plain": counts.plain,
        "aside": counts.bypassed,
        "starved": counts.no_memory,
        "values_rewritten": matches.values,
        "bytes": matches.bytes,
        "bytes_unchanged": matches.unchanged_bytes,
        "evicted": counts.evicted,
        "seconds_saved": counts.saved.as_secs_f64(),
    })
}

/// For people: which matches there were.
pub(crate) fn matches(counts: &SendCounts) -> String {
    let matches = &counts.matches;
    tally(
        &[
            (matches.content, "unchanged"),
            (matches.perfect_structural, "values patched"),
            (matches.partial_structural, "text moved"),
            (matches.first_time, "new templates"),
            (counts.plain, "without one"),
            (counts.bypassed, "nothing in common"),
            (counts.no_memory, "no room for one"),
        ],
        "off",
    )
}

/// For people: what that saved.
pub(crate) fn saved(counts: &SendCounts) -> String {
    let matches = &counts.matches;
    let share = matches.unchanged_bytes as f64 / matches.bytes.max(1) as f64;
    format!(
        "{} values written again, {:.0} % of the chunks\u{2019} bytes as they were, about {:.1} ms saved",
        matches.values,
        share * 100.0,
        counts.saved.as_secs_f64() * 1e3
    )
}
