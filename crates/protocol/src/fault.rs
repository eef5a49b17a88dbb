//! Faults of both SOAP versions, represented by one type.
//!
//! | | SOAP 1.1 | SOAP 1.2 |
//! |---|---|---|
//! | [`Code`] | `faultcode` `Client`, `Server`, … | `Code/Value` `Sender`, `Receiver`, … |
//! | `subcodes` | after a dot: `Client.Authentication` | `Code/Subcode/Value`, nested |
//! | `reasons` | `faultstring`, one | `Reason/Text`, one for each language |
//! | `role` | `faultactor` | `Role` |
//! | `node` | – | `Node` |
//! | `detail` | `detail` | `Detail` |

use std::fmt;

use bsoap_codec::{Object, Value};
use bsoap_schema::SoapVersion;

use crate::Name;

mod lenient;
mod text;
mod value;

pub(crate) use lenient::read as read_leniently;
pub(crate) use text::write as write_text;
pub(crate) use value::{from_value, to_value};

/// The reason why a message was not processed. The fields are those of [`FaultParts`].
///
/// ```
/// use bsoap_protocol::{Code, Fault};
///
/// let fault = Fault::new(Code::Receiver, "the database is not available");
/// assert_eq!(fault.code, Code::Receiver);
/// assert_eq!(fault.to_string(), "Receiver: the database is not available");
/// ```
#[derive(Clone, Debug)]
pub struct Fault {
    parts: Box<FaultParts>,
    /// The HTTP status of the reply that it was received in.
    http_status: Option<u16>,
}

/// The fields of a [`Fault`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FaultParts {
    /// The kind of fault.
    pub code: Code,
    /// More specific codes, ordered from general to specific.
    pub subcodes: Vec<Name>,
    /// The explanation for people, in at least one language.
    pub reasons: Vec<Reason>,
    /// The address of the SOAP node that failed.
    pub node: Option<String>,
    /// The role that the node was acting in.
    pub role: Option<String>,
    /// The detail for programs: an object with a member for each element the WSDL declares, other elements as XML
    /// under `#any`.
    pub detail: Option<Value>,
    /// The header blocks that are sent with the fault, which say more about a header block of the request: those that the WSDL
    /// declares (`soap:headerfault`) by the name of their part, others as XML under `#any`. (SOAP 1.1 §4.4)
    pub headers: Object,
}

impl std::ops::Deref for Fault {
    type Target = FaultParts;

    fn deref(&self) -> &FaultParts {
        &self.parts
    }
}

impl std::ops::DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut FaultParts {
        &mut self.parts
    }
}

impl From<FaultParts> for Fault {
    fn from(parts: FaultParts) -> Self {
        Self {
            parts: Box::new(parts),
            http_status: None,
        }
    }
}

/// Compares what the faults say, not the HTTP status that one of them was received with.
impl PartialEq for Fault {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

/// The kind of a fault, named as in SOAP 1.2. SOAP 1.1 has other names for some of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The Envelope is of another SOAP version.
    VersionMismatch,
    /// The receiver does not understand a header block that it must understand.
    MustUnderstand,
    /// The encoding of the data is not supported (SOAP 1.2 only).
    DataEncodingUnknown,
    /// The message is wrong; sending it again unchanged will not succeed. `Client` in SOAP 1.1.
    Sender,
    /// The message may be right, but processing it failed. `Server` in SOAP 1.1.
    Receiver,
    /// A code that an application defines (SOAP 1.1 only).
    Other(Name),
}

/// The HTTP status of SOAP 1.2 faults whose code is [`Code::Sender`]. All other faults have status 500.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SenderStatus {
    /// 500: the clients of CXF and WCF, and others, read the fault only then.
    #[default]
    InternalServerError,
    /// 400, as SOAP 1.2 requires it. (Part 2 §7.5.2.2)
    BadRequest,
}

/// The reason for a fault in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The language, as `en` or `pt-BR`; empty if it is not known.
    pub language: String,
    /// The text.
    pub text: String,
}

impl Reason {
    /// A text in a language, such as `en` or `pt-BR`.
    ///
    /// ```
    /// use bsoap_protocol::{Code, Fault, Reason};
    ///
    /// let mut fault = Fault::new(Code::Sender, "no such sensor");
    /// fault.reasons.push(Reason::new("de", "diesen Sensor gibt es nicht"));
    /// ```
    pub fn new(language: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            language: language.into(),
            text: text.into(),
        }
    }
}

