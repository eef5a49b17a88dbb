//! The functions that generated code calls. Generated code uses Rust types instead of [`Value`]s.
//!
//! `bsoap generate` and `bsoap-generate` write types with [`Pack`] and [`Unpack`], a client with a method for each
//! operation, and a trait for the service. Such code depends on the layout of its types in a [`Record`], so it is only
//! correct for the schema it was generated for: a [`Schema`] is compared before anything is written or read.

use bsoap_codec::plan::{ElementId, Plan};
use bsoap_codec::{View, build, pack, pack_with};

#[cfg(feature = "server")]
use crate::Message;
#[cfg(feature = "server")]
use crate::service::Payload;
#[cfg(feature = "client")]
use crate::{Client, Reply};
use crate::{Error, Fault, Record, Target, Value};

pub use bsoap_codec::plan::TypeId;
pub use bsoap_codec::{ElementState, Octets, Pack, PackError, Packer, Unpack, Unpacker};

/// The fingerprints of a binding's Envelopes. Generated code stores those of the WSDL it was generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The fingerprint of the request Envelope.
    pub request: u64,
    /// The fingerprint of the response Envelope.
    pub response: u64,
}

/// An enum of a type and its derived types, read from a Record after the marker slot that names the type.
pub trait FromState: Sized {
    /// Reads the value of the type that `state` names.
    ///
    /// # Errors
    /// If the enum has no such type, or the value is nil.
    fn from_state(state: ElementState, from: &mut Unpacker<'_>) -> Result<Self, PackError>;
}

impl<T: FromState> FromState for Box<T> {
    fn from_state(state: ElementState, from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        T::from_state(state, from).map(Self::new)
    }
}

/// An enum of the branches of a choice, read from a Record after the marker slot that names the branch.
pub trait FromBranch: Sized {
    /// Reads the value of a branch; `None` if no branch is present.
    ///
    /// # Errors
    /// If the enum has no such branch.
    fn from_branch(branch: Option<u32>, from: &mut Unpacker<'_>) -> Result<Self, PackError>;
}

impl<T: FromBranch> FromBranch for Box<T> {
    fn from_branch(branch: Option<u32>, from: &mut Unpacker<'_>) -> Result<Self, PackError> {
        T::from_branch(branch, from).map(Self::new)
    }
}

/// A message to encode: the branch number of its Body, and the functions that write its header blocks and its Body.
struct Envelope<'w> {
    fingerprint: u64,
    branch: Option<u32>,
    headers: Option<&'w dyn Fn(&mut Packer<'_>)>,
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
                headers(packer);
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

/// Checks that code was generated for the WSDL of a client. Returns the fingerprints of the client's binding.
///
/// # Errors
/// [`Error::Type`] if the code was generated for another WSDL.
#[cfg(feature = "client")]
pub fn schema_of(client: &Client, schemas: &[Schema]) -> Result<Schema, Error> {
    let binding = &client.port().binding;
    let plan = client.plan();
    let found = Schema {
        request: plan.fingerprint(binding.request),
        response: plan.fingerprint(binding.response),
    };
    if schemas.contains(&found) {
        Ok(found)
    } else {
        Err(Error::Type(Box::new(PackError::OtherSchema)))
    }
}

/// Calls an operation: writes the header blocks and the Body, and reads the Body of the answer. Returns `None` for a one-way
/// operation.
///
/// # Errors
/// The errors of [`Client::call`]. Also if the code was generated for another WSDL.
#[cfg(feature = "client")]
pub async fn call<T>(
    client: &Client,
    schema: Schema,
    operation: &str,
    request: BodyBranch<impl Fn(&mut Packer<'_>)>,
    headers: Option<&(dyn Fn(&mut Packer<'_>) + Sync)>,
    answer: BodyBranch<impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>>,
) -> Result<Option<T>, Error> {
    let target = client.target(operation)?;
    if target.plan().fingerprint(target.binding().request) != schema.request {
        return Err(wrong_type(PackError::OtherSchema));
    }
    let record = {
        let headers = headers.map(|headers| headers as &dyn Fn(&mut Packer<'_>));
        let envelope = Envelope {
            fingerprint: envelope_type(target.plan(), target.binding().request),
            branch: request.branch,
            headers,
            body: &request.content,
        };
        let make = || pack(target.plan(), target.binding().request, &envelope);
        client.meter().converting(make).map_err(wrong_type)?
    };
    drop(request);
    match client.exchange(target.request_of(record)).await? {
        Reply::Answer(reply) => {
            let take = || read(reply.record(), answer);
            client.meter().converting(take).map(Some)
        }
        Reply::Accepted => Ok(None),
        Reply::Fault(fault) => Err(Error::Fault(fault)),
    }
}

/// A branch of the Body, and the function that writes or reads its content.
#[derive(Clone, Copy, Debug)]
pub struct BodyBranch<F> {
    /// The number of the branch; `None` for an empty Body.
    pub branch: Option<u32>,
    /// Writes or reads its content.
    pub content: F,
}

/// The branch of the Body with this number, written from a value.
pub fn writing<T: Pack>(branch: u32, value: &T) -> BodyBranch<impl Fn(&mut Packer<'_>)> {
    BodyBranch {
        branch: Some(branch),
        content: |packer: &mut Packer<'_>| packer.value(value),
    }
}

/// The branch of the Body with this number, read as a value.
pub fn reading<T: Unpack>(
    branch: u32,
) -> BodyBranch<impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>> {
    BodyBranch {
        branch: Some(branch),
        content: |from: &mut Unpacker<'_>| from.value(),
    }
}

/// Reads the arguments of a request that a service received.
///
/// # Errors
/// A fault if the code was generated for another WSDL.
#[cfg(feature = "server")]
pub fn request<T>(
    message: &Message,
    schemas: &[Schema],
    body: BodyBranch<impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>>,
) -> Result<T, Fault> {
    let (plan, binding) = (message.target().plan(), message.target().binding());
    let fingerprint = plan.fingerprint(binding.request);
    if !schemas.iter().any(|schema| schema.request == fingerprint) {
        return Err(Fault::receiver(PackError::OtherSchema.to_string()));
    }
    read(message.record(), body).map_err(|error| Fault::receiver(error.report()))
}

/// Writes the answer of a service as a Record.
///
/// # Errors
/// A fault if the code was generated for another WSDL.
#[cfg(feature = "server")]
pub fn answer(
    target: &Target,
    body: BodyBranch<impl Fn(&mut Packer<'_>)>,
) -> Result<Payload, Fault> {
    let (plan, root) = (target.plan(), target.binding().response);
    let envelope = Envelope {
        fingerprint: envelope_type(plan, root),
        branch: body.branch,
        headers: None,
        body: &body.content,
    };
    let record = pack(plan, root, &envelope).map_err(|error| Fault::receiver(error.to_string()))?;
    Ok(Payload::Record(record))
}

fn read<T>(
    record: &Record,
    body: BodyBranch<impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>>,
) -> Result<T, Error> {
    let view = View::of(record)
        .child("Body")
        .ok_or(PackError::Mismatch)
        .map_err(wrong_type)?;
    content(&view, body).map_err(wrong_type)
}

fn content<T>(
    view: &View<'_>,
    body: BodyBranch<impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>>,
) -> Result<T, PackError> {
    let mut from = Unpacker::within(view);
    // The attributes of the Body.
    from.text()?;
    if from.branch()? != body.branch {
        return Err(PackError::Mismatch);
    }
    (body.content)(&mut from)
}

/// Reads the detail of a declared fault as a Rust value. `None` if the detail has no element of this name.
pub fn detail<T>(
    target: &Target,
    fault: &Fault,
    name: &str,
    read: impl FnOnce(&mut Unpacker<'_>) -> Result<T, PackError>,
) -> Option<T> {
    let element = declared(target, name)?;
    let (plan, details) = (target.plan(), fault.detail.as_ref()?);
    let found = keys(target, element)
        .into_iter()
        .find_map(|key| details.get(&key))?;
    let record = build(plan, element, found).ok()?;
    read(&mut Unpacker::of(&record)).ok()
}

/// Creates a fault whose detail has the element of this name.
pub fn fault(
    target: &Target,
    reason: &str,
    name: &str,
    write: impl FnOnce(&mut Packer<'_>),
) -> Fault {
    let made = declared(target, name).and_then(|element| {
        let record = pack_with(target.plan(), element, write).ok()?;
        let value = View::of(&record).to_value().ok()?;
        Some(Value::object([(
            keys(target, element).swap_remove(0),
            value,
        )]))
    });
    match made {
        Some(detail) => Fault::receiver(reason).with_detail(detail),
        None => Fault::receiver(reason),
    }
}

fn declared(target: &Target, name: &str) -> Option<ElementId> {
    target
        .operation()
        .faults
        .iter()
        .find(|fault| fault.name == name)?
        .detail
}

/// The two keys that can name an element in the `Value` of a fault detail: its local name, and `{namespace}local`.
fn keys(target: &Target, element: ElementId) -> Vec<String> {
    let (vocabulary, name) = (
        target.plan().vocabulary(),
        target.plan().element(element).name,
    );
    let local = vocabulary.local(name);
    vec![
        local.to_owned(),
        format!("{{{}}}{local}", vocabulary.namespace(name)),
    ]
}

/// The error for a missing response message: the peer accepted the request, but its reply has no message.
pub fn no_answer() -> Error {
    Error::Setup(
        "the peer accepted the message (HTTP 202) without the response that the operation has"
            .to_owned(),
    )
}

fn wrong_type(error: PackError) -> Error {
    Error::Type(Box::new(error))
}
