//! Intersection, union and subset of wildcards. (XML Schema Part 1 §3.10.6)

use bsoap_codec::plan::NamespaceConstraint;

use crate::work::{CHARACTERS_PER_UNIT, STEPS_PER_UNIT};

use NamespaceConstraint::{Any, Not, OneOf};

/// The units of work of copying constraints and combining them.
pub(crate) fn cost<'a>(constraints: impl Iterator<Item = &'a NamespaceConstraint>) -> usize {
    let (mut units, mut listed) = (0, 0);
    for constraint in constraints {
        let names = match constraint {
            Any => &[],
            Not(name) => std::slice::from_ref(name),
            OneOf(names) => names.as_slice(),
        };
        let length: usize = names.iter().map(String::len).sum();
        // Each name is compared with all before it.
        let compared = names.len().saturating_mul(listed);
        units += names.len() + length / CHARACTERS_PER_UNIT + compared / STEPS_PER_UNIT;
        listed += names.len();
    }
    units
}

/// The namespaces that both allow; `None` if no constraint can express the set.
pub(crate) fn intersection(
    a: &NamespaceConstraint,
    b: &NamespaceConstraint,
) -> Option<NamespaceConstraint> {
    Some(match (a, b) {
        _ if a == b => a.clone(),
        (Any, other) | (other, Any) => other.clone(),
        (OneOf(list), other) | (other, OneOf(list)) => OneOf(
            list.iter()
                .filter(|namespace| other.admits(namespace))
                .cloned()
                .collect(),
        ),
        // `Not(a)` excludes "no namespace" too, so it implies `Not("")`.
        (Not(a), Not(b)) if a.is_empty() || b.is_empty() => {
            Not(if a.is_empty() { b.clone() } else { a.clone() })
        }
        (Not(_), Not(_)) => return None,
    })
}

/// The namespaces that at least one allows; `None` if no constraint can express the set.
pub(crate) fn union(
    a: &NamespaceConstraint,
    b: &NamespaceConstraint,
) -> Option<NamespaceConstraint> {
    Some(match (a, b) {
        _ if a == b => a.clone(),
        (Any, _) | (_, Any) => Any,
        (OneOf(a), OneOf(b)) => {
            let mut all = a.clone();
            all.extend(b.iter().filter(|namespace| !a.contains(namespace)).cloned());
            OneOf(all)
        }
        (Not(_), Not(_)) => Not(String::new()),
        (Not(not), OneOf(list)) | (OneOf(list), Not(not)) => {
            let (has_not, has_none) = (list.contains(not), list.iter().any(String::is_empty));
            match (has_not || not.is_empty(), has_none) {
                (true, true) => Any,
                (true, false) => Not(String::new()),
                (false, false) => Not(not.clone()),
                (false, true) => return None,
            }
        }
    })
}

/// Whether `wide` allows all that `narrow` allows. (§3.10.6, Wildcard Subset)
pub(crate) fn is_subset(narrow: &NamespaceConstraint, wide: &NamespaceConstraint) -> bool {
    match (narrow, wide) {
        (_, Any) => true,
        (Any, _) => false,
        (OneOf(list), _) => list.iter().all(|namespace| wide.admits(namespace)),
        (Not(a), Not(b)) => a == b || b.is_empty(),
        (Not(_), OneOf(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intersection_and_union_agree_with_membership() {
        let names = ["", "a", "b", "c"];
        let one_of = |list: &[&str]| OneOf(list.iter().map(|&name| name.to_owned()).collect());
        let all = [
            Any,
            Not(String::new()),
            Not("a".into()),
            Not("b".into()),
            one_of(&[]),
            one_of(&["a"]),
            one_of(&["", "b"]),
            one_of(&["a", ""]),
        ];
        for a in &all {
            for b in &all {
                for name in names {
                    if let Some(both) = intersection(a, b) {
                        assert_eq!(
                            both.admits(name),
                            a.admits(name) && b.admits(name),
                            "{a:?} {b:?} {name:?}"
                        );
                    }
                    if let Some(either) = union(a, b) {
                        // "Not none" is wider than two Nots that differ, as the specification has it.
                        assert_eq!(
                            either.admits(name),
                            a.admits(name) || b.admits(name),
                            "{a:?} {b:?} {name:?}"
                        );
                    }
                }
                if is_subset(a, b) {
                    assert!(
                        names.iter().all(|name| !a.admits(name) || b.admits(name)),
                        "{a:?} {b:?}"
                    );
                }
            }
        }
    }
}
