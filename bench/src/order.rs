//! The two documents among the shapes: a sensor's reading (`small`) and an order (`order`), their
//! generators, and their writers by hand.
//!
//! The writers are the baseline of `encode` for these shapes, and make what decoders are given. They are what a program would
//! have that sends this message and no other: tags of neighbours merged into one copy whose length the compiler knows,
//! numbers formatted by the best crates, `&` and `<` in strings replaced (the generators make none, but a program cannot
//! know that: every `String` of a string type in the schema is searched, constants of the program are not), nothing else
//! checked. The baseline writes byte for byte what bsoap writes.

use crate::random::Random;

/// A sensor's reading.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    station: String,
    sensor: String,
    time: String,
    sequence: i64,
    latitude: f64,
    longitude: f64,
    altitude: f64,
    value: f64,
    unit: &'static str,
    quality: i32,
}

/// An order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    id: i64,
    currency: &'static str,
    number: String,
    placed: String,
    priority: i32,
    express: bool,
    note: Option<String>,
    customer: Customer,
    billing: Address,
    shipping: Option<Address>,
    lines: Vec<Line>,
    net: String,
    tax: String,
    gross: String,
    weight: f64,
    parcels: u32,
    discount: Option<f64>,
    method: &'static str,
    reference: Option<String>,
    due: String,
    signature: String,
}

#[derive(Clone, Debug)]
struct Customer {
    number: i64,
    name: String,
    email: Option<String>,
    vat: Option<String>,
}

#[derive(Clone, Debug)]
struct Address {
    name: String,
    street: String,
    house: i32,
    city: &'static str,
    postcode: String,
    country: &'static str,
    latitude: Option<f64>,
    longitude: Option<f64>,
}

#[derive(Clone, Debug)]
struct Line {
    number: i32,
    sku: String,
    description: String,
    quantity: i32,
    price: String,
    weight: f64,
    discount: Option<f64>,
    tax_rate: f64,
    in_stock: bool,
    due: Option<String>,
}

/// What precedes and follows the body of every message that decoders are given.
pub(crate) const HEAD: &str = "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:b=\"urn:bsoap:bench\"><soap:Body>";
pub(crate) const TAIL: &str = "</soap:Body></soap:Envelope>";

/// How the parts of a message that say nothing are spelled.
pub(crate) trait Spelling {
    /// All of a reading before the first child.
    const READING: &str;
    /// All behind its last child.
    const READING_END: &str;
    /// All of an order before its first attribute's name.
    const ORDER: &str;
    /// All behind its last child.
    const ORDER_END: &str;
}

/// As peers spell it: what decoders are given.
pub(crate) struct Peers;

impl Spelling for Peers {
    // With the namespace declarations that many toolkits always send.
    const READING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" \
        xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
        xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
        xmlns:wsu=\"http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd\" xmlns:b=\"urn:bsoap:bench\"><soap:Body><b:reading>";
    const READING_END: &str = "</b:reading></soap:Body></soap:Envelope>";
    const ORDER: &str = "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:b=\"urn:bsoap:bench\"><soap:Body><b:order";
    const ORDER_END: &str = "</b:order></soap:Body></soap:Envelope>";
}

/// As bsoap spells it: the baseline of `encode`.
pub(crate) struct Own;

impl Own {
    /// What precedes the body; [`TAIL`] follows it.
    pub(crate) const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>";
    /// What an element in the body declares.
    pub(crate) const DECLARATION: &str = " xmlns:tns=\"urn:bsoap:bench\"";
}

impl Spelling for Own {
    const READING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body><tns:reading xmlns:tns=\"urn:bsoap:bench\">";
    const READING_END: &str = "</tns:reading></soap:Body></soap:Envelope>";
    const ORDER: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body><tns:order xmlns:tns=\"urn:bsoap:bench\"";
    const ORDER_END: &str = "</tns:order></soap:Body></soap:Envelope>";
}

