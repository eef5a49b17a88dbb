//! Calls with types of the program, which implement serde's traits: they read and write what JSON in between would.

use bsoap::codec::{View, build};
use bsoap::{Client, Error, Fault, Message, Record, Service, Value};
use serde::{Deserialize, Serialize};

const ORDERS: &str = r##"<wsdl:definitions targetNamespace="urn:o" xmlns:o="urn:o" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <wsdl:types><xsd:schema targetNamespace="urn:o">
    <xsd:simpleType name="Size"><xsd:restriction base="xsd:string"><xsd:enumeration value="small"/><xsd:enumeration value="large"/></xsd:restriction></xsd:simpleType>
    <xsd:simpleType name="Codes"><xsd:list itemType="xsd:int"/></xsd:simpleType>
    <xsd:complexType name="Price"><xsd:simpleContent><xsd:extension base="xsd:decimal">
      <xsd:attribute name="currency" type="xsd:string" use="required"/></xsd:extension></xsd:simpleContent></xsd:complexType>
    <xsd:complexType name="Row"><xsd:sequence><xsd:element name="x" type="xsd:int"/><xsd:element name="y" type="xsd:float"/></xsd:sequence></xsd:complexType>
    <xsd:complexType name="Node"><xsd:sequence><xsd:element name="child" type="o:Node" minOccurs="0"/></xsd:sequence></xsd:complexType>
    <xsd:complexType name="Note"><xsd:sequence>
      <xsd:element name="text" type="xsd:string"/><xsd:element name="weight" type="xsd:double" minOccurs="0" nillable="true"/>
    </xsd:sequence></xsd:complexType>
    <xsd:element name="order"><xsd:complexType><xsd:sequence>
      <xsd:element name="id" type="xsd:unsignedLong"/>
      <xsd:element name="price" type="o:Price"/>
      <xsd:element name="size" type="o:Size"/>
      <xsd:element name="codes" type="o:Codes"/>
      <xsd:element name="samples" type="xsd:double" minOccurs="0" maxOccurs="unbounded"/>
      <xsd:element name="row" type="o:Row" minOccurs="0" maxOccurs="unbounded"/>
      <xsd:element name="note" type="o:Note" minOccurs="0" maxOccurs="unbounded"/>
      <xsd:choice minOccurs="0"><xsd:element name="mail" type="xsd:string"/><xsd:element name="phone" type="xsd:int"/></xsd:choice>
      <xsd:element name="picture" type="xsd:base64Binary" minOccurs="0"/>
      <xsd:element name="hash" type="xsd:hexBinary" minOccurs="0"/>
      <xsd:element name="tree" type="o:Node" minOccurs="0"/>
      <xsd:any minOccurs="0" maxOccurs="unbounded" processContents="skip" namespace="urn:x"/>
    </xsd:sequence><xsd:attribute name="urgent" type="xsd:boolean"/></xsd:complexType></xsd:element>
    <xsd:element name="orderResponse"><xsd:complexType><xsd:sequence><xsd:element name="total" type="xsd:double"/></xsd:sequence></xsd:complexType></xsd:element>
  </xsd:schema></wsdl:types>
  <wsdl:message name="in"><wsdl:part name="p" element="o:order"/></wsdl:message>
  <wsdl:message name="out"><wsdl:part name="p" element="o:orderResponse"/></wsdl:message>
  <wsdl:portType name="Orders"><wsdl:operation name="order"><wsdl:input message="o:in"/><wsdl:output message="o:out"/></wsdl:operation></wsdl:portType>
  <wsdl:binding name="b" type="o:Orders"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <wsdl:operation name="order"><soap:operation soapAction=""/><wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>
  <wsdl:service name="OrdersService"><wsdl:port name="p" binding="o:b"><soap:address location="http://127.0.0.1:1/orders"/></wsdl:port></wsdl:service>
