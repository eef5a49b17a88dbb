//! Text into a Record: running a Plan over a message.
//!
//! ```text
//!             ┌─ fast path: gaps known by their bytes, values read in place ─┐
//! text ──────►┤                     ▲ same state │                           ├──► Record
//!             └─ slow path: events of the reader, content models ────────────┘
//! ```
//!
//! A [`Decoder`] serves a stream of messages. What it learns of the structure of one message it uses in the next.
//! Whether a message comes in one piece or byte by byte, and whichever path it takes, the Record is the same.

use std::sync::Arc;

use bsoap_xml::{DoctypePolicy, Input, Options, Scopes, State};

use crate::plan::{ElementId, Plan};
use crate::record::Record;

mod arrays;
mod attributes;
mod builder;
mod checkpoint;
mod content;
pub(crate) mod declared;
pub(crate) mod encoded;
mod error;
mod follow;
mod fragment;
mod frame;
mod leaf;
mod learn;
mod links;
mod options;
mod partial;
mod piece;
mod place;
mod plain;
mod resume;
mod resume_place;
mod run;
mod shortened;
mod sink;
mod skeleton;
mod space;
mod tolerance;
mod trace;
mod undeclared;
mod warning;

pub use checkpoint::{Checkpoint, Loop};
pub use error::{Error, ErrorKind, Expected, Name, Violation};
pub(crate) use leaf::scalar;
pub use options::{DecodeOptions, Fast, Validation};
pub use partial::{Partial, Tracked};
pub use piece::Piece;
pub use place::{LocatedPlace, Place, Places, Until};
pub use plain::parse_number;
pub use tolerance::{Deviation, Deviations, Tolerance};
pub use trace::{Site, Trace};
pub use warning::Warning;

use builder::Builder;
use frame::Machine;
use run::Run;
use sink::Sink;
use skeleton::{Log, NodeLoops, Skeleton};
use space::{Overrun, Space};

/// Buffers up to this many bytes are kept between messages.
const LARGE: usize = 64 << 10;

/// Reads messages of a stream into Records.
///
/// A message is decoded [in one piece](Self::decode) or as its bytes arrive: [`begin`](Self::begin),
/// [`feed`](Self::feed), [`finish`](Self::finish).
#[derive(Debug)]
pub struct Decoder {
    plan: Arc<Plan>,
    options: DecodeOptions,
    /// The deviations accepted while none is [refused](Self::refuse_deviations).
    accepted: Deviations,
    scopes: Scopes,
    skeleton: Skeleton,
    loops: NodeLoops,
    log: Log,
    reader: State,
    machine: Machine,
    arriving: Arriving,
    events: u64,
    /// Slots and heap bytes of the message before: the next one may need as much.
    last: (usize, usize),
    /// Where the reading at hand is to stop.
    until: Until,
    /// The largest number of bytes of a Record that the caller [allows](Self::limit_record).
    most_memory: usize,
    /// Whether the message is fed, so that its length is not known before its end.
    is_fed: bool,
    /// Where the Record of a message being fed became larger than the bytes fed by then allow.
    overruns: Vec<Overrun>,
    /// The error behind the last of these, if there is one. It is reported only if the message becomes long enough for them.
    held: Option<Error>,
}

/// A message that is being fed.
#[derive(Debug, Default)]
struct Arriving {
    input: Input,
    record: Option<Record>,
    failed: Option<Error>,
}

impl Decoder {
    /// A decoder for a stream of messages.
    pub fn new(plan: Arc<Plan>, options: DecodeOptions) -> Self {
        let options = options.fitted();
        Self {
            plan,
            accepted: options.accepted,
            options,
            scopes: Scopes::new(),
            skeleton: Skeleton::default(),
            loops: NodeLoops::default(),
            log: Log::default(),
            reader: State::new(&Options::with_limits(options.limits)),
            machine: Machine::new(ElementId(0)),
            arriving: Arriving::default(),
            events: 0,
            last: (0, 0),
            until: Until::END,
            most_memory: usize::MAX,
            is_fed: false,
            overruns: Vec::new(),
            held: None,
        }
    }

    /// Reads documents with a document type declaration too, which SOAP does not allow in messages: its internal subset is
    /// checked, entities and default attributes declared there apply, and nothing external is read.
    pub fn with_doctype(mut self) -> Self {
        let options = Options::with_limits(self.options.limits);
        self.reader = State::new(&options.doctype(DoctypePolicy::Skip));
        // The fast path reads values by their bytes, which may be references to those entities.
        self.options.fast = Fast::Off;
        self
    }

    /// The Plan that messages are read by.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// How messages are read: the options given, with the bounds of a Record that follow from the others.
    pub fn options(&self) -> &DecodeOptions {
        &self.options
    }

    /// Refuses all deviations until they are [accepted](Self::accept_deviations) again: for code that reads parts of a message
    /// again, which would not get the warnings of the other parts.
    pub fn refuse_deviations(&mut self) {
        self.options.accepted = Tolerance::Strict.into();
        self.options.is_whole = false;
    }

