//! The SOAP attributes of a header block that is sent.

use bsoap_codec::{Object, Value};
use bsoap_schema::SoapVersion;

/// The attributes with which a header block is sent: whom it is addressed to, and what becomes of it there.
///
/// They are members of the block's value, so they work for each block that the WSDL declares; a block that is given as XML has
/// them in its XML.
///
/// ```
/// use bsoap_codec::Value;
/// use bsoap_protocol::SoapVersion;
/// use bsoap_protocol::header::BlockAttributes;
///
/// let attributes = BlockAttributes::new().must_understand().role("urn:audit");
/// let block = attributes.on(SoapVersion::Soap12, Value::from("7"));
/// assert_eq!(block["#text"].as_str(), Some("7"));
/// assert_eq!(block["@role"].as_str(), Some("urn:audit"));
/// let block = attributes.on(SoapVersion::Soap11, block);
/// assert_eq!(block["@actor"].as_str(), Some("urn:audit"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct BlockAttributes {
    must_understand: bool,
    role: Option<String>,
    relay: bool,
}

impl BlockAttributes {
    /// No attributes: the block is for the ultimate receiver, which may ignore it.
    pub fn new() -> Self {
        Self::default()
    }

    /// A node that the block is addressed to and that does not understand it must refuse the message.
    pub fn must_understand(mut self) -> Self {
        self.must_understand = true;
        self
    }

    /// Addresses the block to the nodes that play this role, an IRI: `role`, in SOAP 1.1 `actor`. For the next node on the way
    /// it is [`NEXT_ROLE`](super::NEXT_ROLE), or [`NEXT_ACTOR`](super::NEXT_ACTOR).
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
        self
    }

    /// An intermediary that the block is addressed to forwards it if it does not process it. SOAP 1.1 has no such attribute.
    pub fn relay(mut self) -> Self {
        self.relay = true;
        self
    }

    /// The value of a block with these attributes. Those that it has are replaced. An array is several blocks, each of which gets
    /// them. A block that is nil is returned as it is: Records have no attributes of elements that are nil.
    ///
    /// ```
    /// use bsoap_codec::Value;
    /// use bsoap_protocol::SoapVersion;
    /// use bsoap_protocol::header::BlockAttributes;
    ///
    /// let attributes = BlockAttributes::new().role("urn:audit");
    /// let blocks = attributes.on(SoapVersion::Soap12, Value::from(vec![7_i64, 8]));
    /// assert_eq!((blocks[0]["#text"].as_i64(), blocks[1]["@role"].as_str()), (Some(7), Some("urn:audit")));
    /// assert_eq!(attributes.on(SoapVersion::Soap12, Value::Nil), Value::Nil);
    /// ```
    #[must_use]
    pub fn on(&self, version: SoapVersion, block: Value) -> Value {
        let on_each = |blocks: &mut dyn Iterator<Item = Value>| {
            let blocks = blocks.map(|block| self.on_one(version, block));
            Value::Array(blocks.collect())
        };
        match block {
            Value::Array(blocks) => on_each(&mut blocks.into_iter()),
            Value::Doubles(blocks) => on_each(&mut blocks.into_iter().map(Value::from)),
            Value::Floats(blocks) => on_each(&mut blocks.into_iter().map(Value::from)),
            Value::Ints(blocks) => on_each(&mut blocks.into_iter().map(Value::from)),
            block => self.on_one(version, block),
        }
    }

    fn on_one(&self, version: SoapVersion, block: Value) -> Value {
        let mut members = match block {
            Value::Object(members) => members,
            Value::Nil => return Value::Nil,
            simple => Object::from_iter([("#text", simple)]),
        };
        let (role, flag) = match version {
            // SOAP 1.1 allows only 1 and 0.
            SoapVersion::Soap11 => ("@actor", Value::from("1")),
            SoapVersion::Soap12 => ("@role", Value::from(true)),
        };
        for other in ["@actor", "@role", "@relay", "@mustUnderstand"] {
            members.remove(other);
        }
        if self.must_understand {
            members.insert("@mustUnderstand", flag);
        }
        if let Some(uri) = &self.role {
            members.insert(role, uri.as_str());
        }
        if self.relay && version == SoapVersion::Soap12 {
            members.insert("@relay", true);
        }
        members.into()
    }
}
