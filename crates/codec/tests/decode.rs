//! Messages into Records: what each slot becomes, and what errors say.

use std::sync::Arc;

use bsoap_codec::decode::{
    DecodeOptions, Decoder, Deviation, Error, ErrorKind, Piece, Trace, Validation,
};
use bsoap_codec::plan::{
    AttributeDef, Content, ElementId, NamespaceConstraint, ProcessContents, UNBOUNDED, Wildcard,
};
use bsoap_codec::{Plan, Record, marker};
use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, Facet, FacetName, SimpleType};
use bsoap_testkit::hint::values;
use bsoap_testkit::schema::{MANY, ONCE, OPTIONAL, Schema};

type Root = (Arc<Plan>, ElementId);

const XSI: &str = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

fn decode_with((plan, root): &Root, options: DecodeOptions, text: &str) -> Result<Record, Error> {
    Decoder::new(plan.clone(), options).decode(*root, text.as_bytes())
}

fn decode(root: &Root, text: &str) -> Record {
    decode_with(root, DecodeOptions::default(), text)
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn traced(decoder: &mut Decoder, (plan, root): &Root, text: &str) -> Trace {
    let (mut record, mut trace) = (Record::new(plan.clone(), *root), Trace::default());
    decoder.start(*root);
    let piece = Piece {
        text,
        base: 0,
        last: true,
        beyond: 0,
    };
    let read = decoder.read(piece, &mut record, Some(&mut trace));
    read.unwrap_or_else(|error| panic!("{text}: {error}"));
    trace
}

fn slots(root: &Root, text: &str) -> Vec<u64> {
    decode(root, text).slots().to_vec()
}

fn error(root: &Root, text: &str) -> String {
    match decode_with(root, DecodeOptions::default(), text) {
        Ok(record) => panic!("{text} gave {:?}", record.slots()),
        Err(error) => fact(&error),
    }
}

/// An error without the mode that would accept it.
fn fact(error: &Error) -> String {
    let text = error.to_string();
    match error.accepted_in() {
        Some(mode) => text
            .split(&format!("; {mode} mode"))
            .next()
            .unwrap_or_default()
            .to_owned(),
        None => text,
    }
}

/// The texts of the slots of these numbers.
fn texts<const N: usize>(record: &Record, at: [usize; N]) -> [&str; N] {
    at.map(|at| record.text(record.slots()[at]))
}

fn full() -> DecodeOptions {
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    options
}

fn wildcard(namespaces: NamespaceConstraint) -> Wildcard {
    Wildcard {
        namespaces,
        process: ProcessContents::Lax,
    }
}

fn order() -> Root {
    let mut schema = Schema::new();
    let item = vec![
        schema.field("quantity", Datatype::Int, ONCE),
        schema.field("note", Datatype::String, OPTIONAL),
    ];
    let item = schema.structure(item);
    let item = schema.element("item", item);
    let children = vec![
        schema.field("id", Datatype::Token, ONCE),
        schema.of((1, 5), item),
    ];
    schema.rooted("order", children)
}

#[test]
fn an_array_of_structs_is_a_count_and_rows() {
    let record = decode(
        &order(),
        "<order><id> a  1 </id><item><quantity>1</quantity></item><item><quantity>+02</quantity><note>x &amp; y</note></item></order>",
    );
    assert_eq!(record.slots()[1..5], [2, 1, 0, 0]);
    assert_eq!(record.slots()[5..7], [2, 1]);
    assert_eq!(texts(&record, [0, 7]), ["a 1", "x & y"]);
}

#[test]
fn errors_have_the_place_and_what_was_expected() {
    let order = order();
    assert_eq!(
        error(
            &order,
            "<order><id>7</id><item><quantity>1</quantity></item><item><quantity>12,5</quantity></item></order>"
        ),
        "\"12,5\" is not an xs:int at /order/item[2]/quantity (byte 68)"
    );
    assert_eq!(
        error(&order, "<order><id>7</id><note/></order>"),
        "found <note>, expected <item> at /order (byte 17)"
    );
    assert_eq!(
        error(&order, "<order><id>7</id></order>"),
        "the element ends here, expected <item> at /order (byte 17)"
    );
    let items = "<item><quantity>1</quantity></item>".repeat(6);
    assert_eq!(
        error(&order, &format!("<order><id>7</id>{items}</order>")),
        "found <item>, expected the end of the element at /order (byte 192)"
    );
    assert_eq!(
        error(
            &order,
            "<order><id>7</id>seven<item><quantity>1</quantity></item></order>"
        ),
        "found text \"seven\" where text is not allowed at /order (byte 17)"
    );
    assert_eq!(
        error(
            &order,
            "<order><id>7</id><item><quantity>1</quantity><note lang='en'/></item></order>"
        ),
        "unknown attribute lang at /order/item[1]/note/@lang (byte 57)"
    );
    assert_eq!(
        error(&order, "<o:order xmlns:o='urn:o'/>"),
        "found root element <{urn:o}order>, expected <order> (byte 0)"
    );
    assert_eq!(
        error(&order, "<order><id>7</ie></order>"),
        "found </ie>, expected </id> at /order/id (byte 12)"
    );
}

#[test]
fn too_few_of_a_group_are_counted() {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("a", Datatype::Int, (2, 3)),
        schema.field("b", Datatype::Int, OPTIONAL),
    ];
    let root = schema.rooted("r", children);
    let short = "<r><a>1</a><b>1</b></r>";
    assert_eq!(
        slots(&root, "<r><a>1</a><a>2</a><b>3</b></r>"),
        [2, 1, 2, 1, 3]
    );
    assert_eq!(
        error(&root, short),
        "found <b>, expected <a> at /r (byte 11)"
    );
    assert_eq!(
        error(&root, "<r><a>1</a></r>"),
        "found 1 of <a>, expected at least 2 at /r (byte 11)"
    );
}

