//! What a validator accepts: fixed values, types named by `xsi:type`, and constructs of XSD 1.1.

use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Validation};
use bsoap_schema::{Definitions, LoadOptions, MemoryLoader, Offers, Strictness, load};

fn loaded(components: &str) -> Definitions {
    let schema =
        format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{components}</xs:schema>");
    let mut loader = MemoryLoader::default();
    loader.add("t.xsd", schema);
    let mut options = LoadOptions::default();
    options.offers = Offers::All;
    load("t.xsd", &loader, &options).unwrap_or_else(|error| panic!("{error}: {components}"))
}

/// The violations in a document, whose root is the element `r`.
fn violations(definitions: &Definitions, document: &str) -> Vec<String> {
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), options);
    let root = definitions.element("", "r").expect("r is declared");
    let violations = decoder.validate(root, document.as_bytes());
    violations.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(components: &str, cases: &[(&str, bool)]) {
    let definitions = loaded(components);
    for (document, is_valid) in cases {
        let violations = violations(&definitions, document);
        assert_eq!(
            violations.is_empty(),
            *is_valid,
            "{document}: {violations:?}"
        );
    }
}

#[test]
fn fixed_values_are_compared_by_value_in_lists_and_unions_too() {
    check(
        "<xs:simpleType name='decimals'><xs:list itemType='xs:decimal'/></xs:simpleType>\
         <xs:simpleType name='either'><xs:union memberTypes='xs:double xs:string'/></xs:simpleType>\
         <xs:element name='r'><xs:complexType><xs:choice>\
         <xs:element name='list' type='decimals' fixed='1 2.0'/><xs:element name='union' type='either' fixed='1e2'/>\
         <xs:element name='date' type='xs:dateTime' fixed='2000-01-01T12:00:00Z'/></xs:choice>\
         <xs:attribute name='a' type='decimals' fixed='1.0'/></xs:complexType></xs:element>",
        &[
            ("<r><list>1.0  2</list></r>", true),
            ("<r><list>1.0 3</list></r>", false),
            ("<r><list>1</list></r>", false),
            ("<r a='01'><union>100</union></r>", true),
            ("<r a='2'><union>100</union></r>", false),
            ("<r><union>101</union></r>", false),
            ("<r><union>1e2 x</union></r>", false),
            ("<r><date>2000-01-01T13:00:00+01:00</date></r>", true),
            ("<r><date>2000-01-01T13:00:00Z</date></r>", false),
        ],
    );
}

#[test]
fn fixed_values_of_mixed_and_any_content_are_compared_with_the_text() {
    check(
        "<xs:element name='r'><xs:complexType><xs:choice>\
         <xs:element name='m' fixed='a &amp; b'><xs:complexType mixed='true'><xs:sequence><xs:element name='e' type='xs:int' minOccurs='0'/>\
         </xs:sequence></xs:complexType></xs:element><xs:element name='any' fixed='a &amp; b'/></xs:choice></xs:complexType></xs:element>",
        &[
            ("<r><m>a &amp; b</m></r>", true),
            ("<r><m/></r>", true),
            ("<r><m>a</m></r>", false),
            ("<r><m>a &amp; b<e>1</e></m></r>", false),
            ("<r><m><e>1</e></m></r>", false),
            ("<r><any>a &amp; b</any></r>", true),
            ("<r><any/></r>", true),
            ("<r><any>a</any></r>", false),
            ("<r><any>a &amp; b<e/></any></r>", false),
        ],
    );
}

#[test]
fn a_type_may_name_a_member_of_a_union() {
    check(
        "<xs:simpleType name='small'><xs:restriction base='xs:int'><xs:maxInclusive value='9'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='either'><xs:union memberTypes='small xs:date'/></xs:simpleType><xs:element name='r' type='either'/>",
        &[
            ("<r>5</r>", true),
            (
                "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='small'>5</r>",
                true,
            ),
            (
                "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='small'>2000-01-01</r>",
                false,
            ),
            (
                "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xs='http://www.w3.org/2001/XMLSchema' xsi:type='xs:int'>5</r>",
                false,
            ),
        ],
    );
}

#[test]
fn an_element_may_block_types_derived_from_a_simple_type() {
    let components = |block: &str| {
        format!(
            "<xs:simpleType name='small'><xs:restriction base='xs:int'><xs:maxInclusive value='9'/></xs:restriction></xs:simpleType>\
             <xs:element name='r' type='xs:int' block='{block}'/>"
        )
    };
    let derived = "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='small'>5</r>";
    check(&components(""), &[(derived, true)]);
    check(&components("extension"), &[(derived, true)]);
    check(
        &components("restriction"),
        &[(derived, false), ("<r>5</r>", true)],
    );
    check(&components("#all"), &[(derived, false)]);
}

#[test]
fn lists_of_names_are_read_with_their_namespaces() {
    check(
        "<xs:simpleType name='names'><xs:list itemType='xs:QName'/></xs:simpleType><xs:element name='r' type='names'/>",
        &[
            ("<r xmlns:a='urn:a'>a:x b</r>", true),
            ("<r>a:x</r>", false),
        ],
    );
}

#[test]
fn constructs_of_xsd_1_1_are_named() {
    let components = "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='a' type='xs:int' minOccurs='0'/></xs:sequence>\
        <xs:assert test='a'/></xs:complexType><xs:alternative test='@b' type='xs:int'/></xs:element>\
        <xs:complexType name='open'><xs:openContent><xs:any/></xs:openContent></xs:complexType><xs:override schemaLocation='o.xsd'/>";
    let definitions = loaded(components);
    let notes: Vec<String> = definitions
        .notes()
        .iter()
        .map(ToString::to_string)
        .collect();
    for name in ["assert", "alternative", "openContent", "override"] {
        let expected = format!(
            "not supported: xs:{name} is a construct of XSD 1.1, only XSD 1.0 is known; it is ignored"
        );
        assert!(
            notes.iter().any(|note| note.ends_with(&expected)),
            "{notes:#?}"
        );
    }
    let mut loader = MemoryLoader::default();
    loader.add(
        "t.xsd",
        format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{components}</xs:schema>"),
    );
    let mut options = LoadOptions::default();
    options.strictness = Strictness::Strict;
    let error = load("t.xsd", &loader, &options).expect_err("a strict load refuses it");
    assert!(
        error
            .to_string()
            .contains("xs:assert is a construct of XSD 1.1"),
        "{error}"
    );
}
