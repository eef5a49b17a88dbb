//! Clients.

use std::sync::{Arc, Mutex, PoisonError};

use bsoap::Wsdl;
use bsoap::client::{Call, Calling};
use bsoap::http::ClientOptions;
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyMapping, PyString};
use pyo3::{IntoPyObjectExt, intern};

use crate::answer::Answer;
use crate::arguments::{flag, header, limit, number, text};
use crate::attachment::Attachment;
use crate::binary::Binary;
use crate::definitions::{Definitions, prepare, version_name};
use crate::errors::{Called, raise};
use crate::options::apply;
use crate::plan::PythonPlan;
use crate::runtime::{self, OwnedRuntime};
use crate::take::{Attachments, take, take_request};

/// A client of one port. Threads may share it.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Client {
    definitions: Arc<bsoap::schema::Definitions>,
    plan: Arc<PythonPlan>,
    options: Py<PyDict>,
    binary: Binary,
    engine: Mutex<Arc<Engine>>,
}

/// What does not survive a fork: connections and the runtime.
struct Engine {
    client: bsoap::Client,
    /// For calls that block their thread.
    waiting: OwnedRuntime,
    /// For asyncio, made when it is first needed.
    working: std::sync::OnceLock<OwnedRuntime>,
}

impl Engine {
    fn new(
        py: Python<'_>,
        definitions: &Arc<bsoap::schema::Definitions>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Arc<Self>> {
        let builder = apply(bsoap::Client::builder(Wsdl::from(definitions)), options)?;
        let client = builder.build().map_err(|error| raise(py, error, None))?;
        Ok(Arc::new(Self {
            client,
            waiting: runtime::waiting()?,
            working: std::sync::OnceLock::new(),
        }))
    }

    fn working(&self) -> PyResult<&OwnedRuntime> {
        if let Some(runtime) = self.working.get() {
            return Ok(runtime);
        }
        let made = runtime::working(1)?;
        Ok(self.working.get_or_init(|| made))
    }
}

impl Client {
    /// The engine of this process: after a fork, a new one. The old one is kept for ever, since its runtime cannot be ended here.
    fn engine(&self, py: Python<'_>) -> PyResult<Arc<Engine>> {
        let engine = {
            let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(&engine)
        };
        if engine.waiting.is_of_this_process() {
            return Ok(engine);
        }
        let new = Engine::new(py, &self.definitions, self.options.bind(py))?;
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *engine, Arc::clone(&new));
        std::mem::forget(old);
        Ok(new)
    }

    /// Prepares a call: its message is made here, while the arguments cannot change.
    fn prepare(
        &self,
        py: Python<'_>,
        engine: &Engine,
        operation: &str,
        arguments: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Calling> {
        let blocks = self.blocks(py, options)?;
        let (value, blocks) = match engine.client.target(operation) {
            Ok(target) => take_request(&target, arguments, blocks.as_ref(), Attachments::Beside)?,
            // The call is refused.
            Err(_) => (take(arguments)?, bsoap::Object::new()),
        };
        let mut call = engine.client.operation(operation);
        for (part, block) in blocks {
            call = call.soap_header(&part, block);
        }
        if let Some(options) = options {
            call = call_options(call, options)?;
        }
        Ok(py.detach(|| call.call(value)))
    }

    /// The declared header blocks of a call: those of the client, unless the call has others of the same name.
    fn blocks<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let of_client = self.options.bind(py).get_item("soap_headers")?;
        let of_call = options.map(|options| options.get_item("soap_headers"));
        let of_call = of_call.transpose()?.flatten();
        let (Some(of_client), Some(of_call)) = (&of_client, &of_call) else {
            return Ok(of_call.or(of_client));
        };
        let all = of_client.cast::<PyDict>()?.copy()?;
        all.update(of_call.cast::<PyMapping>()?)?;
        Ok(Some(all.into_any()))
    }