#[test]
fn absent_scalars_keep_their_slot_and_other_elements_do_not() {
    let mut schema = Schema::new();
    let inner = vec![schema.field("x", Datatype::Int, ONCE)];
    let inner = schema.structure(inner);
    let inner = schema.element("inner", inner);
    let double = schema.builtin(Datatype::Double);
    let nillable = schema.element_with("", "d", double, |def| def.nillable = true);
    let nillable = schema.of(OPTIONAL, nillable);
    let children = vec![
        schema.field("a", Datatype::Int, OPTIONAL),
        schema.of(OPTIONAL, inner),
        nillable,
    ];
    let root = schema.rooted("r", children);
    let ty = root.0.element(nillable_id(&root)).ty;
    assert_eq!(slots(&root, "<r/>"), [0, 0, 0, 0, 0]);
    assert_eq!(
        slots(&root, "<r><a>-1</a><inner><x>5</x></inner></r>"),
        [1, u64::MAX, 1, 5, 0, 0]
    );
    let nil = format!("<r {XSI}><d xsi:nil='true'/></r>");
    assert_eq!(
        slots(&root, &nil),
        [0, 0, 0, marker::state(marker::NIL, ty), 0]
    );
    let there = slots(&root, "<r><d>0.5</d></r>");
    assert_eq!(
        there[3..],
        [marker::state(marker::PRESENT, ty), 0.5f64.to_bits()]
    );
    let not_nillable = format!("<r {XSI}><a xsi:nil='1'/></r>");
    assert!(
        error(&root, &not_nillable)
            .starts_with("xsi:nil on an element that is not nillable at /r/a/@nil")
    );
    let not_empty = format!("<r {XSI}><d xsi:nil='true'>1</d></r>");
    assert!(error(&root, &not_empty).starts_with("found text \"1\""));
}

/// The element that is called `d`.
fn nillable_id((plan, _): &Root) -> ElementId {
    (0..plan.element_count() as u32)
        .map(ElementId)
        .find(|&id| plan.element(id).nillable)
        .expect("one is nillable")
}

#[test]
fn a_choice_is_its_branch_and_an_all_keeps_the_order() {
    let mut schema = Schema::new();
    let branches = vec![
        schema.field("a", Datatype::Int, ONCE),
        schema.field("b", Datatype::Int, (1, UNBOUNDED)),
    ];
    let once = schema.choice(OPTIONAL, branches);
    let branches = vec![
        schema.field("c", Datatype::Int, ONCE),
        schema.field("d", Datatype::Int, ONCE),
    ];
    let often = schema.choice(MANY, branches);
    let root = schema.rooted("r", vec![once, often]);
    assert_eq!(slots(&root, "<r/>"), [0, 0]);
    assert_eq!(slots(&root, "<r><a>5</a></r>"), [1, 5, 0]);
    assert_eq!(slots(&root, "<r><b>5</b><b>6</b></r>"), [2, 2, 5, 6, 0]);
    assert_eq!(
        slots(&root, "<r><d>1</d><c>2</c><d>3</d></r>"),
        [0, 3, 2, 1, 1, 2, 2, 3]
    );

    let mut schema = Schema::new();
    let children = vec![
        schema.field("a", Datatype::Int, ONCE),
        schema.field("b", Datatype::Int, OPTIONAL),
        schema.field("c", Datatype::Int, ONCE),
    ];
    let all = schema.all(1, children);
    let ty = schema.ty(Content::Particle(all));
    let root = schema.element("r", ty);
    let root = (schema.finish(), root);
    assert_eq!(slots(&root, "<r><c>3</c><a>1</a></r>"), [2, 3, 3, 1, 1]);
    assert_eq!(
        slots(&root, "<r><b>2</b><c>3</c><a>1</a></r>"),
        [3, 2, 2, 3, 3, 1, 1]
    );
    assert_eq!(
        error(&root, "<r><c>3</c><b>1</b></r>"),
        "the element ends here, expected <a> at /r (byte 19)"
    );
    assert_eq!(
        error(&root, "<r><c>3</c><c>1</c></r>"),
        "found <c>, expected <a> or <b> at /r (byte 11)"
    );
}

