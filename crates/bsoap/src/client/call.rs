//! One call with options of its own.

use std::fmt;
use std::pin::Pin;

use bsoap_codec::{Object, Pack, Record};
use bsoap_protocol::{Contents, Request};

use super::Client;
use super::answer::Answer;
use super::options::{CallOptions, call_option_methods};
use crate::Error;

/// The running call of a [`Call`]: a future that can be moved to another thread and borrows nothing.
///
/// ```
/// use bsoap::client::Calling;
/// # use bsoap::{Client, Message, Service, Value};
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// # let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// # tokio::spawn(service.run(std::future::pending()));
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
///
/// let running: Vec<Calling> = (0..3).map(|_| client.operation("sumDoubles").call(&numbers)).collect();
/// for call in running {
///     assert_eq!(call.await?.value()["sum"].as_f64(), Some(4.0));
/// }
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
pub type Calling = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send>>;

/// A call with options of its own. [`Client::operation`] starts one, [`call`](Self::call) sends it.
///
/// ```
/// use std::time::Duration;
/// # use bsoap::{Client, Message, Service, Value};
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
/// # runtime.block_on(async {
/// # let sum = |_: Message| async { Value::object([("sum", Value::from(4.0))]) };
/// # let service = Service::builder(wsdl).handle("sumDoubles", sum).build()?.bind("127.0.0.1:0").await?;
/// # let client = Client::builder(wsdl).endpoint(&service.urls()[0]).build()?;
/// # tokio::spawn(service.run(std::future::pending()));
/// # let arguments = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
///
/// let answer = client
///     .operation("sumDoubles")
///     .soap_header_xml("<t:trace xmlns:t=\"urn:trace\">7</t:trace>")
///     .http_header("X-Request-Id", "7")
///     .timeout(Duration::from_secs(5))
///     .keep_envelopes()
///     .call(&arguments)
///     .await?;
/// assert_eq!(answer.value()["sum"].as_f64(), Some(4.0));
/// assert_eq!(answer.status(), 200);
/// assert!(answer.sent().is_some_and(|envelope| envelope.windows(9).any(|part| part == b"urn:trace")));
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a call does nothing until `call` or `call_record`"]
pub struct Call {
    client: Client,
    operation: String,
    options: CallOptions,
}

impl Client {
    /// Starts a call with options of its own: SOAP and HTTP headers, a time limit, another address. Its [`Answer`] has the
    /// headers, the status and the changes.
    pub fn operation(&self, name: &str) -> Call {
        Call::new(self.clone(), name)
    }

    /// Sends a request and waits for the answer.
    pub(crate) async fn answer(
        &self,
        request: Request,
        options: &CallOptions,
    ) -> Result<Answer, Error> {
        let target = request.target().clone();
        let exchanged = self.exchange_as(request, Some(options)).await?;
        let decoding = self.inner.decoders.options();
        Answer::of(&self.inner.definitions, decoding, target, exchanged)
    }

    /// The SOAP header blocks of every request, by the names of their parts.
    pub(crate) fn default_headers(&self) -> &Object {
        &self.inner.headers
    }
}

impl Call {
    pub(super) fn new(client: Client, operation: &str) -> Self {
        Self {
            client,
            operation: operation.to_owned(),
            options: CallOptions::new(),
        }
    }

    call_option_methods!(options);

    /// Sends the call and waits for its answer. The arguments are as for [`Client::call`]. The message is made before this
    /// method returns, so the future does not borrow them.
    ///
    /// # Errors
    /// The errors of [`Client::call`]. Also if an option is not valid.
    pub fn call<'v>(self, arguments: impl Into<Contents<'v>>) -> Calling {
        let contents = arguments.into();
        self.send(|client, operation, options| {
            let headers = options.headers(&client.target(operation)?)?;
            client.request(operation, contents.with_more_headers(&headers))
        })
    }

    /// Sends the call with a Rust value as its arguments, as [`Client::call_typed`] does. [`Answer::unpack`] returns the result
    /// as a Rust value.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub fn call_packed(self, arguments: &dyn Pack) -> Calling {
        self.call(Contents::packed(arguments))
    }

    /// Sends the Record of a request Envelope. It contains its header blocks itself: those of the call are not added.
    ///
    /// # Errors
    /// The errors of [`call`](Self::call).
    pub fn call_record(self, envelope: Record) -> Calling {
        self.send(|client, operation, _| {
            let target = client.target(operation)?;
            Ok(target.request_of(target.completed(envelope)?))
        })
    }

    fn send(
        self,
        make: impl FnOnce(&Client, &str, &CallOptions) -> Result<Request, Error>,
    ) -> Calling {
        let Self {
            client,
            operation,
            options,
        } = self;
        let made = options.client(client).and_then(|client| {
            let request = make(&client, &operation, &options)?;
            Ok((client, request))
        });
        Box::pin(async move {
            let (client, request) = made?;
            client.answer(request, &options).await
        })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation)
            .field("timeout", &self.options.timeout)
            .finish_non_exhaustive()
    }
}
