//! Serves one path: decodes a request, runs its handler, and encodes the answer.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bsoap_codec::plan::ElementId;
use bsoap_codec::{Attachment, Object, Record, Value, decode};
use bsoap_differential::receive;
use bsoap_http::{
    Body, BodyReader, BodyRefusal, BoxedAnswer, Charge, Connection, Handler, OnRefusal, Owner,
    Refusal, Request, RequestClient, RequestHead, Response, StatusCode, WorkError,
};
use bsoap_protocol::addressing;
use bsoap_protocol::package::{Packing, is_package};
use bsoap_protocol::{
    AwaitingAnswer, Contents, Endpoint, Fault, HEADERS, IncomingRequest, OutgoingReply,
    ReceivedRequest, SenderStatus, Target,
};
use bsoap_schema::Definitions;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use tokio::task::JoinSet;
use tracing::{Instrument, Span};

use super::called::Called;
use super::elsewhere::Destinations;
use super::handler::{AnswerAttachments, AnswerHeaders, Message, Operation, Payload};
use super::{Background, HandlerLimit, spans};
use crate::attachments::{Attachments, PackageReceiver, Prepared, Received};
use crate::decoders::Decoders;
use crate::error::report;
use crate::hooks::Hooks;
use crate::limits::{LEAST_RECORD, USUAL_RECORD};
use crate::offload::{is_short, offload, weight_of_record, weight_of_value};
use crate::principal::Principals;
use crate::scope::{Keeping, PeerScope};
use crate::tuning::{Budget, Meter};
use crate::{Caller, Changes, Error, Principal, hints, insertion, receiving, sending};

/// The endpoint at one path, with the operations of its ports.
pub(super) struct Path {
    pub(super) definitions: Arc<Definitions>,
    pub(super) endpoint: Endpoint,
    pub(super) decoders: Arc<Decoders>,
    pub(super) budget: Budget,
    pub(super) keeping: Keeping,
    pub(super) principals: Option<Principals>,
    pub(super) operations: Arc<HashMap<String, Operation>>,
    pub(super) fallback: Option<Operation>,
    /// How many handlers may run at a time.
    pub(super) handlers: HandlerLimit,
    /// The time limit of a handler.
    pub(super) handler_timeout: Option<Duration>,
    pub(super) background: Background,
    pub(super) hooks: Hooks,
    pub(super) on_refusal: Option<OnRefusal>,
    pub(super) on_span: Option<OnSpan>,
    /// The HTTP status of SOAP 1.2 faults whose code is Sender.
    pub(super) sender_status: SenderStatus,
    pub(super) meter: Meter,
    pub(super) attachments: Attachments,
    /// Sends the answers that go to other endpoints.
    #[cfg(feature = "client")]
    pub(super) answers: bsoap_http::Client,
}

/// A [`Path`] as a handler of the HTTP server.
pub(super) struct PathHandler(pub(super) Arc<Path>);

/// A function that prepares the span of a request, which has these headers.
pub(super) type OnSpan = Arc<dyn Fn(&Span, &HeaderMap) + Send + Sync>;

/// A decoded request, or the reply that refuses it.
type Decoded = Result<DecodedRequest, Box<OutgoingReply>>;

/// A decoded request, its changes and the next step of the exchange.
struct DecodedRequest {
    received: ReceivedRequest,
    changes: Changes,
    awaiting: AwaitingAnswer,
    /// How attachments of the answer travel.
    packing: Packing,
}

/// What is known of the client that an answer is sent to.
struct Receiver {
    scope: PeerScope,
    packing: Packing,
    /// True if the client uses hints.
    has_hint: bool,
}

/// A request whose handler runs.
struct Pending<R, P> {
    awaiting: AwaitingAnswer,
    running: R,
    headers: AnswerHeaders,
    attachments: AnswerAttachments,
    /// The place among the handlers that may run at a time.
    place: P,
    charge: Arc<Charge>,
    to: Receiver,
}

/// What a handler answers: its payload and the header blocks that it has set, or a fault.
struct Answer {
    payload: Result<Payload, Fault>,
    headers: Option<Object>,
    /// What is sent beside it, in addition to the attachments of its values.
    attachments: Vec<Attachment>,
}

