//! bsoap itself, with its defaults: one decoder or encoder for a stream of messages, memory used again.

use std::any::Any;
use std::sync::Arc;

use bsoap_codec::decode::{Fast, Validation};
use bsoap_codec::{Decoder, Encoder, Record, View};
use bsoap_datatypes::{double, integer};
use bsoap_differential::send::Policy;
use serde_json::Value;

use super::kernels::Kernels;
use super::numbers::{Does, EVERYTHING, Numbers};
use super::octets::Octets;
use super::send::Sending;
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::leaves::Leaf;
use crate::shape::{Shape, Values};
use crate::terms::Terms;
use crate::workload::{Answer, Workload};

/// bsoap itself.
pub(crate) struct Bsoap {
    terms: Terms,
}

impl Bsoap {
    /// With the WSDL of the benchmarks.
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self {
            terms: Terms::own()?,
        })
    }

    /// Without the fast path: tags and values one after the other.
    pub(crate) fn general() -> Result<Self, String> {
        let mut terms = Terms::own()?;
        terms.options.fast = Fast::Off;
        Ok(Self { terms })
    }

    /// With a schema that has facets, which are checked or not.
    pub(crate) fn with_facets(validation: Validation) -> Result<Self, String> {
        let mut terms = Terms::with_facets()?;
        terms.options.validation = validation;
        Ok(Self { terms })
    }

    /// By what the messages of a workload are read.
    fn terms(&self, work: &Workload) -> Terms {
        if !work.case.shape.is_encoded() {
            return self.terms.clone();
        }
        Terms {
            options: self.terms.options,
            ..work.terms.clone()
        }
    }
}

impl Engine for Bsoap {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        match work.task {
            Task::Numbers if matches!(work.values, Values::Octets(_)) => Octets::Own.job(work),
            Task::Numbers => Kernels::best().job(work),
            Task::Decode => Ok(self.decode(work)),
            Task::Encode => self.encode(work),
            Task::Send | Task::Ready => Sending::Template(Policy::default()).job(work),
            Task::Receive | Task::Call => Ok(None),
        }
    }
}

impl Bsoap {
    fn decode(&self, work: &Arc<Workload>) -> Option<Box<dyn Job>> {
        let terms = self.terms(work);
        let (root, options) = (terms.root, terms.options);
        let (timed, answered, fresh) = (Arc::clone(work), Arc::clone(work), Arc::clone(work));
        let plan = terms.plan;
        let decoder = Decoder::new(Arc::clone(&plan), options);
        let state = (decoder, Record::new(Arc::clone(&plan), root));
        let step = move |(decoder, record): &mut (Decoder, Record)| {
            for message in &timed.messages {
                decoder
                    .decode_into(root, message, record)
                    .map_err(|error| error.to_string())?;
            }
            Ok(())
        };
        let answer = move |(decoder, _): &mut (Decoder, Record)| {
            let decode = |message: &Vec<u8>| {
                decoder
                    .decode(root, message)
                    .map_err(|error| error.to_string())
            };
            let records = answered
                .messages
                .iter()
                .map(decode)
                .collect::<Result<Vec<Record>, String>>()?;
            read(&answered, &records)
        };
        let from_nothing = move || {
            let mut decoder = Decoder::new(Arc::clone(&plan), options);
            let decode = |message: &Vec<u8>| {
                decoder
                    .decode(root, message)
                    .map_err(|error| error.to_string())
            };
            let records = fresh
                .messages
                .iter()
                .map(decode)
                .collect::<Result<Vec<Record>, String>>()?;
            // The decoder is of use for the next message, but what is kept of this one is its Record.
            drop(decoder);
            Ok(Box::new(records) as Box<dyn Any>)
        };
        Local::new(state, step, answer)
            .with_fresh(Box::new(from_nothing))
            .boxed()
    }

    fn encode(&self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let terms = self.terms(work);
        let mut decoder = Decoder::new(terms.plan, terms.options);
        let decode = |message: &Vec<u8>| {
            decoder
                .decode(terms.root, message)
                .map_err(|error| error.to_string())
        };
        let records = work
            .messages
            .iter()
            .map(decode)
            .collect::<Result<Vec<Record>, String>>()?;
        let capacity = work.bytes() + 32 * work.case.values + 1024 * records.len();
        let state = (
            Vec::with_capacity(capacity),
            Vec::with_capacity(records.len()),
        );
        let encoder = Encoder::default();
        let step = move |(out, ends): &mut (Vec<u8>, Vec<usize>)| {
            out.clear();
            ends.clear();
            for record in &records {
                encoder
                    .encode(record, out)
                    .map_err(|error| error.to_string())?;
                ends.push(out.len());
            }
            Ok(())
        };
        let answer = |(out, ends): &mut (Vec<u8>, Vec<usize>)| {
            let starts = std::iter::once(&0).chain(ends.iter());
            Ok(Answer::Messages(
                starts
                    .zip(ends.iter())
                    .map(|(&start, &end)| out[start..end].to_vec())
                    .collect(),
            ))
        };
        Ok(Local::new(state, step, answer).boxed())
    }
}