#[test]
fn groups_repeat_and_may_be_missing() {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("a", Datatype::Int, ONCE),
        schema.field("b", Datatype::Int, OPTIONAL),
    ];
    let pairs = schema.sequence(MANY, children);
    let children = vec![
        schema.field("c", Datatype::Int, OPTIONAL),
        schema.field("d", Datatype::Int, ONCE),
    ];
    let maybe = schema.sequence(OPTIONAL, children);
    let root = schema.rooted("r", vec![pairs, maybe]);
    assert_eq!(slots(&root, "<r/>"), [0, 0]);
    assert_eq!(
        slots(&root, "<r><a>1</a><a>2</a><b>3</b><d>4</d></r>"),
        [2, 1, 0, 0, 2, 1, 3, 1, 0, 0, 4]
    );
    assert_eq!(
        error(&root, "<r><c>4</c></r>"),
        "the element ends here, expected <d> at /r (byte 11)"
    );
}

#[test]
fn attributes_are_in_schema_order_with_their_defaults() {
    let mut schema = Schema::new();
    let a = schema.attribute("a", Datatype::Int);
    let b = schema.attribute("b", Datatype::String);
    let c = schema.attribute("c", Datatype::Int);
    let attributes = vec![
        AttributeDef {
            required: true,
            ..a
        },
        b,
        AttributeDef {
            default: Some("7".into()),
            ..c
        },
    ];
    let ty = schema.builtin(Datatype::Int);
    schema.amend(ty).attributes = attributes;
    let root = schema.element("r", ty);
    let root = (schema.finish(), root);
    assert_eq!(slots(&root, "<r a='1'>2</r>"), [1, 0, 0, 3, 7, 2]);
    let record = decode(
        &root,
        "<r c='3' b=' x&#10;y ' a='1' x:other='' xmlns:x='urn:x'>2</r>",
    );
    assert_eq!(record.slots()[..2], [1, 1]);
    assert_eq!(record.slots()[3..], [1, 3, 2]);
    assert_eq!(texts(&record, [2]), [" x\ny "]);
    assert_eq!(
        error(&root, "<r>2</r>"),
        "the attribute a is missing at /r (byte 0)"
    );
    assert_eq!(
        error(&root, "<r a='x'>2</r>"),
        "\"x\" is not an xs:int at /r/@a (byte 6)"
    );
    let strict = decode_with(&root, full(), "<r a='1' x:b='' xmlns:x='urn:x'>2</r>").unwrap_err();
    assert_eq!(
        fact(&strict),
        "unknown attribute {urn:x}b at /r/@b (byte 14)"
    );
}

#[test]
fn wildcards_keep_xml_that_is_complete() {
    let mut schema = Schema::new();
    let any = schema.any(MANY, wildcard(NamespaceConstraint::Any));
    let first = schema.field("a", Datatype::Int, ONCE);
    let ty = schema.structure(vec![first, any]);
    schema.amend(ty).any_attribute = Some(wildcard(NamespaceConstraint::Not("urn:not".into())));
    let root = schema.element("r", ty);
    let root = (schema.finish(), root);
    let text = "<r xmlns:p='urn:p' xmlns:q='urn:q' xmlns='' p:k='q:v &lt;'><a>1</a> \
        <p:x>one<!-- gone --><y a='q:b'/></p:x><z xmlns='urn:z' q:b=\"2\">p:q</z></r>";
    let record = decode(&root, text);
    assert_eq!(record.slots()[1..3], [1, 2]);
    assert_eq!(
        texts(&record, [0, 3, 4]),
        [
            "<a xmlns:p=\"urn:p\" p:k=\"q:v &lt;\"/>",
            "<p:x xmlns:p=\"urn:p\" xmlns:q=\"urn:q\">one<y a='q:b'/></p:x>",
            "<z xmlns:q=\"urn:q\" xmlns:p=\"urn:p\" xmlns='urn:z' q:b=\"2\">p:q</z>",
        ]
    );
    for copy in texts(&record, [0, 3, 4]) {
        roxmltree_like(copy);
    }
}

/// Reads a fragment as a document of its own.
fn roxmltree_like(text: &str) {
    let mut reader = bsoap_xml::Reader::new(
        bsoap_xml::Options::default(),
        Arc::new(bsoap_xml::Vocabulary::default()),
    );
    reader.feed(text.as_bytes()).unwrap();
    reader.finish().unwrap();
    while !matches!(
        reader.next().unwrap(),
        Some(bsoap_xml::Event::EndOfDocument)
    ) {}
}

#[test]
fn any_type_keeps_its_inner_xml() {
    let mut schema = Schema::new();
    let ty = schema.ty(Content::Any);
    schema.amend(ty).any_attribute = Some(wildcard(NamespaceConstraint::Any));
    let any = schema.element("any", ty);
    let any = schema.of(MANY, any);
    let root = schema.rooted("r", vec![any]);
    let text = format!(
        "<r {XSI} xmlns:x='http://www.w3.org/2001/XMLSchema' xmlns:p='urn:p'><any xsi:type='x:int'> 5 </any><any/>\
         <any>a &amp; <p:b/><![CDATA[<]]><c/></any></r>"
    );
    let record = decode(&root, &text);
    assert_eq!(record.slots()[0], 3);
    assert_eq!(
        texts(&record, [1, 2, 3, 4, 5, 6]),
        [
            format!("<a {XSI} xmlns:x=\"http://www.w3.org/2001/XMLSchema\" xsi:type=\"x:int\"/>")
                .as_str(),
            " 5 ",
            "",
            "",
            "",
            "a &amp; <p:b xmlns:p=\"urn:p\"/><![CDATA[<]]><c/>"
        ]
    );
}

