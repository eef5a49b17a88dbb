//! Receiving by portions and checkpoints, as in the papers.
//!
//! N. Abu-Ghazaleh and M. J. Lewis, *Differential Deserialization for Optimized SOAP Performance* (2005), and *Lightweight
//! Checkpointing for Faster SOAP Deserialization* (2006). What they leave open is decided in `docs/design/checkpointing.md`.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::decode::{DecodeOptions, Decoder, Error, Piece, Until};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_xml::Input;
use bytes::Bytes;

use super::checkpointer::{Checkpointer, Reading};
use super::differential::Differential;
use super::digest::Digest;
use super::full::Full;
use super::lightweight::Lightweight;
use super::modes::{Modes, Saved};
use super::portion::{Entry, Mark, Portions};
use super::portioning::{Checkpoints, Portioning};
use crate::receive::arriving::{self, Arriving, Receiver as _};
use crate::receive::aside::{Aside, Turn};
use crate::receive::change::Changes;
use crate::receive::received::{Fail, Flow};
use crate::receive::received::{Mode, Received, Totals};
use crate::receive::text::{Text, cut, opening};

/// Reads the messages of a stream by portions: those that are the same as in the message before are not read again.
///
/// The Record of a message, and its errors, are those that a fresh [`Decoder`] gives. Messages come
/// [in one piece](Self::receive) or [as they arrive](Self::begin).
#[derive(Debug)]
pub struct Portioned {
    receiver: Receiver,
}

#[derive(Debug)]
enum Receiver {
    Full(Box<Receiving<Full>>),
    Differential(Box<Receiving<Differential>>),
    Lightweight(Box<Receiving<Lightweight>>),
}

macro_rules! each {
    ($self:expr, $it:ident => $do:expr) => {
        match $self {
            Receiver::Full($it) => $do,
            Receiver::Differential($it) => $do,
            Receiver::Lightweight($it) => $do,
        }
    };
}

impl Portioned {
    /// For messages that are read by this Plan.
    pub fn new(plan: Arc<Plan>, options: DecodeOptions, portioning: Portioning) -> Self {
        Self::with_decoder(Decoder::new(plan, options), portioning)
    }

    /// The same with a decoder that may know the spelling of such messages already.
    pub fn with_decoder(decoder: Decoder, portioning: Portioning) -> Self {
        let receiver = match portioning.checkpoints {
            Checkpoints::Full => Receiver::Full(Box::new(Receiving::new(decoder, portioning))),
            Checkpoints::Differential => {
                Receiver::Differential(Box::new(Receiving::new(decoder, portioning)))
            }
            Checkpoints::Lightweight => {
                Receiver::Lightweight(Box::new(Receiving::new(decoder, portioning)))
            }
        };
        Self { receiver }
    }

    /// Its decoder, which knows the spelling of the messages read.
    pub fn into_decoder(self) -> Decoder {
        each!(self.receiver, it => it.decoder)
    }

    /// The Plan that messages are read by.
    pub fn plan(&self) -> &Arc<Plan> {
        each!(&self.receiver, it => it.decoder.plan())
    }

    /// What has been done so far: `restructured` counts how often the decoder read on in regular mode.
    pub fn totals(&self) -> Totals {
        each!(&self.receiver, it => it.totals)
    }

    /// Whether the next message will be read without comparing, since the last ones were not alike.
    pub fn stands_aside(&self) -> bool {
        each!(&self.receiver, it => it.portioning.stands_aside && it.aside.is_on())
    }

    /// Whether the next message will neither be compared nor kept.
    pub fn passes(&self) -> bool {
        each!(&self.receiver, it => it.portioning.stands_aside && it.aside.passes())
    }

    /// About how many bytes it holds between messages.
    pub fn memory(&self) -> usize {
        each!(&self.receiver, it => it.memory())
    }

    /// How many checkpoints it holds, and how many bytes they take: where they are and what was saved there, without
    /// digests and text.
    pub fn checkpoints(&self) -> (usize, usize) {
        each!(&self.receiver, it => it.checkpoints())
    }

    /// How many bytes are held for the next message beside the Record: checkpoints, digests, text.
    pub fn history_memory(&self) -> usize {
        each!(&self.receiver, it => it.history_memory())
    }

    /// Forgets the messages read and all that was learned of them, so that another stream may be read.
    pub fn forget(&mut self) {
        each!(&mut self.receiver, it => it.forget());
    }

