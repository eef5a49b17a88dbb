//! `exact`: the text of the message before is kept, and compared byte by byte.

mod apply;
mod follow;
mod history;
mod in_step;
mod locate;
mod numbers;
mod pass;
mod restructure;
mod rooms;
mod scattered;
mod stretch;
mod strings;
mod texts;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use bsoap_codec::decode::{Checkpoint, DecodeOptions, Decoder, Error, Piece, Trace};
use bsoap_codec::plan::ElementId;
use bsoap_codec::{Plan, Record};
use bsoap_xml::Input;
use bytes::Bytes;

use super::arriving::{Arriving, Receiver};
use super::aside::{Aside, Turn, look_alike};
use super::change::Changes;
use super::pace::Pace;
use super::policy::Policy;
use super::received::{Fail, Mode, Received, Totals};
use super::text::{Text, cut, opening};
use history::{History, Root};
use pass::Pass;
use rooms::Rooms;

/// Reads the messages of a stream, each as what differs from the one before.
///
/// The Record of a message, and its errors, are those that a fresh [`Decoder`] gives. Messages come
/// [in one piece](Self::receive) or [as they arrive](Self::begin).
#[derive(Debug)]
pub struct Exact {
    decoder: Decoder,
    policy: Policy,
    history: Option<History>,
    aside: Aside,
    pace: Pace,
    /// Between messages, to be used again.
    pass: Option<Box<Pass>>,
    arriving: Option<Arriving<Reading>>,
    /// Memory of strings that are no more, and that of the last message's reading.
    spare: Option<String>,
    unused: Unused,
    /// The message before, if that was read without comparing and this one is to be looked at.
    glimpse: Option<Bytes>,
    /// The Record of the last message, if that is of use for its memory only.
    handed: Option<Arc<Record>>,
    /// Slots and octets of the last message that was read and kept.
    size: (usize, usize),
    totals: Totals,
}

/// Memory of a history that is no more.
#[derive(Debug, Default)]
struct Unused {
    trace: Trace,
    checkpoints: Vec<Checkpoint>,
}

impl Unused {
    fn take_from(&mut self, history: &mut History) {
        self.trace = std::mem::take(&mut history.trace);
        self.checkpoints = std::mem::take(&mut history.checkpoints);
        self.trace.clear();
        self.checkpoints.clear();
    }

    fn memory(&self) -> usize {
        self.trace.memory() + self.checkpoints.capacity() * size_of::<Checkpoint>()
    }
}

/// What is done with a message on its way in.
#[derive(Debug)]
pub(super) enum Reading {
    Compare(Box<Pass>),
    Read(Box<Regular>),
}

/// A message that is read as a whole.
#[derive(Debug)]
pub(super) struct Regular {
    policy: Policy,
    record: Record,
    /// Nothing, if it is not to be kept.
    trace: Option<Trace>,
    checkpoints: Vec<Checkpoint>,
    /// So much of the text the decoder has seen.
    seen: usize,
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

impl Exact {
    /// For a stream of messages.
    pub fn new(plan: Arc<Plan>, options: DecodeOptions) -> Self {
        Self::with_policy(plan, options, Policy::default())
    }

    /// The same with other choices than the usual.
    pub fn with_policy(plan: Arc<Plan>, options: DecodeOptions, policy: Policy) -> Self {
        Self::with_decoder(Decoder::new(plan, options), policy)
    }

    /// The same with a decoder that may know the spelling of such messages already.
    pub fn with_decoder(decoder: Decoder, policy: Policy) -> Self {
        Self {
            decoder,
            policy,
            history: None,
            aside: Aside::default(),
            pace: Pace::default(),
            pass: None,
            arriving: None,
            spare: None,
            unused: Unused::default(),
            glimpse: None,
            handed: None,
            size: (0, 0),
            totals: Totals::default(),
        }
    }

    /// The Plan that messages are read by.
    pub fn plan(&self) -> &Arc<Plan> {
        self.decoder.plan()
    }

    /// The decoder, which knows the spelling of the messages read.
    pub fn into_decoder(self) -> Decoder {
        self.decoder
    }

