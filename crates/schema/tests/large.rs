//! A schema as large as they come.

use std::fmt::Write;
use std::time::{Duration, Instant};

use bsoap_schema::{
    Compiler, ExpandedName, LoadLimits, MemoryLoader, SchemaSetBuilder, Strictness, WellKnown,
};

/// 4 MB of types that refer to one another, each with its element and its documentation.
fn large_schema() -> String {
    let mut text = String::from(
        r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">"#,
    );
    let mut n = 0;
    while text.len() < 4_000_000 {
        write!(
            text,
            r#"
  <xs:complexType name="Type{n}">
    <xs:annotation><xs:documentation>The {n}th of many types, with a sentence about what it is for.</xs:documentation></xs:annotation>
    <xs:complexContent><xs:extension base="t:{base}"><xs:sequence>
      <xs:element name="id" type="xs:int"/>
      <xs:element name="code{n}" type="t:Code{n}" minOccurs="0"/>
      <xs:element name="values" type="xs:double" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="other{n}" type="t:Type{other}" minOccurs="0" maxOccurs="unbounded"/>
      <xs:choice><xs:element name="left" type="xs:string"/><xs:element name="right" type="xs:dateTime" nillable="true"/></xs:choice>
    </xs:sequence><xs:attribute name="version{n}" type="xs:string"/></xs:extension></xs:complexContent>
  </xs:complexType>
  <xs:simpleType name="Code{n}"><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{{3}}{n}"/><xs:enumeration value="AAA{n}"/><xs:enumeration value="BBB{n}"/></xs:restriction></xs:simpleType>
  <xs:element name="Operation{n}" type="t:Type{n}"/>"#,
            base = if n % 10 == 0 { "Base".to_owned() } else { format!("Type{}", n - n % 10) },
            other = n / 2,
        )
        .unwrap();
        n += 1;
    }
    text.push_str(
        r#"<xs:complexType name="Base"><xs:attribute name="ref" type="xs:ID"/></xs:complexType></xs:schema>"#,
    );
    text
}

#[test]
fn four_megabytes_load_and_compile_in_under_a_second() {
    let mut loader = MemoryLoader::default();
    loader.add("large.xsd", large_schema());
    let loader = bsoap_schema::Chain::new().then(loader).then(WellKnown);

    let start = Instant::now();
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Lenient);
    builder.add_location("large.xsd").unwrap();
    let set = builder.finish().unwrap();
    let read = start.elapsed();
    let mut compiler = Compiler::new(&set);
    for element in set.global_elements() {
        compiler
            .global_element(&ExpandedName::clone(&element.name))
            .unwrap();
    }
    let compiled = compiler.finish().unwrap();
    let finished = start.elapsed();
    let plan = compiled.builder.finish().unwrap();
    let total = start.elapsed();

    let start = Instant::now();
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Strict);
    builder.add_location("large.xsd").unwrap();
    builder.finish().unwrap();
    let strict = start.elapsed();

    eprintln!("read {read:?}, compiled {finished:?}, plan {total:?}; strict {strict:?}");
    eprintln!(
        "{} elements, {} types",
        plan.element_count(),
        plan.type_count()
    );
    // Without optimisation, and on a machine that does other things, only the order of magnitude counts.
    let limit = if cfg!(debug_assertions) { 10 } else { 1 };
    assert!(total < Duration::from_secs(limit), "{total:?}");
}
