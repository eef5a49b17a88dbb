//! Checks the attributes and children of each element of a schema document, by the schema for schemas and by the further
//! rules on representation (`src-…`). Only strict loading does this.
//!
//! A rule of `rules.txt` lists the attributes, each with the kind of its value, and the children as a sequence of groups.
//! The schema for schemas needs no other regular expressions.

use foldhash::{HashSet, HashSetExt as _};
use roxmltree::Node;

use crate::document::{Documents, place_of, place_of_value};
use crate::name::{XSD_NAMESPACE, is_ncname};
use crate::{Error, ErrorKind};

mod representation;
mod rules;
mod values;

use rules::{RULES, Rule};

/// The errors in the form of a schema element and its descendants.
pub(super) fn check(documents: &Documents, document: u32, schema: Node<'_, '_>) -> Vec<Error> {
    let mut checker = Checker {
        documents,
        document,
        errors: Vec::new(),
        ids: HashSet::new(),
    };
    // An explicit stack: documents may be deeper than the call stack allows.
    let mut waiting = vec![(schema, &RULES[0])];
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
                        format!(
                            "the attribute {} must not have a namespace prefix",
                            attribute.name()
                        ),
                    );
                }
                continue;
            }
            let Some((_, kind)) = rule
                .attributes
                .iter()
                .find(|known| known.0 == attribute.name())
            else {
                self.broken(
                    node,
                    format!(
                        "the attribute {} is not allowed in <{}>",
                        attribute.name(),
                        node.tag_name().name()
                    ),
                );
                continue;
            };
            if let Err(expected) = kind.check(attribute.value(), node) {
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
            self.broken(node, format!("the id {id:?} is used twice in the document"));
        }
        for required in &rule.required {
            if !node.has_attribute(*required) {
                self.broken(
                    node,
                    format!(
                        "<{}> must have the attribute {required}",
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
        let Some(groups) = &rule.children else {
            return;
        };
        let (mut group, mut count) = (0, 0);
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
                    format!("text is not allowed in <{}>", node.tag_name().name()),
                );
            }
            if !child.is_element() {
                continue;
            }
            let name = child.tag_name().name();
            let is_ours = child.tag_name().namespace() == Some(XSD_NAMESPACE);
            let place = (group..groups.len()).find_map(|at| {
                let mut rules = groups[at].rules.iter().map(|&rule| &RULES[rule]);
                let rule = rules.find(|rule| is_ours && rule.name == name)?;
                let full = at == group && count >= groups[at].max;
                (!full).then_some((at, rule))
            });
            let Some((at, rule)) = place else {
                self.broken(
                    child,
                    format!(
                        "<{name}> is not allowed here in <{}>",
                        node.tag_name().name()
                    ),
                );
                continue;
            };
            if at != group {
                (group, count) = (at, 0);
            }
            count += 1;
            waiting.push((child, rule));
        }
        for required in groups.iter().filter(|group| group.is_required) {
            let has = node.children().any(|child| {
                child.is_element()
                    && required
                        .rules
                        .iter()
                        .any(|&rule| RULES[rule].name == child.tag_name().name())
            });
            if !has {
                self.broken(
                    node,
                    format!(
                        "<{}> must have a child <{}>",
                        node.tag_name().name(),
                        RULES[required.rules[0]].name
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
