//! How fast events come, beside quick-xml's: `cargo run --release -p bsoap-xml --example events`.
//!
//! Both read the same bytes to the end with namespaces resolved, tags checked and attribute values decoded; the counts of
//! what they tell are compared before any time is taken. quick-xml checks neither characters nor names, and compares the
//! attributes of a tag by their spelling only.

// A program that prints.
#![allow(clippy::print_stdout)]

use bsoap_xml::{Event, Options, Scopes, State, Vocabulary, VocabularyBuilder};
use quick_xml::events::Event as QuickEvent;
use quick_xml::reader::NsReader;
use std::hint::black_box;
use std::time::Instant;

/// What was told, so that nothing can be left out: elements, attributes, bytes of text, elements with a known name.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
struct Count {
    elements: usize,
    attributes: usize,
    text: usize,
}

fn main() {
    let cases = [
        ("order", order(10)),
        ("order x 100", order(1000)),
        (
            "dhard/10000",
            array(10_000, |i| {
                format!("{:e}", (i as f64 + 0.1).powi(7) * 1.2345678901234567e-9)
            }),
        ),
        (
            "int/10000",
            array(10_000, |i| {
                format!("{}", (i as i64 * 7_919_777) % 2_000_000_000)
            }),
        ),
        ("attributes", attributes(200)),
        (
            "escaped",
            array(2000, |i| {
                format!("a &lt; b &amp;&amp; c &gt; d {i} &quot;said&quot; &#233;")
            }),
        ),
        (
            "base64 1 MB",
            array(1, |_| "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0".repeat(30_000)),
        ),
    ];
    println!(
        "{:<12} {:>9} {:>7} | {:>9} {:>9} {:>9} | {:>6}",
        "case", "bytes", "events", "bsoap ns", "quick ns", "MB/s", "ratio"
    );
    // An argument chooses the cases whose name holds it.
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (name, document) in cases.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        measure(name, &document);
    }
}

fn measure(name: &str, document: &str) {
    let vocabulary = vocabulary();
    let mut ours = Ours::new(&vocabulary);
    let (count, events) = ours.read(document);
    assert_eq!(count, quick(document), "{name}");
    let repeat = (1_000_000 / document.len()).max(1);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..60 {
        let start = Instant::now();
        for _ in 0..repeat {
            black_box(ours.read(black_box(document)));
        }
        times[0].push(start.elapsed().as_nanos() as f64 / repeat as f64);
        let start = Instant::now();
        for _ in 0..repeat {
            black_box(quick(black_box(document)));
        }
        times[1].push(start.elapsed().as_nanos() as f64 / repeat as f64);
    }
    // The least: what others on the machine do only adds.
    let [bsoap, quick] = times.map(|times| times.into_iter().fold(f64::INFINITY, f64::min));
    println!(
        "{name:<12} {:>9} {events:>7} | {:>9.1} {:>9.1} {:>9.0} | {:>6.2}",
        document.len(),
        bsoap / events as f64,
        quick / events as f64,
        document.len() as f64 / bsoap * 1000.0,
        bsoap / quick
    );
}

/// A reader kept from document to document, as a stream of messages keeps it.
struct Ours<'v> {
    vocabulary: &'v Vocabulary,
    scopes: Scopes,
    state: State,
}

impl<'v> Ours<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        Ours {
            vocabulary,
            scopes: Scopes::new(),
            state: State::new(&Options::default()),
        }
    }

    fn read(&mut self, document: &str) -> (Count, usize) {
        // As quick-xml's bytes are checked to be UTF-8 where they are read.
        let document = bsoap_xml::decode_str(document.as_bytes()).unwrap();
        self.state.restart();
        let (mut count, mut events) = (Count::default(), 0);
        loop {
            let rest = &document[self.state.offset() as usize..];
            let event = self
                .state
                .next(self.vocabulary, &mut self.scopes, rest, true)
                .unwrap();
            events += 1;
            match event {
                Some(Event::Start(tag)) => {
                    count.elements += 1;
                    black_box(tag.name);
                    for attribute in tag.attributes() {
                        count.attributes += 1;
                        black_box(attribute.value());
                    }
                }
                Some(Event::Text(text)) => count.text += text.value.len(),
                Some(Event::EndOfDocument) | None => return (count, events),
                _ => {}
            }
        }
    }
}

