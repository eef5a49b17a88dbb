//! Builds datatypes from simple type definitions at their first use: patterns are costly, and most types of a large
//! schema are never used.

use std::sync::Arc;

use bsoap_datatypes::{Datatype, Facet, FacetName, NamespaceContext, SimpleType, Variety};
use foldhash::HashMap;

use crate::components::{
    ComplexContent, DeclaredValue, FacetDefinition, SchemaSet, SimpleDefinition, Strictness,
    TypeKind, TypeNumber, TypeUse,
};
use crate::document::Position;
use crate::work::CHARACTERS_PER_UNIT;
use crate::{Error, Result, Sort};

use super::resolve::TypeKey;

/// The datatypes built so far.
#[derive(Debug, Default)]
pub(crate) struct SimpleTypes {
    made: HashMap<TypeNumber, Arc<SimpleType>>,
    /// The types being built, outermost first.
    open: Vec<TypeNumber>,
    pub(crate) warnings: Vec<Error>,
}

impl SimpleTypes {
    /// The datatype of a simple type.
    pub(crate) fn simple(&mut self, set: &SchemaSet, key: TypeKey) -> Result<Arc<SimpleType>> {
        match key {
            TypeKey::AnyType => Ok(SimpleType::builtin(Datatype::AnySimpleType)),
            TypeKey::BuiltIn(datatype) => Ok(SimpleType::builtin(datatype)),
            TypeKey::Defined(number) => self.defined(set, number),
        }
    }

    /// The datatype of a simple type, or of the content of a complex type with simple content.
    fn defined(&mut self, set: &SchemaSet, number: TypeNumber) -> Result<Arc<SimpleType>> {
        if let Some(made) = self.made.get(&number) {
            return Ok(made.clone());
        }
        let definition = set.type_definition(number);
        if self.open.contains(&number) {
            return Err(set.circular(
                Sort::Type,
                set.type_name(TypeKey::Defined(number)),
                definition.place,
            ));
        }
        if self.open.len() >= set.limits.depth {
            return Err(set.too_many("depth", set.limits.depth, definition.place));
        }
        self.open.push(number);
        let made = self.make(set, &definition.kind, definition.place);
        self.open.pop();
        let mut made = made?;
        if let (Some(name), TypeKind::Simple(_)) = (&definition.name, &definition.kind) {
            made = made.named(bsoap_datatypes::ExpandedName::new(
                Some(&name.namespace),
                &name.local,
            ));
        }
        self.made.insert(number, made.clone());
        Ok(made)
    }

    fn make(
        &mut self,
        set: &SchemaSet,
        kind: &TypeKind,
        place: Position,
    ) -> Result<Arc<SimpleType>> {
        match kind {
            TypeKind::Simple(SimpleDefinition::Restriction { base, facets }) => {
                let base = self.used(set, base)?;
                self.restrict(set, &base, facets)
            }
            TypeKind::Simple(SimpleDefinition::List(item)) => {
                let item = self.used(set, item)?;
                SimpleType::list_of(&item)
                    .map_err(|error| set.broken("cos-st-restricts.2", error.to_string(), place))
            }
            TypeKind::Simple(SimpleDefinition::Union(members)) => {
                let members = members
                    .iter()
                    .map(|member| self.used(set, member))
                    .collect::<Result<Vec<_>>>()?;
                SimpleType::union_of(&members)
                    .map_err(|error| set.broken("cos-st-restricts.3", error.to_string(), place))
            }
            TypeKind::Complex(complex) => match &complex.content {
                ComplexContent::Simple {
                    base,
                    simple,
                    facets,
                    ..
                } => {
                    let base = match simple {
                        Some(simple) => self.used(set, simple)?,
                        None => self.content(set, base, place)?,
                    };
                    self.restrict(set, &base, facets)
                }
                ComplexContent::Complex { .. } => Err(set.broken(
                    "src-resolve",
                    "a complex type is used where a simple type is required",
                    place,
                )),
            },
        }
    }

    /// Whether two values of a type are the same. Values that are none of the type are compared as texts.
    pub(crate) fn is_same(
        &mut self,
        set: &SchemaSet,
        key: TypeKey,
        (a, b): (&DeclaredValue, &DeclaredValue),
    ) -> bool {
        // Each name has its namespace once more. When the budget is used up, that is the error of the whole check.
        let copied = a.length_of_namespaces() + b.length_of_namespaces();
        if set
            .work
            .charge((copied / CHARACTERS_PER_UNIT) as u64)
            .is_err()
        {
            return a.text == b.text;
        }
        let value = |simple: &SimpleType, of: &DeclaredValue| simple.validate(of, of).ok();
        let simple = self.simple(set, key).ok();
        match simple.and_then(|simple| Some((value(&simple, a)?, value(&simple, b)?))) {
            Some((a, b)) => a == b,
            None => a.text == b.text,
        }
    }

