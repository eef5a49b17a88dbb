//! Whole exchanges: every operation and style, both versions, client and service over the loopback.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bsoap::protocol::UnknownAction;
use bsoap::tuning::ServerOptions;
use bsoap::{Client, Fault, Message, Reply, Service, ServiceBuilder, SoapVersion, Value};
use common::{BOTH, MESH, Running, TOUR, client, mesh, start, under};

#[tokio::test]
async fn every_operation_of_the_mesh_service_answers_in_both_versions() {
    let running = start(mesh()).await;
    let doubles = vec![1.5, -0.0, f64::INFINITY, 1e-300, 0.1 + 0.2];
    let point = |x: i64, y: i64, value: f64| {
        Value::object([
            ("x", x.into()),
            ("y", y.into()),
            ("value", Value::from(value)),
        ])
    };
    for version in BOTH {
        let client = client(&running, version).build().expect("a client");
        let values = under("values", under("item", doubles.clone()));
        assert_eq!(
            client
                .call("echoDoubles", &values)
                .await
                .expect("an answer"),
            values
        );
        let ints = under(
            "values",
            under("item", vec![1_i64, -2, i64::from(i32::MAX)]),
        );
        assert_eq!(
            client.call("echoInts", &ints).await.expect("an answer"),
            ints
        );
        assert_eq!(
            client.call("sumInts", &ints).await.expect("an answer")["sum"].as_i64(),
            Some(i64::from(i32::MAX) - 1)
        );
        let objects = under(
            "objects",
            under("item", vec![point(1, 2, 0.5), point(-3, 4, 1e9)]),
        );
        assert_eq!(
            client.call("echoMesh", &objects).await.expect("an answer"),
            objects
        );
        let sum = client
            .call(
                "sumDoubles",
                &under("values", under("item", vec![1.25, 2.5])),
            )
            .await
            .expect("an answer");
        assert_eq!(sum["sum"].as_f64(), Some(3.75));
        let step = Value::object([
            ("rows", 2.into()),
            ("columns", Value::from(2)),
            ("field", under("item", vec![1.0, 2.0, 3.0, 4.0])),
        ]);
        let answer = client.call("jacobiStep", &step).await.expect("an answer");
        assert_eq!(answer["residual"].as_f64(), Some(0.5));
        assert_eq!(
            answer["field"]["item"].as_doubles(),
            Some(&[1.0, 2.0, 3.0, 4.0][..])
        );
    }
    running.stop().await;
}

#[tokio::test]
async fn empty_arrays_and_large_ones_go_both_ways() {
    let running = start(mesh()).await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let empty = under("values", Value::object::<&str>([]));
    let answer = client.call("sumDoubles", &empty).await.expect("an answer");
    assert_eq!(answer["sum"].as_f64(), Some(0.0));
    let many: Vec<f64> = (0..100_000).map(|i| f64::from(i).sqrt()).collect();
    let values = under("values", under("item", many.clone()));
    let answer = client
        .call("echoDoubles", &values)
        .await
        .expect("an answer");
    assert!(answer["values"]["item"].as_doubles() == Some(&many[..]));
    running.stop().await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_the_callers_doing_and_say_where() {
    let running = start(mesh()).await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let wrong = under("values", under("item", vec![Value::from("much")]));
    let error = client
        .call("sumDoubles", &wrong)
        .await
        .expect_err("no number");
    assert_eq!(error.blame(), bsoap::Blame::Caller);
    assert!(
        error.report().contains("item") && error.report().contains("much"),
        "{}",
        error.report()
    );
    let error = client
        .call("sumdoubles", &Value::Nil)
        .await
        .expect_err("no operation");
    assert!(error.report().contains("sumDoubles"), "{}", error.report());
    running.stop().await;
}

#[tokio::test]
async fn the_answer_is_there_as_a_record() {
    let running = start(mesh()).await;
    let client = client(&running, SoapVersion::Soap12)
        .build()
        .expect("a client");
    let request = client
        .request(
            "echoDoubles",
            under("values", under("item", vec![1.0, 2.0])),
        )
        .expect("a request");
    let Reply::Answer(answer) = client.exchange(request).await.expect("a reply") else {
        panic!("an answer")
    };
    assert_eq!(answer.record().root(), client.port().binding.response);
    let answered = client.call_record(
        "echoDoubles",
        client
            .request("echoDoubles", answer.value())
            .expect("a request")
            .into_record(),
    );
    assert!(answered.await.expect("a reply").is_some());
    running.stop().await;
}

/// The tour service: keeps what its one-way operation received.
fn tour(received: &Arc<Mutex<Vec<String>>>) -> ServiceBuilder {
    let received = Arc::clone(received);
    Service::builder(TOUR)
        .handle("bare", async |message: Message| {
            let number = message.value()["value"].as_i64().unwrap_or_default();
            if number < 0 {
                return Err(Fault::sender("negative")
                    .with_detail(under("trouble", under("level", -number))));
            }
            Ok(under("value", format!("number {number}")))
        })
        .handle("notify", move |message: Message| {
            let received = Arc::clone(&received);
            async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                received.lock().expect("not poisoned").push(
                    message.value()["value"]
                        .as_str()
                        .unwrap_or_default()
                        .to_owned(),
                );
            }
        })
        .handle("ping", async |_: Message| under("value", "pong"))
        .handle("first", async |_: Message| under("value", "first"))
        .handle("second", async |_: Message| under("value", "second"))
        .handle("secured", async |message: Message| {
            let token = message
                .headers()
                .get("token")
                .and_then(Value::as_str)
                .unwrap_or("none")
                .to_owned();
            Value::object([
                ("value", "done".into()),
                ("@headers", under("stamp", format!("seen {token}"))),
            ])
        })
        .handle("add", async |message: Message| {
            let value = message.value();
            under(
                "result",
                value["a"].as_i64().unwrap_or(0) + value["b"].as_i64().unwrap_or(0),
            )
        })
}

