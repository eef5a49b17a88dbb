//! Messages in files: a transport that exchanges them through a folder or replays recorded ones, and the layer that records them.
//!
//! ```text
//! 0001-sumDoubles-request.xml
//! 0001-sumDoubles-response.xml
//! 0002-sumInts-request.xml
//! ```

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bsoap_http::{AnyError, Body, ErrorKind, header};
use bsoap_protocol::SoapVersion;
use bytes::Bytes;
use http::{HeaderValue, Request, Response};

use super::context::CallContext;
use super::interface::{Transport, Transporting};

/// How often a transport looks whether an answer has arrived.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A transport that exchanges messages through the files of a folder, or replays messages that a client
/// [recorded](crate::ClientBuilder::record_to). The files of the third call are `0003-operation-request.xml` and
/// `0003-operation-response.xml`. They have the message alone, without HTTP headers, so `bsoap replay` and `bsoap decode` read them
/// too.
///
/// ```
/// use bsoap::transport::{FileTransport, InProcess};
/// use bsoap::{Client, Message, Service, Value};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// // Once with the service …
/// let client = Client::builder(wsdl).record_to(folder).transport(InProcess::new(service)).build()?;
/// let answer = client.call("sumDoubles", &numbers).await?;
/// // … and again without it.
/// let replaying = Client::builder(wsdl).transport(FileTransport::replay(folder)).build()?;
/// assert_eq!(replaying.call("sumDoubles", &numbers).await?, answer);
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct FileTransport {
    files: Arc<Files>,
    is_replay: bool,
}

impl FileTransport {
    /// Writes each request to a file, and waits, within the time limit of the call, until a file with the answer is there. Another
    /// program that writes it should write to another name first and rename it. An answer that is there already is taken at once.
    pub fn exchange(folder: impl Into<PathBuf>) -> Self {
        Self {
            files: Arc::new(Files::new(folder.into())),
            is_replay: false,
        }
    }

    /// Answers each call with the recorded answer of its number. Requests are neither written nor compared. A call fails if the
    /// recording has no answer of its number for its operation; the error names the file.
    pub fn replay(folder: impl Into<PathBuf>) -> Self {
        Self {
            files: Arc::new(Files::new(folder.into())),
            is_replay: true,
        }
    }
}

impl Transport for FileTransport {
    fn send(&self, request: Request<Body>) -> Transporting {
        let (files, is_replay) = (Arc::clone(&self.files), self.is_replay);
        Box::pin(async move {
            let exchange = files.next(&request);
            let version = version_of(&request);
            if is_replay {
                return exchange.recorded(version).await;
            }
            let body = request.into_body().collect().await?;
            exchange.write("request", body).await?;
            exchange.awaited(version).await
        })
    }
}

/// Records the messages of the transport below it.
pub(crate) struct Recorder {
    inner: Arc<dyn Transport>,
    files: Arc<Files>,
}

impl Recorder {
    pub(crate) fn new(inner: Arc<dyn Transport>, folder: PathBuf) -> Self {
        Self {
            inner,
            files: Arc::new(Files::new(folder)),
        }
    }
}

impl Transport for Recorder {
    fn send(&self, request: Request<Body>) -> Transporting {
        let (inner, files) = (Arc::clone(&self.inner), Arc::clone(&self.files));
        Box::pin(async move {
            let exchange = files.next(&request);
            let (head, body) = request.into_parts();
            let body = body.collect().await?;
            exchange.write("request", body.clone()).await?;
            let response = inner.send(Request::from_parts(head, body.into())).await?;
            exchange.write("response", response.body().clone()).await?;
            Ok(response)
        })
    }
}

/// A folder with messages, and how many there are.
#[derive(Debug)]
struct Files {
    folder: PathBuf,
    count: AtomicU32,
}

/// The two files of a call.
struct Exchange {
    folder: PathBuf,
    /// The beginning of their names.
    name: String,
}

impl Files {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            count: AtomicU32::new(0),
        }
    }

    fn next(&self, request: &Request<Body>) -> Exchange {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let context = request.extensions().get::<CallContext>();
        let operation = context.map_or("message", |context| &context.target().operation().name);
        Exchange {
            folder: self.folder.clone(),
            name: format!("{number:04}-{operation}"),
        }
    }
}

impl Exchange {
    fn path(&self, direction: &str) -> PathBuf {
        self.folder.join(format!("{}-{direction}.xml", self.name))
    }

    /// Writes a message. Its file has this name only when it is complete.
    async fn write(&self, direction: &str, message: Bytes) -> Result<(), AnyError> {
        let path = self.path(direction);
        blocking(move || {
            let unfinished = path.with_extension("xml.part");
            let written = std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))
                .and_then(|()| std::fs::write(&unfinished, &message))
                .and_then(|()| std::fs::rename(&unfinished, &path));
            written.map_err(|error| failed("cannot write the message to", &path, error))
        })
        .await
    }

    /// The answer, if there is one.
    async fn read(&self) -> Result<Option<Bytes>, AnyError> {
        let path = self.path("response");
        blocking(move || match std::fs::read(&path) {
            Ok(message) => Ok(Some(message.into())),
            Err(error) if error.kind() == IoErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("cannot read the answer from", &path, error)),
        })
        .await
    }

    async fn recorded(&self, version: SoapVersion) -> Result<Response<Bytes>, AnyError> {
        let Some(message) = self.read().await? else {
            let path = self.path("response");
            return Err(bsoap_http::Error::new(ErrorKind::Custom, path.display().to_string())
                .because("the recording has no answer to this call: calls must have the order and the operations of the recording")
                .into());
        };
        Ok(answer(version, message))
    }

    async fn awaited(&self, version: SoapVersion) -> Result<Response<Bytes>, AnyError> {
        loop {
            if let Some(message) = self.read().await? {
                return Ok(answer(version, message));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

fn failed(what: &str, path: &Path, error: std::io::Error) -> AnyError {
    format!("{what} {}: {error}", path.display()).into()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AnyError> + Send + 'static,
) -> Result<T, AnyError> {
    tokio::task::spawn_blocking(work).await?
}

fn version_of(request: &Request<Body>) -> SoapVersion {
    let context = request.extensions().get::<CallContext>();
    context.map_or(SoapVersion::Soap11, |context| context.target().version())
}

/// A file has no headers: the media type is that of the version.
fn answer(version: SoapVersion, message: Bytes) -> Response<Bytes> {
    let media_type = match version {
        SoapVersion::Soap11 => "text/xml",
        SoapVersion::Soap12 => "application/soap+xml",
    };
    let mut response = Response::new(message);
    let media_type = HeaderValue::from_static(media_type);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response
}
