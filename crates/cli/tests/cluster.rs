//! Several workers behind HAProxy with the configuration that is shipped: workers are killed and restarted while clients call.
//! Runs where HAProxy is installed.
//!
//! Each client repeats two operations. `echoInts` is listed as idempotent in `deploy/haproxy.cfg`, so HAProxy repeats it at
//! another worker; `echoDoubles` is not. The number of clients is 200, or that in `BSOAP_CLUSTER_CLIENTS`.

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bsoap::schema::Definitions;
use bsoap::tuning::{HealthPaths, Meter, ReceiveCounts, ServerOptions};
use bsoap::{Client, Fetch, Message, Service, Value, Wsdl};
use bsoap_testkit::haproxy::{self, Haproxy};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const WORKERS: usize = 4;

/// The WSDL of the mesh service.
const MESH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mesh/mesh.wsdl");

/// The pause of a client between two calls, so that 200 of them leave a machine of two cores idle time.
const PAUSE: Duration = Duration::from_millis(200);

/// For this long a worker is suspended before it is killed, so that calls are in flight.
const IN_FLIGHT: Duration = Duration::from_millis(200);

/// For this long after a worker is killed, HAProxy may not have noticed that its connections are closed.
const UNNOTICED: Duration = Duration::from_secs(1);

/// The tests run one after the other: each needs the whole machine. `None`, and a note, if HAProxy is not installed.
fn machine() -> Option<MutexGuard<'static, ()>> {
    static MACHINE: Mutex<()> = Mutex::new(());
    if !haproxy::is_installed() {
        eprintln!("skipped: HAProxy is not installed (Debian: apt-get install haproxy)");
        return None;
    }
    Some(MACHINE.lock().unwrap_or_else(PoisonError::into_inner))
}

fn clients() -> usize {
    let given = std::env::var("BSOAP_CLUSTER_CLIENTS");
    given.map_or(200, |text| text.parse().expect("a number of clients"))
}

fn definitions() -> Arc<Definitions> {
    let wsdl = Wsdl::Location(MESH.to_owned());
    wsdl.load(Fetch::AsAsked).expect("the WSDL loads")
}

#[test]
fn a_rolling_restart_loses_no_call_and_runs_each_once() {
    let Some(_machine) = machine() else { return };
    let mut cluster = Cluster::start();
    let callers = Callers::start(cluster.proxy.address, clients());
    std::thread::sleep(Duration::from_secs(1));
    let mut served = 0;
    for worker in 0..WORKERS {
        served += cluster.stop(worker);
        // Every other one is back before HAProxy has noticed that it was gone.
        if worker % 2 == 1 {
            cluster.proxy.wait_until_down(worker).expect("stopped");
        }
        cluster.restart(worker);
        cluster.proxy.wait_until_up(worker).expect("restarted");
    }
    std::thread::sleep(Duration::from_millis(500));
    let calls = callers.end();
    let failures = calls.failures();
    assert!(
        failures.is_empty(),
        "{} of {} calls: {failures:?}",
        failures.len(),
        calls.answered()
    );
    served += (0..WORKERS).map(|worker| cluster.stop(worker)).sum::<u64>();
    assert_eq!(
        served,
        calls.answered(),
        "calls that workers served, and that clients got answers to"
    );
    eprintln!(
        "rolling restart: {served} calls of {} clients, each answered and run once",
        clients()
    );
}

