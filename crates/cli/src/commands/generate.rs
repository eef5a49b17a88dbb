//! `bsoap generate`: typed code from a WSDL.

use std::path::PathBuf;

use bsoap_generate::{Options, generate};
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
    /// Only types, without clients and service traits
    #[arg(long)]
    types_only: bool,
    /// One JSON object with the code
    #[arg(long)]
    json: bool,
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
    options.interfaces = !arguments.types_only;
    let code = match arguments.lang {
        Language::Rust => generate(&definitions, &options),
    };
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
