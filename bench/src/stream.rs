//! A stream: the messages that one client sends to one peer, one after the other, and what changes between them.
//!
//! ```text
//! dirty25     A → A with a quarter changed (set 1) → with both sets changed → set 2 alone → A → …
//! grow        │template of small values│ → large values;  │template of small values│ → large values; …
//! ```
//!
//! What is between bars is done before the clock starts.

use crate::random::Random;
use crate::recorded;
use crate::scenario::{Change, Kind, Scenario, Size};
use crate::shape::{Shape, Values};

mod change;
mod mutation;
mod text;

pub(crate) use text::array as text_of;

/// Arrays larger than this are not kept as text.
pub(crate) const MOST_TEXT: usize = 1_000_000;
/// Seeds of what changes; the values themselves have seeds of their own.
const SEED: u64 = 2004;
/// Elements that come and go where an array changes its length.
const INSERTED: usize = 10;
/// Documents in a stream with nothing in common.
const UNLIKE: usize = 8;
/// Documents whose leaves are what those of another become.
const OTHERS: usize = 20;

/// The messages of a stream and their order.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) scenario: Scenario,
    /// The different messages, as text. Empty for an overlay of an array that is too large.
    pub(crate) texts: Vec<Vec<u8>>,
    /// What is sent in turn.
    pub(crate) steps: Vec<Step>,
    /// For comparison: what is sent in turn if the same values shall be written without any of them changing its length.
    pub(crate) steady: Vec<Step>,
    /// Bytes of a message.
    pub(crate) bytes: usize,
    /// The share of the values that a message does not have in common with the one before, where it is always the same.
    pub(crate) share: Option<f64>,
}

/// One send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Before the clock starts, the sender forgets all and sends this message.
    pub(crate) after: Option<usize>,
    /// The message sent.
    pub(crate) send: usize,
}

impl Step {
    /// The number of messages, one after the other.
    pub(crate) fn in_turn(count: usize) -> Vec<Self> {
        (0..count).map(|send| Self { after: None, send }).collect()
    }
}

impl Stream {
    /// The stream of a case.
    ///
    /// # Errors
    /// A scenario that this shape does not have.
    pub(crate) fn new(shape: Shape, values: &Values, scenario: &str) -> Result<Self, String> {
        let scenario = Scenario::parse(scenario)?;
        let (texts, steps, steady) = match (values, scenario.change) {
            (Values::Readings(_) | Values::Orders(_), _) => documents(values, &scenario)?,
            (Values::Recorded, Change::Recorded(which)) => {
                let texts = recorded::messages(which)?;
                let steps = Step::in_turn(texts.len());
                (texts, steps.clone(), steps)
            }
            _ => arrays(shape, values, &scenario)?,
        };
        let first = steps.first().and_then(|step| texts.get(step.send));
        Ok(Self {
            bytes: first.map_or(0, Vec::len),
            share: share(values, &scenario, &texts),
            scenario,
            texts,
            steps,
            steady,
        })
    }

    /// Whether messages have so little in common that receivers bypass them, so that only the mean of many is of interest.
    pub(crate) fn is_unlike(&self) -> bool {
        matches!(
            self.scenario.change,
            Change::Unlike | Change::Other { percent: 100, .. } | Change::Leaves { percent: 100 }
        )
    }

    /// Whether memory is of interest.
    pub(crate) fn is_overlay(&self) -> bool {
        self.scenario.change == Change::Overlay
    }
}

/// The share of the values that a message does not have in common with the one before.
fn share(values: &Values, scenario: &Scenario, texts: &[Vec<u8>]) -> Option<f64> {
    let of = |count: usize, all: usize| Some(count as f64 / all.max(1) as f64);
    let leaves = texts.first().map_or(1, |text| mutation::leaf_count(text));
    match scenario.change {
        Change::None => Some(0.0),
        Change::Other { percent, .. } | Change::Leaves { percent } => of(percent, 100),
        Change::Leaf => of(1, leaves),
        Change::Arrive(count) => of(count, values.len()),
        Change::Leave(_) => Some(0.0),
        _ => None,
    }
}

type Parts = (Vec<Vec<u8>>, Vec<Step>, Vec<Step>);