    fn answer<'py>(
        &self,
        py: Python<'py>,
        engine: &Engine,
        operation: &str,
        binary: Binary,
        result: Result<bsoap::Answer, bsoap::Error>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match result {
            Ok(answer) => Answer::new(answer, &self.plan, binary).into_bound_py_any(py),
            Err(error) => {
                let target = engine.client.target(operation).ok();
                let called = target.as_ref().map(|target| Called {
                    plan: &self.plan,
                    target,
                    binary,
                });
                Err(raise(py, error, called))
            }
        }
    }

    /// What the binary values of an answer are.
    fn binary(&self, options: Option<&Bound<'_, PyDict>>) -> PyResult<Binary> {
        let option = options.map(|options| options.get_item("binary"));
        self.binary.or(option.transpose()?.flatten().as_ref())
    }
}

/// Options of one call.
fn call_options(mut call: Call, options: &Bound<'_, PyDict>) -> PyResult<Call> {
    for (name, value) in options {
        call = match name.cast::<PyString>()?.to_str()? {
            "timeout" => call.timeout(limit(&value, "timeout")?),
            "endpoint" => call.endpoint(text(&value, "endpoint")?),
            // They are taken with the arguments.
            "soap_headers" => call,
            "soap_headers_xml" => {
                for xml in value.try_iter()? {
                    call = call.soap_header_xml(xml?.extract::<String>()?);
                }
                call
            }
            "http_headers" => {
                for (name, value) in value.cast::<PyDict>()? {
                    let (name, value) = header(&name, &value)?;
                    call = call.http_header(&name, &value);
                }
                call
            }
            "attachments" => {
                for attachment in value.try_iter()? {
                    let attachment = attachment?;
                    let attachment = attachment.cast::<Attachment>()?;
                    call = call.attach(attachment.get().inner().clone());
                }
                call
            }
            // Of the answer.
            "binary" => call,
            "idempotent" if flag(&value, "idempotent")? => call.idempotent(),
            "idempotent" => call,
            "keep_envelopes" if value.is_truthy()? => call.keep_envelopes(),
            "keep_envelopes" => call,
            other => {
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "a call has no option {other:?}"
                )));
            }
        };
    }
    Ok(call)
}

#[pymethods]
impl Client {
    #[new]
    fn new(
        py: Python<'_>,
        definitions: &Definitions,
        options: Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        prepare(py)?;
        let engine = Engine::new(py, &definitions.definitions, &options)?;
        let most = match options.get_item("max_response")? {
            Some(most) => number(&most, "max_response")?,
            None => ClientOptions::default().max_response,
        };
        Ok(Self {
            binary: Binary::bytes(most).or(options.get_item("binary")?.as_ref())?,
            definitions: Arc::clone(&definitions.definitions),
            plan: Arc::clone(&definitions.plan),
            options: options.unbind(),
            engine: Mutex::new(engine),
        })
    }