#[test]
fn mixed_content_is_a_list_of_items() {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("b", Datatype::String, MANY),
        schema.field("n", Datatype::Int, OPTIONAL),
    ];
    let group = schema.sequence(MANY, children);
    let ty = schema.mixed(group);
    let root = schema.element("r", ty);
    let root = (schema.finish(), root);
    let record = decode(
        &root,
        "<r>one <b>two</b> <!-- not an item -->three<n>4</n><b/>&amp;</r>",
    );
    assert_eq!(record.slots()[0], 6);
    let markers = [1, 3, 5, 7, 9, 11].map(|at| record.slots()[at]);
    assert_eq!(markers, [0, 1, 0, 2, 1, 0]);
    assert_eq!(
        texts(&record, [2, 4, 6, 10, 12]),
        ["one ", "two", " three", "", "&"]
    );
    assert_eq!(record.slots()[8], 4);
    assert_eq!(slots(&root, "<r/>"), [0]);
    assert_eq!(
        error(&root, "<r>x<n>1</n><c/></r>"),
        "found <c>, expected <b>, <n> or the end of the element at /r (byte 12)"
    );
}

#[test]
fn an_empty_value_is_absent_or_nil_where_that_is_asked_for_and_may_be() {
    let mut options = DecodeOptions::default();
    options.accepted = options.accepted.with(Deviation::EmptyValue);
    let lenient = |root: &Root, text: &str| {
        let record = decode_with(root, options, text).map_err(|error| error.to_string())?;
        Ok::<_, String>(record.slots().to_vec())
    };
    let mut schema = Schema::new();
    let int = schema.builtin(Datatype::Int);
    let nillable = |element: &mut bsoap_codec::plan::ElementDef| element.nillable = true;
    let [b, c] = ["b", "c"].map(|name| schema.element_with("", name, int, nillable));
    let d = schema.element_with("", "d", int, |element| element.default = Some("7".into()));
    let children = vec![
        schema.field("a", Datatype::Int, OPTIONAL),
        schema.of(OPTIONAL, b),
        schema.of(ONCE, c),
        schema.of(OPTIONAL, d),
        schema.field("s", Datatype::String, OPTIONAL),
        schema.field("when", Datatype::DateTime, OPTIONAL),
        schema.field("n", Datatype::Double, MANY),
        schema.field("last", Datatype::Int, OPTIONAL),
    ];
    let root = schema.rooted("r", children);
    let nil = marker::state(marker::NIL, int);
    let text = "<r><a/><b> </b><c></c><d/><s/><when><!-- not known --></when><last>1</last></r>";
    assert_eq!(
        lenient(&root, text),
        Ok(vec![0, 0, 0, 0, nil, 0, 1, 7, 1, 0, 0, 0, 0, 1, 1])
    );
    assert!(error(&root, text).contains("\"\" is not an xs:int at /r/a"));
    // What is absent has no location, though something was looked at there.
    let trace = traced(&mut Decoder::new(root.0.clone(), options), &root, text);
    let places: Vec<_> = values(&trace, text.as_bytes()).collect();
    assert_eq!(places, [(14, text.find('1').map_or(0..0, |at| at..at + 1))]);
    let wrong = lenient(&root, "<r><c/><n>1</n><n/></r>").unwrap_err();
    assert!(wrong.contains("/r/n[2]"), "{wrong}");

    let mut schema = Schema::new();
    let f = schema.element_with("", "f", int, nillable);
    let children = vec![
        schema.field("e", Datatype::Int, OPTIONAL),
        schema.of(OPTIONAL, f),
        schema.field("g", Datatype::Int, ONCE),
    ];
    let all = schema.all(1, children);
    let ty = schema.ty(Content::Particle(all));
    let root = schema.element("r", ty);
    let root = (schema.finish(), root);
    assert_eq!(lenient(&root, "<r><f/><g>3</g><e/></r>"), Ok(vec![1, 3, 3]));
    assert!(lenient(&root, "<r><g/></r>").is_err());
}

#[test]
fn an_xsi_type_chooses_among_the_alternatives() {
    let mut schema = Schema::new();
    let circle = vec![schema.field("radius", Datatype::Double, ONCE)];
    let circle = schema.structure(circle);
    let square = vec![schema.field("side", Datatype::Int, ONCE)];
    let square = schema.structure(square);
    let shape = schema.ty(Content::Empty);
    let names = ["Shape", "Circle", "Square"].map(|name| schema.builder.name("urn:s", name));
    for (ty, name) in [(shape, names[0]), (circle, names[1]), (square, names[2])] {
        schema.amend(ty).name = Some(name);
    }
    schema.amend(shape).alternatives = vec![circle, square];
    schema.amend(shape).is_abstract = true;
    let element = schema.element("shape", shape);
    let many = schema.of(MANY, element);
    let root = schema.rooted("r", vec![many]);
    let body = |inner: &str| format!("<r {XSI} xmlns:s='urn:s'>{inner}</r>");
    assert_eq!(
        slots(
            &root,
            &body(
                "<shape xsi:type='s:Square'><side>2</side></shape><shape xsi:type=' s:Circle '><radius>1</radius></shape>"
            )
        ),
        [
            2,
            marker::state(1, square),
            2,
            marker::state(1, circle),
            1f64.to_bits()
        ]
    );
    assert!(error(&root, &body("<shape/>")).starts_with("type {urn:s}Shape is abstract"));
    assert!(
        error(&root, &body("<shape xsi:type='s:Other'/>"))
            .starts_with("xsi:type {urn:s}Other is not allowed here")
    );
    assert!(
        error(&root, &body("<shape xsi:type='q:Other'/>"))
            .starts_with("the prefix \"q\" is not declared at /r/shape[1]/@type")
    );
}

