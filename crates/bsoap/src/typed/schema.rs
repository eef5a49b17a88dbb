//! For which WSDL code was generated.

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
