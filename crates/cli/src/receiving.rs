//! What of the messages received was known from those before, told to people and to programs.

use bsoap::ReceiveCounts;
use serde_json::{Value, json};

use crate::tally::tally;

/// For programs.
pub(crate) fn json(counts: &ReceiveCounts) -> Value {
    let reads = &counts.reads;
    json!({
        "messages": counts.messages(),
        "fast": reads.fast,
        "regular": reads.regular,
        "failed": reads.failed,
        "plain": counts.plain,
        "aside": counts.bypassed,
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

/// For people: how messages were read.
pub(crate) fn modes(counts: &ReceiveCounts) -> String {
    tally(
        &[
            (counts.reads.fast, "compared"),
            (counts.reads.regular, "read and kept"),
            (counts.plain, "only read"),
            (counts.bypassed, "nothing in common"),
            (counts.errors, "with errors"),
        ],
        "off",
    )
}

/// For people: what that saved.
pub(crate) fn saved(counts: &ReceiveCounts) -> String {
    let reads = &counts.reads;
    let share = reads.unchanged_slots as f64 / reads.slots.max(1) as f64;
    format!(
        "{} values read again, {:.0} % of what was compared as it was, about {:.1} ms saved",
        reads.values,
        share * 100.0,
        counts.saved.as_secs_f64() * 1e3
    )
}
