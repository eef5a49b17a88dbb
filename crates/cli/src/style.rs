//! The colours of output. Text always has them; the output stream removes them where there is no terminal.

use anstyle::{AnsiColor, Style};

/// Names and headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// Less important text.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Types and other secondary names.
pub(crate) const KIND: Style = AnsiColor::Cyan.on_default();
/// Success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Failure.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
