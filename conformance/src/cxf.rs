//! Messages of CXF's tests of SOAP encoding (section 5 of SOAP 1.1), and those that CXF must refuse.
//!
//! Each file has the value of one argument, and the independent elements that it refers to. It is put into the request of an
//! operation of the WSDL here, whose types are those of CXF's beans.

use std::path::Path;

use bsoap_codec::{DecodeOptions, Value};
use bsoap_schema::SoapVersion;
use serde_json::{Value as Json, json};

use crate::known::Score;
use crate::message;
use crate::soap12;

/// The types of the tests.
const TYPES: &str = r#"<xs:schema targetNamespace="urn:Bean" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
  <xs:complexType name="address"><xs:sequence>
    <xs:element name="street" type="xs:string"/><xs:element name="city" type="xs:string"/>
    <xs:element name="state" type="xs:string"/><xs:element name="zip" type="xs:string"/></xs:sequence></xs:complexType>
  <xs:complexType name="po"><xs:sequence>
    <xs:element name="shipping" type="b:address"/><xs:element name="billing" type="b:address"/></xs:sequence></xs:complexType>
  ARRAYS
</xs:schema>"#;

/// The arrays and the operations, by the type of their items.
const ARRAYS: [(&str, &str); 6] = [
    ("ints", "xs:int[]"),
    ("strings", "xs:string[]"),
    ("things", "xs:anyType[]"),
    ("addresses", "b:address[]"),
    ("nestedInts", "xs:int[][]"),
    ("nestedStrings", "xs:string[][]"),
];

/// A file, the type of its argument, and what is read; `None` if it must be refused.
type Case = (&'static str, &'static str, fn() -> Option<Json>);

const CASES: [Case; 20] = [
    ("struct1", "address", || Some(address())),
    ("struct2", "address", || Some(address())),
    ("struct3", "po", || Some(order())),
    ("struct4", "po", || Some(order())),
    ("struct5", "po", || {
        let mut order = order();
        order["shipping"]["zip"] = Json::Null;
        Some(order)
    }),
    ("ref1", "po", || Some(order())),
    ("ref2", "po", || Some(order())),
    ("ref3", "po", || Some(order())),
    ("arraySimple", "ints", || Some(json!({"item": [3, 4]}))),
    ("arrayPartiallyTransmitted", "ints", || {
        Some(json!({"@arrayType": "[5]", "item": [0, 0, 3, 4]}))
    }),
    ("arraySquare", "strings", || {
        let rows = (1..=2).flat_map(|row| (1..=3).map(move |column| (row, column)));
        let items = rows.flat_map(|(row, column)| {
            (1..=4).map(move |depth| format!("row{row} col{column} dep{depth}"))
        });
        Some(json!({"@arrayType": "[2,3,4]", "item": items.collect::<Vec<_>>()}))
    }),
    ("arrayInvalid1", "ints", || None),
    ("arrayInvalid2", "ints", || None),
    ("arrayInvalid3", "ints", || None),
    ("arrayInvalid4", "nestedInts", || None),
    ("arrayInvalid5", "ints", || None),
    ("arrayInvalid6", "ints", || None),
    ("arrayInvalid7", "strings", || None),
    ("arrayInvalid8", "strings", || None),
    ("arrayInvalid9", "strings", || None),
];

/// Files that must be accepted, with the number of items that are not nil.
const COUNTED: [(&str, &str, usize); 6] = [
    ("arrayStructs", "addresses", 2),
    ("arraySparse1", "strings", 9),
    ("arrayUrType1", "things", 3),
    ("arrayUrType2", "things", 3),
    ("arrayAnyType1", "things", 3),
    ("arrayAnyType2", "things", 3),
];

fn address() -> Json {
    json!({"street": "1234 Riverside Drive", "city": "Gainesville", "state": "FL", "zip": "30506"})
}

fn order() -> Json {
    let billing =
        json!({"street": "1234 Fake Street", "city": "Las Vegas", "state": "NV", "zip": "89102"});
    json!({"shipping": address(), "billing": billing})
}

