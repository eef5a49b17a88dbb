//! Real peers at the other end of the wire: zeep calls our service, our client calls gSOAP's and CXF's.
//!
//! Each runs where the peer is installed and says so where it is not. zeep: the Python of `BSOAP_PYTHON`, otherwise
//! `python3`, can import it. gSOAP: `wsdl2h`, `soapcpp2` and a C compiler that finds its library. CXF: Java 17, and
//! `BSOAP_CXF` is a class path of its jars, those of `cxf-rt-frontend-jaxws` and `cxf-rt-transports-http-jetty` 4.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bsoap::protocol::Code;
use bsoap::service::Bound;
use bsoap::tuning::{Hints, Sending};
use bsoap::{Client, ClientBuilder, Fault, Message, Service, SoapVersion, Value, blocking};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

const BOTH: [SoapVersion; 2] = [SoapVersion::Soap11, SoapVersion::Soap12];

#[test]
fn zeep_calls_our_service() {
    let python = std::env::var("BSOAP_PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&python).args(["-c", "import zeep"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        say(&format!(
            "zeep is NOT tested: {python} cannot import it (set BSOAP_PYTHON)"
        ));
        return;
    }
    let service = Running::start();
    let script = here("peers/zeep_client.py");
    // By the file and given addresses, then by what the service says of itself.
    let published = format!("{}?wsdl", service.urls[0]);
    let wsdl = mesh_wsdl();
    for arguments in [
        vec![
            wsdl.as_os_str(),
            service.urls[0].as_ref(),
            service.urls[1].as_ref(),
        ],
        vec![published.as_ref()],
    ] {
        let client = Command::new(&python).arg(&script).args(&arguments).output();
        let client = client.expect("python runs");
        let said = String::from_utf8_lossy(&client.stdout);
        let error = String::from_utf8_lossy(&client.stderr);
        assert!(client.status.success(), "zeep {arguments:?}: {said}{error}");
    }
    service.stop();
    say("zeep called our service: all operations, both versions");
}

#[test]
fn our_client_calls_gsoap() {
    let Some(program) = gsoap_server() else {
        return;
    };
    let server = Peer::start(&mut Command::new(program));
    for version in BOTH {
        let endpoint = format!("http://127.0.0.1:{}/", server.port);
        check(&client(version, &endpoint), version);
        // Of a header block that it does not know it takes no notice.
        let hinting = hinting_client(version, &endpoint);
        check(&hinting, version);
        let hints = hinting.inner().hint_stats();
        assert!(hints.given >= 5 && hints.messages() == 0, "{hints:?}");
    }
    say("our client called gSOAP's service: all operations, both versions, without hints and with");
}

/// CXF looks at header blocks: one that must be understood it refuses.
#[test]
fn our_client_calls_cxf() {
    let Some(jars) = std::env::var_os("BSOAP_CXF") else {
        say("CXF is NOT tested: BSOAP_CXF is no class path of its jars");
        return;
    };
    let wsdl = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cxf.wsdl");
    let mut program = Command::new("java");
    program.arg("-cp").arg(jars);
    program.arg(here("peers/CxfServer.java")).arg(&wsdl);
    let _server = Peer::start(&mut program);
    for hints in [Hints::Off, Hints::Always] {
        let builder = Client::builder(wsdl.as_path());
        let client = built(builder.sending(Sending::off()).hints(hints));
        for (quality, value) in (0_i64..).zip(hard_doubles(20)) {
            let station = format!("Łódź & {quality}");
            let reading = Value::object([
                ("station", Value::from(station.as_str())),
                ("value", Value::from(value)),
                ("quality", Value::from(quality)),
            ]);
            let answer = client.call("reading", &reading);
            let answer = answer.unwrap_or_else(|error| panic!("{}", error.report()));
            let expected = format!("{station}|{}|{quality}", value.to_bits() as i64);
            assert_eq!(answer["return"].as_str(), Some(expected.as_str()));
        }
        let given = if hints == Hints::Off { 0 } else { 20 };
        assert_eq!(client.inner().hint_stats().given, given);
    }
    say("our client called CXF's service, without hints and with");
}

#[test]
fn our_client_calls_our_service() {
    let service = Running::start();
    for (version, url) in BOTH.into_iter().zip(&service.urls) {
        check(&client(version, url), version);
    }
    service.stop();
}

