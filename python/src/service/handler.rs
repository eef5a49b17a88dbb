//! Calls the functions of a service.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bsoap::{Fault, Message, Object, Target, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tokio::sync::oneshot;

use super::context::Context;
use super::faults::{failed, fault, refusal};
use crate::answer::body;
use crate::binary::Binary;
use crate::bridge::Bridge;
use crate::make::Source;
use crate::plan::PythonPlan;
use crate::take::take_answer;

/// A function, as `bsoap._service` registers it.
#[derive(FromPyObject)]
pub(super) struct Registered {
    pub(super) operation: String,
    function: Py<PyAny>,
    is_async: bool,
    /// The parameter that takes the whole request. None if the members are passed one by one.
    request: Option<Py<PyString>>,
    /// Parameter, member, and whether an absent member is left to the default of the parameter.
    members: Vec<(Py<PyString>, Py<PyString>, bool)>,
    /// Whether all other members are passed, too.
    takes_others: bool,
    /// The parameter that takes the context.
    context: Option<Py<PyString>>,
    /// The only member of the answer: its value may be returned alone.
    single: Option<String>,
    /// Whether that member may be absent.
    is_optional: bool,
    /// What binary values are for this function, if it is not as for the others.
    binary: Option<Py<PyAny>>,
}

/// A function that handles an operation.
pub(super) struct Handler {
    registered: Registered,
    plan: Arc<PythonPlan>,
    binary: Binary,
    submit: Arc<Py<PyAny>>,
    pace: Pace,
}

/// Who waits for the answer of a coroutine function.
type Sender = oneshot::Sender<Result<Value, Fault>>;

/// The function of an event loop to which coroutine functions are submitted: that of the server around the service.
#[derive(Clone)]
pub(super) struct Submit(pub(super) Arc<Py<PyAny>>);

impl Handler {
    pub(super) fn new(
        registered: Registered,
        plan: &Arc<PythonPlan>,
        submit: &Arc<Py<PyAny>>,
        binary: Binary,
    ) -> PyResult<Self> {
        let own = registered.binary.as_ref();
        let binary = Python::attach(|py| binary.or(own.map(|own| own.bind(py))))?;
        Ok(Self {
            binary,
            registered,
            plan: Arc::clone(plan),
            submit: Arc::clone(submit),
            pace: Pace::default(),
        })
    }

    pub(super) async fn answer(self: Arc<Self>, message: Message) -> Result<Value, Fault> {
        if self.registered.is_async {
            return Box::pin(self.run(message)).await;
        }
        if self.pace.is_quick() && message.attachments().is_empty() {
            return self.call(message);
        }
        // A function that may wait must not stop the other requests of this thread.
        let called = tokio::task::spawn_blocking(move || self.call(message)).await;
        called.unwrap_or_else(|_| Err(failed()))
    }

    /// Calls a function.
    fn call(&self, message: Message) -> Result<Value, Fault> {
        attach(|py| {
            let target = message.target().clone();
            let arguments = self
                .arguments(py, message)
                .map_err(|error| refusal(py, &target, error))?;
            let begun = Instant::now();
            let function = self.registered.function.bind(py);
            let returned = function.call((), Some(&arguments));
            self.pace.note(begun.elapsed());
            let answer = returned.and_then(|returned| self.value(&target, &returned));
            answer.map_err(|error| fault(py, &target, error))
        })
    }

    /// Runs a coroutine function on an event loop. If this future is dropped, its task is cancelled.
    async fn run(self: Arc<Self>, message: Message) -> Result<Value, Fault> {
        let (sender, answer) = oneshot::channel();
        let reply = match message.attachments().is_empty() {
            true => self.submit(message, sender)?,
            // They are read from files.
            false => {
                let submit = move || self.submit(message, sender);
                let submitted = tokio::task::spawn_blocking(submit).await;
                submitted.unwrap_or_else(|_| Err(failed()))?
            }
        };
        let guard = CancelGuard(Some(reply));
        let answer = answer.await;
        guard.disarm();
        // The reply was dropped: the loop has ended.
        answer.unwrap_or_else(|_| Err(failed()))
    }

