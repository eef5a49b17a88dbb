//! Faults of both versions, as one value.
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

use bsoap_codec::Value;
use bsoap_schema::SoapVersion;

use crate::Name;

mod lenient;
mod text;
mod value;

pub(crate) use lenient::read as read_leniently;
pub(crate) use text::write as write_text;
pub(crate) use value::{from_value, to_value};

/// Says that a message was not processed, and why. What it says are the fields of [`FaultParts`].
///
/// ```
/// use bsoap_protocol::{Code, Fault};
///
/// let fault = Fault::new(Code::Receiver, "the database is away");
/// assert_eq!(fault.code, Code::Receiver);
/// assert_eq!(fault.to_string(), "Receiver: the database is away");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fault(Box<FaultParts>);

/// What a [`Fault`] says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FaultParts {
    /// What kind of trouble.
    pub code: Code,
    /// What it is in particular, from general to particular.
    pub subcodes: Vec<Name>,
    /// What people are told, at least one.
    pub reasons: Vec<Reason>,
    /// Which node of the message's path failed.
    pub node: Option<String>,
    /// In which role it was acting.
    pub role: Option<String>,
    /// Particulars for programs: an object with a member for each element the WSDL declares, other elements as XML
    /// under `#any`.
    pub detail: Option<Value>,
}

impl std::ops::Deref for Fault {
    type Target = FaultParts;

    fn deref(&self) -> &FaultParts {
        &self.0
    }
}

impl std::ops::DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut FaultParts {
        &mut self.0
    }
}

impl From<FaultParts> for Fault {
    fn from(parts: FaultParts) -> Self {
        Self(Box::new(parts))
    }
}

/// What kind of trouble: the codes of SOAP 1.2, of which those of SOAP 1.1 are other spellings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The Envelope is of another version.
    VersionMismatch,
    /// A header block that had to be understood was not.
    MustUnderstand,
    /// The encoding of the data is not supported (SOAP 1.2 only).
    DataEncodingUnknown,
    /// The message is wrong; sending it again unchanged is no use. `Client` in SOAP 1.1.
    Sender,
    /// The message may be right, but processing it failed. `Server` in SOAP 1.1.
    Receiver,
    /// A code of somebody's own (SOAP 1.1 only).
    Other(Name),
}

/// What people are told, in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The language, as `en` or `pt-BR`; empty if it was not said.
    pub language: String,
    /// The text.
    pub text: String,
}

impl Fault {
    /// A fault with an English reason.
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
        }
        .into()
    }

    /// The message is wrong.
    pub fn sender(reason: impl Into<String>) -> Self {
        Self::new(Code::Sender, reason)
    }

    /// The message may be right, but processing it failed.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Self::new(Code::Receiver, reason)
    }

    /// The same with a detail: an object with a member for each element in it.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Value>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// The same with a subcode more particular than those it has.
    #[must_use]
    pub fn with_subcode(mut self, subcode: Name) -> Self {
        self.subcodes.push(subcode);
        self
    }

    /// The first reason; empty if there is none.
    pub fn reason(&self) -> &str {
        self.reasons.first().map_or("", |reason| &reason.text)
    }

    /// The HTTP status it travels with. (SOAP 1.1 §6.2; SOAP 1.2 Part 2 §7.5.2.2)
    pub fn status(&self, version: SoapVersion) -> u16 {
        match (version, &self.code) {
            (SoapVersion::Soap12, Code::Sender) => 400,
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
            code => f.write_str(code.spelling(SoapVersion::Soap12)),
        }
    }
}

impl Code {
    /// The local name in a version. What a version lacks is the sender's or somebody's fault in general.
    fn spelling(&self, version: SoapVersion) -> &str {
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

    /// The code of a name in either version. A prefix that was never bound (the name came without namespace) is
    /// forgiven: peers that forget it are many.
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

    /// The name in a version; in SOAP 1.1 with the subcodes behind it.
    fn name(&self, subcodes: &[Name], version: SoapVersion) -> Name {
        if let (Self::Other(name), SoapVersion::Soap11) = (self, version) {
            return name.clone();
        }
        let mut name = Name::new(version.envelope_namespace(), self.spelling(version));
        if version == SoapVersion::Soap11 {
            for subcode in subcodes {
                name.local = format!("{}.{}", name.local, subcode.local);
            }
        }
        name
    }
}
