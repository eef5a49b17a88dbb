//! Limits by their names: the options that set them, and which option an error asks for.

use std::error::Error as StdError;

use bsoap::attachments::PackageLimits;
use bsoap::codec::graph::{GraphError, GraphErrorKind};
use bsoap::codec::{DecodeOptions, MAX_DEPTH, decode};
use bsoap::http::BodyRefusal;
use bsoap::protocol::{self, HeaderLimits};
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

/// A limit that was exceeded.
pub(crate) struct Exceeded {
    /// The option that sets it, such as `limits={"depth": …}`. `None` if none does, or if no higher value is possible.
    pub(crate) option: Option<String>,
}

impl Exceeded {
    /// One of the limits with these names, which an option sets.
    fn of(option: &str, names: &[&str], name: &str) -> Self {
        let is_known = names.contains(&name);
        Self {
            option: is_known.then(|| format!("{option}={{{name:?}: …}}")),
        }
    }

    fn of_messages(name: &str, limit: u64) -> Self {
        // Values nest no deeper than messages by default.
        if name == "depth" && limit >= MAX_DEPTH as u64 {
            return Self { option: None };
        }
        let names = [&DecodeOptions::LIMITS[..], &HeaderLimits::NAMES].concat();
        Self::of("limits", &names, name)
    }
}

/// The limit that an error or one of its causes is about. What an error quotes of a message says nothing: the kind of an error about a
/// message decides.
pub(crate) fn exceeded(error: &(dyn StdError + 'static)) -> Option<Exceeded> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(exceeded) = exceeded_in(error) {
            return Some(exceeded);
        }
        next = error.source();
    }
    None
}

/// The limit that an error is about, without its causes.
fn exceeded_in(error: &(dyn StdError + 'static)) -> Option<Exceeded> {
    if let Some(error) = error.downcast_ref::<decode::Error>() {
        return of_decoding(error);
    }
    if let Some(error) = error.downcast_ref::<protocol::Error>() {
        return match error.kind() {
            protocol::ErrorKind::HeaderLimit { name, limit, .. } => {
                Some(Exceeded::of_messages(name, *limit as u64))
            }
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<GraphError>() {
        let is_limit = matches!(
            error.kind,
            GraphErrorKind::Expansion(_) | GraphErrorKind::Depth
        );
        return is_limit.then_some(Exceeded { option: None });
    }
    if let Some(refused) = error.downcast_ref::<BodyRefusal>() {
        return of_package(&refused.reason);
    }
    if error.is::<bsoap::http::Error>() {
        return None;
    }
    of_program(&error.to_string())
}

/// The limit that a message exceeds.
pub(crate) fn of_decoding(error: &decode::Error) -> Option<Exceeded> {
    match error.kind() {
        decode::ErrorKind::Limit { name, limit } => Some(Exceeded::of_messages(name, *limit)),
        decode::ErrorKind::Xml(error) => match error.kind() {
            bsoap::xml::ErrorKind::Limit { name, limit } => {
                Some(Exceeded::of_messages(name, *limit))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The limit of the Header that the reason of a refusal begins with.
pub(crate) fn of_header(reason: &str) -> Option<Exceeded> {
    let name = name_after(reason.strip_prefix("the limit `")?)?;
    Some(Exceeded::of("limits", &HeaderLimits::NAMES, name))
}

/// The limit that the reason for which a package is refused begins with.
fn of_package(reason: &str) -> Option<Exceeded> {
    let name = name_after(reason.strip_prefix("the MIME package exceeds the limit `")?)?;
    Some(Exceeded::of("attachments", &PackageLimits::NAMES, name))
}

/// The limit that an error names which is about a WSDL, or about values of the program; not one in what it quotes.
fn of_program(text: &str) -> Option<Exceeded> {
    let own: Vec<&str> = text.split('"').step_by(2).collect();
    let own = own.join("\"\"");
    let (before, rest) = own.split_once("limit `")?;
    let name = name_after(rest)?;
    Some(match before.ends_with("the load ") {
        true => Exceeded::of("load_limits", &LoadLimits::NAMES, name),
        false => Exceeded { option: None },
    })
}

/// The name that ends at the next backtick.
fn name_after(text: &str) -> Option<&str> {
    text.split_once('`').map(|(name, _)| name)
}
