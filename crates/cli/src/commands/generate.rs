//! `bsoap generate`: typed code from a WSDL.
//!
//! Some options belong to one language: they are refused with another one.

use std::path::PathBuf;

use bsoap_generate::{Dates, Decimals, Error, Options, generate, python};
use bsoap_schema::Definitions;
use serde_json::json;

use crate::error::Failure;
use crate::input::WsdlArguments;
use crate::output::Output;

/// Generate types, clients and services in Rust or Python
///
/// Rust is a module for a crate that depends on bsoap:
///
///   bsoap generate calculator.wsdl -o src/calculator.rs
///
/// Python is a module of dataclasses for the package bsoap, for Python 3.11 and later:
///
///   bsoap generate --lang python calculator.wsdl -o calculator.py
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wsdl: WsdlArguments,
    /// The language
    #[arg(long, default_value = "rust")]
    lang: Language,
    /// Python: the names of methods and fields [default: snake]
    #[arg(long, value_name = "NAMES")]
    names: Option<NameStyle>,
    /// The file to write instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only types, or types and clients, or types and services
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// Only these operations, with the types they use
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    operations: Vec<String>,
    /// Rust: derive this for all types, for example serde::Serialize
    #[arg(long = "derive", value_name = "PATH,…", value_delimiter = ',')]
    derives: Vec<String>,
    /// Messages with values of enumerations that the schema does not list are refused; in Rust, enumerations are Copy
    #[arg(long)]
    closed_enumerations: bool,
    /// The code contains the WSDL and all documents it refers to: nothing is read when the program runs
    #[arg(long)]
    embed: bool,
    /// Rust: the types of dates and times: those of bsoap, of a crate that is a feature of bsoap, or strings [default: bsoap]
    #[arg(long, value_name = "TYPES")]
    dates: Option<DateTypes>,
    /// Rust: the types of decimals and unbounded integers: those of bsoap, of rust_decimal (a feature of bsoap), or strings
    /// [default: bsoap]
    #[arg(long, value_name = "TYPES")]
    decimals: Option<DecimalTypes>,
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
    /// Types, traits or base classes of services, and the functions that register them
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
    /// Python
    Python,
}

/// How methods and fields are named.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum NameStyle {
    /// As PEP 8 says: get_system_date
    Snake,
    /// As in the WSDL
    Wire,
}

impl Arguments {
    /// Whether clients are generated, and whether services are.
    fn parts(&self) -> (bool, bool) {
        match self.only {
            None => (true, true),
            Some(Part::Types) => (false, false),
            Some(Part::Client) => (true, false),
            Some(Part::Service) => (false, true),
        }
    }

    /// An error if an option is given that the language does not have.
    fn check(&self) -> Result<(), Failure> {
        let refuse = |option: &str, reason: &str| {
            Err(Failure::usage(format!(
                "{option} has no meaning for {reason}"
            )))
        };
        match self.lang {
            Language::Rust if self.names.is_some() => {
                refuse("--names", "Rust, whose names are always in its own style")
            }
            Language::Rust => Ok(()),
            Language::Python if !self.derives.is_empty() => {
                refuse("--derive", "Python: its classes are dataclasses")
            }
            Language::Python if self.dates.is_some() => refuse(
                "--dates",
                "Python: its dates and times are those of the module datetime",
            ),
            Language::Python if self.decimals.is_some() => {
                refuse("--decimals", "Python: its decimals are decimal.Decimal")
            }
            Language::Python => Ok(()),
        }
    }

    fn rust(&self, definitions: &Definitions) -> Result<String, Error> {
        let mut options = Options::default();
        (options.client, options.service) = self.parts();
        options.operations.clone_from(&self.operations);
        options.derives.clone_from(&self.derives);
        options.closed_enumerations = self.closed_enumerations;
        options.embed = self.embed;
        options.dates = match self.dates {
            None | Some(DateTypes::Bsoap) => Dates::Bsoap,
            Some(DateTypes::Jiff) => Dates::Jiff,
            Some(DateTypes::Chrono) => Dates::Chrono,
            Some(DateTypes::Time) => Dates::Time,
            Some(DateTypes::Strings) => Dates::Strings,
        };
        options.decimals = match self.decimals {
            None | Some(DecimalTypes::Bsoap) => Decimals::Bsoap,
            Some(DecimalTypes::RustDecimal) => Decimals::RustDecimal,
            Some(DecimalTypes::Strings) => Decimals::Strings,
        };
        generate(definitions, &options)
    }

    fn python(&self, definitions: &Definitions) -> Result<String, Error> {
        let mut options = python::Options::default();
        (options.client, options.service) = self.parts();
        options.operations.clone_from(&self.operations);
        options.closed_enumerations = self.closed_enumerations;
        options.embed = self.embed;
        options.names = match self.names {
            None | Some(NameStyle::Snake) => python::Names::Snake,
            Some(NameStyle::Wire) => python::Names::Wire,
        };
        python::generate(definitions, &options)
    }
}

/// Generates code.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.check()?;
    let mut output = Output::new(arguments.json);
    let definitions = arguments.wsdl.load()?;
    let code = match arguments.lang {
        Language::Rust => arguments.rust(&definitions),
        Language::Python => arguments.python(&definitions),
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
