//! The WSDL and its schemas as this server publishes them. References between the documents and the addresses of the ports
//! served here are replaced by addresses of this server.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bsoap_schema::{Document, resolve_location, without_credentials};
use roxmltree::{Node, ParsingOptions};

use super::page::escape;

const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const WSDL2: &str = "http://www.w3.org/ns/wsdl";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// The documents of a WSDL. Each is split at the addresses, which are filled in for each request.
#[derive(Debug)]
pub(super) struct Documents {
    pieces: Vec<Vec<DocumentPart>>,
    by_name: HashMap<String, usize>,
}

/// A part of a published document.
#[derive(Debug)]
enum DocumentPart {
    /// Text that is published unchanged.
    Text(String),
    /// The address of a port with this path.
    Port(String),
    /// The address of a document: `?wsdl=NAME` or `?xsd=NAME` at the path of the request.
    Reference(&'static str, String),
}

/// The facts that determine how a document is rewritten.
struct Rewriting<'d> {
    documents: &'d [Arc<Document>],
    /// The names of the documents in addresses.
    names: &'d [String],
    /// A function that returns the path of a port (second argument) of a service (first argument). `None` if the port is not
    /// served here.
    path_of: &'d dyn Fn(&str, &str) -> Option<String>,
}

impl Documents {
    /// Creates the documents to publish, the WSDL first. `path_of` returns the path of a port (second argument) of a service
    /// (first argument), or `None` if the port is not served here.
    pub(super) fn new(
        documents: &[Arc<Document>],
        path_of: impl Fn(&str, &str) -> Option<String>,
    ) -> Self {
        let names = names(documents.iter().map(|document| document.location()));
        let rewriting = Rewriting {
            documents,
            names: &names,
            path_of: &path_of,
        };
        let pieces = documents.iter().map(|document| rewriting.pieces(document));
        Self {
            pieces: pieces.collect(),
            by_name: names
                .iter()
                .cloned()
                .enumerate()
                .map(|(index, name)| (name, index))
                .collect(),
        }
    }

    /// The text of the document with this name, or of the WSDL if the name is empty. The request is for `path` and arrived
    /// at `base` (`http://host:port`). `None` if there is no such document.
    pub(super) fn text(&self, name: &str, base: &str, path: &str) -> Option<String> {
        let index = match name {
            "" => 0,
            name => *self.by_name.get(name)?,
        };
        let mut text = String::new();
        for piece in self.pieces.get(index)? {
            match piece {
                DocumentPart::Text(part) => text.push_str(part),
                DocumentPart::Port(port) => text.push_str(&escape(&format!("{base}{port}"))),
                DocumentPart::Reference(key, name) => {
                    text.push_str(&escape(&format!("{base}{path}?{key}={name}")));
                }
            }
        }
        Some(text)
    }
}

impl Rewriting<'_> {
    /// Splits a document at each address. A document that is not XML (unlikely, since it was loaded) is published unchanged.
    fn pieces(&self, document: &Document) -> Vec<DocumentPart> {
        let text = document.text().trim_start_matches('\u{feff}');
        // Documents with a DOCTYPE can be loaded, so they are published, too. Their entities may contain addresses.
        let options = ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        };
        let Ok(tree) = roxmltree::Document::parse_with_options(text, options) else {
            return vec![DocumentPart::Text(text.to_owned())];
        };
        let mut pieces = vec![DocumentPart::Text(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
        )];
        // The XML declaration may name another encoding; the published text is UTF-8.
        let mut done = if text.starts_with("<?xml ") {
            text.find("?>").map_or(0, |end| end + 2)
        } else {
            0
        };
        let mut addresses: Vec<(Range<usize>, DocumentPart)> = tree
            .descendants()
            .filter(Node::is_element)
            .filter_map(|node| {
                let (attribute, piece) = self.address(node, document)?;
                Some((node.attribute_node(attribute)?.range_value(), piece))
            })
            .collect();
        // The text of an entity is in the DOCTYPE at the start of the document, and only once, even if it is referenced
        // often.
        addresses.sort_by_key(|(place, _)| place.start);
        for (place, piece) in addresses {
            let Some(before) = text.get(done..place.start) else {
                continue;
            };
            pieces.push(DocumentPart::Text(before.to_owned()));
            pieces.push(piece);
            done = place.end;
        }
        pieces.push(DocumentPart::Text(text[done..].to_owned()));
        pieces
    }

    /// The attribute of this element that contains an address, and the part that replaces the address. Addresses of other
    /// servers remain, but credentials in them are removed. `None` if nothing is replaced.
    fn address(
        &self,
        node: Node<'_, '_>,
        document: &Document,
    ) -> Option<(&'static str, DocumentPart)> {
        let name = node.tag_name();
        let (attribute, key) = match (name.namespace(), name.name()) {
            (Some(WSDL), "import") | (Some(WSDL2), "import" | "include") => {
                ("location", Some("wsdl"))
            }
            (Some(WSDL2), "endpoint") => ("address", None),
            (Some(XSD), "import" | "include" | "redefine") => ("schemaLocation", Some("xsd")),
            (Some(namespace), "address") if namespace != WSDL => ("location", None),
            _ => return None,
        };
        let value = node.attribute(attribute)?;
        let piece = match key {
            Some(key) => self.reference(key, value, document),
            None => self.port(node),
        };
        let piece = piece.or_else(|| {
            let shown = without_credentials(value);
            (shown != value).then(|| DocumentPart::Text(escape(&shown)))
        })?;
        Some((attribute, piece))
    }

    /// The part for a `soap:address`, or an endpoint of WSDL 2.0. `None` if its port is not served here.
    fn port<'t>(&self, address: Node<'t, 't>) -> Option<DocumentPart> {
        let parent = |node: Node<'t, 't>, name: &str| {
            node.parent_element()
                .filter(|parent| parent.tag_name().name() == name)
        };
        let port = match address.tag_name().name() {
            "endpoint" => address,
            _ => parent(address, "port")?,
        };
        let service = parent(port, "service")?;
        let path = (self.path_of)(service.attribute("name")?, port.attribute("name")?)?;
        Some(DocumentPart::Port(path))
    }

    /// The part for a reference to another document. `None` if that document is not published here.
    fn reference(&self, key: &'static str, to: &str, from: &Document) -> Option<DocumentPart> {
        let target = resolve_location(from.location(), to);
        let index = self
            .documents
            .iter()
            .position(|document| document.location() == target || document.location() == to)?;
        Some(DocumentPart::Reference(key, self.names[index].clone()))
    }
}

