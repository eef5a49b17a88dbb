//! Documents that ask for more than they are: each is refused with the name of the limit, or read, in bounded time and
//! memory.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use bsoap_schema::{LoadOptions, MemoryLoader, Offers, Strictness, load};

/// No case may take longer. The tests are not optimised, and the machine may do other things.
const MAX_TIME: Duration = Duration::from_secs(30);
/// No case may need more memory, in MiB; measured on Linux. The documents are a part of it.
const MAX_MEMORY: u64 = 1200;

/// A set of documents; the first is loaded.
type Set = Vec<(String, String)>;

struct Case {
    name: &'static str,
    documents: Set,
    /// The refusal without the position at its end; `None` if the documents load.
    refusal: Option<&'static str>,
    strictness: Strictness,
    offers: Offers,
}

impl Case {
    fn new(name: &'static str, documents: Set, refusal: Option<&'static str>) -> Self {
        Self {
            name,
            documents,
            refusal,
            strictness: Strictness::Lenient,
            offers: Offers::ComplexOnly,
        }
    }

    fn strict(mut self) -> Self {
        self.strictness = Strictness::Strict;
        self
    }

    fn offering_all(mut self) -> Self {
        self.offers = Offers::All;
        self
    }
}

const WORK: Option<&str> =
    Some("the load limit `work` (20000000) is exceeded (`Wsdl::limits`, `--load-limit work=N`)");
const DEPTH: Option<&str> =
    Some("the load limit `depth` (200) is exceeded (`Wsdl::limits`, `--load-limit depth=N`)");
const ENTITIES: Option<&str> = Some(
    "the load limit `entity_expansion` (1048576) is exceeded (`Wsdl::limits`, `--load-limit entity_expansion=N`)",
);

fn one(text: impl Into<String>) -> Set {
    vec![("a.xsd".to_owned(), text.into())]
}

