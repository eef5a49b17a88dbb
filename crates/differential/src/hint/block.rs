//! The text of the header block that contains a hint.
//!
//! ```text
//! <b:hint xmlns:b="urn:bsoap:hint" key="0123456789abcdef0123456789abcdef" at="DJTI*3F~1f4;"/>
//!                                       selects the skeleton                  the lengths of the values
//! ```
//!
//! Locations are given as the lengths of the values, in the order of the text. The location of a value is its location in the
//! skeleton, which has no values, plus the sum of the lengths before it.
//!
//! | in `at` | means |
//! |---|---|
//! | a byte from `@` to `}` | a value of this length: `@` is 0, `}` is 61 |
//! | `~`, hexadecimal digits, `;` | a value of this length |
//! | `*`, decimal digits, a length as above | this number of values of that length (stride form) |
//! | the end | no length is given for the values that follow: their ends are searched for |
//!
//! All these bytes are allowed unescaped in an attribute. None is a colon, so no part of `at` looks like a prefixed name.

/// The namespace of the block.
pub const NAMESPACE: &str = "urn:bsoap:hint";

/// The text of a block before the key.
pub(super) const OPEN: &[u8] = b"<b:hint xmlns:b=\"urn:bsoap:hint\" key=\"";
/// The text between the key and the lengths.
pub(super) const AT: &[u8] = b"\" at=\"";
/// The text after the lengths, or after the key if there are no lengths.
pub(super) const CLOSE: &[u8] = b"\"/>";
/// The number of digits of a key.
pub(super) const DIGITS: usize = 32;
/// A block is only searched for in this number of bytes at the front of a message.
const FRONT: usize = 8 << 10;
/// The maximum length of `at` in bytes.
pub(super) const LONGEST: usize = 1024;

/// The longest length that takes one byte.
pub(super) const SHORT: usize = 61;
/// The byte for a length of 0.
pub(super) const ZERO: u8 = b'@';

/// Identifies the skeleton of a message: a hash, chosen by the sender, of all bytes that are in no value. It selects a
/// candidate and proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(pub u128);

impl Key {
    /// The key as hexadecimal digits.
    pub(super) fn digits(self) -> [u8; DIGITS] {
        let mut digits = [0; DIGITS];
        for (index, digit) in digits.iter_mut().enumerate() {
            let value = (self.0 >> (4 * (DIGITS - 1 - index))) as usize & 15;
            *digit = b"0123456789abcdef"[value];
        }
        digits
    }

    /// The key with these digits; `None` if they are not 32 lower-case hexadecimal digits.
    pub(super) fn parse(digits: &[u8]) -> Option<Self> {
        let digits: &[u8; DIGITS] = digits.try_into().ok()?;
        let mut key = 0;
        for &digit in digits {
            let value = match digit {
                b'0'..=b'9' => digit - b'0',
                b'a'..=b'f' => digit - b'a' + 10,
                _ => return None,
            };
            key = key << 4 | u128::from(value);
        }
        Some(Self(key))
    }
}

/// The location of a block in a message. Its text has exactly the form that [`HintBlock::write`] produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HintBlock {
    /// The offset of the first byte.
    pub(super) from: usize,
    pub(super) key: Key,
    /// The offset of the lengths, or the end of the key if there are no lengths.
    pub(super) at: usize,
    /// The end of the lengths, or of the key if there are no lengths.
    pub(super) at_end: usize,
    /// The end of the block.
    pub(super) to: usize,
}

impl HintBlock {
    /// Finds the block of a message. It may be inside a comment or a value that looks like a block. `None` if there is none.
    pub(super) fn find(message: &[u8]) -> Option<Self> {
        let front = &message[..message.len().min(FRONT)];
        let from = memchr::memmem::find(front, OPEN)?;
        let digits = from + OPEN.len();
        let behind = digits + DIGITS;
        let key = Key::parse(message.get(digits..behind)?)?;
        let (at, at_end, to) = lengths(message, behind)?;
        Some(Self {
            from,
            key,
            at,
            at_end,
            to,
        })
    }

    /// Appends a block with this key and these lengths, as [`LengthWriter`] writes them, to `out`.
    pub(super) fn write(key: Key, lengths: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(OPEN);
        out.extend_from_slice(&key.digits());
        if !lengths.is_empty() {
            out.extend_from_slice(AT);
            out.extend_from_slice(lengths);
        }
        out.extend_from_slice(CLOSE);
    }
}

/// Where the lengths after a key that ends at `behind` begin and end, and where the block ends. The bytes of the lengths are
/// checked to be allowed in `at`, but not to be lengths. `None` if the block has another form.
#[inline]
pub(super) fn lengths(message: &[u8], behind: usize) -> Option<(usize, usize, usize)> {
    let rest = message.get(behind..)?;
    if rest.starts_with(CLOSE) {
        return Some((behind, behind, behind + CLOSE.len()));
    }
    if !rest.starts_with(AT) {
        return None;
    }
    let rest = &rest[AT.len()..];
    let length = memchr::memchr(b'"', &rest[..rest.len().min(LONGEST + 1)])?;
    let is_plain = rest[..length]
        .iter()
        .fold(true, |all, &byte| all & is_block_byte(byte));
    let at = behind + AT.len();
    let ends = is_plain && rest[length..].starts_with(CLOSE);
    ends.then_some((at, at + length, at + length + CLOSE.len()))
}

/// Whether a byte is allowed in `at`.
#[inline(always)]
pub(super) fn is_block_byte(byte: u8) -> bool {
    byte.is_ascii_digit() | (byte == b'*') | (byte == b';') | (ZERO..=b'~').contains(&byte)
}

