//! Which columns the elements of a type have, and how they are read from a Record.
//!
//! The columns follow from the Plan alone, so that all messages of an operation have the same: nested structs are flattened to dotted
//! names, repeated simple children are lists. What has no column (repeated structs, wildcards, recursive types) is named in
//! [`Layout::notes`].

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bsoap::Record;
use bsoap::codec::plan::{AttributeId, Content, ElementId, LeafId, LeafKind, TypeId};
use bsoap::codec::{Key, LeafView, Maker, Rows, View};

use crate::collect::{BATCH_BYTES, ColumnSpec, Kind, Meaning, RowCollector, kind_of};
use crate::plan::{Form, PythonPlan};

/// More columns are left out.
const MAX_COLUMNS: usize = 4096;

/// More derived types of one element are left out: an element of a very general type can be of any.
const MAX_ALTERNATIVES: usize = 32;

/// The columns of the elements of a type.
pub(crate) struct Layout {
    plan: Arc<PythonPlan>,
    pub(crate) columns: Vec<ColumnSpec>,
    /// What has no column, and why.
    pub(crate) notes: Vec<String>,
    root: Node,
    symbols: Symbols,
    /// The columns by slot, if all rows have the same slots and all of their values a column.
    flat: Option<Vec<(usize, LeafId)>>,
}

/// What becomes of a member.
enum Node {
    Column(usize),
    Struct(Vec<(Symbol, Node)>),
    /// It has no column.
    Left,
}

/// The key of a member as a number.
type Symbol = u32;

/// Keys that have no column.
const UNKNOWN: Symbol = Symbol::MAX;

const TEXT: &str = "#text";

#[derive(Default)]
struct Symbols {
    known: HashMap<String, Symbol>,
    /// By type, those of its children.
    children: HashMap<TypeId, Vec<Symbol>>,
    attributes: HashMap<AttributeId, Symbol>,
}

impl Symbols {
    fn add(&mut self, key: &str) -> Symbol {
        let next = self.known.len() as Symbol;
        *self.known.entry(key.to_owned()).or_insert(next)
    }
}

impl Layout {
    /// The columns of an element; its type may be derived.
    pub(crate) fn new(plan: &Arc<PythonPlan>, element: ElementId) -> Self {
        let mut layout = Self {
            plan: Arc::clone(plan),
            columns: Vec::new(),
            notes: Vec::new(),
            root: Node::Left,
            symbols: Symbols::default(),
            flat: None,
        };
        layout.root = layout.element(element, "", &mut Vec::new());
        layout.flat = layout.flat_columns(element);
        layout
    }

    fn column(&mut self, name: &str, leaf: LeafId, is_list: bool) -> Node {
        let kind = self.plan.plan().leaf(leaf).kind;
        let (leaf, is_list) = match kind {
            // Lists in lists have no column of their own: their text.
            LeafKind::List(item) if !is_list => (item, true),
            _ => (leaf, is_list),
        };
        let plan = self.plan.plan();
        let kind = kind_of(plan.leaf(leaf).kind, self.meaning(leaf));
        self.add_column(name, kind, is_list)
    }

    fn add_column(&mut self, name: &str, kind: Kind, is_list: bool) -> Node {
        // Derived types may have a member of the same name.
        if let Some(index) = self.columns.iter().position(|known| known.name == name) {
            let known = &mut self.columns[index];
            if known.kind != kind {
                known.kind = Kind::Text(Meaning::Text);
            }
            return Node::Column(index);
        }
        if self.columns.len() >= MAX_COLUMNS {
            if self.columns.len() == MAX_COLUMNS {
                self.leave(name, "there are too many columns");
            }
            return Node::Left;
        }
        self.columns.push(ColumnSpec {
            name: name.to_owned(),
            kind,
            is_list,
        });
        Node::Column(self.columns.len() - 1)
    }

    fn meaning(&self, leaf: LeafId) -> Meaning {
        let simple = &self.plan.plan().leaf(leaf).simple;
        match self.plan.form(leaf) {
            Form::Decimal => {
                let digits = simple.facets().fraction_digits();
                Meaning::Decimal(digits.and_then(|digits| i8::try_from(digits).ok()))
            }
            Form::Integer => Meaning::Integer,
            Form::DateTime => Meaning::DateTime,
            Form::Date => Meaning::Date,
            Form::Time => Meaning::Time,
            Form::Duration => Meaning::Duration,
            Form::Text | Form::Kind => Meaning::Text,
        }
    }

