//! A walk over a Record that collects its references, what they name, and the sizes of arrays.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{GraphError, GraphErrorKind};
use super::{Definition, Graph, Reference, Size};
use crate::decode::encoded::{fragment_of, numbers};
use crate::plan::{ElementId, LeafId, LeafKind, Plan};
use crate::record::walk::{Event, Start, Walk};
use crate::record::{Record, heap_range, kept, marker, path};

/// The references of a Record.
pub(super) fn scan(record: &Record) -> Result<Graph<'_>, GraphError> {
    let graph = Graph {
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
            element: open.start.element,
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