#[test]
fn a_simple_element_may_say_its_own_type_or_a_derived_one() {
    let mut schema = Schema::new();
    let children = vec![schema.field("n", Datatype::Decimal, MANY)];
    let root = schema.rooted("r", children);
    let body = |ty: &str| {
        format!("<r {XSI} xmlns:x='http://www.w3.org/2001/XMLSchema'><n xsi:type='{ty}'>5</n></r>")
    };
    for ty in ["x:decimal", "x:int"] {
        assert_eq!(decode(&root, &body(ty)).slots()[0], 1);
    }
    assert!(error(&root, &body("x:string")).contains("is not allowed here"));
}

#[test]
fn an_empty_element_has_its_default_and_fixed_values_are_checked_in_full() {
    let mut schema = Schema::new();
    let int = schema.builtin(Datatype::Int);
    let text = schema.builtin(Datatype::Token);
    let a = schema.element_with("", "a", int, |def| def.default = Some("42".into()));
    let b = schema.element_with("", "b", text, |def| def.fixed = Some("x y".into()));
    let children = vec![schema.of(MANY, a), schema.of(MANY, b)];
    let root = schema.rooted("r", children);
    let record = decode(&root, "<r><a/><a></a><a>1</a><b/><b>z</b></r>");
    assert_eq!(record.slots()[..5], [3, 42, 42, 1, 2]);
    assert_eq!(texts(&record, [5, 6]), ["x y", "z"]);
    assert!(decode_with(&root, full(), "<r><b/><b> x  y </b></r>").is_ok());
    let wrong = decode_with(&root, full(), "<r><b>z</b></r>").unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "found \"z\", expected the fixed value \"x y\" at /r/b[1] (byte 6)"
    );
}

#[test]
fn every_kind_of_leaf_has_its_slot() {
    let mut schema = Schema::new();
    let kinds = [
        ("boolean", Datatype::Boolean),
        ("byte", Datatype::Byte),
        ("ulong", Datatype::UnsignedLong),
        ("float", Datatype::Float),
        ("double", Datatype::Double),
        ("decimal", Datatype::Decimal),
        ("base64", Datatype::Base64Binary),
        ("hex", Datatype::HexBinary),
        ("name", Datatype::QName),
        ("names", Datatype::NmTokens),
    ];
    let children = kinds
        .map(|(name, datatype)| schema.field(name, datatype, ONCE))
        .to_vec();
    let root = schema.rooted("r", children);
    let record = decode(
        &root,
        "<r xmlns:p='urn:p'><boolean> 1 </boolean><byte>-128</byte><ulong>18446744073709551615</ulong><float>1.5</float>\
         <double>-INF</double><decimal> 1.50 </decimal><base64> Zm 9v </base64><hex>00fF</hex><name> p:n </name><names>a\n b</names></r>",
    );
    let numbers = [
        1,
        -128i64 as u64,
        u64::MAX,
        u64::from(1.5f32.to_bits()),
        f64::NEG_INFINITY.to_bits(),
    ];
    assert_eq!(record.slots()[..5], numbers);
    assert_eq!(
        texts(&record, [5, 6, 8, 10, 11]),
        ["1.50", "foo", "{urn:p}n", "a", "b"]
    );
    assert_eq!(record.octets(record.slots()[7]), [0, 255]);
    assert_eq!(record.slots()[9], 2);
    for (name, text) in [
        ("byte", "128"),
        ("boolean", "yes"),
        ("double", "in f"),
        ("hex", "0"),
        ("name", "q:n"),
        ("decimal", "1e5"),
    ] {
        let mut schema = Schema::new();
        let datatype = kinds.iter().find(|kind| kind.0 == name).expect("a kind").1;
        let child = schema.field(name, datatype, ONCE);
        let root = schema.rooted("r", vec![child]);
        let message = error(&root, &format!("<r><{name}>{text}</{name}></r>"));
        assert!(
            message.ends_with(&format!("at /r/{name} (byte {})", 5 + name.len())),
            "{message}"
        );
    }
}

