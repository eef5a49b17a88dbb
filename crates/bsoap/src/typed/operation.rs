//! Operations as generated code describes them, and how a client and a service run them.

use std::sync::Arc;

use bsoap_codec::plan::{ElementId, Plan, TypeId};
use bsoap_codec::{
    Pack, PackError, PackNillable, Packer, Unpack, UnpackNillable, Unpacker, View, pack,
};
#[cfg(feature = "server")]
use bsoap_protocol::{Fault, Target};

#[cfg(feature = "client")]
use super::Call;
#[cfg(feature = "server")]
use super::IntoFault;
#[cfg(feature = "server")]
use crate::service::Payload;
#[cfg(feature = "client")]
use crate::{CallOptions, Client};
use crate::{Error, Record};
#[cfg(feature = "server")]
use crate::{Message, ServiceBuilder, Value};

/// The fingerprints of a binding's Envelopes. Generated code stores those of the WSDL it was generated for.
///
/// ```
/// use bsoap::typed::Schema;
/// use bsoap::{Fetch, Wsdl};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let definitions = Wsdl::from(wsdl).load(Fetch::AsAsked)?;
/// let (plan, binding) = (definitions.plan(), &definitions.bindings()[0]);
/// let schema = Schema::new(plan.fingerprint(binding.request), plan.fingerprint(binding.response));
/// assert_ne!(schema.request, schema.response);
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schema {
    /// The fingerprint of the request Envelope.
    pub request: u64,
    /// The fingerprint of the response Envelope.
    pub response: u64,
}

impl Schema {
    /// The fingerprints of the request and the response Envelope.
    pub const fn new(request: u64, response: u64) -> Self {
        Self { request, response }
    }
}

/// The content of a Body: which of the branches of the Envelope's Body it is, and how it is written and read.
///
/// ```
/// use bsoap::typed::Body;
///
/// // The fourth branch of the Body, whose element contains one number.
/// const SUM: Body<f64> = Body::new(3);
/// // A Body without content.
/// const NOTHING: Body<()> = Body::empty(None);
/// ```
#[derive(Debug)]
pub struct Body<T> {
    branch: Option<u32>,
    ty: TypeId,
    write: fn(&T, TypeId, &mut Packer<'_>),
    read: fn(TypeId, &mut Unpacker<'_>) -> Result<T, PackError>,
}

impl<T> Clone for Body<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Body<T> {}

impl<T: Pack + Unpack> Body<T> {
    /// The branch of this number.
    pub const fn new(branch: u32) -> Self {
        Self {
            branch: Some(branch),
            ty: TypeId(0),
            write: |value, _, packer| value.pack(packer),
            read: |_, from| T::unpack(from),
        }
    }
}

impl<T: PackNillable + UnpackNillable> Body<T> {
    /// The branch of this number, an element of type `ty` that may be nil.
    pub const fn nillable(branch: u32, ty: u32) -> Self {
        Self {
            branch: Some(branch),
            ty: TypeId(ty),
            write: |value, ty, packer| value.pack_nillable(ty, packer),
            read: |ty, from| T::unpack_nillable(ty, from),
        }
    }
}

impl Body<()> {
    /// A Body without content, or whose element has none: the branch of this number.
    pub const fn empty(branch: Option<u32>) -> Self {
        Self {
            branch,
            ty: TypeId(0),
            write: |(), _, _| {},
            read: |_, _| Ok(()),
        }
    }
}

/// An operation: its name, what it takes and what it answers.
///
/// ```
/// use bsoap::typed::{Body, Operation};
///
/// const SUM: Operation<Vec<f64>, f64> = Operation::new("sumDoubles", Body::new(3), Body::new(3));
/// const RESET: Operation<(), ()> = Operation::one_way("reset", Body::empty(Some(4)));
/// assert_eq!((SUM.name(), RESET.name()), ("sumDoubles", "reset"));
/// ```
#[derive(Debug)]
pub struct Operation<Q, A> {
    name: &'static str,
    request: Body<Q>,
    answer: ResponseBody<A>,
}

/// What answers an operation.
#[derive(Debug)]
pub(super) enum ResponseBody<A> {
    Body(Body<A>),
    #[cfg_attr(not(feature = "client"), allow(dead_code))]
    OneWay(fn() -> A),
}

impl<Q, A> Clone for Operation<Q, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q, A> Copy for Operation<Q, A> {}

impl<A> Clone for ResponseBody<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for ResponseBody<A> {}

impl<Q, A> Operation<Q, A> {
    /// An operation with an answer.
    pub const fn new(name: &'static str, request: Body<Q>, answer: Body<A>) -> Self {
        Self {
            name,
            request,
            answer: ResponseBody::Body(answer),
        }
    }

    /// Its name in the WSDL.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<Q> Operation<Q, ()> {
    /// An operation without an answer.
    pub const fn one_way(name: &'static str, request: Body<Q>) -> Self {
        Self {
            name,
            request,
            answer: ResponseBody::OneWay(|| ()),
        }
    }
}

/// A message to encode: the branch number of its Body, and the functions that write its header blocks and its Body.
struct Envelope<'w> {
    fingerprint: u64,
    branch: Option<u32>,
    headers: Option<&'w dyn Pack>,
    body: &'w dyn Fn(&mut Packer<'_>),
}