    /// Accepts the deviations that the options say.
    pub fn accept_deviations(&mut self) {
        self.options.accepted = self.accepted;
        self.options.is_whole = true;
    }

    /// Limits the memory of the Records that are read from now on: the bytes of their slots and strings, whatever the
    /// [options](DecodeOptions) allow. `usize::MAX` removes the limit, as [`forget`](Self::forget) does.
    ///
    /// The error for a larger Record [says so](Error::is_record_memory). The message can then be decoded again with a higher
    /// limit.
    pub fn limit_record(&mut self, bytes: usize) {
        self.most_memory = bytes;
    }

    /// Whether a Record with these numbers of slots and heap bytes, of a message with this number of bytes, is within the
    /// limits: for code that puts together what a decoder has read.
    pub fn allows(&self, slots: usize, heap: usize, length: u64) -> bool {
        let space = Space::of_whole(&self.options, self.most_memory, length);
        space.holds(&self.options, slots, heap)
    }

    /// How many events of the reader the last message took. Tags and values that were recognised by their bytes take none.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Forgets what was learned of the messages read, so that another stream may be read; keeps the memory.
    ///
    /// How long decoding takes reveals what a decoder learned: call this before another peer uses it.
    pub fn forget(&mut self) {
        self.skeleton = Skeleton::default();
        self.scopes.forget();
        self.reader.restart();
        self.machine.restart(ElementId(0));
        self.arriving = Arriving::default();
        self.last = (0, 0);
        self.most_memory = usize::MAX;
        self.give_back();
    }

