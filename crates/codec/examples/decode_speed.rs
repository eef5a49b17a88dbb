//! How fast messages are decoded, against bare loops over the same text: a tool for whoever changes the decoder.
//!
//! `cargo run --release -p bsoap-codec --example decode_speed [rounds] [case]`

#![allow(clippy::print_stdout)] // its output is what it is for

#[path = "../../datatypes/tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::plan::{
    AttributeDef, Content, ElementDef, ElementId, LeafId, ParticleDef, ParticleId, PlanBuilder,
    Role, TermDef, TypeDef, TypeId, UNBOUNDED,
};
use bsoap_codec::{DecodeOptions, Decoder, Plan, Record};
use bsoap_datatypes::{Datatype, SimpleType};
use random::Random;

/// A builder with shorthands.
struct Schema(PlanBuilder);

impl Schema {
    fn leaf(&mut self, datatype: Datatype) -> LeafId {
        self.0.leaf(&SimpleType::builtin(datatype))
    }

    fn ty(&mut self, content: Content, attributes: Vec<AttributeDef>) -> TypeId {
        let id = self.0.reserve_type();
        let def = TypeDef {
            name: None,
            attributes,
            any_attribute: None,
            content,
            alternatives: Vec::new(),
            base: None,
            is_abstract: false,
        };
        self.0.define_type(id, def);
        id
    }

    fn element(&mut self, name: &str, ty: TypeId) -> ElementId {
        let name = self.0.name("", name);
        let def = ElementDef {
            name,
            ty,
            nillable: false,
            is_abstract: false,
            default: None,
            fixed: None,
            role: Role::Application,
        };
        self.0.element(def)
    }

    fn particle(&mut self, element: ElementId, min: u32, max: u32) -> ParticleId {
        self.0.particle(ParticleDef {
            min,
            max,
            term: TermDef::Element(element),
        })
    }

    fn field(&mut self, name: &str, datatype: Datatype, min: u32) -> ParticleId {
        let leaf = self.leaf(datatype);
        let ty = self.ty(Content::Simple(leaf), Vec::new());
        let element = self.element(name, ty);
        self.particle(element, min, 1)
    }

    fn structure(&mut self, fields: Vec<ParticleId>, attributes: Vec<AttributeDef>) -> TypeId {
        let sequence = self.0.particle(ParticleDef {
            min: 1,
            max: 1,
            term: TermDef::Sequence(fields),
        });
        self.ty(Content::Particle(sequence), attributes)
    }

    fn nested(&mut self, name: &str, fields: Vec<ParticleId>, min: u32, max: u32) -> ParticleId {
        let ty = self.structure(fields, Vec::new());
        let element = self.element(name, ty);
        self.particle(element, min, max)
    }

    fn attribute(&mut self, name: &str, datatype: Datatype) -> AttributeDef {
        let leaf = self.leaf(datatype);
        let name = self.0.name("", name);
        AttributeDef {
            name,
            leaf,
            required: false,
            default: None,
            fixed: None,
        }
    }
}

struct Case {
    name: &'static str,
    plan: Arc<Plan>,
    root: ElementId,
    text: String,
    values: usize,
    floor: fn(&str, usize) -> usize,
}

fn array(
    name: &'static str,
    datatype: Datatype,
    count: usize,
    value: impl Fn(&mut Random) -> String,
) -> Case {
    let mut schema = Schema(PlanBuilder::new());
    let leaf = schema.leaf(datatype);
    let ty = schema.ty(Content::Simple(leaf), Vec::new());
    let item = schema.element("item", ty);
    let items = schema.particle(item, 0, UNBOUNDED);
    let ty = schema.structure(vec![items], Vec::new());
    let root = schema.element("values", ty);
    let plan = Arc::new(schema.0.finish().expect("a plan"));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let items: String = (0..count)
        .map(|_| format!("<item>{}</item>", value(&mut random)))
        .collect();
    let floor = match datatype {
        Datatype::Double => floor_doubles,
        Datatype::String => floor_strings,
        _ => floor_ints,
    };
    Case {
        name,
        plan,
        root,
        text: format!("<values>{items}</values>"),
        values: count,
        floor,
    }
}

