//! The reader's public interface: its events, what it refuses, and that it can stop and continue anywhere.

mod common;

use bsoap_xml::{
    DoctypePolicy, ErrorKind, Event, Input, Limits, Options, Scopes, State, Vocabulary,
};
use common::{read, read_in_chunks, read_with, show};

const DOCUMENTS: &[&str] = &[
    "<a/>",
    "<?xml version='1.0' encoding=\"UTF-8\" standalone='yes'?>\n<!-- c --><?p d?><a>\r\n<b x='1' y=\"&lt;2&#x20;\"/>t&amp;u]]<c>é😀</c\n></a>\n<!-- end -->",
    "<s:a xmlns:s='urn:1' xmlns='urn:2' s:x='1' x='2'><b xmlns=''><s:c xmlns:s='urn:3'/></b><d/></s:a>",
    "<a><![CDATA[<b>]]&]]]]><![CDATA[]]>\r\r\nx<![CDATA[\r\n]]></a>",
    "<a  b = 'x\ty\nz'  ><?p?><?p  q ? r?><!----></a  >",
    "<größe π='ü\u{FFFD}'>\u{FEFF}𝄞</größe>",
    "<a>&#38;#38;&quot;&apos;&gt; ]] ]&gt; ] </a>",
];

#[test]
fn suspended_and_resumed_at_every_byte_it_returns_the_same() {
    for document in DOCUMENTS {
        let whole = read(document.as_bytes()).unwrap();
        for at in 0..=document.len() {
            let (front, back) = document.as_bytes().split_at(at);
            assert_eq!(
                read_in_chunks(&[front, back]).unwrap(),
                whole,
                "{document} at {at}"
            );
        }
        let bytes: Vec<&[u8]> = document.as_bytes().chunks(1).collect();
        assert_eq!(read_in_chunks(&bytes).unwrap(), whole, "{document}");
    }
}

#[test]
fn a_copy_of_the_state_goes_on_like_the_original() {
    for document in DOCUMENTS {
        let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
        let mut state = State::new(&Options::default());
        loop {
            let copy = state.clone();
            assert_eq!(copy, state);
            let rest = &document[state.offset() as usize..];
            let mut remaining = Vec::new();
            let mut resumed = copy;
            loop {
                let rest = &document[resumed.offset() as usize..];
                let event = show(resumed.next(&vocabulary, &mut scopes, rest, true).unwrap());
                remaining.push(event);
                if resumed.is_finished() {
                    break;
                }
            }
            let event = show(state.next(&vocabulary, &mut scopes, rest, true).unwrap());
            assert_eq!(event, remaining[0]);
            if state.is_finished() {
                break;
            }
        }
    }
}

#[test]
fn the_raw_texts_of_all_events_are_the_document() {
    for document in DOCUMENTS {
        let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
        let mut state = State::new(&Options::default());
        let mut content = String::new();
        loop {
            let from = state.offset() as usize;
            let in_content = state.in_content();
            let event = state
                .next(&vocabulary, &mut scopes, &document[from..], true)
                .unwrap()
                .unwrap();
            if let Some(raw) = common::raw(&event) {
                content.push_str(raw);
            } else if in_content {
                content.push_str(&document[from..state.offset() as usize]);
            }
            if state.is_finished() {
                break;
            }
        }
        assert!(document.contains(&content), "{content}");
        assert!(content.ends_with('>') && content.starts_with('<'));
    }
}

