//! Compiles the components of schemas to a Plan.
//!
//! Only the requested components and those they refer to are compiled. Types are compiled from a queue, so
//! recursive definitions are allowed and deep ones use no call stack:
//!
//! ```text
//! requested element ─► reserve its type ─► queue ─► define the type ─► reserve the types of its children ─► queue …
//! queue empty ─► types derived from the compiled ones (`xsi:type` may name them) ─► queue …
//! ```

use std::sync::Arc;

use bsoap_codec::plan::{
    Content, ElementDef, ElementId, PlanBuilder, ProcessContents, Role, TypeDef, TypeId, UNBOUNDED,
};
use bsoap_datatypes::SimpleType;
use foldhash::{HashMap, HashMapExt as _};

use crate::components::{
    DeclaredValue, DerivationSet, ElementNumber, GroupNumber, Reference, SchemaSet, TypeKind,
    TypeNumber,
};
use crate::document::Position;
use crate::name::XSD_NAMESPACE;
use crate::work::CHARACTERS_PER_UNIT;
use crate::xsd::resolve::TypeKey;
use crate::xsd::simple::{SimpleTypes, is_names};
use crate::{Error, ErrorKind, ExpandedName, Result, Sort};

mod alternatives;
mod array;
mod attributes;
pub(crate) mod binding;
mod encoded;
mod envelope;
mod particles;
mod parts;
mod profile;
mod types;

use array::ArrayInfo;
use envelope::{any, element_def, type_def};
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
    /// The reserved types. The key is a type and the derivations that the element using it blocks.
    types: HashMap<(TypeKey, DerivationSet), TypeId>,
    /// The reserved types with their keys, in the order in which they were reserved.
    reserved: Vec<(TypeKey, DerivationSet, TypeId)>,
    /// The number of entries of `reserved` that are already defined.
    defined: usize,
    /// The content and attributes of complex types, including those of their base types.
    shapes: HashMap<TypeNumber, Arc<types::TypeShape>>,
    elements: HashMap<ElementNumber, ElementId>,
    /// The arrays of the SOAP encodings among the types.
    arrays: HashMap<TypeNumber, ArrayInfo>,
    groups: HashMap<GroupNumber, CompiledParticle>,
    /// The groups being compiled, the outermost first.
    open_groups: Vec<GroupNumber>,
    particles: ParticleMemo,
    /// The nesting depth of the particle being compiled.
    depth: usize,
    /// If true, errors in type definitions become warnings: only an `xsi:type` may lead to these types.
    is_tentative: bool,
    offers: Offers,
    /// Whether elements without a declaration are checked at wildcards.
    checks_undeclared: bool,
    warnings: Vec<Error>,
}

/// The declared types that an `xsi:type` attribute may replace by derived types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offers {
    /// Complex types, `anyType` and `anySimpleType`. Other simple types, such as `xs:string`, cannot be replaced, so their
    /// values need no marker slot.
    #[default]
    ComplexOnly,
    /// All types. A validator needs this option.
    All,
}

/// The result of a [`Compiler`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The plan builder, which contains all requested elements and types and those they refer to.
    pub builder: PlanBuilder,
    /// The compiled global elements.
    pub elements: HashMap<ExpandedName, ElementId>,
    /// The compiled named types.
    pub types: HashMap<ExpandedName, TypeId>,
    /// The documentation of element declarations, global and local.
    pub element_documentation: HashMap<ElementId, String>,
    /// The media types of binary values, by element.
    pub element_media_types: HashMap<ElementId, String>,
    /// The media types of binary values, by type.
    pub type_media_types: HashMap<TypeId, String>,
    /// The documentation of type definitions.
    pub type_documentation: HashMap<TypeId, String>,
    /// The arrays of the SOAP encodings.
    pub(crate) arrays: HashMap<TypeId, ArrayInfo>,
    /// The errors that were tolerated.
    pub warnings: Vec<Error>,
}

