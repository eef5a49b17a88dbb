//! The values of an encoded message as a graph: references, shared values and cycles. (SOAP 1.1 §5.2.1; SOAP 1.2 Part 2 §3.1.5)
//!
//! A Record of an encoded message is as the text was: an accessor may be a reference, and independent elements follow the
//! wrapper. Programs get one of two other Records, made by copying slots:
//!
//! ```text
//! text      <a href="#1"/> <b href="#1"/> … <multiRef id="1">v</multiRef>
//! shared    <a id="1">v</a> <b href="#1"/>        each independent value is where it is referred to first: shared values stay
//!                                                 shared, and cycles end
//! expanded  <a>v</a> <b>v</b>                     a tree; its size is limited, and a cycle is an error
//! ```
//!
//! The heap stays the same, so no text is copied. Neither walk nor copy recurses: the copy has a stack of the values that it
//! is in, and each reference is looked up once, so sharing takes time linear in the message.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::decode::encoded::{fragment_of, numbers};
use crate::plan::{Content, ElementId, LeafId, LeafKind, Plan, TypeId};
use crate::record::walk::{Event, Mismatch, Start, Walk};
use crate::record::{Record, heap_range, kept, marker, path};
use crate::value::MAX_DEPTH;

/// What is wrong with the references of an encoded message, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError {
    /// The fact.
    pub kind: GraphErrorKind,
    /// The element with the reference, as `/Envelope/Body/order/item[3]`.
    pub path: String,
}

/// The facts of a [`GraphError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphErrorKind {
    /// No value has the id.
    Dangling(String),
    /// Two values have the same id.
    Duplicate(String),
    /// The value is of a type that the element cannot have.
    Type(String),
    /// The value contains itself, so it is no tree.
    Cycle(String),
    /// An array has more items than its size says.
    Size {
        /// How many items there are.
        found: usize,
        /// The size.
        size: String,
    },
    /// The tree is larger than this number of bytes.
    Expansion(usize),
    /// Values nest deeper than [`MAX_DEPTH`].
    Depth,
    /// The slots do not fit the Plan.
    Mismatch,
}

impl std::fmt::Display for GraphError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            GraphErrorKind::Dangling(id) => {
                write!(f, "the reference \"#{id}\" names no value of the message")?;
            }
            GraphErrorKind::Duplicate(id) => write!(f, "two values have the id \"{id}\"")?,
            GraphErrorKind::Type(id) => write!(
                f,
                "the reference \"#{id}\" names a value whose type is not allowed here"
            )?,
            GraphErrorKind::Cycle(id) => write!(
                f,
                "the value \"#{id}\" contains itself; only a dynamic value can hold a cycle"
            )?,
            GraphErrorKind::Size { found, size } => {
                write!(f, "found {found} items in an array of the size {size:?}")?;
            }
            GraphErrorKind::Expansion(limit) => write!(
                f,
                "the references expand to more than {limit} bytes (limit `reference_expansion`)"
            )?,
            GraphErrorKind::Depth => {
                write!(f, "values nest deeper than {MAX_DEPTH} (limit `MAX_DEPTH`)")?;
            }
            GraphErrorKind::Mismatch => f.write_str("the record does not fit its plan")?,
        }
        match self.path.as_str() {
            "" => Ok(()),
            path => write!(f, " at {path}"),
        }
    }
}

impl std::error::Error for GraphError {}

impl From<Mismatch> for GraphError {
    fn from(_: Mismatch) -> Self {
        GraphErrorKind::Mismatch.at(String::new())
    }
}

impl GraphErrorKind {
    fn at(self, path: String) -> GraphError {
        GraphError { kind: self, path }
    }
}

/// The bytes that references may expand to by default.
pub const REFERENCE_EXPANSION: usize = 64 << 20;