    fn leave(&mut self, name: &str, reason: &str) -> Node {
        let note = format!("{name} has no column: {reason}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
        Node::Left
    }

    /// The columns of an element that is there once or not at all.
    fn element(&mut self, id: ElementId, name: &str, open: &mut Vec<TypeId>) -> Node {
        let plan = Arc::clone(self.plan.plan());
        let declared = plan.element(id).ty;
        if open.contains(&declared) {
            return self.leave(name, "its type contains itself");
        }
        let ty = plan.ty(declared);
        match ty.content {
            Content::Simple(leaf) if ty.attributes.is_empty() && ty.any_attribute.is_none() => {
                let local = plan.vocabulary().local(plan.element(id).name);
                let name = if name.is_empty() { local } else { name };
                return self.column(name, leaf, false);
            }
            Content::Any if !name.is_empty() => {
                return self.add_column(name, Kind::Text(Meaning::Text), false);
            }
            _ => {}
        }
        open.push(declared);
        let mut members = Vec::new();
        let alternatives = ty.alternatives.iter().filter(|&&other| other != declared);
        if alternatives.clone().next().is_some() {
            // Which key says so depends on the type.
            for key in ["@type", "@xsi:type"] {
                let is_used = alternatives.clone().any(|&other| {
                    plan.derived_key(declared, other)
                        .is_some_and(|(used, _)| used == key)
                });
                if is_used {
                    let kind = Kind::Text(Meaning::Text);
                    let node = self.add_column(&join(name, key), kind, false);
                    members.push((self.symbols.add(key), node));
                }
            }
        }
        self.members(declared, name, open, &mut members);
        let alternatives: Vec<TypeId> = alternatives.copied().collect();
        if alternatives.len() > MAX_ALTERNATIVES {
            let shown = if name.is_empty() { "the element" } else { name };
            let note = format!("{shown} has too many derived types: their members have no columns");
            self.notes.push(note);
        } else {
            for other in alternatives {
                if !open.contains(&other) {
                    open.push(other);
                    self.members(other, name, open, &mut members);
                    open.pop();
                }
            }
        }
        open.pop();
        Node::Struct(members)
    }

    /// Adds the members of a type that are not there yet.
    fn members(
        &mut self,
        id: TypeId,
        name: &str,
        open: &mut Vec<TypeId>,
        members: &mut Vec<(Symbol, Node)>,
    ) {
        let plan = Arc::clone(self.plan.plan());
        let ty = plan.ty(id);
        for attribute in ty.attribute_ids() {
            let key = plan.attribute_key(attribute);
            let symbol = self.symbols.add(key);
            self.symbols.attributes.insert(attribute, symbol);
            if !members.iter().any(|member| member.0 == symbol) {
                let leaf = plan.attribute(attribute).leaf;
                members.push((symbol, self.column(&join(name, key), leaf, false)));
            }
        }
        if ty.any_attribute.is_some() {
            self.leave(&join(name, "@any"), "it is a wildcard");
        }
        match &ty.content {
            Content::Simple(leaf) => {
                let symbol = self.symbols.add(TEXT);
                if !members.iter().any(|member| member.0 == symbol) {
                    members.push((symbol, self.column(&join(name, TEXT), *leaf, false)));
                }
                return;
            }
            Content::Any | Content::Mixed { .. } => {
                let shown = join(name, "#mixed");
                self.leave(&shown, "it is not only elements");
                return;
            }
            _ => {}
        }
        let mut symbols = Vec::new();
        for child in plan.child_members(id) {
            let symbol = self.symbols.add(child.key);
            symbols.push(symbol);
            if members.iter().any(|member| member.0 == symbol) {
                continue;
            }
            let path = join(name, child.key);
            let node = match child.repeats {
                false => self.element(child.element, &path, open),
                true => self.repeated(child.element, &path),
            };
            members.push((symbol, node));
        }
        self.symbols.children.insert(id, symbols);
    }

    fn repeated(&mut self, id: ElementId, name: &str) -> Node {
        let plan = Arc::clone(self.plan.plan());
        let ty = plan.ty(plan.element(id).ty);
        match ty.content {
            Content::Simple(leaf) if ty.attributes.is_empty() && ty.any_attribute.is_none() => {
                self.column(name, leaf, true)
            }
            _ => self.leave(name, "it is an array of structs, a table of its own"),
        }
    }

    fn flat_columns(&self, element: ElementId) -> Option<Vec<(usize, LeafId)>> {
        let plan = self.plan.plan();
        let element = plan.element(element);
        if element.has_state || self.columns.iter().any(|column| column.is_list) {
            return None;
        }
        if let Content::Simple(leaf) = plan.ty(element.ty).content
            && matches!(self.root, Node::Column(0))
        {
            return Some(vec![(0, leaf)]);
        }
        let (fields, is_all) = plan.fields(element.ty);
        let is_same = fields.len() == self.columns.len()
            && fields
                .iter()
                .zip(&self.columns)
                .all(|(field, column)| field.key == column.name);
        (is_all && is_same).then(|| {
            fields
                .iter()
                .map(|field| (field.slot, field.leaf))
                .collect()
        })
    }

    /// Adds the rows that begin in a Record one after another.
    pub(crate) fn add_rows(&self, rows: &Rows<'_>, out: &mut RowCollector, first: usize) {
        let record = rows.record();
        let flat = match &self.flat {
            Some(flat) if self.is_flat(record) => flat,
            _ => return rows.iter().for_each(|row| self.add(&row, out, first)),
        };
        let slots = record.slots().get(rows.slots()).unwrap_or_default();
        for (index, (offset, leaf)) in (first..).zip(flat) {
            let Some(column) = out.next(index) else {
                continue;
            };
            let taken = slots.iter().skip(*offset).step_by(rows.stride()).copied();
            match self.plan.plan().leaf(*leaf).kind {
                LeafKind::Signed { .. }
                | LeafKind::Unsigned { .. }
                | LeafKind::Double
                | LeafKind::Float
                | LeafKind::Boolean
                | LeafKind::Text
                | LeafKind::Name
                | LeafKind::Base64
                | LeafKind::Hex => column.extend(record, taken),
                LeafKind::List(_) => {}
            }
        }
        if first == 0 {
            out.end_rows(rows.len());
        }
    }

    /// Whether [`add_rows`](Self::add_rows) adds the rows of a message by columns. The octets of attachments are not in its heap: they
    /// may need several batches.
    pub(crate) fn is_flat(&self, record: &Record) -> bool {
        let is_small = record.heap().len() < BATCH_BYTES && record.attachments().is_empty();
        self.flat.is_some() && is_small
    }

    /// Adds an element as the values of a row, into the columns from `first` on. If there are columns before, the caller ends the row.
    pub(crate) fn add(&self, view: &View<'_>, out: &mut RowCollector, first: usize) {
        let mut maker = CellMaker {
            symbols: &self.symbols,
        };
        if let Ok(cell) = view.make(&mut maker) {
            self.fill(&self.root, &cell, out, first);
        }
        if first == 0 {
            out.end_row();
        }
    }

    /// Adds the children of an element with a name as rows; `before` adds the columns before `first`.
    pub(crate) fn add_all(
        &self,
        view: &View<'_>,
        name: &str,
        out: &mut RowCollector,
        first: usize,
        before: impl Fn(&mut RowCollector),
    ) {
        let mut maker = CellMaker {
            symbols: &self.symbols,
        };
        // What does not fit the Plan was refused when the message was decoded.
        let _ = view.make_all(name, &mut maker, |cell| {
            before(out);
            self.fill(&self.root, &cell, out, first);
            out.end_row();
        });
    }

    fn fill(&self, node: &Node, cell: &Cell<'_>, out: &mut RowCollector, first: usize) {
        match (node, cell) {
            (Node::Struct(members), Cell::Object(values)) => {
                // Members mostly come in the order of the columns.
                let mut near = 0;
                for (symbol, value) in values {
                    let found = members[near..]
                        .iter()
                        .position(|member| member.0 == *symbol);
                    let index = match found {
                        Some(offset) => near + offset,
                        None => match members.iter().position(|member| member.0 == *symbol) {
                            Some(index) => index,
                            None => continue,
                        },
                    };
                    near = index;
                    self.fill(&members[index].1, value, out, first);
                }
            }
            (Node::Column(index), cell) => {
                let Some(column) = out.next(first + index) else {
                    return;
                };
                match cell {
                    Cell::Leaf(leaf) if column.is_list() => match leaf.kind() {
                        LeafKind::List(_) => leaf.items().for_each(|item| column.push(item)),
                        _ => column.push(*leaf),
                    },
                    Cell::Leaf(leaf) => column.push(*leaf),
                    Cell::Text(text) => column.push_text(text),
                    Cell::Bool(value) => column.push_int(i128::from(*value)),
                    Cell::Nil if column.is_list() => column.push_null(),
                    Cell::Array(items) if column.is_list() => {
                        for item in items {
                            self.fill(node, item, out, first);
                        }
                    }
                    Cell::Slots(record, slots) if column.is_list() => {
                        let slots = record.slots().get(slots.clone()).unwrap_or_default();
                        column.extend(record, slots.iter().copied());
                    }
                    // A simple value of a derived type with attributes.
                    Cell::Object(members) => {
                        let text = self.symbols.known.get(TEXT);
                        let text = members.iter().find(|member| Some(&member.0) == text);
                        if let Some((_, text)) = text {
                            self.fill(node, text, out, first);
                        }
                    }
                    Cell::Array(_) | Cell::Slots(..) | Cell::Nil => {}
                }
            }
            _ => {}
        }
    }
}

fn join(name: &str, key: &str) -> String {
    match name {
        "" => key.to_owned(),
        name => format!("{name}.{key}"),
    }
}

/// A value of a row.
enum Cell<'r> {
    Leaf(LeafView<'r>),
    Text(Box<str>),
    Bool(bool),
    Nil,
    Array(Vec<Cell<'r>>),
    /// Numbers in consecutive slots.
    Slots(&'r Record, Range<usize>),
    Object(Vec<(Symbol, Cell<'r>)>),
}

struct CellMaker<'l> {
    symbols: &'l Symbols,
}

/// An object that is being made.
struct Making<'r> {
    ty: Option<TypeId>,
    members: Vec<(Symbol, Cell<'r>)>,
}

impl CellMaker<'_> {
    fn symbol(&self, ty: Option<TypeId>, key: Key<'_>) -> Symbol {
        let symbols = self.symbols;
        let found = match (key, ty) {
            (Key::Child(index, _), Some(ty)) => symbols
                .children
                .get(&ty)
                .and_then(|children| children.get(index)),
            (Key::Attribute(id, _), _) => symbols.attributes.get(&id),
            (key, _) => symbols.known.get(key.as_str()),
        };
        found.copied().unwrap_or(UNKNOWN)
    }
}

impl<'r> Maker<'r> for CellMaker<'_> {
    type Value = Cell<'r>;
    type Object = Making<'r>;

    fn leaf(&mut self, leaf: LeafView<'r>) -> Cell<'r> {
        Cell::Leaf(leaf)
    }

    fn text(&mut self, text: &str) -> Cell<'r> {
        Cell::Text(text.into())
    }

    fn boolean(&mut self, value: bool) -> Cell<'r> {
        Cell::Bool(value)
    }

    fn nil(&mut self) -> Cell<'r> {
        Cell::Nil
    }

