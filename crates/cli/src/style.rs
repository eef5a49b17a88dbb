//! The few colours there are. Text is always painted; the output stream strips colours where no terminal is.

use anstyle::{AnsiColor, Style};

/// Names and headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// What may be skipped.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Types and other second names.
pub(crate) const KIND: Style = AnsiColor::Cyan.on_default();
/// Well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Not well.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