fn floor_doubles(text: &str, count: usize) -> usize {
    let bytes = text.as_bytes();
    let mut slots: Vec<u64> = Vec::with_capacity(count);
    let mut at = "<values>".len() + "<item>".len();
    for _ in 0..count {
        let (value, length) = fast_float2::parse_partial::<f64, _>(&bytes[at..]).expect("a number");
        slots.push(value.to_bits());
        at += length;
        at += memchr::memchr(b'>', &bytes[at..]).expect("an end tag") + 1;
        at += memchr::memchr(b'>', &bytes[at..]).expect("a start tag") + 1;
    }
    black_box(&slots).len()
}

fn floor_ints(text: &str, count: usize) -> usize {
    let bytes = text.as_bytes();
    let mut slots: Vec<u64> = Vec::with_capacity(count);
    let mut at = "<values>".len() + "<item>".len();
    for _ in 0..count {
        let (value, length) = plain_int(&bytes[at..]);
        slots.push(value as u64);
        at += length;
        at += memchr::memchr(b'>', &bytes[at..]).expect("an end tag") + 1;
        at += memchr::memchr(b'>', &bytes[at..]).expect("a start tag") + 1;
    }
    black_box(&slots).len()
}

/// Copies what stands between two tags, references and all.
fn floor_strings(text: &str, count: usize) -> usize {
    let bytes = text.as_bytes();
    let mut slots: Vec<u64> = Vec::with_capacity(count);
    let mut heap: Vec<u8> = Vec::with_capacity(text.len());
    let mut at = "<values>".len() + "<item>".len();
    for _ in 0..count {
        let length = memchr::memchr(b'<', &bytes[at..]).expect("an end tag");
        slots.push((heap.len() as u64) | (length as u64) << 32);
        heap.extend_from_slice(&bytes[at..at + length]);
        at += length + "</item><item>".len();
    }
    black_box((&slots, &heap)).0.len()
}

fn plain_int(text: &[u8]) -> (i64, usize) {
    let negative = text[0] == b'-';
    let mut at = usize::from(negative);
    let mut value = 0i64;
    while text[at].is_ascii_digit() {
        value = value * 10 + i64::from(text[at] - b'0');
        at += 1;
    }
    (if negative { -value } else { value }, at)
}

fn floor_mio(text: &str, count: usize) -> usize {
    let bytes = text.as_bytes();
    let mut slots: Vec<u64> = Vec::with_capacity(count * 3);
    let mut at = "<values><item><x>".len();
    let skip = |at: usize, tags: usize| {
        (0..tags).fold(at, |at, _| {
            at + memchr::memchr(b'>', &bytes[at..]).map_or(0, |found| found + 1)
        })
    };
    for _ in 0..count {
        for _ in 0..2 {
            let (value, length) = plain_int(&bytes[at..]);
            slots.push(value as u64);
            at = skip(at + length, 2);
        }
        let (value, length) = fast_float2::parse_partial::<f64, _>(&bytes[at..]).expect("a number");
        slots.push(value.to_bits());
        at = skip(at + length, 4);
    }
    black_box(&slots).len()
}

fn mio(count: usize) -> Case {
    let mut schema = Schema(PlanBuilder::new());
    let fields = vec![
        schema.field("x", Datatype::Int, 1),
        schema.field("y", Datatype::Int, 1),
        schema.field("value", Datatype::Double, 1),
    ];
    let items = schema.nested("item", fields, 0, UNBOUNDED);
    let ty = schema.structure(vec![items], Vec::new());
    let root = schema.element("values", ty);
    let plan = Arc::new(schema.0.finish().expect("a plan"));
    let mut random = Random(1);
    let items: String = (0..count)
        .map(|_| {
            let (x, y, value) = (random.next() as i32, random.next() as i32, random.hard());
            format!("<item><x>{x}</x><y>{y}</y><value>{value:.16e}</value></item>")
        })
        .collect();
    Case {
        name: "mio",
        plan,
        root,
        text: format!("<values>{items}</values>"),
        values: count,
        floor: floor_mio,
    }
}

