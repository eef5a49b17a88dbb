//! The leaves of a message: what two messages must have in common to mean the same, however they are
//! spelled. Used to check answers, so it is read by another reader than ours.

use bsoap_datatypes::Datatype;
use bsoap_datatypes::datetime::Calendar;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// A leaf element's or attribute's local name (`@name` for an attribute) and lexical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) form: String,
}

/// Appends the leaves in the body of a message, in document order.
///
/// # Errors
/// Where the message is not XML.
pub(crate) fn collect(message: &[u8], leaves: &mut Vec<Leaf>) -> Result<(), String> {
    let mut reader = Reader::from_reader(message);
    let (mut in_body, mut is_leaf, mut form) = (false, false, String::new());
    loop {
        match reader
            .read_event()
            .map_err(|error| format!("not XML at byte {}: {error}", reader.error_position()))?
        {
            Event::Start(tag) => {
                is_leaf = in_body;
                form.clear();
                if in_body {
                    attributes(&tag, leaves)?;
                }
                in_body |= tag.local_name().as_ref() == "Body";
            }
            Event::Empty(tag) if in_body => {
                attributes(&tag, leaves)?;
                leaves.push(Leaf {
                    name: tag.local_name().as_ref().to_owned(),
                    form: String::new(),
                });
                is_leaf = false;
            }
            Event::Text(text) => form.push_str(&text),
            Event::CData(text) => form.push_str(&text),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => form.push(character),
                _ => form.push(predefined(&reference).ok_or_else(|| format!("&{};", &*reference))?),
            },
            Event::End(tag) => {
                let name = tag.local_name();
                if name.as_ref() == "Body" {
                    return Ok(());
                }
                if std::mem::take(&mut is_leaf) {
                    leaves.push(Leaf {
                        name: name.as_ref().to_owned(),
                        form: std::mem::take(&mut form),
                    });
                }
            }
            Event::Eof => return Err("the message has no end of its body".into()),
            _ => {}
        }
    }
}

fn attributes(tag: &BytesStart<'_>, leaves: &mut Vec<Leaf>) -> Result<(), String> {
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name: &str = attribute.key.as_ref();
        if !name.starts_with("xmlns") && !name.starts_with("xsi:") {
            leaves.push(Leaf {
                name: format!("@{}", attribute.key.local_name().as_ref()),
                form: attribute.value.to_string(),
            });
        }
    }
    Ok(())
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

/// Whether two lists of leaves mean the same.
///
/// # Errors
/// The first difference.
pub(crate) fn compare(found: &[Leaf], expected: &[Leaf]) -> Result<(), String> {
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        if found.name != expected.name || !same_value(&found.form, &expected.form) {
            return Err(format!(
                "{} = {:?} instead of {} = {:?} at leaf {place}",
                found.name, found.form, expected.name, expected.form
            ));
        }
    }
    if found.len() == expected.len() {
        Ok(())
    } else {
        Err(format!(
            "{} leaves instead of {}",
            found.len(),
            expected.len()
        ))
    }
}

/// Equal as text, as numbers, as truth values, or as points in time; white space around numbers and truth values means nothing.
fn same_value(found: &str, expected: &str) -> bool {
    let bits = |text: &str| text.parse().map(f64::to_bits);
    let instant = |text| Calendar::parse(Datatype::DateTime, text);
    let trimmed = found.trim();
    found == expected
        || matches!((trimmed, expected), ("1", "true") | ("0", "false"))
        || (trimmed == expected && matches!(expected, "true" | "false"))
        || matches!((bits(trimmed), bits(expected)), (Ok(found), Ok(expected)) if found == expected)
        || matches!((instant(found), instant(expected)), (Ok(found), Ok(expected)) if found == expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_the_same_for_any_prefix_and_spelling() {
        let read = |text: &str| {
            let mut leaves = Vec::new();
            collect(text.as_bytes(), &mut leaves).unwrap();
            leaves
        };
        let one = read(
            "<e:Envelope><e:Body><a x='1'><b>1.50</b><c>a&amp;b</c><d/></a></e:Body></e:Envelope>",
        );
        let two = read(
            "<Envelope> <Body><p:a x='1' xmlns:p='p'> <b>1.5e0  </b><c>a&#38;<![CDATA[b]]></c> <d></d></p:a></Body></Envelope>",
        );
        compare(&two, &one).unwrap();
        assert_eq!(one.len(), 4);
        assert!(compare(&two, &one[..3]).is_err());
    }

    #[test]
    fn a_point_in_time_may_be_written_in_another_zone() {
        let noon = "2022-05-27T12:00:00.5Z";
        assert!(same_value("2022-05-27T13:00:00.500+01:00", noon));
        assert!(!same_value("2022-05-27T13:00:00.500Z", noon));
    }

    #[test]
    fn what_is_not_xml_is_refused() {
        assert!(collect(b"<a><b></a>", &mut Vec::new()).is_err());
        assert!(collect(b"<Envelope><Body>", &mut Vec::new()).is_err());
    }
}