fn tour_client(running: &Running, port: &str) -> Client {
    let path = if port == "Rpc11" { "/rpc" } else { "/tour" };
    let endpoint = format!("http://{}{path}", running.address);
    Client::builder(TOUR)
        .port(port)
        .endpoint(endpoint)
        .build()
        .expect("a client")
}

#[tokio::test]
async fn every_style_of_message_is_exchanged() {
    let received = Arc::default();
    let running = start(tour(&received)).await;
    for port in ["Tour11", "Tour12"] {
        let client = tour_client(&running, port);
        let answer = client
            .call("bare", &under("value", 7))
            .await
            .expect("an answer");
        assert_eq!(answer, under("value", "number 7"));
        assert_eq!(
            client.call("ping", &Value::Nil).await.expect("an answer"),
            under("value", "pong")
        );
    }
    let answer = tour_client(&running, "Rpc11")
        .call(
            "add",
            &Value::object([("a", 2), ("b", 3)].map(|(k, v)| (k, Value::from(v)))),
        )
        .await;
    assert_eq!(answer.expect("an answer"), under("result", 5));
    running.stop().await;
}

#[tokio::test]
async fn the_action_decides_only_where_the_body_cannot() {
    let running = start(tour(&Arc::default())).await;
    for port in ["Tour11", "Tour12"] {
        let client = tour_client(&running, port);
        for operation in ["first", "second"] {
            let answer = client
                .call(operation, &under("value", "x"))
                .await
                .expect("an answer");
            assert_eq!(answer, under("value", operation), "{port}");
        }
    }
    running.stop().await;
}

/// Sends a `number` to the operation `bare` with this action. Returns the status and the answer.
async fn bare_with_action(running: &Running, version: SoapVersion, action: &str) -> (u16, String) {
    let body = "<number xmlns='urn:tour:types'>1</number>";
    let body = common::envelope(version, "", body);
    let (content_type, more) = match (version, action) {
        (SoapVersion::Soap11, "") => ("text/xml".to_owned(), String::new()),
        (SoapVersion::Soap11, action) => {
            ("text/xml".to_owned(), format!("SOAPAction: {action}\r\n"))
        }
        (SoapVersion::Soap12, action) => {
            let content_type = format!("application/soap+xml; action={action}");
            (content_type, String::new())
        }
    };
    common::post(running.address, "/tour", &content_type, &more, &body).await
}

