//! A workload: the values of a case, the text that says them, and the check of an engine's answer.

use std::sync::Arc;

use bsoap_codec::{Decoder, Record};

use crate::definition::{Case, Task};
use crate::encoded;
use crate::leaves::{self, Leaf};
use crate::order::{HEAD, Peers, TAIL};
use crate::recorded;
use crate::scenario::Change;
use crate::shape::{Mesh, Shape, Values, seventeen_digits};
use crate::stream::{Step, Stream, text_of};
use crate::terms::Terms;

/// Messages below this many bytes are read by two readers when an answer is checked.
const SHORT: usize = 100_000;

/// What every engine is given.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) task: Task,
    pub(crate) case: Case,
    pub(crate) values: Values,
    /// The messages as text: one with all values of an array, or one for each document.
    pub(crate) messages: Vec<Vec<u8>>,
    /// What is sent, one message after the other, if that is the task.
    pub(crate) stream: Option<Stream>,
    /// What the stream's messages mean.
    pub(crate) records: Arc<Vec<Record>>,
    /// By what messages are read.
    pub(crate) terms: Terms,
    /// In an array's message: where the first value starts, its tags read.
    pub(crate) first: usize,
}

/// What an engine made of a workload, to be compared before any time is taken.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The numbers, as slots: doubles as bits, integers sign-extended; structures row by row.
    Slots(Vec<u64>),
    /// The strings.
    Strings(Vec<String>),
    /// Octets, or the text that says them.
    Octets(Vec<u8>),
    /// Names and lexical forms of leaf elements and attributes, in document order, of all messages.
    Leaves(Vec<Leaf>),
    /// Whole messages.
    Messages(Vec<Vec<u8>>),
    /// Messages of a stream, by number, and how they arrived.
    Sent {
        sent: Vec<usize>,
        bodies: Vec<Vec<u8>>,
    },
    /// Of a baseline that makes no message: whether what it did is right.
    Verdict(bool),
}

impl Workload {
    /// The workload of a case.
    ///
    /// # Errors
    /// A scenario that the shape does not have.
    pub(crate) fn new(task: Task, case: Case) -> Result<Self, String> {
        let values = case.shape.generate(case.values);
        if matches!(task, Task::Send | Task::Ready | Task::Receive) {
            return Self::of_stream(task, case, values);
        }
        if task == Task::Call {
            return Self::of_calls(task, case);
        }
        let is_bare = matches!(case.scenario.as_deref(), Some("parse" | "format"));
        if task == Task::Numbers && is_bare {
            let text = lexical_forms(case.shape, &values)
                .iter()
                .flat_map(|form| [form.as_bytes(), b"\n"].concat())
                .collect();
            return Self::of_text(task, case, values, (vec![text], 0));
        }
        let text = messages(case.shape, &values);
        Self::of_text(task, case, values, text)
    }

    fn of_text(
        task: Task,
        case: Case,
        values: Values,
        (messages, first): (Vec<Vec<u8>>, usize),
    ) -> Result<Self, String> {
        Ok(Self {
            terms: Terms::of(case.shape)?,
            task,
            case,
            values,
            messages,
            stream: None,
            records: Arc::default(),
            first,
        })
    }

    /// The requests that are sent in turn: sixteen if values change, otherwise one.
    fn of_calls(task: Task, case: Case) -> Result<Self, String> {
        let scenario = case.scenario.as_deref().unwrap_or_default();
        let count = if scenario.ends_with("changing") {
            16
        } else {
            1
        };
        let all = case.shape.generate(count * case.values);
        let requests = (0..count).flat_map(|index| {
            let values = all.part(index * case.values..(index + 1) * case.values);
            messages(case.shape, &values).0
        });
        let requests = requests.collect();
        Self::of_text(task, case, all, (requests, 0))
    }

    fn of_stream(task: Task, case: Case, values: Values) -> Result<Self, String> {
        let scenario = case.scenario.as_deref().unwrap_or("content");
        let mut stream = Stream::new(case.shape, &values, scenario)?;
        if task == Task::Receive && stream.texts.len() == 1 {
            // No message lies in memory where the one before lay.
            stream.texts.push(stream.texts[0].clone());
            stream.steps = Step::in_turn(2);
        }
        let terms = match stream.scenario.change {
            Change::Recorded(which) => recorded::terms(which)?,
            _ => Terms::of(case.shape)?,
        };
        let records = if stream.texts.is_empty() {
            let text = text_of(case.shape, &values);
            stream.bytes = text.len();
            records_of(&terms, &[text])?
        } else {
            records_of(&terms, &stream.texts)?
        };
        Ok(Self {
            messages: stream.texts.clone(),
            stream: Some(stream),
            records: Arc::new(records),
            terms,
            ..Self::of_text(task, case, values, Default::default())?
        })
    }

    /// Bytes of text of all messages; of a stream, of one.
    pub(crate) fn bytes(&self) -> usize {
        match &self.stream {
            Some(stream) => stream.bytes,
            None => self.messages.iter().map(Vec::len).sum(),
        }
    }

