//! `bsoap decode`: a message to JSON.

use bsoap::addressing::{EndpointReference, MessageAddressing};
use bsoap_codec::repair::Repair;
use bsoap_codec::{Decoder, View};
use bsoap_xml::DoctypePolicy;
use serde_json::json;

use super::validate;
use crate::error::Failure;
use crate::input::{self, WsdlArguments};
use crate::message::{self, MessageKind};
use crate::message_limits::LimitArguments;
use crate::output::Output;
use crate::style::{DIM, paint};
use crate::tolerance::{self, ToleranceArguments};
use crate::violation::Violation;

/// Turn a message into JSON
///
/// The operation is found from the first element in the Body. Arguments of a wrapped operation are the children of its
/// wrapper; those of a bare or rpc operation are its parts by name; header blocks are under `@headers`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The message; `-` is standard input
    #[arg(default_value = "-")]
    message: String,
    /// Read an element that is both a request and a response as a response
    #[arg(long)]
    response: bool,
    /// Refuse a message in which an xs:ID is not unique, or an xs:IDREF is none of them
    #[arg(long)]
    ids: bool,
    #[command(flatten)]
    tolerance: ToleranceArguments,
    #[command(flatten)]
    limits: LimitArguments,
    /// One line with the operation, the direction and the value
    #[arg(long)]
    json: bool,
}

/// Decodes a message.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load()?;
    let text = input::bytes(&arguments.message)?;
    let name = input::name(&arguments.message);
    let prefer = arguments.response.then_some(MessageKind::Response);
    let found =
        message::find(&definitions, &text, DoctypePolicy::Refuse, prefer).map_err(|violation| {
            Failure::input(format!(
                "{}: {}",
                violation.location(name),
                violation.problem
            ))
        })?;
    let options = arguments.limits.decoding(arguments.tolerance.options());
    let mut decoder = Decoder::new(definitions.plan().clone(), options);
    let record = Repair::default()
        .decode(&mut decoder, found.root, &text)
        .map_err(|error| {
            let advice = error.advice().map(|advice| format!("; {advice}"));
            refused(
                &Violation::of(&text, &error),
                name,
                &advice.unwrap_or_default(),
            )
        })?;
    if arguments.ids {
        let wrong = record.wrong_identities(1);
        let wrong = validate::located(&mut decoder, found.root, &text, wrong);
        if let Some(violation) = wrong.first() {
            return Err(refused(violation, name, ""));
        }
    }
    let value = match (&found.target, found.direction) {
        (Some(target), MessageKind::Request) => target.request_value(&record),
        (Some(target), _) => target.response_value(&record),
        (None, _) => View::of(&record)
            .to_value()
            .map_err(|error| Failure::input(name).because(error))?,
    };
    let operation = found
        .target
        .as_ref()
        .map(|target| target.operation().name.as_str());
    if output.is_json() {
        let mut shown = json!({
            "operation": operation, "direction": found.direction.name(), "value": serde_json::Value::from(&value),
            "warnings": tolerance::json(record.warnings()),
        });
        if let Ok(Some(found)) = MessageAddressing::read(&text) {
            shown["addressing"] = addressing(&found);
        }
        return output.json(&shown);
    }
    tolerance::print_at(record.warnings(), name, &text, &output);
    output.note(&paint(
        DIM,
        &format!(
            "{} {}",
            operation.unwrap_or_default(),
            found.direction.name()
        ),
    ));
    output.pretty_json(&value)
}

/// The header blocks of WS-Addressing of a message as JSON.
fn addressing(found: &MessageAddressing) -> serde_json::Value {
    let address =
        |endpoint: &Option<EndpointReference>| endpoint.as_ref().map(|it| it.address.clone());
    json!({
        "to": found.to, "action": found.action, "message_id": found.message_id, "answers": found.answered_id(),
        "from": address(&found.from), "reply_to": address(&found.reply_to), "fault_to": address(&found.fault_to),
    })
}

/// The failure for a message that is not valid.
fn refused(violation: &Violation, name: &str, advice: &str) -> Failure {
    let location = violation.location(name);
    let failure = Failure::input(format!(
        "{location}: the message does not conform to the WSDL"
    ));
    failure.because_of(&format!(
        "{} at {}{advice}",
        violation.problem, violation.path
    ))
}