    /// The datatype of a type that must be simple.
    fn used(&mut self, set: &SchemaSet, ty: &TypeUse) -> Result<Arc<SimpleType>> {
        let key = set.resolve_use(ty)?;
        if !set.is_simple(key) {
            let place = use_place(set, ty);
            return Err(set.broken(
                "src-resolve",
                format!("{} is not a simple type", set.type_name(key)),
                place,
            ));
        }
        self.simple(set, key)
    }

    /// The datatype of the simple content of a base type, which may be complex.
    fn content(
        &mut self,
        set: &SchemaSet,
        base: &TypeUse,
        place: Position,
    ) -> Result<Arc<SimpleType>> {
        match set.resolve_use(base)? {
            TypeKey::AnyType => {
                Err(set.broken("src-ct.2", "xs:anyType has no simple content", place))
            }
            key => self.simple(set, key),
        }
    }

    fn restrict(
        &mut self,
        set: &SchemaSet,
        base: &Arc<SimpleType>,
        definitions: &[FacetDefinition],
    ) -> Result<Arc<SimpleType>> {
        if definitions.is_empty() {
            // A restriction without facets is a separate type, because it has its own name.
            return SimpleType::restrict(base, &[], &EnumeratedNames(&[]))
                .map_err(|error| Error::new(crate::ErrorKind::Unsupported(error.to_string())));
        }
        if is_names(base) || matches!(base.variety(), Variety::Union(_)) {
            // Each value that is a name has its namespace once more.
            let names = definitions.iter().filter_map(|it| it.expanded.as_ref());
            let copied: usize = names.map(|name| name.namespace.len()).sum();
            set.charge(copied / CHARACTERS_PER_UNIT, definitions[0].place)?;
        }
        let names = EnumeratedNames(definitions);
        let facets: Vec<(Facet<'_>, &FacetDefinition)> = definitions
            .iter()
            .filter_map(|one| Some((facet(one)?, one)))
            .collect();
        let all: Vec<Facet<'_>> = facets.iter().map(|one| one.0).collect();
        let error = match SimpleType::restrict(base, &all, &names) {
            Ok(made) => return Ok(made),
            Err(error) => error,
        };
        let culprit = facets
            .iter()
            .find(|one| SimpleType::restrict(base, &[one.0], &names).is_err());
        let place = culprit.map_or(definitions[0].place, |one| one.1.place);
        let error = set.broken("facet", error.to_string(), place);
        if set.strictness == Strictness::Strict {
            return Err(error);
        }
        // Without the invalid facets the type accepts too much, but the service can be called.
        self.warnings.push(error);
        let sound: Vec<Facet<'_>> = all
            .iter()
            .copied()
            .filter(|&one| SimpleType::restrict(base, &[one], &names).is_ok())
            .collect();
        Ok(SimpleType::restrict(base, &sound, &names).unwrap_or_else(|_| base.clone()))
    }
}

/// Whether values are names, or lists of names.
pub(crate) fn is_names(simple: &SimpleType) -> bool {
    match simple.variety() {
        Variety::Atomic(datatype) => matches!(datatype, Datatype::QName | Datatype::Notation),
        Variety::List(item) => matches!(item.variety(), Variety::Atomic(_)) && is_names(item),
        Variety::Union(_) => false,
    }
}

fn facet(definition: &FacetDefinition) -> Option<Facet<'_>> {
    Some(Facet {
        name: FacetName::from_name(&definition.name)?,
        value: &definition.value,
        fixed: definition.fixed,
    })
}

fn use_place(set: &SchemaSet, ty: &TypeUse) -> Position {
    match ty {
        TypeUse::Named(reference) => reference.place,
        TypeUse::Defined(number) => set.type_definition(*number).place,
    }
}

/// The prefixes of enumerated QNames. If values of one type declare a prefix differently, the first declaration counts.
struct EnumeratedNames<'a>(&'a [FacetDefinition]);

impl NamespaceContext for EnumeratedNames<'_> {
    fn resolve(&self, prefix: &str) -> Option<&str> {
        let has_prefix = |facet: &&FacetDefinition| {
            facet
                .value
                .trim()
                .split_once(':')
                .map_or("", |split| split.0)
                == prefix
        };
        let facet = self
            .0
            .iter()
            .filter(|facet| facet.expanded.is_some())
            .find(has_prefix)?;
        facet
            .expanded
            .as_ref()
            .map(|name| &*name.namespace)
            .filter(|namespace| !namespace.is_empty())
    }
}
