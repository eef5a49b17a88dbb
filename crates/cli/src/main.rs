//! The `bsoap` command. Each subcommand reads arguments and files, calls one function of the crates, and prints the result.

use std::process::ExitCode;

use clap::Parser;

mod commands;
mod connection;
mod error;
mod hints;
mod input;
mod limits;
mod lines;
mod message;
mod output;
mod pairs;
mod progress;
mod receiving;
mod sample;
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
use error::{EXIT_CODES, Failure};
use output::Output;

/// The conversion of messages allocates much and frees it soon; with this allocator that costs about half as much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::default();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            output.note(&failure.report());
            failure.code()
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
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
