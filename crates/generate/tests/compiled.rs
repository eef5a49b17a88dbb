//! Generated code in a crate of its own: in each edition, as a private module, with warnings denied.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bsoap_generate::{Dates, Decimals, Error, Options, generate};
use bsoap_schema::{Chain, Definitions, FileLoader, MemoryLoader, WellKnown};

const EDITIONS: [&str; 3] = ["2018", "2021", "2024"];

/// Prints a line that is seen although the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A WSDL of the corpus, if there is one.
fn from_corpus(name: &str) -> Option<Definitions> {
    let root = match std::env::var_os("BSOAP_CORPUS") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    };
    let wsdl = root.join(name);
    if !wsdl.is_file() {
        let wsdl = wsdl.display();
        say(&format!(
            "{wsdl} is missing: code for it is NOT checked (set BSOAP_CORPUS)"
        ));
        return None;
    }
    Some(definitions(&wsdl.to_string_lossy()))
}

fn definitions(wsdl: &str) -> Definitions {
    let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
    Definitions::load(wsdl, &loader).unwrap()
}

fn kitchen() -> Definitions {
    definitions(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/testdata/kitchen.wsdl"
    ))
}

/// The folder of the libraries that this test was built with.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// The libraries of this name, the newest first. There are several if they were built with several sets of features.
fn libraries(library: &str) -> Vec<PathBuf> {
    let folder = folder();
    let age = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    let libraries = std::fs::read_dir(&folder).unwrap().flatten();
    let prefix = format!("lib{library}-");
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(".rlib")
    };
    let mut found: Vec<PathBuf> = libraries.map(|file| file.path()).filter(is_it).collect();
    found.sort_by_key(|path| std::cmp::Reverse(age(path)));
    found
}

/// Compiles the code as a private module of a library that uses nothing of it.
fn compile(code: &str, edition: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("generated.rs"), code).unwrap();
    let source = folder.path().join("lib.rs");
    std::fs::write(
        &source,
        "#![warn(missing_docs, unreachable_pub)]\n//! Private.\nmod service { include!(\"generated.rs\"); }\n",
    )
    .unwrap();
    let bsoap = libraries("bsoap").swap_remove(0);
    // Only one of them is that of this `bsoap`.
    let mut said = String::new();
    for serde in libraries("serde") {
        let checked = Command::new("rustc")
            .args(["--edition", edition, "--crate-type", "lib"])
            .args(["--emit", "metadata", "-D", "warnings"])
            .arg("--out-dir")
            .arg(folder.path())
            .arg("--extern")
            .arg(format!("bsoap={}", bsoap.display()))
            .arg("--extern")
            .arg(format!("serde={}", serde.display()))
            .arg("-L")
            .arg(format!("dependency={}", self::folder().display()))
            .arg(&source)
            .output();
        let Ok(checked) = checked else {
            say("rustc cannot be run: generated code is NOT checked");
            return;
        };
        said = String::from_utf8_lossy(&checked.stderr).into_owned();
        if checked.status.success() && said.is_empty() {
            return;
        }
    }
    panic!("{said}");
}

#[test]
fn code_with_every_kind_of_type_compiles_in_every_edition() {
    let code = generate(&kitchen(), &Options::default()).unwrap();
    for edition in EDITIONS {
        compile(&code, edition);
    }
}

#[test]
fn code_for_the_device_service_of_onvif_compiles() {
    let Some(onvif) = from_corpus("onvif/devicemgmt.wsdl") else {
        return;
    };
    let code = generate(&onvif, &Options::default()).unwrap();
    compile(&code, "2021");
}

#[test]
fn each_part_compiles_alone() {
    for (client, service) in [(true, false), (false, true), (false, false)] {
        let mut options = Options::default();
        (options.client, options.service) = (client, service);
        options.closed_enumerations = true;
        let code = generate(&kitchen(), &options).unwrap();
        assert_eq!(code.contains("KitchenClient"), client);
        assert_eq!(code.contains("trait Kitchen"), service);
        compile(&code, "2021");
    }
}

#[test]
fn code_with_the_types_of_other_crates_and_serde_compiles() {
    let derives = ["serde::Serialize", "serde::Deserialize"];
    let all = [
        (Dates::Bsoap, Decimals::Bsoap, "2018"),
        (Dates::Jiff, Decimals::RustDecimal, "2024"),
        (Dates::Chrono, Decimals::Strings, "2021"),
        (Dates::Time, Decimals::Bsoap, "2021"),
        (Dates::Strings, Decimals::Strings, "2024"),
    ];
    for (dates, decimals, edition) in all {
        let mut options = Options::default();
        (options.dates, options.decimals) = (dates, decimals);
        options.embed = dates == Dates::Time;
        let code = generate(&kitchen(), &options).unwrap();
        compile(&code, edition);
        options.derives = derives.map(str::to_owned).to_vec();
        options.closed_enumerations = dates == Dates::Jiff;
        let code = generate(&kitchen(), &options).unwrap();
        compile(&code, edition);
    }
}

#[test]
fn only_the_operations_asked_for_are_generated() {
    let mut options = Options::default();
    options.operations = vec!["Sum".to_owned(), "Clean".to_owned()];
    let code = generate(&kitchen(), &options).unwrap();
    assert!(code.contains("pub fn sum(") && code.contains("pub fn clean("));
    assert!(!code.contains("pub fn cook(") && !code.contains("struct Recipe"));
    compile(&code, "2024");
    options.operations = vec!["cook".to_owned()];
    let error = generate(&kitchen(), &options).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the WSDL has no operation \"cook\"; it has Cook, "),
        "{error}"
    );
}

#[test]
fn derives_that_are_asked_for_are_on_all_types() {
    let mut options = Options::default();
    options.derives = vec!["PartialOrd".to_owned()];
    options.operations = vec!["Sum".to_owned()];
    let code = generate(&kitchen(), &options).unwrap();
    assert!(code.contains("#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]"));
    options.derives = vec!["not a path".to_owned()];
    assert_eq!(
        generate(&kitchen(), &options).unwrap_err(),
        Error::Derive("not a path".to_owned())
    );
}

#[test]
fn a_wsdl_without_operations_is_an_error() {
    let mut loader = MemoryLoader::default();
    loader.add(
        "empty.wsdl",
        r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:e"/>"#,
    );
    let empty = Definitions::load("empty.wsdl", &loader).unwrap();
    let error = generate(&empty, &Options::default()).unwrap_err();
    assert_eq!(error, Error::NoOperations);
}
