//! What one request can cost: time, threads, memory; and that it costs only itself.

mod common;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bsoap::codec::{Pack, Packer};
use bsoap::http::Refusal;
use bsoap::protocol::Code;
use bsoap::service::Typed;
use bsoap::{Client, Error, Message, SoapVersion, Tolerance, Value};
use common::{BOTH, MESH, Running, client, content_type, envelope, mesh, start, under};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn path(version: SoapVersion) -> &'static str {
    match version {
        SoapVersion::Soap11 => "/mesh",
        SoapVersion::Soap12 => "/mesh12",
    }
}

fn ints() -> Value {
    under("values", under("item", vec![1_i64, 2]))
}

/// Sends both operations over one connection, and gives the answers to each.
async fn both(running: &Running, version: SoapVersion, first: &str, second: &str) -> [String; 2] {
    let mut stream = TcpStream::connect(running.address)
        .await
        .expect("connected");
    let mut answers = [first, second].map(str::to_owned);
    for answer in &mut answers {
        let body = format!(
            "<m:{answer} xmlns:m='urn:bsoap:mesh'><values><item>2</item></values></m:{answer}>"
        );
        let body = envelope(version, "", &body);
        let request = format!(
            "POST {} HTTP/1.1\r\nHost: h\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{body}",
            path(version),
            content_type(version),
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        answer.clear();
        let mut buffer = [0; 4096];
        while !answer.contains("Envelope>") {
            let length = stream.read(&mut buffer).await.expect("an answer");
            assert_ne!(length, 0, "closed behind {answer:?}");
            answer.push_str(std::str::from_utf8(&buffer[..length]).expect("text"));
        }
    }
    answers
}

/// A fault that blames the service, by its version.
fn assert_receiver(version: SoapVersion, answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    let essence = content_type(version).split(';').next().unwrap_or_default();
    assert!(answer.contains(essence), "{answer}");
    assert!(answer.contains(version.envelope_namespace()), "{answer}");
    let code = match version {
        SoapVersion::Soap11 => ":Server</faultcode>",
        SoapVersion::Soap12 => ":Receiver</",
    };
    assert!(answer.contains(code), "{answer}");
}

#[tokio::test]
async fn a_handler_that_takes_too_long_is_a_fault_that_names_the_limit() {
    let slow = async |_: Message| std::future::pending::<Value>().await;
    let service = mesh()
        .handle("echoInts", slow)
        .handler_timeout(Duration::from_millis(100));
    let running = start(service).await;
    for version in BOTH {
        let [late, next] = both(&running, version, "echoInts", "sumInts").await;
        assert_receiver(version, &late);
        assert!(late.contains("handler_timeout of 100ms"), "{late}");
        assert!(next.starts_with("HTTP/1.1 200 "), "{next}");
        let client = client(&running, version).build().expect("a client");
        match client.call("echoInts", &ints()).await {
            Err(Error::Fault(fault)) => assert_eq!(fault.code, Code::Receiver),
            other => panic!("{other:?}"),
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_request_that_finds_no_free_handler_is_refused_and_reported() {
    let refusals = Arc::new(Mutex::new(Vec::new()));
    let report = {
        let refusals = Arc::clone(&refusals);
        move |refusal: &Refusal<'_>| {
            let refusal = (refusal.status, refusal.reason.to_owned());
            refusals.lock().expect("no panic").push(refusal);
        }
    };
    let slow = async |_: Message| std::future::pending::<Value>().await;
    let service = mesh()
        .handle("echoInts", slow)
        .max_handlers(1)
        .queue(0, Duration::ZERO)
        .on_refusal(report);
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let (held, arguments) = (client.clone(), ints());
    let holding = tokio::spawn(async move { held.call("echoInts", &arguments).await });
    let error = loop {
        match client.call("sumInts", &ints()).await {
            // The other call has not arrived.
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert_eq!(error.http_status(), Some(503));
    let reason = "too many requests are being processed (max_handlers): try again later";
    assert!(error.report().contains(reason), "{}", error.report());
    let refusals = refusals.lock().expect("no panic").clone();
    assert_eq!(refusals, [(503, reason.to_owned())]);
    holding.abort();
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_holds_its_thread_is_late_all_the_same() {
    let stuck = async |_: Message| {
        std::thread::sleep(Duration::from_secs(2));
        Value::Nil
    };
    let service = mesh()
        .handle("echoInts", stuck)
        .handler_timeout(Duration::from_millis(100));
    let running = start(service).await;
    let begun = Instant::now();
    let [late, next] = both(&running, SoapVersion::Soap11, "echoInts", "sumInts").await;
    assert!(late.contains("handler_timeout"), "{late}");
    assert!(next.starts_with("HTTP/1.1 200 "), "{next}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    running.stop().await;
}

#[tokio::test]
async fn a_handler_without_a_timeout_may_take_any_time() {
    let slow = async |message: Message| {
        tokio::time::sleep(Duration::from_millis(50)).await;
        message.value()
    };
    let running = start(mesh().handle("echoInts", slow).handler_timeout(None)).await;
    let client = client(&running, SoapVersion::Soap11)
        .build()
        .expect("a client");
    let answer = client.call("echoInts", &ints()).await;
    assert_eq!(answer.expect("an answer"), ints());
    running.stop().await;
}

/// A value whose packing goes wrong.
struct Broken;

impl Pack for Broken {
    fn pack(&self, _: &mut Packer<'_>) {
        panic!("a secret, on purpose")
    }
}

#[tokio::test]
async fn a_panic_is_a_fault_without_details() {
    let service = mesh()
        .handle("echoInts", async |_: Message| -> Value {
            panic!("a secret, on purpose")
        })
        // Before there is anything to wait for.
        .handle("sumDoubles", |_: Message| -> std::future::Ready<Value> {
            panic!("a secret, on purpose")
        })
        .handle("echoDoubles", async |_: Message| Typed(Broken));
    let running = start(service).await;
    for version in BOTH {
        for operation in ["echoInts", "echoDoubles"] {
            let [failed, next] = both(&running, version, operation, "sumInts").await;
            assert_receiver(version, &failed);
            assert!(!failed.contains("secret"), "{failed}");
            assert!(next.starts_with("HTTP/1.1 200 "), "{next}");
        }
        let client = client(&running, version).build().expect("a client");
        let nothing = under("values", Value::object::<&str>([]));
        match client.call("sumDoubles", &nothing).await {
            Err(Error::Fault(fault)) => {
                assert_eq!(fault.code, Code::Receiver);
                assert!(!fault.to_string().contains("secret"), "{fault}");
            }
            other => panic!("{other:?}"),
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_handler_ends_when_nobody_waits_any_more() {
    struct NotifyOnDrop(Option<tokio::sync::oneshot::Sender<()>>);
    impl Drop for NotifyOnDrop {
        fn drop(&mut self) {
            let _ = self.0.take().map(|sender| sender.send(()));
        }
    }
    let (sender, ended) = tokio::sync::oneshot::channel();
    let notify = Mutex::new(Some(NotifyOnDrop(Some(sender))));
    let service = mesh().handle("echoInts", move |_: Message| {
        let notify = notify.lock().expect("no panic").take();
        async move {
            let _notify = notify;
            std::future::pending::<Value>().await
        }
    });
    let running = start(service).await;
    let client = client(&running, SoapVersion::Soap11)
        .timeout(Duration::from_millis(100))
        .build()
        .expect("a client");
    assert!(client.call("echoInts", &ints()).await.is_err());
    tokio::time::timeout(Duration::from_secs(5), ended)
        .await
        .expect("the handler ended")
        .expect("and said so");
    running.stop().await;
}

/// A service whose items have many optional parts.
fn wide(parts: usize) -> String {
    let parts: String = (0..parts)
        .map(|n| format!("<element name='p{n}' type='int' minOccurs='0'/>"))
        .collect();
    format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='urn:wide' targetNamespace='urn:wide' name='Wide'>
<types><schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:wide'>
<element name='put'><complexType><sequence><element name='i' minOccurs='0' maxOccurs='unbounded'><complexType><sequence>{parts}</sequence></complexType></element></sequence></complexType></element>
<element name='putResponse'><complexType><sequence/></complexType></element></schema></types>
<message name='put'><part name='parameters' element='t:put'/></message><message name='done'><part name='parameters' element='t:putResponse'/></message>
<portType name='Wide'><operation name='put'><input message='t:put'/><output message='t:done'/></operation></portType>
<binding name='Wide' type='t:Wide'><s:binding style='document' transport='http://schemas.xmlsoap.org/soap/http'/>
<operation name='put'><s:operation soapAction=''/><input><s:body use='literal'/></input><output><s:body use='literal'/></output></operation></binding>
<service name='Wide'><port name='Wide' binding='t:Wide'><s:address location='http://localhost/wide'/></port></service></definitions>"
    )
}

#[tokio::test]
async fn a_small_body_cannot_ask_for_more_memory_than_its_limit_allows() {
    let put = async |_: Message| Value::object::<&str>([]);
    let mut options = bsoap::tuning::ServerOptions::default();
    options.max_body = 2 << 20;
    let service = bsoap::Service::builder(wide(1000)).handle("put", put);
    let running = start(service.options(options)).await;
    let ask = async |items: usize| {
        let body = format!("<w:put xmlns:w='urn:wide'>{}</w:put>", "<i/>".repeat(items));
        let body = envelope(SoapVersion::Soap11, "", &body);
        common::post(running.address, "/wide", "text/xml", "", &body).await
    };
    let (status, answer) = ask(1000).await;
    assert_eq!(status, 200, "{answer}");
    // 5 KB that would make a slot more than there may be bytes: a part left out is a marker and a place.
    let (status, answer) = ask(1100).await;
    assert_eq!(status, 500);
    assert!(
        answer.contains("record_slots") && answer.contains("2097152"),
        "{answer}"
    );
    assert_eq!(ask(1).await.0, 200);
    running.stop().await;
}

/// A message of a lenient service that has to be rewritten, or copied without its blocks for other nodes, needs more memory.
#[tokio::test]
async fn what_a_message_is_copied_to_is_charged() {
    let mut options = bsoap::tuning::ServerOptions::default();
    options.work = bsoap::tuning::WorkBudget::new(24 << 20);
    let step = async |_: Message| {
        let field = under("item", vec![1.0]);
        Value::object([("field", field), ("residual", Value::from(0.0))])
    };
    let service = mesh()
        .handle("jacobiStep", step)
        .tolerance(Tolerance::Lenient);
    let running = start(service.options(options)).await;
    let send = async |sides: &str, items: usize| {
        let items = "<item>1</item>".repeat(items);
        let body = format!(
            "<m:jacobiStep xmlns:m='urn:bsoap:mesh'>{sides}<field>{items}</field></m:jacobiStep>"
        );
        let body = envelope(SoapVersion::Soap11, "", &body);
        common::post(running.address, "/mesh", "text/xml", "", &body).await
    };
    let (ordered, other) = (
        "<rows>1</rows><columns>1</columns>",
        "<columns>1</columns><rows>1</rows>",
    );
    for (sides, items, expected) in [
        (ordered, 100_000, true),
        (other, 1000, true),
        (other, 100_000, false),
        (other, 1000, true),
    ] {
        let (status, answer) = send(sides, items).await;
        assert_eq!(status == 200, expected, "{sides} {items} {status} {answer}");
        assert!(expected || answer.contains("memory"), "{status} {answer}");
    }
    running.stop().await;
}

/// The longest time for which this runtime, of one thread, could do nothing else while `work` went on.
async fn longest_gap<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let ticking = async {
        let (mut longest, mut last) = (Duration::ZERO, Instant::now());
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            longest = longest.max(last.elapsed());
            LONGEST.set(longest);
            last = Instant::now();
        }
    };
    tokio::select! {
        biased;
        result = work => (result, LONGEST.get()),
        () = ticking => unreachable!("it ticks for ever"),
    }
}

thread_local! {
    static LONGEST: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
}

#[tokio::test]
async fn a_large_message_holds_up_no_small_one_on_a_single_thread() {
    // The answer is as long as the request; neither handler does anything long.
    let kept = Arc::new(Mutex::new(Value::Nil));
    let answer = Arc::clone(&kept);
    let service = mesh().handle("echoInts", move |_: Message| {
        let answer = std::mem::take(&mut *answer.lock().expect("no panic"));
        async move { answer }
    });
    let mut options = bsoap::tuning::ServerOptions::default();
    options.gzip_from = None;
    let running = start(service.options(options)).await;
    let client = Client::builder(MESH)
        .endpoint(&running.urls[0])
        .build()
        .expect("a client");
    let numbers: Vec<i64> = (0..2_700_000).map(|n| n * 7919 % 1_000_003).collect();
    let large = under("values", under("item", numbers));
    let request = client.request("echoInts", &large).expect("a request");
    let begun = Instant::now();
    let (written, _) = request.write().expect("written");
    let writing = begun.elapsed();
    assert!(written.body.len() > 50_000_000, "{}", written.body.len());
    // A busy machine may hold anybody up, but not every time.
    let mut gaps = Vec::new();
    for _ in 0..5 {
        *kept.lock().expect("no panic") = large.clone();
        let request = client.request("echoInts", &large).expect("a request");
        let smalls = async {
            let mut count = 0;
            loop {
                client.call("sumInts", &ints()).await.expect("an answer");
                count += 1;
                if count % 16 == 0 {
                    tokio::task::yield_now().await;
                }
                COUNT.set(count);
            }
        };
        let both = async {
            tokio::select! {
                biased;
                reply = client.exchange(request) => reply,
                () = smalls => unreachable!("they go on for ever"),
            }
        };
        let (reply, gap) = longest_gap(both).await;
        assert!(reply.is_ok());
        let smalls = COUNT.replace(0);
        LONGEST.set(Duration::ZERO);
        gaps.push(gap);
        if gap < writing / 2 && smalls > 10 {
            running.stop().await;
            return;
        }
    }
    panic!("writing takes {writing:?}, and others waited {gaps:?}");
}

thread_local! {
    static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}