/// The Record with each independent value where it is referred to first. Values that are referred to more than once have an
/// id, and their other references remain. Returns the Record itself if it has no references.
///
/// # Errors
/// If a reference names no value, or one whose type is not allowed there; if values nest too deep.
pub fn share(record: &Record) -> Result<Cow<'_, Record>, GraphError> {
    let graph = Graph::of(record)?;
    if graph.is_tree() {
        return Ok(Cow::Borrowed(record));
    }
    Copy::new(&graph, Mode::Share).run().map(Cow::Owned)
}

/// The Record as a tree, without references. Returns the Record itself if it has none.
///
/// # Errors
/// As for [`share`]; also if a value contains itself, or the tree takes more than `limit` bytes.
pub fn expand(record: &Record, limit: usize) -> Result<Cow<'_, Record>, GraphError> {
    let graph = Graph::of(record)?;
    if graph.is_tree() {
        return Ok(Cow::Borrowed(record));
    }
    Copy::new(&graph, Mode::Expand { limit })
        .run()
        .map(Cow::Owned)
}

/// Prepares the Record of an encoded message for sending: arrays without a size get theirs.
///
/// # Errors
/// If a reference names no value, or one whose type is not allowed there.
pub fn complete(record: &mut Record) -> Result<(), GraphError> {
    let graph = Graph::of(record)?;
    for reference in &graph.references {
        graph.target(reference)?;
    }
    let sizes = graph.sizes.clone();
    for Size {
        slot,
        count,
        is_list,
        ..
    } in sizes
    {
        let text = match is_list {
            true => count.to_string(),
            false => format!("[{count}]"),
        };
        let Ok(size) = record.append_octets(text.as_bytes()) else {
            return Err(GraphErrorKind::Mismatch.at(String::new()));
        };
        record.slots[slot - 1] = marker::PRESENT;
        record.slots[slot] = size;
    }
    Ok(())
}

/// A value that has an id.
#[derive(Clone, Copy, Debug)]
struct Definition {
    ty: TypeId,
    /// The slots of its attributes and content.
    start: usize,
    end: usize,
    /// The slot of its id; behind the marker of the attribute. `None` if it is among the attributes of a wildcard.
    id: Option<usize>,
    is_independent: bool,
    /// How many elements are open around its content.
    depth: usize,
    /// The bytes of its slots and texts.
    weight: usize,
}

#[derive(Clone, Copy, Debug)]
struct Reference {
    element: ElementId,
    /// The slot of its state marker; the reference's own slot is the next one.
    at: usize,
    depth: usize,
}

/// The size of an array.
#[derive(Clone, Copy, Debug)]
struct Size {
    slot: usize,
    count: usize,
    /// Whether sizes are written as in SOAP 1.2.
    is_list: bool,
    is_stated: bool,
}

/// The references and what they name.
#[derive(Debug)]
struct Graph<'r> {
    record: &'r Record,
    definitions: Vec<Definition>,
    ids: HashMap<Cow<'r, str>, usize>,
    /// In the order of their slots.
    references: Vec<Reference>,
    /// The slot of the count of the independent values, and the slot behind them.
    independent: Option<(usize, usize)>,
    /// Those that are not stated.
    sizes: Vec<Size>,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: Start,
    definition: Option<usize>,
    weight: usize,
    is_independent: bool,
    /// The size of an array whose items have not begun.
    size: Option<Size>,
}

/// Whether an array of these sizes has space for so many items.
fn fits(count: usize, sizes: &[u64]) -> bool {
    let space = sizes
        .iter()
        .try_fold(1u64, |space, &size| space.checked_mul(size));
    space.is_none_or(|space| count as u64 <= space)
}

/// A walk that collects the references.
struct Scan<'r> {
    graph: Graph<'r>,
    plan: &'r Plan,
    open: Vec<Open>,
    /// The bytes of texts so far.
    texts: usize,
    independent: Option<ElementId>,
}

impl<'r> Graph<'r> {
    fn of(record: &'r Record) -> Result<Self, GraphError> {
        let graph = Self {
            record,
            definitions: Vec::new(),
            ids: HashMap::new(),
            references: Vec::new(),
            independent: None,
            sizes: Vec::new(),
        };
        let mut scan = Scan {
            graph,
            plan: &record.plan,
            open: Vec::new(),
            texts: 0,
            independent: None,
        };
        let (mut walk, root) = Walk::new(record)?;
        scan.start(root);
        while let Some(event) = walk.next()? {
            scan.event(event, &mut walk)?;
        }
        Ok(scan.graph)
    }

