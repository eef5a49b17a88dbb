//! Components → Plan: the only door to [`PlanBuilder`].
//!
//! Only what is asked for is compiled, and what it leads to. Types wait in a queue, so a definition
//! may refer to any other and depth costs no stack:
//!
//! ```text
//! element asked for ─► its type, reserved ─► queue ─► definition ─► types of its children, reserved ─► queue …
//! queue empty ─► types derived from those compiled (`xsi:type` may name them) ─► queue …
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use bsoap_codec::plan::NamespaceConstraint;
use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, PlanBuilder, ProcessContents, Role, TypeDef,
    TypeId, UNBOUNDED, Wildcard,
};
use bsoap_datatypes::SimpleType;

use crate::components::{
    DerivationSet, ElementNumber, GroupNumber, Reference, SchemaSet, TypeKind, TypeNumber,
};
use crate::document::Place;
use crate::name::XSD_NAMESPACE;
use crate::xsd::resolve::TypeKey;
use crate::xsd::simple::SimpleTypes;
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

mod alternatives;
mod array;
mod attributes;
pub(crate) mod binding;
mod envelope;
mod particles;
mod parts;
mod profile;
mod types;

use particles::{Compiled as CompiledParticle, ParticleMemo};

/// Compiles components of a [`SchemaSet`] into a [`PlanBuilder`].
///
/// ```
/// use bsoap_schema::{Compiler, ExpandedName, LoadLimits, MemoryLoader, SchemaSetBuilder, Strictness};
///
/// let mut loader = MemoryLoader::default();
/// loader.add("a.xsd", r#"<schema xmlns="http://www.w3.org/2001/XMLSchema"><element name="n" type="int"/></schema>"#);
/// let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Lenient);
/// builder.add_location("a.xsd")?;
/// let schemas = builder.finish()?;
///
/// let mut compiler = Compiler::new(&schemas);
/// let root = compiler.global_element(&ExpandedName::new("", "n"))?;
/// let plan = compiler.finish()?.builder.finish().unwrap();
/// assert!(plan.element(root).is_scalar);
/// # Ok::<(), bsoap_schema::Error>(())
/// ```
#[derive(Debug)]
pub struct Compiler<'s> {
    set: &'s SchemaSet,
    builder: PlanBuilder,
    simple: SimpleTypes,
    /// Types reserved so far, by what they are and which derivations their element blocks.
    types: HashMap<(TypeKey, DerivationSet), TypeId>,
    /// The same in order of reservation.
    reserved: Vec<(TypeKey, DerivationSet, TypeId)>,
    /// How many of `reserved` are defined.
    defined: usize,
    /// What is known of complex types: with their bases, ready to be extended.
    shapes: HashMap<TypeNumber, Arc<types::Shape>>,
    elements: HashMap<ElementNumber, ElementId>,
    groups: HashMap<GroupNumber, CompiledParticle>,
    /// Groups being compiled, outermost first.
    open_groups: Vec<GroupNumber>,
    particles: ParticleMemo,
    /// Particles being compiled, one in the other.
    depth: usize,
    /// Types reached only because `xsi:type` might name them may be broken.
    is_tentative: bool,
    offers: Offers,
    warnings: Vec<Error>,
}

/// Which types of simple elements `xsi:type` may replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offers {
    /// Complex types, `anyType` and `anySimpleType`: a string stays a plain value although types are derived from it.
    #[default]
    ComplexOnly,
    /// All, as a validator must.
    All,
}

/// What a [`Compiler`] made.
#[derive(Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// With all elements and types asked for and what they lead to, complete.
    pub builder: PlanBuilder,
    /// The global elements compiled.
    pub elements: HashMap<ExpandedName, ElementId>,
    /// The named types compiled.
    pub types: HashMap<ExpandedName, TypeId>,
    /// What schemas say about elements, global and local.
    pub element_documentation: HashMap<ElementId, String>,
    /// What schemas say about types.
    pub type_documentation: HashMap<TypeId, String>,
    /// What was wrong and could be passed over.
    pub warnings: Vec<Error>,
}