    fn array(&mut self, values: Vec<Cell<'r>>) -> Cell<'r> {
        Cell::Array(values)
    }

    fn column(
        &mut self,
        record: &'r Record,
        kind: LeafKind,
        slots: Range<usize>,
    ) -> Option<Cell<'r>> {
        crate::plan::array_of(kind).map(|_| Cell::Slots(record, slots))
    }

    fn begin(&mut self, _: &'r Record, ty: Option<TypeId>, members: usize) -> Making<'r> {
        Making {
            ty,
            members: Vec::with_capacity(members),
        }
    }

    fn push(&mut self, object: &mut Making<'r>, key: Key<'_>, value: Cell<'r>) {
        match self.symbol(object.ty, key) {
            UNKNOWN => {}
            symbol => object.members.push((symbol, value)),
        }
    }

    fn append(&mut self, object: &mut Making<'r>, key: Key<'_>, value: Cell<'r>) {
        let symbol = self.symbol(object.ty, key);
        if symbol == UNKNOWN {
            return;
        }
        let known = object.members.iter_mut().find(|member| member.0 == symbol);
        match known {
            Some((_, Cell::Array(items))) => items.push(value),
            Some((_, other)) => {
                let first = std::mem::replace(other, Cell::Nil);
                *other = Cell::Array(vec![first, value]);
            }
            None => object.members.push((symbol, Cell::Array(vec![value]))),
        }
    }

    fn end(&mut self, object: Making<'r>) -> Cell<'r> {
        Cell::Object(object.members)
    }
}

/// A path to elements of a message, such as `timeSeries.values[0].value`: names of children, from the element in the Body on. All
/// elements on the way are meant, unless an index chooses one.
pub(crate) struct Path {
    steps: Vec<(String, Option<usize>)>,
}

impl Path {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let step = |step: &str| {
            let (name, index) = match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
                Some((name, index)) => (name, Some(index.parse().ok()?)),
                None => (step, None),
            };
            (!name.is_empty()).then(|| (name.to_owned(), index))
        };
        let steps: Option<Vec<_>> = text.split('.').map(step).collect();
        match steps {
            Some(steps) => Ok(Self { steps }),
            None => Err(format!(
                "{text:?} is no path: give names with dots, such as series.values[0].value"
            )),
        }
    }

