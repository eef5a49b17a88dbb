//! Which deviation an element is that its parent does not declare, or does not declare at its place.

use bsoap_xml::NameId;

use super::error::{ErrorKind, Name};
use super::tolerance::Deviation;
use crate::plan::declared::{Fit, may_be_empty};
use crate::plan::{ElementId, ParticleId, Plan, Role, TypeId};

/// Which deviation an element is that its parent does not allow at its place.
pub(super) fn deviation_of_name(
    plan: &Plan,
    parent: TypeId,
    name: Option<NameId>,
    local: &str,
) -> Deviation {
    let declared = plan.declared(parent);
    match declared.fit(plan, name, local) {
        Some(Fit::Name(_)) if declared.is_flat => Deviation::MisplacedElement,
        Some(Fit::LocalName(index)) => match plan.element(declared.children[index].element).role {
            Role::Soap => Deviation::UnknownElement,
            _ => Deviation::OtherNamespace,
        },
        Some(Fit::OnlyItem(_)) => Deviation::OtherItemName,
        _ => Deviation::UnknownElement,
    }
}

/// Which deviation it is that an element ends without a required child, if that child may be empty.
pub(super) fn deviation_of_missing(
    plan: &Plan,
    parent: TypeId,
    kind: &ErrorKind,
) -> Option<Deviation> {
    let ErrorKind::Missing { expected } = kind else {
        return None;
    };
    // The last one is required, those before it are optional.
    let name = expected.names.last().filter(|_| !expected.more)?;
    let declared = plan.declared(parent);
    let name = plan.vocabulary().lookup(&name.namespace, &name.local);
    let child = declared.children.get(declared.index_of(name)?)?;
    let is_required = plan.particle(child.particle).is_required_once();
    (declared.is_flat && is_required && may_be_empty(plan, child.element))
        .then_some(Deviation::MissingElement)
}

/// Whether an element can be read as if it were absent or had no value: it is optional, nillable, or a text.
pub(super) fn allows_absence(plan: &Plan, id: ElementId, particle: Option<ParticleId>) -> bool {
    let is_optional = particle.is_some_and(|it| plan.particle(it).min == 0);
    is_optional || may_be_empty(plan, id)
}

/// Whether two names are the Envelopes of the two versions of SOAP.
pub(crate) fn is_envelope_of_soap(found: &Name, expected: &Name) -> bool {
    const ENVELOPES: [&str; 2] = [
        "http://schemas.xmlsoap.org/soap/envelope/",
        "http://www.w3.org/2003/05/soap-envelope",
    ];
    let is_soap = |name: &Name| &*name.local == "Envelope" && ENVELOPES.contains(&&*name.namespace);
    is_soap(found) && is_soap(expected)
}
