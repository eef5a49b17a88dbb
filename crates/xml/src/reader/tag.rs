//! Start tags: from `<` to `>`, with attributes, namespace declarations and all their rules.

use super::doctype::{Doctype, check_in_value};
use super::reference::{
    Normalisation, Reference, check_noncharacter, normalise_value, scan_reference,
};
use super::scopes::{Declared, ScopeId, Scopes, UriId};
use crate::chars::{is_ncname, space_length};
use crate::error::{ErrorKind, Stop};
use crate::names::{Known, LocalId, NamespaceId, Vocabulary, XML_NAMESPACE, XMLNS_NAMESPACE};
use crate::options::Limits;
use crate::scan;
use std::borrow::Cow;

/// A qualified name in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameSpan {
    pub(crate) start: u32,
    /// The offset of the colon; `start` if there is none.
    pub(crate) colon: u32,
    pub(crate) end: u32,
}

impl NameSpan {
    #[inline]
    pub(crate) fn qname<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start as usize..self.end as usize]
    }

    #[inline]
    pub(crate) fn prefix<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start as usize..self.colon as usize]
    }

    #[inline]
    pub(crate) fn local<'a>(&self, text: &'a str) -> &'a str {
        let start = if self.has_prefix() {
            self.colon + 1
        } else {
            self.start
        };
        &text[start as usize..self.end as usize]
    }

    #[inline]
    pub(crate) fn has_prefix(&self) -> bool {
        self.colon != self.start
    }
}

/// The text that spans point into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanSource {
    /// The tag.
    Tag,
    /// An attribute declaration of the document type.
    Default(u32),
}

/// An attribute of a tag.
#[derive(Clone, Debug)]
pub(crate) struct AttributeSpan {
    pub(crate) name: NameSpan,
    pub(crate) value: (u32, u32),
    pub(crate) source: SpanSource,
    /// What the value still needs; `None` if it is the literal text.
    pub(crate) how: Option<Normalisation>,
    pub(crate) local: Option<LocalId>,
    pub(crate) uri: UriId,
    pub(crate) expanded: Known,
}

/// Where the parts of the tag read last are. Reused from tag to tag.
#[derive(Debug, Default)]
pub(crate) struct TagSpans {
    pub(crate) name: NameSpan,
    pub(crate) expanded: Known,
    pub(crate) uri: UriId,
    pub(crate) scope: ScopeId,
    pub(crate) is_empty: bool,
    pub(crate) declares: bool,
    pub(crate) attributes: Vec<AttributeSpan>,
    declarations: Vec<AttributeSpan>,
    /// Bytes that entities may still expand to.
    pub(crate) budget: usize,
    /// For finding equal names among many.
    order: Vec<u32>,
}

/// What is remembered of a tag while its element is open, and its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TagRead {
    pub(crate) length: usize,
    pub(crate) name: NameSpan,
    pub(crate) known: Known,
    pub(crate) uri: UriId,
    pub(crate) scope: ScopeId,
}

/// What a tag is read with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) limits: &'a Limits,
    pub(crate) doctype: Option<&'a Doctype>,
    /// The scope outside.
    pub(crate) scope: ScopeId,
}

/// A namespace declaration, for [`Scopes::enter`].
struct DeclarationValue<'a> {
    prefix: &'a str,
    uri: Cow<'a, str>,
}

impl Declared for DeclarationValue<'_> {
    fn prefix(&self) -> &str {
        self.prefix
    }

    fn uri(&self) -> &str {
        &self.uri
    }
}

