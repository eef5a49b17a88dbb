//! Errors as the exceptions of `bsoap._errors`.

use std::error::Error as StdError;

use bsoap::http::ErrorKind;
use bsoap::{Error, Fault};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::limits;
use crate::make::make;
use crate::plan::PythonPlan;

/// The exception of an error. `operation` gives the declared details of faults.
pub(crate) fn raise(
    py: Python<'_>,
    error: Error,
    plan: Option<(&PythonPlan, &bsoap::Target)>,
) -> PyErr {
    let raised = match &error {
        Error::Fault(fault) => fault_error(py, fault, plan),
        Error::Hook { source, .. } => match source.downcast_ref::<PyErr>() {
            Some(error) => return error.clone_ref(py),
            None => named(py, "Error", &error),
        },
        _ => {
            let name = class_of(&error);
            named(py, name, &error)
        }
    };
    raised.unwrap_or_else(|problem| problem)
}

fn class_of(error: &Error) -> &'static str {
    if is_limit(error) {
        return "LimitError";
    }
    match error {
        Error::Wsdl(_) => "SchemaError",
        Error::Exchange(_) | Error::Type(_) => match error.blame() {
            bsoap::Blame::Caller => "EncodeError",
            _ => "DecodeError",
        },
        Error::Transport(_) => "TransportError",
        _ => "Error",
    }
}

/// Whether a limit was exceeded: all such errors name it as (limit `name`).
fn is_limit(error: &dyn StdError) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.to_string().contains("limit `") {
            return true;
        }
        next = error.source();
    }
    false
}

fn named(py: Python<'_>, class: &str, error: &Error) -> PyResult<PyErr> {
    let attributes = PyDict::new(py);
    if let Error::Transport(_) = error {
        attributes.set_item("is_timeout", error.is_timeout())?;
        attributes.set_item("is_connect", error.is_connect())?;
        attributes.set_item("was_not_sent", error.was_not_sent())?;
        attributes.set_item("http_status", error.http_status())?;
    }
    let mut message = error.report();
    if let Some(option) = raised_by(class, error) {
        message = format!("{message}; {option} accepts more");
    }
    build(py, class, &message, &attributes)
}

/// The option that raises the limit which was exceeded.
fn raised_by(class: &str, error: &Error) -> Option<String> {
    if let Error::Transport(error) = error
        && let ErrorKind::TooLarge { .. } = error.kind()
    {
        return Some("max_response=…".to_owned());
    }
    limits::option_for(error).filter(|_| class == "LimitError")
}

/// The class of the exception for a message that cannot be read, and its text.
pub(crate) fn unreadable(problem: String) -> (&'static str, String) {
    match limits::option_in(&problem) {
        Some(option) => ("LimitError", format!("{problem}; {option} accepts more")),
        None => ("DecodeError", problem),
    }
}

/// An exception of a class of `bsoap._errors`, with a message and attributes.
fn build(
    py: Python<'_>,
    class: &str,
    message: &str,
    attributes: &Bound<'_, PyDict>,
) -> PyResult<PyErr> {
    let class = py.import("bsoap._errors")?.getattr(class)?;
    let raised = class.call1((message,))?;
    for (name, value) in attributes {
        raised.setattr(name.cast::<pyo3::types::PyString>()?, value)?;
    }
    Ok(PyErr::from_value(raised))
}

/// An exception of `bsoap._errors` with a message alone.
pub(crate) fn error(py: Python<'_>, class: &str, message: &str) -> PyErr {
    build(py, class, message, &PyDict::new(py)).unwrap_or_else(|problem| problem)
}

fn fault_error(
    py: Python<'_>,
    fault: &Fault,
    plan: Option<(&PythonPlan, &bsoap::Target)>,
) -> PyResult<PyErr> {
    let attributes = PyDict::new(py);
    attributes.set_item("code", fault.code.to_string())?;
    let subcodes = fault.subcodes.iter().map(ToString::to_string);
    attributes.set_item("subcodes", PyList::new(py, subcodes)?)?;
    let reasons = PyDict::new(py);
    for reason in &fault.reasons {
        reasons.set_item(&reason.language, &reason.text)?;
    }
    attributes.set_item("reasons", reasons)?;
    attributes.set_item("node", fault.node.as_deref())?;
    attributes.set_item("actor", fault.role.as_deref())?;
    attributes.set_item("detail", detail(py, fault, plan)?)?;
    let headers = bsoap::Value::from(fault.headers.clone());
    attributes.set_item("headers", plain(py, &headers)?)?;
    attributes.set_item("http_status", fault.http_status())?;
    build(py, "Fault", fault.reason(), &attributes)
}

/// The detail: declared elements as the objects of their types, others as XML under `#any`.
fn detail<'py>(
    py: Python<'py>,
    fault: &Fault,
    plan: Option<(&PythonPlan, &bsoap::Target)>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(bsoap::Value::Object(members)) = &fault.detail else {
        return Ok(None);
    };
    let detail = PyDict::new(py);
    for (key, value) in members.iter() {
        let declared = plan.and_then(|(plan, target)| {
            let faults = target.operation().faults.iter();
            let mut details = faults.filter_map(|fault| fault.detail);
            let id = details.find(|&id| {
                let vocabulary = plan.plan().vocabulary();
                let name = plan.plan().element(id).name;
                let (namespace, local) = (vocabulary.namespace(name), vocabulary.local(name));
                key == local || key == format!("{{{namespace}}}{local}")
            })?;
            let record = bsoap::codec::build(plan.plan(), id, value).ok()?;
            Some((plan, std::sync::Arc::new(record)))
        });
        let made = match declared {
            Some((plan, record)) => make(py, plan, &record, &bsoap::codec::View::of(&record))?,
            None => plain(py, value)?,
        };
        detail.set_item(key, made)?;
    }
    let object = py.import("bsoap._values")?.getattr("Object")?;
    object.call1((detail,)).map(Some)
}

/// A dynamic value whose type is not known, by way of its JSON.
pub(crate) fn plain<'py>(py: Python<'py>, value: &bsoap::Value) -> PyResult<Bound<'py, PyAny>> {
    let json = py.import("json")?;
    json.call_method1("loads", (value.to_json(),))
}