fn quick(document: &str) -> Count {
    let mut reader = NsReader::from_str(document);
    let mut count = Count::default();
    loop {
        match reader.read_resolved_event().unwrap() {
            (namespace, QuickEvent::Start(tag) | QuickEvent::Empty(tag)) => {
                count.elements += 1;
                black_box(namespace);
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    if attribute.key.as_namespace_binding().is_none() {
                        count.attributes += 1;
                        black_box(reader.resolver().resolve_attribute(attribute.key));
                        black_box(
                            attribute
                                .normalized_value(quick_xml::XmlVersion::Explicit1_0)
                                .unwrap(),
                        );
                    }
                }
            }
            (_, QuickEvent::Text(text)) => count.text += text.xml10_content().len(),
            (_, QuickEvent::GeneralRef(reference)) => {
                count.text += match reference.resolve_char_ref().unwrap() {
                    Some(c) => c.len_utf8(),
                    None => quick_xml::escape::resolve_predefined_entity(&reference)
                        .unwrap()
                        .len(),
                };
            }
            (_, QuickEvent::Eof) => return count,
            _ => {}
        }
    }
}

fn vocabulary() -> Vocabulary {
    let mut builder = VocabularyBuilder::default();
    for local in ["Envelope", "Header", "Body", "Fault"] {
        builder.name("http://schemas.xmlsoap.org/soap/envelope/", local);
    }
    for local in FIELDS.iter().chain(&[
        "order",
        "line",
        "customer",
        "item",
        "echoResponse",
        "return",
    ]) {
        builder.name("urn:shop", local);
        builder.name("", local);
    }
    builder.build()
}

const FIELDS: [&str; 20] = [
    "orderNumber",
    "orderDate",
    "currency",
    "totalAmount",
    "customerId",
    "customerName",
    "street",
    "city",
    "postalCode",
    "country",
    "email",
    "phone",
    "deliveryDate",
    "priority",
    "express",
    "comment",
    "articleNumber",
    "description",
    "quantity",
    "unitPrice",
];

fn order(lines: usize) -> String {
    let mut order = "<?xml version=\"1.0\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" \
        xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"><soap:Header/><soap:Body>\
        <s:order xmlns:s=\"urn:shop\" version=\"1\">"
        .to_owned();
    for (i, field) in FIELDS.iter().enumerate().take(16) {
        order += &format!("<s:{field}>value {}</s:{field}>", i * 7919);
    }
    for line in 0..lines {
        order += &format!("<s:line number=\"{line}\">");
        for (i, field) in FIELDS.iter().enumerate().skip(10) {
            order += &format!("<s:{field}>{}</s:{field}>", (line + 1) * (i + 13));
        }
        order += "</s:line>";
    }
    order + "</s:order></soap:Body></soap:Envelope>"
}

fn array(length: usize, value: impl Fn(usize) -> String) -> String {
    let items: String = (0..length)
        .map(|i| format!("<item>{}</item>", value(i)))
        .collect();
    format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><n:echoResponse xmlns:n=\"urn:shop\">\
         <return>{items}</return></n:echoResponse></s:Body></s:Envelope>"
    )
}

fn attributes(length: usize) -> String {
    let items: String = (0..length)
        .map(|i| format!("<item id=\"id-{i}\" xsi:type=\"xsd:string\" name='name &amp; {i}' quantity=\"{i}\" href=\"#r{i}\"/>"))
        .collect();
    format!(
        "<list xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"urn:shop\">{items}</list>"
    )
}
