//! From names and values to markup.
//!
//! The writer knows nothing of namespaces: prefixes and their declarations are the caller's. It sees to it that what it
//! writes can be read again: text is escaped, tags are balanced, and characters that XML cannot carry are refused.

use crate::chars::{is_char, is_ncname};
use crate::scan;
use std::fmt;

/// Writes markup to the end of a buffer.
///
/// ```
/// let mut out = Vec::new();
/// let mut writer = bsoap_xml::Writer::new(&mut out);
/// writer.declaration();
/// writer.start("s:order")?;
/// writer.attribute("xmlns:s", "urn:shop")?;
/// writer.text("5 < 7 & \"so\" on")?;
/// writer.start("s:note")?;
/// writer.end();
/// writer.end();
/// assert_eq!(
///     String::from_utf8(out).unwrap(),
///     "<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:order xmlns:s=\"urn:shop\">5 &lt; 7 &amp; \"so\" on<s:note/></s:order>"
/// );
/// # Ok::<(), bsoap_xml::WriteError>(())
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// The names of the open elements, one after another, and where each begins.
    names: String,
    starts: Vec<usize>,
    /// Whether the start tag written last still lacks its `>`.
    in_tag: bool,
}

/// Why something cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// A character that XML cannot carry, not even as a reference.
    InvalidChar {
        /// The character.
        found: char,
        /// Its place in the text given, in bytes.
        at: usize,
    },
    /// Not a qualified name.
    InvalidName(String),
    /// An attribute outside of a start tag.
    NotInTag,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::InvalidChar { found, at } => {
                write!(
                    f,
                    "XML cannot carry U+{:04X} (byte {at} of the text)",
                    u32::from(*found)
                )
            }
            WriteError::InvalidName(name) => write!(f, "{name:?} is not a qualified name"),
            WriteError::NotInTag => {
                f.write_str("an attribute must follow its start tag or another attribute")
            }
        }
    }
}

impl std::error::Error for WriteError {}

impl<'a> Writer<'a> {
    /// Writes to the end of `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Writer {
            out,
            names: String::new(),
            starts: Vec::new(),
            in_tag: false,
        }
    }

    /// The XML declaration: version 1.0, UTF-8.
    pub fn declaration(&mut self) {
        self.out
            .extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    }

    /// Begins an element.
    pub fn start(&mut self, qname: &str) -> Result<(), WriteError> {
        check_qname(qname)?;
        self.close_tag();
        self.out.push(b'<');
        self.out.extend_from_slice(qname.as_bytes());
        self.starts.push(self.names.len());
        self.names.push_str(qname);
        self.in_tag = true;
        Ok(())
    }

    /// Adds an attribute, or a namespace declaration, to the start tag.
    pub fn attribute(&mut self, qname: &str, value: &str) -> Result<(), WriteError> {
        if !self.in_tag {
            return Err(WriteError::NotInTag);
        }
        check_qname(qname)?;
        let length = self.out.len();
        self.out.push(b' ');
        self.out.extend_from_slice(qname.as_bytes());
        self.out.extend_from_slice(b"=\"");
        escape_attribute(value, self.out).inspect_err(|_| self.out.truncate(length))?;
        self.out.push(b'"');
        Ok(())
    }

    /// Writes character data.
    pub fn text(&mut self, text: &str) -> Result<(), WriteError> {
        self.close_tag();
        let length = self.out.len();
        escape_text(text, self.out).inspect_err(|_| self.out.truncate(length))
    }

    /// Writes bytes as they are: markup made elsewhere.
    pub fn raw(&mut self, markup: &[u8]) {
        self.close_tag();
        self.out.extend_from_slice(markup);
    }

    /// Ends the innermost element: with an end tag, or as an empty element if nothing was written into it.
    pub fn end(&mut self) {
        let Some(start) = self.starts.pop() else {
            return;
        };
        if std::mem::take(&mut self.in_tag) {
            self.out.extend_from_slice(b"/>");
        } else {
            self.out.extend_from_slice(b"</");
            self.out.extend_from_slice(&self.names.as_bytes()[start..]);
            self.out.push(b'>');
        }
        self.names.truncate(start);
    }

    /// An element without attributes that holds text alone.
    pub fn element(&mut self, qname: &str, text: &str) -> Result<(), WriteError> {
        self.start(qname)?;
        self.text(text)?;
        self.end();
        Ok(())
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.starts.len()
    }

    fn close_tag(&mut self) {
        if std::mem::take(&mut self.in_tag) {
            self.out.push(b'>');
        }
    }
}

