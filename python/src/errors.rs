//! Errors as the exceptions of `bsoap._errors`.

use std::sync::Arc;

use bsoap::codec::plan::ElementId;
use bsoap::codec::{View, decode};
use bsoap::http::ErrorKind;
use bsoap::protocol::OutgoingReply;
use bsoap::{Error, ExceededLimit, Fault, Target, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::binary::Binary;
use crate::bridge::Bridge;
use crate::declared::{detail_element, fault_header_element};
use crate::exception::{build, plain};
use crate::limits;
use crate::make::{Source, text_alone};
use crate::plan::PythonPlan;

/// The operation whose faults have declared details and header blocks, and what their binary values are in Python.
#[derive(Clone, Copy)]
pub(crate) struct Called<'a> {
    pub(crate) plan: &'a PythonPlan,
    pub(crate) target: &'a Target,
    pub(crate) binary: Binary,
}

/// The exception of an error. `called` gives the parts of a fault their types.
pub(crate) fn raise(py: Python<'_>, error: Error, called: Option<Called<'_>>) -> PyErr {
    let raised = match &error {
        Error::Fault(fault) => fault_error(py, fault, called),
        Error::Hook { source, .. } => match source.downcast_ref::<PyErr>() {
            Some(error) => return error.clone_ref(py),
            None => named(py, "Error", &error, None),
        },
        _ => {
            let (class, option) = match error.exceeded_limit() {
                Some(exceeded) => ("LimitError", limits::option_for(exceeded)),
                None => (class_of(&error), None),
            };
            named(py, class, &error, option.or_else(|| raised_by(&error)))
        }
    };
    raised.unwrap_or_else(|problem| problem)
}

fn class_of(error: &Error) -> &'static str {
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

/// The exception of an error; `option` raises the limit that was exceeded.
fn named(py: Python<'_>, class: &str, error: &Error, option: Option<String>) -> PyResult<PyErr> {
    let attributes = PyDict::new(py);
    if let Error::Transport(_) = error {
        attributes.set_item("is_timeout", error.is_timeout())?;
        attributes.set_item("is_connect", error.is_connect())?;
        attributes.set_item("was_not_sent", error.was_not_sent())?;
        attributes.set_item("http_status", error.http_status())?;
    }
    let mut message = error.report();
    if let Some(option) = option {
        message = format!("{message}; {option} accepts more");
    }
    build(py, class, &message, &attributes)
}

/// The option that raises the limit of the transport which was exceeded.
fn raised_by(error: &Error) -> Option<String> {
    match error {
        Error::Transport(error) if matches!(error.kind(), ErrorKind::TooLarge { .. }) => {
            Some("max_response=…".to_owned())
        }
        _ => None,
    }
}

/// The class of the exception for an answer that cannot be read, and its text.
pub(crate) fn unreadable(error: &Error) -> (&'static str, String) {
    because(error.exceeded_limit(), error.report())
}

/// The class of the exception for a request that is refused, and its text. `cause` is the error of the decoder, if it read the request.
pub(crate) fn refused(
    reply: &OutgoingReply,
    cause: Option<&decode::Error>,
) -> (&'static str, String) {
    let reason = reply
        .reason
        .clone()
        .unwrap_or_else(|| format!("the message is refused with HTTP status {}", reply.status));
    let exceeded = match cause {
        // It may be refused for another reason, such as its version.
        Some(cause) if reason == cause.to_string() => ExceededLimit::of(cause),
        Some(_) => None,
        None => ExceededLimit::of_reason(&reason),
    };
    because(exceeded, reason)
}

fn because(exceeded: Option<ExceededLimit>, problem: String) -> (&'static str, String) {
    match exceeded.map(limits::option_for) {
        Some(Some(option)) => ("LimitError", format!("{problem}; {option} accepts more")),
        Some(None) => ("LimitError", problem),
        None => ("DecodeError", problem),
    }
}

fn fault_error(py: Python<'_>, fault: &Fault, called: Option<Called<'_>>) -> PyResult<PyErr> {
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
    attributes.set_item("detail", detail(py, fault, called)?)?;
    attributes.set_item("headers", headers(py, fault, called)?)?;
    attributes.set_item("http_status", fault.http_status())?;
    build(py, "Fault", fault.reason(), &attributes)
}

/// The detail: declared elements as the objects of their types, others as XML under `#any`.
fn detail<'py>(
    py: Python<'py>,
    fault: &Fault,
    called: Option<Called<'_>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(Value::Object(members)) = &fault.detail else {
        return Ok(None);
    };
    let detail = PyDict::new(py);
    for (key, value) in members.iter() {
        let declared = called.and_then(|called| {
            let element = detail_element(called.target, key)?;
            called.object(py, element, value)
        });
        detail.set_item(key, declared.unwrap_or_else(|| plain(py, value))?)?;
    }
    let object = Bridge::get(py)?.object_type.bind(py);
    object.call1((detail,)).map(Some)
}

/// The header blocks: those of `soap:headerfault` as the objects of their types, others as XML under `#any`.
fn headers<'py>(
    py: Python<'py>,
    fault: &Fault,
    called: Option<Called<'_>>,
) -> PyResult<Bound<'py, PyDict>> {
    let headers = PyDict::new(py);
    for (key, value) in fault.headers.iter() {
        let declared = called.and_then(|called| {
            let element = fault_header_element(called.target, key)?;
            called.object(py, element, value)
        });
        let block = match declared {
            Some(block) => text_alone(block?)?,
            None => plain(py, value)?,
        };
        headers.set_item(key, block)?;
    }
    Ok(headers)
}

impl Called<'_> {
    /// The object of a part of a fault. `None` if the part does not match its declaration.
    fn object<'py>(
        &self,
        py: Python<'py>,
        element: ElementId,
        value: &Value,
    ) -> Option<PyResult<Bound<'py, PyAny>>> {
        let record = bsoap::codec::build(self.plan.plan(), element, value).ok()?;
        let source = Source {
            plan: self.plan,
            record: &Arc::new(record),
            binary: self.binary,
        };
        Some(source.make(py, &View::of(source.record)))
    }
}
