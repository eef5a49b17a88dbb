//! What sending cannot do without: writing the bytes; finding out that nothing changed; formatting what did.

use std::hint::black_box;
use std::sync::Arc;

use bsoap_codec::{Record, encode};
use bsoap_datatypes::kernel::prefetch;
use bsoap_datatypes::{double, integer};

use super::sender::Sender;
use crate::job::{Job, Local};
use crate::shape::Values;
use crate::stream::Stream;
use crate::wire::Wire;
use crate::workload::{Answer, Workload};

/// `writev`: the messages are there as text; each is written by one call.
pub(crate) struct Ready {
    texts: Vec<Vec<u8>>,
    next: usize,
}

impl Ready {
    /// Of the messages of a stream.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn new(records: &[Record]) -> Result<Self, String> {
        let text = |record| {
            let mut text = Vec::new();
            encode(record, &mut text).map_err(|error| error.to_string())?;
            Ok(text)
        };
        let texts = records.iter().map(text).collect::<Result<_, String>>()?;
        Ok(Self { texts, next: 0 })
    }
}

impl Sender for Ready {
    fn prepare(&mut self, message: usize) -> Result<(), String> {
        self.next = message;
        Ok(())
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        wire.send(std::iter::once(self.texts[self.next].as_slice()))
    }
}

/// `read+writev`: every byte of the values is looked at once, then the text that is there is written. Finding out by comparison
/// that nothing changed takes as much.
pub(crate) struct Seen {
    records: Arc<Vec<Record>>,
    ready: Ready,
}

impl Seen {
    /// Of the messages of a stream.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn new(records: &Arc<Vec<Record>>) -> Result<Self, String> {
        Ok(Self {
            ready: Ready::new(records)?,
            records: Arc::clone(records),
        })
    }
}

impl Sender for Seen {
    fn prepare(&mut self, message: usize) -> Result<(), String> {
        let record = &self.records[message];
        let slots = record.slots().iter().fold(0, |sum, slot| sum ^ slot);
        let (words, rest) = record.heap().as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let rest = rest.iter().fold(0, |sum, byte| sum ^ byte);
        black_box((slots, words.fold(0, |sum, word| sum ^ word), rest));
        self.ready.prepare(message)
    }

    fn write(&mut self, wire: &mut Wire) -> Result<(), String> {
        self.ready.write(wire)
    }
}

/// `memcmp`: that a message is the one sent before, found out by one compare of all its bytes with a copy of them.
pub(crate) fn compare(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    let messages = Arc::clone(&work.records);
    let kept: Vec<Record> = messages.iter().cloned().collect();
    let turns: Vec<usize> = sends(work).collect();
    let step = move |(next, is_equal): &mut (usize, bool)| {
        let message = turns[*next];
        *next = (*next + 1) % turns.len();
        *is_equal = is_same(&messages[message], &kept[message]);
        Ok(())
    };
    if work.records.is_empty() {
        return None;
    }
    Local::new((0, false), step, |(_, is_equal)| {
        Ok(Answer::Verdict(*is_equal))
    })
    .boxed()
}

fn sends(work: &Workload) -> impl Iterator<Item = usize> {
    let stream = work.stream.iter();
    stream.flat_map(|stream| stream.steps.iter().map(|step| step.send))
}

/// One compare of all bytes; the calls cannot be foreseen, nor done once for all.
#[inline(never)]
fn is_same(message: &Record, kept: &Record) -> bool {
    let (message, kept) = (black_box(message), black_box(kept));
    message.slots() == kept.slots() && message.heap() == kept.heap()
}

/// What a baseline does in one step.
struct Changed {
    message: usize,
    /// The slots that differ from the message before, by kind.
    doubles: Vec<u32>,
    ints: Vec<u32>,
}

impl Changed {
    fn all(work: &Workload) -> Vec<Self> {
        let Some(stream) = &work.stream else {
            return Vec::new();
        };
        let last = stream.steps.last().map_or(0, |step| step.send);
        let before = std::iter::once(last).chain(stream.steps.iter().map(|step| step.send));
        let one = |(before, step): (usize, &crate::stream::Step)| {
            Self::between(&work.records, step.after.unwrap_or(before), step.send)
        };
        before.zip(&stream.steps).map(one).collect()
    }

    fn between(records: &[Record], before: usize, message: usize) -> Self {
        let (old, new) = (records[before].slots(), records[message].slots());
        let changed = (0..new.len()).filter(|&slot| old.get(slot) != Some(&new[slot]));
        // Integers of 32 bits have few bits; doubles of these streams have an exponent.
        let is_int = |&slot: &u32| (new[slot as usize] as i64).unsigned_abs() < 1 << 32;
        let (ints, doubles) = changed.map(|slot| slot as u32).partition(is_int);
        Self {
            message,
            doubles,
            ints,
        }
    }
}

/// Space for one number.
const FIELD: usize = 32;

/// How many values ahead the memory of one is asked for.
const AHEAD: usize = 16;

