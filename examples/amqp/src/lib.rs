//! SOAP over AMQP 0-9-1: a transport that sends requests to a queue, and a loop that serves a `Service` from it.
//!
//! ```text
//! client ─ queue `soap.mesh` ─► serve ─► Service
//!        ◄─ reply queue ─┘         correlation id: which request it answers
//! ```
//!
//! The headers of HTTP that SOAP needs become properties: `Content-Type` is the content type, `SOAPAction`, the path and the status are
//! headers of the message.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bsoap::Service;
use bsoap::http::http::{HeaderValue, Request, Response};
use bsoap::http::{AnyError, Body, Bytes, Error, ErrorKind, header};
use bsoap::transport::{CallContext, Transport, Transporting};
use futures_util::StreamExt;
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use tokio::sync::oneshot;
use tower_service::Service as _;

const ACTION: &str = "SOAPAction";
const PATH: &str = "path";
const STATUS: &str = "status";

/// Sends the requests of a client to a queue, and waits for the answers in a reply queue of its own.
#[derive(Clone)]
pub struct AmqpTransport {
    inner: Arc<Inner>,
}

struct Inner {
    /// Ends when the transport is dropped.
    _connection: Connection,
    channel: Channel,
    queue: ShortString,
    replies: ShortString,
    next: AtomicU64,
    waiting: Arc<Waiting>,
}

/// Who waits for an answer, by correlation id.
#[derive(Default)]
struct Waiting(Mutex<HashMap<String, oneshot::Sender<Delivery>>>);

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Delivery>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets a call that is given up, such as after its time limit.
struct Forget(Arc<Waiting>, String);

impl Drop for Forget {
    fn drop(&mut self) {
        self.0.lock().remove(&self.1);
    }
}

impl AmqpTransport {
    /// Connects to a broker, such as `amqp://localhost`, for requests to a queue.
    ///
    /// # Errors
    /// If the broker cannot be reached, or refuses a queue.
    pub async fn connect(broker: &str, queue: &str) -> Result<Self, lapin::Error> {
        let connection = Connection::connect(broker, ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        declare(&channel, queue).await?;
        let options = QueueDeclareOptions::exclusive().auto_delete();
        let replies = channel.queue_declare("".into(), options, FieldTable::default()).await?;
        let replies = replies.name().clone();
        let options = BasicConsumeOptions {
            no_ack: true,
            ..Default::default()
        };
        let mut answers = channel
            .basic_consume(replies.clone(), "".into(), options, FieldTable::default())
            .await?;
        let waiting: Arc<Waiting> = Arc::default();
        let known = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Some(Ok(answer)) = answers.next().await {
                let id = answer.properties.correlation_id().as_ref().map(ToString::to_string);
                let caller = id.and_then(|id| known.lock().remove(&id));
                // An answer that nobody waits for any more is dropped.
                if let Some(caller) = caller {
                    let _ = caller.send(answer);
                }
            }
            // The connection has ended, and with it all calls.
            known.lock().clear();
        });
        Ok(Self {
            inner: Arc::new(Inner {
                _connection: connection,
                channel,
                queue: queue.into(),
                replies,
                next: AtomicU64::new(0),
                waiting,
            }),
        })
    }
}

impl Transport for AmqpTransport {
    fn send(&self, request: Request<Body>) -> Transporting {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let place = format!("queue {}", inner.queue);
            let id = inner.next.fetch_add(1, Ordering::Relaxed).to_string();
            let (head, body) = request.into_parts();
            let mut headers = FieldTable::default();
            headers.insert(PATH.into(), text(head.uri.path()));
            if let Some(action) = head.headers.get("soapaction") {
                headers.insert(ACTION.into(), text(action.to_str()?));
            }
            let mut properties = BasicProperties::default()
                .with_correlation_id(id.as_str().into())
                .with_reply_to(inner.replies.clone())
                .with_headers(headers);
            if let Some(media_type) = head.headers.get(header::CONTENT_TYPE) {
                properties = properties.with_content_type(media_type.to_str()?.into());
            }
            // Nobody should work on a request whose caller has given up.
            let context = head.extensions.get::<CallContext>();
            if let Some(left) = context.and_then(CallContext::time_left) {
                let left = left.as_millis().min(u128::from(u32::MAX)).to_string();
                properties = properties.with_expiration(left.as_str().into());
            }
            let body = body.collect().await?;
            let (sender, answer) = oneshot::channel();
            inner.waiting.lock().insert(id.clone(), sender);
            let _forget = Forget(Arc::clone(&inner.waiting), id);
            publish(&inner.channel, inner.queue.clone(), &body, properties)
                .await
                .map_err(|error| Error::new(ErrorKind::Connect, place.as_str()).because(error))?;
            let answer = answer.await;
            response(answer.map_err(|_| Error::new(ErrorKind::Broken, place))?)
        })
    }
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}

