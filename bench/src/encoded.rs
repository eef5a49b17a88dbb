//! The text of rpc/encoded messages, as others write them: `typed` and `shared` as Axis 1 does, `encoded` as gSOAP and .NET do.
//!
//! ```text
//! encoded   <values soapenc:arrayType="xsd:double[2]"> <item>0.5</item> …
//! typed     <values soapenc:arrayType="xsd:double[2]"> <item xsi:type="xsd:double">0.5</item> …
//! shared    <values soapenc:arrayType="b:Mesh[4]"> <item href="#v0"/> <item href="#v1"/> <item href="#v0"/> <item href="#v1"/> </values>
//!           … <multiRef id="v0" xsi:type="b:Mesh">…</multiRef> <multiRef id="v1" …
//! ```

use crate::order::TAIL;
use crate::shape::Shape;

/// All up to the wrapper.
const HEAD: &str = concat!(
    r#"<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/" "#,
    r#"xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:b="urn:bsoap:bench"><soap:Body>"#,
);
/// The wrapper's attribute.
const STYLE: &str = r#"soap:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/""#;

/// How many different values there are among so many references: each is shared by two.
pub(crate) fn distinct(references: usize) -> usize {
    references.div_ceil(2)
}

/// The message whose items have these contents. Those of `shared` come again after [`distinct`] of them.
pub(crate) fn message(shape: Shape, forms: &[String]) -> Vec<u8> {
    let (name, count) = (shape.body_element(), forms.len());
    let mut text = format!("{HEAD}<b:{name} {STYLE}>");
    if shape == Shape::Shared {
        let values = distinct(count);
        text.push_str(&format!(
            r#"<values xsi:type="soapenc:Array" soapenc:arrayType="b:Mesh[{count}]">"#
        ));
        for item in 0..count {
            text.push_str(&format!("<item href=\"#v{}\"/>", item % values));
        }
        text.push_str(&format!("</values></b:{name}>"));
        for (id, form) in forms[..values].iter().enumerate() {
            text.push_str(&format!(
                r#"<multiRef id="v{id}" {STYLE} xsi:type="b:Mesh">{form}</multiRef>"#
            ));
        }
    } else {
        text.push_str(&format!(
            r#"<values xsi:type="soapenc:Array" soapenc:arrayType="xsd:double[{count}]">"#
        ));
        let tag = match shape {
            Shape::Typed => r#"<item xsi:type="xsd:double">"#,
            _ => "<item>",
        };
        for form in forms {
            text.push_str(tag);
            text.push_str(form);
            text.push_str("</item>");
        }
        text.push_str(&format!("</values></b:{name}>"));
    }
    text.push_str(TAIL);
    text.into_bytes()
}