    /// Over how many connections at once a server is called: the first word of the scenario.
    pub(crate) fn connections(&self) -> usize {
        let scenario = self.case.scenario.as_deref().unwrap_or_default();
        let count = scenario.split('/').next().unwrap_or_default();
        count.parse().unwrap_or(1)
    }

    /// Whether numbers are in a message, not a line each.
    pub(crate) fn in_message(&self) -> bool {
        self.task != Task::Numbers
            || matches!(self.case.scenario.as_deref(), Some("read" | "write"))
    }

    /// Whether text is made into values, not values into text.
    pub(crate) fn is_read(&self) -> bool {
        self.task == Task::Decode || matches!(self.case.scenario.as_deref(), Some("read" | "parse"))
    }

    /// The text of an array's one message.
    pub(crate) fn text(&self) -> &[u8] {
        &self.messages[0]
    }

    /// The local name of the element in the body.
    pub(crate) fn body_element(&self) -> &'static str {
        self.case.shape.body_element()
    }

    /// Whether an answer is right.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub(crate) fn check(&self, answer: &Answer) -> Result<(), String> {
        match answer {
            Answer::Slots(slots) => same(slots, &self.slots(), "values"),
            Answer::Strings(strings) => match &self.values {
                Values::Strings(expected) => same(strings, expected, "strings"),
                _ => Err("strings where the workload has none".into()),
            },
            Answer::Octets(found) => match &self.values {
                Values::Octets(octets) if self.is_read() => same(found, octets, "octets"),
                _ => same(found, self.text().trim_ascii_end(), "characters"),
            },
            Answer::Leaves(found) => leaves::compare(found, &self.leaves()?),
            Answer::Messages(messages) => {
                if messages.len() != self.messages.len() {
                    return Err(format!(
                        "{} messages instead of {}",
                        messages.len(),
                        self.messages.len()
                    ));
                }
                leaves::compare(&leaves_of_all(messages)?, &self.leaves()?)
            }
            Answer::Sent { sent, bodies } => self.check_sent(sent, bodies),
            Answer::Verdict(true) => Ok(()),
            Answer::Verdict(false) => Err("not what it should be".into()),
        }
    }

    /// Whether messages mean what they should: read by our decoder, and the short ones by another reader too.
    fn check_sent(&self, sent: &[usize], bodies: &[Vec<u8>]) -> Result<(), String> {
        if sent.len() != bodies.len() {
            return Err(format!(
                "{} messages instead of {}",
                bodies.len(),
                sent.len()
            ));
        }
        for ((place, &message), body) in sent.iter().enumerate().zip(bodies) {
            let at = |error: String| format!("message {place} of the stream: {error}");
            if records_of(&self.terms, std::slice::from_ref(body)).map_err(at)?
                != self.records[message..=message]
            {
                return Err(at("it means something else".into()));
            }
            if body.len() < SHORT {
                let both = [body, &self.messages[message]]
                    .map(|text| leaves_of_all(std::slice::from_ref(text)));
                let [found, expected] = both;
                leaves::compare(&found.map_err(at)?, &expected?).map_err(at)?;
            }
        }
        Ok(())
    }

    /// The numbers as slots; empty where there are none.
    pub(crate) fn slots(&self) -> Vec<u64> {
        match &self.values {
            Values::Doubles(values) => values.iter().map(|value| value.to_bits()).collect(),
            Values::Ints(values) => values
                .iter()
                .map(|&value| i64::from(value) as u64)
                .collect(),
            Values::Mesh(values) => values
                .iter()
                .flat_map(|one| {
                    [
                        i64::from(one.x) as u64,
                        i64::from(one.y) as u64,
                        one.value.to_bits(),
                    ]
                })
                .collect(),
            Values::Samples(_)
            | Values::Strings(_)
            | Values::Readings(_)
            | Values::Orders(_)
            | Values::Recorded
            | Values::Octets(_) => Vec::new(),
        }
    }

    fn leaves(&self) -> Result<Vec<Leaf>, String> {
        leaves_of_all(&self.messages)
    }
}

/// What messages mean.
fn records_of(terms: &Terms, texts: &[Vec<u8>]) -> Result<Vec<Record>, String> {
    let mut decoder = Decoder::new(terms.plan.clone(), terms.options);
    let decode = |text: &Vec<u8>| {
        decoder
            .decode(terms.root, text)
            .map_err(|error| error.to_string())
    };
    texts.iter().map(decode).collect()
}

fn leaves_of_all(messages: &[Vec<u8>]) -> Result<Vec<Leaf>, String> {
    let mut all = Vec::new();
    for message in messages {
        leaves::collect(message, &mut all)?;
    }
    Ok(all)
}

fn same<T: PartialEq + std::fmt::Debug>(
    found: &[T],
    expected: &[T],
    what: &str,
) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!(
            "{} {what} instead of {}",
            found.len(),
            expected.len()
        ));
    }
    match found
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected)
    {
        None => Ok(()),
        Some(at) => Err(format!(
            "{:?} instead of {:?} at place {at} of the {what}",
            found[at], expected[at]
        )),
    }
}

