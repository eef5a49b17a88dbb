//! Character data and CDATA sections (XML 1.0 §2.4, §2.7).

use super::reference::{
    Reference, check_chars, check_noncharacter, normalise_line_ends, scan_reference,
};
use super::state::{FoundEvent, What};
use crate::error::{ErrorKind, Stop};
use crate::options::Limits;
use crate::scan;
use memchr::memmem;

/// What the end of the text at hand means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More may follow.
    Open,
    /// The document ends.
    Document,
    /// The replacement text of an entity ends.
    Entity,
}

/// Scans character data up to markup, an entity of the document, or the end of what can be returned already.
#[inline]
pub(crate) fn scan_text(
    input: &str,
    ending: Ending,
    limits: &Limits,
    scratch: &mut String,
) -> Result<FoundEvent, Stop> {
    let bytes = input.as_bytes();
    let at = scan::find_text_special(bytes);
    if bytes.get(at) == Some(&b'<') {
        return Ok(FoundEvent {
            length: at,
            what: What::Text,
        });
    }
    scan_special_text(input, at, ending, limits, scratch)
}

/// Continues at the first special byte. Text that differs from the input goes to the scratch.
#[inline(never)]
fn scan_special_text(
    input: &str,
    first: usize,
    ending: Ending,
    limits: &Limits,
    scratch: &mut String,
) -> Result<FoundEvent, Stop> {
    let bytes = input.as_bytes();
    scratch.clear();
    let (mut at, mut copied) = (first, 0);
    loop {
        match bytes.get(at) {
            None | Some(b'<') => break,
            Some(b'&') => match scan_reference(input, at) {
                Ok((_, length)) if length > limits.name_length + 2 => {
                    return Err(name_limit(limits, at));
                }
                Ok((Reference::Char(c), length)) => {
                    scratch.push_str(&input[copied..at]);
                    scratch.push(c);
                    at += length;
                    copied = at;
                }
                Ok((Reference::Entity(_), length)) if at == 0 => {
                    return Ok(FoundEvent {
                        length,
                        what: What::Reference,
                    });
                }
                Ok((Reference::Entity(_), _)) => break,
                Err(Stop::More) if input.len() - at > limits.name_length + 2 => {
                    return Err(name_limit(limits, at));
                }
                Err(Stop::More) if ending == Ending::Open => break,
                Err(stop) => return Err(stop),
            },
            Some(b']') => match &bytes[at..] {
                [_, b']', b'>', ..] => {
                    return Err(Stop::expected(
                        "']]&gt;' for ']]>' in character data",
                        input,
                        at,
                    ));
                }
                [_] | [_, b']'] if ending == Ending::Open => break,
                _ => at += 1,
            },
            // In the text of an entity it can only come from a reference, and stays.
            Some(b'\r') if ending == Ending::Entity => at += 1,
            Some(b'\r') => {
                if at + 1 == bytes.len() && ending == Ending::Open {
                    break;
                }
                scratch.push_str(&input[copied..at]);
                scratch.push('\n');
                at += if bytes.get(at + 1) == Some(&b'\n') {
                    2
                } else {
                    1
                };
                copied = at;
            }
            Some(0xEF) => {
                check_noncharacter(bytes, at)?;
                at += 1;
            }
            Some(&byte) => return Err(Stop::fault(ErrorKind::InvalidChar(u32::from(byte)), at)),
        }
        at += scan::find_text_special(&bytes[at..]);
    }
    found_text(input, copied, at, scratch)
}

/// Text up to `end`, of which what is before `copied` is in the scratch already.
fn found_text(
    input: &str,
    copied: usize,
    end: usize,
    scratch: &mut String,
) -> Result<FoundEvent, Stop> {
    if end == 0 {
        return Err(Stop::More);
    }
    let mut what = What::Text;
    if copied > 0 {
        scratch.push_str(&input[copied..end]);
        what = What::DecodedText;
    }
    Ok(FoundEvent { length: end, what })
}

#[cold]
fn name_limit(limits: &Limits, at: usize) -> Stop {
    Stop::limit("name_length", limits.name_length).shifted(at)
}

/// Scans a CDATA section, or as much as there is of it, whose characters begin at `from`. Says also whether it ends.
pub(crate) fn scan_cdata(
    input: &str,
    from: usize,
    last: bool,
    scratch: &mut String,
) -> Result<(FoundEvent, bool), Stop> {
    let bytes = input.as_bytes();
    let (to, length, ends) = match memmem::find(&bytes[from..], b"]]>") {
        Some(at) => (from + at, from + at + 3, true),
        None => {
            // Keep back what may belong to `]]>` or to a line end of two characters.
            let kept = match &bytes[from..] {
                _ if last => 0,
                [.., b']', b']'] => 2,
                [.., b']' | b'\r'] => 1,
                _ => 0,
            };
            (bytes.len() - kept, bytes.len() - kept, false)
        }
    };
    if length == 0 {
        return Err(Stop::More);
    }
    check_chars(input, from, to)?;
    let value = &input[from..to];
    let what = if value.contains('\r') {
        scratch.clear();
        normalise_line_ends(value, scratch);
        What::DecodedCdata
    } else {
        What::Cdata {
            front: from as u8,
            behind: (length - to) as u8,
        }
    };
    Ok((FoundEvent { length, what }, ends))
}
