//! Hints for messages that our own sender has not written.

use bsoap_codec::decode::Trace;

/// A structure key and the `at` of a hint for a text that was traced: the lengths of the values that can be read alone.
pub fn key_and_lengths(text: &str, trace: &Trace) -> (u64, String) {
    let (mut key, mut at, mut end) = (7_u64, String::new(), 0);
    for (_, place) in trace.values(text.as_bytes()) {
        // Items of a list are in the text of the list.
        let Some(piece) = text.get(end..place.start) else {
            continue;
        };
        for byte in piece.bytes() {
            key = (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        match place.len() {
            length @ 0..=61 => at.push(char::from(b'@' + length as u8)),
            length => at.push_str(&format!("~{length:x};")),
        }
        end = place.end;
    }
    (key, at)
}

/// Where a header block goes in a text whose Envelope has no prefix, and whether it has a Header. `None` if there is no
/// Envelope.
pub fn place_for_block(text: &str) -> Option<(usize, bool)> {
    if let Some(at) = text.find("<Header>") {
        return Some((at + "<Header>".len(), true));
    }
    let root = text.find("<Envelope")?;
    Some((root + text[root..].find('>')? + 1, false))
}
