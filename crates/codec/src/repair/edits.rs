//! Which elements of a message are renamed, moved, removed or inserted.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use bsoap_xml::NameId;

use super::tree::{Node, Tree};
use super::write::inserted;
use crate::decode::declared::is_envelope_of_soap;
use crate::decode::{DecodeOptions, Deviation, Error, ErrorKind, Expected, Name, Warning};
use crate::plan::declared::{Child, Declared, Fit, may_be_empty};
use crate::plan::{Content, ElementId, Plan, Role, TypeId};

/// The local name of the element that is no answer, in any namespace.
pub(super) const FAULT: &str = "Fault";

/// At most how many bytes may be added to a message with this number of elements: a few bytes may be of a type with thousands of required
/// children.
pub(super) fn most_added(elements: usize) -> usize {
    MAX_ADDED.saturating_add(elements.saturating_mul(MAX_ADDED_PER_ELEMENT))
}

/// The most bytes that are added to any message, and the most for each element that it has: some 4 short elements.
const MAX_ADDED: usize = 512 << 10;
const MAX_ADDED_PER_ELEMENT: usize = 400;

/// The edits of a message.
#[derive(Debug, Default)]
pub(super) struct Edits {
    by_node: HashMap<u32, Edit>,
    pub(super) warnings: Vec<Warning>,
}

/// What changes in one element.
#[derive(Debug, Default)]
pub(super) struct Edit {
    /// The name that it gets.
    pub(super) name: Option<NameId>,
    /// The elements that are put around it, outermost first.
    pub(super) around: Vec<NameId>,
    /// Whether its `xsi:nil` is removed.
    pub(super) is_not_nil: bool,
    /// Its children, if they change.
    pub(super) children: Option<Vec<NewChild>>,
}

/// A child of an element whose children change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewChild {
    /// One that was there.
    Node(u32),
    /// One that is inserted: nil if that is allowed, otherwise empty.
    Inserted(ElementId),
}

impl Edits {
    /// The edits that a message needs. `None` if too much would be inserted.
    pub(super) fn of(
        plan: &Plan,
        root: ElementId,
        answer: Option<ElementId>,
        tree: &Tree,
        (text, prefix): (&str, &str),
        options: &DecodeOptions,
    ) -> Option<Self> {
        let mut editor = Editor {
            plan,
            answer,
            tree,
            text,
            prefix,
            options,
            edits: Self::default(),
            bytes_left: Some(most_added(tree.nodes.len())),
            has_other_version: false,
        };
        editor.root(root);
        editor.bytes_left.map(|_| editor.edits)
    }

    pub(super) fn of_node(&self, node: u32) -> Option<&Edit> {
        self.by_node.get(&node)
    }
}

struct Editor<'a> {
    plan: &'a Plan,
    /// The first element that the Body should have, if that is known.
    answer: Option<ElementId>,
    tree: &'a Tree,
    text: &'a str,
    /// The prefix of the elements that are inserted.
    prefix: &'a str,
    options: &'a DecodeOptions,
    edits: Edits,
    /// How many bytes may still be inserted; `None` if there would have been more.
    bytes_left: Option<usize>,
    /// Whether the Envelope is that of the other version of SOAP.
    has_other_version: bool,
}

/// An element to look at: its node, its declaration, its path.
struct Visit {
    node: u32,
    element: ElementId,
    path: Rc<Path>,
}

/// The first element of the Body that is read as the answer.
struct OtherAnswer {
    node: u32,
    /// The number of the answer among what the Body may have.
    index: usize,
    /// What the element is: the answer, or a part of it that came without the answer around it.
    element: ElementId,
}

/// A child that stays.
#[derive(Clone, Copy)]
struct Kept {
    /// The number of its declaration. An unknown child belongs to the one before it.
    index: usize,
    node: u32,
    is_known: bool,
}

/// The path of an element, made into text only for a warning.
struct Path {
    outer: Option<Rc<Path>>,
    name: NameId,
}

impl<'a> Editor<'a> {
    fn root(&mut self, root: ElementId) {
        let name = self.plan.element(root).name;
        let node = &self.tree.nodes[0];
        let path = Rc::new(Path { outer: None, name });
        if node.name != Some(name) {
            let kind = ErrorKind::RootMismatch {
                found: self.found(node),
                expected: Name::known(self.plan, name),
            };
            let ErrorKind::RootMismatch { found, expected } = &kind else {
                return;
            };
            if let Some(visit) = self.missing_envelope(root, &kind) {
                return self.all(visit);
            }
            if !is_envelope_of_soap(found, expected) || !self.accepts(Deviation::OtherVersion) {
                return;
            }
            self.warn(
                Deviation::OtherVersion,
                kind,
                String::new(),
                node.start.start,
            );
            self.edit(0).name = Some(name);
            self.has_other_version = true;
        }
        self.all(Visit {
            node: 0,
            element: root,
            path,
        });
    }