impl Fault {
    /// Creates a fault with an English reason.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        let reasons = vec![Reason {
            language: "en".into(),
            text: reason.into(),
        }];
        FaultParts {
            code,
            subcodes: Vec::new(),
            reasons,
            node: None,
            role: None,
            detail: None,
            headers: Object::new(),
        }
        .into()
    }

    /// Creates a fault for a wrong message.
    pub fn sender(reason: impl Into<String>) -> Self {
        Self::new(Code::Sender, reason)
    }

    /// Creates a fault for a message that may be right, but whose processing failed.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Self::new(Code::Receiver, reason)
    }

    /// Sets the detail: an object with a member for each element of the detail.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Value>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a header block that says more about a header block of the request, by the name of the part in `soap:headerfault`. The
    /// detail of a fault is about the Body only. (SOAP 1.1 §4.4)
    ///
    /// ```
    /// use bsoap_protocol::Fault;
    ///
    /// let fault = Fault::sender("the ticket has expired").with_header("expired", "2024-05-01");
    /// assert_eq!(fault.headers.get("expired").and_then(|it| it.as_str()), Some("2024-05-01"));
    /// ```
    #[must_use]
    pub fn with_header(mut self, part: &str, block: impl Into<Value>) -> Self {
        self.headers.insert(part, block.into());
        self
    }

    /// Adds a header block that the WSDL does not declare, as XML: one element, with the declarations of its namespaces. A fault
    /// whose block is not an element is sent without it.
    #[must_use]
    pub fn with_header_xml(mut self, xml: impl Into<String>) -> Self {
        let xml = Value::from(xml.into());
        match self.headers.get_mut("#any") {
            Some(Value::Array(blocks)) => blocks.push(xml),
            _ => {
                self.headers.insert("#any", Value::Array(vec![xml]));
            }
        }
        self
    }

    /// Adds a subcode after the existing ones. It should be more specific than they are.
    #[must_use]
    pub fn with_subcode(mut self, subcode: Name) -> Self {
        self.subcodes.push(subcode);
        self
    }

    /// The text of the first reason. Empty if there is none.
    pub fn reason(&self) -> &str {
        self.reasons.first().map_or("", |reason| &reason.text)
    }

    /// The HTTP status of the reply that the fault was received in. `None` for a fault that was not received.
    pub fn http_status(&self) -> Option<u16> {
        self.http_status
    }

    /// Sets the HTTP status of the reply that the fault was received in.
    pub(crate) fn received_with(mut self, http_status: u16) -> Self {
        self.http_status = Some(http_status);
        self
    }

    /// The HTTP status that the fault is sent with. (SOAP 1.1 §6.2; SOAP 1.2 Part 2 §7.5.2.2)
    pub fn status(&self, version: SoapVersion, sender: SenderStatus) -> u16 {
        match (version, &self.code, sender) {
            (SoapVersion::Soap12, Code::Sender, SenderStatus::BadRequest) => 400,
            _ => 500,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        for subcode in &self.subcodes {
            write!(f, "/{}", subcode.local)?;
        }
        write!(f, ": {}", self.reason())
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(name) => write!(f, "{name}"),
            code => f.write_str(code.local_name(SoapVersion::Soap12)),
        }
    }
}

impl Code {
    /// The local name of the code in a SOAP version. A code that a version lacks becomes the most similar general code.
    fn local_name(&self, version: SoapVersion) -> &str {
        match (self, version) {
            (Self::VersionMismatch, _) => "VersionMismatch",
            (Self::MustUnderstand, _) => "MustUnderstand",
            (Self::DataEncodingUnknown, SoapVersion::Soap12) => "DataEncodingUnknown",
            (Self::Sender, SoapVersion::Soap12) => "Sender",
            (Self::Receiver | Self::Other(_), SoapVersion::Soap12) => "Receiver",
            (Self::Sender | Self::DataEncodingUnknown, SoapVersion::Soap11) => "Client",
            (Self::Receiver, SoapVersion::Soap11) => "Server",
            (Self::Other(name), SoapVersion::Soap11) => &name.local,
        }
    }

    /// The code that a name of either version denotes, and the subcodes that the name contains. A name without namespace is
    /// accepted, because many peers forget to bind the prefix.
    fn of(name: &Name) -> (Self, Vec<Name>) {
        let (first, rest) = name.local.split_once('.').unwrap_or((&name.local, ""));
        let ours = name.namespace.is_empty() || crate::version_of(&name.namespace).is_some();
        let code = match first {
            "VersionMismatch" => Self::VersionMismatch,
            "MustUnderstand" => Self::MustUnderstand,
            "DataEncodingUnknown" => Self::DataEncodingUnknown,
            "Sender" | "Client" => Self::Sender,
            "Receiver" | "Server" => Self::Receiver,
            _ => return (Self::Other(name.clone()), Vec::new()),
        };
        if !ours {
            return (Self::Other(name.clone()), Vec::new());
        }
        let subcodes = rest.split('.').filter(|part| !part.is_empty());
        (code, subcodes.map(|part| Name::new("", part)).collect())
    }

    /// The name of the code in a SOAP version. In SOAP 1.1 it includes the subcodes.
    fn name(&self, subcodes: &[Name], version: SoapVersion) -> Name {
        if let (Self::Other(name), SoapVersion::Soap11) = (self, version) {
            return name.clone();
        }
        let mut name = Name::new(version.envelope_namespace(), self.local_name(version));
        if version == SoapVersion::Soap11 {
            for subcode in subcodes {
                name.local = format!("{}.{}", name.local, subcode.local);
            }
        }
        name
    }
}
/// The handler's value cannot be an answer.
impl From<bsoap_codec::SerdeError> for Fault {
    fn from(error: bsoap_codec::SerdeError) -> Self {
        Self::receiver(format!("the handler's value cannot be converted: {error}"))
    }
}