fn events(text: &str, _: usize) -> usize {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut count = 0;
    loop {
        match reader.read_event().expect("well-formed") {
            quick_xml::events::Event::Eof => return black_box(count),
            event => {
                black_box(&event);
                count += 1;
            }
        }
    }
}

fn order(name: &'static str, gap: &str) -> Case {
    let mut schema = Schema(PlanBuilder::new());
    let address = |schema: &mut Schema, name: &str| {
        let fields = vec![
            schema.field("name", Datatype::String, 1),
            schema.field("street", Datatype::String, 1),
            schema.field("city", Datatype::String, 1),
            schema.field("zip", Datatype::String, 0),
            schema.field("country", Datatype::Token, 1),
        ];
        schema.nested(name, fields, 0, 1)
    };
    let currency = schema.attribute("currency", Datatype::Token);
    let line_number = schema.attribute("number", Datatype::Int);
    let decimal = schema.leaf(Datatype::Decimal);
    let price_type = schema.ty(Content::Simple(decimal), vec![currency]);
    let price = schema.element("price", price_type);
    let price = schema.particle(price, 1, 1);
    let line_fields = vec![
        schema.field("sku", Datatype::String, 1),
        schema.field("description", Datatype::String, 0),
        schema.field("quantity", Datatype::Int, 1),
        price,
        schema.field("weight", Datatype::Double, 0),
        schema.field("discount", Datatype::Double, 0),
        schema.field("gift", Datatype::Boolean, 1),
        schema.field("shipBy", Datatype::Date, 0),
    ];
    let line_type = schema.structure(line_fields, vec![line_number]);
    let line = schema.element("line", line_type);
    let line = schema.particle(line, 0, UNBOUNDED);
    let lines = schema.nested("lines", vec![line], 1, 1);
    let fields = vec![
        schema.field("id", Datatype::Long, 1),
        schema.field("created", Datatype::DateTime, 1),
        schema.field("status", Datatype::Token, 1),
        schema.field("customer", Datatype::String, 1),
        schema.field("email", Datatype::String, 0),
        schema.field("phone", Datatype::String, 0),
        address(&mut schema, "billing"),
        address(&mut schema, "shipping"),
        lines,
        schema.field("total", Datatype::Double, 1),
        schema.field("tax", Datatype::Double, 1),
        schema.field("paid", Datatype::Boolean, 1),
        schema.field("note", Datatype::String, 0),
    ];
    let ty = schema.structure(fields, Vec::new());
    let root = schema.element("order", ty);
    let plan = Arc::new(schema.0.finish().expect("a plan"));
    let text = order_text(gap);
    Case {
        name,
        plan,
        root,
        text,
        values: 115,
        floor: events,
    }
}

