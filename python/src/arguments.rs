//! Options of the types that they need. An error names the option and what is allowed.

use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The error that an option has a value of another type than those that are `allowed`.
pub(crate) fn refuse(value: &Bound<'_, PyAny>, option: &str, allowed: &str) -> PyErr {
    match value.get_type().name() {
        Ok(name) => {
            PyTypeError::new_err(format!("{option} is {allowed}, not a value of type {name}"))
        }
        Err(error) => error,
    }
}

pub(crate) fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds: f64 = value.extract()?;
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        PyValueError::new_err(format!("a time limit of {seconds} seconds is not possible"))
    })
}

/// The name and the value of an HTTP header.
pub(crate) fn header(
    name: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<(String, String)> {
    let name = text(name, "the name of an HTTP header")?;
    let value = text(value, &format!("the value of the HTTP header {name:?}"))?;
    Ok((name, value))
}

/// A text.
pub(crate) fn text(value: &Bound<'_, PyAny>, option: &str) -> PyResult<String> {
    value.extract().map_err(|_| refuse(value, option, "a text"))
}

/// True or false.
pub(crate) fn flag(value: &Bound<'_, PyAny>, option: &str) -> PyResult<bool> {
    value
        .extract()
        .map_err(|_| refuse(value, option, "True or False"))
}

/// A number of something.
pub(crate) fn number<'py, T>(value: &Bound<'py, PyAny>, option: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let number = value.extract();
    number.map_err(|_| refuse(value, option, "an int that is not negative"))
}

/// A number of seconds.
pub(crate) fn limit(value: &Bound<'_, PyAny>, option: &str) -> PyResult<Duration> {
    match value.extract::<f64>() {
        Ok(_) => seconds(value),
        Err(_) => Err(refuse(value, option, "a number of seconds")),
    }
}

/// A user name and a password.
pub(crate) fn pair(value: &Bound<'_, PyAny>, option: &str) -> PyResult<(String, String)> {
    let pair = value.extract();
    pair.map_err(|_| refuse(value, option, "a pair of texts, (user, password)"))
}
