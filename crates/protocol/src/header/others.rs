//! Header blocks that are addressed to other nodes than the receiver.
//!
//! The receiver must not process them, so they are neither validated nor decoded: before a message is decoded, they are replaced
//! by white space of the same length, which keeps all locations, and their XML is kept beside the message. Messages without such
//! blocks are not copied; a few searches for bytes find out. Of a message that is not in UTF-8 all blocks are decoded.
//! (SOAP 1.1 §4.2.2; SOAP 1.2 Part 1 §2.2 - §2.6)

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use bsoap_schema::SoapVersion;
use bsoap_xml::{Event, Options, Reader, Tag, Vocabulary};
use bytes::Bytes;
use memchr::memmem;

use super::walk::{Seen, walk};
use super::{HeaderBlock, Node};
use crate::excerpt::tag_with_bindings;
use crate::limits::MAX_COPIED_DECLARATIONS;
use crate::name::Name;
use crate::peek::version_of;

/// Takes the blocks for other nodes out of the text of a message. What is not well-formed is left to the decoder.
pub(crate) fn take_others(
    text: Bytes,
    node: &Node,
    header_bytes: usize,
) -> (Bytes, Vec<HeaderBlock>) {
    if !may_state_roles(&text, header_bytes) || !is_utf8(&text) {
        return (text, Vec::new());
    }
    let mut scan = Scan::new(node);
    scan.run(&text);
    if scan.found.is_empty() {
        return (text, Vec::new());
    }
    let mut rest = text.to_vec();
    let mut blocks = Vec::with_capacity(scan.found.len());
    for Found {
        mut block,
        place,
        start,
    } in scan.found
    {
        let Some(content) = text.get(place.inside..place.range.end) else {
            continue;
        };
        block.raw = Some(start + &String::from_utf8_lossy(content));
        blocks.push(block);
        // Line breaks stay, so that locations keep their line.
        for byte in &mut rest[place.range] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    (rest.into(), blocks)
}

/// Whether something before the Body of a message could be the attribute for a role.
fn may_state_roles(text: &[u8], header_bytes: usize) -> bool {
    let before_body = before_body(&text[..text.len().min(header_bytes)]);
    let names: [&[u8]; 2] = [b":role", b":actor"];
    names
        .iter()
        .any(|name| memmem::find(before_body, name).is_some())
}

/// What is before the first tag of a name such as `Body` or `s:Body`. In most messages it is found at once.
fn before_body(text: &[u8]) -> &[u8] {
    let is_in_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte) || *byte > 127;
    let is_tag = |at: usize| {
        let mut before = text[..at].iter().rev();
        before.find(|byte| !is_in_name(byte)) == Some(&b'<')
    };
    let mut found = memmem::find_iter(text, b"Body");
    found.find(|at| is_tag(*at)).map_or(text, |at| &text[..at])
}

/// Whether a message is in UTF-8, as far as its XML declaration says: locations in other encodings are not those in the text.
fn is_utf8(text: &[u8]) -> bool {
    let declaration = match memmem::find(text, b"?>") {
        Some(end) if text.starts_with(b"<?xml") => &text[..end],
        _ => return true,
    };
    let Some(at) = memmem::find(declaration, b"encoding") else {
        return true;
    };
    let stated = declaration[at..].to_ascii_lowercase();
    memmem::find(&stated, b"utf-8").is_some()
}

/// A block for another node.
struct Found {
    block: HeaderBlock,
    place: Place,
    /// Its start tag, with the declarations of the elements around it.
    start: String,
}

/// Where a block is in the message.
struct Place {
    range: Range<usize>,
    /// The end of its start tag.
    inside: usize,
}

/// The search for blocks.
struct Scan<'n> {
    node: &'n Node,
    version: SoapVersion,
    depth: usize,
    found: Vec<Found>,
    /// Whether the last one found is still open.
    is_open: bool,
    /// The bytes of namespace declarations copied so far.
    copied: usize,
}