impl Reading {
    pub(crate) fn generate(random: &mut Random) -> Self {
        Self {
            station: format!(
                "Observatory {} at {}",
                random.below(1000),
                random.pick(CITIES)
            ),
            sensor: format!("urn:sensor:{:016x}-{:016x}", random.bits(), random.bits()),
            time: date_time(random),
            sequence: random.below(1 << 40) as i64,
            latitude: decimals(random, 180.0, 6) - 90.0,
            longitude: decimals(random, 360.0, 6) - 180.0,
            altitude: decimals(random, 4000.0, 1),
            value: random.unit() * 100.0,
            unit: random.pick(&[
                "degree Celsius",
                "metre per second",
                "hectopascal",
                "percent",
            ]),
            quality: random.below(5) as i32,
        }
    }

    /// This message and no other.
    pub(crate) fn write<S: Spelling>(&self, out: &mut Vec<u8>) {
        let mut writer = MarkupWriter::new(out);
        writer
            .text(S::READING)
            .text("<station>")
            .string(&self.station)
            .text("</station><sensor>")
            .string(&self.sensor);
        writer
            .text("</sensor><time>")
            .text(&self.time)
            .text("</time><sequence>")
            .int(self.sequence);
        writer
            .text("</sequence><latitude>")
            .double(self.latitude)
            .text("</latitude><longitude>")
            .double(self.longitude);
        writer
            .text("</longitude><altitude>")
            .double(self.altitude)
            .text("</altitude><value>")
            .double(self.value);
        writer
            .text("</value><unit>")
            .text(self.unit)
            .text("</unit><quality>")
            .int(self.quality)
            .text("</quality>")
            .text(S::READING_END);
    }
}

impl Order {
    pub(crate) fn generate(random: &mut Random) -> Self {
        Self {
            id: random.below(1 << 50) as i64,
            currency: random.pick(&["EUR", "USD", "CHF"]),
            number: format!(
                "PO-{:06}-{:03}",
                random.below(1_000_000),
                random.below(1000)
            ),
            placed: date_time(random),
            priority: random.below(9) as i32 + 1,
            express: random.once_in(2),
            note: random.once_in(2).then(|| sentence(random, 16)),
            customer: Customer::generate(random),
            billing: Address::generate(random),
            shipping: random.once_in(2).then(|| Address::generate(random)),
            lines: (1..=10)
                .map(|number| Line::generate(number, random))
                .collect(),
            net: money(random),
            tax: money(random),
            gross: money(random),
            weight: decimals(random, 500.0, 3),
            parcels: random.below(12) as u32 + 1,
            discount: random.once_in(3).then(|| decimals(random, 50.0, 2)),
            method: random.pick(&["invoice", "card", "transfer"]),
            reference: random
                .once_in(2)
                .then(|| format!("{:012}", random.below(1_000_000_000_000))),
            due: date(random),
            signature: signature(random),
        }
    }

    /// This message and no other.
    pub(crate) fn write<S: Spelling>(&self, out: &mut Vec<u8>) {
        let mut writer = MarkupWriter::new(out);
        writer
            .text(S::ORDER)
            .text(" id=\"")
            .int(self.id)
            .text("\" currency=\"")
            .text(self.currency);
        writer
            .text("\"><number>")
            .string(&self.number)
            .text("</number><placed>")
            .text(&self.placed);
        writer
            .text("</placed><priority>")
            .int(self.priority)
            .text("</priority><express>")
            .bool(self.express)
            .text("</express>");
        writer.optional_string("<note>", self.note.as_deref(), "</note>");
        self.customer.write(&mut writer);
        writer.text("<billing>");
        self.billing.write(&mut writer);
        writer.text("</billing>");
        if let Some(shipping) = &self.shipping {
            writer.text("<shipping>");
            shipping.write(&mut writer);
            writer.text("</shipping>");
        }
        self.lines.iter().for_each(|line| line.write(&mut writer));
        writer
            .text("<totals><net>")
            .text(&self.net)
            .text("</net><tax>")
            .text(&self.tax)
            .text("</tax><gross>")
            .text(&self.gross);
        writer
            .text("</gross><weight>")
            .double(self.weight)
            .text("</weight><parcels>")
            .int(self.parcels)
            .text("</parcels>");
        writer.optional_double("<discount>", self.discount, "</discount>");
        writer
            .text("</totals><payment><method>")
            .text(self.method)
            .text("</method>");
        writer.optional_string("<reference>", self.reference.as_deref(), "</reference>");
        writer
            .text("<due>")
            .text(&self.due)
            .text("</due><signature>")
            .text(&self.signature);
        writer.text("</signature></payment>").text(S::ORDER_END);
    }
}

