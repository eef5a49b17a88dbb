//! Record → text.
//!
//! The Plan is compiled once to a row of small instructions (`program`); a machine with a stack of
//! its own runs them over the slots (`machine`). The start tag of the root declares the namespaces
//! that its declaration can reach; what only a value brings along (a derived type, a QName, an
//! attribute a wildcard admitted) is declared where it is first needed. What SOAP's own elements
//! carry (header blocks, bodies, details) declares its own namespaces, so that a message does not
//! name those of all other operations of its service.

mod error;
pub(crate) mod escape;
mod leaf;
mod machine;
mod outline;
mod piece;
mod places;
pub(crate) mod program;
mod rows;
mod scope;
mod state;
mod straight;
mod tables;
mod watch;

pub use error::{Error, ErrorKind};
pub use leaf::{Holder, LeafForm, LeafRef};
pub use outline::{Outline, Told};
pub use piece::{PieceEncoder, Stop};
pub use places::{CellPlace, PadPlace, Places, Rows, Stuffing};
pub use state::{Loop, State};

use crate::record::Record;

use machine::Machine;
use outline::{Teller, Tracer};
use watch::Watch;

const DECLARATION: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// Appends text as content of an element: what a value of type string looks like in a message.
///
/// # Errors
/// [`ErrorKind::Character`], if XML cannot carry one of its characters; `out` holds what precedes it.
pub fn escape_content(text: &[u8], out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    escape::text(text, out).map_err(Into::into)
}

/// Appends text as what stands between the double quotes of an attribute.
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
        let tracer = Tracer::new(record, outline);
        self.run(record, out, tracer).map(Tracer::finish)
    }

    /// Appends the text of a Record whose structure is known, and tells how long the first values are. Answers with whether
    /// there were as many values as there is room for what is told.
    ///
    /// # Errors
    /// As [`encode`](Self::encode). What was told is then of no use.
    pub fn encode_told(
        &self,
        record: &Record,
        out: &mut Vec<u8>,
        told: Told<'_>,
    ) -> Result<bool, Error> {
        let teller = Teller::new(record, told);
        self.run(record, out, teller)
            .map(|teller| teller.told.is_full())
    }

    /// Returns who was told.
    fn run<P: Watch>(&self, record: &Record, out: &mut Vec<u8>, places: P) -> Result<P, Error> {
        let program = record.plan.program();
        let start = out.len();
        // A guess that is right for numbers saves the first few times the buffer would grow.
        out.reserve(256 + record.slots.len() * 16 + record.heap.len());
        if self.options.declaration {
            out.extend_from_slice(DECLARATION);
        }
        let mut machine = Machine::new(record, program, out, start, places, self.options.depth);
        let result = machine.element(record.root);
        let (slot, places) = (machine.at.saturating_sub(1), machine.places);
        match result {
            Ok(()) => Ok(places),
            Err(kind) => {
                out.truncate(start);
                Err(Error::new(kind, slot, crate::path::of_slot(record, slot)))
            }
        }
    }
}

#[cfg(test)]
mod hostile;
