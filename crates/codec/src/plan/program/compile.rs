//! Compiles a Plan to its program.

use std::sync::OnceLock;

use bsoap_xml::NamespaceId;

use super::form::{Holder, LeafForm, LeafRef};
use super::{Action, Field, Form, Markup, Op, PAD, Program, SHORT_TEXT, Span, Table, declare};
use bsoap_datatypes::kernel::{Column, Separator};

use crate::expanded::XSI;
use crate::plan::{
    Content, Element, ElementId, LeafId, LeafKind, ParticleId, Plan, Role, Term, Type, TypeId,
};
use crate::record::marker;

/// The most children of an element whose type is copied rather than called.
const INLINE_CHILDREN: usize = 16;
/// The greatest depth to which types are copied.
const INLINE_DEPTH: usize = 3;
/// Types are copied as long as the program has fewer instructions than this.
const INLINE_OPS: usize = 1 << 13;
const INLINE_BYTES: usize = 1 << 18;
/// Types are copied as long as the program is less than this many times as large as if every type were called.
const INLINE_GROWTH: usize = 8;
/// After this number of children a literal ends, so that an encoder may stop there.
const WIDE: usize = 32;
/// The most numbers in a row of a [`Table`].
const MAX_CELLS: usize = 64;
/// The most bytes of markup between two numbers of a row.
const MAX_MARKUP: usize = 4096;
/// The most bytes that the fast path writes besides markup longer than [`PAD`]: a value and its pad, markup on both sides,
/// and the excess of copies of a fixed size.
const SPACE: usize = SHORT_TEXT + 5 * PAD;

impl Program {
    pub(crate) fn compile(plan: &Plan) -> Self {
        let mut compiler = Compiler {
            plan,
            program: Self {
                ops: Vec::new(),
                fields: Vec::new(),
                literals: Vec::new(),
                targets: Vec::new(),
                tables: Vec::new(),
                types: Vec::with_capacity(plan.type_count()),
                forms: Vec::new(),
                declarations: Vec::new(),
                soap_types: soap_types(plan),
                is_scope: vec![false; plan.element_count()],
                element_namespaces: (0..plan.element_count()).map(|_| OnceLock::new()).collect(),
                type_namespaces: (0..plan.type_count()).map(|_| OnceLock::new()).collect(),
                xsi: NamespaceId(0),
                xsi_prefix: String::new(),
            },
            pending: 0,
            close: 0,
            is_in_mixed: false,
            limits: CopyLimits::new(plan),
        };
        compiler.namespaces();
        for index in 0..plan.type_count() as u32 {
            let entry = compiler.label();
            compiler.program.types.push(entry);
            compiler.close = 0;
            compiler.type_body(TypeId(index), 0);
            compiler.op(Action::Return);
        }
        let mut program = compiler.program;
        program.finish();
        program
    }

    /// Copies short markup into the instructions, and sets the targets of calls.
    fn finish(&mut self) {
        self.literals.extend([0; PAD]);
        let literals = &self.literals;
        let copy = |markup: &mut Markup| {
            let front = literals.get(markup.span.start as usize..);
            if let Some(front) = front.and_then(<[u8]>::first_chunk) {
                markup.bytes = *front;
            }
        };
        for field in &mut self.fields {
            copy(&mut field.open);
            copy(&mut field.close);
        }
        for op in &mut self.ops {
            copy(&mut op.before);
            let mut space = SPACE + op.before.len();
            match &mut op.action {
                Action::Call { entry } => *entry = self.types[*entry as usize],
                Action::Field(field) => {
                    let field = &self.fields[*field as usize];
                    space += field.open.len() + field.close.len();
                }
                _ => {}
            }
            op.space = space as u32;
        }
    }
}

/// The types that elements of SOAP itself have: what they contain declares its own namespaces, so
/// that a message does not declare those of all other operations.
fn soap_types(plan: &Plan) -> Vec<bool> {
    let mut soap = vec![false; plan.type_count()];
    for element in &plan.elements {
        if element.role == Role::Soap {
            soap[element.ty.index()] = true;
        }
    }
    soap
}

