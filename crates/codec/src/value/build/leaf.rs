//! Turns simple values into slots.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_datatypes::qname::NoNamespaces;
use bsoap_datatypes::{Datatype, LexicalError, Variety, binary, boolean, double, trim};

use crate::attachment::{Attachment, reference};
use crate::decode::{self, Validation};
use crate::expanded;
use crate::plan::{Content, ElementId, Leaf, LeafId, LeafKind};
use crate::record::check::check_leaf;
use crate::value::Value;

use super::{BuildErrorKind, Builder, Result, error};

impl From<LexicalError> for BuildErrorKind {
    fn from(problem: LexicalError) -> Self {
        Self::Lexical(problem.to_string())
    }
}

impl Builder<'_> {
    /// Appends the slots of a simple value.
    #[inline]
    pub(super) fn leaf(&mut self, id: LeafId, value: &Value) -> Result<()> {
        let leaf = self.plan.leaf(id);
        if self.options.validation == Validation::Full && leaf.has_facets {
            check_facets(leaf, value)?;
        }
        let at = self.record.slots.len();
        match leaf.kind {
            LeafKind::List(item) => self.list(item, value)?,
            _ => self.atom(leaf, value)?,
        }
        match leaf.is_listed {
            true => check_leaf(&self.record, id, at)
                .map_err(|wrong| BuildErrorKind::Lexical(wrong.problem).into()),
            false => Ok(()),
        }
    }

    fn list(&mut self, item: LeafId, value: &Value) -> Result<()> {
        let leaf = self.plan.leaf(item);
        let count_slot = self.record.slots.len();
        self.record.push(0);
        match value {
            Value::Text(text) => {
                for item in text
                    .split([' ', '\t', '\n', '\r'])
                    .filter(|item| !item.is_empty())
                {
                    self.atom(leaf, &Value::from(item))?;
                }
            }
            values => values
                .items()
                .try_for_each(|value| self.atom(leaf, &value))?,
        }
        let items: u64 = match leaf.kind {
            LeafKind::List(_) => return Err(BuildErrorKind::mismatch("a list", value).into()),
            _ => (self.record.slots.len() - count_slot - 1) as u64,
        };
        self.record.slots[count_slot] = items;
        Ok(())
    }

    /// Appends a value that has one slot.
    fn atom(&mut self, leaf: &Leaf, value: &Value) -> Result<()> {
        match leaf.kind {
            LeafKind::Text => return self.text(leaf, value),
            LeafKind::Base64 | LeafKind::Hex => return self.octets(leaf, value),
            LeafKind::Name => return self.name(leaf, value),
            _ => {}
        }
        let slot = number(leaf, value)?;
        self.record.push(slot);
        Ok(())
    }

    fn text(&mut self, leaf: &Leaf, value: &Value) -> Result<()> {
        if let Value::Text(text) = value
            && leaf.is_verbatim
        {
            return Ok(self.record.push_octets(text.as_bytes())?);
        }
        if let Value::Attachment(attachment) = value {
            return self.attachment_uri(leaf, attachment);
        }
        let text = text_of(value)
            .ok_or_else(|| BuildErrorKind::mismatch(error::leaf_label(leaf), value))?;
        let processed = leaf.simple.white_space().apply(&text);
        match leaf.simple.variety() {
            Variety::Atomic(datatype) => {
                datatype.check(&processed).map_err(BuildErrorKind::from)?;
            }
            _ => leaf
                .simple
                .check(&text, &NoNamespaces)
                .map_err(|problem| BuildErrorKind::Lexical(problem.to_string()))?,
        }
        Ok(self.record.push_octets(processed.as_bytes())?)
    }

    /// Appends the URI of an attachment, which an element refers to by its address (`swaRef` of the WS-I Attachments Profile).
    #[cold]
    fn attachment_uri(&mut self, leaf: &Leaf, attachment: &Attachment) -> Result<()> {
        if leaf.simple.datatype() != Some(Datatype::AnyUri) {
            let value = Value::Attachment(attachment.clone());
            return Err(BuildErrorKind::mismatch(error::leaf_label(leaf), &value).into());
        }
        let Some(id) = attachment.content_id() else {
            let problem = "an attachment that an xs:anyURI refers to needs a content id";
            return Err(BuildErrorKind::Lexical(problem.to_owned()).into());
        };
        self.record.attach(attachment);
        Ok(self.record.push_octets(format!("cid:{id}").as_bytes())?)
    }

    fn octets(&mut self, leaf: &Leaf, value: &Value) -> Result<()> {
        let text = match value {
            Value::Bytes(octets) | Value::Hex(octets) => {
                return Ok(self.record.push_octets(octets)?);
            }
            Value::Attachment(attachment) if leaf.kind == LeafKind::Base64 => {
                let index = self.record.attach(attachment);
                return Ok(self.record.push_octets(&reference::octets(index))?);
            }
            Value::Text(text) => text.as_bytes(),
            other => return Err(BuildErrorKind::mismatch(error::leaf_label(leaf), other).into()),
        };
        let mut octets = Vec::new();
        let (parsed, form) = match leaf.kind {
            LeafKind::Hex => (
                binary::parse_hex(text.trim_ascii(), &mut octets),
                "hexadecimal digits",
            ),
            _ => (binary::parse_base64(text, &mut octets), "base64 text"),
        };
        parsed.map_err(|problem| {
            BuildErrorKind::Lexical(format!("{problem} (this type is given as {form})"))
        })?;
        Ok(self.record.push_octets(&octets)?)
    }

    fn name(&mut self, leaf: &Leaf, value: &Value) -> Result<()> {
        let text = value
            .as_str()
            .ok_or_else(|| BuildErrorKind::mismatch("{namespace}local", value))?;
        let text = trim(text);
        let (namespace, local) = expanded::split(text).unwrap_or(("", text));
        if !bsoap_xml::is_ncname(local) {
            let datatype = leaf.simple.datatype().unwrap_or(Datatype::QName);
            return Err(BuildErrorKind::from(LexicalError::new(datatype, text)).into());
        }
        let name = if namespace.is_empty() {
            Cow::Borrowed(local)
        } else {
            Cow::Owned(format!("{{{namespace}}}{local}"))
        };
        Ok(self.record.push_octets(name.as_bytes())?)
    }

    /// Appends an array of numbers at once. Returns `false`, without a change, if the element is not just a number of that
    /// kind.
    pub(super) fn numbers(&mut self, id: ElementId, values: &Value) -> Result<bool> {
        let element = self.plan.element(id);
        let Content::Simple(leaf) = self.plan.ty(element.ty).content else {
            return Ok(false);
        };
        let leaf = self.plan.leaf(leaf);
        if !element.is_scalar
            || element.has_state
            || leaf.is_listed
            || leaf.has_facets && self.options.validation == Validation::Full
        {
            return Ok(false);
        }
        let slots = &mut self.record.slots;
        match (leaf.kind, values) {
            (LeafKind::Double, Value::Doubles(values)) => {
                slots.extend(values.iter().map(|value| value.to_bits()));
            }
            (LeafKind::Double, Value::Ints(values)) => {
                slots.extend(values.iter().map(|&value| (value as f64).to_bits()));
            }
            (LeafKind::Float, Value::Floats(values)) => {
                slots.extend(values.iter().map(|value| u64::from(value.to_bits())));
            }
            (LeafKind::Signed { min, max }, Value::Ints(values))
                if values.iter().all(|value| (min..=max).contains(value)) =>
            {
                slots.extend(values.iter().map(|&value| value as u64));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

#[cold]
fn no_number(leaf: &Leaf, value: &Value) -> BuildErrorKind {
    let datatype = leaf.simple.datatype().unwrap_or(Datatype::AnySimpleType);
    match text_of(value) {
        Some(text) => LexicalError::new(datatype, error::bounded(&text)).into(),
        None => BuildErrorKind::mismatch(error::leaf_label(leaf), value),
    }
}

/// The slot of a number or a boolean.
#[inline]
fn number(leaf: &Leaf, value: &Value) -> Result<u64> {
    let slot = match (leaf.kind, value) {
        (kind, Value::Text(text)) => decode::scalar(kind, trim(text).as_bytes(), leaf).ok(),
        (LeafKind::Boolean, Value::Bool(value)) => Some(u64::from(*value)),
        (LeafKind::Boolean, Value::Int(value @ 0..=1)) => Some(*value as u64),
        (LeafKind::Signed { min, max }, Value::Int(value)) if (min..=max).contains(value) => {
            Some(*value as u64)
        }
        (LeafKind::Signed { min, max }, _) => integral(value)
            .filter(|value| (min.into()..=max.into()).contains(value))
            .map(|value| value as u64),
        (LeafKind::Unsigned { max }, _) => integral(value)
            .filter(|value| (0..=max.into()).contains(value))
            .map(|value| value as u64),
        (LeafKind::Float, Value::Float(value)) => Some(u64::from(value.to_bits())),
        (LeafKind::Float, _) => value
            .as_f64()
            .map(|value| u64::from((value as f32).to_bits())),
        (LeafKind::Double, _) => value.as_f64().map(f64::to_bits),
        _ => None,
    };
    slot.ok_or_else(|| no_number(leaf, value).into())
}

/// The integer that a number equals; `None` if it is not integral.
fn integral(value: &Value) -> Option<i128> {
    match value {
        Value::Int(value) => Some((*value).into()),
        Value::UInt(value) => Some((*value).into()),
        Value::Double(value) if value.fract() == 0.0 && value.abs() < 2f64.powi(64) => {
            Some(*value as i128)
        }
        Value::Float(value) => integral(&Value::Double((*value).into())),
        _ => None,
    }
}

/// The lexical form of a single value; `None` for values that have none, such as arrays.
pub(crate) fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Bool(value) => Cow::Borrowed(boolean::text(*value)),
        Value::Int(value) => Cow::Owned(value.to_string()),
        Value::UInt(value) => Cow::Owned(value.to_string()),
        Value::Double(value) if value.is_finite() => Cow::Owned(value.to_string()), // no exponent: also a decimal
        Value::Float(value) if value.is_finite() => Cow::Owned(value.to_string()),
        Value::Double(value) => Cow::Owned(special(*value)),
        Value::Float(value) => Cow::Owned(special((*value).into())),
        Value::Nil
        | Value::Bytes(_)
        | Value::Hex(_)
        | Value::Attachment(_)
        | Value::Array(_)
        | Value::Doubles(_)
        | Value::Floats(_)
        | Value::Ints(_)
        | Value::Object(_) => {
            return None;
        }
    })
}

