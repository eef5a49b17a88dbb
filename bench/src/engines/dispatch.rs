//! Tag-specific callbacks: each tag's name leads to the code for its element, by a table of names of one kind or another, as
//! in Chiu, Govindaraju and Bramley, *Investigating the Limits of SOAP for Scientific Computing*.
//!
//! All of it but the table is the same: one pass over the text, numbers by the best crate, values into rows. A map has to
//! know where a name ends before it can look it up; our table finds that out on the way.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bsoap_xml::NameTable;
use memchr::memchr;

use super::bare::Baseline;
use super::numbers::Numbers;
use crate::definition::Task;
use crate::job::{Engine, Job, Local};
use crate::shape::{Mesh, Values};
use crate::workload::{Answer, Workload};

const ITEM: u32 = 7;
const X: u32 = 8;
const Y: u32 = 9;
const VALUE: u32 = 10;

/// Element names that a service of some size knows; those of the mesh are among them.
const NAMES: [&str; 28] = [
    "Envelope",
    "Header",
    "Body",
    "Fault",
    "faultcode",
    "faultstring",
    "detail",
    "item",
    "x",
    "y",
    "value",
    "values",
    "mesh",
    "doubles",
    "ints",
    "strings",
    "order",
    "orderLine",
    "customer",
    "address",
    "street",
    "city",
    "quantity",
    "price",
    "currency",
    "reading",
    "station",
    "temperature",
];

/// A table of names.
pub(crate) trait Names {
    /// The table of these names: each has its place in the list as its number.
    fn of(names: &[&'static str]) -> Self;

    /// The name that a text begins with: its length, and its number if it is known.
    fn find(&self, text: &[u8]) -> (usize, Option<u32>);
}

impl Names for NameTable {
    fn of(names: &[&'static str]) -> Self {
        NameTable::new(names.iter().copied().zip(0..))
    }

    #[inline]
    fn find(&self, text: &[u8]) -> (usize, Option<u32>) {
        self.scan(text)
    }
}

/// Where the name that a text begins with ends.
#[inline]
fn name_end(text: &[u8]) -> usize {
    let ends = |byte: &u8| {
        matches!(
            byte,
            b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>' | b'=' | b':'
        )
    };
    text.iter().position(ends).unwrap_or(text.len())
}

/// A map of the standard library.
pub(crate) trait Map: FromIterator<(&'static [u8], u32)> {
    fn number(&self, name: &[u8]) -> Option<u32>;
}

impl Map for HashMap<&'static [u8], u32> {
    #[inline]
    fn number(&self, name: &[u8]) -> Option<u32> {
        self.get(name).copied()
    }
}

impl Map for BTreeMap<&'static [u8], u32> {
    #[inline]
    fn number(&self, name: &[u8]) -> Option<u32> {
        self.get(name).copied()
    }
}

/// Names in a map, found once it is known where they end.
pub(crate) struct Mapped<M>(M);

impl<M: Map> Names for Mapped<M> {
    fn of(names: &[&'static str]) -> Self {
        Self(names.iter().map(|name| name.as_bytes()).zip(0..).collect())
    }

    #[inline]
    fn find(&self, text: &[u8]) -> (usize, Option<u32>) {
        let end = name_end(text);
        (end, self.0.number(&text[..end]))
    }
}

/// A hash without collisions among the names known. Others may have the hash of one that is, so it is compared.
pub(crate) struct Perfect {
    factor: u64,
    slots: [(&'static [u8], u32); 1 << Perfect::BITS],
}

impl Perfect {
    const BITS: u32 = 8;

    #[inline]
    fn hash(factor: u64, name: &[u8]) -> usize {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(factor);
        (name.iter().fold(name.len() as u64, mix) >> (64 - Self::BITS)) as usize
    }
}

impl Names for Perfect {
    fn of(names: &[&'static str]) -> Self {
        let is_perfect = |factor: &u64| {
            let mut taken = [false; 1 << Self::BITS];
            let mut is_free = |name: &&str| {
                !std::mem::replace(&mut taken[Self::hash(*factor, name.as_bytes())], true)
            };
            names.iter().all(&mut is_free)
        };
        let mut odd = (1u64..).map(|seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let factor = odd.find(is_perfect).unwrap_or(1);
        let mut slots = [(&b""[..], 0); 1 << Self::BITS];
        for (number, name) in (0..).zip(names) {
            slots[Self::hash(factor, name.as_bytes())] = (name.as_bytes(), number);
        }
        Self { factor, slots }
    }

    #[inline]
    fn find(&self, text: &[u8]) -> (usize, Option<u32>) {
        let end = name_end(text);
        let (name, number) = self.slots[Self::hash(self.factor, &text[..end])];
        (end, (name == &text[..end]).then_some(number))
    }
}

/// Reads mesh interface objects, each tag dispatched by such a table.
pub(crate) struct Dispatch<N>(Arc<N>);

impl<N: Names> Default for Dispatch<N> {
    fn default() -> Self {
        Self(Arc::new(N::of(&NAMES)))
    }
}

impl<N: Names + 'static> Engine for Dispatch<N> {
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        let Values::Mesh(values) = &work.values else {
            return Ok(None);
        };
        if work.task != Task::Decode {
            return Ok(None);
        }
        let (names, timed) = (Arc::clone(&self.0), Arc::clone(work));
        let read = move |rows: &mut Vec<Mesh>| {
            rows.clear();
            rows_of(&*names, timed.text(), rows)
        };
        let answer = |rows: &mut Vec<Mesh>| {
            let slots = |row: &Mesh| {
                [
                    i64::from(row.x) as u64,
                    i64::from(row.y) as u64,
                    row.value.to_bits(),
                ]
            };
            Ok(Answer::Slots(rows.iter().flat_map(slots).collect()))
        };
        Ok(Local::new(Vec::with_capacity(values.len()), read, answer).boxed())
    }
}

fn rows_of<N: Names>(names: &N, text: &[u8], rows: &mut Vec<Mesh>) -> Result<(), String> {
    let mut row = Mesh::default();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| memchr(b'<', rest)) {
        at += found + 1;
        let is_end = text.get(at) == Some(&b'/');
        at += usize::from(is_end);
        let (length, name) = names.find(&text[at..]);
        at += length;
        at += memchr(b'>', &text[at..]).ok_or("a tag without an end")? + 1;
        match (name, is_end) {
            (Some(X), false) => at += put(&mut row.x, Baseline::parse_int(&text[at..])),
            (Some(Y), false) => at += put(&mut row.y, Baseline::parse_int(&text[at..])),
            (Some(VALUE), false) => at += put(&mut row.value, Baseline::parse_double(&text[at..])),
            (Some(ITEM), true) => rows.push(row),
            _ => {}
        }
    }
    Ok(())
}

#[inline]
fn put<T>(to: &mut T, (value, length): (T, usize)) -> usize {
    *to = value;
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds_all<N: Names>() {
        let names = N::of(&NAMES);
        for (number, name) in (0..).zip(NAMES) {
            assert_eq!(
                names.find(format!("{name}>1</").as_bytes()),
                (name.len(), Some(number))
            );
            assert_eq!(
                names.find(format!("{name}s a=''").as_bytes()).0,
                name.len() + 1
            );
        }
        assert_eq!(names.find(b"other>"), (5, None));
    }

    #[test]
    fn all_tables_find_the_same_names() {
        finds_all::<NameTable>();
        finds_all::<Mapped<HashMap<_, _>>>();
        finds_all::<Mapped<BTreeMap<_, _>>>();
        finds_all::<Perfect>();
    }
}
