//! Samples of messages, made of the schema alone: for documentation, for services without code, and for tests.

use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{Object, SampleTooLarge, Value, samples};
use bsoap_schema::{Body, SoapVersion};

use crate::arguments::HEADERS;
use crate::target::Target;

impl Target {
    /// A sample of the operation's arguments, with its declared header blocks.
    ///
    /// # Errors
    /// If what the schema requires is too large.
    pub fn sample_request(&self) -> Result<Value, SampleTooLarge> {
        let (plan, input) = (self.plan(), &self.operation().input);
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

    /// A sample of the operation's answer; nil for a one-way operation.
    ///
    /// # Errors
    /// If what the schema requires is too large.
    pub fn sample_answer(&self) -> Result<Value, SampleTooLarge> {
        let Some(output) = &self.operation().output else {
            return Ok(Value::Nil);
        };
        let values = samples(self.plan(), elements(&output.body))?;
        Ok(contents(&output.body, values))
    }
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
