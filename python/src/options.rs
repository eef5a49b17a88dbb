//! Options of clients, from a dictionary.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

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
use crate::arguments::{flag, header, limit, number, pair, refuse, seconds, text};
use crate::limits::{self, MessageLimits};

/// The options of HTTP that loading a WSDL needs: credentials and certificates.
pub(crate) fn http(options: Option<&Bound<'_, PyDict>>) -> PyResult<ClientOptions> {
    let mut http = ClientOptions::default();
    let Some(options) = options else {
        return Ok(http);
    };
    if let Some(auth) = options.get_item("auth")? {
        let (user, password) = pair(&auth, "auth")?;
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
        http.timeout = limit(&timeout, "timeout")?;
    }
    Ok(http)
}

fn proxy(value: &Bound<'_, PyAny>) -> PyResult<Proxy> {
    let url = value.extract::<Option<String>>();
    match url.map_err(|_| refuse(value, "proxy", "a URL or False"))? {
        None => Ok(Proxy::Direct),
        Some(url) => Proxy::url(&url, "").map_err(|error| PyValueError::new_err(error.to_string())),
    }
}

/// The option `mode`: the name of a mode, or several names: of a mode, and of deviations that are accepted besides.
pub(crate) fn tolerance(value: &Bound<'_, PyAny>) -> PyResult<Deviations> {
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(mode(name.to_str()?)?.into());
    }
    let names = value.extract::<Vec<String>>();
    let allowed = "the name of a mode, or a list of it and of names of deviations";
    let mut names = names
        .map_err(|_| refuse(value, "mode", allowed))?
        .into_iter();
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

/// A builder with the option set, or as it was if the group has no such option.
type Applied = PyResult<ControlFlow<ClientBuilder, ClientBuilder>>;

fn one(
    mut builder: ClientBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<ClientBuilder> {
    for group in [of_connection, of_security, of_messages, of_calls] {
        match group(builder, name, value)? {
            ControlFlow::Break(done) => return Ok(done),
            ControlFlow::Continue(same) => builder = same,
        }
    }
    Err(PyTypeError::new_err(format!(
        "a client has no option {name:?}"
    )))
}

/// Where messages are sent to, and over which connections.
fn of_connection(builder: ClientBuilder, name: &str, value: &Bound<'_, PyAny>) -> Applied {
    Ok(ControlFlow::Break(match name {
        "endpoint" => builder.endpoint(text(value, name)?),
        "service" => builder.service(text(value, name)?),
        "port" => builder.port(text(value, name)?),
        "soap_version" => builder.version(version(&text(value, name)?)?),
        "timeout" => builder.timeout(limit(value, name)?),
        "connect_timeout" => builder.connect_timeout(limit(value, name)?),
        "proxy" => builder.proxy(proxy(value)?),
        "redirects" => builder.redirects(number(value, name)?),
        "max_connections" => builder.max_connections(number(value, name)?),
        "max_response" => builder.max_response(number(value, name)?),
        "gzip" => match flag(value, name)? {
            true => builder.accept_gzip().gzip_requests(),
            false => builder,
        },
        "record" => builder.record_to(value.extract::<PathBuf>()?),
        "replay" => builder.transport(FileTransport::replay(value.extract::<PathBuf>()?)),
        _ => return Ok(ControlFlow::Continue(builder)),
    }))
}

/// Who the client is, and whom it trusts.
fn of_security(builder: ClientBuilder, name: &str, value: &Bound<'_, PyAny>) -> Applied {
    Ok(ControlFlow::Break(match name {
        "auth" => {
            let (user, password) = pair(value, "auth")?;
            builder.basic_auth(user, password)
        }
        "digest" => {
            let (user, password) = pair(value, "the pair of a DigestAuth")?;
            builder.digest_auth(user, password)
        }
        "bearer" => match value.extract::<String>() {
            Ok(token) => builder.bearer_token(token),
            Err(_) => builder.bearer_auth(PythonTokens(value.clone().unbind().into())),
        },
        "wsse" => builder.username_token(token(value)?),
        "cookies" if flag(value, name)? => builder.cookies(),
        "cookies" => builder,
        "ca" => builder.trust_also(value.extract::<Vec<u8>>()?),
        "ca_only" => builder.trust_only(value.extract::<Vec<u8>>()?),
        "fingerprint" => builder.trust_pinned(&text(value, name)?),
        "identity" => {
            let (certificates, key): (Vec<u8>, Vec<u8>) = value.extract()?;
            builder.identity(certificates, key)
        }
        "insecure" if flag(value, "verify")? => builder.insecure(),
        "insecure" => builder,
        _ => return Ok(ControlFlow::Continue(builder)),
    }))
}

/// What messages are like, and how they are converted.
fn of_messages(builder: ClientBuilder, name: &str, value: &Bound<'_, PyAny>) -> Applied {
    Ok(ControlFlow::Break(match name {
        "http_headers" => http_headers(builder, value)?,
        // Those that are declared are added to each call, whose operation says how they are encoded.
        "soap_headers" => builder,
        "soap_headers_xml" => {
            let mut builder = builder;
            for xml in value.try_iter()? {
                builder = builder.soap_header_xml(xml?.extract::<String>()?);
            }
            builder
        }
        "addressing" => addressing::of_client(builder, value)?,
        "attachments" => builder.attachments(attachments(value)?),
        // Of the answers.
        "binary" => builder,
        "mode" => builder.tolerance(tolerance(value)?),
        "limits" => {
            let limits = limits::of_messages(value)?;
            builder
                .decoding(limits.decoding)
                .header_limits(limits.header)
        }
        "validate" if flag(value, name)? => builder.validation(Validation::Full),
        "validate" => builder,
        "differential" => differential(builder, value)?,
        "hints" if flag(value, name)? => builder.hints(Hints::Offered),
        "hints" => builder,
        "user_agent" => builder.user_agent(text(value, name)?),
        _ => return Ok(ControlFlow::Continue(builder)),
    }))
}

/// What happens around a call.
fn of_calls(builder: ClientBuilder, name: &str, value: &Bound<'_, PyAny>) -> Applied {
    Ok(ControlFlow::Break(match name {
        "retries" => builder.retries(retries(value)?),
        "before_send" => before_send(builder, value.clone().unbind()),
        "after_receive" => after_receive(builder, value.clone().unbind()),
        _ => return Ok(ControlFlow::Continue(builder)),
    }))
}

/// HTTP headers of every request.
fn http_headers(mut builder: ClientBuilder, headers: &Bound<'_, PyAny>) -> PyResult<ClientBuilder> {
    for (name, value) in headers.cast::<PyDict>()? {
        let (name, value) = header(&name, &value)?;
        builder = builder.http_header(&name, &value);
    }
    Ok(builder)
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
            "mtom" if flag(&value, "mtom")? => attachments = attachments.with_mtom(),
            "mtom" => attachments = attachments.without_mtom(),
            "threshold" => {
                attachments = attachments.threshold(number(&value, "attachment_threshold")?);
            }
            "memory" => attachments = attachments.memory(number(&value, "memory")?),
            "directory" => {
                let directory = value.extract::<PathBuf>();
                let directory = directory.map_err(|_| refuse(&value, "directory", "a path"));
                attachments = attachments.directory(directory?);
            }
            "disk" => attachments = attachments.disk(number(&value, "disk")?),
            name if PackageLimits::NAMES.contains(&name) => {
                limits.set(name, number(&value, name)?);
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
