//! What stands for an attachment in a Record and in the text made of it: 24 octets, which are 32 characters of base64.
//!
//! ```text
//! octets  secret of the process (16)                  index, big-endian (8)
//! text    <photo>Yc1…(21 characters and a third)…     …</photo>
//! ```
//!
//! Only octets that begin with the secret are references. A peer that does not know it cannot write one, so octets that a program
//! passes on from one peer to another never become a reference by accident or on purpose. The number of an attachment is its
//! position in the message: two similar messages have the same references, and differ only in what they attach.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use bsoap_datatypes::binary;

/// The number of octets of a reference.
pub const LENGTH: usize = 24;

/// The number of characters of its base64 form, which has no padding.
pub const TEXT_LENGTH: usize = 32;

/// The number of octets of the secret.
const SECRET_LENGTH: usize = 16;

/// The number of characters at the start of the base64 form that all references have.
const PREFIX_LENGTH: usize = SECRET_LENGTH / 3 * 4;

/// 128 bits that nobody outside of the process can guess: hashes by the random keys of the standard library.
static SECRET: LazyLock<[u8; SECRET_LENGTH]> = LazyLock::new(|| {
    let keys = RandomState::new();
    let half = |number: u64| keys.hash_one(number).to_be_bytes();
    let mut secret = [0; SECRET_LENGTH];
    secret[..8].copy_from_slice(&half(1));
    secret[8..].copy_from_slice(&half(2));
    secret
});

/// The base64 form that all references begin with.
static PREFIX: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = text(0).into_bytes();
    text.truncate(PREFIX_LENGTH);
    text
});

/// The reference to the attachment at an index.
pub fn octets(index: usize) -> [u8; LENGTH] {
    let mut octets = [0; LENGTH];
    octets[..SECRET_LENGTH].copy_from_slice(&*SECRET);
    octets[SECRET_LENGTH..].copy_from_slice(&(index as u64).to_be_bytes());
    octets
}

/// The base64 form of the reference to the attachment at an index.
pub fn text(index: usize) -> String {
    let mut text = Vec::with_capacity(TEXT_LENGTH);
    binary::write_base64(&octets(index), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The base64 form that all references begin with, to search for them.
pub fn prefix() -> &'static [u8] {
    &PREFIX
}

/// The index in a reference. `None` if the octets are not a reference.
pub fn index(octets: &[u8]) -> Option<usize> {
    if octets.len() != LENGTH || !octets.starts_with(&*SECRET) {
        return None;
    }
    let index = octets[SECRET_LENGTH..].try_into().map(u64::from_be_bytes);
    usize::try_from(index.ok()?).ok()
}

/// The index in the base64 form of a reference. `None` if the text is not one.
pub fn index_in_text(text: &[u8]) -> Option<usize> {
    if text.len() != TEXT_LENGTH || !text.starts_with(prefix()) {
        return None;
    }
    let mut octets = Vec::with_capacity(LENGTH);
    binary::parse_base64(text, &mut octets).ok()?;
    index(&octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_back_and_nothing_else_is_one() {
        for at in [0, 1, 77, 1 << 40] {
            assert_eq!(index(&octets(at)), Some(at));
            assert_eq!(text(at).len(), TEXT_LENGTH);
            assert_eq!(index_in_text(text(at).as_bytes()), Some(at));
            assert!(text(at).as_bytes().starts_with(prefix()));
        }
        let mut other = octets(0);
        other[3] ^= 1;
        assert_eq!(
            (index(&other), index(&octets(0)[1..]), index(b"")),
            (None, None, None)
        );
        assert_eq!(index_in_text(&text(0).as_bytes()[1..]), None);
    }
}
