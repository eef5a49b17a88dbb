//! The documents of a WSDL, and loading them again when the files are gone.

use std::path::Path;

use bsoap_schema::{Chain, Definitions, FileLoader, MemoryLoader, WellKnown};

const WSDL: &str = r#"<wsdl:definitions targetNamespace="urn:b" xmlns:tns="urn:b"
    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <wsdl:types><xsd:schema targetNamespace="urn:b">
    <xsd:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="http://www.w3.org/2001/xml.xsd"/>
    <xsd:include schemaLocation="SCHEMA"/>
  </xsd:schema></wsdl:types>
  <wsdl:message name="m"><wsdl:part name="p" element="tns:e"/></wsdl:message>
  <wsdl:portType name="t"><wsdl:operation name="o"><wsdl:input message="tns:m"/></wsdl:operation></wsdl:portType>
  <wsdl:binding name="b" type="tns:t"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <wsdl:operation name="o"><wsdl:input><soap:body use="literal"/></wsdl:input></wsdl:operation></wsdl:binding>
  <wsdl:service name="s"><wsdl:port name="p" binding="tns:b"><soap:address location="http://localhost/"/></wsdl:port></wsdl:service>
</wsdl:definitions>"#;

const SCHEMA: &str = r#"<?xml version="1.0" encoding="ISO-8859-1"?>
<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:b"><xsd:element name="e" type="xsd:string"/><!-- é --></xsd:schema>"#;

/// Writes a WSDL in one folder and its schema, in another encoding, in another folder; `schema` refers to it.
fn write(folder: &Path, schema: &str) {
    for sub in ["wsdl", "types"] {
        std::fs::create_dir(folder.join(sub)).unwrap();
    }
    std::fs::write(folder.join("wsdl/b.wsdl"), WSDL.replace("SCHEMA", schema)).unwrap();
    let latin1: Vec<u8> = SCHEMA.chars().map(|c| c as u8).collect();
    std::fs::write(folder.join("types/b.xsd"), latin1).unwrap();
}

fn loaded(folder: &Path) -> Definitions {
    let loader = Chain::new().then(FileLoader::anywhere()).then(WellKnown);
    let wsdl = folder.join("wsdl/b.wsdl");
    Definitions::load(&wsdl.to_string_lossy(), &loader).unwrap()
}

/// Loads a bundle from memory.
fn loaded_again(bundle: &[(String, String)]) -> Definitions {
    let mut memory = MemoryLoader::default();
    for (location, text) in bundle {
        memory.add_text(location.as_str(), text);
    }
    Definitions::load(&bundle[0].0, &Chain::new().then(memory).then(WellKnown)).unwrap()
}

#[test]
fn a_bundle_is_loaded_when_the_files_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "../types/b.xsd");
    let definitions = loaded(folder.path());
    let bundle = definitions.bundle();
    folder.close().unwrap();
    let locations: Vec<&str> = bundle
        .iter()
        .map(|(location, _)| location.as_str())
        .collect();
    assert_eq!(locations, ["wsdl/b.wsdl", "types/b.xsd"]);
    let again = loaded_again(&bundle);
    let fingerprint = |definitions: &Definitions| {
        let (_, port) = definitions.ports().next().unwrap();
        definitions.plan().fingerprint(port.binding.request)
    };
    assert_eq!(fingerprint(&again), fingerprint(&definitions));
    let texts = again
        .documents()
        .iter()
        .map(|it| (it.location(), it.text()));
    let schema = texts.filter(|(location, _)| *location == "types/b.xsd");
    assert_eq!(schema.collect::<Vec<_>>(), [("types/b.xsd", SCHEMA)]);
}

#[test]
fn an_absolute_reference_keeps_its_location() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder
        .path()
        .join("types/b.xsd")
        .to_string_lossy()
        .into_owned();
    write(folder.path(), &schema);
    let bundle = loaded(folder.path()).bundle();
    folder.close().unwrap();
    assert_eq!(bundle[1].0, schema);
    assert_eq!(loaded_again(&bundle).documents().len(), 3);
}
