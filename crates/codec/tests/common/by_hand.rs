//! Plans written by hand: a few words over `PlanBuilder`.

#![allow(dead_code, unreachable_pub)] // each test uses some of it

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, ParticleDef, ParticleId, PlanBuilder, Role,
    TermDef, TypeDef, TypeId, UNBOUNDED,
};
use bsoap_datatypes::{Datatype, SimpleType};

/// A Plan in the making.
#[derive(Default)]
pub(crate) struct Schema {
    pub builder: PlanBuilder,
}

/// How often a particle occurs.
pub(crate) const ONCE: (u32, u32) = (1, 1);
pub(crate) const OPTIONAL: (u32, u32) = (0, 1);
pub(crate) const MANY: (u32, u32) = (0, UNBOUNDED);

impl Schema {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn define(&mut self, def: TypeDef) -> TypeId {
        let id = self.builder.reserve_type();
        self.builder.define_type(id, def);
        id
    }

    /// A type without attributes.
    pub(crate) fn plain(content: Content) -> TypeDef {
        TypeDef {
            name: None,
            attributes: Vec::new(),
            any_attribute: None,
            content,
            alternatives: Vec::new(),
            base: None,
            is_abstract: false,
        }
    }

    /// A built-in simple type.
    pub(crate) fn simple(&mut self, datatype: Datatype) -> TypeId {
        let leaf = self.builder.leaf(&SimpleType::builtin(datatype));
        self.define(Self::plain(Content::Simple(leaf)))
    }

    pub(crate) fn complex(&mut self, particle: ParticleId) -> TypeId {
        self.define(Self::plain(Content::Particle(particle)))
    }

    pub(crate) fn attribute(
        &mut self,
        name: &str,
        datatype: Datatype,
        required: bool,
        default: Option<&str>,
    ) -> AttributeDef {
        let leaf = self.builder.leaf(&SimpleType::builtin(datatype));
        AttributeDef {
            name: self.builder.name("", name),
            leaf,
            required,
            default: default.map(str::to_owned),
            fixed: None,
        }
    }

    pub(crate) fn element(&mut self, namespace: &str, name: &str, ty: TypeId) -> ElementId {
        self.any_element(namespace, name, ty, false, Role::Application)
    }

    pub(crate) fn any_element(
        &mut self,
        namespace: &str,
        name: &str,
        ty: TypeId,
        nillable: bool,
        role: Role,
    ) -> ElementId {
        let name = self.builder.name(namespace, name);
        self.builder.element(ElementDef {
            name,
            ty,
            nillable,
            is_abstract: false,
            default: None,
            fixed: None,
            role,
        })
    }

    pub(crate) fn particle(&mut self, (min, max): (u32, u32), term: TermDef) -> ParticleId {
        self.builder.particle(ParticleDef { min, max, term })
    }

    /// A local element of a built-in type.
    pub(crate) fn field(
        &mut self,
        name: &str,
        datatype: Datatype,
        occurs: (u32, u32),
    ) -> ParticleId {
        let ty = self.simple(datatype);
        self.child(name, ty, occurs)
    }

    /// A local element.
    pub(crate) fn child(&mut self, name: &str, ty: TypeId, occurs: (u32, u32)) -> ParticleId {
        let element = self.element("", name, ty);
        self.particle(occurs, TermDef::Element(element))
    }

    pub(crate) fn sequence(&mut self, children: Vec<ParticleId>) -> ParticleId {
        self.particle(ONCE, TermDef::Sequence(children))
    }

    /// A complex type of these children, in order.
    pub(crate) fn record(&mut self, children: Vec<ParticleId>) -> TypeId {
        let particle = self.sequence(children);
        self.complex(particle)
    }

    pub(crate) fn finish(self) -> Arc<Plan> {
        Arc::new(self.builder.finish().expect("all types are defined"))
    }
}
