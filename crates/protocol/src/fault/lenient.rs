//! Reads the fault in a message that cannot be decoded: a fault of another SOAP version, or one that breaks the rules, as
//! many do (text in `detail`, codes without namespace, missing children). Only `Envelope/Body/Fault` is required. The header blocks
//! that came with it are kept as XML.

use std::sync::Arc;

use bsoap_codec::{Object, Value};
use bsoap_schema::SoapVersion;
use bsoap_xml::{Event, Options, Reader, ScopeId, Tag, Vocabulary};

use super::{Code, Fault, FaultParts, Reason};
use crate::excerpt::tag_with_bindings;
use crate::limits::{MAX_COPIED_DECLARATIONS, MAX_FAULT_DEPTH};
use crate::{Name, version_of};

/// The fault in a message. `None` if the message has no fault.
pub(crate) fn read(bytes: &[u8]) -> Option<Fault> {
    let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    reader.feed(bytes).ok()?;
    reader.finish().ok()?;
    let mut fault = PartialFault::default();
    loop {
        match reader.next().ok()?? {
            Event::Start(tag) => fault.start(&tag)?,
            Event::Text(text) => fault.text(&text.value, text.raw),
            Event::End(tag) => {
                let (scope, raw) = (tag.scope, tag.raw.to_owned());
                fault.end(&raw, |prefix| resolve(&reader, scope, prefix));
            }
            Event::EndOfDocument => return fault.fault(),
            _ => {}
        }
    }
}

fn resolve(reader: &Reader, scope: ScopeId, prefix: &str) -> String {
    reader
        .scopes()
        .resolve(scope, prefix)
        .map(|namespace| namespace.uri.to_owned())
        .unwrap_or_default()
}

/// The parts of a fault that have been read so far.
#[derive(Default)]
struct PartialFault {
    /// The local names of the open elements, at most `MAX_FAULT_DEPTH`.
    path: Vec<String>,
    depth: usize,
    version: Option<SoapVersion>,
    is_fault: bool,
    text: String,
    language: String,
    codes: Vec<Name>,
    reasons: Vec<Reason>,
    node: Option<String>,
    role: Option<String>,
    detail: Detail,
    /// The header blocks.
    blocks: Copies,
}

#[derive(Default)]
struct Detail {
    is_there: bool,
    elements: Copies,
    text: String,
}

/// Elements that are copied as XML of their own.
#[derive(Default)]
struct Copies {
    /// The XML of the element being copied.
    open: String,
    elements: Vec<Value>,
    /// The number of bytes of namespace declarations copied so far.
    copied: usize,
}

impl Copies {
    /// Copies a start tag: that of an element, or of one inside of it.
    fn start(&mut self, tag: &Tag<'_>, is_inside: bool) {
        let alone = !is_inside && self.copied < MAX_COPIED_DECLARATIONS;
        let text = tag_with_bindings(tag, alone);
        self.copied += text.len() - tag.raw.len();
        self.open.push_str(&text);
    }

    /// Copies an end tag.
    fn end(&mut self, raw: &str, is_inside: bool) {
        self.open.push_str(raw);
        if !is_inside {
            let element = std::mem::take(&mut self.open);
            self.elements.push(Value::from(element));
        }
    }
}

/// The depth of the Header, and of the Fault. The Envelope has depth 1.
const HEADER: usize = 2;
const FAULT: usize = 3;
const DETAIL: usize = 4;
impl PartialFault {
    /// Processes a start tag. Returns `None` if the message cannot have a fault.
    fn start(&mut self, tag: &Tag<'_>) -> Option<()> {
        self.depth += 1;
        if self.depth == 1 {
            self.version = version_of(tag.namespace());
            self.version.filter(|_| tag.local() == "Envelope")?;
        }
        if self.in_detail() {
            let is_inside = self.depth > DETAIL + 1;
            self.detail.elements.start(tag, is_inside);
            return Some(());
        }
        if self.in_header() {
            self.blocks.start(tag, self.depth > HEADER + 1);
            return Some(());
        }
        if self.depth <= MAX_FAULT_DEPTH {
            self.path.truncate(self.depth - 1);
            self.path.push(tag.local().to_owned());
        }
        self.text.clear();
        self.is_fault |=
            self.is_at(&["Envelope", "Body", "Fault"]) && version_of(tag.namespace()).is_some();
        self.detail.is_there |= self.in_detail();
        if tag.local() == "Text" {
            let language = tag.attributes().find(|attribute| attribute.local == "lang");
            self.language = language
                .map(|attribute| attribute.value().into_owned())
                .unwrap_or_default();
        }
        Some(())
    }

