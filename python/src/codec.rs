//! Conversion without a transport.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap::codec::encode::EncodeOptions;
use bsoap::codec::plan::ElementId;
use bsoap::codec::repair::Repair;
use bsoap::codec::{DecodeOptions, Plan};
use bsoap::differential::receive::{Stream, Way};
use bsoap::differential::send::{Outgoing, Policy, Template as Templates};
use bsoap::protocol::{
    Answer, Contents, Endpoint, HEADERS, HeaderLimits, IncomingReply, IncomingRequest, Node,
    OpenedReply, Reply, Target,
};
use bsoap::schema::Binding;
use bsoap::{Error, Record, Value};
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::answer::{self, body, headers, regions};
use crate::binary::Binary;
use crate::definitions::{Definitions, prepare};
use crate::errors::{Called, raise, refused};
use crate::exception::error;
use crate::limits::MessageLimits;
use crate::make::Source;
use crate::options::of_decoder;
use crate::plan::PythonPlan;
use crate::take::{Attachments, take_request};

/// A decoded message.
#[pyclass(frozen, module = "bsoap.codec")]
pub(crate) struct Decoded {
    record: Arc<Record>,
    plan: Arc<PythonPlan>,
    target: Target,
    is_request: bool,
    blocks: bsoap::Object,
    /// The slots that changed; `None` if all did.
    changes: Option<Vec<std::ops::Range<usize>>>,
}

impl Decoded {
    /// The message, which nothing came beside.
    fn source(&self) -> Source<'_> {
        Source {
            plan: &self.plan,
            record: &self.record,
            binary: Binary::INLINE,
        }
    }
}

#[pymethods]
impl Decoded {
    /// The name of the operation.
    #[getter]
    fn operation(&self) -> &str {
        &self.target.operation().name
    }

    /// The arguments or the result.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let operation = self.target.operation();
        let message = match self.is_request {
            true => Some(&operation.input),
            false => operation.output.as_ref(),
        };
        match message {
            Some(message) => body(py, &self.source(), message),
            None => Ok(py.None().into_bound(py)),
        }
    }

    /// The SOAP header blocks.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        headers(py, &self.target, Some(&self.source()), &self.blocks)
    }

    /// The deviations from the WSDL that were accepted.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let warnings = self.record.warnings().iter();
        warnings.map(ToString::to_string).collect()
    }

    /// What is wrong with the identifiers (`xs:ID`) and references (`xs:IDREF`) of the message: `(path, problem)`, the first `most` ones.
    #[pyo3(signature = (most = 100))]
    fn wrong_identities(&self, py: Python<'_>, most: usize) -> Vec<(String, String)> {
        answer::wrong_identities(py, &self.record, most)
    }

    /// What changed since the last message of the same `Decoder`: `(path, first, end)`. None if all is new.
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let changes = self.changes.as_ref();
        changes
            .map(|slots| regions(py, bsoap::codec::regions(&self.record, slots)))
            .transpose()
    }

    /// The elements that a path such as `series.values.value` leads to, as a `bsoap.Table`; without a path the whole message as one row.
    #[pyo3(signature = (path = None))]
    fn table<'py>(&self, py: Python<'py>, path: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        crate::table::table_of(py, &self.plan, &self.record, Binary::INLINE, path)
    }

    fn __repr__(&self) -> String {
        let kind = match self.is_request {
            true => "request",
            false => "answer",
        };
        format!(
            "<bsoap.codec.Decoded {kind} of {}>",
            self.target.operation().name
        )
    }
}

/// The port of a WSDL with a name, or the first.
pub(crate) fn binding(
    py: Python<'_>,
    definitions: &Definitions,
    port: Option<&str>,
) -> PyResult<Arc<Binding>> {
    let found = match port {
        Some(name) => definitions.port(name),
        None => definitions.definitions.ports().next().map(|(_, port)| port),
    };
    let found = found.map(|port| Arc::clone(&port.binding));
    found.ok_or_else(|| {
        let message = match port {
            Some(name) => format!("the WSDL has no SOAP port {name:?}"),
            None => "the WSDL has no SOAP port".to_owned(),
        };
        error(py, "SchemaError", &message)
    })
}

fn target(
    py: Python<'_>,
    definitions: &Definitions,
    operation: &str,
    port: Option<&str>,
) -> PyResult<Target> {
    let binding = binding(py, definitions, port)?;
    let target = Target::new(definitions.plan.plan(), &binding, operation);
    target.map_err(|error| raise(py, error.into(), None))
}

/// The text of a message.
enum Written {
    Whole(Vec<u8>),
    Chunks(Outgoing),
}