impl<'n> Scan<'n> {
    fn new(node: &'n Node) -> Self {
        Self {
            node,
            version: SoapVersion::Soap11,
            depth: 0,
            found: Vec::new(),
            is_open: false,
            copied: 0,
        }
    }

    fn run(&mut self, text: &[u8]) {
        self.read(text);
        // The end of the last one was not read.
        if self.is_open {
            self.found.pop();
        }
    }

    /// Reads up to the end of the Header.
    fn read(&mut self, text: &[u8]) {
        let reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
        walk(text, reader, |seen| {
            let goes_on = match seen {
                Seen::Event(Event::Start(tag)) => self.start(&tag, text),
                Seen::Event(Event::End(tag)) => self.end(tag.offset as usize + tag.raw.len()),
                Seen::Event(Event::EndOfDocument) => false,
                _ => true,
            };
            match goes_on {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
    }

    fn start(&mut self, tag: &Tag<'_>, text: &[u8]) -> bool {
        self.depth += 1;
        match self.depth {
            1 => match version_of(tag.namespace()) {
                Some(version) if tag.local() == "Envelope" => self.version = version,
                _ => return false,
            },
            // Its limits have been checked only if it is the Header of SOAP.
            2 => {
                let namespace = self.version.envelope_namespace();
                return tag.local() == "Header" && tag.namespace() == namespace;
            }
            3 => self.open(tag, text),
            _ => {}
        }
        true
    }

    fn open(&mut self, tag: &Tag<'_>, text: &[u8]) {
        let block = HeaderBlock::of_tag(self.version, tag).unwrap_or_else(|_| HeaderBlock {
            name: Name::new(tag.namespace(), tag.local()),
            role: HeaderBlock::role_of(self.version, tag),
            ..HeaderBlock::default()
        });
        if self.node.plays(self.version, block.role.as_deref()) {
            return;
        }
        let begin = tag.offset as usize;
        let inside = begin + tag.raw.len();
        if text.get(begin..inside) != Some(tag.raw.as_bytes()) {
            return;
        }
        let alone = self.copied < MAX_COPIED_DECLARATIONS;
        let start = tag_with_bindings(tag, alone);
        self.copied += start.len() - tag.raw.len();
        let place = Place {
            range: begin..inside,
            inside,
        };
        self.found.push(Found {
            block,
            place,
            start,
        });
        self.is_open = true;
    }

    fn end(&mut self, end: usize) -> bool {
        if self.depth == 3
            && std::mem::take(&mut self.is_open)
            && let Some(found) = self.found.last_mut()
        {
            found.place.range.end = end;
        }
        self.depth = self.depth.saturating_sub(1);
        self.depth > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    fn message(version: SoapVersion, blocks: &str) -> Bytes {
        let namespace = version.envelope_namespace();
        format!("<?xml version='1.0'?>\n<s:Envelope xmlns:s='{namespace}' xmlns:a='urn:a'><s:Header>{blocks}</s:Header><s:Body/></s:Envelope>").into()
    }

    #[test]
    fn blocks_for_other_nodes_become_white_space_and_are_kept_as_xml() {
        let node = Node::new().playing("urn:mine");
        let cases = [
            (SoapVersion::Soap11, "actor"),
            (SoapVersion::Soap12, "role"),
        ];
        for (version, role) in cases {
            let other = format!(
                "<a:b s:{role}='urn:other' s:mustUnderstand='x'>\n<s:Header>é</s:Header></a:b>"
            );
            let empty = format!("<a:c s:{role}='urn:else'/>");
            let ours = format!("<a:d s:{role}='urn:mine'/><a:e>{role}</a:e>");
            let text = message(version, &format!("{other}{ours}{empty}"));
            let (rest, blocks) = take_others(text.clone(), &node, LIMIT);
            assert_eq!(rest.len(), text.len());
            let rest = String::from_utf8(rest.to_vec()).expect("UTF-8");
            assert!(!rest.contains("a:b") && !rest.contains("a:c"), "{rest}");
            assert!(rest.contains(&ours) && rest.contains("</s:Header><s:Body/>"));
            let names: Vec<_> = blocks.iter().map(|block| &*block.name.local).collect();
            assert_eq!(names, ["b", "c"]);
            assert_eq!(blocks[0].role.as_deref(), Some("urn:other"));
            let raw = blocks[0].raw.as_deref().expect("its XML");
            assert!(
                crate::excerpt::is_element(raw) && raw.ends_with(&other[5..]),
                "{raw}"
            );
        }
    }

    #[test]
    fn other_messages_are_not_copied() {
        let node = Node::new();
        for (version, blocks) in [
            (SoapVersion::Soap11, "<a:b/>"),
            (SoapVersion::Soap11, "<a:b s:role='urn:other'/>"),
            (SoapVersion::Soap12, "<a:b s:actor='urn:other'/>"),
            (SoapVersion::Soap12, "<a:b role='urn:other'/>"),
            (SoapVersion::Soap12, "<a:b s:role='urn:other'>"),
            (SoapVersion::Soap12, "<a:b s:role='urn:other'></a:c>"),
            (SoapVersion::Soap12, "<a:b s:role=''/>"),
        ] {
            let text = message(version, blocks);
            let (rest, others) = take_others(text.clone(), &node, LIMIT);
            assert!(others.is_empty(), "{blocks}");
            assert_eq!(rest.as_ptr(), text.as_ptr(), "{blocks}");
        }
    }

    #[test]
    fn a_message_in_another_encoding_stays_as_it_is_and_a_byte_order_mark_is_no_harm() {
        let node = Node::new();
        let text = message(SoapVersion::Soap12, "<a:b s:role='urn:other'/>");
        let text = String::from_utf8(text.to_vec()).expect("UTF-8");
        let latin = text.replace("?>", " encoding='iso-8859-1'?>");
        assert!(take_others(latin.into(), &node, LIMIT).1.is_empty());
        for text in [
            format!("\u{feff}{text}"),
            text.replace("?>", " encoding='UTF-8'?>"),
        ] {
            let (rest, others) = take_others(text.clone().into(), &node, LIMIT);
            let rest = String::from_utf8(rest.to_vec()).expect("UTF-8");
            match others.is_empty() {
                true => assert_eq!(rest, text),
                false => assert!(rest.len() == text.len() && !rest.contains("a:b"), "{rest}"),
            }
        }
    }

    #[test]
    fn what_precedes_the_header_does_not_hide_it() {
        let node = Node::new();
        let names: String = (0..200)
            .map(|n| format!(" xmlns:n{n}='urn:Header:Body:{n}'"))
            .collect();
        let text = message(SoapVersion::Soap11, "<a:b s:actor='urn:other'/>");
        let text = String::from_utf8(text.to_vec()).expect("UTF-8");
        let text = text.replacen(" xmlns:a=", &format!("{names} xmlns:a="), 1);
        assert_eq!(take_others(text.into(), &node, LIMIT).1.len(), 1);
    }

    #[test]
    fn only_the_header_of_soap_is_searched() {
        let block = "<a s:actor='urn:other'/>";
        let namespace = SoapVersion::Soap11.envelope_namespace();
        for (envelope, header) in [
            ("s:Envelope", "<x:Header xmlns:x='urn:x'>"),
            ("s:Other", "<s:Header>"),
        ] {
            let text = format!("<{envelope} xmlns:s='{namespace}'>{header}{block}");
            let (rest, others) = take_others(text.clone().into(), &Node::new(), LIMIT);
            assert!(others.is_empty() && rest == text, "{text}");
        }
    }

    #[test]
    fn a_tag_that_is_not_well_formed_ends_the_search() {
        let namespace = SoapVersion::Soap12.envelope_namespace();
        let attribute = "&amp;".repeat(100_000);
        let body = "<b/>".repeat(4_000_000);
        let text = format!(
            "<s:Envelope xmlns:s='{namespace}'><s:Header><a s:role='x' b='{attribute}' b=''/></s:Header><s:Body>{body}"
        );
        let begun = std::time::Instant::now();
        assert!(take_others(text.into(), &Node::new(), LIMIT).1.is_empty());
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}