    /// Looks at an element and all that are in it.
    fn all(&mut self, visit: Visit) {
        let mut left = vec![visit];
        while let Some(visit) = left.pop().filter(|_| self.bytes_left.is_some()) {
            self.children(&visit, &mut left);
        }
    }

    /// Puts an Envelope around a message that is the answer alone. Returns the answer.
    fn missing_envelope(&mut self, root: ElementId, kind: &ErrorKind) -> Option<Visit> {
        let plan = self.plan;
        let (answer, node) = (self.answer?, &self.tree.nodes[0]);
        let (envelope, name) = (plan.element(root), plan.element(answer).name);
        let is_answer = node.local(self.text) == plan.vocabulary().local(name);
        if !is_answer || !self.accepts(Deviation::MissingEnvelope) {
            return None;
        }
        let declared = self.declared(envelope.ty);
        let mut names = declared
            .children
            .iter()
            .map(|it| plan.element(it.element).name);
        let body = names.find(|&it| plan.vocabulary().local(it) == "Body")?;
        let start = node.start.start;
        self.warn(
            Deviation::MissingEnvelope,
            kind.clone(),
            String::new(),
            start,
        );
        self.edit(0).around = vec![envelope.name, body];
        if node.name != Some(name) {
            self.edit(0).name = Some(name);
        }
        let path = [envelope.name, body, name]
            .into_iter()
            .fold(None, |outer, name| Some(Rc::new(Path { outer, name })));
        Some(Visit {
            node: 0,
            element: answer,
            path: path?,
        })
    }

    /// The first element in the Body, if it is read as the answer although it has another name: it has children of the answer, or it
    /// is one.
    fn other_answer(&mut self, visit: &Visit, declared: &Declared) -> Option<OtherAnswer> {
        let plan = self.plan;
        let (answer, body) = (self.answer?, plan.element(visit.element));
        let is_body = body.role == Role::Soap && plan.vocabulary().local(body.name) == "Body";
        if !is_body || !self.accepts(Deviation::OtherAnswer) {
            return None;
        }
        let name = plan.element(answer).name;
        let index = declared.index_of(Some(name))?;
        let &number = self.tree.nodes[visit.node as usize].children.first()?;
        let node = &self.tree.nodes[number as usize];
        let local = node.local(self.text);
        let fit = declared.fit(plan, node.name, local);
        if local == FAULT || matches!(fit, Some(Fit::Name(_))) {
            return None;
        }
        let of_answer = self.declared(plan.element(answer).ty);
        let element = match of_answer.index_of(node.name) {
            Some(part) => {
                let part = of_answer.children[part].element;
                self.warn_of_name(Deviation::OtherAnswer, number, name, &visit.path);
                self.edit(number).around = vec![name];
                part
            }
            None if fit.is_none() && self.has_child_of(of_answer, node) => {
                self.rename(Deviation::OtherAnswer, number, name, &visit.path);
                answer
            }
            None => return None,
        };
        Some(OtherAnswer {
            node: number,
            index,
            element,
        })
    }

    /// Whether an element has one of these children, or nothing where there are none.
    fn has_child_of(&self, declared: &Declared, node: &Node) -> bool {
        let is_child = |&child: &u32| {
            let node = &self.tree.nodes[child as usize];
            let fit = declared.fit(self.plan, node.name, node.local(self.text));
            matches!(fit, Some(Fit::Name(_) | Fit::LocalName(_)))
        };
        let has_nothing = node.children.is_empty() && declared.children.is_empty();
        has_nothing || node.children.iter().any(is_child)
    }

    /// Gives an element another name, with a warning.
    fn rename(&mut self, deviation: Deviation, number: u32, name: NameId, path: &Rc<Path>) {
        self.warn_of_name(deviation, number, name, path);
        self.edit(number).name = Some(name);
    }

    fn warn_of_name(&mut self, deviation: Deviation, number: u32, name: NameId, path: &Rc<Path>) {
        if !self.has_space() {
            return;
        }
        let node = &self.tree.nodes[number as usize];
        let mut expected = Expected::default();
        expected.add(Name::known(self.plan, name));
        let found = self.found(node);
        let kind = ErrorKind::Unexpected { found, expected };
        self.warn(deviation, kind, path.text(self.plan), node.start.start);
    }