/// Scans a qualified name from `start` to its delimiter, which must be there.
#[inline(always)]
fn scan_qname(
    context: &Context<'_>,
    input: &str,
    start: usize,
) -> Result<(NameSpan, Option<LocalId>), Stop> {
    let bytes = input.as_bytes();
    let (length, mut local) = context.vocabulary.scan(&bytes[start..]);
    let mut end = start + length;
    let mut colon = start;
    let mut local_start = start;
    if bytes.get(end) == Some(&b':') {
        colon = end;
        local_start = end + 1;
        let (length, id) = context.vocabulary.scan(&bytes[local_start..]);
        local = id;
        end = local_start + length;
    }
    if end == bytes.len() {
        return Err(Stop::More);
    }
    // What the vocabulary has is a name; and a prefix need not be looked at here: only what was declared can be resolved.
    let is_name = local.is_some() || is_ncname(&input[local_start..end]);
    if !is_name || bytes[end] == b':' || (colon == start) != (local_start == start) {
        return Err(invalid_name(input, start));
    }
    if end - start > context.limits.name_length {
        return Err(Stop::limit("name_length", context.limits.name_length).shifted(start));
    }
    Ok((
        NameSpan {
            start: start as u32,
            colon: colon as u32,
            end: end as u32,
        },
        local,
    ))
}

#[cold]
fn invalid_name(input: &str, start: usize) -> Stop {
    let rest = &input[start..];
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, '/' | '>' | '=' | '<'))
        .unwrap_or(rest.len());
    match end {
        0 => Stop::expected("a name", input, start),
        _ => Stop::fault(
            ErrorKind::InvalidName(rest[..end].chars().take(100).collect()),
            start,
        ),
    }
}

impl TagSpans {
    /// Reads the start tag that begins with the `<` at the front of `input`, and says what is to be remembered of it.
    #[inline]
    pub(crate) fn read(
        &mut self,
        context: Context<'_>,
        scopes: &mut Scopes,
        input: &str,
    ) -> Result<TagRead, Stop> {
        self.attributes.clear();
        self.declarations.clear();
        let (name, local) = scan_qname(&context, input, 1)?;
        let mut scope = context.scope;
        self.name = name;
        self.declares = false;
        self.is_empty = false;
        let mut length = name.end as usize + 1;
        if input.as_bytes()[length - 1] != b'>' {
            length = self.read_attributes(&context, input, length - 1)?;
        }
        if length > context.limits.markup_length {
            return Err(Stop::limit("markup_length", context.limits.markup_length));
        }
        if context.doctype.is_some() {
            self.apply_doctype(&context, input)?;
        }
        if !self.declarations.is_empty() {
            scope = self.declare(&context, scopes, input)?;
        }
        let uri = resolve(scopes, scope, &name, input)?;
        let known = expand(&context, scopes, uri, local);
        (self.scope, self.uri, self.expanded) = (scope, uri, known);
        if !self.attributes.is_empty() {
            self.resolve_attributes(&context, scopes, input)?;
        }
        Ok(TagRead {
            length,
            name,
            known,
            uri,
            scope,
        })
    }

    /// Reads from behind the name to the end of the tag, and returns where that is.
    #[inline(never)]
    fn read_attributes(
        &mut self,
        context: &Context<'_>,
        input: &str,
        mut at: usize,
    ) -> Result<usize, Stop> {
        let bytes = input.as_bytes();
        loop {
            let gap = space_length(&bytes[at..]);
            at += gap;
            match bytes.get(at) {
                Some(b'>') => return Ok(at + 1),
                Some(b'/') if bytes.get(at + 1) == Some(&b'>') => {
                    self.is_empty = true;
                    return Ok(at + 2);
                }
                Some(b'/') => return Err(Stop::expected("'>' after '/'", input, at + 1)),
                None => return Err(Stop::More),
                Some(_) if gap == 0 => {
                    return Err(Stop::expected(
                        "white space, '/' or '>' in a tag",
                        input,
                        at,
                    ));
                }
                Some(_) => at = self.attribute(context, input, at)?,
            }
        }
    }