fn check_qname(qname: &str) -> Result<(), WriteError> {
    let (prefix, local) = qname.split_once(':').unwrap_or(("_", qname));
    match is_ncname(prefix) && is_ncname(local) {
        true => Ok(()),
        false => Err(WriteError::InvalidName(qname.to_owned())),
    }
}

/// Appends character data: `<`, `>`, `&` and carriage returns as references.
///
/// ```
/// let mut out = Vec::new();
/// bsoap_xml::escape_text("a < b", &mut out)?;
/// assert_eq!(out, b"a &lt; b");
/// assert!(bsoap_xml::escape_text("\0", &mut out).is_err());
/// # Ok::<(), bsoap_xml::WriteError>(())
/// ```
#[inline]
pub fn escape_text(text: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    let at = scan::find_text_escape(text.as_bytes());
    if at == text.len() {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    escape(text, at, scan::find_text_escape, out)
}

/// Appends an attribute value for double quotes: `"` and all white space but spaces as references too.
#[inline]
pub fn escape_attribute(value: &str, out: &mut Vec<u8>) -> Result<(), WriteError> {
    escape(
        value,
        scan::find_value_escape(value.as_bytes()),
        scan::find_value_escape,
        out,
    )
}

#[inline(never)]
fn escape(
    text: &str,
    first: usize,
    find: fn(&[u8]) -> usize,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let bytes = text.as_bytes();
    let (mut copied, mut at) = (0, first);
    while let Some(&byte) = bytes.get(at) {
        let reference = match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&quot;",
            b'\t' => "&#9;",
            b'\n' => "&#10;",
            b'\r' => "&#13;",
            _ => "",
        };
        if reference.is_empty() {
            check_char(text, at)?;
        } else {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend_from_slice(reference.as_bytes());
            copied = at + 1;
        }
        at += 1;
        at += find(&bytes[at..]);
    }
    out.extend_from_slice(&bytes[copied..]);
    Ok(())
}

#[cold]
fn check_char(text: &str, at: usize) -> Result<(), WriteError> {
    match text[at..].chars().next() {
        Some(found) if !is_char(u32::from(found)) => Err(WriteError::InvalidChar { found, at }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_carry_is_refused_and_leaves_nothing_behind() {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.start("a").unwrap();
        assert_eq!(
            writer.text("b\u{1}"),
            Err(WriteError::InvalidChar {
                found: '\u{1}',
                at: 1
            })
        );
        assert_eq!(
            writer.text("\u{FFFF}"),
            Err(WriteError::InvalidChar {
                found: '\u{FFFF}',
                at: 0
            })
        );
        assert_eq!(
            writer.start("a b"),
            Err(WriteError::InvalidName("a b".into()))
        );
        assert_eq!(writer.attribute("b", ""), Err(WriteError::NotInTag));
        writer.text("\u{FFFD}").unwrap();
        writer.end();
        assert_eq!(out, "<a>\u{FFFD}</a>".as_bytes());
    }

    #[test]
    fn an_attribute_value_keeps_its_white_space() {
        let mut out = Vec::new();
        escape_attribute("a\tb\nc\rd\"<>&'", &mut out).unwrap();
        assert_eq!(out, b"a&#9;b&#10;c&#13;d&quot;&lt;&gt;&amp;'");
    }
}
