//! Random plans. Names within a content model differ, so that the model is deterministic.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::{
    AttributeDef, Content, ElementId, NamespaceConstraint, ParticleId, ProcessContents, TermDef,
    TypeId, UNBOUNDED, Wildcard,
};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};

use crate::random::Random;
use crate::schema::{MANY, ONCE, OPTIONAL, Occurs, Schema};

/// The namespaces of random plans.
const NAMESPACES: [&str; 3] = ["", "urn:a", "urn:b"];
/// The namespace that wildcards allow.
pub(crate) const WILD: &str = "urn:wild";

const BUILTINS: [Datatype; 20] = [
    Datatype::String,
    Datatype::Token,
    Datatype::NormalizedString,
    Datatype::AnyUri,
    Datatype::Int,
    Datatype::Int,
    Datatype::Long,
    Datatype::Byte,
    Datatype::UnsignedLong,
    Datatype::UnsignedByte,
    Datatype::Double,
    Datatype::Double,
    Datatype::Float,
    Datatype::Boolean,
    Datatype::Decimal,
    Datatype::Date,
    Datatype::DateTime,
    Datatype::Base64Binary,
    Datatype::HexBinary,
    Datatype::QName,
];

/// The random plan of a seed, and its root element.
pub fn random_plan(seed: u64) -> (Arc<Plan>, ElementId) {
    let mut maker = Maker::new(seed);
    let ty = maker.complex(4);
    let root = maker.schema.element_in("urn:a", "root", ty);
    (maker.schema.finish(), root)
}

/// The same plan with its root in the body of an envelope whose header may hold anything.
pub fn random_envelope_plan(seed: u64) -> (Arc<Plan>, ElementId) {
    let mut maker = Maker::new(seed);
    let ty = maker.complex(4);
    let schema = &mut maker.schema;
    let root = schema.element_in("urn:a", "root", ty);
    let anything = Wildcard {
        namespaces: NamespaceConstraint::Any,
        process: ProcessContents::Skip,
    };
    let blocks = schema.any(MANY, anything);
    let header = schema.structure(vec![blocks]);
    let header = schema.element("Header", header);
    let header = schema.of(OPTIONAL, header);
    let root = schema.of(ONCE, root);
    let body = schema.structure(vec![root]);
    let body = schema.element("Body", body);
    let body = schema.of(ONCE, body);
    let envelope = schema.structure(vec![header, body]);
    let envelope = schema.element("Envelope", envelope);
    (maker.schema.finish(), envelope)
}

struct Maker {
    random: Random,
    schema: Schema,
    /// Types whose definition is not finished: elements inside may refer to them.
    open: Vec<TypeId>,
    names: usize,
    types: usize,
}

