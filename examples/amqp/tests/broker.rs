//! Calls over a real broker: RabbitMQ of the system (Debian: `rabbitmq-server`), started by the test in a folder of its own. Without
//! it, and without `AMQP_URL` of a broker that runs, the test says so and ends.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bsoap::{Client, Fault, Message, Service, SoapVersion, Value};
use bsoap_amqp::{AmqpTransport, serve};

const MESH: &str = include_str!("../../mesh/mesh.wsdl");

/// A broker that ends with the test.
struct Broker {
    child: Option<Child>,
    url: String,
}

impl Broker {
    fn start(folder: &Path) -> Option<Self> {
        if let Ok(url) = std::env::var("AMQP_URL") {
            return Some(Self { child: None, url });
        }
        let server = ["/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/sbin/rabbitmq-server"];
        let server = server.into_iter().find(|path| Path::new(path).exists())?;
        let free = || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
            listener.local_addr().expect("an address").port()
        };
        let (port, node, plugins) = (free(), free(), folder.join("plugins"));
        std::fs::write(&plugins, "[].").expect("written");
        let child = Command::new(server)
            .env("RABBITMQ_NODENAME", format!("test{port}@localhost"))
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", port.to_string())
            .env("RABBITMQ_DIST_PORT", node.to_string())
            .env("RABBITMQ_MNESIA_BASE", folder)
            .env("RABBITMQ_LOG_BASE", folder)
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", plugins)
            .env("HOME", folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the broker starts");
        let url = format!("amqp://127.0.0.1:{port}");
        Some(Self { child: Some(child), url })
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // The script has replaced itself by the broker or waits for it: it passes the signal on.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

fn service() -> Service {
    let sum = |message: Message| async move {
        let arguments = message.value();
        let numbers = arguments["values"]["item"].as_doubles().unwrap_or_default();
        match numbers.is_empty() {
            true => Err(Fault::sender("there are no numbers")),
            false => Ok(Value::object([("sum", Value::from(numbers.iter().sum::<f64>()))])),
        }
    };
    let slow = |_: Message| async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Value::object([("sum", Value::from(1))])
    };
    let service = Service::builder(MESH).handle("sumDoubles", sum).handle("sumInts", slow);
    service.build().expect("a service")
}

fn numbers(numbers: Vec<f64>) -> Value {
    Value::object([("values", Value::object([("item", Value::from(numbers))]))])
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_answers_meet_by_their_correlation_ids() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(broker) = Broker::start(folder.path()) else {
        eprintln!("skipped: there is no rabbitmq-server, and AMQP_URL is not set");
        return;
    };
    let (begun, queue) = (Instant::now(), format!("soap.test.{}", std::process::id()));
    let transport = loop {
        match AmqpTransport::connect(&broker.url, &queue).await {
            Ok(transport) => break transport,
            Err(error) if begun.elapsed() > Duration::from_secs(60) => panic!("no broker: {error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
        }
    };
    let (url, served) = (broker.url.clone(), queue.clone());
    let serving = tokio::spawn(async move { serve(&url, &served, service()).await });
    for version in [SoapVersion::Soap11, SoapVersion::Soap12] {
        let builder = Client::builder(MESH).version(version).transport(transport.clone());
        let client = builder.timeout(Duration::from_secs(20)).build().expect("a client");
        let calls = (1..20).map(|count| {
            let client = client.clone();
            tokio::spawn(async move {
                let answer = client.call("sumDoubles", &numbers(vec![1.0; count])).await;
                assert_eq!(answer.expect("an answer")["sum"].as_f64(), Some(count as f64));
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.expect("no panic");
        }
        let error = client.call("sumDoubles", &numbers(vec![])).await.expect_err("a fault");
        assert_eq!(error.fault().expect("a fault").reason(), "there are no numbers");
        let slow = client.operation("sumInts").timeout(Duration::from_millis(200));
        let error = slow.call(&numbers(vec![])).await.expect_err("too slow");
        assert!(error.is_timeout(), "{}", error.report());
    }
    serving.abort();
}
