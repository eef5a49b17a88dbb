//! What the encoder runs: a Plan, compiled to a row of small instructions.
//!
//! All markup between two values that never varies is one literal, so that a message is mostly
//! "copy these bytes, write this number":
//!
//! ```text
//! {int x, int y, double v}   Literal "<p><x>"  Leaf  Literal "</x><y>"  Leaf  Literal "</y><v>"  Leaf  Literal "</v></p>"
//! ```
//!
//! Each type has an entry point. It expects `<name` of its element written and stops before the end
//! tag: it writes attributes, `>` and content. Small types are copied into the elements that have
//! them, others are called. Arrays of numbers and of flat structs of numbers have an instruction of
//! their own ([`Table`]).

use std::sync::OnceLock;

use bsoap_xml::{NameId, NamespaceId};

use super::leaf::{Holder, LeafForm, LeafRef};
use super::straight::Steps;
use crate::plan::{
    Content, Element, ElementId, LeafId, LeafKind, ParticleId, Plan, Role, Term, Type, TypeId,
};

/// `xsi:nil` and `xsi:type` are in it.
pub(crate) const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// No number is longer.
pub(super) const MAX_NUMBER: usize = 24;
const NO_FORM: u32 = u32::MAX;
/// Literals of up to this length are copied as so many bytes, whatever their length.
pub(crate) const PAD: usize = 32;

/// Elements of types that are copied rather than called have at most so many children ...
const INLINE_CHILDREN: usize = 16;
/// ... and lie at most so deep in one another.
const INLINE_DEPTH: usize = 3;
/// Behind every so many children one may stop: the literal ends there.
const WIDE: usize = 32;
/// The most numbers in a row of a [`Table`].
const MAX_CELLS: usize = 64;

/// A Plan as the encoder runs it.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    /// The same for the fast road.
    pub(super) steps: Steps,
    /// Constant markup, and [`PAD`] bytes more, so that copies of fixed size stay inside.
    literals: Vec<u8>,
    /// Where choices jump to, by marker.
    pub(crate) targets: Vec<u32>,
    pub(crate) tables: Vec<Table>,
    /// The entry point of each type.
    pub(crate) types: Vec<u32>,
    /// How the values are written that instructions and tables refer to.
    forms: Vec<LeafForm>,
    /// The form of the value that an instruction writes, by instruction; [`NO_FORM`] if it writes none.
    form_of: Vec<u32>,
    /// ` xmlns:prefix="uri"` of each namespace of the vocabulary; the last one is that of [`XSI`].
    pub(crate) declarations: Vec<Box<[u8]>>,
    /// The types that elements of SOAP itself have.
    soap_types: Vec<bool>,
    /// The elements that declare their namespaces themselves: what SOAP's own elements carry.
    pub(crate) is_scope: Vec<bool>,
    element_namespaces: Vec<OnceLock<Box<[NamespaceId]>>>,
    type_namespaces: Vec<OnceLock<Box<[NamespaceId]>>>,
    /// The namespace of `xsi:` attributes: one of the vocabulary, or the number after its last.
    pub(crate) xsi: NamespaceId,
    pub(crate) xsi_prefix: String,
}

/// A stretch of `Program::literals`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    #[inline]
    pub(super) fn len(self) -> usize {
        self.length as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.length == 0
    }

    pub(super) fn length(self) -> usize {
        self.length as usize
    }

    /// As if it were so much longer.
    pub(super) fn longer(self, bytes: usize) -> Self {
        let length = self.length + bytes as u32;
        Self { length, ..self }
    }
}

/// How a leaf is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Boolean,
    Signed,
    Unsigned,
    Float,
    Double,
    Text,
    Base64,
    Hex,
    Name,
    /// Items of this leaf.
    List(LeafId),
}

impl Form {
    pub(crate) fn of(kind: LeafKind) -> Self {
        match kind {
            LeafKind::Boolean => Self::Boolean,
            LeafKind::Signed { .. } => Self::Signed,
            LeafKind::Unsigned { .. } => Self::Unsigned,
            LeafKind::Float => Self::Float,
            LeafKind::Double => Self::Double,
            LeafKind::Text => Self::Text,
            LeafKind::Base64 => Self::Base64,
            LeafKind::Hex => Self::Hex,
            LeafKind::Name => Self::Name,
            LeafKind::List(item) => Self::List(item),
        }
    }

