//! Attachments between our own client and service: MTOM, SOAP with Attachments, and what is refused of packages.

mod common;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bsoap::attachments::{Attachment, Attachments, PackageLimits, from_stream};
use bsoap::http::Bytes;
use bsoap::tuning::WorkBudget;
use bsoap::{
    Client, ClientBuilder, Error, Message, Octets, Service, ServiceBuilder, SoapVersion, Value,
};
use common::{BOTH, Running, post, start};

const PHOTOS: &str = include_str!("../../../examples/photos/photos.wsdl");

/// Answers `store` with the number of octets, and the others with what they got.
fn photos() -> ServiceBuilder {
    photos_of(PHOTOS)
}

fn photos_of(wsdl: &str) -> ServiceBuilder {
    Service::builder(wsdl)
        .handle("store", |message: Message| async move {
            let photo = message.value()["photo"].clone();
            let size = match &photo {
                Value::Attachment(photo) => photo.read().expect("octets").len(),
                photo => photo.as_bytes().expect("octets").len(),
            };
            Value::object([("size", Value::from(size as u64))])
        })
        .handle("echo", |message: Message| async move { message.value() })
        .handle("send", |message: Message| async move {
            let value = message.value();
            let uri = value["document"].as_str().expect("a URI").to_owned();
            let document = message.attachment(&uri).expect("the document").clone();
            message.add_answer_attachment(document);
            value
        })
}

fn client(running: &Running, version: SoapVersion) -> ClientBuilder {
    let path = match version {
        SoapVersion::Soap11 => "/photos",
        _ => "/photos12",
    };
    Client::builder(PHOTOS)
        .version(version)
        .endpoint(format!("http://{}{path}", running.address))
}

fn octets(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

fn store(photo: impl Into<Value>) -> Value {
    Value::object([("name", Value::from("a")), ("photo", photo.into())])
}

/// The octets of a value, in the message or beside it.
fn content(value: &Value) -> Vec<u8> {
    match value {
        Value::Attachment(attachment) => attachment.read().expect("octets"),
        value => value.as_bytes().expect("octets").to_vec(),
    }
}

#[tokio::test]
async fn binary_values_travel_as_attachments_both_ways() {
    let running = start(photos()).await;
    for version in BOTH {
        let client = client(&running, version)
            .attachments(Attachments::mtom().threshold(1000))
            .build()
            .expect("a client");
        let photos = [octets(999), octets(1000), octets(3 << 20)];
        let value = Value::object([(
            "photo",
            Value::Array(photos.iter().map(|it| it.clone().into()).collect()),
        )]);
        for _ in 0..3 {
            let answer = client
                .operation("echo")
                .keep_envelopes()
                .call(&value)
                .await
                .expect("an answer");
            let echoed = answer.value();
            let echoed = echoed["photo"].as_array().expect("photos").to_vec();
            assert!(
                matches!(
                    echoed[..],
                    [Value::Bytes(_), Value::Attachment(_), Value::Attachment(_)]
                ),
                "{echoed:?}"
            );
            assert_eq!(echoed.iter().map(content).collect::<Vec<_>>(), photos);
            assert_eq!(answer.attachments().len(), 2);
            let received =
                String::from_utf8_lossy(answer.received().expect("an envelope")).into_owned();
            assert_eq!(received.matches("href=\"cid:").count(), 2, "{received}");
            let content_type = answer.http_headers()["content-type"]
                .to_str()
                .expect("text");
            assert!(
                content_type.contains("application/xop+xml"),
                "{content_type}"
            );
        }
        let small = client
            .call("store", &store(vec![1u8, 2]))
            .await
            .expect("an answer");
        assert_eq!(small["size"].as_u64(), Some(2));
    }
    running.stop().await;
}

#[tokio::test]
async fn similar_messages_with_attachments_are_sent_and_read_as_differences() {
    let running = start(photos()).await;
    let client = client(&running, SoapVersion::Soap11)
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    for size in [5000, 6000, 7000, 8000] {
        let answer = client
            .call("store", &store(octets(size)))
            .await
            .expect("an answer");
        assert_eq!(answer["size"].as_u64(), Some(size as u64));
    }
    let sending = client.sender_stats().matches;
    assert_eq!(sending.content, 2, "{sending:?}");
    running.stop().await;
}

#[tokio::test]
async fn without_mtom_an_attachment_is_base64_text() {
    let running = start(photos()).await;
    let client = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&octets(300_001)).expect("written");
    let photos = [
        Attachment::from_bytes(octets(10)),
        Attachment::from_bytes(octets(100_000)),
        Attachment::from_path(file.path()).expect("a file"),
    ];
    for photo in photos {
        let expected = photo.len();
        let answer = client
            .operation("store")
            .call(store(photo))
            .await
            .expect("an answer");
        assert_eq!(answer.value()["size"].as_u64(), expected);
        assert!(answer.attachments().is_empty());
    }
    running.stop().await;
}