#[test]
fn only_calls_in_flight_on_a_killed_worker_fail() {
    let Some(_machine) = machine() else { return };
    let mut cluster = Cluster::start();
    let callers = Callers::start(cluster.proxy.address, clients());
    let mut kills = Vec::new();
    for worker in [0, 2, 1] {
        std::thread::sleep(Duration::from_secs(1));
        cluster.signal(worker, "-STOP");
        std::thread::sleep(IN_FLIGHT);
        kills.push(Instant::now());
        cluster.kill(worker);
        cluster.proxy.wait_until_down(worker).expect("killed");
        cluster.restart(worker);
        cluster.proxy.wait_until_up(worker).expect("restarted");
    }
    std::thread::sleep(Duration::from_secs(1));
    let restored = Instant::now();
    std::thread::sleep(Duration::from_secs(1));
    let calls = callers.end();
    let failures = calls.failures();
    for failure in failures.iter() {
        assert_ne!(
            failure.operation, "echoInts",
            "HAProxy repeats it: {failure:?}"
        );
        assert!(failure.says_so, "{failure:?}");
        let is_explained =
            |kill: &Instant| failure.begun < *kill + UNNOTICED && failure.ended > *kill;
        assert!(
            kills.iter().any(is_explained),
            "{failure:?}, workers were killed at {kills:?}"
        );
    }
    assert!(!failures.is_empty(), "calls were in flight");
    // A client has one call in flight.
    for kill in &kills {
        let of_kill = failures
            .iter()
            .filter(|one| one.ended > *kill && one.begun < *kill + UNNOTICED);
        let mut failed: Vec<_> = of_kill.map(|one| one.client).collect();
        failed.sort_unstable();
        let count = failed.len();
        failed.dedup();
        assert_eq!(failed.len(), count, "a client failed twice: {failures:?}");
    }
    assert!(
        calls.answered_since(restored) > clients() as u64,
        "clients go on"
    );
    eprintln!(
        "{} workers killed: {} calls answered, {} in flight failed",
        kills.len(),
        calls.answered(),
        failures.len()
    );
}

#[test]
fn savings_recover_after_a_worker_is_replaced() {
    let Some(_machine) = machine() else { return };
    let mut workers: Vec<Metered> = (0..WORKERS)
        .map(|_| Metered::start(haproxy::free_address().expect("a port")))
        .collect();
    let addresses: Vec<_> = workers.iter().map(|worker| worker.address).collect();
    let proxy = Haproxy::start(haproxy::SHIPPED, &addresses).expect("HAProxy starts");
    (0..WORKERS).for_each(|worker| proxy.wait_until_up(worker).expect("started"));
    let streams = Streams::new(proxy.address, 40);
    streams.call(4);
    let before = saved_share(&workers, || streams.call(6));
    workers[0].kill();
    proxy.wait_until_down(0).expect("killed");
    let moved = saved_share(&workers, || streams.call(1));
    workers[0] = Metered::start(addresses[0]);
    proxy.wait_until_up(0).expect("restarted");
    let cold = saved_share(&workers, || streams.call(1));
    streams.call(3);
    let after = saved_share(&workers, || streams.call(6));
    eprintln!(
        "values not read again: {before:.3} before, {moved:.3} and {cold:.3} when clients moved, {after:.3} after"
    );
    assert!(
        before > 0.9 && after > before - 0.02,
        "{before} before, {after} after"
    );
    assert!(
        moved < before && cold < before,
        "clients moved: {moved}, {cold}, {before}"
    );
    let received = workers[0].meter.receiving().messages();
    assert!(received > 0, "the new worker got its clients back");
}

/// Four workers, each a process of `bsoap serve`, behind HAProxy.
struct Cluster {
    workers: Vec<Option<Worker>>,
    addresses: Vec<SocketAddr>,
    proxy: Haproxy,
}

impl Cluster {
    fn start() -> Self {
        let addresses: Vec<_> = (0..WORKERS)
            .map(|_| haproxy::free_address().expect("a port"))
            .collect();
        let workers = addresses
            .iter()
            .map(|address| Some(Worker::start(*address)))
            .collect();
        let proxy = Haproxy::start(haproxy::SHIPPED, &addresses).expect("HAProxy starts");
        (0..WORKERS).for_each(|worker| proxy.wait_until_up(worker).expect("started"));
        Self {
            workers,
            addresses,
            proxy,
        }
    }

    fn restart(&mut self, worker: usize) {
        self.workers[worker] = Some(Worker::start(self.addresses[worker]));
    }

    /// Stops a worker with SIGTERM. The number of requests that it has served.
    fn stop(&mut self, worker: usize) -> u64 {
        let worker = self.workers[worker].take().expect("the worker runs");
        worker.stop()
    }

