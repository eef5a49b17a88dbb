//! The options of `generate`.

mod common;

use common::run;
use tempfile::TempDir;

/// Two operations, an enumeration, a time and a decimal.
const WSDL: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:t="urn:t" xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">
  <types><xs:schema targetNamespace="urn:t">
    <xs:simpleType name="Colour"><xs:restriction base="xs:string">
      <xs:enumeration value="red"/><xs:enumeration value="blue"/>
    </xs:restriction></xs:simpleType>
    <xs:element name="pay"><xs:complexType><xs:sequence>
      <xs:element name="at" type="xs:dateTime"/><xs:element name="amount" type="xs:decimal"/>
      <xs:element name="colour" type="t:Colour"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="ask"><xs:complexType><xs:sequence><xs:element name="word" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
  </xs:schema></types>
  <message name="pay"><part name="p" element="t:pay"/></message>
  <message name="ask"><part name="p" element="t:ask"/></message>
  <portType name="Shop">
    <operation name="pay"><input message="t:pay"/><output message="t:pay"/></operation>
    <operation name="ask"><input message="t:ask"/><output message="t:ask"/></operation>
  </portType>
  <binding name="B" type="t:Shop"><s:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="pay"><s:operation soapAction="pay"/><input><s:body use="literal"/></input><output><s:body use="literal"/></output></operation>
    <operation name="ask"><s:operation soapAction="ask"/><input><s:body use="literal"/></input><output><s:body use="literal"/></output></operation>
  </binding>
  <service name="S"><port name="P" binding="t:B"><s:address location="http://localhost/t"/></port></service>
</definitions>"#;

/// A folder with the WSDL.
fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.wsdl");
    std::fs::write(&file, WSDL).expect("it is written");
    (folder, file.display().to_string())
}

/// The code that is generated with these options.
fn code(options: &[&str]) -> String {
    let (_folder, wsdl) = folder();
    let ran = run(&[&["generate", &wsdl], options].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

#[test]
fn options_change_the_code() {
    let all = [
        "struct Pay ",
        "struct Ask ",
        "struct ShopClient",
        "trait Shop",
    ];
    for (options, has, has_not) in [
        (&[][..], &all[..], &["serde", "soapAction"][..]),
        (
            &["--operations", "ask"],
            &["struct Ask ", "trait Shop"],
            &["struct Pay ", "enum Colour"],
        ),
        (
            &["--operations", "pay,ask", "--only", "types"],
            &["struct Pay ", "struct Ask "],
            &["ShopClient", "trait Shop"],
        ),
        (
            &["--only", "client"],
            &["struct ShopClient"],
            &["trait Shop"],
        ),
        (
            &["--only", "service"],
            &["trait Shop"],
            &["struct ShopClient"],
        ),
        (
            &["--derive", "serde::Serialize,serde::Deserialize"],
            &["serde::Serialize", "serde::Deserialize"],
            &[],
        ),
        (&["--dates", "jiff"], &["jiff"], &["chrono"]),
        (&["--dates", "chrono"], &["chrono"], &["jiff"]),
        (
            &["--decimals", "rust_decimal"],
            &["rust_decimal"],
            &["jiff"],
        ),
        (
            &["--dates", "strings", "--decimals", "strings"],
            &["pub amount: String", "pub at: String"],
            &[],
        ),
        (&["--embed"], &["soapAction"], &[]),
    ] {
        let code = code(options);
        for part in has {
            assert!(code.contains(part), "{options:?} lacks {part}:\n{code}");
        }
        for part in has_not {
            assert!(!code.contains(part), "{options:?} has {part}:\n{code}");
        }
    }
    assert_ne!(code(&["--closed-enumerations"]), code(&[]));
}

#[test]
fn a_wrong_option_is_reported_with_what_there_is() {
    let (_folder, wsdl) = folder();
    for (options, part) in [
        (["--operations", "buy"], "it has pay, ask"),
        (
            ["--only", "tests"],
            "[possible values: types, client, service]",
        ),
        (
            ["--dates", "julian"],
            "[possible values: bsoap, jiff, chrono, time, strings]",
        ),
        (
            ["--decimals", "bcd"],
            "[possible values: bsoap, rust_decimal, strings]",
        ),
    ] {
        let ran = run(&[&["generate", &wsdl][..], &options].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(part) && ran.out.is_empty(), "{ran:?}");
    }
}