/// The body of an answer before it is put together with its attachments.
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) text: Body,
    pub(super) attachments: Vec<Attachment>,
    pub(super) packing: Packing,
}

impl From<Vec<u8>> for Encoded {
    fn from(text: Vec<u8>) -> Self {
        Self::from(Body::from(text))
    }
}

impl From<Body> for Encoded {
    fn from(text: Body) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

pub(super) type Reply = OutgoingReply<Encoded>;

impl Answer {
    /// The approximate length in bytes of its text.
    fn weight(&self, last_length: usize) -> usize {
        match &self.payload {
            Ok(Payload::Value(value) | Payload::Streamed(value, _)) => weight_of_value(value),
            Ok(Payload::Record(record)) => weight_of_record(record),
            // The length is unknown before the value is packed; that of the last answer is the best estimate.
            Ok(Payload::Packed(_)) => last_length,
            Err(_) => 0,
        }
    }
}

impl Handler for PathHandler {
    fn span(&self, head: &RequestHead, connection: &Connection) -> Span {
        let span = spans::request(head, connection);
        if let (Some(prepare), false) = (&self.0.on_span, span.is_disabled()) {
            prepare(&span, &head.headers);
        }
        span
    }

    fn identify(
        &self,
        head: &mut RequestHead,
        client: &RequestClient<'_>,
    ) -> Result<Option<Owner>, Box<Response>> {
        let Some(principals) = &self.0.principals else {
            return Ok(None);
        };
        match principals.identify(&Caller::new(&head.headers, client)) {
            Ok(None) => Ok(None),
            Ok(Some(principal)) => {
                let owner = Owner::of(&principal);
                head.extensions.insert(principal);
                Ok(Some(owner))
            }
            Err(challenge) => Err(Box::new(unauthenticated(challenge))),
        }
    }

    fn reader(&self, head: &RequestHead) -> Result<Option<Box<dyn BodyReader>>, BodyRefusal> {
        let content_type = head.headers.get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        match content_type.filter(|it| is_package(it)) {
            Some(content_type) => {
                let receiver = PackageReceiver::new(content_type, &self.0.attachments)?;
                Ok(Some(Box::new(receiver)))
            }
            None => Ok(None),
        }
    }

    fn handle(&self, mut request: Request) -> BoxedAnswer<'_> {
        Box::pin(async move {
            let span = std::mem::replace(&mut request.span, Span::none());
            self.0.meter.receives(request.body.len());
            let is_observed = request.is_observed();
            let (reply, target) = self.0.reply(request, &span).await;
            spans::answered(&span, &reply);
            let reply = reply.with_sender_status(self.0.sender_status);
            let called = is_observed.then(|| Called::new(target.clone(), &reply));
            let has_message = reply.version.is_some();
            let (mut response, mut prepared) = response(reply);
            if let (Some(target), true) = (target, has_message && self.0.hooks.change_text()) {
                response = self
                    .0
                    .before_send(&target, response)
                    .unwrap_or_else(|fault| {
                        prepared = Prepared::default();
                        *fault
                    });
            }
            prepared.body = std::mem::take(&mut response.body);
            response.body = prepared.frame(&mut response.headers);
            self.0.meter.sends(response.body.len());
            if let Some(called) = called {
                response.extensions.insert(called);
            }
            self.0.keeping.hints.offer(&mut response.headers);
            response
        })
    }
}