#[tokio::test]
async fn an_action_must_not_name_another_operation_than_the_body() {
    let running = start(tour(&Arc::default())).await;
    let strict = tour(&Arc::default()).unknown_action(UnknownAction::Refuse);
    let strict = start(strict).await;
    for version in BOTH {
        // What the fault must contain; nothing if the request is accepted.
        for (action, fault, fault_if_strict) in [
            ("", "", ""),
            ("\"\"", "", ""),
            ("\"urn:tour#bare\"", "", ""),
            ("urn:tour#bare", "", ""),
            (
                "\"urn:tour#notify\"",
                "names operation notify, but the Body has &lt;{urn:tour:types}number>, which selects operation bare",
                "names operation notify",
            ),
            (
                "\"urn:tour#second\"",
                "names operation second",
                "names operation second",
            ),
            (
                "\"urn:odd\"",
                "",
                "belongs to no operation of the port, expected \"urn:tour#bare\" or none for operation bare",
            ),
        ] {
            for (service, fault) in [(&running, fault), (&strict, fault_if_strict)] {
                let (status, answer) = bare_with_action(service, version, action).await;
                let case = format!("{version} {action} {answer}");
                if fault.is_empty() {
                    assert!(status == 200 && answer.contains("number 1"), "{case}");
                    continue;
                }
                let answer = answer.replace("&gt;", ">").replace("&quot;", "\"");
                assert!(status == 500 && answer.contains(fault), "{case}");
                let code = match version {
                    SoapVersion::Soap11 => "Client</faultcode>",
                    SoapVersion::Soap12 => "Sender</",
                };
                assert!(answer.contains(code), "{case}");
            }
        }
    }
    running.stop().await;
    strict.stop().await;
}

#[tokio::test]
async fn a_one_way_message_is_taken_at_once_and_still_handled_before_the_end() {
    let received: Arc<Mutex<Vec<String>>> = Arc::default();
    let running = start(tour(&received)).await;
    for port in ["Tour11", "Tour12"] {
        let begun = std::time::Instant::now();
        let client = tour_client(&running, port);
        assert_eq!(
            client
                .call("notify", &under("value", port))
                .await
                .expect("taken"),
            Value::Nil
        );
        assert!(begun.elapsed() < Duration::from_millis(90));
    }
    running.stop().await;
    let mut received = received.lock().expect("not poisoned").clone();
    received.sort();
    assert_eq!(received, ["Tour11", "Tour12"]);
}

#[tokio::test]
async fn one_way_operations_are_bounded_in_number_and_in_the_time_they_have_to_end() {
    let mut options = ServerOptions::default();
    (options.max_connections, options.shutdown_timeout) = (2, Duration::from_millis(100));
    let stuck = async |_: Message| std::future::pending::<()>().await;
    let running = start(
        Service::builder(TOUR)
            .handle("notify", stuck)
            .options(options),
    )
    .await;
    let client = Client::builder(TOUR)
        .endpoint(format!("http://{}/tour", running.address))
        .timeout(Duration::from_millis(500))
        .build()
        .expect("a client");
    for taken in [true, true, false] {
        let answer = client.call("notify", &under("value", "x")).await;
        assert_eq!(answer.is_ok(), taken, "{answer:?}");
    }
    let ended = tokio::time::timeout(Duration::from_secs(20), running.stop());
    ended.await.expect("the service ends");
}

#[tokio::test]
async fn a_one_way_operation_that_takes_too_long_gives_its_place_back() {
    let mut options = ServerOptions::default();
    options.max_connections = 1;
    let stuck = async |_: Message| std::future::pending::<()>().await;
    let service = Service::builder(TOUR)
        .handle("notify", stuck)
        .handler_timeout(Duration::from_millis(100))
        .options(options);
    let running = start(service).await;
    let client = Client::builder(TOUR)
        .endpoint(format!("http://{}/tour", running.address))
        .timeout(Duration::from_secs(10))
        .build()
        .expect("a client");
    for _ in 0..3 {
        let answer = client.call("notify", &under("value", "x")).await;
        assert_eq!(answer.expect("taken"), Value::Nil);
    }
    // Well within the shutdown_timeout.
    let ended = tokio::time::timeout(Duration::from_secs(10), running.stop());
    ended.await.expect("the service ends");
}

