//! Progress bars, on standard error and only where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that counts to `length`.
pub(crate) fn counter(length: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
    let style =
        ProgressStyle::with_template("{prefix:.bold} {bar:32.cyan} {pos}/{len} {msg} {eta:.dim}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
