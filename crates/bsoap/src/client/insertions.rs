//! The header blocks of addressing and security, which are made when a message is sent.

use bsoap_codec::Object;
use bsoap_http::Body;
use bsoap_protocol::{AwaitingReply, SentAddressing, Target};

use super::Client;
use super::options::CallOptions;
#[cfg(feature = "wsse")]
use crate::security;
use crate::{Error, insertion};

impl Client {
    /// The addressing headers of a message that is sent now. `None` if it has none: they are not used, or the operation declares
    /// header blocks of WS-Addressing, which the program sets itself.
    pub(super) fn addressed(
        &self,
        target: &Target,
        options: Option<&CallOptions>,
    ) -> Result<Option<Addressed>, Error> {
        let own = options.and_then(|options| options.addressing.as_ref());
        let of_client = self.inner.addressing.as_ref();
        let of_client = of_client.filter(|_| !target.declares_addressing());
        let Some(addressing) = own.or(of_client) else {
            return Ok(None);
        };
        let message = addressing.message(target, self.endpoint(), self.inner.port.addressing)?;
        let blocks = message.header_blocks(self.version(), addressing.is_mandatory());
        let blocks = blocks.map_err(|error| Error::Setup(error.to_string()))?;
        Ok(Some(Addressed {
            sent: SentAddressing::of(&message),
            blocks,
        }))
    }

    /// The message with its addressing headers, the next step, which checks those of the reply, and the `MessageID`.
    pub(super) fn with_addressing(
        &self,
        body: Body,
        awaiting: AwaitingReply,
        options: Option<&CallOptions>,
    ) -> Result<(Body, AwaitingReply, Option<String>), Error> {
        let is_own = options.is_some_and(|options| options.addressing.is_some());
        let is_used = is_own || self.inner.addressing.is_some();
        // A streamed message already has its header blocks, and a program may have set those of WS-Addressing itself.
        if !is_used || !body.is_whole() || insertion::has_addressing(body.first()) {
            return Ok((body, awaiting, None));
        }
        let Some(Addressed { sent, blocks }) = self.addressed(awaiting.target(), options)? else {
            return Ok((body, awaiting, None));
        };
        let body = insertion::insert(body, self.version(), blocks.concat())?;
        let message_id = sent.message_id.clone();
        Ok((body, awaiting.with_addressing(sent), message_id))
    }

    /// The message with the security header block that the client was configured with.
    #[cfg(feature = "wsse")]
    pub(super) fn secured(&self, body: Body) -> Result<Body, Error> {
        match &self.inner.token {
            Some(token) if body.is_whole() => {
                let block = security::block(self.version(), token)?;
                insertion::insert(body, self.version(), block)
            }
            _ => Ok(body),
        }
    }

    #[cfg(not(feature = "wsse"))]
    pub(super) fn secured(&self, body: Body) -> Result<Body, Error> {
        Ok(body)
    }

    #[cfg(not(feature = "wsse"))]
    pub(super) fn security(&self) -> Result<Object, Error> {
        Ok(Object::new())
    }

    /// The security header block as a header block of a request.
    #[cfg(feature = "wsse")]
    pub(super) fn security(&self) -> Result<Object, Error> {
        let mut headers = Object::new();
        if let Some(token) = &self.inner.token {
            super::options::add_xml(&mut headers, security::block(self.version(), token)?);
        }
        Ok(headers)
    }
}

/// The addressing headers of a message.
pub(super) struct Addressed {
    pub(super) sent: SentAddressing,
    /// Each as XML.
    pub(super) blocks: Vec<String>,
}