#[tokio::test]
async fn a_document_beside_the_message_is_referred_to_by_its_uri() {
    let running = start(photos()).await;
    for attachments in [Attachments::new(), Attachments::mtom()] {
        let client = client(&running, SoapVersion::Soap11)
            .attachments(attachments)
            .build()
            .expect("a client");
        let document = Attachment::from_bytes(octets(5000))
            .with_content_id("a+b@example.org")
            .with_media_type("application/pdf");
        let by_value = Value::object([("document", Value::from(document.clone()))]);
        let by_uri = Value::object([("document", Value::from("cid:a+b@example.org"))]);
        let calls = [
            client.operation("send").call(&by_value),
            client.operation("send").attach(document).call(&by_uri),
        ];
        for call in calls {
            let answer = call.await.expect("an answer");
            let value = answer.value();
            let document = answer.attachment(value["document"].as_str().expect("a URI"));
            let document = document.expect("the document");
            assert_eq!(document.media_type(), Some("application/pdf"));
            assert_eq!(document.read().expect("octets"), octets(5000));
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn streams_and_files_are_sent_while_they_are_read() {
    struct Count(usize);

    impl futures_core::Stream for Count {
        type Item = std::io::Result<Bytes>;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            self.0 += 1;
            std::task::Poll::Ready(
                (self.0 <= 100).then(|| Ok(Bytes::from(vec![self.0 as u8; 1000]))),
            )
        }
    }

    let running = start(photos()).await;
    for attachments in [Attachments::new(), Attachments::mtom()] {
        let client = client(&running, SoapVersion::Soap11)
            .attachments(attachments)
            .build()
            .expect("a client");
        for length in [None, Some(100_000)] {
            let photo = from_stream(Count(0), length);
            let answer = client
                .call("store", &store(photo.clone()))
                .await
                .expect("an answer");
            assert_eq!(answer["size"].as_u64(), Some(100_000));
            let again = client.call("store", &store(photo)).await;
            assert!(again.is_err(), "a stream can be sent only once");
        }
        let wrong = client
            .call("store", &store(from_stream(Count(0), Some(99_999))))
            .await;
        assert!(wrong.is_err(), "the length is not what was announced");
    }
    running.stop().await;
}

/// How many files of a directory this process has open. They have no names.
#[cfg(target_os = "linux")]
fn open_files(directory: &std::path::Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").expect("the files of this process");
    open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|file| file.starts_with(directory) && file != directory)
        .count()
}

/// Octets that are written to a file while others arrive are no more than those that may be in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_attachments_take_no_more_of_the_work_than_they_may_have_in_memory() {
    let mut options = bsoap::tuning::ServerOptions::default();
    // One message may need 7/16 of it: 1.75 MiB.
    options.work = WorkBudget::new(4 << 20);
    let size = async |message: Message| {
        let photo = message.value()["photo"].as_attachment().cloned();
        let size = photo.and_then(|photo| photo.len()).unwrap_or_default();
        Value::object([("size", Value::from(size))])
    };
    let service = Service::builder(PHOTOS)
        .options(options)
        .handle("store", size);
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11).attachments(Attachments::mtom());
    let client = client.build().expect("a client");
    for length in [1_500_000, 8 << 20, 20 << 20] {
        let photo = Attachment::from_bytes(octets(length));
        let answer = client
            .call("store", &store(photo))
            .await
            .expect("an answer");
        assert_eq!(answer["size"].as_u64(), Some(length as u64));
    }
    running.stop().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn long_attachments_are_in_files_that_are_closed_with_the_message() {
    let directory = tempfile::tempdir().expect("a directory");
    let seen = Arc::new(AtomicUsize::new(0));
    let (count, path) = (Arc::clone(&seen), directory.path().to_owned());
    let service = photos()
        .attachments(
            Attachments::new()
                .memory(100_000)
                .directory(directory.path()),
        )
        .handle("store", move |message: Message| {
            let files = open_files(&path);
            count.fetch_max(files, Ordering::Relaxed);
            async move {
                let value = message.value();
                let photo = value["photo"]
                    .as_attachment()
                    .expect("an attachment")
                    .clone();
                assert_eq!(files == 1, photo.len() > Some(100_000));
                assert_eq!(
                    photo.read().expect("octets"),
                    octets(photo.len().unwrap_or(0) as usize)
                );
                Value::object([("size", Value::from(photo.len()))])
            }
        });
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11)
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    for length in [50_000, 100_000, 100_001, 2 << 20, 5_000_001] {
        let answer = client
            .call("store", &store(octets(length)))
            .await
            .expect("an answer");
        assert_eq!(answer["size"].as_u64(), Some(length as u64));
    }
    assert_eq!(seen.load(Ordering::Relaxed), 1);
    assert_eq!(open_files(directory.path()), 0);
    running.stop().await;
}

