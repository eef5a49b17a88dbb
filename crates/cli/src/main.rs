//! The program `bsoap`.

use std::process::ExitCode;

/// The conversion of messages allocates much and frees it soon; with this allocator that costs about half as much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(bsoap_cli::run(std::env::args_os()))
}
