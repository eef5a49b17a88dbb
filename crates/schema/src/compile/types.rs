//! Compiles complex types: content and attributes, including those of their base types.

use std::sync::Arc;

use bsoap_codec::plan::{AttributeDef, Content, TypeDef, Wildcard};
use bsoap_datatypes::SimpleType;

use crate::components::{
    ComplexContent, ComplexDefinition, Derivation, DerivationSet, ParticleDeclaration, TypeKind,
    TypeNumber,
};
use crate::document::Position;
use crate::xsd::resolve::TypeKey;
use crate::{Result, Sort};

use super::envelope::type_def;
use super::particles::Compiled;
use super::{Compiler, Offers};

/// The content and attributes of a complex type. Those of derived types are computed from them.
#[derive(Clone, Debug)]
pub(super) struct TypeShape {
    pub(super) body: TypeContent,
    pub(super) attributes: Vec<AttributeDef>,
    pub(super) any_attribute: Option<Wildcard>,
}

/// The content between the tags.
#[derive(Clone, Debug)]
pub(super) enum TypeContent {
    /// A simple value.
    Simple(Arc<SimpleType>),
    /// Elements (possibly none), with text between them if mixed.
    Elements {
        particle: Option<Compiled>,
        mixed: bool,
    },
    /// Any content, as in `anyType`.
    Any,
}

impl TypeShape {
    /// The shape of `anyType` as a base type.
    fn of_any_type() -> Self {
        Self {
            body: TypeContent::Any,
            attributes: Vec::new(),
            any_attribute: None,
        }
    }
}

impl Compiler<'_> {
    pub(super) fn complex_type(&mut self, number: TypeNumber) -> Result<TypeDef> {
        let shape = self.shape(number)?;
        let definition = self.set.type_definition(number);
        if let TypeKind::Complex(complex) = &definition.kind
            && let Some(info) = self.array_info(number, complex)?
        {
            self.arrays.insert(number, info);
        }
        let is_abstract =
            matches!(&definition.kind, TypeKind::Complex(complex) if complex.is_abstract);
        let base = match self.set.base_of(TypeKey::Defined(number)) {
            Some((base @ TypeKey::Defined(_), _)) if !self.set.is_simple(base) => {
                Some(self.reserve(base, DerivationSet::NONE))
            }
            _ => None,
        };
        let content = match &shape.body {
            TypeContent::Simple(simple) => Content::Simple(self.builder.leaf(simple)),
            TypeContent::Any => Content::Any,
            TypeContent::Elements {
                particle: None,
                mixed: false,
            } => Content::Empty,
            TypeContent::Elements {
                particle: Some(particle),
                mixed: false,
            } => Content::Particle(particle.id),
            TypeContent::Elements {
                particle,
                mixed: true,
            } => {
                let particle = match particle {
                    Some(particle) => particle.id,
                    None => self.empty(definition.place)?.id,
                };
                Content::Mixed {
                    particle,
                    elements: 0..0,
                }
            }
        };
        let (mut attributes, mut any_attribute) =
            (shape.attributes.clone(), shape.any_attribute.clone());
        if self.offers == Offers::All {
            self.add_admitted_attributes(&mut attributes, &mut any_attribute, definition.place)?;
        }
        Ok(TypeDef {
            name: self.name_of(number),
            attributes,
            any_attribute,
            base,
            is_abstract,
            ..type_def(content)
        })
    }

    /// The shape of a type. Shapes of base types are computed first, the most basic first: a long chain uses no call stack.
    pub(super) fn shape(&mut self, number: TypeNumber) -> Result<Arc<TypeShape>> {
        let is_done = |base| self.shapes.contains_key(&base);
        let chain = self.set.base_chain(number, is_done);
        if chain.len() > self.set.types.len() {
            let definition = self.set.type_definition(number);
            return Err(self.set.circular(
                Sort::Type,
                self.set.type_name(TypeKey::Defined(number)),
                definition.place,
            ));
        }
        for next in chain.into_iter().rev() {
            if !self.shapes.contains_key(&next) {
                let shape = self.derive(next)?;
                self.shapes.insert(next, Arc::new(shape));
            }
        }
        Ok(self.shapes[&number].clone())
    }

    /// Computes the shape of a type. Its base type must have a shape already.
    fn derive(&mut self, number: TypeNumber) -> Result<TypeShape> {
        let definition = self.set.type_definition(number);
        let TypeKind::Complex(complex) = &definition.kind else {
            return Ok(TypeShape::of_any_type());
        };
        let base_shape = |compiler: &mut Self, key: TypeKey| match key {
            TypeKey::Defined(base) if !compiler.set.is_simple(key) => compiler.shape(base),
            _ => Ok(Arc::new(TypeShape::of_any_type())),
        };
        let (body, derivation, base) = match &complex.content {
            ComplexContent::Simple {
                base, derivation, ..
            } => {
                let key = self.set.resolve_use(base)?;
                let base = base_shape(self, key)?;
                (
                    TypeContent::Simple(self.simple.simple(self.set, TypeKey::Defined(number))?),
                    *derivation,
                    base,
                )
            }
            ComplexContent::Complex {
                base: None,
                derivation,
                particle,
            } => {
                let body = self.own_body(complex, particle.as_ref())?;
                let base = TypeShape::of_any_type();
                return self.with_attributes(complex, body, *derivation, &base, definition.place);
            }
            ComplexContent::Complex {
                base: Some(base),
                derivation,
                particle,
            } => {
                let key = self.set.resolve_use(base)?;
                let base = base_shape(self, key)?;
                if let Some(items) = self.array_body(number, complex, particle.as_ref())? {
                    let shape =
                        self.with_attributes(complex, items, *derivation, &base, definition.place)?;
                    // Restrictions of `soapenc:Array` never repeat its `anyAttribute`, but mean to keep it.
                    return Ok(TypeShape {
                        any_attribute: base.any_attribute.clone(),
                        ..shape
                    });
                }
                let own = self.own_body(complex, particle.as_ref())?;
                let body = match derivation {
                    Derivation::Extension => {
                        self.extended(&base.body, own, complex.mixed, definition.place)?
                    }
                    Derivation::Restriction => own,
                };
                (body, *derivation, base)
            }
        };
        self.with_attributes(complex, body, derivation, &base, definition.place)
    }

    fn own_body(
        &mut self,
        complex: &ComplexDefinition,
        particle: Option<&ParticleDeclaration>,
    ) -> Result<TypeContent> {
        let particle = match particle {
            Some(particle) => self.content_particle(particle)?,
            None => None,
        };
        Ok(TypeContent::Elements {
            particle,
            mixed: complex.mixed,
        })
    }

    /// The content of an extension: the content of the base type, followed by the type's own content.
    fn extended(
        &mut self,
        base: &TypeContent,
        own: TypeContent,
        mixed: bool,
        place: Position,
    ) -> Result<TypeContent> {
        Ok(match (base, own) {
            (TypeContent::Simple(simple), _) => TypeContent::Simple(simple.clone()),
            (TypeContent::Any, TypeContent::Elements { particle: None, .. }) => TypeContent::Any,
            (TypeContent::Any, own) => own,
            (
                TypeContent::Elements {
                    particle: base,
                    mixed: base_mixed,
                },
                TypeContent::Elements { particle: own, .. },
            ) => {
                let particle = match (base.clone(), own) {
                    (Some(base), Some(own)) => Some(self.sequence(1, 1, &[base, own], place)?),
                    (one, None) | (None, one) => one,
                };
                TypeContent::Elements {
                    particle,
                    mixed: mixed || *base_mixed,
                }
            }
            (_, own) => own,
        })
    }
}
