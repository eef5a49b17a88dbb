//! Messages made of the schema alone: for `describe --sample`, and for the answers of `serve`.

use std::sync::Arc;

use bsoap::{Object, Value};
use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{SampleTooLarge, samples};
use bsoap_protocol::{HEADERS, Target};
use bsoap_schema::{Body, SoapVersion};

/// A sample of an operation's arguments, with its declared header blocks.
///
/// # Errors
/// If what the schema requires is too large.
pub(crate) fn request(target: &Target) -> Result<Value, SampleTooLarge> {
    let (plan, input) = (target.plan(), &target.operation().input);
    let body = elements(&input.body);
    let headers = input.headers.iter().map(|part| part.element);
    let mut values = samples(plan, body.iter().copied().chain(headers))?;
    let blocks = values.split_off(body.len());
    let mut arguments = match contents(&input.body, values) {
        Value::Object(arguments) => arguments,
        _ => Object::new(),
    };
    if !input.headers.is_empty() {
        let blocks = input.headers.iter().zip(blocks);
        let blocks =
            blocks.map(|(part, value)| (part.name.clone(), block(plan, part.element, value)));
        arguments.insert(HEADERS, Value::object(blocks));
    }
    Ok(Value::Object(arguments))
}

/// A sample of an operation's answer; nil for a one-way operation.
///
/// # Errors
/// If what the schema requires is too large.
pub(crate) fn answer(target: &Target) -> Result<Value, SampleTooLarge> {
    let Some(output) = &target.operation().output else {
        return Ok(Value::Nil);
    };
    let values = samples(target.plan(), elements(&output.body))?;
    Ok(contents(&output.body, values))
}

/// The elements that a body is made of.
fn elements(body: &Body) -> Vec<ElementId> {
    match body {
        Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => vec![*wrapper],
        body => body.parts().iter().map(|part| part.element).collect(),
    }
}

/// The arguments or the result, of the values of these elements.
fn contents(body: &Body, mut values: Vec<Value>) -> Value {
    match body {
        Body::Wrapped { .. } | Body::Rpc { .. } => values.pop().unwrap_or_default(),
        body => {
            let parts = body.parts().iter().map(|part| part.name.clone());
            Value::object(parts.zip(values))
        }
    }
}

/// A header block without the attributes of SOAP, such as `mustUnderstand`.
fn block(plan: &Arc<Plan>, element: ElementId, mut block: Value) -> Value {
    if let Value::Object(members) = &mut block {
        for id in plan.ty(plan.element(element).ty).attribute_ids() {
            let (name, vocabulary) = (plan.attribute(id).name, plan.vocabulary());
            let versions = [SoapVersion::Soap11, SoapVersion::Soap12];
            if versions
                .map(SoapVersion::envelope_namespace)
                .contains(&vocabulary.namespace(name))
            {
                members.remove(&format!("@{}", vocabulary.local(name)));
            }
        }
    }
    block
}