/// Calls every operation and checks the answers.
fn check(client: &blocking::Client, version: SoapVersion) {
    let call = |operation: &str, arguments: Value| {
        let answer = client.call(operation, &arguments);
        answer.unwrap_or_else(|error| panic!("{version} {operation}: {}", error.report()))
    };
    let doubles = hard_doubles(500);
    let answer = call("echoDoubles", under("values", items(doubles.clone())));
    let echoed = answer["values"]["item"].as_doubles().expect("doubles");
    assert_eq!(bits(echoed), bits(&doubles), "{version}");

    let ints: Vec<i64> = [0, 1, -1, i32::MAX.into(), i32::MIN.into()]
        .into_iter()
        .chain((-300..300).step_by(7))
        .collect();
    let answer = call("echoInts", under("values", items(ints.clone())));
    assert_eq!(answer["values"]["item"].as_ints(), Some(&ints[..]));
    let answer = call("sumInts", under("values", items(ints.clone())));
    assert_eq!(answer["sum"].as_i64(), Some(ints.iter().sum()));

    let objects: Vec<Value> = doubles.iter().take(50).zip(0i64..).map(object).collect();
    let answer = call("echoMesh", under("objects", items(objects.clone())));
    let echoed = answer["objects"]["item"].as_array().expect("objects");
    assert_eq!(echoed.len(), objects.len());
    for (ours, theirs) in objects.iter().zip(echoed) {
        assert_eq!((&ours["x"], &ours["y"]), (&theirs["x"], &theirs["y"]));
        let value = |object: &Value| object["value"].as_f64().map(f64::to_bits);
        assert_eq!(value(ours), value(theirs), "{version}");
    }

    let answer = call("sumDoubles", under("values", items(vec![1.5, 2.25, -0.75])));
    assert_eq!(answer["sum"].as_f64(), Some(3.0));

    let mut field = vec![0.0; 20];
    field[..5].fill(1.0);
    let answer = call("jacobiStep", step(4, 5, &field));
    let (expected, residual) = jacobi(4, 5, &field);
    assert_eq!(answer["field"]["item"].as_doubles(), Some(&expected[..]));
    assert_eq!(answer["residual"].as_f64(), Some(residual));

    let error = client.call("jacobiStep", &step(3, 3, &[1.0]));
    let error = error.expect_err("a field of the wrong shape");
    let fault = error
        .fault()
        .unwrap_or_else(|| panic!("{version}: {}", error.report()));
    let detail = fault.detail.as_ref().expect("a detail");
    assert_eq!(
        detail["badShape"]["expected"].as_i64(),
        Some(9),
        "{}",
        detail.to_json()
    );
    assert_eq!(detail["badShape"]["found"].as_i64(), Some(1), "{version}");
    assert!(
        matches!(fault.code, Code::Sender | Code::Receiver),
        "{fault}"
    );
}

fn client(version: SoapVersion, endpoint: &str) -> blocking::Client {
    built(
        Client::builder(mesh_wsdl().as_path())
            .version(version)
            .endpoint(endpoint),
    )
}

/// One that gives a hint with each message.
fn hinting_client(version: SoapVersion, endpoint: &str) -> blocking::Client {
    let builder = Client::builder(mesh_wsdl().as_path());
    let builder = builder.version(version).endpoint(endpoint);
    built(builder.sending(Sending::off()).hints(Hints::Always))
}

fn built(builder: ClientBuilder) -> blocking::Client {
    blocking::Client::new(builder).unwrap_or_else(|error| panic!("{}", error.report()))
}

fn under(name: &str, value: impl Into<Value>) -> Value {
    Value::object([(name, value.into())])
}

fn items(values: impl Into<Value>) -> Value {
    under("item", values)
}

fn object((value, place): (&f64, i64)) -> Value {
    Value::object([
        ("x", Value::from(place)),
        ("y", Value::from(-place)),
        ("value", Value::from(*value)),
    ])
}

fn step(rows: i64, columns: i64, field: &[f64]) -> Value {
    Value::object([
        ("rows", Value::from(rows)),
        ("columns", Value::from(columns)),
        ("field", items(field.to_vec())),
    ])
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Finite doubles over all exponents.
fn hard_doubles(count: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f64::from_bits(state)
    });
    let known = [0.0, -0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, 0.1];
    let drawn = random.filter(|value| value.is_finite());
    known.into_iter().chain(drawn).take(count).collect()
}

/// Every inner point becomes the mean of its four neighbours; and the largest change.
fn jacobi(rows: usize, columns: usize, old: &[f64]) -> (Vec<f64>, f64) {
    let (mut new, mut residual) = (old.to_vec(), 0.0_f64);
    for row in 1..rows.saturating_sub(1) {
        for place in row * columns + 1..(row + 1) * columns - 1 {
            let above_and_below = old[place - columns] + old[place + columns];
            new[place] = 0.25 * (above_and_below + old[place - 1] + old[place + 1]);
            residual = residual.max((new[place] - old[place]).abs());
        }
    }
    (new, residual)
}

async fn echo(message: Message) -> Value {
    message.value()
}

async fn sum_doubles(message: Message) -> Value {
    let arguments = message.value();
    let numbers = arguments["values"]["item"].as_doubles();
    under("sum", numbers.unwrap_or_default().iter().sum::<f64>())
}

