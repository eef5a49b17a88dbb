//! May this attribute, this child stand here? What the schema for schemas says of each element of a
//! schema document, and the rules on representation beside it (`src-…`). Only strict loading asks.
//!
//! A rule lists the attributes with the sort of value each has, and the children as stretches that
//! come one after the other: so much of a regular language is all that XML Schema needs of itself.

use std::collections::HashSet;

use roxmltree::Node;

use crate::document::{Documents, place_of, place_of_value};
use crate::name::{XSD_NAMESPACE, is_ncname};
use crate::{Error, ErrorKind};

mod representation;
mod rules;
mod values;

use rules::{Children, Rule};

/// All that is wrong with the form of a schema element and what is in it.
pub(super) fn check(documents: &Documents, document: u32, schema: Node<'_, '_>) -> Vec<Error> {
    let mut checker = Checker {
        documents,
        document,
        errors: Vec::new(),
        ids: HashSet::new(),
    };
    // A stack of our own: documents may be deeper than ours.
    let mut waiting = vec![(schema, &rules::SCHEMA)];
    while let Some((node, rule)) = waiting.pop() {
        checker.attributes(node, rule);
        checker.children(node, rule, &mut waiting);
        representation::check(&mut checker, node, rule.name);
    }
    checker.errors
}

struct Checker<'d> {
    documents: &'d Documents,
    document: u32,
    errors: Vec<Error>,
    ids: HashSet<String>,
}

impl Checker<'_> {
    fn attributes(&mut self, node: Node<'_, '_>, rule: &Rule) {
        for attribute in node.attributes() {
            if let Some(namespace) = attribute.namespace() {
                if namespace == XSD_NAMESPACE {
                    self.broken(
                        node,
                        format!("the attribute {} may not be qualified", attribute.name()),
                    );
                }
                continue;
            }
            let Some((_, sort)) = rule
                .attributes
                .iter()
                .find(|known| known.0 == attribute.name())
            else {
                self.broken(
                    node,
                    format!(
                        "the attribute {} may not stand on <{}>",
                        attribute.name(),
                        node.tag_name().name()
                    ),
                );
                continue;
            };
            if let Err(expected) = values::check(*sort, attribute.value(), node) {
                let kind = ErrorKind::Value {
                    attribute: attribute.name().to_owned(),
                    found: attribute.value().to_owned(),
                    expected: expected.to_owned(),
                };
                let place = place_of_value(self.document, node, attribute.name());
                self.errors
                    .push(Error::new(kind).at(self.documents.spell(place)));
            }
        }
        if let Some(id) = node.attribute("id").filter(|id| is_ncname(id.trim()))
            && !self.ids.insert(id.trim().to_owned())
        {
            self.broken(node, format!("the id {id:?} stands twice in the document"));
        }
        for required in rule.required {
            if !node.has_attribute(*required) {
                self.broken(
                    node,
                    format!(
                        "<{}> needs the attribute {required}",
                        node.tag_name().name()
                    ),
                );
            }
        }
    }

    fn children<'a, 'i>(
        &mut self,
        node: Node<'a, 'i>,
        rule: &Rule,
        waiting: &mut Vec<(Node<'a, 'i>, &'static Rule)>,
    ) {
        let Children::Stretches(stretches) = rule.children else {
            return;
        };
        let (mut stretch, mut count) = (0, 0);
        for child in node.children() {
            if child.is_text()
                && !child
                    .text()
                    .unwrap_or("")
                    .trim_matches([' ', '\t', '\r', '\n'])
                    .is_empty()
            {
                self.broken(
                    child,
                    format!("text may not stand in <{}>", node.tag_name().name()),
                );
            }
            if !child.is_element() {
                continue;
            }
            let name = child.tag_name().name();
            let is_ours = child.tag_name().namespace() == Some(XSD_NAMESPACE);
            let place = (stretch..stretches.len()).find_map(|at| {
                let rule = stretches[at]
                    .rules
                    .iter()
                    .find(|rule| is_ours && rule.name == name)?;
                let full = at == stretch && count >= stretches[at].max;
                (!full).then_some((at, *rule))
            });
            let Some((at, rule)) = place else {
                self.broken(
                    child,
                    format!(
                        "<{name}> may not stand here in <{}>",
                        node.tag_name().name()
                    ),
                );
                continue;
            };
            if at != stretch {
                (stretch, count) = (at, 0);
            }
            count += 1;
            waiting.push((child, rule));
        }
        for required in stretches.iter().filter(|stretch| stretch.is_required) {
            let has = node.children().any(|child| {
                child.is_element()
                    && required
                        .rules
                        .iter()
                        .any(|rule| rule.name == child.tag_name().name())
            });
            if !has {
                self.broken(
                    node,
                    format!(
                        "<{}> needs a <{}>",
                        node.tag_name().name(),
                        required.rules[0].name
                    ),
                );
            }
        }
    }

    #[cold]
    fn broken(&mut self, node: Node<'_, '_>, problem: String) {
        self.rule(node, "schema for schemas", problem);
    }

    #[cold]
    fn rule(&mut self, node: Node<'_, '_>, rule: &'static str, problem: impl Into<String>) {
        let place = self.documents.spell(place_of(self.document, node));
        self.errors.push(
            Error::new(ErrorKind::Rule {
                rule,
                problem: problem.into(),
            })
            .at(place),
        );
    }
}
