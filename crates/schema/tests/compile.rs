//! What schemas become in a Plan.

use bsoap_codec::Plan;
use bsoap_codec::plan::{
    Content, Element, ElementId, LeafKind, Particle, ParticleId, Term, UNBOUNDED,
};
use bsoap_schema::{
    Chain, Compiler, ExpandedName, LoadLimits, MemoryLoader, Result, SchemaSet, SchemaSetBuilder,
    Strictness, WellKnown,
};

fn load(documents: &[(&str, &str)]) -> Result<SchemaSet> {
    let mut memory = MemoryLoader::default();
    for (location, content) in documents {
        let text = format!(
            r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" {content}</xs:schema>"#
        );
        memory.add(*location, text);
    }
    let loader = Chain::new().then(memory).then(WellKnown);
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Lenient);
    builder.add_location(documents[0].0)?;
    builder.finish()
}

fn compile_set(set: &SchemaSet, name: &str) -> Result<(Plan, ElementId)> {
    let (namespace, local) = name.rsplit_once('#').unwrap_or(("", name));
    let mut compiler = Compiler::new(set);
    let root = compiler.global_element(&ExpandedName::new(namespace, local))?;
    Ok((compiler.finish()?.builder.finish().unwrap(), root))
}

/// The Plan of one schema document; `content` begins with attributes of `schema`.
fn compile(content: &str, name: &str) -> Result<(Plan, ElementId)> {
    compile_set(&load(&[("a.xsd", content)])?, name)
}

/// A particle as a content model, with namespaces left out.
fn model(plan: &Plan, id: ParticleId) -> String {
    let particle: &Particle = plan.particle(id);
    let group = |separator: &str| {
        let children: Vec<_> = plan
            .children_of(id)
            .iter()
            .map(|&child| model(plan, child))
            .collect();
        format!("({})", children.join(separator))
    };
    let term = match &particle.term {
        Term::Element(element) => plan
            .vocabulary()
            .local(plan.element(*element).name)
            .to_owned(),
        Term::Sequence(_) => group(", "),
        Term::Choice(_) => group(" | "),
        Term::All(_) => group(" & "),
        Term::Any(_) => "any".to_owned(),
    };
    match (particle.min, particle.max) {
        (1, 1) => term,
        (0, 1) => term + "?",
        (0, UNBOUNDED) => term + "*",
        (1, UNBOUNDED) => term + "+",
        (min, max) => format!("{term}{{{min},{max}}}"),
    }
}

fn content(plan: &Plan, element: &Element) -> String {
    match &plan.ty(element.ty).content {
        Content::Empty => "empty".to_owned(),
        Content::Simple(leaf) => format!("{:?}", plan.leaf(*leaf).kind),
        Content::Particle(particle) => model(plan, *particle),
        Content::Mixed { particle, .. } => format!("mixed {}", model(plan, *particle)),
        Content::Any => "any".to_owned(),
    }
}

fn content_of(schema: &str, name: &str) -> String {
    let (plan, root) = compile(schema, name).unwrap();
    content(&plan, plan.element(root))
}

fn attributes_of(schema: &str, name: &str) -> Vec<String> {
    let (plan, root) = compile(schema, name).unwrap();
    let ty = plan.ty(plan.element(root).ty);
    let mut names: Vec<_> = ty
        .attribute_ids()
        .map(|id| plan.vocabulary().local(plan.attribute(id).name).to_owned())
        .collect();
    names.extend(ty.any_attribute.iter().map(|_| "any".to_owned()));
    names
}

#[test]
fn groups_are_spelled_out_and_needless_nesting_is_gone() {
    let schema = r#">
        <xs:group name="g"><xs:sequence><xs:element name="b"/><xs:element name="c"/></xs:sequence></xs:group>
        <xs:element name="r"><xs:complexType><xs:sequence>
            <xs:element name="a"/>
            <xs:group ref="g"/>
            <xs:group ref="g" minOccurs="0" maxOccurs="unbounded"/>
            <xs:sequence minOccurs="0" maxOccurs="unbounded"><xs:element name="d"/></xs:sequence>
            <xs:choice><xs:element name="e"/><xs:choice><xs:element name="f"/><xs:any namespace="urn:x"/></xs:choice></xs:choice>
        </xs:sequence></xs:complexType></xs:element>"#;
    assert_eq!(
        content_of(schema, "r"),
        "(a, b, c, (b, c)*, d*, (e | f | any))"
    );
}