/// An iterator over the lengths in an `at`, one for each value.
#[derive(Clone, Debug)]
pub(super) struct Lengths<'t> {
    rest: &'t [u8],
    /// The number of further values that have this `length`.
    again: u64,
    length: usize,
}

impl<'t> Lengths<'t> {
    pub(super) fn new(at: &'t [u8]) -> Self {
        Self {
            rest: at,
            again: 0,
            length: 0,
        }
    }

    /// Parses the rest of a length after `~`.
    #[cold]
    fn long(&mut self) -> Option<usize> {
        let length = memchr::memchr(b';', self.rest)?;
        let (digits, rest) = self.rest.split_at(length);
        self.rest = &rest[1..];
        usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// Parses one length.
    fn one(&mut self) -> Option<usize> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        match byte {
            ZERO..=b'}' => Some(usize::from(byte - ZERO)),
            b'~' => self.long(),
            _ => None,
        }
    }

    /// Parses the rest of a stride after `*`, and returns its length.
    #[cold]
    fn many(&mut self) -> Option<usize> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit());
        let (count, rest) = self.rest.split_at(digits.count());
        self.rest = rest;
        let count: u64 = std::str::from_utf8(count).ok()?.parse().ok()?;
        self.length = self.one()?;
        self.again = count.checked_sub(1)?;
        Some(self.length)
    }
}

impl Iterator for Lengths<'_> {
    type Item = usize;

    /// The length of the next value; `None` if no valid length is given for it.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.again > 0 {
            self.again -= 1;
            return Some(self.length);
        }
        if let Some((b'*', rest)) = self.rest.split_first() {
            self.rest = rest;
            return self.many();
        }
        self.one()
    }
}

/// Writes the lengths of an `at`. Strides are not used, because they would not be shorter for so few lengths.
#[derive(Debug, Default)]
pub(super) struct LengthWriter {
    text: Vec<u8>,
}

impl LengthWriter {
    /// Adds the length of a value.
    #[inline]
    pub(super) fn push(&mut self, length: usize) {
        if length <= SHORT {
            self.text.push(ZERO + length as u8);
        } else {
            self.push_long(length);
        }
    }

    #[cold]
    fn push_long(&mut self, length: usize) {
        let digits = (usize::BITS - length.leading_zeros()).div_ceil(4);
        let digits = (0..digits).rev().map(|at| length >> (4 * at) & 15);
        self.text.push(b'~');
        self.text
            .extend(digits.map(|digit| b"0123456789abcdef"[digit]));
        self.text.push(b';');
    }

    /// The lengths written since the last `clear`.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Removes all lengths.
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_are_written_are_read() {
        let mut writer = LengthWriter::default();
        let lengths = [0, 1, 61, 62, 500, 7, 7, 3, 100_000];
        lengths.iter().for_each(|&length| writer.push(length));
        assert_eq!(writer.text(), b"@A}~3e;~1f4;GGC~186a0;");
        assert!(writer.text().iter().all(|&byte| is_block_byte(byte)));
        assert_eq!(Lengths::new(writer.text()).collect::<Vec<_>>(), lengths);
    }

    #[test]
    fn strides_are_read() {
        let found: Vec<usize> = Lengths::new(b"C*3L*2~190;@").collect();
        assert_eq!(found, [3, 12, 12, 12, 400, 400, 0]);
    }

    #[test]
    fn what_is_no_length_ends_the_lengths() {
        for (at, expected) in [
            (b"".as_slice(), [].as_slice()),
            (b"A0B", &[1]),
            (b"A~", &[1]),
            (b"~zz;A", &[]),
            (b"*0A", &[]),
            (b"*A", &[]),
            (b"*2", &[]),
            (b"~ffffffffffffffffffff;", &[]),
            (b"*99999999999999999999A", &[]),
        ] {
            let found: Vec<_> = Lengths::new(at).collect();
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(at));
        }
        assert_eq!(Lengths::new(b"*18446744073709551615A").take(9).count(), 9);
    }

    #[test]
    fn a_block_that_is_written_is_found() {
        let key = Key(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        for lengths in [b"".as_slice(), b"AB~3e;"] {
            let mut text = b"<e:Envelope><e:Header>".to_vec();
            let from = text.len();
            HintBlock::write(key, lengths, &mut text);
            let to = text.len();
            text.extend_from_slice(b"</e:Header>");
            let block = HintBlock::find(&text).expect("it is there");
            assert_eq!((block.from, block.to, block.key), (from, to, key));
            assert_eq!(&text[block.at..block.at_end], lengths);
        }
    }

    #[test]
    fn what_is_spelled_otherwise_is_no_block() {
        let key = "0123456789abcdef0011223344556677";
        let good = format!("<b:hint xmlns:b=\"urn:bsoap:hint\" key=\"{key}\" at=\"AB\"/>");
        assert!(HintBlock::find(good.as_bytes()).is_some());
        for (from, to) in [
            ("<b:", "<c:"),
            ("0123", "012"),
            ("0123", "012G"),
            ("0123", "012F"),
            (" at", "  at"),
            ("AB", "A B"),
            ("AB", "A&lt;"),
            ("AB", "A:B"),
            ("/>", " />"),
            ("/>", "></b:hint>"),
            ("\"AB\"/>", "\"AB"),
        ] {
            let other = good.replacen(from, to, 1);
            assert_eq!(HintBlock::find(other.as_bytes()), None, "{other}");
        }
        let long = good.replace("AB", &"A".repeat(LONGEST + 1));
        assert_eq!(HintBlock::find(long.as_bytes()), None);
    }
}
