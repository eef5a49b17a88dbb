//! Options of clients, from a dictionary.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bsoap::attachments::{Attachments, PackageLimits};
use bsoap::codec::decode::{Deviation, Deviations, Tolerance, Validation};
use bsoap::http::{ClientOptions, Proxy, Roots};
use bsoap::security::UsernameToken;
use bsoap::transport::{FileTransport, ObtainingToken, Retries, Token, TokenSource};
use bsoap::tuning::{Hints, Receiving, Sending};
use bsoap::{ClientBuilder, SoapVersion};
use bytes::Bytes;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::addressing;
use crate::limits::{self, MessageLimits};
use crate::take::take;

/// The options of HTTP that loading a WSDL needs: credentials and certificates.
pub(crate) fn http(options: Option<&Bound<'_, PyDict>>) -> PyResult<ClientOptions> {
    let mut http = ClientOptions::default();
    let Some(options) = options else {
        return Ok(http);
    };
    if let Some(pair) = options.get_item("auth")? {
        let (user, password): (String, String) = pair.extract()?;
        http.credentials = Some(bsoap::Credentials::new(user, password));
    }
    if let Some(pem) = options.get_item("ca")? {
        http.roots = Roots::SystemAnd(pem.extract()?);
    }
    if let Some(insecure) = options.get_item("insecure")?
        && insecure.is_truthy()?
    {
        http.roots = Roots::Unchecked;
    }
    if let Some(proxy) = options.get_item("proxy")? {
        http.proxy = self::proxy(&proxy)?;
    }
    if let Some(timeout) = options.get_item("timeout")? {
        http.timeout = seconds(&timeout)?;
    }
    Ok(http)
}

fn proxy(value: &Bound<'_, PyAny>) -> PyResult<Proxy> {
    match value.extract::<Option<String>>()? {
        None => Ok(Proxy::Direct),
        Some(url) => Proxy::url(&url, "").map_err(|error| PyValueError::new_err(error.to_string())),
    }
}

pub(crate) fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds: f64 = value.extract()?;
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        PyValueError::new_err(format!("a time limit of {seconds} seconds is not possible"))
    })
}

/// The option `mode`: the name of a mode, or several names: of a mode, and of deviations that are accepted besides.
pub(crate) fn tolerance(value: &Bound<'_, PyAny>) -> PyResult<Deviations> {
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(mode(name.to_str()?)?.into());
    }
    let mut names = value.extract::<Vec<String>>()?.into_iter();
    let accepted = Deviations::from(mode(&names.next().unwrap_or_default())?);
    names.try_fold(accepted, |accepted, name| {
        let all = Deviation::ALL.iter();
        let found = all.clone().find(|one| one.name() == name);
        let deviation = found.ok_or_else(|| {
            let known: Vec<&str> = all.map(|one| one.name()).collect();
            PyValueError::new_err(format!(
                "there is no deviation {name:?}; there are {}",
                known.join(", ")
            ))
        })?;
        Ok(accepted.with(*deviation))
    })
}

/// The options `mode` and `limits` of a decoder.
pub(crate) fn of_decoder(
    mode: &Bound<'_, PyAny>,
    limits: Option<&Bound<'_, PyAny>>,
) -> PyResult<MessageLimits> {
    let limits = limits.map(limits::of_messages).transpose()?;
    let mut found = limits.unwrap_or_default();
    found.decoding.accepted = tolerance(mode)?;
    Ok(found)
}

fn mode(name: &str) -> PyResult<Tolerance> {
    match name {
        "strict" => Ok(Tolerance::Strict),
        "default" => Ok(Tolerance::Default),
        "lenient" => Ok(Tolerance::Lenient),
        _ => Err(PyValueError::new_err(format!(
            "mode is \"strict\", \"default\" or \"lenient\", not {name:?}"
        ))),
    }
}

pub(crate) fn version(name: &str) -> PyResult<SoapVersion> {
    match name {
        "1.1" => Ok(SoapVersion::Soap11),
        "1.2" => Ok(SoapVersion::Soap12),
        _ => Err(PyValueError::new_err(format!(
            "soap_version is \"1.1\" or \"1.2\", not {name:?}"
        ))),
    }
}

/// Sets the options of a client.
pub(crate) fn apply(
    mut builder: ClientBuilder,
    options: &Bound<'_, PyDict>,
) -> PyResult<ClientBuilder> {
    for (name, value) in options {
        let name = name.cast::<PyString>()?.to_str()?.to_owned();
        builder = one(builder, &name, &value)?;
    }
    Ok(builder)
}