    /// The id that a reference names.
    fn name(&self, reference: &Reference) -> &'r str {
        let slots = &self.record.slots;
        fragment_of(
            self.record
                .text(slots.get(reference.at + 1).copied().unwrap_or_default()),
        )
    }

    fn is_tree(&self) -> bool {
        self.references.is_empty() && self.independent.is_none_or(|(at, end)| at + 1 == end)
    }

    /// The value that a reference names, and its type as the element has it.
    fn target(&self, reference: &Reference) -> Result<(usize, TypeId), GraphError> {
        let id = self.name(reference);
        let at = || path::of_slot(self.record, reference.at + 1);
        let Some(&target) = self.ids.get(id) else {
            return Err(GraphErrorKind::Dangling(id.to_owned()).at(at()));
        };
        let (plan, element) = (&self.record.plan, reference.element);
        let (ty, declared) = (self.definitions[target].ty, plan.element(element).ty);
        if plan.admits_type(element, ty) {
            return Ok((target, ty));
        }
        if plan.are_like_arrays(ty, declared) {
            return Ok((target, declared));
        }
        // The independent values have an `anyType` of their own.
        if plan.ty(ty).content == Content::Any && plan.ty(declared).content == Content::Any {
            return Ok((target, declared));
        }
        Err(GraphErrorKind::Type(id.to_owned()).at(at()))
    }
}

impl<'r> Scan<'r> {
    fn event(&mut self, event: Event, walk: &mut Walk<'r>) -> Result<(), GraphError> {
        match event {
            Event::Start(start) => self.start(start),
            Event::End(_) => self.end(walk.at()),
            Event::Array { element, count, at } => {
                self.array(element, count, at)?;
                walk.jump(event)?;
            }
            Event::Attribute { id, presence, at } => {
                let attribute = self.plan.attribute(id);
                if let Some(array) = &attribute.array
                    && let Some(open) = self.open.last_mut()
                {
                    open.size = Some(Size {
                        slot: at,
                        count: 0,
                        is_list: array.item_type.is_some(),
                        is_stated: presence != marker::ABSENT,
                    });
                }
                if presence != marker::ABSENT {
                    self.leaf(attribute.leaf, at);
                    let text = self.text(at);
                    self.define(Some(at), text.into(), |rules_id| rules_id == attribute.name)?;
                }
            }
            Event::AnyAttribute { at } if self.is_encoded() => {
                for kept in kept::attributes(self.text(at)).into_iter().flatten() {
                    let plan = self.plan;
                    let name = plan.vocabulary.lookup(&kept.namespace, &kept.local);
                    if let Some(name) = name {
                        let id = Cow::Owned(kept.value.to_string());
                        self.define(None, id, |rules_id| rules_id == name)?;
                    }
                }
            }
            Event::AnyAttribute { .. } => {}
            Event::Leaf { leaf, at } => self.leaf(leaf, at),
            Event::Text { at } | Event::Fragment { at } | Event::Inner { at } => {
                self.texts += self.text(at).len();
            }
        }
        Ok(())
    }

    /// Whether the innermost element is one of encoded messages.
    fn is_encoded(&self) -> bool {
        let open = self.open.last();
        open.is_some_and(|open| self.plan.encoded(open.start.element).is_some())
    }

    fn start(&mut self, start: Start) {
        let encoded = self.plan.encoded(start.element);
        let is_reference = encoded.is_some_and(|it| it.rules.reference == start.ty);
        if is_reference && !start.nil {
            self.graph.references.push(Reference {
                element: start.element,
                at: start.at - 1,
                depth: self.open.len(),
            });
        }
        self.open.push(Open {
            start,
            definition: None,
            weight: self.weight(start.at),
            is_independent: self.independent == Some(start.element),
            size: None,
        });
    }

