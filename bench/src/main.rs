//! `bsoap-bench`: what bsoap costs, beside what the machine can do and what peers do, in one run.

use std::process::ExitCode;

use clap::Parser as _;

mod allocator;
mod arguments;
mod attachments;
mod clock;
mod definition;
mod encoded;
mod engines;
#[rustfmt::skip]
mod generated;
mod job;
mod leaves;
mod load;
mod machine;
mod measure;
mod never_slower;
mod order;
mod random;
mod recorded;
mod report;
mod run;
#[cfg(unix)]
mod scale;
mod scenario;
mod served;
mod shape;
mod sink;
mod stream;
mod terms;
mod wire;
mod workload;

fn main() -> ExitCode {
    match run::run(&arguments::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report::note(&failure.to_string());
            ExitCode::from(failure.exit_code())
        }
    }
}
