//! Checks attribute declarations, uses and groups. (§3.2.6, §3.4.6, §3.5.6, §3.6.6)

use std::sync::Arc;

use bsoap_datatypes::Datatype;
use foldhash::{HashSet, HashSetExt as _};
use indexmap::IndexMap;

use crate::components::{
    AttributeDeclaration, AttributeItem, AttributeTerm, AttributeUse, AttributeUses, DeclaredValue,
    Derivation, GroupNumber, TypeKind, TypeNumber, Usage, WildcardDeclaration,
};
use crate::document::Position;
use crate::wildcard::{cost, intersection, is_subset, union};
use crate::{ExpandedName, Sort};

use super::super::resolve::TypeKey;
use super::Checker;
use super::model::strictness;
use super::simple::is_id;

/// The attributes of a type, including those of its base type.
#[derive(Clone, Debug, Default)]
pub(super) struct AttributeSet {
    uses: IndexMap<ExpandedName, Use>,
    wildcard: Option<WildcardDeclaration>,
}

#[derive(Clone, Debug)]
struct Use {
    usage: Usage,
    fixed: Option<Box<DeclaredValue>>,
    ty: TypeKey,
    place: Position,
}

impl<'s> Checker<'s> {
    pub(super) fn check_attributes(&mut self) {
        let set = self.set;
        for declaration in set.attributes.values() {
            self.check_attribute(declaration);
        }
        for group in &set.attribute_groups {
            self.own_attributes(&group.attributes, group.place);
        }
        for &(new, old) in &set.redefined_attribute_groups {
            let [new, old] = [new, old].map(|number| &set.attribute_groups[number.0 as usize]);
            let own = self.own_attributes(&new.attributes, new.place);
            let base = self.own_attributes(&old.attributes, old.place);
            self.restrict_attributes(&base, own, new.place);
        }
    }

    fn check_attribute(&mut self, declaration: &AttributeDeclaration) {
        let Some(key) = self.attribute_type(declaration) else {
            return;
        };
        if !self.set.is_simple(key) {
            let problem = format!("{} is not a simple type", self.set.type_name(key));
            return self.broken("src-resolve", problem, declaration.place);
        }
        self.check_no_bare_notation(key, declaration.place);
        if let Some(value) = declaration
            .default
            .as_deref()
            .or(declaration.fixed.as_deref())
        {
            self.check_value("a-props-correct.2", key, value, declaration.place);
        }
    }

    fn attribute_type(&mut self, declaration: &AttributeDeclaration) -> Option<TypeKey> {
        match &declaration.ty {
            Some(ty) => self.used(ty),
            None => Some(TypeKey::BuiltIn(Datatype::AnySimpleType)),
        }
    }

    /// The attributes of a type or group and of the groups it refers to, including prohibited uses.
    fn own_attributes(&mut self, uses: &'s AttributeUses, place: Position) -> AttributeSet {
        let mut own = AttributeSet::default();
        let mut wildcards: Vec<&WildcardDeclaration> = Vec::new();
        let mut seen: HashSet<GroupNumber> = HashSet::new();
        let mut waiting = vec![uses];
        while let Some(next) = waiting.pop() {
            self.charge(1 + next.items.len());
            if self.set.work.is_used_up() {
                break;
            }
            wildcards.extend(&next.wildcard);
            for item in &next.items {
                let number = match item {
                    AttributeItem::Use(attribute) => {
                        self.add_use(attribute, &mut own);
                        continue;
                    }
                    AttributeItem::Group(reference) => {
                        let found = self.set.resolve_attribute_group(reference);
                        let Some(number) = self.noted(found) else {
                            continue;
                        };
                        number
                    }
                    AttributeItem::Resolved(number) => *number,
                };
                let group = &self.set.attribute_groups[number.0 as usize];
                if std::ptr::eq(&raw const group.attributes, uses) {
                    let error = self
                        .set
                        .circular(Sort::AttributeGroup, &group.name, group.place);
                    self.errors.push(error);
                } else if seen.insert(number) {
                    waiting.push(&group.attributes);
                }
            }
        }
        let ids = own
            .uses
            .values()
            .filter(|attribute| attribute.usage != Usage::Prohibited);
        let ids: Vec<TypeKey> = ids.map(|attribute| attribute.ty).collect();
        let ids = ids
            .into_iter()
            .filter(|&key| {
                self.simple
                    .simple(self.set, key)
                    .is_ok_and(|simple| is_id(&simple))
            })
            .count();
        if ids > 1 {
            self.broken(
                "ct-props-correct.5",
                "a type can have at most one attribute of type xs:ID",
                place,
            );
        }
        self.charge(cost(wildcards.iter().map(|it| &it.namespaces)));
        if !self.set.work.is_used_up() {
            own.wildcard = self.complete_wildcard(uses, &wildcards);
        }
        own
    }

