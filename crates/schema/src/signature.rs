//! Operations as text for people: a signature on one line, or a tree with every type expanded.
//!
//! ```text
//! Divide(dividend: xsd:int, divisor?: xsd:int) -> quotient: xsd:int, remainder: xsd:int
//! ```
//!
//! `name?` is optional, `type[]` repeats, `type | nil` is nillable, `(a | b)` is a choice, `@name` is an attribute, and `type*`
//! has derived types that `xsi:type` may name.

use std::fmt::Write as _;

use bsoap_codec::plan::{Content, ElementId, LeafId, Particle, ParticleId, Plan, Term, TypeId};
use bsoap_datatypes::{SimpleType, Variety};
use bsoap_xml::NameId;

use crate::XSD_NAMESPACE;
use crate::definitions::{Body, Definitions, Message, Operation, SoapVersion};
use crate::limits::{EXPANDED_DEPTH, EXPANDED_LINES, INLINE_DEPTH};

impl Definitions {
    /// An operation on one line: `Add(a: xsd:int, b: xsd:int) -> result: xsd:int`. Without an arrow it is one-way.
    pub fn signature(&self, operation: &Operation) -> String {
        let line = Line { plan: self.plan() };
        let input = line.message(&operation.input);
        match &operation.output {
            Some(output) => format!(
                "{}({input}) -> {}",
                operation.name,
                some_or_nothing(line.message(output))
            ),
            None => format!("{}({input})", operation.name),
        }
    }

    /// A message as a tree, a line for each child, attribute and header block. Types are expanded except for recursion.
    pub fn expanded(&self, message: &Message) -> String {
        let mut tree = Tree {
            plan: self.plan(),
            out: String::new(),
            lines: 0,
            open: Vec::new(),
        };
        tree.message(message);
        tree.out
    }

    /// The name of a type as `prefix:local`, with the prefix that the Plan writes; `None` for anonymous types.
    pub fn type_name(&self, ty: TypeId) -> Option<String> {
        self.plan()
            .ty(ty)
            .name
            .map(|name| spelled(self.plan(), name))
    }
}

fn some_or_nothing(text: String) -> String {
    if text.is_empty() {
        "()".to_owned()
    } else {
        text
    }
}

fn spelled(plan: &Plan, name: NameId) -> String {
    qualified(
        plan,
        plan.vocabulary().namespace(name),
        plan.vocabulary().local(name),
    )
}

/// Whether the name is one of SOAP: such attributes are not shown, because every header block can have them.
fn is_soap(plan: &Plan, name: NameId) -> bool {
    let namespace = plan.vocabulary().namespace(name);
    [SoapVersion::Soap11, SoapVersion::Soap12]
        .iter()
        .any(|version| version.envelope_namespace() == namespace)
}

/// The name of a simple type, or its definition if it is anonymous.
fn leaf_label(plan: &Plan, leaf: LeafId) -> String {
    simple_label(plan, &plan.leaf(leaf).simple)
}

fn simple_label(plan: &Plan, simple: &SimpleType) -> String {
    // The name nearest to the type: an anonymous restriction goes by its base. (Derivation depth is bounded where types are made.)
    let mut simple = simple;
    loop {
        if let Some(name) = simple.name() {
            return qualified(plan, name.namespace().unwrap_or(""), name.local());
        }
        match (simple.variety(), simple.base()) {
            (Variety::List(item), _) => return format!("list of {}", simple_label(plan, item)),
            (Variety::Union(_), _) => return "xsd:anySimpleType".to_owned(),
            (Variety::Atomic(_), Some(base)) => simple = base,
            (Variety::Atomic(datatype), None) => return format!("xsd:{}", datatype.name()),
        }
    }
}

fn qualified(plan: &Plan, namespace: &str, local: &str) -> String {
    let prefix = match namespace {
        XSD_NAMESPACE => "xsd",
        _ => plan
            .vocabulary()
            .namespace_id(namespace)
            .map_or("", |id| plan.prefix(id)),
    };
    if prefix.is_empty() {
        local.to_owned()
    } else {
        format!("{prefix}:{local}")
    }
}

fn local(plan: &Plan, element: ElementId) -> &str {
    plan.vocabulary().local(plan.element(element).name)
}

