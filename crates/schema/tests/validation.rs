//! What a validator accepts: fixed values, types named by `xsi:type`, and constructs of XSD 1.1.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_codec::decode::{DecodeOptions, Decoder, Piece, Tolerance, Validation};
use bsoap_codec::{Record, View, encode};
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

/// Wildcards of the kinds of `processContents`, beside the types that an `xsi:type` may name.
fn wildcards() -> String {
    let any = |process: &str| {
        format!(
            "<xs:element name='{process}'><xs:complexType><xs:sequence><xs:any processContents='{process}' maxOccurs='unbounded'/>\
             </xs:sequence></xs:complexType></xs:element>"
        )
    };
    format!(
        "<xs:element name='r'><xs:complexType><xs:choice>{}{}{}</xs:choice></xs:complexType></xs:element>\
         <xs:element name='n' type='xs:int'/>\
         <xs:complexType name='pair'><xs:sequence><xs:element name='a' type='xs:int'/><xs:any processContents='strict' minOccurs='0'/>\
         </xs:sequence><xs:attribute name='k' type='xs:date'/></xs:complexType>",
        any("strict"),
        any("lax"),
        any("skip")
    )
}

/// The child `content` of a root that may be validated by these wildcards.
fn at(process: &str, content: &str) -> String {
    format!(
        "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
         <{process}>{content}</{process}></r>"
    )
}

#[test]
fn an_undeclared_element_at_a_strict_wildcard_is_valid_by_its_type() {
    let typed = "<u xsi:type='xs:int'>1</u>";
    let wrong = "<u xsi:type='xs:int'>x</u>";
    let pair = "<u xsi:type='pair' k='2000-01-01'><a>1</a></u>";
    let nested =
        "<u xsi:type='pair'><a>1</a><v xsi:type='pair'><a>2</a><w xsi:type='xs:int'>3</w></v></u>";
    let wrong_nested =
        "<u xsi:type='pair'><a>1</a><v xsi:type='pair'><a>2</a><w xsi:type='xs:int'>x</w></v></u>";
    let cases = [
        ("strict", typed, true),
        ("strict", "<n>1</n>", true),
        ("strict", "<n>x</n>", false),
        ("strict", wrong, false),
        ("strict", "<u>1</u>", false),
        ("strict", "<u xsi:type='unknown'>1</u>", false),
        ("strict", pair, true),
        ("strict", "<u xsi:type='pair' k='x'><a>1</a></u>", false),
        ("strict", "<u xsi:type='pair'><b>1</b></u>", false),
        ("strict", "<u xsi:type='pair'><a>1</a><v>2</v></u>", false),
        ("strict", nested, true),
        ("strict", wrong_nested, false),
        ("lax", typed, true),
        ("lax", wrong, false),
        ("lax", "<u>1</u>", true),
        ("lax", "<u xsi:type='unknown'>1</u>", true),
        ("lax", "<u><n>1</n></u>", true),
        ("lax", "<u><n>x</n></u>", false),
        ("skip", wrong, true),
        ("skip", "<u><n>x</n></u>", true),
    ];
    let cases: Vec<(String, bool)> = cases
        .iter()
        .map(|(process, content, valid)| (at(process, content), *valid))
        .collect();
    let cases: Vec<(&str, bool)> = cases.iter().map(|(it, valid)| (&**it, *valid)).collect();
    check(&wildcards(), &cases);
}

#[test]
fn violations_in_undeclared_elements_name_their_place() {
    let definitions = loaded(&wildcards());
    let found = |content: &str| violations(&definitions, &at("strict", content));
    assert_eq!(
        found("<u>1</u><n>2</n><u xsi:type='pair'><a>x</a></u><n>y</n>"),
        [
            "element <u> has no declaration, which its strict wildcard requires, expected a declared element or an xsi:type \
             at /r/strict (byte 109); lenient mode skips it",
            "\"x\" is not an xs:int at /r/strict/u/a (byte 147)",
            "\"y\" is not an xs:int at /r/strict/n (byte 159)",
        ]
    );
}

