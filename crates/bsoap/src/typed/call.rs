//! One call of a generated client.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use bsoap_protocol::Request;

use super::OperationError;
use super::operation::{ResponseBody, read};
use crate::client::call_option_methods;
use crate::{Answer, CallOptions, Client, Error};

/// A call of a generated client: a future of the result, with options of its own until it is awaited. It borrows nothing.
///
/// ```ignore
/// let order = client.order(&request).await?;
/// let order = client.order(&request).timeout(Duration::from_secs(5)).await?;
/// let answer = client.order(&request).http_header("X-Request-Id", "7").answer().await?;
/// println!("{} {:?}", answer.status(), answer.body());
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct Call<A, E> {
    client: Client,
    options: CallOptions,
    operation: &'static str,
    expected: ResponseBody<A>,
    /// The message, until the call begins.
    request: Option<Result<Request, Error>>,
    running: Option<Running<A>>,
    error: PhantomData<fn() -> E>,
}

type Running<A> = Pin<Box<dyn Future<Output = Result<Answered<A>, Error>> + Send>>;

impl<A, E> Call<A, E> {
    pub(super) fn new(
        client: Client,
        options: CallOptions,
        (operation, expected): (&'static str, ResponseBody<A>),
        request: Result<Request, Error>,
    ) -> Self {
        Self {
            client,
            options,
            operation,
            expected,
            request: Some(request),
            running: None,
            error: PhantomData,
        }
    }

    call_option_methods!(options);
}

impl<A: 'static, E: OperationError> Call<A, E> {
    /// Waits for the answer with all that came with it: header blocks, HTTP status and headers, changes.
    ///
    /// # Errors
    /// As the call itself.
    pub async fn answer(mut self) -> Result<Answered<A>, E> {
        let running = self.start();
        running.await.map_err(|error| self.error(error))
    }

    fn start(&mut self) -> Running<A> {
        let request = self.request.take();
        let request = request.unwrap_or_else(|| Err(Error::Setup("the call has ended".to_owned())));
        let (client, options, expected) =
            (self.client.clone(), self.options.clone(), self.expected);
        Box::pin(async move {
            let client = options.client(client)?;
            let request = with_headers(&client, &options, request?)?;
            let answer = client.answer(request, &options).await?;
            let body = result(&client, expected, &answer)?;
            Ok(Answered { body, answer })
        })
    }

    fn error(&self, error: Error) -> E {
        E::of(&self.client, self.operation, error)
    }
}

/// The request with the header blocks of the options and with the client's defaults. Blocks that it has are kept.
fn with_headers(
    client: &Client,
    options: &CallOptions,
    request: Request,
) -> Result<Request, Error> {
    let target = request.target().clone();
    let own = options.headers(&target)?;
    if own.is_empty() && client.default_headers().is_empty() {
        return Ok(request);
    }
    let record = target.add_request_headers(request.into_record(), &own)?;
    let record = target.add_request_headers(record, client.default_headers())?;
    Ok(target.request_of(record))
}

impl<A: 'static, E: OperationError> Future for Call<A, E> {
    type Output = Result<A, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut running = this.running.take().unwrap_or_else(|| this.start());
        match running.as_mut().poll(context) {
            Poll::Ready(answered) => {
                let body = answered.map(|answered| answered.body);
                Poll::Ready(body.map_err(|error| this.error(error)))
            }
            Poll::Pending => {
                this.running = Some(running);
                Poll::Pending
            }
        }
    }
}

impl<A, E> fmt::Debug for Call<A, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.operation)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The result of a call of a generated client, and the [`Answer`] it came in, to which it dereferences.
#[derive(Clone, Debug)]
pub struct Answered<A> {
    body: A,
    answer: Answer,
}

impl<A> Answered<A> {
    /// The result.
    pub fn body(&self) -> &A {
        &self.body
    }

    /// The result.
    pub fn into_body(self) -> A {
        self.body
    }
}

impl<A> Deref for Answered<A> {
    type Target = Answer;

    fn deref(&self) -> &Answer {
        &self.answer
    }
}

/// The result in an answer.
fn result<A>(client: &Client, expected: ResponseBody<A>, answer: &Answer) -> Result<A, Error> {
    match (expected, answer.record()) {
        (ResponseBody::Body(body), Some(record)) => {
            client.meter().converting(|| read(record, &body))
        }
        (ResponseBody::Body(_), None) => Err(no_answer()),
        // A peer may answer a one-way operation with an empty envelope.
        (ResponseBody::OneWay(nothing), _) => Ok(nothing()),
    }
}

/// The error for a missing response message: the peer accepted the request, but its reply has no message.
fn no_answer() -> Error {
    Error::Setup(
        "the peer accepted the message (HTTP 202) without the response that the operation has"
            .to_owned(),
    )
}
