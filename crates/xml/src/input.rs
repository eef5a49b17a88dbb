//! From bytes to text: byte order marks, declared encodings, and characters that are split over feeds.
//!
//! ```text
//! feed:  EF BB BF | 3C 61 3E C3 | A9 3C …       Input:  "<a>é<"   (unread text, always whole characters)
//! ```
//!
//! The encoding is found as XML 1.0 appendix F describes. Offsets everywhere else in this crate count bytes of the text
//! that comes out here: UTF-8 without byte order mark.

use crate::error::{Error, ErrorKind, Result};
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;
use std::borrow::Cow;

/// The unread text of a document, fed as bytes.
///
/// ```
/// let mut input = bsoap_xml::Input::new();
/// input.feed(b"\xEF\xBB\xBF<a>\xC3")?;
/// assert_eq!(input.unread(), "<a>");
/// input.consume(3);
/// input.feed(b"\xA9")?;
/// assert_eq!(input.unread(), "é");
/// assert_eq!(input.offset(), 3);
/// # Ok::<(), bsoap_xml::Error>(())
/// ```
#[derive(Debug)]
pub struct Input {
    source: InputEncoding,
    text: String,
    /// Bytes of `text` already consumed.
    start: usize,
    /// Bytes consumed in all.
    offset: u64,
    finished: bool,
    /// The encoding that the transport names.
    named: Option<&'static Encoding>,
}

/// What the bytes are.
#[derive(Debug)]
enum InputEncoding {
    /// Not known yet: the bytes so far.
    Unknown(Vec<u8>),
    /// UTF-8; the bytes of a character that is not complete.
    Utf8 { rest: [u8; 4], length: usize },
    /// Another encoding.
    Other(Box<Decoder>),
}

/// What the first bytes reveal about the encoding.
enum Sniffed {
    /// More bytes are needed.
    NotYet,
    /// The encoding, and the length of the byte order mark.
    Encoding(&'static Encoding, usize),
    /// The name of an encoding that is not supported, or contradicts the bytes.
    Wrong(String, &'static str),
}

/// A declaration that has not ended after this many bytes gives no encoding.
const DECLARATION: usize = 1024;

impl Default for Input {
    fn default() -> Self {
        Input::new()
    }
}

impl Input {
    /// Before the first byte.
    pub fn new() -> Self {
        Input {
            source: InputEncoding::Unknown(Vec::new()),
            text: String::new(),
            start: 0,
            offset: 0,
            finished: false,
            named: None,
        }
    }

    /// Before the first byte of a document whose encoding the transport names, as in `charset=`. That outranks the
    /// document's own declaration (RFC 7303 §3); a byte order mark outranks both.
    pub fn with_encoding(label: &str) -> Result<Self> {
        let named = Encoding::for_label(label.as_bytes())
            .ok_or_else(|| wrong(label, "it is not supported", 0))?;
        Ok(Input {
            named: Some(named),
            ..Input::new()
        })
    }

    /// Back to before the first byte; keeps its memory.
    pub fn restart(&mut self) {
        self.text.clear();
        let text = std::mem::take(&mut self.text);
        *self = Input {
            text,
            ..Input::new()
        };
    }

    /// The text that was not consumed, to be kept.
    pub fn into_text(mut self) -> String {
        self.text.drain(..self.start);
        self.text
    }

    /// Adds bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        self.compact();
        match &mut self.source {
            InputEncoding::Unknown(before) => {
                before.extend_from_slice(bytes);
                self.sniff(false)
            }
            _ => self.decode(bytes, false),
        }
    }

    /// Says that no more bytes follow.
    pub fn finish(&mut self) -> Result<()> {
        if self.finished {
            return Ok(());
        }
        self.finished = true;
        match &self.source {
            InputEncoding::Unknown(_) => self.sniff(true),
            _ => self.decode(&[], true),
        }
    }

    /// Whether [`finish`](Input::finish) was called.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The text that was not consumed.
    #[inline]
    pub fn unread(&self) -> &str {
        &self.text[self.start..]
    }

    /// Lets go of `n` bytes of the unread text, which must end between two characters.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        debug_assert!(
            self.unread().is_char_boundary(n),
            "a caller consumes whole characters"
        );
        self.start += n;
        self.offset += n as u64;
    }

    /// Lets go of the text before a byte of the document.
    #[inline]
    pub(crate) fn consume_to(&mut self, offset: u64) {
        self.consume((offset - self.offset) as usize);
    }

    /// How many bytes of text have been consumed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Moves the unread text to the front if more has been read than is left.
    fn compact(&mut self) {
        if self.start > self.text.len() / 2 {
            self.text.drain(..self.start);
            self.start = 0;
        }
    }

    /// The offset in the text of the next decoded byte.
    fn end(&self) -> u64 {
        self.offset + self.unread().len() as u64
    }

    fn sniff(&mut self, last: bool) -> Result<()> {
        let InputEncoding::Unknown(bytes) = &mut self.source else {
            return Ok(());
        };
        match sniff(bytes, self.named, last) {
            Sniffed::NotYet => Ok(()),
            Sniffed::Wrong(name, problem) => Err(wrong(&name, problem, 0)),
            Sniffed::Encoding(encoding, mark) => {
                let bytes = std::mem::take(bytes);
                self.source = match encoding == UTF_8 {
                    true => InputEncoding::Utf8 {
                        rest: [0; 4],
                        length: 0,
                    },
                    false => {
                        InputEncoding::Other(Box::new(encoding.new_decoder_without_bom_handling()))
                    }
                };
                self.decode(&bytes[mark..], last)
            }
        }
    }

    fn decode(&mut self, bytes: &[u8], last: bool) -> Result<()> {
        match &mut self.source {
            InputEncoding::Utf8 { .. } => self.append_utf8(bytes, last),
            InputEncoding::Other(decoder) => {
                if !append_decoded(decoder, bytes, &mut self.text, last) {
                    let name = decoder.encoding().name();
                    return Err(wrong(name, "the bytes are not text in it", self.end()));
                }
                Ok(())
            }
            InputEncoding::Unknown(_) => Ok(()),
        }
    }

    fn append_utf8(&mut self, mut bytes: &[u8], last: bool) -> Result<()> {
        let InputEncoding::Utf8 { rest, length } = &mut self.source else {
            return Ok(());
        };
        // A character split over feeds: complete it byte by byte.
        while let (1.., Some((&byte, behind))) = (*length, bytes.split_first()) {
            rest[*length] = byte;
            *length += 1;
            bytes = behind;
            match std::str::from_utf8(&rest[..*length]) {
                Ok(text) => {
                    self.text.push_str(text);
                    *length = 0;
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(not_utf8(self.end())),
            }
        }
        let valid = match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => {
                self.text.push_str(text);
                bytes.len()
            }
            Err(_) => {
                let error = simdutf8::compat::from_utf8(bytes).map_or_else(Some, |_| None);
                let valid = error.map_or(bytes.len(), |error| error.valid_up_to());
                self.text
                    .push_str(std::str::from_utf8(&bytes[..valid]).unwrap_or_default());
                if error.is_some_and(|error| error.error_len().is_some()) {
                    return Err(not_utf8(self.end()));
                }
                valid
            }
        };
        let left = &bytes[valid..];
        if !left.is_empty() {
            rest[..left.len()].copy_from_slice(left);
            *length = left.len();
        }
        if last && *length != 0 {
            return Err(not_utf8(self.end()));
        }
        Ok(())
    }
}

