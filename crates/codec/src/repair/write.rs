//! Writes a message with its edits. Elements that are renamed get a namespace declaration of their own.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

use bsoap_xml::{NameId, escape_attribute};

use super::edits::{Edit, Edits, NewChild, most_added};
use super::repaired::Repaired;
use super::tree::{Node, Tree};
use crate::expanded::XSI;
use crate::plan::{ElementId, Plan};

/// The prefix of renamed elements, unless the message has it already.
const PREFIX: &str = "bsoap-repaired";

/// An element whose children are being written.
struct Open<'a> {
    node: &'a Node,
    edit: Option<&'a Edit>,
    /// The next of its children.
    next: usize,
    /// The end tag.
    end: String,
    /// The default namespace inside of it, as written.
    default: &'a str,
}

struct Writer<'a> {
    plan: &'a Plan,
    tree: &'a Tree,
    edits: &'a Edits,
    text: &'a str,
    prefix: &'a str,
    out: Repaired,
    open: Vec<Open<'a>>,
}

/// The message with its edits. `None` if it would become too long.
pub(super) fn written(
    plan: &Plan,
    tree: &Tree,
    edits: &Edits,
    (text, prefix): (&str, &str),
) -> Option<Repaired> {
    let most = text.len() + most_added(tree.nodes.len());
    let mut writer = Writer {
        plan,
        tree,
        edits,
        text,
        prefix,
        out: Repaired::default(),
        open: Vec::new(),
    };
    // It never grows.
    writer.out.text = String::with_capacity(most);
    let root = &tree.nodes[0];
    writer.copy(0..root.start.start);
    writer.begin(0);
    while let Some(open) = writer.open.last_mut() {
        let (number, node) = (open.next, open.node);
        open.next += 1;
        let child = match open.edit.and_then(|edit| edit.children.as_ref()) {
            Some(children) => children.get(number).copied(),
            None => node.children.get(number).copied().map(NewChild::Node),
        };
        match child {
            Some(NewChild::Node(child)) => {
                writer.copy_gap_before(node, child);
                writer.begin(child);
            }
            Some(NewChild::Inserted(element)) => writer.insert(element),
            None => writer.end(),
        }
        if writer.out.text.len() > most {
            return None;
        }
    }
    writer.copy(root.behind()..text.len());
    Some(writer.out)
}

/// A prefix that does not occur in a text: with the first number that is not behind it there.
pub(super) fn unused_prefix(text: &str) -> String {
    let mut numbers = HashSet::new();
    for (at, _) in text.match_indices(PREFIX) {
        let behind = &text[at + PREFIX.len()..];
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        numbers.insert(behind[..digits].parse::<usize>().unwrap_or_default());
    }
    match (0..).find(|number| !numbers.contains(number)) {
        None | Some(0) => PREFIX.to_owned(),
        Some(number) => format!("{PREFIX}{number}"),
    }
}

impl<'a> Writer<'a> {
    fn copy(&mut self, range: Range<usize>) {
        self.out.pieces.push((self.out.text.len(), range.start));
        self.out.text.push_str(&self.text[range]);
    }

    /// Copies what is between an element and the tag before it: white space and comments.
    fn copy_gap_before(&mut self, parent: &Node, child: u32) {
        let nodes = &self.tree.nodes;
        let at = parent.children.partition_point(|&it| it < child);
        let before = at
            .checked_sub(1)
            .map(|at| &nodes[parent.children[at] as usize]);
        let from = before.map_or(parent.start.end, Node::behind);
        self.copy(from..nodes[child as usize].start.start);
    }

    /// Writes the start tag of an element, and the whole element if it has no children.
    fn begin(&mut self, number: u32) {
        let (tree, text) = (self.tree, self.text);
        let node = &tree.nodes[number as usize];
        let edit = self.edits.of_node(number);
        let outer = self.open.last().map_or("", |open| open.default);
        let tag = StartTag::of(self, node, edit, outer);
        let around = edit.map_or(&[][..], |edit| &edit.around);
        let around: Vec<_> = around.iter().map(|&name| self.tag_of(name)).collect();
        for (tag, declaration) in &around {
            let _ = write!(self.out.text, "{tag}{declaration}>");
        }
        let ends = around
            .iter()
            .rev()
            .map(|(tag, _)| format!("</{}>", &tag[1..]));
        let ends: String = ends.collect();
        self.out
            .pieces
            .push((self.out.text.len(), node.start.start));
        let has_children = match edit.and_then(|edit| edit.children.as_ref()) {
            Some(children) => !children.is_empty(),
            None => !node.children.is_empty(),
        };
        let opens = node.is_empty_tag() && has_children;
        match tag.text.strip_suffix("/>").filter(|_| opens) {
            Some(start) => {
                self.out.text.push_str(start);
                self.out.text.push('>');
            }
            None => self.out.text.push_str(&tag.text),
        }
        if node.is_empty_tag() && !opens {
            self.out.text.push_str(&ends);
            return;
        }
        let end = match opens || tag.is_renamed {
            true => format!("</{}>", tag.qname),
            false => text[node.end.clone()].to_owned(),
        } + &ends;
        self.open.push(Open {
            node,
            edit,
            next: 0,
            end,
            default: tag.default,
        });
    }