async fn sum_ints(message: Message) -> Value {
    let arguments = message.value();
    let numbers = arguments["values"]["item"].as_ints();
    under("sum", numbers.unwrap_or_default().iter().sum::<i64>())
}

async fn jacobi_step(message: Message) -> Result<Value, Fault> {
    let arguments = message.value();
    let field = arguments["field"]["item"].as_doubles().unwrap_or_default();
    let side = |name: &str| arguments[name].as_u64().unwrap_or(0) as usize;
    let (rows, columns) = (side("rows"), side("columns"));
    if rows * columns != field.len() {
        let shape = Value::object([
            ("expected", Value::from((rows * columns) as u64)),
            ("found", Value::from(field.len() as u64)),
        ]);
        let fault = Fault::sender("the field has another shape");
        return Err(fault.with_detail(under("badShape", shape)));
    }
    let (field, residual) = jacobi(rows, columns, field);
    Ok(Value::object([
        ("field", items(field)),
        ("residual", Value::from(residual)),
    ]))
}

/// Our mesh service on a free port.
struct Running {
    urls: Vec<String>,
    runtime: Runtime,
    stop: oneshot::Sender<()>,
    done: oneshot::Receiver<()>,
}

impl Running {
    fn start() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let service = Service::builder(mesh_wsdl().as_path())
            .handle("echoDoubles", echo)
            .handle("echoInts", echo)
            .handle("echoMesh", echo)
            .handle("sumDoubles", sum_doubles)
            .handle("sumInts", sum_ints)
            .handle("jacobiStep", jacobi_step)
            .build()
            .expect("a service");
        let bound: Bound = runtime
            .block_on(service.bind("127.0.0.1:0"))
            .expect("a free port");
        let urls = bound.urls();
        let (stop, stopped) = oneshot::channel::<()>();
        let (finished, done) = oneshot::channel::<()>();
        runtime.spawn(async move {
            bound.run(async { drop(stopped.await) }).await;
            let _ = finished.send(()); // if nobody waits, nobody need know
        });
        Self {
            urls,
            runtime,
            stop,
            done,
        }
    }

    fn stop(self) {
        drop(self.stop);
        let ended = self.runtime.block_on(self.done);
        ended.expect("the service ends without panic");
    }
}

/// A service as a process; ends with this value.
struct Peer {
    child: Child,
    port: u16,
}

impl Peer {
    fn start(program: &mut Command) -> Self {
        let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("the server starts");
        let output = child.stdout.take().expect("its output is a pipe");
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        let port = read.ok().and_then(|_| line.trim().parse().ok());
        // In a Peer from here on, so that it ends whatever comes.
        let peer = Self {
            child,
            port: port.unwrap_or(0),
        };
        assert_ne!(peer.port, 0, "the server says its port, not {line:?}");
        peer
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server made of gSOAP's tools and `peers/gsoap_server.c`; `None`, and said so, where they are not installed.
fn gsoap_server() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gsoap-mesh");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let missing = |what: &str| {
        say(&format!("gSOAP is NOT tested: {what} is not installed"));
        None
    };
    for tool in ["wsdl2h", "soapcpp2", "cc"] {
        let found = Command::new(tool).arg("--version").output();
        if found.is_err() {
            return missing(tool);
        }
    }
    std::fs::write(folder.join("probe.c"), "#include <stdsoap2.h>\n")
        .expect("the target folder can be written");
    if build(&folder, &["cc -c probe.c"]).is_err() {
        return missing("its library");
    }
    let (program, source) = (folder.join("server"), here("peers/gsoap_server.c"));
    let changed = |path: &Path| {
        std::fs::metadata(path)
            .and_then(|data| data.modified())
            .ok()
    };
    let is_new = [&source, &mesh_wsdl()]
        .iter()
        .all(|path| changed(path) < changed(&program));
    if !is_new {
        let (wsdl, source) = (mesh_wsdl(), source.display().to_string());
        let steps = [
            &*format!("wsdl2h -c -s -o mesh.h {}", wsdl.display()),
            "soapcpp2 -c -S -x -L mesh.h",
            &*format!("cc -O1 -I. -o server {source} soapC.c soapServer.c -lgsoap -lm"),
        ];
        build(&folder, &steps).unwrap_or_else(|error| panic!("gSOAP: {error}"));
    }
    Some(program)
}

/// Runs commands in a folder.
fn build(folder: &Path, steps: &[&str]) -> Result<(), String> {
    for step in steps {
        let mut words = step.split(' ');
        let output = Command::new(words.next().unwrap_or_default())
            .args(words)
            .current_dir(folder)
            .output()
            .map_err(|error| format!("{step}: {error}"))?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{step}: {error}"));
        }
    }
    Ok(())
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn mesh_wsdl() -> PathBuf {
    here("../examples/mesh/mesh.wsdl")
}

/// Prints a line that is seen although the tests pass.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
