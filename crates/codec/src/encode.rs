//! Record → text.
//!
//! The Plan is compiled once to a list of small instructions (`plan::program`); an interpreter with a stack of its own runs
//! them over the slots (`interpreter`). The start tag of the root declares the namespaces
//! that its declaration can reach; what only a value brings along (a derived type, a QName, an
//! attribute a wildcard admitted) is declared where it is first needed. What SOAP's own elements
//! carry (header blocks, bodies, details) declares its own namespaces, so that a message does not
//! name those of all other operations of its service.

mod control;
mod error;
mod interpreter;
mod leaf;
mod outline;
mod piece;
mod places;
mod rows;
mod scope;
mod slow;
mod state;

pub use crate::plan::program::{Holder, LeafForm, LeafRef, PadPlace};
pub use error::{Error, ErrorKind};
pub use outline::{Outline, Told};
pub use piece::{PieceEncoder, Stop};
pub use places::{CellPlace, Places, Rows, Stuffing};
pub use state::{Loop, State};

use crate::escape;
use crate::record::Record;

use interpreter::Interpreter;
use outline::{LengthRecorder, OutlineRecorder};

const DECLARATION: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// Appends text as content of an element: what a value of type string looks like in a message.
///
/// # Errors
/// [`ErrorKind::Character`], if XML cannot carry one of its characters; `out` holds what precedes it.
pub fn escape_content(text: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    escape::text(text, out).map_err(Into::into)
}

/// Appends text as the value of an attribute, between double quotes.
///
/// # Errors
/// As [`escape_content`].
pub fn escape_attribute(text: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    escape::value(text, out).map_err(Into::into)
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// Whether the text begins with `<?xml version="1.0" encoding="UTF-8"?>`.
    pub declaration: bool,
    /// How many elements of types that are not flat may lie in one another.
    pub depth: usize,
}

impl Default for EncodeOptions {
    /// With an XML declaration; a depth of 1024, as readers allow.
    fn default() -> Self {
        Self {
            declaration: true,
            depth: 1024,
        }
    }
}

impl EncodeOptions {
    /// The defaults without the XML declaration.
    pub fn without_declaration() -> Self {
        Self {
            declaration: false,
            ..Self::default()
        }
    }
}

/// Appends the text of a Record, with an XML declaration.
///
/// # Errors
/// When the Record holds what XML cannot carry, or was not made by its Plan.
pub fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), Error> {
    Encoder::default().encode(record, out)
}

/// Writes Records as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoder {
    options: EncodeOptions,
}

impl Encoder {
    /// An encoder with these options.
    pub fn new(options: EncodeOptions) -> Self {
        Self { options }
    }

    /// Appends the text of a Record.
    ///
    /// # Errors
    /// When the Record holds what XML cannot carry, or was not made by its Plan. What was written by
    /// then is taken back.
    pub fn encode(&self, record: &Record, out: &mut Vec<u8>) -> Result<(), Error> {
        self.run(record, out, ())
    }

    /// Appends the text of a Record and outlines it: of the first values it is said how long they are, of the rest what they
    /// are embedded in.
    ///
    /// # Errors
    /// As [`encode`](Self::encode). The outline is then of no use.
    pub fn encode_outlined(
        &self,
        record: &Record,
        out: &mut Vec<u8>,
        outline: &mut Outline,
    ) -> Result<(), Error> {
        let tracer = OutlineRecorder::new(record, outline);
        self.run(record, out, tracer).map(OutlineRecorder::finish)
    }

    /// Appends the text of a Record whose structure is known, and records how long the first values are. Returns whether
    /// there were as many values as there is space for lengths.
    ///
    /// # Errors
    /// As [`encode`](Self::encode). What was recorded is then of no use.
    pub fn encode_told(
        &self,
        record: &Record,
        out: &mut Vec<u8>,
        told: Told<'_>,
    ) -> Result<bool, Error> {
        self.run(record, out, LengthRecorder(told))
            .map(|teller| teller.0.is_full())
    }

    /// Returns what was recorded.
    fn run<P: Places>(&self, record: &Record, out: &mut Vec<u8>, places: P) -> Result<P, Error> {
        let start = out.len();
        // A guess that is right for numbers saves the first few times the buffer would grow.
        out.reserve(256 + record.slots.len() * 16 + record.heap.len());
        let mut interpreter = Interpreter::new(record, out, (), places, self.options.depth);
        match whole(&mut interpreter, record, self.options) {
            Ok(()) => Ok(interpreter.places),
            Err(kind) => {
                let slot = interpreter.at.saturating_sub(1);
                out.truncate(start);
                Err(Error::new(
                    kind,
                    slot,
                    crate::record::path::of_slot(record, slot),
                ))
            }
        }
    }
}

/// Writes a whole message.
fn whole<P: Places>(
    interpreter: &mut Interpreter<'_, '_, (), P>,
    record: &Record,
    options: EncodeOptions,
) -> Result<(), ErrorKind> {
    if options.declaration {
        interpreter.out.extend_from_slice(DECLARATION);
    }
    if let Some(pc) = interpreter.start(record.root)? {
        interpreter.run(pc)?;
    }
    interpreter.end(record.root)
}

#[cfg(test)]
mod tests;