fn one(
    mut builder: ClientBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<ClientBuilder> {
    Ok(match name {
        "endpoint" => builder.endpoint(value.extract::<String>()?),
        "service" => builder.service(value.extract::<String>()?),
        "port" => builder.port(value.extract::<String>()?),
        "soap_version" => builder.version(version(value.extract()?)?),
        "auth" => {
            let (user, password): (String, String) = value.extract()?;
            builder.basic_auth(user, password)
        }
        "digest" => {
            let (user, password): (String, String) = value.extract()?;
            builder.digest_auth(user, password)
        }
        "bearer" => match value.extract::<String>() {
            Ok(token) => builder.bearer_token(token),
            Err(_) => builder.bearer_auth(PythonTokens(value.clone().unbind().into())),
        },
        "cookies" if value.is_truthy()? => builder.cookies(),
        "cookies" => builder,
        "addressing" => addressing::of_client(builder, value)?,
        "retries" => builder.retries(retries(value)?),
        "record" => builder.record_to(value.extract::<PathBuf>()?),
        "replay" => builder.transport(FileTransport::replay(value.extract::<PathBuf>()?)),
        "timeout" => builder.timeout(seconds(value)?),
        "connect_timeout" => builder.connect_timeout(seconds(value)?),
        "http_headers" => {
            for (name, value) in value.cast::<PyDict>()? {
                builder = builder.http_header(name.extract()?, value.extract()?);
            }
            builder
        }
        "soap_headers" => {
            for (name, value) in value.cast::<PyDict>()? {
                builder = builder.soap_header(name.extract()?, take(&value)?);
            }
            builder
        }
        "soap_headers_xml" => {
            for xml in value.try_iter()? {
                builder = builder.soap_header_xml(xml?.extract::<String>()?);
            }
            builder
        }
        "mode" => builder.tolerance(tolerance(value)?),
        "limits" => {
            let limits = limits::of_messages(value)?;
            builder
                .decoding(limits.decoding)
                .header_limits(limits.header)
        }
        "validate" if value.is_truthy()? => builder.validation(Validation::Full),
        "validate" => builder,
        "ca" => builder.trust_also(value.extract::<Vec<u8>>()?),
        "ca_only" => builder.trust_only(value.extract::<Vec<u8>>()?),
        "fingerprint" => builder.trust_pinned(value.extract()?),
        "identity" => {
            let (certificates, key): (Vec<u8>, Vec<u8>) = value.extract()?;
            builder.identity(certificates, key)
        }
        "insecure" if value.is_truthy()? => builder.insecure(),
        "insecure" => builder,
        "proxy" => builder.proxy(proxy(value)?),
        "redirects" => builder.redirects(value.extract()?),
        "user_agent" => builder.user_agent(value.extract::<String>()?),
        "max_connections" => builder.max_connections(value.extract()?),
        "max_response" => builder.max_response(value.extract()?),
        "attachments" => builder.attachments(attachments(value)?),
        "gzip" => match value.is_truthy()? {
            true => builder.accept_gzip().gzip_requests(),
            false => builder,
        },
        "differential" => differential(builder, value)?,
        "hints" if value.is_truthy()? => builder.hints(Hints::Offered),
        "hints" => builder,
        "wsse" => builder.username_token(token(value)?),
        "before_send" => before_send(builder, value.clone().unbind()),
        "after_receive" => after_receive(builder, value.clone().unbind()),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "a client has no option {name:?}"
            )));
        }
    })
}

/// How attachments are sent and received: a dictionary of options.
pub(crate) fn attachments(value: &Bound<'_, PyAny>) -> PyResult<Attachments> {
    let (mut attachments, mut limits) = (Attachments::new(), PackageLimits::default());
    let options = value.cast::<PyDict>()?;
    if let Some(accepted) = options.get_item("accept")?
        && !accepted.is_truthy()?
    {
        attachments = Attachments::off();
    }
    for (name, value) in options {
        match name.cast::<PyString>()?.to_str()? {
            "accept" => {}
            "mtom" if value.is_truthy()? => attachments = attachments.with_mtom(),
            "mtom" => attachments = attachments.without_mtom(),
            "threshold" => attachments = attachments.threshold(value.extract()?),
            "memory" => attachments = attachments.memory(value.extract()?),
            "directory" => attachments = attachments.directory(value.extract::<PathBuf>()?),
            "disk" => attachments = attachments.disk(value.extract()?),
            name if PackageLimits::NAMES.contains(&name) => {
                limits.set(name, value.extract()?);
            }
            other => {
                return Err(PyValueError::new_err(format!(
                    "attachments has no option {other:?}; it has memory, directory, disk, {}",
                    PackageLimits::NAMES.join(", ")
                )));
            }
        }
    }
    Ok(attachments.limits(limits))
}