    fn complete_wildcard(
        &mut self,
        uses: &AttributeUses,
        wildcards: &[&WildcardDeclaration],
    ) -> Option<WildcardDeclaration> {
        let mut complete = uses
            .wildcard
            .clone()
            .or_else(|| wildcards.first().map(|first| (*first).clone()))?;
        for other in wildcards {
            match intersection(&complete.namespaces, &other.namespaces) {
                Some(namespaces) => complete.namespaces = namespaces,
                None => self.broken(
                    "src-attribute_group.2",
                    "the attribute wildcards of the type and its groups have an intersection that no wildcard can express",
                    complete.place,
                ),
            }
        }
        Some(complete)
    }

    fn add_use(&mut self, attribute: &'s AttributeUse, own: &mut AttributeSet) {
        let declaration = match &attribute.attribute {
            AttributeTerm::Local(declaration) => {
                self.check_attribute(declaration);
                declaration
            }
            AttributeTerm::Global(reference) => match self.set.attributes.get(&reference.name) {
                Some(declaration) => declaration,
                None => {
                    let error = self.set.undefined(Sort::Attribute, reference);
                    return self.errors.push(error);
                }
            },
        };
        let Some(ty) = self.attribute_type(declaration) else {
            return;
        };
        let is_global = matches!(attribute.attribute, AttributeTerm::Global(_));
        if let (true, Some(declared)) = (is_global, &declaration.fixed)
            && (attribute.default.is_some()
                || attribute
                    .fixed
                    .as_deref()
                    .is_some_and(|fixed| !self.simple.is_same(self.set, ty, (fixed, declared))))
        {
            self.broken(
                "au-props-correct.2",
                "the attribute declaration has a fixed value; the use must not have a default or a different fixed value",
                attribute.place,
            );
        }
        if let (true, Some(value)) = (
            is_global,
            attribute.default.as_deref().or(attribute.fixed.as_deref()),
        ) {
            self.check_value("a-props-correct.2", ty, value, attribute.place);
        }
        let fixed = attribute
            .fixed
            .clone()
            .or_else(|| declaration.fixed.clone());
        let found = Use {
            usage: attribute.usage,
            fixed,
            ty,
            place: attribute.place,
        };
        if let Some(former) = own.uses.get(&declaration.name)
            && former.usage != Usage::Prohibited
            && found.usage != Usage::Prohibited
        {
            let problem = format!("the attribute {} is declared twice", declaration.name);
            return self.broken("ct-props-correct.4", problem, attribute.place);
        }
        own.uses.insert(declaration.name.clone(), found);
    }

    /// Checks the attributes of a complex type after those of its base types, the most basic first.
    pub(super) fn check_type_attributes(&mut self, number: TypeNumber) {
        let is_done = |base| self.attributes.contains_key(&base) || self.circular.contains(&base);
        for next in self.set.base_chain(number, is_done).into_iter().rev() {
            if !self.attributes.contains_key(&next) {
                let attributes = self.derive_attributes(next);
                self.attributes.insert(next, Arc::new(attributes));
            }
        }
    }