#[test]
fn nested_undeclared_elements_have_their_names_in_paths() {
    let definitions = loaded(&wildcards());
    let found = |content: &str| violations(&definitions, &at("lax", content));
    for (content, path) in [
        ("<u><v><n>x</n></v></u>", "/r/lax/u/v/n"),
        ("<u/><u><n>x</n></u>", "/r/lax/u/n"),
        (
            "<n>1</n><u><v><w/><x><n>x</n></x></v></u>",
            "/r/lax/u/v/x/n",
        ),
        ("<u><v><w/></v><n>x</n></u>", "/r/lax/u/n"),
        (
            "<u><v xsi:type='pair'><a>1</a><w xsi:type='pair'><a>x</a></w></v></u>",
            "/r/lax/u/v/w/a",
        ),
    ] {
        let [violation] = &found(content)[..] else {
            panic!("{content}: {:?}", found(content));
        };
        let expected = format!("\"x\" is not an xs:int at {path} (byte ");
        assert!(violation.starts_with(&expected), "{content}: {violation}");
    }
}

/// A root of any content, and of elements of the namespace `urn:o`, beside a type with very many optional elements, which the
/// root has too.
fn wide() -> String {
    let optional: String = (0..5_000)
        .map(|n| format!("<xs:element name='c{n}' type='xs:string' minOccurs='0'/>"))
        .collect();
    format!(
        "<xs:complexType name='wide'><xs:sequence>{optional}\
         <xs:any namespace='urn:o' processContents='strict' minOccurs='0' maxOccurs='unbounded'/></xs:sequence></xs:complexType>\
         <xs:complexType name='rows'><xs:sequence><xs:element name='w' type='wide' maxOccurs='unbounded'/></xs:sequence></xs:complexType>\
         <xs:element name='r'><xs:complexType><xs:choice><xs:element name='w' type='wide'/>\
         <xs:any processContents='lax' maxOccurs='unbounded'/></xs:choice></xs:complexType></xs:element>"
    )
}

/// The start tag of the root of [`wide`].
const ROOT: &str = "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>";

/// Not optimised, each case takes about a tenth of this; it took ten times as long and more when it was quadratic.
const LINEAR: Duration = Duration::from_secs(5);

#[test]
fn unknown_elements_are_passed_over_in_linear_time() {
    let definitions = loaded(&wide());
    let root = definitions.element("", "r").expect("r is declared");
    let mut options = DecodeOptions::default();
    options.accepted = Tolerance::Lenient.into();
    options.warnings = 10;
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), options);
    for (case, start, end) in [
        ("beside a wildcard", "<w>", "</w>"),
        ("in an undeclared element", "<u xsi:type='wide'>", "</u>"),
    ] {
        let message = format!("{ROOT}{start}{}{end}</r>", "<v/>".repeat(100_000));
        let begun = Instant::now();
        let record = decoder.decode(root, message.as_bytes());
        let time = begun.elapsed();
        let record = record.unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(record.warnings().len(), 10, "{case}");
        assert!(time < LINEAR, "{case}: {time:?}");
    }
}

#[test]
fn reading_waits_for_the_text_that_a_checked_element_needs() {
    let definitions = loaded(&wide());
    let root = definitions.element("", "r").expect("r is declared");
    let mut options = DecodeOptions::default();
    options.record_floor = 100_000;
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), options);
    decoder.begin(root);
    let message = format!("{ROOT}<u xsi:type='rows'>{}", "<w/>".repeat(1_000));
    decoder.feed(message.as_bytes()).expect("more may follow");
    // Each `w` takes 40 KB.
    assert!(decoder.events() < 20, "{} events", decoder.events());
    decoder.feed(b"</u></r>").expect("more may follow");
    let error = decoder.finish().expect_err("it is too short").to_string();
    assert!(error.contains("record_"), "{error}");
}

#[test]
fn a_checkpoint_counts_the_memory_of_a_checked_element() {
    let definitions = loaded(&wide());
    let root = definitions.element("", "r").expect("r is declared");
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default());
    let start = format!("{ROOT}<u xsi:type='wide'>");
    let text = format!("{start}<c0>{}</c0>", "x".repeat(50_000));
    let mut record = Record::new(Arc::clone(definitions.plan()), root);
    decoder.start(root);
    let mut memory_at = |end: usize| {
        let piece = Piece {
            text: &text[..end],
            base: 0,
            last: false,
            beyond: 0,
        };
        decoder.read(piece, &mut record, None).expect("it is valid");
        decoder.checkpoint(&record).memory()
    };
    let before = memory_at(start.len());
    let after = memory_at(text.len());
    // The copy, and the value of the second machine.
    assert!(after > before + 100_000, "{before} {after}");
}

