//! From text to events.

mod doctype;
mod event;
mod partial;
mod prolog;
mod reference;
mod scopes;
mod stack;
mod state;
mod tag;
mod text;

pub(crate) use reference::{Reference, check_noncharacter, scan_reference};

pub use event::{Attribute, Attributes, Declaration, EndTag, Event, Tag, Text};
pub use scopes::{Declared, Namespace, ScopeId, Scopes};
pub use state::{State, Upper};

use crate::error::Result;
use crate::input::Input;
use crate::names::Vocabulary;
use crate::options::Options;
use std::sync::Arc;

/// A pull reader: feed bytes, take events until it needs more.
///
/// It owns what a [`State`] needs beside itself: the unread text, the vocabulary, the scopes.
///
/// ```
/// use std::sync::Arc;
/// use bsoap_xml::{Event, Options, Reader, VocabularyBuilder};
///
/// let mut builder = VocabularyBuilder::default();
/// let item = builder.name("urn:shop", "item");
/// let mut reader = Reader::new(Options::default(), Arc::new(builder.build()));
/// let mut items = 0;
/// for chunk in ["<s:order xmlns:s='urn:sh", "op'><s:it", "em/><s:item/></s:order>"] {
///     reader.feed(chunk.as_bytes())?;
///     while let Some(event) = reader.next()? {
///         if let Event::Start(tag) = event {
///             items += usize::from(tag.name == Some(item));
///         }
///     }
/// }
/// assert_eq!(items, 2);
/// # Ok::<(), bsoap_xml::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader {
    input: Input,
    state: State,
    scopes: Scopes,
    vocabulary: Arc<Vocabulary>,
}

impl Reader {
    /// Before a document.
    pub fn new(options: Options, vocabulary: Arc<Vocabulary>) -> Self {
        Reader {
            input: Input::new(),
            state: State::new(&options),
            scopes: Scopes::new(),
            vocabulary,
        }
    }

    /// More bytes of the document.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        self.input.feed(bytes)
    }

    /// No more bytes follow.
    pub fn finish(&mut self) -> Result<()> {
        self.input.finish()
    }

    /// The next event; `None` if it needs more bytes, which after [`finish`](Reader::finish) never happens.
    // Not an iterator: an event borrows from the reader.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Event<'_>>> {
        // What the event before consumed is let go only now, as that event borrowed it.
        self.input.consume_to(self.state.offset());
        let last = self.input.is_finished();
        self.state.next(
            &self.vocabulary,
            &mut self.scopes,
            self.input.unread(),
            last,
        )
    }

    /// Ready for another document; scopes and buffers are kept.
    pub fn restart(&mut self) {
        self.state.restart();
        self.input.restart();
    }

    /// What the reader remembers.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The namespace bindings met.
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }
}
