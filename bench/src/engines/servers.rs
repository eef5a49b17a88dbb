//! The servers of `rpc`, each a process on a core of its own: ours and the bare one, which are this program, and peers, built
//! at benchmark time from sources of ours and what the machine has installed.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use super::external::{build_folder, build_gsoap_server, gsoap_source, output, write};
use crate::allocator;
use crate::clock::process_time;
use crate::machine;
use crate::terms::WSDL;

const CXF_SERVER: &str = include_str!("../../engines/cxf/Server.java");
const SPYNE_SERVER: &str = include_str!("../../engines/spyne/server.py");
const PYTHON_SERVER: &str = include_str!("../../engines/python/server.py");

/// How long a Java server is called before it is timed.
const JAVA_WARM_UP: Duration = Duration::from_secs(30);

/// A server that can be started.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    program: PathBuf,
    arguments: Vec<String>,
    allocator: &'static str,
    /// Where its messages go; those of this program go where ours go.
    log: Option<PathBuf>,
    /// Whether it answers with what it was sent.
    pub(crate) echoes: bool,
    /// How long it must be called before it is timed.
    pub(crate) warm_up: Duration,
}

impl Server {
    /// The server of this name.
    ///
    /// # Errors
    /// There is none, or what is not installed.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "gsoap" => gsoap(None),
            "gsoap:best" => gsoap(Some(&gsoap_source()?)),
            "cxf" => cxf(),
            "spyne" => python_server(
                "spyne",
                SPYNE_SERVER,
                "import spyne, waitress",
                "spyne waitress",
            ),
            "python" => python_server("python", PYTHON_SERVER, "import bsoap", "./python"),
            _ => Self::own(name),
        }
    }

    /// This program as a server.
    pub(crate) fn own(name: &str) -> Result<Self, String> {
        let (engine, allocator) = match name.strip_suffix(":system") {
            Some(engine) => (engine, allocator::SYSTEM),
            None => (name, allocator::CHOSEN),
        };
        if !matches!(engine, "bsoap" | "bsoap:value" | "bsoap:off" | "hyper") {
            return Err(format!("there is no server of the name {name}"));
        }
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let core = machine::other_core().to_string();
        Ok(Self {
            program,
            arguments: vec!["--serve".into(), engine.into(), "--core".into(), core],
            allocator,
            log: None,
            echoes: engine != "hyper",
            warm_up: Duration::ZERO,
        })
    }

    fn peer(program: impl Into<PathBuf>, arguments: Vec<String>, folder: &Path) -> Self {
        Self {
            program: program.into(),
            arguments,
            allocator: allocator::SYSTEM,
            log: Some(folder.join("server.log")),
            echoes: true,
            warm_up: Duration::ZERO,
        }
    }

    /// Starts it on the core that the client does not have.
    pub(crate) fn start(&self) -> Result<ServerProcess, String> {
        let failed =
            |error: std::io::Error| format!("{} does not start: {error}", self.program.display());
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env(allocator::VARIABLE, self.allocator)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(log) = &self.log {
            command.stderr(File::create(log).map_err(failed)?);
        }
        let core = machine::other_core();
        // A process has the core of the thread that starts it.
        let starting = std::thread::spawn(move || {
            machine::pin_to(core);
            command.spawn()
        });
        let child = starting.join().map_err(|_| "a server cannot be started")?;
        ServerProcess::new(child.map_err(failed)?).map_err(|error| match &self.log {
            Some(log) => format!("{error}; see {}", log.display()),
            None => error,
        })
    }
}

/// A server's process; ends with this value.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
    // The server ends when its input does.
    _input: Option<ChildStdin>,
}

impl ServerProcess {
    fn new(mut child: Child) -> Result<Self, String> {
        let input = child.stdin.take();
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            // Nothing is a line without an address.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let address = line.trim().parse();
        if address.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
        Ok(Self {
            address: address.map_err(|_| format!("the server said {line:?}, not its address"))?,
            child,
            _input: input,
        })
    }

    /// The processor time of all its threads so far.
    pub(crate) fn time(&self) -> Duration {
        process_time(self.child.id())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A new folder for a peer's program.
pub(super) fn folder(name: &str) -> Result<PathBuf, String> {
    let folder = build_folder().join(name);
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    folder.canonicalize().map_err(failed)
}

fn gsoap(source: Option<&Path>) -> Result<Server, String> {
    let folder = folder(match source {
        Some(_) => "rpc-gsoap-best",
        None => "rpc-gsoap",
    })?;
    build_gsoap_server(&folder, source)?;
    Ok(Server::peer(folder.join("server"), Vec::new(), &folder))
}

fn cxf() -> Result<Server, String> {
    let jars = std::env::var("BSOAP_CXF").map_err(|_| {
        "BSOAP_CXF must be a class path of its jars; mvn -f bench/engines/cxf/pom.xml dependency:copy-dependencies \
         -DoutputDirectory=FOLDER, then BSOAP_CXF='FOLDER/*'"
    })?;
    let folder = folder("rpc-cxf")?;
    write(&folder, &[("Server.java", CXF_SERVER)])?;
    let mut compile = Command::new("javac");
    compile.args(["-cp", &jars, "Server.java"]);
    output(compile.current_dir(&folder)).map_err(|error| {
        format!("{error}; Debian: apt install default-jdk-headless, and BSOAP_CXF a class path of the jars of CXF 4")
    })?;
    let path = format!("{jars}:{}", folder.display());
    let arguments = vec!["-cp".into(), path, "Server".into()];
    Ok(Server {
        warm_up: JAVA_WARM_UP,
        ..Server::peer("java", arguments, &folder)
    })
}

/// A server in Python that is given the WSDL.
fn python_server(name: &str, source: &str, import: &str, packages: &str) -> Result<Server, String> {
    let python = python(import, packages)?;
    let folder = folder(&format!("rpc-{name}"))?;
    write(&folder, &[("server.py", source), ("bench.wsdl", WSDL)])?;
    let arguments = ["server.py", "bench.wsdl"];
    let arguments = arguments.map(|file| folder.join(file).display().to_string());
    Ok(Server::peer(python, arguments.into(), &folder))
}

/// The Python that can do this.
pub(super) fn python(import: &str, packages: &str) -> Result<String, String> {
    let python = std::env::var("BSOAP_PYTHON").unwrap_or_else(|_| "python3".into());
    output(Command::new(&python).args(["-c", import]))
        .map(|_| python)
        .map_err(|error| {
            format!("{error}; pip install {packages} (BSOAP_PYTHON names the Python that has them)")
        })
}