/// The messages, and where the first value of an array starts.
fn messages(shape: Shape, values: &Values) -> (Vec<Vec<u8>>, usize) {
    let write = |one: &dyn Fn(&mut Vec<u8>)| {
        let mut message = Vec::new();
        one(&mut message);
        message
    };
    match values {
        Values::Readings(all) => (
            all.iter()
                .map(|one| write(&|out| one.write::<Peers>(out)))
                .collect(),
            0,
        ),
        Values::Orders(all) => (
            all.iter()
                .map(|one| write(&|out| one.write::<Peers>(out)))
                .collect(),
            0,
        ),
        Values::Samples(_) => (vec![text_of(shape, values)], 0),
        _ if shape.is_encoded() => {
            let forms = lexical_forms(shape, values);
            (vec![encoded::message(shape, &forms)], 0)
        }
        _ => {
            let name = shape.body_element();
            let open = if shape == Shape::Mio {
                "<item><x>"
            } else {
                "<item>"
            };
            let first = HEAD.len() + format!("<b:{name}>").len() + open.len();
            let items: String = lexical_forms(shape, values)
                .iter()
                .map(|form| format!("<item>{form}</item>"))
                .collect();
            (
                vec![format!("{HEAD}<b:{name}>{items}</b:{name}>{TAIL}").into_bytes()],
                first,
            )
        }
    }
}

/// The text between the `item` tags of an array's elements.
fn lexical_forms(shape: Shape, values: &Values) -> Vec<String> {
    match values {
        Values::Doubles(values) => values.iter().map(|&value| lexical_double(value)).collect(),
        Values::Ints(values) => values.iter().map(i32::to_string).collect(),
        Values::Mesh(values) => values
            .iter()
            .map(|Mesh { x, y, value }| {
                format!(
                    "<x>{x}</x><y>{y}</y><value>{}</value>",
                    lexical_double(*value)
                )
            })
            .collect(),
        Values::Strings(values) => values
            .iter()
            .map(|value| value.replace('&', "&amp;").replace('<', "&lt;"))
            .collect(),
        Values::Octets(octets) => vec![form_of_octets(shape, octets)],
        Values::Samples(_) | Values::Readings(_) | Values::Orders(_) | Values::Recorded => {
            Vec::new()
        }
    }
}

/// Octets as text, a few bits at a time.
fn form_of_octets(shape: Shape, octets: &[u8]) -> String {
    let (alphabet, bits, group): (&[u8], usize, usize) = match shape {
        Shape::Hex => (b"0123456789ABCDEF", 4, 2),
        _ => (
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
            6,
            4,
        ),
    };
    let (mut form, mut left, mut held) = (String::new(), 0u32, 0);
    for &octet in octets {
        (left, held) = (left << 8 | u32::from(octet), held + 8);
        while held >= bits {
            held -= bits;
            form.push(alphabet[(left >> held) as usize & (alphabet.len() - 1)].into());
        }
    }
    if held > 0 {
        form.push(alphabet[(left << (bits - held)) as usize & (alphabet.len() - 1)].into());
    }
    while form.len() % group != 0 {
        form.push('=');
    }
    form
}

/// Short decimals are written with two places, all others with 17 digits.
fn lexical_double(value: f64) -> String {
    let short = format!("{value:.2}");
    if (10.0..1000.0).contains(&value) && short.parse() == Ok(value) {
        short
    } else {
        seventeen_digits(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(shape: Shape, values: usize) -> Workload {
        Workload::new(
            Task::Decode,
            Case {
                shape,
                values,
                scenario: None,
                engines: Vec::new(),
            },
        )
        .unwrap()
    }

    #[test]
    fn each_shape_has_about_the_bytes_per_element_that_its_description_says() {
        let sizes = [
            (Shape::Dhard, 36.0),
            (Shape::Dunit, 32.0),
            (Shape::Dsmall, 19.0),
            (Shape::Int, 23.0),
            (Shape::Mio, 77.0),
        ];
        for (shape, expected) in sizes {
            let size = workload(shape, 10_000).bytes() as f64 / 10_000.0;
            assert!(
                (size - expected).abs() < 1.0,
                "{}: {size} bytes",
                shape.name()
            );
        }
    }

    #[test]
    fn the_text_of_every_shape_is_its_own_right_answer() {
        for shape in [
            Shape::Dhard,
            Shape::Mio,
            Shape::String,
            Shape::Small,
            Shape::Order,
        ] {
            let work = workload(shape, 20);
            work.check(&Answer::Messages(work.messages.clone()))
                .unwrap();
        }
    }

    #[test]
    fn a_wrong_answer_is_found() {
        let work = workload(Shape::Int, 3);
        let mut slots = work.slots();
        slots[1] ^= 1;
        assert!(
            work.check(&Answer::Slots(slots))
                .unwrap_err()
                .contains("at place 1")
        );
        assert!(work.check(&Answer::Slots(Vec::new())).is_err());
        assert!(
            work.check(&Answer::Messages(vec![work.text().to_vec(), Vec::new()]))
                .is_err()
        );
    }
}
