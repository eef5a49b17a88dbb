//! Sending a stream of messages: the SendTime of the HPDC-13 paper, from before a message is prepared to after the last
//! write has returned (`send`), or until it is ready to be written (`ready`).
//!
//! ```text
//! begin │ prepare ──ready──► write │ drain     the clock runs between the bars; for `ready`, during `prepare` alone
//! ```
//!
//! Each sender makes messages its own way; connection, clock and check are the same for all.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bsoap_differential::send::{Chunks, Layout, Policy};

use crate::allocator;
use crate::clock::{Taken, Watch};
use crate::definition::Task;
use crate::job::{Engine, Job};
use crate::sink::{Capture, Sink};
use crate::stream::{Step, Stream};
use crate::wire::{Wire, bodies};
use crate::workload::{Answer, Workload};

mod baselines;
mod explicit;
mod full;
mod overlay;
mod sender;
mod store;
mod template;

use sender::Sender;
use template::Templated;

pub(crate) use baselines::{compare, formatting};

/// Senders of this process, by the name that follows the colon.
pub(crate) enum Sending {
    /// `writev`: bytes that are ready.
    Writev,
    /// `read+writev`: the same, after the values were looked at.
    Seen,
    /// `baseline:in-place`: what changed formatted to its location.
    InPlace,
    /// `memcmp`: the compare alone.
    Memcmp,
    /// `bsoap:off`: everything formatted every time.
    Off,
    /// `bsoap:stream`: the same, piece by piece.
    Stream,
    /// `bsoap` and others: by a template.
    Template(Policy),
    /// `bsoap:explicit`: by a template in which values are set.
    Explicit,
    /// `bsoap:store`: by a store of templates.
    Store,
    /// `bsoap:plain`: what clients and services do if differential serialization is off.
    Plain,
    /// `bsoap:no-shift`: by a template, the same values over others of the same length.
    NoShift,
    /// `bsoap:overlay`, `bsoap:overlay-max`: arrays written as they are sent.
    Overlay(Layout),
}

impl Engine for Sending {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.stream.is_none() || work.records.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Writev if work.task == Task::Send => {
                Sends::job(baselines::Ready::new(&work.records)?, work)
            }
            Self::Seen if work.task == Task::Send => {
                Sends::job(baselines::Seen::new(&work.records)?, work)
            }
            Self::Memcmp if work.task == Task::Ready => Ok(compare(work)),
            Self::InPlace if work.task == Task::Ready => baselines::formatting_in_place(work),
            Self::Writev | Self::Seen | Self::Memcmp | Self::InPlace => Ok(None),
            Self::Overlay(layout) => match overlay::Overlaid::new(work, *layout)? {
                Some(sender) if work.task == Task::Send => Sends::job(sender, work),
                _ => Ok(None),
            },
            Self::Template(policy) => {
                let policy = with_chunks(*policy, work);
                Sends::job(Templated::new(Arc::clone(&work.records), policy), work)
            }
            Self::Store => Sends::job(store::Stored::new(Arc::clone(&work.records)), work),
            Self::Plain => Sends::job(store::Stored::off(Arc::clone(&work.records)), work),
            Self::Explicit => match explicit::Explicit::new(work)? {
                Some(sender) => Sends::job(sender, work),
                None => Ok(None),
            },
            Self::NoShift => {
                let policy = with_chunks(Policy::default(), work);
                let sender = Templated::new(Arc::clone(&work.records), policy);
                let steady = work.stream.as_ref().map(|stream| stream.steady.clone());
                Sends::of_steps(sender, steady.unwrap_or_default(), work)
            }
            Self::Stream if work.task == Task::Send => {
                Sends::job(full::Streamed::new(Arc::clone(&work.records)), work)
            }
            Self::Stream => Ok(None),
            Self::Off => Sends::job(full::Full::new(Arc::clone(&work.records)), work),
        }
    }
}

/// The policy with chunks of the size that the scenario names.
fn with_chunks(policy: Policy, work: &Workload) -> Policy {
    let named = work
        .stream
        .as_ref()
        .and_then(|stream| stream.scenario.chunk);
    named.map_or(policy, |size| policy.with_chunks(Chunks::of(size)))
}

/// Bytes of messages whose values are given at once.
const GIVEN: u64 = 64 << 10;

/// A sender at work on a stream.
pub(crate) struct Sends<S> {
    sender: S,
    steps: Vec<Step>,
    next: usize,
    /// Bytes of a message.
    bytes: usize,
    /// The connection to the sink; none for `ready`.
    wire: Option<Wire>,
    /// Whether the memory that sending takes is of interest.
    is_weighed: bool,
}

