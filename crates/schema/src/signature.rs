//! Operations on one line, for people.
//!
//! ```text
//! Divide(dividend: xsd:int, divisor?: xsd:int) -> quotient: xsd:int, remainder: xsd:int
//! ```
//!
//! `name?` is optional, `type[]` repeats, `type | nil` is nillable, `(a | b)` is a choice, `@name` is an attribute, and `type*`
//! has derived types that `xsi:type` may name. `outline.rs` has the whole message.

use bsoap_codec::plan::{Content, ElementId, ParticleId, Plan, Term, TypeId};

use crate::definitions::{Body, Definitions, Message, Operation};
use crate::label::{leaf_label, local, occurrence, spelled, type_label};
use crate::limits::INLINE_DEPTH;

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
