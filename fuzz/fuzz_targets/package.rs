//! MIME packages. Any bytes, in any chunks: a package is read to the same parts or refused for the same reason, within its limits. Any
//! octets: attachments that are written are read back as they were.
#![cfg_attr(feature = "libfuzzer", no_main)]

use bsoap_codec::Attachment;
use bsoap_codec::attachment::reference;
use bsoap_fuzz::fuzz_target;
use bsoap_protocol::package::{
    Event, Package, PackageError, PackageLimits, Packing, Reader, Segment, rewrite,
};
use bytes::Bytes;

const CONTENT_TYPES: [&str; 4] = [
    "multipart/related; boundary=b; type=\"text/xml\"",
    "multipart/related; boundary=b; type=\"application/xop+xml\"; start-info=\"text/xml\"",
    "multipart/related; boundary=\"b\"; start=\"<r>\"; type=\"application/xop+xml\"",
    "multipart/related; boundary=--; type=\"application/soap+xml\"",
];

fuzz_target!(|data: &[u8]| {
    // The first byte chooses the media type, the second the chunks.
    if let [kind, chunk, package @ ..] = data {
        let content_type = CONTENT_TYPES[usize::from(*kind) % CONTENT_TYPES.len()];
        any_bytes(content_type, usize::from(*chunk) + 1, package);
        any_octets(usize::from(*chunk) + 1, package);
    }
});

/// What a package has: its parts with their octets, and the root with references.
#[derive(Debug, PartialEq)]
struct Content {
    /// Of each: content id, media type, octets.
    parts: Vec<(Option<String>, Option<String>, Vec<u8>)>,
    package: Package,
    text: Result<Bytes, PackageError>,
}

fn limits() -> PackageLimits {
    let mut limits = PackageLimits::default();
    limits.parts = 5;
    limits.headers = 4;
    limits.header_bytes = 300;
    limits.root_bytes = 1500;
    limits.attachment_bytes = 1000;
    limits.total_bytes = 4000;
    limits
}

fn read(
    content_type: &str,
    chunk: usize,
    bytes: &[u8],
    limits: PackageLimits,
) -> Result<Content, PackageError> {
    let mut reader = Reader::new(content_type, limits)?;
    let mut parts: Vec<(Option<String>, Option<String>, Vec<u8>)> = Vec::new();
    let mut take = |reader: &mut Reader| -> Result<(), PackageError> {
        while let Some(event) = reader.next()? {
            match event {
                Event::Attachment(head) => {
                    parts.push((head.content_id, head.content_type, Vec::new()));
                }
                Event::Octets(octets) => {
                    let part = parts.last_mut().expect("octets are of an attachment");
                    part.2.extend_from_slice(&octets);
                }
                Event::EndOfAttachment => {}
            }
        }
        Ok(())
    };
    for piece in bytes.chunks(chunk) {
        reader.feed(Bytes::copy_from_slice(piece))?;
        take(&mut reader)?;
    }
    reader.finish();
    take(&mut reader)?;
    assert!(parts.len() < limits.parts);
    assert!(parts.iter().all(|(_, _, octets)| octets.len() as u64 <= limits.attachment_bytes));
    let package = reader.into_package()?;
    assert!(package.root.len() as u64 <= limits.root_bytes);
    let text = package.text(bsoap_xml::Options::default());
    Ok(Content {
        parts,
        package,
        text,
    })
}

fn any_bytes(content_type: &str, chunk: usize, bytes: &[u8]) {
    let whole = read(content_type, bytes.len().max(1), bytes, limits());
    let pieces = read(content_type, chunk, bytes, limits());
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        // Where an error is found may depend on the chunks, if there are several.
        (Err(_), Err(_)) => {}
        _ => panic!("{whole:?} in one piece, {pieces:?} in pieces of {chunk}"),
    }
}

fn any_octets(piece: usize, octets: &[u8]) {
    let pieces: Vec<&[u8]> = octets.chunks(piece.max(octets.len() / 8 + 1)).collect();
    let attachments: Vec<Attachment> = pieces
        .iter()
        .map(|piece| Attachment::from_bytes(*piece))
        .collect();
    let values: String = (0..attachments.len())
        .map(|at| format!("<v>{}</v>", reference::text(at)))
        .collect();
    let text = format!("<a>{values}</a>");
    let rewritten = rewrite(text.into(), &attachments, Packing::Mtom).expect("it can be sent");
    let parts = rewritten.parts.expect("MTOM is a package");
    let packed = parts.frame(rewritten.root, "text/xml; charset=utf-8");
    let mut sent = Vec::new();
    for segment in &packed.segments {
        match segment {
            Segment::Bytes(bytes) => sent.extend_from_slice(bytes),
            Segment::Octets(attachment) => sent.extend(attachment.read().expect("in memory")),
            Segment::Base64(_) => panic!("MTOM sends octets"),
        }
    }
    let content = read(&packed.content_type, piece, &sent, PackageLimits::default());
    let content = content.expect("what was written can be read");
    let received: Vec<&[u8]> = content.parts.iter().map(|(_, _, octets)| &octets[..]).collect();
    assert_eq!(received, pieces);
    let text = content.text.expect("all references lead somewhere");
    let text = std::str::from_utf8(&text).expect("UTF-8");
    for at in 0..pieces.len() {
        assert!(text.contains(&reference::text(at)), "{at} is not in {text}");
    }
}
