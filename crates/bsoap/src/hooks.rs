//! Hooks: functions of the program that see, and may change or refuse, the messages of a client or a service.
//!
//! ```text
//! Record ─ before_encode ─► text ─ before_send ─► the network ─ after_receive ─► text ─ after_decode ─► Record
//! ```

use std::fmt;
use std::sync::Arc;

use bsoap_codec::Record;
use bsoap_http::{AnyError, Body, HeaderMap};
use bsoap_protocol::Target;
use bytes::Bytes;

use crate::Error;

type OutgoingRecord = dyn Fn(&Target, &mut Record) -> Result<(), AnyError> + Send + Sync;
type OutgoingText = dyn Fn(&mut Outgoing<'_>) -> Result<(), AnyError> + Send + Sync;
type IncomingText = dyn Fn(&mut Incoming<'_>) -> Result<(), AnyError> + Send + Sync;
type IncomingRecord = dyn Fn(&Target, &Record) -> Result<(), AnyError> + Send + Sync;

/// The hooks of a client or a service, each in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    before_encode: Vec<Arc<OutgoingRecord>>,
    before_send: Vec<Arc<OutgoingText>>,
    after_receive: Vec<Arc<IncomingText>>,
    after_decode: Vec<Arc<IncomingRecord>>,
}

/// A message that is about to be sent, for the hook `before_send`.
///
/// ```
/// use bsoap::Client;
/// use bsoap::http::http::HeaderValue;
///
/// # fn signature(_: &[u8]) -> HeaderValue { HeaderValue::from_static("0") }
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl)
///     .endpoint("http://mesh.local/")
///     .before_send(|message| {
///         let bytes = message.bytes().ok_or("a streamed message cannot be signed")?;
///         message.headers.insert("x-signature", signature(&bytes));
///         Ok(())
///     })
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Debug)]
pub struct Outgoing<'m> {
    /// The operation of the message.
    pub target: &'m Target,
    /// The HTTP headers of the message. The transport adds its own later.
    pub headers: &'m mut HeaderMap,
    body: Body,
}

impl Outgoing<'_> {
    /// The text of the message. `None` if it is produced while it is sent ([`Streamed`](crate::Streamed)).
    pub fn bytes(&self) -> Option<Bytes> {
        self.body.is_whole().then(|| self.body.clone().into_bytes())
    }

    /// Replaces the text of the message.
    pub fn set_bytes(&mut self, bytes: impl Into<Bytes>) {
        self.body = bytes.into().into();
    }
}

/// A message that has arrived and is not decoded yet, for the hook `after_receive`.
///
/// ```
/// use bsoap::Client;
///
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// let client = Client::builder(wsdl)
///     .endpoint("http://mesh.local/")
///     .after_receive(|message| {
///         // A peer that writes something in front of its XML.
///         if let Some(start) = message.body.iter().position(|&byte| byte == b'<') {
///             message.body = message.body.slice(start..);
///         }
///         Ok(())
///     })
///     .build()?;
/// # Ok::<(), bsoap::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Incoming<'m> {
    /// The operation of the message, if it is known before the message is decoded: clients know it.
    pub target: Option<&'m Target>,
    /// The HTTP status of an answer. `None` for a request.
    pub status: Option<u16>,
    /// The HTTP headers of the message.
    pub headers: &'m HeaderMap,
    /// The text of the message. The hook may replace it.
    pub body: Bytes,
}

/// Where a hook refused a message.
///
/// ```
/// use bsoap::hooks::HookPoint;
/// use bsoap::{Client, Error, Value};
///
/// # let wsdl = include_str!("../../../examples/mesh/mesh.wsdl");
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
/// let client = Client::builder(wsdl)
///     .endpoint("http://mesh.local/")
///     .before_send(|_| Err("not today".into()))
///     .build()?;
/// # let numbers = Value::object([("values", Value::object([("item", Value::from(vec![1.5, 2.5]))]))]);
/// let error = client.call("sumDoubles", &numbers).await.unwrap_err();
/// assert!(matches!(error, Error::Hook { point: HookPoint::BeforeSend, .. }));
/// # Ok::<(), bsoap::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookPoint {
    /// Before the message was encoded.
    BeforeEncode,
    /// Before the message was sent.
    BeforeSend,
    /// After the message was received.
    AfterReceive,
    /// After the message was decoded.
    AfterDecode,
}

impl HookPoint {
    /// Whether the hook runs before a message is sent.
    pub(crate) fn is_before(self) -> bool {
        matches!(self, Self::BeforeEncode | Self::BeforeSend)
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeEncode => "before_encode",
            Self::BeforeSend => "before_send",
            Self::AfterReceive => "after_receive",
            Self::AfterDecode => "after_decode",
        })
    }
}

