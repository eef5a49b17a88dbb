//! Counts as one line of text, and quantiles of measured times.

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

/// The value below which this share of the samples lies (nearest rank); 0 if there are no samples.
pub(crate) fn quantile(mut samples: Vec<f64>, share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (share * (samples.len().saturating_sub(1)) as f64).round() as usize;
    samples.get(rank).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_zero_are_left_out() {
        assert_eq!(
            tally(&[(2, "compared"), (0, "read"), (1, "kept")], "off"),
            "2 compared, 1 kept"
        );
        assert_eq!(tally(&[(0, "compared")], "off"), "off");
    }

    #[test]
    fn quantiles_are_samples() {
        let samples = vec![5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| quantile(samples.clone(), share)),
            [1.0, 3.0, 5.0]
        );
        assert_eq!(quantile(Vec::new(), 0.5), 0.0);
    }
}
