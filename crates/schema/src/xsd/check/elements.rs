//! Checks element declarations: their types, default values and substitution groups. (§3.3.6)

use foldhash::HashSet;

use crate::Sort;
use crate::components::{DeclaredValue, ElementDeclaration};
use crate::document::Position;
use crate::work::CHARACTERS_PER_UNIT;

use super::super::resolve::TypeKey;
use super::Checker;
use super::model::Content;
use super::simple::is_id;

impl Checker<'_> {
    pub(super) fn check_elements(&mut self) {
        let set = self.set;
        for element in &set.elements {
            let ty = set.type_of(element);
            let Some(key) = self.noted(ty) else { continue };
            self.check_no_bare_notation(key, element.place);
            if let Some(value) = element.default.as_deref().or(element.fixed.as_deref()) {
                self.check_element_value(key, value, element.place);
            }
            self.check_substitution(element, key);
        }
    }

    /// (§3.3.6, Element Default Valid)
    fn check_element_value(&mut self, key: TypeKey, value: &DeclaredValue, place: Position) {
        if self.set.is_simple(key) {
            return self.check_value("e-props-correct.2", key, value, place);
        }
        let Some(number) = key.number() else { return };
        let Some(content) = self.content(number) else {
            return;
        };
        match &*content {
            Content::Simple => self.check_value("e-props-correct.2", key, value, place),
            Content::Elements {
                particle,
                mixed: true,
            } if particle
                .as_ref()
                .is_none_or(super::model::Particle::is_emptiable) => {}
            Content::Any => {}
            _ => self.broken(
                "cos-valid-default.2",
                "an element with element-only content cannot have a default or fixed value",
                place,
            ),
        }
    }

    /// Checks a default or fixed value of a simple type or of simple content.
    pub(super) fn check_value(
        &mut self,
        rule: &'static str,
        key: TypeKey,
        value: &DeclaredValue,
        place: Position,
    ) {
        let Ok(simple) = self.simple.simple(self.set, key) else {
            return;
        };
        if is_id(&simple) {
            return self.broken(
                rule,
                "a default or fixed value is not allowed for the type xs:ID",
                place,
            );
        }
        self.charge(value.length_of_namespaces() / CHARACTERS_PER_UNIT);
        if self.set.work.is_used_up() {
            return;
        }
        if let Err(error) = simple.check(value, value) {
            self.broken(rule, error.to_string(), place);
        }
    }

    /// (§3.3.6, e-props-correct.4 and .6)
    fn check_substitution(&mut self, element: &ElementDeclaration, key: TypeKey) {
        let set = self.set;
        let Some(head) = &element.substitutes else {
            return;
        };
        let number = set.resolve_element(head);
        let Some(head) = self
            .noted(number)
            .map(|number| set.element_declaration(number))
        else {
            return;
        };
        if let Ok(head_type) = set.type_of(head) {
            match self.derivation(key, head_type) {
                None => {
                    let problem = format!(
                        "{} is not derived from the type of {}, the head of the substitution group",
                        set.type_name(key),
                        head.name
                    );
                    self.broken("e-props-correct.4", problem, element.place);
                }
                Some(path) if path.meets(head.is_final) => {
                    let problem = format!(
                        "{}, the head of the substitution group, is final: it forbids this derivation",
                        head.name
                    );
                    self.broken("e-props-correct.4", problem, element.place);
                }
                Some(_) => {}
            }
        }
        let mut seen = HashSet::from_iter([&element.name]);
        let mut next = Some(head);
        while let Some(head) = next {
            if !seen.insert(&head.name) {
                if head.name == element.name {
                    let error = set.circular(Sort::Element, &element.name, element.place);
                    self.errors.push(error);
                }
                return;
            }
            next = head
                .substitutes
                .as_ref()
                .and_then(|head| set.element(&head.name));
        }
    }
}
