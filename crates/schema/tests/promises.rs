//! No document makes loading or compiling panic, however it is broken.

use bsoap_schema::{
    Chain, Compiler, LoadLimits, MemoryLoader, Offers, SchemaSetBuilder, Strictness, WellKnown,
};
use proptest::prelude::*;

/// A schema with one of each thing.
const SCHEMA: &str = r###"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">
<xs:import namespace="http://www.w3.org/XML/1998/namespace"/>
<xs:include schemaLocation="fuzz.xsd"/>
<xs:redefine schemaLocation="fuzz.xsd"><xs:group name="g"><xs:sequence><xs:group ref="t:g"/></xs:sequence></xs:group></xs:redefine>
<xs:simpleType name="s"><xs:restriction base="xs:int"><xs:minInclusive value="1"/><xs:pattern value="[0-9]+"/></xs:restriction></xs:simpleType>
<xs:simpleType name="l"><xs:list itemType="t:s"/></xs:simpleType>
<xs:simpleType name="u"><xs:union memberTypes="t:s xs:string"/></xs:simpleType>
<xs:group name="g"><xs:choice><xs:element name="a" type="t:s"/><xs:element ref="t:e"/><xs:group ref="t:h"/></xs:choice></xs:group>
<xs:group name="h"><xs:all><xs:element name="x" minOccurs="0"/></xs:all></xs:group>
<xs:attributeGroup name="ag"><xs:attribute name="p" default="1"/><xs:attribute ref="xml:lang"/><xs:anyAttribute namespace="##other"/></xs:attributeGroup>
<xs:complexType name="b" mixed="true"><xs:sequence minOccurs="0" maxOccurs="unbounded"><xs:group ref="t:g"/><xs:any namespace="##any" processContents="lax"/></xs:sequence><xs:attributeGroup ref="t:ag"/></xs:complexType>
<xs:complexType name="d"><xs:complexContent><xs:extension base="t:b"><xs:sequence><xs:element name="z" type="t:l" maxOccurs="3"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
<xs:complexType name="r"><xs:complexContent><xs:restriction base="t:b"><xs:attribute name="p" use="prohibited"/></xs:restriction></xs:complexContent></xs:complexType>
<xs:complexType name="v"><xs:simpleContent><xs:extension base="t:u"><xs:attribute name="q"/></xs:extension></xs:simpleContent></xs:complexType>
<xs:element name="e" type="t:b" abstract="true"/>
<xs:element name="m" type="t:d" substitutionGroup="t:e" nillable="true"><xs:key name="k"><xs:selector xpath="t:a"/><xs:field xpath="@id"/></xs:key></xs:element>
<xs:element name="w" type="xs:anyType"/>
</xs:schema>"###;

fn load_and_compile(document: &[u8]) {
    let mut memory = MemoryLoader::default();
    memory.add("fuzz.xsd", document);
    let loader = Chain::new().then(memory).then(WellKnown);
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), strictness);
        if builder.add_location("fuzz.xsd").is_err() {
            continue;
        }
        let Ok(set) = builder.finish() else { continue };
        for offers in [Offers::ComplexOnly, Offers::All] {
            let mut compiler = Compiler::new(&set).offering(offers);
            for element in set.global_elements() {
                let _ = compiler.global_element(&element.name);
            }
            if let Ok(compiled) = compiler.finish() {
                compiled
                    .builder
                    .finish()
                    .expect("all that was reserved is defined");
            }
        }
    }
}

#[test]
fn the_schema_with_one_of_each_thing_compiles() {
    let mut memory = MemoryLoader::default();
    memory.add("fuzz.xsd", SCHEMA);
    let loader = Chain::new().then(memory).then(WellKnown);
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Lenient);
    builder.add_location("fuzz.xsd").unwrap();
    assert_eq!(builder.finish().unwrap().global_elements().count(), 3);
    load_and_compile(SCHEMA.as_bytes());
}

#[test]
fn what_is_just_within_the_limits_needs_no_deep_stack() {
    let nested = |open: &str, close: &str, depth: usize| {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!(
            r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType>{open}{close}</xs:complexType></xs:element></xs:schema>"#
        )
    };
    load_and_compile(
        nested(
            "<xs:sequence minOccurs='0' maxOccurs='3'>",
            "</xs:sequence>",
            197,
        )
        .as_bytes(),
    );
    load_and_compile(
        nested(
            "<xs:choice maxOccurs='2' minOccurs='2'><xs:element name='a'/>",
            "</xs:choice>",
            197,
        )
        .as_bytes(),
    );
    let element = "<xs:sequence><xs:element name='e'><xs:complexType>";
    load_and_compile(
        nested(element, "</xs:complexType></xs:element></xs:sequence>", 65).as_bytes(),
    );
    let list = "<xs:attribute name='a'><xs:simpleType><xs:restriction>";
    let union = "<xs:simpleType><xs:union>".repeat(98) + &"</xs:union></xs:simpleType>".repeat(98);
    load_and_compile(
        nested(
            &(list.to_owned() + &union),
            "</xs:restriction></xs:simpleType></xs:attribute>",
            1,
        )
        .as_bytes(),
    );
}

proptest! {
    #[test]
    fn a_schema_with_pieces_moved_about_never_panics(moves in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        let mut tokens: Vec<&str> = SCHEMA.split_inclusive(['>', '"', ' ']).collect();
        for (from, to) in moves {
            let token = tokens[from.index(tokens.len())];
            let to = to.index(tokens.len());
            tokens[to] = token;
        }
        load_and_compile(tokens.concat().as_bytes());
    }

    #[test]
    fn a_schema_with_lines_and_references_exchanged_never_panics(lines in prop::collection::vec(any::<prop::sample::Index>(), 0..8), names in prop::collection::vec((any::<prop::sample::Index>(), 0..8_usize), 0..6)) {
        let mut all: Vec<&str> = SCHEMA.lines().collect();
        for line in lines {
            let at = 1 + line.index(all.len() - 2);
            all.remove(at);
            if all.len() < 4 {
                break;
            }
        }
        let mut text = all.join("\n");
        for (place, name) in names {
            let places: Vec<usize> = text.match_indices("\"t:").map(|found| found.0).collect();
            if places.is_empty() {
                break;
            }
            let start = places[place.index(places.len())] + 1;
            let end = start + text[start..].find('"').unwrap_or(0);
            text.replace_range(start..end, ["t:s", "t:g", "t:b", "t:d", "t:r", "t:e", "t:m", "t:ag"][name]);
        }
        load_and_compile(text.as_bytes());
    }
}