</wsdl:definitions>"##;

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Order {
    #[serde(rename = "@urgent")]
    urgent: Option<bool>,
    id: u64,
    price: Price,
    size: Size,
    codes: Vec<i32>,
    #[serde(default)]
    samples: Vec<f64>,
    #[serde(default)]
    row: Vec<Row>,
    #[serde(default)]
    note: Vec<Note>,
    #[serde(flatten)]
    contact: Option<Contact>,
    picture: Option<String>,
    hash: Option<String>,
    tree: Option<Node>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Price {
    #[serde(rename = "@currency")]
    currency: String,
    #[serde(rename = "#text")]
    amount: String,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Size {
    #[default]
    Small,
    Large,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Contact {
    Mail(String),
    Phone(i32),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Row {
    x: i32,
    y: f32,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Note {
    text: String,
    weight: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Node {
    child: Option<Box<Node>>,
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Answer {
    total: f64,
}

fn order() -> Order {
    Order {
        urgent: Some(true),
        id: u64::MAX,
        price: Price {
            currency: "EUR".into(),
            amount: "12.50".into(),
        },
        size: Size::Large,
        codes: vec![3, -4],
        samples: vec![1.5, -0.0, 1e300],
        row: vec![Row { x: 1, y: 0.1 }, Row { x: 2, y: -7.5 }],
        note: vec![
            Note {
                text: "a <b> & \"c\"".into(),
                weight: Some(0.25),
            },
            Note {
                text: String::new(),
                weight: None,
            },
        ],
        contact: Some(Contact::Phone(42)),
        picture: Some("AQID".into()),
        hash: Some("DEAD".into()),
        tree: Some(Node {
            child: Some(Box::default()),
        }),
    }
}

/// The request Envelope of these arguments.
fn record(arguments: Value) -> Record {
    let client = Client::from_wsdl(ORDERS).expect("a client");
    let request = client.request("order", arguments).expect("a request");
    request.into_record()
}

fn arguments(record: &Record) -> View<'_> {
    let body = View::of(record).child("Body").expect("a Body");
    body.children().next().expect("arguments")
}

#[tokio::test]
async fn a_call_carries_types_of_the_program_both_ways() {
    let handler = |message: Message| async move {
        let received: Order = message.deserialize()?;
        assert_eq!(received, order());
        let total = received.samples.iter().sum();
        Ok::<_, Fault>(Value::from_serialize(&Answer { total })?)
    };
    let service = Service::builder(ORDERS).handle("order", handler);
    let bound = service.build().expect("a service").bind("127.0.0.1:0");
    let bound = bound.await.expect("a free port");
    let client = Client::builder(ORDERS).endpoint(&bound.urls()[0]).build();
    let client = client.expect("a client");
    tokio::spawn(bound.run(std::future::pending()));
    for _ in 0..3 {
        let answer: Answer = client
            .call_serde("order", &order())
            .await
            .expect("an answer");
        assert_eq!(answer.total, 1e300);
    }
    // The message is not what the program expects: the error names the path.
    #[derive(Debug, Deserialize)]
    struct Wrong {
        #[allow(dead_code)]
        total: Vec<String>,
    }
    let error = client.call_serde::<Wrong, _>("order", &order()).await;
    let report = error.expect_err("no list").report();
    assert!(report.contains("total: invalid type"), "{report}");
    let mut unknown = Value::from_serialize(&order()).expect("a value");
    if let Value::Object(members) = &mut unknown {
        members.insert("size", 7.5);
        members.insert("other", 1);
    }
    let error = client.call_serde::<Answer, _>("order", &unknown).await;
    assert!(matches!(error, Err(Error::Exchange(_))), "{error:?}");
}

#[test]
fn a_record_reads_as_its_value_and_as_its_json_do() {
    let mut absent = order();
    (absent.urgent, absent.contact, absent.tree) = (None, None, None);
    (absent.picture, absent.hash) = (None, None);
    absent.samples.clear();
    absent.row.clear();
    absent.note.clear();
    for order in [order(), absent] {
        let record = record(Value::from_serialize(&order).expect("a value"));
        let view = arguments(&record);
        let value = view.to_value().expect("a value");
        let json = view.to_json().expect("JSON");
        assert_eq!(
            view.deserialize_as::<Order>().expect("of the Record"),
            order
        );
        assert_eq!(
            value.deserialize_as::<Order>().expect("of the value"),
            order
        );
        assert_eq!(
            serde_json::from_str::<Order>(&json).expect("of JSON"),
            order
        );
        // The same with types that take anything.
        let any: Value = view.deserialize_as().expect("any value");
        assert_eq!(any.to_json(), json);
        let any = serde_json::Value::from(&value);
        assert_eq!(
            any,
            serde_json::from_str::<serde_json::Value>(&json).expect("JSON")
        );
    }
}

#[test]
fn texts_and_octets_are_borrowed_and_special_numbers_are_kept() {
    #[derive(Debug, Deserialize)]
    struct Borrowed<'r> {
        #[serde(borrow)]
        price: Amount<'r>,
        #[serde(borrow)]
        picture: &'r [u8],
        hash: Vec<u8>,
        samples: Vec<f64>,
    }
    #[derive(Debug, Deserialize)]
    struct Amount<'r> {
        #[serde(rename = "@currency")]
        currency: &'r str,
        // A decimal is stored as text, and read as what is asked for.
        #[serde(rename = "#text")]
        amount: f64,
    }
    let mut sent = order();
    sent.samples = vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let record = record(Value::from_serialize(&sent).expect("a value"));
    let read: Borrowed<'_> = arguments(&record).deserialize_as().expect("an order");
    assert_eq!((read.price.currency, read.price.amount), ("EUR", 12.5));
    assert_eq!(
        (read.picture, &*read.hash),
        (&[1, 2, 3][..], &[0xDE, 0xAD][..])
    );
    assert_eq!(read.samples[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(read.samples[2].is_nan());
}

#[test]
fn elements_of_wildcards_are_read_as_xml() {
    #[derive(Debug, Deserialize)]
    struct Open {
        #[serde(rename = "#any")]
        any: Vec<String>,
    }
    let mut value = Value::from_serialize(&order()).expect("a value");
    if let Value::Object(members) = &mut value {
        members.insert("#any", vec![Value::from("<x xmlns=\"urn:x\">1</x>")]);
    }
    let record = record(value);
    let read: Open = arguments(&record).deserialize_as().expect("an order");
    assert_eq!(read.any.len(), 1);
    assert!(read.any[0].contains("urn:x"), "{:?}", read.any);
}

#[test]
fn a_message_as_deep_as_values_may_be_is_read_and_a_deeper_one_is_an_error() {
    let nested = |depth: usize| {
        let inner = (0..depth).fold(Value::object::<&str>([]), |child, _| {
            Value::object([("child", child)])
        });
        let mut value = Value::from_serialize(&order()).expect("a value");
        if let Value::Object(members) = &mut value {
            members.insert("tree", inner);
        }
        value
    };
    let record = record(nested(200));
    let read: Order = arguments(&record).deserialize_as().expect("an order");
    let mut depth = 0;
    let mut node = read.tree.expect("a tree");
    while let Some(child) = node.child {
        node = *child;
        depth += 1;
    }
    assert_eq!(depth, 200);
    let error = nested(400).deserialize_as::<Order>().expect_err("too deep");
    assert!(error.to_string().contains("MAX_DEPTH"), "{error}");
    let plan = arguments(&record).record().plan().clone();
    assert!(build(&plan, record.root(), &nested(400)).is_err());
}
