//! Identifiers and references to them: `xs:ID`, `xs:IDREF` and `xs:IDREFS`.

use std::collections::HashMap;

use bsoap_datatypes::Datatype;

use crate::plan::{LeafId, LeafKind, Plan};
use crate::record::walk::{Event, Walk};
use crate::record::{Record, marker, path};
use crate::value::view::LeafView;

/// An identifier that is there twice, or a reference to none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongIdentity {
    /// The slot of the value.
    pub slot: usize,
    /// The path of its element, such as `/Envelope/Body/order[2]`.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// What a simple type says of other elements.
enum Meaning {
    Identifier,
    Reference,
    References,
}

/// What is wrong with a name.
enum Fact {
    Twice,
    Dangling,
}

impl Record {
    /// Checks that each `xs:ID` of the message is unique and each `xs:IDREF` is one of them. Returns the first `most` problems, in
    /// document order but for dangling references, which come last. Elements of wildcards are not looked into.
    /// (XML Schema part 2, §3.3.8 to §3.3.10; part 1, §3.15.4)
    ///
    /// It is not a part of decoding, since most peers use neither.
    pub fn wrong_identities(&self, most: usize) -> Vec<WrongIdentity> {
        let mut identifiers: HashMap<&str, usize> = HashMap::new();
        let mut references = Vec::new();
        let mut wrong: Vec<(usize, &str, Fact)> = Vec::new();
        let Ok((mut walk, _)) = Walk::new(self) else {
            return Vec::new();
        };
        while let Ok(Some(event)) = walk.next() {
            let (leaf, at) = match event {
                Event::Leaf { leaf, at } => (leaf, at),
                Event::Attribute { id, presence, at } if presence != marker::ABSENT => {
                    (self.plan.attribute(id).leaf, at)
                }
                _ => continue,
            };
            let view = LeafView::new(self, leaf, at);
            match meaning(&self.plan, leaf) {
                None => {}
                Some(Meaning::Identifier) => {
                    let name = view.as_str().unwrap_or_default();
                    if identifiers.insert(name, at).is_some() && wrong.len() < most {
                        wrong.push((at, name, Fact::Twice));
                    }
                }
                Some(Meaning::Reference) => references.push((view, at)),
                Some(Meaning::References) => {
                    references.extend(view.items().map(|item| (item, at)));
                }
            }
        }
        for (view, at) in references {
            if wrong.len() >= most {
                break;
            }
            let name = view.as_str().unwrap_or_default();
            if !identifiers.contains_key(name) {
                wrong.push((at, name, Fact::Dangling));
            }
        }
        let wrong = wrong.into_iter();
        wrong
            .map(|(slot, name, fact)| WrongIdentity {
                slot,
                path: path::of_slot(self, slot),
                problem: match fact {
                    Fact::Twice => format!("the xs:ID {name:?} is there twice"),
                    Fact::Dangling => format!("no element has the xs:ID {name:?}"),
                },
            })
            .collect()
    }
}

fn meaning(plan: &Plan, leaf: LeafId) -> Option<Meaning> {
    let leaf = plan.leaf(leaf);
    if let LeafKind::List(item) = leaf.kind {
        let item = plan.leaf(item).simple.datatype();
        return (item == Some(Datatype::IdRef)).then_some(Meaning::References);
    }
    match leaf.simple.datatype()? {
        Datatype::Id => Some(Meaning::Identifier),
        Datatype::IdRef => Some(Meaning::Reference),
        _ => None,
    }
}
