//! `bsoap describe`: what a WSDL offers, on one readable page.

use bsoap_codec::encode;
use bsoap_schema::{Definitions, Operation};

use super::encode::find;
use crate::error::Failure;
use crate::input::WsdlArguments;
use crate::output::Output;
use crate::show::{self, Form};
use crate::terminal;

mod json;
mod text;

use text::Page;

/// Services, ports and operations of a WSDL with their signatures
///
/// In a signature, `name?` may be missing, `type[]` may repeat, `@name` is an attribute, `(a | b)` is one of them,
/// and `type*` has derived types that may be used instead. With -v, documentation is printed in full.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// Only these operations, with all that their messages carry
    #[arg(value_name = "OPERATION")]
    operations: Vec<String>,
    /// Print a sample request of this operation, as XML; with --json the arguments, as `call --json` takes them
    #[arg(long, value_name = "OPERATION", conflicts_with = "operations")]
    sample: Option<String>,
    /// One JSON object, with all that the messages carry
    #[arg(long)]
    json: bool,
}

/// The operations that are described.
pub(crate) struct Wanted<'a>(&'a [String]);

impl Wanted<'_> {
    fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, operation: &Operation) -> bool {
        self.are_all() || self.0.contains(&operation.name)
    }
}

/// Describes a WSDL, with documentation in full if `is_verbose`.
pub(crate) fn run(arguments: &Arguments, is_verbose: bool) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load_service()?;
    if let Some(operation) = &arguments.sample {
        return print_sample(&definitions, &arguments.wsdl.wsdl, operation, &mut output);
    }
    let known = known(&definitions);
    for name in &arguments.operations {
        if !known.contains(&name.as_str()) {
            return Err(Failure::no_operation(&arguments.wsdl.wsdl, name, &known));
        }
    }
    let wanted = Wanted(&arguments.operations);
    if output.is_json() {
        return output.json(&json::page(&definitions, &wanted));
    }
    let page = Page::new(&definitions, terminal::width(), is_verbose);
    output.text(&page.text(&wanted))
}

/// Prints a request made of the schema alone.
fn print_sample(
    definitions: &Definitions,
    wsdl: &str,
    operation: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let target = find(definitions, wsdl, operation, None)?;
    let arguments = target
        .sample_request()
        .map_err(|error| Failure::input(error.to_string()))?;
    if output.is_json() {
        return output.pretty_json(&arguments);
    }
    let mut text = Vec::new();
    let request = target.request(arguments)?;
    encode(request.record(), &mut text).map_err(|error| {
        Failure::input("the sample cannot be written as a message").because(error)
    })?;
    output.line(&show::xml(&text, Form::Pretty))
}

/// The names of all operations, each once.
pub(crate) fn known(definitions: &Definitions) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (_, port) in definitions.ports() {
        for operation in &port.binding.operations {
            if !names.contains(&operation.name.as_str()) {
                names.push(&operation.name);
            }
        }
    }
    names
}