    /// Whether it is at most 24 bytes and needs nothing but its slot.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            Self::Boolean | Self::Signed | Self::Unsigned | Self::Float | Self::Double
        )
    }
}

/// One instruction. Those that read a slot say so first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// Writes constant markup.
    Literal(Span),
    /// Value: writes it as content, after constant markup.
    Leaf {
        before: Span,
        form: Form,
    },
    /// The same of the commonest forms, each a jump of its own.
    Text(Span),
    Signed(Span),
    Double(Span),
    /// Presence, value: an optional element that is a scalar, tags included.
    OptionalField(Field),
    /// State, value: an element that is a scalar and can be nil, tags included.
    NillableField {
        field: Field,
        element: ElementId,
        optional: bool,
    },
    /// Value: an XML fragment, written as it is.
    Fragment,
    /// Marker, value: an attribute that is written if the marker says so.
    OptionalAttribute {
        open: Span,
        form: Form,
    },
    /// Value: a required attribute.
    Attribute {
        open: Span,
        form: Form,
    },
    /// Value: the attributes of a wildcard.
    AnyAttribute,
    /// Value of QNames: declares the prefixes it needs, does not write it yet.
    DeclareNames(Form),
    /// Presence: goes on, or to `absent`.
    Optional {
        absent: u32,
    },
    /// Presence, and if absent a value: goes on before the value, or to `absent` after it.
    OptionalValue {
        absent: u32,
    },
    /// Presence and state of an element that has a state: writes its start and enters its type, or goes to `done`.
    /// (`scoped`: what it declares is forgotten by a [`Op::Leave`].)
    State {
        element: ElementId,
        done: u32,
        scoped: bool,
    },
    /// The same where the element may be missing.
    OptionalState {
        element: ElementId,
        done: u32,
        scoped: bool,
    },
    /// Count: goes on that often, or to `done`.
    Repeat {
        done: u32,
    },
    /// The end of an occurrence, after constant markup: back to `body`, or on.
    Again {
        before: Span,
        body: u32,
    },
    /// Branch: goes to the target of the marker.
    Choice {
        targets: u32,
        count: u32,
    },
    /// Count, rows: an array of numbers or flat structs of numbers.
    Rows(u32),
    Jump(u32),
    Call(TypeId),
    Return,
    /// Remembers which namespaces are declared ...
    Enter,
    /// ... and forgets those declared since.
    Leave,
    /// Declares the namespaces an element needs.
    Declare(ElementId),
    /// A marker that no Plan writes led here.
    Misfit,
}

/// An element that is a scalar: what stands before it, its tags, its form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) before: Span,
    pub(crate) open: Span,
    pub(crate) close: Span,
    pub(crate) form: Form,
}

/// An array of flat rows: what stands before each number, and between and behind the rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) first: Span,
    /// The end of a row and the start of the next.
    pub(crate) between: Span,
    pub(crate) last: Span,
    /// The numbers of a row; what stands before the first is `first` or `between`.
    pub(crate) cells: Vec<(Span, Form)>,
    /// The form of the first number of a row; those of the others follow.
    pub(super) leaf: LeafRef,
    /// Bytes a row can take, copies of fixed size included.
    pub(crate) room: usize,
}