impl Path {
    /// The reply to a request, with the operation called if the hook `before_send` or the report of the answer wants to know.
    async fn reply(self: &Arc<Self>, request: Request, span: &Span) -> (Reply, Option<Target>) {
        let scope = self.scope(&request);
        let charge = Arc::clone(&request.charge);
        let is_observed = request.is_observed();
        let is_wanted = hints::are_wanted(&request.headers);
        let (decoded, request) = self.decode(request, &scope).await;
        let DecodedRequest {
            received,
            changes,
            awaiting,
            packing,
        } = match decoded {
            Ok(decoded) => decoded,
            Err(reply) => return (self.refuse(&request, *reply), None),
        };
        spans::calls(span, received.target());
        let is_wanted_later = is_observed || self.hooks.change_text();
        let target = is_wanted_later.then(|| received.target().clone());
        let name = &received.target().operation().name;
        let Some(operation) = self.operations.get(name).or(self.fallback.as_ref()) else {
            let fault = Fault::receiver(format!("operation {name} is not implemented here"));
            return (awaiting.fault(&fault).map(Encoded::from), target);
        };
        let Ok(place) = self.handlers.place().await else {
            let text = "too many requests are being processed (max_handlers): try again later";
            let reply = unavailable(awaiting, text);
            self.report(&request, reply.status, text);
            return (reply, target);
        };
        let message = Message::new(
            received,
            changes,
            request,
            (&self.definitions, &self.decoders),
        );
        let headers = message.shared_answer_headers();
        let attachments = message.shared_answer_attachments();
        let destinations = Destinations::of(&awaiting);
        let running = run(
            operation.clone(),
            message,
            awaiting.target().clone(),
            self.handler_timeout,
        );
        if awaiting.is_one_way() {
            let name = awaiting.target().operation().name.clone();
            let charge = charge.split();
            let task = Box::pin(async move {
                let answer = running.await;
                drop((place, charge));
                if let Err(fault) = answer {
                    tracing::warn!(operation = name, %fault, "a one-way operation ended with a fault");
                }
            });
            self.background.spawn(task.in_current_span()).await;
            return (awaiting.accept(), target);
        }
        let to = Receiver {
            scope,
            packing,
            has_hint: self.keeping.hints.gives(is_wanted) && !destinations.are_stated(),
        };
        let pending = Pending {
            awaiting,
            running,
            headers,
            attachments,
            place,
            charge,
            to,
        };
        if destinations.are_stated() {
            let (path, operation) = (Arc::clone(self), operation.clone());
            let answering = async move { path.finish(&operation, pending).await };
            return (self.answer_to(destinations, answering).await, target);
        }
        (self.finish(operation, pending).await, target)
    }

    /// Waits for a handler and encodes its answer.
    async fn finish<R, P>(self: &Arc<Self>, operation: &Operation, pending: Pending<R, P>) -> Reply
    where
        R: Future<Output = Result<Payload, Fault>>,
    {
        let Pending {
            awaiting,
            running,
            headers,
            attachments,
            place,
            charge,
            to,
        } = pending;
        let answer = Answer {
            payload: running.await,
            headers: headers.take(),
            attachments: attachments.take(),
        };
        drop(place);
        let weight = answer.weight(operation.last_length());
        // The values, their Record and the text.
        if let Err(error) = charge.resize(weight.saturating_mul(2) as u64) {
            return unavailable(awaiting, &error.to_string());
        }
        let reply = self.encode(awaiting, answer, weight, to).await;
        operation.answered(usize::try_from(reply.body.text.len()).unwrap_or(usize::MAX));
        reply
    }

    /// The reply to a request whose answer may go elsewhere. If neither an answer nor a fault goes back on the connection, the
    /// request is accepted at once.
    async fn answer_to(
        self: &Arc<Self>,
        destinations: Destinations,
        answering: impl Future<Output = Reply> + Send + 'static,
    ) -> Reply {
        let path = Arc::clone(self);
        if destinations.is_connection_unused() {
            let task = Box::pin(async move {
                let reply = answering.await;
                destinations.send(&path, reply).await;
            });
            self.background.spawn(task.in_current_span()).await;
            return Reply::accepted();
        }
        let reply = answering.await;
        if destinations.is_for_connection(&reply) {
            return reply;
        }
        let task = Box::pin(async move {
            destinations.send(&path, reply).await;
        });
        self.background.spawn(task.in_current_span()).await;
        Reply::accepted()
    }

    /// The reply that refuses a request. It is reported, if anybody wants to know.
    fn refuse(&self, request: &Request, reply: OutgoingReply) -> Reply {
        let reply = reply.with_sender_status(self.sender_status);
        self.report(
            request,
            reply.status,
            reply.reason.as_deref().unwrap_or_default(),
        );
        reply.map(Encoded::from)
    }

    fn report(&self, request: &Request, status: u16, reason: &str) {
        if let Some(report) = &self.on_refusal {
            report(&Refusal::new(request, status, reason));
        }
    }

