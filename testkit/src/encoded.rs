//! rpc/encoded messages of `crates/protocol/tests/testdata/encoded.wsdl`, and what must be true of all that are read.

use std::fmt::Write as _;
use std::sync::Arc;

use bsoap_codec::decode::DecodeOptions;
use bsoap_codec::graph::{self, REFERENCE_EXPANSION};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Decoder, EncodeOptions, Encoder, Plan, Record, View};
use bsoap_differential::receive::{Stream, Way};
use bsoap_differential::send::{Policy, Template};
use bytes::Bytes;

use crate::decode_paths::DecodePaths;
use crate::random::Random;

/// An Envelope with this Body.
pub fn envelope(body: &str) -> String {
    format!(
        "<S:Envelope xmlns:S=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:E=\"http://schemas.xmlsoap.org/soap/encoding/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:t=\"urn:t\">\
         <S:Body>{body}</S:Body></S:Envelope>"
    )
}

/// The Body of a message: people who refer to one another, or an array. A few are not valid.
pub fn random_body(random: &mut Random) -> String {
    match random.below(5) {
        0 => array("echoDoubles", "xsd:double", random),
        1 => array("echoInts", "xsd:int", random),
        2 => array("echoStrings", "xsd:string", random),
        _ => people(random),
    }
}

fn array(operation: &str, ty: &str, random: &mut Random) -> String {
    let count = random.below(6);
    let size = match random.below(8) {
        0 => String::new(),
        1 => (count + random.below(3)).to_string(),
        2 => format!("{count},1"),
        _ => count.to_string(),
    };
    let offset = match random.below(10) {
        0 => format!(" E:offset=\"[{}]\"", random.below(3)),
        _ => String::new(),
    };
    let mut body =
        format!("<t:{operation}><in E:arrayType=\"{ty}[{size}]\"{offset} xsi:type=\"E:Array\">");
    let mut independent = String::new();
    let states_types = random.chance(70);
    for item in 0..count {
        let _ = match random.below(12) {
            0 => {
                let _ = write!(
                    independent,
                    "<multiRef id=\"v{item}\" xsi:type=\"{ty}\">{item}</multiRef>"
                );
                write!(body, "<item href=\"#v{item}\"/>")
            }
            1 => write!(body, "<item E:position=\"[{}]\">{item}</item>", item + 1),
            2 => write!(body, "<item id=\"i{item}\">{item}</item>"),
            _ if states_types => write!(
                body,
                "<item xsi:type=\"{ty}\">{}</item>",
                random.below(1000)
            ),
            _ => write!(body, "<item>{}</item>", random.below(1000)),
        };
    }
    let _ = write!(body, "</in></t:{operation}>{independent}");
    body
}

/// A graph: each person is within the one before, or independent; friends are people in there, or references.
fn people(random: &mut Random) -> String {
    let count = 1 + random.below(6);
    let mut body = String::from("<t:echoPerson>");
    let reference = |random: &mut Random| match random.below(20) {
        0 => "nobody".to_owned(),
        _ => format!("p{}", random.below(count)),
    };
    let _ = write!(body, "<in href=\"#{}\"/></t:echoPerson>", reference(random));
    for number in 0..count {
        let scores = match random.below(3) {
            0 => "<scores E:arrayType=\"xsd:double[2]\"><item>1.5</item><item>NaN</item></scores>",
            1 => "<scores xsi:nil=\"true\"/>",
            _ => "",
        };
        let friend = match random.below(4) {
            0 => format!(
                "<friend id=\"f{number}\"><name>F{number}</name><friend href=\"#{}\"/></friend>",
                reference(random)
            ),
            1 => String::new(),
            _ => format!("<friend href=\"#{}\"/>", reference(random)),
        };
        let name = match random.below(4) {
            0 => "<name href=\"#name\"/>".to_owned(),
            _ => format!("<name>{}</name>", random.word()),
        };
        let ty = if random.chance(20) { "Pupil" } else { "Person" };
        let mut members = [name, friend, scores.to_owned()];
        if random.chance(30) {
            members.reverse();
        }
        let members = members.concat();
        let _ = write!(
            body,
            "<multiRef id=\"p{number}\" xsi:type=\"t:{ty}\">{members}</multiRef>"
        );
    }
    body.push_str("<multiRef id=\"name\" xsi:type=\"xsd:string\">Ada</multiRef>");
    body
}

