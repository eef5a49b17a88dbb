//! Code for the giant WSDL of testkit, which has the shape of the largest that is in wide use.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use bsoap_generate::{Options, generate};
use bsoap_schema::{Definitions, MemoryLoader};
use bsoap_testkit::giant;

/// The most lines that the code may have.
const MAX_LINES: usize = 100_000;
/// The most seconds that `cargo check` of the code may take, its dependencies not counted.
const MAX_SECONDS: f64 = 20.0;
/// The most memory that the compiler may use then, in MiB.
const MAX_MEMORY: f64 = 1_200.0;

fn definitions() -> Definitions {
    let mut loader = MemoryLoader::default();
    loader.add("giant.wsdl", giant::wsdl());
    Definitions::load("giant.wsdl", &loader).unwrap()
}

#[test]
fn the_code_of_a_giant_is_compact() {
    let definitions = definitions();
    let code = generate(&definitions, &Options::default()).unwrap();
    let lines = code.lines().count();
    assert!(lines <= MAX_LINES, "{lines} lines");
    let operations = code.matches("typed::Operation::new(").count();
    assert_eq!(operations, giant::OPERATIONS);
    // A part of it is small.
    let mut options = Options::default();
    let (_, port) = definitions.ports().next().unwrap();
    options.operations = vec![port.binding.operations[0].name.clone()];
    let part = generate(&definitions, &options).unwrap().lines().count();
    assert!(part < lines, "{part} of {lines} lines");
}

#[test]
fn code_of_too_many_members_is_refused() {
    let mut options = Options::default();
    options.max_members = 1_000;
    let error = generate(&definitions(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the types have more fields and variants than the limit `max_members` (1000); `operations` can select a part"
    );
}

/// `make giant` runs it: it needs cargo, rustfmt and GNU time, and builds bsoap.
#[test]
#[ignore = "it takes minutes"]
fn the_code_of_a_giant_is_checked_quickly() {
    let code = generate(&definitions(), &Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/giant.rs"), code).unwrap();
    std::fs::write(
        folder.path().join("src/lib.rs"),
        "//! The giant.\nmod giant;\n",
    )
    .unwrap();
    let manifest = format!(
        "[package]\nname = \"giant\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nbsoap = {{ path = {:?} }}\n",
        root.join("crates/bsoap")
    );
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&folder)
            .output();
        let output = output.unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{program} {arguments:?}: {said}");
        said
    };
    run("rustfmt", &["--edition", "2024", "src/giant.rs"]);
    let laid_out = std::fs::read_to_string(folder.path().join("src/giant.rs")).unwrap();
    let lines = laid_out.lines().count();
    // The first run compiles the dependencies; the second one reuses nothing of the code itself.
    run("cargo", &["check", "--quiet"]);
    std::fs::remove_dir_all(folder.path().join("target/debug/incremental")).unwrap();
    std::fs::write(folder.path().join("src/lib.rs"), "//! Again.\nmod giant;\n").unwrap();
    let begin = Instant::now();
    let said = run("/usr/bin/time", &["-f", "%M", "cargo", "check", "--quiet"]);
    let seconds = begin.elapsed().as_secs_f64();
    let kibibytes: f64 = said
        .trim()
        .parse()
        .unwrap_or_else(|_| panic!("warnings: {said}"));
    let memory = kibibytes / 1024.0;
    let figures = format!("{lines} lines by rustfmt, cargo check {seconds:.1} s, {memory:.0} MiB");
    assert!(
        lines <= MAX_LINES && seconds <= MAX_SECONDS && memory <= MAX_MEMORY,
        "{figures}"
    );
    let _ = std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("giant: {figures}\n").as_bytes(),
    );
}
