//! The mesh service on a free port of the loopback, and raw access to it.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::time::Duration;

use bsoap::{
    Client, ClientBuilder, Fault, Message, Service, ServiceBuilder, SoapVersion, Streamed, Value,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) const MESH: &str = include_str!("../../../../examples/mesh/mesh.wsdl");
pub(crate) const TOUR: &str = include_str!("tour.wsdl");

pub(crate) const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

/// A service that runs until it is stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) urls: Vec<String>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn stop(self) {
        drop(self.stop);
        self.task.await.expect("the service ends without panic");
    }
}

pub(crate) async fn start(builder: ServiceBuilder) -> Running {
    let bound = builder
        .build()
        .expect("a service")
        .bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let (address, urls) = (bound.address(), bound.urls());
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(bound.run(async move { drop(stopped.await) }));
    Running {
        address,
        urls,
        stop,
        task,
    }
}

pub(crate) fn under(name: &str, value: impl Into<Value>) -> Value {
    Value::object([(name, value.into())])
}

async fn echo(message: Message) -> Value {
    message.value()
}

async fn sum_doubles(message: Message) -> Value {
    let sum: f64 = message.value()["values"]["item"]
        .as_doubles()
        .unwrap_or_default()
        .iter()
        .sum();
    under("sum", sum)
}

async fn sum_ints(message: Message) -> Value {
    let sum: i64 = message.value()["values"]["item"]
        .as_ints()
        .unwrap_or_default()
        .iter()
        .sum();
    under("sum", sum)
}

async fn jacobi_step(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let field = arguments["field"]["item"].as_doubles().unwrap_or_default();
    let expected =
        arguments["rows"].as_i64().unwrap_or(0) * arguments["columns"].as_i64().unwrap_or(0);
    if expected != field.len() as i64 {
        let shape = Value::object([
            ("expected", Value::from(expected)),
            ("found", Value::from(field.len() as i64)),
        ]);
        return Err(
            Fault::sender("the field has another shape").with_detail(under("badShape", shape))
        );
    }
    Ok(Value::object([
        ("field", under("item", field.to_vec())),
        ("residual", Value::from(0.5)),
    ]))
}

pub(crate) fn mesh() -> ServiceBuilder {
    Service::builder(MESH)
        .handle("echoDoubles", echo)
        .handle("echoInts", echo)
        .handle("echoMesh", echo)
        .handle("sumDoubles", sum_doubles)
        .handle("sumInts", sum_ints)
        .handle("jacobiStep", jacobi_step)
}

/// Arguments of `sumDoubles` whose sum is 4.
pub(crate) fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
}

/// Sends seven messages: calls, drafts and requests, twice each, and a streamed call.
pub(crate) async fn send_in_every_way(client: &Client) {
    let mut draft = client.draft("sumDoubles", numbers()).expect("a draft");
    let request = client.request("sumDoubles", numbers()).expect("a request");
    for _ in 0..2 {
        client
            .call("sumDoubles", &numbers())
            .await
            .expect("an answer");
        client.send(&mut draft).await.expect("an answer");
        client.exchange(request.clone()).await.expect("a reply");
    }
    let empty = under("values", under("item", Value::Array(Vec::new())));
    let rows = Streamed::new("values.item", [1.5, 2.5]);
    let answer = client.call_streamed("sumDoubles", &empty, rows).await;
    assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(4.0));
}

/// A client of the service's port of a version.
pub(crate) fn client(running: &Running, version: SoapVersion) -> ClientBuilder {
    let url = &running.urls[usize::from(version == SoapVersion::Soap12)];
    Client::builder(MESH).version(version).endpoint(url)
}

/// Sends raw bytes and reads until the server closes or is silent.
pub(crate) async fn raw(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let reading = async {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..length]);
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(5), reading).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// Posts a message and gives status and answer.
pub(crate) async fn post(
    address: SocketAddr,
    path: &str,
    content_type: &str,
    more: &str,
    body: &str,
) -> (u16, String) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n",
        body.len()
    );
    let answer = raw(address, format!("{head}{body}").as_bytes()).await;
    let status = answer
        .get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    (status, answer)
}

pub(crate) fn content_type(version: SoapVersion) -> &'static str {
    match version {
        SoapVersion::Soap11 => "text/xml; charset=utf-8",
        SoapVersion::Soap12 => "application/soap+xml; charset=utf-8",
    }
}

/// An Envelope around raw XML.
pub(crate) fn envelope(version: SoapVersion, header: &str, body: &str) -> String {
    let namespace = version.envelope_namespace();
    format!(
        "<s:Envelope xmlns:s=\"{namespace}\"><s:Header>{header}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
    )
}