    /// About how many bytes it holds between messages.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.skeleton.memory()
            + self.scopes.memory()
            + self.arriving.input.unread().len()
            + self.machine.text.value.capacity()
    }

    /// After a message: what a single long text has taken is not kept for the next.
    fn give_back(&mut self) {
        self.reader.give_back(LARGE);
        if self.machine.text.value.capacity() > LARGE {
            self.machine.text = frame::Gathered::default();
        }
        (self.machine.fragment, self.machine.check) = (None, None);
    }

    /// Reads a whole message, whose root element must be `root`. UTF-8 text is read in place.
    ///
    /// Deviations that the message has to be rewritten for are errors, even if the options accept them:
    /// [`Repair`](crate::repair::Repair) reads such messages.
    ///
    /// # Errors
    /// If it is not well-formed, or not what the Plan says.
    pub fn decode(&mut self, root: ElementId, message: &[u8]) -> Result<Record, Error> {
        let mut record = Record::new(self.plan.clone(), root);
        self.decode_into(root, message, &mut record)?;
        Ok(record)
    }

    /// Reads a whole message and accepts other deviations than the options say.
    pub(crate) fn decode_accepting(
        &mut self,
        accepted: Deviations,
        root: ElementId,
        message: &[u8],
    ) -> Result<Record, Error> {
        let usual = std::mem::replace(&mut self.options.accepted, accepted);
        let read = self.decode(root, message);
        self.options.accepted = usual;
        read
    }

    /// Reads a whole message into a Record of the same Plan, whose memory is used again.
    ///
    /// # Errors
    /// As [`decode`](Self::decode). The Record is then of no use.
    pub fn decode_into(
        &mut self,
        root: ElementId,
        message: &[u8],
        record: &mut Record,
    ) -> Result<(), Error> {
        self.restart(root);
        record.clear(root);
        record.plan = self.plan.clone();
        // As much as last time, but not much more than such a message can need.
        record
            .slots
            .reserve_exact(self.last.0.min(message.len() / 4 + 16));
        record.heap.reserve_exact(self.last.1.min(message.len()));
        let read = self.run_whole(message, record, None);
        self.give_back();
        read?;
        self.finished(record);
        Ok(())
    }

    fn run_whole(
        &mut self,
        message: &[u8],
        record: &mut Record,
        violations: Option<&mut Vec<Violation>>,
    ) -> Result<(), Error> {
        match bsoap_xml::decode_str(message) {
            Ok(text) => self.run(Piece::whole(&text), record, (), violations),
            Err(error) => {
                // An error before the bytes that are not text is reported first, as if they arrived in order.
                let mut input = Input::new();
                let _ = input.feed(message);
                let mut piece = Piece::whole(input.unread());
                piece.last = false;
                self.is_fed = true;
                let read = self.run(piece, record, (), violations);
                // As for bytes that are fed: behind an overrun, an error is reported only if the message is long enough.
                if self.overruns.is_empty() {
                    read?;
                }
                Err(error.into())
            }
        }
    }

    /// Begins a message that arrives in pieces. One that was begun before and not finished is given up.
    pub fn begin(&mut self, root: ElementId) {
        self.restart(root);
        self.is_fed = true;
        self.arriving.input.restart();
        self.arriving.failed = None;
        self.arriving.record = Some(Record::new(self.plan.clone(), root));
    }

    /// Reads on with more bytes of the message begun. If the Record becomes too large for the bytes fed so far
    /// ([`DecodeOptions::record_per_byte`]), the bytes are kept, and decoded when more of them or the end have come.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), as soon as it is known; then every further call says the same.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.advance(|input| input.feed(bytes))
    }

    /// The message begun has come to its end.
    ///
    /// # Errors
    /// As [`decode`](Self::decode); also if no message was begun.
    pub fn finish(&mut self) -> Result<Record, Error> {
        self.advance(Input::finish)?;
        let mut record = self.arriving.record.take().ok_or_else(not_begun)?;
        self.give_back();
        self.finished(&mut record);
        Ok(record)
    }

    fn advance(
        &mut self,
        step: impl FnOnce(&mut Input) -> bsoap_xml::Result<()>,
    ) -> Result<(), Error> {
        if let Some(error) = &self.arriving.failed {
            return Err(error.clone());
        }
        let mut arriving = std::mem::take(&mut self.arriving);
        let stepped = step(&mut arriving.input);
        let result = match &mut arriving.record {
            None => Err(not_begun()),
            Some(record) => {
                let input = &arriving.input;
                let last = input.is_finished() && stepped.is_ok();
                let window = Piece {
                    text: input.unread(),
                    base: input.offset(),
                    last,
                    beyond: 0,
                };
                self.run_fed(window, record)
                    .and(stepped.map_err(Error::from))
            }
        };
        match &result {
            Ok(()) if self.held.is_some() => {}
            Ok(()) => {
                let consumed = self.reader.offset() - arriving.input.offset();
                arriving.input.consume(consumed as usize);
            }
            Err(error) => arriving.failed = Some(error.clone()),
        }
        self.arriving = arriving;
        result
    }

    /// Decodes what has been fed of a message and was not decoded.
    fn run_fed(&mut self, window: Piece<'_>, record: &mut Record) -> Result<(), Error> {
        if window.last {
            let space = self.space_for(&window);
            let ended = space.ended_at(&self.options, &self.overruns);
            return match ended.or_else(|| self.held.take()) {
                Some(error) => Err(error),
                None => self.run(window, record, (), None),
            };
        }
        let space = self.space_for(&window);
        space.forgive(&mut self.overruns);
        let read = match self.held.take() {
            Some(error) => Err(error),
            None => self.run(window, record, (), None),
        };
        match read {
            Err(error) if !self.overruns.is_empty() => {
                self.held = Some(error);
                Ok(())
            }
            read => read,
        }
    }

    /// The limits of the Record of the message that this piece is of.
    #[inline]
    fn space_for(&self, piece: &Piece<'_>) -> Space {
        let length = piece.message_length();
        match self.is_fed && !piece.last {
            false => Space::of_whole(&self.options, self.most_memory, length),
            true => Space::of_part(&self.options, self.most_memory, length),
        }
    }

    /// Every violation of a message, as many as the [options](DecodeOptions::violations) say. Behind each it goes on; an
    /// element that is not allowed where it is is passed over, with all it contains. Only what is not well-formed ends
    /// it early.
    pub fn validate(&mut self, root: ElementId, message: &[u8]) -> Vec<Violation> {
        self.restart(root);
        let mut record = Record::new(self.plan.clone(), root);
        let mut violations = Vec::new();
        let result = self.run_whole(message, &mut record, Some(&mut violations));
        violations.extend(result.err());
        violations
    }

    fn restart(&mut self, root: ElementId) {
        self.reader.restart();
        self.machine.restart(root);
        if self.is_fed {
            self.is_fed = false;
            self.overruns.clear();
            self.held = None;
        }
        self.events = 0;
    }

    fn run<S: Sink>(
        &mut self,
        window: Piece<'_>,
        record: &mut Record,
        sink: S,
        violations: Option<&mut Vec<Violation>>,
    ) -> Result<(), Error> {
        let space = self.space_for(&window);
        let (plan, options, machine) = (&*self.plan, &self.options, &mut self.machine);
        self.log.is_on = false;
        let builder = Builder {
            plan,
            options,
            space,
            overruns: &mut self.overruns,
            is_long_list: false,
            machine,
            record,
            outer: None,
            sink,
            violations,
            deviations: Vec::new(),
            until: self.until,
            log: &mut self.log,
        };
        let mut run = Run {
            reader: &mut self.reader,
            scopes: &mut self.scopes,
            skeleton: &mut self.skeleton,
            origin: None,
            stops_at: None,
            is_at_end: false,
            loops: &mut self.loops,
            events: &mut self.events,
            builder,
        };
        run.run(window)
    }

    /// Gives back memory that was reserved for more than came.
    fn finished(&mut self, record: &mut Record) {
        self.last = (record.slots.len(), record.heap.len());
        fit(&mut record.slots, 32);
        fit(&mut record.heap, 256);
        record.assume_checked();
    }
}

/// A twentieth of slack is left alone, and what is too little to be worth a copy.
fn fit<T>(values: &mut Vec<T>, little: usize) {
    if values.capacity() > values.len() + values.len() / 20 + little {
        values.shrink_to_fit();
    }
}

#[cold]
fn not_begun() -> Error {
    Error::new(ErrorKind::UnexpectedEnd, String::new(), 0)
}
