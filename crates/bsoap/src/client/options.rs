//! Options of calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bsoap_codec::{Attachment, Object, Pack, Value};
use bsoap_http::HeaderMap;
use bsoap_protocol::Target;
use bsoap_protocol::header::BlockAttributes;

use super::Client;
use crate::addressing::Addressing;
use crate::blocks::set_attributes;
use crate::{Error, http_headers};

/// Options of calls: SOAP and HTTP headers, a time limit, another address. A generated client has them for all calls of
/// [`with`](crate::typed::TypedClient::with), or for one call; [`Client::operation`] sets the same for one dynamic call.
///
/// ```
/// use std::time::Duration;
/// use bsoap::CallOptions;
///
/// let options = CallOptions::new().http_header("X-Request-Id", "7").timeout(Duration::from_secs(5));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CallOptions {
    headers: Object,
    /// Header blocks that are Rust values, by the name of their part.
    typed_headers: TypedHeaders,
    /// SOAP attributes of header blocks, by the name of their part.
    block_attributes: Vec<(String, BlockAttributes)>,
    pub(super) http_headers: HeaderMap,
    pub(super) timeout: Option<Duration>,
    pub(super) keeps_envelopes: bool,
    pub(super) is_idempotent: bool,
    /// What is sent beside the message.
    pub(super) attachments: Vec<Attachment>,
    endpoint: Option<String>,
    /// The addressing headers. `None` for those of the client.
    pub(super) addressing: Option<Addressing>,
    /// A description of the first invalid option.
    problem: Option<String>,
}

/// Header blocks that are Rust values, by the name of their part. They are packed when the operation is known.
pub(super) type TypedHeaders = Vec<(String, Arc<dyn Pack + Send + Sync>)>;

/// The methods that set options, for types with a field or method `options` that is a [`CallOptions`].
macro_rules! call_option_methods {
    ($($options:ident)?) => {
        /// Adds a SOAP header block that the operation declares, by the name of its part or of the part's element. It replaces the
        /// client's default of the same name.
        pub fn soap_header(mut self, part: &str, value: impl Into<$crate::Value>) -> Self {
            self$(.$options)?.add_header(part, value.into());
            self
        }

        /// Adds a SOAP header block that the operation declares, as a Rust value generated from the WSDL, by the name of its
        /// part or of the part's element.
        pub fn soap_header_typed(
            mut self,
            part: &str,
            block: impl $crate::typed::Pack + Send + Sync + 'static,
        ) -> Self {
            self$(.$options)?.add_typed_header(part, ::std::sync::Arc::new(block));
            self
        }

        /// Addresses a declared SOAP header block of the call, by the same names, to a role, or says that it must be understood. The
        /// block must be set with [`soap_header`](Self::soap_header) or [`soap_header_typed`](Self::soap_header_typed), or the call fails.
        pub fn soap_header_attributes(
            mut self,
            part: &str,
            attributes: $crate::protocol::header::BlockAttributes,
        ) -> Self {
            self$(.$options)?.set_header_attributes(part, attributes);
            self
        }

        /// Adds a SOAP header block as XML: one element, with the declarations of its namespaces. The operation need not
        /// declare it.
        pub fn soap_header_xml(mut self, xml: impl Into<String>) -> Self {
            self$(.$options)?.add_header_xml(xml.into());
            self
        }

        /// Sets an HTTP header of the request. It replaces the client's default of the same name.
        pub fn http_header(mut self, name: &str, value: &str) -> Self {
            self$(.$options)?.add_http_header(name, value);
            self
        }

        /// Sets the time limit of a call, from sending the message to the last byte of the answer.
        pub fn timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self$(.$options)?.set_timeout(timeout);
            self
        }

        /// Sends the message to another address. Nothing is saved for it: use [`Client::at`](crate::Client::at) for several
        /// calls to one address.
        pub fn endpoint(mut self, address: impl Into<String>) -> Self {
            self$(.$options)?.set_endpoint(address.into());
            self
        }

        /// Says that the operation may run twice, so that [retries](crate::transport) may repeat the call although the peer may
        /// have received it.
        pub fn idempotent(mut self) -> Self {
            self$(.$options)?.set_idempotent();
            self
        }

        /// Sends an attachment beside the message, that no binary value of it refers to (SOAP with Attachments). It may be named by an
        /// element of type `swaRef`: give that the value `cid:` and the content id.
        pub fn attach(mut self, attachment: $crate::attachments::Attachment) -> Self {
            self$(.$options)?.add_attachment(attachment);
            self
        }

        /// Sends addressing headers with these options, instead of those of the client.
        pub fn addressing(mut self, addressing: $crate::addressing::Addressing) -> Self {
            self$(.$options)?.set_addressing(addressing);
            self
        }

        /// Keeps the texts of both messages for [`Answer::sent`](crate::Answer::sent) and
        /// [`Answer::received`](crate::Answer::received).
        pub fn keep_envelopes(mut self) -> Self {
            self$(.$options)?.set_keeps_envelopes();
            self
        }
    };
}
pub(crate) use call_option_methods;