#[test]
fn an_undeclared_element_is_kept_as_xml_however_the_message_is_cut() {
    let definitions = loaded(&wildcards());
    let root = definitions.element("", "r").expect("r is declared");
    let inner = "<u xsi:type='pair'><a>1</a><v xsi:type='xs:int'>2</v></u>";
    let message = at("strict", &format!("{inner}<n>3</n>"));
    let mut options = DecodeOptions::default();
    options.validation = Validation::Full;
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), options);
    let whole = decoder
        .decode(root, message.as_bytes())
        .expect("it is valid");
    let mut kept = Vec::new();
    encode(&whole, &mut kept).expect("it is encoded");
    let kept = String::from_utf8_lossy(&kept).into_owned();
    assert!(kept.contains("type='xs:int'>2</v></u>"), "{kept}");
    decoder.begin(root);
    for byte in message.as_bytes() {
        decoder.feed(&[*byte]).expect("it is valid");
    }
    let fed = decoder.finish().expect("it is valid");
    assert_eq!(fed, whole);
}

#[test]
fn names_are_compared_by_value_with_fixed_and_default_ones() {
    check(
        "<xs:simpleType name='names'><xs:list itemType='xs:QName'/></xs:simpleType>\
         <xs:element name='r'><xs:complexType><xs:choice maxOccurs='unbounded'>\
         <xs:element name='q' type='xs:QName' fixed='p:x' xmlns:p='urn:p'/><xs:element name='none' type='xs:QName' fixed='x'/>\
         <xs:element name='d' type='xs:QName' fixed='x' xmlns='urn:p'/>\
         <xs:element name='l' type='names' fixed='p:x x' xmlns:p='urn:p'/></xs:choice>\
         <xs:attribute name='a' type='xs:QName' fixed='p:x' xmlns:p='urn:p'/></xs:complexType></xs:element>",
        &[
            ("<r xmlns:b='urn:p'><q>b:x</q></r>", true),
            ("<r xmlns='' xmlns:p='urn:p'><q>p:x</q></r>", true),
            ("<r xmlns:p='urn:other'><q>p:x</q></r>", false),
            ("<r xmlns:b='urn:p'><q>b:y</q></r>", false),
            ("<r><q>x</q></r>", false),
            ("<r><q/></r>", true),
            ("<r><none>x</none></r>", true),
            ("<r xmlns:b='urn:p'><none>b:x</none></r>", false),
            ("<r xmlns:b='urn:p'><d>b:x</d></r>", true),
            ("<r><d>x</d></r>", false),
            ("<r xmlns:b='urn:p'><l>b:x x</l></r>", true),
            ("<r xmlns:b='urn:p'><l>x b:x</l></r>", false),
            ("<r xmlns:b='urn:p'><l/></r>", true),
            ("<r xmlns:b='urn:p' a='b:x'/>", false),
            ("<r xmlns:b='urn:p' a='b:x'><none>x</none></r>", true),
            ("<r xmlns:p='urn:q' a='p:x'><none>x</none></r>", false),
        ],
    );
}

#[test]
fn enumerated_names_are_compared_by_value() {
    check(
        "<xs:element name='r'><xs:simpleType><xs:restriction base='xs:QName'>\
         <xs:enumeration value='p:x' xmlns:p='urn:p'/><xs:enumeration value='y'/><xs:enumeration value='o:z' xmlns:o='urn:other'/>\
         </xs:restriction></xs:simpleType></xs:element>",
        &[
            ("<r xmlns:b='urn:p'>b:x</r>", true),
            ("<r xmlns:b='urn:other'>b:z</r>", true),
            ("<r xmlns:p='urn:other'>p:x</r>", false),
            ("<r xmlns:b='urn:p'>b:z</r>", false),
            ("<r>y</r>", true),
            ("<r>x</r>", false),
        ],
    );
}

#[test]
fn a_default_name_has_the_namespace_of_the_schema() {
    let definitions = loaded(
        "<xs:element name='r'><xs:complexType><xs:sequence><xs:element name='q' type='xs:QName' default='p:x' xmlns:p='urn:p'/></xs:sequence>\
         <xs:attribute name='a' type='xs:QName' default='p:y' xmlns:p='urn:p'/></xs:complexType></xs:element>",
    );
    let root = definitions.element("", "r").expect("r is declared");
    let mut decoder = Decoder::new(Arc::clone(definitions.plan()), DecodeOptions::default());
    let record = decoder
        .decode(root, b"<r xmlns:p='urn:other'><q/></r>")
        .expect("it is valid");
    let value = format!("{:?}", View::of(&record).to_value());
    assert!(
        value.contains("{urn:p}x") && value.contains("{urn:p}y"),
        "{value}"
    );
}