impl Customer {
    fn generate(random: &mut Random) -> Self {
        Self {
            number: random.below(100_000_000) as i64,
            name: sentence(random, 2),
            email: random
                .once_in(2)
                .then(|| format!("{}@example.org", sentence(random, 1).to_lowercase())),
            vat: random
                .once_in(2)
                .then(|| format!("DE{:09}", random.below(1_000_000_000))),
        }
    }

    fn write(&self, writer: &mut MarkupWriter<'_>) {
        writer
            .text("<customer><number>")
            .int(self.number)
            .text("</number><name>")
            .string(&self.name)
            .text("</name>");
        writer
            .optional_string("<email>", self.email.as_deref(), "</email>")
            .optional_string("<vat>", self.vat.as_deref(), "</vat>")
            .text("</customer>");
    }
}

impl Address {
    fn generate(random: &mut Random) -> Self {
        let located = random.once_in(2);
        Self {
            name: sentence(random, 2),
            street: sentence(random, 2),
            house: random.below(200) as i32 + 1,
            city: random.pick(CITIES),
            postcode: format!("{:05}", random.below(100_000)),
            country: random.pick(&["DE", "IT", "US", "CH"]),
            latitude: located.then(|| decimals(random, 90.0, 6)),
            longitude: located.then(|| decimals(random, 180.0, 6)),
        }
    }

    fn write(&self, writer: &mut MarkupWriter<'_>) {
        writer
            .text("<name>")
            .string(&self.name)
            .text("</name><street>")
            .string(&self.street)
            .text("</street><house>")
            .int(self.house);
        writer
            .text("</house><city>")
            .text(self.city)
            .text("</city><postcode>")
            .string(&self.postcode);
        writer
            .text("</postcode><country>")
            .text(self.country)
            .text("</country>");
        writer
            .optional_double("<latitude>", self.latitude, "</latitude>")
            .optional_double("<longitude>", self.longitude, "</longitude>");
    }
}

impl Line {
    fn generate(number: i32, random: &mut Random) -> Self {
        Self {
            number,
            sku: format!(
                "{}-{:05}",
                random.pick(&["AX", "BR", "CQ", "DV"]),
                random.below(100_000)
            ),
            description: sentence(random, 14),
            quantity: random.below(500) as i32 + 1,
            price: money(random),
            weight: decimals(random, 30.0, 3),
            discount: random.once_in(4).then(|| decimals(random, 10.0, 2)),
            tax_rate: if random.once_in(3) { 0.07 } else { 0.19 },
            in_stock: !random.once_in(5),
            due: random.once_in(3).then(|| date(random)),
        }
    }

    fn write(&self, writer: &mut MarkupWriter<'_>) {
        writer
            .text("<line number=\"")
            .int(self.number)
            .text("\"><sku>")
            .string(&self.sku)
            .text("</sku><description>")
            .string(&self.description);
        writer
            .text("</description><quantity>")
            .int(self.quantity)
            .text("</quantity><price>")
            .text(&self.price);
        writer
            .text("</price><weight>")
            .double(self.weight)
            .text("</weight>")
            .optional_double("<discount>", self.discount, "</discount>");
        writer
            .text("<taxRate>")
            .double(self.tax_rate)
            .text("</taxRate><inStock>")
            .bool(self.in_stock)
            .text("</inStock>");
        writer
            .optional("<due>", self.due.as_deref(), "</due>")
            .text("</line>");
    }
}

/// Appends a string as character data, as a program by hand would that has no control characters.
#[inline]
pub(crate) fn escape(mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr2(b'<', b'&', text) {
        out.extend_from_slice(&text[..at]);
        out.extend_from_slice(if text[at] == b'<' { b"&lt;" } else { b"&amp;" });
        text = &text[at + 1..];
    }
    out.extend_from_slice(text);
}

/// Appends text and numbers to a buffer.
struct MarkupWriter<'o> {
    out: &'o mut Vec<u8>,
    double: zmij::Buffer,
    int: itoa::Buffer,
}