/// A schema document without a target namespace.
fn schema(components: &str) -> String {
    format!(r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{components}</xs:schema>"#)
}

fn entities(declarations: &str, root: &str) -> Set {
    one(format!("<!DOCTYPE r [{declarations}]>{root}"))
}

/// Text of a number of items.
fn each(count: usize, write: impl Fn(usize) -> String) -> String {
    (0..count).map(write).collect()
}

/// A chain of complex types, each an extension of the one before by these components.
fn chain(name: &str, length: usize, own: impl Fn(usize) -> String) -> String {
    let mut text = format!(r#"<xs:complexType name="{name}0"/>"#);
    for n in 1..length {
        let (base, own) = (n - 1, own(n));
        let _ = write!(
            text,
            r#"<xs:complexType name="{name}{n}"><xs:complexContent><xs:extension base="{name}{base}">{own}</xs:extension></xs:complexContent></xs:complexType>"#
        );
    }
    text
}

fn entity_cases() -> Vec<Case> {
    let long = "x".repeat(65_000);
    let often = |name: &str, count: usize| format!("&{name};").repeat(count);
    let declared = format!("<!ENTITY e '{long}'>");
    let text = |count| format!("<r>{}</r>", often("e", count));
    let large = format!("<!ENTITY e '{}'>", "x".repeat(350_000));
    let markup = format!("<!ENTITY e '{}'>", "<a/>".repeat(16_000));
    let nested = each(9, |n| {
        let inner = if n == 0 {
            "ha".to_owned()
        } else {
            often(&format!("e{}", n - 1), 100)
        };
        format!("<!ENTITY e{n} '{inner}'>")
    });
    vec![
        Case::new(
            "130 KB of references to one entity",
            entities(&declared, &text(21_000)),
            ENTITIES,
        ),
        Case::new("700 KB of them", entities(&large, &text(116_000)), ENTITIES),
        Case::new(
            "the same in an attribute",
            entities(&declared, &format!("<r a='{}'/>", often("e", 21_000))),
            ENTITIES,
        ),
        Case::new(
            "an entity of elements",
            entities(&markup, &text(21_000)),
            ENTITIES,
        ),
        Case::new(
            "entities in entities",
            entities(&nested, "<r>&e8;</r>"),
            ENTITIES,
        ),
        Case::new(
            "a parameter entity of the same name first",
            entities(
                &format!("<!ENTITY % e '{long}'><!ENTITY e ''>"),
                &text(21_000),
            ),
            ENTITIES,
        ),
        Case::new(
            "an entity that refers to itself",
            entities("<!ENTITY e '&e;'>", "<r>&e;</r>"),
            ENTITIES,
        ),
        Case::new(
            "few references",
            entities(
                "<!ENTITY e 'urn:t'>",
                &schema("<xs:element name='a'/>")
                    .replace("<xs:schema", "<xs:schema targetNamespace='&e;'"),
            ),
            None,
        ),
    ]
}

fn markup_cases() -> Vec<Case> {
    let attributes = each(100_000, |n| format!(" a{n}=''"));
    let nested = format!(
        "<xs:annotation><xs:appinfo>{}{}</xs:appinfo></xs:annotation>",
        each(60_000, |n| format!("<a xmlns:p{n}='u'>")),
        "</a>".repeat(60_000)
    );
    let declared = each(60_000, |n| format!(" xmlns:p{n}='u'"));
    let beside = format!(
        "<xs:annotation><xs:appinfo{declared}>{}</xs:appinfo></xs:annotation>",
        "<a xmlns:b='c'/>".repeat(100_000)
    );
    vec![
        Case::new(
            "an element with 100 000 attributes",
            one(schema(&format!("<xs:element name='e'{attributes}/>"))),
            WORK,
        ),
        Case::new(
            "60 000 nested declarations of namespaces",
            one(schema(&nested)),
            WORK,
        ),
        Case::new(
            "60 000 namespaces in scope of many declarations",
            one(schema(&beside)),
            WORK,
        ),
    ]
}

fn derivation_cases() -> Vec<Case> {
    let element =
        |n: usize| format!("<xs:sequence><xs:element name='e{n}' type='xs:int'/></xs:sequence>");
    let attributes = |n: usize| each(50, |a| format!("<xs:attribute name='a{n}_{a}'/>"));
    let chains = each(40, |c| chain(&format!("c{c}_"), 199, attributes));
    let heads = each(3000, |n| {
        format!("<xs:element name='e{}' substitutionGroup='e{n}'/>", n + 1)
    });
    let simple = each(3000, |n| {
        format!(
            "<xs:simpleType name='s{}'><xs:restriction base='s{n}'/></xs:simpleType>",
            n + 1
        )
    });
    vec![
        Case::new(
            "3000 extensions",
            one(schema(&chain("t", 3000, element))),
            DEPTH,
        ),
        Case::new(
            "3000 extensions, strict",
            one(schema(&chain("t", 3000, element))),
            DEPTH,
        )
        .strict(),
        Case::new(
            "3000 heads of substitution groups",
            one(schema(&format!("<xs:element name='e0'/>{heads}"))),
            DEPTH,
        ),
        Case::new(
            "3000 restrictions",
            one(schema(&format!(
                "<xs:simpleType name='s0'><xs:restriction base='xs:int'/></xs:simpleType>{simple}"
            ))),
            DEPTH,
        ),
        Case::new(
            "40 chains of 199 extensions with 50 attributes each",
            one(schema(&format!(
                "{chains}{}",
                each(40, |c| format!("<xs:element name='r{c}' type='c{c}_198'/>"))
            ))),
            WORK,
        ),
        Case::new(
            "199 extensions",
            one(schema(&chain("t", 199, element))),
            None,
        ),
    ]
}

fn product_cases() -> Vec<Case> {
    let branches = each(20_000, |n| format!("<xs:element name='e{n}'/>"));
    let users = each(2_000, |n| {
        format!(
            "<xs:element name='r{n}'><xs:complexType><xs:sequence><xs:group ref='g'/><xs:element name='x'/></xs:sequence></xs:complexType></xs:element>"
        )
    });
    let groups = each(3_000, |n| {
        format!("<xs:attributeGroup name='g{n}'><xs:attribute name='a{n}'/></xs:attributeGroup>")
    });
    let all_groups = each(3_000, |n| format!("<xs:attributeGroup ref='g{n}'/>"));
    let of_groups = each(4_000, |n| {
        format!(
            "<xs:element name='r{n}'><xs:complexType><xs:attributeGroup ref='all'/></xs:complexType></xs:element>"
        )
    });
    let globals = each(3_000, |n| {
        format!("<xs:element name='g{n}' type='xs:int'/>")
    });
    let wildcards = each(10_000, |n| {
        format!(
            "<xs:element name='w{n}'><xs:complexType><xs:sequence><xs:any/><xs:any processContents='lax'/></xs:sequence></xs:complexType></xs:element>"
        )
    });
    let included = schema(&each(20_000, |n| {
        format!("<xs:element name='e{n}' type='xs:int'/>")
    }));
    let namespaces = each(1_500, |n| {
        format!(
            "<xs:schema targetNamespace='urn:{n}'><xs:include schemaLocation='b.xsd'/></xs:schema>"
        )
    });
    let chameleons = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:xs='http://www.w3.org/2001/XMLSchema'><types>{namespaces}</types></definitions>"
    );
    let mesh = |n: usize| {
        schema(&each(1000, |other| {
            format!("<xs:include schemaLocation='{}.xsd'/>", (n + other) % 1000)
        }))
    };
    vec![
        Case::new(
            "2 000 types that refer to a group of 20 000 branches",
            one(schema(&format!(
                "<xs:group name='g'><xs:choice>{branches}</xs:choice></xs:group>{users}"
            ))),
            WORK,
        ),
        Case::new(
            "4 000 types with 3 000 attribute groups",
            one(schema(&format!(
                "{groups}<xs:attributeGroup name='all'>{all_groups}</xs:attributeGroup>{of_groups}"
            ))),
            WORK,
        ),
        Case::new(
            "10 000 wildcards for 3 000 elements",
            one(schema(&format!("{globals}{wildcards}"))),
            WORK,
        )
        .offering_all(),
        Case::new(
            "a document included in 1 500 namespaces",
            vec![("a.wsdl".into(), chameleons), ("b.xsd".into(), included)],
            WORK,
        ),
        Case::new(
            "1 000 documents that include one another",
            (0..1000).map(|n| (format!("{n}.xsd"), mesh(n))).collect(),
            None,
        ),
        Case::new(
            "2 000 operations with 5 000 parts",
            one(wsdl_of_parts(2_000, 5_000)),
            WORK,
        ),
    ]
}

/// A WSDL with operations that all use one message.
fn wsdl_of_parts(operations: usize, parts: usize) -> String {
    let parts = each(parts, |n| format!("<part name='p{n}' type='xs:int'/>"));
    let declared = each(operations, |n| {
        format!("<operation name='o{n}'><input message='t:m'/></operation>")
    });
    let bound = each(operations, |n| {
        format!(
            "<operation name='o{n}'><s:operation style='rpc'/><input><s:body use='literal'/></input></operation>"
        )
    });
    format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>\
         <message name='m'>{parts}</message><portType name='p'>{declared}</portType>\
         <binding name='b' type='t:p'><s:binding transport='http://schemas.xmlsoap.org/soap/http'/>{bound}</binding>\
         <service name='s'><port name='q' binding='t:b'><s:address location='http://h/'/></port></service></definitions>"
    )
}

