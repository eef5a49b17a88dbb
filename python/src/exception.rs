//! Exceptions of `bsoap._errors`, and values that no type is known of.

use bsoap::Value;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An exception of a class of `bsoap._errors`, with a message and attributes.
pub(crate) fn build(
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

/// A dynamic value whose type is not known, by way of its JSON.
pub(crate) fn plain<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let json = py.import("json")?;
    json.call_method1("loads", (value.to_json(),))
}
