//! What rpc/encoded messages are compared with, and messages with shared values.

use std::borrow::Cow;
use std::sync::Arc;

use bsoap_codec::graph::{self, GraphError, REFERENCE_EXPANSION};
use bsoap_codec::{Decoder, Encoder, Record};

use super::bsoap::{Bsoap, read};
use crate::clock::Taken;
use crate::definition::{Case, Task};
use crate::job::{Engine, Job, Local};
use crate::shape::Shape;
use crate::workload::{Answer, Workload};

/// `bsoap:literal`: the same values in a literal message.
pub(crate) struct Literal(Bsoap);

impl Literal {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self(Bsoap::new()?))
    }
}

impl Engine for Literal {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let shape = match work.case.shape {
            Shape::Encoded | Shape::Typed => Shape::Dhard,
            Shape::Shared => Shape::Mio,
            _ => return Ok(None),
        };
        let case = Case {
            shape,
            ..work.case.clone()
        };
        let literal = Arc::new(Workload::new(work.task, case)?);
        let job = self.0.job(&literal)?;
        Ok(job.map(|job| Box::new(Other { job, work: literal }) as Box<dyn Job>))
    }
}

/// A job of another workload than the case's, by which it is checked.
struct Other {
    job: Box<dyn Job>,
    work: Arc<Workload>,
}

impl Job for Other {
    fn answer(&mut self) -> Result<Answer, String> {
        let answer = self.job.answer()?;
        self.work.check(&answer)?;
        Ok(Answer::Verdict(true))
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        self.job.run(times)
    }
}

/// Messages with shared values, to the form that programs see, and back.
pub(crate) enum Graphs {
    /// `bsoap:shared`: values stay shared.
    Shared,
    /// `bsoap:expanded`: a tree.
    Expanded,
}

impl Graphs {
    /// The Record that programs see.
    fn view(expands: bool, record: &Record) -> Result<Cow<'_, Record>, GraphError> {
        match expands {
            true => graph::expand(record, REFERENCE_EXPANSION),
            false => graph::share(record),
        }
    }
}

impl Engine for Graphs {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let expands = matches!(self, Self::Expanded);
        match work.task {
            _ if work.case.shape != Shape::Shared => Ok(None),
            Task::Decode => Ok(decode(work, expands)),
            Task::Encode => encode(work, expands).map(Some),
            _ => Ok(None),
        }
    }
}

fn text_of(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn decoder(work: &Workload) -> Decoder {
    Decoder::new(Arc::clone(&work.terms.plan), work.terms.options)
}

/// Text to the form that programs see.
fn decode(work: &Arc<Workload>, expands: bool) -> Option<Box<dyn Job>> {
    let terms = &work.terms;
    let record = Record::new(Arc::clone(&terms.plan), terms.root);
    let (root, text) = (terms.root, work.text().to_vec());
    let step = move |(decoder, record): &mut (Decoder, Record)| {
        decoder.decode_into(root, &text, record).map_err(text_of)?;
        drop(std::hint::black_box(
            Graphs::view(expands, record).map_err(text_of)?,
        ));
        Ok(())
    };
    let answered = Arc::clone(work);
    let answer = move |(_, record): &mut (Decoder, Record)| values_of(&answered, record);
    Local::new((decoder(work), record), step, answer).boxed()
}

/// The values of a Record, each as often as it is referred to.
fn values_of(work: &Workload, record: &Record) -> Result<Answer, String> {
    let tree = graph::expand(record, REFERENCE_EXPANSION).map_err(text_of)?;
    read(work, &[tree.into_owned()])
}

/// The form that programs have to text.
fn encode(work: &Arc<Workload>, expands: bool) -> Result<Box<dyn Job>, String> {
    let record = decoder(work).decode(work.terms.root, work.text());
    let record = record.map_err(text_of)?;
    let record = Graphs::view(expands, &record)
        .map_err(text_of)?
        .into_owned();
    let encoder = Encoder::default();
    let step = move |(record, out): &mut (Record, Vec<u8>)| {
        out.clear();
        graph::complete(record).map_err(text_of)?;
        encoder.encode(record, out).map_err(text_of)
    };
    let answered = Arc::clone(work);
    let answer = move |(_, out): &mut (Record, Vec<u8>)| {
        let record = decoder(&answered).decode(answered.terms.root, out);
        values_of(&answered, &record.map_err(text_of)?)
    };
    let out = Vec::with_capacity(2 * work.bytes());
    Ok(Box::new(Local::new((record, out), step, answer)))
}
