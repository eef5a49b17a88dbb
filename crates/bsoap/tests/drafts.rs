//! Drafts: values are set by paths, also where there was none; what cannot be sent is refused, and the draft stays as it was.

use std::sync::{Arc, Mutex};

use bsoap::{Client, Draft, Error, Message, Service, Value};

const NOTES: &str = r#"<wsdl:definitions targetNamespace="urn:n" xmlns:n="urn:n" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <wsdl:types><xsd:schema targetNamespace="urn:n">
    <xsd:complexType name="Note"><xsd:sequence>
      <xsd:element name="text" type="xsd:string"/>
      <xsd:element name="weight" type="xsd:double" minOccurs="0" nillable="true"/>
      <xsd:element name="by" minOccurs="0"><xsd:complexType><xsd:sequence>
        <xsd:element name="name" type="xsd:string"/></xsd:sequence></xsd:complexType></xsd:element>
    </xsd:sequence><xsd:attribute name="id" type="xsd:int"/></xsd:complexType>
    <xsd:element name="store"><xsd:complexType><xsd:sequence>
      <xsd:element name="note" type="n:Note" minOccurs="0" maxOccurs="unbounded"/>
      <xsd:element name="at" type="xsd:dateTime" minOccurs="0"/>
    </xsd:sequence></xsd:complexType></xsd:element>
    <xsd:element name="storeResponse"><xsd:complexType><xsd:sequence/></xsd:complexType></xsd:element>
  </xsd:schema></wsdl:types>
  <wsdl:message name="in"><wsdl:part name="p" element="n:store"/></wsdl:message>
  <wsdl:message name="out"><wsdl:part name="p" element="n:storeResponse"/></wsdl:message>
  <wsdl:portType name="Notes"><wsdl:operation name="store"><wsdl:input message="n:in"/><wsdl:output message="n:out"/></wsdl:operation></wsdl:portType>
  <wsdl:binding name="b" type="n:Notes"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <wsdl:operation name="store"><soap:operation soapAction=""/><wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>
  <wsdl:service name="NotesService"><wsdl:port name="p" binding="n:b"><soap:address location="http://127.0.0.1:1/notes"/></wsdl:port></wsdl:service>
</wsdl:definitions>"#;

/// A service that keeps what it receives, and a client of it.
struct Notes {
    client: Client,
    received: Arc<Mutex<Vec<Message>>>,
}

impl Notes {
    async fn start() -> Self {
        let received: Arc<Mutex<Vec<Message>>> = Arc::default();
        let keep = Arc::clone(&received);
        let service = Service::builder(NOTES).handle("store", move |message: Message| {
            keep.lock().expect("the lock").push(message);
            async { Value::object::<&str>([]) }
        });
        let bound = service
            .build()
            .expect("a service")
            .bind("127.0.0.1:0")
            .await;
        let bound = bound.expect("a free port");
        let client = Client::builder(NOTES).endpoint(&bound.urls()[0]).build();
        tokio::spawn(bound.run(std::future::pending()));
        Self {
            client: client.expect("a client"),
            received,
        }
    }

    fn draft(&self, json: &str) -> Draft {
        let arguments = Value::from_json_str(json).expect("JSON");
        self.client.draft("store", arguments).expect("a draft")
    }

    /// Sends the draft. Returns the arguments that arrived.
    async fn send(&self, draft: &mut Draft) -> String {
        self.client.send(draft).await.expect("an answer");
        self.last().value().to_json()
    }

    fn last(&self) -> Message {
        let received = self.received.lock().expect("the lock");
        received.last().expect("a message").clone()
    }
}

