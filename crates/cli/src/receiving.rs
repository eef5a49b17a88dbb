//! Counts of differential deserialization, as text and JSON.

use bsoap::tuning::ReceiveCounts;
use serde_json::{Value, json};

use crate::saved::{InFull, Saved};
use crate::tally::tally;

/// The counts as JSON.
pub(crate) fn json(counts: &ReceiveCounts) -> Value {
    let reads = &counts.reads;
    json!({
        "messages": counts.messages(),
        "fast": reads.fast,
        "regular": reads.regular,
        "failed": reads.failed,
        "plain": counts.plain,
        "bypassed": counts.bypassed,
        "errors": counts.errors,
        "values_read_again": reads.values,
        "restructured": reads.restructured,
        "slots": reads.slots,
        "slots_unchanged": reads.unchanged_slots,
        "bytes": reads.bytes,
        "bytes_compared": reads.fast_bytes,
        "evicted": counts.evicted,
        "seconds_saved": counts.saved.as_secs_f64(),
    })
}

/// How messages were read, as text.
pub(crate) fn modes(counts: &ReceiveCounts) -> String {
    tally(
        &[
            (counts.reads.fast, "read differentially"),
            (counts.reads.regular, "read in full and saved"),
            (counts.plain, "read in full"),
            (
                counts.bypassed,
                "read in full (bypass: too little in common)",
            ),
            (counts.errors, "with errors"),
        ],
        "off",
    )
}

/// What was saved and why not more, as lines of text.
pub(crate) fn saved(counts: &ReceiveCounts) -> Vec<String> {
    let reads = &counts.reads;
    let all = counts.messages();
    if all == 0 {
        return vec!["not saved: histories are off, so each was read in full".to_owned()];
    }
    Saved {
        done: "read",
        of: "of their values",
        differential: reads.fast,
        all,
        values: reads.values,
        share: reads.unchanged_slots as f64 / reads.slots.max(1) as f64,
        time: counts.saved,
        in_full: InFull {
            first: counts.plain,
            kept: reads.regular,
            bypassed: counts.bypassed,
            no_memory: 0,
            messages: reads.fast + reads.regular,
            bytes: reads.bytes,
        },
    }
    .lines()
}
