//! The character classes of XML 1.0, fifth edition (§2.2 and §2.3).

/// Ends a name in a tag: white space, `/`, `>`, `=` or `:`.
const DELIMITER: u8 = 1;
/// May begin an NCName.
const START: u8 = 2;
/// May continue an NCName.
const NAME: u8 = 4;
/// A byte of a character outside ASCII.
const WIDE: u8 = 8;
/// Space, tab, line feed or carriage return.
const SPACE: u8 = 16;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        table[i] = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => DELIMITER | SPACE,
            b'/' | b'>' | b'=' | b':' => DELIMITER,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => START | NAME,
            b'0'..=b'9' | b'-' | b'.' => NAME,
            0x80.. => WIDE,
            _ => 0,
        };
        i += 1;
    }
    table
}

/// Whether a byte ends a name inside a tag.
#[inline]
pub(crate) fn is_delimiter(byte: u8) -> bool {
    CLASS[byte as usize] & DELIMITER != 0
}

/// White space as XML means it (production S).
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    CLASS[byte as usize] & SPACE != 0
}

/// How many bytes of white space begin `bytes`.
#[inline]
pub(crate) fn space_length(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&byte| !is_space(byte))
        .unwrap_or(bytes.len())
}

/// Whether XML 1.0 can carry a character (production Char).
pub fn is_char(code: u32) -> bool {
    matches!(code, 0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x10000..=0x10FFFF)
}

/// Whether a string is a name without a colon (Namespaces in XML 1.0, production NCName).
///
/// ```
/// assert!(bsoap_xml::is_ncname("größe"));
/// assert!(!bsoap_xml::is_ncname("2nd"));
/// assert!(!bsoap_xml::is_ncname("soap:Body"));
/// ```
pub fn is_ncname(name: &str) -> bool {
    !name.is_empty() && ncname_length(name) == name.len()
}

/// How many bytes of `text` are the NCName it begins with; 0 if it begins with none.
pub(crate) fn ncname_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(&first) if CLASS[first as usize] & (START | WIDE) != 0 => {}
        _ => return 0,
    }
    let ascii = bytes
        .iter()
        .position(|&byte| CLASS[byte as usize] & NAME == 0)
        .unwrap_or(bytes.len());
    match bytes.get(ascii) {
        Some(0x80..) => wide_ncname_length(text),
        _ => ascii,
    }
}

#[cold]
fn wide_ncname_length(text: &str) -> usize {
    let mut chars = text.char_indices();
    match chars.next() {
        Some((_, first)) if first != ':' && is_name_start(first) => {}
        _ => return 0,
    }
    chars
        .find(|&(_, c)| c == ':' || !is_name_char(c))
        .map_or(text.len(), |(at, _)| at)
}

/// How many bytes of `text` are name characters, colons among them (production Nmtoken).
pub(crate) fn nmtoken_length(text: &str) -> usize {
    text.char_indices()
        .find(|&(_, c)| !is_name_char(c))
        .map_or(text.len(), |(at, _)| at)
}

/// Production NameStartChar.
fn is_name_start(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Production NameChar.
fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_table_agrees_with_the_productions() {
        for byte in 0..0x80u8 {
            let c = byte as char;
            assert_eq!(
                CLASS[byte as usize] & NAME != 0,
                c != ':' && is_name_char(c),
                "{c:?}"
            );
            assert_eq!(
                CLASS[byte as usize] & START != 0,
                c != ':' && is_name_start(c),
                "{c:?}"
            );
        }
    }

    #[test]
    fn a_name_ends_where_the_production_ends() {
        assert_eq!(ncname_length("größe>"), "größe".len());
        assert_eq!(ncname_length("a:b"), 1);
        assert_eq!(ncname_length("a\u{D7}"), 1);
        assert_eq!(ncname_length("-a"), 0);
        assert_eq!(ncname_length("\u{300}a"), 0);
        assert_eq!(ncname_length("a\u{300}"), 3);
    }
}