fn arrays(shape: Shape, values: &Values, scenario: &Scenario) -> Result<Parts, String> {
    let write = |values: &Values| text::array(shape, values);
    if let Some(messages) = in_turn(shape, values, scenario)? {
        let texts: Vec<_> = messages.iter().map(write).collect();
        let steps = Step::in_turn(texts.len());
        return Ok((texts, steps.clone(), steps));
    }
    Ok(match scenario.change {
        // One that is too large to be kept as text.
        Change::Overlay => (Vec::new(), Step::in_turn(1), Vec::new()),
        Change::Grow { percent, from } => resized(&write, &grown(shape, values, percent, from)?),
        Change::Shrink => resized(&write, &shrunk(shape, values)?),
        Change::Arrive(count) | Change::Leave(count) => {
            let more = shape.generate(values.len() + count);
            let longer = values.inserted(0, &more.slice(values.len()..more.len()));
            let arrives = matches!(scenario.change, Change::Arrive(_));
            let (before, after) = if arrives { (0, 1) } else { (1, 0) };
            let step = Step {
                after: Some(before),
                send: after,
            };
            let texts = [values, &longer].map(write);
            (texts.into(), vec![step], Vec::new())
        }
        Change::Recorded(_) => return Err("only recorded messages have that".into()),
        _ => return Err("that happens to documents only".into()),
    })
}

/// The messages of a sliding window of this length.
fn windows(shape: Shape, length: usize, count: usize, is_middle: bool) -> Vec<Values> {
    const MESSAGES: usize = 64;
    let count = count.min(length);
    let all = shape.generate(length + MESSAGES * count);
    let from = if is_middle { (length - count) / 2 } else { 0 };
    let mut window = all.slice(0..length);
    let step = |number: usize| {
        let arrives = all.slice(length + number * count..length + (number + 1) * count);
        let kept = window.slice(from + count..length);
        let next = kept.inserted(length - from - count, &arrives);
        window = next.inserted(0, &window.slice(0..from));
        window.clone()
    };
    (0..MESSAGES).map(step).collect()
}

/// The arrays that are sent one after the other, and again; `None` where messages come otherwise.
fn in_turn(
    shape: Shape,
    values: &Values,
    scenario: &Scenario,
) -> Result<Option<Vec<Values>>, String> {
    let mut random = Random::new(SEED);
    Ok(Some(match scenario.change {
        Change::None => vec![values.clone()],
        Change::Window { count, is_middle } => windows(shape, values.len(), count, is_middle),
        Change::Overlay if values.len() <= MOST_TEXT => {
            let other = change::another(values, shape, Kind::Same, &mut random);
            vec![values.clone(), other]
        }
        Change::Dirty { percent, kind } => {
            let other = change::another(values, shape, kind, &mut random);
            turns(values, &other, percent, kind, &mut random)
        }
        Change::Ones => {
            let small = change::of_size(values, Size::One, &mut random)?;
            let other = change::another(&small, shape, Kind::Same, &mut random);
            vec![small, other]
        }
        Change::Unlike => {
            let all = shape.generate(4 * values.len());
            let quarter = |at: usize| all.slice(at * values.len()..(at + 1) * values.len());
            [0, 1, 2, 3].map(quarter).into()
        }
        Change::Insert { percent } => {
            let more = shape.generate(values.len() + INSERTED);
            let added = more.slice(values.len()..more.len());
            let at = values.len() * percent / 100;
            vec![values.clone(), values.inserted(at, &added)]
        }
        Change::Other {
            percent,
            place,
            lengths,
        } => {
            let other = mutation::others(values, shape, lengths, &mut random);
            let set = mutation::places(values.len(), percent, place, &mut random);
            vec![values.clone(), values.with(&other, &set)]
        }
        _ => return Ok(None),
    }))
}

/// Some values become large: before, then, and with others of that size.
fn grown(shape: Shape, values: &Values, percent: usize, from: Size) -> Result<[Values; 3], String> {
    let mut random = Random::new(SEED);
    let small = change::of_size(values, from, &mut random)?;
    let large = change::of_size(values, Size::Most, &mut random)?;
    let steady = change::another(&large, shape, Kind::Same, &mut random);
    let set = change::scattered(values.len(), percent, &mut random);
    let [then, later] = [&large, &steady].map(|other| small.with(other, &set));
    Ok([small, then, later])
}

/// All values become small: before, then, and with others of that size.
fn shrunk(shape: Shape, values: &Values) -> Result<[Values; 3], String> {
    let mut random = Random::new(SEED);
    let large = change::of_size(values, Size::Most, &mut random)?;
    let small = change::of_size(values, Size::One, &mut random)?;
    let steady = change::another(&small, shape, Kind::Same, &mut random);
    Ok([large, small, steady])
}

