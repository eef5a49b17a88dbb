//! All that the reader remembers.
//!
//! ```text
//!          <?xml?>            <!DOCTYPE>           <a>             </a>
//!   Start ---------> Prolog ------------> Prolog -------> Content -------> Epilog ------> End
//!                                                   <a/> |  ^   | <![CDATA[
//!                                                     EmptyEnd  Cdata
//! ```
//!
//! [`State`] is one value that can be copied and compared. It holds no text of the document but the names of the open
//! elements: the caller keeps the unread text and hands it to each step. A copy taken between two events, and the text from
//! its offset on, are all that is needed to go on from there.

mod entities;
mod report;
mod upper;

pub use upper::Upper;

use super::doctype::Doctype;
use super::event::Event;
use super::partial::Partial;
use super::scopes::{ScopeId, Scopes, UriId};
use super::stack::{Open, OpenElements};
use super::tag::{Context, TagSpans};
use super::{prolog, text};
use crate::chars::{is_space, space_length};
use crate::error::{Error, ErrorKind, Result, Stop};
use crate::names::{Known, NameId, Vocabulary};
use crate::options::Options;
use std::sync::Arc;

/// All that a reader remembers of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    phase: Phase,
    /// Bytes consumed.
    offset: u64,
    open: OpenElements,
    partial: Partial,
    /// Bytes of character data since the last tag.
    text_length: usize,
    standalone: bool,
    options: Options,
    doctype: Option<Arc<Doctype>>,
    /// The entities whose replacement text is being read, outermost first.
    expansions: Vec<Expansion>,
    /// Bytes of replacement text begun so far.
    expanded: usize,
    scratch: Scratch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before anything.
    Start,
    /// Before the root element.
    Prolog,
    /// Between markup, inside the root element.
    Content,
    /// Inside a CDATA section.
    Cdata,
    /// Behind the tag of an empty element, before the event of its end.
    EmptyEnd,
    /// After the root element.
    Epilog,
    /// All events have been returned.
    End,
}

/// An entity whose replacement text is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Expansion {
    entity: u32,
    at: usize,
    /// The open elements where it began: those it must end with.
    depth: usize,
}

/// What is found out about the event at hand. No memory: it does not count when states are compared or copied.
#[derive(Debug, Default)]
struct Scratch {
    tag: TagSpans,
    text: String,
    closed: Option<Open>,
    declaration: prolog::DeclarationSpans,
    instruction: prolog::InstructionSpans,
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An event before it borrows from anything: how many bytes it takes, and what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundEvent {
    pub(crate) length: usize,
    pub(crate) what: What,
}

impl FoundEvent {
    pub(crate) const SKIPPED: FoundEvent = FoundEvent {
        length: 0,
        what: What::Skipped,
    };
}

/// What was found. Where its parts are is in the scratch, if it does not follow from its delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Declaration,
    Start,
    End,
    Text,
    /// Character data whose value is in the scratch.
    DecodedText,
    /// A CDATA section or a piece of it: how many bytes of delimiters are in front and behind.
    Cdata {
        front: u8,
        behind: u8,
    },
    /// The same with its value in the scratch.
    DecodedCdata,
    Comment,
    /// A comment whose value is in the scratch.
    DecodedComment,
    Instruction,
    /// A processing instruction whose data are in the scratch.
    DecodedInstruction,
    /// A reference to an entity that is not one of XML itself. Never returned.
    Reference,
    /// No event: white space outside the root element, a document type declaration, a reference.
    Skipped,
    EndOfDocument,
}

impl State {
    /// Before the first byte of a document.
    pub fn new(options: &Options) -> Self {
        State {
            phase: Phase::Start,
            offset: 0,
            open: OpenElements::default(),
            partial: Partial::default(),
            text_length: 0,
            standalone: false,
            options: *options,
            doctype: None,
            expansions: Vec::new(),
            expanded: 0,
            scratch: Scratch::default(),
        }
    }

    /// Back to before the first byte of a document; keeps its memory for the next.
    pub fn restart(&mut self) {
        // Field by field: a new State that is moved here takes longer than the tags of a small message.
        let Self {
            phase,
            offset,
            open,
            partial,
            text_length,
            standalone,
            options: _,
            doctype,
            expansions,
            expanded,
            scratch: _,
        } = self;
        open.clear();
        expansions.clear();
        *doctype = None;
        (*phase, *offset, *partial) = (Phase::Start, 0, Partial::default());
        (*text_length, *standalone, *expanded) = (0, false, 0);
    }

