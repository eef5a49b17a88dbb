//! A service under another server: ASGI or WSGI.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bsoap::http::Body;
use bsoap::http::http;
use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tower_service::Service as _;

use super::context::Peer;
use super::handler::Submit;
use crate::client::Cancel;
use crate::runtime::{self, OwnedRuntime};

/// What runs the requests of other servers, in one process.
pub(super) struct Engine {
    runtime: OwnedRuntime,
}

/// A request of another server.
#[derive(FromPyObject)]
pub(super) struct Received {
    method: String,
    /// The path and the query.
    target: String,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
    /// The address and the port of the client.
    peer: Option<(String, u16)>,
    /// What runs coroutine functions, if the server has an event loop.
    submit: Option<Py<PyAny>>,
}

/// The status, the headers and the body.
pub(super) type Answer<'py> = (u16, Vec<(String, String)>, Bound<'py, PyBytes>);

/// The answer to a request, when it is awaited.
pub(super) fn answer(
    service: &bsoap::Service,
    received: Received,
) -> PyResult<impl Future<Output = http::Response<Body>> + Send + use<>> {
    let mut request = http::Request::builder()
        .method(received.method.as_str())
        .uri(&received.target);
    for (name, value) in &received.headers {
        request = request.header(name.as_slice(), value.as_slice());
    }
    let mut request = request
        .body(Body::from(Bytes::from(received.body)))
        .map_err(|error| PyValueError::new_err(format!("a request that is not HTTP: {error}")))?;
    if let Some((host, port)) = received.peer
        && let Ok(address) = host.parse::<IpAddr>()
    {
        request
            .extensions_mut()
            .insert(Peer(SocketAddr::new(address, port)));
    }
    if let Some(submit) = received.submit {
        request.extensions_mut().insert(Submit(Arc::new(submit)));
    }
    let mut service = service.clone();
    Ok(async move {
        match service.call(request).await {
            Ok(response) => collected(response).await,
            Err(never) => match never {},
        }
    })
}

/// A response with all of its body in memory. One whose attachments cannot be read is a failure of the server.
async fn collected(response: http::Response<Body>) -> http::Response<Body> {
    let (mut head, body) = response.into_parts();
    let body = match body.collect().await {
        Ok(body) => body,
        Err(error) => {
            tracing::error!(%error, "an answer cannot be sent");
            head.status = http::StatusCode::INTERNAL_SERVER_ERROR;
            head.headers.clear();
            Bytes::new()
        }
    };
    http::Response::from_parts(head, body.into())
}

/// A response for Python.
fn made(py: Python<'_>, response: http::Response<Body>) -> PyResult<Answer<'_>> {
    let (head, body) = response.into_parts();
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let body = PyBytes::new(py, &body.into_bytes());
    Ok((head.status.as_u16(), headers.collect(), body))
}

impl Engine {
    pub(super) fn new() -> PyResult<Self> {
        Ok(Self {
            runtime: runtime::working(1)?,
        })
    }

    pub(super) fn is_of_this_process(&self) -> bool {
        self.runtime.is_of_this_process()
    }

    pub(super) fn wait<'py>(
        &self,
        py: Python<'py>,
        answering: impl Future<Output = http::Response<Body>> + Send,
    ) -> PyResult<Answer<'py>> {
        made(py, runtime::wait(py, &self.runtime, answering)?)
    }

    /// The answer is given to a future of an event loop.
    pub(super) fn spawn<'py>(
        &self,
        py: Python<'py>,
        event_loop: Bound<'py, PyAny>,
        answering: impl Future<Output = http::Response<Body>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let future = event_loop.call_method0(intern!(py, "create_future"))?;
        let settle = py.import("bsoap._async")?.getattr("settle")?.unbind();
        let waiting = future.clone().unbind();
        let event_loop = event_loop.unbind();
        let task = self.runtime.spawn(async move {
            let response = answering.await;
            Python::try_attach(|py| {
                let (value, error) = match made(py, response) {
                    Ok(answer) => (Some(answer), None),
                    Err(error) => (None, Some(error.into_value(py))),
                };
                // The loop may be closed by now: then nobody waits.
                let arguments = (settle, waiting, value, error);
                let _ = event_loop.call_method1(py, "call_soon_threadsafe", arguments);
            });
        });
        let cancel = Bound::new(py, Cancel::new(task.abort_handle()))?;
        future.call_method1(intern!(py, "add_done_callback"), (cancel,))?;
        Ok(future)
    }

    pub(super) fn finish(&self, py: Python<'_>, service: &bsoap::Service) -> PyResult<()> {
        runtime::wait(py, &self.runtime, service.finish())
    }
}