    /// What has been done so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Whether the next message will be read without comparing, since the last ones were not alike.
    pub fn stands_aside(&self) -> bool {
        self.aside.is_on()
    }

    /// Whether the next message will neither be compared nor kept.
    pub fn passes(&self) -> bool {
        self.aside.passes()
    }

    /// Leaves out a message that would [neither be compared nor kept](Self::passes), and is read elsewhere. Whether the next
    /// one is such a message.
    pub fn pass(&mut self) -> bool {
        let passes = self.aside.passes();
        if passes {
            self.aside.turn();
            self.totals.messages += 1;
            self.totals.aside += 1;
            self.let_go();
        }
        passes
    }

    /// About how many bytes it holds between messages.
    pub fn memory(&self) -> usize {
        let history = self.history.as_ref().map_or(0, History::memory);
        let glimpse = self.glimpse.as_ref().map_or(0, Bytes::len);
        let handed = self.handed.as_ref().map_or(0, |record| record.memory());
        self.decoder.memory() + history + self.unused.memory() + glimpse + handed
    }

    /// How many checkpoints it holds, and how many bytes they take.
    pub fn checkpoints(&self) -> (usize, usize) {
        self.history.as_ref().map_or((0, 0), |history| {
            (history.checkpoints.len(), history.checkpoint_memory())
        })
    }

    /// Forgets the messages read and all that was learned of them, so that another stream may be read.
    pub fn forget(&mut self) {
        self.decoder.forget();
        self.history = None;
        self.aside = Aside::default();
        self.pace = Pace::default();
        self.pass = None;
        self.arriving = None;
        self.spare = None;
        self.unused = Unused::default();
        self.glimpse = None;
        self.handed = None;
    }

    /// Reads a whole message, whose root element must be `root`. It is kept, as it is, for the next one.
    ///
    /// # Errors
    /// As [`Decoder::decode`]. The message before is forgotten then, or kept.
    pub fn receive(&mut self, root: ElementId, message: Bytes) -> Result<Received, Error> {
        self.arriving = None;
        self.totals.messages += 1;
        match self.aside.turn() {
            Turn::Compare => {}
            Turn::Keep if self.aside.is_sceptical() => {
                let received = self.pass_by(root, &message)?;
                self.glimpse = Some(message);
                return Ok(received);
            }
            Turn::Keep => return self.regular(root, &message),
            Turn::Pass => return self.pass_by(root, &message),
        }
        if let Some(before) = self.glimpse.take()
            && !look_alike(&before, &message)
        {
            self.aside.learn(false);
            return self.pass_by(root, &message);
        }
        if self.history.as_ref().is_none_or(|it| it.root != Root(root)) {
            return self.regular(root, &message);
        }
        let limits = &self.decoder.options().limits;
        let length = message.len() as u64;
        let Some(text) = self.text_of(&message) else {
            return self.regular(root, &message);
        };
        if length > limits.total_size || length >= u64::from(u32::MAX) {
            return self.regular(root, &message);
        }
        let since = self.pace.start(message.len());
        let Some(mut pass) = self.begin_pass() else {
            return self.regular(root, &message);
        };
        match pass.advance(&mut self.decoder, text.bytes(), true) {
            Ok(_) => {
                if let Ok(received) = self.end_pass(pass, text, since) {
                    return Ok(received);
                }
            }
            Err(_) if self.is_left_aside(pass) => return self.pass_by(root, &message),
            Err(_) => {}
        }
        self.totals.failed += 1;
        self.regular(root, &message)
    }

    /// Reads a whole message if it is the one before, byte for byte. Then none of it is kept: what is there is as good.
    pub(super) fn again(&mut self, root: ElementId, message: &[u8]) -> Option<Received> {
        let history = self.history.as_ref()?;
        if self.aside.is_on() || history.root != Root(root) || !history.text.came_as(message) {
            return None;
        }
        let record = history.record.clone()?;
        self.arriving = None;
        self.aside.learn(true);
        self.totals.messages += 1;
        self.totals.fast += 1;
        Some(Received {
            record,
            changes: Changes::default(),
            mode: Mode::Fast,
        })
    }

