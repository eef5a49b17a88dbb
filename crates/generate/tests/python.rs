//! Generated Python, as it is committed under `generated/`: it is what the generator writes today. What the modules do, and that
//! mypy and ruff find nothing in them, is tested with the package, in `python/tests/test_generated.py`.
//!
//! `BSOAP_BLESS=1 cargo test -p bsoap-generate --test python` writes them again.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use bsoap_generate::Error;
use bsoap_generate::python::{Names, Options, generate};
use bsoap_schema::{Chain, Definitions, FileLoader, MemoryLoader, WellKnown};

fn load(wsdl: &Path) -> Result<Definitions, bsoap_schema::Error> {
    let loader = Chain::new().then(WellKnown).then(FileLoader::anywhere());
    Definitions::load(&wsdl.to_string_lossy(), &loader)
}

fn testdata(name: &str) -> Definitions {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata");
    load(&folder.join(name)).unwrap()
}

/// Prints a line that is seen although the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Checks with Python, if it is there, that files are modules.
fn parse(folder: &Path) {
    let script = "import ast, pathlib, sys\n\
        for path in pathlib.Path(sys.argv[1]).glob('*.py'):\n    \
            ast.parse(path.read_text(encoding='utf-8'), str(path))\n";
    match Command::new("python3")
        .args(["-c", script])
        .arg(folder)
        .output()
    {
        Ok(ran) => assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        ),
        Err(_) => say("python3 is missing: the syntax of generated modules is NOT checked"),
    }
}