    /// Gives back what one long text has taken: nothing of it is needed between events.
    pub fn give_back(&mut self, keep: usize) {
        if self.scratch.text.capacity() > keep {
            self.scratch.text = String::new();
        }
    }

    /// Back to what a copy remembers; keeps its memory, which makes it cheaper than another copy.
    pub fn restore(&mut self, copy: &State) {
        let Self {
            phase,
            offset,
            open,
            partial,
            text_length,
            standalone,
            options,
            doctype,
            expansions,
            expanded,
            scratch: _,
        } = self;
        open.copy_from(&copy.open);
        expansions.clone_from(&copy.expansions);
        doctype.clone_from(&copy.doctype);
        (*phase, *offset, *partial) = (copy.phase, copy.offset, copy.partial);
        (*text_length, *standalone, *expanded) = (copy.text_length, copy.standalone, copy.expanded);
        *options = copy.options;
    }

    /// Whether the unread text begins between markup, inside the root element, with nothing half read.
    #[inline]
    pub fn is_between(&self) -> bool {
        self.in_content() && self.partial == Partial::default()
    }

    /// Whether reading on from here finds the same as reading on from another state: all is equal, except how much of
    /// the document was read. Equal bindings of namespaces may come from different declarations.
    pub fn agrees(&self, other: &State, scopes: &Scopes) -> bool {
        self.agrees_but_for_elements(other) && self.open.agrees(&other.open, scopes)
    }

    /// Whether it is the same, but for how many bytes were read.
    pub fn is_like(&self, other: &State) -> bool {
        self.agrees_but_for_elements(other) && self.open == other.open
    }

    /// Whether all but the open elements is equal.
    pub fn agrees_but_for_elements(&self, other: &State) -> bool {
        self.phase == other.phase
            && self.partial == other.partial
            && self.text_length == other.text_length
            && self.standalone == other.standalone
            && self.options == other.options
            && self.doctype == other.doctype
            && self.expansions == other.expansions
            && self.expanded == other.expanded
    }

    /// Whether the scopes of all open elements are known: they may have been forgotten since a copy was made.
    pub fn is_known(&self, scopes: &Scopes) -> bool {
        self.open.is_known(scopes)
    }

    /// As if this many bytes more had been read before it, modulo 2⁶⁴.
    pub fn move_by(&mut self, bytes: u64) {
        self.offset = self.offset.wrapping_add(bytes);
    }

    /// About how many bytes it holds beside itself.
    pub fn memory(&self) -> usize {
        self.open.memory() + self.expansions.capacity() * size_of::<Expansion>()
    }

