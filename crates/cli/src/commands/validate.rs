//! `bsoap validate`: every violation in messages, with its location.

use bsoap_codec::decode::{Piece, Tolerance, Trace, Validation};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{DecodeOptions, Decoder, Record, WrongIdentity};
use bsoap_xml::DoctypePolicy;
use serde_json::json;

use crate::error::Failure;
use crate::input::{self, WsdlArguments};
use crate::message;
use crate::message_limits::LimitArguments;
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
    /// Also check that each xs:ID is unique in its message, and that each xs:IDREF is one of them
    #[arg(long)]
    ids: bool,
    #[command(flatten)]
    limits: LimitArguments,
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
    let mut options = arguments.limits.decoding(DecodeOptions::default());
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
            Ok(found) => {
                let violations = decoder.validate(found.root, &text);
                match violations.is_empty() && arguments.ids {
                    true => wrong_identities(&mut decoder, found.root, &text, arguments.most),
                    false => violations
                        .iter()
                        .map(|error| Violation::of(&text, error))
                        .collect(),
                }
            }
        };
        invalid += usize::from(!violations.is_empty());
        report(file, &violations, &mut output)?;
    }
    violation::result(invalid, arguments.messages.len())
}

/// The wrong identifiers and references of a valid message.
fn wrong_identities(
    decoder: &mut Decoder,
    root: ElementId,
    text: &[u8],
    most: usize,
) -> Vec<Violation> {
    let Ok(record) = decoder.decode(root, text) else {
        return Vec::new();
    };
    located(decoder, root, text, record.wrong_identities(most))
}

/// Wrong identifiers and references with their locations. A message in another encoding than UTF-8 has no trace of them.
pub(super) fn located(
    decoder: &mut Decoder,
    root: ElementId,
    text: &[u8],
    wrong: Vec<WrongIdentity>,
) -> Vec<Violation> {
    if wrong.is_empty() {
        return Vec::new();
    }
    let mut trace = Trace::default();
    if let Ok(text) = std::str::from_utf8(text) {
        let mut again = Record::new(decoder.plan().clone(), root);
        decoder.start(root);
        let read = decoder.read(Piece::whole(text), &mut again, Some(&mut trace));
        trace
            .starts
            .truncate(if read.is_ok() { usize::MAX } else { 0 });
    }
    let violation = |wrong: WrongIdentity| {
        let offset = trace.starts.get(wrong.slot).copied().unwrap_or_default();
        Violation {
            path: wrong.path,
            ..Violation::new(text, offset.into(), wrong.problem)
        }
    };
    wrong.into_iter().map(violation).collect()
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