#[test]
fn the_committed_modules_are_what_is_generated() {
    let mut wire = Options::default();
    wire.names = Names::Wire;
    wire.closed_enumerations = true;
    wire.embed = true;
    let modules = [
        ("calculator.wsdl", "calculator.py", Options::default()),
        ("kitchen.wsdl", "kitchen.py", Options::default()),
        ("kitchen.wsdl", "kitchen_wire.py", wire),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated");
    for (wsdl, name, options) in modules {
        let code = generate(&testdata(wsdl), &options).unwrap();
        let file = folder.join(name);
        if std::env::var_os("BSOAP_BLESS").is_some() {
            std::fs::write(&file, &code).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        if name == "kitchen_wire.py" {
            // How the documents are compressed is up to the library.
            let head = |code: &str| code.split("\n_DOCUMENTS").next().map(str::to_owned);
            assert_eq!(head(&committed), head(&code), "{name} is stale");
            continue;
        }
        assert!(
            committed == code,
            "{name} is stale: BSOAP_BLESS=1 writes it again"
        );
    }
    parse(&folder);
}

fn wsdls(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            wsdls(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "wsdl")
        {
            found.push(path);
        }
    }
}

#[test]
fn every_wsdl_of_the_corpus_becomes_a_module() {
    let root = match std::env::var_os("BSOAP_CORPUS") {
        Some(root) => root.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    };
    let mut all = Vec::new();
    wsdls(&root, &mut all);
    if all.is_empty() {
        say("the corpus is missing: its modules are NOT checked (set BSOAP_CORPUS)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.embed = true;
    for (index, wsdl) in all.iter().enumerate() {
        // Those that are broken, and those without SOAP, are not about this.
        let Ok(definitions) = load(wsdl) else {
            continue;
        };
        options.names = [Names::Snake, Names::Wire][index % 2];
        match generate(&definitions, &options) {
            Ok(code) => {
                std::fs::write(folder.path().join(format!("m{index}.py")), code).unwrap();
            }
            Err(error) => assert_eq!(error, Error::NoOperations, "{}", wsdl.display()),
        }
    }
    let count = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(count > 100, "only {count} WSDLs");
    parse(folder.path());
}

#[test]
fn a_part_has_only_the_types_it_uses() {
    let mut options = Options::default();
    options.operations = vec!["Sum".to_owned()];
    options.service = false;
    let code = generate(&testdata("kitchen.wsdl"), &options).unwrap();
    assert!(code.contains("def sum(self, request: Sum) -> SumResponse:"));
    for absent in ["Recipe", "KitchenService", "serve_kitchen", "import enum"] {
        assert!(!code.contains(absent), "{absent}");
    }
    options.client = false;
    let code = generate(&testdata("kitchen.wsdl"), &options).unwrap();
    assert!(code.contains("class Sum(") && !code.contains("KitchenClient"));
    assert!(!code.contains("typed.Operation"));
    options.operations = vec!["sum".to_owned()];
    let error = generate(&testdata("kitchen.wsdl"), &options).unwrap_err();
    assert!(error.to_string().contains("it has Sum"), "{error}");
}

#[test]
fn the_limit_of_members_holds() {
    let mut options = Options::default();
    options.max_members = 20;
    let error = generate(&testdata("kitchen.wsdl"), &options).unwrap_err();
    assert_eq!(error, Error::TooLarge(20));
}

/// A WSDL with one operation, whose request has these children.
fn wsdl_of(children: &str, more: &str) -> Definitions {
    let text = format!(
        r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"
            xmlns:x="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
          <types><x:schema targetNamespace="urn:t" elementFormDefault="qualified">{more}
            <x:element name="Op"><x:complexType><x:sequence>{children}</x:sequence></x:complexType></x:element>
          </x:schema></types>
          <message name="In"><part name="p" element="t:Op"/></message>
          <portType name="P"><operation name="Op"><input message="t:In"/></operation></portType>
          <binding name="B" type="t:P"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
            <operation name="Op"><input><s:body use="literal"/></input></operation></binding>
          <service name="S"><port name="P" binding="t:B"><s:address location="http://localhost/"/></port></service>
        </definitions>"#
    );
    let mut loader = MemoryLoader::default();
    loader.add("t.wsdl", text);
    Definitions::load("t.wsdl", &loader).unwrap()
}

#[test]
fn names_are_those_of_python() {
    let children = ["class", "str", "self", "l", "a-b", "a_b", "Op", "OrderItem"];
    let children: String = children
        .iter()
        .map(|name| format!(r#"<x:element name="{name}" type="x:string"/>"#))
        .collect();
    let definitions = wsdl_of(&children, "");
    let mut options = Options::default();
    let code = generate(&definitions, &options).unwrap();
    for line in [
        "    class_: str",
        "    str_: str",
        "    self_: str",
        "    a_b: str",
        "    a_b2: str",
        "    order_item: str",
        "# ruff: noqa: E741",
    ] {
        assert!(
            code.lines().any(|one| one == line),
            "{line} is not in\n{code}"
        );
    }
    options.names = Names::Wire;
    let code = generate(&definitions, &options).unwrap();
    // The method has the name of the class of its argument.
    assert!(
        code.contains("    def Op(self, request: _OpType) -> None:"),
        "{code}"
    );
    assert!(code.contains("_OpType = Op"), "{code}");
    assert!(code.contains("    OrderItem: str\n"), "{code}");
}

#[test]
fn a_derived_class_inherits_only_fields_that_are_the_same() {
    let types = r#"
      <x:complexType name="Base"><x:sequence><x:element name="a" type="x:int" minOccurs="0"/></x:sequence></x:complexType>
      <x:complexType name="More"><x:complexContent><x:extension base="t:Base">
        <x:sequence><x:element name="b" type="x:int"/></x:sequence></x:extension></x:complexContent></x:complexType>
      <x:complexType name="Less"><x:complexContent><x:restriction base="t:Base">
        <x:sequence><x:element name="a" type="x:int"/></x:sequence></x:restriction></x:complexContent></x:complexType>"#;
    let definitions = wsdl_of(r#"<x:element name="it" type="t:Base"/>"#, types);
    let code = generate(&definitions, &Options::default()).unwrap();
    assert!(code.contains("class More(Base):"), "{code}");
    assert!(code.contains("class Less(typed.Struct):"), "{code}");
    assert!(
        code.contains("AnyBase: TypeAlias = \"Base | More | Less\"")
            || code.contains("AnyBase: TypeAlias = \"Base | Less | More\""),
        "{code}"
    );
}

#[test]
fn a_chain_of_derived_types_is_limited_while_it_is_filled() {
    let mut types = String::from(
        r#"<x:complexType name="T0"><x:sequence><x:element name="e0" type="x:int"/></x:sequence></x:complexType>"#,
    );
    for index in 1..150 {
        let base = index - 1;
        types += &format!(
            r#"<x:complexType name="T{index}"><x:complexContent><x:extension base="t:T{base}"><x:sequence>
               <x:element name="e{index}" type="x:int"/></x:sequence></x:extension></x:complexContent></x:complexType>"#
        );
    }
    let definitions = wsdl_of(r#"<x:element name="it" type="t:T0"/>"#, &types);
    let mut options = Options::default();
    let code = generate(&definitions, &options).unwrap();
    assert!(code.contains("class T149(T148):"));
    options.max_members = 10_000;
    let error = generate(&definitions, &options).unwrap_err();
    assert_eq!(error, Error::TooLarge(10_000));
}
