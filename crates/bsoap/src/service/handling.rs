//! Handles requests: each is decoded, its handler runs, and the answer is encoded.

use std::sync::Arc;

use bsoap_http::{
    BodyReader, BodyRefusal, BoxedAnswer, Charge, Connection, Handler, Owner, Request,
    RequestClient, RequestHead, Response, StatusCode,
};
use bsoap_protocol::package::is_package;
use bsoap_protocol::{AwaitingAnswer, Fault, OutgoingReply, Target};
use http::header::CONTENT_TYPE;
use tracing::{Instrument, Span};

use super::background::BackgroundPermit;
use super::called::Called;
use super::decoding::DecodedRequest;
use super::elsewhere::Destinations;
use super::encoding::{Answer, Receiver};
use super::handler::{Message, Operation, Payload, SharedExtras};
use super::load::HandlerPlace;
use super::path::Path;
use super::reply::{Encoded, Reply, refusal, response, unavailable};
use super::running::run;
use super::spans;
use crate::attachments::{PackageReceiver, Prepared};
use crate::{Caller, hints};

/// A [`Path`] as a handler of the HTTP server.
pub(super) struct PathHandler(pub(super) Arc<Path>);

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

/// A request whose handler runs.
struct Pending {
    awaiting: AwaitingAnswer,
    /// What the handler adds to its answer.
    extras: SharedExtras,
    /// The place among the handlers that may run at a time.
    place: HandlerPlace,
    charge: Arc<Charge>,
    to: Receiver,
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
        let destinations = Destinations::of(&awaiting);
        let runs_on = awaiting.is_one_way() || destinations.is_connection_unused();
        // Before the place among the handlers, which others may use while this request waits.
        let mut permit = match runs_on {
            true => Some(self.background.permit().await),
            false => None,
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
        let extras = message.extras();
        let running = run(
            operation.clone(),
            message,
            awaiting.target().clone(),
            self.handler_timeout,
        );
        if let Some(permit) = permit.take_if(|_| awaiting.is_one_way()) {
            let held = (place, charge.split());
            let name = &awaiting.target().operation().name;
            self.run_on(name, running, permit, held).await;
            return (awaiting.accept(), target);
        }
        let to = Receiver {
            scope,
            packing,
            has_hint: self.keeping.hints.gives(is_wanted) && !destinations.are_stated(),
        };
        let mut pending = Pending {
            awaiting,
            extras,
            place,
            charge,
            to,
        };
        if destinations.is_any_elsewhere() {
            // The answer is in memory after the request has its reply.
            pending.charge = pending.charge.split();
            let charge = Arc::clone(&pending.charge);
            let (path, operation) = (Arc::clone(self), operation.clone());
            let answering = async move { path.finish(&operation, running, pending).await };
            let reply = self
                .answer_to(destinations, permit, charge, answering)
                .await;
            return (reply, target);
        }
        (self.finish(operation, running, pending).await, target)
    }

    /// Lets the handler of a one-way operation run on after the request is accepted. What it holds is freed when it ends.
    async fn run_on(
        &self,
        name: &str,
        running: impl Future<Output = Result<Payload, Fault>> + Send + 'static,
        permit: BackgroundPermit,
        held: (HandlerPlace, Arc<Charge>),
    ) {
        let name = name.to_owned();
        let task = Box::pin(async move {
            let answer = running.await;
            drop(held);
            if let Err(fault) = answer {
                tracing::warn!(operation = name, %fault, "a one-way operation ended with a fault");
            }
        });
        self.background.spawn(permit, task.in_current_span()).await;
    }

    /// Waits for a handler and encodes its answer.
    async fn finish(
        self: &Arc<Self>,
        operation: &Operation,
        running: impl Future<Output = Result<Payload, Fault>>,
        pending: Pending,
    ) -> Reply {
        let Pending {
            awaiting,
            extras,
            place,
            charge,
            to,
        } = pending;
        let answer = Answer {
            payload: running.await,
            extras: extras.take(),
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

    /// The reply to a request whose answer may go elsewhere. If neither an answer nor a fault goes back on the connection, there is a
    /// permit, and the request is accepted at once.
    async fn answer_to(
        self: &Arc<Self>,
        destinations: Destinations,
        permit: Option<BackgroundPermit>,
        charge: Arc<Charge>,
        answering: impl Future<Output = Reply> + Send + 'static,
    ) -> Reply {
        let path = Arc::clone(self);
        if let Some(permit) = permit {
            let task = Box::pin(async move {
                let reply = answering.await;
                destinations.send(&path, reply).await;
                drop(charge);
            });
            self.background.spawn(permit, task.in_current_span()).await;
            return Reply::accepted();
        }
        let reply = answering.await;
        if destinations.is_for_connection(&reply) {
            return reply;
        }
        let task = Box::pin(async move {
            destinations.send(&path, reply).await;
            drop(charge);
        });
        let permit = self.background.permit().await;
        self.background.spawn(permit, task.in_current_span()).await;
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
