//! Exceptions of handlers as faults.

use bsoap::protocol::{Code, Name};
use bsoap::{Fault, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::take::take;

/// The fault of an exception: that of a `bsoap.Fault`, otherwise one that says no more than that the service failed. The exception
/// is in the log.
pub(super) fn fault(py: Python<'_>, operation: &str, error: PyErr) -> Fault {
    match is_fault(py, &error).and_then(|is_fault| {
        is_fault
            .then(|| raised(error.value(py).as_any()))
            .transpose()
    }) {
        Ok(Some(fault)) => return fault,
        Ok(None) => log(
            py,
            &format!("the handler of operation {operation} failed"),
            error,
        ),
        Err(problem) => log(
            py,
            &format!("the handler of operation {operation} raised a fault that cannot be sent"),
            problem,
        ),
    }
    failed()
}

/// The fault that says no more than that the service failed.
pub(super) fn failed() -> Fault {
    Fault::receiver("the service failed while processing the request")
}

/// Writes an exception to the log.
pub(super) fn log(py: Python<'_>, what: &str, error: PyErr) {
    let logged = py
        .import("bsoap._service")
        .and_then(|module| module.call_method1("log_failure", (what, error.into_value(py))));
    if let Err(problem) = logged {
        problem.write_unraisable(py, None);
    }
}

fn is_fault(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let class = py.import("bsoap._errors")?.getattr("Fault")?;
    Ok(error.is_instance(py, &class))
}

/// The fault of a `bsoap.Fault`.
fn raised(fault: &Bound<'_, PyAny>) -> PyResult<Fault> {
    let (code, mut subcodes) = code(&fault.getattr("code")?.extract::<String>()?)?;
    for subcode in fault.getattr("subcodes")?.try_iter()? {
        subcodes.push(name(&subcode?.extract::<String>()?)?);
    }
    let mut made = Fault::new(code, fault.getattr("message")?.extract::<String>()?);
    made.subcodes = subcodes;
    for reason in fault
        .getattr("reasons")?
        .call_method0("items")?
        .try_iter()?
    {
        let (language, text): (String, String) = reason?.extract()?;
        match language.as_str() {
            "en" => made.reasons[0].text = text,
            _ => made
                .reasons
                .push(bsoap::protocol::Reason::new(language, text)),
        }
    }
    made.role = fault.getattr("actor")?.extract()?;
    made.node = fault.getattr("node")?.extract()?;
    made.detail = detail(&fault.getattr("detail")?)?;
    if let Value::Object(headers) = take(&fault.getattr("headers")?)? {
        made.headers = headers;
    }
    Ok(made)
}

/// The code of a name of either version, and the subcodes after a dot.
fn code(text: &str) -> PyResult<(Code, Vec<Name>)> {
    let (first, rest) = text.split_once('.').unwrap_or((text, ""));
    let code = match first {
        "Sender" | "Client" => Code::Sender,
        "Receiver" | "Server" => Code::Receiver,
        "VersionMismatch" => Code::VersionMismatch,
        "MustUnderstand" => Code::MustUnderstand,
        "DataEncodingUnknown" => Code::DataEncodingUnknown,
        _ => return Ok((Code::Other(name(text)?), Vec::new())),
    };
    let subcodes = rest.split('.').filter(|part| !part.is_empty()).map(name);
    Ok((code, subcodes.collect::<PyResult<_>>()?))
}

fn name(text: &str) -> PyResult<Name> {
    let name = text.parse();
    name.map_err(|error| PyValueError::new_err(format!("{text:?} is no code of a fault: {error}")))
}

/// The detail: a mapping of elements, or XML as one text or several.
fn detail(detail: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    Ok(match take(detail)? {
        Value::Nil => None,
        Value::Object(members) => Some(Value::Object(members)),
        Value::Array(xml) => Some(Value::object([("#any", Value::Array(xml))])),
        xml => Some(Value::object([("#any", Value::Array(vec![xml]))])),
    })
}