/// What was once quadratic.
fn linear_cases() -> Vec<Case> {
    let children = each(90_000, |n| {
        format!("<xs:element name='e{n}' type='xs:int' minOccurs='0'/>")
    });
    let all = schema(&format!(
        "<xs:element name='r'><xs:complexType><xs:all>{children}</xs:all></xs:complexType></xs:element>"
    ));
    let nested = each(50_000, |n| {
        format!(
            "<xs:complexType name='t{n}'><xs:sequence><xs:element name='e' type='t{}'/></xs:sequence></xs:complexType>",
            n + 1
        )
    });
    let nested = schema(&format!(
        "<xs:element name='r' type='t0'/>{nested}<xs:complexType name='t50000'/>"
    ));
    vec![
        Case::new("an xs:all of 90 000 elements", one(all.clone()), None),
        Case::new("an xs:all of 90 000 elements, strict", one(all), None).strict(),
        Case::new("50 000 types in one another", one(nested), None),
    ]
}

/// The root of a WSDL with the prefixes of policies, and its content.
fn wsdl(declarations: &str, content: &str) -> Set {
    one(format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:mime='http://schemas.xmlsoap.org/wsdl/mime/' xmlns:p='http://www.w3.org/ns/ws-policy' xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'{declarations}>{content}</definitions>"
    ))
}

