//! Waiting for the network, with Ctrl-C and forks in mind.

use std::future::Future;
use std::ops::Deref;
use std::time::Duration;

use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// How often a waiting thread looks for signals, such as that of Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(30);

/// A runtime that belongs to a Python object. The garbage collector may drop it on any thread, also on that of another runtime, and in a
/// child of a fork: it never waits for its threads.
pub(crate) struct OwnedRuntime {
    process: u32,
    runtime: Option<Runtime>,
}

impl OwnedRuntime {
    fn new(made: std::io::Result<Runtime>) -> PyResult<Self> {
        let runtime = made.map_err(|error| {
            pyo3::exceptions::PyRuntimeError::new_err(format!("cannot start a runtime: {error}"))
        })?;
        Ok(Self {
            process: std::process::id(),
            runtime: Some(runtime),
        })
    }

    /// False in a child of a fork, which has not the threads of the runtime.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }
}

impl Deref for OwnedRuntime {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is taken by `drop` only")
    }
}

impl Drop for OwnedRuntime {
    fn drop(&mut self) {
        match self.runtime.take() {
            Some(runtime) if self.is_of_this_process() => runtime.shutdown_background(),
            of_parent => std::mem::forget(of_parent),
        }
    }
}

/// A runtime whose tasks run on the threads that wait.
pub(crate) fn waiting() -> PyResult<OwnedRuntime> {
    OwnedRuntime::new(Builder::new_current_thread().enable_all().build())
}

/// A runtime with a thread of its own, for asyncio and services.
pub(crate) fn working(threads: usize) -> PyResult<OwnedRuntime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).thread_name("bsoap");
    OwnedRuntime::new(builder.enable_all().build())
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