#[tokio::test]
async fn temporary_files_have_a_budget() {
    let service = photos().attachments(Attachments::new().memory(1000).disk(1 << 20));
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11)
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    for (length, is_allowed) in [(1 << 20, true), ((1 << 20) + 1, false), (1 << 20, true)] {
        let answer = client.call("store", &store(octets(length))).await;
        assert_eq!(answer.is_ok(), is_allowed, "{length}: {answer:?}");
    }
    running.stop().await;
}

/// Posts a package with these parts, and returns status and answer.
async fn package(running: &Running, content_type: &str, parts: &[(&str, &str)]) -> (u16, String) {
    let mut body = String::new();
    for (headers, content) in parts {
        body.push_str(&format!("--b\r\n{headers}\r\n\r\n{content}\r\n"));
    }
    body.push_str("--b--\r\n");
    post(running.address, "/photos", content_type, "", &body).await
}

const XOP: &str = "multipart/related; boundary=b; type=\"application/xop+xml\"; start=\"<r>\"; start-info=\"text/xml\"";
const ROOT: &str =
    "Content-ID: <r>\r\nContent-Type: application/xop+xml; charset=utf-8; type=\"text/xml\"";

fn envelope(photo: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><store xmlns='urn:bsoap:photos'>\
         <name>a</name><photo>{photo}</photo></store></s:Body></s:Envelope>"
    )
}

fn include(href: &str) -> String {
    envelope(&format!(
        "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='{href}'/>"
    ))
}

#[tokio::test]
async fn packages_of_others_are_read() {
    let running = start(photos()).await;
    let good = include("cid:one%40x");
    let text = include("cid:one@x");
    let one = ("Content-ID: <one@x>", "octets");
    let encoded = (
        "Content-Id: <one@x>\r\nContent-Transfer-Encoding: BASE64",
        "b2N0\r\nZXRz\r\n",
    );
    let folded = ("Content-ID:\r\n <one@x>\r\nX: y", "octets");
    let latin = "Content-ID: <r>\r\nContent-Type: application/xop+xml; charset=iso-8859-1; type=\"text/xml\"";
    for (content_type, parts) in [
        (XOP, vec![(ROOT, good.as_str()), one]),
        (XOP, vec![(ROOT, text.as_str()), encoded]),
        (XOP, vec![one, (ROOT, text.as_str())]),
        (
            XOP,
            vec![folded, (ROOT, text.as_str()), ("", "not referred to")],
        ),
        (XOP, vec![(latin, text.as_str()), one]),
        (
            "Multipart/Related;boundary=b",
            vec![(ROOT, text.as_str()), one],
        ),
        (
            "multipart/related; boundary=\"b\"; type=\"text/xml\"",
            vec![("", &envelope("b2N0ZXRz")), one],
        ),
    ] {
        let (status, answer) = package(&running, content_type, &parts).await;
        assert!(
            status == 200 && answer.contains("<size>6</size>") || answer.contains(":size>6<"),
            "{status} {answer} for {content_type} {parts:?}"
        );
    }
    running.stop().await;
}