/// Writes the requests of an operation, and of similar ones only what changed.
#[pyclass(frozen, module = "bsoap.codec")]
pub(crate) struct Template {
    target: Target,
    template: Mutex<Templates>,
    differential: bool,
}

#[pymethods]
impl Template {
    #[new]
    #[pyo3(signature = (definitions, operation, *, port = None, differential = true))]
    fn new(
        py: Python<'_>,
        definitions: &Definitions,
        operation: &str,
        port: Option<&str>,
        differential: bool,
    ) -> PyResult<Self> {
        prepare(py)?;
        Ok(Self {
            target: target(py, definitions, operation, port)?,
            template: Mutex::new(Templates::new(Policy::default(), EncodeOptions::default())),
            differential,
        })
    }

    /// The text of a request with these arguments.
    #[pyo3(signature = (value, soap_headers = None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        value: &Bound<'py, PyAny>,
        soap_headers: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (value, headers) =
            take_request(&self.target, value, soap_headers, Attachments::Octets)?;
        let written = py.detach(|| -> Result<Written, Error> {
            let contents = Contents::from(value).with_more_headers(&headers);
            let request = self.target.request(contents)?;
            if !self.differential {
                return Ok(Written::Whole(request.write()?.0.body));
            }
            let (mut record, _, awaiting) = request.start();
            let mut template = self.template.lock().unwrap_or_else(PoisonError::into_inner);
            let updated = template.update(&mut record);
            updated.map_err(|error| awaiting.target().unwritable(error))?;
            Ok(Written::Chunks(template.outgoing()))
        });
        match written.map_err(|error| raise(py, error, None))? {
            Written::Whole(text) => Ok(PyBytes::new(py, &text)),
            Written::Chunks(text) => {
                let length = usize::try_from(text.length).unwrap_or(usize::MAX);
                PyBytes::new_with(py, length, |mut out| {
                    for chunk in &text.chunks {
                        let (now, rest) = out.split_at_mut(chunk.len().min(out.len()));
                        now.copy_from_slice(&chunk[..now.len()]);
                        out = rest;
                    }
                    Ok(())
                })
            }
        }
    }

    /// The text of a request that is made of the schema alone, without header blocks.
    fn sample<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sampled = self.target.sample_request();
        let mut arguments =
            sampled.map_err(|problem| error(py, "LimitError", &problem.to_string()))?;
        if let Value::Object(members) = &mut arguments {
            members.remove(HEADERS);
        }
        let request = self.target.request(arguments).map_err(Error::from);
        let written = request.and_then(|request| Ok(request.write()?.0.body));
        let text = written.map_err(|error| raise(py, error, None))?;
        Ok(PyBytes::new(py, &text))
    }

    /// The HTTP headers that go with the requests.
    #[getter]
    fn http_headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (headers, _) = self.target.start();
        let found = PyDict::new(py);
        found.set_item("Content-Type", headers.content_type)?;
        if let Some(action) = headers.soap_action {
            found.set_item("SOAPAction", action)?;
        }
        Ok(found)
    }
}

/// Reads the messages of a port, and of similar ones only what changed.
#[pyclass(frozen, module = "bsoap.codec")]
pub(crate) struct Decoder {
    binding: Arc<Binding>,
    plan: Arc<PythonPlan>,
    endpoint: Endpoint,
    header_limits: HeaderLimits,
    stream: Mutex<Stream>,
    repairing: Repairing,
}

impl Decoder {
    /// Decodes a text; from the message before it what is equal. One that has to be rewritten is new as a whole.
    fn read(
        &self,
        root: ElementId,
        text: Bytes,
        repair: Repair,
    ) -> Result<Read, bsoap::codec::decode::Error> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let received = match stream.receive(root, text.clone()) {
            Ok(received) => received,
            Err(error) => {
                let record = self.repairing.read(repair, error, root, &text)?;
                return Ok((Arc::new(record), None));
            }
        };
        let spans = (!received.changes.is_all()).then(|| {
            let spans = received.changes.spans();
            spans.map(|span| span.now.clone()).collect()
        });
        Ok((received.record, spans))
    }
}

/// Reads messages with deviations that are accepted, but that no decoder can read as they are.
pub(crate) struct Repairing {
    plan: Arc<Plan>,
    options: DecodeOptions,
}

impl Repairing {
    pub(crate) fn new(plan: &Arc<Plan>, options: DecodeOptions) -> Self {
        Self {
            plan: Arc::clone(plan),
            options,
        }
    }

