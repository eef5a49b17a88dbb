//! Reading `<!DOCTYPE … [ … ]>`: what is allowed between declarations (XML 1.0 §2.8).

use super::{Doctype, Entity, EntityContent};
use crate::chars::{ncname_length, nmtoken_length, space_length};
use crate::error::{ErrorKind, Stop};
use crate::options::Limits;
use crate::reader::prolog::{scan_comment, scan_instruction};
use crate::reader::reference::{ENTITY_DEPTH, check_chars};
use std::collections::HashMap;
use std::sync::Arc;

/// A place in a text, and the tokens that declarations are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    #[cold]
    pub(super) fn expected(&self, expected: &'static str) -> Stop {
        Stop::expected(expected, self.text, self.at)
    }

    /// Goes past white space; whether there was any.
    pub(super) fn space(&mut self) -> bool {
        let length = space_length(self.rest().as_bytes());
        self.at += length;
        length > 0
    }

    pub(super) fn need_space(&mut self) -> Result<(), Stop> {
        if self.space() {
            Ok(())
        } else {
            Err(self.expected("white space in a declaration"))
        }
    }

    /// Goes past `token` if it comes next.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let comes = self.rest().starts_with(token);
        self.at += if comes { token.len() } else { 0 };
        comes
    }

    pub(super) fn need(&mut self, token: &str, expected: &'static str) -> Result<(), Stop> {
        if self.eat(token) {
            return Ok(());
        }
        let rest = self.rest();
        let shared = rest
            .bytes()
            .zip(token.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        Err(Stop::expected(expected, self.text, self.at + shared))
    }

    /// White space and the `>` that ends a declaration.
    pub(super) fn end(&mut self) -> Result<(), Stop> {
        self.space();
        self.need(">", "'>' at the end of a declaration")
    }

    /// A name without colon: of an entity or a notation.
    pub(super) fn ncname(&mut self) -> Result<&'a str, Stop> {
        let length = ncname_length(self.rest());
        if length == 0 {
            return Err(self.expected("a name in a declaration"));
        }
        self.at += length;
        Ok(&self.text[self.at - length..self.at])
    }

    /// A qualified name: of an element or an attribute.
    pub(super) fn qname(&mut self) -> Result<&'a str, Stop> {
        let start = self.at;
        self.ncname()?;
        if self.eat(":") {
            self.ncname()?;
        }
        Ok(&self.text[start..self.at])
    }

    pub(super) fn nmtoken(&mut self) -> Result<(), Stop> {
        let length = nmtoken_length(self.rest());
        self.at += length;
        if length == 0 {
            Err(self.expected("a name token in a declaration"))
        } else {
            Ok(())
        }
    }

    /// A literal between quotes: where its inside begins and ends.
    pub(super) fn literal(&mut self, expected: &'static str) -> Result<(usize, usize), Stop> {
        let quote = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => quote as char,
            _ => return Err(self.expected(expected)),
        };
        let from = self.at + 1;
        let length = self.text[from..].find(quote).ok_or(Stop::More)?;
        check_chars(self.text, from, from + length)?;
        self.at = from + length + 1;
        Ok((from, from + length))
    }

    /// `SYSTEM "…"` or `PUBLIC "…" "…"`, if it comes next; of a notation the second literal may be left out.
    pub(super) fn external_id(&mut self, in_notation: bool) -> Result<bool, Stop> {
        if self.eat("SYSTEM") {
            self.need_space()?;
            self.literal("a system identifier")?;
            return Ok(true);
        }
        if !self.eat("PUBLIC") {
            return Ok(false);
        }
        self.need_space()?;
        let (from, to) = self.literal("a public identifier")?;
        let is_public = |c: char| {
            matches!(c, ' ' | '\r' | '\n')
                || c.is_ascii_alphanumeric()
                || "-'()+,./:=?;!*#@$_%".contains(c)
        };
        if let Some(wrong) = self.text[from..to].find(|c| !is_public(c)) {
            return Err(Stop::expected(
                "a character of public identifiers",
                self.text,
                from + wrong,
            ));
        }
        let spaced = self.space();
        let follows = matches!(self.byte(), Some(b'"' | b'\''));
        if !follows && in_notation {
            return Ok(true);
        }
        if !spaced {
            return Err(self.expected("white space behind a public identifier"));
        }
        self.literal("a system identifier")?;
        Ok(true)
    }
}

/// A parameter entity.
#[derive(Clone, Debug)]
enum Parameter {
    Internal(Arc<str>),
    External,
}

/// A parameter entity whose replacement text is being read.
struct EntityLevel {
    name: String,
    text: Arc<str>,
    at: usize,
}

/// A document type being read.
pub(super) struct Subset<'a> {
    pub(super) doctype: Doctype,
    pub(super) limits: &'a Limits,
    parameters: HashMap<String, Parameter>,
    levels: Vec<EntityLevel>,
    expanded: usize,
    /// Whether something external was passed over, so that what follows must not be used (XML 1.0 §5.1).
    pub(super) passed_over: bool,
}

impl Doctype {
    /// Reads the document type declaration that `input` begins with; also its length.
    pub(crate) fn read(
        input: &str,
        standalone: bool,
        limits: &Limits,
    ) -> Result<(Doctype, usize), Stop> {
        let mut subset = Subset {
            doctype: Doctype {
                standalone,
                ..Doctype::default()
            },
            limits,
            parameters: HashMap::new(),
            levels: Vec::new(),
            expanded: 0,
            passed_over: false,
        };
        let mut cursor = Cursor {
            text: input,
            at: "<!DOCTYPE".len(),
        };
        cursor.need_space()?;
        cursor.qname()?;
        if cursor.space() && cursor.external_id(false)? {
            subset.doctype.may_be_elsewhere = true;
            cursor.space();
        }
        if cursor.eat("[") {
            subset.read(&mut cursor)?;
        }
        cursor.end()?;
        Ok((subset.doctype, cursor.at))
    }
}

