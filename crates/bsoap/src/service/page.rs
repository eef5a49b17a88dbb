//! The HTML page about a service.

use std::fmt::Write;

/// The facts about a service that the page shows.
#[derive(Clone, Debug, Default)]
pub(super) struct ServiceInfo {
    pub(super) name: String,
    pub(super) documentation: Option<String>,
    pub(super) ports: Vec<PortInfo>,
}

/// The facts about a port that the page shows.
#[derive(Clone, Debug, Default)]
pub(super) struct PortInfo {
    pub(super) name: String,
    /// The path of the port's URL.
    pub(super) path: String,
    /// The name of the protocol, such as `SOAP 1.1`.
    pub(super) protocol: String,
    /// The operations: the signature of each and its documentation, if any.
    pub(super) operations: Vec<(String, Option<String>)>,
}

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>SOAP services</title>\n\
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em}\
code{font-size:.95em}dt{margin-top:.5em}</style></head><body>\n";

pub(super) fn html<'s>(services: impl IntoIterator<Item = &'s ServiceInfo>, base: &str) -> String {
    let mut page = HEAD.to_owned();
    for service in services {
        let _ = writeln!(page, "<h1>{}</h1>", escape(&service.name));
        paragraph(&mut page, service.documentation.as_deref());
        for port in &service.ports {
            let address = escape(&format!("{base}{}", port.path));
            let _ = writeln!(
                page,
                "<h2>{} ({})</h2>",
                escape(&port.name),
                escape(&port.protocol)
            );
            let _ = writeln!(
                page,
                "<p>Send messages to <code>{address}</code>; <a href=\"{address}?wsdl\">WSDL</a></p>\n<dl>"
            );
            for (signature, documentation) in &port.operations {
                let _ = writeln!(page, "<dt><code>{}</code></dt>", escape(signature));
                if let Some(documentation) = documentation {
                    let _ = writeln!(page, "<dd>{}</dd>", escape(documentation));
                }
            }
            page.push_str("</dl>\n");
        }
    }
    page.push_str("</body></html>\n");
    page
}

fn paragraph(page: &mut String, text: Option<&str>) {
    if let Some(text) = text {
        let _ = writeln!(page, "<p>{}</p>", escape(text));
    }
}

/// Escapes text for HTML and XML content, and for attribute values in either kind of quotes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_escapes_the_texts_of_the_wsdl() {
        let service = ServiceInfo {
            name: "S".into(),
            documentation: Some("<b>&\"".into()),
            ports: Vec::new(),
        };
        let text = html(&[service], "http://here:1");
        assert!(
            text.contains("&lt;b&gt;&amp;&quot;") && !text.contains("<b>&"),
            "{text}"
        );
    }
}