    /// Reads a whole message, whose root element must be `root`.
    ///
    /// # Errors
    /// As [`Decoder::decode`]. The message before is forgotten then.
    pub fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        each!(&mut self.receiver, it => it.receive(root, message))
    }

    /// Begins a message that arrives in pieces. One that was begun before and not finished is given up.
    pub fn begin(&mut self, root: ElementId) {
        each!(&mut self.receiver, it => it.begin(root));
    }

    /// Goes on with more bytes of the message begun.
    ///
    /// # Errors
    /// As [`Decoder::feed`], now or when the message is [finished](Self::finish); then every further call says the same.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        each!(&mut self.receiver, it => it.step(|input| input.feed(bytes), false))
    }

    /// The message begun has come to its end.
    ///
    /// # Errors
    /// As [`Decoder::finish`].
    pub fn finish(&mut self) -> Result<Received, Error> {
        each!(&mut self.receiver, it => it.last_step())
    }
}

/// A stream that is received in one of the ways.
#[derive(Debug)]
struct Receiving<C: Checkpointer> {
    decoder: Decoder,
    portioning: Portioning,
    keeper: C,
    saved: Option<Saved<C::Saved>>,
    aside: Aside,
    arriving: Option<Arriving<Way<C::Saved>>>,
    /// Memory of a Record that nobody holds.
    spare: Option<Record>,
    totals: Totals,
}

/// What is done with a message on its way in.
#[derive(Debug)]
pub(super) enum Way<S> {
    /// It is compared with the message before.
    Modes(Box<Modes<S>>),
    /// It is read in regular mode, and kept.
    Regular(Box<Regular<S>>),
    /// It is read, and nothing kept.
    Alone(Box<Record>),
}

#[derive(Debug)]
pub(super) struct Regular<S> {
    record: Record,
    portions: Portions<S>,
}

/// So much text is read at most before it is digested.
const NEAR: usize = 256 << 10;

/// So many bytes of strings that are no more are left alone.
const WORN: usize = 64 << 10;

impl<C: Checkpointer> Receiving<C> {
    fn new(decoder: Decoder, mut portioning: Portioning) -> Self {
        portioning.interrupt = portioning.interrupt.max(16);
        portioning.buffer = portioning.buffer.max(16);
        Self {
            decoder,
            portioning,
            keeper: C::new(&portioning),
            saved: None,
            aside: Aside::default(),
            arriving: None,
            spare: None,
            totals: Totals::default(),
        }
    }