/// Messages of which each differs from the one before in `percent` % of its values: two sets of them take turns.
fn turns(
    values: &Values,
    other: &Values,
    percent: usize,
    kind: Kind,
    random: &mut Random,
) -> Vec<Values> {
    let count = values.len();
    let sets = match kind {
        Kind::Block => [
            change::block(count, percent, 0.0),
            change::block(count, percent, 1.0),
        ],
        _ => [(); 2].map(|()| change::scattered(count, percent, random)),
    };
    let both: Vec<bool> = sets[0]
        .iter()
        .zip(&sets[1])
        .map(|(one, two)| one != two)
        .collect();
    vec![
        values.clone(),
        values.with(other, &sets[0]),
        values.with(other, &both),
        values.with(other, &sets[1]),
    ]
}

/// From the first to the second, again and again; in comparison, between the second and the third.
fn resized(write: &dyn Fn(&Values) -> Vec<u8>, messages: &[Values; 3]) -> Parts {
    let steady = [1, 2].map(|send| Step { after: None, send });
    let step = Step {
        after: Some(0),
        send: 1,
    };
    (
        messages.iter().map(write).collect(),
        vec![step],
        steady.into(),
    )
}

fn documents(values: &Values, scenario: &Scenario) -> Result<Parts, String> {
    let count = values.len();
    let texts = match scenario.change {
        Change::None => text::documents(values),
        Change::Unlike => {
            let mut random = Random::new(SEED);
            let more = (0..UNLIKE.max(count)).map(|_| text::document(values, &mut random));
            more.collect()
        }
        Change::Strings { percent } => {
            text::strings_changed(&text::documents(values)[0], percent, &mut Random::new(SEED))
        }
        Change::Optional => text::note_taken(&text::documents(values)[0])?,
        Change::Leaf => leaves_changed(values, 0),
        Change::Leaves { percent } => leaves_changed(values, percent),
        _ => return Err("that happens to arrays only".into()),
    };
    let steps = Step::in_turn(texts.len());
    Ok((texts, steps.clone(), steps))
}

/// The first document, leaves of which become those of others.
fn leaves_changed(values: &Values, percent: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(SEED);
    let others: Vec<_> = (0..OTHERS)
        .map(|_| text::document(values, &mut random))
        .collect();
    let first = &text::documents(values)[0];
    mutation::leaves_changed(first, &others, percent, &mut random)
}

