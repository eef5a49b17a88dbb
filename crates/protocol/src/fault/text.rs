//! Writes a fault as text, without a Plan: for SOAP versions that no binding has, and for replies that could not be encoded.

use bsoap_codec::Value;
use bsoap_schema::SoapVersion;
use bsoap_xml::{WriteError, Writer};

use super::{Fault, Reason};
use crate::Name;

/// Writes a complete message with a fault. `header` is the content of the Header as XML. Of the detail, only `#any` (which
/// is XML) is written.
pub(crate) fn write(fault: &Fault, version: SoapVersion, header: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    match try_write(fault, version, header, &mut out) {
        Ok(()) => out,
        Err(_) => fallback(version),
    }
}

/// A message with a general fault, sent instead of a fault that cannot be written.
fn fallback(version: SoapVersion) -> Vec<u8> {
    let mut out = Vec::new();
    let fault = Fault::receiver("the service failed");
    try_write(&fault, version, "", &mut out).expect("constant text can be written");
    out
}

fn try_write(
    fault: &Fault,
    version: SoapVersion,
    header: &str,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let mut writer = Writer::new(out);
    writer.declaration();
    writer.start("soap:Envelope")?;
    writer.attribute("xmlns:soap", version.envelope_namespace())?;
    if !header.is_empty() {
        writer.start("soap:Header")?;
        writer.raw(header.as_bytes());
        writer.end();
    }
    writer.start("soap:Body")?;
    writer.start("soap:Fault")?;
    match version {
        SoapVersion::Soap11 => soap11(fault, &mut writer)?,
        SoapVersion::Soap12 => soap12(fault, &mut writer)?,
    }
    writer.end();
    writer.end();
    writer.end();
    Ok(())
}

fn soap11(fault: &Fault, writer: &mut Writer<'_>) -> Result<(), WriteError> {
    let version = SoapVersion::Soap11;
    code(
        "faultcode",
        &fault.code.name(&fault.subcodes, version),
        version,
        writer,
    )?;
    writer.element("faultstring", &clean(fault.reason()))?;
    if let Some(role) = &fault.role {
        writer.element("faultactor", &clean(role))?;
    }
    detail("detail", fault, writer)
}

fn soap12(fault: &Fault, writer: &mut Writer<'_>) -> Result<(), WriteError> {
    let version = SoapVersion::Soap12;
    writer.start("soap:Code")?;
    code(
        "soap:Value",
        &fault.code.name(&[], version),
        version,
        writer,
    )?;
    for subcode in &fault.subcodes {
        writer.start("soap:Subcode")?;
        code("soap:Value", subcode, version, writer)?;
    }
    for _ in 0..=fault.subcodes.len() {
        writer.end();
    }
    writer.start("soap:Reason")?;
    let missing = [Reason {
        language: "en".into(),
        text: fault.code.to_string(),
    }];
    for reason in if fault.reasons.is_empty() {
        &missing
    } else {
        fault.reasons.as_slice()
    } {
        writer.start("soap:Text")?;
        writer.attribute(
            "xml:lang",
            if reason.language.is_empty() {
                "en"
            } else {
                &reason.language
            },
        )?;
        writer.text(&clean(&reason.text))?;
        writer.end();
    }
    writer.end();
    for (name, uri) in [("soap:Node", &fault.node), ("soap:Role", &fault.role)] {
        if let Some(uri) = uri {
            writer.element(name, &clean(uri))?;
        }
    }
    detail("soap:Detail", fault, writer)
}

/// Writes an element whose text is a QName.
fn code(
    element: &str,
    name: &Name,
    version: SoapVersion,
    writer: &mut Writer<'_>,
) -> Result<(), WriteError> {
    writer.start(element)?;
    match name.namespace.as_str() {
        "" => writer.text(&name.local)?,
        namespace if namespace == version.envelope_namespace() => {
            writer.text(&format!("soap:{}", name.local))?;
        }
        namespace => {
            writer.attribute("xmlns:c", namespace)?;
            writer.text(&format!("c:{}", name.local))?;
        }
    }
    writer.end();
    Ok(())
}

fn detail(element: &str, fault: &Fault, writer: &mut Writer<'_>) -> Result<(), WriteError> {
    let Some(Value::Object(detail)) = &fault.detail else {
        return Ok(());
    };
    let Some(Value::Array(elements)) = detail.get("#any") else {
        return Ok(());
    };
    writer.start(element)?;
    for xml in elements {
        if let Value::Text(xml) = xml {
            writer.raw(xml.as_bytes());
        }
    }
    writer.end();
    Ok(())
}

/// Replaces the characters of a text that XML does not allow.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| {
            if bsoap_xml::is_char(c.into()) {
                c
            } else {
                char::REPLACEMENT_CHARACTER
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Code, read_leniently};
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for version in [SoapVersion::Soap11, SoapVersion::Soap12] {
            let mut fault =
                Fault::new(Code::Sender, "1 < 2 & \"so\"").with_subcode(Name::new("", "Late"));
            fault.role = Some("urn:role".into());
            let read = read_leniently(&write(&fault, version, "<h/>")).expect("a fault");
            assert_eq!(
                (&read.code, &read.subcodes, &read.role),
                (&fault.code, &fault.subcodes, &fault.role)
            );
            assert_eq!(read.reason(), fault.reason());
        }
    }

    #[test]
    fn characters_that_xml_does_not_allow_are_replaced() {
        let text = write(&Fault::receiver("a\u{0}b\u{ffff}"), SoapVersion::Soap11, "");
        assert_eq!(
            read_leniently(&text).expect("a fault").reason(),
            "a\u{fffd}b\u{fffd}"
        );
    }
}