    fn text(&mut self, value: &str, raw: &str) {
        match () {
            () if self.in_detail() && self.depth > DETAIL => {
                self.detail.elements.open.push_str(raw);
            }
            () if self.in_header() && self.depth > HEADER => self.blocks.open.push_str(raw),
            () if self.in_detail() => self.detail.text.push_str(value),
            () if self.is_fault => self.text.push_str(value),
            () => {}
        }
    }

    fn end(&mut self, raw: &str, resolve: impl Fn(&str) -> String) {
        if self.in_detail() && self.depth > DETAIL {
            self.detail.elements.end(raw, self.depth > DETAIL + 1);
        } else if self.in_header() && self.depth > HEADER {
            self.blocks.end(raw, self.depth > HEADER + 1);
        } else if self.is_fault && self.depth <= MAX_FAULT_DEPTH {
            self.close(&resolve);
            self.text.clear();
        }
        self.depth -= 1;
        if self.depth < MAX_FAULT_DEPTH {
            self.path.truncate(self.depth);
        }
    }

    /// Processes an end tag: stores the content of an element of the fault.
    fn close(&mut self, resolve: &dyn Fn(&str) -> String) {
        let text = || self.text.trim().to_owned();
        let path: Vec<&str> = self.path.iter().skip(FAULT).map(String::as_str).collect();
        match path[..] {
            ["faultcode"] | ["Code", "Value"] | ["Code", .., "Value"] => {
                let (prefix, local) = self
                    .text
                    .trim()
                    .split_once(':')
                    .unwrap_or(("", self.text.trim()));
                self.codes.push(Name::new(resolve(prefix), local));
            }
            ["faultstring"] => self.reasons.push(Reason {
                language: String::new(),
                text: text(),
            }),
            ["Reason", "Text"] => {
                let language = std::mem::take(&mut self.language);
                self.reasons.push(Reason {
                    language,
                    text: self.text.trim().to_owned(),
                });
            }
            ["faultactor"] | ["Role"] => self.role = Some(text()),
            ["Node"] => self.node = Some(text()),
            _ => {}
        }
    }

    fn is_at(&self, path: &[&str]) -> bool {
        self.depth == path.len()
            && self
                .path
                .iter()
                .map(String::as_str)
                .eq(path.iter().copied())
    }

    fn in_detail(&self) -> bool {
        self.is_fault
            && self.depth >= DETAIL
            && self.path.len() >= DETAIL
            && matches!(self.path[DETAIL - 1].as_str(), "detail" | "Detail")
    }

    fn in_header(&self) -> bool {
        self.depth >= HEADER && self.path.len() == HEADER && self.path[HEADER - 1] == "Header"
    }

    fn fault(self) -> Option<Fault> {
        if !self.is_fault {
            return None;
        }
        let mut codes = self.codes.into_iter();
        let (code, mut subcodes) = codes
            .next()
            .map_or((Code::Receiver, Vec::new()), |name| Code::of(&name));
        subcodes.extend(codes);
        let detail = self.detail.is_there.then(|| self.detail.value());
        let (reasons, node, role) = (self.reasons, self.node, self.role);
        let mut headers = Object::new();
        if !self.blocks.elements.is_empty() {
            headers.insert("#any", Value::Array(self.blocks.elements));
        }
        Some(
            FaultParts {
                code,
                subcodes,
                reasons,
                node,
                role,
                detail,
                headers,
            }
            .into(),
        )
    }
}