/// A name for each location: its last segment, made unique and safe in a query.
fn names<'d>(locations: impl Iterator<Item = &'d str>) -> Vec<String> {
    let mut taken = HashSet::new();
    locations
        .enumerate()
        .map(|(index, location)| {
            let location = without_credentials(location);
            let path = location.split(['?', '#']).next().unwrap_or_default();
            let last = path
                .rsplit(['/', '\\'])
                .find(|segment| !segment.is_empty())
                .unwrap_or_default();
            let safe = |c: char| {
                if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
                    c
                } else {
                    '_'
                }
            };
            let mut name: String = last.chars().map(safe).collect();
            while name.is_empty() || !taken.insert(name.clone()) {
                name = format!("{index}-{name}");
            }
            name
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WSDL: &str = r#"<?xml version="1.0" encoding="ISO-8859-1"?><definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:x="http://www.w3.org/2001/XMLSchema">
<import namespace="u" location="../common/a.wsdl"/><types><x:schema><x:import namespace="v" schemaLocation='v.xsd'/><x:import namespace="w" schemaLocation="http://elsewhere/w.xsd"/></x:schema></types>
<service name="S"><port name="P"><s:address location="http://old/"/></port><port name="Q"><s:address location="http://old/q"/></port><port name="R"><s:address location="http://jo:hush@old/r?a&amp;b"/></port></service></definitions>"#;

    /// The text of the document that is published under a name.
    fn published(wsdl: &str, name: &str) -> Option<String> {
        let document = |location: &str, text: &str| {
            Arc::new(Document::new(location, text.as_bytes()).expect("a document"))
        };
        let documents = [
            document("dir/svc/main.wsdl", wsdl),
            document("dir/common/a.wsdl", "<definitions/>"),
            document("dir/svc/v.xsd", "<schema/>"),
            document("dir/other/v.xsd", "<other/>"),
        ];
        let path_of =
            |service: &str, port: &str| ((service, port) == ("S", "P")).then(|| "/p&x".to_owned());
        Documents::new(&documents, path_of).text(name, "http://here:1", "/p")
    }

    #[test]
    fn the_wsdl_is_published_with_addresses_of_this_server() {
        let text = published(WSDL, "").expect("the WSDL");
        assert!(
            text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"),
            "{text}"
        );
        assert!(!text.contains("8859"), "{text}");
        for part in [
            r#"location="http://here:1/p?wsdl=a.wsdl""#,
            "schemaLocation='http://here:1/p?xsd=v.xsd'",
            r#"schemaLocation="http://elsewhere/w.xsd""#,
            r#"location="http://here:1/p&amp;x""#,
            r#"location="http://old/q""#,
            r#"location="http://old/r?a&amp;b""#,
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_wsdl_with_a_doctype_is_published_with_addresses_of_this_server() {
        let port = r#"<port name="P"><s:address location="http://old/"/></port>"#;
        let doctype = format!(
            "<!DOCTYPE definitions [<!ENTITY port '{port}'>\n<!ENTITY host \"http://old\">]><definitions"
        );
        let wsdl = WSDL
            .replace(port, "&port;&port;")
            .replace("<definitions", &doctype)
            .replace("</definitions>", r#"<service name="S"><port name="P"><s:address location="&host;/x"/></port></service></definitions>"#);
        let text = published(&wsdl, "").expect("the WSDL");
        assert_eq!(
            text.matches(r#"location="http://here:1/p&amp;x""#).count(),
            2,
            "{text}"
        );
        assert!(
            !text.contains("&host;") && text.contains("&port;&port;"),
            "{text}"
        );
        let options = ParsingOptions {
            allow_dtd: true,
            ..ParsingOptions::default()
        };
        assert!(
            roxmltree::Document::parse_with_options(&text, options).is_ok(),
            "{text}"
        );
    }

    #[test]
    fn imported_documents_are_found_by_name_and_others_are_not() {
        let text = |name: &str| published(WSDL, name);
        assert!(text("v.xsd").is_some_and(|text| text.ends_with("<schema/>")));
        assert!(text("3-v.xsd").is_some_and(|text| text.ends_with("<other/>")));
        assert_eq!(text("../../etc/passwd"), None);
        let locations = ["http://jo:secret@host", "http://jo:secret@host/"];
        assert_eq!(names(locations.into_iter()), ["host", "1-host"]);
    }

    #[test]
    fn endpoints_of_wsdl_2_are_published_too() {
        let wsdl = r#"<description xmlns="http://www.w3.org/ns/wsdl"><include location="../common/a.wsdl"/><service name="S">
<endpoint name="P" address="http://old/"/><endpoint name="Q" address="http://old/q"/></service></description>"#;
        let text = published(wsdl, "").expect("the WSDL");
        for part in [
            r#"location="http://here:1/p?wsdl=a.wsdl""#,
            r#"address="http://here:1/p&amp;x""#,
            r#"address="http://old/q""#,
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