    /// Reads one attribute and returns where it ends.
    #[inline]
    fn attribute(
        &mut self,
        context: &Context<'_>,
        input: &str,
        start: usize,
    ) -> Result<usize, Stop> {
        let bytes = input.as_bytes();
        let (name, local) = scan_qname(context, input, start)?;
        let mut at = name.end as usize;
        if bytes[at] != b'=' {
            at += space_length(&bytes[at..]);
            if bytes.get(at) != Some(&b'=') {
                return Err(Stop::expected(
                    "'=' after the name of an attribute",
                    input,
                    at,
                ));
            }
        }
        at += 1;
        let quote = match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => {
                at += space_length(&bytes[at..]);
                match bytes.get(at) {
                    Some(&quote @ (b'"' | b'\'')) => quote,
                    _ => {
                        return Err(Stop::expected(
                            "a quote before the value of an attribute",
                            input,
                            at,
                        ));
                    }
                }
            }
        };
        let (end, how) = scan_value(context, &mut self.budget, input, at + 1, quote)?;
        let value = (at as u32 + 1, end as u32);
        let span = AttributeSpan {
            name,
            value,
            source: SpanSource::Tag,
            how,
            local,
            uri: UriId::NONE,
            expanded: Known::NONE,
        };
        self.push(span, input);
        if self.attributes.len() + self.declarations.len() > context.limits.attributes {
            return Err(Stop::limit("attributes", context.limits.attributes).shifted(start));
        }
        Ok(end + 1)
    }

    /// Adds an attribute, or a namespace declaration if its name in `text` says so.
    #[inline]
    fn push(&mut self, span: AttributeSpan, text: &str) {
        let first = if span.name.has_prefix() {
            span.name.prefix(text)
        } else {
            span.name.qname(text)
        };
        if first == "xmlns" {
            self.declarations.push(span);
        } else {
            self.attributes.push(span);
        }
    }

    /// What the document type says about the attributes of this element: tokenised values, and those left out.
    #[cold]
    fn apply_doctype(&mut self, context: &Context<'_>, input: &str) -> Result<(), Stop> {
        let Some(doctype) = context.doctype else {
            return Ok(());
        };
        for (declared, declaration) in doctype.attributes(self.name.qname(input)) {
            let mut given = self.attributes.iter_mut().chain(&mut self.declarations);
            let specified = given.find(|span| {
                span.source == SpanSource::Tag && span.name.qname(input) == declaration.qname()
            });
            if let Some(span) = specified {
                if declaration.how == Normalisation::Tokens {
                    span.how = Some(Normalisation::Tokens);
                }
            } else if let Some(value) = declaration.value {
                let local = context
                    .vocabulary
                    .scan(declaration.name.local(&declaration.text).as_bytes())
                    .1;
                let span = AttributeSpan {
                    name: declaration.name,
                    value,
                    source: SpanSource::Default(declared),
                    how: Some(declaration.how),
                    local,
                    uri: UriId::NONE,
                    expanded: Known::NONE,
                };
                let left = self.budget.checked_sub(declaration.cost());
                self.budget = left.ok_or_else(|| entity_limit(context.limits))?;
                self.push(span, &declaration.text);
            }
        }
        Ok(())
    }

    /// Enters the scope that the declarations of this tag make (Namespaces in XML 1.0 §3).
    fn declare(
        &mut self,
        context: &Context<'_>,
        scopes: &mut Scopes,
        input: &str,
    ) -> Result<ScopeId, Stop> {
        self.check_declarations(context, input)?;
        if !scopes.contains(context.scope) {
            return Err(Stop::fault(ErrorKind::UnknownScope, 0));
        }
        if scopes.in_scope(context.scope) + self.declarations.len() > context.limits.namespaces {
            return Err(Stop::limit("namespaces", context.limits.namespaces));
        }
        let declared = self
            .declarations
            .iter()
            .map(|span| declaration(context, input, span));
        self.declares = true;
        Ok(scopes.enter(context.vocabulary, context.scope, declared))
    }

    fn check_declarations(&self, context: &Context<'_>, input: &str) -> Result<(), Stop> {
        for span in &self.declarations {
            check_declaration(&declaration(context, input, span))
                .map_err(|kind| Stop::fault(kind, start(span)))?;
        }
        let name =
            |span: &AttributeSpan| (span.name.qname(text_of(context, input, span)), start(span));
        let twice = if self.declarations.len() <= 8 {
            let again = |&(at, span): &(usize, &AttributeSpan)| {
                self.declarations[..at]
                    .iter()
                    .any(|other| name(other).0 == name(span).0)
            };
            self.declarations
                .iter()
                .enumerate()
                .find(again)
                .map(|(_, span)| name(span))
        } else {
            let mut names: Vec<_> = self.declarations.iter().map(name).collect();
            names.sort_unstable();
            names
                .windows(2)
                .find(|pair| pair[0].0 == pair[1].0)
                .map(|pair| pair[1])
        };
        match twice {
            Some((name, at)) => Err(Stop::fault(
                ErrorKind::DuplicateAttribute(name.to_owned()),
                at,
            )),
            None => Ok(()),
        }
    }

    fn resolve_attributes(
        &mut self,
        context: &Context<'_>,
        scopes: &Scopes,
        input: &str,
    ) -> Result<(), Stop> {
        for span in &mut self.attributes {
            if span.name.has_prefix() {
                let text = match span.source {
                    SpanSource::Tag => input,
                    SpanSource::Default(declared) => context
                        .doctype
                        .map_or("", |doctype| doctype.default_text(declared)),
                };
                span.uri = resolve(scopes, self.scope, &span.name, text)?;
                span.expanded = expand(context, scopes, span.uri, span.local);
            } else if let Some(local) = span.local {
                span.expanded = Known::new(context.vocabulary.name_id(NamespaceId::NONE, local));
            }
        }
        match self.duplicate(context, input) {
            None => Ok(()),
            Some(span) => {
                let name = span.name.qname(text_of(context, input, span)).to_owned();
                Err(Stop::fault(
                    ErrorKind::DuplicateAttribute(name),
                    start(span),
                ))
            }
        }
    }

    /// An attribute whose expanded name an earlier one has.
    ///
    /// Two prefixes may be bound to one namespace, so `a:id` and `b:id` can be the same attribute: compare expanded names,
    /// not spellings (Namespaces in XML 1.0 §6.3).
    #[inline]
    fn duplicate(&mut self, context: &Context<'_>, input: &str) -> Option<&AttributeSpan> {
        let name =
            |span: &AttributeSpan| (span.uri, span.name.local(text_of(context, input, span)));
        if self.attributes.len() <= 8 {
            return self
                .attributes
                .iter()
                .enumerate()
                .skip(1)
                .find_map(|(at, span)| {
                    self.attributes[..at]
                        .iter()
                        .any(|other| name(other) == name(span))
                        .then_some(span)
                });
        }
        let attributes = &self.attributes;
        self.order.clear();
        self.order.extend(0..attributes.len() as u32);
        self.order
            .sort_unstable_by_key(|&at| (name(&attributes[at as usize]), at));
        let twice = self.order.windows(2).find(|pair| {
            name(&attributes[pair[0] as usize]) == name(&attributes[pair[1] as usize])
        })?;
        Some(&attributes[twice[1] as usize])
    }
}

