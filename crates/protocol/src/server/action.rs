//! The action of a request, which should name the operation that the element in the Body selects.
//!
//! It is the `SOAPAction` header in SOAP 1.1 and the `action` parameter of the media type in SOAP 1.2. The element decides;
//! the action only tells operations apart that have the same element. If it does not, although their actions differ, the request
//! is refused.

use bsoap_codec::plan::{ElementId, Plan};
use bsoap_schema::{Binding, Operation};

use crate::addressing::AddressingProblem;
use crate::fault::Fault;
use crate::limits::MAX_LISTED_ELEMENTS;
use crate::name::element_name;

/// What to do with a request whose action belongs to no operation of the port. An empty or missing action is always accepted,
/// one that names another operation than the Body never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAction {
    /// It is accepted. Many clients send an action that the WSDL does not have.
    #[default]
    Accept,
    /// It is refused with a fault.
    Refuse,
}

/// Checks that the action of a request does not contradict the operation that the Body selects.
///
/// # Errors
/// The fault that names both operations, or the unknown action.
pub(super) fn check(
    plan: &Plan,
    binding: &Binding,
    selected: &Operation,
    action: Option<&str>,
    policy: UnknownAction,
) -> Result<(), Fault> {
    let Some(action) = action.filter(|action| !action.is_empty()) else {
        return Ok(());
    };
    let is_named = |operation: &&Operation| operation.soap_action.as_deref() == Some(action);
    if is_named(&selected) {
        return Ok(());
    }
    match (binding.operations.iter().find(is_named), policy) {
        (Some(named), _) => Err(contradiction(plan, action, named, selected)),
        (None, UnknownAction::Refuse) => Err(unknown(action, selected)),
        (None, UnknownAction::Accept) => Ok(()),
    }
}

/// Checks that the action of WS-Addressing belongs to the operation that the Body selects, and that the action of the transport
/// is no other.
///
/// # Errors
/// The rule that is broken.
pub(super) fn check_addressing(
    binding: &Binding,
    selected: &Operation,
    (action, transport): (&str, &str),
    policy: Option<UnknownAction>,
) -> Result<(), AddressingProblem> {
    if !transport.is_empty() && transport != action {
        return Err(AddressingProblem::ActionMismatch {
            action: action.to_owned(),
            soap_action: transport.to_owned(),
        });
    }
    let is_of = |operation: &Operation| {
        operation.input.action == action || operation.soap_action.as_deref() == Some(action)
    };
    if is_of(selected) {
        return Ok(());
    }
    let is_known = binding.operations.iter().any(is_of);
    if !is_known && policy == Some(UnknownAction::Accept) {
        return Ok(());
    }
    let expected = (selected.name.clone(), selected.input.action.clone());
    Err(AddressingProblem::ActionNotSupported {
        action: action.to_owned(),
        expected: is_known.then_some(expected),
    })
}

/// The fault for a request whose Body and action are those of several operations, or of none of them.
pub(super) fn undecided(plan: &Plan, candidates: &[&Operation], action: Option<&str>) -> Fault {
    let first = candidates.first();
    let element = first.and_then(|operation| operation.input.body.first_element());
    let body = body_label(plan, element);
    let found = match action {
        None | Some("") => "it has none".to_owned(),
        Some(action) => format!("found {action:?}"),
    };
    let listed = candidates.iter().take(MAX_LISTED_ELEMENTS);
    let mut listed: Vec<String> = listed
        .map(|operation| match operation.soap_action.as_deref() {
            None | Some("") => format!("operation {} (no action)", operation.name),
            Some(action) => format!("operation {} (action {action:?})", operation.name),
        })
        .collect();
    let more = candidates.len() - listed.len();
    if more > 0 {
        listed.push(format!("{more} other operations"));
    }
    Fault::sender(format!(
        "{body}, which several operations have, and the action of the request does not select one of them: {found}, expected that of {}",
        listed.join(" or ")
    ))
}

/// What a Body has, as the beginning of a reason.
fn body_label(plan: &Plan, element: Option<ElementId>) -> String {
    match element.map(|element| element_name(plan, element)) {
        Some(name) => format!("the Body has <{name}>"),
        None => "the Body is empty".to_owned(),
    }
}

fn contradiction(plan: &Plan, action: &str, named: &Operation, selected: &Operation) -> Fault {
    let body = body_label(plan, selected.input.body.first_element());
    Fault::sender(format!(
        "action {action:?} names operation {}, but {body}, which selects operation {}",
        named.name, selected.name
    ))
}

fn unknown(action: &str, selected: &Operation) -> Fault {
    let expected = match selected.soap_action.as_deref() {
        None | Some("") => "none".to_owned(),
        Some(own) => format!("{own:?} or none"),
    };
    Fault::sender(format!(
        "action {action:?} belongs to no operation of the port, expected {expected} for operation {}",
        selected.name
    ))
}
