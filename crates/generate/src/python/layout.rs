//! The layout of Python: literals, docstrings, and calls that are broken where they are too long.

use std::fmt::Write as _;

/// The width that lines are broken at.
const WIDTH: usize = 100;

/// A string literal, which is also one of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Line separators and the like would be lost to editors.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A docstring at an indentation, in lines of the usual width. Blank lines separate paragraphs.
pub(super) fn docstring(indent: usize, text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in paragraphs(text) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        fold(&paragraph, WIDTH - indent, lines.is_empty(), &mut lines);
    }
    let pad = " ".repeat(indent);
    let fits = |line: &String| indent + line.len() + 6 <= WIDTH;
    match &lines[..] {
        [line] if fits(line) => {
            // A quotation mark would end the docstring.
            let line = match line.strip_suffix('"') {
                Some(rest) => format!("{rest}\\\""),
                None => line.clone(),
            };
            format!("{pad}\"\"\"{line}\"\"\"\n")
        }
        lines => {
            let mut out = format!("{pad}\"\"\"");
            for (index, line) in lines.iter().enumerate() {
                if index > 0 && !line.is_empty() {
                    out.push_str(&pad);
                }
                out.push_str(line);
                out.push('\n');
            }
            out + &pad + "\"\"\"\n"
        }
    }
}

/// The paragraphs of a text, on one line each, without what would end a docstring.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines() {
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(last) = paragraphs.last_mut() else {
            continue;
        };
        match (words.is_empty(), last.is_empty()) {
            (true, false) => paragraphs.push(String::new()),
            (true, true) => {}
            (false, is_first) => {
                if !is_first {
                    last.push(' ');
                }
                let is_plain = |c: &char| !c.is_control() || *c == ' ';
                let words: String = words.chars().filter(is_plain).collect();
                last.push_str(&words.replace('\\', "\\\\").replace("\"\"\"", "'''"));
            }
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Breaks a paragraph at spaces.
fn fold(paragraph: &str, width: usize, is_first: bool, lines: &mut Vec<String>) {
    // The first line begins with the quotation marks.
    let mut left = width - if is_first { 3 } else { 0 };
    let mut line = String::new();
    for word in paragraph.split(' ') {
        let length = word.chars().count();
        if !line.is_empty() && length + 1 > left {
            lines.push(std::mem::take(&mut line));
            left = width;
        }
        if !line.is_empty() {
            line.push(' ');
            left = left.saturating_sub(1);
        }
        line.push_str(word);
        left = left.saturating_sub(length);
    }
    lines.push(line);
}

/// `head(arguments)tail` on one line, or with a line for each argument.
pub(super) fn call(indent: usize, head: &str, arguments: &[String], tail: &str) -> String {
    let pad = " ".repeat(indent);
    let line = format!("{pad}{head}({}){tail}\n", arguments.join(", "));
    if arguments.is_empty() || line.chars().count() <= WIDTH + 1 {
        return line;
    }
    let lines: String = arguments
        .iter()
        .map(|argument| format!("{pad}    {argument},\n"))
        .collect();
    format!("{pad}{head}(\n{lines}{pad}){tail}\n")
}

/// `name = "A | B | C"`, broken between the members.
pub(super) fn alias(name: &str, members: &[String]) -> String {
    let line = format!("{name}: TypeAlias = \"{}\"\n", members.join(" | "));
    if line.len() <= WIDTH {
        return line;
    }
    let mut out = format!("{name}: TypeAlias = (\n");
    for (index, member) in members.iter().enumerate() {
        let separator = if index + 1 < members.len() { " | " } else { "" };
        out += &format!("    \"{member}{separator}\"\n");
    }
    out + ")\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docstrings_are_folded_and_closed() {
        assert_eq!(docstring(0, " One\n line. "), "\"\"\"One line.\"\"\"\n");
        assert_eq!(docstring(4, "a \"b\""), "    \"\"\"a \"b\\\"\"\"\"\n");
        assert_eq!(docstring(0, "a\\b \"\"\""), "\"\"\"a\\\\b '''\"\"\"\n");
        let text = docstring(2, &format!("{}\n\nend", "word ".repeat(30)));
        assert!(text.lines().all(|line| line.len() <= WIDTH && line != "  "));
        assert!(text.ends_with("\n\n  end\n  \"\"\"\n"));
    }

    #[test]
    fn literals_are_escaped() {
        assert_eq!(
            quoted("a\"\\\n\u{1}\u{2028}é"),
            "\"a\\\"\\\\\\n\\u0001\\u2028é\""
        );
    }
}
