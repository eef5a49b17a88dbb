//! Options of services, from a dictionary.

use std::time::Duration;

use bsoap::codec::decode::Validation;
use bsoap::http::Identity;
use bsoap::protocol::{Name, SenderStatus, UnknownAction};
use bsoap::tuning::{Receiving, Sending, ServerOptions};
use bsoap::{Caller, Principal, ServiceBuilder};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::addressing;
use crate::answer::http_headers;
use crate::arguments::{flag, limit, number, refuse, text};
use crate::binary::Binary;
use crate::limits;
use crate::options::{attachments, tolerance};

/// Sets the options of a service.
pub(super) fn apply(
    mut builder: ServiceBuilder,
    options: &Bound<'_, PyDict>,
) -> PyResult<ServiceBuilder> {
    let mut server = ServerOptions::default();
    for (name, value) in options {
        let name = name.cast::<PyString>()?;
        let name = name.to_str()?;
        if !of_server(&mut server, name, &value)? {
            builder = of_service(builder, name, &value)?;
        }
    }
    Ok(builder.options(server))
}

/// What binary values are for the functions.
pub(super) fn binary(options: &Bound<'_, PyDict>) -> PyResult<Binary> {
    let most = match options.get_item("max_body")? {
        Some(most) => number(&most, "max_body")?,
        None => ServerOptions::default().max_body,
    };
    Binary::bytes(most).or(options.get_item("binary")?.as_ref())
}

/// Sets an option of the server. False if it has none of this name.
fn of_server(server: &mut ServerOptions, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match name {
        "max_body" => server.max_body = number(value, name)?,
        "max_connections" => server.max_connections = number(value, name)?,
        "max_connections_per_address" => {
            server.max_connections_per_address = Some(number(value, name)?);
        }
        "max_requests_per_second" => server.max_requests_per_second = Some(number(value, name)?),
        "head_timeout" => server.head_timeout = limit(value, name)?,
        "body_timeout" => server.body_timeout = limit(value, name)?,
        "shutdown_timeout" => server.shutdown_timeout = limit(value, name)?,
        "public_address" => server.public_address = Some(text(value, name)?),
        "http2" => server.http2 = flag(value, name)?,
        "gzip" if flag(value, name)? => {}
        "gzip" => server.gzip_from = None,
        "trusted_proxies" => {
            for range in value.try_iter()? {
                let range: String = range?.extract()?;
                let parsed = range.parse().map_err(|_| {
                    PyValueError::new_err(format!(
                        "{range:?} is no address or range of addresses, such as 10.0.0.0/8"
                    ))
                })?;
                server.trusted_proxies.push(parsed);
            }
        }
        "tls" => {
            let (certificates, key): (Vec<u8>, Vec<u8>) = value.extract()?;
            server.identity = Some(Identity::new(certificates, key));
        }
        "client_ca" => server.client_authorities = Some(value.extract()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn of_service(
    builder: ServiceBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<ServiceBuilder> {
    Ok(match name {
        // Of the functions.
        "binary" => builder,
        "service" => builder.service(text(value, name)?),
        "mode" => builder.tolerance(tolerance(value)?),
        "limits" => {
            let limits = limits::of_messages(value)?;
            builder
                .decoding(limits.decoding)
                .header_limits(limits.header)
        }
        "validate" if flag(value, name)? => builder.validation(Validation::Full),
        "validate" => builder,
        "differential" if flag(value, name)? => builder,
        "differential" => builder.sending(Sending::off()).receiving(Receiving::off()),
        "attachments" => builder.attachments(attachments(value)?),
        "max_handlers" => builder.max_handlers(number::<usize>(value, name)?),
        "queue" => {
            let (max, patience): (usize, f64) = value.extract()?;
            let patience = Duration::try_from_secs_f64(patience)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            builder.queue(max, patience)
        }
        "handler_timeout" => builder.handler_timeout(limit(value, name)?),
        "addressing" => addressing::of_service(builder, value)?,
        "roles" => {
            let roles: Result<Vec<String>, _> = value.extract();
            let roles = roles.map_err(|_| refuse(value, name, "a list of URIs"))?;
            roles.into_iter().fold(builder, ServiceBuilder::playing)
        }
        "understands" => understands(builder, value)?,
        "bad_request" if flag(value, name)? => builder.sender_status(SenderStatus::BadRequest),
        "bad_request" => builder,
        "unknown_action" => match &*text(value, name)? {
            "accept" => builder.unknown_action(UnknownAction::Accept),
            "refuse" => builder.unknown_action(UnknownAction::Refuse),
            other => {
                return Err(PyValueError::new_err(format!(
                    "unknown_action is \"accept\" or \"refuse\", not {other:?}"
                )));
            }
        },
        "principal" => {
            let (identify, challenge): (Py<PyAny>, Option<String>) = value.extract()?;
            let identify = move |caller: &Caller<'_>| principal(&identify, caller);
            match challenge {
                Some(challenge) => builder.authenticate(challenge, identify),
                None => builder.principal(identify),
            }
        }
        _ => {
            return Err(PyTypeError::new_err(format!(
                "a service has no option {name:?}"
            )));
        }
    })
}

fn understands(mut builder: ServiceBuilder, names: &Bound<'_, PyAny>) -> PyResult<ServiceBuilder> {
    for name in names.try_iter()? {
        let name: Name = text(&name?, "a name in understands")?
            .parse()
            .map_err(|error| {
                PyValueError::new_err(format!("a name that is understood is {error}"))
            })?;
        builder = builder.understanding(name.namespace, name.local);
    }
    Ok(builder)
}

/// Asks a Python function who sends a request. If it raises an exception, the sender is not known.
fn principal(identify: &Py<PyAny>, caller: &Caller<'_>) -> Option<Principal> {
    let ask = |py: Python<'_>| -> PyResult<Option<Principal>> {
        let class = py.import("bsoap._service")?.getattr("Caller")?;
        let basic = caller
            .basic()
            .map(|credentials| (credentials.user, credentials.password));
        let seen = class.call1((
            http_headers(py, caller.headers())?,
            caller.peer().to_string(),
            basic,
            caller.bearer(),
            caller.certificate(),
        ))?;
        let name: Option<String> = identify.call1(py, (seen,))?.extract(py)?;
        Ok(name.map(Principal::from))
    };
    Python::try_attach(|py| {
        ask(py).unwrap_or_else(|error| {
            super::faults::log(py, "the function that identifies callers failed", error);
            None
        })
    })
    .flatten()
}
