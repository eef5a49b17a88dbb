//! Elements of a message as XML of their own.

use std::sync::Arc;

use bsoap_xml::{Event, Options, Reader, Tag, Vocabulary};

/// The text of a start tag. If `alone` is true, it includes the namespace declarations of the elements around it, so that
/// the element can be parsed on its own.
pub(crate) fn tag_with_bindings(tag: &Tag<'_>, alone: bool) -> String {
    if !alone {
        return tag.raw.to_owned();
    }
    let name_end = 1 + tag.qname().len();
    let own: Vec<&str> = tag.declarations().map(|(prefix, _)| prefix).collect();
    let mut text = tag.raw[..name_end].to_owned();
    for (prefix, uri) in tag.bindings().filter(|(prefix, _)| !own.contains(prefix)) {
        let (colon, mut escaped) = (if prefix.is_empty() { "" } else { ":" }, Vec::new());
        if bsoap_xml::escape_attribute(uri, &mut escaped).is_ok() {
            text.push_str(&format!(
                " xmlns{colon}{prefix}=\"{}\"",
                String::from_utf8_lossy(&escaped)
            ));
        }
    }
    text.push_str(&tag.raw[name_end..]);
    text
}

/// True if a text is one well-formed element, which declares all prefixes that it uses.
pub(crate) fn is_element(xml: &str) -> bool {
    let mut reader = Reader::new(Options::default(), Arc::new(Vocabulary::default()));
    if reader
        .feed(xml.as_bytes())
        .and_then(|()| reader.finish())
        .is_err()
        || !xml.starts_with('<')
        || xml.starts_with("<?")
    {
        return false;
    }
    loop {
        match reader.next() {
            Ok(Some(Event::EndOfDocument)) => return true,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
    }
}

/// A text that was read from XML, as the content of an element or an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    // What was read from XML can be written to XML.
    let _ = bsoap_xml::escape_attribute(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}
