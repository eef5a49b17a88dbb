//! The paths at which load balancers ask for the state of the server.

use hyper::{StatusCode, header};

use super::message::Response;
use super::options::ServerOptions;

/// Whether a server accepts requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It serves.
    Serving,
    /// It is being stopped.
    Stopping,
}

/// The answer, if the path is one of them.
pub(super) fn answer(
    path: &str,
    options: &ServerOptions,
    readiness: Readiness,
) -> Option<Response> {
    let paths = options.health.as_ref()?;
    let unavailable = |text| {
        Response::plain(StatusCode::SERVICE_UNAVAILABLE, text).with(header::RETRY_AFTER, "1")
    };
    let is_out_of_memory = || options.work.used() >= options.work.limit();
    let response = match path {
        path if path == paths.live => Response::plain(StatusCode::OK, "alive"),
        path if path != paths.ready => return None,
        _ if readiness == Readiness::Stopping => unavailable("the server is being stopped"),
        _ if is_out_of_memory() => unavailable("the memory for messages in work is used up"),
        _ => Response::plain(StatusCode::OK, "ready"),
    };
    Some(response.with(header::CACHE_CONTROL, "no-store"))
}