#[test]
fn what_is_not_well_formed_is_refused_with_its_place() {
    for (document, message) in [
        (
            "",
            "the document ends within the prolog, without a root element (byte 0)",
        ),
        ("x", "found 'x', expected the root element (byte 0)"),
        ("<a>", "the document ends within an element at /a (byte 3)"),
        ("</>", "found '<', expected the root element (byte 0)"),
        ("<a></b>", "found </b>, expected </a> at /a (byte 3)"),
        ("<a></aa>", "found </aa>, expected </a> at /a (byte 3)"),
        (
            "<a></>",
            "found '>', expected a name after '</' at /a (byte 5)",
        ),
        (
            "<a><b></a></b>",
            "found </a>, expected </b> at /a/b (byte 6)",
        ),
        (
            "<a/><b/>",
            "found '<', expected the end of the document (byte 4)",
        ),
        (
            "<a/>x",
            "found 'x', expected the end of the document (byte 4)",
        ),
        (
            "<a>]]></a>",
            "found ']', expected ']]&gt;' for ']]>' in character data at /a (byte 3)",
        ),
        (
            "<a><!-- -- --></a>",
            "found ' ', expected '-->', as '--' is not allowed in a comment at /a (byte 10)",
        ),
        (
            "<a><!-- ---></a>",
            "found '-', expected '-->', as '--' is not allowed in a comment at /a (byte 10)",
        ),
        (
            "<a b='1'c='2'/>",
            "found 'c', expected white space, '/' or '>' in a tag (byte 8)",
        ),
        (
            "<a b='<'/>",
            "found '<', expected '&lt;' for '<' in the value of an attribute (byte 6)",
        ),
        (
            "<a b=c/>",
            "found 'c', expected a quote before the value of an attribute (byte 5)",
        ),
        (
            "<a b/>",
            "found '/', expected '=' after the name of an attribute (byte 4)",
        ),
        ("<a / >", "found ' ', expected '>' after '/' (byte 4)"),
        ("< a/>", "found ' ', expected a name (byte 1)"),
        ("<1/>", "\"1\" is not a name (byte 1)"),
        ("<a:b:c/>", "\"a:b:c\" is not a name (byte 1)"),
        ("<:a/>", "\":a\" is not a name (byte 1)"),
        ("<a: />", "\"a:\" is not a name (byte 1)"),
        (
            "<a>\u{1}</a>",
            "U+0001 is not allowed in an XML document at /a (byte 3)",
        ),
        (
            "<a>\u{FFFE}</a>",
            "U+FFFE is not allowed in an XML document at /a (byte 3)",
        ),
        (
            "<a b='\u{FFFF}'/>",
            "U+FFFF is not allowed in an XML document (byte 6)",
        ),
        (
            "<a>&b;</a>",
            "the entity \"b\" is not declared at /a (byte 3)",
        ),
        (
            "<a>x&b;</a>",
            "the entity \"b\" is not declared at /a (byte 4)",
        ),
        ("<a b='&c;'/>", "the entity \"c\" is not declared (byte 6)"),
        (
            "<a>&#0;</a>",
            "U+0000 is not allowed in an XML document at /a (byte 3)",
        ),
        (
            "<a>& </a>",
            "found ' ', expected the name of an entity after '&' at /a (byte 4)",
        ),
        (
            "<a>&",
            "the document ends within a reference at /a (byte 3)",
        ),
        (
            "<a><![CDATA[x<a>",
            "the document ends within a CDATA section at /a (byte 16)",
        ),
        ("<a b='", "the document ends within a tag (byte 0)"),
        (
            "<a><?xml version='1.0'?></a>",
            "\"xml\" is not a name at /a (byte 5)",
        ),
        (
            " <?xml version='1.0'?><a/>",
            "\"xml\" is not a name (byte 3)",
        ),
        (
            "<?xml version='2.0'?><a/>",
            "found '2', expected version 1.0 (byte 15)",
        ),
        (
            "<?xml version='1.1'?><a/>",
            "found '1', expected version 1.0 (XML 1.1 is not supported) (byte 15)",
        ),
        (
            "<?xml encoding='UTF-8'?><a/>",
            "found ' ', expected version='1.0' in the XML declaration (byte 5)",
        ),
        (
            "<?xml version='1.0' standalone='maybe'?><a/>",
            "found 'm', expected yes or no (byte 32)",
        ),
        (
            "<!DOCTYPE a><a/>",
            "a document type declaration is not allowed here (byte 0)",
        ),
        (
            "<a><!DOCTYPE a></a>",
            "found 'D', expected a comment or a CDATA section after '<!' at /a (byte 5)",
        ),
    ] {
        let error = read(document.as_bytes()).expect_err(document);
        assert_eq!(error.to_string(), message, "{document}");
        let bytes: Vec<&[u8]> = document.as_bytes().chunks(1).collect();
        let error = read_in_chunks(&bytes).expect_err(document);
        assert_eq!(error.to_string(), message, "{document} byte by byte");
    }
}