    /// Sends a signal to a worker.
    fn signal(&self, worker: usize, signal: &str) {
        let worker = self.workers[worker].as_ref();
        worker.expect("the worker runs").signal(signal);
    }

    /// Kills a worker with SIGKILL.
    fn kill(&mut self, worker: usize) {
        drop(self.workers[worker].take());
    }
}

/// A process of `bsoap serve`; it is killed with this value.
struct Worker {
    child: Child,
}

impl Worker {
    fn start(address: SocketAddr) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bsoap"))
            .env_remove("BSOAP_LOG")
            .args(["serve", MESH, "--echo", "--quiet", "--health"])
            .args(["--listen", &address.to_string()])
            .args(["--trusted-proxy", "127.0.0.1", "--proxy-protocol"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the worker starts");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("its output is a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        assert!(line.starts_with("serving"), "{line}");
        Self { child }
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("kill is installed").success());
    }

    /// Stops it. The number of requests that it has served, as it says at its end.
    fn stop(mut self) -> u64 {
        self.signal("-TERM");
        let status = self.child.wait().expect("the worker ends");
        assert_eq!(status.code(), Some(0), "after SIGTERM");
        let mut notes = String::new();
        let errors = self.child.stderr.as_mut().expect("its errors are a pipe");
        errors.read_to_string(&mut notes).expect("text");
        let (count, _) = notes
            .split_once(" requests served, 0 refused")
            .expect(&notes);
        count.trim().parse().expect("a number")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Clients that call until they are stopped.
struct Callers {
    runtime: Runtime,
    calls: Arc<Calls>,
    tasks: Vec<JoinHandle<()>>,
}

/// What became of the calls.
#[derive(Default)]
struct Calls {
    is_over: AtomicBool,
    answered: AtomicU64,
    /// When the answers came.
    answers: Mutex<Vec<Instant>>,
    failures: Mutex<Vec<Failure>>,
}

/// A call without an answer.
#[derive(Debug)]
#[allow(dead_code)] // the error is for the message of a test that fails
struct Failure {
    client: usize,
    operation: &'static str,
    begun: Instant,
    ended: Instant,
    /// Whether the error says that the operation may have run, and that the transport or the proxy failed.
    says_so: bool,
    error: String,
}

impl Callers {
    fn start(proxy: SocketAddr, clients: usize) -> Self {
        let definitions = definitions();
        let runtime = Runtime::new().expect("a runtime");
        let calls = Arc::new(Calls::default());
        let tasks = (0..clients)
            .map(|number| {
                let client = client(&definitions, proxy, number);
                runtime.spawn(Arc::clone(&calls).run(client, number))
            })
            .collect();
        Self {
            runtime,
            calls,
            tasks,
        }
    }

    /// Lets the clients finish their calls.
    fn end(self) -> Arc<Calls> {
        self.calls.is_over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            self.runtime.block_on(task).expect("no answer was wrong");
        }
        self.calls
    }
}

impl Calls {
    async fn run(self: Arc<Self>, client: Client, number: usize) {
        // Not all at the same moment.
        tokio::time::sleep(PAUSE * (number % 20) as u32 / 20).await;
        for round in 0.. {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let operation = ["echoInts", "echoDoubles"][(number + round) % 2];
            let arguments = arguments(operation, number, round);
            let begun = Instant::now();
            match client.call(operation, &arguments).await {
                Ok(answer) => self.answer(&answer, &arguments),
                Err(error) => self.failure(number, operation, begun, &error),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn answer(&self, answer: &Value, arguments: &Value) {
        assert_eq!(answer.to_string(), arguments.to_string(), "a wrong answer");
        self.answered.fetch_add(1, Ordering::Relaxed);
        lock(&self.answers).push(Instant::now());
    }

    fn failure(
        &self,
        client: usize,
        operation: &'static str,
        begun: Instant,
        error: &bsoap::Error,
    ) {
        let is_from_proxy = matches!(error.http_status(), Some(502 | 503));
        lock(&self.failures).push(Failure {
            client,
            operation,
            begun,
            ended: Instant::now(),
            says_so: (is_from_proxy || error.is_transport()) && !error.was_not_sent(),
            error: error.report(),
        });
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    fn answered_since(&self, begin: Instant) -> u64 {
        lock(&self.answers)
            .iter()
            .filter(|time| **time > begin)
            .count() as u64
    }

    fn failures(&self) -> MutexGuard<'_, Vec<Failure>> {
        lock(&self.failures)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A client with credentials of its own, by which HAProxy knows it.
fn client(definitions: &Arc<Definitions>, proxy: SocketAddr, number: usize) -> Client {
    let client = Client::builder(definitions)
        .endpoint(format!("http://{proxy}/mesh"))
        .basic_auth(format!("client-{number}"), "secret");
    client.build().expect("a client")
}

/// Arguments that no other call has: 50 values, of which one differs from the client's previous ones.
fn arguments(operation: &str, client: usize, round: usize) -> Value {
    let mut items: Vec<i64> = (0..50).map(|item| (client * 1000 + item) as i64).collect();
    items[round % 50] = -(round as i64);
    let items = match operation {
        "echoInts" => Value::from(items),
        _ => Value::from(
            items
                .iter()
                .map(|item| *item as f64 + 0.5)
                .collect::<Vec<_>>(),
        ),
    };
    Value::object([("values", Value::object([("item", items)]))])
}

/// A worker in this process that counts what it saves: `bsoap serve` does not report it.
struct Metered {
    runtime: Runtime,
    address: SocketAddr,
    meter: Meter,
    _stop: oneshot::Sender<()>,
}

impl Metered {
    fn start(address: SocketAddr) -> Self {
        let mut options = ServerOptions::default();
        options.health = Some(HealthPaths::default());
        options.trusted_proxies = vec!["127.0.0.1".parse().expect("an address")];
        options.proxy_protocol = true;
        let service = Service::builder(definitions())
            .handle_others(async |message: Message| message.value())
            .options(options);
        let service = service.build().expect("a service");
        let meter = service.meter().clone();
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let bound = runtime.block_on(service.bind(&address.to_string()));
        let bound = bound.expect("the port is free");
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(bound.run(async { drop(stopped.await) }));
        Self {
            runtime,
            address,
            meter,
            _stop: stop,
        }
    }

    /// Ends it as a process that is killed: all connections are closed at once.
    fn kill(&mut self) {
        let idle = tokio::runtime::Builder::new_current_thread().build();
        let runtime = std::mem::replace(&mut self.runtime, idle.expect("a runtime"));
        runtime.shutdown_timeout(Duration::from_secs(5));
    }
}

/// The share of values that workers did not have to read again, of the messages that they receive meanwhile.
fn saved_share(workers: &[Metered], run: impl FnOnce()) -> f64 {
    let counts = || {
        let mut sum = ReceiveCounts::default();
        workers
            .iter()
            .for_each(|worker| sum.add(&worker.meter.receiving()));
        sum
    };
    let before = counts();
    run();
    let counted = counts().since(&before);
    // All messages have as many slots; those that were read in full are not in `slots`.
    let per_message = counted.reads.slots as f64 / counted.reads.fast.max(1) as f64;
    counted.reads.unchanged_slots as f64 / (per_message * counted.messages() as f64)
}

/// Clients that call in steps: each makes a number of similar calls.
struct Streams {
    runtime: Runtime,
    clients: Vec<Client>,
    round: AtomicU64,
}

impl Streams {
    fn new(proxy: SocketAddr, clients: usize) -> Self {
        let definitions = definitions();
        Self {
            runtime: Runtime::new().expect("a runtime"),
            clients: (0..clients)
                .map(|number| client(&definitions, proxy, number))
                .collect(),
            round: AtomicU64::new(0),
        }
    }

    fn call(&self, times: usize) {
        for _ in 0..times {
            let round = self.round.fetch_add(1, Ordering::Relaxed) as usize;
            for (number, client) in self.clients.iter().enumerate() {
                let arguments = arguments("echoInts", number, round);
                let answer = self.runtime.block_on(client.call("echoInts", &arguments));
                assert_eq!(answer.expect("answered").to_string(), arguments.to_string());
            }
        }
    }
}
