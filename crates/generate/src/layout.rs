//! The layout of generated code, where `prettyplease` leaves something to do.

/// The width that descriptors are broken at.
const WIDTH: usize = 100;

/// Adds blank lines between items and between methods, and lays out descriptors, which are macros.
pub(crate) fn laid_out(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + code.len() / 20);
    let mut before = "";
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if begins_block(before, line) {
            out.push('\n');
        }
        before = line;
        if !is_descriptor(line) {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let mut whole = line.to_owned();
        while !before.ends_with(");") {
            let Some(next) = lines.next() else { break };
            let is_first = whole.ends_with('(');
            let separator = if is_first || next.trim() == ");" {
                ""
            } else {
                " "
            };
            whole = whole + separator + next.trim();
            before = next;
        }
        lay_out_descriptor(&whole.replace(" : ", ": "), &mut out);
    }
    out
}

fn is_descriptor(line: &str) -> bool {
    line.starts_with("    typed::") && line.contains("!(")
}

/// Whether there is a blank line between two lines.
fn begins_block(before: &str, line: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (last, text) = (before.trim(), line.trim());
    // Behind a descriptor of several lines, `before` is its last one.
    let ends_block = last == "}" || last.ends_with(';');
    if !ends_block || text.starts_with(['}', ')', '.']) {
        return false;
    }
    let is_pair = |word: &str| last.starts_with(word) && text.starts_with(word);
    match indent(line) {
        0 => !is_pair("use "),
        4 => !is_descriptor(line) && !is_pair("use "),
        8 => ["pub ", "///", "#[", "fn ", "async "]
            .iter()
            .any(|word| text.starts_with(word)),
        _ => false,
    }
}

/// Breaks a long line at commas.
fn lay_out_descriptor(line: &str, out: &mut String) {
    let mut width = 0;
    for (index, part) in line.split_inclusive(", ").enumerate() {
        if index > 0 && width + part.trim_end().len() > WIDTH {
            out.truncate(out.trim_end_matches(' ').len());
            out.push_str("\n        ");
            width = 8;
        }
        out.push_str(part);
        width += part.len();
    }
    out.push('\n');
}
