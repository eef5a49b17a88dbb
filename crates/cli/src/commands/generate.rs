//! `bsoap generate`: typed code from a WSDL.

use std::path::PathBuf;

use bsoap_generate::{Dates, Decimals, Error, Options, generate};
use serde_json::json;

use crate::error::Failure;
use crate::input::WsdlArguments;
use crate::output::Output;

/// Generate typed structs, a client and a service trait
///
/// The code is a module for a crate that depends on bsoap: bsoap generate calculator.wsdl -o src/calculator.rs
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The language
    #[arg(long, default_value = "rust")]
    lang: Language,
    /// The file to write instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only types, or types and a client, or types and a service trait
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// Only these operations, with the types they use
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    operations: Vec<String>,
    /// Derive this for all types, for example serde::Serialize
    #[arg(long = "derive", value_name = "PATH,…", value_delimiter = ',')]
    derives: Vec<String>,
    /// Enumerations are Copy, and messages with values that the schema does not list are refused
    #[arg(long)]
    closed_enumerations: bool,
    /// The code contains the WSDL and all documents it refers to: nothing is read when the program runs
    #[arg(long)]
    embed: bool,
    /// The types of dates and times: those of bsoap, of a crate that is a feature of bsoap, or strings
    #[arg(long, value_name = "TYPES", default_value = "bsoap")]
    dates: DateTypes,
    /// The types of decimals and unbounded integers: those of bsoap, of rust_decimal (a feature of bsoap), or strings
    #[arg(long, value_name = "TYPES", default_value = "bsoap")]
    decimals: DecimalTypes,
    /// One JSON object with the code
    #[arg(long)]
    json: bool,
}

/// The parts that can be generated alone.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Part {
    /// Types
    Types,
    /// Types and clients
    Client,
    /// Types, service traits and the functions that register them
    Service,
}

/// Types of dates and times.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DateTypes {
    Bsoap,
    Jiff,
    Chrono,
    Time,
    Strings,
}

/// Types of decimals.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DecimalTypes {
    Bsoap,
    #[value(name = "rust_decimal")]
    RustDecimal,
    Strings,
}

/// The languages in which code can be generated.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Language {
    /// Rust
    Rust,
}

/// Generates code.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load()?;
    let mut options = Options::default();
    (options.client, options.service) = match arguments.only {
        None => (true, true),
        Some(Part::Types) => (false, false),
        Some(Part::Client) => (true, false),
        Some(Part::Service) => (false, true),
    };
    options.operations.clone_from(&arguments.operations);
    options.derives.clone_from(&arguments.derives);
    options.closed_enumerations = arguments.closed_enumerations;
    options.embed = arguments.embed;
    options.dates = match arguments.dates {
        DateTypes::Bsoap => Dates::Bsoap,
        DateTypes::Jiff => Dates::Jiff,
        DateTypes::Chrono => Dates::Chrono,
        DateTypes::Time => Dates::Time,
        DateTypes::Strings => Dates::Strings,
    };
    options.decimals = match arguments.decimals {
        DecimalTypes::Bsoap => Decimals::Bsoap,
        DecimalTypes::RustDecimal => Decimals::RustDecimal,
        DecimalTypes::Strings => Decimals::Strings,
    };
    let code = match arguments.lang {
        Language::Rust => generate(&definitions, &options),
    };
    let code = code.map_err(|error| match error {
        Error::NoOperations | Error::TooLarge(_) => {
            Failure::input("no code can be generated").because(error)
        }
        _ => Failure::usage("no code can be generated").because(error),
    })?;
    if let Some(path) = &arguments.output {
        let failed =
            |error| Failure::input(format!("cannot write {}", path.display())).because(error);
        std::fs::write(path, &code).map_err(failed)?;
    }
    match &arguments.output {
        Some(path) if output.is_json() => output.json(&json!({"written": path})),
        None if output.is_json() => output.json(&json!({"code": code})),
        Some(path) => output.line(&format!("{} written", path.display())),
        None => output.bytes(code.as_bytes()),
    }
}
