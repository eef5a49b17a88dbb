//! What the reports of both directions share, and how much two messages have in common.

use serde_json::json;

use super::recorded::Invalid;
use crate::error::Failure;
use crate::limits::MAX_TAGS_AHEAD;
use crate::output::Output;
use crate::tally::quantile;

/// The median.
pub(super) fn median(times: &[f64]) -> f64 {
    quantile(times.to_vec(), 0.5)
}

/// A time with few digits.
pub(super) fn microseconds(ns: f64) -> String {
    match ns / 1e3 {
        short if short < 10.0 => format!("{short:.2} µs"),
        some if some < 10_000.0 => format!("{some:.0} µs"),
        long => format!("{:.1} ms", long / 1e3),
    }
}

/// A number of bytes with few digits.
pub(super) fn size(bytes: usize) -> String {
    match bytes as f64 / 1024.0 {
        few if few < 1.0 => format!("{bytes} B"),
        some if some < 1024.0 => format!("{some:.1} KiB"),
        many => format!("{:.1} MiB", many / 1024.0),
    }
}

/// The share of a message that the message before has too, if there was one.
pub(super) fn share(equal: Option<usize>, of: usize) -> String {
    match equal {
        None => "–".to_owned(),
        Some(equal) => format!("{:.1} %", 100.0 * equal as f64 / of.max(1) as f64),
    }
}

/// Prints a message that is not valid, with the location.
pub(super) fn invalid(file: &str, invalid: &Invalid, output: &mut Output) -> Result<(), Failure> {
    let violation = &invalid.violation;
    if output.is_json() {
        return output.json(&json!({
            "message": file, "valid": false, "line": violation.line, "column": violation.column, "byte": violation.offset,
            "path": violation.path, "problem": violation.problem,
        }));
    }
    violation.print(file, output)
}

/// How many bytes of a message are in the one before too, in the same order; text between two tags counts if all of it is the
/// same. Differences are searched only a few tags ahead, so the true number may be greater.
pub(super) fn in_common(before: &[u8], now: &[u8]) -> usize {
    let same = std::iter::zip(before, now).take_while(|(old, new)| old == new);
    let prefix = same.count();
    if prefix == before.len().min(now.len()) {
        return prefix;
    }
    // From the tag or text in which they differ first.
    let start = memchr::memrchr(b'<', &now[..prefix]).unwrap_or(0);
    let (old, new) = (parts(&before[start..]), parts(&now[start..]));
    let (mut a, mut b, mut equal) = (0, 0, start);
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            equal += new[b].len();
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let (skipped, added) = next_equal(&old[a..], &new[b..]);
        (a, b) = (a + skipped, b + added);
    }
    equal
}

/// Tags with the text that follows them.
fn parts(text: &[u8]) -> Vec<&[u8]> {
    let mut starts: Vec<usize> = memchr::memchr_iter(b'<', text).collect();
    starts.push(text.len());
    starts
        .windows(2)
        .map(|ends| &text[ends[0]..ends[1]])
        .collect()
}

/// The fewest parts to skip in both, until two in a row are the same.
fn next_equal(old: &[&[u8]], new: &[&[u8]]) -> (usize, usize) {
    for distance in 1..=MAX_TAGS_AHEAD {
        for skipped in 0..=distance {
            let added = distance - skipped;
            let pair = |all: &[&[u8]], at: usize| -> bool { at + 1 < all.len() };
            if pair(old, skipped)
                && pair(new, added)
                && old[skipped..skipped + 2] == new[added..added + 2]
            {
                return (skipped, added);
            }
        }
    }
    (1, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_messages_have_in_common_is_counted_through_changes_of_length() {
        let common = |old: &str, new: &str| in_common(old.as_bytes(), new.as_bytes());
        assert_eq!(common("<a><b>1</b></a>", "<a><b>1</b></a>"), 15);
        // `<b>22` is new.
        assert_eq!(common("<a><b>1</b></a>", "<a><b>22</b></a>"), 11);
        assert_eq!(common("<a><b/><c/></a>", "<a><n/><m/><b/><c/></a>"), 15);
        assert_eq!(common("<a/>", "<b/>"), 0);
        assert_eq!(common("", "<b/>"), 0);
    }

    #[test]
    fn times_and_sizes_are_shown_in_few_digits() {
        assert_eq!(microseconds(1234.0), "1.23 µs");
        assert_eq!(microseconds(123_400.0), "123 µs");
        assert_eq!(microseconds(12_340_000.0), "12.3 ms");
        assert_eq!(size(100), "100 B");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(3 << 20), "3.0 MiB");
    }
}