impl Program {
    pub(crate) fn compile(plan: &Plan) -> Self {
        let mut compiler = Compiler {
            plan,
            program: Self {
                ops: Vec::new(),
                steps: Steps::default(),
                literals: Vec::new(),
                targets: Vec::new(),
                tables: Vec::new(),
                types: Vec::with_capacity(plan.type_count()),
                forms: Vec::new(),
                form_of: Vec::new(),
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
        };
        compiler.namespaces();
        for index in 0..plan.type_count() as u32 {
            let entry = compiler.label();
            compiler.program.types.push(entry);
            compiler.close = 0;
            compiler.type_body(TypeId(index), 0);
            compiler.op(Op::Return);
        }
        let mut program = compiler.program;
        program.literals.extend([0; PAD]);
        program.steps = Steps::new(plan, &program);
        program
    }

    /// How the value of an instruction is written.
    #[inline]
    pub(super) fn leaf_of(&self, pc: u32) -> Option<LeafRef> {
        let leaf = self.form_of.get(pc as usize).copied().unwrap_or(NO_FORM);
        (leaf != NO_FORM).then_some(LeafRef(leaf))
    }

    /// Whether an instruction writes a table.
    pub(super) fn is_table(&self, pc: u32) -> bool {
        matches!(self.ops.get(pc as usize), Some(Op::Rows(_)))
    }

    /// Whether what follows the instruction belongs to it: the end tag of a value, or the QName whose namespace it declared
    /// (the text of a piece depends on no value behind it).
    pub(super) fn is_open_behind(&self, pc: u32) -> bool {
        let op = self.ops.get(pc as usize);
        matches!(
            op,
            Some(
                Op::Text(_) | Op::Signed(_) | Op::Double(_) | Op::Leaf { .. } | Op::DeclareNames(_)
            )
        )
    }

    /// A leaf form by number.
    #[inline]
    pub(super) fn form(&self, leaf: LeafRef) -> Option<&LeafForm> {
        self.forms.get(leaf.0 as usize)
    }

    /// The two stretches of a literal before and behind `at`.
    #[inline]
    pub(super) fn split(span: Span, at: usize) -> (Span, Span) {
        let at = span.length.min(at as u32);
        let (start, length) = (span.start + at, span.length - at);
        (Span { length: at, ..span }, Span { start, length })
    }

    /// Bytes that a row takes at most, with what stands between rows.
    pub(super) fn bytes_of_row(&self, table: &Table) -> usize {
        let cells = table.cells.iter().enumerate().map(|(index, (before, _))| {
            let form = self.form(LeafRef(table.leaf.0 + index as u32));
            before.len() + form.and_then(LeafForm::widest).unwrap_or(MAX_NUMBER)
        });
        table.between.len() + cells.sum::<usize>()
    }

    /// The bytes of a literal.
    #[inline]
    pub(crate) fn literal(&self, span: Span) -> &[u8] {
        self.literals
            .get(span.start as usize..(span.start + span.length) as usize)
            .unwrap_or_default()
    }

    /// The bytes from the start of a literal of at most [`PAD`] bytes, and its length.
    #[inline]
    pub(crate) fn padded(&self, span: Span) -> Option<(&[u8; PAD], usize)> {
        let padded = self.literals.get(span.start as usize..)?.first_chunk()?;
        (span.length as usize <= PAD).then_some((padded, span.length as usize))
    }

    /// The namespaces that an element's markup can need, as far as its declaration tells: not those
    /// of derived types, wildcards and values, and not those of what SOAP's own elements carry.
    pub(crate) fn namespaces_of(&self, plan: &Plan, root: ElementId) -> &[NamespaceId] {
        self.element_namespaces[root.index()].get_or_init(|| {
            let mut reach = Reach::new(plan, self);
            reach.element(root, false);
            reach.finish()
        })
    }

    /// The same of a type.
    pub(crate) fn namespaces_of_type(&self, plan: &Plan, ty: TypeId) -> &[NamespaceId] {
        self.type_namespaces[ty.index()].get_or_init(|| {
            let mut reach = Reach::new(plan, self);
            reach.types[ty.index()] = true;
            reach.todo.push(ty);
            reach.finish()
        })
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
    /// Bytes of the end tag of the element whose type is being copied; 0 if the type is compiled for all that have it.
    close: usize,
    /// Whether the element being compiled stands among text.
    is_in_mixed: bool,
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

    /// The literal collected so far, no instruction for it.
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
            self.program.ops.push(Op::Literal(span));
        }
    }

    fn op(&mut self, op: Op) -> usize {
        self.flush();
        self.program.ops.push(op);
        self.program.ops.len() - 1
    }

    /// The instruction added last writes a value of this form. (QNames have no form: they take more than their slot to write.)
    fn writes(&mut self, form: LeafForm) {
        if form.is_name() {
            return;
        }
        self.program
            .form_of
            .resize(self.program.ops.len() - 1, NO_FORM);
        self.program.form_of.push(self.program.forms.len() as u32);
        self.program.forms.push(form);
    }

    /// A value with the markup before it.
    fn leaf(&mut self, leaf: LeafId) {
        let form = Form::of(self.plan.leaf(leaf).kind);
        let before = self.take();
        self.program.ops.push(match form {
            Form::Text => Op::Text(before),
            Form::Signed => Op::Signed(before),
            Form::Double => Op::Double(before),
            form => Op::Leaf { before, form },
        });
        let holder = Holder::Element { close: self.close };
        self.writes(LeafForm::new(self.plan, leaf, holder, !self.is_in_mixed));
    }