/// A content type, parts with their heads, the expected status, and what the answer says.
type Case<'a> = (&'a str, Vec<(&'a str, &'a str)>, u16, &'a str);

#[tokio::test]
async fn hostile_packages_are_refused_and_the_service_goes_on() {
    let mut limits = PackageLimits::default();
    (limits.parts, limits.attachment_bytes, limits.root_bytes) = (5, 1000, 10_000);
    let running = start(photos().attachments(Attachments::new().limits(limits))).await;
    let good = include("cid:one@x");
    let one = ("Content-ID: <one@x>", "octets");
    let root = (ROOT, good.as_str());
    let many = vec![("A: b", ""); 6];
    let headers = "A: b\r\n".repeat(40);
    let long_header = format!("A: {}", "b".repeat(10_000));
    let long = "x".repeat(1001);
    let long_root = envelope(&"A".repeat(10_000));
    let [external, file, other, twice, text] = [
        include("http://127.0.0.1:1/secret"),
        include("file:///etc/passwd"),
        include("cid:two@x"),
        envelope(&format!(
            "{0}{0}",
            "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:one@x'/>"
        )),
        envelope(
            "YQ==<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:one@x'/>",
        ),
    ];
    let cases: Vec<Case<'_>> = vec![
        (
            XOP,
            vec![(ROOT, &external), one],
            500,
            "nothing else is fetched",
        ),
        (
            XOP,
            vec![(ROOT, &file), one],
            500,
            "nothing else is fetched",
        ),
        (
            XOP,
            vec![(ROOT, &other), one],
            500,
            "no attachment of the message has the Content-ID",
        ),
        (XOP, vec![(ROOT, &twice), one], 500, "only content"),
        (XOP, vec![(ROOT, &text), one], 500, "only content"),
        (
            XOP,
            vec![root, one, one],
            400,
            "two MIME parts have the Content-ID &lt;one@x>|two MIME parts have the Content-ID <one@x>",
        ),
        (XOP, vec![root, root, one], 400, "two MIME parts"),
        (XOP, many, 413, "the limit `parts` (5 parts)"),
        (XOP, vec![(&headers, "")], 413, "headers of a part"),
        (XOP, vec![(&long_header, "")], 413, "header_bytes"),
        (
            XOP,
            vec![root, ("Content-ID: <one@x>", &long)],
            413,
            "attachment_bytes",
        ),
        (XOP, vec![(ROOT, &long_root)], 413, "root_bytes"),
        (XOP, vec![one], 400, "no MIME part has the Content-ID <r>"),
        (
            XOP,
            vec![
                root,
                (
                    "Content-ID: <one@x>\r\nContent-Transfer-Encoding: quoted-printable",
                    "a",
                ),
            ],
            400,
            "quoted-printable",
        ),
        (
            XOP,
            vec![
                root,
                (
                    "Content-ID: <one@x>\r\nContent-Transfer-Encoding: base64",
                    "a*b=",
                ),
            ],
            400,
            "base64",
        ),
        (XOP, vec![root, ("no colon", "")], 400, "colon"),
        (
            "multipart/related; type=\"text/xml\"",
            vec![root, one],
            400,
            "boundary",
        ),
        (
            "multipart/related; boundary=\"\"",
            vec![root, one],
            400,
            "boundary",
        ),
        (
            "multipart/related; boundary=other",
            vec![root, one],
            400,
            "boundary",
        ),
        (
            "multipart/related; boundary=b; type=\"text/xml\"",
            vec![("Content-Type: text/html", "<html/>")],
            415,
            "Content-Type",
        ),
        // `xop:Include` means nothing in other packages.
        (
            "multipart/related; boundary=b; type=\"text/xml\"",
            vec![("Content-Type: text/xml", &good), one],
            500,
            "Include",
        ),
    ];
    for (content_type, parts, expected, problem) in cases {
        let (status, answer) = package(&running, content_type, &parts).await;
        let has_problem = problem.split('|').any(|problem| answer.contains(problem));
        assert!(
            status == expected && has_problem,
            "{status} {answer}, expected {expected} {problem:?}"
        );
        assert!(answer.len() < 2000, "{answer}");
    }
    let cut = format!("--b\r\n{ROOT}\r\n\r\n{good}\r\n--b\r\nContent-ID: <one@x>\r\n\r\nocte");
    let (status, answer) = post(running.address, "/photos", XOP, "", &cut).await;
    assert!(
        status == 400 && answer.contains("boundary"),
        "{status} {answer}"
    );
    let (status, answer) = package(&running, XOP, &[root, one]).await;
    assert!(status == 200, "{answer}");
    running.stop().await;
}