fn special(value: f64) -> String {
    let mut out = Vec::new();
    double::write(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Checks the facets of a value by its text.
fn check_facets(leaf: &Leaf, value: &Value) -> Result<()> {
    let mut octets = Vec::new();
    let text = match (leaf.kind, value) {
        (LeafKind::Base64, Value::Bytes(bytes) | Value::Hex(bytes)) => {
            binary::write_base64(bytes, &mut octets);
            String::from_utf8_lossy(&octets)
        }
        (LeafKind::Hex, Value::Bytes(bytes) | Value::Hex(bytes)) => {
            binary::write_hex(bytes, &mut octets);
            String::from_utf8_lossy(&octets)
        }
        (_, Value::Attachment(_)) => return Ok(()), // its octets are not looked at
        (LeafKind::Name, _) => return Ok(()),       // not given in its lexical form
        (_, value) => {
            let texts = value
                .items()
                .map(|item| text_of(&item).map(Cow::into_owned));
            match texts.collect::<Option<Vec<_>>>() {
                Some(texts) => Cow::Owned(texts.join(" ")),
                None => return Ok(()), // the wrong kind of value, which is said elsewhere
            }
        }
    };
    leaf.simple
        .check(&text, &NoNamespaces)
        .map_err(|problem| BuildErrorKind::Lexical(problem.to_string()).into())
}

/// What a text with XML must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wellformed {
    /// One element.
    OneElement,
    /// The content of an element.
    Content,
}

/// Checks that XML given as text is well-formed and declares the prefixes that it uses. Returns the namespace of the first
/// element.
pub(super) fn check_fragment(xml: &str, what: Wellformed) -> Result<String> {
    let wrapped = match what {
        Wellformed::OneElement => Cow::Borrowed(xml),
        Wellformed::Content => Cow::Owned(format!("<a>{xml}</a>")),
    };
    // A fragment is not a document: nothing may precede its element, not even an XML declaration.
    let begins =
        wrapped.starts_with('<') && !wrapped.starts_with("<?") && !wrapped.starts_with("<!");
    let checked = if begins {
        namespace_in(&wrapped)
    } else {
        Err("the text does not begin with a start tag".to_owned())
    };
    checked.map_err(|problem| BuildErrorKind::Xml(format!("not well-formed: {problem}")).into())
}

/// The namespace of a document's root element.
fn namespace_in(xml: &str) -> std::result::Result<String, String> {
    let mut reader = bsoap_xml::Reader::new(bsoap_xml::Options::default(), Arc::default());
    reader
        .feed(xml.as_bytes())
        .and_then(|()| reader.finish())
        .map_err(|problem| problem.to_string())?;
    let mut namespace = None;
    loop {
        match reader.next().map_err(|problem| problem.to_string())? {
            Some(bsoap_xml::Event::Start(tag)) if namespace.is_none() => {
                namespace = Some(tag.namespace().to_owned());
            }
            Some(bsoap_xml::Event::EndOfDocument) | None => {
                return Ok(namespace.unwrap_or_default());
            }
            Some(_) => {}
        }
    }
}