    /// The next event of `input`, the unread text from [`offset`](State::offset) on; `last` says that no more follows. How
    /// much of `input` was consumed is the difference of `offset`. `None` means that more text is needed, and never comes
    /// if `last`.
    ///
    /// ```
    /// use bsoap_xml::{Event, Options, Scopes, State, Vocabulary};
    ///
    /// let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
    /// let mut state = State::new(&Options::default());
    /// let text = "<a>1</a>";
    /// assert!(matches!(state.next(&vocabulary, &mut scopes, text, false), Ok(Some(Event::Start(_)))));
    /// let checkpoint = state.clone();
    /// let rest = &text[state.offset() as usize..];
    /// assert!(matches!(state.next(&vocabulary, &mut scopes, rest, true), Ok(Some(Event::Text(_)))));
    /// assert_ne!(state, checkpoint);
    /// ```
    #[inline]
    pub fn next<'e>(
        &'e mut self,
        vocabulary: &'e Vocabulary,
        scopes: &'e mut Scopes,
        input: &'e str,
        last: bool,
    ) -> Result<Option<Event<'e>>> {
        let begin = self.offset;
        match self.advance(vocabulary, scopes, input, last) {
            Ok(found) => Ok(Some(self.event(found, begin, vocabulary, scopes, input))),
            Err(Stop::More) if !last => Ok(None),
            Err(stop) => Err(self.error(stop, input)),
        }
    }

    /// Bytes consumed: where in the document, as UTF-8, the unread text begins.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many elements are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.depth()
    }

    /// The bindings inside the innermost open element.
    #[inline]
    pub fn scope(&self) -> ScopeId {
        self.open.scope()
    }

    /// Whether the unread text begins between markup, inside the root element.
    #[inline]
    pub fn in_content(&self) -> bool {
        self.phase == Phase::Content && self.expansions.is_empty()
    }

    /// Whether the document has come to its end.
    pub fn is_finished(&self) -> bool {
        self.phase == Phase::End
    }

    /// The name of the innermost open element, as spelled; empty outside the root element.
    #[inline]
    pub fn qname(&self) -> &str {
        self.open.top().unwrap_or_default()
    }

    /// Goes past `n` bytes that the caller has read itself: markup and text which, as a whole, leave the open elements as
    /// they are, such as `<a>1</a>`. Only in content.
    #[inline]
    pub fn skip(&mut self, n: usize) {
        self.offset += n as u64;
        self.text_length = 0;
        self.partial = Partial::default();
    }

    /// Opens an element whose start tag, `n` bytes, the caller has recognised byte for byte as one that was read before in
    /// the same scope. `inner` is the scope inside. Only in content.
    #[inline]
    pub fn open(
        &mut self,
        qname: &str,
        name: Option<NameId>,
        inner: ScopeId,
        n: usize,
    ) -> Result<()> {
        if self.open.depth() >= self.options.limits.depth {
            return Err(self.error(Stop::limit("depth", self.options.limits.depth), ""));
        }
        let prefix = qname.find(':').unwrap_or(0) as u32;
        self.open
            .push(qname, prefix, Known::new(name), UriId::NONE, inner);
        self.skip(n);
        Ok(())
    }

    /// Closes the innermost element, whose end tag, `n` bytes, the caller has recognised byte for byte. Only in content.
    #[inline]
    pub fn close(&mut self, n: usize) {
        self.skip(n);
        self.pop();
    }

    /// An error of the caller's at a byte of the document, with the path of the open elements.
    #[cold]
    pub fn error_at(&self, kind: ErrorKind, offset: u64) -> Error {
        Error::new(kind, offset, self.path())
    }

    /// The open elements as `/order/item`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for name in self.open.names() {
            if path.len() > 1000 {
                path.push_str("/…");
                break;
            }
            path.push('/');
            path.push_str(name);
        }
        path
    }
}

/// The machine. Nothing here borrows beyond a step: events are made from what it found.
impl State {
    #[inline]
    fn advance(
        &mut self,
        vocabulary: &Vocabulary,
        scopes: &mut Scopes,
        input: &str,
        last: bool,
    ) -> Result<FoundEvent, Stop> {
        let begin = self.offset;
        loop {
            let found = match self.expansions.is_empty() {
                true => {
                    let rest = &input[(self.offset - begin) as usize..];
                    let found = self.step(vocabulary, scopes, rest, last)?;
                    self.offset += found.length as u64;
                    self.check_total_size()?;
                    found
                }
                false => self.step_in_entity(vocabulary, scopes)?,
            };
            if found.what != What::Skipped {
                return Ok(found);
            }
        }
    }

    #[inline]
    fn check_total_size(&self) -> Result<(), Stop> {
        let limit = self.options.limits.total_size;
        match self.offset > limit {
            true => Err(Stop::limit("total_size", limit as usize)),
            false => Ok(()),
        }
    }

    #[inline]
    fn step(
        &mut self,
        vocabulary: &Vocabulary,
        scopes: &mut Scopes,
        input: &str,
        last: bool,
    ) -> Result<FoundEvent, Stop> {
        match self.phase {
            Phase::Content => match input.as_bytes() {
                [b'<', ..] => self.markup(vocabulary, scopes, input, last),
                [] => Err(Stop::More),
                _ => self.text(input, last),
            },
            Phase::EmptyEnd => {
                self.pop();
                Ok(FoundEvent {
                    length: 0,
                    what: What::End,
                })
            }
            Phase::Cdata => self.cdata(input, 0, last),
            Phase::Start => {
                scopes.renew_if_full();
                self.declaration(input, last)
            }
            Phase::Prolog | Phase::Epilog => self.misc(vocabulary, scopes, input, last),
            Phase::End => Ok(FoundEvent {
                length: 0,
                what: What::EndOfDocument,
            }),
        }
    }

