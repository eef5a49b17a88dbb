//! Shorthands for building Plans by hand.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, ParticleDef, ParticleId, PlanBuilder, Role,
    TermDef, TypeDef, TypeId, Wildcard,
};
use bsoap_datatypes::{Datatype, SimpleType};

/// A [`PlanBuilder`] with shorthands. Types can be amended by [`PlanBuilder::type_mut`].
#[derive(Default)]
pub struct Schema(pub PlanBuilder);

impl Schema {
    pub fn new() -> Self {
        Self::default()
    }

    /// A type without attributes.
    pub fn ty(&mut self, content: Content) -> TypeId {
        let id = self.0.reserve_type();
        self.define(id, content);
        id
    }

    pub fn define(&mut self, id: TypeId, content: Content) {
        let def = TypeDef {
            name: None,
            attributes: Vec::new(),
            any_attribute: None,
            content,
            alternatives: Vec::new(),
            base: None,
            is_abstract: false,
        };
        self.0.define_type(id, def);
    }

    pub fn amend(&mut self, id: TypeId) -> &mut TypeDef {
        self.0.type_mut(id).expect("the type is defined")
    }

    pub fn simple(&mut self, simple: &Arc<SimpleType>) -> TypeId {
        let leaf = self.0.leaf(simple);
        self.ty(Content::Simple(leaf))
    }

    pub fn builtin(&mut self, datatype: Datatype) -> TypeId {
        self.simple(&SimpleType::builtin(datatype))
    }

    /// A type of elements one after the other.
    pub fn structure(&mut self, children: Vec<ParticleId>) -> TypeId {
        let sequence = self.sequence(1, 1, children);
        self.ty(Content::Particle(sequence))
    }

    pub fn mixed(&mut self, particle: ParticleId) -> TypeId {
        self.ty(Content::Mixed {
            particle,
            elements: 0..0,
        })
    }

    /// An element in no namespace.
    pub fn element(&mut self, name: &str, ty: TypeId) -> ElementId {
        self.element_in("", name, ty)
    }

    pub fn element_in(&mut self, namespace: &str, name: &str, ty: TypeId) -> ElementId {
        self.element_with(namespace, name, ty, |_| {})
    }

    pub fn element_with(
        &mut self,
        namespace: &str,
        name: &str,
        ty: TypeId,
        amend: impl FnOnce(&mut ElementDef),
    ) -> ElementId {
        let name = self.0.name(namespace, name);
        let mut def = ElementDef {
            name,
            ty,
            nillable: false,
            is_abstract: false,
            default: None,
            fixed: None,
            role: Role::Application,
        };
        amend(&mut def);
        self.0.element(def)
    }

    pub fn attribute(&mut self, name: &str, datatype: Datatype) -> AttributeDef {
        let leaf = self.0.leaf(&SimpleType::builtin(datatype));
        let name = self.0.name("", name);
        AttributeDef {
            name,
            leaf,
            required: false,
            default: None,
            fixed: None,
        }
    }

    pub fn particle(&mut self, min: u32, max: u32, term: TermDef) -> ParticleId {
        self.0.particle(ParticleDef { min, max, term })
    }

    pub fn of(&mut self, min: u32, max: u32, element: ElementId) -> ParticleId {
        self.particle(min, max, TermDef::Element(element))
    }

    pub fn any(&mut self, min: u32, max: u32, wildcard: Wildcard) -> ParticleId {
        self.particle(min, max, TermDef::Any(wildcard))
    }

    pub fn sequence(&mut self, min: u32, max: u32, children: Vec<ParticleId>) -> ParticleId {
        self.particle(min, max, TermDef::Sequence(children))
    }

    pub fn choice(&mut self, min: u32, max: u32, children: Vec<ParticleId>) -> ParticleId {
        self.particle(min, max, TermDef::Choice(children))
    }

    pub fn all(&mut self, min: u32, children: Vec<ParticleId>) -> ParticleId {
        self.particle(min, 1, TermDef::All(children))
    }

    /// A child with a simple value.
    pub fn field(&mut self, min: u32, max: u32, name: &str, datatype: Datatype) -> ParticleId {
        let ty = self.builtin(datatype);
        let element = self.element(name, ty);
        self.of(min, max, element)
    }

    /// The Plan, with one more element: its root, of these children.
    pub fn rooted(mut self, name: &str, children: Vec<ParticleId>) -> (Arc<Plan>, ElementId) {
        let ty = self.structure(children);
        let root = self.element(name, ty);
        (self.finish(), root)
    }

    pub fn finish(self) -> Arc<Plan> {
        Arc::new(self.0.finish().expect("all types are defined"))
    }
}
