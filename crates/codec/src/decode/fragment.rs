//! Copies of the XML that wildcards and `anyType` accept: text that declares its own namespace prefixes.
//!
//! Tags and text are copied unchanged; comments and processing instructions are left out. A copy may use prefixes that are
//! bound outside of it, so the prefixes it uses are collected, and their declarations are added to its outermost tags. It
//! is not known which texts are QNames: each text that looks like one, with a bound prefix, is taken for one.

use std::collections::HashSet;

use bsoap_xml::{Attribute, EndTag, Namespace, Tag};

use crate::expanded::XSI;

/// XML that is being copied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fragment {
    /// The copy so far.
    pub(super) text: String,
    /// Where in the message it began, and where it ends so far.
    pub(super) from: u64,
    pub(super) to: u64,
    /// The number of its open elements.
    depth: u32,
    /// The index in `text` where declarations are added: behind the name of the outermost tag.
    insert: usize,
    /// The prefixes used inside the outermost element that its tag does not declare, in the order of their first use.
    used: Vec<Box<str>>,
    /// These, and the prefixes that the tag declares; a set, since a message can seem to use any number of prefixes.
    known: HashSet<Box<str>>,
    /// Character data since the last tag, up to the length a QName may have.
    run: String,
}

/// Longer texts are not taken for QNames.
const LONGEST_QNAME: usize = 256;

impl Fragment {
    /// A copy that begins at a byte of the message.
    pub(super) fn new(from: u64) -> Self {
        Self {
            text: String::new(),
            from,
            to: from,
            depth: 0,
            insert: 0,
            used: Vec::new(),
            known: HashSet::new(),
            run: String::new(),
        }
    }

    /// About how many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        let prefixes = self.used.iter().chain(&self.known);
        size_of::<Self>()
            + self.text.capacity()
            + self.run.capacity()
            + (self.used.capacity() + self.known.capacity()) * size_of::<Box<str>>()
            + prefixes.map(|prefix| prefix.len()).sum::<usize>()
    }

    /// Whether two copies are the same, wherever they began.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.text == other.text
            && (self.depth, self.insert) == (other.depth, other.insert)
            && self.used == other.used
            && self.known == other.known
            && self.run == other.run
    }

    /// Whether no element of it is open.
    pub(super) fn is_between(&self) -> bool {
        self.depth == 0
    }

    /// Copies a start tag.
    pub(super) fn start(&mut self, tag: &Tag<'_>) {
        self.end_run();
        if self.depth == 0 {
            self.insert = self.text.len() + 1 + tag.qname().len();
            // The prefixes that the outermost tag declares need no declaration.
            self.used.clear();
            self.known = tag
                .declarations()
                .map(|(prefix, _)| prefix.into())
                .collect();
        }
        self.text.push_str(tag.raw);
        self.to = tag.offset + tag.raw.len() as u64;
        self.depth += 1;
        self.mark(tag.prefix());
        for attribute in tag.attributes() {
            self.mark_attribute(&attribute, &attribute.value());
        }
    }

    fn mark_attribute(&mut self, attribute: &Attribute<'_>, value: &str) {
        if !attribute.prefix.is_empty() {
            self.mark(attribute.prefix);
        }
        let is_type = attribute.local == "type" && attribute.namespace() == XSI;
        self.mark_qname(value, is_type);
    }

    /// Copies an end tag.
    pub(super) fn end(&mut self, tag: &EndTag<'_>) {
        self.end_run();
        self.text.push_str(tag.raw);
        self.to = tag.offset + tag.raw.len() as u64;
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.declare(|prefix| tag.resolve(prefix));
        }
    }

    /// Copies character data.
    pub(super) fn text(&mut self, raw: &str, value: &str, offset: u64) {
        self.text.push_str(raw);
        self.to = offset + raw.len() as u64;
        if self.run.len() + value.len() <= LONGEST_QNAME {
            self.run.push_str(value);
        } else {
            // The limit applies to the text as a whole, however it is cut into pieces.
            self.run.clear();
            self.run.push_str(TOO_LONG);
        }
    }

    /// Collects the prefix of the character data since the last tag, if that looks like a QName.
    fn end_run(&mut self) {
        if !self.run.is_empty() {
            let mut run = std::mem::take(&mut self.run);
            if run.len() <= LONGEST_QNAME {
                self.mark_qname(run.trim(), false);
            }
            run.clear();
            self.run = run;
        }
    }

    fn mark_qname(&mut self, value: &str, always: bool) {
        if value.len() > LONGEST_QNAME && !always {
            return;
        }
        match bsoap_datatypes::qname::split(value) {
            Some((prefix, _)) if always || !prefix.is_empty() => self.mark(prefix),
            _ => {}
        }
    }

    fn mark(&mut self, prefix: &str) {
        if !self.known.contains(prefix) {
            self.known.insert(prefix.into());
            self.used.push(prefix.into());
        }
    }

    /// Adds the declarations of the prefixes used to the outermost tag.
    ///
    /// These prefixes are bound outside of the copy, since the outermost tag does not declare them.
    fn declare<'e>(&mut self, resolve: impl Fn(&str) -> Option<Namespace<'e>>) {
        let mut declarations = String::new();
        for prefix in &self.used {
            if let Some(namespace) = resolve(prefix) {
                write_declaration(&mut declarations, prefix, namespace.uri);
            }
        }
        if self.insert <= self.text.len() {
            self.text.insert_str(self.insert, &declarations);
        }
        self.used.clear();
        self.known.clear();
    }
}