    /// The response after the hook `before_send`.
    ///
    /// # Errors
    /// The response with a fault, if the hook refuses it.
    fn before_send(&self, target: &Target, mut sent: Response) -> Result<Response, Box<Response>> {
        match self.hooks.before_send(target, &mut sent.headers, sent.body) {
            Ok(body) => sent.body = body,
            Err(error) => {
                let fault = target.fault(&refusal(error)).map(Encoded::from);
                return Err(Box::new(response(fault).0));
            }
        }
        Ok(sent)
    }

    /// The scope of a request's sender: that of the principal, or that of the connection if there is no principal.
    fn scope(&self, request: &Request) -> PeerScope {
        let new = |keeping| PeerScope::new(&self.decoders, &self.budget, keeping);
        let principal = request.extensions.get::<Principal>();
        if let (Some(principals), Some(principal)) = (&self.principals, principal) {
            return principals.scope(principal, || new(self.keeping));
        }
        if !request.connection.is_lasting() {
            return new(self.keeping.off());
        }
        PeerScope::clone(&request.connection.keep(|| new(self.keeping)))
    }

    async fn decode(
        self: &Arc<Self>,
        mut request: Request,
        scope: &PeerScope,
    ) -> (Decoded, Request) {
        // The body is freed as soon as it is decoded: the handler works with the Record.
        let body = std::mem::take(&mut request.body);
        let content_type = request.header("content-type").map(str::to_owned);
        let extensions = &mut request.extensions;
        let package = Received::of(
            extensions,
            content_type.as_deref(),
            &body,
            &self.attachments,
        );
        let package = match package {
            Ok(package) => package,
            Err(refusal) => {
                let reply = OutgoingReply::refused(refusal.status.as_u16(), refusal.reason);
                return (Err(Box::new(reply)), request);
            }
        };
        let body = package
            .as_ref()
            .map_or(body, |package| package.root().clone());
        if is_short(body.len()) {
            return (self.receive(&request, body, package, scope), request);
        }
        let (path, scope) = (Arc::clone(self), scope.clone());
        offload(move || (path.receive(&request, body, package, &scope), request)).await
    }

    fn receive(
        &self,
        request: &Request,
        body: Bytes,
        mut package: Option<Received>,
        scope: &PeerScope,
    ) -> Decoded {
        let of_root = package
            .as_ref()
            .map(|package| package.content_type().to_owned());
        let mut incoming = IncomingRequest {
            content_type: of_root
                .as_deref()
                .or_else(|| request.header("content-type")),
            soap_action: request.header("soapaction"),
            body,
        };
        let body = std::mem::take(&mut incoming.body);
        match self.hooks.after_receive(None, None, &request.headers, body) {
            Ok(body) => incoming.body = body,
            Err(error) => return Err(Box::new(self.endpoint.refuse(&incoming, &refusal(error)))),
        }
        if let Some(package) = &mut package {
            let root = std::mem::take(&mut incoming.body);
            match package.text(root.clone(), &self.decoders.options()) {
                Ok(text) => incoming.body = text,
                Err(error) => {
                    incoming.body = root;
                    let fault = Fault::sender(error.to_string());
                    return Err(Box::new(self.endpoint.refuse(&incoming, &fault)));
                }
            }
        }
        let charge = &request.charge;
        let read = || self.read(incoming, package, scope, charge);
        let decoded = self.meter.converting(read)?;
        let target = decoded.received.target();
        match self.hooks.after_decode(target, decoded.received.record()) {
            Ok(()) => Ok(decoded),
            Err(error) => Err(Box::new(decoded.awaiting.fault(&refusal(error)))),
        }
    }