    /// What begins with `<`.
    #[inline]
    fn markup(
        &mut self,
        vocabulary: &Vocabulary,
        scopes: &mut Scopes,
        input: &str,
        last: bool,
    ) -> Result<FoundEvent, Stop> {
        let bytes = input.as_bytes();
        if !self.partial.may_end(bytes) && !last {
            self.check_markup_length(bytes.len())?;
            return Err(Stop::More);
        }
        let found = match bytes.get(1) {
            Some(b'/') => self.end_tag(input),
            Some(b'!') => self.declaration_markup(input, last),
            Some(b'?') => self.instruction(input),
            Some(_) => self.start_tag(vocabulary, scopes, input),
            None => Err(Stop::More),
        };
        match found {
            Err(Stop::More) if !last => {
                self.partial.begin(bytes);
                self.check_markup_length(bytes.len())?;
                // What it has seen of the text at hand it need not see again.
                self.partial.may_end(bytes);
                Err(Stop::More)
            }
            found => found,
        }
    }

    fn check_markup_length(&self, length: usize) -> Result<(), Stop> {
        let limit = self.options.limits.markup_length;
        if length > limit {
            Err(Stop::limit("markup_length", limit))
        } else {
            Ok(())
        }
    }

    #[inline]
    fn start_tag(
        &mut self,
        vocabulary: &Vocabulary,
        scopes: &mut Scopes,
        input: &str,
    ) -> Result<FoundEvent, Stop> {
        let limits = &self.options.limits;
        let scope = self.open.scope();
        let context = Context {
            vocabulary,
            limits,
            doctype: self.doctype.as_deref(),
            scope,
        };
        let tag = &mut self.scratch.tag;
        tag.budget = limits.entity_expansion - self.expanded;
        let read = tag.read(context, scopes, input)?;
        self.expanded = limits.entity_expansion - tag.budget;
        if self.open.depth() >= limits.depth {
            return Err(Stop::limit("depth", limits.depth));
        }
        self.phase = if tag.is_empty {
            Phase::EmptyEnd
        } else {
            Phase::Content
        };
        self.text_length = 0;
        let prefix = read.name.colon - read.name.start;
        self.open.push(
            read.name.qname(input),
            prefix,
            read.known,
            read.uri,
            read.scope,
        );
        Ok(FoundEvent {
            length: read.length,
            what: What::Start,
        })
    }

    #[inline]
    fn end_tag(&mut self, input: &str) -> Result<FoundEvent, Stop> {
        let name = self.open.top().unwrap_or_default();
        let rest = &input.as_bytes()[2..];
        let length = match rest.get(name.len()) {
            Some(b'>') if rest.starts_with(name.as_bytes()) => name.len() + 3,
            _ => scan_end_tag(input, name)?,
        };
        self.pop();
        Ok(FoundEvent {
            length,
            what: What::End,
        })
    }

    #[inline]
    fn pop(&mut self) {
        self.scratch.closed = self.open.pop();
        self.phase = if self.open.depth() == 0 {
            Phase::Epilog
        } else {
            Phase::Content
        };
        self.text_length = 0;
    }

    #[inline]
    fn text(&mut self, input: &str, last: bool) -> Result<FoundEvent, Stop> {
        let ending = match last {
            false => text::Ending::Open,
            true if self.expansions.is_empty() => text::Ending::Document,
            true => text::Ending::Entity,
        };
        let found = text::scan_text(input, ending, &self.options.limits, &mut self.scratch.text)?;
        if found.what == What::Reference {
            return self.expand(input, found.length);
        }
        self.count_text(found.length)?;
        Ok(found)
    }

    #[inline]
    fn count_text(&mut self, length: usize) -> Result<(), Stop> {
        self.text_length = self.text_length.saturating_add(length);
        let limit = self.options.limits.text_length;
        if self.text_length > limit {
            Err(Stop::limit("text_length", limit))
        } else {
            Ok(())
        }
    }

    fn cdata(&mut self, input: &str, from: usize, last: bool) -> Result<FoundEvent, Stop> {
        let (found, ends) = text::scan_cdata(input, from, last, &mut self.scratch.text)?;
        self.count_text(found.length)?;
        self.phase = if ends { Phase::Content } else { Phase::Cdata };
        Ok(found)
    }

