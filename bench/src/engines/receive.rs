//! Receiving a stream of messages, of which each is read as what differs from the one before.
//!
//! Two messages that follow one another lie at different places in memory, also where they say the same.

use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;

use bsoap_codec::{Decoder, Record};
use bsoap_differential::receive::{
    HistoryCache, HistoryCachePolicy, Policy, Portioning, Received, Sameness, Stream, Way,
};
use bytes::Bytes;

use crate::clock::{Taken, Watch};
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::stream::Step;
use crate::terms::Terms;
use crate::workload::{Answer, Workload};

mod baseline;

/// Messages between two looks at a stream that does not repeat, and one more: what a bypassed stream costs shows in the mean of
/// as many.
const CYCLE: u64 = 129;

/// Receivers, by the name that follows the colon.
pub(crate) enum Receiving {
    /// A stream.
    Whole(Way),
    /// `bsoap:store`: histories as clients and services keep them, several of a kind.
    Store,
    /// `bsoap:plain`: what clients and services do if nothing is saved.
    Plain,
    /// `bsoap:off`: a decoder, memory used again.
    Off,
    /// `memcmp`: one compare of the text.
    Memcmp,
    /// `baseline`: what changed is known.
    Baseline,
}

impl Receiving {
    /// The receiver of that name, if there is one.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "bsoap" | "bsoap:exact" => Self::Whole(Way::default()),
            "bsoap:forced" => Self::Whole(Way::Exact(forced())),
            "bsoap:store" => Self::Store,
            "bsoap:plain" => Self::Plain,
            "bsoap:off" => Self::Off,
            "memcmp" => Self::Memcmp,
            "baseline" => Self::Baseline,
            "bsoap:hashed" => Self::Whole(Way::Portions(Portioning::hashed())),
            _ => Self::Whole(Way::Portions(portions(name.strip_prefix("bsoap:")?)?)),
        })
    }
}

/// `lcp-keyed/512`: how checkpoints are kept, how equal portions are recognised, and how far apart they are. Never
/// bypassed.
fn portions(name: &str) -> Option<Portioning> {
    let (kind, interrupt) = name.split_once('/')?;
    let (kind, sameness) = kind.split_once('-').unwrap_or((kind, "text"));
    let mut way = match kind {
        "fcp" => Portioning::full(),
        "dcp" => Portioning::differential(),
        "lcp" => Portioning::lightweight(),
        _ => return None,
    };
    way.sameness = match sameness {
        "text" => Sameness::Text,
        "keyed" => Sameness::Keyed,
        "crc" => Sameness::Crc32ForReproduction,
        _ => return None,
    };
    way.interrupt = interrupt.parse().ok()?;
    way.may_bypass = false;
    Some(way)
}

/// Never bypassed.
fn forced() -> Policy {
    let mut policy = Policy::default();
    policy.may_bypass = false;
    policy
}

impl Engine for Receiving {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task != Task::Receive || work.stream.is_none() {
            return Ok(None);
        }
        Ok(match self {
            Self::Whole(way) => Receives::job(Streaming::new(*way, work), work),
            Self::Store => Receives::job(Storing::new(&work.terms, &work.messages), work),
            Self::Plain => Receives::job(Storing::off(&work.terms, &work.messages), work),
            Self::Off => Receives::job(Decoding::new(work), work),
            Self::Memcmp => compare(work),
            Self::Baseline => baseline::job(work),
        })
    }
}

/// How one engine reads messages.
trait Receiver {
    /// Reads a message.
    fn receive(&mut self, message: usize) -> Result<(), String>;

    /// What was read last.
    fn last(&self) -> Option<&Record>;

    /// From nothing: what is kept once all messages were read.
    fn fresh(work: &Workload, model: &Self) -> Option<Result<Box<dyn Any>, String>>;
}

/// A differential receiver.
struct Streaming {
    stream: Stream,
    terms: Terms,
    messages: Vec<Bytes>,
    /// What was read last, if it is wanted.
    last: Option<Received>,
    is_checked: bool,
}

impl Streaming {
    fn new(way: Way, work: &Workload) -> Self {
        let terms = work.terms.clone();
        Self {
            stream: Stream::new(way, terms.plan.clone(), terms.options),
            terms,
            messages: work
                .messages
                .iter()
                .map(|text| Bytes::from(text.clone()))
                .collect(),
            last: None,
            is_checked: false,
        }
    }
}

