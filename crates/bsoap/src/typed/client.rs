//! The client that generated clients are made of.

use bsoap_codec::{Pack, PackError};

use super::call::Call;
use super::operation::{Operation, envelope, wrong_type};
use super::schema::Schema;
use crate::{CallOptions, Client, Error};

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
#[derive(Clone, Debug)]
pub struct TypedClient {
    client: Client,
    schema: Schema,
    options: CallOptions,
}

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
        let record = self.client.meter().converting(make)?;
        Ok(target.request_of(record))
    }
}
