//! The limit on the depth of derivations: each type contains the attributes and the content of all its base types, and may
//! replace each of them, so a chain of n types costs n² of everything.

use std::hash::Hash;

use foldhash::{HashMap, HashMapExt as _};

use crate::Result;
use crate::components::{ElementNumber, SchemaSet, TypeNumber};
use crate::document::Position;

use super::resolve::TypeKey;

/// Checks that no type has more base types than the limit `depth`, and no element more heads of substitution groups.
///
/// # Errors
/// If one has.
pub(super) fn check(set: &SchemaSet) -> Result<()> {
    let mut types = Depths::new(set);
    for (number, definition) in (0..).map(TypeNumber).zip(&set.types) {
        types.check(number, definition.place, |number| {
            set.base_of(TypeKey::Defined(number))?.0.number()
        })?;
    }
    let mut elements = Depths::new(set);
    for (number, declaration) in (0..).map(ElementNumber).zip(&set.elements) {
        elements.check(number, declaration.place, |number| {
            let head = set.element_declaration(number).substitutes.as_ref()?;
            set.named_element(&head.name)
        })?;
    }
    Ok(())
}

/// The depths of the components of one sort, as far as they are known.
struct Depths<'s, N> {
    set: &'s SchemaSet,
    known: HashMap<N, usize>,
}

impl<'s, N: Copy + Eq + Hash> Depths<'s, N> {
    fn new(set: &'s SchemaSet) -> Self {
        Self {
            set,
            known: HashMap::new(),
        }
    }

    /// Finds the depth of a component by following `base`. A circular chain is an error elsewhere, and has no depth here.
    fn check(&mut self, number: N, place: Position, base: impl Fn(N) -> Option<N>) -> Result<()> {
        let limit = self.set.limits.depth;
        let mut chain = vec![number];
        let mut depth = 0;
        while let Some(next) = chain.last().and_then(|&last| base(last)) {
            if let Some(&known) = self.known.get(&next) {
                depth = known;
                break;
            }
            if chain.contains(&next) {
                break;
            }
            chain.push(next);
            if chain.len() > limit {
                return Err(self.set.too_many("depth", limit, place));
            }
        }
        for &number in chain.iter().rev() {
            depth += 1;
            self.known.insert(number, depth);
        }
        if depth > limit {
            return Err(self.set.too_many("depth", limit, place));
        }
        Ok(())
    }
}