    /// A message could not be compared to its end. Whether that is because it is not like the one before, so that it need
    /// not be kept.
    fn is_left_aside(&mut self, mut pass: Box<Pass>) -> bool {
        let is_unlike = pass.gave_up && self.policy.stands_aside && self.aside.learn(false);
        self.reuse(&mut pass.history);
        pass.give_back();
        self.pass = Some(pass);
        is_unlike
    }

    /// The text of a message that is in UTF-8 if the one before is, up to where they differ.
    fn text_of(&self, message: &Bytes) -> Option<Text> {
        let mark = usize::from(message.starts_with(MARK)) * MARK.len();
        let before = self.history.as_ref()?.text.mark();
        if before == Some(mark) {
            return Some(Text::Came(message.clone(), mark));
        }
        match bsoap_xml::decode_str(message).ok()? {
            Cow::Borrowed(text) => Some(Text::Came(message.clone(), message.len() - text.len())),
            Cow::Owned(text) => Some(Text::Made(text)),
        }
    }

    fn begin_pass(&mut self) -> Option<Box<Pass>> {
        let history = self.history.take()?;
        let mut pass = match self.pass.take() {
            Some(pass) => pass,
            None => Box::new(Pass::new(self.policy, self.decoder.plan())),
        };
        pass.start(history);
        Some(pass)
    }

    /// `since`: when it began, if nobody was waited for.
    fn end_pass(
        &mut self,
        mut pass: Box<Pass>,
        text: Text,
        since: Option<Instant>,
    ) -> Result<Received, Text> {
        self.totals.touched += pass.touched as u64;
        self.totals.restructured += pass.splices.len() as u64;
        // It takes a while to tell, and is told by the clock where that is looked at.
        let is_timed = since.is_some() && self.pace.is_known();
        let is_worth_it = is_timed || pass.was_worth_it();
        let length = text.bytes().len();
        let (mut history, changes, rest) = pass.finish(&self.decoder, text)?;
        let is_in_doubt = since.is_some_and(|since| self.pace.is_in_doubt(length, since));
        let alike = !pass.gave_up
            && since
                .and_then(|since| self.pace.is_beaten(length, since))
                .unwrap_or(is_worth_it);
        pass.give_back();
        self.pass = Some(pass);
        if let Text::Made(memory) = rest {
            self.spare = Some(memory);
        }
        let Some(record) = history.record.clone() else {
            return Err(history.text);
        };
        self.totals.fast += 1;
        let is_worn = record.heap().len() > 2 * history.heap + WORN;
        // Strings that are no more take room; now and then all is read, which leaves them out.
        let stands_aside = self.policy.stands_aside && self.aside.learn(alike);
        if is_worn || is_in_doubt {
            // All of the next message is read: with new memory that would take longer, and be taken for what reading takes.
            self.reuse(&mut history);
        } else if !stands_aside {
            self.history = Some(history);
        }
        Ok(Received {
            record,
            changes,
            mode: Mode::Fast,
        })
    }

    /// The message before is of no use any more, but for its memory.
    fn let_go(&mut self) {
        if let Some(mut history) = self.history.take() {
            self.reuse(&mut history);
        }
    }

    fn reuse(&mut self, history: &mut History) {
        self.unused.take_from(history);
        if self.handed.is_none() {
            self.handed = history.record.take();
        }
    }

    /// For a message that is read as a whole, of which so much is there.
    fn begin_regular(&mut self, root: ElementId, is_kept: bool, length: usize) -> Regular {
        self.decoder.start(root);
        let mut record = Arc::try_unwrap(self.unheld(root))
            .unwrap_or_else(|held| Record::new(held.plan().clone(), root));
        record.clear(root);
        // As much as last time, but not much more than such a message can need.
        let (slots, heap) = record.parts_mut();
        slots.reserve_exact(self.size.0.min(length / 4));
        heap.reserve_exact(self.size.1.min(length));
        Regular {
            policy: self.policy,
            record,
            trace: is_kept.then(|| std::mem::take(&mut self.unused.trace)),
            checkpoints: std::mem::take(&mut self.unused.checkpoints),
            seen: 0,
        }
    }

