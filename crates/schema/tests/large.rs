//! A schema as large as they come.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::decode::{DecodeOptions, Decoder, Tolerance};
use bsoap_schema::{
    Compiler, Definitions, ExpandedName, LoadLimits, MemoryLoader, SchemaSetBuilder, Strictness,
    WellKnown,
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

/// A type with many children that may be absent, between others, in a group of this kind that occurs so often.
fn wide((group, times): (&str, &str), first: &str, more: &str) -> Definitions {
    let child = |n| format!("<xs:element name='c{n}' type='xs:string' minOccurs='0'/>");
    let children: String = (0..5000).map(child).collect();
    let text = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='r'><xs:complexType><xs:{group} {times}>\
         {first}{children}{more}</xs:{group}></xs:complexType></xs:element></xs:schema>"
    );
    let mut loader = MemoryLoader::default();
    loader.add("wide.xsd", text);
    Definitions::load("wide.xsd", &loader).unwrap()
}

#[test]
fn unknown_and_misplaced_elements_of_wide_types_are_found_without_a_search() {
    let wildcard =
        "<xs:any namespace='urn:o' processContents='skip' minOccurs='0' maxOccurs='unbounded'/>";
    let choice =
        "<xs:choice minOccurs='0'><xs:element name='y'/><xs:element name='z'/></xs:choice>";
    let z = "<xs:element name='z'/>";
    let behind = "<xs:element name='z' type='xs:int'/><xs:element name='w' minOccurs='0'/>\
         <xs:any namespace='urn:p' processContents='skip' minOccurs='0'/>";
    let two = "minOccurs='0' maxOccurs='2'";
    let many = "maxOccurs='unbounded'";
    let open = "<c0/><c1/>";
    for (group, first, more, before, after) in [
        (("sequence", ""), "", wildcard, open, "<c4999/>"),
        (("sequence", ""), "", choice, open, "<c4999/>"),
        (("all", ""), "", "", open, "<c4999/>"),
        // What is required blocks the way to the next occurrence, is its beginning, or there is no next one.
        (("sequence", many), "", z, open, "<z/>"),
        (("sequence", many), z, "", "<z/><c0/><c1/>", "<c4999/><z/>"),
        (
            ("sequence", many),
            z,
            wildcard,
            "<z/><c0/><c1/>",
            "<c4999/><z/>",
        ),
        (("sequence", many), "", behind, open, "<z>1</z>"),
        (("sequence", two), "", z, "<c0/><z/><c0/><c1/>", "<z/>"),
        (
            ("sequence", two),
            z,
            "",
            "<z/><c1/><z/><c0/><c1/>",
            "<c4999/>",
        ),
    ] {
        let definitions = wide(group, first, more);
        let root = definitions.element("", "r").unwrap();
        let mut options = DecodeOptions::default();
        options.accepted = Tolerance::Lenient.into();
        let mut decoder = Decoder::new(Arc::clone(definitions.plan()), options);
        // A second child of its name is an error in an `all`.
        let misplaced = ["<c0/>"].into_iter().filter(|_| group.0 != "all");
        let unreached = ["<w/>"].into_iter().filter(|_| more == behind);
        let misplaced = misplaced.chain(unreached);
        for more in misplaced.chain(["<u/>", "<o xmlns='urn:p'/>"]) {
            let text = format!("<r>{before}{}{after}</r>", more.repeat(200_000));
            let start = Instant::now();
            let record = decoder.decode(root, text.as_bytes()).unwrap();
            let time = start.elapsed();
            let case = format!("{group:?} {first} {before} {more}");
            assert_eq!(record.warnings().len(), 100, "{case}");
            assert!(time < Duration::from_secs(2), "{case}: {time:?}");
        }
    }
}
