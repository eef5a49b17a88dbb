//! Decodes many recorded messages on all cores into the rows of a table.
//!
//! ```text
//! push(jobs) ──► queue ──► threads, a decoder each ──► results by number ──► pull(), in the order of the jobs
//! ```
//!
//! A job is some consecutive messages, so that similar ones mostly meet the same decoder, which converts what differs. The caller
//! bounds the memory by how many jobs it pushes ahead.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use arrow_schema::SchemaRef;
use bsoap::codec::View;
use bsoap::codec::plan::ElementId;
use bsoap::codec::repair::Repair;
use bsoap::differential::receive::{Stream, Way};
use bsoap::protocol::{Endpoint, IncomingReply, IncomingRequest, Node, OpenedReply, Reply, Target};
use bsoap::schema::{Binding, Message};
use bsoap::{Error, Record};
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::binary::Binary;
use crate::codec::{Repairing, binding};
use crate::collect::{ColumnSpec, Kind, Meaning, RawBatch, RowCollector};
use crate::definitions::{Definitions, prepare};
use crate::errors::{refused, unreadable};
use crate::exception::error;
use crate::layout::{Found, Layout, Path};
use crate::limits::MessageLimits;
use crate::options::of_decoder;
use crate::plan::PythonPlan;
use crate::table::{Table, public};

/// How long a caller waits before it looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// No message of an archive expands to more bytes than this.
const MAX_MESSAGE: u64 = 4 << 30;

/// Where a message is.
#[derive(FromPyObject)]
enum Source {
    #[pyo3(transparent)]
    Bytes(PyBackedBytes),
    #[pyo3(transparent)]
    Path(PathBuf),
}

struct Job {
    number: u64,
    /// The index of the first message.
    first: u64,
    names: Vec<String>,
    messages: Vec<Source>,
}

/// A message that could not be read: its name, its index, the class of the exception, why.
type Failure = (String, u64, &'static str, String);

#[derive(Default)]
struct Finished {
    batches: Vec<RawBatch>,
    failures: Vec<Failure>,
    messages: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    /// The results by the numbers of their jobs.
    finished: BTreeMap<u64, Finished>,
    pushed: u64,
    pulled: u64,
    messages: u64,
    is_closed: bool,
}

struct Shared {
    state: Mutex<State>,
    /// There is a job, or the end.
    work: Condvar,
    /// There is a result.
    result: Condvar,
    reader: Reader,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What all threads know.
struct Reader {
    plan: Arc<PythonPlan>,
    binding: Arc<Binding>,
    target: Target,
    is_request: bool,
    limits: MessageLimits,
    path: Option<Path>,
    layout: Layout,
    columns: Vec<ColumnSpec>,
}

/// A thread's decoder.
struct Worker<'s> {
    reader: &'s Reader,
    endpoint: Endpoint,
    decoding: Decoding,
}

/// Decodes messages; what cannot be read of an accepted one is repaired.
struct Decoding {
    stream: Stream,
    repairing: Repairing,
}

impl Decoding {
    fn read(
        &mut self,
        root: ElementId,
        text: Bytes,
        repair: Repair,
    ) -> Result<Arc<Record>, bsoap::codec::decode::Error> {
        match self.stream.receive(root, text.clone()) {
            Ok(received) => Ok(received.record),
            Err(error) => {
                let repaired = self.repairing.read(repair, error, root, &text);
                repaired.map(Arc::new)
            }
        }
    }
}

/// Columns before those of the messages: their names and indexes.
const OWN: usize = 2;

/// Threads that decode messages of one operation.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Bulk {
    shared: Arc<Shared>,
}

