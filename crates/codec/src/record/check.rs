//! The check of a Record that is to be sent: that its texts are lexical forms, listed by their enumerations.
//!
//! The walk passes over whatever has nothing to check, and ends where nothing to check follows.

use bsoap_datatypes::qname::NoNamespaces;

use crate::decode::Validation;
use crate::encode::{Error, ErrorKind};
use crate::plan::{Leaf, LeafId, LeafKind};
use crate::record::walk::{Event, Mismatch, Start, Walk};
use crate::record::{Record, marker, path};
use crate::value::view::LeafView;

/// A value that must not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongValue {
    pub(crate) slot: usize,
    /// What is wrong with it.
    pub(crate) problem: String,
}

/// Checks all texts of a Record. One that does not fit its Plan is left to the encoder, which reports it.
#[inline(never)]
pub(super) fn check(record: &Record, validation: Validation) -> Result<(), Error> {
    match find(record, validation) {
        Ok(None) | Err(Mismatch) => Ok(()),
        Ok(Some(WrongValue { slot, problem })) => {
            let path = path::of_slot(record, slot);
            Err(Error::new(ErrorKind::Value(problem), slot, path))
        }
    }
}

/// The first wrong value.
fn find(record: &Record, validation: Validation) -> Result<Option<WrongValue>, Mismatch> {
    let plan = &*record.plan;
    let checks = plan.checks(validation);
    let (mut walk, root) = Walk::new(record)?;
    if !checks.ty(root.ty) {
        return Ok(None);
    }
    while let Some(event) = walk.next()? {
        let (leaf, at) = match event {
            Event::Start(Start { nil: true, .. }) => continue,
            Event::Start(start) if checks.ty(start.ty) => continue,
            Event::Array { element, .. } if checks.element(plan, element) => continue,
            Event::Start(_) | Event::Array { .. } => {
                if walk.is_last(|particle| checks.particle(particle), |ty| checks.ty(ty)) {
                    return Ok(None);
                }
                walk.skip(event)?;
                continue;
            }
            Event::Leaf { leaf, at } => (leaf, at),
            Event::Attribute { id, presence, at } if presence != marker::ABSENT => {
                (plan.attribute(id).leaf, at)
            }
            _ => continue,
        };
        if !checks.leaf(leaf) {
            continue;
        }
        let checked = match validation {
            Validation::Lexical => check_leaf(record, leaf, at),
            Validation::Full => {
                check_leaf(record, leaf, at).and_then(|()| check_facets(record, leaf, at))
            }
        };
        if let Err(wrong) = checked {
            return Ok(Some(wrong));
        }
    }
    Ok(None)
}

/// Checks the value of a leaf that begins at a slot.
pub(crate) fn check_leaf(record: &Record, id: LeafId, at: usize) -> Result<(), WrongValue> {
    let (leaf, view) = (record.plan.leaf(id), LeafView::new(record, id, at));
    if !leaf.is_checked {
        return Ok(());
    }
    let LeafKind::List(item) = leaf.kind else {
        return check_atom(leaf, &view);
    };
    let item = record.plan.leaf(item);
    if item.is_checked {
        let mut items = view.items();
        items.try_for_each(|view| check_atom(item, &view))?;
    }
    match leaf.is_listed {
        true => leaf
            .check_listed(&view.text())
            .map_err(|problem| WrongValue { slot: at, problem }),
        false => Ok(()),
    }
}

/// Checks all facets of a value. Of a name only the enumeration is known, which has been checked.
fn check_facets(record: &Record, id: LeafId, at: usize) -> Result<(), WrongValue> {
    let leaf = record.plan.leaf(id);
    let view = LeafView::new(record, id, at);
    if !leaf.has_facets || leaf.kind == LeafKind::Name {
        return Ok(());
    }
    let checked = leaf.simple.check(&view.text(), &NoNamespaces);
    checked.map_err(|problem| WrongValue {
        slot: at,
        problem: problem.to_string(),
    })
}

/// Checks a value of one slot.
fn check_atom(leaf: &Leaf, view: &LeafView<'_>) -> Result<(), WrongValue> {
    let checked = match leaf.kind {
        LeafKind::Text => leaf.check_text(view.as_str().unwrap_or_default()),
        LeafKind::Name => leaf.check_listed_name(view.as_str().unwrap_or_default()),
        _ => leaf.check_listed(&view.text()),
    };
    let slot = view.slot();
    checked.map_err(|problem| WrongValue { slot, problem })
}
