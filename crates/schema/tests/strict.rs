//! What strict loading refuses, and lenient loading does not ask.

use bsoap_schema::{
    Chain, LoadLimits, MemoryLoader, Result, SchemaSet, SchemaSetBuilder, Strictness, WellKnown,
};

fn load(content: &str, strictness: Strictness) -> Result<SchemaSet> {
    let mut memory = MemoryLoader::default();
    let text = format!(
        r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">{content}</xs:schema>"#
    );
    memory.add("a.xsd", text);
    let loader = Chain::new().then(memory).then(WellKnown);
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), strictness);
    builder.add_location("a.xsd")?;
    builder.finish()
}

/// The rule that strict loading says is broken; lenient loading takes the schema.
fn broken(content: &str) -> String {
    if let Err(error) = load(content, Strictness::Lenient) {
        panic!("lenient loading refuses {content}: {error}");
    }
    match load(content, Strictness::Strict) {
        Ok(_) => panic!("strict loading takes {content}"),
        Err(error) => error.to_string(),
    }
}

fn assert_all_broken(cases: &[(&str, &str)]) {
    for (expected, content) in cases {
        let error = broken(content);
        assert!(
            error.contains(expected),
            "{error}\nexpected {expected}\nin {content}"
        );
        assert!(error.contains("a.xsd:1:"), "{error} has no place");
    }
}