    /// The declaration of the elements that the path leads to.
    pub(crate) fn element(&self, plan: &PythonPlan, root: ElementId) -> Result<ElementId, String> {
        let plan = plan.plan();
        let mut element = root;
        for (name, _) in &self.steps {
            let declared = plan.element(element).ty;
            let alternatives = plan.ty(declared).alternatives.iter();
            let types = [declared].into_iter().chain(alternatives.copied());
            let mut known = Vec::new();
            let found = types.into_iter().find_map(|ty| {
                let children: Vec<_> = plan.child_members(ty).collect();
                let found = children.iter().find(|child| {
                    child.key == name
                        || plan.vocabulary().local(plan.element(child.element).name) == name
                });
                let found = found.map(|child| child.element);
                known.extend(children.into_iter().map(|child| child.key));
                found
            });
            element = found.ok_or_else(|| {
                known.dedup();
                let parent = plan.vocabulary().local(plan.element(element).name);
                let near = match bsoap::codec::nearest(name, &known).first() {
                    Some(near) => format!(": did you mean {near:?}?"),
                    None => format!("; it has {}", known.join(", ")),
                };
                format!("{parent} has no child {name:?}{near}")
            })?;
        }
        Ok(element)
    }

    /// Calls `rows` with all arrays that the path leads to, and `row` with elements that are not in one.
    pub(crate) fn visit<'r>(&self, root: View<'r>, visit: &mut impl FnMut(Found<'r>)) {
        self.visit_from(0, root, visit);
    }

    fn visit_from<'r>(&self, depth: usize, view: View<'r>, visit: &mut impl FnMut(Found<'r>)) {
        let Some((name, index)) = self.steps.get(depth) else {
            return visit(Found::Row(view));
        };
        if depth + 1 == self.steps.len() && index.is_none() {
            return visit(match view.rows(name) {
                Some(rows) => Found::Rows(rows),
                None => Found::Children(view, name.clone()),
            });
        }
        let children: Vec<View<'r>> = view.all(name).collect();
        match index {
            Some(index) => {
                if let Some(child) = children.get(*index) {
                    self.visit_from(depth + 1, *child, visit);
                }
            }
            None => {
                for child in children {
                    self.visit_from(depth + 1, child, visit);
                }
            }
        }
    }
}

/// What a path leads to.
pub(crate) enum Found<'r> {
    Rows(Rows<'r>),
    /// All children of an element with a name.
    Children(View<'r>, String),
    Row(View<'r>),
}
