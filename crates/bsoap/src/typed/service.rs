//! The service that generated services are made of.

use std::sync::Arc;

use bsoap_codec::PackError;
use bsoap_protocol::{Fault, Target};

use super::fault::IntoFault;
use super::operation::{Body, Operation, ResponseBody, envelope, read};
use super::schema::Schema;
use crate::service::Payload;
use crate::{Message, ServiceBuilder, Value};

/// What a generated `serve_…` function builds: a service whose operations are methods of `S`.
///
/// ```
/// use std::sync::Arc;
/// use bsoap::typed::{Body, Operation, Schema, TypedService};
/// use bsoap::{Fault, Message, Service};
///
/// struct Adder;
///
/// static SCHEMAS: [Schema; 1] = [Schema::new(1, 2)];
/// const RESET: Operation<(), ()> = Operation::new("sumInts", Body::empty(Some(4)), Body::empty(Some(4)));
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let service = TypedService::new(Adder, Service::builder(wsdl), &SCHEMAS)
///     .operation(RESET, |_: Arc<Adder>, (), _: Message| async { Ok::<(), Fault>(()) })
///     .into_builder()
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Debug)]
pub struct TypedService<S> {
    service: Arc<S>,
    builder: ServiceBuilder,
    schemas: &'static [Schema],
}

impl<S: Send + Sync + 'static> TypedService<S> {
    /// A service that adds its operations to `builder`.
    pub fn new(service: S, builder: ServiceBuilder, schemas: &'static [Schema]) -> Self {
        Self {
            service: Arc::new(service),
            builder,
            schemas,
        }
    }

    /// Adds an operation: `call` calls the method.
    #[must_use]
    pub fn operation<Q, A, E, F, Running>(mut self, operation: Operation<Q, A>, call: F) -> Self
    where
        Q: Send + 'static,
        A: Send + 'static,
        E: IntoFault + Send,
        F: Fn(Arc<S>, Q, Message) -> Running + Send + Sync + 'static,
        Running: Future<Output = Result<A, E>> + Send + 'static,
    {
        let (service, schemas, call) = (self.service.clone(), self.schemas, Arc::new(call));
        self.builder = self
            .builder
            .handle(operation.name, move |message: Message| {
                let (service, call) = (Arc::clone(&service), Arc::clone(&call));
                async move {
                    let request = request(&message, schemas, &operation.request)?;
                    let target = message.target().clone();
                    let answer = call(service, request, message).await;
                    let answer = answer.map_err(|error| error.into_fault(&target))?;
                    match &operation.answer {
                        ResponseBody::Body(body) => answered(&target, body, &answer),
                        ResponseBody::OneWay(_) => Ok(Payload::Value(Value::Nil)),
                    }
                }
            });
        self
    }

    /// The builder with all operations.
    pub fn into_builder(self) -> ServiceBuilder {
        self.builder
    }
}

/// The arguments of a request that a service received.
fn request<T>(message: &Message, schemas: &[Schema], body: &Body<T>) -> Result<T, Fault> {
    let (plan, binding) = (message.target().plan(), message.target().binding());
    let fingerprint = plan.fingerprint(binding.request);
    if !schemas.iter().any(|schema| schema.request == fingerprint) {
        return Err(Fault::receiver(PackError::OtherSchema.to_string()));
    }
    read(message.record(), body).map_err(|error| Fault::receiver(error.report()))
}

/// The answer of a service as a Record.
fn answered<T>(target: &Target, body: &Body<T>, value: &T) -> Result<Payload, Fault> {
    let made = envelope(target.plan(), target.binding().response, body, value, None);
    made.map(Payload::Record)
        .map_err(|error| Fault::receiver(error.report()))
}