/// The text that a span points into.
#[inline]
fn text_of<'a>(context: &Context<'a>, input: &'a str, span: &AttributeSpan) -> &'a str {
    match span.source {
        SpanSource::Tag => input,
        SpanSource::Default(declared) => context
            .doctype
            .map_or("", |doctype| doctype.default_text(declared)),
    }
}

/// The location of an attribute in the tag, for errors.
fn start(span: &AttributeSpan) -> usize {
    match span.source {
        SpanSource::Tag => span.name.start as usize,
        SpanSource::Default(_) => 0,
    }
}

fn declaration<'a>(
    context: &Context<'a>,
    input: &'a str,
    span: &AttributeSpan,
) -> DeclarationValue<'a> {
    let text = text_of(context, input, span);
    let prefix = if span.name.has_prefix() {
        span.name.local(text)
    } else {
        ""
    };
    let raw = &text[span.value.0 as usize..span.value.1 as usize];
    let uri = match span.how {
        None => Cow::Borrowed(raw),
        Some(how) => normalise_value(raw, how, context.doctype),
    };
    DeclarationValue { prefix, uri }
}

/// The namespace constraints on declarations: reserved prefixes and namespace names, no prefix undeclared (§3, §2.2).
fn check_declaration(declaration: &DeclarationValue<'_>) -> Result<(), ErrorKind> {
    let rule = match (declaration.prefix, &*declaration.uri) {
        ("xml", XML_NAMESPACE) => return Ok(()),
        ("xml", _) => "the prefix xml cannot be bound to another namespace",
        ("xmlns", _) => "the prefix xmlns cannot be declared",
        (_, XML_NAMESPACE) => "the namespace of the prefix xml cannot be bound to another prefix",
        (_, XMLNS_NAMESPACE) => "the namespace of the prefix xmlns cannot be bound to a prefix",
        (prefix, "") if !prefix.is_empty() => "a prefix cannot be bound to the empty namespace",
        _ => return Ok(()),
    };
    Err(ErrorKind::Declaration {
        prefix: declaration.prefix.to_owned(),
        rule,
    })
}