impl Receiver for Streaming {
    fn receive(&mut self, message: usize) -> Result<(), String> {
        let text = self.messages[message].clone();
        // Nobody holds the Record of the message before.
        self.last = None;
        let received = self.stream.receive(self.terms.root, text);
        let received = received.map_err(|error| error.to_string())?;
        match self.is_checked {
            true => self.last = Some(received),
            false => drop(black_box(received)),
        }
        Ok(())
    }

    fn last(&self) -> Option<&Record> {
        self.last.as_ref().map(|received| &*received.record)
    }

    fn fresh(work: &Workload, model: &Self) -> Option<Result<Box<dyn Any>, String>> {
        let mut receiver = Self {
            stream: Stream::new(
                model.stream.way(),
                model.terms.plan.clone(),
                model.terms.options,
            ),
            terms: model.terms.clone(),
            messages: Vec::new(),
            last: None,
            is_checked: true,
        };
        let read = read_each(work, |text| {
            receiver.messages = text;
            receiver.receive(0)
        });
        Some(read.map(|()| Box::new((receiver.stream, receiver.last)) as Box<dyn Any>))
    }
}

/// A store of histories.
struct Storing {
    /// `None`: nothing is saved.
    store: Option<HistoryCache>,
    terms: Terms,
    messages: Vec<Bytes>,
    /// For messages without a history.
    decoder: Option<Box<Decoder>>,
    /// What was read last, if it is wanted.
    last: Option<Received>,
    is_checked: bool,
}

impl Storing {
    fn new(terms: &Terms, messages: &[Vec<u8>]) -> Self {
        Self {
            store: Some(HistoryCache::new(HistoryCachePolicy::default())),
            ..Self::off(terms, messages)
        }
    }

    fn off(terms: &Terms, messages: &[Vec<u8>]) -> Self {
        Self {
            store: None,
            terms: terms.clone(),
            messages: messages
                .iter()
                .map(|text| Bytes::from(text.clone()))
                .collect(),
            decoder: None,
            last: None,
            is_checked: false,
        }
    }
}

impl Receiver for Storing {
    fn receive(&mut self, message: usize) -> Result<(), String> {
        let text = &self.messages[message];
        // Nobody holds the Record of the message before.
        self.last = None;
        let (root, terms) = (self.terms.root, &self.terms);
        let new = || Decoder::new(terms.plan.clone(), terms.options);
        let result = match &mut self.store {
            Some(store) => {
                let mut checkout = store.check_out(root, text);
                let (result, _) = checkout.receive(root, text, &mut self.decoder, new);
                store.check_in(checkout);
                result
            }
            None => {
                let decoder = self.decoder.get_or_insert_with(|| Box::new(new()));
                decoder.decode(root, text).map(Received::alone)
            }
        };
        let arrived = result.map_err(|error| error.to_string())?;
        match self.is_checked {
            true => self.last = Some(arrived),
            false => drop(black_box(arrived)),
        }
        Ok(())
    }

    fn last(&self) -> Option<&Record> {
        self.last.as_ref().map(|arrived| &*arrived.record)
    }

    fn fresh(work: &Workload, model: &Self) -> Option<Result<Box<dyn Any>, String>> {
        let mut receiver = Self::new(&model.terms, &[]);
        receiver.is_checked = true;
        let read = read_each(work, |text| {
            receiver.messages = text;
            receiver.receive(0)
        });
        Some(read.map(|()| Box::new((receiver.store, receiver.last)) as Box<dyn Any>))
    }
}

/// Has all messages read, each from a text of its own: what of it is kept is the receiver's.
fn read_each(
    work: &Workload,
    mut read: impl FnMut(Vec<Bytes>) -> Result<(), String>,
) -> Result<(), String> {
    let mut texts = work.messages.iter();
    texts.try_for_each(|text| read(vec![Bytes::from(text.clone())]))
}

/// Reads all of every message.
struct Decoding {
    decoder: Decoder,
    terms: Terms,
    messages: Vec<Bytes>,
    record: Record,
}

impl Decoding {
    fn new(work: &Workload) -> Self {
        let terms = work.terms.clone();
        Self {
            decoder: Decoder::new(terms.plan.clone(), terms.options),
            record: Record::new(terms.plan.clone(), terms.root),
            terms,
            messages: work
                .messages
                .iter()
                .map(|text| Bytes::from(text.clone()))
                .collect(),
        }
    }
}