    /// Reads all of a message and keeps nothing.
    fn pass_by(&mut self, root: ElementId, message: &[u8]) -> Result<Received, Error> {
        self.totals.aside += 1;
        self.let_go();
        let mut shared = self.unheld(root);
        let since = self.pace.start(message.len());
        // (If somebody keeps a weak one, he loses it.)
        let record = Arc::make_mut(&mut shared);
        self.decoder.decode_into(root, message, record)?;
        self.pace.learn(message.len(), since, false);
        self.handed = Some(shared.clone());
        Ok(Received {
            record: shared,
            changes: Changes::all(),
            mode: Mode::Aside,
        })
    }

    /// A Record that nobody else holds: that of the last message that was only read, if it is one.
    fn unheld(&mut self, root: ElementId) -> Arc<Record> {
        let handed = self.handed.take();
        // (To ask for it to be changed takes as long as a value, and is done where it is.)
        handed
            .filter(|record| Arc::strong_count(record) == 1)
            .unwrap_or_else(|| Arc::new(Record::new(self.decoder.plan().clone(), root)))
    }

    /// Reads all of a message and keeps it.
    fn regular(&mut self, root: ElementId, message: &Bytes) -> Result<Received, Error> {
        self.let_go();
        let text = match bsoap_xml::decode_str(message) {
            Ok(Cow::Borrowed(text)) if message.len() < u32::MAX as usize => text,
            _ => return self.pass_by(root, message),
        };
        let mut regular = self.begin_regular(root, true, text.len());
        let since = self.pace.start(text.len());
        let read = regular.read(&mut self.decoder, text, true);
        self.pace.learn(text.len(), since, true);
        if read.is_err() {
            // Said of all of it.
            return self.pass_by(root, message);
        }
        let text = Text::Came(message.clone(), message.len() - text.len());
        Ok(self.end_regular(root, regular, text))
    }

    fn end_regular(&mut self, root: ElementId, regular: Regular, text: Text) -> Received {
        let Regular {
            mut record,
            trace,
            checkpoints,
            ..
        } = regular;
        fit(record.parts_mut().0, 32);
        fit(record.parts_mut().1, 256);
        let (slots, heap) = (record.slots().len(), record.heap().len());
        self.size = (slots, heap);
        let record = Arc::new(record);
        let mode = match trace {
            Some(mut trace) => {
                trace.fit(slots, text.bytes().len() as u32);
                fit_loosely(&mut trace.starts);
                fit_loosely(&mut trace.sites);
                self.history = Some(History {
                    root: Root(root),
                    opened: opening(text.bytes()),
                    text,
                    trace,
                    record: Some(record.clone()),
                    rooms: Rooms::default(),
                    checkpoints,
                    heap,
                });
                Mode::Regular
            }
            None => {
                self.totals.aside += 1;
                Mode::Aside
            }
        };
        Received {
            record,
            changes: Changes::all(),
            mode,
        }
    }

    /// Begins a message that arrives in pieces. One that was begun before and not finished is given up.
    pub fn begin(&mut self, root: ElementId) {
        self.totals.messages += 1;
        let mut input = Input::new();
        if let Some(spare) = self.spare.take() {
            input.use_memory(spare);
        }
        self.glimpse = None;
        let turn = self.aside.turn();
        let is_like = self
            .history
            .as_ref()
            .is_some_and(|it| it.root == Root(root));
        let pass = match turn {
            Turn::Compare if is_like => self.begin_pass(),
            _ => None,
        };
        let reading = match pass {
            Some(pass) => Reading::Compare(pass),
            None => {
                self.let_go();
                Reading::Read(Box::new(self.begin_regular(root, turn != Turn::Pass, 0)))
            }
        };
        self.arriving = Some(Arriving::new(root, input, reading));
    }

    /// Goes on with more bytes of the message begun.
    ///
    /// # Errors
    /// As [`Decoder::feed`], now or when the message is [finished](Self::finish); then every further call says the same.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.step(|input| input.feed(bytes), false)
    }

    /// The message begun has come to its end.
    ///
    /// # Errors
    /// As [`Decoder::finish`].
    pub fn finish(&mut self) -> Result<Received, Error> {
        self.last_step()
    }
}

impl Receiver for Exact {
    type Reading = Reading;

    fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    fn arriving(&mut self) -> &mut Option<Arriving<Reading>> {
        &mut self.arriving
    }

    fn read_on(
        &mut self,
        arriving: &mut Arriving<Reading>,
        stepped: bsoap_xml::Result<()>,
        last: bool,
    ) -> Result<(), Error> {
        let text = arriving.input.unread();
        let is_all = last && stepped.is_ok();
        let length = text.len() as u64;
        let is_long =
            length > self.decoder.options().limits.total_size || length >= u64::from(u32::MAX);
        if let Reading::Compare(pass) = &mut arriving.reading {
            let flow = match is_long || stepped.is_err() {
                true => Err(Fail),
                false => pass.advance(&mut self.decoder, text.as_bytes(), is_all),
            };
            if flow.is_ok() {
                return Ok(());
            }
            let length = text.len();
            let regular = self.begin_regular(arriving.root, !is_long, length);
            let regular = Reading::Read(Box::new(regular));
            let compared = std::mem::replace(&mut arriving.reading, regular);
            if let (Reading::Compare(pass), Reading::Read(regular)) =
                (compared, &mut arriving.reading)
            {
                match self.is_left_aside(pass) {
                    true => regular.trace = None,
                    false => self.totals.failed += 1,
                }
            }
        }
        if let Reading::Read(regular) = &mut arriving.reading {
            if is_long {
                regular.trace = None;
            }
            regular.read(&mut self.decoder, text, is_all)?;
        }
        stepped.map_err(Error::from)
    }

    fn end(&mut self, arriving: Arriving<Reading>) -> Result<Received, Error> {
        let (root, text) = (arriving.root, arriving.input.into_text());
        match arriving.reading {
            Reading::Read(regular) => Ok(self.end_regular(root, *regular, Text::Made(text))),
            Reading::Compare(pass) => self.end_pass(pass, Text::Made(text), None).or_else(|text| {
                self.totals.failed += 1;
                let mut regular = self.begin_regular(root, true, text.bytes().len());
                let read = std::str::from_utf8(text.bytes()).unwrap_or_default();
                regular.read(&mut self.decoder, read, true)?;
                Ok(self.end_regular(root, regular, text))
            }),
        }
    }
}

/// So many bytes of strings that are no more are left alone.
const WORN: usize = 64 << 10;

/// A twentieth of slack is left alone, and what is too little to be worth a copy.
fn fit<T>(values: &mut Vec<T>, little: usize) {
    if values.capacity() > values.len() + values.len() / 20 + little {
        values.shrink_to_fit();
    }
}

/// What a much larger message took is given back.
fn fit_loosely<T>(values: &mut Vec<T>) {
    if values.capacity() > 2 * values.len() + 4096 {
        values.shrink_to_fit();
    }
}

impl Regular {
    /// Reads on in a text, which is there from its beginning, and takes checkpoints.
    fn read(&mut self, decoder: &mut Decoder, text: &str, last: bool) -> Result<(), Error> {
        if self.checkpoints.is_empty() {
            self.checkpoints.push(decoder.checkpoint(&self.record));
        }
        if self.trace.is_some() {
            let stretch = self.policy.spacing(text.len());
            loop {
                let from = self.seen.max(self.taken());
                let Some(end) = cut(text.as_bytes(), from, from + stretch) else {
                    break;
                };
                self.read_to(decoder, text, end, false)?;
                if !decoder.is_between() {
                    // It is not where it seemed to be, such as in a comment.
                    break;
                }
                self.checkpoints.push(decoder.checkpoint(&self.record));
            }
        }
        self.read_to(decoder, text, text.len(), last)
    }

    fn taken(&self) -> usize {
        self.checkpoints.last().map_or(0, |it| it.offset() as usize)
    }

    fn read_to(
        &mut self,
        decoder: &mut Decoder,
        text: &str,
        end: usize,
        last: bool,
    ) -> Result<(), Error> {
        self.seen = end;
        let piece = Piece {
            text: text.get(..end).unwrap_or_default(),
            base: 0,
            last,
            beyond: text.len() - end,
        };
        decoder.read(piece, &mut self.record, self.trace.as_mut())
    }
}