    fn again(&mut self, body: u32) {
        let before = self.take();
        self.program.ops.push(Op::Again { before, body });
    }

    /// The instruction added last is a field.
    fn writes_field(&mut self, element: &Element) {
        if let Content::Simple(leaf) = self.plan.ty(element.ty).content {
            let holder = Holder::Element {
                close: element.close_tag.len(),
            };
            self.writes(LeafForm::new(self.plan, leaf, holder, !self.is_in_mixed));
        }
    }

    /// The form of an element that can be written by one instruction.
    fn field(&self, element: &Element) -> Option<Form> {
        let Content::Simple(leaf) = self.plan.ty(element.ty).content else {
            return None;
        };
        let form = Form::of(self.plan.leaf(leaf).kind);
        (element.is_scalar && !self.has_names(form)).then_some(form)
    }

    /// The tags of an element that is a scalar, apart from what stands before it.
    fn tags(&mut self, element: &Element, form: Form, start_end: &[u8]) -> Field {
        let before = self.take();
        self.text(&element.open_tag);
        self.text(start_end);
        let open = self.take();
        self.text(&element.close_tag);
        Field {
            before,
            open,
            close: self.take(),
            form,
        }
    }

    /// The place of the next instruction.
    fn label(&mut self) -> u32 {
        self.flush();
        self.program.ops.len() as u32
    }

    /// Lets the instruction at `at` jump here.
    fn land(&mut self, at: usize) {
        let here = self.label();
        match &mut self.program.ops[at] {
            Op::Optional { absent: to } | Op::OptionalValue { absent: to } => *to = here,
            Op::State { done: to, .. } | Op::OptionalState { done: to, .. } => *to = here,
            Op::Repeat { done: to } | Op::Jump(to) => *to = here,
            other => unreachable!("{other:?} does not jump"),
        }
    }