/// Everything that reads and writes one stream of encoded messages.
pub struct EncodedPaths {
    plan: Arc<Plan>,
    root: ElementId,
    paths: DecodePaths,
    decoder: Decoder,
    stream: Stream,
    template: Template,
}

impl EncodedPaths {
    /// For messages of this Plan.
    pub fn new(plan: &Arc<Plan>, root: ElementId, options: DecodeOptions) -> Self {
        Self {
            plan: Arc::clone(plan),
            root,
            paths: DecodePaths::new(plan, root, options),
            decoder: Decoder::new(Arc::clone(plan), options),
            stream: Stream::new(Way::default(), Arc::clone(plan), options),
            template: Template::new(Policy::EXACT, EncodeOptions::default()),
        }
    }

    /// Reads the next message of the stream in every way, and writes it again: whether it is valid, and what differs as an error.
    pub fn agree(&mut self, message: &[u8], random: &mut Random) -> Result<bool, String> {
        self.paths.agree(message, random)?;
        let shown = || String::from_utf8_lossy(message).into_owned();
        let fresh = self.decoder.decode(self.root, message);
        let received = self
            .stream
            .receive(self.root, Bytes::from(message.to_vec()));
        let record = match (fresh, received) {
            (Ok(fresh), Ok(received)) if *received.record == fresh => fresh,
            (Err(_), Err(_)) => return Ok(false),
            (fresh, received) => {
                let received = received.map(|it| it.record.slots().to_vec());
                let fresh = fresh.map(|it| it.slots().to_vec());
                return Err(format!(
                    "received {received:?}\ndecoded {fresh:?}\n{}",
                    shown()
                ));
            }
        };
        self.is_written(&record)
            .map_err(|error| format!("{error}\n{}", shown()))
    }

    /// Writes the graph of a Record, and reads it again.
    fn is_written(&mut self, record: &Record) -> Result<bool, String> {
        let Ok(shared) = graph::share(record) else {
            // A reference that names nothing, or a wrong value: it is no tree either.
            return match graph::expand(record, REFERENCE_EXPANSION) {
                Err(_) => Ok(false),
                Ok(_) => Err("a tree of a message that is no graph".into()),
            };
        };
        let mut shared = shared.into_owned();
        if graph::complete(&mut shared).is_err() {
            return Ok(false);
        }
        let mut text = Vec::new();
        let encoder = Encoder::new(EncodeOptions::default());
        let encoded = encoder.encode(&shared, &mut text);
        encoded.map_err(|error| format!("not written: {error}"))?;
        let read = self.read(&text)?;
        let again = graph::share(&read).map_err(|error| format!("not shared: {error}"))?;
        same("graphs", &value(&shared)?, &value(&again)?)?;
        let trees = [record, &read].map(|it| graph::expand(it, REFERENCE_EXPANSION));
        match trees {
            [Ok(one), Ok(other)] => same("trees", &value(&one)?, &value(&other)?)?,
            [Err(_), Err(_)] => {}
            [one, other] => {
                return Err(format!("{:?} {:?}", one.err(), other.err()));
            }
        }
        let updated = self.template.update(&mut shared);
        updated.map_err(|error| format!("not in a template: {error}"))?;
        let sent = self.read(&self.template.text())?;
        same("message sent", &value(&read)?, &value(&sent)?)?;
        Ok(true)
    }

    fn read(&self, text: &[u8]) -> Result<Record, String> {
        let mut decoder = Decoder::new(Arc::clone(&self.plan), DecodeOptions::default());
        let read = decoder.decode(self.root, text);
        read.map_err(|error| format!("not read: {error}\n{}", String::from_utf8_lossy(text)))
    }
}

/// What a Record means.
fn value(record: &Record) -> Result<String, String> {
    let value = View::of(record).to_value();
    let value = value.map_err(|error| error.to_string())?;
    Ok(format!("{value:?}"))
}

fn same(what: &str, one: &str, other: &str) -> Result<(), String> {
    match one == other {
        true => Ok(()),
        false => Err(format!("other {what}\n{one}\n{other}")),
    }
}