#[tokio::test]
async fn the_time_that_a_draft_saves_is_counted() {
    let notes = Notes::start().await;
    let text = "x".repeat(20);
    let all: Vec<String> = (0..500)
        .map(|id| format!(r#"{{"@id":{id},"text":"{text}"}}"#))
        .collect();
    let mut draft = notes.draft(&format!(r#"{{"note":[{}]}}"#, all.join(",")));
    let saved = || notes.client.meter().sending().saved;
    for round in 0..20 {
        draft
            .set("note[1].text", format!("{round:020}"))
            .expect("set");
        notes.send(&mut draft).await;
    }
    assert!(!saved().is_zero());
}

#[tokio::test]
async fn absent_elements_can_be_set() {
    let notes = Notes::start().await;
    let mut draft = notes.draft(r#"{"note":[{"text":"a"}]}"#);
    draft.set("at", "2026-01-02T03:04:05Z").expect("optional");
    draft
        .set("note.weight", 1.5)
        .expect("the first of an array");
    draft.set("note[0].@id", 7).expect("an attribute");
    draft
        .set("note[0].by.name", "Ann")
        .expect("in an absent element");
    draft
        .set("note[1].text", "b")
        .expect("one more of an array");
    assert_eq!(
        notes.send(&mut draft).await,
        r#"{"note":[{"@id":7,"text":"a","weight":1.5,"by":{"name":"Ann"}},{"text":"b"}],"at":"2026-01-02T03:04:05Z"}"#
    );
    // Now they are values of the message, and are set in place; nil takes another structure.
    draft.set("note.weight", 2.5).expect("set");
    draft.set("note[1].weight", Value::Nil).expect("nillable");
    let sent = notes.send(&mut draft).await;
    assert!(
        sent.contains(r#""weight":2.5"#) && sent.contains(r#""weight":null"#),
        "{sent}"
    );
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_with_its_path_and_the_draft_stays() {
    let notes = Notes::start().await;
    let mut draft = notes.draft(r#"{"note":[{"text":"a"}],"at":"2026-01-02T03:04:05Z"}"#);
    let before = notes.send(&mut draft).await;
    let refused: [(&str, Value, &str); 7] = [
        ("note[0].text", "bell \u{7}".into(), "U+0007"),
        ("at", "yesterday".into(), "yesterday"),
        ("note[0].weight", "heavy".into(), "heavy"),
        ("note[0].by.name", "\u{0}".into(), "U+0000"),
        (
            "note[3].text",
            "x".into(),
            "only the item behind the last one",
        ),
        ("nothing", 1.into(), "nothing"),
        ("note[0].text.deeper", 1.into(), "deeper"),
    ];
    for (path, value, what) in refused {
        let error = draft.set(path, value).expect_err(path);
        let report = error.report();
        assert!(
            report.contains(what) && report.contains(path),
            "{path}: {report}"
        );
        assert!(!report.contains("answer"), "{report}");
        assert!(
            matches!(error, Error::Type(_) | Error::Setup(_)),
            "{report}"
        );
        assert_eq!(notes.send(&mut draft).await, before, "{path}");
    }
    draft.set("note[0].text", "still usable").expect("set");
    assert!(notes.send(&mut draft).await.contains("still usable"));
}

#[tokio::test]
async fn a_region_of_changes_names_the_value_of_a_draft() {
    let notes = Notes::start().await;
    let json = r#"{"note":[{"text":"a"},{"text":"b"},{"text":"c"}]}"#;
    let mut draft = notes.draft(json);
    let mut copy = notes.draft(json);
    for round in 0..6 {
        let (path, text) = (
            ["note[1].text", "note[2].text"][round % 2],
            format!("{round}"),
        );
        draft.set(path, text.clone()).expect("set");
        notes.send(&mut draft).await;
        let changes = notes.last().changes().clone();
        if changes.is_all() {
            assert!(
                copy.set(&changes.regions()[0], "x").is_err(),
                "the whole message"
            );
            continue;
        }
        let regions = changes.regions();
        assert_eq!(regions.len(), 1, "{regions:?}");
        assert_eq!(regions[0].argument_path().as_deref(), Some(path));
        // Texts count from 1, as XPath does.
        let xpath = ["/note[2]/text", "/note[3]/text"][round % 2];
        assert!(regions[0].to_string().ends_with(xpath), "{}", regions[0]);
        copy.set(&regions[0], text.clone()).expect("set");
        assert!(
            notes
                .send(&mut copy)
                .await
                .contains(&format!(r#""text":"{text}""#))
        );
        notes.send(&mut draft).await;
    }
}