    fn read(
        &self,
        incoming: IncomingRequest<'_>,
        package: Option<Received>,
        scope: &PeerScope,
        charge: &Arc<Charge>,
    ) -> Decoded {
        let attached = package.as_ref().map_or(0, Received::memory);
        let content_type = incoming.content_type;
        let mut undecoded = self.endpoint.open(incoming)?;
        loop {
            match self.read_charged(undecoded.root(), undecoded.text(), attached, scope, charge) {
                Ok(Ok(read)) => {
                    let changes = Changes::of(&read);
                    let is_mtom = package.as_ref().is_some_and(Received::is_mtom);
                    let record = match package {
                        Some(package) => package.attach(read.record),
                        None => read.record,
                    };
                    let (received, awaiting) = undecoded.decoded(record)?;
                    return Ok(DecodedRequest {
                        received,
                        changes,
                        awaiting,
                        packing: self.attachments.packing(is_mtom),
                    });
                }
                Ok(Err(error)) => undecoded = undecoded.undecodable(&error)?,
                Err(error) => {
                    let request = IncomingRequest {
                        content_type,
                        body: undecoded.text().clone(),
                        ..IncomingRequest::default()
                    };
                    return Err(Box::new(self.no_memory(&request, error)));
                }
            }
        }
    }

    /// Decodes a message. The memory of its Record is charged before it is used: most Records need a few times as much as their
    /// text, and only those of sparse types are read again, with as much as the options of decoding allow.
    fn read_charged(
        &self,
        root: ElementId,
        text: &Bytes,
        attached: u64,
        scope: &PeerScope,
        charge: &Arc<Charge>,
    ) -> Result<Result<receive::Received, decode::Error>, WorkError> {
        let body = charge.bytes();
        let read_within = |limit: usize| {
            charge.resize(body + limit as u64)?;
            Ok(receiving::read(scope, &self.meter, root, text, limit))
        };
        let usual = text.len().saturating_mul(USUAL_RECORD) + LEAST_RECORD;
        let mut read = read_within(usual)?;
        if read.as_ref().is_err_and(decode::Error::is_record_memory) {
            let options = self.decoders.options();
            let allowed = text.len().saturating_mul(options.record_per_byte);
            read = read_within(allowed.max(options.record_floor))?;
        }
        let record = read.as_ref().map_or(0, |read| read.record.memory());
        charge.resize(record as u64 + attached)?;
        Ok(read)
    }

    /// The reply to a request for whose Record there is no memory.
    fn no_memory(&self, request: &IncomingRequest<'_>, error: WorkError) -> OutgoingReply {
        match error {
            WorkError::TooLarge { .. } => self
                .endpoint
                .refuse(request, &Fault::sender(error.to_string())),
            _ => {
                let fault = Fault::receiver(error.to_string());
                let mut reply = self.endpoint.refuse(request, &fault);
                reply.status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
                reply
            }
        }
    }

    /// The reply with a handler's answer. Converting the answer runs code of the service, which may panic.
    async fn encode(
        self: &Arc<Self>,
        awaiting: AwaitingAnswer,
        answer: Answer,
        weight: usize,
        to: Receiver,
    ) -> Reply {
        if is_short(weight) {
            return self.encode_guarded(awaiting, answer, &to);
        }
        let path = Arc::clone(self);
        offload(move || path.encode_guarded(awaiting, answer, &to)).await
    }
}

/// Runs a handler as a task, so that no other request is affected if it panics or takes too long. If the client disconnects,
/// the task is aborted at its next `await`. A handler that has always answered at once gets a task only when it waits.
async fn run(
    operation: Operation,
    message: Message,
    target: Target,
    limit: Option<Duration>,
) -> Result<Payload, Fault> {
    let quickness = operation.quickness();
    let is_quick = quickness.is_quick();
    let mut answering = quickness.watch(operation.call(message));
    if is_quick {
        let first = std::future::poll_fn(|context| {
            let poll = || Pin::new(&mut answering).poll(context);
            Poll::Ready(catch_unwind(AssertUnwindSafe(poll)))
        });
        match first.await {
            Ok(Poll::Ready(answer)) => return answer,
            Ok(Poll::Pending) => {}
            Err(_) => {
                let operation = &target.operation().name;
                tracing::error!(operation, "a handler panicked");
                return Err(failed());
            }
        }
    }
    // Boxed because a quick handler's future is moved for each request.
    Box::pin(run_as_task(answering, target, limit)).await
}

