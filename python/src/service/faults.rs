//! Exceptions of handlers as faults.

use bsoap::protocol::{Code, Name};
use bsoap::{Fault, Object, Target, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::bridge::Bridge;
use crate::declared::{detail_element, fault_header_element};
use crate::take::{Attachments, Root, members_of, take, take_roots};

/// The fault of an exception: that of a `bsoap.Fault`, otherwise one that says no more than that the service failed. The exception
/// is in the log.
pub(super) fn fault(py: Python<'_>, target: &Target, error: PyErr) -> Fault {
    let operation = &target.operation().name;
    match is_a(py, &error, "Fault").and_then(|is_fault| {
        is_fault
            .then(|| raised(target, error.value(py).as_any()))
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

/// The fault of a request of which no arguments could be made. The exception is in the log, with what may be done.
pub(super) fn refusal(py: Python<'_>, target: &Target, error: PyErr) -> Fault {
    let is_limit = is_a(py, &error, "LimitError").unwrap_or(false);
    let operation = &target.operation().name;
    log(
        py,
        &format!("a request of operation {operation} cannot be handled"),
        error,
    );
    match is_limit {
        true => Fault::sender("the binary values of the request are longer than the service takes"),
        false => failed(),
    }
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

fn is_a(py: Python<'_>, error: &PyErr, class: &str) -> PyResult<bool> {
    let class = py.import("bsoap._errors")?.getattr(class)?;
    Ok(error.is_instance(py, &class))
}

/// The fault of a `bsoap.Fault`.
fn raised(target: &Target, fault: &Bound<'_, PyAny>) -> PyResult<Fault> {
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
    let (detail, headers) = parts(
        target,
        &fault.getattr("detail")?,
        &fault.getattr("headers")?,
    )?;
    made.detail = detail;
    made.headers = headers;
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

/// The detail, which is a mapping of elements, or XML as one text or several; and the header blocks. What is shared in the elements
/// that are encoded is shared in the message.
fn parts(
    target: &Target,
    detail: &Bound<'_, PyAny>,
    headers: &Bound<'_, PyAny>,
) -> PyResult<(Option<Value>, Object)> {
    let elements = match is_mapping(detail)? {
        true => Some(members_of(detail)?),
        false => None,
    };
    let blocks = members_of(headers)?;
    let mut roots = Vec::new();
    for (key, value) in elements.iter().flatten() {
        let element = detail_element(target, key);
        roots.push(Root::new(target.plan(), element, value.clone()));
    }
    for (key, value) in &blocks {
        let element = fault_header_element(target, key);
        roots.push(Root::block(target.plan(), element, value.clone()));
    }
    let mut taken = take_roots(target, &roots, "id", Attachments::Beside)?.into_iter();
    let detail = match elements {
        Some(elements) => {
            let names = elements.into_iter().map(|(key, _)| key);
            Some(Value::Object(names.zip(taken.by_ref()).collect()))
        }
        None => other_detail(take(detail)?),
    };
    let names = blocks.into_iter().map(|(key, _)| key);
    Ok((detail, names.zip(taken).collect()))
}

fn is_mapping(detail: &Bound<'_, PyAny>) -> PyResult<bool> {
    let object = Bridge::get(detail.py())?.object_type.bind(detail.py());
    Ok(detail.is_instance(object)? || detail.is_instance_of::<PyMapping>())
}

/// A detail that is no mapping: the members of a dataclass, or XML.
fn other_detail(detail: Value) -> Option<Value> {
    match detail {
        Value::Nil => None,
        Value::Object(members) => Some(Value::Object(members)),
        Value::Array(xml) => Some(Value::object([("#any", Value::Array(xml))])),
        xml => Some(Value::object([("#any", Value::Array(vec![xml]))])),
    }
}