struct Compiler<'p> {
    plan: &'p Plan,
    program: Program,
    /// Where the literal that is being collected starts.
    pending: usize,
    /// The length of the end tag of the element whose type is being copied; 0 if the type is compiled to be called.
    close: usize,
    /// Whether the element being compiled is in mixed content.
    is_in_mixed: bool,
    limits: CopyLimits,
}

/// The limits up to which types are copied.
struct CopyLimits {
    ops: usize,
    bytes: usize,
}

impl CopyLimits {
    fn new(plan: &Plan) -> Self {
        let tags = plan
            .elements
            .iter()
            .map(|element| element.open_tag.len() + element.close_tag.len());
        let ops = plan.particles.len() + plan.element_count() + plan.type_count();
        Self {
            ops: INLINE_OPS + INLINE_GROWTH * ops,
            bytes: INLINE_BYTES + INLINE_GROWTH * tags.sum::<usize>(),
        }
    }
}

impl Compiler<'_> {
    fn namespaces(&mut self) {
        let vocabulary = &self.plan.vocabulary;
        let mut count = 0;
        for (id, uri) in vocabulary.namespaces() {
            self.program
                .declarations
                .push(declaration(self.plan.prefix(id), uri));
            count = id.0 + 1;
        }
        match vocabulary.namespace_id(XSI) {
            Some(id) => {
                self.program.xsi = id;
                self.program.xsi_prefix = self.plan.prefix(id).to_owned();
            }
            None => {
                let taken = |prefix: &String| self.plan.prefixes.contains(prefix);
                let mut prefixes =
                    std::iter::once("xsi".to_owned()).chain((1..).map(|n| format!("xsi{n}")));
                let prefix = prefixes
                    .find(|prefix| !taken(prefix))
                    .expect("there are more numbers than prefixes");
                self.program.declarations.push(declaration(&prefix, XSI));
                self.program.xsi = NamespaceId(count);
                self.program.xsi_prefix = prefix;
            }
        }
    }

    /// Adds to the literal that is being collected.
    fn text(&mut self, bytes: &[u8]) {
        self.program.literals.extend_from_slice(bytes);
    }

    /// Takes the literal collected so far, without an instruction for it.
    fn take(&mut self) -> Span {
        let end = self.program.literals.len();
        let start = std::mem::replace(&mut self.pending, end);
        Span {
            start: start as u32,
            length: (end - start) as u32,
        }
    }

    fn flush(&mut self) {
        if self.program.literals.len() > self.pending {
            let span = self.take();
            self.push(span, Action::Literal);
        }
    }

    fn push(&mut self, before: Span, action: Action) {
        self.program.ops.push(Op::new(before, action));
    }

    fn op(&mut self, action: Action) -> usize {
        self.flush();
        self.push(Span::default(), action);
        self.program.ops.len() - 1
    }

    /// Gives the instruction added last the form of the value that it writes. (QNames have no form: writing them needs more
    /// than their slot.)
    fn writes(&mut self, form: LeafForm) {
        if !form.is_name()
            && let Some(op) = self.program.ops.last_mut()
        {
            op.leaf = LeafRef(self.program.forms.len() as u32);
            self.program.forms.push(form);
        }
    }

    /// Compiles a value with the markup before it.
    fn leaf(&mut self, leaf: LeafId) {
        let form = Form::of(self.plan.leaf(leaf).kind);
        let before = self.take();
        let action = match form {
            Form::Text => Action::Text,
            Form::Signed => Action::Signed,
            Form::Double => Action::Double,
            form => Action::Value(form),
        };
        self.push(before, action);
        let holder = Holder::Element { close: self.close };
        self.writes(LeafForm::new(self.plan, leaf, holder, !self.is_in_mixed));
    }

    fn again(&mut self, body: u32) {
        let before = self.take();
        self.push(before, Action::Again { body });
    }

    /// Compiles an element that may be absent or nil to one instruction; `None` if that is not possible.
    fn field(&mut self, id: ElementId, is_optional: bool) -> Option<()> {
        let element = self.plan.element(id);
        let Content::Simple(leaf) = self.plan.ty(element.ty).content else {
            return None;
        };
        let form = Form::of(self.plan.leaf(leaf).kind);
        if !element.is_scalar || self.has_names(form) {
            return None;
        }
        let before = self.take();
        self.text(&element.open_tag);
        self.text(b">");
        let open = Markup::new(self.take());
        self.text(&element.close_tag);
        let close = Markup::new(self.take());
        self.push(before, Action::Field(self.program.fields.len() as u32));
        let holder = Holder::Element { close: close.len() };
        self.writes(LeafForm::new(self.plan, leaf, holder, !self.is_in_mixed));
        let present = match element.has_state {
            true => marker::state(marker::PRESENT, element.ty),
            false => marker::PRESENT,
        };
        self.program.fields.push(Field {
            open,
            close,
            form,
            present,
            element: id,
            is_optional,
        });
        Some(())
    }

    /// The index of the next instruction.
    fn label(&mut self) -> u32 {
        self.flush();
        self.program.ops.len() as u32
    }

    /// Sets the jump of the instruction at `at` to the next instruction.
    fn land(&mut self, at: usize) {
        let here = self.label();
        match &mut self.program.ops[at].action {
            Action::Optional { absent: to } | Action::OptionalValue { absent: to } => *to = here,
            Action::State { done: to, .. } => *to = here,
            Action::Repeat { done: to } | Action::Jump(to) => *to = here,
            other => unreachable!("{other:?} does not jump"),
        }
    }

    /// Compiles the attributes of a type, `>` and the content.
    fn type_body(&mut self, id: TypeId, depth: usize) {
        let ty = self.plan.ty(id);
        let close = std::mem::take(&mut self.close);
        for attribute in ty.attribute_ids() {
            let attribute = self.plan.attribute(attribute);
            let form = Form::of(self.plan.leaf(attribute.leaf).kind);
            if !attribute.required || self.has_names(form) {
                self.flush();
            }
            self.text(&attribute.open);
            let open = self.take();
            let action = match attribute.required {
                true => Action::Attribute(form),
                false => Action::OptionalAttribute(form),
            };
            self.push(open, action);
            self.writes(LeafForm::new(
                self.plan,
                attribute.leaf,
                Holder::Attribute,
                false,
            ));
        }
        if ty.any_attribute.is_some() {
            self.op(Action::AnyAttribute);
        }
        match &ty.content {
            Content::Empty => self.text(b">"),
            Content::Simple(leaf) => {
                let form = Form::of(self.plan.leaf(*leaf).kind);
                if self.has_names(form) {
                    self.op(Action::DeclareNames(form));
                }
                self.text(b">");
                self.close = close;
                self.leaf(*leaf);
            }
            Content::Particle(particle) => {
                self.text(b">");
                let soap = self.program.soap_types[id.index()];
                let outside = std::mem::replace(&mut self.is_in_mixed, false);
                self.particle(*particle, soap, depth);
                self.is_in_mixed = outside;
            }
            Content::Mixed { elements, .. } => {
                self.text(b">");
                let soap = self.program.soap_types[id.index()];
                let outside = std::mem::replace(&mut self.is_in_mixed, true);
                self.mixed(self.plan.group(elements), soap, depth);
                self.is_in_mixed = outside;
            }
            Content::Any => {
                self.text(b">");
                self.fragment();
            }
        }
    }

    fn fragment(&mut self) {
        self.op(Action::Fragment);
        self.writes(LeafForm::xml());
    }

    fn has_names(&self, form: Form) -> bool {
        match form {
            Form::Name => true,
            Form::List(item) => self.plan.leaf(item).kind == LeafKind::Name,
            _ => false,
        }
    }

    /// Compiles a particle with its markers. `soap`: it is inside one of SOAP's own elements.
    fn particle(&mut self, id: ParticleId, soap: bool, depth: usize) {
        let particle = self.plan.particle(id);
        if particle.repeats() {
            if let Term::Element(element) = particle.term
                && let Some(table) = self.table(element)
            {
                self.op(Action::Rows(table));
                return;
            }
            let repeat = self.op(Action::Repeat { done: 0 });
            let body = self.label();
            self.occurrence(id, soap, depth);
            self.again(body);
            self.land(repeat);
        } else if particle.min == 0 {
            self.optional(id, soap, depth);
        } else {
            self.occurrence(id, soap, depth);
        }
    }

    /// Compiles a particle that may be absent.
    fn optional(&mut self, id: ParticleId, soap: bool, depth: usize) {
        let has_value = match &self.plan.particle(id).term {
            Term::Choice(_) => return self.occurrence(id, soap, depth),
            Term::Element(element) => {
                let declared = self.plan.element(*element);
                if declared.has_state {
                    return self.stateful(*element, true, soap);
                }
                let declares = soap && declared.role != Role::Soap;
                if !declares && self.field(*element, true).is_some() {
                    return;
                }
                declared.is_scalar
            }
            Term::Any(_) => true,
            Term::Sequence(_) | Term::All(_) => false,
        };
        let optional = self.op(if has_value {
            Action::OptionalValue { absent: 0 }
        } else {
            Action::Optional { absent: 0 }
        });
        self.occurrence(id, soap, depth);
        self.land(optional);
    }

    /// Compiles a term without the markers of its particle.
    fn occurrence(&mut self, id: ParticleId, soap: bool, depth: usize) {
        match &self.plan.particle(id).term {
            Term::Element(element) => self.element(*element, soap, depth),
            Term::Any(_) => self.fragment(),
            Term::Sequence(children) => {
                for (index, &child) in self.plan.group(children).iter().enumerate() {
                    self.particle(child, soap, depth);
                    if index % WIDE == WIDE - 1 {
                        self.flush();
                    }
                }
            }
            Term::Choice(children) => {
                let children = self.plan.group(children);
                self.branches(children, None, |compiler, child| {
                    compiler.particle(child, soap, depth);
                });
            }
            Term::All(children) => {
                let children = self.plan.group(children);
                let repeat = self.op(Action::Repeat { done: 0 });
                let body = self.label();
                self.branches(children, Some(Action::Mismatch), |compiler, child| {
                    compiler.named(child, soap, depth);
                });
                self.again(body);
                self.land(repeat);
            }
        }
    }

    /// Compiles a child of an `all` or of mixed content, which a marker has named already.
    fn named(&mut self, id: ParticleId, soap: bool, depth: usize) {
        if self.plan.particle(id).repeats() {
            self.particle(id, soap, depth);
        } else {
            self.occurrence(id, soap, depth);
        }
    }

    fn mixed(&mut self, elements: &[ParticleId], soap: bool, depth: usize) {
        let repeat = self.op(Action::Repeat { done: 0 });
        let body = self.label();
        // Each item is one element, even if its particle repeats.
        self.branches(elements, Some(Action::Text), |compiler, child| {
            compiler.occurrence(child, soap, depth);
        });
        self.again(body);
        self.land(repeat);
    }

    /// Compiles a jump by marker: 0 goes to `zero` (or past all branches), `1 + i` to child `i`.
    fn branches(
        &mut self,
        children: &[ParticleId],
        zero: Option<Action>,
        branch: impl Fn(&mut Self, ParticleId),
    ) {
        // Compiling this choice adds the targets of inner choices behind its own.
        let targets = self.program.targets.len();
        self.program.targets.resize(targets + 1 + children.len(), 0);
        self.op(Action::Choice {
            targets: targets as u32,
            count: 1 + children.len() as u32,
        });
        let mut ends = Vec::with_capacity(1 + children.len());
        if let Some(zero) = zero {
            self.program.targets[targets] = self.label();
            self.op(zero);
            if let Action::Text = zero {
                self.writes(LeafForm::mixed_text());
            }
            ends.push(self.op(Action::Jump(0)));
        }
        for (index, &child) in children.iter().enumerate() {
            self.program.targets[targets + 1 + index] = self.label();
            branch(self, child);
            ends.push(self.op(Action::Jump(0)));
        }
        for end in ends {
            self.land(end);
        }
        if zero.is_none() {
            self.program.targets[targets] = self.label();
        }
    }

    /// Compiles an element that is present, or whose state marker says whether it is.
    fn element(&mut self, id: ElementId, soap: bool, depth: usize) {
        let element = self.plan.element(id);
        if element.has_state {
            return self.stateful(id, false, soap);
        }
        let ty = self.plan.ty(element.ty);
        let declares = soap && element.role != Role::Soap;
        let scoped = declares || self.needs_scope(ty);
        if scoped {
            self.op(Action::Enter);
        }
        self.text(&element.open_tag);
        if declares {
            self.op(Action::Declare(id));
        }
        self.close = element.close_tag.len();
        self.value(element, depth);
        self.text(&element.close_tag);
        if scoped {
            self.op(Action::Leave);
        }
    }

    /// Whether types may still be copied.
    fn may_copy(&self) -> bool {
        self.program.ops.len() < self.limits.ops && self.program.literals.len() < self.limits.bytes
    }

    /// Compiles attributes and content: copied if they are short, otherwise called.
    fn value(&mut self, element: &Element, depth: usize) {
        if depth < INLINE_DEPTH && self.may_copy() && self.is_short(self.plan.ty(element.ty)) {
            self.type_body(element.ty, depth + 1);
        } else {
            self.close = 0;
            self.op(Action::Call {
                entry: element.ty.0,
            });
        }
    }

    fn is_short(&self, ty: &Type) -> bool {
        match &ty.content {
            Content::Empty | Content::Simple(_) | Content::Any => {
                ty.attributes.len() <= INLINE_CHILDREN
            }
            Content::Particle(particle) => {
                let children = self.plan.children_of(*particle);
                let flat = children
                    .iter()
                    .all(|&child| self.plan.children_of(child).is_empty());
                flat && children.len() + ty.attributes.len() <= INLINE_CHILDREN
            }
            Content::Mixed { .. } => false,
        }
    }

    /// Whether a start tag of this type may have to declare prefixes for the values in it.
    fn needs_scope(&self, ty: &Type) -> bool {
        let named = |leaf: LeafId| self.has_names(Form::of(self.plan.leaf(leaf).kind));
        ty.any_attribute.is_some()
            || matches!(ty.content, Content::Simple(leaf) if named(leaf))
            || ty
                .attribute_ids()
                .any(|id| named(self.plan.attribute(id).leaf))
    }

    /// Compiles an element with a state marker. The instruction itself writes the start tag, because the attributes in the tag
    /// depend on the marker's value.
    fn stateful(&mut self, id: ElementId, is_optional: bool, soap: bool) {
        let element = self.plan.element(id);
        let ty = self.plan.ty(element.ty);
        let declares = soap && element.role != Role::Soap;
        self.program.is_scope[id.index()] |= declares;
        if !declares && self.field(id, is_optional).is_some() {
            return;
        }
        let is_scope = declares || !ty.alternatives.is_empty() || self.needs_scope(ty);
        let state = self.op(Action::State {
            element: id,
            done: 0,
            is_scope,
            is_optional,
        });
        self.text(&self.plan.element(id).close_tag);
        if is_scope {
            self.op(Action::Leave);
        }
        self.land(state);
    }

    /// Makes a table for an array of this element; `None` if its items are not rows of numbers.
    fn table(&mut self, id: ElementId) -> Option<u32> {
        if !self.may_copy() {
            return None;
        }
        let mut pieces = Vec::new();
        let mut text = Vec::new();
        let mut leaves = Vec::new();
        row(self.plan, id, &mut text, &mut pieces, &mut leaves, 0)?;
        let (head, _) = pieces.first()?;
        if pieces.len() > MAX_CELLS || self.plan.element(id).stride != Some(pieces.len() as u32) {
            return None;
        }
        self.flush();
        let mut span = |bytes: &[&[u8]]| {
            bytes.iter().for_each(|bytes| self.text(bytes));
            self.take()
        };
        let (first, last) = (span(&[head]), span(&[&text]));
        let between = span(&[&text, head]);
        let cells: Vec<_> = pieces
            .iter()
            .enumerate()
            .map(|(i, (before, form))| {
                (
                    if i == 0 {
                        Span::default()
                    } else {
                        span(&[before])
                    },
                    *form,
                )
            })
            .collect();
        let space = |span: Span| PAD + (span.length as usize).max(PAD);
        // Each number is counted with the markup before it; the first with the markup between rows.
        let space = space(between)
            + cells
                .iter()
                .skip(1)
                .map(|(before, _)| space(*before))
                .sum::<usize>();
        let columns = self.columns(&cells, between);
        self.program.tables.push(Table {
            first,
            between,
            last,
            cells,
            columns: columns.unwrap_or_default(),
            leaf: LeafRef(self.program.forms.len() as u32),
            space,
        });
        self.program.forms.extend(leaves);
        Some(self.program.tables.len() as u32 - 1)
    }

    /// The columns of a row for the kernels, each with the markup behind it; `None` if not all values are numbers.
    fn columns(&self, cells: &[(Span, Form)], between: Span) -> Option<Vec<Column>> {
        let behind = cells.iter().skip(1).map(|&(before, _)| before);
        let behind = behind.chain([between]);
        let column = |(&(_, form), behind): (&(Span, Form), Span)| {
            Some(Column {
                number: form.to_number()?,
                marker: None,
                separator: Separator::new(self.program.literal(behind)),
            })
        };
        cells.iter().zip(behind).map(column).collect()
    }
}

