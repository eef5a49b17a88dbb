//! The four declarations: `ELEMENT`, `ATTLIST`, `ENTITY`, `NOTATION` (XML 1.0 §3.2, §3.3, §4.2, §4.7).

use super::subset::{Cursor, Subset};
use super::{AttributeDeclaration, EntityContent, check_in_value};
use crate::error::{ErrorKind, Stop};
use crate::reader::reference::{Normalisation, Reference, normalise_line_ends, scan_reference};
use crate::reader::tag::NameSpan;

impl Subset<'_> {
    /// `<!ELEMENT name content>`; nothing of it is kept.
    pub(super) fn element(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        cursor.qname()?;
        cursor.need_space()?;
        if !cursor.eat("EMPTY") && !cursor.eat("ANY") {
            cursor.need("(", "EMPTY, ANY or '(' in the declaration of an element")?;
            cursor.space();
            if cursor.eat("#PCDATA") {
                mixed(cursor)?;
            } else {
                self.children(cursor)?;
            }
        }
        cursor.end()
    }

    /// A content model behind its first `(`: nested groups, each with one kind of separator.
    fn children(&self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        // The separator of each open group; 0 until one was met.
        let mut groups = vec![0u8];
        loop {
            cursor.space();
            if cursor.eat("(") {
                groups.push(0);
                if groups.len() > self.limits.depth {
                    return Err(Stop::limit("depth", self.limits.depth));
                }
                continue;
            }
            cursor.qname()?;
            occurrence(cursor);
            loop {
                cursor.space();
                match (cursor.byte(), groups.last_mut()) {
                    (Some(b')'), _) => {
                        cursor.at += 1;
                        occurrence(cursor);
                        groups.pop();
                        if groups.is_empty() {
                            return Ok(());
                        }
                    }
                    (Some(byte @ (b'|' | b',')), Some(separator))
                        if *separator == 0 || *separator == byte =>
                    {
                        *separator = byte;
                        cursor.at += 1;
                        break;
                    }
                    _ => {
                        return Err(
                            cursor.expected("')', or '|' or ',' throughout, in a content model")
                        );
                    }
                }
            }
        }
    }

    /// `<!ATTLIST element name type default …>`
    pub(super) fn attribute_list(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let element = cursor.qname()?;
        loop {
            let spaced = cursor.space();
            if cursor.eat(">") {
                return Ok(());
            }
            if !spaced {
                return Err(cursor.expected("white space or '>' in the declaration of attributes"));
            }
            let name = cursor.qname()?;
            cursor.need_space()?;
            let how = attribute_type(cursor)?;
            cursor.need_space()?;
            let value = self.default(cursor)?;
            self.add_attribute(element, name, how, value);
        }
    }

    /// `#REQUIRED`, `#IMPLIED`, or a literal, which must be an attribute value.
    fn default<'t>(&mut self, cursor: &mut Cursor<'t>) -> Result<Option<&'t str>, Stop> {
        if cursor.eat("#REQUIRED") || cursor.eat("#IMPLIED") {
            return Ok(None);
        }
        if cursor.eat("#FIXED") {
            cursor.need_space()?;
        }
        let (from, to) =
            cursor.literal("#REQUIRED, #IMPLIED, #FIXED or the default of an attribute")?;
        let text = &cursor.text[..to];
        let mut at = from;
        while let Some(found) = text[at..].find(['&', '<']) {
            at += found;
            if text[at..].starts_with('<') {
                return Err(Stop::expected(
                    "'&lt;' for '<' in the value of an attribute",
                    text,
                    at,
                ));
            }
            let (reference, length) = literal_reference(text, at)?;
            if let Reference::Entity(name) = reference {
                let mut budget = self.limits.entity_expansion;
                let checked = check_in_value(Some(&self.doctype), name, &mut budget, 0);
                if checked.map_err(|kind| Stop::fault(kind, at))?.is_none() {
                    return Err(Stop::limit(
                        "entity_expansion",
                        self.limits.entity_expansion,
                    ));
                }
            }
            at += length;
        }
        Ok(Some(&cursor.text[from..to]))
    }

    fn add_attribute(
        &mut self,
        element: &str,
        name: &str,
        how: Normalisation,
        value: Option<&str>,
    ) {
        let doctype = &mut self.doctype;
        if self.passed_over && !doctype.standalone {
            return;
        }
        let declared = doctype.elements.entry(element.to_owned()).or_default();
        // The first declaration of an attribute is the binding one (§3.3).
        if declared
            .iter()
            .any(|&at| doctype.attributes[at as usize].qname() == name)
        {
            return;
        }
        declared.push(doctype.attributes.len() as u32);
        let end = name.len() as u32;
        let colon = name.find(':').unwrap_or(0) as u32;
        let value_end = end + value.map_or(0, str::len) as u32;
        doctype.attributes.push(AttributeDeclaration {
            text: format!("{name}{}", value.unwrap_or_default()),
            name: NameSpan {
                start: 0,
                colon,
                end,
            },
            value: value.map(|_| (end, value_end)),
            how,
        });
    }

    /// `<!ENTITY name "value">`, `<!ENTITY name SYSTEM "…" NDATA notation>`, `<!ENTITY % name …>`
    pub(super) fn entity(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let is_parameter = cursor.eat("%");
        if is_parameter {
            cursor.need_space()?;
        }
        let name = cursor.ncname()?;
        cursor.need_space()?;
        let mut content = EntityContent::External;
        if cursor.external_id(false)? {
            let spaced = cursor.space();
            if !is_parameter && cursor.rest().starts_with("NDATA") {
                if !spaced {
                    return Err(cursor.expected("white space before NDATA"));
                }
                cursor.at += "NDATA".len();
                cursor.need_space()?;
                cursor.ncname()?;
                content = EntityContent::Unparsed;
            }
        } else {
            let (from, to) = cursor.literal("SYSTEM, PUBLIC or the value of an entity")?;
            content = EntityContent::Internal(entity_value(&cursor.text[..to], from)?);
        }
        cursor.end()?;
        match is_parameter {
            true => self.add_parameter(name, content),
            false => self.add_entity(name, content),
        }
        Ok(())
    }

    /// `<!NOTATION name SYSTEM "…">`; nothing of it is kept.
    pub(super) fn notation(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        cursor.ncname()?;
        cursor.need_space()?;
        if !cursor.external_id(true)? {
            return Err(cursor.expected("SYSTEM or PUBLIC"));
        }
        cursor.end()
    }
}