/// Runs the rest of a handler as a task.
async fn run_as_task(
    answering: impl Future<Output = Result<Payload, Fault>> + Send + 'static,
    target: Target,
    limit: Option<Duration>,
) -> Result<Payload, Fault> {
    // Dropping the set aborts the task.
    let mut tasks = JoinSet::new();
    tasks.spawn(answering.in_current_span());
    let ended = async { tasks.join_next().await.expect("it has one task") };
    let ended = match limit {
        Some(limit) => tokio::time::timeout(limit, ended).await.map_err(|_| limit),
        None => Ok(ended.await),
    };
    let operation = &target.operation().name;
    match ended {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            // The message of the panic is logged, but not shown to the client.
            tracing::error!(operation, %error, "a handler panicked or was aborted");
            Err(failed())
        }
        Err(limit) => {
            tracing::warn!(operation, ?limit, "a handler took too long");
            Err(Fault::receiver(format!(
                "operation {operation} took longer than the handler_timeout of {limit:?}"
            )))
        }
    }
}

/// The reply to a request that can be sent again later.
fn unavailable(awaiting: AwaitingAnswer, text: &str) -> Reply {
    let mut reply = awaiting.fault(&Fault::receiver(text));
    reply.status = StatusCode::SERVICE_UNAVAILABLE.as_u16();
    reply.map(Encoded::from)
}

/// The response to a request whose sender is not known.
fn unauthenticated(challenge: &str) -> Response {
    let text = "the request is not authenticated";
    let mut response = Response::plain(StatusCode::UNAUTHORIZED, text);
    if let Ok(challenge) = challenge.parse() {
        response.headers.insert("www-authenticate", challenge);
    }
    response
}

fn failed() -> Fault {
    Fault::receiver("the service failed while processing the request")
}

/// The fault for a message that a hook refused. If the hook's error is a fault, it is that; the text of any other error is
/// logged, but not shown to the client.
fn refusal(error: Error) -> Fault {
    let source = match error {
        Error::Hook { source, .. } => source,
        other => Box::new(other),
    };
    match source.downcast::<Fault>() {
        Ok(fault) => *fault,
        Err(error) => {
            tracing::warn!(%error, "a hook refused a message");
            Fault::receiver("the service refused the message")
        }
    }
}

/// Encodes answers.
impl Path {
    /// The reply with a handler's answer or fault, or with the fault that says that converting the answer panicked.
    fn encode_guarded(&self, awaiting: AwaitingAnswer, answer: Answer, to: &Receiver) -> Reply {
        let target = awaiting.target().clone();
        let encode = AssertUnwindSafe(|| self.encode_answer(awaiting, answer, to));
        let reply = self.meter.converting(|| catch_unwind(encode));
        reply.unwrap_or_else(|_| {
            let operation = &target.operation().name;
            tracing::error!(operation, "packing an answer panicked");
            target.fault(&failed()).map(Encoded::from)
        })
    }

    /// The reply with a handler's answer or fault. If the answer cannot be encoded, the reply is a fault.
    fn encode_answer(&self, awaiting: AwaitingAnswer, answer: Answer, to: &Receiver) -> Reply {
        let blocks = |fault| awaiting.addressing_blocks(fault);
        let encoded = match answer.payload {
            Ok(payload) => {
                let beside = Beside {
                    headers: answer.headers,
                    attachments: answer.attachments,
                    addressing: blocks(None),
                };
                Ok(self.encode_payload(awaiting.target(), payload, beside, to))
            }
            Err(fault) => Err(fault),
        };
        match encoded {
            Ok(Ok(encoded)) => awaiting.answered(encoded),
            Ok(Err(error @ Error::Hook { .. })) => {
                awaiting.fault(&refusal(error)).map(Encoded::from)
            }
            Ok(Err(error)) => {
                // A client can do nothing about an answer that does not match the WSDL: inform the operator.
                let operation = &awaiting.target().operation().name;
                tracing::error!(operation, "{}", report(&error));
                let fault =
                    Fault::receiver("the service returned an answer that its WSDL does not allow");
                awaiting.fault(&fault).map(Encoded::from)
            }
            Err(fault) => {
                let root = awaiting.target().binding().response;
                let encode = |record: Record| {
                    let stream = sending::faults(root);
                    sending::write(&to.scope, stream, &self.meter, record, false).ok()
                };
                let addressing = blocks(Some(&fault));
                let body = awaiting.target().fault_record(&fault).and_then(encode);
                match body.and_then(|body| with_blocks(awaiting.target(), body, addressing).ok()) {
                    Some(body) => awaiting.faulted(&fault, body.into()),
                    None => awaiting.fault(&fault).map(Encoded::from),
                }
            }
        }
    }

