//! A sample value of an element, made from its schema: what a service without code answers.
//!
//! Everything that may be there is there once; of a choice the first branch is taken; recursion ends where the
//! schema lets it.

use std::sync::Arc;

use bsoap_codec::plan::{
    AttributeId, Content, ElementId, LeafId, LeafKind, Particle, ParticleId, Plan, Term, TypeId,
};
use bsoap_codec::{Object, Value};
use bsoap_datatypes::{Datatype, SimpleType, Variety, qname};

/// Deeper than this, what may be missing is missing.
const DEPTH: usize = 12;
/// A schema that asks for more than this many values gets no more optional ones.
const VALUES: usize = 2000;

/// A value of this element.
pub(crate) fn sample(plan: &Arc<Plan>, element: ElementId) -> Value {
    Sampler {
        plan,
        open: Vec::new(),
        values: 0,
    }
    .element(element)
}

struct Sampler<'p> {
    plan: &'p Plan,
    /// The types whose content is being made.
    open: Vec<TypeId>,
    values: usize,
}

impl Sampler<'_> {
    fn element(&mut self, id: ElementId) -> Value {
        self.values += 1;
        let element = self.plan.element(id);
        if let Some(fixed) = element.fixed.as_deref().or(element.default.as_deref()) {
            return Value::from(fixed);
        }
        let ends = self.is_deep() || self.open.contains(&element.ty);
        if ends && element.nillable {
            return Value::Nil;
        }
        let ty = self.plan.ty(element.ty);
        if ty.is_abstract {
            return self.derived(element.ty);
        }
        self.of_type(element.ty)
    }

    /// A value of a type derived from an abstract one.
    fn derived(&mut self, abstract_type: TypeId) -> Value {
        let alternatives = &self.plan.ty(abstract_type).alternatives;
        let Some(&actual) = alternatives
            .iter()
            .find(|&&ty| !self.plan.ty(ty).is_abstract)
        else {
            return Value::Nil;
        };
        let name = self.plan.ty(actual).name.map(|name| {
            let (namespace, local) = (
                self.plan.vocabulary().namespace(name),
                self.plan.vocabulary().local(name),
            );
            if namespace.is_empty() {
                local.to_owned()
            } else {
                format!("{{{namespace}}}{local}")
            }
        });
        match (self.of_type(actual), name) {
            (Value::Object(mut members), Some(name)) => {
                members.insert("@type", name);
                Value::Object(members)
            }
            (value, _) => value,
        }
    }

    fn of_type(&mut self, id: TypeId) -> Value {
        let plan = self.plan;
        let ty = plan.ty(id);
        self.open.push(id);
        let mut members = Object::new();
        for attribute in ty.attribute_ids() {
            self.attribute(attribute, &mut members);
        }
        let value = match &ty.content {
            Content::Simple(leaf) if members.is_empty() => self.leaf(*leaf),
            Content::Simple(leaf) => {
                members.insert("#text", self.leaf(*leaf));
                Value::Object(members)
            }
            Content::Particle(particle) | Content::Mixed { particle, .. } => {
                self.particle(*particle, &mut members);
                Value::Object(members)
            }
            Content::Any => Value::from("sample"),
            Content::Empty => Value::Object(members),
        };
        self.open.pop();
        value
    }

    fn attribute(&mut self, id: AttributeId, members: &mut Object) {
        let attribute = self.plan.attribute(id);
        let local = self.plan.vocabulary().local(attribute.name);
        // Attributes of SOAP itself say how a message is processed, and nothing about samples.
        let is_foreign = !self.plan.vocabulary().namespace(attribute.name).is_empty();
        if attribute.required || !(is_foreign || self.is_deep()) {
            let given = attribute.fixed.as_deref().or(attribute.default.as_deref());
            members.insert(
                format!("@{local}"),
                given.map_or_else(|| self.leaf(attribute.leaf), Value::from),
            );
        }
    }

    fn particle(&mut self, id: ParticleId, members: &mut Object) {
        let particle = self.plan.particle(id);
        if particle.max == 0 || (particle.min == 0 && self.is_left_out(particle)) {
            return;
        }
        match &particle.term {
            Term::Element(element) => self.child(*element, particle, members),
            Term::Sequence(children) | Term::All(children) => {
                for &child in self.plan.group(children) {
                    self.particle(child, members);
                }
            }
            Term::Choice(children) => {
                // A branch that leads back here would go on for ever.
                let leads_back =
                    |child: &&ParticleId| !self.is_left_out(self.plan.particle(**child));
                let children = self.plan.group(children);
                if let Some(&child) = children.iter().find(leads_back).or(children.first()) {
                    self.particle(child, members);
                }
            }
            Term::Any(_) if particle.min == 0 => {}
            Term::Any(_) => {
                let fragments = (0..particle.min.min(8))
                    .map(|_| Value::from("<sample/>"))
                    .collect();
                members.insert("#any", Value::Array(fragments));
            }
        }
    }

    fn child(&mut self, element: ElementId, particle: &Particle, members: &mut Object) {
        let name = self
            .plan
            .vocabulary()
            .local(self.plan.element(element).name)
            .to_owned();
        // Substitutes stand for what is abstract; a plan lists them as other branches.
        if self.plan.element(element).is_abstract && particle.min == 0 {
            return;
        }
        if particle.repeats() {
            let count = particle.min.clamp(1, 8);
            let values = (0..count).map(|_| self.element(element)).collect();
            members.insert(name, Value::Array(values));
        } else {
            let value = self.element(element);
            members.insert(name, value);
        }
    }

    /// Whether something optional is left out: it would go deeper than is sensible, or round in circles.
    fn is_left_out(&self, particle: &Particle) -> bool {
        match &particle.term {
            Term::Element(element) => {
                let element = self.plan.element(*element);
                self.is_deep() || element.is_abstract || self.open.contains(&element.ty)
            }
            _ => self.is_deep(),
        }
    }

    fn is_deep(&self) -> bool {
        self.open.len() > DEPTH || self.values > VALUES
    }

    fn leaf(&self, id: LeafId) -> Value {
        let leaf = self.plan.leaf(id);
        match leaf.kind {
            LeafKind::List(item) => Value::Array(vec![self.leaf(item)]),
            _ => Value::from(lexical_form(&leaf.simple)),
        }
    }
}