    fn accepts(&self, deviation: Deviation) -> bool {
        self.options.accepted.contains(deviation)
    }

    fn edit(&mut self, node: u32) -> &mut Edit {
        self.edits.by_node.entry(node).or_default()
    }

    fn warn(&mut self, deviation: Deviation, kind: ErrorKind, path: String, offset: usize) {
        if self.has_space() {
            let error = Error::new(kind, path, offset as u64);
            self.edits.warnings.push(Warning::new(deviation, error));
        }
    }

    /// Whether there may be one more warning.
    fn has_space(&self) -> bool {
        self.edits.warnings.len() < self.options.warnings.max(1)
    }

    fn found(&self, node: &Node) -> Name {
        Name::new(self.tree.namespace(node), node.local(self.text))
    }

    fn declared(&self, ty: TypeId) -> &'a Declared {
        self.plan.declared(ty)
    }

    /// The type of an element: that of its `xsi:type`, if it may replace the declared one.
    fn type_of(&self, visit: &Visit) -> TypeId {
        let declared = self.plan.element(visit.element).ty;
        let Some(actual) = self.tree.nodes[visit.node as usize].actual else {
            return declared;
        };
        let mut alternatives = self.plan.ty(declared).alternatives.iter().copied();
        let named = alternatives.find(|&it| self.plan.ty(it).name == Some(actual));
        named.unwrap_or(declared)
    }

    /// Looks at the children of an element, and adds those that have children themselves to `left`.
    fn children(&mut self, visit: &Visit, left: &mut Vec<Visit>) {
        let ty = self.type_of(visit);
        let node = &self.tree.nodes[visit.node as usize];
        if node.nil.is_some() || !matches!(self.plan.ty(ty).content, Content::Particle(_)) {
            return;
        }
        let declared = self.declared(ty);
        let mut kept: Vec<Kept> = Vec::with_capacity(node.children.len());
        let has_items = match declared.children[..] {
            [only] => {
                let name = Some(self.plan.element(only.element).name);
                let mut children = node.children.iter();
                children.any(|&it| self.tree.nodes[it as usize].name == name)
            }
            _ => false,
        };
        let other_answer = self.other_answer(visit, declared);
        let (mut last, mut has_changed) = (0, false);
        for &number in &node.children {
            let other_answer = other_answer.as_ref().filter(|it| it.node == number);
            let fit = match other_answer {
                Some(answer) => Some(answer.index),
                None => self.fit(declared, number, has_items, &visit.path),
            };
            let Some(index) = fit else {
                kept.push(Kept {
                    index: last,
                    node: number,
                    is_known: false,
                });
                continue;
            };
            last = index;
            let child = declared.children[index];
            if self.is_removed(child, number, &visit.path) {
                has_changed = true;
                continue;
            }
            kept.push(Kept {
                index,
                node: number,
                is_known: true,
            });
            let element = other_answer.map_or(child.element, |answer| answer.element);
            let name = self.plan.element(element).name;
            left.push(Visit {
                node: number,
                element,
                path: Rc::new(Path {
                    outer: Some(Rc::clone(&visit.path)),
                    name,
                }),
            });
        }
        if declared.is_flat {
            has_changed |= !declared.is_all && self.sort(&mut kept, declared, &visit.path);
            let end = node.end.start.max(node.start.start);
            let missing = self.missing(&kept, declared, &visit.path, end);
            if has_changed || !missing.is_empty() {
                self.edit(visit.node).children = Some(merged(&kept, &missing, declared));
            }
        } else if has_changed {
            let children = kept.iter().map(|it| NewChild::Node(it.node));
            self.edit(visit.node).children = Some(children.collect());
        }
    }

    /// The number of the declaration that a child has, once it is renamed.
    fn fit(
        &mut self,
        declared: &Declared,
        number: u32,
        has_items: bool,
        path: &Rc<Path>,
    ) -> Option<usize> {
        let node = &self.tree.nodes[number as usize];
        let (index, deviation) = match declared.fit(self.plan, node.name, node.local(self.text))? {
            Fit::Name(index) => return Some(index),
            Fit::LocalName(index) => (index, Deviation::OtherNamespace),
            // Beside items of the right name it is none.
            Fit::OnlyItem(_) if has_items => return None,
            Fit::OnlyItem(index) => (index, Deviation::OtherItemName),
        };
        let element = self.plan.element(declared.children[index].element);
        let is_of_soap = element.role == Role::Soap;
        if is_of_soap && !self.has_other_version || !is_of_soap && !self.accepts(deviation) {
            return None;
        }
        match is_of_soap {
            true => self.edit(number).name = Some(element.name),
            false => self.rename(deviation, number, element.name, path),
        }
        Some(index)
    }

    /// Whether a child is removed, because it is nil and must not be. It becomes empty if it is required and may be empty.
    fn is_removed(&mut self, child: Child, number: u32, path: &Rc<Path>) -> bool {
        let node = &self.tree.nodes[number as usize];
        let Some(offset) = node.nil else {
            return false;
        };
        let (plan, element) = (self.plan, self.plan.element(child.element));
        let is_optional = plan.particle(child.particle).min == 0;
        let is_refused = element.nillable || !self.accepts(Deviation::NilValue);
        if is_refused || !node.is_blank(self.text) {
            return false;
        }
        if !is_optional && !may_be_empty(plan, child.element) {
            return false;
        }
        if self.has_space() {
            let name = plan.vocabulary().local(element.name);
            let place = format!("{}/{name}/@nil", path.text(plan));
            self.warn(Deviation::NilValue, ErrorKind::NotNillable, place, offset);
        }
        self.edit(number).is_not_nil = true;
        is_optional
    }

    /// Brings children into the order of their declarations. Returns whether one was moved.
    fn sort(&mut self, kept: &mut [Kept], declared: &Declared, path: &Rc<Path>) -> bool {
        if kept.is_sorted_by_key(|it| it.index) || !self.accepts(Deviation::MisplacedElement) {
            return false;
        }
        let mut last = 0;
        for &Kept { index, node, .. } in kept.iter().filter(|it| it.is_known) {
            if index < last && self.has_space() {
                let node = &self.tree.nodes[node as usize];
                let mut expected = Expected::default();
                for later in &declared.children[last..] {
                    if expected.more {
                        break;
                    }
                    expected.add(Name::known(
                        self.plan,
                        self.plan.element(later.element).name,
                    ));
                }
                let found = self.found(node);
                let kind = ErrorKind::Unexpected { found, expected };
                let place = path.text(self.plan);
                self.warn(Deviation::MisplacedElement, kind, place, node.start.start);
            }
            last = last.max(index);
        }
        // Those of one declaration keep their order.
        kept.sort_by_key(|it| it.index);
        true
    }

    /// The numbers of the required declarations that have no child, and that an empty or nil element can stand for.
    fn missing(
        &mut self,
        kept: &[Kept],
        declared: &Declared,
        path: &Rc<Path>,
        offset: usize,
    ) -> Vec<usize> {
        let mut missing = Vec::new();
        if declared.required.is_empty() || !self.accepts(Deviation::MissingElement) {
            return missing;
        }
        let known = kept.iter().filter(|it| it.is_known);
        let there: HashSet<usize> = known.map(|it| it.index).collect();
        let plan = self.plan;
        for &index in declared.required.iter().filter(|it| !there.contains(it)) {
            let element = declared.children[index].element;
            let added = inserted(plan, self.prefix, element).len();
            self.bytes_left = self
                .bytes_left
                .and_then(|bytes_left| bytes_left.checked_sub(added));
            if self.bytes_left.is_none() {
                break;
            }
            missing.push(index);
            if self.has_space() {
                let mut expected = Expected::default();
                expected.add(Name::known(plan, plan.element(element).name));
                let kind = ErrorKind::Missing { expected };
                self.warn(Deviation::MissingElement, kind, path.text(plan), offset);
            }
        }
        missing
    }
}

/// The children of an element with those that are inserted, in the order of their declarations.
fn merged(kept: &[Kept], missing: &[usize], declared: &Declared) -> Vec<NewChild> {
    let mut children = Vec::with_capacity(kept.len() + missing.len());
    let mut kept = kept.iter().peekable();
    for &index in missing {
        while let Some(it) = kept.next_if(|it| it.index < index) {
            children.push(NewChild::Node(it.node));
        }
        children.push(NewChild::Inserted(declared.children[index].element));
    }
    children.extend(kept.map(|it| NewChild::Node(it.node)));
    children
}

impl Path {
    fn text(&self, plan: &Plan) -> String {
        let mut names = vec![self.name];
        let mut next = self.outer.as_deref();
        while let Some(path) = next {
            names.push(path.name);
            next = path.outer.as_deref();
        }
        let names = names.iter().rev();
        names
            .map(|&name| format!("/{}", plan.vocabulary().local(name)))
            .collect()
    }
}
