//! What a GET shows: the WSDL and its schemas with addresses that lead back here, and a page for people.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use hyper::StatusCode;
use roxmltree::{Node, ParsingOptions};

use super::{Response, page};
use crate::client::address::without_credentials;

const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// What a server tells about itself.
#[derive(Clone, Debug)]
pub struct Site {
    /// The WSDL, then all it imports.
    pub documents: Vec<Document>,
    /// What it describes.
    pub services: Vec<ServiceInfo>,
    /// The location that a reference (second) in the document at a location (first) means.
    pub resolve: fn(&str, &str) -> String,
}

/// A document to publish.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it was loaded from; references between documents are resolved against it.
    pub location: String,
    /// Its text.
    pub text: String,
}

/// A service, as the page tells it.
#[derive(Clone, Debug, Default)]
pub struct ServiceInfo {
    /// Its name.
    pub name: String,
    /// What it says about itself.
    pub documentation: Option<String>,
    /// Its ports.
    pub ports: Vec<PortInfo>,
}

/// A port, as the page tells it.
#[derive(Clone, Debug, Default)]
pub struct PortInfo {
    /// Its name.
    pub name: String,
    /// The path it is served at.
    pub path: String,
    /// Its protocol, as `SOAP 1.1`.
    pub protocol: String,
    /// Its operations: signature and documentation.
    pub operations: Vec<(String, Option<String>)>,
}

/// A [`Site`], made ready: what depends on the address asked is filled in per request.
#[derive(Debug)]
pub(super) struct Published {
    documents: Vec<Vec<Piece>>,
    by_name: HashMap<String, usize>,
    services: Vec<ServiceInfo>,
}

/// A stretch of a document as it is published.
#[derive(Debug)]
enum Piece {
    /// As it was.
    Text(String),
    /// The address of a port with this path.
    Port(String),
    /// The address of a document: `?wsdl=NAME` or `?xsd=NAME` of the path asked.
    Reference(&'static str, String),
}

impl Published {
    pub(super) fn new(site: &Site) -> Self {
        let names = names(&site.documents);
        let documents = site
            .documents
            .iter()
            .map(|document| pieces(document, site, &names))
            .collect();
        let by_name = names
            .iter()
            .cloned()
            .enumerate()
            .map(|(index, name)| (name, index))
            .collect();
        Self {
            documents,
            by_name,
            services: site.services.clone(),
        }
    }

