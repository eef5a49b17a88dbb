//! The action of a request, which should name the operation that the element in the Body selects.
//!
//! It is the `SOAPAction` header in SOAP 1.1 and the `action` parameter of the media type in SOAP 1.2. The element decides;
//! the action only tells operations apart that have the same element.

use bsoap_codec::plan::Plan;
use bsoap_schema::{Binding, Operation};

use crate::fault::Fault;
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

fn contradiction(plan: &Plan, action: &str, named: &Operation, selected: &Operation) -> Fault {
    let element = selected.input.body.first_element();
    let body = match element.map(|element| element_name(plan, element)) {
        Some(name) => format!("the Body has <{name}>"),
        None => "the Body is empty".to_owned(),
    };
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
