//! Peers in other languages: each a small program on the protocol of `bench/engines/protocol.h`, built
//! at benchmark time from sources of ours and what the machine has installed, run as a process of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::Taken;
use crate::definition::Task;
use crate::job::{Engine, Job};
use crate::sink::{Capture, Sink};
use crate::terms::WSDL;
use crate::wire::bodies;
use crate::workload::{Answer, Workload};

const PROTOCOL: &str = include_str!("../../engines/protocol.h");
const GSOAP_MESSAGES: &str = include_str!("../../engines/gsoap/bench.h");
const GSOAP_ENGINE: &str = include_str!("../../engines/gsoap/engine.c");
const GSOAP_SERVER: &str = include_str!("../../engines/gsoap/server.c");
const GSOAP_TYPES: &str = include_str!("../../engines/gsoap/typemap.dat");
const EXPAT_ENGINE: &str = include_str!("../../engines/expat/engine.c");
const LIBXML2_ENGINE: &str = include_str!("../../engines/libxml2/engine.c");
const STAX_ENGINE: &str = include_str!("../../engines/stax/Engine.java");

/// An engine's program, built.
pub(crate) struct External {
    program: PathBuf,
    folder: PathBuf,
}

impl External {
    /// Builds an engine, or takes the one built before.
    ///
    /// # Errors
    /// What is not installed, or why it does not build.
    pub(crate) fn build(name: &str) -> Result<Self, String> {
        let folder = build_folder().join(name.replace(':', "-"));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        match name {
            "libxml2" => build_libxml2(&folder, &[]),
            "libxml2:dom" => build_libxml2(&folder, &["-DTREE"]),
            "libxml2:reader" => build_libxml2(&folder, &["-DREADER"]),
            "expat" => build_expat(&folder),
            "woodstox" => build_stax(&folder, "com.ctc.wstx.stax.WstxInputFactory"),
            "aalto" => build_stax(&folder, "com.fasterxml.aalto.stax.InputFactoryImpl"),
            "gsoap" => build_gsoap(&folder, None),
            _ => build_gsoap(&folder, Some(&gsoap_source()?)),
        }?;
        let program = folder.join("engine");
        let failed = |error| format!("{}: {error}", program.display());
        Ok(Self {
            program: program.canonicalize().map_err(failed)?,
            folder,
        })
    }
}

/// Beside what Cargo builds if we are in a checkout, else among temporary files.
pub(super) fn build_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => PathBuf::from(target),
        None if Path::new("target").is_dir() => PathBuf::from("target"),
        None => std::env::temp_dir().join("bsoap"),
    }
    .join("bench-engines")
}

fn build_expat(folder: &Path) -> Result<(), String> {
    write(
        folder,
        &[("protocol.h", PROTOCOL), ("engine.c", EXPAT_ENGINE)],
    )?;
    let mut compile = Command::new("cc");
    compile
        .current_dir(folder)
        .args(["-O2", "-I.", "-o", "engine", "engine.c", "-lexpat"]);
    output(&mut compile)
        .map_err(|error| format!("{error}; Debian: apt install libexpat1-dev"))
        .map(drop)
}

fn build_libxml2(folder: &Path, way: &[&str]) -> Result<(), String> {
    let flags = output(Command::new("xml2-config").args(["--cflags", "--libs"]))
        .map_err(|_| "xml2-config was not found; Debian: apt install libxml2-dev".to_owned())?;
    write(
        folder,
        &[("protocol.h", PROTOCOL), ("engine.c", LIBXML2_ENGINE)],
    )?;
    let mut compile = Command::new("cc");
    compile
        .current_dir(folder)
        .args(["-O2", "-I.", "-o", "engine", "engine.c"])
        .args(way)
        .args(flags.split_whitespace());
    output(&mut compile).map(drop)
}

/// A program for Java, and a script that runs it. `factory` is the class that makes its readers.
fn build_stax(folder: &Path, factory: &str) -> Result<(), String> {
    let jars = std::env::var("STAX_JARS").unwrap_or_else(|_| "/usr/share/java".into());
    write(
        folder,
        &[
            ("Engine.java", STAX_ENGINE),
            (
                "engine",
                &format!(
                    "#!/bin/sh\nexec java -XX:+UseSerialGC -cp \"$(dirname \"$0\"):{jars}/*\" Engine {factory}\n"
                ),
            ),
        ],
    )?;
    let missing = |error| {
        format!(
            "{error}; a JDK, and the parsers' jars in the folder STAX_JARS (Debian: apt install default-jdk-headless libwoodstox-java)"
        )
    };
    let mut compile = Command::new("javac");
    output(compile.current_dir(folder).arg("Engine.java")).map_err(missing)?;
    let classes = format!("{jars}/*");
    output(Command::new("javap").args(["-cp", &classes, factory])).map_err(missing)?;
    output(Command::new("chmod").arg("+x").arg(folder.join("engine"))).map(drop)
}