const TRANSPORT: &str = "<s:binding transport='http://schemas.xmlsoap.org/soap/http'/>";

fn policy_cases() -> Vec<Case> {
    let assertions = "<t:AddressingMTOM/>".repeat(100_000);
    let policy = format!("<p:Policy Id='a'>{assertions}</p:Policy>");
    let reference = "<p:PolicyReference URI='#a'/>";
    let ports = each(20_000, |n| {
        format!("<port name='q{n}' binding='t:b'>{reference}</port>")
    });
    let port_type = "<portType name='y'/>";
    let binding = format!("<binding name='b' type='t:y'>{TRANSPORT}</binding>");
    let referred = format!("{policy}{port_type}{binding}<service name='s'>{ports}</service>");
    let long = format!(" xmlns:a='urn:{}'", "x".repeat(500_000));
    let many = format!(
        "{port_type}<binding name='b' type='t:y'>{TRANSPORT}{}</binding>",
        "<p:Policy/>".repeat(10_000)
    );
    let inherited = each(10_000, |n| format!(" xmlns:a{n}='urn:{n}'"));
    vec![
        Case::new(
            "20 000 references to a policy of 2 MB",
            wsdl("", &referred),
            None,
        ),
        Case::new(
            "10 000 policies that inherit a namespace of 500 KB",
            wsdl(&long, &many),
            WORK,
        ),
        Case::new(
            "10 000 policies that inherit 10 000 namespaces",
            wsdl(&inherited, &many),
            WORK,
        ),
        Case::new(
            "100 000 policies of a port type with 1 000 bindings",
            wsdl("", &bound_policies(100_000, 1_000)),
            WORK,
        ),
    ]
}

/// Default, fixed and enumerated values that are names, or look like some: each name has its whole namespace.
fn value_cases() -> Vec<Case> {
    let long = format!("urn:{}", "x".repeat(200_000));
    let of_long = |components: &str| {
        one(format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns='{long}' xmlns:p='{long}'>{components}</xs:schema>"
        ))
    };
    let attributes = |value: &str| {
        each(5_000, |n| {
            format!("<xs:attribute name='a{n}' type='xs:string' default='{value}'/>")
        })
    };
    let names = |values: &str| {
        format!(
            "<xs:simpleType name='l' xmlns=''><xs:list itemType='xs:QName'/></xs:simpleType>\
             <xs:attribute name='a' type='l' xmlns='' fixed='{values}'/><xs:element name='r' type='l' xmlns='' fixed='{values}'/>\
             <xs:element name='s'><xs:complexType><xs:attribute ref='a' xmlns='' fixed='{values}'/></xs:complexType></xs:element>"
        )
    };
    let list = names(&"p:a ".repeat(20_000));
    let enumerated = each(10_000, |n| format!("<xs:enumeration value='p:a{n}'/>"));
    let enumerated = format!(
        "<xs:simpleType name='t'><xs:restriction base='xs:QName'>{enumerated}</xs:restriction></xs:simpleType><xs:element name='r' type='t' xmlns=''/>"
    );
    let declared = each(5_000, |n| format!(" xmlns:a{n}='urn:{n}'"));
    let in_scope = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'{declared}>{}</xs:schema>",
        attributes("q:a")
    );
    vec![
        Case::new(
            "5 000 defaults with a prefix of a namespace of 200 KB",
            of_long(&attributes("p:a")),
            WORK,
        ),
        Case::new(
            "5 000 defaults under a default namespace of 200 KB",
            of_long(&attributes("a")),
            WORK,
        ),
        Case::new(
            "5 000 defaults where 5 000 namespaces are declared",
            one(in_scope),
            None,
        ),
        Case::new(
            "20 000 references with a prefix of a namespace of 200 KB",
            of_long(&each(20_000, |n| {
                format!("<xs:element name='e{n}' type='p:t'/>")
            })),
            WORK,
        ),
        Case::new(
            "20 000 elements in a namespace of 200 KB",
            one(format!(
                "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='{long}'>{}</xs:schema>",
                each(20_000, |n| format!(
                    "<xs:element name='e{n}' type='xs:int'/>"
                ))
            )),
            WORK,
        ),
        Case::new(
            "20 000 names of a namespace of 200 KB",
            of_long(&list),
            WORK,
        ),
        Case::new(
            "20 000 names of a namespace of 200 KB, strict",
            of_long(&list),
            WORK,
        )
        .strict(),
        Case::new(
            "10 000 enumerated names of a namespace of 200 KB",
            of_long(&enumerated),
            WORK,
        )
        .offering_all(),
    ]
}