    /// The Record of a message that a decoder could not read.
    pub(crate) fn read(
        &self,
        repair: Repair,
        error: bsoap::codec::decode::Error,
        root: ElementId,
        text: &[u8],
    ) -> Result<Record, bsoap::codec::decode::Error> {
        let mut decoder = bsoap::codec::Decoder::new(Arc::clone(&self.plan), self.options);
        repair.after(error, &mut decoder, root, text)
    }
}

/// The Record and its changes.
type Read = (Arc<Record>, Option<Vec<std::ops::Range<usize>>>);

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (definitions, *, mode, port = None, differential = true, limits = None))]
    fn new(
        py: Python<'_>,
        definitions: &Definitions,
        mode: &Bound<'_, PyAny>,
        port: Option<&str>,
        differential: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        prepare(py)?;
        let binding = binding(py, definitions, port)?;
        let plan = definitions.plan.plan();
        let MessageLimits {
            decoding: options,
            header: header_limits,
        } = of_decoder(mode, limits)?;
        let node = Node::new().with_header_limits(header_limits);
        let way = match differential {
            true => Way::default(),
            false => Way::Off,
        };
        Ok(Self {
            endpoint: Endpoint::new(plan, vec![Arc::clone(&binding)], node),
            header_limits,
            repairing: Repairing::new(plan, options),
            stream: Mutex::new(Stream::new(way, Arc::clone(plan), options)),
            plan: Arc::clone(&definitions.plan),
            binding,
        })
    }

    /// Reads the answer to an operation. A fault is raised.
    #[pyo3(signature = (operation, text, *, status = 200, content_type = None))]
    fn answer(
        &self,
        py: Python<'_>,
        operation: &str,
        text: PyBackedBytes,
        status: u16,
        content_type: Option<&str>,
    ) -> PyResult<Option<Decoded>> {
        let target = Target::new(self.plan.plan(), &self.binding, operation)
            .map_err(|error| raise(py, error.into(), None))?;
        let read = py.detach(|| -> Result<Option<(Answer, _)>, Error> {
            let (_, awaiting) = target.start();
            let awaiting = awaiting.with_header_limits(self.header_limits);
            let body = Bytes::from_owner(text);
            let opened = awaiting.open(IncomingReply {
                status,
                content_type,
                body,
            })?;
            let OpenedReply::Message(undecoded) = opened else {
                return Ok(None);
            };
            let (root, text) = (undecoded.root(), undecoded.text().clone());
            let read = self.read(root, text, undecoded.repair());
            let (reply, changes) = match read {
                Ok((record, changes)) => (undecoded.decoded(record)?, changes),
                Err(error) => (undecoded.undecodable(error)?, None),
            };
            match reply {
                Reply::Answer(answer) => Ok(Some((answer, changes))),
                Reply::Accepted => Ok(None),
                Reply::Fault(fault) => Err(Error::Fault(fault)),
            }
        });
        let called = Called {
            plan: &self.plan,
            target: &target,
            binary: Binary::INLINE,
        };
        let read = read.map_err(|error| raise(py, error, Some(called)))?;
        Ok(read.map(|(answer, changes)| Decoded {
            record: Arc::clone(answer.shared_record()),
            plan: Arc::clone(&self.plan),
            target: answer.target().clone(),
            is_request: false,
            blocks: answer.headers(),
            changes,
        }))
    }

    /// Reads a request; its operation is found by its Body and its action.
    #[pyo3(signature = (text, *, content_type = None, soap_action = None))]
    fn request(
        &self,
        py: Python<'_>,
        text: PyBackedBytes,
        content_type: Option<&str>,
        soap_action: Option<&str>,
    ) -> PyResult<Decoded> {
        let read = py.detach(|| {
            let body = Bytes::from_owner(text);
            let incoming = IncomingRequest {
                content_type,
                soap_action,
                body,
            };
            let open = self.endpoint.open(incoming);
            let mut undecoded = open.map_err(|reply| refused(&reply, None))?;
            loop {
                let (root, text) = (undecoded.root(), undecoded.text().clone());
                match self.read(root, text, Repair::default()) {
                    Ok((record, changes)) => {
                        let decoded = undecoded.decoded(record);
                        let (received, _) = decoded.map_err(|reply| refused(&reply, None))?;
                        return Ok((received, changes));
                    }
                    Err(error) => {
                        let next = undecoded.undecodable(&error);
                        undecoded = next.map_err(|reply| refused(&reply, Some(&error)))?;
                    }
                }
            }
        });
        match read {
            Ok((received, changes)) => Ok(Decoded {
                record: Arc::clone(received.shared_record()),
                plan: Arc::clone(&self.plan),
                target: received.target().clone(),
                is_request: true,
                blocks: received.headers(),
                changes,
            }),
            Err((class, message)) => Err(error(py, class, &message)),
        }
    }
}
