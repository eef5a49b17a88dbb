//! Resolves names to components, and derives properties of a single component.

use bsoap_datatypes::Datatype;

use crate::components::{
    ComplexContent, Derivation, DerivationSet, ElementDeclaration, ElementNumber, GroupDefinition,
    GroupNumber, Reference, SchemaSet, SimpleDefinition, TypeDefinition, TypeKind, TypeNumber,
    TypeUse,
};
use crate::name::XSD_NAMESPACE;
use crate::{Result, Sort};

/// A type: built-in or defined by a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TypeKey {
    /// `xs:anyType`
    AnyType,
    /// A built-in simple type.
    BuiltIn(Datatype),
    /// A type defined by a schema.
    Defined(TypeNumber),
}

impl TypeKey {
    pub(crate) fn number(self) -> Option<TypeNumber> {
        match self {
            Self::Defined(number) => Some(number),
            _ => None,
        }
    }
}

impl SchemaSet {
    pub(crate) fn resolve_type(&self, reference: &Reference) -> Result<TypeKey> {
        let name = &reference.name;
        if let Some(number) = self.named_type(name) {
            return Ok(TypeKey::Defined(number));
        }
        if &*name.namespace == XSD_NAMESPACE {
            if &*name.local == "anyType" {
                return Ok(TypeKey::AnyType);
            }
            if let Some(datatype) = Datatype::from_name(&name.local) {
                return Ok(TypeKey::BuiltIn(datatype));
            }
        }
        Err(self.undefined(Sort::Type, reference))
    }

    pub(crate) fn resolve_use(&self, ty: &TypeUse) -> Result<TypeKey> {
        match ty {
            TypeUse::Named(reference) => self.resolve_type(reference),
            TypeUse::Defined(number) => Ok(TypeKey::Defined(*number)),
        }
    }

    pub(crate) fn resolve_element(&self, reference: &Reference) -> Result<ElementNumber> {
        self.named_element(&reference.name)
            .ok_or_else(|| self.undefined(Sort::Element, reference))
    }

    pub(crate) fn resolve_group(&self, reference: &Reference) -> Result<GroupNumber> {
        self.named_groups
            .get(&reference.name)
            .copied()
            .ok_or_else(|| self.undefined(Sort::Group, reference))
    }

    pub(crate) fn resolve_attribute_group(&self, reference: &Reference) -> Result<GroupNumber> {
        let found = self.named_attribute_groups.get(&reference.name).copied();
        found.ok_or_else(|| self.undefined(Sort::AttributeGroup, reference))
    }

    pub(crate) fn definition(&self, key: TypeKey) -> Option<&TypeDefinition> {
        key.number().map(|number| self.type_definition(number))
    }

    pub(crate) fn group(&self, number: GroupNumber) -> &GroupDefinition {
        &self.groups[number.0 as usize]
    }

    /// The type of an element; without a declared type, that of the head of its substitution group.
    pub(crate) fn type_of(&self, element: &ElementDeclaration) -> Result<TypeKey> {
        let mut element = element;
        for _ in 0..=self.elements.len() {
            match (&element.ty, &element.substitutes) {
                (Some(ty), _) => return self.resolve_use(ty),
                (None, None) => return Ok(TypeKey::AnyType),
                (None, Some(head)) => {
                    element = self.element_declaration(self.resolve_element(head)?);
                }
            }
        }
        Err(self.circular(Sort::Element, &element.name, element.place))
    }

    /// The base type and the derivation method of a type. Lists and unions restrict `anySimpleType`.
    /// `None` for `anyType` and if the base type is undefined.
    pub(crate) fn base_of(&self, key: TypeKey) -> Option<(TypeKey, Derivation)> {
        let any_simple = TypeKey::BuiltIn(Datatype::AnySimpleType);
        let (base, derivation) = match key {
            TypeKey::AnyType => return None,
            TypeKey::BuiltIn(datatype) => {
                return Some((
                    datatype.base().map_or(TypeKey::AnyType, TypeKey::BuiltIn),
                    Derivation::Restriction,
                ));
            }
            TypeKey::Defined(number) => match &self.type_definition(number).kind {
                TypeKind::Simple(SimpleDefinition::Restriction { base, .. }) => {
                    (base, Derivation::Restriction)
                }
                TypeKind::Simple(_) => return Some((any_simple, Derivation::Restriction)),
                TypeKind::Complex(complex) => match &complex.content {
                    ComplexContent::Simple {
                        base, derivation, ..
                    } => (base, *derivation),
                    ComplexContent::Complex { base: None, .. } => {
                        return Some((TypeKey::AnyType, Derivation::Restriction));
                    }
                    ComplexContent::Complex {
                        base: Some(base),
                        derivation,
                        ..
                    } => (base, *derivation),
                },
            },
        };
        Some((self.resolve_use(base).ok()?, derivation))
    }

    /// A type and its base types, nearest first: until a type is built-in or simple, or `is_done` is true for it. A circular
    /// chain ends when it is longer than the number of types.
    pub(crate) fn base_chain(
        &self,
        number: TypeNumber,
        is_done: impl Fn(TypeNumber) -> bool,
    ) -> Vec<TypeNumber> {
        let mut chain = vec![number];
        let mut last = TypeKey::Defined(number);
        while chain.len() <= self.types.len()
            && let Some((key @ TypeKey::Defined(base), _)) = self.base_of(last)
            && !self.is_simple(key)
            && !is_done(base)
        {
            chain.push(base);
            last = key;
        }
        chain
    }

    /// The derivation methods between a type and its ancestor; `None` if it is not an ancestor.
    pub(crate) fn derivation_path(&self, key: TypeKey, ancestor: TypeKey) -> Option<DerivationSet> {
        let mut path = DerivationSet::NONE;
        let mut key = key;
        for _ in 0..=self.types.len() + Datatype::ALL.len() {
            if key == ancestor {
                return Some(path);
            }
            let (base, derivation) = self.base_of(key)?;
            path = path.with(derivation.into());
            key = base;
        }
        None
    }

    /// The derivations that a type blocks.
    pub(crate) fn block_of(&self, key: TypeKey) -> DerivationSet {
        match self.definition(key).map(|definition| &definition.kind) {
            Some(TypeKind::Complex(complex)) => complex.block,
            _ => DerivationSet::NONE,
        }
    }

    pub(crate) fn is_simple(&self, key: TypeKey) -> bool {
        match key {
            TypeKey::AnyType => false,
            TypeKey::BuiltIn(_) => true,
            TypeKey::Defined(number) => {
                matches!(self.type_definition(number).kind, TypeKind::Simple(_))
            }
        }
    }

    /// A type's name for a message.
    pub(crate) fn type_name(&self, key: TypeKey) -> String {
        match key {
            TypeKey::AnyType => "xs:anyType".to_owned(),
            TypeKey::BuiltIn(datatype) => format!("xs:{}", datatype.name()),
            TypeKey::Defined(number) => match &self.type_definition(number).name {
                Some(name) => name.to_string(),
                None => "an anonymous type".to_owned(),
            },
        }
    }
}
