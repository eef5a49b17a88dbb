//! The text between two values.

/// The bytes between two values, laid out for comparison with a text: up to 32 in one step.
#[derive(Clone, Debug, Default)]
pub struct Separator {
    pub(super) head: [u8; 32],
    pub(super) mask: [u8; 32],
    pub(super) bytes: Box<[u8]>,
    /// How often the first byte occurs in them. (Only the AVX-512 kernels read this and the next one.)
    #[cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]
    pub(super) ends: u16,
    /// The distance from its last occurrence to the end.
    #[cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]
    pub(super) lead: u16,
}

impl Separator {
    /// These bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let is_end = |byte: &u8| Some(byte) == bytes.first();
        let last = bytes.iter().rposition(is_end).unwrap_or(0);
        Self {
            bytes: bytes.into(),
            ends: bytes.iter().copied().filter(|byte| is_end(byte)).count() as u16,
            lead: (bytes.len() - last) as u16,
            ..Self::head_of(bytes)
        }
    }

    /// Only the first 32 of them.
    pub(super) fn head_of(bytes: &[u8]) -> Self {
        let (mut head, mut mask) = ([0; 32], [0; 32]);
        for (at, &byte) in bytes.iter().take(32).enumerate() {
            (head[at], mask[at]) = (byte, 0xff);
        }
        Self {
            head,
            mask,
            ..Self::default()
        }
    }

    /// The byte that ends a value, unless it can be part of one.
    #[cfg_attr(
        any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))),
        allow(dead_code)
    )]
    pub(super) fn end(&self) -> Option<u8> {
        let end = *self.bytes.first()?;
        (!end.is_ascii_alphanumeric() && !b"+-.".contains(&end)).then_some(end)
    }

    /// Whether `text` has these bytes at `at`: two masked compares of fixed size, whatever their number.
    #[inline(always)]
    pub fn matches_at(&self, text: &[u8], at: usize) -> bool {
        let Some(rest) = text.get(at..) else {
            return false;
        };
        let Some(found) = rest.first_chunk::<32>() else {
            return rest.starts_with(&self.bytes);
        };
        let ([low, high], head, mask) = (halves(found), halves(&self.head), halves(&self.mask));
        (low ^ head[0]) & mask[0] == 0
            && (self.bytes.len() <= 16 || (high ^ head[1]) & mask[1] == 0)
            && (self.bytes.len() <= found.len() || self.is_rest(rest))
    }

    /// The same of more than 32 bytes, the first of which are there.
    #[inline(always)]
    fn is_rest(&self, text: &[u8]) -> bool {
        match (text.get(..self.bytes.len()), self.bytes.last_chunk::<32>()) {
            (Some(text), Some(last)) if text.len() <= 64 => text
                .last_chunk()
                .is_some_and(|tail| halves(tail) == halves(last)),
            (text, _) => text == Some(&*self.bytes),
        }
    }

    /// How many bytes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[inline(always)]
fn halves(bytes: &[u8; 32]) -> [u128; 2] {
    let (halves, _) = bytes.as_chunks::<16>();
    [0, 1].map(|half| u128::from_ne_bytes(halves[half]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_is_where_its_bytes_are() {
        let text: Vec<u8> = (0..200).map(|n| n as u8).collect();
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65] {
            for at in [0, 1, 100, 130, 150, 190] {
                let Some(bytes) = text.get(at..at + length) else {
                    continue;
                };
                let separator = Separator::new(bytes);
                assert!(separator.matches_at(&text, at), "{length} at {at}");
                assert_eq!(separator.matches_at(&text, at + 1), length == 0);
                if length > 0 {
                    let mut other = text.clone();
                    other[at + length - 1] ^= 1;
                    assert!(!separator.matches_at(&other, at));
                    assert!(!separator.matches_at(&text[..at + length - 1], at));
                }
            }
        }
        assert!(!Separator::new(b"").matches_at(b"", 1));
    }
}
