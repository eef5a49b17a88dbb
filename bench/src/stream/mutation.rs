//! Which values of a message become others, and which others: the changes that differential deserialization is measured by.
//!
//! ```text
//! P25/T4         ······■■■■······ ······■■■■······ ······■■■■······ ······■■■■······
//! P25/scattered  ·■···■■·····■··· ··■······■···■·· ■··············■ ···■■···■··■····
//! ```
//!
//! A value that changes becomes a wholly other one, not one with another digit.

use std::collections::HashMap;

use super::change::{another, scattered};
use crate::random::Random;
use crate::scenario::{Kind, Lengths, Place};
use crate::shape::{Mesh, Shape, Values};

/// Which of `count` values change: `percent` % of them, there.
pub(super) fn places(count: usize, percent: usize, place: Place, random: &mut Random) -> Vec<bool> {
    match place {
        Place::Scattered => scattered(count, percent, random),
        Place::Partitions(partitions) => partitioned(count, percent, partitions),
    }
}

/// The values around the centre of each of this number of equal partitions; at least one in each.
fn partitioned(count: usize, percent: usize, partitions: usize) -> Vec<bool> {
    let partitions = partitions.clamp(1, count.max(1));
    let mut set = vec![false; count];
    for partition in 0..partitions {
        let from = partition * count / partitions;
        let size = (partition + 1) * count / partitions - from;
        let changed = ((size * percent + 50) / 100).max(1).min(size);
        let start = from + (size - changed) / 2;
        set[start..start + changed].fill(true);
    }
    set
}

/// For each value another one of its kind.
pub(super) fn others(
    values: &Values,
    shape: Shape,
    lengths: Lengths,
    random: &mut Random,
) -> Values {
    let count = values.len();
    // The first ones are the values themselves.
    let fresh = shape.generate(3 * count).slice(count..3 * count);
    if lengths == Lengths::AsTheyCome {
        return fresh.slice(0..count);
    }
    // Where no other is as long, one digit or letter is another.
    let close = another(values, shape, Kind::Same, random);
    match (values, fresh, close) {
        (Values::Doubles(own), Values::Doubles(fresh), Values::Doubles(close)) => {
            Values::Doubles(Pool::new(fresh, double_length).replace(own, &close))
        }
        (Values::Ints(own), Values::Ints(fresh), Values::Ints(close)) => {
            Values::Ints(Pool::new(fresh, int_length).replace(own, &close))
        }
        (Values::Strings(own), Values::Strings(fresh), Values::Strings(close)) => {
            Values::Strings(Pool::new(fresh, |word| escaped_length(word)).replace(own, &close))
        }
        (Values::Mesh(own), Values::Mesh(fresh), Values::Mesh(close)) => {
            Values::Mesh(other_rows(own, &fresh, &close))
        }
        (_, _, close) => close,
    }
}

fn other_rows(own: &[Mesh], fresh: &[Mesh], close: &[Mesh]) -> Vec<Mesh> {
    let ints = |of: fn(&Mesh) -> i32| {
        let column = |rows: &[Mesh]| rows.iter().map(of).collect::<Vec<_>>();
        Pool::new(column(fresh), int_length).replace(&column(own), &column(close))
    };
    let doubles = |rows: &[Mesh]| rows.iter().map(|row| row.value).collect::<Vec<_>>();
    let values = Pool::new(doubles(fresh), double_length).replace(&doubles(own), &doubles(close));
    ints(|row| row.x)
        .into_iter()
        .zip(ints(|row| row.y))
        .zip(values)
        .map(|((x, y), value)| Mesh { x, y, value })
        .collect()
}

fn double_length(value: &f64) -> usize {
    let mut out = Vec::new();
    bsoap_datatypes::double::write(*value, &mut out);
    out.len()
}

fn int_length(value: &i32) -> usize {
    value.to_string().len()
}

fn escaped_length(value: &str) -> usize {
    value.replace('&', "&amp;").replace('<', "&lt;").len()
}

/// Values by the length of their lexical forms.
struct Pool<T> {
    by_length: HashMap<usize, Vec<T>>,
    length: fn(&T) -> usize,
}

impl<T: Clone + PartialEq> Pool<T> {
    fn new(values: Vec<T>, length: fn(&T) -> usize) -> Self {
        let mut by_length: HashMap<usize, Vec<T>> = HashMap::new();
        for value in values {
            by_length.entry(length(&value)).or_default().push(value);
        }
        Self { by_length, length }
    }

    /// For each value another of its length, or the one that is close to it.
    fn replace(&mut self, own: &[T], close: &[T]) -> Vec<T> {
        let other = |(own, close): (&T, &T)| {
            let pool = self.by_length.get_mut(&(self.length)(own));
            pool.and_then(Vec::pop)
                .filter(|other| other != own)
                .unwrap_or_else(|| close.clone())
        };
        own.iter().zip(close).map(other).collect()
    }
}