    fn digest(&self) -> Option<&'static dyn Digest> {
        self.portioning.sameness.digest()
    }

    fn memory(&self) -> usize {
        let record = self.saved.as_ref().map_or(0, |saved| saved.record.memory());
        self.decoder.memory() + self.history_memory() + record
    }

    fn history_memory(&self) -> usize {
        let Some(saved) = &self.saved else {
            return 0;
        };
        let text = saved.text.as_ref().map_or(0, |text| text.bytes().len());
        size_of_val(saved) + text + saved.portions.digest_memory() + self.checkpoints().1
    }

    fn checkpoints(&self) -> (usize, usize) {
        self.saved.as_ref().map_or((0, 0), |saved| {
            let entries = &saved.portions.entries;
            let own = saved.portions.memory() - saved.portions.digest_memory();
            (entries.len(), own + self.keeper.memory(entries))
        })
    }

    fn forget(&mut self) {
        self.decoder.forget();
        self.keeper.clear();
        self.saved = None;
        self.aside = Aside::default();
        self.arriving = None;
        self.spare = None;
    }

    fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        self.arriving = None;
        self.totals.messages += 1;
        match self.turn() {
            Turn::Compare => {}
            Turn::Keep => return self.regular(root, &message),
            Turn::Pass => return self.alone(root, &message),
        }
        let Some(saved) = self.saved.take().filter(|saved| saved.root == root) else {
            return self.regular(root, &message);
        };
        let Some(text) = text_of(&saved, &message).filter(|text| self.fits(text.bytes().len()))
        else {
            return self.regular(root, &message);
        };
        let mut modes = Modes::new(saved, self.spare.take());
        let (keeper, decoder) = (&mut self.keeper, &mut self.decoder);
        let digest = self.portioning.sameness.digest();
        let flow = modes.advance(keeper, decoder, digest, text.bytes(), true);
        if flow == Ok(Flow::Done)
            && let Ok(received) = self.end_modes(modes, text)
        {
            return Ok(received);
        }
        self.totals.failed += 1;
        self.regular(root, &message)
    }

    fn turn(&mut self) -> Turn {
        match self.portioning.stands_aside {
            true => self.aside.turn(),
            false => Turn::Compare,
        }
    }

    /// Whether a text is short enough for all that counts its bytes.
    fn fits(&self, length: usize) -> bool {
        length as u64 <= self.decoder.options().limits.total_size && length < u32::MAX as usize
    }

    fn end_modes(&mut self, modes: Modes<C::Saved>, text: Text) -> Result<Received, Text> {
        let (length, read, switches) = (text.bytes().len(), modes.read, modes.switches);
        let digest = self.digest();
        let finished = modes.finish(&mut self.keeper, &self.decoder, digest, text);
        let (saved, changes, spare) = finished?;
        self.spare = spare;
        self.totals.fast += 1;
        self.totals.restructured += switches;
        let record = saved.record.clone();
        let is_worn = record.heap().len() > 2 * saved.heap + WORN;
        let is_alike = read <= length - length / 8;
        let stands_aside = self.portioning.stands_aside && self.aside.learn(is_alike);
        if !stands_aside && !is_worn {
            self.saved = Some(saved);
        }
        Ok(Received {
            record,
            changes,
            mode: Mode::Fast,
        })
    }

    /// Reads all of a message and keeps nothing.
    fn alone(&mut self, root: ElementId, message: &[u8]) -> Result<Received, Error> {
        self.totals.aside += 1;
        self.saved = None;
        self.spare = None;
        let record = Arc::new(self.decoder.decode(root, message)?);
        Ok(Received {
            record,
            changes: Changes::all(),
            mode: Mode::Aside,
        })
    }

    /// Reads all of a message and keeps it.
    fn regular(&mut self, root: ElementId, message: &Bytes) -> Result<Received, Error> {
        self.saved = None;
        let text = match bsoap_xml::decode_str(message) {
            Ok(Cow::Borrowed(text)) if self.fits(text.len()) => text,
            _ => return self.alone(root, message),
        };
        let mut regular = self.begin_regular(root);
        if self.read_regular(&mut regular, text, true).is_err() {
            // Said of all of it.
            return self.alone(root, message);
        }
        let text = Text::Came(message.clone(), message.len() - text.len());
        Ok(self.end_regular(root, regular, text))
    }

    fn begin_regular(&mut self, root: ElementId) -> Regular<C::Saved> {
        self.keeper.clear();
        self.decoder.start(root);
        let record = match self.spare.take() {
            Some(mut spare) => {
                spare.clear(root);
                spare
            }
            None => Record::new(self.decoder.plan().clone(), root),
        };
        let mut portions = Portions::default();
        let mark = Mark {
            offset: 0,
            slots: 0,
        };
        let saved = self.keeper.save(&mut self.decoder, &record);
        portions.entries.push(Entry { mark, saved });
        Regular { record, portions }
    }

    fn read_regular(
        &mut self,
        regular: &mut Regular<C::Saved>,
        text: &str,
        last: bool,
    ) -> Result<(), Fail> {
        let digest = self.digest();
        // Digested while the text is near.
        let mut is_cut = digest.is_some();
        loop {
            let from = self.decoder.offset() as usize;
            let near = is_cut.then(|| cut(text.as_bytes(), from, from + NEAR));
            let end = near.flatten().unwrap_or(text.len());
            let reading = Reading {
                decoder: &mut self.decoder,
                record: &mut regular.record,
                text: text.as_bytes(),
                end,
                last: last && end == text.len(),
                until: Until::END,
            };
            self.keeper.read(reading, &mut regular.portions.entries)?;
            regular.portions.digest_closed(digest, text.as_bytes());
            if end == text.len() {
                return Ok(());
            }
            // In a comment, say, nothing is read that ends before it does.
            is_cut = self.decoder.offset() as usize > from;
        }
    }

    fn end_regular(&mut self, root: ElementId, regular: Regular<C::Saved>, text: Text) -> Received {
        let Regular {
            mut record,
            mut portions,
        } = regular;
        let digest = self.digest();
        let length = text.bytes().len();
        portions.digest(digest, text.bytes(), length);
        portions.length = length;
        portions.fit();
        self.keeper.tidy(&mut portions.entries);
        fit(record.parts_mut().0, 32);
        fit(record.parts_mut().1, 256);
        let heap = record.heap().len();
        let record = Arc::new(record);
        let told = opening(text.bytes()).min(length);
        self.saved = Some(Saved {
            root,
            opening: text.bytes()[..told].into(),
            mark: text.mark(),
            text: digest.is_none().then_some(text),
            portions,
            record: record.clone(),
            heap,
        });
        Received {
            record,
            changes: Changes::all(),
            mode: Mode::Regular,
        }
    }

    fn begin(&mut self, root: ElementId) {
        self.totals.messages += 1;
        let turn = self.turn();
        let saved = self.saved.take().filter(|saved| saved.root == root);
        let way = match (turn, saved) {
            (Turn::Compare, Some(saved)) => {
                Way::Modes(Box::new(Modes::new(saved, self.spare.take())))
            }
            (Turn::Pass, _) => self.begin_alone(root),
            _ => Way::Regular(Box::new(self.begin_regular(root))),
        };
        self.arriving = Some(Arriving::new(root, Input::new(), way));
    }

    fn begin_alone(&mut self, root: ElementId) -> Way<C::Saved> {
        self.saved = None;
        self.decoder.start(root);
        Way::Alone(Box::new(Record::new(self.decoder.plan().clone(), root)))
    }
}

