//! Documents with a document type declaration, where that is permitted.

mod common;

use bsoap_xml::{DoctypePolicy, ErrorKind, Limits, Options};

fn read(document: &str) -> Result<Vec<String>, bsoap_xml::Error> {
    let options = Options::default().doctype(DoctypePolicy::Skip);
    let whole = common::read_with(options, &[document.as_bytes()]);
    let single: Vec<&[u8]> = document.as_bytes().chunks(1).collect();
    assert_eq!(common::read_with(options, &single), whole, "{document}");
    whole
}

#[test]
fn entities_and_defaults_of_the_internal_subset_apply() {
    let document = "<!DOCTYPE a [
        <!ENTITY e 'x<b c=\"&f;\"/>&f;'> <!ENTITY f '&#38;lt;y'> <!ENTITY e 'second'>
        <!ATTLIST b d CDATA '1&f;' t NMTOKENS #IMPLIED xmlns:p CDATA 'urn:p' p:q (r|s) 's'>
    ]><a>&e;<b t='  m  n ' d='2'/></a>";
    let events = read(document).unwrap();
    assert_eq!(
        events,
        [
            "start {}a a false",
            "text x",
            "start {}b b true xmlns:p=urn:p {}c=\"<y\" {}d=\"1<y\" {urn:p}q=\"s\"",
            "end b",
            "text <y",
            "start {}b b true xmlns:p=urn:p {}t=\"m n\" {}d=\"2\" {urn:p}q=\"s\"",
            "end b",
            "end a",
            "end of document",
        ]
    );
}

#[test]
fn what_is_external_expands_to_nothing() {
    assert_eq!(
        read("<!DOCTYPE a SYSTEM 'x' [<!ENTITY e SYSTEM 'y'>]><a>1&e;2&unknown;3</a>").unwrap()[1],
        "text 123"
    );
    assert!(read("<!DOCTYPE a [<!ENTITY e SYSTEM 'y'>]><a b='&e;'/>").is_err());
    assert!(read("<!DOCTYPE a [<!ENTITY e 'y'>]><a>&unknown;</a>").is_err());
    assert!(
        read("<?xml version='1.0' standalone='yes'?><!DOCTYPE a SYSTEM 'x'><a>&unknown;</a>")
            .is_err()
    );
}

#[test]
fn an_entity_cannot_hold_itself() {
    for document in [
        "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a b='&e;'/>",
        "<!DOCTYPE a [<!ENTITY e '<b>&e;</b>'>]><a>&e;</a>",
    ] {
        assert!(
            matches!(read(document).unwrap_err().kind(), ErrorKind::Entity { .. }),
            "{document}"
        );
    }
}

#[test]
fn an_entity_holds_whole_elements() {
    for document in [
        "<!DOCTYPE a [<!ENTITY e '<b>'>]><a>&e;</b></a>",
        "<!DOCTYPE a [<!ENTITY e '</a>'>]><a>&e;",
        "<!DOCTYPE a [<!ENTITY e '</a><a>'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e '<b'>]><a>&e;/></a>",
    ] {
        assert!(read(document).is_err(), "{document}");
    }
    read("<!DOCTYPE a [<!ENTITY e '<b/><b></b>'>]><a>&e;&e;</a>").unwrap();
}

#[test]
fn a_billion_laughs_pass_a_limit() {
    let mut entities = "<!ENTITY e0 'ha'>".to_owned();
    for i in 1..40 {
        entities += &format!("<!ENTITY e{i} '{}'>", format!("&e{};", i - 1).repeat(10));
    }
    let limits = [
        format!("<!DOCTYPE a [{entities}]><a>&e39;</a>"),
        format!("<!DOCTYPE a [{entities}]><a b='&e39;'/>"),
        format!("<!DOCTYPE a [{entities}<!ATTLIST a b CDATA '&e39;'>]><a/>"),
        format!(
            "<!DOCTYPE a [{entities}]><a>{}</a>",
            "<a b='&e4;'/>".repeat(1000)
        ),
        format!(
            "<!DOCTYPE a [<!ENTITY % p '{}'>{}]><a/>",
            "<!ENTITY q 'r'>".repeat(100).replace('\'', "&#39;"),
            "%p;".repeat(1000)
        ),
    ];
    for document in limits {
        let options = Options::default().doctype(DoctypePolicy::Skip);
        let error = common::read_with(options, &[document.as_bytes()]).unwrap_err();
        let limit = Limits::default().entity_expansion as u64;
        assert_eq!(
            *error.kind(),
            ErrorKind::Limit {
                name: "entity_expansion",
                limit
            }
        );
    }
}

#[test]
fn a_content_model_nests_up_to_a_limit() {
    let model = |depth: usize| {
        format!(
            "<!DOCTYPE a [<!ELEMENT a {}b{}>]><a/>",
            "(".repeat(depth),
            ")".repeat(depth)
        )
    };
    let options = Options::default().doctype(DoctypePolicy::Skip);
    common::read_with(options, &[model(1000).as_bytes()]).unwrap();
    let error = common::read_with(options, &[model(100_000).as_bytes()]).unwrap_err();
    assert!(matches!(
        error.kind(),
        ErrorKind::Limit { name: "depth", .. }
    ));
}