#[pymethods]
impl Bulk {
    /// `sample` is a message, which says the operation if `operation` is None; `reading` is the mode and the limits.
    #[new]
    #[pyo3(signature = (definitions, *, operation, sample, path, is_request, port, reading, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        definitions: &Definitions,
        operation: Option<&str>,
        sample: Option<Source>,
        path: Option<&str>,
        is_request: bool,
        port: Option<&str>,
        reading: (Bound<'_, PyAny>, Option<Bound<'_, PyAny>>),
        threads: Option<usize>,
    ) -> PyResult<Self> {
        prepare(py)?;
        let limits = of_decoder(&reading.0, reading.1.as_ref())?;
        let binding = binding(py, definitions, port)?;
        let operation = match (operation, sample) {
            (Some(name), _) => name.to_owned(),
            (None, Some(sample)) => {
                let found =
                    py.detach(|| operation_of(&definitions.plan, &binding, is_request, sample));
                found.map_err(|message| error(py, "DecodeError", &message))?
            }
            (None, None) => {
                return Err(error(
                    py,
                    "Error",
                    "give the operation: there is no message",
                ));
            }
        };
        let reader = Reader::new(definitions, binding, &operation, is_request, path, limits)?;
        let reader = reader.map_err(|message| error(py, "Error", &message))?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            result: Condvar::new(),
            reader,
        });
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads.unwrap_or(cores).max(1) {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("bsoap-bulk".to_owned())
                .spawn(move || run(&shared))?;
        }
        Ok(Self { shared })
    }

    #[getter]
    fn operation(&self) -> &str {
        &self.shared.reader.target.operation().name
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.shared.reader.layout.notes.clone()
    }

    /// The number of jobs whose results were not pulled.
    #[getter]
    fn pending(&self) -> u64 {
        let state = self.shared.state();
        state.pushed - state.pulled
    }

    /// Adds messages with their names: bytes, or the path of a file, which may be compressed by gzip.
    fn push(&self, messages: Vec<(String, Source)>) {
        let mut state = self.shared.state();
        let (number, first) = (state.pushed, state.messages);
        state.pushed += 1;
        state.messages += messages.len() as u64;
        let (names, messages) = messages.into_iter().unzip();
        state.queue.push_back(Job {
            number,
            first,
            names,
            messages,
        });
        drop(state);
        self.shared.work.notify_one();
    }

    /// The result of the first job that was not pulled: its rows, its failures, and the number of its messages.
    fn pull(&self, py: Python<'_>) -> PyResult<Option<(Rows, Vec<Failure>, usize)>> {
        loop {
            let waited = py.detach(|| {
                let mut state = self.shared.state();
                let next = state.pulled;
                if next == state.pushed {
                    return Ok(None);
                }
                match state.finished.remove(&next) {
                    Some(finished) => {
                        state.pulled += 1;
                        Ok(Some(finished))
                    }
                    None => {
                        let waited = self.shared.result.wait_timeout(state, PATIENCE);
                        drop(waited.unwrap_or_else(PoisonError::into_inner));
                        Err(())
                    }
                }
            });
            match waited {
                Ok(Some(finished)) => {
                    let rows = Rows {
                        batches: finished.batches,
                    };
                    return Ok(Some((rows, finished.failures, finished.messages)));
                }
                Ok(None) => return Ok(None),
                Err(()) => py.check_signals()?,
            }
        }
    }

    /// Rows as a table. After the first one, `like` gives the types.
    #[pyo3(signature = (rows, like = None))]
    fn table<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<PyRef<'py, Rows>>,
        like: Option<PyRef<'py, Table>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batches: Vec<RawBatch> = rows.iter().flat_map(|rows| rows.batches.clone()).collect();
        let fixed: Option<SchemaRef> = like.map(|table| Arc::clone(table.schema()));
        let reader = &self.shared.reader;
        let made = py.detach(|| {
            let notes = reader.layout.notes.clone();
            Table::finish(&reader.columns, batches, notes, fixed.as_ref())
        });
        let made = made.map_err(|problem| error(py, "DecodeError", &problem.to_string()))?;
        public(py, made)
    }

    /// Ends the threads.
    fn close(&self) {
        let mut state = self.shared.state();
        state.is_closed = true;
        state.queue.clear();
        drop(state);
        self.shared.work.notify_all();
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.close();
    }
}

/// Rows that are no table yet.
#[pyclass(frozen, module = "bsoap._bsoap", name = "Rows")]
pub(crate) struct Rows {
    batches: Vec<RawBatch>,
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.batches.iter().map(|batch| batch.rows).sum()
    }
}

impl Reader {
    fn new(
        definitions: &Definitions,
        binding: Arc<Binding>,
        operation: &str,
        is_request: bool,
        path: Option<&str>,
        limits: MessageLimits,
    ) -> PyResult<Result<Self, String>> {
        let plan = Arc::clone(&definitions.plan);
        let made = || {
            let target = Target::new(plan.plan(), &binding, operation);
            let target = target.map_err(|error| error.to_string())?;
            let root = message_of(&target, is_request)
                .and_then(|message| message.body.first_element())
                .ok_or_else(|| format!("messages of {operation} have no Body"))?;
            let path = path.map(Path::parse).transpose()?;
            let element = match &path {
                Some(path) => path.element(&plan, root)?,
                None => root,
            };
            let mut layout = Layout::new(&plan, element);
            let own = [("source", Kind::Text(Meaning::Text)), ("index", Kind::Int)];
            let own = own.map(|(name, kind)| ColumnSpec {
                name: name.to_owned(),
                kind,
                is_list: false,
            });
            for column in &mut layout.columns {
                if own.iter().any(|own| own.name == column.name) {
                    let note = format!("{0} of the messages is the column {0}_", column.name);
                    layout.notes.push(note);
                    column.name.push('_');
                }
            }
            let columns = own.into_iter().chain(layout.columns.iter().cloned());
            Ok(Self {
                columns: columns.collect(),
                plan: Arc::clone(&plan),
                target,
                is_request,
                limits,
                path,
                layout,
                binding: Arc::clone(&binding),
            })
        };
        Ok(made())
    }
}

