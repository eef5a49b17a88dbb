//! Messages that have the right elements in the wrong form: rewritten to what the schema says, and then decoded.
//!
//! Some [deviations](Deviation) cannot be skipped or read where they are found: an element that comes after its successor has to be
//! decoded before it. So a decoder that accepts them stops at the first one, as at any error. Its caller then lets a [`Repair`]
//! rewrite the whole message:
//!
//! ```text
//! text ─► tree of tags ─► edits: renamed, moved, removed, inserted ─► text ─► decoder, which accepts no more such deviations
//! ```
//!
//! Each edit is a warning. Everything else is copied byte for byte, and a list of the copied pieces maps locations back to the message
//! as it arrived. A message without such deviations is never rewritten, and costs nothing.
//!
//! What the answer of an operation should be, only the caller knows: [`Repair::of_answer`].

mod edits;
mod repaired;
mod tree;
mod write;

use std::borrow::Cow;

use bsoap_xml::decode_str;

use crate::decode::{DecodeOptions, Decoder, Deviation, Deviations, Error, ErrorKind};
use crate::plan::{ElementId, Plan};
use crate::record::Record;

use edits::FAULT;
use repaired::Repaired;

/// The path of the Body.
const BODY: &str = "/Envelope/Body";

/// The deviations that need a rewritten message.
const REPAIRED: [Deviation; 8] = [
    Deviation::MisplacedElement,
    Deviation::OtherNamespace,
    Deviation::OtherItemName,
    Deviation::MissingElement,
    Deviation::NilValue,
    Deviation::OtherVersion,
    Deviation::OtherAnswer,
    Deviation::MissingEnvelope,
];

/// Reads messages with deviations that only a rewritten message can be read without.
///
/// ```
/// use bsoap_codec::decode::{DecodeOptions, Decoder, Tolerance};
/// use bsoap_codec::repair::Repair;
/// # use bsoap_codec::plan::ElementId;
/// # use bsoap_codec::Plan;
/// # use std::sync::Arc;
///
/// # fn read(plan: Arc<Plan>, root: ElementId, message: &[u8]) -> Result<(), bsoap_codec::decode::Error> {
/// let mut options = DecodeOptions::default();
/// options.accepted = Tolerance::Lenient.into();
/// let mut decoder = Decoder::new(plan, options);
/// let record = Repair::default().decode(&mut decoder, root, message)?;
/// for warning in record.warnings() {
///     println!("{warning}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Repair {
    answer: Option<ElementId>,
    is_off: bool,
}

impl Repair {
    /// For the reply to an operation whose answer has this element first in its Body. A reply with another element there, or without
    /// Envelope, can be read as the answer.
    pub fn of_answer(element: Option<ElementId>) -> Self {
        Self {
            answer: element,
            is_off: false,
        }
    }

    /// The same, which rewrites nothing: a message that needs it is an error. So a caller can find out whether it is needed before it
    /// has the [memory](Self::memory) for it.
    #[must_use]
    pub fn off(self) -> Self {
        Self {
            is_off: true,
            ..self
        }
    }

    /// True if a message that could not be read for this reason is rewritten by [`decode`](Self::decode).
    pub fn helps(self, error: &Error, plan: &Plan, options: &DecodeOptions) -> bool {
        is_repairable(&self.explained(error.clone(), plan), options)
    }

    /// At most how many bytes rewriting a message needs, beside its text and its Record.
    ///
    /// ```
    /// use bsoap_codec::repair::Repair;
    ///
    /// assert!(Repair::memory(b"<a><b/></a>") > Repair::memory(b"<a>bbbb</a>"));
    /// ```
    pub fn memory(message: &[u8]) -> usize {
        let is_start = |it: &[u8]| it[0] == b'<' && !matches!(it[1], b'/' | b'!' | b'?');
        let elements = message.windows(2).filter(|it| is_start(it)).count();
        // Other encodings become UTF-8, in which most characters of theirs are longer.
        let text = match std::str::from_utf8(message) {
            Ok(_) => message.len(),
            Err(_) => message.len().saturating_mul(2),
        };
        // As text, as input of the reader or rewritten, and as namespaces of the tree.
        let texts = text.saturating_mul(4);
        // What is inserted is in the rewritten text and in the lists of children.
        let added = edits::most_added(elements).saturating_mul(2);
        let tree = elements.saturating_mul(MEMORY_PER_ELEMENT);
        texts.saturating_add(added).saturating_add(tree)
    }