/// What is saved of messages: false for nothing, or a dictionary with the most `templates` of requests and `histories` of answers, and
/// the most `bytes` of each.
fn differential(builder: ClientBuilder, value: &Bound<'_, PyAny>) -> PyResult<ClientBuilder> {
    let Ok(limits) = value.cast::<PyDict>() else {
        return Ok(match value.is_truthy()? {
            true => builder,
            false => builder.sending(Sending::off()).receiving(Receiving::off()),
        });
    };
    let (mut sending, mut receiving) = (Sending::default(), Receiving::default());
    for (name, most) in limits {
        let most: usize = most.extract()?;
        match name.cast::<PyString>()?.to_str()? {
            "templates" => sending = sending.templates(most),
            "histories" => receiving = receiving.histories(most),
            "bytes" => (sending, receiving) = (sending.bytes(most), receiving.bytes(most)),
            other => {
                return Err(PyValueError::new_err(format!(
                    "differential has no limit {other:?}; it has templates, histories and bytes"
                )));
            }
        }
    }
    Ok(builder.sending(sending).receiving(receiving))
}

/// How calls are repeated: `(max, operations, first_delay, max_delay, attempt_timeout)`.
fn retries(value: &Bound<'_, PyAny>) -> PyResult<Retries> {
    let (max, operations): (usize, Vec<String>) =
        (value.get_item(0)?.extract()?, value.get_item(1)?.extract()?);
    let retries = Retries::new(max)
        .operations(operations)
        .first_delay(seconds(&value.get_item(2)?)?)
        .max_delay(seconds(&value.get_item(3)?)?);
    let limit = value.get_item(4)?;
    Ok(match limit.is_none() {
        true => retries,
        false => retries.attempt_timeout(seconds(&limit)?),
    })
}

/// A Python function that returns a bearer token, or a token and for how many seconds it is valid.
struct PythonTokens(Arc<Py<PyAny>>);

impl TokenSource for PythonTokens {
    fn obtain(&self) -> ObtainingToken {
        let function = Arc::clone(&self.0);
        Box::pin(async move {
            let obtain = move || {
                Python::attach(|py| {
                    let found = function.bind(py).call0()?;
                    if let Ok(token) = found.extract::<String>() {
                        return Ok(Token::new(token));
                    }
                    let (token, valid): (String, Bound<'_, PyAny>) = found.extract()?;
                    Ok::<_, PyErr>(Token::new(token).valid_for(seconds(&valid)?))
                })
            };
            Ok(tokio::task::spawn_blocking(obtain).await??)
        })
    }
}

/// A user name token: `(user, password, digest, nonce)`.
fn token(value: &Bound<'_, PyAny>) -> PyResult<UsernameToken> {
    let (user, password, digest, nonce): (String, String, bool, bool) = value.extract()?;
    let token = match digest {
        true => UsernameToken::digest(user, password),
        false => UsernameToken::text(user, password),
    };
    Ok(match nonce {
        true => token.with_nonce(),
        false => token,
    })
}

/// Calls a Python function with each message that is about to be sent.
fn before_send(builder: ClientBuilder, hook: Py<PyAny>) -> ClientBuilder {
    let hook = std::sync::Arc::new(hook);
    builder.before_send(move |message| {
        Python::attach(|py| {
            let body = message
                .bytes()
                .ok_or("a streamed message cannot be changed")?;
            let class = py.import("bsoap._hooks")?.getattr("OutgoingMessage")?;
            let headers = crate::answer::http_headers(py, message.headers)?;
            let operation = &message.target.operation().name;
            let text = PyBytes::new(py, &body);
            let seen = class.call1((operation, &headers, &text))?;
            hook.call1(py, (&seen,))?;
            let changed = seen.getattr("body")?;
            if !changed.is(&text) {
                message.set_bytes(Bytes::from(changed.extract::<Vec<u8>>()?));
            }
            for (name, value) in seen
                .getattr("headers")?
                .cast::<PyDict>()
                .map_err(PyErr::from)?
            {
                let name: bsoap::http::http::HeaderName = name.extract::<String>()?.parse()?;
                let value = bsoap::http::http::HeaderValue::from_str(value.extract()?)?;
                message.headers.insert(name, value);
            }
            Ok(())
        })
    })
}

/// Calls a Python function with each answer that has arrived.
fn after_receive(builder: ClientBuilder, hook: Py<PyAny>) -> ClientBuilder {
    let hook = std::sync::Arc::new(hook);
    builder.after_receive(move |message| {
        Python::attach(|py| {
            let class = py.import("bsoap._hooks")?.getattr("IncomingMessage")?;
            let headers = crate::answer::http_headers(py, message.headers)?;
            let operation = message.target.map(|target| target.operation().name.clone());
            let text = PyBytes::new(py, &message.body);
            let seen = class.call1((operation, &headers, &text, message.status))?;
            hook.call1(py, (&seen,))?;
            let changed = seen.getattr("body")?;
            if !changed.is(&text) {
                message.body = Bytes::from(changed.extract::<Vec<u8>>()?);
            }
            Ok(())
        })
    })
}