    /// Writes the end of the innermost element, with what is before its end tag.
    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let node = open.node;
        if !node.is_empty_tag() {
            let last = node
                .children
                .last()
                .map(|&it| &self.tree.nodes[it as usize]);
            let from = last.map_or(node.start.end, Node::behind);
            self.copy(from..node.end.start);
        }
        self.out
            .pieces
            .push((self.out.text.len(), node.end.start.max(node.start.start)));
        self.out.text.push_str(&open.end);
    }

    /// The beginning of a start tag with this name, and the declaration of its namespace.
    fn tag_of(&self, name: NameId) -> (String, String) {
        tag_of(self.plan, self.prefix, name)
    }

    /// Writes an element that was missing.
    fn insert(&mut self, id: ElementId) {
        self.out.text += &inserted(self.plan, self.prefix, id);
    }
}

/// An element that was missing: nil if that is allowed, otherwise empty.
pub(super) fn inserted(plan: &Plan, prefix: &str, id: ElementId) -> String {
    let element = plan.element(id);
    let (mut text, declaration) = tag_of(plan, prefix, element.name);
    text += &declaration;
    if element.nillable {
        let _ = write!(text, " xmlns:xsi=\"{XSI}\" xsi:nil=\"true\"");
    }
    text + "/>"
}

fn tag_of(plan: &Plan, prefix: &str, name: NameId) -> (String, String) {
    let vocabulary = plan.vocabulary();
    let (namespace, local) = (vocabulary.namespace(name), vocabulary.local(name));
    renamed(prefix, namespace, local)
}

/// The beginning of a start tag with another name, and the declaration of its namespace.
fn renamed(prefix: &str, namespace: &str, local: &str) -> (String, String) {
    if namespace.is_empty() {
        return (format!("<{local}"), " xmlns=\"\"".to_owned());
    }
    let declaration = format!(" xmlns:{prefix}=\"{}\"", escaped(namespace));
    (format!("<{prefix}:{local}"), declaration)
}

/// A start tag as it is written.
struct StartTag<'a> {
    text: String,
    qname: String,
    is_renamed: bool,
    /// The default namespace inside of the element.
    default: &'a str,
}

impl<'a> StartTag<'a> {
    fn of(writer: &Writer<'a>, node: &Node, edit: Option<&Edit>, outer: &'a str) -> Self {
        let (tree, text) = (writer.tree, writer.text);
        let raw = &text[node.start.clone()];
        let qname = node.qname(text);
        let behind_name = &raw[1 + qname.len()..];
        let mut rest = behind_name.to_owned();
        if let (Some(nil), Some(true)) = (node.nil, edit.map(|edit| edit.is_not_nil)) {
            let at = nil - node.start.start - 1 - qname.len();
            rest = without_attribute(behind_name, |value| value.start == at);
        }
        let own = tree.default_of(node);
        let inside = own.unwrap_or(outer);
        let Some(name) = edit.and_then(|edit| edit.name) else {
            // Below an element that was renamed, a name without prefix may have lost its namespace.
            let namespace = tree.namespace(node);
            if qname.contains(':') || inside == namespace {
                return Self::new(format!("<{qname}{rest}"), qname, false, inside);
            }
            let tag = format!("<{qname} xmlns=\"{}\"{rest}", escaped(namespace));
            return Self::new(tag, qname, false, namespace);
        };
        let vocabulary = writer.plan.vocabulary();
        let (namespace, local) = (vocabulary.namespace(name), vocabulary.local(name));
        let (begin, declaration) = renamed(writer.prefix, namespace, local);
        if !namespace.is_empty() {
            return Self::new(
                format!("{begin}{declaration}{rest}"),
                &begin[1..],
                true,
                inside,
            );
        }
        if inside.is_empty() {
            return Self::new(format!("{begin}{rest}"), local, true, "");
        }
        let rest = without_default(&rest);
        Self::new(format!("{begin}{declaration}{rest}"), local, true, "")
    }

    fn new(text: String, qname: &str, is_renamed: bool, default: &'a str) -> Self {
        Self {
            text,
            qname: qname.to_owned(),
            is_renamed,
            default,
        }
    }
}

/// A namespace name as it is in an attribute.
fn escaped(namespace: &str) -> String {
    let mut escaped = Vec::with_capacity(namespace.len());
    // A name of the message or the schema has characters of XML alone.
    let _ = escape_attribute(namespace, &mut escaped);
    String::from_utf8_lossy(&escaped).into_owned()
}

/// The attributes of a start tag without the declaration of a default namespace.
fn without_default(attributes: &str) -> String {
    without(attributes, |name, _| name == "xmlns")
}

/// The attributes of a start tag without one, which is found by where its value is.
fn without_attribute(attributes: &str, is_it: impl Fn(&Range<usize>) -> bool) -> String {
    without(attributes, |_, value| is_it(value))
}

/// The attributes of a well-formed start tag, and its end, without some.
fn without(attributes: &str, is_removed: impl Fn(&str, &Range<usize>) -> bool) -> String {
    let (mut kept, mut at) = (String::with_capacity(attributes.len()), 0);
    while let Some(equals) = attributes[at..].find('=').map(|found| at + found) {
        let behind = attributes[equals..]
            .find(['"', '\''])
            .map(|found| equals + found);
        let Some(open) = behind else { break };
        let quote = &attributes[open..=open];
        let Some(close) = attributes[open + 1..]
            .find(quote)
            .map(|found| open + 1 + found)
        else {
            break;
        };
        let name = attributes[at..equals].trim();
        if !is_removed(name, &(open + 1..close)) {
            kept.push_str(&attributes[at..=close]);
        }
        at = close + 1;
    }
    kept.push_str(&attributes[at..]);
    kept
}
