//! Decodes the octets of a part whose `Content-Transfer-Encoding` is base64, while they arrive. (RFC 2045 §6.8)

use bsoap_datatypes::binary;
use bytes::Bytes;

/// Decodes base64 text that arrives in chunks. White space in it is ignored.
#[derive(Debug, Default)]
pub(super) struct Base64Decoder {
    /// Up to three characters that do not make a group of four yet.
    rest: Vec<u8>,
    /// True after padding, which ends the text.
    has_ended: bool,
}

/// The text is not base64.
#[derive(Debug)]
pub(super) struct NotBase64;

impl Base64Decoder {
    /// The octets of the groups that are complete.
    pub(super) fn decode(&mut self, chunk: &[u8]) -> Result<Bytes, NotBase64> {
        let mut text = std::mem::take(&mut self.rest);
        text.extend(chunk.iter().filter(|byte| !byte.is_ascii_whitespace()));
        if self.has_ended && !text.is_empty() {
            return Err(NotBase64);
        }
        self.rest = text.split_off(text.len() / 4 * 4);
        self.has_ended = text.ends_with(b"=");
        let mut octets = Vec::new();
        binary::parse_base64(&text, &mut octets).map_err(|_| NotBase64)?;
        Ok(octets.into())
    }

    /// The text has ended.
    pub(super) fn finish(&self) -> Result<(), NotBase64> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(NotBase64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str, chunk: usize) -> Option<Vec<u8>> {
        let mut decoder = Base64Decoder::default();
        let mut octets = Vec::new();
        for chunk in text.as_bytes().chunks(chunk) {
            octets.extend_from_slice(&decoder.decode(chunk).ok()?);
        }
        decoder.finish().ok().map(|()| octets)
    }

    #[test]
    fn the_octets_are_the_same_however_the_text_arrives() {
        for chunk in 1..20 {
            assert_eq!(
                decoded("aGVs\r\nbG8=\r\n", chunk).as_deref(),
                Some(&b"hello"[..])
            );
            for wrong in ["aGVsbG8", "aGVsbG8=aGVs", "aGV*"] {
                assert_eq!(decoded(wrong, chunk), None, "{wrong}");
            }
        }
    }
}