#[test]
fn facets_are_checked_only_in_full_but_unions_always() {
    let mut schema = Schema::new();
    let die = [
        Facet::new(FacetName::MinInclusive, "1"),
        Facet::new(FacetName::MaxInclusive, "6"),
    ];
    let die =
        SimpleType::restrict(&SimpleType::builtin(Datatype::Int), &die, &NoNamespaces).unwrap();
    let union = SimpleType::union_of(&[
        SimpleType::builtin(Datatype::Int),
        SimpleType::builtin(Datatype::Date),
    ])
    .unwrap();
    let (die, union) = (schema.simple(&die), schema.simple(&union));
    let (die, union) = (schema.element("die", die), schema.element("union", union));
    let children = vec![schema.of(MANY, die), schema.of(MANY, union)];
    let root = schema.rooted("r", children);
    assert_eq!(slots(&root, "<r><die>7</die></r>"), [1, 7, 0]);
    let found = decode_with(&root, full(), "<r><die>6</die><die>7</die></r>").unwrap_err();
    assert_eq!(
        found.to_string(),
        "\"7\" is not 6 or less at /r/die[2] (byte 20)"
    );
    let record = decode(&root, "<r><union> 7 </union><union>2024-01-01</union></r>");
    assert_eq!(texts(&record, [2, 3]), ["7", "2024-01-01"]);
    assert!(error(&root, "<r><union>seven</union></r>").contains("at /r/union[1] (byte 10)"));
}

#[test]
fn text_may_come_in_any_pieces() {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("s", Datatype::String, MANY),
        schema.field("n", Datatype::Int, MANY),
    ];
    let root = schema.rooted("r", children);
    let text = "<r><s>a<![CDATA[ <b> ]]>c<!-- x -->&lt;d&#x1D11E;\r\n</s><s></s><n>1<!-- -->2</n><n><![CDATA[3]]></n></r>";
    let record = decode(&root, text);
    assert_eq!(texts(&record, [1, 2]), ["a <b> c<d𝄞\n", ""]);
    assert_eq!(record.slots()[3..], [2, 12, 3]);
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    decoder.begin(root.1);
    for byte in text.as_bytes() {
        decoder.feed(&[*byte]).unwrap();
    }
    assert_eq!(decoder.finish().unwrap(), record);
}

#[test]
fn what_xml_refuses_is_refused_in_the_middle_of_an_array() {
    let mut schema = Schema::new();
    let children = vec![
        schema.field("s", Datatype::String, MANY),
        schema.field("n", Datatype::Double, MANY),
    ];
    let root = schema.rooted("r", children);
    let strings = "<s>fine</s>".repeat(20);
    for wrong in ["a]]>b", "a\u{1}b", "a&b", "\u{fffe}", "<"] {
        let message = error(&root, &format!("<r>{strings}<s>{wrong}</s></r>"));
        assert!(message.contains("/r/s[21]"), "{message}");
    }
    let numbers = "<n>1.5</n>".repeat(20);
    for wrong in ["", "1.5.1", "info", "1,5", "0x1p3", "nano", "1e", "--1"] {
        let message = error(&root, &format!("<r>{numbers}<n>{wrong}</n></r>"));
        assert!(
            message.contains("is not an xs:double at /r/n[21]")
                || message.contains("is not a xs:double"),
            "{message}"
        );
    }
}

#[test]
fn the_trace_has_the_location_of_each_value() {
    let root = order();
    let text = "<order><id>a&amp;1</id><item><quantity> 1 </quantity></item><item><quantity>2</quantity><note/></item></order>";
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    for _ in 0..3 {
        let trace = traced(&mut decoder, &root, text);
        let values = values(&trace, text.as_bytes());
        let places: Vec<_> = values.map(|(slot, at)| (slot, &text[at])).collect();
        assert_eq!(places, [(0, "a&amp;1"), (2, " 1 "), (5, "2")]);
    }
}

#[test]
fn unknown_elements_and_attributes_can_be_passed_over() {
    let root = order();
    let mut options = DecodeOptions::default();
    options.accepted = (options.accepted)
        .with(Deviation::UnknownElement)
        .with(Deviation::UnknownAttribute);
    let text = "<order new='1'><new><id/>text</new><id>7<new/>8</id><item><quantity>1</quantity><new/></item><new/></order>";
    let record = decode_with(&root, options, text).unwrap();
    assert_eq!(record.slots()[1..], [1, 1, 0, 0]);
    assert_eq!(texts(&record, [0]), ["78"]);
}

#[test]
fn validation_goes_on_behind_each_violation() {
    let root = order();
    let mut decoder = Decoder::new(root.0.clone(), full());
    let text = "<order x='1'><id>7</id><item><quantity>x</quantity></item><other><deep/></other><item/>\
                <item><quantity>1</quantity>text</item></order>";
    let found: Vec<String> = decoder
        .validate(root.1, text.as_bytes())
        .iter()
        .map(fact)
        .collect();
    assert_eq!(
        found,
        [
            "unknown attribute x at /order/@x (byte 10)",
            "\"x\" is not an xs:int at /order/item[1]/quantity (byte 39)",
            "found <other>, expected <item> or the end of the element at /order (byte 58)",
            "the element ends here, expected <quantity> at /order/item[2] (byte 87)",
            "found text \"text\" where text is not allowed at /order/item[3] (byte 115)",
        ]
    );
    assert!(
        decoder
            .validate(
                root.1,
                b"<order><id>7</id><item><quantity>1</quantity></item></order>"
            )
            .is_empty()
    );
}

