//! What answers at one path: reads a request, runs its handler as a task, writes the answer.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::Value;
use bsoap_http::{BoxedAnswer, Handler, Request, Response};
use bsoap_protocol::{
    AwaitingAnswer, Contents, Endpoint, Fault, IncomingRequest, OutgoingReply, Received, Target,
};
use tokio_util::task::AbortOnDropHandle;

use super::Background;
use super::handler::{Message, Operation, Payload};
use crate::decoders::Decoders;
use crate::error::report;
use crate::offload::{convert, weight_of_record, weight_of_value};
use crate::principal::Principals;
use crate::scope::{Keeping, Scope};
use crate::sending::{self, Written};
use crate::{Budget, Changes, Error, Meter, Streamed, hints, receiving};

/// What answers at one path.
pub(super) struct Path {
    pub(super) endpoint: Endpoint,
    pub(super) decoders: Arc<Decoders>,
    pub(super) budget: Budget,
    pub(super) keeping: Keeping,
    pub(super) principals: Option<Principals>,
    pub(super) operations: Arc<HashMap<String, Operation>>,
    pub(super) fallback: Option<Operation>,
    /// How long a handler may take.
    pub(super) handler_timeout: Option<Duration>,
    pub(super) background: Background,
    pub(super) meter: Meter,
}

/// A [`Path`] as the server takes it.
pub(super) struct PathHandler(pub(super) Arc<Path>);

/// What is read of a request, or why it is not processed.
type Reading = Result<(Received, Changes, AwaitingAnswer), Box<OutgoingReply>>;

/// To whom an answer goes.
struct Receiver {
    scope: Scope,
    /// Whether it makes use of hints.
    has_hint: bool,
}

/// What is sent back.
type Reply = OutgoingReply<Written>;

impl Handler for PathHandler {
    fn handle(&self, request: Request) -> BoxedAnswer<'_> {
        Box::pin(async move {
            self.0.meter.receives(request.body.len());
            let reply = self.0.reply(request).await;
            self.0.meter.sends(reply.body.0.len());
            let mut response = response(reply);
            self.0.keeping.hints.offer(&mut response.headers);
            response
        })
    }
}

impl Path {
    async fn reply(self: &Arc<Self>, request: Request) -> Reply {
        let scope = self.scope(&request);
        let is_wanted = hints::are_wanted(&request.headers);
        let (reading, request) = self.read(request, &scope).await;
        let (received, changes, awaiting) = match reading {
            Ok(read) => read,
            Err(reply) => return reply.map(Written::from),
        };
        let name = &received.target().operation().name;
        let Some(operation) = self.operations.get(name).or(self.fallback.as_ref()) else {
            let fault = Fault::receiver(format!("operation {name} is not implemented here"));
            return awaiting.fault(&fault).map(Written::from);
        };
        let message = Message::new(received, changes, request.headers, request.peer);
        let running = run(
            operation.clone(),
            message,
            awaiting.target().clone(),
            self.handler_timeout,
        );
        if awaiting.is_one_way() {
            let name = awaiting.target().operation().name.clone();
            let task = async move {
                if let Err(fault) = running.await {
                    tracing::warn!(operation = name, %fault, "a one-way operation ended with a fault");
                }
            };
            self.background.spawn(task).await;
            return awaiting.accept().map(Written::from);
        }
        let answer = running.await;
        let last_length = operation.last_length();
        let to = Receiver {
            scope,
            has_hint: self.keeping.hints.gives(is_wanted),
        };
        let reply = self.write(awaiting, answer, last_length, to).await;
        operation.answered(usize::try_from(reply.body.0.len()).unwrap_or(usize::MAX));
        reply
    }

    /// What is remembered of whoever sent a request: of a principal, or of its connection.
    fn scope(&self, request: &Request) -> Scope {
        let new = || Scope::new(&self.decoders, &self.budget, self.keeping);
        let known = self.principals.as_ref();
        let own = known.and_then(|it| it.scope(&request.headers, request.peer, new));
        if let Some(scope) = own {
            return scope;
        }
        Scope::clone(&request.connection.keep(new))
    }

    async fn read(self: &Arc<Self>, mut request: Request, scope: &Scope) -> (Reading, Request) {
        let (path, scope, length) = (Arc::clone(self), scope.clone(), request.body.len());
        let read = move || {
            let incoming = IncomingRequest {
                content_type: request.header("content-type"),
                soap_action: request.header("soapaction"),
                body: &request.body,
            };
            let mut changes = None;
            let read = |root, text: &[u8]| {
                let read = receiving::read(&scope, &path.meter, root, &request.body, text)?;
                changes = Some(Changes::of(&read));
                Ok(read.record)
            };
            let receive = || path.endpoint.receive_by(read, incoming);
            let reading = path.meter.converting(receive);
            let reading = reading.map(|(received, awaiting)| {
                let all = || Changes::all(received.shared_record());
                let changes = changes.unwrap_or_else(all);
                (received, changes, awaiting)
            });
            // The handler has the values; nobody needs the text any more.
            request.body = bsoap_http::Bytes::new();
            (reading, request)
        };
        convert(length, read).await
    }