    fn end(&mut self, at: usize) {
        let weight = self.weight(at);
        let Some(open) = self.open.pop() else { return };
        if let Some(definition) = open.definition {
            let definition = &mut self.graph.definitions[definition];
            definition.end = at;
            definition.weight = weight - open.weight;
        }
        if open.is_independent
            && let Some((_, end)) = &mut self.graph.independent
        {
            *end = at;
        }
    }

    fn array(&mut self, element: ElementId, count: usize, at: usize) -> Result<(), GraphError> {
        let encoded = self.plan.encoded(element);
        if encoded.is_some_and(|it| it.has_any_name && it.style.is_some()) {
            self.independent = Some(element);
            self.graph.independent = Some((at - 1, at));
        } else if let Some(size) = self.open.last_mut().and_then(|open| open.size.take()) {
            let Size { slot, .. } = size;
            let stated = self.text(slot);
            if size.is_stated && numbers(stated).is_some_and(|sizes| !fits(count, &sizes)) {
                let kind = GraphErrorKind::Size {
                    found: count,
                    size: stated.to_owned(),
                };
                return Err(kind.at(path::of_slot(self.graph.record, slot)));
            }
            if !size.is_stated {
                self.graph.sizes.push(Size { count, ..size });
            }
        }
        Ok(())
    }

    /// Notes the id of the innermost element, if the attribute is one.
    fn define(
        &mut self,
        slot: Option<usize>,
        id: Cow<'r, str>,
        is_id: impl Fn(bsoap_xml::NameId) -> bool,
    ) -> Result<(), GraphError> {
        let id = match id {
            Cow::Borrowed(id) => Cow::Borrowed(fragment_of(id)),
            Cow::Owned(id) => Cow::Owned(fragment_of(&id).to_owned()),
        };
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let encoded = self.plan.encoded(open.start.element);
        if !encoded.is_some_and(|it| is_id(it.rules.id) && it.rules.reference != open.start.ty) {
            return Ok(());
        }
        let index = self.graph.definitions.len();
        if self.graph.ids.contains_key(&id) {
            let at = path::of_slot(self.graph.record, open.start.at);
            return Err(GraphErrorKind::Duplicate(id.into_owned()).at(at));
        }
        self.graph.ids.insert(id, index);
        open.definition = Some(index);
        self.graph.definitions.push(Definition {
            ty: open.start.ty,
            start: open.start.at,
            end: open.start.at,
            id: slot,
            is_independent: open.is_independent,
            depth,
            weight: 0,
        });
        Ok(())
    }

    /// Counts the text of a value.
    fn leaf(&mut self, leaf: LeafId, at: usize) {
        let kind = match self.plan.leaf(leaf).kind {
            LeafKind::List(item) => self.plan.leaf(item).kind,
            kind => kind,
        };
        if matches!(
            kind,
            LeafKind::Text | LeafKind::Base64 | LeafKind::Hex | LeafKind::Name
        ) {
            let slot = self.graph.record.slots.get(at).copied();
            self.texts += heap_range(slot.unwrap_or_default()).1;
        }
    }

    fn text(&self, at: usize) -> &'r str {
        let record = self.graph.record;
        record.text(record.slots.get(at).copied().unwrap_or_default())
    }

    fn weight(&self, at: usize) -> usize {
        at * size_of::<u64>() + self.texts
    }
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    Share,
    Expand { limit: usize },
}

/// A copy of the slots with references replaced.
struct Copy<'g, 'r> {
    graph: &'g Graph<'r>,
    mode: Mode,
    copied: Vec<u64>,
    /// The values that have been put where they are referred to, or are being put there.
    is_placed: Vec<bool>,
    /// The values that references of the copy name.
    is_named: Vec<bool>,
    /// The slots of ids in the copy, with their values.
    ids: Vec<(usize, usize)>,
    weight: usize,
}

