//! What a program may put between a client and the network: a transport of its own, tower layers, and hooks.

mod common;

use std::error::Error as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bsoap::hooks::HookPoint;
use bsoap::http::http::{Request, Response};
use bsoap::http::{AnyError, Body, Bytes, ErrorKind};
use bsoap::transport::InProcess;
use bsoap::{Client, Error, Message, SoapVersion, Value};
use common::{BOTH, MESH, client, mesh, start, under};
use tower::{Layer, Service as TowerService};

fn numbers() -> Value {
    under("values", under("item", vec![1.5, 2.5]))
}

#[tokio::test]
async fn a_client_and_a_service_meet_in_one_program() {
    for version in BOTH {
        let service = mesh().build().expect("a service");
        let path = service.paths()[usize::from(version == SoapVersion::Soap12)].clone();
        let meter = service.meter().clone();
        let client = Client::builder(MESH)
            .version(version)
            .endpoint(format!("http://nowhere.invalid{path}"))
            .transport(InProcess::new(service))
            .build()
            .expect("a client");
        for _ in 0..3 {
            let answer = client.call("sumDoubles", &numbers()).await;
            assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(4.0));
        }
        // The service saves messages, as for a connection.
        let counts = meter.receiving();
        assert_eq!((counts.messages(), counts.reads.fast), (3, 1), "{counts:?}");
    }
}

#[tokio::test]
async fn the_errors_of_a_transport_keep_their_cause_and_what_they_say_of_sending() {
    let failing = |make: fn() -> AnyError| {
        let transport = move |_: Request<Body>| async move { Err::<Response<Bytes>, _>(make()) };
        Client::builder(MESH)
            .endpoint("http://a.invalid/")
            .transport(transport)
            .build()
            .expect("a client")
    };
    let error = failing(|| "the queue is full".into())
        .call("sumDoubles", &numbers())
        .await
        .expect_err("an error");
    assert!(error.is_transport() && !error.was_not_sent());
    assert!(
        error.report().ends_with("the queue is full"),
        "{}",
        error.report()
    );

    let closed = || bsoap::http::Error::new(ErrorKind::Connect, "queue").into();
    let error = failing(closed).call("sumDoubles", &numbers()).await;
    let error = error.expect_err("an error");
    assert!(error.is_connect() && error.was_not_sent());

    let never = |_: Request<Body>| std::future::pending::<Result<Response<Bytes>, AnyError>>();
    let client = Client::builder(MESH)
        .endpoint("http://a.invalid/")
        .transport(never)
        .timeout(Duration::from_millis(20))
        .build()
        .expect("a client");
    let error = client
        .call("sumDoubles", &numbers())
        .await
        .expect_err("late");
    assert!(error.is_timeout());
}

/// Sends a message again while the answer has status 503, and adds a token.
#[derive(Clone)]
struct Retry;

#[derive(Clone)]
struct Retrying<S>(S);

impl<S> Layer<S> for Retry {
    type Service = Retrying<S>;

    fn layer(&self, inner: S) -> Retrying<S> {
        Retrying(inner)
    }
}

impl<S> TowerService<Request<Body>> for Retrying<S>
where
    S: TowerService<Request<Body>, Response = Response<Bytes>, Error = AnyError, Future: Send>
        + Clone
        + Send
        + 'static,
{
    type Response = Response<Bytes>;
    type Error = AnyError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Bytes>, AnyError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), AnyError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let mut inner = self.0.clone();
        Box::pin(async move {
            for attempt in 0.. {
                let token = format!("Bearer {attempt}").parse()?;
                request.headers_mut().insert("authorization", token);
                let response = inner.call(request.clone()).await?;
                if response.status() != 503 || attempt == 5 || !request.body().is_whole() {
                    return Ok(response);
                }
            }
            unreachable!("the last attempt returns")
        })
    }
}