impl<'s> Compiler<'s> {
    /// Creates a compiler for the components of `set`. It compiles nothing until elements or types are requested.
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
            arrays: HashMap::new(),
            groups: HashMap::new(),
            open_groups: Vec::new(),
            particles: ParticleMemo::default(),
            depth: 0,
            is_tentative: false,
            offers: Offers::default(),
            checks_undeclared: false,
            warnings: Vec::new(),
        }
    }

    /// Sets the types that `xsi:type` may replace.
    #[must_use]
    pub fn offering(self, offers: Offers) -> Self {
        Self { offers, ..self }
    }

    /// The schemas whose components are compiled.
    pub fn schemas(&self) -> &'s SchemaSet {
        self.set
    }

    /// The plan builder. Callers use it to add names and elements.
    pub fn builder(&mut self) -> &mut PlanBuilder {
        &mut self.builder
    }

    /// Compiles a global element.
    ///
    /// # Errors
    /// If the element is not defined, or it refers to a component that is undefined or invalid.
    pub fn global_element(&mut self, name: &ExpandedName) -> Result<ElementId> {
        let number = self
            .set
            .named_element(name)
            .ok_or_else(|| undefined(Sort::Element, name))?;
        let element = self.element(number)?;
        self.define_reserved()?;
        Ok(element)
    }

    /// Compiles a named type, built-in or defined by a schema.
    ///
    /// # Errors
    /// If the type is not defined, or it refers to a component that is undefined or invalid.
    pub fn type_named(&mut self, name: &ExpandedName) -> Result<TypeId> {
        let key = self.set.resolve_type(&Reference {
            name: name.clone(),
            place: NOWHERE,
        })?;
        let ty = self.reserve(key, DerivationSet::NONE);
        self.define_reserved()?;
        Ok(ty)
    }

    /// Adds an element that no schema declares. Its type must be compiled.
    pub fn element_of_type(
        &mut self,
        name: &ExpandedName,
        ty: TypeId,
        nillable: bool,
        role: Role,
    ) -> ElementId {
        let name = self.builder.name(&name.namespace, &name.local);
        self.builder.element(ElementDef {
            nillable,
            ..element_def(name, ty, role)
        })
    }

    /// Ends the compilation: adds the derived types that `xsi:type` may name.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub fn finish(mut self) -> Result<Compiled> {
        self.define_reserved()?;
        self.is_tentative = true;
        self.offer_alternatives()?;
        let mut made = Compiled {
            builder: self.builder,
            elements: HashMap::new(),
            types: HashMap::new(),
            element_documentation: HashMap::new(),
            element_media_types: HashMap::new(),
            type_media_types: HashMap::new(),
            type_documentation: HashMap::new(),
            arrays: HashMap::new(),
            warnings: self.warnings,
        };
        made.warnings.append(&mut self.simple.warnings);
        let mut globals = Vec::new();
        for (&number, &id) in &self.elements {
            let declaration = self.set.element_declaration(number);
            if declaration.is_global {
                made.elements.insert(declaration.name.clone(), id);
                globals.push(id);
            }
            if let Some(types) = &declaration.media_types {
                made.element_media_types.insert(id, types.to_string());
            }
            if let Some(documentation) = &declaration.documentation {
                made.element_documentation
                    .insert(id, documentation.to_string());
            }
        }
        globals.sort_unstable();
        for id in globals {
            made.builder.global(id);
        }
        for &(key, block, id) in &self.reserved {
            if let TypeKey::Defined(number) = key
                && let Some(&info) = self.arrays.get(&number)
            {
                made.arrays.insert(id, info);
            }
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
            if let Some(types) = definition.and_then(|definition| definition.media_types.as_deref())
            {
                made.type_media_types.insert(id, types.to_owned());
            }
            if let Some(documentation) =
                definition.and_then(|definition| definition.documentation.as_deref())
            {
                made.type_documentation.insert(id, documentation.to_owned());
            }
        }
        Ok(made)
    }

    /// Adds an element declaration to the Plan. Its type is reserved, but not defined yet.
    fn element(&mut self, number: ElementNumber) -> Result<ElementId> {
        if let Some(&id) = self.elements.get(&number) {
            return Ok(id);
        }
        let declaration = self.set.element_declaration(number);
        let key = self.set.type_of(declaration)?;
        let blocked = if declaration
            .block
            .meets(DerivationSet::EXTENSION.with(DerivationSet::RESTRICTION))
            && (self.offers == Offers::All || !self.set.is_simple(key))
        {
            declaration.block.derivations()
        } else {
            DerivationSet::NONE
        };
        let ty = self.reserve(key, blocked);
        let name = self
            .builder
            .name(&declaration.name.namespace, &declaration.name.local);
        let place = declaration.place;
        let default = self.given_value(key, declaration.default.as_deref(), place)?;
        let fixed = self.given_value(key, declaration.fixed.as_deref(), place)?;
        let id = self.builder.element(ElementDef {
            name,
            ty,
            nillable: declaration.nillable,
            is_abstract: declaration.is_abstract,
            default,
            fixed,
            role: Role::Application,
        });
        self.elements.insert(number, id);
        Ok(id)
    }

    /// A default or fixed value as a Plan has it: names are `{namespace}local`.
    ///
    /// # Errors
    /// If the budget of loading is used up: the text of an expanded value is searched whenever a message leaves the value out.
    fn given_value(
        &mut self,
        key: TypeKey,
        value: Option<&DeclaredValue>,
        place: Position,
    ) -> Result<Option<String>> {
        let Some(value) = value else {
            return Ok(None);
        };
        let is_names = !value.namespaces.is_empty()
            && self
                .simple
                .simple(self.set, key)
                .is_ok_and(|simple| is_names(&simple));
        self.set
            .charge(value.text.len() / CHARACTERS_PER_UNIT, place)?;
        if is_names {
            self.set.charge(value.length_of_namespaces(), place)?;
        }
        let expanded = is_names.then(|| value.expanded()).flatten();
        Ok(Some(expanded.unwrap_or_else(|| value.text.to_string())))
    }

    /// The number of a type in the Plan. A new type is reserved.
    fn reserve(&mut self, key: TypeKey, blocked: DerivationSet) -> TypeId {
        if let Some(&id) = self.types.get(&(key, blocked)) {
            return id;
        }
        let id = self.builder.reserve_type();
        self.types.insert((key, blocked), id);
        self.reserved.push((key, blocked, id));
        id
    }

    /// Defines all reserved types, including those that their definitions reserve.
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
                // The type must be defined even after an error: the caller may continue, and a Plan must be complete.
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
            ..type_def(content)
        }
    }

    /// `xs:anyType` for a validator. It includes the global elements, so that they are validated.
    fn declared_any_type(&mut self) -> Result<TypeDef> {
        let def = self.any_type(TypeKey::AnyType);
        let content = self.declared(0, UNBOUNDED, any(ProcessContents::Lax), NOWHERE)?;
        Ok(TypeDef {
            content: Content::Mixed {
                particle: content.id,
                elements: 0..0,
            },
            ..def
        })
    }

    /// `xs:anyType`. It also replaces a type that cannot be compiled.
    fn any_type(&mut self, key: TypeKey) -> TypeDef {
        let name = match key {
            TypeKey::Defined(number) => self.name_of(number),
            _ => Some(self.builder.name(XSD_NAMESPACE, "anyType")),
        };
        TypeDef {
            name,
            any_attribute: Some(any(ProcessContents::Lax)),
            ..type_def(Content::Any)
        }
    }
}

/// The position of a reference that comes from the caller and not from a document.
const NOWHERE: Position = Position {
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