impl<C: Checkpointer> arriving::Receiver for Receiving<C> {
    type Reading = Way<C::Saved>;

    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    fn arriving(&mut self) -> &mut Option<Arriving<Way<C::Saved>>> {
        &mut self.arriving
    }

    fn read_on(
        &mut self,
        arriving: &mut Arriving<Way<C::Saved>>,
        stepped: bsoap_xml::Result<()>,
        last: bool,
    ) -> Result<(), Error> {
        let text = arriving.input.unread();
        let is_all = last && stepped.is_ok();
        let is_wrong = stepped.is_err() || !self.fits(text.len());
        let digest = self.digest();
        if let Way::Modes(modes) = &mut arriving.reading {
            let (keeper, decoder) = (&mut self.keeper, &mut self.decoder);
            let is_compared = !is_wrong
                && modes
                    .advance(keeper, decoder, digest, text.as_bytes(), is_all)
                    .is_ok();
            if !is_compared {
                self.totals.failed += 1;
                let root = modes.root();
                arriving.reading = Way::Regular(Box::new(self.begin_regular(root)));
            }
        }
        if let Way::Regular(regular) = &mut arriving.reading {
            let is_read = !is_wrong && self.read_regular(regular, text, is_all).is_ok();
            if !is_read {
                // Read as one that is not kept; then it says what is wrong.
                arriving.reading = self.begin_alone(arriving.root);
            }
        }
        if let Way::Alone(record) = &mut arriving.reading {
            let from = self.decoder.offset() as usize;
            let piece = Piece {
                text: text.get(from..).unwrap_or_default(),
                base: from as u64,
                last: is_all,
                beyond: 0,
            };
            self.decoder.read(piece, record, None)?;
        }
        stepped.map_err(Error::from)
    }

    fn end(&mut self, arriving: Arriving<Way<C::Saved>>) -> Result<Received, Error> {
        let root = arriving.root;
        let text = Text::Made(arriving.input.into_text());
        match arriving.reading {
            Way::Regular(regular) => Ok(self.end_regular(root, *regular, text)),
            Way::Alone(record) => {
                self.totals.aside += 1;
                Ok(Received {
                    record: Arc::new(*record),
                    changes: Changes::all(),
                    mode: Mode::Aside,
                })
            }
            Way::Modes(modes) => match self.end_modes(*modes, text) {
                Ok(received) => Ok(received),
                Err(text) => {
                    self.totals.failed += 1;
                    self.alone(root, text.bytes())
                }
            },
        }
    }
}

/// The text of a message that is in UTF-8 if the one before is.
fn text_of<S>(saved: &Saved<S>, message: &Bytes) -> Option<Text> {
    if let Some(mark) = saved.mark {
        let marked = message.starts_with(MARK);
        let same = marked == (mark == MARK.len())
            && message
                .get(mark..)
                .is_some_and(|text| text.starts_with(&saved.opening));
        if same {
            return Some(Text::Came(message.clone(), mark));
        }
    }
    match bsoap_xml::decode_str(message).ok()? {
        Cow::Borrowed(text) => Some(Text::Came(message.clone(), message.len() - text.len())),
        Cow::Owned(text) => Some(Text::Made(text)),
    }
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A twentieth of slack is left alone, and what is too little to be worth a copy.
fn fit<T>(values: &mut Vec<T>, little: usize) {
    if values.capacity() > values.len() + values.len() / 20 + little {
        values.shrink_to_fit();
    }
}