/// Names of a long namespace, many in one node.
fn name_cases() -> Vec<Case> {
    let long = format!("urn:{}", "x".repeat(200_000));
    let very_long = format!("urn:{}", "x".repeat(2_000_000));
    let schema = |attributes: &str, components: &str| {
        one(format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' {attributes}>{components}</xs:schema>"
        ))
    };
    let of_long = |components: &str| schema(&format!("xmlns:p='{very_long}'"), components);
    let in_long = |components: &str| schema(&format!("targetNamespace='{long}'"), components);
    let members = "p:t ".repeat(100_000);
    let enumerated = each(50_000, |n| format!("<xs:enumeration value='p:a{n}'/>"));
    vec![
        Case::new(
            "a union of 100 000 names of a namespace of 2 MB",
            of_long(&format!(
                "<xs:simpleType name='u'><xs:union memberTypes='{members}'/></xs:simpleType>"
            )),
            WORK,
        ),
        Case::new(
            "50 000 enumerated names of a namespace of 2 MB",
            of_long(&format!(
                "<xs:simpleType name='t'><xs:restriction base='xs:QName'>{enumerated}</xs:restriction></xs:simpleType>"
            )),
            WORK,
        ),
        Case::new(
            "a type with 50 000 attribute groups of a namespace of 2 MB",
            of_long(&format!(
                "<xs:complexType name='t'>{}</xs:complexType>",
                "<xs:attributeGroup ref='p:g'/>".repeat(50_000)
            )),
            WORK,
        ),
        Case::new(
            "50 000 notations in a namespace of 200 KB",
            in_long(&each(50_000, |n| {
                format!("<xs:notation name='n{n}' public='n'/>")
            })),
            WORK,
        ),
        Case::new(
            "an element with 50 000 keys in a namespace of 200 KB",
            in_long(&format!(
                "<xs:element name='e'>{}</xs:element>",
                each(50_000, |n| format!("<xs:key name='k{n}'/>"))
            )),
            WORK,
        ),
        Case::new(
            "50 000 includes by a schema of a namespace of 200 KB",
            in_long(&"<xs:include schemaLocation='a.xsd'/>".repeat(50_000)),
            WORK,
        ),
    ]
}

