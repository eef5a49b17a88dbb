//! Small messages with hints, and what they are measured against: copies of the values from known places, a tree.

use std::hint::black_box;
use std::sync::Arc;

use bsoap_codec::decode::{Piece, Trace};
use bsoap_codec::encode::EncodeOptions;
use bsoap_codec::{Decoder, Encoder, Record};
use bsoap_differential::hint::{SkeletonCachePolicy, Writer};
use bsoap_testkit::hint::{HintReader, values};
use roxmltree::{Document, Node};

use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::leaves::{self, Leaf};
use crate::workload::{Answer, Workload};

/// How messages are read.
pub(crate) enum Hints {
    /// By us, with hints that have lengths.
    Lengths,
    /// By us, with hints that have the key alone.
    Keys,
    /// The lower bound: each value is copied from its place, which is known.
    Copy,
    /// A tree of nodes.
    Roxmltree,
}

impl Engine for Hints {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        Ok(match (work.task, self) {
            (Task::Decode, Self::Lengths) => followed(work, true)?,
            (Task::Decode, Self::Keys) => followed(work, false)?,
            (Task::Decode, Self::Copy) => copied(work)?,
            (Task::Decode, Self::Roxmltree) => tree(work),
            (Task::Encode, Self::Lengths) => given(work)?,
            _ => None,
        })
    }
}

/// All messages, with the places of their values.
fn traced(work: &Workload) -> Result<(Vec<Record>, Vec<Trace>), String> {
    let mut decoder = Decoder::new(work.terms.plan.clone(), work.terms.options);
    let (mut records, mut traces) = (Vec::new(), Vec::new());
    for message in &work.messages {
        let mut record = Record::new(work.terms.plan.clone(), work.terms.root);
        let mut trace = Trace::default();
        let piece = Piece {
            text: std::str::from_utf8(message).map_err(|error| error.to_string())?,
            base: 0,
            last: true,
            beyond: 0,
        };
        decoder.start(work.terms.root);
        decoder
            .read(piece, &mut record, Some(&mut trace))
            .map_err(|error| error.to_string())?;
        records.push(record);
        traces.push(trace);
    }
    Ok((records, traces))
}

/// All messages, with a hint in each.
pub(super) fn hinted(work: &Workload) -> Result<Vec<Vec<u8>>, String> {
    let (records, _) = traced(work)?;
    let mut writer = Writer::new();
    let hinted = records.iter().map(|record| {
        let mut text = Vec::new();
        let hint = writer.write(record, EncodeOptions::default(), &mut text);
        let hint = hint.map_err(|error| error.to_string())?;
        let hint = hint.ok_or("a message without a place for a hint")?;
        Ok(hint.within(&text).to_vec())
    });
    hinted.collect()
}

/// Messages with a hint in each, read by following it.
fn followed(work: &Arc<Workload>, has_lengths: bool) -> Result<Option<Box<dyn Job>>, String> {
    let mut messages = hinted(work)?;
    if !has_lengths {
        messages.iter_mut().for_each(take_lengths);
    }
    let terms = work.terms.clone();
    let reader = HintReader::new(
        terms.plan.clone(),
        terms.options,
        SkeletonCachePolicy::default(),
    );
    let root = terms.root;
    let step = move |(reader, messages): &mut (HintReader, Vec<Vec<u8>>)| {
        for message in messages {
            let read = reader.receive(root, message);
            black_box(read.map_err(|error| error.to_string())?);
        }
        Ok(())
    };
    let answer = move |(reader, messages): &mut (HintReader, Vec<Vec<u8>>)| {
        let mut fresh = Decoder::new(terms.plan.clone(), terms.options);
        let before = reader.counts().followed;
        for message in &*messages {
            let expected = fresh
                .decode(root, message)
                .map_err(|error| error.to_string())?;
            let found = reader
                .receive(root, message)
                .map_err(|error| error.to_string())?;
            if *found != expected {
                return Ok(Answer::Verdict(false));
            }
        }
        let followed = reader.counts().followed - before;
        Ok(Answer::Verdict(followed + 1 >= messages.len() as u64))
    };
    Ok(Local::new((reader, messages), step, answer).boxed())
}

