//! The `bsoap` command. Each subcommand reads arguments and files, calls one function of the crates, and prints the result.
//!
//! The program `bsoap` calls [`run`] and nothing else; so do others that contain the command, such as the Python package.

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::mpsc;
use std::time::Duration;

use clap::Parser;

mod attachments;
mod commands;
mod connection;
mod delivery;
mod error;
mod hints;
mod input;
mod limits;
mod lines;
mod message;
mod message_limits;
mod output;
mod pairs;
mod progress;
mod receiving;
mod saved;
mod sending;
mod show;
mod style;
mod tally;
mod terminal;
mod tolerance;
mod traces;
mod violation;

use commands::{
    call, completions, decode, demo, describe, encode, generate, replay, serve, validate,
};
use error::{EXIT_CODES, Exit, Failure};
use output::Output;

/// SOAP at the speed of the machine: describe, call, serve and measure services
#[derive(Debug, Parser)]
#[command(name = "bsoap", version, after_help = EXIT_CODES, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Log what happens, and describe with all documentation; twice: log everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Describe(describe::Arguments),
    Call(call::Arguments),
    Serve(serve::Arguments),
    Encode(encode::Arguments),
    Decode(decode::Arguments),
    Validate(validate::Arguments),
    Replay(replay::Arguments),
    Generate(generate::Arguments),
    Demo(demo::Arguments),
    Completions(completions::Arguments),
}

impl Command {
    /// The collector of OpenTelemetry that traces are sent to.
    fn collector(&self) -> Option<&str> {
        match self {
            Self::Serve(arguments) => arguments.collector(),
            _ => None,
        }
    }
}

/// Runs the command with these arguments, the first of which is the name of the program, and returns its exit code. The log and
/// the handlers of signals are those of the process: a program calls this once.
///
/// ```
/// assert_eq!(bsoap_cli::run(["bsoap", "describe", "../../examples/mesh/mesh.wsdl"]), 0);
/// assert_eq!(bsoap_cli::run(["bsoap", "describe", "missing.wsdl"]), 3);
/// ```
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let code = match Cli::try_parse_from(arguments) {
        Ok(cli) => ended(execute(&cli)),
        Err(error) => {
            // It fails only where nobody reads it. This is also how help and version are printed.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8)
        }
    };
    flush();
    code
}

/// Writes what is left of standard output, which a program that is not Rust's does not do at its end. The lines of a service that
/// nobody reads keep it locked: then it is left.
fn flush() {
    let (done, flushed) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdout().flush();
        let _ = done.send(());
    });
    let _ = flushed.recv_timeout(Duration::from_millis(500));
}

/// The exit code of a command, whose failure is reported.
fn ended(result: Result<(), Failure>) -> u8 {
    match result {
        Ok(()) => 0,
        Err(failure) if failure.is_broken_pipe() => 0,
        Err(failure) => {
            Output::default().note(&failure.report());
            failure.code()
        }
    }
}

fn execute(cli: &Cli) -> Result<(), Failure> {
    let _traces = traces::start(cli.verbose, cli.command.collector())?;
    match &cli.command {
        Command::Describe(arguments) => describe::run(arguments, cli.verbose > 0),
        Command::Call(arguments) => call::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Encode(arguments) => encode::run(arguments),
        Command::Decode(arguments) => decode::run(arguments),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Demo(arguments) => demo::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
    }
}