/// Adds the numbers of a row, each with the markup before it. The markup left in `text` follows the last number.
fn row(
    plan: &Plan,
    id: ElementId,
    text: &mut Vec<u8>,
    cells: &mut Vec<(Vec<u8>, Form)>,
    leaves: &mut Vec<LeafForm>,
    depth: usize,
) -> Option<()> {
    let element = plan.element(id);
    let ty = plan.ty(element.ty);
    if depth > INLINE_DEPTH
        || cells.len() > MAX_CELLS
        || text.len() > MAX_MARKUP
        || element.has_state
        || !ty.attributes.is_empty()
        || ty.any_attribute.is_some()
    {
        return None;
    }
    text.extend_from_slice(&element.open_tag);
    text.push(b'>');
    match &ty.content {
        Content::Simple(leaf) => {
            let form = Form::of(plan.leaf(*leaf).kind);
            if !form.is_number() {
                return None;
            }
            cells.push((std::mem::take(text), form));
            let holder = Holder::Element {
                close: element.close_tag.len(),
            };
            leaves.push(LeafForm::new(plan, *leaf, holder, true));
        }
        Content::Particle(particle) => {
            let particle = plan.particle(*particle);
            let Term::Sequence(children) = &particle.term else {
                return None;
            };
            if !particle.is_required_once() {
                return None;
            }
            for &child in plan.group(children) {
                let child = plan.particle(child);
                let Term::Element(element) = child.term else {
                    return None;
                };
                if !child.is_required_once() {
                    return None;
                }
                row(plan, element, text, cells, leaves, depth + 1)?;
            }
        }
        _ => return None,
    }
    text.extend_from_slice(&element.close_tag);
    Some(())
}

/// ` xmlns:prefix="uri"`; empty if no declaration is needed or possible.
fn declaration(prefix: &str, uri: &str) -> Box<[u8]> {
    let mut out = Vec::new();
    if !prefix.is_empty() && prefix != "xml" {
        declare(prefix, uri, &mut out);
    }
    out.into()
}
