//! The page for people who open a service's address in a browser.

use std::fmt::Write;

use super::site::ServiceInfo;

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>SOAP services</title>\n\
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em}\
code{font-size:.95em}dt{margin-top:.5em}</style></head><body>\n";

pub(super) fn html(services: &[ServiceInfo], base: &str) -> String {
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

/// Text, safe in HTML and XML content and in attribute values of either quote.
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