/// The name of a type; `None` for an anonymous type that must be expanded.
fn type_label(plan: &Plan, ty: TypeId) -> Option<String> {
    let def = plan.ty(ty);
    let derived = if def.alternatives.len() > 1 { "*" } else { "" };
    if let Some(name) = def.name {
        return Some(format!("{}{derived}", spelled(plan, name)));
    }
    match def.content {
        Content::Any => Some("xsd:anyType".to_owned()),
        Content::Simple(leaf) if def.attributes.is_empty() => Some(leaf_label(plan, leaf)),
        _ => None,
    }
}

fn occurrence(particle: &Particle) -> (&'static str, &'static str) {
    let repeats = if particle.repeats() { "[]" } else { "" };
    let optional = if particle.min == 0 && !particle.repeats() {
        "?"
    } else {
        ""
    };
    (optional, repeats)
}

/// Writes signatures on one line.
struct Line<'p> {
    plan: &'p Plan,
}

impl Line<'_> {
    fn message(&self, message: &Message) -> String {
        match &message.body {
            Body::Empty => String::new(),
            Body::Wrapped { wrapper } => self.content(self.plan.element(*wrapper).ty, INLINE_DEPTH),
            Body::Bare { parts } | Body::Rpc { parts, .. } => {
                let part = |part: &crate::definitions::Part| {
                    format!("{}: {}", part.name, self.value(part.element, INLINE_DEPTH))
                };
                parts.iter().map(part).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// The type of an element, expanded if it is anonymous.
    fn value(&self, element: ElementId, depth: usize) -> String {
        let def = self.plan.element(element);
        let label = type_label(self.plan, def.ty).unwrap_or_else(|| match depth {
            0 => "{…}".to_owned(),
            _ => format!("{{{}}}", self.content(def.ty, depth - 1)),
        });
        if def.nillable {
            format!("{label} | nil")
        } else {
            label
        }
    }

    /// Attributes and children of a type.
    fn content(&self, ty: TypeId, depth: usize) -> String {
        let def = self.plan.ty(ty);
        let attribute = |id| {
            let attribute = self.plan.attribute(id);
            let optional = if attribute.required { "" } else { "?" };
            format!(
                "@{}{optional}: {}",
                self.plan.vocabulary().local(attribute.name),
                leaf_label(self.plan, attribute.leaf)
            )
        };
        let mut items: Vec<String> = def.attribute_ids().map(attribute).collect();
        match &def.content {
            Content::Empty => {}
            Content::Simple(leaf) => items.push(format!("#text: {}", leaf_label(self.plan, *leaf))),
            Content::Particle(particle) => items.extend(self.particle(*particle, depth)),
            Content::Mixed { particle, .. } => {
                items.push("#mixed".to_owned());
                items.extend(self.particle(*particle, depth));
            }
            Content::Any => items.push("#any".to_owned()),
        }
        items.join(", ")
    }

    fn particle(&self, id: ParticleId, depth: usize) -> Option<String> {
        let particle = self.plan.particle(id);
        let (optional, repeats) = occurrence(particle);
        let joined = |separator: &str| {
            let children = self
                .plan
                .children_of(id)
                .iter()
                .filter_map(|&child| self.particle(child, depth));
            children.collect::<Vec<_>>().join(separator)
        };
        let text = match &particle.term {
            Term::Element(element) => {
                let value = self.value(*element, depth);
                let value = if repeats.is_empty() || !value.contains(" | ") {
                    value
                } else {
                    format!("({value})")
                };
                return Some(format!(
                    "{}{optional}: {value}{repeats}",
                    local(self.plan, *element)
                ));
            }
            Term::Any(_) => return Some(format!("#any{optional}{repeats}")),
            Term::Choice(_) => format!("({}){optional}{repeats}", joined(" | ")),
            Term::Sequence(_) | Term::All(_) => match (joined(", "), optional, repeats) {
                (text, "", "") => text,
                (text, ..) => format!("({text}){optional}{repeats}"),
            },
        };
        (!text.is_empty() && !text.starts_with("()")).then_some(text)
    }
}

/// Writes trees with a line for each child.
struct Tree<'p> {
    plan: &'p Plan,
    out: String,
    lines: usize,
    /// The types around the current line.
    open: Vec<TypeId>,
}

impl Tree<'_> {
    fn message(&mut self, message: &Message) {
        for header in &message.headers {
            self.element(header.element, 0, "header ", "", "");
        }
        match &message.body {
            Body::Empty => {}
            Body::Wrapped { wrapper } => self.content(self.plan.element(*wrapper).ty, 0),
            Body::Bare { parts } | Body::Rpc { parts, .. } => {
                for part in parts {
                    self.element(part.element, 0, "", "", "");
                }
            }
        }
    }

    fn line(&mut self, depth: usize, text: &str) -> bool {
        self.lines += 1;
        if self.lines > EXPANDED_LINES {
            if self.lines == EXPANDED_LINES + 1 {
                self.out.push_str("…\n");
            }
            return false;
        }
        let _ = writeln!(self.out, "{:width$}{text}", "", width = depth * 2);
        true
    }

    fn element(
        &mut self,
        element: ElementId,
        depth: usize,
        before: &str,
        optional: &str,
        repeats: &str,
    ) {
        let def = self.plan.element(element);
        let label = type_label(self.plan, def.ty);
        let nil = if def.nillable { " | nil" } else { "" };
        let has_children = self.has_children(def.ty);
        let cut = has_children && (self.open.contains(&def.ty) || depth >= EXPANDED_DEPTH);
        let end = match (has_children, cut) {
            (true, true) => " {…}",
            (true, false) => " {",
            (false, _) => "",
        };
        let colon = if label.is_some() || !nil.is_empty() || !repeats.is_empty() {
            ": "
        } else {
            ""
        };
        let head = format!(
            "{before}{}{optional}{colon}{}{repeats}{nil}{end}",
            local(self.plan, element),
            label.unwrap_or_default()
        );
        if !self.line(depth, &head) || !has_children || cut {
            return;
        }
        self.content(def.ty, depth + 1);
        self.line(depth, "}");
    }

    fn has_children(&self, ty: TypeId) -> bool {
        let def = self.plan.ty(ty);
        let has_content = match &def.content {
            Content::Particle(particle) => self.occurs(*particle),
            Content::Mixed { .. } => true,
            Content::Empty | Content::Simple(_) | Content::Any => false,
        };
        let is_own = |id| !is_soap(self.plan, self.plan.attribute(id).name);
        has_content || def.attribute_ids().any(is_own)
    }

    fn occurs(&self, particle: ParticleId) -> bool {
        match self.plan.particle(particle).term {
            Term::Element(_) | Term::Any(_) => true,
            _ => !self.plan.children_of(particle).is_empty(),
        }
    }

    fn content(&mut self, ty: TypeId, depth: usize) {
        self.open.push(ty);
        let def = self.plan.ty(ty);
        for id in def.attribute_ids() {
            let attribute = self.plan.attribute(id);
            if is_soap(self.plan, attribute.name) {
                continue;
            }
            let optional = if attribute.required { "" } else { "?" };
            let name = self.plan.vocabulary().local(attribute.name);
            let text = format!(
                "@{name}{optional}: {}",
                leaf_label(self.plan, attribute.leaf)
            );
            self.line(depth, &text);
        }
        match &def.content {
            Content::Simple(leaf) => {
                let text = format!("#text: {}", leaf_label(self.plan, *leaf));
                self.line(depth, &text);
            }
            Content::Empty | Content::Any => {}
            Content::Particle(particle) => self.particle(*particle, depth, true),
            Content::Mixed { particle, .. } => {
                self.line(depth, "#mixed");
                self.particle(*particle, depth, true);
            }
        }
        self.open.pop();
    }

    /// `plain`: a sequence needs no line of its own here.
    fn particle(&mut self, id: ParticleId, depth: usize, plain: bool) {
        let particle = self.plan.particle(id);
        let (optional, repeats) = occurrence(particle);
        let (word, inner) = match &particle.term {
            Term::Element(element) => return self.element(*element, depth, "", optional, repeats),
            Term::Any(_) => {
                self.line(depth, &format!("#any{optional}{repeats}"));
                return;
            }
            Term::Choice(_) => ("one of", depth + 1),
            Term::Sequence(_) | Term::All(_) if plain && particle.is_required_once() => ("", depth),
            Term::Sequence(_) | Term::All(_) => ("together", depth + 1),
        };
        if self.plan.children_of(id).is_empty()
            || (!word.is_empty() && !self.line(depth, &format!("{word}{optional}{repeats} (")))
        {
            return;
        }
        for &child in self.plan.children_of(id) {
            // The recursion is bounded: the loader limits the nesting depth of groups.
            self.particle(child, inner, word.is_empty());
        }
        if !word.is_empty() {
            self.line(depth, ")");
        }
    }
}