/// The fingerprint of the type of an Envelope.
fn envelope_type(plan: &Plan, root: ElementId) -> u64 {
    plan.type_fingerprint(plan.element(root).ty)
}

impl Pack for Envelope<'_> {
    fn pack(&self, packer: &mut Packer<'_>) {
        // Envelope, Header and Body allow any attributes; here they have no attributes, which is an empty string each.
        packer.text("");
        match self.headers {
            Some(headers) => {
                packer.present();
                packer.text("");
                headers.pack(packer);
            }
            None => packer.absent(),
        }
        packer.text("");
        match self.branch {
            Some(branch) => {
                packer.branch(branch);
                (self.body)(packer);
            }
            None => packer.no_branch(),
        }
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(self.fingerprint)
    }
}

/// What a generated client is: a [`Client`] whose WSDL is the one the code was generated for, and the options of its calls.
///
/// ```
/// use bsoap::typed::{Schema, TypedClient};
/// use bsoap::{Client, Error};
///
/// # let wsdl = include_str!("../../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl).endpoint("http://mesh.local/").build()?;
/// // Code that was generated for another WSDL is refused.
/// let other = TypedClient::new(client, &[Schema::new(1, 2)]);
/// assert!(matches!(other, Err(Error::Type(_))));
/// # Ok::<(), bsoap::Error>(())
/// ```
#[cfg(feature = "client")]
#[derive(Clone, Debug)]
pub struct TypedClient {
    client: Client,
    schema: Schema,
    options: CallOptions,
}

#[cfg(feature = "client")]
impl TypedClient {
    /// Checks that code was generated for the WSDL of a client: that the fingerprints of its binding are in `schemas`.
    ///
    /// # Errors
    /// [`Error::Type`] if the code was generated for another WSDL.
    pub fn new(client: Client, schemas: &[Schema]) -> Result<Self, Error> {
        let binding = &client.port().binding;
        let plan = client.plan();
        let schema = Schema {
            request: plan.fingerprint(binding.request),
            response: plan.fingerprint(binding.response),
        };
        if !schemas.contains(&schema) {
            return Err(wrong_type(PackError::OtherSchema));
        }
        Ok(Self {
            client,
            schema,
            options: CallOptions::new(),
        })
    }

    /// The client underneath.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The same client, whose calls have these options.
    pub fn with(&self, options: CallOptions) -> Self {
        Self {
            options,
            ..self.clone()
        }
    }

    /// A call of an operation. The message is made at once: the call does not borrow the request.
    pub fn call<Q, A, E>(
        &self,
        operation: &Operation<Q, A>,
        request: &Q,
        headers: Option<&(dyn Pack + Sync)>,
    ) -> Call<A, E> {
        let made = self.request(operation, request, headers);
        let (client, options) = (self.client.clone(), self.options.clone());
        Call::new(client, options, (operation.name, operation.answer), made)
    }