/// What a hint has besides the key.
fn take_lengths(text: &mut Vec<u8>) {
    const AT: &[u8] = b" at=\"";
    let at = text.windows(AT.len()).position(|window| window == AT);
    let end = at.and_then(|at| Some((at, text[at..].iter().position(|&byte| byte == b'/')?)));
    if let Some((at, length)) = end {
        text.drain(at..at + length);
    }
}

/// The values, copied from known locations.
fn copied(work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
    let (_, traces) = traced(work)?;
    let mut places = Vec::new();
    let mut ends = Vec::new();
    for (message, trace) in work.messages.iter().zip(&traces) {
        places.extend(values(trace, message).map(|(_, place)| place));
        ends.push(places.len());
    }
    let timed = Arc::clone(work);
    let step = move |out: &mut Vec<u8>| {
        let mut from = 0;
        for (message, &end) in timed.messages.iter().zip(&ends) {
            out.clear();
            for place in &places[from..end] {
                out.extend_from_slice(&message[place.clone()]);
            }
            black_box(&mut *out);
            from = end;
        }
        Ok(())
    };
    let answered = Arc::clone(work);
    let answer = move |out: &mut Vec<u8>| {
        // What is left is the last message's.
        let mut found = Vec::new();
        let last = answered.messages.last().ok_or("no messages")?;
        leaves::collect(last, &mut found)?;
        let forms: String = found.into_iter().map(|leaf| leaf.form).collect();
        Ok(Answer::Verdict(forms.as_bytes() == out.as_slice()))
    };
    Ok(Local::new(Vec::new(), step, answer).boxed())
}

/// A tree of each message.
fn tree(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    let (timed, answered) = (Arc::clone(work), Arc::clone(work));
    let step = move |(): &mut ()| {
        for message in &timed.messages {
            let text = std::str::from_utf8(message).map_err(|error| error.to_string())?;
            let document = Document::parse(text).map_err(|error| error.to_string())?;
            black_box(&document);
        }
        Ok(())
    };
    let answer = move |(): &mut ()| {
        let mut found = Vec::new();
        for message in &answered.messages {
            let text = std::str::from_utf8(message).map_err(|error| error.to_string())?;
            let document = Document::parse(text).map_err(|error| error.to_string())?;
            let bodies = document
                .descendants()
                .filter(|node| node.tag_name().name() == "Body");
            for node in bodies.flat_map(|body| body.descendants().skip(1)) {
                collect(node, &mut found);
            }
        }
        Ok(Answer::Leaves(found))
    };
    Local::new((), step, answer).boxed()
}

fn collect(node: Node<'_, '_>, found: &mut Vec<Leaf>) {
    if !node.is_element() {
        return;
    }
    let attributes = node.attributes().filter(|it| it.namespace().is_none());
    found.extend(attributes.map(|attribute| Leaf {
        name: format!("@{}", attribute.name()),
        form: attribute.value().to_owned(),
    }));
    if !node.children().any(|child| child.is_element()) {
        found.push(Leaf {
            name: node.tag_name().name().to_owned(),
            form: node.text().unwrap_or_default().to_owned(),
        });
    }
}

/// Messages written, with a hint in each: beside the text, where it is to be sent.
fn given(work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
    let (records, _) = traced(work)?;
    let options = EncodeOptions::default();
    let state = (Writer::new(), records, Vec::new());
    let step = move |(writer, records, text): &mut (Writer, Vec<Record>, Vec<u8>)| {
        for record in records {
            text.clear();
            let hint = writer.write(record, options, text);
            black_box(hint.map_err(|error| error.to_string())?);
            black_box(&mut *text);
        }
        Ok(())
    };
    let answer = move |(writer, records, text): &mut (Writer, Vec<Record>, Vec<u8>)| {
        let mut messages = Vec::new();
        for record in records {
            text.clear();
            let hint = writer.write(record, options, text);
            let hint = hint.map_err(|error| error.to_string())?;
            let hint = hint.ok_or("a message without a hint")?;
            let mut plain = Vec::new();
            let written = Encoder::new(options).encode(record, &mut plain);
            written.map_err(|error| error.to_string())?;
            if *text != plain {
                return Err("the text is another with a hint".to_owned());
            }
            messages.push(hint.within(text).to_vec());
        }
        Ok(Answer::Messages(messages))
    };
    Ok(Local::new(state, step, answer).boxed())
}
