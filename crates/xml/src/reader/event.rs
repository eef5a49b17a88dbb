//! The events that a reader returns.

use super::doctype::Doctype;
use super::reference::{Normalisation, normalise_value};
use super::scopes::{Namespace, ScopeId, Scopes, UriId};
use super::tag::{AttributeSpan, SpanSource, TagSpans};
use crate::names::{NameId, Vocabulary};
use std::borrow::Cow;

/// A part of a document.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// `<?xml version="1.0"?>`
    Declaration(Declaration<'e>),
    /// A start tag. One of an empty element (`<a/>`) too: its [`End`](Event::End) follows.
    Start(Tag<'e>),
    /// An end tag, or the end of an empty element.
    End(EndTag<'e>),
    /// Character data. What belongs together may come in pieces: a CDATA section is one of its own, and so may be what
    /// in one feed.
    Text(Text<'e>),
    /// A comment, without its delimiters.
    Comment(&'e str),
    /// A processing instruction.
    ProcessingInstruction {
        /// Its target.
        target: &'e str,
        /// What follows the white space behind the target.
        data: &'e str,
    },
    /// All has been read.
    EndOfDocument,
}

/// The XML declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declaration<'e> {
    /// The version, `1.` and digits.
    pub version: &'e str,
    /// The encoding's name, if declared.
    pub encoding: Option<&'e str>,
    /// The standalone declaration.
    pub standalone: Option<bool>,
}

/// A start tag.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Tag<'e> {
    /// The expanded name, if the vocabulary has it.
    pub name: Option<NameId>,
    /// The bindings inside the element, its own declarations among them.
    pub scope: ScopeId,
    /// Whether it is the tag of an empty element.
    pub is_empty: bool,
    /// Where it begins in the document.
    pub offset: u64,
    /// Its source text.
    pub raw: &'e str,
    pub(crate) spans: &'e TagSpans,
    pub(crate) vocabulary: &'e Vocabulary,
    pub(crate) scopes: &'e Scopes,
    pub(crate) doctype: Option<&'e Doctype>,
}

impl<'e> Tag<'e> {
    /// The name as spelled, `prefix:local` or `local`.
    #[inline]
    pub fn qname(&self) -> &'e str {
        &self.raw[1..self.spans.name.end as usize]
    }

    /// The prefix; empty for none.
    #[inline]
    pub fn prefix(&self) -> &'e str {
        self.spans.name.prefix(self.raw)
    }

    /// The local name.
    #[inline]
    pub fn local(&self) -> &'e str {
        self.spans.name.local(self.raw)
    }

    /// The namespace name; empty for no namespace.
    pub fn namespace(&self) -> &'e str {
        self.scopes.uri(self.spans.uri)
    }

    /// The attributes in document order, without namespace declarations; behind them those that a document type declaration
    /// adds.
    #[inline]
    pub fn attributes(&self) -> Attributes<'e> {
        Attributes {
            tag: *self,
            spans: self.spans.attributes.iter(),
        }
    }

    /// The attribute of a name of the vocabulary.
    pub fn attribute(&self, name: NameId) -> Option<Attribute<'e>> {
        self.attributes()
            .find(|attribute| attribute.name == Some(name))
    }

    /// The namespaces declared here: prefix (empty for the default namespace) and namespace name.
    pub fn declarations(&self) -> impl Iterator<Item = (&'e str, &'e str)> + use<'e> {
        self.spans
            .declares
            .then(|| self.scopes.declarations(self.scope))
            .into_iter()
            .flatten()
    }

    /// The bindings inside the element, its own and those of the elements around it: what it needs as a document of its own.
    pub fn bindings(&self) -> impl Iterator<Item = (&'e str, &'e str)> + use<'e> {
        self.scopes.bindings(self.scope)
    }

    /// What a prefix is bound to here; the empty prefix is the default namespace. For QNames in content.
    pub fn resolve(&self, prefix: &str) -> Option<Namespace<'e>> {
        self.scopes.resolve(self.scope, prefix)
    }

    /// The vocabulary the names were looked up in.
    pub fn vocabulary(&self) -> &'e Vocabulary {
        self.vocabulary
    }
}

impl std::fmt::Debug for Tag<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tag")
            .field("raw", &self.raw)
            .field("namespace", &self.namespace())
            .field("offset", &self.offset)
            .finish()
    }
}

