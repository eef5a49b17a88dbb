//! Waiting for the network, with Ctrl-C and forks in mind.

use std::future::Future;
use std::time::Duration;

use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// How often a waiting thread looks for signals, such as that of Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(30);

/// A runtime whose tasks run on the threads that wait.
pub(crate) fn waiting() -> PyResult<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| no_runtime(&error))
}

/// A runtime with a thread of its own, for asyncio and services.
pub(crate) fn working(threads: usize) -> PyResult<Runtime> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("bsoap")
        .enable_all()
        .build();
    runtime.map_err(|error| no_runtime(&error))
}

fn no_runtime(error: &std::io::Error) -> PyErr {
    pyo3::exceptions::PyRuntimeError::new_err(format!("cannot start a runtime: {error}"))
}

/// Waits for a future without the interpreter's lock. A signal whose handler raises, as that of Ctrl-C does, ends the wait.
///
/// # Errors
/// The exception of the signal's handler.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    runtime: &Runtime,
    future: impl Future<Output = T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        runtime.block_on(async {
            tokio::pin!(future);
            loop {
                tokio::select! {
                    biased;
                    done = &mut future => return Ok(done),
                    () = tokio::time::sleep(SIGNALS) => Python::attach(|py| py.check_signals())?,
                }
            }
        })
    })
}
