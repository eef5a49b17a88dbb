//! Counts of differential serialization, as text and JSON.

use bsoap::tuning::SendCounts;
use serde_json::{Value, json};

use crate::saved::{InFull, Saved};
use crate::tally::tally;

/// The counts as JSON.
pub(crate) fn json(counts: &SendCounts) -> Value {
    let matches = &counts.matches;
    json!({
        "messages": counts.messages(),
        "content": matches.content,
        "perfect_structural": matches.perfect_structural,
        "partial_structural": matches.partial_structural,
        "first_time": matches.first_time,
        "plain": counts.plain,
        "bypassed": counts.bypassed,
        "no_memory": counts.no_memory,
        "values_rewritten": matches.values,
        "bytes": matches.bytes,
        "bytes_unchanged": matches.unchanged_bytes,
        "evicted": counts.evicted,
        "seconds_saved": counts.saved.as_secs_f64(),
    })
}

/// How messages were written, as text.
pub(crate) fn matches(counts: &SendCounts) -> String {
    let matches = &counts.matches;
    tally(
        &[
            (matches.content, "unchanged"),
            (matches.perfect_structural, "patched in place"),
            (
                matches.partial_structural,
                "patched with other lengths or structure",
            ),
            (matches.first_time, "new templates"),
            (counts.plain, "written in full"),
            (
                counts.bypassed,
                "written in full (bypass: too little in common)",
            ),
            (counts.no_memory, "written in full (budget used up)"),
        ],
        "off",
    )
}

/// What was saved and why not more, as lines of text.
pub(crate) fn saved(counts: &SendCounts) -> Vec<String> {
    let matches = &counts.matches;
    let all = counts.messages();
    if all == 0 {
        return vec!["not saved: templates are off, so each was written in full".to_owned()];
    }
    let again = matches.content + matches.perfect_structural + matches.partial_structural;
    Saved {
        done: "written",
        of: "of the bytes",
        differential: again,
        all,
        values: matches.values,
        share: matches.unchanged_bytes as f64 / matches.bytes.max(1) as f64,
        time: counts.saved,
        in_full: InFull {
            first: counts.plain,
            kept: matches.first_time,
            bypassed: counts.bypassed,
            no_memory: counts.no_memory,
            messages: again + matches.first_time,
            bytes: matches.bytes,
        },
    }
    .lines()
}