/// Reads the files of a folder.
///
/// # Panics
/// If the WSDL here does not load.
pub fn run(folder: &Path) -> Score {
    let definitions = soap12::definitions(&wsdl());
    let mut score = Score::new("cxf-encoded");
    let read = |file: &str, operation: &str| -> Result<Json, String> {
        let path = folder.join(format!("{file}.xml"));
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let target = message::target(&definitions, operation)?;
        let request = request(&text, operation);
        let received = message::receive(&target, request.as_bytes(), DecodeOptions::default())?;
        let value: Value = received.value();
        let value = serde_json::to_value(value).map_err(|error| error.to_string())?;
        Ok(value["in"].clone())
    };
    for (file, operation, expected) in CASES {
        let result = match (read(file, operation), expected()) {
            (Ok(found), Some(expected)) if found == expected => Ok(()),
            (Err(_), None) => Ok(()),
            (Ok(found), Some(expected)) => Err(format!("expected {expected}, found {found}")),
            (Ok(found), None) => Err(format!("accepted as {found}")),
            (Err(error), Some(_)) => Err(error),
        };
        score.record(file, result);
    }
    for (file, operation, expected) in COUNTED {
        let result = read(file, operation).and_then(|found| {
            let items = found["item"].as_array().cloned().unwrap_or_default();
            match items.iter().filter(|item| !item.is_null()).count() {
                count if count == expected => Ok(()),
                _ => Err(format!("expected {expected} items, found {found}")),
            }
        });
        score.record(file, result);
    }
    score
}

fn wsdl() -> String {
    let arrays: String = ARRAYS
        .iter()
        .map(|(name, items)| {
            format!(
                r#"<xs:complexType name="{name}"><xs:complexContent><xs:restriction base="E:Array">
  <xs:attribute ref="E:arrayType" w:arrayType="{items}"/></xs:restriction></xs:complexContent></xs:complexType>"#
            )
        })
        .collect();
    let names = ARRAYS.iter().map(|(name, _)| *name);
    let names: Vec<&str> = names.chain(["address", "po"]).collect();
    let each =
        |make: &dyn Fn(&str) -> String| names.iter().map(|name| make(name)).collect::<String>();
    let messages = each(&|name| {
        format!(r#"<w:message name="{name}"><w:part name="in" type="b:{name}"/></w:message>"#)
    });
    let operations = each(&|name| {
        format!(r#"<w:operation name="{name}"><w:input message="b:{name}"/></w:operation>"#)
    });
    let bound = each(&|name| {
        format!(
            r#"<w:operation name="{name}"><w:input><s:body use="encoded" namespace="urn:Bean"/></w:input></w:operation>"#
        )
    });
    format!(
        r#"<w:definitions targetNamespace="urn:Bean" xmlns:b="urn:Bean" xmlns:w="http://schemas.xmlsoap.org/wsdl/"
    xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:E="http://schemas.xmlsoap.org/soap/encoding/"
    xmlns:xs="http://www.w3.org/2001/XMLSchema"><w:types>{}</w:types>{messages}
  <w:portType name="P">{operations}</w:portType>
  <w:binding name="B" type="b:P"><s:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>{bound}</w:binding>
  <w:service name="S"><w:port name="P" binding="b:B"><s:address location="http://localhost/"/></w:port></w:service>
</w:definitions>"#,
        TYPES.replace("ARRAYS", &arrays)
    )
}

/// The request with the value in a file: its root element, or the first element of `root`, which independent elements follow.
fn request(text: &str, operation: &str) -> String {
    let text = text.split_once("-->").map_or(text, |(_, text)| text);
    let open = text.find('<').unwrap_or(0);
    let name_of = |text: &str| {
        let end = text.find([' ', '>', '/']).unwrap_or(text.len());
        text[..end].to_owned()
    };
    let root = name_of(&text[open + 1..]);
    let argument = match root.as_str() {
        "root" => {
            let inner = text[open + 1..].find('<').map_or(0, |at| open + 2 + at);
            name_of(&text[inner..])
        }
        root => root.to_owned(),
    };
    let text = text
        .replace(&format!("<{argument}"), "<in")
        .replace(&format!("</{argument}"), "</in");
    let (open, close) = (format!("<t:{operation}>"), format!("</t:{operation}>"));
    let body = match root.as_str() {
        "root" => {
            let end_of_argument = match text.find("</in>") {
                Some(end) => end + "</in>".len(),
                None => text.find("/>").map_or(0, |end| end + 2),
            };
            let (first, others) = text.split_at(end_of_argument);
            let begin = first.find("<in").unwrap_or(0);
            let (root, first) = first.split_at(begin);
            let others = others.replace("</root>", "");
            let declarations = root
                .trim()
                .trim_start_matches("<root")
                .trim_end_matches('>');
            return envelope(declarations, &format!("{open}{first}{close}{others}"));
        }
        _ => format!("{open}{text}{close}"),
    };
    envelope("", &body)
}

fn envelope(declarations: &str, body: &str) -> String {
    let namespace = SoapVersion::Soap11.envelope_namespace();
    format!(
        r#"<S:Envelope xmlns:S="{namespace}" xmlns:t="urn:Bean" {declarations}><S:Body>{body}</S:Body></S:Envelope>"#
    )
}
