//! The names of elements and types in signatures and outlines: `prefix:local` with the prefix that the Plan writes, or a short
//! description of what has no name.

use bsoap_codec::plan::{Content, ElementId, LeafId, Particle, Plan, TypeId};
use bsoap_datatypes::{SimpleType, Variety};
use bsoap_xml::NameId;

use crate::XSD_NAMESPACE;
use crate::definitions::SoapVersion;

pub(crate) fn spelled(plan: &Plan, name: NameId) -> String {
    qualified(
        plan,
        plan.vocabulary().namespace(name),
        plan.vocabulary().local(name),
    )
}

/// Whether the name is one of SOAP: such attributes are not shown, because every header block can have them.
pub(crate) fn is_soap(plan: &Plan, name: NameId) -> bool {
    let namespace = plan.vocabulary().namespace(name);
    [SoapVersion::Soap11, SoapVersion::Soap12]
        .iter()
        .any(|version| version.envelope_namespace() == namespace)
}

/// The name of a simple type, or its definition if it is anonymous.
pub(crate) fn leaf_label(plan: &Plan, leaf: LeafId) -> String {
    simple_label(plan, &plan.leaf(leaf).simple)
}

fn simple_label(plan: &Plan, simple: &SimpleType) -> String {
    // The name nearest to the type: an anonymous restriction goes by its base. (Derivation depth is bounded where types are made.)
    let mut simple = simple;
    loop {
        if let Some(name) = simple.name() {
            return qualified(plan, name.namespace().unwrap_or(""), name.local());
        }
        match (simple.variety(), simple.base()) {
            (Variety::List(item), _) => return format!("list of {}", simple_label(plan, item)),
            (Variety::Union(_), _) => return "xsd:anySimpleType".to_owned(),
            (Variety::Atomic(_), Some(base)) => simple = base,
            (Variety::Atomic(datatype), None) => return format!("xsd:{}", datatype.name()),
        }
    }
}

fn qualified(plan: &Plan, namespace: &str, local: &str) -> String {
    let prefix = match namespace {
        XSD_NAMESPACE => "xsd",
        _ => plan
            .vocabulary()
            .namespace_id(namespace)
            .map_or("", |id| plan.prefix(id)),
    };
    if prefix.is_empty() {
        local.to_owned()
    } else {
        format!("{prefix}:{local}")
    }
}

pub(crate) fn local(plan: &Plan, element: ElementId) -> &str {
    plan.vocabulary().local(plan.element(element).name)
}

/// The name of a type; `None` for an anonymous type that must be expanded.
pub(crate) fn type_label(plan: &Plan, ty: TypeId) -> Option<String> {
    let def = plan.ty(ty);
    let derived = if def.alternatives.len() > 1 { "*" } else { "" };
    if let Some(name) = def.name {
        return Some(format!("{}{derived}", spelled(plan, name)));
    }
    match def.content {
        Content::Any => Some("xsd:anyType".to_owned()),
        Content::Simple(leaf) if def.attributes.is_empty() => Some(leaf_label(plan, leaf)),
        _ => None,
    }
}

pub(crate) fn occurrence(particle: &Particle) -> (&'static str, &'static str) {
    let repeats = if particle.repeats() { "[]" } else { "" };
    let optional = if particle.min == 0 && !particle.repeats() {
        "?"
    } else {
        ""
    };
    (optional, repeats)
}