/// Stands for a text that is too long for a QName.
const TOO_LONG: &str = match std::str::from_utf8(&[b'x'; LONGEST_QNAME + 1]) {
    Ok(text) => text,
    Err(_) => "",
};

/// Appends ` xmlns:prefix="uri"`; nothing for the prefix `xml`, or for an empty default namespace.
fn write_declaration(to: &mut String, prefix: &str, uri: &str) {
    if prefix == "xml" || (prefix.is_empty() && uri.is_empty()) {
        return;
    }
    to.push_str(" xmlns");
    if !prefix.is_empty() {
        to.push(':');
        to.push_str(prefix);
    }
    to.push_str("=\"");
    escape_value(to, uri);
    to.push('"');
}

/// Appends an attribute value, escaped for double quotes.
fn escape_value(to: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '&' => to.push_str("&amp;"),
            '<' => to.push_str("&lt;"),
            '"' => to.push_str("&quot;"),
            '\t' => to.push_str("&#9;"),
            '\n' => to.push_str("&#10;"),
            '\r' => to.push_str("&#13;"),
            c => to.push(c),
        }
    }
}

/// The attributes of a tag that `keep` chooses by their index, as `<a …/>`; an empty text if there are none.
pub(super) fn attributes(tag: &Tag<'_>, keep: impl Fn(usize) -> bool) -> String {
    const OPEN: &str = "<a";
    let mut copy = Fragment::new(0);
    copy.text.push_str(OPEN);
    copy.insert = OPEN.len();
    let attributes = tag.attributes().enumerate();
    for (_, attribute) in attributes.filter(|(index, _)| keep(*index)) {
        let value = attribute.value();
        copy.text.push(' ');
        if !attribute.prefix.is_empty() {
            copy.text.push_str(attribute.prefix);
            copy.text.push(':');
        }
        copy.text.push_str(attribute.local);
        copy.text.push_str("=\"");
        escape_value(&mut copy.text, &value);
        copy.text.push('"');
        copy.mark_attribute(&attribute, &value);
    }
    if copy.text.len() == OPEN.len() {
        return String::new();
    }
    copy.declare(|prefix| tag.resolve(prefix));
    copy.text.push_str("/>");
    copy.text
}