    /// Reads a whole message, and rewrites it if it has deviations that the decoder accepts but cannot read.
    ///
    /// # Errors
    /// As [`Decoder::decode`]; the locations are those of the message as it arrived.
    pub fn decode(
        self,
        decoder: &mut Decoder,
        root: ElementId,
        message: &[u8],
    ) -> Result<Record, Error> {
        let read = decoder.decode(root, message);
        read.or_else(|error| self.after(error, decoder, root, message))
    }

    /// Reads a message that a decoder with the same options could not read.
    ///
    /// # Errors
    /// The given error if the message cannot be rewritten, otherwise as [`decode`](Self::decode).
    #[cold]
    pub fn after(
        self,
        error: Error,
        decoder: &mut Decoder,
        root: ElementId,
        message: &[u8],
    ) -> Result<Record, Error> {
        let error = self.explained(error, decoder.plan());
        let options = decoder.options();
        if self.is_off || !is_repairable(&error, options) {
            return Err(error);
        }
        let Some(repaired) = self.repaired(decoder.plan(), root, message, options) else {
            return Err(error);
        };
        let accepted = others(decoder.options().accepted);
        let read = decoder.decode_accepting(accepted, root, repaired.text.as_bytes());
        let mut record = read.map_err(|error| repaired.located(error))?;
        let warnings = repaired.all_warnings(record.warnings(), decoder.options().warnings);
        record.set_warnings(warnings);
        Ok(record)
    }

    /// The error with the deviation that only the caller can know: what should be the answer.
    fn explained(self, error: Error, plan: &Plan) -> Error {
        let Some(answer) = self.answer.filter(|_| error.deviation().is_none()) else {
            return error;
        };
        let local = plan.vocabulary().local(plan.element(answer).name);
        let deviation = match error.kind() {
            ErrorKind::RootMismatch { found, .. } if *found.local == *local => {
                Deviation::MissingEnvelope
            }
            ErrorKind::Unexpected { found, .. }
                if error.path() == BODY && &*found.local != FAULT =>
            {
                Deviation::OtherAnswer
            }
            _ => return error,
        };
        error.about(Some(deviation))
    }

    /// Rewrites a message. `None` if it is not well-formed or too large, or would become so.
    fn repaired(
        self,
        plan: &Plan,
        root: ElementId,
        message: &[u8],
        options: &DecodeOptions,
    ) -> Option<Repaired> {
        let text = without_declaration(decode_str(message).ok()?);
        let tree = tree::Tree::of(plan, &text, options)?;
        let prefix = write::unused_prefix(&text);
        let source = (&*text, &*prefix);
        let edits = edits::Edits::of(plan, root, self.answer, &tree, source, options)?;
        let mut repaired = write::written(plan, &tree, &edits, source)?;
        repaired.warnings = edits.warnings;
        Some(repaired)
    }
}

/// The memory for an element: its node (104 bytes) and its edit (72) in tables that grow, its path, and its place among its siblings.
const MEMORY_PER_ELEMENT: usize = 850;

fn is_repairable(error: &Error, options: &DecodeOptions) -> bool {
    let helps = |it| REPAIRED.contains(&it) && options.accepted.contains(it);
    error.deviation().is_some_and(helps)
}

/// The text of a message with white space for its XML declaration, which may name the encoding in which it arrived. So all offsets
/// stay.
fn without_declaration(text: Cow<'_, str>) -> String {
    let mut text = text.into_owned();
    let behind = text.strip_prefix("<?xml");
    let is_declaration = behind.is_some_and(|it| it.starts_with([' ', '\t', '\r', '\n']));
    if let (true, Some(end)) = (is_declaration, text.find("?>")) {
        let end = end + 2;
        text.replace_range(..end, &" ".repeat(end));
    }
    text
}

/// The deviations that remain for the decoder of a rewritten message.
fn others(accepted: Deviations) -> Deviations {
    REPAIRED.iter().fold(accepted, |left, &it| left.without(it))
}