impl<'o> MarkupWriter<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            double: zmij::Buffer::new(),
            int: itoa::Buffer::new(),
        }
    }

    #[inline]
    fn text(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    /// Text that may have anything in it.
    #[inline]
    fn string(&mut self, text: &str) -> &mut Self {
        escape(text.as_bytes(), self.out);
        self
    }

    #[inline]
    fn int(&mut self, value: impl itoa::Integer) -> &mut Self {
        self.out
            .extend_from_slice(self.int.format(value).as_bytes());
        self
    }

    #[inline]
    fn double(&mut self, value: f64) -> &mut Self {
        let text = self.double.format_finite(value).as_bytes();
        self.out.extend_from_slice(if text.ends_with(b".0") {
            without_fraction(text)
        } else {
            text
        });
        self
    }

    #[inline]
    fn bool(&mut self, value: bool) -> &mut Self {
        self.text(if value { "true" } else { "false" })
    }

    #[inline]
    fn optional(&mut self, open: &str, value: Option<&str>, close: &str) -> &mut Self {
        match value {
            Some(value) => self.text(open).text(value).text(close),
            None => self,
        }
    }

    #[inline]
    fn optional_string(&mut self, open: &str, value: Option<&str>, close: &str) -> &mut Self {
        match value {
            Some(value) => self.text(open).string(value).text(close),
            None => self,
        }
    }

    #[inline]
    fn optional_double(&mut self, open: &str, value: Option<f64>, close: &str) -> &mut Self {
        match value {
            Some(value) => self.text(open).double(value).text(close),
            None => self,
        }
    }
}

/// Apart, so that the length of what is copied does not wait for the text to be written.
#[cold]
#[inline(never)]
fn without_fraction(text: &[u8]) -> &[u8] {
    text.strip_suffix(b".0").unwrap_or(text)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The last character before the padding carries two bits, the other four are zero.
const BASE64_LAST: &[&str] = &["A", "Q", "g", "w"];
const CITIES: &[&str] = &[
    "Heidelberg",
    "Bologna",
    "Tallahassee",
    "Binghamton",
    "Lausanne",
    "Chapel Hill",
];
const WORDS: &[&str] = &[
    "Amber", "Bracket", "Copper", "Drive", "Engine", "Flange", "Gauge", "Harbour", "Impeller",
    "Joint", "Kettle", "Lever", "Meridian", "Nozzle", "Orchard", "Piston", "Quarry", "Rotor",
    "Spindle", "Turbine",
];

fn sentence(random: &mut Random, words: usize) -> String {
    (0..words)
        .map(|_| random.pick(WORDS))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A number in [0, scale) with that many decimal places.
fn decimals(random: &mut Random, scale: f64, places: i32) -> f64 {
    let unit = 10f64.powi(places);
    (random.unit() * scale * unit).floor() / unit
}

/// 64 random octets in base64, as every encoder writes them.
fn signature(random: &mut Random) -> String {
    let mut text: String = (0..85)
        .map(|_| BASE64[random.below(64) as usize] as char)
        .collect();
    text.push_str(random.pick(BASE64_LAST));
    text + "=="
}

fn money(random: &mut Random) -> String {
    format!("{}.{:02}", random.below(100_000), random.below(100))
}

fn date(random: &mut Random) -> String {
    format!(
        "20{:02}-{:02}-{:02}",
        random.between(20, 29),
        random.between(1, 12),
        random.between(1, 28)
    )
}

fn date_time(random: &mut Random) -> String {
    format!(
        "{}T{:02}:{:02}:{:02}.{:03}Z",
        date(random),
        random.below(24),
        random.below(60),
        random.below(60),
        random.below(1000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_are_as_large_as_their_shapes_say() {
        let mut random = Random::new(1);
        for _ in 0..100 {
            let (mut small, mut order) = (Vec::new(), Vec::new());
            Reading::generate(&mut random).write::<Peers>(&mut small);
            Order::generate(&mut random).write::<Peers>(&mut order);
            assert!((700..900).contains(&small.len()), "{}", small.len());
            assert!((3500..6500).contains(&order.len()), "{}", order.len());
            assert_eq!(
                small
                    .windows(2)
                    .filter(|pair| pair[0] == b'<' && pair[1].is_ascii_alphabetic())
                    .count(),
                13
            );
        }
    }
}