async fn publish(
    channel: &Channel,
    queue: ShortString,
    body: &[u8],
    properties: BasicProperties,
) -> Result<(), lapin::Error> {
    let options = BasicPublishOptions::default();
    let published = channel.basic_publish("".into(), queue, options, body, properties);
    published.await?.await?;
    Ok(())
}

/// Makes the queue of requests, unless it is there: a request to a queue that does not exist yet would be dropped.
async fn declare(channel: &Channel, queue: &str) -> Result<(), lapin::Error> {
    let options = QueueDeclareOptions::default();
    channel.queue_declare(queue.into(), options, FieldTable::default()).await?;
    Ok(())
}

/// The text of a header.
fn header_of(delivery: &Delivery, name: &str) -> Option<String> {
    let headers = delivery.properties.headers().as_ref()?;
    match headers.inner().get(name)? {
        AMQPValue::LongString(text) => Some(text.to_string()),
        AMQPValue::ShortString(text) => Some(text.to_string()),
        _ => None,
    }
}

fn content_type(delivery: &Delivery) -> Option<HeaderValue> {
    let media_type = delivery.properties.content_type().as_ref()?;
    media_type.as_str().parse().ok()
}

fn response(answer: Delivery) -> Result<Response<Bytes>, AnyError> {
    let media_type = content_type(&answer);
    let status = header_of(&answer, STATUS);
    let mut response = Response::new(Bytes::from(answer.data));
    if let Some(status) = status {
        *response.status_mut() = status.parse()?;
    }
    if let Some(media_type) = media_type {
        response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    }
    Ok(response)
}

/// Serves a service from a queue until the connection ends: requests run side by side, and each is acknowledged when it is answered, so
/// that a request is not lost if the program ends.
///
/// # Errors
/// If the broker cannot be reached, refuses a queue, or ends the connection.
pub async fn serve(broker: &str, queue: &str, service: Service) -> Result<(), AnyError> {
    let connection = Connection::connect(broker, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    declare(&channel, queue).await?;
    let options = BasicConsumeOptions::default();
    let mut requests = channel
        .basic_consume(queue.into(), "".into(), options, FieldTable::default())
        .await?;
    while let Some(request) = requests.next().await {
        let (request, service, channel) = (request?, service.clone(), channel.clone());
        tokio::spawn(async move {
            if let Err(error) = answer(request, service, &channel).await {
                eprintln!("a request from the queue was not answered: {error}");
            }
        });
    }
    Ok(())
}

async fn answer(
    delivery: Delivery,
    mut service: Service,
    channel: &Channel,
) -> Result<(), AnyError> {
    let path = header_of(&delivery, PATH).unwrap_or_else(|| "/".to_owned());
    let mut request = Request::post(format!("http://queue{path}"));
    if let Some(media_type) = content_type(&delivery) {
        request = request.header(header::CONTENT_TYPE, media_type);
    }
    if let Some(action) = header_of(&delivery, ACTION) {
        request = request.header("soapaction", action);
    }
    let body = Body::from(delivery.data.clone());
    let (head, body) = service.call(request.body(body)?).await?.into_parts();
    if let Some(replies) = delivery.properties.reply_to() {
        let mut headers = FieldTable::default();
        headers.insert(STATUS.into(), text(head.status.as_str()));
        let mut properties = BasicProperties::default().with_headers(headers);
        if let Some(media_type) = head.headers.get(header::CONTENT_TYPE) {
            properties = properties.with_content_type(media_type.to_str()?.into());
        }
        if let Some(id) = delivery.properties.correlation_id() {
            properties = properties.with_correlation_id(id.clone());
        }
        publish(channel, replies.clone(), &body.collect().await?, properties).await?;
    }
    delivery.ack(BasicAckOptions::default()).await?;
    Ok(())
}
