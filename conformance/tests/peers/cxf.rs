//! Messages of Apache CXF both ways: wrapped document/literal, MTOM, WS-Addressing, gzip, faults with a detail.

use std::path::{Path, PathBuf};
use std::process::Command;

use bsoap::addressing::{Addressing, AddressingPolicy};
use bsoap::attachments::Attachments;
use bsoap::tuning::{Hints, Sending};
use bsoap::{Client, ClientBuilder, Fault, Message, Service, ServiceBuilder, Value, blocking};

use crate::calls::detail;
use crate::process::Peer;
use crate::values::{bits, hard_doubles, under};
use crate::{built, here, install};

/// A running service of CXF.
pub(crate) struct Cxf {
    server: Peer,
    plain: PathBuf,
    addressed: PathBuf,
}

impl Cxf {
    pub(crate) fn start() -> Option<Self> {
        let mut program = cxf()?;
        let [plain, addressed] = ["cxf-plain.wsdl", "cxf-addressed.wsdl"]
            .map(|name| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        let server = Peer::start(program.arg("serve").arg(&plain).arg(&addressed));
        Some(Self {
            server,
            plain,
            addressed,
        })
    }

    /// A client of the port without options.
    fn plain(&self) -> ClientBuilder {
        let address = format!("http://127.0.0.1:{}/plain", self.server.port);
        Client::builder(self.plain.as_path()).endpoint(address)
    }

    /// Our client calls every operation of both ports.
    pub(crate) fn check(&self) {
        check(&built(self.plain()));
        let address = format!("http://127.0.0.1:{}/addressed", self.server.port);
        let addressed = Client::builder(self.addressed.as_path())
            .endpoint(address)
            .addressing(Addressing::new())
            .attachments(Attachments::mtom().threshold(1000));
        let client = built(addressed);
        check(&client);
        // Without addressing headers the port answers with a fault.
        let address = client.inner().endpoint().to_owned();
        let plain = built(Client::builder(self.addressed.as_path()).endpoint(address));
        let refused = plain.call("refuse", &under("reason", "x"));
        let refused = refused.expect_err("refused");
        let fault = refused.fault().expect("a fault");
        assert!(
            fault.reason().contains("MessageAddressing") || fault.reason().contains("header"),
            "{fault}"
        );
    }

    /// CXF looks at header blocks: one that must be understood it refuses, a hint it does not.
    pub(crate) fn takes_hints(&self) {
        for hints in [Hints::Off, Hints::Always] {
            let client = built(self.plain().sending(Sending::off()).hints(hints));
            for (quality, value) in (0_i64..).zip(hard_doubles(20)) {
                reading(&client, value, quality);
            }
            let given = if hints == Hints::Off { 0 } else { 20 };
            assert_eq!(client.inner().hint_stats().given, given);
        }
    }

    /// CXF's client calls our services for both WSDLs.
    pub(crate) fn calls(
        &self,
        succeeds: impl Fn(&mut Command),
        running: impl Fn(ServiceBuilder, &dyn Fn(&str)),
    ) {
        for (wsdl, way) in [(&self.plain, "plain"), (&self.addressed, "addressed")] {
            let mut service = service(wsdl);
            if way == "addressed" {
                let mut policy = AddressingPolicy::new();
                policy.is_required = Some(true);
                service = service.addressing(policy);
            }
            running(service, &|url| {
                let mut client = cxf().expect("it was there before");
                succeeds(client.arg("call").arg(wsdl).arg(url).arg(way));
            });
        }
    }
}

fn cxf() -> Option<Command> {
    let mut program = install::java("CXF", "BSOAP_CXF", "cxf")?;
    program.arg(here("peers/CxfPeer.java"));
    Some(program)
}

fn call(client: &blocking::Client, operation: &str, arguments: &Value) -> Value {
    let answer = client.call(operation, arguments);
    let answer = answer.unwrap_or_else(|error| panic!("{operation}: {}", error.report()));
    answer["return"].clone()
}

fn reading(client: &blocking::Client, value: f64, quality: i64) {
    let station = format!("Łódź & {quality}");
    let reading = Value::object([
        ("station", Value::from(station.as_str())),
        ("value", Value::from(value)),
        ("quality", Value::from(quality)),
    ]);
    let answer = call(client, "reading", &reading);
    let expected = format!("{station}|{}|{quality}", value.to_bits() as i64);
    assert_eq!(answer.as_str(), Some(expected.as_str()));
}

fn check(client: &blocking::Client) {
    reading(client, 0.1, -7);
    let values = hard_doubles(100_000);
    let sent = Value::object([
        ("station", Value::from("Łódź & <co>")),
        ("at", Value::from("2024-02-29T23:59:59.125+01:00")),
        ("amount", Value::from("12345678901234567890.125")),
        ("note", Value::Nil),
        ("values", Value::from(values.clone())),
    ]);
    let found = call(client, "observe", &under("measurement", sent.clone()));
    for name in ["station", "at", "amount", "note"] {
        assert_eq!(found[name], sent[name], "{name}");
    }
    let numbers: Vec<f64> = match found["values"].as_doubles() {
        Some(numbers) => numbers.to_vec(),
        None => {
            let numbers = found["values"].as_array().expect("numbers");
            numbers.iter().filter_map(Value::as_f64).collect()
        }
    };
    assert_eq!(bits(&numbers), bits(&values));
    for length in [0, 10, 3_000_000] {
        let photo: Vec<u8> = (0..length).map(|at| (at * 7 + at / 251) as u8).collect();
        let found = call(client, "photo", &under("photo", photo.clone()));
        let found = match &found {
            Value::Attachment(attachment) => attachment.read().expect("octets"),
            found => found.as_bytes().unwrap_or_default().to_vec(),
        };
        assert!(found == photo, "a photo of {length} octets");
    }
    let error = client.call("refuse", &under("reason", "no ü"));
    let error = error.expect_err("a fault");
    let detail = detail(&error);
    assert_eq!(
        detail["problem"]["code"].as_i64(),
        Some(7),
        "{}",
        detail.to_json()
    );
    assert_eq!(detail["problem"]["text"].as_str(), Some("no ü"));
}

/// Our service for a WSDL of CXF.
fn service(wsdl: &Path) -> ServiceBuilder {
    let echo = |name: &'static str| {
        move |message: Message| async move { under("return", message.value()[name].clone()) }
    };
    Service::builder(wsdl)
        .handle("reading", |message: Message| async move {
            let value = message.value();
            let number = value["value"].as_f64().unwrap_or_default().to_bits() as i64;
            let station = value["station"].as_str().unwrap_or_default();
            let quality = value["quality"].as_i64().unwrap_or_default();
            under("return", format!("{station}|{number}|{quality}"))
        })
        .handle("observe", echo("measurement"))
        .handle("photo", echo("photo"))
        .handle("refuse", |message: Message| async move {
            let value = message.value();
            let reason = value["reason"].as_str().unwrap_or_default().to_owned();
            let problem = Value::object([
                ("code", Value::from(7)),
                ("text", Value::from(reason.as_str())),
            ]);
            Err::<Value, _>(Fault::sender(reason).with_detail(under("problem", problem)))
        })
}
