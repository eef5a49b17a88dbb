//! Code generated for a large WSDL that nobody here wrote: ONVIF's device service. It is not committed, but checked by the compiler.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bsoap_generate::{Options, generate};
use bsoap_schema::{Chain, Definitions, FileLoader, WellKnown};

/// Prints a line that is seen although the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn corpus() -> PathBuf {
    match std::env::var_os("BSOAP_CORPUS") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    }
}

/// The library `bsoap` that this test was built with, the newest of its name, and the folder of all libraries.
fn bsoap() -> (PathBuf, PathBuf) {
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap().to_owned();
    let age = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let libraries = std::fs::read_dir(&folder).unwrap().flatten();
    let is_bsoap = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libbsoap-") && name.ends_with(".rlib")
    };
    let found = libraries.map(|file| file.path()).filter(is_bsoap);
    (found.max_by_key(age).expect("this test uses it"), folder)
}

#[test]
fn code_for_the_device_service_of_onvif_compiles() {
    let wsdl = corpus().join("onvif/devicemgmt.wsdl");
    if !wsdl.is_file() {
        let wsdl = wsdl.display();
        say(&format!(
            "{wsdl} is missing: code for ONVIF is NOT checked (set BSOAP_CORPUS)"
        ));
        return;
    }
    let loader = Chain::new().then(FileLoader::new()).then(WellKnown);
    let definitions = Definitions::load(&wsdl.to_string_lossy(), &loader).unwrap();
    let code = generate(&definitions, &Options::default());
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("onvif.rs");
    std::fs::write(&source, &code).unwrap();
    let (library, libraries) = bsoap();
    let checked = Command::new("rustc")
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--crate-name",
            "onvif",
        ])
        .args(["--emit", "metadata", "-D", "warnings"])
        .arg("--out-dir")
        .arg(folder.path())
        .arg("--extern")
        .arg(format!("bsoap={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", libraries.display()))
        .arg(&source)
        .output();
    match checked {
        Err(error) => say(&format!(
            "rustc cannot be run: code for ONVIF is NOT checked: {error}"
        )),
        Ok(checked) => {
            let said = String::from_utf8_lossy(&checked.stderr);
            assert!(checked.status.success(), "{said}");
            assert!(said.is_empty(), "{said}");
            say(&format!(
                "{} lines of code for ONVIF's device service compile",
                code.lines().count()
            ));
        }
    }
}