#[test]
fn what_breaks_the_rules_of_namespaces_is_refused() {
    for (document, message) in [
        ("<p:a/>", "the prefix \"p\" is not declared (byte 1)"),
        ("<a p:b='1'/>", "the prefix \"p\" is not declared (byte 3)"),
        (
            "<a b='1' b='2'/>",
            "the attribute \"b\" is repeated (byte 9)",
        ),
        (
            "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>",
            "the attribute \"q:b\" is repeated (byte 35)",
        ),
        (
            "<a xmlns='u' xmlns='u'/>",
            "the attribute \"xmlns\" is repeated (byte 13)",
        ),
        (
            "<a xmlns:p=''/>",
            "the declaration of prefix \"p\" is wrong: a prefix cannot be bound to the empty namespace (byte 3)",
        ),
        (
            "<a xmlns:xml='u'/>",
            "the declaration of prefix \"xml\" is wrong: the prefix xml cannot be bound to another namespace (byte 3)",
        ),
        (
            "<a xmlns:xmlns='u'/>",
            "the declaration of prefix \"xmlns\" is wrong: the prefix xmlns cannot be declared (byte 3)",
        ),
        (
            "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
            "the default namespace declaration is wrong: the namespace of the prefix xml cannot be bound to another prefix (byte 3)",
        ),
        (
            "<xmlns:a/>",
            "the prefix \"xmlns\" is not declared (byte 1)",
        ),
    ] {
        assert_eq!(
            read(document.as_bytes()).expect_err(document).to_string(),
            message
        );
    }
    read(b"<a xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:lang='en' xmlns:p='u' b='1' p:b='1'/>").unwrap();
}

#[test]
fn a_prefix_with_a_zero_byte_is_no_prefix_that_was_declared() {
    for document in [
        "<a xmlns='u'><\0:b/></a>",
        "<a xmlns='u' \0:b='1'/>",
        "<a xmlns:p='u'><p\0:b/></a>",
        "<a xmlns:p='u' p\0:b='1'/>",
        "<a xmlns:p='u' \0p:b='1'/>",
        "<a xmlns:prefixe='u' prefixe\0:b='1'/>",
    ] {
        let error = read(document.as_bytes()).expect_err(document);
        assert!(
            matches!(error.kind(), ErrorKind::InvalidName(_)),
            "{document:?}: {error}"
        );
    }
}

#[test]
fn many_attributes_are_compared_too() {
    let attributes: String = (0..500).map(|i| format!(" a{i}='{i}'")).collect();
    read(format!("<a{attributes}/>").as_bytes()).unwrap();
    let error = read(format!("<a{attributes} a77=''/>").as_bytes()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::DuplicateAttribute("a77".into()));
    let declarations: String = (0..500).map(|i| format!(" xmlns:p{i}='u'")).collect();
    read(format!("<a{declarations}/>").as_bytes()).unwrap();
    let error = read(format!("<a{declarations} xmlns:p77='v'/>").as_bytes()).unwrap_err();
    assert_eq!(
        *error.kind(),
        ErrorKind::DuplicateAttribute("xmlns:p77".into())
    );
}

#[test]
fn every_limit_is_named_when_it_is_passed() {
    let long = "x".repeat(50);
    let limits = || Limits::default();
    let case = |limits: Limits, document: String, name: &str| {
        let options = Options::with_limits(limits);
        let bytes: Vec<&[u8]> = document.as_bytes().chunks(1).collect();
        for chunks in [vec![document.as_bytes()], bytes] {
            match read_with(options, &chunks).expect_err(&document).kind() {
                ErrorKind::Limit { name: passed, .. } => assert_eq!(*passed, name, "{document}"),
                other => panic!("{other:?}"),
            }
        }
    };
    let mut few = limits();
    few.depth = 3;
    case(few, "<a><a><a><a/></a></a></a>".into(), "depth");
    let mut few = limits();
    few.attributes = 2;
    case(few, "<a b='' c='' xmlns:d='e'/>".into(), "attributes");
    let mut few = limits();
    few.name_length = 20;
    case(few, format!("<{long}/>"), "name_length");
    case(few, format!("<a>&{long}{long};</a>"), "name_length");
    let mut few = limits();
    few.text_length = 20;
    case(few, format!("<a>{long}</a>"), "text_length");
    case(
        few,
        format!("<a>{}</a>", "12345<![CDATA[67]]>".repeat(3)),
        "text_length",
    );
    case(few, format!("<a b='{long}'/>"), "text_length");
    let mut few = limits();
    few.markup_length = 20;
    case(few, format!("<a{}/>", " ".repeat(50)), "markup_length");
    case(few, format!("<a><!--{long}--></a>"), "markup_length");
    case(few, format!("<a><?{long}?></a>"), "markup_length");
    let mut few = limits();
    few.total_size = 30;
    case(
        few,
        "<a><b/><b/><b/><b/><b/><b/><b/><b/></a>".into(),
        "total_size",
    );
    let mut few = limits();
    few.namespaces = 3;
    case(
        few,
        "<a xmlns='a' xmlns:b='b'><a xmlns='c'><a xmlns='d'/></a></a>".into(),
        "namespaces",
    );
}