    /// Submits a coroutine function to an event loop.
    fn submit(self: Arc<Self>, message: Message, sender: Sender) -> Result<Py<Reply>, Fault> {
        let submit = message.extensions().get::<Submit>();
        let submit = submit.map_or_else(|| Arc::clone(&self.submit), |own| Arc::clone(&own.0));
        let target = message.target().clone();
        attach(|py| {
            let arguments = self
                .arguments(py, message)
                .map_err(|error| refusal(py, &target, error))?;
            let submitted = || {
                let reply = Reply {
                    handler: Arc::clone(&self),
                    target: target.clone(),
                    sender: Mutex::new(Some(sender)),
                    cancel: Mutex::new(None),
                };
                let reply = Py::new(py, reply)?;
                let function = self.registered.function.bind(py);
                submit.call1(py, (function, arguments, &reply))?;
                Ok(reply)
            };
            submitted().map_err(|error| fault(py, &target, error))
        })
    }

    /// The keyword arguments of a call.
    fn arguments<'py>(&self, py: Python<'py>, message: Message) -> PyResult<Bound<'py, PyDict>> {
        let registered = &self.registered;
        let arguments = PyDict::new(py);
        let target = message.target();
        let source = Source {
            plan: &self.plan,
            record: message.shared_record(),
            binary: self.binary,
        };
        let request = body(py, &source, &target.operation().input)?;
        if let Some(parameter) = &registered.request {
            arguments.set_item(parameter, request)?;
        } else if request.is_instance(Bridge::get(py)?.object_type.bind(py))? {
            self.members(&request, &arguments)?;
        } else if let [(parameter, ..)] = registered.members.as_slice() {
            // The only part, which is of a simple type.
            arguments.set_item(parameter, request)?;
        }
        if let Some(parameter) = &registered.context {
            let context = Context {
                message,
                plan: Arc::clone(&self.plan),
                binary: self.binary,
            };
            arguments.set_item(parameter, context)?;
        }
        Ok(arguments)
    }

    fn members(&self, request: &Bound<'_, PyAny>, arguments: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = request.py();
        let given = request.getattr(pyo3::intern!(py, "__dict__"))?;
        let given = given.cast_into::<PyDict>()?;
        for (parameter, member, has_default) in &self.registered.members {
            let member = member.bind(py);
            match given.get_item(member)? {
                Some(value) => arguments.set_item(parameter, value)?,
                None if *has_default => {}
                // None, or an empty array.
                None => arguments.set_item(parameter, request.getattr(member)?)?,
            }
        }
        if self.registered.takes_others {
            for (member, value) in given {
                let is_named = |named: &(_, Py<PyString>, _)| member.eq(&named.1).unwrap_or(false);
                if !self.registered.members.iter().any(is_named) {
                    arguments.set_item(member, value)?;
                }
            }
        }
        Ok(())
    }

    /// The answer of what a function returned: the whole answer, or the value of its only member.
    fn value(&self, target: &Target, returned: &Bound<'_, PyAny>) -> PyResult<Value> {
        let value = take_answer(target, returned).map_err(|error| {
            let what = "the handler returned a value that is no answer";
            let raised = PyTypeError::new_err(format!("{what}: {}", error.value(returned.py())));
            raised.set_cause(returned.py(), Some(error));
            raised
        })?;
        let Some(single) = &self.registered.single else {
            return Ok(match value {
                Value::Nil => Value::Object(Object::new()),
                value => value,
            });
        };
        Ok(match value {
            Value::Nil if self.registered.is_optional => Value::Object(Object::new()),
            Value::Object(members) if self.is_whole(single, &members) => Value::Object(members),
            value => Value::object([(single.as_str(), value)]),
        })
    }

    fn is_whole(&self, single: &str, members: &Object) -> bool {
        let only_headers = || {
            members
                .iter()
                .all(|(key, _)| *key == *bsoap::protocol::HEADERS)
        };
        members.get(single).is_some() || (self.registered.is_optional && only_headers())
    }
}