/// The folder with gSOAP's own source, which its fastest build needs.
pub(super) fn gsoap_source() -> Result<PathBuf, String> {
    let missing = "GSOAP_SOURCE must name the folder of stdsoap2.c; Debian: apt source gsoap, then its folder gsoap/";
    let folder = std::env::var_os("GSOAP_SOURCE")
        .map(PathBuf::from)
        .ok_or(missing)?;
    let folder = folder
        .canonicalize()
        .map_err(|error| format!("GSOAP_SOURCE {}: {error}", folder.display()))?;
    if folder.join("stdsoap2.c").is_file() {
        Ok(folder)
    } else {
        Err(format!("{} has no stdsoap2.c; {missing}", folder.display()))
    }
}

fn build_gsoap(folder: &Path, source: Option<&Path>) -> Result<(), String> {
    write(
        folder,
        &[
            ("protocol.h", PROTOCOL),
            ("bench.h", GSOAP_MESSAGES),
            ("engine.c", GSOAP_ENGINE),
        ],
    )?;
    gsoap_tool(folder, "soapcpp2", &["-c", "-L", "-x", "-w", "bench.h"])?;
    compile_gsoap(folder, source, &["-o", "engine", "engine.c", "soapC.c"])
}

/// The server of `rpc`: all from the WSDL, as gSOAP's users do it.
pub(super) fn build_gsoap_server(folder: &Path, source: Option<&Path>) -> Result<(), String> {
    write(
        folder,
        &[
            ("bench.wsdl", WSDL),
            ("typemap.dat", GSOAP_TYPES),
            ("server.c", GSOAP_SERVER),
        ],
    )?;
    let header = [
        "-c",
        "-s",
        "-t",
        "typemap.dat",
        "-o",
        "bench.h",
        "bench.wsdl",
    ];
    gsoap_tool(folder, "wsdl2h", &header)?;
    gsoap_tool(
        folder,
        "soapcpp2",
        &["-c", "-S", "-L", "-x", "-w", "bench.h"],
    )?;
    let files = [
        "-o",
        "server",
        "server.c",
        "soapC.c",
        "soapServer.c",
        "-pthread",
    ];
    compile_gsoap(folder, source, &files)
}

fn gsoap_tool(folder: &Path, tool: &str, arguments: &[&str]) -> Result<(), String> {
    output(Command::new(tool).current_dir(folder).args(arguments))
        .map(drop)
        .map_err(|error| format!("{error}; Debian: apt install gsoap libgsoap-dev"))
}

/// Compiles with Debian's library, or with gSOAP's source and for speed.
fn compile_gsoap(folder: &Path, source: Option<&Path>, files: &[&str]) -> Result<(), String> {
    let mut compile = Command::new("cc");
    compile.current_dir(folder).args(["-w", "-I."]);
    match source {
        None => compile.arg("-O2").args(files).arg("-lgsoap"),
        Some(source) => compile
            .args([
                "-O3",
                "-march=native",
                "-flto=auto",
                "-DBEST",
                "-DWITH_NO_C_LOCALE",
                "-DWITH_NOIDREF",
                "-I",
            ])
            .arg(source)
            .args(files)
            .arg(source.join("stdsoap2.c")),
    };
    output(compile.arg("-lm")).map(drop)
}

pub(super) fn write(folder: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// What a command prints, if it succeeds.
pub(super) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{name} failed: {}",
        said.lines().last().unwrap_or_default()
    ))
}