    /// Calls an operation and waits for the answer.
    #[pyo3(signature = (operation, arguments, options = None))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        operation: &str,
        arguments: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine(py)?;
        let calling = self.prepare(py, &engine, operation, arguments, options)?;
        let binary = self.binary(options)?;
        let result = runtime::wait(py, &engine.waiting, calling)?;
        self.answer(py, &engine, operation, binary, result)
    }

    /// Calls an operation; the answer is given to a future of asyncio.
    #[pyo3(signature = (event_loop, operation, arguments, options = None))]
    fn call_async<'py>(
        slf: Bound<'py, Self>,
        event_loop: Bound<'py, PyAny>,
        operation: String,
        arguments: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let engine = slf.get().engine(py)?;
        let calling = slf
            .get()
            .prepare(py, &engine, &operation, arguments, options)?;
        let binary = slf.get().binary(options)?;
        let future = event_loop.call_method0(intern!(py, "create_future"))?;
        let settle = py.import("bsoap._async")?.getattr("settle")?.unbind();
        let (client, waiting) = (slf.clone().unbind(), future.clone().unbind());
        let event_loop = event_loop.unbind();
        let running = Arc::clone(&engine);
        let task = engine.working()?.spawn(async move {
            let result = calling.await;
            Python::attach(|py| {
                let answer = client
                    .get()
                    .answer(py, &running, &operation, binary, result);
                let (value, error) = match answer {
                    Ok(value) => (Some(value), None),
                    Err(error) => (None, Some(error.into_value(py))),
                };
                // The loop may be closed by now: then nobody waits.
                let arguments = (settle, waiting, value, error);
                let _ = event_loop.call_method1(py, "call_soon_threadsafe", arguments);
            });
        });
        let cancel = Cancel::new(task.abort_handle());
        future.call_method1(intern!(py, "add_done_callback"), (Bound::new(py, cancel)?,))?;
        Ok(future)
    }

    /// Reads an answer that arrived at an endpoint of the program.
    #[pyo3(signature = (operation, body, content_type = None))]
    fn read_answer<'py>(
        &self,
        py: Python<'py>,
        operation: &str,
        body: PyBackedBytes,
        content_type: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine(py)?;
        let body = Bytes::from_owner(body);
        let client = &engine.client;
        let result = py.detach(|| client.read_answer(operation, content_type, body));
        self.answer(py, &engine, operation, self.binary, result)
    }

    /// The request that a call would send: its text and its HTTP headers.
    #[pyo3(signature = (operation, arguments, options = None))]
    fn message<'py>(
        &self,
        py: Python<'py>,
        operation: &str,
        arguments: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, pyo3::types::PyBytes>, Bound<'py, PyDict>)> {
        let engine = self.engine(py)?;
        let blocks = self.blocks(py, options)?;
        let target = engine.client.target(operation);
        let target = target.map_err(|error| raise(py, error, None))?;
        let (value, mut headers) =
            take_request(&target, arguments, blocks.as_ref(), Attachments::Octets)?;
        let xml = options.map(|options| options.get_item("soap_headers_xml"));
        if let Some(blocks) = xml.transpose()?.flatten() {
            let blocks: Vec<String> = blocks.extract()?;
            let blocks = blocks.into_iter().map(bsoap::Value::from);
            headers.insert("#any", bsoap::Value::Array(blocks.collect()));
        }
        let contents = bsoap::Contents::from(value).with_more_headers(&headers);
        let written = engine
            .client
            .request(operation, contents)
            .and_then(|request| request.write().map_err(bsoap::Error::from));
        let (message, _) = written.map_err(|error| raise(py, error, None))?;
        let found = PyDict::new(py);
        found.set_item("content-type", &message.headers.content_type)?;
        if let Some(action) = &message.headers.soap_action {
            found.set_item("soapaction", action)?;
        }
        Ok((pyo3::types::PyBytes::new(py, &message.body), found))
    }

    /// The address that messages are sent to.
    #[getter]
    fn endpoint(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.engine(py)?.client.endpoint().to_owned())
    }

    /// The names of the service and the port, and the version of SOAP.
    #[getter]
    fn port(&self, py: Python<'_>) -> PyResult<(String, String, &'static str)> {
        let engine = self.engine(py)?;
        let client = &engine.client;
        let version = version_name(client.version());
        Ok((
            client.service().to_owned(),
            client.port().name.clone(),
            version,
        ))
    }

    /// What the differential machinery saved: counts of messages by way.
    fn statistics(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let engine = self.engine(py)?;
        let client = &engine.client;
        Ok((
            format!("{:?}", client.sender_stats()),
            format!("{:?}", client.receiver_stats()),
        ))
    }
}

/// Ends the task of a call whose future is done, as by `task.cancel()`.
#[pyclass(frozen)]
pub(crate) struct Cancel(Mutex<Option<tokio::task::AbortHandle>>);

impl Cancel {
    pub(crate) fn new(task: tokio::task::AbortHandle) -> Self {
        Self(Mutex::new(Some(task)))
    }
}

#[pymethods]
impl Cancel {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        let task = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
        }
    }
}
