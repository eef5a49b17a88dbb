//! Bare loops: what a decoder or encoder of exactly one message costs if it knows where everything
//! is, checks nothing, and converts with a given number crate. With the best crates: the baseline.
//!
//! ```text
//! decode   …<item>│12.5│</item><item>│7│</item>…    parse, store, skip 13 bytes, parse, store, …
//! encode   format into a buffer, copy it, copy 13 bytes of tags, …
//! ```

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use super::numbers::{Does, FastFloat, Itoa, Numbers, Zmij};
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::order::{Own, TAIL, escape};
use crate::shape::{Mesh, Values};
use crate::workload::{Answer, Workload};

/// The separator of two values of an array.
pub(super) const BETWEEN: &str = "</item><item>";
/// The same for mesh interface objects: between x and y, between y and value, between two objects.
pub(super) const MESH: [&str; 3] = ["</x><y>", "</y><value>", "</value></item><item><x>"];

/// Bare loops over one number crate.
pub(crate) struct Bare<N>(PhantomData<N>);

impl<N> Default for Bare<N> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// The best crates: fast-float2, zmij, itoa, and a loop of our own for integers. Only the baseline does
/// strings and documents.
pub(crate) struct Baseline;

impl Numbers for Baseline {
    const DOES: Does = super::numbers::EVERYTHING;
    type Scratch = (Option<zmij::Buffer>, Option<itoa::Buffer>);

    #[inline]
    fn parse_double(text: &[u8]) -> (f64, usize) {
        FastFloat::parse_double(text)
    }

    #[inline]
    fn parse_int(text: &[u8]) -> (i32, usize) {
        let is_negative = text.first() == Some(&b'-');
        let mut at = usize::from(is_negative);
        let mut value = 0u32;
        while let Some(digit) = text
            .get(at)
            .map(|byte| byte.wrapping_sub(b'0'))
            .filter(|&digit| digit < 10)
        {
            value = value.wrapping_mul(10).wrapping_add(u32::from(digit));
            at += 1;
        }
        (
            if is_negative {
                value.wrapping_neg() as i32
            } else {
                value as i32
            },
            at,
        )
    }

    #[inline]
    fn format_double(value: f64, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        Zmij::format_double(value, &mut scratch.0, out);
    }

    #[inline]
    fn format_int(value: i32, scratch: &mut Self::Scratch, out: &mut Vec<u8>) {
        Itoa::format_int(value, &mut scratch.1, out);
    }
}

impl<N: Numbers> Engine for Bare<N> {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let is_baseline = std::any::TypeId::of::<N>() == std::any::TypeId::of::<Baseline>();
        match work.task {
            Task::Ready if is_baseline => return Ok(super::send::formatting(work)),
            Task::Send | Task::Ready | Task::Receive | Task::Call => return Ok(None),
            Task::Decode | Task::Encode | Task::Numbers => {}
        }
        let Does {
            parse_double,
            parse_int,
            format_double,
            format_int,
        } = N::DOES;
        let parse = work.is_read();
        let able = match &work.values {
            Values::Doubles(_) => [format_double, parse_double][usize::from(parse)],
            Values::Ints(_) => [format_int, parse_int][usize::from(parse)],
            Values::Mesh(_) => {
                [format_double && format_int, parse_double && parse_int][usize::from(parse)]
            }
            Values::Strings(_) => is_baseline,
            Values::Samples(_) | Values::Recorded | Values::Octets(_) => false,
            Values::Readings(_) | Values::Orders(_) => is_baseline && work.task == Task::Encode,
        };
        if !able {
            return Ok(None);
        }
        let skip = if work.in_message() { BETWEEN.len() } else { 1 };
        Ok(if parse {
            decode::<N>(work, skip)
        } else {
            encode::<N>(work)
        })
    }
}

fn decode<N: Numbers>(work: &Arc<Workload>, skip: usize) -> Option<Box<dyn Job>> {
    let work = Arc::clone(work);
    match &work.values {
        Values::Doubles(values) => {
            let state = vec![0f64; values.len()];
            let answer = |state: &mut Vec<f64>| {
                Ok(Answer::Slots(
                    state.iter().map(|value| value.to_bits()).collect(),
                ))
            };
            let again = Arc::clone(&work);
            Local::new(
                state,
                move |state| {
                    let mut at = work.first;
                    let compares = work.task == Task::Numbers && skip == BETWEEN.len();
                    for slot in state.iter_mut() {
                        let (value, length) = N::parse_double(&work.text()[at..]);
                        *slot = value;
                        if compares && !is_between(work.text(), at + length) {
                            break;
                        }
                        at += length + skip;
                    }
                    Ok(())
                },
                answer,
            )
            .with_fresh(Box::new(move || Ok(fresh_doubles::<N>(&again, skip))))
            .boxed()
        }
        Values::Ints(values) => Local::new(
            vec![0i32; values.len()],
            move |state| {
                let mut at = work.first;
                let compares = work.task == Task::Numbers && skip == BETWEEN.len();
                for slot in state.iter_mut() {
                    let (value, length) = N::parse_int(&work.text()[at..]);
                    *slot = value;
                    if compares && !is_between(work.text(), at + length) {
                        break;
                    }
                    at += length + skip;
                }
                Ok(())
            },
            |state| {
                Ok(Answer::Slots(
                    state.iter().map(|&value| i64::from(value) as u64).collect(),
                ))
            },
        )
        .boxed(),
        Values::Mesh(values) => decode_mesh::<N>(&work, values.len()),
        Values::Strings(values) => decode_strings(&work, values.len()),
        Values::Samples(_)
        | Values::Readings(_)
        | Values::Orders(_)
        | Values::Recorded
        | Values::Octets(_) => None,
    }
}