impl Engine for External {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task == Task::Ready || work.messages.is_empty() {
            return Ok(None);
        }
        let text = self.folder.join("text");
        write_messages(&text, work)?;
        let mut process = Process::start(&mut Command::new(&self.program))?;
        let mut request = json!({
            "do": "prepare", "task": work.task.name(), "shape": work.case.shape.name(), "values": work.case.values, "text": path(&text)?,
        });
        let sent: Vec<usize> = work
            .stream
            .iter()
            .flat_map(|stream| stream.steps.iter().map(|step| step.send))
            .collect();
        if work.task == Task::Send {
            let turns: Vec<_> = sent.iter().map(usize::to_string).collect();
            request["turns"] = turns.join(" ").into();
            request["port"] = Sink::shared()?.port().into();
        }
        let reply = process.ask(&request)?;
        if reply.get("unable").is_some() {
            return Ok(None);
        }
        Ok(Some(Box::new(Remote {
            process,
            answer: self.folder.join("answer"),
            sent: [sent.as_slice(), &sent].concat(),
        })))
    }
}

/// Writes the messages of a workload, each after its length.
pub(super) fn write_messages(file: &Path, work: &Workload) -> Result<(), String> {
    let mut content = Vec::with_capacity(work.bytes() + 4 * work.messages.len());
    for message in &work.messages {
        content.extend_from_slice(&(message.len() as u32).to_le_bytes());
        content.extend_from_slice(message);
    }
    fs::write(file, content).map_err(|error| format!("{}: {error}", file.display()))
}

pub(super) fn path(path: &Path) -> Result<&str, String> {
    path.to_str()
        .filter(|path| !path.contains(['"', '\\']))
        .ok_or_else(|| format!("{} is no path for the protocol", path.display()))
}

/// A running engine; ends when it is dropped.
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let failed = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error))?;
        let input = child.stdin.take();
        let output = child
            .stdout
            .take()
            .ok_or_else(|| failed(&"it has no output"))?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Sends a line and waits for the answer.
    pub(super) fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let input = self.input.as_mut().ok_or("the engine has ended")?;
        writeln!(input, "{request}")
            .and_then(|()| input.flush())
            .map_err(|error| format!("the engine does not listen: {error}"))?;
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .map_err(|error| format!("the engine does not answer: {error}"))?;
        let reply: Value =
            serde_json::from_str(&line).map_err(|_| format!("the engine answered {line:?}"))?;
        match reply.get("error") {
            Some(error) => Err(format!("the engine says: {error}")),
            None => Ok(reply),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// A job in another process.
struct Remote {
    process: Process,
    answer: PathBuf,
    /// Messages of a stream that are sent for an answer.
    sent: Vec<usize>,
}

impl Remote {
    fn sent(&mut self) -> Result<Answer, String> {
        let capture = Capture::start()?;
        self.process.ask(
            &json!({"do": "answer", "file": path(&self.answer)?, "port": capture.address().port()}),
        )?;
        Ok(Answer::Sent {
            sent: self.sent.clone(),
            bodies: bodies(&capture.all()?)?,
        })
    }
}

impl Job for Remote {
    fn answer(&mut self) -> Result<Answer, String> {
        if !self.sent.is_empty() {
            return self.sent();
        }
        self.process
            .ask(&json!({"do": "answer", "file": path(&self.answer)?}))?;
        let bytes = fs::read(&self.answer)
            .map_err(|error| format!("{}: {error}", self.answer.display()))?;
        match bytes.split_first() {
            Some((b'S', slots)) => slots_in(slots).map(Answer::Slots),
            Some((b'M', rest)) => messages(rest).map(Answer::Messages),
            _ => Err("an answer of no known kind".into()),
        }
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        let reply = self.process.ask(&json!({"do": "run", "times": times}))?;
        let time = |name: &str| reply.get(name).and_then(Value::as_u64);
        match (time("ns"), time("cpu_ns")) {
            (Some(wall), Some(cpu)) => Ok(Taken {
                wall: Duration::from_nanos(wall),
                cpu: Duration::from_nanos(cpu),
            }),
            _ => Err(format!("the engine answered {reply}")),
        }
    }
}

/// Slots of 8 bytes.
fn slots_in(bytes: &[u8]) -> Result<Vec<u64>, String> {
    let (slots, rest) = bytes.as_chunks::<8>();
    if rest.is_empty() {
        Ok(slots.iter().map(|&slot| u64::from_le_bytes(slot)).collect())
    } else {
        Err("half a slot".into())
    }
}

/// Messages, each after its length.
fn messages(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut messages = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (message, rest) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or("an answer that ends early")?;
        messages.push(message.to_vec());
        bytes = rest;
    }
    if bytes.is_empty() {
        Ok(messages)
    } else {
        Err("an answer that ends early".into())
    }
}
