//! MTOM with gSOAP, both ways: attachments of several lengths beside dates, decimals and nil, both SOAP versions, faults with a
//! detail.

use std::path::PathBuf;

use bsoap::attachments::{Attachment, Attachments};
use bsoap::{
    Client, ClientBuilder, Fault, Message, Service, ServiceBuilder, SoapVersion, Value, blocking,
};

use crate::calls::detail;
use crate::here;
use crate::values::under;

/// The WSDL of the service.
pub(crate) fn album_wsdl() -> PathBuf {
    here("testdata/album.wsdl")
}

/// Our album, which gSOAP calls.
pub(crate) fn album() -> ServiceBuilder {
    Service::builder(album_wsdl().as_path())
        .handle("echo", |message: Message| async move { message.value() })
        .handle("refuse", |message: Message| async move {
            let value = message.value();
            let size = value["photo"].as_attachment().and_then(Attachment::len);
            let problem = under("size", size.unwrap_or_default());
            let reason = value["reason"].as_str().unwrap_or_default().to_owned();
            Err::<Value, _>(Fault::sender(reason).with_detail(under("problem", problem)))
        })
}

/// A client of gSOAP's album that sends with MTOM.
pub(crate) fn builder(version: SoapVersion, port: u16) -> ClientBuilder {
    let builder = Client::builder(album_wsdl().as_path());
    let builder = builder.version(version).attachments(Attachments::mtom());
    builder.endpoint(format!("http://127.0.0.1:{port}/"))
}

fn photo(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// Calls both operations and checks the answers.
pub(crate) fn check(client: &blocking::Client) {
    let lengths = [0, 10, 5000, 3_000_000];
    for count in 0..=lengths.len() {
        let lengths = &lengths[..count];
        let attached = |length: &usize| {
            let photo = Attachment::from_bytes(photo(*length));
            Value::from(photo.with_media_type("image/png"))
        };
        let page = Value::object([
            ("title", Value::from("Łódź & <co>")),
            ("taken", Value::from("2023-11-14T22:13:20Z")),
            ("price", Value::from("12345678901234567890.125")),
            ("note", Value::Nil),
            (
                "photo",
                Value::Array(lengths.iter().map(attached).collect()),
            ),
        ]);
        let found = client.call("echo", &page);
        let found = found.unwrap_or_else(|error| panic!("echo: {}", error.report()));
        for name in ["title", "taken", "price", "note"] {
            assert_eq!(found[name], page[name], "{name}");
        }
        let photos = found["photo"].as_array().unwrap_or_default();
        assert_eq!(photos.len(), count);
        for (found, length) in photos.iter().zip(lengths) {
            let attachment = found.as_attachment().expect("an attachment");
            assert!(
                attachment.read().expect("octets") == photo(*length),
                "{length}"
            );
            assert_eq!(attachment.media_type(), Some("image/png"), "{length}");
        }
    }
    let refused = Value::object([
        ("reason", Value::from("no ü")),
        ("photo", Value::from(photo(100_000))),
    ]);
    let error = client.call("refuse", &refused).expect_err("a fault");
    let detail = detail(&error);
    assert_eq!(
        detail["problem"]["size"].as_i64(),
        Some(100_000),
        "{}",
        detail.to_json()
    );
}
