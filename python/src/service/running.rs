//! A service that runs on the server of the engine.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::errors::raise;

/// How often a waiting thread looks for signals.
const SIGNALS: Duration = Duration::from_millis(30);

/// The time that functions have to return whose requests are answered already, or whose time is over.
const LINGER: Duration = Duration::from_secs(1);

/// A service that runs on threads of its own.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Running {
    process: u32,
    base: String,
    urls: Vec<String>,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    ended: Arc<Ended>,
}

#[derive(Default)]
struct Ended {
    is_ended: Mutex<bool>,
    changed: Condvar,
}

impl Running {
    pub(super) fn start(
        py: Python<'_>,
        service: bsoap::Service,
        address: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let runtime = runtime(threads)?;
        let bound = py.detach(|| runtime.block_on(service.bind(address)));
        let bound = bound.map_err(|error| raise(py, error, None))?;
        let (stop, stopped) = oneshot::channel();
        let ended = Arc::new(Ended::default());
        let running = Self {
            process: std::process::id(),
            base: bound.base().to_owned(),
            urls: bound.urls(),
            stop: Mutex::new(Some(stop)),
            ended: Arc::clone(&ended),
        };
        let serve = move || {
            runtime.block_on(bound.run(async {
                // An error means that the handle is gone.
                let _ = stopped.await;
            }));
            runtime.shutdown_timeout(LINGER);
            let mut is_ended = ended
                .is_ended
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *is_ended = true;
            ended.changed.notify_all();
        };
        std::thread::Builder::new()
            .name("bsoap-service".into())
            // The interpreter keeps what it knows of a thread that runs under `attach`: otherwise each call of a handler makes it anew.
            .spawn(move || Python::attach(|py| py.detach(serve)))?;
        Ok(running)
    }
}

/// The runtime of a server. With one thread, that is the thread which serves.
fn runtime(threads: usize) -> PyResult<Runtime> {
    let mut builder = match threads {
        0 => return Err(PyValueError::new_err("threads is at least 1, not 0")),
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if threads > 1 {
        builder.worker_threads(threads);
    }
    Ok(builder.thread_name("bsoap-service").enable_all().build()?)
}

#[pymethods]
impl Running {
    /// The scheme and the address, such as `http://127.0.0.1:8000`.
    #[getter]
    fn base(&self) -> &str {
        &self.base
    }

    /// The URLs of the ports.
    #[getter]
    fn urls(&self) -> Vec<String> {
        self.urls.clone()
    }

    /// Accepts no more connections, and ends when the requests that were sent are answered.
    fn stop(&self) {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        drop({ stop }.take());
    }

    /// Waits until the service has ended. False if it has not, after a number of seconds.
    #[pyo3(signature = (timeout = None))]
    fn join(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        // The threads of a process are not those of its child.
        if self.process != std::process::id() {
            return Ok(true);
        }
        let limit = timeout.map(Duration::try_from_secs_f64).transpose();
        let limit = limit.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if py.detach(|| {
                self.ended
                    .wait(left.map_or(SIGNALS, |left| left.min(SIGNALS)))
            }) {
                return Ok(true);
            }
            py.check_signals()?;
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
        }
    }
}

impl Ended {
    fn wait(&self, limit: Duration) -> bool {
        let is_ended = self.is_ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(is_ended, limit, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