#[tokio::test]
async fn a_reference_of_our_own_cannot_be_sent_by_a_peer() {
    let running = start(photos()).await;
    // What stands for an attachment in Records is known only in this process. (The test is in it, a peer is not.)
    let reference = bsoap::codec::attachment::reference::text(7);
    let (status, answer) = package(&running, XOP, &[(ROOT, &envelope(&reference))]).await;
    assert!(status == 200 && answer.contains("24"), "{answer}");
    running.stop().await;
}

#[tokio::test]
async fn packages_can_be_refused_altogether() {
    let running = start(photos().attachments(Attachments::off())).await;
    let mtom = client(&running, SoapVersion::Soap11)
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    let error = mtom
        .call("store", &store(octets(5000)))
        .await
        .expect_err("a refusal");
    assert!(
        error.to_string().contains("415") || format!("{error:?}").contains("415"),
        "{error:?}"
    );
    let plain = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let answer = plain
        .call("store", &store(octets(5000)))
        .await
        .expect("an answer");
    assert_eq!(answer["size"].as_u64(), Some(5000));
    running.stop().await;
}

#[tokio::test]
async fn what_cannot_be_sent_is_an_error_of_the_caller() {
    let running = start(photos()).await;
    let client = client(&running, SoapVersion::Soap11)
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    let twice = |id: &str| Attachment::from_bytes(*b"a").with_content_id(id);
    let call = client
        .operation("store")
        .attach(twice("x"))
        .attach(twice("x"));
    let error = call
        .call(store(octets(10)))
        .await
        .expect_err("two of one id");
    assert!(
        matches!(&error, Error::Setup(text) if text.contains("content id \"x\"")),
        "{error:?}"
    );
    let wrong = Value::object([("name", twice("x").into()), ("photo", vec![1u8].into())]);
    let error = client
        .call("store", &wrong)
        .await
        .expect_err("a string is no attachment");
    assert!(format!("{error:?}").contains("attachment"), "{error:?}");
    running.stop().await;
}

#[tokio::test]
async fn attachments_are_rust_values_too() {
    #[derive(serde::Deserialize)]
    struct Stored {
        size: u64,
    }

    #[derive(serde::Serialize)]
    struct Store {
        name: String,
        photo: Octets,
    }

    #[derive(serde::Deserialize)]
    struct Photo {
        photo: Vec<u8>,
    }

    let service = photos().handle("store", |message: Message| async move {
        let Photo { photo } = message.deserialize().expect("a photo");
        Value::object([("size", Value::from(photo.len() as u64))])
    });
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11)
        .attachments(Attachments::mtom())
        .build()
        .expect("a client");
    let photo = Octets(octets(70_000));
    let arguments = Store {
        name: "a".into(),
        photo,
    };
    let stored: Stored = client
        .call_serde("store", &arguments)
        .await
        .expect("a size");
    assert_eq!(stored.size, 70_000);
    running.stop().await;
}