impl Subset<'_> {
    /// Reads declarations up to and including the `]` that ends the internal subset. The texts of parameter entities are read
    /// on the way.
    fn read(&mut self, main: &mut Cursor<'_>) -> Result<(), Stop> {
        loop {
            let Some(level) = self.levels.last() else {
                main.space();
                if main.eat("]") {
                    return Ok(());
                }
                self.between(main)?;
                continue;
            };
            // Inside a parameter entity: an error is reported at the outermost reference, and its text must hold
            // whole declarations.
            let text = level.text.clone();
            let mut cursor = Cursor {
                text: &text,
                at: level.at,
            };
            let depth = self.levels.len();
            cursor.space();
            if cursor.at == text.len() {
                self.levels.pop();
                continue;
            }
            self.between(&mut cursor)
                .map_err(|stop| self.in_parameter(stop, main.at))?;
            self.levels[depth - 1].at = cursor.at;
        }
    }

    fn in_parameter(&self, stop: Stop, at: usize) -> Stop {
        let name = self.levels.last().map_or("", |level| &level.name);
        match stop {
            Stop::More => Stop::fault(
                ErrorKind::Entity {
                    name: name.to_owned(),
                    rule: "its text must be a sequence of whole declarations",
                },
                at,
            ),
            Stop::Fault(mut fault) => {
                fault.at = at;
                Stop::Fault(fault)
            }
        }
    }

    /// A declaration, a comment, a processing instruction, or a reference to a parameter entity.
    fn between(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let rest = cursor.rest();
        let at = cursor.at;
        if rest.starts_with('%') {
            return self.parameter_reference(cursor);
        }
        if rest.starts_with("<!--") {
            cursor.at += scan_comment(rest, &mut String::new())
                .map_err(|stop| stop.shifted(at))?
                .length;
            return Ok(());
        }
        if rest.starts_with("<?") {
            cursor.at += scan_instruction(rest, &mut String::new())
                .map_err(|stop| stop.shifted(at))?
                .0
                .length;
            return Ok(());
        }
        cursor.need("<!", "a declaration, a comment or ']'")?;
        for (keyword, read) in [
            (
                "ELEMENT",
                Subset::element as fn(&mut Self, &mut Cursor<'_>) -> Result<(), Stop>,
            ),
            ("ATTLIST", Subset::attribute_list),
            ("ENTITY", Subset::entity),
            ("NOTATION", Subset::notation),
        ] {
            if cursor.eat(keyword) {
                cursor.need_space()?;
                return read(self, cursor);
            }
            if keyword.starts_with(cursor.rest()) {
                return Err(Stop::More);
            }
        }
        Err(cursor.expected("ELEMENT, ATTLIST, ENTITY, NOTATION or '--' after '<!'"))
    }

    fn parameter_reference(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let at = cursor.at;
        cursor.at += 1;
        let name = cursor.ncname()?;
        cursor.need(";", "';' after the name of a parameter entity")?;
        self.doctype.may_be_elsewhere = true;
        let wrong = |rule| {
            Stop::fault(
                ErrorKind::Entity {
                    name: name.to_owned(),
                    rule,
                },
                at,
            )
        };
        match self.parameters.get(name) {
            None if self.doctype.standalone => Err(Stop::fault(
                ErrorKind::UndeclaredEntity(name.to_owned()),
                at,
            )),
            None | Some(Parameter::External) => {
                self.passed_over = true;
                Ok(())
            }
            Some(Parameter::Internal(text)) => {
                if self.levels.iter().any(|level| level.name == name) {
                    return Err(wrong("the entity refers to itself"));
                }
                if self.levels.len() >= ENTITY_DEPTH {
                    return Err(wrong("entity references nest too deep"));
                }
                self.expanded += text.len();
                if self.expanded > self.limits.entity_expansion {
                    return Err(Stop::limit(
                        "entity_expansion",
                        self.limits.entity_expansion,
                    ));
                }
                let text = text.clone();
                // A reference at the very end leaves nothing to come back to but that end.
                if let Some(level) = self.levels.last_mut() {
                    level.at = cursor.at;
                }
                self.levels.push(EntityLevel {
                    name: name.to_owned(),
                    text,
                    at: 0,
                });
                Ok(())
            }
        }
    }

    /// Keeps a general entity. The first declaration of a name is the binding one (XML 1.0 §4.2).
    pub(super) fn add_entity(&mut self, name: &str, content: EntityContent) {
        let standalone = self.doctype.standalone;
        if (self.passed_over && !standalone) || self.doctype.entity_ids.contains_key(name) {
            return;
        }
        let in_parameter_entity = !self.levels.is_empty();
        let id = self.doctype.entities.len() as u32;
        self.doctype.entity_ids.insert(name.to_owned(), id);
        self.doctype.entities.push(Entity {
            name: name.to_owned(),
            content,
            in_parameter_entity,
        });
    }

    /// Keeps a parameter entity.
    pub(super) fn add_parameter(&mut self, name: &str, content: EntityContent) {
        let parameter = match content {
            EntityContent::Internal(text) => Parameter::Internal(text.into()),
            EntityContent::External | EntityContent::Unparsed => Parameter::External,
        };
        self.parameters.entry(name.to_owned()).or_insert(parameter);
    }
}