#[test]
fn limits_are_named_and_hold_against_small_messages() {
    let mut schema = Schema::new();
    let many = (0..1000)
        .map(|index| schema.field(&format!("f{index}"), Datatype::Int, OPTIONAL))
        .collect();
    let wide = schema.structure(many);
    let wide = schema.element("w", wide);
    let wide = schema.of(MANY, wide);
    let root = schema.rooted("r", vec![wide]);
    let mut options = DecodeOptions::default();
    options.record_slots = 10_000;
    let text = format!("<r>{}</r>", "<w/>".repeat(100));
    let found = decode_with(&root, options, &text).unwrap_err();
    assert_eq!(
        *found.kind(),
        ErrorKind::Limit {
            name: "record_slots",
            limit: 10_000
        }
    );
    // How long a message may be says how large a Record may become.
    let mut options = DecodeOptions::default();
    options.limits.total_size = 2 << 20;
    let text = format!("<r>{}</r>", "<w/>".repeat(2100));
    let found = decode_with(&root, options, &text).unwrap_err();
    let (name, limit) = ("record_slots", 2 << 20);
    assert_eq!(*found.kind(), ErrorKind::Limit { name, limit });
    options.record_slots = usize::MAX;
    let found = decode_with(&root, options, &text).unwrap_err();
    assert_eq!(*found.kind(), ErrorKind::Limit { name, limit });
    options.limits.total_size = u64::MAX;
    options.record_heap = usize::MAX;
    let fitted = *Decoder::new(root.0.clone(), options).options();
    assert_eq!(fitted.record_slots as u64, u64::from(u32::MAX));
    assert_eq!(fitted.record_heap as u64, u64::from(u32::MAX));
    // What is little anyhow is not made less.
    options.limits.total_size = 100;
    let fitted = *Decoder::new(root.0.clone(), options).options();
    assert_eq!(
        (fitted.record_slots, fitted.record_heap),
        (1 << 20, 1 << 20)
    );
    let mut options = DecodeOptions::default();
    options.limits.depth = 10;
    assert!(decode_with(&root, options, &"<r>".repeat(20)).is_err());
}

#[test]
fn nothing_is_learned_of_slots_that_a_limit_cut_short() {
    let mut schema = Schema::new();
    let mut fields: Vec<_> = (0..100)
        .map(|index| schema.field(&format!("f{index}"), Datatype::Int, OPTIONAL))
        .collect();
    fields.push(schema.field("last", Datatype::Int, OPTIONAL));
    let wide = schema.structure(fields);
    let wide = schema.element("w", wide);
    let wide = schema.of(MANY, wide);
    let root = schema.rooted("r", vec![wide]);
    let text = |number| format!("<r>{}</r>", "<w><last>7</last></w>".repeat(number));
    let expected = decode(&root, &text(2));
    for limit in 1..420 {
        let mut options = DecodeOptions::default();
        options.record_slots = limit;
        let mut decoder = Decoder::new(root.0.clone(), options);
        // The first value behind the absent elements is read before the limit is checked.
        for number in [1, 2, 3, 2] {
            let found = decoder.decode(root.1, text(number).as_bytes());
            assert_eq!(found.is_ok(), 202 * number < limit, "{limit} {number}");
        }
        if let Ok(found) = decoder.decode(root.1, text(2).as_bytes()) {
            assert_eq!(found.slots(), expected.slots(), "{limit}");
        }
    }
}

#[test]
fn declarations_copied_along_count_as_text() {
    let mut schema = Schema::new();
    let ty = schema.ty(Content::Any);
    let any = schema.element("any", ty);
    let any = schema.of(OPTIONAL, any);
    let names = SimpleType::list_of(&SimpleType::builtin(Datatype::QName)).unwrap();
    let names = schema.simple(&names);
    let names = schema.element("names", names);
    let names = schema.of(OPTIONAL, names);
    let root = schema.rooted("r", vec![any, names]);
    let mut options = DecodeOptions::default();
    options.record_heap = 100_000;
    for body in [
        format!("<any>{}</any>", "<p:a/>".repeat(1000)),
        format!("<names>{}</names>", "p:a ".repeat(1000)),
    ] {
        let text = format!("<r xmlns:p='{}'>{body}</r>", "u".repeat(1000));
        let found = decode_with(&root, options, &text).unwrap_err();
        let (name, limit) = ("record_heap", 100_000);
        assert_eq!(*found.kind(), ErrorKind::Limit { name, limit });
    }
}

#[test]
fn any_number_of_things_that_look_like_prefixes_takes_no_more_than_its_share_of_time() {
    let mut schema = Schema::new();
    let ty = schema.ty(Content::Any);
    let root = schema.element("r", ty);
    let root = (schema.finish(), root);
    let children: String = (0..100_000).map(|i| format!("<a>p{i}:a</a>")).collect();
    let text = format!("<r><b>{children}</b></r>");
    let begun = std::time::Instant::now();
    let record = decode(&root, &text);
    assert_eq!(texts(&record, [0])[0].len(), text.len() - 7);
    // Each compared with all before it, they took minutes.
    assert!(begun.elapsed() < std::time::Duration::from_secs(30));
}

