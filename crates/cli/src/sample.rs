//! Messages made of the schema alone: for `describe --sample`, and for the answers of `serve`.

use std::sync::Arc;

use bsoap::{Object, Value};
use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::sample;
use bsoap_protocol::{HEADERS, Target};
use bsoap_schema::{Body, SoapVersion};

/// A sample of an operation's arguments, with its declared header blocks.
pub(crate) fn request(target: &Target) -> Value {
    let input = &target.operation().input;
    let mut arguments = match contents(target.plan(), &input.body) {
        Value::Object(arguments) => arguments,
        _ => Object::new(),
    };
    let blocks = input
        .headers
        .iter()
        .map(|part| (part.name.clone(), block(target.plan(), part.element)));
    if !input.headers.is_empty() {
        arguments.insert(HEADERS, Value::object(blocks));
    }
    Value::Object(arguments)
}

/// A sample of an operation's answer; nil for a one-way operation.
pub(crate) fn answer(target: &Target) -> Value {
    match &target.operation().output {
        Some(output) => contents(target.plan(), &output.body),
        None => Value::Nil,
    }
}

fn contents(plan: &Arc<Plan>, body: &Body) -> Value {
    match body {
        Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => sample(plan, *wrapper),
        body => Value::object(
            body.parts()
                .iter()
                .map(|part| (part.name.clone(), sample(plan, part.element))),
        ),
    }
}

/// A header block without the attributes of SOAP, such as `mustUnderstand`.
fn block(plan: &Arc<Plan>, element: ElementId) -> Value {
    let mut block = sample(plan, element);
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