impl Values {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Doubles(all) => all.len(),
            Self::Ints(all) => all.len(),
            Self::Mesh(all) => all.len(),
            Self::Samples(all) => all.len(),
            Self::Strings(all) => all.len(),
            Self::Readings(all) => all.len(),
            Self::Orders(all) => all.len(),
            Self::Octets(all) => all.len(),
            Self::Recorded => 0,
        }
    }

    /// Some of them.
    fn slice(&self, range: std::ops::Range<usize>) -> Self {
        match self {
            Self::Doubles(all) => Self::Doubles(all[range].to_vec()),
            Self::Ints(all) => Self::Ints(all[range].to_vec()),
            Self::Mesh(all) => Self::Mesh(all[range].to_vec()),
            Self::Samples(all) => Self::Samples(all[range].to_vec()),
            Self::Strings(all) => Self::Strings(all[range].to_vec()),
            Self::Readings(all) => Self::Readings(all[range].to_vec()),
            Self::Orders(all) => Self::Orders(all[range].to_vec()),
            Self::Octets(all) => Self::Octets(all[range].to_vec()),
            Self::Recorded => Self::Recorded,
        }
    }

    /// These, with those of the other in the places of a set.
    fn with(&self, other: &Self, set: &[bool]) -> Self {
        fn mixed<T: Clone>(own: &[T], other: &[T], set: &[bool]) -> Vec<T> {
            let pick =
                |((own, other), &is_in): ((&T, &T), &bool)| if is_in { other } else { own }.clone();
            own.iter().zip(other).zip(set).map(pick).collect()
        }
        match (self, other) {
            (Self::Doubles(own), Self::Doubles(other)) => Self::Doubles(mixed(own, other, set)),
            (Self::Ints(own), Self::Ints(other)) => Self::Ints(mixed(own, other, set)),
            (Self::Mesh(own), Self::Mesh(other)) => Self::Mesh(mixed(own, other, set)),
            (Self::Samples(own), Self::Samples(other)) => Self::Samples(mixed(own, other, set)),
            (Self::Strings(own), Self::Strings(other)) => Self::Strings(mixed(own, other, set)),
            _ => self.clone(),
        }
    }

    /// These, with others inserted at a place.
    fn inserted(&self, place: usize, added: &Self) -> Self {
        fn spliced<T: Clone>(own: &[T], place: usize, added: &[T]) -> Vec<T> {
            [&own[..place], added, &own[place..]].concat()
        }
        match (self, added) {
            (Self::Doubles(own), Self::Doubles(added)) => Self::Doubles(spliced(own, place, added)),
            (Self::Ints(own), Self::Ints(added)) => Self::Ints(spliced(own, place, added)),
            (Self::Mesh(own), Self::Mesh(added)) => Self::Mesh(spliced(own, place, added)),
            (Self::Samples(own), Self::Samples(added)) => Self::Samples(spliced(own, place, added)),
            (Self::Strings(own), Self::Strings(added)) => Self::Strings(spliced(own, place, added)),
            _ => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(shape: Shape, count: usize, scenario: &str) -> Stream {
        Stream::new(shape, &shape.generate(count), scenario).unwrap()
    }

    #[test]
    fn values_that_change_with_their_length_kept_leave_the_text_as_long_as_it_was() {
        for shape in [
            Shape::Dhard,
            Shape::Dunit,
            Shape::Dsmall,
            Shape::Int,
            Shape::Mio,
            Shape::String,
        ] {
            for percent in [25, 100] {
                let stream = stream(shape, 200, &format!("dirty{percent}"));
                let first = &stream.texts[0];
                assert!(
                    stream.texts.iter().all(|text| text.len() == first.len()),
                    "{shape:?}"
                );
                assert_ne!(first, &stream.texts[1]);
            }
            let any = stream(shape, 200, "dirty100/any");
            assert_ne!(any.texts[0].len(), any.texts[1].len(), "{shape:?}");
        }
    }

    #[test]
    fn each_message_differs_from_the_one_before_in_the_share_of_values_named() {
        let values = |text: &[u8]| {
            let text = String::from_utf8(text.to_vec()).unwrap();
            text.split("<item>")
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let stream = stream(Shape::Dhard, 400, "dirty25");
        let turns: Vec<_> = stream.texts.iter().map(|text| values(text)).collect();
        for (place, after) in turns.iter().enumerate() {
            let before = &turns[(place + 3) % 4];
            let changed = before
                .iter()
                .zip(after)
                .filter(|(one, two)| one != two)
                .count();
            assert_eq!(changed, 100, "{place}");
        }
    }

    #[test]
    fn the_smallest_and_the_largest_values_have_the_widths_of_the_paper() {
        for (shape, small, large) in [
            (Shape::Dhard, 1, 24),
            (Shape::Int, 1, 11),
            (Shape::Mio, 3, 46),
        ] {
            let stream = stream(shape, 50, "grow/8k");
            let [small_text, large_text] = [0, 1].map(|at| stream.texts[at].len());
            assert_eq!(large_text - small_text, 50 * (large - small), "{shape:?}");
            assert_eq!(stream.scenario.chunk, Some(8192));
            assert_eq!(
                stream.steps,
                [Step {
                    after: Some(0),
                    send: 1
                }]
            );
        }
        let middle = stream(Shape::Mio, 100, "grow25/mid");
        assert_eq!(middle.texts[1].len() - middle.texts[0].len(), 25 * 10);
    }

    #[test]
    fn one_string_of_an_order_changes_with_each_message() {
        let optional = stream(Shape::Order, 1, "optional");
        let stream = stream(Shape::Order, 1, "strings1");
        for (place, after) in stream.texts.iter().enumerate() {
            let before = &stream.texts[(place + stream.texts.len() - 1) % stream.texts.len()];
            assert_ne!(before.len(), after.len(), "{place}");
        }
        assert_eq!(optional.texts.len(), 2);
        assert_ne!(optional.texts[0].len(), optional.texts[1].len());
    }

    #[test]
    fn what_a_shape_cannot_do_is_said() {
        assert!(Stream::new(Shape::Order, &Shape::Order.generate(1), "dirty25").is_err());
        assert!(Stream::new(Shape::Int, &Shape::Int.generate(1), "strings1").is_err());
        assert!(Stream::new(Shape::Int, &Shape::Int.generate(1), "dirt").is_err());
    }
}