/// The WSDL with a policy of its binding for SOAP 1.1.
fn with_policy(assertion: &str) -> String {
    let policy = format!(
        "<p:Policy xmlns:p='http://www.w3.org/ns/ws-policy'><o:OptimizedMimeSerialization xmlns:o='http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization' {assertion}/></p:Policy>"
    );
    PHOTOS.replacen("<soap:binding", &format!("{policy}\n    <soap:binding"), 1)
}

/// WSDLs whose policies require and allow MTOM, what the program says, and whether MTOM is used.
fn mtom_cases<'w>(
    required: &'w String,
    optional: &'w String,
) -> [(&'w String, Attachments, bool); 4] {
    [
        (required, Attachments::new(), true),
        (required, Attachments::new().without_mtom(), false),
        (optional, Attachments::new(), false),
        (optional, Attachments::mtom(), true),
    ]
}

#[tokio::test]
async fn a_policy_that_requires_mtom_makes_a_client_use_it() {
    let running = start(photos()).await;
    let required = with_policy("");
    let optional = with_policy("p:Optional='true'");
    for (wsdl, attachments, is_mtom) in mtom_cases(&required, &optional) {
        let client = Client::builder(wsdl.as_str())
            .version(SoapVersion::Soap11)
            .endpoint(format!("http://{}/photos", running.address))
            .attachments(attachments)
            .build()
            .expect("a client");
        let photos = Value::object([("photo", Value::Array(vec![octets(10_000).into()]))]);
        let answer = client.operation("echo").call(&photos).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.attachments().len(), usize::from(is_mtom));
    }
    running.stop().await;
}

#[tokio::test]
async fn a_policy_that_requires_mtom_makes_a_service_answer_with_it() {
    let required = with_policy("");
    let optional = with_policy("p:Optional='true'");
    for (wsdl, attachments, is_mtom) in mtom_cases(&required, &optional) {
        let running = start(photos_of(wsdl).attachments(attachments)).await;
        // The policy is that of one of the two bindings.
        for (version, has_policy) in [(SoapVersion::Soap11, true), (SoapVersion::Soap12, false)] {
            let client = client(&running, version).build().expect("a client");
            let photos = Value::object([("photo", Value::Array(vec![octets(10_000).into()]))]);
            let answer = client.operation("echo").call(&photos).await;
            let answer = answer.expect("an answer");
            let is_optional = std::ptr::eq(wsdl, &optional);
            let expected = is_mtom && (has_policy || is_optional);
            assert_eq!(answer.attachments().len(), usize::from(expected));
            assert_eq!(content(&answer.value()["photo"][0]), octets(10_000));
        }
        let client = Client::builder(wsdl.as_str());
        let client = client.endpoint(format!("http://{}/photos", running.address));
        let client = client.build().expect("a client");
        let answer = client.call("store", &store(octets(10_000))).await;
        assert_eq!(
            answer.expect("MTOM is accepted")["size"].as_u64(),
            Some(10_000)
        );
        running.stop().await;
    }
}

#[test]
fn an_answer_that_arrives_elsewhere_may_be_a_package() {
    let client = Client::builder(PHOTOS).endpoint("http://localhost:1/photos");
    let client = client.build().expect("a client");
    let envelope = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><echoResponse xmlns='urn:bsoap:photos'>\
         <photo><x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:p'/></photo></echoResponse></s:Body></s:Envelope>";
    let body = format!(
        "--b\r\n{ROOT}\r\n\r\n{envelope}\r\n--b\r\nContent-ID: <p>\r\n\r\noctets\r\n--b--\r\n"
    );
    let answer = client.read_answer("echo", Some(XOP), body);
    let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
    let value = answer.value();
    let photos = value["photo"].as_array().expect("photos");
    assert_eq!(photos.iter().map(content).collect::<Vec<_>>(), [b"octets"]);
}
