//! The XML declaration, comments and processing instructions (XML 1.0 §2.8, §2.5, §2.6).

use super::reference::{check_chars, normalise_line_ends};
use super::state::{FoundEvent, What};
use crate::chars::{ncname_length, space_length};
use crate::error::{ErrorKind, Stop};
use memchr::memmem;

/// Where the parts of an XML declaration are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeclarationSpans {
    pub(crate) version: (usize, usize),
    pub(crate) encoding: Option<(usize, usize)>,
    pub(crate) standalone: Option<bool>,
}

/// Where the parts of a processing instruction are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InstructionSpans {
    /// The end of its target.
    pub(crate) target: usize,
    /// The beginning of its data.
    pub(crate) data: usize,
}

/// Scans `<?xml … ?>`, which `input` begins with. Returns its length too.
pub(crate) fn scan_declaration(input: &str) -> Result<(usize, DeclarationSpans), Stop> {
    let Some(end) = memmem::find(input.as_bytes(), b"?>") else {
        return Err(Stop::More);
    };
    let mut scan = Pseudo {
        text: &input[..end],
        at: "<?xml".len(),
    };
    let version = scan.attribute("version")?;
    let version = version
        .ok_or_else(|| Stop::expected("version='1.0' in the XML declaration", input, scan.at))?;
    let number = input[version.0..version.1].strip_prefix("1.");
    // Other versions are read as XML 1.0 (§2.8); of this one it is known that it has other rules.
    if number == Some("1") {
        return Err(Stop::expected(
            "version 1.0 (XML 1.1 is not supported)",
            input,
            version.0,
        ));
    }
    if !number
        .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(Stop::expected("version 1.0", input, version.0));
    }
    let encoding = scan.attribute("encoding")?;
    if let Some((from, to)) = encoding.filter(|&(from, to)| !is_encoding_name(&input[from..to])) {
        return Err(Stop::expected(
            "the name of an encoding",
            &input[..to.max(from + 1)],
            from,
        ));
    }
    let standalone = match scan.attribute("standalone")? {
        None => None,
        Some((from, to)) => match &input[from..to] {
            "yes" => Some(true),
            "no" => Some(false),
            _ => return Err(Stop::expected("yes or no", input, from)),
        },
    };
    scan.at += space_length(&input.as_bytes()[scan.at..end]);
    if scan.at != end {
        return Err(Stop::expected(
            "'?>' at the end of the XML declaration",
            input,
            scan.at,
        ));
    }
    Ok((
        end + 2,
        DeclarationSpans {
            version,
            encoding,
            standalone,
        },
    ))
}

fn is_encoding_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// The pseudo attributes of an XML declaration.
struct Pseudo<'a> {
    text: &'a str,
    at: usize,
}

impl Pseudo<'_> {
    /// The value of `name`, if that comes next.
    fn attribute(&mut self, name: &str) -> Result<Option<(usize, usize)>, Stop> {
        let space = self.space();
        if !self.text[self.at + space..].starts_with(name) {
            return Ok(None);
        }
        if space == 0 {
            return Err(self.expected("white space in the XML declaration"));
        }
        self.at += space + name.len();
        self.at += self.space();
        if self.byte() != Some(b'=') {
            return Err(self.expected("'=' in the XML declaration"));
        }
        self.at += 1;
        self.at += self.space();
        let Some(quote @ (b'"' | b'\'')) = self.byte() else {
            return Err(self.expected("a quote in the XML declaration"));
        };
        let from = self.at + 1;
        let Some(length) = self.text.as_bytes()[from..]
            .iter()
            .position(|&byte| byte == quote)
        else {
            self.at = self.text.len();
            return Err(self.expected("the closing quote of a value in the XML declaration"));
        };
        self.at = from + length + 1;
        Ok(Some((from, from + length)))
    }

    fn space(&self) -> usize {
        space_length(&self.text.as_bytes()[self.at..])
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The declaration has an end, so that its text being at an end is no reason to wait for more.
    fn expected(&self, expected: &'static str) -> Stop {
        match self.text[self.at..].chars().next() {
            Some(found) => Stop::fault(
                ErrorKind::Syntax {
                    expected,
                    found: Some(found),
                },
                self.at,
            ),
            None => Stop::fault(
                ErrorKind::Syntax {
                    expected,
                    found: Some('?'),
                },
                self.at,
            ),
        }
    }
}

/// Scans the comment that `input` begins with.
pub(crate) fn scan_comment(input: &str, scratch: &mut String) -> Result<FoundEvent, Stop> {
    let from = "<!--".len();
    let Some(length) = memmem::find(&input.as_bytes()[from..], b"--") else {
        return Err(Stop::More);
    };
    let to = from + length;
    if input.as_bytes().get(to + 2) != Some(&b'>') {
        return Err(Stop::expected(
            "'-->', as '--' is not allowed in a comment",
            input,
            to + 2,
        ));
    }
    check_chars(input, from, to)?;
    let value = &input[from..to];
    let what = if decode(value, scratch) {
        What::DecodedComment
    } else {
        What::Comment
    };
    Ok(FoundEvent {
        length: to + 3,
        what,
    })
}

/// Scans the processing instruction that `input` begins with.
pub(crate) fn scan_instruction(
    input: &str,
    scratch: &mut String,
) -> Result<(FoundEvent, InstructionSpans), Stop> {
    let target = 2 + ncname_length(&input[2..]);
    if target == 2 {
        return Err(Stop::expected(
            "the target of a processing instruction",
            input,
            2,
        ));
    }
    let bytes = input.as_bytes();
    let space = space_length(&bytes[target..]);
    if space == 0 && bytes[target..] != *b"?" && !bytes[target..].starts_with(b"?>") {
        return Err(Stop::expected(
            "white space or '?>' after the target of a processing instruction",
            input,
            target,
        ));
    }
    let Some(length) = memmem::find(&bytes[target..], b"?>") else {
        return Err(Stop::More);
    };
    if input[2..target].eq_ignore_ascii_case("xml") {
        return Err(Stop::fault(
            ErrorKind::InvalidName(input[2..target].to_owned()),
            2,
        ));
    }
    let (data, to) = (target + space, target + length);
    check_chars(input, target, to)?;
    let what = match decode(&input[data..to], scratch) {
        true => What::DecodedInstruction,
        false => What::Instruction,
    };
    Ok((
        FoundEvent {
            length: to + 2,
            what,
        },
        InstructionSpans { target, data },
    ))
}

/// Copies a value to the scratch if its line ends need to be normalised.
fn decode(value: &str, scratch: &mut String) -> bool {
    let differs = value.contains('\r');
    if differs {
        scratch.clear();
        normalise_line_ends(value, scratch);
    }
    differs
}
