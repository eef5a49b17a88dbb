//! Limits by their names: the options that set them, and which option an error asks for.

use std::error::Error as StdError;

use bsoap::attachments::PackageLimits;
use bsoap::codec::{DecodeOptions, MAX_DEPTH};
use bsoap::protocol::HeaderLimits;
use bsoap::schema::LoadLimits;
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

/// The option that raises the limit which an error or one of its causes names. `None` if no limit was exceeded, or if it is one
/// without an option.
pub(crate) fn option_for(error: &(dyn StdError + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(option) = option_in(&error.to_string()) {
            return Some(option);
        }
        next = error.source();
    }
    None
}

/// The option that raises the limit which a text names as ``limit `depth` ``.
pub(crate) fn option_in(text: &str) -> Option<String> {
    let options = [
        (
            "the MIME package exceeds the limit `",
            "attachments",
            &PackageLimits::NAMES[..],
        ),
        ("the limit `", "limits", &DecodeOptions::LIMITS),
        ("the limit `", "limits", &HeaderLimits::NAMES),
        ("the load limit `", "load_limits", &LoadLimits::NAMES),
    ];
    options.into_iter().find_map(|(before, option, names)| {
        let (_, rest) = text.split_once(before)?;
        let (name, _) = rest.split_once('`')?;
        // Values nest no deeper than messages by default.
        let is_most = text.contains("the limit `depth` (256)");
        let is_known = names.contains(&name) && !is_most;
        is_known.then(|| format!("{option}={{{name:?}: …}}"))
    })
}