/// Whether the separator is here: what a decoder that has learned them compares. (It is not behind the
/// last value.)
#[inline(always)]
fn is_between(text: &[u8], at: usize) -> bool {
    text.get(at..at + BETWEEN.len()) == Some(BETWEEN.as_bytes())
}

/// What a growing vector of doubles needs.
fn fresh_doubles<N: Numbers>(work: &Workload, skip: usize) -> Box<dyn Any> {
    let (mut values, mut at) = (Vec::new(), work.first);
    for _ in 0..work.case.values {
        let (value, length) = N::parse_double(&work.text()[at..]);
        values.push(value);
        at += length + skip;
    }
    Box::new(values)
}

fn decode_mesh<N: Numbers>(work: &Arc<Workload>, count: usize) -> Option<Box<dyn Job>> {
    let work = Arc::clone(work);
    Local::new(
        vec![Mesh::default(); count],
        move |state| {
            let (text, mut at) = (work.text(), work.first);
            let compares = work.task == Task::Numbers;
            // What a decoder that has learned the tags compares. (They do not follow the last value.)
            let is_separator = |at: usize, n: usize| {
                !compares || text.get(at..at + MESH[n].len()) == Some(MESH[n].as_bytes())
            };
            for slot in state.iter_mut() {
                let (x, length) = N::parse_int(&text[at..]);
                if !is_separator(at + length, 0) {
                    break;
                }
                at += length + MESH[0].len();
                let (y, length) = N::parse_int(&text[at..]);
                if !is_separator(at + length, 1) {
                    break;
                }
                at += length + MESH[1].len();
                let (value, length) = N::parse_double(&text[at..]);
                *slot = Mesh { x, y, value };
                if !is_separator(at + length, 2) {
                    break;
                }
                at += length + MESH[2].len();
            }
            Ok(())
        },
        |state| {
            Ok(Answer::Slots(
                state
                    .iter()
                    .flat_map(|one| {
                        [
                            i64::from(one.x) as u64,
                            i64::from(one.y) as u64,
                            one.value.to_bits(),
                        ]
                    })
                    .collect(),
            ))
        },
    )
    .boxed()
}