/// The same in documents of WSDL.
fn wsdl_name_cases() -> Vec<Case> {
    let long = format!("urn:{}", "x".repeat(200_000));
    let parts = each(5_000, |n| format!("<part name='a{n}' element='l:e'/>"));
    let messages = each(5_000, |n| format!("<message name='m{n}'/>"));
    vec![
        Case::new(
            "5 000 parts with a prefix of a namespace of 200 KB",
            wsdl(
                &format!(" xmlns:l='{long}'"),
                &format!("<message name='m'>{parts}</message>"),
            ),
            WORK,
        ),
        Case::new(
            "5 000 messages in a namespace of 200 KB",
            one(format!(
                "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' targetNamespace='{long}'>{messages}</definitions>"
            )),
            WORK,
        ),
        Case::new(
            "an interface that extends 100 000 of a namespace of 200 KB",
            one(format!(
                "<description xmlns='http://www.w3.org/ns/wsdl' xmlns:l='{long}' targetNamespace='urn:t'><interface name='i' extends='{}'/></description>",
                "l:i ".repeat(100_000)
            )),
            WORK,
        ),
    ]
}

/// Copies of long namespaces.
fn copied_name_cases() -> Vec<Case> {
    let long = format!("urn:{}", "x".repeat(200_000));
    let in_long = |components: &str| {
        one(format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns='{long}' targetNamespace='{long}'>{components}</xs:schema>"
        ))
    };
    let wildcards = |attributes: &str| {
        let wildcard = format!("<xs:any {attributes}/>").repeat(5_000);
        format!("<xs:complexType name='t'><xs:sequence>{wildcard}</xs:sequence></xs:complexType>")
    };
    let users = each(20_000, |n| {
        format!(
            "<xs:element name='e{n}'><xs:complexType><xs:attributeGroup ref='g'/></xs:complexType></xs:element>"
        )
    });
    let of_wildcard = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:attributeGroup name='g'><xs:anyAttribute namespace='{long}'/></xs:attributeGroup>{users}</xs:schema>"
    );
    let of_group = each(5_000, |n| {
        format!(
            "<xs:element name='e{n}' form='unqualified'><xs:complexType><xs:group ref='g'/></xs:complexType></xs:element>"
        )
    });
    let of_group = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:group name='g'><xs:sequence><xs:any namespace='{long}'/></xs:sequence></xs:group>{of_group}</xs:schema>"
    );
    vec![
        Case::new(
            "5 000 wildcards for other namespaces than one of 200 KB",
            in_long(&wildcards("namespace='##other'")),
            WORK,
        ),
        Case::new(
            "a wildcard for 5 000 times a target namespace of 200 KB",
            in_long(&format!(
                "<xs:complexType name='t'><xs:sequence><xs:any namespace='{}'/></xs:sequence></xs:complexType>",
                "##targetNamespace ".repeat(5_000)
            )),
            WORK,
        ),
        Case::new(
            "20 000 types with a wildcard for a namespace of 200 KB",
            one(of_wildcard),
            WORK,
        ),
        Case::new(
            "5 000 types with a group that has a wildcard for a namespace of 200 KB",
            one(of_group),
            None,
        ),
    ]
}

/// The same of documents of WSDL.
fn copied_wsdl_name_cases() -> Vec<Case> {
    let long = format!("urn:{}", "x".repeat(200_000));
    let unknown = each(5_000, |n| format!("<operation name='o{n}'/>"));
    let unknown =
        format!("<portType name='y'/><binding name='b' type='t:y'>{TRANSPORT}{unknown}</binding>");
    let operations = each(100, |n| {
        format!("<operation name='o{n}'><input message='t:m'/></operation>")
    });
    let bound = each(100, |n| {
        format!(
            "<operation name='o{n}'><s:operation style='rpc'/><input><s:body use='literal'/></input></operation>"
        )
    });
    let bindings = each(100, |n| {
        format!("<binding name='b{n}' type='t:y'>{TRANSPORT}{bound}</binding>")
    });
    let rpc = format!("<message name='m'/><portType name='y'>{operations}</portType>{bindings}");
    let wsdl_in_long = |content: &str| {
        one(format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='{long}' targetNamespace='{long}'>{content}</definitions>"
        ))
    };
    let namespace = format!("urn:{}", "x".repeat(10_000));
    let interfaces = each(1_500, |n| {
        format!("<interface name='i{n}' extends='t:i{}'/>", n + 1)
    });
    vec![
        Case::new(
            "5 000 undeclared operations of a port type in a namespace of 200 KB",
            wsdl_in_long(&unknown),
            WORK,
        ),
        Case::new(
            "10 000 rpc operations in a namespace of 200 KB",
            wsdl_in_long(&rpc),
            WORK,
        ),
        Case::new(
            "1 500 interfaces that extend one another in a namespace of 10 KB",
            one(format!(
                "<description xmlns='http://www.w3.org/ns/wsdl' xmlns:t='{namespace}' targetNamespace='{namespace}'>{interfaces}</description>"
            )),
            WORK,
        ),
    ]
}