impl CallOptions {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    call_option_methods!();

    pub(crate) fn add_header(&mut self, part: &str, value: Value) {
        self.typed_headers.retain(|(known, _)| known != part);
        self.headers.insert(part, value);
    }

    pub(crate) fn add_typed_header(&mut self, part: &str, block: Arc<dyn Pack + Send + Sync>) {
        self.typed_headers.retain(|(known, _)| known != part);
        self.headers.remove(part);
        self.typed_headers.push((part.to_owned(), block));
    }

    pub(crate) fn set_header_attributes(&mut self, part: &str, attributes: BlockAttributes) {
        self.block_attributes.push((part.to_owned(), attributes));
    }

    pub(crate) fn add_header_xml(&mut self, xml: String) {
        add_xml(&mut self.headers, xml);
    }

    pub(crate) fn add_http_header(&mut self, name: &str, value: &str) {
        if let Err(problem) = http_headers::append(&mut self.http_headers, name, value) {
            self.problem.get_or_insert(problem);
        }
    }

    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = Some(timeout);
    }

    pub(crate) fn set_endpoint(&mut self, address: String) {
        self.endpoint = Some(address);
    }

    pub(crate) fn set_idempotent(&mut self) {
        self.is_idempotent = true;
    }

    pub(crate) fn add_attachment(&mut self, attachment: Attachment) {
        self.attachments.push(attachment);
    }

    pub(crate) fn set_addressing(&mut self, addressing: Addressing) {
        self.addressing = Some(addressing);
    }

    pub(crate) fn set_keeps_envelopes(&mut self) {
        self.keeps_envelopes = true;
    }

    /// The client that sends the message: another one if the options have an address.
    pub(crate) fn client(&self, client: Client) -> Result<Client, Error> {
        match (&self.problem, &self.endpoint) {
            (Some(problem), _) => Err(Error::Setup(problem.clone())),
            (None, Some(address)) => client.once_at(address),
            (None, None) => Ok(client),
        }
    }

    /// The header blocks for an operation, by the names of their parts.
    pub(crate) fn headers(&self, target: &Target) -> Result<Object, Error> {
        // What has no part is reported when the message is built.
        let part_of = |name: &str| target.request_header_part(name).unwrap_or(name).to_owned();
        let given = self.headers.iter();
        let mut headers: Object = given
            .map(|(name, block)| (part_of(name), block.clone()))
            .collect();
        pack_headers(&mut headers, &self.typed_headers, target)?;
        for (name, attributes) in &self.block_attributes {
            let version = target.version();
            set_attributes(&mut headers, &part_of(name), attributes, version)
                .map_err(|problem| Error::Setup(format!("header block {name} {problem}")))?;
        }
        Ok(headers)
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Adds header blocks that are Rust values to others.
pub(super) fn pack_headers(
    headers: &mut Object,
    typed: &[(String, Arc<dyn Pack + Send + Sync>)],
    target: &Target,
) -> Result<(), Error> {
    for (part, block) in typed {
        let (part, value) = target.packed_request_header(part, &**block)?;
        headers.insert(part, value);
    }
    Ok(())
}

/// Adds a header block as XML to header blocks.
pub(super) fn add_xml(headers: &mut Object, xml: String) {
    match headers.get_mut("#any") {
        Some(Value::Array(blocks)) => blocks.push(xml.into()),
        _ => {
            headers.insert("#any", Value::Array(vec![xml.into()]));
        }
    }
}
