//! The types that `xsi:type` may name instead of a declared type: those derived from it. (XML Schema Part 1 §3.4.6)
//!
//! This is the last step, when all types that elements refer to are compiled. Compiling derived types can add
//! more types, so the step is repeated until none is added. The list of `anyType` has every named type, but exists
//! once: `anyType` is one type of the Plan, shared by all its elements.

use bsoap_codec::plan::TypeId;
use bsoap_datatypes::Datatype;
use foldhash::{HashMap, HashMapExt as _, HashSet};

use crate::components::{Derivation, DerivationSet, SimpleDefinition, TypeKind, TypeNumber};
use crate::xsd::resolve::TypeKey;
use crate::{ErrorKind, Result};

use super::{Compiler, Offers};

/// The types that are derived from a type, each with its derivation method.
type Children = HashMap<TypeKey, Vec<(TypeKey, Derivation)>>;

impl Compiler<'_> {
    pub(super) fn offer_alternatives(&mut self) -> Result<()> {
        let children = self.children_of_types();
        let (mut next, mut total) = (0, 0);
        let limit = self.set.limits.alternatives;
        while let Some(&(key, blocked, id)) = self.reserved.get(next) {
            next += 1;
            if !self.has_offers(key) {
                continue;
            }
            let alternatives = self.alternatives((key, blocked, id), &children)?;
            total += alternatives.len();
            if total > limit {
                return Err(ErrorKind::Limit {
                    name: "alternatives",
                    limit: limit as u64,
                }
                .into());
            }
            self.define_reserved()?;
            if let Some(def) = self.builder.type_mut(id) {
                def.alternatives = alternatives;
            }
        }
        Ok(())
    }

    fn has_offers(&self, key: TypeKey) -> bool {
        match key {
            TypeKey::AnyType | TypeKey::BuiltIn(Datatype::AnySimpleType) => true,
            _ => self.offers == Offers::All || !self.set.is_simple(key),
        }
    }

    /// The type itself, unless it is abstract, and all named types derived from it. Empty if no type is derived from it.
    fn alternatives(
        &mut self,
        (key, blocked, id): (TypeKey, DerivationSet, TypeId),
        children: &Children,
    ) -> Result<Vec<TypeId>> {
        let blocked = blocked.with(self.set.block_of(key));
        let mut found = vec![key];
        let mut seen = HashSet::from_iter([key]);
        let mut waiting = vec![key];
        while let Some(parent) = waiting.pop() {
            for &(child, derivation) in children.get(&parent).into_iter().flatten() {
                if !blocked.meets(derivation.into()) && seen.insert(child) {
                    found.push(child);
                    waiting.push(child);
                }
            }
        }
        self.set.work.charge(found.len() as u64)?;
        let can_be_named = |child: &&TypeKey| {
            **child == key
                || self
                    .set
                    .definition(**child)
                    .is_none_or(|definition| definition.name.is_some())
        };
        let found: Vec<TypeKey> = found
            .iter()
            .filter(can_be_named)
            .copied()
            .filter(|&child| !self.is_abstract(child))
            .collect();
        if found.iter().all(|&only| only == key) {
            // A list of the type alone says that those derived from it are blocked.
            let is_blocked = blocked.meets(Derivation::Restriction.into());
            return Ok(match is_blocked && self.set.is_simple(key) {
                true => vec![id],
                false => Vec::new(),
            });
        }
        let reserved = found.into_iter().map(|child| {
            if child == key {
                id
            } else {
                self.reserve(child, DerivationSet::NONE)
            }
        });
        Ok(reserved.collect())
    }

    fn is_abstract(&self, key: TypeKey) -> bool {
        matches!(self.set.definition(key).map(|definition| &definition.kind), Some(TypeKind::Complex(complex)) if complex.is_abstract)
    }

    fn children_of_types(&self) -> Children {
        let mut children = Children::new();
        let built_in = Datatype::ALL.into_iter().map(TypeKey::BuiltIn);
        let defined =
            (0..self.set.types.len() as u32).map(|number| TypeKey::Defined(TypeNumber(number)));
        for key in built_in.chain(defined) {
            if let Some((base, derivation)) = self.set.base_of(key) {
                children.entry(base).or_default().push((key, derivation));
            }
            // A member of a union may replace it. (Type Derivation OK (Simple) 2.2.4)
            let definition = self.set.definition(key).map(|definition| &definition.kind);
            if let Some(TypeKind::Simple(SimpleDefinition::Union(members))) = definition {
                let members = members
                    .iter()
                    .filter_map(|it| self.set.resolve_use(it).ok());
                let members = members.map(|member| (member, Derivation::Restriction));
                children.entry(key).or_default().extend(members);
            }
        }
        children
    }
}