/// A text that is a value of this type, facets included where one can be found.
fn lexical_form(simple: &SimpleType) -> String {
    let is_valid = |form: &&String| simple.check(form, &qname::NoNamespaces).is_ok();
    let candidates = candidates(simple);
    candidates
        .iter()
        .find(is_valid)
        .or(candidates.first())
        .cloned()
        .unwrap_or_default()
}

fn candidates(simple: &SimpleType) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    let facets = simple.facets();
    if let Some(enumeration) = facets.enumeration() {
        forms.extend(enumeration.lexical_forms().map(str::to_owned));
    }
    match simple.variety() {
        Variety::Atomic(datatype) => {
            forms.extend(examples(*datatype).iter().map(|&form| form.to_owned()));
        }
        Variety::List(item) => forms.push(lexical_form(item)),
        Variety::Union(members) => forms.extend(members.iter().map(|member| lexical_form(member))),
    }
    forms.extend(
        [facets.min(), facets.max()]
            .into_iter()
            .flatten()
            .map(|bound| bound.lexical().to_owned()),
    );
    let length = facets
        .length()
        .or(facets.min_length())
        .or(facets.max_length())
        .unwrap_or(0)
        .min(4096) as usize;
    forms.extend(["s", "S", "0", "1", "AB"].map(|unit| unit.repeat(length)));
    forms
}

/// Values of the built-in types.
fn examples(datatype: Datatype) -> &'static [&'static str] {
    match datatype.primitive() {
        Datatype::Boolean => &["true"],
        Datatype::Decimal => &["1", "-1", "0"],
        Datatype::Float | Datatype::Double => &["1.5", "0", "1"],
        Datatype::Duration => &["P1D"],
        Datatype::DateTime => &["2025-01-01T12:00:00Z"],
        Datatype::Time => &["12:00:00"],
        Datatype::Date => &["2025-01-01"],
        Datatype::GYearMonth => &["2025-01"],
        Datatype::GYear => &["2025"],
        Datatype::GMonthDay => &["--01-01"],
        Datatype::GDay => &["---01"],
        Datatype::GMonth => &["--01"],
        Datatype::HexBinary => &["00"],
        // What building takes is octets in base64.
        Datatype::Base64Binary => &["c2FtcGxl"],
        Datatype::AnyUri => &["urn:sample"],
        Datatype::QName | Datatype::Notation => &["sample"],
        _ => &[
            "sample",
            "en",
            "s",
            "A",
            "a",
            "1",
            "0",
            "12345",
            "AB",
            "a@b.example",
            "2025-01-01",
            "00000000-0000-0000-0000-000000000000",
        ],
    }
}