#[tokio::test]
async fn a_one_way_message_that_waits_keeps_no_handler_from_running() {
    let mut options = ServerOptions::default();
    (options.max_connections, options.shutdown_timeout) = (2, Duration::from_millis(100));
    let stuck = async |_: Message| std::future::pending::<()>().await;
    // The two messages that are taken leave a place for one handler more.
    let service = Service::builder(TOUR)
        .handle("notify", stuck)
        .handle("ping", async |_: Message| under("value", "pong"))
        .max_handlers(3)
        .queue(0, Duration::ZERO)
        .options(options);
    let running = start(service).await;
    let client = || {
        let client = Client::builder(TOUR).endpoint(format!("http://{}/tour", running.address));
        let client = client.timeout(Duration::from_secs(2));
        client.build().expect("a client")
    };
    let (waiting, other) = (client(), client());
    for _ in 0..2 {
        let answer = waiting.call("notify", &under("value", "x")).await;
        assert_eq!(answer.expect("taken"), Value::Nil);
    }
    let third = tokio::spawn(async move { waiting.call("notify", &under("value", "x")).await });
    // Until the third message has arrived.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let answer = other.call("ping", &Value::Nil).await;
    let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
    assert_eq!(answer["value"].as_str(), Some("pong"));
    assert!(!third.is_finished(), "two run");
    third.abort();
    running.stop().await;
}

#[tokio::test]
async fn threads_that_share_a_blocking_client_wait_at_the_same_time() {
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let meet = move |_: Message| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            under("sum", 1)
        }
    };
    let running = start(mesh().handle("sumInts", meet)).await;
    let builder = client(&running, SoapVersion::Soap11).timeout(Duration::from_secs(10));
    let calling = tokio::task::spawn_blocking(|| {
        let client = bsoap::blocking::Client::new(builder).expect("a client");
        std::thread::scope(|scope| {
            let call = || client.call("sumInts", &under("values", Value::object::<&str>([])));
            let calls = [scope.spawn(call), scope.spawn(call)];
            calls.map(|call| call.join().expect("no panic").is_ok())
        })
    });
    assert_eq!(calling.await.expect("no panic"), [true, true]);
    running.stop().await;
}

#[tokio::test]
async fn header_blocks_go_and_come_by_the_name_of_their_part() {
    let running = start(tour(&Arc::default())).await;
    let client = tour_client(&running, "Secured11");
    let arguments = Value::object([
        ("value", Value::from(1)),
        ("@headers", under("token", "abc")),
    ]);
    let answer = client.call("secured", &arguments).await.expect("an answer");
    assert_eq!(answer["value"].as_str(), Some("done"));
    assert_eq!(
        answer["@headers"]["stamp"].as_str(),
        Some("seen abc"),
        "{}",
        answer.to_json()
    );
    running.stop().await;
}

#[tokio::test]
async fn ports_at_one_address_are_distinguished_by_version_and_body() {
    let running = start(tour(&Arc::default())).await;
    assert_eq!(running.urls.len(), 2);
    let client = tour_client(&running, "Secured11");
    assert!(client.call("secured", &under("value", 1)).await.is_ok());
    assert!(
        tour_client(&running, "Tour12")
            .call("ping", &Value::Nil)
            .await
            .is_ok()
    );
    // Who says 1.1 in the Content-Type and 1.2 in the Envelope is taken at the Envelope's word.
    let body = common::envelope(
        SoapVersion::Soap12,
        "",
        "<number xmlns='urn:tour:types'>1</number>",
    );
    let (status, answer) = common::post(running.address, "/tour", "text/xml", "", &body).await;
    assert!(
        status == 200 && answer.contains(SoapVersion::Soap12.envelope_namespace()),
        "{answer}"
    );
    running.stop().await;
}

#[tokio::test]
async fn a_handler_for_an_unknown_operation_is_refused_and_a_missing_one_is_a_fault() {
    let error = mesh()
        .handle("nope", async |_: Message| ())
        .build()
        .expect_err("no such operation");
    assert!(error.to_string().contains("nope"));
    let running =
        start(Service::builder(MESH).handle("echoInts", async |message: Message| message.value()))
            .await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let error = client
        .call("sumInts", &under("values", Value::object::<&str>([])))
        .await
        .expect_err("not implemented");
    assert_eq!(
        error.fault().map(|fault| fault.code.clone()),
        Some(bsoap::protocol::Code::Receiver)
    );
    running.stop().await;
}

#[test]
fn scripts_need_no_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let running = runtime.block_on(start(mesh()));
    let client =
        bsoap::blocking::Client::new(client(&running, SoapVersion::Soap11)).expect("a client");
    for _ in 0..3 {
        let answer = client
            .call("sumInts", &under("values", under("item", vec![1_i64, 2])))
            .expect("an answer");
        assert_eq!(answer["sum"].as_i64(), Some(3));
    }
    runtime.block_on(running.stop());
}