impl Hooks {
    pub(crate) fn add_before_encode(
        &mut self,
        hook: impl Fn(&Target, &mut Record) -> Result<(), AnyError> + Send + Sync + 'static,
    ) {
        self.before_encode.push(Arc::new(hook));
    }

    pub(crate) fn add_before_send(
        &mut self,
        hook: impl Fn(&mut Outgoing<'_>) -> Result<(), AnyError> + Send + Sync + 'static,
    ) {
        self.before_send.push(Arc::new(hook));
    }

    pub(crate) fn add_after_receive(
        &mut self,
        hook: impl Fn(&mut Incoming<'_>) -> Result<(), AnyError> + Send + Sync + 'static,
    ) {
        self.after_receive.push(Arc::new(hook));
    }

    pub(crate) fn add_after_decode(
        &mut self,
        hook: impl Fn(&Target, &Record) -> Result<(), AnyError> + Send + Sync + 'static,
    ) {
        self.after_decode.push(Arc::new(hook));
    }

    /// Whether a hook sees the Records of outgoing messages.
    #[cfg(feature = "client")]
    pub(crate) fn change_records(&self) -> bool {
        !self.before_encode.is_empty()
    }

    /// Whether a hook sees the text of outgoing messages.
    #[cfg(feature = "server")]
    pub(crate) fn change_text(&self) -> bool {
        !self.before_send.is_empty()
    }

    pub(crate) fn before_encode(&self, target: &Target, record: &mut Record) -> Result<(), Error> {
        let mut hooks = self.before_encode.iter();
        hooks
            .try_for_each(|hook| hook(target, record))
            .map_err(|source| refused(HookPoint::BeforeEncode, source))
    }

    pub(crate) fn before_send(
        &self,
        target: &Target,
        headers: &mut HeaderMap,
        body: Body,
    ) -> Result<Body, Error> {
        let mut outgoing = Outgoing {
            target,
            headers,
            body,
        };
        for hook in &self.before_send {
            hook(&mut outgoing).map_err(|source| refused(HookPoint::BeforeSend, source))?;
        }
        Ok(outgoing.body)
    }

    /// The text to decode.
    pub(crate) fn after_receive(
        &self,
        target: Option<&Target>,
        status: Option<u16>,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Bytes, Error> {
        let mut incoming = Incoming {
            target,
            status,
            headers,
            body,
        };
        for hook in &self.after_receive {
            hook(&mut incoming).map_err(|source| refused(HookPoint::AfterReceive, source))?;
        }
        Ok(incoming.body)
    }

    pub(crate) fn after_decode(&self, target: &Target, record: &Record) -> Result<(), Error> {
        let mut hooks = self.after_decode.iter();
        hooks
            .try_for_each(|hook| hook(target, record))
            .map_err(|source| refused(HookPoint::AfterDecode, source))
    }
}

fn refused(point: HookPoint, source: AnyError) -> Error {
    Error::Hook { point, source }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("before_encode", &self.before_encode.len())
            .field("before_send", &self.before_send.len())
            .field("after_receive", &self.after_receive.len())
            .field("after_decode", &self.after_decode.len())
            .finish()
    }
}

/// Generates the builder methods that add hooks to a field `hooks`.
macro_rules! hook_methods {
    () => {
        /// Adds a function that sees the Record of each outgoing Envelope before it is encoded. It may change the Record, or
        /// refuse the message with an error.
        pub fn before_encode(
            mut self,
            hook: impl Fn(
                &bsoap_protocol::Target,
                &mut bsoap_codec::Record,
            ) -> Result<(), bsoap_http::AnyError>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self.hooks.add_before_encode(hook);
            self
        }

        /// Adds a function that sees the text and the HTTP headers of each outgoing message before it is sent. It may change
        /// them, or refuse the message with an error.
        pub fn before_send(
            mut self,
            hook: impl Fn(&mut $crate::hooks::Outgoing<'_>) -> Result<(), bsoap_http::AnyError>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self.hooks.add_before_send(hook);
            self
        }

        /// Adds a function that sees the text and the HTTP headers of each incoming message before it is decoded. It may
        /// change the text, or refuse the message with an error.
        pub fn after_receive(
            mut self,
            hook: impl Fn(&mut $crate::hooks::Incoming<'_>) -> Result<(), bsoap_http::AnyError>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self.hooks.add_after_receive(hook);
            self
        }

        /// Adds a function that sees the Record of each incoming Envelope. It may refuse the message with an error. Faults
        /// are not passed to it.
        pub fn after_decode(
            mut self,
            hook: impl Fn(
                &bsoap_protocol::Target,
                &bsoap_codec::Record,
            ) -> Result<(), bsoap_http::AnyError>
            + Send
            + Sync
            + 'static,
        ) -> Self {
            self.hooks.add_after_decode(hook);
            self
        }
    };
}

pub(crate) use hook_methods;
