//! The width of the output, and text broken into lines of that width.

use terminal_size::{Width, terminal_size_of};

use crate::limits::{MIN_WIDTH, WIDTH};

/// The number of characters in a line: those of the terminal, or a fixed number if standard output is none.
pub(crate) fn width() -> usize {
    match terminal_size_of(std::io::stdout()) {
        Some((Width(width), _)) => usize::from(width).max(MIN_WIDTH),
        None => WIDTH,
    }
}

/// A space at which no line ends. The lines have an ordinary one.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// A text broken at spaces into lines of at most `width` characters. The first one is indented by `indent` spaces, the others by
/// `hanging` more. A word that is longer than a line has a line of its own.
pub(crate) fn wrapped(text: &str, indent: usize, hanging: usize, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut line, mut length) = (" ".repeat(indent), indent);
    let mut is_empty = true;
    for word in text.split([' ', '\t']).filter(|word| !word.is_empty()) {
        let own = word.chars().count();
        if !is_empty && length + 1 + own > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent + hanging)));
            (length, is_empty) = (indent + hanging, true);
        }
        if !is_empty {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        (length, is_empty) = (length + own, false);
    }
    lines.push(line);
    lines
        .into_iter()
        .map(|line| line.replace(NO_BREAK, " "))
        .collect()
}

/// A text as one line of at most `width` characters, with `…` in place of what is left out.
pub(crate) fn in_one_line(text: &str, width: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    let end = line.char_indices().nth(width.saturating_sub(2));
    let start = &line[..end.map_or(0, |(at, _)| at)];
    let words = start.rsplit_once(' ').map_or(start, |(words, _)| words);
    format!("{} …", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_are_no_longer_than_the_width() {
        let text = "one two three four five";
        assert_eq!(
            wrapped(text, 2, 2, 11),
            ["  one two", "    three", "    four", "    five"]
        );
        assert_eq!(wrapped(text, 0, 0, 100), [text]);
        assert_eq!(wrapped("a: b c", 0, 1, 4), ["a: b", " c"]);
        assert_eq!(wrapped("a:\u{a0}b c:\u{a0}d", 0, 1, 7), ["a: b", " c: d"]);
        assert_eq!(wrapped("longer than", 0, 0, 3), ["longer", "than"]);
        assert_eq!(wrapped("äöü äöü", 0, 0, 7), ["äöü äöü"]);
        assert_eq!(wrapped("", 0, 0, 7), [""]);
    }

    #[test]
    fn documentation_is_shortened_to_a_line() {
        assert_eq!(in_one_line("  Adds\n   ints.\n", 20), "Adds ints.");
        assert_eq!(in_one_line("Adds ints up.\n\nAlways.", 15), "Adds ints …");
        assert_eq!(in_one_line("Adds ints", 9), "Adds ints");
        assert_eq!(in_one_line("Unbreakable", 6), "Unbr …");
        for width in 0..30 {
            assert!(
                in_one_line("a bb ccc dddd eeeee ffffff", width)
                    .chars()
                    .count()
                    <= width.max(2)
            );
        }
    }
}