impl Maker {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            schema: Schema::new(),
            open: Vec::new(),
            names: 0,
            types: 0,
        }
    }

    fn simple(&mut self) -> Arc<SimpleType> {
        let builtin = SimpleType::builtin(*self.random.pick(&BUILTINS));
        match self.random.below(20) {
            0 => SimpleType::list_of(&SimpleType::builtin(*self.random.pick(&[
                Datatype::Int,
                Datatype::Double,
                Datatype::Token,
            ])))
            .expect("a list of atoms"),
            1 => SimpleType::union_of(&[
                SimpleType::builtin(Datatype::Int),
                SimpleType::builtin(Datatype::Date),
            ])
            .expect("a union of atoms"),
            2 => {
                let facets = [
                    Facet::new(FacetName::Enumeration, "red"),
                    Facet::new(FacetName::Enumeration, "green"),
                ];
                SimpleType::restrict(
                    &SimpleType::builtin(Datatype::Token),
                    &facets,
                    &NoNamespaces,
                )
                .expect("an enumeration")
            }
            3 => {
                let facets = [Facet::new(FacetName::MaxInclusive, "100")];
                SimpleType::restrict(&SimpleType::builtin(Datatype::Int), &facets, &NoNamespaces)
                    .expect("a range")
            }
            _ => builtin,
        }
    }

    fn ty(&mut self, depth: usize) -> TypeId {
        if depth == 0 || self.random.chance(50) {
            let simple = self.simple();
            return self.schema.simple(&simple);
        }
        self.complex(depth)
    }

    fn complex(&mut self, depth: usize) -> TypeId {
        let id = self.schema.builder.reserve_type();
        self.open.push(id);
        let content = match self.random.below(20) {
            0 => Content::Empty,
            1 | 2 => {
                let simple = self.simple();
                Content::Simple(self.schema.builder.leaf(&simple))
            }
            3 => Content::Any,
            4 | 5 => Content::Mixed {
                particle: self.group(depth),
                elements: 0..0,
            },
            6 => {
                let children = (0..1 + self.random.below(4))
                    .map(|_| self.child(depth))
                    .collect();
                let min = self.random.below(2) as u32;
                Content::Particle(self.schema.all(min, children))
            }
            _ => Content::Particle(self.group(depth)),
        };
        self.schema.define(id, content);
        self.attributes(id);
        self.open.pop();
        if self.random.chance(10) {
            self.alternatives(id);
        }
        id
    }

    fn attributes(&mut self, id: TypeId) {
        for index in 0..self.random.below(5).saturating_sub(2) {
            let simple = self.simple();
            let leaf = self.schema.builder.leaf(&simple);
            let namespace = if self.random.chance(20) { "urn:b" } else { "" };
            let name = self.schema.builder.name(namespace, &format!("at{index}"));
            let required = self.random.chance(30);
            let attribute = AttributeDef {
                name,
                leaf,
                required,
                default: None,
                fixed: None,
            };
            self.schema.amend(id).attributes.push(attribute);
        }
        if self.random.chance(10) {
            let default = self.schema.attribute("defaulted", Datatype::Int);
            self.schema.amend(id).attributes.push(AttributeDef {
                default: Some("7".into()),
                ..default
            });
        }
        if self.random.chance(10) {
            self.schema.amend(id).any_attribute = Some(wildcard());
        }
    }

    /// Adds a derived type that `xsi:type` may choose instead of this one.
    fn alternatives(&mut self, id: TypeId) {
        self.types += 1;
        let other = self.ty(0);
        let (first, second) = (
            format!("Base{}", self.types),
            format!("Derived{}", self.types),
        );
        let name = self.schema.builder.name("urn:a", &first);
        let base = self.schema.amend(id);
        base.name = Some(name);
        base.alternatives = vec![id, other];
        let name = self.schema.builder.name("urn:a", &second);
        let derived = self.schema.amend(other);
        derived.name = Some(name);
        derived.base = Some(id);
    }

    /// A child that occurs at most once.
    fn child(&mut self, depth: usize) -> ParticleId {
        let element = self.element(depth);
        let min = self.random.below(2) as u32;
        self.schema.of((min, 1), element)
    }

    fn element(&mut self, depth: usize) -> ElementId {
        self.names += 1;
        let name = format!("e{}", self.names);
        let namespace = *self.random.pick(&NAMESPACES);
        let ty = self.ty(depth.saturating_sub(1));
        let nillable = self.random.chance(10);
        let default = self.random.chance(5);
        self.schema.element_with(namespace, &name, ty, |def| {
            def.nillable = nillable;
            // Wrong for many types: then every way to decode must report the same error.
            def.default = default.then(|| "42".to_owned());
        })
    }

    fn recursive(&mut self) -> ElementId {
        self.names += 1;
        let (name, ty) = (
            format!("r{}", self.names),
            *self.random.pick(&self.open.clone()),
        );
        self.schema.element(&name, ty)
    }

    fn bounds(&mut self) -> Occurs {
        *self
            .random
            .pick(&[ONCE, ONCE, OPTIONAL, OPTIONAL, MANY, (1, UNBOUNDED), (2, 3)])
    }

    fn group(&mut self, depth: usize) -> ParticleId {
        let has_wildcard = self.random.chance(15);
        let count = 1 + self.random.below(5);
        let mut children: Vec<ParticleId> = (0..count)
            .map(|_| {
                let occurs = self.bounds();
                match self.random.below(12) {
                    0 if depth > 0 => self.group(depth - 1),
                    1 => {
                        let element = self.recursive();
                        self.schema.of((0, occurs.1), element)
                    }
                    _ => {
                        let element = self.element(depth);
                        self.schema.of(occurs, element)
                    }
                }
            })
            .collect();
        if has_wildcard {
            let occurs = *self.random.pick(&[OPTIONAL, MANY, ONCE]);
            children.push(self.schema.any(occurs, wildcard()));
        }
        let occurs = *self.random.pick(&[ONCE, ONCE, ONCE, OPTIONAL, MANY]);
        let term = if self.random.chance(25) {
            TermDef::Choice(children)
        } else {
            TermDef::Sequence(children)
        };
        self.schema.particle(occurs, term)
    }
}

fn wildcard() -> Wildcard {
    Wildcard {
        namespaces: NamespaceConstraint::OneOf(vec![WILD.into()]),
        process: ProcessContents::Skip,
    }
}