#[test]
fn utf_16_reads_like_utf_8() {
    let document = "<?xml version='1.0' encoding='UTF-16'?><größe>😀 &amp; é</größe>";
    let expected = read(document.replace("UTF-16", "UTF-8").as_bytes()).unwrap();
    let expected: Vec<String> = expected
        .iter()
        .map(|event| event.replace("UTF-8", "UTF-16"))
        .collect();
    for big in [false, true] {
        for mark in ["\u{FEFF}", ""] {
            let text = format!("{mark}{document}");
            let unit = |unit: u16| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            };
            let bytes: Vec<u8> = text.encode_utf16().flat_map(unit).collect();
            assert_eq!(read(&bytes).unwrap(), expected);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read_in_chunks(&single).unwrap(), expected);
        }
    }
}

#[test]
fn a_declared_encoding_is_decoded_and_a_false_one_refused() {
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
    assert!(read(latin).unwrap().contains(&"text é".to_owned()));
    let single: Vec<&[u8]> = latin.chunks(1).collect();
    assert!(
        read_in_chunks(&single)
            .unwrap()
            .contains(&"text é".to_owned())
    );
    for wrong in [
        &b"<?xml version='1.0' encoding='x-none'?><a/>"[..],
        b"<?xml version='1.0' encoding='UTF-16'?><a/>",
        b"\xEF\xBB\xBF<?xml version='1.0' encoding='ISO-8859-1'?><a/>",
        b"<a>\xE9</a>",
        b"<a>\xC3",
        b"<a>\xF0\x9F\x98</a>",
        b"\xFF\xFE\0\0<\0\0\0",
    ] {
        assert!(
            matches!(read(wrong).unwrap_err().kind(), ErrorKind::Encoding { .. }),
            "{wrong:?}"
        );
        let single: Vec<&[u8]> = wrong.chunks(1).collect();
        assert!(
            matches!(
                read_in_chunks(&single).unwrap_err().kind(),
                ErrorKind::Encoding { .. }
            ),
            "{wrong:?}"
        );
    }
    let mut input = Input::with_encoding("iso-8859-1").unwrap();
    input
        .feed(b"<?xml version='1.0' encoding='UTF-8'?>\xE9")
        .unwrap();
    assert!(input.unread().ends_with('é'));
    assert!(Input::with_encoding("x-none").is_err());
}

#[test]
fn a_fast_path_leaves_the_state_that_reading_leaves() {
    let document = "<r xmlns='u'><a><b>1</b><b>2</b></a></r>";
    let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
    let mut slow = State::new(&Options::default().doctype(DoctypePolicy::Refuse));
    let mut fast = slow.clone();
    while slow.offset() < 24 {
        slow.next(
            &vocabulary,
            &mut scopes,
            &document[slow.offset() as usize..],
            true,
        )
        .unwrap();
    }
    fast.next(&vocabulary, &mut scopes, document, true).unwrap();
    assert!(fast.in_content());
    let scope = fast.scope();
    fast.open("a", None, scope, 3).unwrap();
    fast.skip("<b>1</b>".len());
    assert_eq!(fast.offset(), slow.offset());
    assert_eq!(fast.depth(), slow.depth());
    fast.skip("<b>2</b>".len());
    fast.close(4);
    assert_eq!(
        show(fast.next(&vocabulary, &mut scopes, "</r>", true).unwrap()),
        "end r"
    );
    assert_eq!(
        show(fast.next(&vocabulary, &mut scopes, "", true).unwrap()),
        "end of document"
    );
}

#[test]
fn scopes_are_forgotten_in_the_end_and_never_mistaken_for_others() {
    let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
    let mut state = State::new(&Options::default());
    let first = "<a xmlns='urn:first'><b/><p:c xmlns:p='u'/></a>";
    state.next(&vocabulary, &mut scopes, first, true).unwrap();
    let old = state.clone();
    for i in 0..40_000 {
        state.restart();
        let document = format!("<a xmlns='urn:{i}'/>");
        let Some(Event::Start(tag)) = state
            .next(&vocabulary, &mut scopes, &document, true)
            .unwrap()
        else {
            panic!()
        };
        assert_eq!(tag.namespace(), format!("urn:{i}"));
    }
    assert!(!scopes.contains(old.scope()));
    let rest = &first[old.offset() as usize..];
    for rest in [rest, &rest["<b/>".len()..]] {
        let error = old
            .clone()
            .next(&vocabulary, &mut scopes, rest, true)
            .unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::UnknownScope);
    }
}