fn message_of(target: &Target, is_request: bool) -> Option<&Message> {
    match is_request {
        true => Some(&target.operation().input),
        false => target.operation().output.as_ref(),
    }
}

/// Decodes jobs until there will be no more.
fn run(shared: &Shared) {
    let mut worker = Worker::new(&shared.reader);
    loop {
        let mut state = shared.state();
        let job = loop {
            if state.is_closed {
                return;
            }
            match state.queue.pop_front() {
                Some(job) => break job,
                None => {
                    let waited = shared.work.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        drop(state);
        let messages = job.messages;
        let done = panic::catch_unwind(AssertUnwindSafe(|| {
            worker.job(job.first, &job.names, messages)
        }));
        let finished = done.unwrap_or_else(|_| {
            worker = Worker::new(&shared.reader);
            lost(job.first, job.names)
        });
        shared.state().finished.insert(job.number, finished);
        shared.result.notify_all();
    }
}

/// The result of a job that panicked, so that nobody waits for it.
fn lost(first: u64, names: Vec<String>) -> Finished {
    let problem = "an internal error while it or a message beside it was read: please report it";
    let failure = |(index, name)| (name, index, "Error", problem.to_owned());
    Finished {
        messages: names.len(),
        failures: (first..).zip(names).map(failure).collect(),
        batches: Vec::new(),
    }
}

impl<'s> Worker<'s> {
    fn new(reader: &'s Reader) -> Self {
        let plan = reader.plan.plan();
        let MessageLimits { decoding, header } = reader.limits;
        let node = Node::new().with_header_limits(header);
        Self {
            reader,
            endpoint: Endpoint::new(plan, vec![Arc::clone(&reader.binding)], node),
            decoding: Decoding {
                stream: Stream::new(Way::default(), Arc::clone(plan), decoding),
                repairing: Repairing::new(plan, decoding),
            },
        }
    }

    /// Reads consecutive messages; `first` is the index of the first one.
    fn job(&mut self, first: u64, names: &[String], messages: Vec<Source>) -> Finished {
        let mut rows = RowCollector::new(&self.reader.columns, Binary::INLINE);
        let mut finished = Finished::default();
        for (index, (name, source)) in (first..).zip(names.iter().zip(messages)) {
            finished.messages += 1;
            let read = read(source).and_then(|text| self.message(text));
            match read {
                Ok(Some(record)) => self.add(&record, name, index, &mut rows),
                // The empty answer of a one-way operation.
                Ok(None) => {}
                Err((class, problem)) => {
                    finished
                        .failures
                        .push((name.clone(), index, class, problem));
                }
            }
        }
        finished.batches = rows.finish();
        finished
    }

    fn message(&mut self, text: Bytes) -> Result<Option<Arc<Record>>, (&'static str, String)> {
        match self.reader.is_request {
            true => self.request(text).map(Some),
            false => self.answer(text).map_err(|error| match error {
                Error::Fault(_) => ("Fault", error.report()),
                _ => unreadable(&error),
            }),
        }
    }

    fn answer(&mut self, body: Bytes) -> Result<Option<Arc<Record>>, Error> {
        let (_, awaiting) = self.reader.target.start();
        let awaiting = awaiting.with_header_limits(self.reader.limits.header);
        let incoming = IncomingReply {
            status: 200,
            content_type: None,
            body,
        };
        let OpenedReply::Message(undecoded) = awaiting.open(incoming)? else {
            return Ok(None);
        };
        let (root, text) = (undecoded.root(), undecoded.text().clone());
        let reply = match self.decoding.read(root, text, undecoded.repair()) {
            Ok(record) => undecoded.decoded(record)?,
            Err(error) => undecoded.undecodable(error)?,
        };
        match reply {
            Reply::Fault(fault) => Err(Error::Fault(fault)),
            Reply::Answer(answer) => Ok(Some(Arc::clone(answer.shared_record()))),
            Reply::Accepted => Ok(None),
        }
    }

    fn request(&mut self, body: Bytes) -> Result<Arc<Record>, (&'static str, String)> {
        let incoming = IncomingRequest {
            content_type: None,
            soap_action: None,
            body,
        };
        let open = self.endpoint.open(incoming);
        let mut undecoded = open.map_err(|reply| refused(&reply, None))?;
        loop {
            let (root, text) = (undecoded.root(), undecoded.text().clone());
            match self.decoding.read(root, text, Repair::default()) {
                Ok(record) => {
                    let decoded = undecoded.decoded(record);
                    let (received, _) = decoded.map_err(|reply| refused(&reply, None))?;
                    let (found, wanted) = (
                        received.target().operation(),
                        self.reader.target.operation(),
                    );
                    return match found.name == wanted.name {
                        true => Ok(Arc::clone(received.shared_record())),
                        false => Err((
                            "DecodeError",
                            format!("it is a request of {}, not of {}", found.name, wanted.name),
                        )),
                    };
                }
                Err(error) => {
                    let next = undecoded.undecodable(&error);
                    undecoded = next.map_err(|reply| refused(&reply, Some(&error)))?;
                }
            }
        }
    }

    /// Adds the rows of a message.
    fn add(&self, record: &Record, name: &str, index: u64, out: &mut RowCollector) {
        let body = View::of(record).child("Body");
        let Some(root) = body.and_then(|body| body.children().next()) else {
            return;
        };
        let layout = &self.reader.layout;
        let mut add = |found: Found<'_>| match found {
            Found::Rows(rows) if layout.is_flat(record) => {
                own(name, index, rows.len(), out);
                layout.add_rows(&rows, out, OWN);
                out.end_rows(rows.len());
            }
            Found::Rows(rows) => {
                for row in rows.iter() {
                    one(layout, &row, name, index, out);
                }
            }
            Found::Children(view, child) => {
                layout.add_all(&view, &child, out, OWN, |out| own(name, index, 1, out));
            }
            Found::Row(view) => one(layout, &view, name, index, out),
        };
        match &self.reader.path {
            Some(path) => path.visit(root, &mut add),
            None => add(Found::Row(root)),
        }
    }
}

fn one(layout: &Layout, view: &View<'_>, name: &str, index: u64, out: &mut RowCollector) {
    own(name, index, 1, out);
    layout.add(view, out, OWN);
    out.end_row();
}

/// Adds the columns that are not from the message, to some rows.
fn own(name: &str, index: u64, rows: usize, out: &mut RowCollector) {
    if let Some(column) = out.next(0) {
        (0..rows).for_each(|_| column.push_text(name));
    }
    if let Some(column) = out.next(1) {
        (0..rows).for_each(|_| column.push_int(i128::from(index)));
    }
}

/// The text of a message.
fn read(source: Source) -> Result<Bytes, (&'static str, String)> {
    let failed = |error: std::io::Error| ("Error", error.to_string());
    let text = match source {
        Source::Bytes(text) => Bytes::from_owner(text),
        Source::Path(path) => Bytes::from(std::fs::read(path).map_err(failed)?),
    };
    if !text.starts_with(&[0x1F, 0x8B]) {
        return Ok(text);
    }
    let mut expanded = Vec::new();
    let archive = flate2::read::MultiGzDecoder::new(&text[..]);
    let read = archive.take(MAX_MESSAGE).read_to_end(&mut expanded);
    read.map_err(failed)?;
    Ok(Bytes::from(expanded))
}

/// The operation of a message, by the name of the element in its Body.
fn operation_of(
    plan: &PythonPlan,
    binding: &Binding,
    is_request: bool,
    sample: Source,
) -> Result<String, String> {
    let text = read(sample).map_err(|(_, problem)| problem)?;
    let name = body_name(&text);
    let vocabulary = plan.plan().vocabulary();
    let candidates = binding.operations.iter().filter(|operation| {
        let message = match is_request {
            true => Some(&operation.input),
            false => operation.output.as_ref(),
        };
        let element = message.and_then(|message| message.body.first_element());
        element.is_some_and(|id| Some(vocabulary.local(plan.plan().element(id).name)) == name)
    });
    let names: Vec<&str> = candidates
        .map(|operation| operation.name.as_str())
        .collect();
    match &names[..] {
        [operation] => Ok((*operation).to_owned()),
        [] => Err(match name {
            Some("Fault") => "the first message is a fault: give the operation".to_owned(),
            Some(name) => {
                format!("no operation has messages with the element {name:?}: give the operation")
            }
            None => "the first message has no Body: give the operation".to_owned(),
        }),
        names => Err(format!(
            "the first message may be one of {}: give the operation",
            names.join(", ")
        )),
    }
}

/// The local name of the first element in the Body. It only chooses an operation; what a message is, its decoder decides.
fn body_name(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let mut tags = text.split('<').skip(1);
    let local = |tag: &str| -> Option<usize> {
        let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
        Some(tag[..end].find(':').map_or(0, |colon| colon + 1))
    };
    tags.find(|tag| {
        local(tag).is_some_and(|at| tag[at..].starts_with("Body") && !tag.starts_with('/'))
    })?;
    let tag = tags.find(|tag| !tag.starts_with('!'))?;
    let name = &tag[local(tag)?..];
    name.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))
        .next()
}
