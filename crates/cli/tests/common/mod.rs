//! Running the command as its users do.
#![allow(dead_code)]

pub(crate) mod worker;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// The WSDL of the mesh service.
pub(crate) fn mesh() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mesh/mesh.wsdl").to_owned()
}

/// The command, with nothing of our own surroundings.
pub(crate) fn bsoap() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bsoap"));
    command
        .env_remove("BSOAP_LOG")
        .env_remove("RUST_LOG")
        .env_remove("BSOAP_PASSWORD");
    command
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Ran {
    /// The JSON on standard output of a run that went well.
    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    run_with(arguments, "")
}

/// Runs the command with text on standard input.
pub(crate) fn run_with(arguments: &[&str], input: &str) -> Ran {
    let mut child = bsoap()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that reads no input may be gone before it is written.
    let _ = child
        .stdin
        .take()
        .expect("its input is a pipe")
        .write_all(input.as_bytes());
    child.wait_with_output().expect("the command ends").into()
}
