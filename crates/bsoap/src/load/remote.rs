//! The loader for documents fetched over HTTP.

use bsoap_http::{Address, Client, ClientOptions, ErrorKind, Fetched, StatusCode};
use bsoap_schema::{LoadError, Loader, Source};

use super::is_remote;
use crate::error::report;

/// Fetches documents over HTTP.
pub(super) struct HttpLoader {
    pub(super) options: ClientOptions,
    /// The address of the WSDL itself. Only documents of its origin are requested with the caller's credentials and headers.
    pub(super) home: Option<Address>,
}

impl Loader for HttpLoader {
    fn load(&self, location: &str) -> Result<Source, LoadError> {
        if !is_remote(location) {
            return Err(LoadError::NotHere);
        }
        let failed = |error: &dyn std::error::Error| LoadError::Failed(report(error));
        let address: Address = location
            .parse()
            .map_err(|error: bsoap_http::Error| failed(&error))?;
        // A WSDL's address may redirect to another one. Credentials are not sent there.
        let mut options = self.options.clone();
        options.redirects = options.redirects.max(5);
        match &self.home {
            // Other documents of the WSDL's origin may need the same credentials.
            Some(home) if home.is_same_origin(&address) => {
                options.credentials = home.credentials().cloned().or(options.credentials);
            }
            _ => {
                options.credentials = None;
                options.headers.clear();
            }
        }
        let mut fetched = fetch(&address, &options)?;
        // The address of a service: many answer a browser with a page about it.
        if is_page(&fetched)
            && !location.contains(['?', '#'])
            && let Ok(asked) = format!("{location}?wsdl").parse::<Address>()
            && let Ok(described) = fetch(&asked, &options)
            && described.status.is_success()
            && !is_page(&described)
        {
            fetched = described;
        }
        if !fetched.status.is_success() {
            return Err(LoadError::Failed(status_problem(fetched.status)));
        }
        // Relative references are resolved against the address that redirects led to. (RFC 3986 §5.1.3)
        let is_here = fetched.address.as_str() == address.as_str();
        Ok(Source {
            location: if is_here {
                location.to_owned()
            } else {
                fetched.address.to_string()
            },
            bytes: fetched.body.to_vec(),
        })
    }
}

/// A status that is not success, with the options that may help.
fn status_problem(status: StatusCode) -> String {
    let options = match status {
        StatusCode::UNAUTHORIZED => {
            ": it wants a user and a password (`ClientBuilder::basic_auth`, `--user`)"
        }
        StatusCode::FORBIDDEN => {
            ": it wants another user (`ClientBuilder::basic_auth`, `--user`) or a certificate of the client (`identity`, `--cert`)"
        }
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            ": the proxy wants a user and a password (`ClientBuilder::proxy`, `--proxy http://user:password@host:port`)"
        }
        _ => "",
    };
    format!("the server answered with HTTP status {status}{options}")
}

/// An error of the transport, with the options that may help.
fn transport_problem(error: &bsoap_http::Error) -> LoadError {
    let options = match error.kind() {
        ErrorKind::Connect | ErrorKind::ConnectTimeout(_) => {
            "; if it is behind a proxy, set HTTPS_PROXY or HTTP_PROXY (`ClientBuilder::proxy`, `--proxy`)"
        }
        _ => "",
    };
    LoadError::Failed(format!("{}{options}", report(error)))
}

/// Fetches a document on a new thread: the caller may be inside a runtime, where blocking is not allowed.
fn fetch(address: &Address, options: &ClientOptions) -> Result<Fetched, LoadError> {
    let failed = |error: &dyn std::error::Error| LoadError::Failed(report(error));
    std::thread::scope(|scope| {
        let fetching = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.map_err(|error| failed(&error))?;
            let client = Client::new(options.clone()).map_err(|error| transport_problem(&error))?;
            let getting = client.get(address);
            runtime
                .block_on(getting)
                .map_err(|error| transport_problem(&error))
        });
        fetching.join().unwrap_or_else(|_| {
            Err(LoadError::Failed(
                "the thread that loads the document panicked".into(),
            ))
        })
    })
}

/// Whether the server answered with a page for people.
fn is_page(fetched: &Fetched) -> bool {
    let content_type = fetched.content_type().unwrap_or_default();
    content_type
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("text/html")
}