fn occurrence(cursor: &mut Cursor<'_>) {
    if matches!(cursor.byte(), Some(b'?' | b'*' | b'+')) {
        cursor.at += 1;
    }
}

/// `(#PCDATA)` or `(#PCDATA | a | b)*`, behind `#PCDATA`.
fn mixed(cursor: &mut Cursor<'_>) -> Result<(), Stop> {
    let mut names = false;
    loop {
        cursor.space();
        if cursor.eat(")") {
            let star = cursor.eat("*");
            return if star || !names {
                Ok(())
            } else {
                Err(cursor.expected("'*' after mixed content with elements"))
            };
        }
        cursor.need("|", "'|' or ')' in mixed content")?;
        cursor.space();
        cursor.qname()?;
        names = true;
    }
}

/// The type of an attribute: all that matters is whether its values are tokens.
fn attribute_type(cursor: &mut Cursor<'_>) -> Result<Normalisation, Stop> {
    if cursor.eat("CDATA") {
        return Ok(Normalisation::Cdata);
    }
    let is_notation = cursor.eat("NOTATION");
    if is_notation {
        cursor.need_space()?;
    } else if [
        "IDREFS", "IDREF", "ID", "ENTITIES", "ENTITY", "NMTOKENS", "NMTOKEN",
    ]
    .iter()
    .any(|name| cursor.eat(name))
    {
        return Ok(Normalisation::Tokens);
    }
    cursor.need("(", "the type of an attribute")?;
    loop {
        cursor.space();
        if is_notation {
            cursor.ncname()?;
        } else {
            cursor.nmtoken()?;
        }
        cursor.space();
        if cursor.eat(")") {
            return Ok(Normalisation::Tokens);
        }
        cursor.need("|", "'|' or ')' in the type of an attribute")?;
    }
}

/// A reference in a literal whose end is known: it cannot wait for more.
fn literal_reference(text: &str, at: usize) -> Result<(Reference<'_>, usize), Stop> {
    scan_reference(text, at).map_err(|stop| match stop {
        Stop::More => Stop::fault(
            ErrorKind::Syntax {
                expected: "';' of a reference",
                found: None,
            },
            at,
        ),
        fault => fault,
    })
}

/// The replacement text of an entity: character references resolved, those to entities left alone (§4.4, §4.5). In the
/// internal subset no declaration may hold a reference to a parameter entity (WFC PEs in Internal Subset).
fn entity_value(text: &str, from: usize) -> Result<String, Stop> {
    let mut value = String::with_capacity(text.len() - from);
    let (mut at, mut copied) = (from, from);
    while let Some(found) = text[at..].find(['&', '%']) {
        at += found;
        if text[at..].starts_with('%') {
            return Err(Stop::expected(
                "'&#37;' for '%' in the value of an entity",
                text,
                at,
            ));
        }
        let (reference, length) = literal_reference(text, at)?;
        if let (Reference::Char(c), true) = (reference, text[at..].starts_with("&#")) {
            normalise_line_ends(&text[copied..at], &mut value);
            value.push(c);
            copied = at + length;
        }
        at += length;
    }
    normalise_line_ends(&text[copied..], &mut value);
    Ok(value)
}