    /// Answers a GET of `path` that came in at `base` (`http://host:port`).
    pub(super) fn answer(&self, base: &str, path: &str, query: Option<&str>) -> Response {
        let (key, value) = query
            .map(|query| query.split_once('=').unwrap_or((query, "")))
            .unwrap_or_default();
        if key.is_empty() {
            return Response::new(
                200,
                "text/html; charset=utf-8",
                page::html(&self.services, base),
            );
        }
        let asks_document = key.eq_ignore_ascii_case("wsdl") || key.eq_ignore_ascii_case("xsd");
        let index = match value {
            _ if !asks_document => None,
            "" => Some(0),
            name => self.by_name.get(name).copied(),
        };
        match index.and_then(|index| self.documents.get(index)) {
            Some(pieces) => Response::new(200, "text/xml; charset=utf-8", text(pieces, base, path)),
            None => Response::plain(
                StatusCode::NOT_FOUND,
                "there is no such document; ?wsdl shows the description",
            ),
        }
    }
}

/// A name for each document: the last segment of its location, made unique, safe in a query.
fn names(documents: &[Document]) -> Vec<String> {
    let mut taken = HashSet::new();
    documents
        .iter()
        .enumerate()
        .map(|(index, document)| {
            let location = without_credentials(&document.location);
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

/// A document, cut where an address stands. What is not XML (it was loaded, so this is unlikely) stays whole.
fn pieces(document: &Document, site: &Site, names: &[String]) -> Vec<Piece> {
    let text = document.text.trim_start_matches('\u{feff}');
    // Documents with a DOCTYPE are loaded, so they are published too; their entities may hold addresses.
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let Ok(tree) = roxmltree::Document::parse_with_options(text, options) else {
        return vec![Piece::Text(text.to_owned())];
    };
    let mut pieces = vec![Piece::Text(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(),
    )];
    // The declaration may name another encoding; the answer is UTF-8.
    let mut done = if text.starts_with("<?xml ") {
        text.find("?>").map_or(0, |end| end + 2)
    } else {
        0
    };
    let mut addresses: Vec<(Range<usize>, Piece)> = tree
        .descendants()
        .filter(Node::is_element)
        .filter_map(|node| {
            let (attribute, piece) = address(node, document, site, names)?;
            Some((node.attribute_node(attribute)?.range_value(), piece))
        })
        .collect();
    // What an entity holds stands in the DOCTYPE, before all else, and once however often it is referred to.
    addresses.sort_by_key(|(place, _)| place.start);
    for (place, piece) in addresses {
        let Some(before) = text.get(done..place.start) else {
            continue;
        };
        pieces.push(Piece::Text(before.to_owned()));
        pieces.push(piece);
        done = place.end;
    }
    pieces.push(Piece::Text(text[done..].to_owned()));
    pieces
}

/// The attribute of this element that holds an address, and what is published in its place. Addresses that lead elsewhere
/// stay, but for credentials in them, which are nobody's business.
fn address(
    node: Node<'_, '_>,
    document: &Document,
    site: &Site,
    names: &[String],
) -> Option<(&'static str, Piece)> {
    let name = node.tag_name();
    let (attribute, key) = match (name.namespace(), name.name()) {
        (Some(WSDL), "import") => ("location", Some("wsdl")),
        (Some(XSD), "import" | "include" | "redefine") => ("schemaLocation", Some("xsd")),
        (Some(namespace), "address") if namespace != WSDL => ("location", None),
        _ => return None,
    };
    let value = node.attribute(attribute)?;
    let piece = match key {
        Some(key) => reference(key, value, document, site, names),
        None => port(node, site),
    };
    let piece = piece.or_else(|| {
        let shown = without_credentials(value);
        (shown != value).then(|| Piece::Text(page::escape(&shown)))
    })?;
    Some((attribute, piece))
}

/// The piece for the address of a port; `None` if it is not served here.
fn port<'t>(address: Node<'t, 't>, site: &Site) -> Option<Piece> {
    let above = |node: Node<'t, 't>, name: &str| {
        node.parent_element()
            .filter(|parent| parent.tag_name().name() == name)
    };
    let port = above(address, "port")?;
    let service = above(port, "service")?.attribute("name")?;
    let port = port.attribute("name")?;
    let ports = &site.services.iter().find(|one| one.name == service)?.ports;
    Some(Piece::Port(
        ports.iter().find(|one| one.name == port)?.path.clone(),
    ))
}

/// The piece for a reference to another document of the site; `None` if it leads elsewhere.
fn reference(
    key: &'static str,
    to: &str,
    from: &Document,
    site: &Site,
    names: &[String],
) -> Option<Piece> {
    let target = (site.resolve)(&from.location, to);
    let index = site
        .documents
        .iter()
        .position(|one| one.location == target || one.location == to)?;
    Some(Piece::Reference(key, names[index].clone()))
}

/// A document with the addresses filled in.
fn text(pieces: &[Piece], base: &str, path: &str) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(stretch) => text.push_str(stretch),
            Piece::Port(port) => text.push_str(&page::escape(&format!("{base}{port}"))),
            Piece::Reference(key, name) => {
                text.push_str(&page::escape(&format!("{base}{path}?{key}={name}")));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let wsdl = r#"<?xml version="1.0" encoding="ISO-8859-1"?><definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:x="http://www.w3.org/2001/XMLSchema">
<import namespace="u" location="../common/a.wsdl"/><types><x:schema><x:import namespace="v" schemaLocation='v.xsd'/><x:import namespace="w" schemaLocation="http://elsewhere/w.xsd"/></x:schema></types>
<service name="S"><port name="P"><s:address location="http://old/"/></port><port name="Q"><s:address location="http://old/q"/></port><port name="R"><s:address location="http://jo:hush@old/r?a&amp;b"/></port></service></definitions>"#;
        let document = |location: &str, text: &str| Document {
            location: location.into(),
            text: text.into(),
        };
        Site {
            documents: vec![
                document("dir/svc/main.wsdl", wsdl),
                document("common/a.wsdl", "<definitions/>"),
                document("v.xsd", "<schema/>"),
                document("dir/other/v.xsd", "<other/>"),
            ],
            resolve: |_, reference| reference.trim_start_matches("../").to_owned(),
            services: vec![ServiceInfo {
                name: "S".into(),
                documentation: Some("<b>&\"".into()),
                ports: vec![PortInfo {
                    name: "P".into(),
                    path: "/p&x".into(),
                    ..PortInfo::default()
                }],
            }],
        }
    }

    fn body(query: Option<&str>) -> (u16, String) {
        let response = Published::new(&site()).answer("http://here:1", "/p", query);
        let text = String::from_utf8(response.body.into_bytes().to_vec()).expect("UTF-8");
        (response.status.as_u16(), text)
    }

    #[test]
    fn the_wsdl_is_published_with_addresses_that_lead_back_here() {
        let (status, text) = body(Some("WSDL"));
        assert_eq!(status, 200);
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
    fn a_wsdl_with_a_doctype_is_published_with_addresses_that_lead_back_here() {
        let mut site = site();
        let wsdl = &mut site.documents[0].text;
        *wsdl = wsdl.replace(
            "<definitions",
            r#"<!DOCTYPE definitions [<!ENTITY port '<port name="P"><s:address location="http://old/"/></port>'>
<!ENTITY host "http://old">]><definitions"#,
        );
        *wsdl = wsdl.replace(
            r#"<port name="P"><s:address location="http://old/"/></port>"#,
            "&port;&port;",
        );
        *wsdl = wsdl.replace("</definitions>", r#"<service name="S"><port name="P"><s:address location="&host;/x"/></port></service></definitions>"#);
        // The entity's own text was replaced with the rest: put it back.
        *wsdl = wsdl.replace(
            "'&port;&port;'",
            r#"'<port name="P"><s:address location="http://old/"/></port>'"#,
        );
        let response = Published::new(&site).answer("http://here:1", "/p", Some("wsdl"));
        let text = String::from_utf8(response.body.into_bytes().to_vec()).expect("UTF-8");
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
        assert!(body(Some("xsd=v.xsd")).1.ends_with("<schema/>"));
        assert!(body(Some("xsd=3-v.xsd")).1.ends_with("<other/>"));
        assert_eq!(body(Some("xsd=../../etc/passwd")).0, 404);
        assert_eq!(body(Some("disco")).0, 404);
        let document = |location: &str| Document {
            location: location.into(),
            text: String::new(),
        };
        let documents = [
            document("http://jo:secret@host"),
            document("http://jo:secret@host/"),
        ];
        assert_eq!(names(&documents), ["host", "1-host"]);
    }

    #[test]
    fn the_page_escapes_what_the_wsdl_says() {
        let (status, text) = body(None);
        assert_eq!(status, 200);
        assert!(
            text.contains("&lt;b&gt;&amp;&quot;") && !text.contains("<b>&"),
            "{text}"
        );
    }
}