#[inline]
fn resolve(scopes: &Scopes, scope: ScopeId, name: &NameSpan, text: &str) -> Result<UriId, Stop> {
    let prefix = name.prefix(text);
    scopes
        .resolve_uri(scope, prefix)
        .ok_or_else(|| unbound(scopes, scope, prefix, name.start as usize))
}

#[cold]
fn unbound(scopes: &Scopes, scope: ScopeId, prefix: &str, at: usize) -> Stop {
    let kind = match scopes.contains(scope) {
        false => ErrorKind::UnknownScope,
        true if is_ncname(prefix) => ErrorKind::UnboundPrefix(prefix.to_owned()),
        true => ErrorKind::InvalidName(prefix.chars().take(100).collect()),
    };
    Stop::fault(kind, at)
}

#[inline]
fn expand(context: &Context<'_>, scopes: &Scopes, uri: UriId, local: Option<LocalId>) -> Known {
    let name = |local| {
        context
            .vocabulary
            .name_id(scopes.uri_namespace(uri)?, local)
    };
    Known::new(local.and_then(name))
}

/// Scans an attribute value to its quote: the location of that, and whether the value needs normalisation.
#[inline]
fn scan_value(
    context: &Context<'_>,
    budget: &mut usize,
    input: &str,
    start: usize,
    quote: u8,
) -> Result<(usize, Option<Normalisation>), Stop> {
    let bytes = input.as_bytes();
    let mut at = start + scan::find_value_special(&bytes[start..], quote);
    let mut how = None;
    while bytes.get(at) != Some(&quote) {
        at += value_special(context, budget, input, at, &mut how)?;
        at += scan::find_value_special(&bytes[at..], quote);
    }
    if at - start > context.limits.text_length {
        return Err(Stop::limit("text_length", context.limits.text_length).shifted(start));
    }
    Ok((at, how))
}

/// A byte of an attribute value that is not simply copied: how long it and what belongs to it are.
fn value_special(
    context: &Context<'_>,
    budget: &mut usize,
    input: &str,
    at: usize,
    how: &mut Option<Normalisation>,
) -> Result<usize, Stop> {
    match input.as_bytes().get(at) {
        None => Err(Stop::More),
        Some(b'<') => Err(Stop::expected(
            "'&lt;' for '<' in the value of an attribute",
            input,
            at,
        )),
        Some(b'&') => {
            let (reference, length) = scan_reference(input, at)?;
            if let Reference::Entity(name) = reference {
                let checked = check_in_value(context.doctype, name, budget, 0);
                checked
                    .map_err(|kind| Stop::fault(kind, at))?
                    .ok_or_else(|| entity_limit(context.limits))?;
            }
            *how = Some(Normalisation::Cdata);
            Ok(length)
        }
        Some(b'\t' | b'\n' | b'\r') => {
            *how = Some(Normalisation::Cdata);
            Ok(1)
        }
        Some(0xEF) => check_noncharacter(input.as_bytes(), at).map(|()| 1),
        Some(&byte) => Err(Stop::fault(ErrorKind::InvalidChar(u32::from(byte)), at)),
    }
}

#[cold]
fn entity_limit(limits: &Limits) -> Stop {
    Stop::limit("entity_expansion", limits.entity_expansion)
}