impl Receiver for Decoding {
    fn receive(&mut self, message: usize) -> Result<(), String> {
        let text = &self.messages[message];
        self.decoder
            .decode_into(self.terms.root, text, &mut self.record)
            .map_err(|error| error.to_string())
    }

    fn last(&self) -> Option<&Record> {
        Some(&self.record)
    }

    fn fresh(work: &Workload, model: &Self) -> Option<Result<Box<dyn Any>, String>> {
        let text = work.messages.last()?;
        let mut decoder = Decoder::new(model.terms.plan.clone(), model.terms.options);
        let record = decoder.decode(model.terms.root, text);
        Some(match record {
            Ok(record) => Ok(Box::new(record)),
            Err(error) => Err(error.to_string()),
        })
    }
}

/// A receiver at work on a stream.
struct Receives<R> {
    receiver: R,
    work: Arc<Workload>,
    steps: Vec<Step>,
    next: usize,
    /// A run reads a multiple of this number of messages.
    cycle: u64,
}

impl<R: Receiver + Checked + 'static> Receives<R> {
    fn job(receiver: R, work: &Arc<Workload>) -> Option<Box<dyn Job>> {
        let stream = work.stream.as_ref()?;
        Some(Box::new(Self {
            receiver,
            work: Arc::clone(work),
            steps: stream.steps.clone(),
            next: 0,
            cycle: if stream.is_unlike() { CYCLE } else { 1 },
        }))
    }

    fn step(&mut self) -> Step {
        let step = self.steps[self.next];
        self.next = (self.next + 1) % self.steps.len();
        step
    }

    fn check(&mut self, message: usize) -> Result<(), String> {
        self.receiver.receive(message)?;
        match self.receiver.last() {
            Some(record) if *record == self.work.records[message] => Ok(()),
            _ => Err(format!(
                "message {message} of the stream means something else"
            )),
        }
    }
}

/// Whether Records are kept to be looked at.
trait Checked {
    fn check(&mut self, is_checked: bool);
}

impl Checked for Streaming {
    fn check(&mut self, is_checked: bool) {
        self.is_checked = is_checked;
        self.last = None;
    }
}

impl Checked for Storing {
    fn check(&mut self, is_checked: bool) {
        self.is_checked = is_checked;
        self.last = None;
    }
}

impl Checked for Decoding {
    fn check(&mut self, _: bool) {}
}

impl<R: Receiver + Checked + 'static> Job for Receives<R> {
    /// Reads the stream three times; every Record must be that of a fresh reading.
    fn answer(&mut self) -> Result<Answer, String> {
        self.receiver.check(true);
        for _ in 0..3 * self.steps.len() {
            let step = self.step();
            if let Some(message) = step.after {
                self.check(message)?;
            }
            self.check(step.send)?;
        }
        self.receiver.check(false);
        Ok(Answer::Verdict(true))
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        if self.steps.iter().all(|step| step.after.is_none()) {
            let messages = times.next_multiple_of(self.cycle);
            let watch = Watch::start();
            for _ in 0..messages {
                let step = self.step();
                black_box(&mut self.receiver).receive(step.send)?;
            }
            return Ok(watch.taken().share(times, messages));
        }
        let mut taken = Taken::default();
        for _ in 0..times {
            let step = self.step();
            if let Some(message) = step.after {
                self.receiver.receive(message)?;
            }
            let watch = Watch::start();
            black_box(&mut self.receiver).receive(step.send)?;
            taken += watch.taken();
        }
        Ok(taken)
    }

    fn fresh(&mut self) -> Option<Result<Box<dyn Any>, String>> {
        R::fresh(&self.work, &self.receiver)
    }
}

/// The text of the first message, and a copy of it.
fn compare(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    let text = work.messages.first()?.clone();
    let state = (text.clone(), text, false);
    let step = |(text, before, is_same): &mut (Vec<u8>, Vec<u8>, bool)| {
        *is_same = black_box(text.as_slice()) == black_box(before.as_slice());
        Ok(())
    };
    Local::new(state, step, |(.., is_same)| Ok(Answer::Verdict(*is_same))).boxed()
}
