//! A job: one engine, ready to do one workload. It answers once, to be checked, and then runs, to be timed.

use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Taken, Watch};
use crate::measure::quantile;
use crate::workload::{Answer, Workload};

/// One engine, ready to do one workload.
pub(crate) trait Job {
    /// Does the workload once and hands over the result.
    fn answer(&mut self) -> Result<Answer, String>;

    /// Does the workload that many times and returns how long that took.
    fn run(&mut self, times: u64) -> Result<Taken, String>;

    /// What a client saw of its calls so far. `None` where nothing is called.
    fn calls(&mut self) -> Option<Calls> {
        None
    }

    /// Does the workload once with nothing prepared and hands over all that it keeps, so that its
    /// memory can be measured. `None` where memory cannot be seen from here or is not of interest.
    fn fresh(&mut self) -> Option<Result<Box<dyn Any>, String>> {
        None
    }

    /// Does the workload once and returns by how many bytes the process's resident memory grew at most. `None` where that
    /// is not of interest.
    fn resident(&mut self) -> Option<Result<u64, String>> {
        None
    }
}

/// What a client saw of its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calls {
    /// The time of a call that half of the calls took at most.
    pub(crate) p50_ns: f64,
    /// The same of 99 % of the calls.
    pub(crate) p99_ns: f64,
    /// The processor time of each side for one call: all that was spent, by all calls, so that what a server does now and then
    /// (collect garbage) counts too.
    pub(crate) server_ns: f64,
    pub(crate) client_ns: f64,
}

/// What the calls of a job took.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Nanoseconds of each call, as the client sees it.
    each: Vec<u32>,
    server: Duration,
    client: Duration,
}

impl Times {
    /// Adds calls in nanoseconds, and the processor time that each side spent on them.
    pub(crate) fn add(
        &mut self,
        each: impl Iterator<Item = u64>,
        client: Duration,
        server: Duration,
    ) {
        let short = |time| u32::try_from(time).unwrap_or(u32::MAX);
        self.each.extend(each.map(short));
        self.client += client;
        self.server += server;
    }

    /// What is reported of them.
    pub(crate) fn summary(&self) -> Calls {
        let count = self.each.len().max(1) as f64;
        let times: Vec<f64> = self.each.iter().map(|&time| f64::from(time)).collect();
        Calls {
            p50_ns: quantile(times.clone(), 0.5),
            p99_ns: quantile(times, 0.99),
            server_ns: self.server.as_nanos() as f64 / count,
            client_ns: self.client.as_nanos() as f64 / count,
        }
    }
}

/// An engine: makes jobs of workloads.
pub(crate) trait Engine {
    /// A job for this workload; `None` if the engine does not do such work.
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String>;
}

/// A job inside this process: what is prepared, a step that does the workload, and how the state
/// after a step is read as an answer.
pub(crate) struct Local<S, R, A> {
    state: S,
    step: R,
    answer: A,
    fresh: Option<Fresh>,
}

/// Does a workload from nothing and hands over what is kept.
pub(crate) type Fresh = Box<dyn FnMut() -> Result<Box<dyn Any>, String>>;

impl<S, R, A> Local<S, R, A>
where
    S: 'static,
    R: FnMut(&mut S) -> Result<(), String> + 'static,
    A: FnMut(&mut S) -> Result<Answer, String> + 'static,
{
    /// A job of a state, a step and an answer.
    pub(crate) fn new(state: S, step: R, answer: A) -> Self {
        Self {
            state,
            step,
            answer,
            fresh: None,
        }
    }

    /// The same, and how to do it from nothing.
    pub(crate) fn with_fresh(self, fresh: Fresh) -> Self {
        Self {
            fresh: Some(fresh),
            ..self
        }
    }

    /// As engines hand it out.
    pub(crate) fn boxed(self) -> Option<Box<dyn Job>> {
        Some(Box::new(self))
    }
}

impl<S, R, A> Job for Local<S, R, A>
where
    R: FnMut(&mut S) -> Result<(), String>,
    A: FnMut(&mut S) -> Result<Answer, String>,
{
    fn answer(&mut self) -> Result<Answer, String> {
        (self.step)(&mut self.state)?;
        (self.answer)(&mut self.state)
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        let watch = Watch::start();
        for _ in 0..times {
            (self.step)(black_box(&mut self.state))?;
        }
        Ok(watch.taken())
    }

    fn fresh(&mut self) -> Option<Result<Box<dyn Any>, String>> {
        self.fresh.as_mut().map(|fresh| fresh())
    }
}