    /// Encodes a handler's answer as the body of the response Envelope.
    fn encode_payload(
        &self,
        target: &Target,
        payload: Payload,
        beside: Beside,
        to: &Receiver,
    ) -> Result<Encoded, Error> {
        let headers = beside.headers;
        let mut record = match (payload, headers) {
            (Payload::Value(value), None) => target.response(value)?,
            (Payload::Value(value), Some(headers)) => {
                target.response(with_headers(value, headers))?
            }
            (Payload::Record(record), None) => record,
            // Generated services answer with Records. Few answers have header blocks, so the detour by a value is rare.
            (Payload::Record(record), Some(headers)) => {
                target.response(with_headers(target.response_value(&record), headers))?
            }
            (Payload::Packed(pack), headers) => {
                let contents = Contents::packed(&*pack);
                target.response(contents.with_headers(headers.unwrap_or_default()))?
            }
            (Payload::Streamed(value, rows), headers) => {
                let contents = with_headers(value, headers.unwrap_or_default());
                // The text has no place yet where blocks could be inserted later.
                let addressing = addressing::as_headers(beside.addressing);
                let record = target.response(contents.with_more_headers(&addressing))?;
                let checked = record.check_with(to.scope.validation());
                checked.map_err(|error| target.unwritable(error))?;
                return Ok(rows.body(&record)?.into());
            }
        };
        self.hooks.before_encode(target, &mut record)?;
        if !Arc::ptr_eq(record.plan(), target.plan()) || record.root() != target.binding().response
        {
            return Err(Error::Setup(
                "the Record of the answer is not one of the response Envelope".into(),
            ));
        }
        let mut attachments = self.attachments.detach(&mut record, to.packing);
        attachments.extend(beside.attachments);
        let stream = sending::stream(0, target.binding().response, target);
        // A hint has locations in the text, which references to attachments move.
        let has_hint = to.has_hint && attachments.is_empty();
        let body = sending::write(&to.scope, stream, &self.meter, record, has_hint);
        let body = body.map_err(|error| target.unwritable(error))?;
        Ok(Encoded {
            text: with_blocks(target, body, beside.addressing)?,
            attachments,
            packing: to.packing,
        })
    }
}

/// What an answer has beside its payload.
struct Beside {
    headers: Option<Object>,
    attachments: Vec<Attachment>,
    /// The header blocks of WS-Addressing, each as XML.
    addressing: Vec<String>,
}

/// An encoded answer with header blocks of WS-Addressing, each as XML.
fn with_blocks(target: &Target, body: Body, blocks: Vec<String>) -> Result<Body, Error> {
    match blocks.is_empty() {
        true => Ok(body),
        false => insertion::insert(body, target.version(), blocks.concat()),
    }
}

/// The contents of an answer with header blocks in addition to those in its value, which they replace.
fn with_headers(mut value: Value, mut headers: Object) -> Contents<'static> {
    if let Value::Object(members) = &mut value
        && let Some(Value::Object(own)) = members.remove(HEADERS)
    {
        for (name, block) in own {
            if headers.get(&name).is_none() {
                headers.insert(name, block);
            }
        }
    }
    Contents::from(value).with_headers(headers)
}

/// The response to a request, before hooks; what it becomes with its attachments.
fn response(reply: Reply) -> (Response, Prepared) {
    let Encoded {
        text,
        attachments,
        packing,
    } = reply.body;
    let mut prepared = match Prepared::new(text, &attachments, packing) {
        Ok(prepared) => prepared,
        Err(error) => {
            tracing::error!(%error, "the attachments of an answer cannot be sent");
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let text = "the service failed while it sent attachments";
            return (Response::plain(status, text), Prepared::default());
        }
    };
    let text = std::mem::take(&mut prepared.body);
    let mut response = match reply.content_type {
        Some(content_type) => Response::new(reply.status, content_type, text),
        None => Response::empty(reply.status),
    };
    if response.status == StatusCode::SERVICE_UNAVAILABLE {
        let second = HeaderValue::from_static("1");
        response.headers.insert("retry-after", second);
    }
    (response, prepared)
}
