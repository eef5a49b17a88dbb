//! `bsoap encode`: JSON or pairs to a message.

use bsoap_codec::encode::Error;
use bsoap_codec::{EncodeOptions, Record, encode};
use bsoap_differential::hint::Writer;
use bsoap_protocol::Target;
use bsoap_schema::{Definitions, SoapVersion};
use serde_json::json;

use crate::attachments::Spelling;
use crate::error::Failure;
use crate::input::{self, WsdlArguments};
use crate::output::Output;
use crate::{attachments, commands::describe, pairs};

/// Write the message of an operation
///
/// Arguments of a wrapped operation are the children of its wrapper; those of a bare or rpc operation are its parts by name;
/// header blocks are under `@headers`. Without pairs, they are read as JSON from standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The operation
    operation: String,
    /// Arguments: key=value, key=@file, key:=json; members by dots, the same key again for arrays
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Print the message as a JSON string. With a value: the arguments too, as JSON text, @FILE, or `-` for standard input
    #[arg(long, value_name = "JSON", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    json: Option<String>,
    /// The answer, not the request
    #[arg(long)]
    response: bool,
    /// The version of SOAP, where the WSDL has ports of both
    #[arg(long, value_name = "VERSION")]
    soap: Option<Version>,
    /// Add a hint with the locations of values, for receivers that use hints
    #[arg(long)]
    hints: bool,
}

/// A version of SOAP on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Version {
    /// SOAP 1.1
    #[value(name = "1.1")]
    Soap11,
    /// SOAP 1.2
    #[value(name = "1.2")]
    Soap12,
}

impl From<Version> for SoapVersion {
    fn from(version: Version) -> Self {
        match version {
            Version::Soap11 => Self::Soap11,
            Version::Soap12 => Self::Soap12,
        }
    }
}

/// Encodes a message.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json.is_some());
    let definitions = arguments.wsdl.load_service()?;
    let (wsdl, operation) = (&arguments.wsdl.wsdl, &arguments.operation);
    let target = find(&definitions, wsdl, operation, arguments.soap)?;
    if arguments.response && target.operation().output.is_none() {
        return Err(Failure::usage(format!(
            "{operation} is a one-way operation: it has no response; omit --response"
        )));
    }
    let file = match (arguments.json.as_deref(), arguments.pairs.is_empty()) {
        (None | Some(""), true) => Some("-"),
        (None | Some(""), false) => None,
        (file, _) => file,
    };
    let spelling = Spelling::of(definitions.plan());
    let value = attachments::inline(values(file, &arguments.pairs, spelling)?, spelling)?;
    let record = if arguments.response {
        target.response(value)?
    } else {
        target.request(value)?.record().clone()
    };
    let mut text = Vec::new();
    let written = match arguments.hints {
        true => hinted(&record, &mut text),
        false => encode(&record, &mut text),
    };
    written.map_err(|error| {
        Failure::input("the arguments cannot be written as a message").because(error)
    })?;
    if output.is_json() {
        return output.json(
            &json!({"operation": arguments.operation, "envelope": String::from_utf8_lossy(&text)}),
        );
    }
    text.push(b'\n');
    output.bytes(&text)
}

/// The message with a hint in it.
fn hinted(record: &Record, text: &mut Vec<u8>) -> Result<(), Error> {
    if let Some(hint) = Writer::new().write(record, EncodeOptions::default(), text)? {
        *text = hint.within(text).into();
    }
    Ok(())
}

/// Arguments from JSON as the option `--json` gives it, if it does, and from pairs.
pub(crate) fn values(
    json: Option<&str>,
    given: &[String],
    spelling: Spelling,
) -> Result<bsoap::Value, Failure> {
    let mut value = match json {
        Some(json) => input::given_json(json, spelling)?,
        None => serde_json::Value::Null,
    };
    pairs::add(given, &mut value, spelling)?;
    Ok(bsoap::Value::from_json(value))
}

/// The operation of this name, of the first port that has it and is of the version, if one is given.
pub(super) fn find(
    definitions: &Definitions,
    wsdl: &str,
    name: &str,
    version: Option<Version>,
) -> Result<Target, Failure> {
    let version = version.map(SoapVersion::from);
    let fits = |found: SoapVersion| version.is_none_or(|wanted| wanted == found);
    let ports = definitions
        .ports()
        .filter(|(_, port)| fits(port.binding.version));
    let mut bindings = ports.map(|(_, port)| &port.binding);
    match bindings.find(|binding| binding.operation(name).is_some()) {
        Some(binding) => Ok(Target::new(definitions.plan(), binding, name)?),
        None => Err(Failure::no_operation(
            wsdl,
            name,
            &describe::known(definitions),
        )),
    }
}
