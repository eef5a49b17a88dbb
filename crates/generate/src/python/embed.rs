//! The WSDL and all documents it refers to, as a compressed literal.

use std::io::Write as _;

use bsoap_schema::Definitions;
use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::layout::quoted;

/// The width of the literal.
const WIDTH: usize = 100;

/// The digits of base85, as Python's `base64.b85encode` has them.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// The location of the WSDL, and the lines of the literal.
pub(super) fn documents(definitions: &Definitions) -> (String, Vec<String>) {
    let documents = definitions.bundle();
    let entry = documents
        .first()
        .map_or(String::new(), |(location, _)| location.clone());
    let members = documents.iter().map(|(location, text)| {
        // Literals of Python without escapes of its own are those of JSON.
        format!("{}:{}", quoted(location), quoted(text))
    });
    let json = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    let text = base85(&compressed(json.as_bytes()));
    let lines = text.as_bytes().chunks(WIDTH);
    let lines = lines.map(|line| String::from_utf8_lossy(line).into_owned());
    (entry, lines.collect())
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to a vector does not fail")
}

/// Five digits for four bytes. The last digits of an incomplete group, which are those of zeros, are left out.
fn base85(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 4 * 5 + 5);
    for group in bytes.chunks(4) {
        let mut four = [0; 4];
        four[..group.len()].copy_from_slice(group);
        let mut number = u32::from_be_bytes(four);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(number % 85) as usize];
            number /= 85;
        }
        text.extend(
            digits[..=group.len()]
                .iter()
                .map(|&digit| char::from(digit)),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base85_is_that_of_python() {
        assert_eq!(base85(b""), "");
        assert_eq!(base85(b"bsoap"), "Vsmd{Z~");
    }
}
