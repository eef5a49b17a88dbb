//! The text between two values.

/// The bytes between two values, laid out for comparison with a text: up to 32 in one step.
#[derive(Clone, Debug, Default)]
pub struct Separator {
    pub(super) head: [u8; 32],
    pub(super) mask: [u8; 32],
    pub(super) bytes: Box<[u8]>,
    /// How often the first byte occurs in them. (Only the x86-64 kernels read this and the next one.)
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
    #[cfg_attr(any(miri, not(target_arch = "x86_64")), allow(dead_code))]
    pub(super) fn end(&self) -> Option<u8> {
        let end = *self.bytes.first()?;
        (!end.is_ascii_alphanumeric() && !b"+-.".contains(&end)).then_some(end)
    }

    /// Whether `text` has these bytes at `at`: two masked compares of fixed size, whatever their number.
    #[inline(always)]
    pub(super) fn matches_at(&self, text: &[u8], at: usize) -> bool {
        let Some(rest) = text.get(at..) else {
            return false;
        };
        let Some(found) = rest.first_chunk::<32>() else {
            return rest.starts_with(&self.bytes);
        };
        let differ = |half: usize| {
            let word = |bytes: &[u8; 32]| {
                let mut word = [0; 16];
                word.copy_from_slice(&bytes[16 * half..16 * half + 16]);
                u128::from_ne_bytes(word)
            };
            (word(found) ^ word(&self.head)) & word(&self.mask)
        };
        (differ(0) | differ(1)) == 0
            && (self.bytes.len() <= found.len() || rest.starts_with(&self.bytes))
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}
