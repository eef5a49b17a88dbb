//! From text to what a program works with, and back: dynamic values, generated structs, JSON.

use std::hint::black_box;
use std::sync::Arc;

use bsoap_codec::encode::Encoder;
use bsoap_codec::{Decoder, Pack, Record, Unpack, Unpacker, Value, View};
use bsoap_protocol::{Contents, Request, Target};

use crate::definition::Task;
use crate::generated::{Doubles, Ints, Mesh, Order, Reading};
use crate::job::{Engine, Job, Local};
use crate::shape::Shape;
use crate::terms::Terms;
use crate::workload::{Answer, Workload};

/// What a program works with.
#[derive(Clone, Copy)]
pub(crate) enum Api {
    /// `Value`s.
    Value,
    /// The structs that `bsoap generate` writes.
    Struct,
    /// JSON text, by way of a Record.
    Json,
    /// JSON text, as `serde_json::Value`s.
    SerdeJson,
}

impl Engine for Api {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let each = Each::new(work)?;
        match (self, work.task) {
            (Self::Value, Task::Decode) => Ok(each.values_in(work)),
            (Self::Value, Task::Encode) => Ok(each.values_out()),
            (Self::Struct, task) => match work.case.shape {
                Shape::Order => each.structs::<Order>(task, work),
                Shape::Small => each.structs::<Reading>(task, work),
                Shape::Mio => each.structs::<Mesh>(task, work),
                Shape::Int => each.structs::<Ints>(task, work),
                Shape::Dhard => each.structs::<Doubles>(task, work),
                _ => Ok(None),
            },
            (Self::Json, Task::Decode) => Ok(each.json_in()),
            (Self::Json, Task::Encode) => Ok(each.json_out()),
            (Self::SerdeJson, Task::Decode) => each.serde_in(),
            (Self::SerdeJson, Task::Encode) => each.serde_out(),
            _ => Ok(None),
        }
    }
}