#[test]
fn an_extension_has_the_content_and_attributes_of_its_base_first() {
    let schema = r#">
        <xs:complexType name="base"><xs:sequence><xs:element name="a"/></xs:sequence><xs:attribute name="x"/></xs:complexType>
        <xs:complexType name="more"><xs:complexContent><xs:extension base="base">
            <xs:sequence><xs:element name="b"/></xs:sequence><xs:attribute name="y"/><xs:anyAttribute/>
        </xs:extension></xs:complexContent></xs:complexType>
        <xs:complexType name="most"><xs:complexContent><xs:extension base="more">
            <xs:choice><xs:element name="c"/><xs:element name="d"/></xs:choice>
        </xs:extension></xs:complexContent></xs:complexType>
        <xs:complexType name="less"><xs:complexContent><xs:restriction base="base">
            <xs:attribute name="x" use="prohibited"/></xs:restriction></xs:complexContent></xs:complexType>
        <xs:element name="r" type="most"/><xs:element name="l" type="less"/>"#;
    assert_eq!(content_of(schema, "r"), "(a, b, (c | d))");
    assert_eq!(attributes_of(schema, "r"), ["x", "y", "any"]);
    assert_eq!(content_of(schema, "l"), "empty");
    assert!(attributes_of(schema, "l").is_empty());
}

