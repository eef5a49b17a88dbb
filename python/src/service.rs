//! Services: handlers in Python, behind the server of the engine or another one.
//!
//! ```text
//! server of the engine ─┐                          ┌─ function, called here or on a blocking thread
//!                       ├─► bsoap::Service ─► Handler
//! ASGI, WSGI ───────────┘                          └─ coroutine function, run by an event loop
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use bsoap::schema::Definitions as Schemas;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::definitions::{Definitions, prepare};
use crate::errors::raise;
use crate::logs;
use crate::service::handler::{Handler, Registered};

pub(crate) mod context;
mod faults;
mod handler;
mod mounted;
mod options;
mod running;

pub(crate) use handler::Reply;
pub(crate) use running::Running;

use mounted::Engine;

/// A service with its handlers.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Service {
    service: bsoap::Service,
    /// What answers the requests of other servers, in this process.
    engine: Mutex<Option<Arc<Engine>>>,
}

#[pymethods]
impl Service {
    /// `submit(function, arguments, reply)` runs a coroutine function on an event loop.
    #[new]
    fn new(
        py: Python<'_>,
        definitions: &Definitions,
        handlers: Vec<Registered>,
        submit: Py<PyAny>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        prepare(py)?;
        logs::install();
        let schemas: &Arc<Schemas> = &definitions.definitions;
        let mut builder = options::apply(bsoap::Service::builder(schemas), options)?;
        let submit = Arc::new(submit);
        let binary = options::binary(options)?;
        for registered in handlers {
            let operation = registered.operation.clone();
            let handler = Handler::new(registered, &definitions.plan, &submit, binary);
            let handler = Arc::new(handler?);
            builder = builder.handle(operation, move |message| {
                Arc::clone(&handler).answer(message)
            });
        }
        let service = py.detach(|| builder.build());
        Ok(Self {
            service: service.map_err(|error| raise(py, error, None))?,
            engine: Mutex::new(None),
        })
    }

    /// The paths of the ports.
    #[getter]
    fn paths(&self) -> Vec<String> {
        self.service.paths().to_vec()
    }

    /// Serves at an address, on a number of threads.
    fn serve(&self, py: Python<'_>, address: &str, threads: usize) -> PyResult<Running> {
        Running::start(py, self.service.clone(), address, threads)
    }

    /// The answer to a request of another server: the status, the headers and the body.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        request: mounted::Received,
    ) -> PyResult<mounted::Answer<'py>> {
        let answering = mounted::answer(&self.service, request)?;
        self.engine()?.wait(py, answering)
    }

    /// The same for a future of an event loop, which also runs the handlers that are coroutine functions.
    fn answer_async<'py>(
        &self,
        py: Python<'py>,
        event_loop: Bound<'py, PyAny>,
        request: mounted::Received,
    ) -> PyResult<Bound<'py, PyAny>> {
        let answering = mounted::answer(&self.service, request)?;
        self.engine()?.spawn(py, event_loop, answering)
    }

    /// Waits for the handlers of one-way operations that another server has called.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let engine = self.engine()?;
        engine.finish(py, &self.service)
    }
}

impl Service {
    /// The engine of this process: after a fork, a new one. The old one is kept for ever, since its threads cannot be ended here.
    fn engine(&self) -> PyResult<Arc<Engine>> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = &*engine
            && engine.is_of_this_process()
        {
            return Ok(Arc::clone(engine));
        }
        let new = Arc::new(Engine::new()?);
        std::mem::forget(engine.replace(Arc::clone(&new)));
        Ok(new)
    }
}