    /// The reply that a handler's answer makes. Packing runs code of the service, which may panic.
    async fn write(
        self: &Arc<Self>,
        awaiting: AwaitingAnswer,
        answer: Result<Payload, Fault>,
        last_length: usize,
        to: Receiver,
    ) -> Reply {
        let weight = match &answer {
            Ok(Payload::Value(value)) => weight_of_value(value),
            Ok(Payload::Streamed(value, _)) => weight_of_value(value),
            Ok(Payload::Record(record)) => weight_of_record(record),
            // It does not tell; most likely it is about as long as the one before.
            Ok(Payload::Packed(_)) => last_length,
            Err(_) => 0,
        };
        let (target, meter) = (awaiting.target().clone(), self.meter.clone());
        let write = move || {
            let settle = AssertUnwindSafe(|| settle(awaiting, answer, &to, &meter));
            meter.converting(|| catch_unwind(settle))
        };
        convert(weight, write).await.unwrap_or_else(|_| {
            let operation = &target.operation().name;
            tracing::error!(operation, "packing an answer panicked");
            target.fault(&failed()).map(Written::from)
        })
    }
}

/// Runs a handler as a task: if it panics or takes too long, only its own request suffers. If nobody waits for the answer
/// any more, it ends at its next `await`.
async fn run(
    operation: Operation,
    message: Message,
    target: Target,
    limit: Option<Duration>,
) -> Result<Payload, Fault> {
    let task = tokio::spawn(async move { operation.call(message).await });
    let task = AbortOnDropHandle::new(task);
    let ended = match limit {
        Some(limit) => tokio::time::timeout(limit, task).await.map_err(|_| limit),
        None => Ok(task.await),
    };
    let operation = &target.operation().name;
    match ended {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            // What it says is for whoever runs the service, not for the peer.
            tracing::error!(operation, %error, "a handler failed");
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

fn failed() -> Fault {
    Fault::receiver("the service failed")
}

/// The reply that a handler's answer makes.
fn settle(
    awaiting: AwaitingAnswer,
    answer: Result<Payload, Fault>,
    to: &Receiver,
    meter: &Meter,
) -> Reply {
    let scope = &to.scope;
    let root = awaiting.target().binding().response;
    let stream = sending::stream(0, root, awaiting.target());
    let write = |record| sending::write(scope, stream, meter, record, to.has_hint);
    let reply = match answer {
        Ok(Payload::Value(value)) => awaiting.answer_by(value, write),
        Ok(Payload::Streamed(value, rows)) => return streamed(awaiting, value, rows),
        Ok(Payload::Record(record)) => awaiting.answer_with_by(record, write),
        Ok(Payload::Packed(pack)) => awaiting.answer_by(Contents::packed(&*pack), write),
        Err(fault) => {
            let write = |record| sending::write(scope, sending::faults(root), meter, record, false);
            return awaiting.fault_by(&fault, write);
        }
    };
    reply.unwrap_or_else(|unanswered| {
        // The peer has no use for what is wrong with our own answer; whoever runs the service has.
        let report = report(&unanswered.error);
        tracing::error!(
            operation = unanswered.awaiting.target().operation().name,
            "{report}"
        );
        unanswered.apologise().map(Written::from)
    })
}

/// The reply with an array that is written while it is sent.
fn streamed(awaiting: AwaitingAnswer, value: Value, rows: Streamed) -> Reply {
    let target = awaiting.target().clone();
    let record = target.response(value).map_err(Error::Exchange);
    match record.and_then(|record| Ok((rows.body(&record)?, record))) {
        Ok((body, record)) => awaiting
            .answer_with_by(record, |_| Ok(Written(body)))
            .unwrap_or_else(|unanswered| unanswered.apologise().map(Written::from)),
        Err(error) => {
            let operation = &target.operation().name;
            tracing::error!(operation, "{}", report(&error));
            awaiting.fault(&failed()).map(Written::from)
        }
    }
}

fn response(reply: Reply) -> Response {
    match reply.content_type {
        Some(content_type) => Response::new(reply.status, &content_type, reply.body.0),
        None => Response::empty(reply.status),
    }
}
