//! The faults of WS-Addressing. (WS-Addressing 1.0 - SOAP Binding §6; WS-Addressing 2004/08 §4)

use std::fmt;

use bsoap_codec::Value;
use bsoap_schema::{AddressingVersion, SoapVersion};

use super::BLOCKS;
use crate::Name;
use crate::fault::{Code, Fault, FaultParts};

/// The rule of WS-Addressing that a message breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressingProblem {
    /// A block occurs more than once.
    Repeated {
        /// The local name of the block.
        header: &'static str,
    },
    /// A block has no value, or an endpoint has no address.
    NoAddress {
        /// The local name of the block.
        header: &'static str,
    },
    /// Answers are not sent to this address.
    OnlyAnonymous {
        /// The local name of the block.
        header: &'static str,
        /// The address.
        address: String,
    },
    /// Answers are not sent on the connection of the request.
    OnlyNonAnonymous {
        /// The local name of the block.
        header: &'static str,
    },
    /// The action of the transport is another one.
    ActionMismatch {
        /// The `Action`.
        action: String,
        /// The `SOAPAction`, or the `action` of the media type in SOAP 1.2.
        soap_action: String,
    },
    /// A block is missing.
    Required {
        /// The local name of the block.
        header: &'static str,
    },
    /// No operation with this Body has this action.
    ActionNotSupported {
        /// The `Action`.
        action: String,
        /// The operation that the Body selects, and its action.
        expected: Option<(String, String)>,
    },
}

impl fmt::Display for AddressingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { header } => {
                write!(
                    f,
                    "the header block wsa:{header} occurs more than once, expected one"
                )
            }
            Self::NoAddress { header } => {
                write!(f, "the header block wsa:{header} has no address")
            }
            Self::OnlyAnonymous { header, address } => write!(
                f,
                "the address {address:?} of wsa:{header} is not one that answers may be sent to, expected the anonymous address"
            ),
            Self::OnlyNonAnonymous { header } => write!(
                f,
                "wsa:{header} has the anonymous address, but answers are not sent on the connection of the request"
            ),
            Self::ActionMismatch {
                action,
                soap_action,
            } => write!(
                f,
                "wsa:Action is {action:?}, but the SOAPAction is {soap_action:?}, expected the same or an empty one"
            ),
            Self::Required { header } => {
                write!(f, "the header block wsa:{header} is missing")
            }
            Self::ActionNotSupported {
                action,
                expected: Some((operation, expected)),
            } => write!(
                f,
                "wsa:Action {action:?} does not belong to operation {operation}, which the Body selects, expected {expected:?}"
            ),
            Self::ActionNotSupported { action, .. } => {
                write!(
                    f,
                    "wsa:Action {action:?} belongs to no operation of the port"
                )
            }
        }
    }
}

impl std::error::Error for AddressingProblem {}

impl AddressingProblem {
    /// The fault, and the header blocks that it has in SOAP 1.1, where the detail of a fault is about the Body only.
    pub(crate) fn fault(
        &self,
        soap: SoapVersion,
        version: AddressingVersion,
    ) -> (Fault, Vec<String>) {
        let namespace = version.namespace();
        let (subcode, subsubcode) = self.codes(version);
        let detail = self.detail(version);
        let name = |local: &str| Name::new(namespace, local);
        match soap {
            SoapVersion::Soap11 => {
                let fault = Fault::new(Code::Other(name(subcode)), self.to_string());
                let block = detail.map(|detail| {
                    format!("<wsa:FaultDetail xmlns:wsa=\"{namespace}\">{detail}</wsa:FaultDetail>")
                });
                (fault, block.into_iter().collect())
            }
            SoapVersion::Soap12 => {
                let mut fault = Fault::sender(self.to_string()).with_subcode(name(subcode));
                if let Some(subsubcode) = subsubcode {
                    fault = fault.with_subcode(name(subsubcode));
                }
                if let Some(detail) = detail {
                    let xml = Value::Array(vec![detail.into()]);
                    fault = fault.with_detail(Value::object([("#any", xml)]));
                }
                (fault, Vec::new())
            }
        }
    }

    /// The subcode and the code below it. The submission has other names, and no codes below them.
    fn codes(&self, version: AddressingVersion) -> (&'static str, Option<&'static str>) {
        let (subcode, subsubcode) = match self {
            Self::Repeated { .. } => ("InvalidAddressingHeader", Some("InvalidCardinality")),
            Self::NoAddress { .. } => ("InvalidAddressingHeader", Some("MissingAddressInEPR")),
            Self::OnlyAnonymous { .. } => (
                "InvalidAddressingHeader",
                Some("OnlyAnonymousAddressSupported"),
            ),
            Self::OnlyNonAnonymous { .. } => (
                "InvalidAddressingHeader",
                Some("OnlyNonAnonymousAddressSupported"),
            ),
            Self::ActionMismatch { .. } => ("InvalidAddressingHeader", Some("ActionMismatch")),
            Self::Required { .. } => ("MessageAddressingHeaderRequired", None),
            Self::ActionNotSupported { .. } => ("ActionNotSupported", None),
        };
        match (version, subcode) {
            (AddressingVersion::Submission, "InvalidAddressingHeader") => {
                ("InvalidMessageInformationHeader", None)
            }
            (AddressingVersion::Submission, "MessageAddressingHeaderRequired") => {
                ("MessageInformationHeaderRequired", None)
            }
            _ => (subcode, subsubcode),
        }
    }

    /// The detail of the fault as XML. The submission has none of an element.
    fn detail(&self, version: AddressingVersion) -> Option<String> {
        let namespace = version.namespace();
        if version == AddressingVersion::Submission {
            return None;
        }
        let action = |action: &str| {
            let action = crate::excerpt::escaped(action);
            format!(
                "<wsa:ProblemAction xmlns:wsa=\"{namespace}\"><wsa:Action>{action}</wsa:Action></wsa:ProblemAction>"
            )
        };
        Some(match self {
            Self::Repeated { header }
            | Self::NoAddress { header }
            | Self::OnlyAnonymous { header, .. }
            | Self::OnlyNonAnonymous { header }
            | Self::Required { header } => format!(
                "<wsa:ProblemHeaderQName xmlns:wsa=\"{namespace}\">wsa:{header}</wsa:ProblemHeaderQName>"
            ),
            Self::ActionMismatch { action: found, .. }
            | Self::ActionNotSupported { action: found, .. } => action(found),
        })
    }
}

/// The action of a message with a fault: that of WS-Addressing itself, or that of SOAP.
/// (WS-Addressing 1.0 - SOAP Binding §6)
pub(super) fn fault_action(version: AddressingVersion, fault: &FaultParts) -> String {
    let namespace = version.namespace();
    let is_own = |name: &Name| name.namespace == namespace;
    let is_addressing = match &fault.code {
        Code::Other(name) => is_own(name),
        _ => fault.subcodes.iter().any(is_own),
    };
    match (version, is_addressing) {
        (AddressingVersion::Recommendation, false) => format!("{namespace}/soap/fault"),
        _ => format!("{namespace}/fault"),
    }
}

/// The local name of a header block of WS-Addressing.
pub(super) fn block_named(local: &str) -> Option<&'static str> {
    BLOCKS.into_iter().find(|block| *block == local)
}