    fn instruction(&mut self, input: &str) -> Result<FoundEvent, Stop> {
        let (found, spans) = prolog::scan_instruction(input, &mut self.scratch.text)?;
        self.check_markup_length(found.length)?;
        self.scratch.instruction = spans;
        Ok(found)
    }

    /// What begins with `<!`.
    fn declaration_markup(&mut self, input: &str, last: bool) -> Result<FoundEvent, Stop> {
        let bytes = input.as_bytes();
        let begins = |keyword: &[u8]| keyword.starts_with(bytes) && !last;
        if bytes.starts_with(b"<!--") {
            let found = prolog::scan_comment(input, &mut self.scratch.text)?;
            self.check_markup_length(found.length)?;
            Ok(found)
        } else if self.phase == Phase::Content && bytes.starts_with(b"<![CDATA[") {
            self.cdata(input, 9, last)
        } else if self.phase == Phase::Prolog && bytes.starts_with(b"<!DOCTYPE") {
            self.read_doctype(input, last)
        } else if begins(b"<!--") || begins(b"<![CDATA[") || begins(b"<!DOCTYPE") {
            Err(Stop::More)
        } else {
            Err(Stop::expected(
                "a comment or a CDATA section after '<!'",
                input,
                2,
            ))
        }
    }

    fn declaration(&mut self, input: &str, last: bool) -> Result<FoundEvent, Stop> {
        let keyword = "<?xml";
        if input.len() <= keyword.len() && keyword.starts_with(input) && !last {
            return Err(Stop::More);
        }
        if !input.starts_with(keyword)
            || !input.as_bytes().get(5).is_some_and(|&byte| is_space(byte))
        {
            self.phase = Phase::Prolog;
            return Ok(FoundEvent {
                length: 0,
                what: What::Skipped,
            });
        }
        if !self.partial.may_end(input.as_bytes()) && !last {
            self.check_markup_length(input.len())?;
            return Err(Stop::More);
        }
        let (length, spans) = prolog::scan_declaration(input).inspect_err(|stop| {
            if matches!(stop, Stop::More) {
                self.partial.begin(input.as_bytes());
            }
        })?;
        self.phase = Phase::Prolog;
        self.standalone = spans.standalone == Some(true);
        self.scratch.declaration = spans;
        Ok(FoundEvent {
            length,
            what: What::Declaration,
        })
    }

    /// What is allowed outside the root element.
    fn misc(
        &mut self,
        vocabulary: &Vocabulary,
        scopes: &mut Scopes,
        input: &str,
        last: bool,
    ) -> Result<FoundEvent, Stop> {
        let bytes = input.as_bytes();
        match bytes {
            [] if last && self.phase == Phase::Epilog => {
                self.phase = Phase::End;
                Ok(FoundEvent {
                    length: 0,
                    what: What::EndOfDocument,
                })
            }
            [] => Err(Stop::More),
            [first, ..] if is_space(*first) => Ok(FoundEvent {
                length: space_length(bytes),
                what: What::Skipped,
            }),
            [b'<'] => Err(Stop::More),
            [b'<', b'!' | b'?', ..] => self.markup(vocabulary, scopes, input, last),
            // There is no element to close.
            [b'<', b'/', ..] if self.phase == Phase::Prolog => {
                Err(Stop::expected("the root element", input, 0))
            }
            [b'<', ..] if self.phase == Phase::Prolog => {
                self.markup(vocabulary, scopes, input, last)
            }
            _ if self.phase == Phase::Prolog => Err(Stop::expected("the root element", input, 0)),
            _ => Err(Stop::expected("the end of the document", input, 0)),
        }
    }

    #[cold]
    fn error(&self, stop: Stop, input: &str) -> Error {
        match stop {
            Stop::Fault(fault) => {
                // Inside an entity the place is that of the reference.
                let at = if self.expansions.is_empty() {
                    fault.at
                } else {
                    0
                };
                self.error_at(fault.kind, self.offset + at as u64)
            }
            Stop::More => {
                let within = self.unfinished(input);
                self.error_at(ErrorKind::UnexpectedEnd { within }, self.offset)
            }
        }
    }

