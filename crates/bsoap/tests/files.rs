//! Messages in files: recorded, replayed, and exchanged with another program.

mod common;

use std::time::Duration;

use bsoap::transport::{FileTransport, InProcess};
use bsoap::{Client, ClientBuilder, SoapVersion, Streamed, Value};
use common::{BOTH, MESH, mesh, under};

fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
}

fn client(configure: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
    configure(Client::builder(MESH)).build().expect("a client")
}

#[tokio::test]
async fn a_recording_is_replayed_in_its_order_with_its_faults() {
    for version in BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let in_process = InProcess::new(mesh().build().expect("a service"));
        let recording = client(|builder| {
            let builder = builder.version(version).transport(in_process);
            builder.record_to(folder.path())
        });
        let replaying = client(|builder| {
            let builder = builder.version(version);
            builder.transport(FileTransport::replay(folder.path()))
        });
        let shape = Value::object([
            ("rows", Value::from(2)),
            ("columns", Value::from(2)),
            ("field", under("item", vec![1.0])),
        ]);
        for client in [&recording, &replaying] {
            let answer = client.call("sumDoubles", &numbers()).await;
            assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(4.0));
            let error = client
                .call("jacobiStep", &shape)
                .await
                .expect_err("a fault");
            assert!(error.fault().is_some(), "{}", error.report());
            let empty = under("values", under("item", Value::Array(vec![])));
            let rows = Streamed::new("values.item", [1.0, 2.0]);
            let answer = client.call_streamed("sumDoubles", &empty, rows).await;
            assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(3.0));
        }
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .expect("the folder")
            .map(|entry| {
                entry
                    .expect("a file")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .collect();
        names.sort();
        let expected = ["0001-sumDoubles", "0002-jacobiStep", "0003-sumDoubles"].map(|name| {
            [
                format!("{name}-request.xml"),
                format!("{name}-response.xml"),
            ]
        });
        assert_eq!(names, expected.concat());
        let error = replaying
            .call("sumDoubles", &numbers())
            .await
            .expect_err("the end");
        assert!(
            error.report().contains("0004-sumDoubles-response.xml"),
            "{}",
            error.report()
        );
    }
}

#[tokio::test]
async fn another_program_answers_through_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let exchange = FileTransport::exchange(folder.path());
    let client = client(|builder| builder.version(SoapVersion::Soap11).transport(exchange));
    let (request, response) = (
        folder.path().join("0001-sumDoubles-request.xml"),
        folder.path().join("0001-sumDoubles-response.xml"),
    );
    let answering = tokio::spawn(async move {
        while !request.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let text = std::fs::read_to_string(&request).expect("the request");
        assert!(text.contains("<item>2.5</item>"), "{text}");
        let answer = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
            <m:sumDoublesResponse xmlns:m='urn:bsoap:mesh'><sum>4</sum></m:sumDoublesResponse></s:Body></s:Envelope>";
        let unfinished = response.with_extension("part");
        std::fs::write(&unfinished, answer).expect("written");
        std::fs::rename(&unfinished, &response).expect("renamed");
    });
    let answer = client.call("sumDoubles", &numbers()).await;
    assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(4.0));
    answering.await.expect("no panic");

    let late = client
        .operation("sumDoubles")
        .timeout(Duration::from_millis(100));
    let error = late.call(numbers()).await.expect_err("nobody answers");
    assert!(error.is_timeout());
}