/// `baseline:in-place`: what `baseline` does, but each number is written to its location in the text of the message, which is
/// so a whole message after each step. `None` where numbers change their lengths.
pub(crate) fn formatting_in_place(work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
    if !is_of_numbers(work) {
        return Ok(None);
    }
    let texts = Ready::new(&work.records)?.texts;
    let Some(places) = places(&texts, &work.records) else {
        return Ok(None);
    };
    let messages = Arc::clone(&work.records);
    let kept: Vec<Record> = messages.iter().cloned().collect();
    let all = Changed::all(work);
    let restarts = |stream: &Stream| stream.steps.iter().any(|step| step.after.is_some());
    if work.stream.as_ref().is_none_or(restarts) {
        return Ok(None);
    }
    let Some(mut before) = all.last().map(|last| texts[last.message].clone()) else {
        return Ok(None);
    };
    for one in &all {
        write_changed(one, &messages[one.message], &places, &mut before);
        if before != texts[one.message] {
            return Err("a message put in place is another".into());
        }
    }
    let sent: Vec<usize> = all.iter().map(|one| one.message).collect();
    let step = move |(next, text): &mut (usize, Vec<u8>)| {
        let one = &all[*next];
        *next = (*next + 1) % all.len();
        black_box(is_same(&messages[one.message], &kept[one.message]));
        write_changed(one, &messages[one.message], &places, text);
        Ok(())
    };
    Ok(Local::new((0, before), step, move |(next, text)| {
        let last = sent[(*next + sent.len() - 1) % sent.len()];
        Ok(Answer::Verdict(*text == texts[last]))
    })
    .boxed())
}

/// Where the number of each slot begins; `None` if in another message it is elsewhere, or not as long.
fn places(texts: &[Vec<u8>], records: &[Record]) -> Option<Vec<usize>> {
    let own = |text: &[u8]| -> Vec<(usize, usize)> {
        let starts = memchr::memchr_iter(b'>', text).map(|end| end + 1);
        let value = |start: usize| Some((start, memchr::memchr(b'<', text.get(start..)?)?));
        starts
            .filter_map(value)
            .filter(|place| place.1 > 0)
            .collect()
    };
    let places = own(texts.first()?);
    if texts.iter().any(|text| own(text) != places) {
        return None;
    }
    // Slots that are no values, such as the count of rows, come before them.
    let before = records.first()?.slots().len().checked_sub(places.len())?;
    let starts = places.iter().map(|place| place.0);
    Some(std::iter::repeat_n(0, before).chain(starts).collect())
}

/// Puts the numbers that changed at their locations.
fn write_changed(one: &Changed, message: &Record, places: &[usize], text: &mut [u8]) {
    let slots = message.slots();
    put_all(&one.doubles, places, text, |slot, field| {
        double::format(f64::from_bits(slots[slot]), field)
    });
    put_all(&one.ints, places, text, |slot, field| {
        integer::format_i64(slots[slot] as i64, field)
    });
}

/// Puts some of them at their locations.
fn put_all(
    slots: &[u32],
    places: &[usize],
    text: &mut [u8],
    format: impl Fn(usize, &mut [u8; FIELD]) -> usize,
) {
    let mut field = [0; FIELD];
    for (at, &slot) in slots.iter().enumerate() {
        if let Some(&ahead) = slots.get(at + AHEAD) {
            prefetch(text, places[ahead as usize]);
        }
        let length = format(slot as usize, &mut field);
        let place = places[slot as usize];
        text[place..place + length].copy_from_slice(&field[..length]);
    }
}

fn is_of_numbers(work: &Workload) -> bool {
    let are_numbers = matches!(
        work.values,
        Values::Doubles(_) | Values::Ints(_) | Values::Mesh(_)
    );
    are_numbers && !work.records.is_empty()
}

/// `baseline`: one compare of all bytes, and each value that changed formatted by the best crate, to where nothing needs to
/// move. No tags, no text around.
pub(crate) fn formatting(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    if !is_of_numbers(work) {
        return None;
    }
    let messages = Arc::clone(&work.records);
    let kept: Vec<Record> = messages.iter().cloned().collect();
    let all = Changed::all(work);
    let most = all
        .iter()
        .map(|one| one.doubles.len() + one.ints.len())
        .max();
    let field = vec![0u8; FIELD * most.unwrap_or(0)];
    let step = move |(next, field): &mut (usize, Vec<u8>)| {
        let one = &all[*next];
        *next = (*next + 1) % all.len();
        black_box(is_same(&messages[one.message], &kept[one.message]));
        let slots = messages[one.message].slots();
        let (fields, _) = field.as_chunks_mut::<FIELD>();
        let (for_doubles, for_ints) = fields.split_at_mut(one.doubles.len());
        for (&slot, field) in one.doubles.iter().zip(for_doubles) {
            double::format(f64::from_bits(slots[slot as usize]), field);
        }
        for (&slot, field) in one.ints.iter().zip(for_ints) {
            integer::format_i64(slots[slot as usize] as i64, field);
        }
        Ok(())
    };
    let checked = Arc::clone(work);
    Local::new((0, field), step, move |(next, field)| {
        Ok(Answer::Verdict(is_written(&checked, *next, field)))
    })
    .boxed()
}

/// Whether all numbers written in the step before this one are the right ones.
fn is_written(work: &Workload, next: usize, field: &[u8]) -> bool {
    let all = Changed::all(work);
    let one = &all[(next + all.len() - 1) % all.len()];
    let slots = work.records[one.message].slots();
    let (fields, _) = field.as_chunks();
    let (doubles, ints) = fields.split_at(one.doubles.len());
    let double = |slot, text: &mut _| double::write(f64::from_bits(slot), text);
    let int = |slot, text: &mut _| integer::write_i64(slot as i64, text);
    are_written(&one.doubles, slots, doubles, double) && are_written(&one.ints, slots, ints, int)
}

/// Whether each field begins with the number of its slot. (What follows has no meaning.)
fn are_written(
    changed: &[u32],
    slots: &[u64],
    fields: &[[u8; FIELD]],
    write: impl Fn(u64, &mut Vec<u8>),
) -> bool {
    let mut text = Vec::new();
    let is_written = |(&slot, field): (&u32, &[u8; FIELD])| {
        text.clear();
        write(slots[slot as usize], &mut text);
        field.starts_with(&text)
    };
    changed.len() <= fields.len() && changed.iter().zip(fields).all(is_written)
}