    fn derive_attributes(&mut self, number: TypeNumber) -> AttributeSet {
        let definition = self.set.type_definition(number);
        let TypeKind::Complex(complex) = &definition.kind else {
            return AttributeSet::default();
        };
        let own = self.own_attributes(&complex.attributes, definition.place);
        let base = self.set.base_of(TypeKey::Defined(number));
        let (inherited, derivation) = match base {
            Some((TypeKey::Defined(base), derivation)) => {
                let inherited = self.attributes.get(&base).cloned().unwrap_or_default();
                let wildcard = inherited.wildcard.iter().map(|it| &it.namespaces);
                self.charge(inherited.uses.len() + cost(wildcard));
                (inherited, derivation)
            }
            _ => {
                let uses = own
                    .uses
                    .into_iter()
                    .filter(|(_, attribute)| attribute.usage != Usage::Prohibited)
                    .collect();
                return AttributeSet {
                    uses,
                    wildcard: own.wildcard,
                };
            }
        };
        match derivation {
            Derivation::Extension => self.extend_attributes(&inherited, own),
            Derivation::Restriction => self.restrict_attributes(&inherited, own, definition.place),
        }
    }

    fn extend_attributes(&mut self, base: &AttributeSet, own: AttributeSet) -> AttributeSet {
        let mut all = base.clone();
        for (name, attribute) in own
            .uses
            .into_iter()
            .filter(|(_, attribute)| attribute.usage != Usage::Prohibited)
        {
            if all.uses.contains_key(&name) {
                let problem = format!("the base type already has an attribute {name}");
                self.broken("ct-props-correct.4", problem, attribute.place);
            }
            all.uses.insert(name, attribute);
        }
        all.wildcard = match (all.wildcard, own.wildcard) {
            (Some(base), Some(own)) => match union(&own.namespaces, &base.namespaces) {
                Some(namespaces) => Some(WildcardDeclaration { namespaces, ..own }),
                None => {
                    self.broken(
                        "src-ct.4",
                        "the attribute wildcards of the type and its base have a union that no wildcard can express",
                        own.place,
                    );
                    Some(own)
                }
            },
            (base, own) => own.or(base),
        };
        all
    }

    /// (§3.4.6, Derivation Valid (Restriction, Complex), 2 to 4)
    fn restrict_attributes(
        &mut self,
        base: &AttributeSet,
        own: AttributeSet,
        place: Position,
    ) -> AttributeSet {
        for (name, attribute) in &own.uses {
            match base.uses.get(name) {
                Some(inherited) => self.check_restricted_use(name, attribute, inherited),
                None if attribute.usage == Usage::Prohibited => {}
                None if base
                    .wildcard
                    .as_ref()
                    .is_some_and(|wildcard| wildcard.namespaces.admits(&name.namespace)) => {}
                None => {
                    let problem = format!(
                        "the base type has no attribute {name} and no wildcard that allows it"
                    );
                    self.broken("derivation-ok-restriction.2.2", problem, attribute.place);
                }
            }
        }
        if let Some(wildcard) = &own.wildcard {
            let is_legal = base.wildcard.as_ref().is_some_and(|inherited| {
                is_subset(&wildcard.namespaces, &inherited.namespaces)
                    && strictness(wildcard.process) >= strictness(inherited.process)
            });
            if !is_legal {
                self.broken(
                    "derivation-ok-restriction.4",
                    "the attribute wildcard allows more than that of the base type",
                    place,
                );
            }
        }
        let mut uses = base.uses.clone();
        uses.extend(own.uses);
        uses.retain(|_, attribute| attribute.usage != Usage::Prohibited);
        AttributeSet {
            uses,
            wildcard: own.wildcard,
        }
    }

    fn check_restricted_use(&mut self, name: &ExpandedName, attribute: &Use, inherited: &Use) {
        if inherited.usage == Usage::Required && attribute.usage != Usage::Required {
            let problem = format!(
                "the attribute {name} is required in the base type, so it must be required here"
            );
            self.broken("derivation-ok-restriction.2.1.1", problem, attribute.place);
        }
        if attribute.usage == Usage::Prohibited {
            return;
        }
        if self.derivation(attribute.ty, inherited.ty).is_none() {
            let problem = format!(
                "the type of attribute {name} is not derived from its type in the base type"
            );
            self.broken("derivation-ok-restriction.2.1.2", problem, attribute.place);
        }
        let is_same = match (&inherited.fixed, &attribute.fixed) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => self.simple.is_same(self.set, inherited.ty, (a, b)),
        };
        if !is_same {
            let problem = format!(
                "the attribute {name} has a fixed value in the base type, so it must have the same here"
            );
            self.broken("derivation-ok-restriction.2.1.3", problem, attribute.place);
        }
    }
}