/// The attributes of a [`Tag`].
#[derive(Clone, Debug)]
pub struct Attributes<'e> {
    tag: Tag<'e>,
    spans: std::slice::Iter<'e, AttributeSpan>,
}

impl<'e> Iterator for Attributes<'e> {
    type Item = Attribute<'e>;

    #[inline]
    fn next(&mut self) -> Option<Attribute<'e>> {
        self.spans
            .next()
            .map(|span| Attribute::new(&self.tag, span))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl ExactSizeIterator for Attributes<'_> {}

/// An attribute.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attribute<'e> {
    /// The prefix; empty for none.
    pub prefix: &'e str,
    /// The local name.
    pub local: &'e str,
    /// The expanded name, if the vocabulary has it.
    pub name: Option<NameId>,
    /// The value between the quotes, unchanged from the document.
    pub raw: &'e str,
    /// The offset of `raw` in the document; that of the tag if the attribute is not written in it.
    pub offset: u64,
    uri: UriId,
    how: Option<Normalisation>,
    scopes: &'e Scopes,
    doctype: Option<&'e Doctype>,
}

impl<'e> Attribute<'e> {
    #[inline]
    fn new(tag: &Tag<'e>, span: &'e AttributeSpan) -> Self {
        let (text, offset) = match span.source {
            SpanSource::Tag => (tag.raw, tag.offset + u64::from(span.value.0)),
            SpanSource::Default(declared) => (
                tag.doctype
                    .map_or("", |doctype| doctype.default_text(declared)),
                tag.offset,
            ),
        };
        Attribute {
            prefix: span.name.prefix(text),
            local: span.name.local(text),
            name: span.expanded.id(),
            raw: &text[span.value.0 as usize..span.value.1 as usize],
            offset,
            uri: span.uri,
            how: span.how,
            scopes: tag.scopes,
            doctype: tag.doctype,
        }
    }

    /// The value: references resolved, white space as spaces (XML 1.0 §3.3.3).
    #[inline]
    pub fn value(&self) -> Cow<'e, str> {
        match self.how {
            None => Cow::Borrowed(self.raw),
            Some(how) => normalise_value(self.raw, how, self.doctype),
        }
    }

    /// The namespace name; empty for no namespace, which is that of every attribute without prefix.
    pub fn namespace(&self) -> &'e str {
        self.scopes.uri(self.uri)
    }
}

/// An end tag, or the end of an empty element.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct EndTag<'e> {
    /// The expanded name, if the vocabulary has it.
    pub name: Option<NameId>,
    /// The name as spelled.
    pub qname: &'e str,
    /// The bindings inside the element that ends.
    pub scope: ScopeId,
    /// Where it begins in the document; for an empty element, where its tag ends.
    pub offset: u64,
    /// Its source text; empty for an empty element.
    pub raw: &'e str,
    pub(crate) prefix: u32,
    pub(crate) uri: UriId,
    pub(crate) scopes: &'e Scopes,
}

impl<'e> EndTag<'e> {
    /// The prefix; empty for none.
    pub fn prefix(&self) -> &'e str {
        &self.qname[..self.prefix as usize]
    }

    /// The local name.
    pub fn local(&self) -> &'e str {
        match self.prefix {
            0 => self.qname,
            prefix => &self.qname[prefix as usize + 1..],
        }
    }

    /// What a prefix is bound to inside the element; the empty prefix is the default namespace. For QNames in content.
    pub fn resolve(&self, prefix: &str) -> Option<Namespace<'e>> {
        self.scopes.resolve(self.scope, prefix)
    }

    /// The namespace name; empty for no namespace.
    pub fn namespace(&self) -> &'e str {
        self.scopes.uri(self.uri)
    }
}

impl std::fmt::Debug for EndTag<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndTag")
            .field("qname", &self.qname)
            .field("offset", &self.offset)
            .finish()
    }
}

/// A piece of character data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Text<'e> {
    /// The characters: references resolved, line ends as LF.
    pub value: Cow<'e, str>,
    /// Where it begins in the document.
    pub offset: u64,
    /// Its source text.
    pub raw: &'e str,
    /// Whether it is in a CDATA section.
    pub is_cdata: bool,
}