    fn request<Q, A>(
        &self,
        operation: &Operation<Q, A>,
        request: &Q,
        headers: Option<&(dyn Pack + Sync)>,
    ) -> Result<crate::protocol::Request, Error> {
        let target = self.client.target(operation.name)?;
        let (plan, root) = (target.plan(), target.binding().request);
        if plan.fingerprint(root) != self.schema.request {
            return Err(wrong_type(PackError::OtherSchema));
        }
        let make = || envelope(plan, root, &operation.request, request, headers);
        let record = self.client.meter().converting(make).map_err(wrong_type)?;
        Ok(target.request_of(record))
    }
}

/// The result in an answer.
#[cfg(feature = "client")]
pub(super) fn result<A>(
    client: &Client,
    expected: ResponseBody<A>,
    answer: &crate::Answer,
) -> Result<A, Error> {
    match (expected, answer.record()) {
        (ResponseBody::Body(body), Some(record)) => {
            client.meter().converting(|| read(record, &body))
        }
        (ResponseBody::Body(_), None) => Err(no_answer()),
        // A peer may answer a one-way operation with an empty envelope.
        (ResponseBody::OneWay(nothing), _) => Ok(nothing()),
    }
}

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
#[cfg(feature = "server")]
#[derive(Debug)]
pub struct TypedService<S> {
    service: Arc<S>,
    builder: ServiceBuilder,
    schemas: &'static [Schema],
}

#[cfg(feature = "server")]
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
#[cfg(feature = "server")]
fn request<T>(message: &Message, schemas: &[Schema], body: &Body<T>) -> Result<T, Fault> {
    let (plan, binding) = (message.target().plan(), message.target().binding());
    let fingerprint = plan.fingerprint(binding.request);
    if !schemas.iter().any(|schema| schema.request == fingerprint) {
        return Err(Fault::receiver(PackError::OtherSchema.to_string()));
    }
    read(message.record(), body).map_err(|error| Fault::receiver(error.report()))
}

/// The answer of a service as a Record.
#[cfg(feature = "server")]
fn answered<T>(target: &Target, body: &Body<T>, value: &T) -> Result<Payload, Fault> {
    let made = envelope(target.plan(), target.binding().response, body, value, None);
    made.map(Payload::Record)
        .map_err(|error| Fault::receiver(error.to_string()))
}

fn envelope<T>(
    plan: &Arc<Plan>,
    root: ElementId,
    body: &Body<T>,
    value: &T,
    headers: Option<&(dyn Pack + Sync)>,
) -> Result<Record, PackError> {
    let envelope = Envelope {
        fingerprint: envelope_type(plan, root),
        branch: body.branch,
        headers: headers.map(|headers| headers as &dyn Pack),
        body: &|packer| (body.write)(value, body.ty, packer),
    };
    pack(plan, root, &envelope)
}

fn read<T>(record: &Record, body: &Body<T>) -> Result<T, Error> {
    contents(record)
        .and_then(|mut from| content(&mut from, body))
        .map_err(wrong_type)
}

/// The slots of a Body, by what [`Envelope`] writes: without a Header, it is known where they begin.
fn contents(record: &Record) -> Result<Unpacker<'_>, PackError> {
    let mut from = Unpacker::of(record);
    from.text()?;
    if !from.is_present()? {
        return Ok(from);
    }
    let body = View::of(record).child("Body");
    Ok(Unpacker::within(&body.ok_or(PackError::Mismatch)?))
}

fn content<T>(from: &mut Unpacker<'_>, body: &Body<T>) -> Result<T, PackError> {
    // The attributes of the Body.
    from.text()?;
    if from.branch()? != body.branch {
        return Err(PackError::Mismatch);
    }
    (body.read)(body.ty, from)
}

/// The error for a missing response message: the peer accepted the request, but its reply has no message.
#[cfg(feature = "client")]
fn no_answer() -> Error {
    Error::Setup(
        "the peer accepted the message (HTTP 202) without the response that the operation has"
            .to_owned(),
    )
}

fn wrong_type(error: PackError) -> Error {
    Error::Type(Box::new(error))
}
