//! Writes the header blocks of a message as XML.

use std::fmt;

use bsoap_schema::{AddressingVersion, SoapVersion};
use bsoap_xml::{escape_attribute, escape_text};

use super::problem::fault_action;
use super::{EndpointReference, MessageAddressing};
use crate::excerpt::is_element;
use crate::fault::FaultParts;

impl MessageAddressing {
    /// The header blocks, each as XML. With `must_understand`, a receiver that does not know WS-Addressing must
    /// refuse the message.
    ///
    /// # Errors
    /// If a text has a character that XML cannot represent, or a reference parameter is not an element.
    pub fn header_blocks(
        &self,
        soap: SoapVersion,
        must_understand: bool,
    ) -> Result<Vec<String>, UnwritableAddressing> {
        let mut blocks = Blocks {
            done: Vec::with_capacity(4),
            out: Vec::with_capacity(256),
            namespace: self.version.namespace(),
            soap: must_understand.then(|| soap.envelope_namespace()),
        };
        for (name, text) in [
            ("Action", &self.action),
            ("MessageID", &self.message_id),
            ("To", &self.to),
        ] {
            if let Some(text) = text {
                blocks.open(name, None)?;
                blocks.content(name, text)?;
                blocks.end();
            }
        }
        for related in &self.relates_to {
            let kind = related.relationship.as_deref();
            blocks.open("RelatesTo", kind)?;
            blocks.content("RelatesTo", &related.message_id)?;
            blocks.end();
        }
        for (name, endpoint) in [
            ("From", &self.from),
            ("ReplyTo", &self.reply_to),
            ("FaultTo", &self.fault_to),
        ] {
            if let Some(endpoint) = endpoint {
                blocks.endpoint(name, endpoint)?;
                blocks.end();
            }
        }
        for parameter in &self.reference_parameters {
            blocks.parameter(parameter, self.version)?;
            blocks.end();
        }
        Ok(blocks.done)
    }

    /// The header blocks of the answer to this request; `fault` if that is one. `action` is that of the answer, or that which the
    /// WSDL states for the fault.
    pub(crate) fn answer_blocks(
        &self,
        soap: SoapVersion,
        action: Option<&str>,
        fault: Option<&FaultParts>,
    ) -> Vec<String> {
        let action = match (action, fault) {
            (Some(action), _) => action.to_owned(),
            (None, Some(fault)) => fault_action(self.version, fault),
            (None, None) => String::new(),
        };
        let answer = self.answer(action, fault.is_some());
        // All texts come from a message, or from the WSDL.
        answer.header_blocks(soap, false).unwrap_or_default()
    }
}

/// Header blocks that are being written.
struct Blocks {
    done: Vec<String>,
    /// The open block.
    out: Vec<u8>,
    namespace: &'static str,
    /// The namespace of `mustUnderstand`.
    soap: Option<&'static str>,
}

impl Blocks {
    /// Ends the open block.
    fn end(&mut self) {
        let block = std::mem::take(&mut self.out);
        self.done.push(String::from_utf8(block).unwrap_or_default());
    }

    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Opens a block, with a relationship if it has one.
    fn open(&mut self, name: &str, relationship: Option<&str>) -> Result<(), UnwritableAddressing> {
        self.push(&format!("<wsa:{name} xmlns:wsa=\"{}\"", self.namespace));
        if let Some(relationship) = relationship {
            self.push(" RelationshipType=\"");
            escape_attribute(relationship, &mut self.out)
                .map_err(|error| unwritable(name, &error))?;
            self.push("\"");
        }
        if let Some(soap) = self.soap {
            self.push(&format!(" xmlns:s=\"{soap}\" s:mustUnderstand=\"1\""));
        }
        self.push(">");
        Ok(())
    }

    /// The text of an open block, and its end.
    fn content(&mut self, name: &str, text: &str) -> Result<(), UnwritableAddressing> {
        escape_text(text, &mut self.out).map_err(|error| unwritable(name, &error))?;
        self.push(&format!("</wsa:{name}>"));
        Ok(())
    }

    fn endpoint(
        &mut self,
        name: &str,
        endpoint: &EndpointReference,
    ) -> Result<(), UnwritableAddressing> {
        self.open(name, None)?;
        self.push("<wsa:Address>");
        self.content("Address", &endpoint.address)?;
        if !endpoint.reference_parameters.is_empty() {
            self.push("<wsa:ReferenceParameters>");
            for parameter in &endpoint.reference_parameters {
                checked(parameter)?;
                self.push(parameter);
            }
            self.push("</wsa:ReferenceParameters>");
        }
        self.push(&format!("</wsa:{name}>"));
        Ok(())
    }

    /// A reference parameter as a header block: version 1.0 marks it. (WS-Addressing 1.0 - SOAP Binding §3.3)
    fn parameter(
        &mut self,
        xml: &str,
        version: AddressingVersion,
    ) -> Result<(), UnwritableAddressing> {
        checked(xml)?;
        if version == AddressingVersion::Submission {
            self.push(xml);
            return Ok(());
        }
        let end = xml
            .find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))
            .unwrap_or(xml.len());
        // A prefix that the element does not declare itself.
        let prefix = (0..).map(|number| format!("wsa{number}"));
        let prefix = prefix.into_iter().find(|prefix| !xml.contains(&**prefix));
        let prefix = prefix.unwrap_or_default();
        self.push(&xml[..end]);
        let namespace = self.namespace;
        self.push(&format!(
            " xmlns:{prefix}=\"{namespace}\" {prefix}:IsReferenceParameter=\"true\""
        ));
        self.push(&xml[end..]);
        Ok(())
    }
}

/// Checks that a reference parameter is one element.
fn checked(xml: &str) -> Result<(), UnwritableAddressing> {
    match is_element(xml) {
        true => Ok(()),
        false => Err(unwritable(
            "ReferenceParameters",
            &"it is not one well-formed element with its namespace declarations",
        )),
    }
}

/// The reason why an addressing header cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnwritableAddressing {
    header: String,
    problem: String,
}

fn unwritable(header: &str, problem: &impl fmt::Display) -> UnwritableAddressing {
    UnwritableAddressing {
        header: header.to_owned(),
        problem: problem.to_string(),
    }
}

impl fmt::Display for UnwritableAddressing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { header, problem } = self;
        write!(f, "the value of wsa:{header} cannot be written: {problem}")
    }
}

impl std::error::Error for UnwritableAddressing {}