impl Detail {
    fn value(self) -> Value {
        let text = self.text.trim();
        let mut members = Vec::new();
        if !text.is_empty() {
            members.push(("#text".to_owned(), Value::from(text)));
        }
        if !self.elements.elements.is_empty() {
            members.push(("#any".to_owned(), Value::Array(self.elements.elements)));
        }
        Value::object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soap11(fault: &str) -> Option<Fault> {
        let namespace = SoapVersion::Soap11.envelope_namespace();
        read(format!("<s:Envelope xmlns:s='{namespace}' xmlns:a='urn:a&amp;b'><s:Body>{fault}</s:Body></s:Envelope>").as_bytes())
    }

    #[test]
    fn what_is_there_is_taken() {
        let fault = soap11(
            "<s:Fault><faultcode>s:Client.Auth</faultcode><faultstring> go <![CDATA[a<way]]> </faultstring>\
             <detail> t <a:x k='1'>y<a:z/></a:x><b xmlns=''/></detail></s:Fault>",
        )
        .expect("a fault");
        assert_eq!(
            (&fault.code, fault.subcodes.as_slice()),
            (&Code::Sender, &[Name::new("", "Auth")][..])
        );
        assert_eq!(fault.reason(), "go a<way");
        let detail = serde_json::to_string(fault.detail.as_ref().expect("a detail")).expect("JSON");
        assert!(detail.contains(r##""#text":"t""##), "{detail}");
        assert!(
            detail.contains(r#"xmlns:a=\"urn:a&amp;b\""#) && detail.contains("k='1'>y<a:z/></a:x>"),
            "{detail}"
        );
    }

    #[test]
    fn header_blocks_are_kept_as_xml() {
        let namespace = SoapVersion::Soap12.envelope_namespace();
        let text = format!(
            "<s:Envelope xmlns:s='{namespace}' xmlns:a='urn:a'><s:Header> <a:x k='1'>y<a:z/><![CDATA[<]]></a:x><a:w/></s:Header>\
             <s:Body><s:Fault><s:Detail>t</s:Detail></s:Fault></s:Body></s:Envelope>"
        );
        let fault = read(text.as_bytes()).expect("a fault");
        let blocks = fault.headers.get("#any").and_then(Value::as_array);
        let blocks = blocks.expect("blocks");
        let blocks: Vec<&str> = blocks.iter().filter_map(Value::as_str).collect();
        assert!(
            blocks.iter().all(|xml| crate::excerpt::is_element(xml)),
            "{blocks:?}"
        );
        assert!(
            blocks[0].ends_with("k='1'>y<a:z/><![CDATA[<]]></a:x>"),
            "{blocks:?}"
        );
        assert!(
            blocks.len() == 2 && blocks[1].starts_with("<a:w"),
            "{blocks:?}"
        );
        let detail = fault.detail.as_ref().expect("a detail");
        assert_eq!(detail["#text"].as_str(), Some("t"));
    }

    #[test]
    fn a_bare_fault_is_a_fault_and_anything_else_is_none() {
        let fault = soap11("<s:Fault><faultcode>oops</faultcode></s:Fault>").expect("a fault");
        assert_eq!(fault.code, Code::Other(Name::new("", "oops")));
        assert_eq!(soap11("<s:Fault/>").expect("a fault").code, Code::Receiver);
        for none in ["", "<Fault/>", "<a><s:Fault/></a>"] {
            assert_eq!(soap11(none), None, "{none}");
        }
        for none in [
            "",
            "<html/>",
            "<s:Envelope",
            "<Envelope><Body><Fault/></Body></Envelope>",
        ] {
            assert_eq!(read(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn a_fault_of_soap_12_keeps_subcodes_languages_node_and_role() {
        let namespace = SoapVersion::Soap12.envelope_namespace();
        let text = format!(
            "<Envelope xmlns='{namespace}' xmlns:m='urn:m'><Header/><Body><Fault><Code><Value>Sender</Value><Subcode><Value>m:a</Value>\
             <Subcode><Value>m:b</Value></Subcode></Subcode></Code><Reason><Text xml:lang='en'>no</Text><Text xml:lang='de'>nein</Text></Reason>\
             <Node>urn:n</Node><Role>urn:r</Role><Detail/></Fault></Body></Envelope>"
        );
        let fault = read(text.as_bytes()).expect("a fault");
        assert_eq!((&fault.code, fault.subcodes.len()), (&Code::Sender, 2));
        assert_eq!(fault.subcodes[1], Name::new("urn:m", "b"));
        let reasons: Vec<_> = fault
            .reasons
            .iter()
            .map(|reason| (reason.language.as_str(), reason.text.as_str()))
            .collect();
        assert_eq!(reasons, [("en", "no"), ("de", "nein")]);
        assert_eq!(
            (fault.node.as_deref(), fault.role.as_deref()),
            (Some("urn:n"), Some("urn:r"))
        );
        assert!(fault.detail.is_some());
    }

    #[test]
    fn a_detail_does_not_grow_by_what_is_declared_around_it() {
        let uri = "u".repeat(100_000);
        let details = "<b/>".repeat(1000);
        let fault = format!("<s:Fault xmlns:u='{uri}'><detail>{details}</detail></s:Fault>");
        let fault = soap11(&fault).expect("a fault");
        let detail = serde_json::to_string(fault.detail.as_ref().expect("a detail")).expect("JSON");
        assert!(detail.len() < 2_000_000, "{}", detail.len());
    }

    #[test]
    fn deep_faults_are_read() {
        let deep = format!(
            "<s:Fault><Code>{}{}</Code></s:Fault>",
            "<Subcode>".repeat(500),
            "</Subcode>".repeat(500)
        );
        assert!(soap11(&deep).is_some());
        let deep = format!(
            "<s:Fault><detail>{}{}</detail></s:Fault>",
            "<d>".repeat(500),
            "</d>".repeat(500)
        );
        assert!(soap11(&deep).is_some());
    }
}
