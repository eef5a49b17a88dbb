//! Samples of the messages of all WSDLs: each is encoded, and is valid by all rules when it is read.
//!
//! It is read by a Plan in which wildcards are the declared elements they allow, so that what is in them is checked too.

use std::sync::Arc;

use bsoap_codec::decode::Validation;
use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{DecodeOptions, Decoder, Record, Value, encode, sample};
use bsoap_protocol::Target;
use bsoap_schema::{Binding, Body, Definitions, LoadOptions, Message, Offers};

use crate::known::{Outcome, Score};
use crate::wsdl_index::Wsdls;

/// The longest sample, in bytes.
const LARGEST: usize = 2 << 20;

/// Samples the request and the answer of each operation of each WSDL.
pub fn run(wsdls: &Wsdls) -> Score {
    let mut score = Score::new("samples");
    for (file, definitions) in wsdls.all() {
        let mut options = LoadOptions::default();
        options.offers = Offers::All;
        match definitions.reload(&options) {
            Ok(validating) => sample_all(&mut score, file, &definitions, &validating),
            Err(error) => score.record(file, Err(format!("as a validator: {error}"))),
        }
    }
    score
}

fn sample_all(score: &mut Score, file: &str, definitions: &Definitions, validating: &Definitions) {
    for (binding, strict) in definitions.bindings().iter().zip(validating.bindings()) {
        let decode = |root: ElementId, text: &[u8]| valid(validating.plan(), root, text);
        for operation in &binding.operations {
            // Of overloaded operations a Target is the first.
            if !binding
                .operation(&operation.name)
                .is_some_and(|first| std::ptr::eq(first, operation))
            {
                score.record("", Outcome::Skip("an overloaded operation"));
                continue;
            }
            let case = |what: &str| format!("{file} {} {} {what}", binding.name, operation.name);
            let request = request(definitions.plan(), binding, &operation.name);
            let request = request.and_then(|record| decode(strict.request, &text(&record)?));
            score.record(&case("request"), request);
            if operation.output.is_some() {
                let answer = answer(definitions.plan(), binding, &operation.name);
                let answer = answer.and_then(|record| decode(strict.response, &text(&record)?));
                score.record(&case("answer"), answer);
            }
        }
    }
}

fn request(plan: &Arc<Plan>, binding: &Arc<Binding>, operation: &str) -> Result<Record, String> {
    let target = Target::new(plan, binding, operation).map_err(|error| error.to_string())?;
    let arguments = contents(plan, &target.operation().input)?;
    let request = target.request(arguments);
    Ok(request.map_err(|error| chain(&error))?.into_record())
}

fn answer(plan: &Arc<Plan>, binding: &Arc<Binding>, operation: &str) -> Result<Record, String> {
    let target = Target::new(plan, binding, operation).map_err(|error| error.to_string())?;
    let result = target
        .operation()
        .output
        .as_ref()
        .map(|message| contents(plan, message))
        .transpose()?;
    target
        .response(result.unwrap_or_default())
        .map_err(|error| chain(&error))
}

/// A sample of the arguments or the result.
fn contents(plan: &Arc<Plan>, message: &Message) -> Result<Value, String> {
    let of = |element| sample(plan, element).map_err(|error| error.to_string());
    match &message.body {
        Body::Wrapped { wrapper } | Body::Rpc { wrapper, .. } => of(*wrapper),
        body => {
            let parts = body.parts().iter();
            let parts = parts.map(|part| Ok((part.name.clone(), of(part.element)?)));
            Ok(Value::object(parts.collect::<Result<Vec<_>, String>>()?))
        }
    }
}

fn text(record: &Record) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    encode(record, &mut text).map_err(|error| chain(&error))?;
    match text.len() {
        0..=LARGEST => Ok(text),
        length => Err(format!("{length} bytes")),
    }
}

fn valid(plan: &Arc<Plan>, root: ElementId, text: &[u8]) -> Result<(), String> {
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    let mut decoder = Decoder::new(plan.clone(), options);
    let violations = decoder.validate(root, text);
    match violations.first() {
        None => Ok(()),
        Some(first) => Err(format!("{first}\n{}", String::from_utf8_lossy(text))),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