#[test]
fn a_recursive_type_needs_no_recursion() {
    let mut schema = Schema::new();
    let ty = schema.builder.reserve_type();
    let node = schema.element("node", ty);
    let children = vec![schema.of(MANY, node)];
    let sequence = schema.sequence(ONCE, children);
    schema.define(ty, Content::Particle(sequence));
    let plan = schema.finish();
    let mut options = DecodeOptions::default();
    options.limits.depth = 1_000_000;
    let depth = 200_000;
    let text = format!("{}{}", "<node>".repeat(depth), "</node>".repeat(depth));
    let mut decoder = Decoder::new(plan, options);
    for _ in 0..2 {
        let record = decoder.decode(node, text.as_bytes()).unwrap();
        assert_eq!(record.slots().len(), depth);
    }
}

#[test]
fn utf_16_is_read_as_well() {
    let root = order();
    let text = "<order><id>é</id><item><quantity>1</quantity></item></order>";
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    assert_eq!(decoder.decode(root.1, &bytes).unwrap(), decode(&root, text));
    let broken = b"<order><id>\xff</id></order>";
    assert!(matches!(
        decoder.decode(root.1, broken).unwrap_err().kind(),
        ErrorKind::Xml(_)
    ));
}

#[test]
fn a_record_takes_little_more_than_its_values() {
    let mut schema = Schema::new();
    let children = vec![schema.field("v", Datatype::Double, MANY)];
    let root = schema.rooted("r", children);
    let items: String = (0..100_000)
        .map(|n| format!("<v>{}</v>", f64::from(n) / 7.0))
        .collect();
    let record = decode(&root, &format!("<r>{items}</r>"));
    assert_eq!(record.slots()[0], 100_000);
    assert!(
        record.memory() <= 100_000 * 8 * 105 / 100,
        "{}",
        record.memory()
    );
}

#[test]
fn what_was_met_before_takes_no_events() {
    let mut schema = Schema::new();
    let attribute = schema.attribute("n", Datatype::Int);
    let fields = vec![
        schema.field("x", Datatype::Int, ONCE),
        schema.field("y", Datatype::String, OPTIONAL),
    ];
    let row = schema.structure(fields);
    let row = schema.element("row", row);
    let named = vec![schema.field("x", Datatype::Int, ONCE)];
    let named = schema.structure(named);
    schema.amend(named).attributes = vec![attribute];
    let named = schema.element("named", named);
    let children = vec![
        schema.of(MANY, row),
        schema.of(MANY, named),
        schema.field("v", Datatype::Double, MANY),
        schema.field("end", Datatype::Date, ONCE),
    ];
    let root = schema.rooted("r", children);
    let text = |count: usize| {
        let rows = "<row><x>1</x><y>a</y></row>".repeat(count);
        let named: String = (0..count)
            .map(|n| format!("\n <named n='{n}'> <x>2</x></named>"))
            .collect();
        let values = " <v>1.5</v>".repeat(count);
        format!("<r>{rows}{named}{values}<end>2024-01-01</end></r>")
    };
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    for count in [3, 1000] {
        decoder.decode(root.1, text(count).as_bytes()).unwrap();
    }
    // The declaration-less document, its root element's tags, and its end.
    assert!(decoder.events() <= 4, "{} events", decoder.events());
}

#[test]
fn a_decoder_that_forgets_reads_as_a_new_one_does() {
    let root = order();
    let text = "<order xmlns:u='urn:u'><id>7</id><item><quantity>1</quantity></item></order>";
    let read = |decoder: &mut Decoder| {
        let record = decoder.decode(root.1, text.as_bytes()).unwrap();
        (record, decoder.events())
    };
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    let empty = decoder.memory();
    let first = read(&mut decoder);
    assert!(decoder.memory() > empty);
    let second = read(&mut decoder);
    assert!(second.1 < first.1, "{} events, then {}", first.1, second.1);
    assert_eq!(second.0, first.0);
    decoder.forget();
    assert_eq!(read(&mut decoder), first);
    assert_eq!(read(&mut decoder), second);
    // Not even in the midst of a message, or behind an error.
    decoder.begin(root.1);
    decoder.feed(b"<order><id>").unwrap();
    decoder.forget();
    assert!(decoder.feed(b"7").is_err());
    assert!(decoder.decode(root.1, b"<order><id>").is_err());
    decoder.forget();
    assert_eq!(read(&mut decoder), first);
}

#[test]
fn a_long_text_is_not_kept_behind_its_message() {
    let mut schema = Schema::new();
    let text = schema.field("t", Datatype::String, OPTIONAL);
    let root = schema.rooted("r", vec![text]);
    let mut decoder = Decoder::new(root.0.clone(), DecodeOptions::default());
    // With references it has to be put together.
    let text = format!("<r><t>{}</t></r>", "x&amp;".repeat(1 << 20));
    let record = decoder.decode(root.1, text.as_bytes()).unwrap();
    assert_eq!(texts(&record, [1])[0].len(), 2 << 20);
    assert!(decoder.memory() < 1 << 20, "{}", decoder.memory());
}