/// A complex type with this inside.
fn ty(name: &str, inside: &str) -> String {
    format!(r#"<xs:complexType name="{name}">{inside}</xs:complexType>"#)
}

/// A complex type derived from `t:b` with this inside.
fn derived(how: &str, inside: &str) -> String {
    ty(
        "d",
        &format!(
            r#"<xs:complexContent><xs:{how} base="t:b">{inside}</xs:{how}></xs:complexContent>"#
        ),
    )
}

#[test]
fn elements_and_attributes_are_allowed_only_where_the_grammar_has_them() {
    assert_all_broken(&[
        (
            "<sequence> is not allowed here in <schema>",
            "<xs:sequence/>",
        ),
        (
            "<annotation> is not allowed here in <complexType>",
            r#"<xs:complexType name="a"><xs:sequence/><xs:annotation/></xs:complexType>"#,
        ),
        (
            "the attribute minOccurs is not allowed in <element>",
            r#"<xs:element name="a" minOccurs="0"/>"#,
        ),
        ("text is not allowed in <schema>", "hello"),
        ("<element> must have the attribute name", "<xs:element/>"),
        (
            "<group> must have a child <sequence>",
            r#"<xs:group name="g"/>"#,
        ),
        (
            r#"the attribute name is "1a", expected a name without a colon"#,
            r#"<xs:element name="1a"/>"#,
        ),
        (
            r#"the attribute nillable is "yes", expected true or false"#,
            r#"<xs:element name="a" nillable="yes"/>"#,
        ),
        (
            "src-element.1",
            r#"<xs:element name="a" default="1" fixed="1"/>"#,
        ),
        (
            "src-element.3",
            r#"<xs:element name="a" type="xs:int"><xs:simpleType><xs:restriction base="xs:int"/></xs:simpleType></xs:element>"#,
        ),
        (
            "src-attribute.2",
            r#"<xs:complexType name="a"><xs:attribute name="x" use="required" default="1"/></xs:complexType>"#,
        ),
        (
            "src-simple-type.3",
            r#"<xs:simpleType name="a"><xs:list/></xs:simpleType>"#,
        ),
        ("src-import.1", r#"<xs:import namespace="urn:t"/>"#),
        (
            r#"the id "i" is used twice"#,
            r#"<xs:element name="a" id="i"/><xs:element name="b" id="i"/>"#,
        ),
        (
            r#"the attribute xpath is "a/@b/c", expected a path"#,
            r#"<xs:element name="a"><xs:key name="k"><xs:selector xpath="a/@b/c"/><xs:field xpath="x"/></xs:key></xs:element>"#,
        ),
    ]);
}

#[test]
fn names_are_defined_once_and_refer_to_something() {
    assert_all_broken(&[
        (
            r#"type "t:nothing" is not defined"#,
            r#"<xs:element name="a" type="t:nothing"/>"#,
        ),
        (
            r#"group "t:nothing" is not defined"#,
            r#"<xs:complexType name="a"><xs:group ref="t:nothing"/></xs:complexType>"#,
        ),
        (
            r#"type "{urn:t}a" is defined twice"#,
            r#"<xs:complexType name="a"/><xs:simpleType name="a"><xs:restriction base="xs:int"/></xs:simpleType>"#,
        ),
        (
            "is not imported in this document",
            r#"<xs:element name="a" xmlns:o="urn:o" type="o:x"/>"#,
        ),
        (
            "refers to itself",
            r#"<xs:simpleType name="s"><xs:restriction base="t:s"/></xs:simpleType>"#,
        ),
        (
            "refers to itself",
            r#"<xs:group name="g"><xs:sequence><xs:group ref="t:g"/></xs:sequence></xs:group>"#,
        ),
        (
            "ct-props-correct.4",
            r#"<xs:complexType name="a"><xs:attribute name="x"/><xs:attribute name="x"/></xs:complexType>"#,
        ),
        (
            "ct-props-correct.5",
            r#"<xs:complexType name="a"><xs:attribute name="x" type="xs:ID"/><xs:attribute name="y" type="xs:ID"/></xs:complexType>"#,
        ),
        (
            "cos-element-consistent",
            r#"<xs:complexType name="a"><xs:sequence><xs:element name="x" type="xs:int"/><xs:element name="x" type="xs:string"/></xs:sequence></xs:complexType>"#,
        ),
    ]);
}

#[test]
fn a_name_determines_its_particle() {
    let model = |content: &str| ty("a", &format!("<xs:sequence>{content}</xs:sequence>"));
    for ambiguous in [
        r#"<xs:element name="x" minOccurs="0"/><xs:element name="x"/>"#,
        r#"<xs:element name="x" maxOccurs="3"/><xs:element name="x"/>"#,
        r#"<xs:choice><xs:element name="x"/><xs:sequence><xs:element name="x"/></xs:sequence></xs:choice>"#,
        r#"<xs:any minOccurs="0"/><xs:element name="x"/>"#,
        r#"<xs:any namespace="urn:a urn:b" minOccurs="0"/><xs:any namespace="urn:b"/>"#,
    ] {
        assert_all_broken(&[("cos-nonambig", &model(ambiguous))]);
    }
    for clear in [
        r#"<xs:element name="x" minOccurs="2" maxOccurs="2"/><xs:element name="x"/>"#,
        r#"<xs:sequence minOccurs="0" maxOccurs="unbounded"><xs:element name="x" minOccurs="0"/></xs:sequence><xs:element name="y"/>"#,
        r###"<xs:any namespace="##other" minOccurs="0"/><xs:element name="x"/>"###,
        r#"<xs:element name="x"/><xs:element name="x"/>"#,
    ] {
        load(&model(clear), Strictness::Strict).unwrap();
    }
}

#[test]
fn values_are_of_their_types() {
    assert_all_broken(&[
        (
            "e-props-correct.2",
            r#"<xs:element name="a" type="xs:int" default="x"/>"#,
        ),
        (
            "a-props-correct.2",
            r#"<xs:attribute name="a" type="xs:int" fixed="x"/>"#,
        ),
        (
            "cos-valid-default.2",
            r#"<xs:element name="a" default="x"><xs:complexType><xs:sequence><xs:element name="b"/></xs:sequence></xs:complexType></xs:element>"#,
        ),
        (
            "(facet)",
            r#"<xs:simpleType name="a"><xs:restriction base="xs:int"><xs:maxInclusive value="x"/></xs:restriction></xs:simpleType>"#,
        ),
        (
            "enumeration-required-notation",
            r#"<xs:attribute name="a" type="xs:NOTATION"/>"#,
        ),
    ]);
}

#[test]
fn derivations_are_those_that_the_base_allows() {
    let base = ty(
        "b",
        r#"<xs:sequence><xs:element name="x" type="xs:int" minOccurs="0" maxOccurs="3"/><xs:element name="y" minOccurs="0"/></xs:sequence><xs:attribute name="p" type="xs:int"/>"#,
    );
    for (rule, inside) in [
        (
            "derivation-ok-restriction.5",
            r#"<xs:sequence><xs:element name="z" type="xs:int"/></xs:sequence>"#,
        ),
        (
            "derivation-ok-restriction.5",
            r#"<xs:sequence><xs:element name="x" type="xs:int" maxOccurs="4"/></xs:sequence>"#,
        ),
        (
            "derivation-ok-restriction.5",
            r#"<xs:sequence><xs:element name="x" type="xs:string"/></xs:sequence>"#,
        ),
        (
            "derivation-ok-restriction.2.2",
            r#"<xs:attribute name="q"/>"#,
        ),
        (
            "derivation-ok-restriction.2.1.2",
            r#"<xs:attribute name="p" type="xs:string"/>"#,
        ),
    ] {
        assert_all_broken(&[(rule, &(base.clone() + &derived("restriction", inside)))]);
    }
    for legal in [
        r#"<xs:sequence><xs:element name="x" type="xs:byte" maxOccurs="2"/></xs:sequence><xs:attribute name="p" type="xs:byte" use="required"/>"#,
        r#"<xs:sequence><xs:element name="y"/></xs:sequence><xs:attribute name="p" use="prohibited"/>"#,
        "",
    ] {
        load(
            &(base.clone() + &derived("restriction", legal)),
            Strictness::Strict,
        )
        .unwrap();
    }
    let final_base = base.replace("<xs:complexType ", r#"<xs:complexType final="extension" "#);
    assert_all_broken(&[
        (
            "is final: it forbids this derivation",
            &(final_base + &derived("extension", "")),
        ),
        (
            "cos-all-limited.1.2",
            &(base.clone() + &derived("extension", r#"<xs:all><xs:element name="z"/></xs:all>"#)),
        ),
        (
            "cos-ct-extends.1.4.2.2.2",
            &(base
                + &derived(
                    "extension",
                    r#"<xs:sequence><xs:element name="z"/></xs:sequence>"#,
                )
                .replace("<xs:complexContent>", r#"<xs:complexContent mixed="true">"#)),
        ),
        (
            "e-props-correct.4",
            r#"<xs:element name="h" type="xs:int"/><xs:element name="m" type="xs:string" substitutionGroup="t:h"/>"#,
        ),
        (
            "src-ct.1",
            r#"<xs:complexType name="a"><xs:complexContent><xs:extension base="xs:int"/></xs:complexContent></xs:complexType>"#,
        ),
        (
            "src-ct.2",
            r#"<xs:complexType name="a"><xs:simpleContent><xs:restriction base="xs:int"/></xs:simpleContent></xs:complexType>"#,
        ),
    ]);
}

#[test]
fn fixed_values_are_compared_by_value() {
    let attribute = |fixed: &str| {
        let base = ty(
            "b",
            r#"<xs:attribute name="a" type="xs:decimal" fixed="1.0"/>"#,
        );
        let own = derived(
            "restriction",
            &format!(r#"<xs:attribute name="a" type="xs:decimal" fixed="{fixed}"/>"#),
        );
        format!("{base}{own}")
    };
    let name = |namespace: &str| {
        let base = ty(
            "b",
            r#"<xs:attribute name="a" type="xs:QName" fixed="t:x"/>"#,
        );
        let own = format!(
            r#"<xs:attribute name="a" type="xs:QName" fixed="o:x" xmlns:o="{namespace}"/>"#
        );
        format!("{base}{}", derived("restriction", &own))
    };
    for valid in [attribute("1.00"), name("urn:t")] {
        load(&valid, Strictness::Strict).unwrap_or_else(|error| panic!("{error}: {valid}"));
    }
    let rule = "derivation-ok-restriction.2.1.3";
    assert_all_broken(&[
        (rule, &attribute("1.1")),
        (rule, &name("urn:other")),
        (
            "e-props-correct.2",
            r#"<xs:element name="e" type="xs:QName" fixed="undeclared:x"/>"#,
        ),
    ]);
}