/// The state of the string loops: one heap, and start and end of each string in it.
#[derive(Default)]
struct Heap {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

fn decode_strings(work: &Arc<Workload>, count: usize) -> Option<Box<dyn Job>> {
    let work = Arc::clone(work);
    Local::new(
        Heap::default(),
        move |heap| {
            heap.bytes.clear();
            heap.ends.clear();
            let (text, mut at) = (work.text(), work.first);
            for _ in 0..count {
                // Character data up to the tag; `&amp;` and `&lt;` are all that this text has.
                while let Some(length) = memchr::memchr2(b'<', b'&', &text[at..]) {
                    heap.bytes.extend_from_slice(&text[at..at + length]);
                    at += length;
                    if text[at] == b'<' {
                        break;
                    }
                    let is_ampersand = text[at + 1] == b'a';
                    heap.bytes.push(if is_ampersand { b'&' } else { b'<' });
                    at += if is_ampersand { 5 } else { 4 };
                }
                heap.ends.push(heap.bytes.len() as u32);
                at += BETWEEN.len();
            }
            Ok(())
        },
        |heap| {
            let mut start = 0;
            let one = |&end: &u32| {
                let text = String::from_utf8_lossy(&heap.bytes[start..end as usize]).into_owned();
                start = end as usize;
                text
            };
            Ok(Answer::Strings(heap.ends.iter().map(one).collect()))
        },
    )
    .boxed()
}

/// A buffer that is large enough from the start, cleared for each message.
fn buffer(work: &Workload) -> Vec<u8> {
    Vec::with_capacity(work.bytes() + 32 * work.case.values + 1024)
}

fn encode<N: Numbers>(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    let shared = Arc::clone(work);
    match &work.values {
        Values::Doubles(_) => array::<N, _>(work, move |scratch, between, out| {
            let Values::Doubles(values) = &shared.values else {
                return;
            };
            for &value in values {
                N::format_double(value, scratch, out);
                out.extend_from_slice(between);
            }
        }),
        Values::Ints(_) => array::<N, _>(work, move |scratch, between, out| {
            let Values::Ints(values) = &shared.values else {
                return;
            };
            for &value in values {
                N::format_int(value, scratch, out);
                out.extend_from_slice(between);
            }
        }),
        Values::Mesh(_) => array::<N, _>(work, move |scratch, _, out| {
            let Values::Mesh(values) = &shared.values else {
                return;
            };
            for one in values {
                N::format_int(one.x, scratch, out);
                out.extend_from_slice(MESH[0].as_bytes());
                N::format_int(one.y, scratch, out);
                out.extend_from_slice(MESH[1].as_bytes());
                N::format_double(one.value, scratch, out);
                out.extend_from_slice(MESH[2].as_bytes());
            }
        }),
        Values::Strings(_) => array::<N, _>(work, move |_, between, out| {
            let Values::Strings(values) = &shared.values else {
                return;
            };
            for value in values {
                escape(value.as_bytes(), out);
                out.extend_from_slice(between);
            }
        }),
        Values::Samples(_) => None,
        Values::Readings(_) | Values::Orders(_) | Values::Recorded | Values::Octets(_) => {
            documents(work)
        }
    }
}

/// An array's message: its head, its items (written by `items`, each followed by the tags up to the
/// next value), its tail. For the number kernels: the items alone.
fn array<N: Numbers, F>(work: &Arc<Workload>, items: F) -> Option<Box<dyn Job>>
where
    F: Fn(&mut N::Scratch, &[u8], &mut Vec<u8>) + 'static,
{
    let is_message = work.in_message();
    let Markup { close, head, tail } = Markup::new(work);
    let between: &[u8] = if is_message { close.as_bytes() } else { b"\n" };
    let answered = Arc::clone(work);
    Local::new(
        (buffer(work), N::Scratch::default()),
        move |(out, scratch)| {
            out.clear();
            if is_message {
                out.extend_from_slice(head.as_bytes());
                items(scratch, between, out);
                // The last item is followed by its end tag only.
                out.truncate(out.len() - close.len());
                out.extend_from_slice(tail.as_bytes());
            } else {
                items(scratch, between, out);
            }
            Ok(())
        },
        move |(out, _)| {
            if is_message {
                Ok(Answer::Messages(vec![out.clone()]))
            } else {
                numbers_in(out, &answered)
            }
        },
    )
    .boxed()
}

/// The text around the values of an array's message.
pub(super) struct Markup {
    /// Between two items: the end of one, the start of the next.
    close: &'static str,
    /// Up to the first value.
    pub(super) head: String,
    /// From the last value on.
    pub(super) tail: String,
}

impl Markup {
    pub(super) fn new(work: &Workload) -> Self {
        let name = work.body_element();
        let (open, close) = if matches!(work.values, Values::Mesh(_)) {
            ("<item><x>", MESH[2])
        } else {
            ("<item>", BETWEEN)
        };
        let end = close.strip_suffix(open).unwrap_or(close);
        Self {
            close,
            head: format!("{}<tns:{name}{}>{open}", Own::HEAD, Own::DECLARATION),
            tail: format!("{end}</tns:{name}>{TAIL}"),
        }
    }
}

/// What a number kernel wrote, a line each, read again by the standard library.
pub(super) fn numbers_in(out: &[u8], work: &Workload) -> Result<Answer, String> {
    let text = std::str::from_utf8(out).map_err(|error| error.to_string())?;
    let slot = |line: &str| match &work.values {
        Values::Ints(_) => line
            .parse::<i64>()
            .map(|value| value as u64)
            .map_err(|error| error.to_string()),
        _ => line
            .parse::<f64>()
            .map(f64::to_bits)
            .map_err(|error| error.to_string()),
    };
    text.lines()
        .map(slot)
        .collect::<Result<_, _>>()
        .map(Answer::Slots)
}

/// Readings and orders: a writer by hand each, into one buffer.
fn documents(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    let work = Arc::clone(work);
    Local::new(
        (buffer(&work), Vec::with_capacity(work.case.values)),
        move |(out, ends)| {
            out.clear();
            ends.clear();
            match &work.values {
                Values::Readings(all) => all.iter().for_each(|one| {
                    one.write::<Own>(out);
                    ends.push(out.len());
                }),
                Values::Orders(all) => all.iter().for_each(|one| {
                    one.write::<Own>(out);
                    ends.push(out.len());
                }),
                _ => {}
            }
            Ok(())
        },
        |(out, ends)| {
            let starts = std::iter::once(&0).chain(ends.iter());
            Ok(Answer::Messages(
                starts
                    .zip(ends.iter())
                    .map(|(&start, &end)| out[start..end].to_vec())
                    .collect(),
            ))
        },
    )
    .boxed()
}