    /// Attributes, `>`, content.
    fn type_body(&mut self, id: TypeId, depth: usize) {
        let ty = self.plan.ty(id);
        let close = std::mem::take(&mut self.close);
        for attribute in ty.attribute_ids() {
            let attribute = self.plan.attribute(attribute);
            let form = Form::of(self.plan.leaf(attribute.leaf).kind);
            self.flush();
            self.text(&attribute.open);
            let open = self.take();
            self.op(if attribute.required {
                Op::Attribute { open, form }
            } else {
                Op::OptionalAttribute { open, form }
            });
            self.writes(LeafForm::new(
                self.plan,
                attribute.leaf,
                Holder::Attribute,
                false,
            ));
        }
        if ty.any_attribute.is_some() {
            self.op(Op::AnyAttribute);
        }
        match &ty.content {
            Content::Empty => self.text(b">"),
            Content::Simple(leaf) => {
                let form = Form::of(self.plan.leaf(*leaf).kind);
                if self.has_names(form) {
                    self.op(Op::DeclareNames(form));
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
        self.op(Op::Fragment);
        self.writes(LeafForm::xml());
    }

    fn has_names(&self, form: Form) -> bool {
        match form {
            Form::Name => true,
            Form::List(item) => self.plan.leaf(item).kind == LeafKind::Name,
            _ => false,
        }
    }

    /// A particle with its markers. `soap`: inside an element of SOAP itself.
    fn particle(&mut self, id: ParticleId, soap: bool, depth: usize) {
        let particle = self.plan.particle(id);
        if particle.repeats() {
            if let Term::Element(element) = particle.term
                && let Some(table) = self.table(element)
            {
                self.op(Op::Rows(table));
                return;
            }
            let repeat = self.op(Op::Repeat { done: 0 });
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

    /// A particle that may be missing.
    fn optional(&mut self, id: ParticleId, soap: bool, depth: usize) {
        let has_value = match &self.plan.particle(id).term {
            Term::Choice(_) => return self.occurrence(id, soap, depth),
            Term::Element(element) => {
                let declared = self.plan.element(*element);
                if declared.has_state {
                    return self.stateful(*element, true, soap);
                }
                let declares = soap && declared.role != Role::Soap;
                if !declares && let Some(form) = self.field(declared) {
                    let field = self.tags(declared, form, b">");
                    self.program.ops.push(Op::OptionalField(field));
                    self.writes_field(declared);
                    return;
                }
                declared.is_scalar
            }
            Term::Any(_) => true,
            Term::Sequence(_) | Term::All(_) => false,
        };
        let optional = self.op(if has_value {
            Op::OptionalValue { absent: 0 }
        } else {
            Op::Optional { absent: 0 }
        });
        self.occurrence(id, soap, depth);
        self.land(optional);
    }

    /// A term without the markers of its particle.
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
                let repeat = self.op(Op::Repeat { done: 0 });
                let body = self.label();
                self.branches(children, Some(Op::Misfit), |compiler, child| {
                    compiler.named(child, soap, depth);
                });
                self.again(body);
                self.land(repeat);
            }
        }
    }

    /// A child of an `all` or of mixed content: it is there by being named.
    fn named(&mut self, id: ParticleId, soap: bool, depth: usize) {
        if self.plan.particle(id).repeats() {
            self.particle(id, soap, depth);
        } else {
            self.occurrence(id, soap, depth);
        }
    }

    fn mixed(&mut self, elements: &[ParticleId], soap: bool, depth: usize) {
        let repeat = self.op(Op::Repeat { done: 0 });
        let body = self.label();
        // Each item is one element, however often its particle repeats.
        self.branches(
            elements,
            Some(Op::Text(Span::default())),
            |compiler, child| {
                compiler.occurrence(child, soap, depth);
            },
        );
        self.again(body);
        self.land(repeat);
    }

    /// A jump by marker: 0 to `zero` (or past all branches), `1 + i` to child `i`.
    fn branches(
        &mut self,
        children: &[ParticleId],
        zero: Option<Op>,
        branch: impl Fn(&mut Self, ParticleId),
    ) {
        // The targets of inner choices are added while this one is being compiled.
        let targets = self.program.targets.len();
        self.program.targets.resize(targets + 1 + children.len(), 0);
        self.op(Op::Choice {
            targets: targets as u32,
            count: 1 + children.len() as u32,
        });
        let mut ends = Vec::with_capacity(1 + children.len());
        if let Some(zero) = zero {
            self.program.targets[targets] = self.label();
            self.op(zero);
            if let Op::Text(_) = zero {
                self.writes(LeafForm::mixed_text());
            }
            ends.push(self.op(Op::Jump(0)));
        }
        for (index, &child) in children.iter().enumerate() {
            self.program.targets[targets + 1 + index] = self.label();
            branch(self, child);
            ends.push(self.op(Op::Jump(0)));
        }
        for end in ends {
            self.land(end);
        }
        if zero.is_none() {
            self.program.targets[targets] = self.label();
        }
    }

    /// An element that is there, or whose state marker says so.
    fn element(&mut self, id: ElementId, soap: bool, depth: usize) {
        let element = self.plan.element(id);
        if element.has_state {
            return self.stateful(id, false, soap);
        }
        let ty = self.plan.ty(element.ty);
        let declares = soap && element.role != Role::Soap;
        let scoped = declares || self.needs_scope(ty);
        if scoped {
            self.op(Op::Enter);
        }
        self.text(&element.open_tag);
        if declares {
            self.op(Op::Declare(id));
        }
        self.close = element.close_tag.len();
        self.value(element, depth);
        self.text(&element.close_tag);
        if scoped {
            self.op(Op::Leave);
        }
    }

    /// Attributes and content: copied if short, otherwise a call.
    fn value(&mut self, element: &Element, depth: usize) {
        if depth < INLINE_DEPTH && self.is_short(self.plan.ty(element.ty)) {
            self.type_body(element.ty, depth + 1);
        } else {
            self.close = 0;
            self.op(Op::Call(element.ty));
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

    /// An element with a state marker: the instruction writes the start tag, for what is in it
    /// depends on the marker.
    fn stateful(&mut self, id: ElementId, optional: bool, soap: bool) {
        let element = self.plan.element(id);
        let ty = self.plan.ty(element.ty);
        let declares = soap && element.role != Role::Soap;
        self.program.is_scope[id.index()] |= declares;
        if !declares && let Some(form) = self.field(element) {
            // The `>` of the start tag waits for `xsi:nil`.
            let field = self.tags(element, form, b"");
            self.program.ops.push(Op::NillableField {
                field,
                element: id,
                optional,
            });
            self.writes_field(element);
            return;
        }
        let scoped = declares || !ty.alternatives.is_empty() || self.needs_scope(ty);
        let (element, done) = (id, 0);
        let state = if optional {
            Op::OptionalState {
                element,
                done,
                scoped,
            }
        } else {
            Op::State {
                element,
                done,
                scoped,
            }
        };
        let state = self.op(state);
        self.text(&self.plan.element(id).close_tag);
        if scoped {
            self.op(Op::Leave);
        }
        self.land(state);
    }

    /// An array of this element as a table, if it is a row of numbers and nothing else.
    fn table(&mut self, id: ElementId) -> Option<u32> {
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
        let room = |span: Span| PAD + (span.length as usize).max(PAD);
        // The first number is counted with what stands between rows, as is every other with what precedes it.
        let room = room(between)
            + cells
                .iter()
                .skip(1)
                .map(|(before, _)| room(*before))
                .sum::<usize>();
        self.program.tables.push(Table {
            first,
            between,
            last,
            cells,
            leaf: LeafRef(self.program.forms.len() as u32),
            room,
        });
        self.program.forms.extend(leaves);
        Some(self.program.tables.len() as u32 - 1)
    }
}

/// The numbers of a row with the markup before each; what is left in `text` stands behind the last.
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

/// ` xmlns:prefix="uri"`; nothing where none is needed or possible.
fn declaration(prefix: &str, uri: &str) -> Box<[u8]> {
    let mut out = Vec::new();
    if !prefix.is_empty() && prefix != "xml" {
        declare(prefix, uri, &mut out);
    }
    out.into()
}

/// Appends ` xmlns:prefix="uri"`. A character that XML cannot carry is left out: no document can
/// have had it in a namespace.
pub(crate) fn declare(prefix: &str, uri: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b" xmlns:");
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(b"=\"");
    let allowed: String = uri
        .chars()
        .filter(|&c| bsoap_xml::is_char(c.into()))
        .collect();
    super::escape::value(allowed.as_bytes(), out).expect("only characters of XML are left");
    out.push(b'"');
}

/// A bounded walk over all that an element can contain.
struct Reach<'p> {
    plan: &'p Plan,
    program: &'p Program,
    found: Vec<bool>,
    types: Vec<bool>,
    todo: Vec<TypeId>,
}

impl<'p> Reach<'p> {
    fn new(plan: &'p Plan, program: &'p Program) -> Self {
        let found = vec![false; program.declarations.len().max(program.xsi.0 as usize + 1)];
        Self {
            plan,
            program,
            found,
            types: vec![false; plan.type_count()],
            todo: Vec::new(),
        }
    }

    fn finish(mut self) -> Box<[NamespaceId]> {
        while let Some(ty) = self.todo.pop() {
            self.ty(ty);
        }
        let found = self.found.iter().enumerate().filter(|(_, found)| **found);
        found
            .map(|(id, _)| NamespaceId(id as u32))
            .filter(|id| !self.program.declarations[id.0 as usize].is_empty())
            .collect()
    }

    fn name(&mut self, name: NameId) {
        let namespace = self.plan.vocabulary.namespace_of(name);
        self.found[namespace.0 as usize] = true;
    }

    fn element(&mut self, id: ElementId, soap: bool) {
        let element = self.plan.element(id);
        if soap && element.role != Role::Soap {
            return; // it declares its own
        }
        self.name(element.name);
        self.found[self.program.xsi.0 as usize] |= element.has_state;
        if !std::mem::replace(&mut self.types[element.ty.index()], true) {
            self.todo.push(element.ty);
        }
    }

    fn ty(&mut self, id: TypeId) {
        let ty = self.plan.ty(id);
        for attribute in ty.attribute_ids() {
            self.name(self.plan.attribute(attribute).name);
        }
        let soap = self.program.soap_types[id.index()];
        let (Content::Particle(particle) | Content::Mixed { particle, .. }) = ty.content else {
            return;
        };
        let mut particles = vec![particle];
        while let Some(id) = particles.pop() {
            match self.plan.particle(id).term {
                Term::Element(element) => self.element(element, soap),
                _ => particles.extend_from_slice(self.plan.children_of(id)),
            }
        }
    }
}