/// What the Records say.
pub(super) fn read(work: &Workload, records: &[Record]) -> Result<Answer, String> {
    let mut slots = Vec::new();
    let mut strings = Vec::new();
    let mut leaves = Vec::new();
    for record in records {
        let body = View::of(record)
            .child("Body")
            .and_then(|body| body.child(work.body_element()))
            .and_then(|body| match work.case.shape.is_encoded() {
                true => body.child("values"),
                false => Some(body),
            })
            .ok_or("the Record has no body")?;
        match &work.values {
            Values::Doubles(_) => {
                let column = body
                    .column::<f64>("item")
                    .ok_or("the Record has no column of doubles")?;
                slots.extend(column.iter().map(f64::to_bits));
            }
            Values::Ints(_) => {
                let column = body
                    .column::<i64>("item")
                    .ok_or("the Record has no column of integers")?;
                slots.extend(column.iter().map(|value| value as u64));
            }
            // References need a state, so these are no rows.
            Values::Mesh(_) if work.case.shape == Shape::Shared => {
                for item in body.all("item") {
                    let x = item.child("x").and_then(|x| x.as_i64());
                    let y = item.child("y").and_then(|y| y.as_i64());
                    let value = item.child("value").and_then(|value| value.as_f64());
                    let (x, y) = (x.ok_or("no x")?, y.ok_or("no y")?);
                    slots.extend([x as u64, y as u64, value.ok_or("no value")?.to_bits()]);
                }
            }
            Values::Mesh(_) => {
                let rows = body.rows("item").ok_or("the Record has no rows")?;
                let (x, y) = (
                    rows.column::<i64>("x").ok_or("no x")?,
                    rows.column::<i64>("y").ok_or("no y")?,
                );
                let value = rows.column::<f64>("value").ok_or("no value")?;
                for ((x, y), value) in x.iter().zip(y.iter()).zip(value.iter()) {
                    slots.extend([x as u64, y as u64, value.to_bits()]);
                }
            }
            Values::Strings(_) => strings.extend(
                body.all("item")
                    .map(|item| item.text().unwrap_or_default().into_owned()),
            ),
            Values::Samples(_)
            | Values::Readings(_)
            | Values::Orders(_)
            | Values::Recorded
            | Values::Octets(_) => {
                let value = body.to_value().map_err(|error| error.to_string())?;
                let json = serde_json::to_value(value).map_err(|error| error.to_string())?;
                flatten(work.body_element(), &json, &mut leaves);
            }
        }
    }
    Ok(match &work.values {
        Values::Strings(_) => Answer::Strings(strings),
        Values::Readings(_) | Values::Orders(_) | Values::Recorded | Values::Octets(_) => {
            Answer::Leaves(leaves)
        }
        _ => Answer::Slots(slots),
    })
}

/// The leaves of a value in its JSON form, in order.
fn flatten(name: &str, value: &Value, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, value)| flatten(name, value, leaves)),
        Value::Array(elements) => elements
            .iter()
            .for_each(|value| flatten(name, value, leaves)),
        Value::String(form) => leaves.push(Leaf {
            name: name.to_owned(),
            form: form.clone(),
        }),
        scalar => leaves.push(Leaf {
            name: name.to_owned(),
            form: scalar.to_string(),
        }),
    }
}

/// The functions of bsoap-datatypes for single values, called once a value.
pub(crate) struct Single;

impl Numbers for Single {
    const DOES: Does = EVERYTHING;
    type Scratch = ();

    #[inline]
    fn parse_double(text: &[u8]) -> (f64, usize) {
        double::parse_prefix(text).unwrap_or((f64::NAN, 0))
    }

    #[inline]
    fn parse_int(text: &[u8]) -> (i32, usize) {
        integer::parse_prefix_i64(text).map_or((0, 0), |(value, length)| (value as i32, length))
    }

    #[inline]
    fn format_double(value: f64, _: &mut (), out: &mut Vec<u8>) {
        double::write(value, out);
    }

    #[inline]
    fn format_int(value: i32, _: &mut (), out: &mut Vec<u8>) {
        integer::write_i64(value.into(), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Case;
    use crate::engines::bare::{Bare, Baseline};

    #[test]
    fn the_baseline_of_encode_writes_byte_for_byte_what_bsoap_writes() {
        for shape in [
            Shape::Small,
            Shape::Order,
            Shape::Int,
            Shape::Mio,
            Shape::String,
        ] {
            let case = Case {
                shape,
                values: 50,
                scenario: None,
                engines: Vec::new(),
            };
            let work = Arc::new(Workload::new(Task::Encode, case).unwrap());
            let text = |engine: &mut dyn Engine| {
                let mut job = engine.job(&work).unwrap().unwrap();
                let Answer::Messages(messages) = job.answer().unwrap() else {
                    panic!("{shape:?} gives messages");
                };
                messages.concat()
            };
            let own = text(&mut Bsoap::new().unwrap());
            let baseline = text(&mut Bare::<Baseline>::default());
            let show = String::from_utf8_lossy;
            assert!(own == baseline, "{}\n{}", show(&own), show(&baseline));
        }
    }
}
