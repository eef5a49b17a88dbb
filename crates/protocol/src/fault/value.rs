//! Converts between a fault and the Value of the `Fault` element that a binding's Plan describes.

use bsoap_codec::{Object, Value};
use bsoap_schema::SoapVersion;

use super::text::clean;
use super::{Code, Fault, FaultParts, Reason};
use crate::Name;

/// The Value of the `Fault` element.
pub(crate) fn to_value(fault: &Fault, version: SoapVersion) -> Value {
    match version {
        SoapVersion::Soap11 => soap11(fault),
        SoapVersion::Soap12 => soap12(fault),
    }
}

fn soap11(fault: &Fault) -> Value {
    let mut members = Object::new();
    members.insert(
        "faultcode",
        fault
            .code
            .name(&fault.subcodes, SoapVersion::Soap11)
            .to_string(),
    );
    members.insert("faultstring", clean(fault.reason()));
    if let Some(role) = &fault.role {
        members.insert("faultactor", clean(role));
    }
    if let Some(detail) = &fault.detail {
        members.insert("detail", detail.clone());
    }
    members.into()
}

fn soap12(fault: &Fault) -> Value {
    let version = SoapVersion::Soap12;
    let mut code: Option<Object> = None;
    let first = fault.code.name(&[], version);
    for name in std::iter::once(&first).chain(&fault.subcodes).rev() {
        let mut outer = Object::new();
        outer.insert("Value", name.to_string());
        if let Some(inner) = code {
            outer.insert("Subcode", inner);
        }
        code = Some(outer);
    }
    let mut texts: Vec<Value> = fault
        .reasons
        .iter()
        .map(|reason| text(&reason.language, &reason.text))
        .collect();
    if texts.is_empty() {
        texts.push(text("en", &fault.code.to_string()));
    }
    let mut members = Object::new();
    members.insert("Code", code.unwrap_or_default());
    members.insert("Reason", Value::object([("Text", Value::Array(texts))]));
    for (key, uri) in [("Node", &fault.node), ("Role", &fault.role)] {
        if let Some(uri) = uri {
            members.insert(key, clean(uri));
        }
    }
    if let Some(detail) = &fault.detail {
        members.insert("Detail", detail.clone());
    }
    members.into()
}

fn text(language: &str, text: &str) -> Value {
    // Every Text has a language. (SOAP 1.2 Part 1 §5.4.2.1)
    let language = if language.is_empty() { "en" } else { language };
    Value::object([
        ("@lang", Value::from(language)),
        ("#text", Value::from(clean(text))),
    ])
}

/// The fault that the Value of a `Fault` element of either version describes.
pub(crate) fn from_value(mut value: Value) -> Fault {
    let mut take = |key: &str| match &mut value {
        Value::Object(members) => members.remove(key),
        _ => None,
    };
    let is_12 = take("Code");
    let (names, reasons, role, detail) = match is_12 {
        Some(code) => (
            codes(&code),
            texts(take("Reason")),
            take("Role"),
            take("Detail"),
        ),
        None => {
            let names = take("faultcode")
                .as_ref()
                .and_then(name)
                .into_iter()
                .collect();
            let reason = take("faultstring").map(string).unwrap_or_default();
            let reasons = vec![Reason {
                language: String::new(),
                text: reason,
            }];
            (names, reasons, take("faultactor"), take("detail"))
        }
    };
    let mut names = names.into_iter();
    let (code, mut subcodes) = names
        .next()
        .map_or((Code::Receiver, Vec::new()), |name| Code::of(&name));
    subcodes.extend(names);
    let detail = detail.map(|detail| match detail {
        Value::Object(members) => crate::arguments::alone(members).into(),
        other => other,
    });
    FaultParts {
        code,
        subcodes,
        reasons,
        node: take("Node").map(string),
        role: role.map(string),
        detail,
        headers: Object::new(),
    }
    .into()
}

/// The names in `Code` and in the subcodes nested in it.
fn codes(code: &Value) -> Vec<Name> {
    let nested = std::iter::successors(Some(code), |code| code.get("Subcode"));
    nested.filter_map(|code| name(code.get("Value")?)).collect()
}

fn name(value: &Value) -> Option<Name> {
    let text = value.as_str()?;
    Some(text.parse().unwrap_or_else(|_| Name::new("", text)))
}

fn texts(reason: Option<Value>) -> Vec<Reason> {
    let Some(Value::Object(mut reason)) = reason else {
        return Vec::new();
    };
    let texts = match reason.remove("Text") {
        Some(Value::Array(texts)) => texts,
        one => one.into_iter().collect(),
    };
    let reasons = texts.into_iter().map(|text| {
        let language = text
            .get("@lang")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        Reason {
            language,
            text: string(text),
        }
    });
    reasons.collect()
}

/// The text of an element with simple content, which may have attributes.
fn string(value: Value) -> String {
    match value {
        Value::Text(text) => text.into(),
        Value::Object(mut members) => members.remove("#text").map(string).unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_survives_its_value() {
        let mut fault = Fault::new(Code::Sender, "too \"late\"")
            .with_subcode(Name::new("urn:m", "Late"))
            .with_subcode(Name::new("urn:m", "VeryLate"))
            .with_detail(Value::object([(
                "badShape",
                Value::object([("expected", Value::from(4))]),
            )]));
        fault.role = Some("urn:role".into());
        fault.node = Some("urn:node".into());
        assert_eq!(from_value(to_value(&fault, SoapVersion::Soap12)), fault);

        let read = from_value(to_value(&fault, SoapVersion::Soap11));
        assert_eq!(
            (&read.code, &read.role, &read.detail),
            (&fault.code, &fault.role, &fault.detail)
        );
        assert_eq!(read.to_string(), "Sender/Late/VeryLate: too \"late\"");
    }

    #[test]
    fn anything_gives_a_fault() {
        for value in [
            Value::Nil,
            Value::from(1),
            Value::object([("Code", Value::Nil), ("Reason", Value::Nil)]),
        ] {
            assert_eq!(from_value(value).code, Code::Receiver);
        }
        let own = Value::object([("faultcode", Value::from("{urn:x}Client"))]);
        assert_eq!(
            from_value(own).code,
            Code::Other(Name::new("urn:x", "Client"))
        );
    }

    #[test]
    fn a_code_of_somebodys_own_is_kept_in_soap_11_and_general_in_soap_12() {
        let fault = Fault::new(Code::Other(Name::new("urn:x", "Odd")), "odd");
        assert_eq!(
            to_value(&fault, SoapVersion::Soap11)["faultcode"].as_str(),
            Some("{urn:x}Odd")
        );
        let code = &to_value(&fault, SoapVersion::Soap12)["Code"];
        assert_eq!(
            code["Value"].as_str(),
            Some("{http://www.w3.org/2003/05/soap-envelope}Receiver")
        );
    }
}
