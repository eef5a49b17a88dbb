//! The elements that a WSDL declares for parts of a message.

use bsoap::Target;
use bsoap::codec::Plan;
use bsoap::codec::plan::ElementId;
use bsoap::schema::HeaderPart;

/// The element of a header block, by the name of its part, or by its own name.
pub(crate) fn header_element(plan: &Plan, parts: &[HeaderPart], name: &str) -> Option<ElementId> {
    let mut parts = parts.iter();
    let part = parts.find(|part| part.name == name || is_called(plan, part.element, name))?;
    Some(part.element)
}

/// Whether a name is the local or the expanded name of an element.
pub(crate) fn is_called(plan: &Plan, element: ElementId, name: &str) -> bool {
    let (vocabulary, own) = (plan.vocabulary(), plan.element(element).name);
    let (namespace, local) = (vocabulary.namespace(own), vocabulary.local(own));
    name == local || name == format!("{{{namespace}}}{local}")
}

/// The element of a declared detail, by its local or its expanded name.
pub(crate) fn detail_element(target: &Target, key: &str) -> Option<ElementId> {
    let faults = target.operation().faults.iter();
    let mut details = faults.filter_map(|fault| fault.detail);
    details.find(|&element| is_called(target.plan(), element, key))
}

/// The element of a header block of a fault, by the name of its part.
pub(crate) fn fault_header_element(target: &Target, part: &str) -> Option<ElementId> {
    let operations = target.binding().operations.iter();
    let messages =
        operations.flat_map(|operation| operation.output.iter().chain([&operation.input]));
    let mut found = messages.map(|message| {
        let parts = &message.header_faults;
        header_element(target.plan(), parts, part)
    });
    found.find_map(|element| element)
}