    /// What the text at hand leaves unfinished.
    fn unfinished(&self, input: &str) -> &'static str {
        let rest = input.trim_start_matches([' ', '\t', '\r', '\n']);
        match self.phase {
            _ if !self.expansions.is_empty() => "an entity",
            Phase::Cdata => "a CDATA section",
            _ if rest.starts_with("<!--") => "a comment",
            _ if rest.starts_with("<?") => "a processing instruction",
            _ if rest.starts_with("<!") => "a declaration",
            _ if rest.starts_with('<') => "a tag",
            _ if rest.contains('&') => "a reference",
            Phase::Start | Phase::Prolog => "the prolog, without a root element",
            _ => "an element",
        }
    }
}

/// An end tag that is not spelled in the plainest way, or not the right one. Returns its length.
#[cold]
fn scan_end_tag(input: &str, name: &str) -> Result<usize, Stop> {
    let rest = &input[2..];
    if let Some(behind) = rest.strip_prefix(name) {
        let space = space_length(behind.as_bytes());
        let end = 2 + name.len() + space;
        match behind.as_bytes().get(space) {
            Some(b'>') => return Ok(end + 1),
            None => return Err(Stop::More),
            Some(_) if space > 0 => {
                return Err(Stop::expected("'>' at the end of an end tag", input, end));
            }
            Some(_) => {}
        }
    }
    let delimiter = |c: char| c.is_ascii_whitespace() || matches!(c, '>' | '<' | '/');
    let end = rest.find(delimiter).ok_or(Stop::More)?;
    if end == 0 {
        return Err(Stop::expected("a name after '</'", input, 2));
    }
    let found = rest[..end].chars().take(100).collect();
    Err(Stop::fault(
        ErrorKind::MismatchedEndTag {
            expected: name.to_owned(),
            found,
        },
        0,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all of `text` with more to follow, and returns the state of the machine.
    fn phase_after(text: &str) -> Result<Phase> {
        let (vocabulary, mut scopes) = (Vocabulary::default(), Scopes::new());
        let mut state = State::new(&Options::default());
        while state
            .next(
                &vocabulary,
                &mut scopes,
                &text[state.offset() as usize..],
                false,
            )?
            .is_some()
        {}
        Ok(state.phase)
    }

    #[test]
    fn each_phase_is_entered_where_the_picture_says() {
        for (text, phase) in [
            ("", Phase::Start),
            ("<?xm", Phase::Start),
            ("<?xml version='1.0'?>", Phase::Prolog),
            (" <!-- -->", Phase::Prolog),
            ("<a", Phase::Prolog),
            ("<a>", Phase::Content),
            ("<a><b></b>", Phase::Content),
            ("<a><b/>", Phase::Content),
            ("<a><![CDATA[", Phase::Cdata),
            ("<a><![CDATA[]]", Phase::Cdata),
            ("<a><![CDATA[]]>", Phase::Content),
            ("<a/>", Phase::Epilog),
            ("<a></a> <?p?>", Phase::Epilog),
        ] {
            assert_eq!(phase_after(text).unwrap(), phase, "{text}");
        }
    }

    /// Which of the bytes from U+0000 to U+007F may come next, if what follows is made to fit.
    #[test]
    fn in_each_phase_the_bytes_of_its_grammar_are_taken_and_all_others_refused() {
        let space = " \t\r\n";
        let printable: String = (' '..='\u{7F}').collect();
        let without = |unwanted: &str| {
            printable
                .chars()
                .filter(|&c| !unwanted.contains(c))
                .collect::<String>()
                + space
        };
        for (before, taken) in [
            ("", format!("<{space}")),
            ("<?xml version='1.0'?>", format!("<{space}")),
            ("<a/>", format!("<{space}")),
            ("<a>", without("")),
            ("<a><![CDATA[", without("")),
            ("<a><!--", without("")),
            ("<a><?p ", without("")),
        ] {
            for byte in '\0'..='\u{7F}' {
                // What was begun ends, so that it is judged.
                let ends = if before.len() > 3 && before.starts_with("<a>") {
                    " ]]>--><?p ?>"
                } else {
                    ""
                };
                let judged = phase_after(&format!("{before}{byte}{ends}"));
                let in_comment = before.ends_with("<!--") && byte == '-';
                if !in_comment {
                    let refused =
                        matches!(&judged, Err(error) if error.offset() <= before.len() as u64);
                    assert_eq!(
                        !refused,
                        taken.contains(byte),
                        "{before:?} then {byte:?}: {judged:?}"
                    );
                }
            }
        }
    }
}
