//! Plans built in a few lines.

use std::sync::Arc;

use bsoap_codec::Plan;
use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, ParticleDef, ParticleId, PlanBuilder, Role,
    TermDef, TypeDef, TypeId, UNBOUNDED, Wildcard,
};
use bsoap_datatypes::{Datatype, SimpleType};

/// `minOccurs` and `maxOccurs` of a particle.
pub type Occurs = (u32, u32);
/// Exactly once.
pub const ONCE: Occurs = (1, 1);
/// At most once.
pub const OPTIONAL: Occurs = (0, 1);
/// Any number of times, also none.
pub const MANY: Occurs = (0, UNBOUNDED);

/// A [`PlanBuilder`] with a method for each common construct.
#[derive(Default)]
pub struct Schema {
    /// For what has no method here.
    pub builder: PlanBuilder,
}

impl Schema {
    /// A schema without types and elements.
    pub fn new() -> Self {
        Self::default()
    }

    /// The plan of all that was added.
    pub fn finish(self) -> Arc<Plan> {
        Arc::new(self.builder.finish().expect("all types are defined"))
    }

    /// The plan, with one more element: its root, a sequence of these children.
    pub fn rooted(mut self, name: &str, children: Vec<ParticleId>) -> (Arc<Plan>, ElementId) {
        let ty = self.structure(children);
        let root = self.element(name, ty);
        (self.finish(), root)
    }

    /// The same with a root in the namespace `urn:mesh`, written with the prefix `m`.
    pub fn rooted_in_mesh(
        mut self,
        name: &str,
        children: Vec<ParticleId>,
    ) -> (Arc<Plan>, ElementId) {
        let ty = self.structure(children);
        let root = self.element_in("urn:mesh", name, ty);
        self.builder.prefix("urn:mesh", "m");
        (self.finish(), root)
    }
}

/// Types.
impl Schema {
    /// The definition of an anonymous type without attributes.
    pub fn plain(content: Content) -> TypeDef {
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

    /// Adds a type.
    pub fn add_type(&mut self, def: TypeDef) -> TypeId {
        let id = self.builder.reserve_type();
        self.builder.define_type(id, def);
        id
    }

    /// Adds an anonymous type without attributes.
    pub fn ty(&mut self, content: Content) -> TypeId {
        self.add_type(Self::plain(content))
    }

    /// Defines a reserved type: one that refers to itself is reserved first.
    pub fn define(&mut self, id: TypeId, content: Content) {
        self.builder.define_type(id, Self::plain(content));
    }

    /// The definition of a type that was added, to be changed.
    pub fn amend(&mut self, id: TypeId) -> &mut TypeDef {
        self.builder.type_mut(id).expect("the type is defined")
    }

    /// Adds a simple type.
    pub fn simple(&mut self, simple: &Arc<SimpleType>) -> TypeId {
        let leaf = self.builder.leaf(simple);
        self.ty(Content::Simple(leaf))
    }

    /// Adds a built-in simple type.
    pub fn builtin(&mut self, datatype: Datatype) -> TypeId {
        self.simple(&SimpleType::builtin(datatype))
    }

    /// Adds a complex type: a sequence of these children.
    pub fn structure(&mut self, children: Vec<ParticleId>) -> TypeId {
        let sequence = self.sequence(ONCE, children);
        self.ty(Content::Particle(sequence))
    }

    /// Adds a complex type of mixed content.
    pub fn mixed(&mut self, particle: ParticleId) -> TypeId {
        self.ty(Content::Mixed {
            particle,
            elements: 0..0,
        })
    }

    /// The definition of an optional attribute of a built-in type, to be put into a type.
    pub fn attribute(&mut self, name: &str, datatype: Datatype) -> AttributeDef {
        let leaf = self.builder.leaf(&SimpleType::builtin(datatype));
        let name = self.builder.name("", name);
        AttributeDef {
            name,
            leaf,
            required: false,
            default: None,
            fixed: None,
        }
    }
}

/// Elements.
impl Schema {
    /// Adds an element in no namespace.
    pub fn element(&mut self, name: &str, ty: TypeId) -> ElementId {
        self.element_in("", name, ty)
    }

    /// Adds an element in a namespace.
    pub fn element_in(&mut self, namespace: &str, name: &str, ty: TypeId) -> ElementId {
        self.element_with(namespace, name, ty, |_| {})
    }

    /// Adds an element with more than a name and a type.
    pub fn element_with(
        &mut self,
        namespace: &str,
        name: &str,
        ty: TypeId,
        amend: impl FnOnce(&mut ElementDef),
    ) -> ElementId {
        let name = self.builder.name(namespace, name);
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
        self.builder.element(def)
    }
}

/// Particles.
impl Schema {
    /// A particle of any term.
    pub fn particle(&mut self, (min, max): Occurs, term: TermDef) -> ParticleId {
        self.builder.particle(ParticleDef { min, max, term })
    }

    /// An element as a child.
    pub fn of(&mut self, occurs: Occurs, element: ElementId) -> ParticleId {
        self.particle(occurs, TermDef::Element(element))
    }

    /// A new element in no namespace as a child.
    pub fn child(&mut self, name: &str, ty: TypeId, occurs: Occurs) -> ParticleId {
        let element = self.element(name, ty);
        self.of(occurs, element)
    }

    /// A new element of a built-in type in no namespace as a child.
    pub fn field(&mut self, name: &str, datatype: Datatype, occurs: Occurs) -> ParticleId {
        let ty = self.builtin(datatype);
        self.child(name, ty, occurs)
    }

    /// A wildcard.
    pub fn any(&mut self, occurs: Occurs, wildcard: Wildcard) -> ParticleId {
        self.particle(occurs, TermDef::Any(wildcard))
    }

    /// A sequence.
    pub fn sequence(&mut self, occurs: Occurs, children: Vec<ParticleId>) -> ParticleId {
        self.particle(occurs, TermDef::Sequence(children))
    }

    /// A choice.
    pub fn choice(&mut self, occurs: Occurs, children: Vec<ParticleId>) -> ParticleId {
        self.particle(occurs, TermDef::Choice(children))
    }

    /// An `all` group, which may be left out if `min` is 0.
    pub fn all(&mut self, min: u32, children: Vec<ParticleId>) -> ParticleId {
        self.particle((min, 1), TermDef::All(children))
    }
}
