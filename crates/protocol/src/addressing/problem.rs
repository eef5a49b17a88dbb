//! The faults of WS-Addressing. (WS-Addressing 1.0 - SOAP Binding §6; WS-Addressing 2004/08 §4)

use std::fmt;
use std::time::Duration;

use bsoap_codec::Value;
use bsoap_schema::{AddressingVersion, SoapVersion};

use super::BLOCKS;
use crate::Name;
use crate::excerpt::escaped;
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
    /// An address is not an IRI.
    InvalidAddress {
        /// The local name of the block.
        header: &'static str,
        /// The address.
        address: String,
    },
    /// An endpoint has more than one address.
    InvalidEndpoint {
        /// The local name of the block.
        header: &'static str,
    },
    /// An endpoint has more reference parameters than a header block of it may have.
    TooManyParameters {
        /// The local name of the block.
        header: &'static str,
        /// The most that are accepted.
        limit: usize,
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
    /// The message is for an address that is not the service's, or that the service cannot reach.
    DestinationUnreachable {
        /// The address.
        address: String,
    },
    /// The service cannot process the message now.
    EndpointUnavailable {
        /// The address of the service. `None` if the message does not state it.
        address: Option<String>,
        /// After what time the message may be sent again. `None` if that is not known.
        retry_after: Option<Duration>,
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
            Self::InvalidAddress { header, address } => write!(
                f,
                "the address {address:?} of wsa:{header} is not an absolute IRI"
            ),
            Self::InvalidEndpoint { header } => write!(
                f,
                "the endpoint in wsa:{header} has more than one wsa:Address, expected one"
            ),
            Self::TooManyParameters { header, limit } => write!(
                f,
                "the limit `reference_parameters` ({limit}) is exceeded in wsa:{header}"
            ),
            Self::DestinationUnreachable { address } => write!(
                f,
                "no endpoint of the address {address:?} can be reached here"
            ),
            Self::EndpointUnavailable { .. } => {
                f.write_str("the endpoint cannot process the message at this time")
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
    /// The fault. In SOAP 1.1 its details are in a header block, since they are about header blocks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use bsoap_protocol::SoapVersion;
    /// use bsoap_protocol::addressing::{AddressingProblem, AddressingVersion};
    ///
    /// let retry_after = Some(Duration::from_secs(5));
    /// let problem = AddressingProblem::EndpointUnavailable { address: None, retry_after };
    /// let fault = problem.fault(SoapVersion::Soap12, AddressingVersion::Recommendation);
    /// assert_eq!(fault.subcodes[0].local, "EndpointUnavailable");
    /// ```
    pub fn fault(&self, soap: SoapVersion, version: AddressingVersion) -> Fault {
        let namespace = version.namespace();
        let (subcode, subsubcode) = self.codes(version);
        let detail = self.detail(version);
        let name = |local: &str| Name::new(namespace, local);
        match soap {
            SoapVersion::Soap11 => {
                let fault = Fault::new(Code::Other(name(subcode)), self.to_string());
                match detail {
                    Some(detail) => fault.with_header_xml(format!(
                        "<wsa:FaultDetail xmlns:wsa=\"{namespace}\">{detail}</wsa:FaultDetail>"
                    )),
                    None => fault,
                }
            }
            SoapVersion::Soap12 => {
                let code = match self {
                    Self::EndpointUnavailable { .. } => Code::Receiver,
                    _ => Code::Sender,
                };
                let mut fault = Fault::new(code, self.to_string()).with_subcode(name(subcode));
                if let Some(subsubcode) = subsubcode {
                    fault = fault.with_subcode(name(subsubcode));
                }
                if let Some(detail) = detail {
                    let xml = Value::Array(vec![detail.into()]);
                    fault = fault.with_detail(Value::object([("#any", xml)]));
                }
                fault
            }
        }
    }

    /// The subcode and the code below it. The submission has other names, and no codes below them.
    fn codes(&self, version: AddressingVersion) -> (&'static str, Option<&'static str>) {
        let (subcode, subsubcode) = match self {
            Self::Repeated { .. } => ("InvalidAddressingHeader", Some("InvalidCardinality")),
            Self::NoAddress { .. } => ("InvalidAddressingHeader", Some("MissingAddressInEPR")),
            Self::InvalidAddress { .. } => ("InvalidAddressingHeader", Some("InvalidAddress")),
            Self::InvalidEndpoint { .. } | Self::TooManyParameters { .. } => {
                ("InvalidAddressingHeader", Some("InvalidEPR"))
            }
            Self::DestinationUnreachable { .. } => ("DestinationUnreachable", None),
            Self::EndpointUnavailable { .. } => ("EndpointUnavailable", None),
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

    /// The detail of the fault as XML. The submission has one of `EndpointUnavailable` alone.
    fn detail(&self, version: AddressingVersion) -> Option<String> {
        let namespace = version.namespace();
        let element = |name: &str, content: &str| {
            format!("<wsa:{name} xmlns:wsa=\"{namespace}\">{content}</wsa:{name}>")
        };
        if let Self::EndpointUnavailable { retry_after, .. } = self
            && version == AddressingVersion::Submission
        {
            let after = retry_after.as_ref()?.as_millis().to_string();
            return Some(element("RetryAfter", &after));
        }
        if version == AddressingVersion::Submission {
            return None;
        }
        Some(match self {
            Self::Repeated { header }
            | Self::NoAddress { header }
            | Self::InvalidAddress { header, .. }
            | Self::InvalidEndpoint { header }
            | Self::TooManyParameters { header, .. }
            | Self::OnlyAnonymous { header, .. }
            | Self::OnlyNonAnonymous { header }
            | Self::Required { header } => element("ProblemHeaderQName", &format!("wsa:{header}")),
            Self::ActionMismatch { action, .. } | Self::ActionNotSupported { action, .. } => {
                let action = format!("<wsa:Action>{}</wsa:Action>", escaped(action));
                element("ProblemAction", &action)
            }
            Self::DestinationUnreachable { address } => element("ProblemIRI", &escaped(address)),
            Self::EndpointUnavailable {
                address,
                retry_after,
            } => {
                let after = retry_after.as_ref();
                let after =
                    after.map(|after| element("RetryAfter", &after.as_millis().to_string()));
                let address = address.as_deref();
                let address = address.map(|iri| element("ProblemIRI", &escaped(iri)));
                let detail = [after, address].into_iter().flatten().collect::<String>();
                return (!detail.is_empty()).then_some(detail);
            }
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
