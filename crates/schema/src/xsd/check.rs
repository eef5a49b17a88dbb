//! Checks the constraints on components in strict loading: references resolve, no component is circular, derivations
//! are valid, default values are values of their type. (XML Schema Part 1 §3)
//!
//! The XPaths of identity constraints are not checked.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _, HashSet, HashSetExt as _};

use crate::components::{GroupNumber, Reference, SchemaSet, TypeKind, TypeNumber, TypeUse};
use crate::document::Position;
use crate::{Error, Result, Sort};

use super::resolve::TypeKey;
use super::simple::SimpleTypes;

mod attributes;
mod complex;
mod determinism;
mod elements;
mod model;
mod restriction;
mod simple;

/// The errors in the components of a set.
pub(super) fn check(set: &SchemaSet) -> Vec<Error> {
    let mut checker = Checker {
        set,
        simple: SimpleTypes::default(),
        circular: HashSet::new(),
        attributes: HashMap::new(),
        contents: HashMap::new(),
        groups: HashMap::new(),
        open_groups: Vec::new(),
        depth: 0,
        steps: 0,
        errors: Vec::new(),
    };
    checker.find_circular_types();
    checker.check_groups();
    for number in (0..set.types.len() as u32).map(TypeNumber) {
        if set.work.is_used_up() {
            break;
        }
        match &set.type_definition(number).kind {
            TypeKind::Simple(definition) => checker.check_simple(number, definition),
            TypeKind::Complex(definition) => checker.check_complex(number, definition),
        }
    }
    checker.check_elements();
    checker.check_attributes();
    checker.check_identity_constraints();
    match set.work.is_used_up() {
        true => vec![set.work.exceeded()],
        false => checker.errors,
    }
}

struct Checker<'s> {
    set: &'s SchemaSet,
    simple: SimpleTypes,
    /// Types that are derived from themselves.
    circular: HashSet<TypeNumber>,
    attributes: HashMap<TypeNumber, Arc<attributes::AttributeSet>>,
    contents: HashMap<TypeNumber, Arc<model::Content>>,
    groups: HashMap<GroupNumber, Option<model::Particle>>,
    open_groups: Vec<GroupNumber>,
    /// The nesting depth of the particle being checked.
    depth: usize,
    /// The comparisons made for the current restriction.
    steps: usize,
    errors: Vec<Error>,
}

impl<'s> Checker<'s> {
    /// Takes work from the budget. When it is used up, the check ends with the error that says so.
    fn charge(&self, units: usize) {
        // The error is that of the whole check.
        let _ = self.set.work.charge(units as u64);
    }

    /// Records the error of a result.
    fn noted<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error)).ok()
    }

    #[cold]
    fn broken(&mut self, rule: &'static str, problem: impl Into<String>, place: Position) {
        let error = self.set.broken(rule, problem, place);
        self.errors.push(error);
    }

    /// Resolves the use of a type; an undefined one is recorded as an error.
    fn used(&mut self, ty: &TypeUse) -> Option<TypeKey> {
        let found = self.set.resolve_use(ty);
        self.noted(found)
    }

    fn find_circular_types(&mut self) {
        let set = self.set;
        let mut sound: HashSet<TypeNumber> = HashSet::new();
        for start in (0..set.types.len() as u32).map(TypeNumber) {
            let mut path: Vec<TypeNumber> = Vec::new();
            let mut on_path: HashSet<TypeNumber> = HashSet::new();
            let mut next = Some(start);
            while let Some(number) = next.filter(|number| !sound.contains(number)) {
                if self.circular.contains(&number) || !on_path.insert(number) {
                    let definition = set.type_definition(start);
                    if !self.circular.contains(&number) {
                        let error = set.circular(
                            Sort::Type,
                            set.type_name(TypeKey::Defined(start)),
                            definition.place,
                        );
                        self.errors.push(error);
                    }
                    self.circular.extend(path.drain(..));
                    break;
                }
                path.push(number);
                next = set
                    .base_of(TypeKey::Defined(number))
                    .and_then(|base| base.0.number());
            }
            sound.extend(path);
        }
    }

    fn check_identity_constraints(&mut self) {
        let set = self.set;
        for constraint in set.identity_constraints.values() {
            let Some(refer) = &constraint.refer else {
                continue;
            };
            match set.identity_constraints.get(&refer.name) {
                Some(key) if key.is_key && key.fields == constraint.fields => {}
                Some(key) if key.is_key => self.broken(
                    "c-props-correct.2",
                    "a keyref must have as many fields as the key it refers to",
                    constraint.place,
                ),
                _ => {
                    let error = set.undefined(Sort::IdentityConstraint, refer);
                    self.errors.push(error);
                }
            }
        }
    }
}

/// The position of a use of a type.
fn place_of_use(set: &SchemaSet, ty: &TypeUse) -> Position {
    match ty {
        TypeUse::Named(Reference { place, .. }) => *place,
        TypeUse::Defined(number) => set.type_definition(*number).place,
    }
}
