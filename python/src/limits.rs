//! Limits by their names: the options that set them, and which option an error asks for.

use bsoap::codec::{DecodeOptions, MAX_DEPTH};
use bsoap::protocol::HeaderLimits;
use bsoap::schema::LoadLimits;
use bsoap::{ExceededLimit, Limited};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The limits of messages.
#[derive(Clone, Copy, Default)]
pub(crate) struct MessageLimits {
    pub(crate) decoding: DecodeOptions,
    pub(crate) header: HeaderLimits,
}

/// The option `limits`: a dictionary of names and numbers.
pub(crate) fn of_messages(limits: &Bound<'_, PyAny>) -> PyResult<MessageLimits> {
    let mut found = MessageLimits::default();
    let names = [&DecodeOptions::LIMITS[..], &HeaderLimits::NAMES].concat();
    each(limits, "limits", &names, |name, value| {
        found.decoding.set_limit(name, value) || found.header.set(name, value)
    })?;
    if found.decoding.limits.depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!(
            "limits[\"depth\"] is at most {MAX_DEPTH}: values nest no deeper"
        )));
    }
    Ok(found)
}

/// The option `load_limits` of a WSDL.
pub(crate) fn of_loading(limits: &Bound<'_, PyAny>) -> PyResult<LoadLimits> {
    let mut found = LoadLimits::default();
    each(limits, "load_limits", &LoadLimits::NAMES, |name, value| {
        found.set(name, value)
    })?;
    Ok(found)
}

/// Sets each of the limits in a dictionary.
fn each(
    limits: &Bound<'_, PyAny>,
    option: &str,
    names: &[&str],
    mut set: impl FnMut(&str, u64) -> bool,
) -> PyResult<()> {
    for (name, value) in limits.cast::<PyDict>()? {
        let name = name.cast::<PyString>()?;
        let name = name.to_str()?;
        let value = value.extract::<u64>().map_err(|_| {
            PyValueError::new_err(format!(
                "{option}[{name:?}] is a number that is not negative"
            ))
        })?;
        if !set(name, value) {
            return Err(PyTypeError::new_err(format!(
                "{option} has no limit {name:?}: it has {}",
                names.join(", ")
            )));
        }
    }
    Ok(())
}

/// The option that raises a limit, such as `limits={"depth": …}`. `None` if none does.
pub(crate) fn option_for(exceeded: ExceededLimit) -> Option<String> {
    let option = match exceeded.of {
        _ if !exceeded.can_be_raised => return None,
        Limited::Message => "limits",
        Limited::Package => "attachments",
        Limited::Loading => "load_limits",
        _ => return None,
    };
    Some(format!("{option}={{{:?}: …}}", exceeded.name))
}
