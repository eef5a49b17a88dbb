//! Where the peers are. A function returns `None`, and says so, if its peer is not installed.
//!
//! | peer | found as |
//! |---|---|
//! | zeep, suds, spyne | by the Python of `BSOAP_PYTHON`, otherwise that of `make peers` |
//! | node-soap | `node`, and the package `soap` in `NODE_PATH`, otherwise that of `make peers` |
//! | PHP | `php` with its extension `soap` |
//! | CXF | Java 17, and the class path `BSOAP_CXF`, otherwise the jars of `make peers` |
//! | SOAP::Lite | `perl` with this module, and `HTTP::Daemon` |
//! | gSOAP | `wsdl2h`, `soapcpp2`, and a C compiler that finds its library |

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::album::album_wsdl;
use crate::encoded::inventory_wsdl;
use crate::{here, mesh_wsdl};

/// Where `make peers` puts what is no package of the system: `peers/` in the target folder.
fn installed(path: &str) -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = temporary.parent().expect("it is in the target folder");
    target.join("peers").join(path)
}

/// A Python that has these modules.
pub(crate) fn python(peer: &str, modules: &[&str]) -> Option<PathBuf> {
    let chosen = std::env::var_os("BSOAP_PYTHON").map(PathBuf::from);
    let python = chosen.unwrap_or_else(|| installed("python/bin/python"));
    let import = format!("import {}", modules.join(", "));
    if runs(Command::new(&python).args(["-c", &import])) {
        return Some(python);
    }
    missing(peer, &format!("{} cannot {import}", python.display()))
}

/// Node.js that finds the package `soap`.
pub(crate) fn node() -> Option<Command> {
    let node = || {
        let mut node = Command::new("node");
        if std::env::var_os("NODE_PATH").is_none() {
            node.env("NODE_PATH", installed("node/node_modules"));
        }
        node
    };
    if runs(node().args(["-e", "require('soap')"])) {
        return Some(node());
    }
    missing("node-soap", "node cannot load the package soap")
}

/// PHP with its extension `soap`.
pub(crate) fn php() -> Option<Command> {
    let probe = "exit(extension_loaded('soap') ? 0 : 1);";
    if runs(Command::new("php").args(["-r", probe])) {
        return Some(Command::new("php"));
    }
    missing("PHP", "there is no php with the extension soap")
}

/// Java with the class path in this variable, otherwise with the jars in this folder of `make peers`.
pub(crate) fn java(peer: &str, variable: &str, folder: &str) -> Option<Command> {
    let jars = installed(folder);
    let chosen = std::env::var_os(variable);
    let class_path = chosen.or_else(|| jars.is_dir().then(|| jars.join("*").into()));
    let Some(class_path) = class_path else {
        return missing(peer, &format!("there are no jars in {}", jars.display()));
    };
    if !runs(Command::new("java").arg("-version")) {
        return missing(peer, "there is no java");
    }
    let mut java = Command::new("java");
    java.arg("-cp").arg(class_path);
    Some(java)
}

/// Whether a command can be run and succeeds.
fn runs(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn missing<T>(peer: &str, why: &str) -> Option<T> {
    say(&format!("{peer} is NOT tested: {why} (make peers)"));
    None
}

/// Prints a line that is seen although the tests pass.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Perl with SOAP::Lite.
pub(crate) fn soap_lite() -> Option<Command> {
    let modules = ["-MSOAP::Lite", "-MSOAP::Transport::HTTP", "-MHTTP::Daemon"];
    if runs(Command::new("perl").args(modules).args(["-e", "1"])) {
        return Some(Command::new("perl"));
    }
    missing("SOAP::Lite", "perl cannot load it and HTTP::Daemon")
}

/// The mesh server made of gSOAP's tools and `peers/gsoap_server.c`.
pub(crate) fn gsoap_server() -> Option<PathBuf> {
    gsoap(&Gsoap {
        name: "mesh",
        wsdl: &mesh_wsdl(),
        source: "peers/gsoap_server.c",
        options: "-c -S -x -L",
        generated: "soapC.c soapServer.c",
    })
}

/// The server and client for rpc/encoded messages.
pub(crate) fn gsoap_inventory() -> Option<PathBuf> {
    gsoap(&Gsoap {
        name: "inventory",
        wsdl: &inventory_wsdl(),
        source: "peers/gsoap_inventory.c",
        options: "-c -x -L",
        generated: "soapC.c soapClient.c soapServer.c",
    })
}

/// The server and client for MTOM.
pub(crate) fn gsoap_album() -> Option<PathBuf> {
    gsoap(&Gsoap {
        name: "album",
        wsdl: &album_wsdl(),
        source: "peers/gsoap_album.c",
        options: "-c -x -L",
        generated: "soapC.c soapClient.c soapServer.c",
    })
}

/// What a program is made of.
struct Gsoap<'p> {
    name: &'p str,
    wsdl: &'p Path,
    source: &'p str,
    /// Options of `soapcpp2`.
    options: &'p str,
    generated: &'p str,
}

/// A program made of what gSOAP's tools make of a WSDL, and a source of ours.
fn gsoap(parts: &Gsoap<'_>) -> Option<PathBuf> {
    let Gsoap { name, wsdl, .. } = parts;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("gsoap-{name}"));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let missing = |what: &str| missing("gSOAP", &format!("{what} is not installed"));
    for tool in ["wsdl2h", "soapcpp2", "cc"] {
        let found = Command::new(tool).arg("--version").output();
        if found.is_err() {
            return missing(tool);
        }
    }
    std::fs::write(folder.join("probe.c"), "#include <stdsoap2.h>\n")
        .expect("the target folder can be written");
    if build(&folder, &["cc -c probe.c"]).is_err() {
        return missing("its library");
    }
    let (program, source) = (folder.join("program"), here(parts.source));
    let changed = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|data| data.modified())
            .ok()
    };
    let serving = here("peers/gsoap_serving.h");
    let is_new = [&*source, &*serving, wsdl]
        .iter()
        .all(|path| changed(path) < changed(&program));
    if !is_new {
        let (wsdl, source) = (wsdl.display(), source.display());
        let (options, generated) = (parts.options, parts.generated);
        let steps = [
            &*format!("wsdl2h -c -s -o {name}.h {wsdl}"),
            &*format!("soapcpp2 {options} {name}.h"),
            &*format!("cc -O1 -I. -o program {source} {generated} -lgsoap -lm"),
        ];
        build(&folder, &steps).unwrap_or_else(|error| panic!("gSOAP: {error}"));
    }
    Some(program)
}

/// Runs commands in a folder.
fn build(folder: &Path, steps: &[&str]) -> Result<(), String> {
    for step in steps {
        let mut words = step.split(' ');
        let output = Command::new(words.next().unwrap_or_default())
            .args(words)
            .current_dir(folder)
            .output()
            .map_err(|error| format!("{step}: {error}"))?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{step}: {error}"));
        }
    }
    Ok(())
}
