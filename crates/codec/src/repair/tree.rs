//! The tags of a message as a tree of numbers: no text is copied.

use std::collections::HashMap;
use std::ops::Range;

use bsoap_xml::{Event, NameId, Options, Reader, Tag};

use crate::decode::DecodeOptions;
use crate::expanded::XSI;
use crate::plan::Plan;

/// The most elements of a message that is rewritten: each needs about 150 bytes.
const MAX_ELEMENTS: usize = 1 << 18;

/// The elements of a message, in document order. The root is the first.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    namespaces: Vec<String>,
}

/// An element.
#[derive(Debug)]
pub(super) struct Node {
    /// Its name, if the vocabulary has it.
    pub(super) name: Option<NameId>,
    /// The number of its namespace.
    namespace: u32,
    /// The number of the default namespace that it declares.
    default: Option<u32>,
    /// Its start tag in the text.
    pub(super) start: Range<usize>,
    /// Its end tag; empty for the tag of an empty element.
    pub(super) end: Range<usize>,
    pub(super) children: Vec<u32>,
    /// Where the value of an `xsi:nil` that is true begins.
    pub(super) nil: Option<usize>,
    /// The name that `xsi:type` says, if the vocabulary has it.
    pub(super) actual: Option<NameId>,
}

impl Tree {
    /// The tree of a message. `None` if it is not well-formed, or has too many elements.
    pub(super) fn of(plan: &Plan, text: &str, options: &DecodeOptions) -> Option<Self> {
        let reader_options = Options::with_limits(options.limits);
        let mut reader = Reader::new(reader_options, plan.vocabulary().clone());
        reader.feed(text.as_bytes()).ok()?;
        reader.finish().ok()?;
        let mut tree = Self {
            nodes: Vec::new(),
            namespaces: Vec::new(),
        };
        let (mut open, mut numbers): (Vec<u32>, HashMap<String, u32>) = Default::default();
        while let Some(event) = reader.next().ok()? {
            match event {
                Event::Start(tag) => {
                    let number = u32::try_from(tree.nodes.len()).ok()?;
                    if number as usize == MAX_ELEMENTS {
                        return None;
                    }
                    if let Some(&parent) = open.last() {
                        tree.nodes[parent as usize].children.push(number);
                    }
                    let node = tree.node(plan, &tag, &mut numbers);
                    tree.nodes.push(node);
                    open.push(number);
                }
                Event::End(tag) => {
                    let node = &mut tree.nodes[open.pop()? as usize];
                    let offset = usize::try_from(tag.offset).ok()?;
                    node.end = offset..offset + tag.raw.len();
                }
                Event::EndOfDocument => break,
                _ => {}
            }
        }
        (!tree.nodes.is_empty()).then_some(tree)
    }

    fn node(&mut self, plan: &Plan, tag: &Tag<'_>, numbers: &mut HashMap<String, u32>) -> Node {
        let start = tag.offset as usize;
        let default = tag.declarations().find(|(prefix, _)| prefix.is_empty());
        let (mut nil, mut actual) = (None, None);
        for attribute in tag.attributes().filter(|it| it.namespace() == XSI) {
            let value = attribute.value();
            match (attribute.local, value.trim()) {
                ("nil", "true" | "1") => nil = Some(attribute.offset as usize),
                ("type", name) => {
                    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
                    let namespace = tag.resolve(prefix).map_or("", |it| it.uri);
                    actual = plan.vocabulary().lookup(namespace, local);
                }
                _ => {}
            }
        }
        Node {
            name: tag.name,
            namespace: self.number(tag.namespace(), numbers),
            default: default.map(|(_, uri)| self.number(uri, numbers)),
            start: start..start + tag.raw.len(),
            end: 0..0,
            children: Vec::new(),
            nil,
            actual,
        }
    }

    fn number(&mut self, namespace: &str, numbers: &mut HashMap<String, u32>) -> u32 {
        if let Some(&number) = numbers.get(namespace) {
            return number;
        }
        let number = self.namespaces.len() as u32;
        self.namespaces.push(namespace.to_owned());
        numbers.insert(namespace.to_owned(), number);
        number
    }

    /// The namespace of an element.
    pub(super) fn namespace(&self, node: &Node) -> &str {
        &self.namespaces[node.namespace as usize]
    }

    /// The default namespace that an element declares.
    pub(super) fn default_of(&self, node: &Node) -> Option<&str> {
        node.default
            .map(|number| self.namespaces[number as usize].as_str())
    }
}

impl Node {
    /// The name as written, `prefix:local` or `local`.
    pub(super) fn qname<'t>(&self, text: &'t str) -> &'t str {
        let tag = &text[self.start.start + 1..self.start.end];
        let end = tag.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
        &tag[..end.unwrap_or(tag.len())]
    }

    pub(super) fn local<'t>(&self, text: &'t str) -> &'t str {
        let qname = self.qname(text);
        qname.split_once(':').map_or(qname, |(_, local)| local)
    }

    pub(super) fn is_empty_tag(&self) -> bool {
        self.end.is_empty()
    }

    /// Where the element ends.
    pub(super) fn behind(&self) -> usize {
        match self.is_empty_tag() {
            true => self.start.end,
            false => self.end.end,
        }
    }

    /// Whether it has neither elements nor text.
    pub(super) fn is_blank(&self, text: &str) -> bool {
        self.is_empty_tag() || text[self.start.end..self.end.start].trim().is_empty()
    }
}