#[test]
fn derived_types_may_replace_and_abstract_ones_may_not() {
    let schema = r#">
        <xs:complexType name="shape" abstract="true"/>
        <xs:complexType name="circle"><xs:complexContent><xs:extension base="shape"/></xs:complexContent></xs:complexType>
        <xs:complexType name="disc"><xs:complexContent><xs:extension base="circle"/></xs:complexContent></xs:complexType>
        <xs:element name="r" type="shape"/><xs:element name="c" type="circle" block="extension"/><xs:element name="d" type="disc"/>"#;
    let names = |root: &str| {
        let (plan, root) = compile(schema, root).unwrap();
        let alternatives = &plan.ty(plan.element(root).ty).alternatives;
        alternatives
            .iter()
            .map(|&id| {
                plan.vocabulary()
                    .local(plan.ty(id).name.unwrap())
                    .to_owned()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(names("r"), ["circle", "disc"]);
    assert!(names("c").is_empty());
    assert!(names("d").is_empty());
}

#[test]
fn a_substitution_group_is_a_choice() {
    let schema = r#">
        <xs:element name="head" type="xs:string" abstract="true"/>
        <xs:element name="m1" substitutionGroup="head"/>
        <xs:element name="m2" type="xs:token" substitutionGroup="m1"/>
        <xs:element name="r"><xs:complexType><xs:sequence><xs:element ref="head" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>"#;
    assert_eq!(content_of(schema, "r"), "(m1 | m2)+");
}

#[test]
fn simple_content_keeps_its_datatype() {
    let schema = r#">
        <xs:complexType name="price"><xs:simpleContent><xs:extension base="xs:double"><xs:attribute name="currency"/></xs:extension></xs:simpleContent></xs:complexType>
        <xs:complexType name="cheap"><xs:simpleContent><xs:restriction base="price"><xs:maxInclusive value="10"/></xs:restriction></xs:simpleContent></xs:complexType>
        <xs:element name="r" type="cheap"/>"#;
    assert_eq!(content_of(schema, "r"), "Double");
    assert_eq!(attributes_of(schema, "r"), ["currency"]);
    let (plan, root) = compile(schema, "r").unwrap();
    let Content::Simple(leaf) = plan.ty(plan.element(root).ty).content else {
        panic!()
    };
    assert!(plan.leaf(leaf).has_facets);
    assert_eq!(plan.leaf(leaf).kind, LeafKind::Double);
}

#[test]
fn recursive_types_and_elements_compile() {
    let schema = r#">
        <xs:complexType name="node"><xs:sequence><xs:element name="child" type="node" minOccurs="0"/><xs:element ref="r" minOccurs="0"/></xs:sequence></xs:complexType>
        <xs:element name="r" type="node"/>"#;
    assert_eq!(content_of(schema, "r"), "(child?, r?)");
}

#[test]
fn any_type_offers_every_named_type_in_one_place() {
    let mut schema = String::from(r#"><xs:element name="r"><xs:complexType><xs:sequence>"#);
    for n in 0..1000 {
        schema += &format!(r#"<xs:element name="e{n}" type="xs:anyType"/>"#);
    }
    schema += "</xs:sequence></xs:complexType></xs:element>";
    for n in 0..1000 {
        schema += &format!(
            r#"<xs:complexType name="t{n}"><xs:sequence><xs:element name="a" type="xs:anyType"/></xs:sequence></xs:complexType>"#
        );
    }
    let (plan, _) = compile(&schema, "r").unwrap();
    let total: usize = (0..plan.type_count() as u32)
        .map(|id| plan.ty(bsoap_codec::plan::TypeId(id)).alternatives.len())
        .sum();
    assert!(total > 1000 && total < 1200, "{total}");
}

#[test]
fn qualification_follows_form_and_defaults() {
    let schema = r#"targetNamespace="urn:t" xmlns="urn:t" elementFormDefault="qualified">
        <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="q"/><xs:element name="u" form="unqualified"/></xs:sequence>
        <xs:attribute name="a"/><xs:attribute name="b" form="qualified"/></xs:complexType></xs:element>"#;
    let (plan, root) = compile(schema, "urn:t#r").unwrap();
    let ty = plan.ty(plan.element(root).ty);
    let Content::Particle(particle) = ty.content else {
        panic!()
    };
    let names = plan.vocabulary();
    let spaces = plan
        .children_of(particle)
        .iter()
        .map(|&id| match plan.particle(id).term {
            Term::Element(element) => names.namespace(plan.element(element).name),
            _ => "?",
        });
    assert_eq!(spaces.collect::<Vec<_>>(), ["urn:t", ""]);
    let spaces: Vec<_> = ty
        .attribute_ids()
        .map(|id| names.namespace(plan.attribute(id).name))
        .collect();
    assert_eq!(spaces, ["", "urn:t"]);
}

#[test]
fn an_included_schema_without_namespace_takes_ours() {
    let set = load(&[
        ("dir/a.xsd", r#"targetNamespace="urn:a" xmlns="urn:a"><xs:include schemaLocation="sub/b.xsd"/><xs:element name="r" type="t"/>"#),
        ("dir/sub/b.xsd", r#"><xs:include schemaLocation="../a.xsd"/><xs:complexType name="t"><xs:sequence><xs:element name="x" type="u"/></xs:sequence></xs:complexType>
            <xs:simpleType name="u"><xs:restriction base="xs:int"/></xs:simpleType>"#),
    ])
    .unwrap();
    let (plan, root) = compile_set(&set, "urn:a#r").unwrap();
    assert_eq!(content(&plan, plan.element(root)), "x");
}

#[test]
fn circular_imports_end_and_each_document_is_read_once() {
    let set = load(&[
        ("a.xsd", r#"targetNamespace="urn:a" xmlns:b="urn:b"><xs:import namespace="urn:b" schemaLocation="b.xsd"/><xs:element name="r" type="b:t"/>"#),
        ("b.xsd", r#"targetNamespace="urn:b" xmlns:a="urn:a"><xs:import namespace="urn:a" schemaLocation="./a.xsd"/>
            <xs:complexType name="t"><xs:sequence><xs:element ref="a:r" minOccurs="0"/></xs:sequence></xs:complexType>"#),
    ])
    .unwrap();
    assert_eq!(set.documents().iter().len(), 2);
    assert!(set.warnings().is_empty(), "{:?}", set.warnings());
    assert!(compile_set(&set, "urn:a#r").is_ok());
}

#[test]
fn a_redefinition_builds_on_what_it_replaces() {
    let set = load(&[
        ("a.xsd", r#"><xs:redefine schemaLocation="b.xsd">
            <xs:complexType name="t"><xs:complexContent><xs:extension base="t"><xs:sequence><xs:element name="b"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
            <xs:group name="g"><xs:sequence><xs:group ref="g"/><xs:element name="y"/></xs:sequence></xs:group>
            <xs:attributeGroup name="ag"><xs:attributeGroup ref="ag"/><xs:attribute name="q"/></xs:attributeGroup>
        </xs:redefine>"#),
        ("b.xsd", r#"><xs:complexType name="t"><xs:sequence><xs:element name="a"/><xs:group ref="g"/></xs:sequence><xs:attributeGroup ref="ag"/></xs:complexType>
            <xs:group name="g"><xs:sequence><xs:element name="x"/></xs:sequence></xs:group>
            <xs:attributeGroup name="ag"><xs:attribute name="p"/></xs:attributeGroup>
            <xs:element name="r" type="t"/>"#),
    ])
    .unwrap();
    let (plan, root) = compile_set(&set, "r").unwrap();
    assert_eq!(content(&plan, plan.element(root)), "(a, x, y, b)");
    assert_eq!(plan.ty(plan.element(root).ty).attribute_ids().len(), 2);
}

#[test]
fn an_array_of_the_soap_encoding_has_items_of_its_type() {
    let schema = r#"xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/">
        <xs:complexType name="ints"><xs:complexContent><xs:restriction base="soapenc:Array">
            <xs:attribute ref="soapenc:arrayType" wsdl:arrayType="xs:int[]"/></xs:restriction></xs:complexContent></xs:complexType>
        <xs:element name="r" type="ints"/>"#;
    assert_eq!(content_of(schema, "r"), "(item | any)*");
    assert_eq!(
        attributes_of(schema, "r"),
        ["arrayType", "offset", "id", "href", "any"]
    );
}

#[test]
fn an_array_of_the_encoding_of_soap_1_2_too() {
    let schema = r#"xmlns:enc="http://www.w3.org/2003/05/soap-encoding" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/">
        <xs:complexType name="ints"><xs:complexContent><xs:restriction base="enc:Array">
            <xs:attribute ref="enc:itemType" wsdl:itemType="xs:int"/><xs:attribute ref="enc:arraySize" wsdl:arraySize="*"/></xs:restriction></xs:complexContent></xs:complexType>
        <xs:element name="r" type="ints"/>"#;
    assert_eq!(content_of(schema, "r"), "(item | any)*");
}

#[test]
fn a_validator_is_offered_what_wildcards_admit() {
    let set = load(&[(
        "a.xsd",
        r#"><xs:element name="a" type="xs:int"/><xs:element name="r"><xs:complexType><xs:sequence>
            <xs:any/><xs:element name="x"/><xs:any processContents="lax" minOccurs="0"/><xs:element name="y"/><xs:any processContents="skip"/>
        </xs:sequence></xs:complexType></xs:element>"#,
    )])
    .unwrap();
    let mut compiler = Compiler::new(&set).offering(bsoap_schema::Offers::All);
    let root = compiler
        .global_element(&ExpandedName::new("", "r"))
        .unwrap();
    let plan = compiler.finish().unwrap().builder.finish().unwrap();
    assert_eq!(
        content(&plan, plan.element(root)),
        "((a | r | any), x, (a | r | any)?, y, any)"
    );
}

#[test]
fn what_is_missing_is_reported_with_the_place_that_needs_it() {
    let schema = "xmlns:t=\"urn:t\" targetNamespace=\"urn:t\">\n <xs:element name=\"r\" type=\"t:Foo\"/>\n <xs:element name=\"unused\" type=\"t:Bar\"/>";
    let error = compile(schema, "urn:t#r").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"type "t:Foo" is not defined, referenced at a.xsd:2:29"#
    );
    let missing = r#"xmlns:t="urn:t"><xs:import namespace="urn:t" schemaLocation="gone.xsd"/><xs:element name="ok" type="xs:int"/><xs:element name="r" type="t:x"/>"#;
    assert!(compile(missing, "ok").is_ok());
    let error = compile(missing, "r").unwrap_err().to_string();
    assert!(error.contains(r#"(cannot load "gone.xsd""#), "{error}");
}

#[test]
fn what_is_defined_by_itself_is_refused() {
    for (schema, name) in [
        (
            r#"><xs:complexType name="a"><xs:complexContent><xs:extension base="b"/></xs:complexContent></xs:complexType>
            <xs:complexType name="b"><xs:complexContent><xs:extension base="a"/></xs:complexContent></xs:complexType><xs:element name="r" type="a"/>"#,
            "type",
        ),
        (
            r#"><xs:group name="g"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group>
            <xs:element name="r"><xs:complexType><xs:group ref="g"/></xs:complexType></xs:element>"#,
            "group",
        ),
        (
            r#"><xs:simpleType name="s"><xs:restriction base="s"/></xs:simpleType><xs:element name="r" type="s"/>"#,
            "type",
        ),
        (
            r#"><xs:element name="r" substitutionGroup="r"/>"#,
            "element",
        ),
    ] {
        let error = compile(schema, "r").unwrap_err().to_string();
        assert!(
            error.starts_with(name) && error.contains("refers to itself"),
            "{error}"
        );
    }
}

#[test]
fn attribute_groups_that_contain_each_other_end() {
    let schema = r#"><xs:attributeGroup name="a"><xs:attribute name="x"/><xs:attributeGroup ref="b"/></xs:attributeGroup>
        <xs:attributeGroup name="b"><xs:attribute name="y"/><xs:attributeGroup ref="a"/></xs:attributeGroup>
        <xs:element name="r"><xs:complexType><xs:attributeGroup ref="a"/></xs:complexType></xs:element>"#;
    assert_eq!(attributes_of(schema, "r"), ["x", "y"]);
}

#[test]
fn hostile_nesting_meets_a_limit_that_is_named() {
    let deep = format!(
        "><xs:element name=\"r\"><xs:complexType>{}{}</xs:complexType></xs:element>",
        "<xs:sequence>".repeat(5000),
        "</xs:sequence>".repeat(5000)
    );
    assert!(
        load(&[("a.xsd", &deep)])
            .unwrap_err()
            .to_string()
            .contains("the load limit `depth` (200)")
    );
    let mut wide = String::from(">");
    for n in 0..60 {
        wide += &format!(
            r#"<xs:group name="g{n}"><xs:sequence><xs:group ref="g{m}" minOccurs="0"/><xs:element name="e"/><xs:group ref="g{m}" maxOccurs="2"/></xs:sequence></xs:group>"#,
            m = n + 1
        );
    }
    wide += r#"<xs:group name="g60"><xs:sequence><xs:element name="x"/></xs:sequence></xs:group>
        <xs:element name="r"><xs:complexType><xs:group ref="g0"/></xs:complexType></xs:element>"#;
    assert!(
        compile(&wide, "r")
            .unwrap_err()
            .to_string()
            .contains("the load limit `particles` (100000)")
    );
    let chain = |length: usize| {
        let mut schema =
            format!(r#"><xs:element name="r" type="t{length}"/><xs:complexType name="t0"/>"#);
        for n in 1..=length {
            schema += &format!(
                r#"<xs:complexType name="t{n}"><xs:complexContent><xs:extension base="t{}"/></xs:complexContent></xs:complexType>"#,
                n - 1
            );
        }
        compile(&schema, "r").map(|_| ())
    };
    assert!(chain(199).is_ok());
    assert!(
        chain(200)
            .unwrap_err()
            .to_string()
            .contains("the load limit `depth` (200)")
    );
}

#[test]
fn a_document_named_with_and_without_dots_is_one_document() {
    let mut loader = MemoryLoader::default();
    loader.add(
        "d/a.xsd",
        r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:a">
            <import namespace="urn:b" schemaLocation="b.xsd"/></schema>"#,
    );
    loader.add(
        "d/b.xsd",
        r#"<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:b">
            <element name="e" type="string"/></schema>"#,
    );
    let mut builder = SchemaSetBuilder::new(&loader, LoadLimits::default(), Strictness::Strict);
    for location in ["x/../d/a.xsd", "d/./b.xsd"] {
        builder.add_location(location).unwrap();
    }
    assert!(
        builder.finish().is_ok(),
        "the element was taken for defined twice"
    );
}