/// Names in a list where many namespaces are declared.
fn declared_namespace_cases() -> Vec<Case> {
    let declared = each(10_000, |n| format!(" xmlns:a{n}='urn:{n}'"));
    vec![
        Case::new(
            "a union of 300 000 names where 10 000 namespaces are declared",
            one(format!(
                "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'{declared}><xs:simpleType name='u'><xs:union memberTypes='{}'/></xs:simpleType></xs:schema>",
                "a9999:t ".repeat(300_000)
            )),
            WORK,
        ),
        Case::new(
            "an interface that extends 300 000 where 10 000 namespaces are declared",
            one(format!(
                "<description xmlns='http://www.w3.org/ns/wsdl'{declared} targetNamespace='urn:t'><interface name='i' extends='{}'/></description>",
                "a9999:t ".repeat(300_000)
            )),
            WORK,
        ),
    ]
}

/// Components of WSDL that were once compared each with each.
fn component_cases() -> Vec<Case> {
    let parts = each(100_000, |n| format!("<part name='p{n}' type='xs:int'/>"));
    let services =
        |attributes: &str| each(100_000, |n| format!("<service name='s{n}'{attributes}/>"));
    let bindings = |count| each(count, |n| format!("<binding name='b{n}'/>"));
    let endpoints = each(50_000, |n| format!("<endpoint name='e{n}' binding='t:z'/>"));
    let version2 = |content: &str| {
        one(format!(
            "<description xmlns='http://www.w3.org/ns/wsdl' xmlns:t='urn:t' targetNamespace='urn:t'>{content}</description>"
        ))
    };
    let imports = each(20_000, |n| format!("<xs:import namespace='urn:{n:06}'/>"));
    let references = each(50_000, |n| format!("<xs:element name='e{n}' type='t:t'/>"));
    vec![
        Case::new(
            "a message of 100 000 parts",
            wsdl("", &format!("<message name='m'>{parts}</message>")),
            None,
        ),
        Case::new("100 000 services", wsdl("", &services("")), None),
        Case::new(
            "100 000 services of WSDL 2.0",
            version2(&services(" interface='t:i'")),
            None,
        ),
        Case::new("100 000 bindings of WSDL 2.0", version2(&bindings(100_000)), None),
        Case::new(
            "20 000 bindings of no interface and 50 000 endpoints",
            version2(&format!(
                "{}<service name='s' interface='t:i'>{endpoints}</service>",
                bindings(20_000)
            )),
            None,
        ),
        Case::new(
            "50 000 references in a schema with 20 000 imports, strict",
            one(format!(
                "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:019999'>{imports}{references}</xs:schema>"
            )),
            Some("type \"t:t\" is not defined"),
        )
        .strict(),
    ]
}

/// An operation with policies, and bindings of it.
fn bound_policies(policies: usize, bindings: usize) -> String {
    let uris = each(policies, |n| format!("#p{n} "));
    let bindings = each(bindings, |n| {
        format!(
            "<binding name='b{n}' type='t:y'>{TRANSPORT}<operation name='o'><input/></operation></binding>"
        )
    });
    format!(
        "<message name='m'/><portType name='y'><operation name='o' p:PolicyURIs='{uris}'><input message='t:m'/></operation></portType>{bindings}"
    )
}