/// Messages of which each differs from the one before in the contents of some leaves: `percent` % of them, at least one.
/// Two sets of leaves take turns. What they become, leaves in the same place have in one of the other documents.
pub(super) fn leaves_changed(
    text: &[u8],
    others: &[Vec<u8>],
    percent: usize,
    random: &mut Random,
) -> Vec<Vec<u8>> {
    let own = leaves(text);
    let mut forms: HashMap<Vec<u8>, Vec<&[u8]>> = HashMap::new();
    for (other, leaf) in others
        .iter()
        .flat_map(|other| leaves(other).into_iter().map(move |leaf| (other, leaf)))
    {
        let form = leaf.form(other);
        forms.entry(leaf.path).or_default().push(form);
    }
    let new: Vec<&[u8]> = own
        .iter()
        .map(|leaf| {
            let own = leaf.form(text);
            let forms = forms.get(&leaf.path).map_or(&[][..], Vec::as_slice);
            let different: Vec<_> = forms.iter().filter(|form| **form != own).collect();
            match different.len() {
                0 => own,
                count => different[random.below(count as u64) as usize],
            }
        })
        .collect();
    let changed = |set: &[bool]| {
        let mut out = Vec::with_capacity(text.len() + text.len() / 8);
        let mut from = 0;
        for ((leaf, new), is_in) in own.iter().zip(&new).zip(set) {
            out.extend_from_slice(&text[from..leaf.start]);
            out.extend_from_slice(if *is_in { new } else { leaf.form(text) });
            from = leaf.end;
        }
        out.extend_from_slice(&text[from..]);
        out
    };
    // Of some leaves there is only one form.
    let able: Vec<usize> = (0..own.len())
        .filter(|&at| own[at].form(text) != new[at])
        .collect();
    let sets = [(); 2].map(|()| {
        let mut set = vec![false; own.len()];
        let share = scattered(able.len(), percent, random);
        std::iter::zip(&able, share).for_each(|(&at, is_in)| set[at] = is_in);
        set
    });
    if percent == 100 {
        return vec![text.to_vec(), changed(&sets[0])];
    }
    let both: Vec<bool> = std::iter::zip(&sets[0], &sets[1])
        .map(|(one, two)| one != two)
        .collect();
    vec![
        text.to_vec(),
        changed(&sets[0]),
        changed(&both),
        changed(&sets[1]),
    ]
}

/// How many leaves a text has.
pub(super) fn leaf_count(text: &[u8]) -> usize {
    leaves(text).len()
}

/// A leaf element, by where the content between its tags begins and ends, and the names of those it is in.
struct Leaf {
    start: usize,
    end: usize,
    path: Vec<u8>,
}

impl Leaf {
    fn form<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..self.end]
    }
}

/// The leaf elements with a content. The generators write no comments, and no `>` but in tags.
fn leaves(text: &[u8]) -> Vec<Leaf> {
    let (mut found, mut path, mut open) = (Vec::new(), Vec::new(), Vec::new());
    // Behind the start tag before, if nothing but text has come since.
    let mut start = None;
    for tag in memchr::memchr_iter(b'<', text) {
        let Some(length) = memchr::memchr(b'>', &text[tag..]) else {
            break;
        };
        let (inside, end) = (&text[tag + 1..tag + length], tag + length + 1);
        if inside.starts_with(b"/") {
            if let Some(start) = start.take().filter(|start| *start < tag) {
                let path = path.clone();
                found.push(Leaf {
                    start,
                    end: tag,
                    path,
                });
            }
            path.truncate(open.pop().unwrap_or(0));
        } else if inside.ends_with(b"/") || inside.starts_with(b"?") {
            start = None;
        } else {
            open.push(path.len());
            path.push(b'/');
            path.extend(inside.iter().take_while(|byte| **byte != b' '));
            start = Some(end);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_around_the_centres_of_partitions_change() {
        let set = |count, percent, partitions| {
            let set = partitioned(count, percent, partitions);
            set.iter()
                .map(|is_in| if *is_in { '#' } else { '.' })
                .collect::<String>()
        };
        assert_eq!(set(16, 50, 2), "..####....####..");
        assert_eq!(set(8, 25, 1), "...##...");
        assert_eq!(set(3, 25, 500), "###");
        assert_eq!(set(4, 100, 1), "####");
        assert_eq!(set(0, 25, 1), "");
    }

    #[test]
    fn others_of_the_same_lengths_are_others_and_of_the_same_lengths() {
        for shape in [Shape::Dhard, Shape::Int, Shape::Mio, Shape::String] {
            let values = shape.generate(300);
            let other = others(&values, shape, Lengths::Kept, &mut Random::new(1));
            let text = |values: &Values| super::super::text::array(shape, values);
            assert_eq!(text(&values).len(), text(&other).len(), "{shape:?}");
            let (one, two) = (text(&values), text(&other));
            let differing = one.iter().zip(&two).filter(|(a, b)| a != b).count();
            assert!(differing > one.len() / 5, "{shape:?}: {differing}");
        }
    }

    #[test]
    fn leaves_become_what_leaves_in_their_place_are_elsewhere() {
        let text = b"<a><b>1</b><c x='1'>two</c><d/><e></e></a>".to_vec();
        let others = [
            b"<a><b>34</b><c>five</c><f><b>x</b></f></a>".to_vec(),
            b"<a><b>1</b></a>".to_vec(),
        ];
        assert_eq!(leaf_count(&text), 2);
        let changed = leaves_changed(&text, &others, 100, &mut Random::new(1));
        assert_eq!(
            String::from_utf8_lossy(&changed[1]),
            "<a><b>34</b><c x='1'>five</c><d/><e></e></a>"
        );
        assert_eq!(
            leaves_changed(&text, &others, 10, &mut Random::new(1)).len(),
            4
        );
    }
}