/// The messages of a workload as Records, and the operation they belong to.
struct Each {
    target: Target,
    terms: Terms,
    body: &'static str,
    records: Vec<Record>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Each {
    fn new(work: &Workload) -> Result<Self, String> {
        let terms = work.terms.clone();
        let body = work.body_element();
        let target = Target::new(&terms.plan, &terms.binding, body).map_err(text)?;
        let mut decoder = Decoder::new(Arc::clone(&terms.plan), terms.options);
        let decode = |message: &Vec<u8>| decoder.decode(terms.root, message).map_err(text);
        let records: Result<Vec<_>, _> = work.messages.iter().map(decode).collect();
        Ok(Self {
            records: records?,
            target,
            body,
            terms,
        })
    }

    fn decoder(&self) -> (Decoder, Record) {
        let Terms { plan, root, .. } = &self.terms;
        let decoder = Decoder::new(Arc::clone(plan), self.terms.options);
        (decoder, Record::new(Arc::clone(plan), *root))
    }

    /// The arguments in each message.
    fn values(&self) -> Vec<Value> {
        let records = self.records.iter();
        records
            .map(|record| self.target.request_value(record))
            .collect()
    }

    fn json(&self) -> Vec<String> {
        self.values().iter().map(Value::to_json).collect()
    }

    fn argument<'r>(&self, record: &'r Record) -> Result<View<'r>, String> {
        let body = View::of(record).child("Body");
        let argument = body.and_then(|body| body.child(self.body));
        argument.ok_or_else(|| "the Record has no body".to_owned())
    }

    fn values_in(self, work: &Arc<Workload>) -> Option<Box<dyn Job>> {
        let work = Arc::clone(work);
        let (target, root) = (self.target.clone(), self.terms.root);
        let step = move |(decoder, record): &mut (Decoder, Record)| {
            for message in &work.messages {
                decoder.decode_into(root, message, record).map_err(text)?;
                black_box(target.request_value(record));
            }
            Ok(())
        };
        let state = self.decoder();
        let answer = move |_: &mut _| {
            let mut values = self.values().into_iter().zip(&self.records);
            let is_same = |(value, record): (Value, &Record)| {
                let made = self.target.request(value);
                made.is_ok_and(|made| made.record() == record)
            };
            Ok(Answer::Verdict(values.all(is_same)))
        };
        Local::new(state, step, answer).boxed()
    }

    fn values_out(self) -> Option<Box<dyn Job>> {
        let values = self.values();
        let target = self.target;
        let encode = move |index: usize, out: &mut Vec<u8>| {
            let request = target.request(&values[index]).map_err(text)?;
            Encoder::default()
                .encode(request.record(), out)
                .map_err(text)
        };
        writing(self.records.len(), encode)
    }

    fn structs<T>(self, task: Task, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String>
    where
        T: Pack + Unpack + 'static,
    {
        let structs: Result<Vec<T>, _> = self.records.iter().map(unpack).collect();
        let (structs, count) = (structs?, self.records.len());
        if task == Task::Encode {
            let target = self.target;
            let encode = move |index: usize, out: &mut Vec<u8>| {
                let packed = Contents::packed(&structs[index]);
                let request = target.request(packed).map_err(text)?;
                // As sending does: the texts of Rust values are checked then.
                request.record().check().map_err(text)?;
                Encoder::default()
                    .encode(request.record(), out)
                    .map_err(text)
            };
            return Ok(writing(count, encode));
        }
        let (state, work, root) = (self.decoder(), Arc::clone(work), self.terms.root);
        let step = move |(decoder, record): &mut (Decoder, Record)| {
            for message in &work.messages {
                decoder.decode_into(root, message, record).map_err(text)?;
                black_box(unpack::<T>(record)?);
            }
            Ok(())
        };
        // The structs as messages: a date that ends in `.500Z` may come back as `.5Z`, so their Records can differ.
        let answer = move |_: &mut _| {
            let write = |one: &T| {
                let made = self.target.request(Contents::packed(one)).map_err(text)?;
                let mut out = Vec::new();
                let encoded = Encoder::default().encode(made.record(), &mut out);
                encoded.map(|()| out).map_err(text)
            };
            let messages: Result<Vec<_>, String> = structs.iter().map(write).collect();
            Ok(Answer::Messages(messages?))
        };
        Ok(Local::new(state, step, answer).boxed())
    }

    fn json_in(self) -> Option<Box<dyn Job>> {
        let texts = self.json();
        let target = self.target;
        let read = move |json: &String| {
            let value = Value::from_json_str(json).map_err(text)?;
            target.request(value).map_err(text)
        };
        let records = self.records;
        let step = move |requests: &mut Vec<_>| {
            requests.clear();
            for json in &texts {
                requests.push(black_box(read(json)?));
            }
            Ok(())
        };
        let answer = move |requests: &mut Vec<Request>| {
            let mut pairs = requests.iter().zip(&records);
            Ok(Answer::Verdict(
                pairs.all(|(request, record)| request.record() == record),
            ))
        };
        Local::new(Vec::new(), step, answer).boxed()
    }

    fn json_out(self) -> Option<Box<dyn Job>> {
        let expected = self.json();
        let step = move |texts: &mut Vec<String>| {
            texts.clear();
            for record in &self.records {
                let view = self.argument(record)?;
                texts.push(view.to_json().map_err(text)?);
            }
            Ok(())
        };
        printing(step, expected)
    }

    fn serde_in(self) -> Result<Option<Box<dyn Job>>, String> {
        let texts = self.json();
        let expected = texts.clone();
        let step = move |values: &mut Vec<serde_json::Value>| {
            values.clear();
            for json in &texts {
                values.push(black_box(serde_json::from_str(json).map_err(text)?));
            }
            Ok(())
        };
        let answer = move |values: &mut Vec<serde_json::Value>| {
            let mut pairs = values.iter().zip(&expected);
            Ok(Answer::Verdict(pairs.all(|(value, json)| {
                serde_json::to_string(value).is_ok_and(|text| text == *json)
            })))
        };
        Ok(Local::new(Vec::new(), step, answer).boxed())
    }

    fn serde_out(self) -> Result<Option<Box<dyn Job>>, String> {
        let expected = self.json();
        let parse = |json: &String| serde_json::from_str(json).map_err(text);
        let values: Result<Vec<serde_json::Value>, _> = expected.iter().map(parse).collect();
        let values = values?;
        let step = move |texts: &mut Vec<String>| {
            texts.clear();
            for value in &values {
                texts.push(serde_json::to_string(value).map_err(text)?);
            }
            Ok(())
        };
        Ok(printing(step, expected))
    }
}

/// The struct in a message without a Header, as generated code reads it once it has compared the fingerprints.
fn unpack<T: Unpack>(record: &Record) -> Result<T, String> {
    let mut from = Unpacker::of(record);
    let read = |from: &mut Unpacker<'_>| {
        from.text()?; // the attributes of the Envelope
        from.is_present()?; // the Header
        from.text()?; // the attributes of the Body
        from.branch()?;
        T::unpack(from)
    };
    read(&mut from).map_err(text)
}

/// A job that prints JSON texts.
fn printing(
    step: impl FnMut(&mut Vec<String>) -> Result<(), String> + 'static,
    expected: Vec<String>,
) -> Option<Box<dyn Job>> {
    let answer = move |texts: &mut Vec<String>| Ok(Answer::Verdict(*texts == expected));
    Local::new(Vec::new(), step, answer).boxed()
}

/// A job that writes one message after the other into one buffer.
fn writing(
    count: usize,
    encode: impl Fn(usize, &mut Vec<u8>) -> Result<(), String> + 'static,
) -> Option<Box<dyn Job>> {
    let step = move |(out, ends): &mut (Vec<u8>, Vec<usize>)| {
        out.clear();
        ends.clear();
        for index in 0..count {
            encode(index, out)?;
            ends.push(out.len());
        }
        Ok(())
    };
    let answer = |(out, ends): &mut (Vec<u8>, Vec<usize>)| {
        let starts = std::iter::once(&0).chain(ends.iter());
        let messages = starts.zip(ends.iter());
        Ok(Answer::Messages(
            messages
                .map(|(&start, &end)| out[start..end].to_vec())
                .collect(),
        ))
    };
    Local::new((Vec::new(), Vec::new()), step, answer).boxed()
}