/// A binding with many attachments in a message and many faults of an operation, none of them declared, or all.
fn binding_cases() -> Vec<Case> {
    let contents = each(100_000, |n| format!("<mime:content part='part{n:06}'/>"));
    let attachments = format!(
        "<message name='m'/><portType name='y'><operation name='o'><input message='t:m'/></operation></portType>\
         <binding name='b' type='t:y'>{TRANSPORT}<operation name='o'><input>{contents}</input></operation></binding>"
    );
    let faults = |from: usize| {
        let declared = each(50_000, |n| {
            format!("<fault name='fault{n:06}' message='t:m'/>")
        });
        let bound = each(50_000, |n| {
            let name = from + n;
            format!("<fault name='fault{name:06}'><s:fault use='literal'/></fault>")
        });
        format!(
            "<message name='m'/><portType name='y'><operation name='o'><input message='t:m'/>{declared}</operation></portType>\
             <binding name='b' type='t:y'>{TRANSPORT}<operation name='o'><input/>{bound}</operation></binding>"
        )
    };
    vec![
        Case::new(
            "100 000 attachments of a message",
            wsdl("", &attachments),
            None,
        ),
        Case::new("50 000 faults of an operation", wsdl("", &faults(0)), None),
        Case::new(
            "50 000 faults of other names",
            wsdl("", &faults(50_000)),
            None,
        ),
    ]
}

fn cases() -> impl Iterator<Item = Case> {
    let groups = [
        entity_cases(),
        markup_cases(),
        derivation_cases(),
        product_cases(),
        linear_cases(),
        policy_cases(),
        value_cases(),
        name_cases(),
        wsdl_name_cases(),
        copied_name_cases(),
        copied_wsdl_name_cases(),
        declared_namespace_cases(),
        component_cases(),
        binding_cases(),
    ];
    groups.into_iter().flatten()
}

/// The variable that names the case of a process.
const CASE: &str = "BSOAP_CASE";

/// Each case has a process of its own, since memory that was freed still counts as used.
#[test]
fn no_document_costs_much_more_than_its_length() {
    let program = std::env::current_exe().expect("this program has a path");
    for case in cases() {
        let ran = std::process::Command::new(&program)
            .args(["a_case", "--exact", "--ignored", "--nocapture"])
            .env(CASE, case.name)
            .status();
        assert!(ran.is_ok_and(|status| status.success()), "{}", case.name);
    }
}

#[test]
#[ignore = "the other test runs it, once for each case"]
fn a_case() {
    let name = std::env::var(CASE).unwrap_or_default();
    if let Some(case) = cases().find(|case| case.name == name) {
        check(&case);
    }
}

fn check(case: &Case) {
    let mut loader = MemoryLoader::default();
    let mut length = 0;
    for (location, text) in &case.documents {
        length += text.len();
        loader.add(location.as_str(), text.as_str());
    }
    let mut options = LoadOptions::default();
    options.strictness = case.strictness;
    options.offers = case.offers;
    reset_peak_memory();
    let start = Instant::now();
    let loaded = load(&case.documents[0].0, &loader, &options);
    let (time, memory) = (start.elapsed(), peak_memory());
    let found = loaded.as_ref().err().map(ToString::to_string);
    eprintln!(
        "{length:>9} bytes {time:>8.1?} {memory:>5} MiB  {}: {}",
        case.name,
        found.as_deref().unwrap_or("loads")
    );
    match (case.refusal, &found) {
        (Some(expected), Some(found)) => {
            assert!(found.starts_with(expected), "{}: {found}", case.name);
        }
        (expected, found) => assert_eq!(expected, found.as_deref(), "{}", case.name),
    }
    assert!(time < MAX_TIME, "{}: {time:?}", case.name);
    assert!(memory < MAX_MEMORY, "{}: {memory} MiB", case.name);
}

/// Makes the peak begin at the memory in use. (`man 5 proc`, `clear_refs`)
fn reset_peak_memory() {
    if cfg!(target_os = "linux") {
        let _ = std::fs::write("/proc/self/clear_refs", "5");
    }
}

/// The most memory in use since then, in MiB; 0 where that is not known.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
