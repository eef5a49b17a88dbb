//! `baseline`: a loop that knows which values changed and where they are in both texts.
//!
//! ```text
//! old   …<item>1.5</item><item>27</item><item>3</item>…
//!       │─compare────────│  │─compare──────────────────
//! new   …<item>1.5</item><item>31</item><item>3</item>…      31 is read into its slot
//! ```
//!
//! It finds out nothing, keeps no locations and reports no changes: what remains is one compare of the text between the changed
//! values, and reading those.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use crate::engines::bare::Baseline;
use crate::engines::numbers::Numbers;
use crate::job::{Job, Local};
use crate::shape::Values;
use crate::workload::{Answer, Workload};

/// What turns one message of a stream into the next one.
struct Difference {
    before: usize,
    message: usize,
    changes: Vec<Change>,
    /// The text behind the last changed value, by where it begins.
    rest: [usize; 2],
}

/// A changed value and the equal text before it.
struct Change {
    /// Where the equal text begins in the old and the new message.
    equal: [usize; 2],
    length: usize,
    slot: usize,
}

/// A job for arrays of numbers whose length stays the same; `None` for all other streams.
pub(super) fn job(work: &Arc<Workload>) -> Option<Box<dyn Job>> {
    let stream = work.stream.as_ref()?;
    let is_double = matches!(work.values, Values::Doubles(_));
    if !is_double && !matches!(work.values, Values::Ints(_)) || stream.is_unlike() {
        return None;
    }
    let count = work.values.len();
    let last = stream.steps.last()?.send;
    let before = std::iter::once(last).chain(stream.steps.iter().map(|step| step.send));
    let differences: Option<Vec<Difference>> = before
        .zip(&stream.steps)
        .map(|(before, step)| match step.after {
            None => difference(work, before, step.send, count),
            Some(_) => None,
        })
        .collect();
    let (differences, work) = (differences?, Arc::clone(work));
    let answered = Arc::clone(&work);
    let turns: Vec<usize> = differences.iter().map(|one| one.message).collect();
    let state = (0, work.records[last].slots().to_vec(), true);
    let step = move |(next, slots, is_same): &mut (usize, Vec<u64>, bool)| {
        let one = &differences[*next];
        *next = (*next + 1) % differences.len();
        let texts = [one.before, one.message].map(|at| black_box(&*work.messages[at]));
        *is_same = match is_double {
            true => apply(one, texts, slots, |text| {
                Baseline::parse_double(text).0.to_bits()
            }),
            false => apply(one, texts, slots, |text| {
                i64::from(Baseline::parse_int(text).0) as u64
            }),
        };
        Ok(())
    };
    Local::new(state, step, move |(next, slots, is_same)| {
        let message = turns[(*next + turns.len() - 1) % turns.len()];
        let is_right = *is_same && answered.records[message].slots() == slots.as_slice();
        Ok(Answer::Verdict(is_right))
    })
    .boxed()
}

/// Compares what is equal and reads what changed; false if the texts differ elsewhere.
#[inline]
fn apply(
    one: &Difference,
    [old, new]: [&[u8]; 2],
    slots: &mut [u64],
    parse: impl Fn(&[u8]) -> u64,
) -> bool {
    let mut is_same = true;
    for change in &one.changes {
        let [from, to] = change.equal;
        let value = to + change.length;
        is_same &= old[from..from + change.length] == new[to..value];
        slots[change.slot] = parse(&new[value..]);
    }
    is_same && old[one.rest[0]..] == new[one.rest[1]..]
}

fn difference(work: &Workload, before: usize, message: usize, count: usize) -> Option<Difference> {
    let texts = [before, message].map(|at| &*work.messages[at]);
    let [old, new] = texts.map(values);
    let slots = work.records[message].slots().len();
    if old.len() != count || new.len() != count {
        return None;
    }
    let (mut changes, mut rest) = (Vec::new(), [0, 0]);
    for (place, (old, new)) in old.into_iter().zip(new).enumerate() {
        if texts[0][old.clone()] != texts[1][new.clone()] {
            changes.push(Change {
                equal: rest,
                length: new.start - rest[1],
                // Slots that are no values, such as the count, come before them.
                slot: slots - count + place,
            });
            rest = [old.end, new.end];
        }
    }
    Some(Difference {
        before,
        message,
        changes,
        rest,
    })
}

/// Where the values of an array are in its message.
fn values(text: &[u8]) -> Vec<Range<usize>> {
    const TAG: &[u8] = b"<item>";
    let starts = memmem::find_iter(text, TAG).map(|at| at + TAG.len());
    let end =
        |start: usize| memchr::memchr(b'<', &text[start..]).map_or(text.len(), |at| start + at);
    starts.map(|start| start..end(start)).collect()
}