/// A range of slots being copied.
struct Part {
    at: usize,
    end: usize,
    /// The value that it is the content of.
    definition: Option<usize>,
    /// How many elements are open around its elements in the copy, less those around them in the Record.
    depth: isize,
}

impl<'g, 'r> Copy<'g, 'r> {
    fn new(graph: &'g Graph<'r>, mode: Mode) -> Self {
        Self {
            graph,
            mode,
            copied: Vec::new(),
            is_placed: vec![false; graph.definitions.len()],
            is_named: vec![false; graph.definitions.len()],
            ids: Vec::new(),
            weight: 0,
        }
    }

    /// Copies a range of slots.
    fn copy(&mut self, range: Range<usize>) {
        let (graph, base) = (self.graph, self.copied.len());
        let slots = &graph.record.slots[range.clone()];
        self.copied.extend_from_slice(slots);
        let slot = |it: &Definition| it.id.unwrap_or(it.start);
        let first = graph
            .definitions
            .partition_point(|it| slot(it) < range.start);
        for (index, definition) in graph.definitions.iter().enumerate().skip(first) {
            match definition.id {
                _ if slot(definition) >= range.end => break,
                Some(id) => self.ids.push((index, base + id - range.start)),
                None => {}
            }
        }
    }

    fn run(mut self) -> Result<Record, GraphError> {
        let mut parts = vec![Part {
            at: 0,
            end: self.graph.record.slots.len(),
            definition: None,
            depth: 0,
        }];
        while let Some(part) = parts.last_mut() {
            let references = &self.graph.references;
            let next = references.partition_point(|it| it.at < part.at);
            let next = references.get(next).filter(|it| it.at < part.end);
            let until = next.map_or(part.end, |it| it.at);
            if let Some((count, end)) = self.graph.independent
                && part.at <= count
                && count < until
            {
                let range = part.at..count;
                part.at = end;
                self.copy(range);
                self.copied.push(0);
                continue;
            }
            let (range, depth) = (part.at..until, part.depth);
            part.at = next.map_or(until, |it| it.at + 2);
            self.copy(range);
            match next {
                Some(&reference) => {
                    parts.extend(self.reference(reference, depth)?);
                }
                None => {
                    let ended = parts.pop().and_then(|part| part.definition);
                    if let (Some(ended), Mode::Expand { .. }) = (ended, self.mode) {
                        self.is_placed[ended] = false;
                    }
                }
            }
        }
        for (index, slot) in self.ids {
            if !self.is_named[index] {
                (self.copied[slot - 1], self.copied[slot]) = (marker::ABSENT, 0);
            }
        }
        Ok(self.graph.record.with_slots(self.copied))
    }

    /// Replaces a reference: the part that takes its place, if the reference does not remain.
    fn reference(
        &mut self,
        reference: Reference,
        depth: isize,
    ) -> Result<Option<Part>, GraphError> {
        let graph = self.graph;
        let (target, ty) = graph.target(&reference)?;
        let definition = &graph.definitions[target];
        let at = || path::of_slot(graph.record, reference.at + 1);
        let id = || graph.name(&reference).to_owned();
        match self.mode {
            Mode::Share if self.is_placed[target] || !definition.is_independent => {
                self.is_named[target] = true;
                self.copy(reference.at..reference.at + 2);
                return Ok(None);
            }
            Mode::Share => {}
            Mode::Expand { limit } => {
                if self.is_placed[target] {
                    return Err(GraphErrorKind::Cycle(id()).at(at()));
                }
                self.weight = self.weight.saturating_add(definition.weight);
                if self.weight > limit {
                    return Err(GraphErrorKind::Expansion(limit).at(at()));
                }
            }
        }
        let around = reference.depth as isize + 1 + depth;
        if around > MAX_DEPTH as isize {
            return Err(GraphErrorKind::Depth.at(at()));
        }
        self.is_placed[target] = true;
        self.copied.push(marker::state(marker::PRESENT, ty));
        Ok(Some(Part {
            at: definition.start,
            end: definition.end,
            definition: Some(target),
            depth: around - definition.depth as isize,
        }))
    }
}