fn order_text(gap: &str) -> String {
    let mut random = Random(7);
    let indent = |depth: usize| {
        if gap.is_empty() {
            String::new()
        } else {
            format!("\n{}", gap.repeat(depth))
        }
    };
    let address = |name: &str| {
        let i = indent(2);
        format!(
            "{}<{name}>{i}<name>Ada Lovelace</name>{i}<street>12 St. James's Square</street>{i}<city>London</city>{i}<zip>SW1Y 4JH</zip>{i}<country>GB</country>{}</{name}>",
            indent(1),
            indent(1)
        )
    };
    let i = indent(1);
    let mut text = format!(
        "<order>{i}<id>8848123</id>{i}<created>2024-05-17T12:34:56.789Z</created>{i}<status>open</status>{i}<customer>C-10023</customer>{i}<email>ada@example.org</email>{}{}{i}<lines>",
        address("billing"),
        address("shipping")
    );
    for line in 1..=10 {
        let i = indent(3);
        let quantity = random.next() % 100;
        let weight = (random.next() % 100_000) as f64 / 1000.0;
        text.push_str(&format!(
            "{}<line number=\"{line}\">{i}<sku>SKU-{line:05}-XL</sku>{i}<description>A thing of some use, blue, with handle</description>{i}<quantity>{quantity}</quantity>{i}<price currency=\"EUR\">{quantity}.95</price>{i}<weight>{weight}</weight>",
            indent(2)
        ));
        if line % 3 == 0 {
            text.push_str(&format!("{i}<discount>0.15</discount>"));
        }
        text.push_str(&format!(
            "{i}<gift>false</gift>{i}<shipBy>2024-06-{line:02}</shipBy>{}</line>",
            indent(2)
        ));
    }
    let i = indent(1);
    text.push_str(&format!("{i}</lines>{i}<total>1234.56</total>{i}<tax>197.13</tax>{i}<paid>true</paid>{i}<note>Ring twice</note>{}</order>", indent(0)));
    text
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(case: &Case, rounds: usize) {
    let mut decoder = Decoder::new(case.plan.clone(), DecodeOptions::default());
    let mut again = Decoder::new(case.plan.clone(), DecodeOptions::default());
    let mut record = Record::new(case.plan.clone(), case.root);
    let small = case.text.len() < 100_000;
    let repeat = if small { 200 } else { 1 };
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..repeat {
            work();
        }
        start.elapsed().as_nanos() as f64 / repeat as f64
    };
    let mut times = [const { Vec::new() }; 3];
    let mut memory = 0;
    for _ in 0..rounds {
        times[0].push(time(&mut || {
            black_box((case.floor)(&case.text, case.values));
        }));
        times[1].push(time(&mut || {
            let record = decoder
                .decode(case.root, case.text.as_bytes())
                .expect("decodes");
            memory = record.memory();
            black_box(&record);
        }));
        times[2].push(time(&mut || {
            again
                .decode_into(case.root, case.text.as_bytes(), &mut record)
                .expect("decodes");
        }));
    }
    let [floor, decode, into] = times.map(|mut times| median(&mut times));
    let per = |time: f64| time / case.values as f64;
    println!(
        "{:12} {:8} bytes  floor {:6.1}  decode {:6.1} ({:.2}x)  into {:6.1} ({:.2}x) ns/value   {:.2} bytes/value",
        case.name,
        case.text.len(),
        per(floor),
        per(decode),
        decode / floor,
        per(into),
        into / floor,
        memory as f64 / case.values as f64,
    );
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(21);
    let count = 100_000;
    let cases = [
        array("dhard", Datatype::Double, count, |random| {
            format!("{:.16e}", random.hard())
        }),
        array("dunit", Datatype::Double, count, |random| {
            format!("{}", (random.next() >> 11) as f64 / (1u64 << 53) as f64)
        }),
        array("dsmall", Datatype::Double, count, |random| {
            format!("{}", (random.next() % 100_000) as f64 / 100.0)
        }),
        array("int", Datatype::Int, count, |random| {
            format!("{}", random.next() as i32)
        }),
        array("words", Datatype::String, count, Random::word),
        array("strings", Datatype::String, count, |random| {
            let word = random.word();
            match random.below(8) {
                0 => format!("{word}&lt;{word}"),
                1 => format!("{word}\u{e9}"),
                _ => word,
            }
        }),
        mio(count),
        order("order", ""),
        order("order-pretty", "  "),
        array("dhard-100", Datatype::Double, 100, |random| {
            format!("{:.16e}", random.hard())
        }),
        array("dhard-1", Datatype::Double, 1, |random| {
            format!("{:.16e}", random.hard())
        }),
    ];
    let only = std::env::args().nth(2);
    for case in cases
        .iter()
        .filter(|case| only.as_deref().is_none_or(|only| only == case.name))
    {
        measure(case, rounds);
    }
}
