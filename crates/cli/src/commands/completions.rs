//! `bsoap completions`: completions for shells.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::error::Failure;
use crate::output::Output;

/// Write completions for a shell to standard output
///
/// For bash: bsoap completions bash > ~/.local/share/bash-completion/completions/bsoap
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

/// Writes completions.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut crate::Cli::command(),
        "bsoap",
        &mut script,
    );
    Output::default().bytes(&script)
}