impl<S: Sender + 'static> Sends<S> {
    /// A job of the steps of the workload's stream.
    ///
    /// # Errors
    /// There is no sink.
    pub(crate) fn job(sender: S, work: &Workload) -> Result<Option<Box<dyn Job>>, String> {
        let steps = work.stream.as_ref().map(|stream| stream.steps.clone());
        Self::of_steps(sender, steps.unwrap_or_default(), work)
    }

    /// A job of other steps; `None` if there are none.
    ///
    /// # Errors
    /// There is no sink.
    pub(crate) fn of_steps(
        sender: S,
        steps: Vec<Step>,
        work: &Workload,
    ) -> Result<Option<Box<dyn Job>>, String> {
        if steps.is_empty() {
            return Ok(None);
        }
        let wire = match work.task {
            Task::Send => Some(Wire::connect(Sink::shared()?)?),
            _ => None,
        };
        Ok(Some(Box::new(Self {
            sender,
            steps,
            next: 0,
            bytes: work.stream.as_ref().map_or(0, |stream| stream.bytes),
            wire,
            is_weighed: work.stream.as_ref().is_some_and(Stream::is_overlay),
        })))
    }

    fn step(&mut self) -> Step {
        let step = self.steps[self.next];
        self.next = (self.next + 1) % self.steps.len();
        step
    }

    /// Sends with nothing waited for: one look at the clock for all. Of values that are given before each message there are
    /// as many as leave them in the processor's caches.
    fn make_ready(&mut self, times: u64) -> Result<Taken, String> {
        if !S::IS_FILLED {
            let watch = Watch::start();
            for _ in 0..times {
                self.prepare()?;
            }
            return Ok(watch.taken());
        }
        let most = (GIVEN / self.bytes.max(1) as u64).max(1);
        let mut wall = Duration::ZERO;
        let mut left = times;
        while left > 0 {
            let count = left.min(most);
            left -= count;
            let next = (self.next..).map(|next| self.steps[next % self.steps.len()].send);
            next.take(count as usize)
                .for_each(|message| self.sender.fill(message));
            // Nothing waits, so this is time on the processor too. (To ask for that is a system call, after which the next
            // thousand instructions are slower.)
            let begun = Instant::now();
            for _ in 0..count {
                self.prepare()?;
            }
            wall += begun.elapsed();
        }
        Ok(Taken { wall, cpu: wall })
    }

    fn prepare(&mut self) -> Result<(), String> {
        let step = self.step();
        black_box(&mut self.sender).prepare(step.send)
    }
}

impl<S: Sender + 'static> Sends<S> {
    fn send(&mut self) -> Result<Taken, String> {
        let step = self.step();
        if let Some(message) = step.after {
            self.sender.begin(message)?;
        }
        self.sender.fill(step.send);
        let watch = Watch::start();
        black_box(&mut self.sender).prepare(step.send)?;
        if let Some(wire) = &mut self.wire {
            self.sender.write(wire)?;
        }
        let taken = watch.taken();
        if let Some(wire) = &mut self.wire {
            wire.drain()?;
        }
        Ok(taken)
    }
}

impl<S: Sender + 'static> Job for Sends<S> {
    /// Sends the stream twice to one who keeps it.
    fn answer(&mut self) -> Result<Answer, String> {
        let capture = Capture::start()?;
        let mut wire = Wire::connect(capture.address())?;
        let mut sent = Vec::new();
        for _ in 0..2 * self.steps.len() {
            let step = self.step();
            if let Some(message) = step.after {
                self.sender.begin(message)?;
            }
            self.sender.fill(step.send);
            self.sender.prepare(step.send)?;
            self.sender.write(&mut wire)?;
            sent.push(step.send);
        }
        drop(wire);
        let bodies = bodies(&capture.all()?)?;
        Ok(Answer::Sent { sent, bodies })
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        if self.wire.is_none() && self.steps.iter().all(|step| step.after.is_none()) {
            return self.make_ready(times);
        }
        // The engine that ran before has filled the processor's caches.
        if times > 1 {
            self.send()?;
        }
        let mut taken = Taken::default();
        for _ in 0..times {
            taken += self.send()?;
        }
        Ok(taken)
    }

    fn resident(&mut self) -> Option<Result<u64, String>> {
        let before = self.is_weighed.then(allocator::resident)??;
        let most = self.run(1).map(|_| allocator::most_resident());
        Some(most.map(|most| most.unwrap_or(before).saturating_sub(before)))
    }
}
