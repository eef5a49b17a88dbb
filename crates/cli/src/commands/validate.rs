//! `bsoap validate`: every violation in messages, with its location.

use bsoap_codec::decode::{Tolerance, Validation};
use bsoap_codec::{DecodeOptions, Decoder};
use bsoap_xml::DoctypePolicy;
use serde_json::json;

use crate::error::Failure;
use crate::input::{self, WsdlArguments};
use crate::message;
use crate::output::Output;
use crate::style::{GOOD, paint};
use crate::violation::{self, Violation};

/// Check messages against a WSDL and report every violation with its location
///
/// A message is an envelope, of a request or a response, or a single element of the WSDL's schemas.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The messages; `-` is standard input
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<String>,
    /// The most violations reported for one message
    #[arg(long, default_value_t = 100)]
    most: usize,
    /// Accept a document type declaration, which SOAP does not allow: entities and default attributes declared in the document
    /// apply, and nothing external is read
    #[arg(long)]
    doctype: bool,
    /// A line of JSON for each message
    #[arg(long)]
    json: bool,
}

/// Validates messages.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load_to_validate()?;
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    options.accepted = Tolerance::Strict.into();
    options.violations = arguments.most;
    let mut decoder = Decoder::new(definitions.plan().clone(), options);
    let mut doctype = DoctypePolicy::Refuse;
    if arguments.doctype {
        doctype = DoctypePolicy::Skip;
        decoder = decoder.with_doctype();
    }
    let mut invalid = 0;
    for file in &arguments.messages {
        let text = input::bytes(file)?;
        let violations = match message::find(&definitions, &text, doctype, None) {
            Err(violation) => vec![violation],
            Ok(found) => decoder
                .validate(found.root, &text)
                .iter()
                .map(|error| Violation::of(&text, error))
                .collect(),
        };
        invalid += usize::from(!violations.is_empty());
        report(file, &violations, &mut output)?;
    }
    violation::result(invalid, arguments.messages.len())
}

fn report(file: &str, violations: &[Violation], output: &mut Output) -> Result<(), Failure> {
    let name = input::name(file);
    if output.is_json() {
        let list = violations.iter().map(|one| {
            json!({"line": one.line, "column": one.column, "byte": one.offset, "path": one.path, "message": one.problem})
        });
        return output.json(&json!({"message": file, "valid": violations.is_empty(), "violations": list.collect::<Vec<_>>()}));
    }
    if violations.is_empty() {
        return output.line(&format!("{name}: {}", paint(GOOD, "valid")));
    }
    violations
        .iter()
        .try_for_each(|violation| violation.print(name, output))
}