impl<'s> Compiler<'s> {
    /// A compiler that was asked for nothing yet.
    pub fn new(set: &'s SchemaSet) -> Self {
        let mut builder = PlanBuilder::new();
        for (namespace, prefix) in &set.prefixes {
            builder.prefix(namespace, prefix);
        }
        Self {
            set,
            builder,
            simple: SimpleTypes::default(),
            types: HashMap::new(),
            reserved: Vec::new(),
            defined: 0,
            shapes: HashMap::new(),
            elements: HashMap::new(),
            groups: HashMap::new(),
            open_groups: Vec::new(),
            particles: ParticleMemo::default(),
            depth: 0,
            is_tentative: false,
            offers: Offers::default(),
            warnings: Vec::new(),
        }
    }

    /// Which types `xsi:type` may replace.
    #[must_use]
    pub fn offering(self, offers: Offers) -> Self {
        Self { offers, ..self }
    }

    /// The components compiled from.
    pub fn schemas(&self) -> &'s SchemaSet {
        self.set
    }

    /// The builder, for names and elements of the caller's own.
    pub fn builder(&mut self) -> &mut PlanBuilder {
        &mut self.builder
    }

    /// A global element.
    ///
    /// # Errors
    /// When there is no such element, or it leads to something that is missing or wrong.
    pub fn global_element(&mut self, name: &ExpandedName) -> Result<ElementId> {
        let number = self
            .set
            .named_element(name)
            .ok_or_else(|| undefined(Sort::Element, name))?;
        let element = self.element(number)?;
        self.define_reserved()?;
        Ok(element)
    }

    /// A named type, built in or defined by a schema.
    ///
    /// # Errors
    /// When there is no such type, or it leads to something that is missing or wrong.
    pub fn type_named(&mut self, name: &ExpandedName) -> Result<TypeId> {
        let key = self.set.resolve_type(&Reference {
            name: name.clone(),
            place: NOWHERE,
        })?;
        let ty = self.reserve(key, DerivationSet::NONE);
        self.define_reserved()?;
        Ok(ty)
    }

    /// An element of the caller's own, of a type compiled before.
    pub fn element_of_type(
        &mut self,
        name: &ExpandedName,
        ty: TypeId,
        nillable: bool,
        role: Role,
    ) -> ElementId {
        let name = self.builder.name(&name.namespace, &name.local);
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

    /// All components requested, with the types that may replace others.
    ///
    /// # Errors
    /// When a limit is passed.
    pub fn finish(mut self) -> Result<Compiled> {
        self.define_reserved()?;
        self.is_tentative = true;
        self.offer_alternatives()?;
        let mut made = Compiled {
            builder: self.builder,
            elements: HashMap::new(),
            types: HashMap::new(),
            element_documentation: HashMap::new(),
            type_documentation: HashMap::new(),
            warnings: self.warnings,
        };
        made.warnings.append(&mut self.simple.warnings);
        for (&number, &id) in &self.elements {
            let declaration = self.set.element_declaration(number);
            if declaration.is_global {
                made.elements.insert(declaration.name.clone(), id);
            }
            if let Some(documentation) = &declaration.documentation {
                made.element_documentation
                    .insert(id, documentation.to_string());
            }
        }
        for &(key, block, id) in &self.reserved {
            let definition = self.set.definition(key);
            let name = match (key, definition) {
                (TypeKey::AnyType, _) => Some(ExpandedName::new(XSD_NAMESPACE, "anyType")),
                (TypeKey::BuiltIn(datatype), _) => {
                    Some(ExpandedName::new(XSD_NAMESPACE, datatype.name()))
                }
                (_, definition) => definition.and_then(|definition| definition.name.clone()),
            };
            if let (Some(name), true) = (name, block == DerivationSet::NONE) {
                made.types.insert(name, id);
            }
            if let Some(documentation) =
                definition.and_then(|definition| definition.documentation.as_deref())
            {
                made.type_documentation.insert(id, documentation.to_owned());
            }
        }
        Ok(made)
    }

    /// An element declaration of the Plan; its type is reserved, not yet defined.
    fn element(&mut self, number: ElementNumber) -> Result<ElementId> {
        if let Some(&id) = self.elements.get(&number) {
            return Ok(id);
        }
        let declaration = self.set.element_declaration(number);
        let key = self.set.type_of(declaration)?;
        let blocked = if declaration
            .block
            .meets(DerivationSet::EXTENSION.with(DerivationSet::RESTRICTION))
            && !self.set.is_simple(key)
        {
            declaration.block.derivations()
        } else {
            DerivationSet::NONE
        };
        let ty = self.reserve(key, blocked);
        let name = self
            .builder
            .name(&declaration.name.namespace, &declaration.name.local);
        let id = self.builder.element(ElementDef {
            name,
            ty,
            nillable: declaration.nillable,
            is_abstract: declaration.is_abstract,
            default: declaration.default.as_deref().map(str::to_owned),
            fixed: declaration.fixed.as_deref().map(str::to_owned),
            role: Role::Application,
        });
        self.elements.insert(number, id);
        Ok(id)
    }

    /// The number of a type that is, or will be, defined.
    fn reserve(&mut self, key: TypeKey, blocked: DerivationSet) -> TypeId {
        if let Some(&id) = self.types.get(&(key, blocked)) {
            return id;
        }
        let id = self.builder.reserve_type();
        self.types.insert((key, blocked), id);
        self.reserved.push((key, blocked, id));
        id
    }

    /// Defines all types reserved, and those their definitions reserve.
    fn define_reserved(&mut self) -> Result<()> {
        let mut failure = None;
        while let Some(&(key, _, id)) = self.reserved.get(self.defined) {
            self.defined += 1;
            let def = self.definition(key).unwrap_or_else(|error| {
                if self.is_tentative && !matches!(error.kind(), ErrorKind::Limit { .. }) {
                    self.warnings.push(error);
                } else {
                    failure.get_or_insert(error);
                }
                // Defined all the same: the caller may go on, and a Plan has no holes.
                self.any_type(key)
            });
            self.builder.define_type(id, def);
        }
        failure.map_or(Ok(()), Err)
    }

    fn definition(&mut self, key: TypeKey) -> Result<TypeDef> {
        match key {
            TypeKey::AnyType if self.offers == Offers::All => self.declared_any_type(),
            TypeKey::AnyType => Ok(self.any_type(key)),
            TypeKey::BuiltIn(datatype) => {
                let name = self.builder.name(XSD_NAMESPACE, datatype.name());
                Ok(self.simple_type(Some(name), &SimpleType::builtin(datatype)))
            }
            TypeKey::Defined(number) => match &self.set.type_definition(number).kind {
                TypeKind::Simple(_) => {
                    let simple = self.simple.simple(self.set, key)?;
                    let name = self.name_of(number);
                    Ok(self.simple_type(name, &simple))
                }
                TypeKind::Complex(_) => self.complex_type(number),
            },
        }
    }

    fn name_of(&mut self, number: TypeNumber) -> Option<bsoap_xml::NameId> {
        let name = self.set.type_definition(number).name.as_ref()?;
        Some(self.builder.name(&name.namespace, &name.local))
    }

    fn simple_type(
        &mut self,
        name: Option<bsoap_xml::NameId>,
        simple: &Arc<SimpleType>,
    ) -> TypeDef {
        let content = Content::Simple(self.builder.leaf(simple));
        TypeDef {
            name,
            attributes: Vec::new(),
            any_attribute: None,
            content,
            alternatives: Vec::new(),
            base: None,
            is_abstract: false,
        }
    }

    /// For a validator: `xs:anyType` with the elements that are declared.
    fn declared_any_type(&mut self) -> Result<TypeDef> {
        let def = self.any_type(TypeKey::AnyType);
        let any = Wildcard {
            namespaces: NamespaceConstraint::Any,
            process: ProcessContents::Lax,
        };
        let content = self.declared(0, UNBOUNDED, any, NOWHERE)?;
        Ok(TypeDef {
            content: Content::Mixed {
                particle: content.id,
                elements: 0..0,
            },
            ..def
        })
    }

    /// `xs:anyType`, also in place of a type that could not be compiled.
    fn any_type(&mut self, key: TypeKey) -> TypeDef {
        let name = match key {
            TypeKey::Defined(number) => self.name_of(number),
            _ => Some(self.builder.name(XSD_NAMESPACE, "anyType")),
        };
        let any = Wildcard {
            namespaces: NamespaceConstraint::Any,
            process: ProcessContents::Lax,
        };
        let attributes: Vec<AttributeDef> = Vec::new();
        TypeDef {
            name,
            attributes,
            any_attribute: Some(any),
            content: Content::Any,
            alternatives: Vec::new(),
            base: None,
            is_abstract: false,
        }
    }
}

/// The place of what the caller names.
const NOWHERE: Place = Place {
    document: u32::MAX,
    offset: 0,
};

fn undefined(sort: Sort, name: &ExpandedName) -> Error {
    ErrorKind::Undefined {
        sort,
        name: name.clone(),
        spelled: None,
        cause: None,
    }
    .into()
}