#[cold]
fn not_utf8(offset: u64) -> Error {
    wrong("UTF-8", "the bytes are not text in it", offset)
}

#[cold]
fn wrong(encoding: &str, problem: &'static str, offset: u64) -> Error {
    Error::new(
        ErrorKind::Encoding {
            encoding: encoding.to_owned(),
            problem,
        },
        offset,
        "",
    )
}

/// Decodes all of `bytes`; false if they are malformed.
fn append_decoded(decoder: &mut Decoder, mut bytes: &[u8], text: &mut String, last: bool) -> bool {
    loop {
        text.reserve(
            decoder
                .max_utf8_buffer_length_without_replacement(bytes.len())
                .unwrap_or(bytes.len()),
        );
        match decoder.decode_to_string_without_replacement(bytes, text, last) {
            (DecoderResult::InputEmpty, _) => return true,
            (DecoderResult::OutputFull, read) => bytes = &bytes[read..],
            (DecoderResult::Malformed(..), _) => return false,
        }
    }
}

/// How nearly all messages that have a declaration begin.
const DECLARED_UTF_8: [&[u8]; 2] = [
    br#"<?xml version="1.0" encoding="UTF-8"?>"#,
    br#"<?xml version="1.0" encoding="utf-8"?>"#,
];

/// Finds the encoding from a byte order mark, the transport, the shape of the first bytes, or the XML declaration.
fn sniff(bytes: &[u8], named: Option<&'static Encoding>, last: bool) -> Sniffed {
    if named.is_none() && DECLARED_UTF_8.iter().any(|usual| bytes.starts_with(usual)) {
        return Sniffed::Encoding(UTF_8, 0);
    }
    let (shape, mark) = match bytes {
        [0xEF, 0xBB, 0xBF, ..] => (UTF_8, 3),
        [0xFE, 0xFF, ..] => (UTF_16BE, 2),
        [0xFF, 0xFE, 0, 0, ..] => return Sniffed::Wrong("UTF-32".into(), "it is not supported"),
        [0xFF, 0xFE, _, _, ..] => (UTF_16LE, 2),
        [0xEF] | [0xEF, 0xBB] | [0xFE] | [0xFF] | [0xFF, 0xFE] | [0xFF, 0xFE, _] | [] if !last => {
            return Sniffed::NotYet;
        }
        _ => match named {
            Some(encoding) => return Sniffed::Encoding(encoding, 0),
            None => match bytes {
                [0, b'<', ..] => (UTF_16BE, 0),
                [b'<', 0, 0, 0, ..] | [0, 0, 0, b'<', ..] => {
                    return Sniffed::Wrong("UTF-32".into(), "it is not supported");
                }
                [b'<', 0, ..] => (UTF_16LE, 0),
                [0x4C, 0x6F, 0xA7, 0x94, ..] => {
                    return Sniffed::Wrong("EBCDIC".into(), "it is not supported");
                }
                [b'<'] | [0] | [0, 0] | [0, 0, 0] | [0x4C] if !last => return Sniffed::NotYet,
                _ => (UTF_8, 0),
            },
        },
    };
    if named.is_some() {
        return Sniffed::Encoding(shape, mark);
    }
    let declared = match declared_encoding(&bytes[mark..], shape, last) {
        DeclaredEncoding::NotYet => return Sniffed::NotYet,
        DeclaredEncoding::None => return Sniffed::Encoding(shape, mark),
        DeclaredEncoding::Name(name) => name,
    };
    match Encoding::for_label(declared.as_bytes()) {
        None => Sniffed::Wrong(declared, "it is not supported"),
        Some(encoding) if encoding == shape => Sniffed::Encoding(shape, mark),
        // "UTF-16" is either; encoding_rs takes it for the little-endian one.
        Some(encoding)
            if shape != UTF_8
                && encoding == UTF_16LE
                && !declared.to_ascii_lowercase().ends_with("le") =>
        {
            Sniffed::Encoding(shape, mark)
        }
        Some(encoding)
            if shape == UTF_8 && mark == 0 && encoding != UTF_16LE && encoding != UTF_16BE =>
        {
            Sniffed::Encoding(encoding, 0)
        }
        Some(_) => Sniffed::Wrong(
            declared,
            "the XML declaration states it, but the first bytes are in another encoding",
        ),
    }
}

