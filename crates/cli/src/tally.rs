//! Counts, told to people in one line.

/// `3 unchanged, 1 new templates`: those that are not zero; `none` if all are.
pub(crate) fn tally(parts: &[(u64, &str)], none: &str) -> String {
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() {
        none.into()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_happen_is_not_told() {
        assert_eq!(
            tally(&[(2, "compared"), (0, "read"), (1, "kept")], "off"),
            "2 compared, 1 kept"
        );
        assert_eq!(tally(&[(0, "compared")], "off"), "off");
    }
}