#[tokio::test]
async fn a_layer_sees_each_message_and_may_send_it_again_over_http() {
    let running = start(mesh().handle("sumDoubles", async |message: Message| {
        let token = message.http_headers()["authorization"].to_str();
        under("sum", token.unwrap_or_default().len() as f64)
    }))
    .await;
    let failures = Arc::new(AtomicU32::new(2));
    let left = Arc::clone(&failures);
    // Inside of the layer that retries: fails as an overloaded gateway would.
    let overloaded =
        tower::layer::layer_fn(move |mut inner: bsoap::transport::TransportService| {
            let left = Arc::clone(&left);
            tower::service_fn(move |request: Request<Body>| {
                let fails = left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(1)
                    })
                    .is_ok();
                let sending = (!fails).then(|| inner.call(request));
                async move {
                    match sending {
                        Some(sending) => sending.await,
                        None => Ok(Response::builder().status(503).body(Bytes::new())?),
                    }
                }
            })
        });
    let own = client(&running, SoapVersion::Soap11)
        .layer(overloaded)
        .layer(Retry)
        .build()
        .expect("a client");
    let answer = own.call("sumDoubles", &numbers()).await.expect("an answer");
    assert_eq!(answer["sum"].as_f64(), Some("Bearer 2".len() as f64));
    assert_eq!(failures.load(Ordering::Relaxed), 0);
    running.stop().await;
}

#[tokio::test]
async fn hooks_see_and_change_messages_as_bytes_and_records() {
    let running = start(mesh()).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let seen = Arc::clone(&seen);
        move || seen.lock().expect("not poisoned").push(what)
    };
    let (encode, send, receive, decode) = (
        note("encode"),
        note("send"),
        note("receive"),
        note("decode"),
    );
    let client = client(&running, SoapVersion::Soap12)
        .before_encode(move |target, record| {
            encode();
            assert_eq!(target.operation().name, "sumDoubles");
            let value = target.request_value(record);
            let item = value["values"]["item"].as_doubles().unwrap_or_default();
            let doubled: Vec<f64> = item.iter().map(|number| number * 2.0).collect();
            let values = under("values", under("item", doubled));
            *record = target.request(values)?.into_record();
            Ok(())
        })
        .before_send(move |outgoing| {
            send();
            let text = String::from_utf8(outgoing.bytes().expect("in memory").to_vec())?;
            assert!(text.contains("<item>5</item>"), "{text}");
            outgoing.headers.insert("x-signed", "yes".parse()?);
            outgoing.set_bytes(text.replace("<item>5</item>", "<item>50</item>"));
            Ok(())
        })
        .after_receive(move |incoming| {
            receive();
            assert_eq!(
                (incoming.status, incoming.target.is_some()),
                (Some(200), true)
            );
            let text = String::from_utf8(incoming.body.to_vec())?;
            assert!(text.contains("<sum>53</sum>"), "{text}");
            incoming.body = text.replace("53", "54").into();
            Ok(())
        })
        .after_decode(move |target, record| {
            decode();
            assert_eq!(target.response_value(record)["sum"].as_f64(), Some(54.0));
            Ok(())
        })
        .build()
        .expect("a client");
    let answer = client
        .call("sumDoubles", &numbers())
        .await
        .expect("an answer");
    assert_eq!(answer["sum"].as_f64(), Some(54.0));
    assert_eq!(
        *seen.lock().expect("not poisoned"),
        ["encode", "send", "receive", "decode"]
    );
    running.stop().await;
}

#[tokio::test]
async fn a_hook_that_refuses_a_message_is_the_error_of_the_call() {
    let running = start(mesh()).await;
    let builder = || client(&running, SoapVersion::Soap11);
    let cases = [
        (
            HookPoint::BeforeEncode,
            builder().before_encode(|_, _| Err("no".into())),
        ),
        (
            HookPoint::BeforeSend,
            builder().before_send(|_| Err("no".into())),
        ),
        (
            HookPoint::AfterReceive,
            builder().after_receive(|_| Err("no".into())),
        ),
        (
            HookPoint::AfterDecode,
            builder().after_decode(|_, _| Err("no".into())),
        ),
    ];
    for (expected, builder) in cases {
        let client = builder.build().expect("a client");
        let error = client
            .call("sumDoubles", &numbers())
            .await
            .expect_err("refused");
        let is_before = matches!(expected, HookPoint::BeforeEncode | HookPoint::BeforeSend);
        assert_eq!(error.was_not_sent(), is_before, "{error}");
        assert!(
            matches!(error, Error::Hook { point, .. } if point == expected),
            "{error:?}"
        );
        assert_eq!(
            error.source().map(ToString::to_string).as_deref(),
            Some("no")
        );
    }
    running.stop().await;
}
