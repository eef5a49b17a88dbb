//! `bsoap validate`: every violation in messages, with its location.

use bsoap_codec::decode::Validation;
use bsoap_codec::{DecodeOptions, Decoder};
use serde_json::json;

use crate::error::Failure;
use crate::input::{self, WsdlArguments};
use crate::message;
use crate::output::Output;
use crate::style::{BAD, DIM, GOOD, STRONG, paint};

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
    /// A line of JSON for each message
    #[arg(long)]
    json: bool,
}

/// A violation and its location.
struct Violation {
    line: usize,
    column: usize,
    offset: u64,
    path: String,
    message: String,
}

/// Validates messages.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load_to_validate()?;
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    options.violations = arguments.most;
    let mut decoder = Decoder::new(definitions.plan().clone(), options);
    let mut invalid = 0;
    for file in &arguments.messages {
        let text = input::bytes(file)?;
        let violations = match message::find(&definitions, &text, None) {
            Err(none) => {
                let (line, column) = input::line_and_column(&text, none.offset);
                vec![Violation {
                    line,
                    column,
                    offset: none.offset,
                    path: String::new(),
                    message: none.problem,
                }]
            }
            Ok(found) => decoder
                .validate(found.root, &text)
                .iter()
                .map(|error| violation(&text, error))
                .collect(),
        };
        invalid += usize::from(!violations.is_empty());
        report(file, &violations, &mut output)?;
    }
    match (invalid, arguments.messages.len()) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::violation("the message is not valid (see above)")),
        (invalid, all) => Err(Failure::violation(format!(
            "{invalid} of {all} messages are not valid (see above)"
        ))),
    }
}

fn violation(text: &[u8], error: &bsoap_codec::decode::Error) -> Violation {
    let (line, column) = input::line_and_column(text, error.offset());
    Violation {
        line,
        column,
        offset: error.offset(),
        path: error.path().to_owned(),
        message: error.kind().to_string(),
    }
}

fn report(file: &str, violations: &[Violation], output: &mut Output) -> Result<(), Failure> {
    let name = input::name(file);
    if output.is_json() {
        let list = violations.iter().map(|one| {
            json!({"line": one.line, "column": one.column, "byte": one.offset, "path": one.path, "message": one.message})
        });
        return output.json(&json!({"message": file, "valid": violations.is_empty(), "violations": list.collect::<Vec<_>>()}));
    }
    if violations.is_empty() {
        return output.line(&format!("{name}: {}", paint(GOOD, "valid")));
    }
    for Violation {
        line,
        column,
        offset,
        path,
        message,
    } in violations
    {
        let place = paint(STRONG, &format!("{name}:{line}:{column}"));
        let path = if path.is_empty() {
            String::new()
        } else {
            format!(" at {path}")
        };
        output.line(&format!(
            "{place}: {} {}",
            paint(BAD, message),
            paint(DIM, &format!("{path} (byte {offset})"))
        ))?;
    }
    Ok(())
}