/// What the XML declaration says of the encoding.
enum DeclaredEncoding {
    NotYet,
    None,
    Name(String),
}

/// The encoding that an XML declaration names. The reader checks its grammar later; here it only has to be found.
fn declared_encoding(bytes: &[u8], shape: &'static Encoding, last: bool) -> DeclaredEncoding {
    let head = &bytes[..bytes.len().min(2 * DECLARATION)];
    // Until `?>` all is ASCII; of two-byte characters the other byte is zero.
    let head: Cow<'_, [u8]> = match shape == UTF_8 {
        true => Cow::Borrowed(head),
        false => head.iter().copied().filter(|&byte| byte != 0).collect(),
    };
    let keyword = b"<?xml";
    let begins = head.len() <= keyword.len() && keyword.starts_with(&head);
    if begins && !last {
        return DeclaredEncoding::NotYet;
    }
    if !head.starts_with(keyword) || !head.get(5).is_some_and(u8::is_ascii_whitespace) {
        return DeclaredEncoding::None;
    }
    let Some(end) = memmem::find(&head, b"?>") else {
        return if last || head.len() >= DECLARATION {
            DeclaredEncoding::None
        } else {
            DeclaredEncoding::NotYet
        };
    };
    let name = memmem::find(&head[..end], b"encoding").and_then(|at| {
        let value = head[at + "encoding".len()..end]
            .trim_ascii_start()
            .strip_prefix(b"=")?
            .trim_ascii_start();
        let (quote, value) = value.split_first()?;
        let length = value.iter().position(|byte| byte == quote)?;
        String::from_utf8(value[..length].to_vec()).ok()
    });
    name.map_or(DeclaredEncoding::None, DeclaredEncoding::Name)
}

/// A whole document as text: borrowed if it is UTF-8, whatever it says otherwise decoded. Without byte order mark.
///
/// ```
/// let text = bsoap_xml::decode_str(b"\xFE\xFF\0<\0a\0/\0>")?;
/// assert_eq!(text, "<a/>");
/// # Ok::<(), bsoap_xml::Error>(())
/// ```
pub fn decode_str(bytes: &[u8]) -> Result<Cow<'_, str>> {
    decode_str_as(bytes, None)
}

/// The same for a document whose encoding the transport may name (see [`Input::with_encoding`]).
pub fn decode_str_as<'a>(bytes: &'a [u8], label: Option<&str>) -> Result<Cow<'a, str>> {
    let named = match label {
        None => None,
        Some(label) => Some(
            Encoding::for_label(label.as_bytes())
                .ok_or_else(|| wrong(label, "it is not supported", 0))?,
        ),
    };
    let (encoding, mark) = match sniff(bytes, named, true) {
        Sniffed::Encoding(encoding, mark) => (encoding, mark),
        Sniffed::Wrong(name, problem) => return Err(wrong(&name, problem, 0)),
        Sniffed::NotYet => (UTF_8, 0),
    };
    let body = &bytes[mark..];
    if encoding == UTF_8 {
        return match simdutf8::basic::from_utf8(body) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(_) => Err(not_utf8(
                simdutf8::compat::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len)
                    as u64,
            )),
        };
    }
    let mut text = String::new();
    match append_decoded(
        &mut encoding.new_decoder_without_bom_handling(),
        body,
        &mut text,
        true,
    ) {
        true => Ok(Cow::Owned(text)),
        false => Err(wrong(
            encoding.name(),
            "the bytes are not text in it",
            text.len() as u64,
        )),
    }
}