/// Runs a function with the interpreter, unless that has ended.
fn attach<T>(work: impl FnOnce(Python<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
    Python::try_attach(work).unwrap_or_else(|| Err(failed()))
}

/// Whether a function answers so quickly that it is called on the thread of the connection. It is, after a number of quick calls in a
/// row, which doubles each time that this was wrong.
struct Pace {
    /// How many quick calls in a row there were, and how many are needed.
    quick: AtomicU32,
    needed: AtomicU32,
}

/// A call that takes longer is not quick.
const QUICK: Duration = Duration::from_millis(1);

/// As many quick calls are needed at first, and at most: then the function is never called on the thread of the connection.
const FEWEST_QUICK_CALLS: u32 = 32;
const MOST_QUICK_CALLS: u32 = 1 << 20;

impl Default for Pace {
    fn default() -> Self {
        Self {
            quick: AtomicU32::new(0),
            needed: AtomicU32::new(FEWEST_QUICK_CALLS),
        }
    }
}

impl Pace {
    fn is_quick(&self) -> bool {
        self.quick.load(Ordering::Relaxed) >= self.needed.load(Ordering::Relaxed)
    }

    fn note(&self, taken: Duration) {
        let needed = self.needed.load(Ordering::Relaxed);
        let quick = self.quick.load(Ordering::Relaxed);
        if taken < QUICK {
            if quick < needed && needed < MOST_QUICK_CALLS {
                self.quick.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        if quick >= needed {
            let more = needed.saturating_mul(2).min(MOST_QUICK_CALLS);
            self.needed.store(more, Ordering::Relaxed);
        }
        self.quick.store(0, Ordering::Relaxed);
    }
}

/// Where a coroutine function puts its answer.
#[pyclass(frozen, module = "bsoap._bsoap")]
pub(crate) struct Reply {
    handler: Arc<Handler>,
    target: Target,
    sender: Mutex<Option<Sender>>,
    /// Cancels the task.
    cancel: Mutex<Option<Py<PyAny>>>,
}

#[pymethods]
impl Reply {
    /// Sets the function that cancels the task. False if nobody waits for an answer any more.
    fn begin(&self, cancel: Py<PyAny>) -> bool {
        let before = lock(&self.cancel).replace(cancel);
        drop(before);
        let sender = lock(&self.sender);
        sender.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// The function has returned.
    fn finish(&self, returned: &Bound<'_, PyAny>) {
        let py = returned.py();
        let answer = self.handler.value(&self.target, returned);
        self.send(answer.map_err(|error| fault(py, &self.target, error)));
    }

    /// The function has raised an exception.
    fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        // Nobody waits for a task that was cancelled, and its end is no failure.
        if lock(&self.sender)
            .as_ref()
            .is_none_or(|sender| sender.is_closed())
        {
            return;
        }
        let error = PyErr::from_value(error.clone());
        self.send(Err(fault(py, &self.target, error)));
    }
}

impl Reply {
    fn send(&self, answer: Result<Value, Fault>) {
        // Dropped without the lock: it may run Python code.
        let cancel = lock(&self.cancel).take();
        drop(cancel);
        let sender = lock(&self.sender).take();
        if let Some(sender) = sender {
            // Nobody waits if the client is gone.
            let _ = sender.send(answer);
        }
    }
}

/// Cancels the task of a coroutine function when it is dropped.
struct CancelGuard(Option<Py<Reply>>);

impl CancelGuard {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some(reply) = self.0.take() else {
            return;
        };
        Python::try_attach(|py| {
            let cancel = lock(&reply.get().cancel).take();
            if let Some(cancel) = cancel {
                // The loop may be closed.
                let _ = cancel.call0(py);
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
