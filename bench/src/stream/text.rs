//! The messages of a stream as text.

use std::io::Write as _;

use crate::encoded;
use crate::order::{HEAD, Order, Peers, Reading, TAIL};
use crate::random::Random;
use crate::shape::{Mesh, Shape, Values};

/// Elements of an order that are strings of any length.
const STRINGS: [&str; 6] = ["note", "name", "street", "city", "sku", "description"];
/// Strings of an order that take turns in changing.
const TAKE_TURNS: usize = 8;

/// An array's message, numbers in their shortest form.
pub(crate) fn array(shape: Shape, values: &Values) -> Vec<u8> {
    if let (Shape::Encoded, Values::Doubles(all)) = (shape, values) {
        return encoded_doubles(all);
    }
    let name = shape.body_element();
    let mut out = Vec::with_capacity(64 * values.len() + 512);
    out.extend_from_slice(HEAD.as_bytes());
    let (mut doubles, mut ints) = (zmij::Buffer::new(), itoa::Buffer::new());
    // Writing to a Vec cannot fail.
    let _ = write!(out, "<b:{name}>");
    match values {
        Values::Doubles(all) => all.iter().for_each(|&one| {
            item(doubles.format_finite(one).as_bytes(), &mut out);
        }),
        Values::Ints(all) => all
            .iter()
            .for_each(|&one| item(ints.format(one).as_bytes(), &mut out)),
        Values::Mesh(all) => all.iter().for_each(|Mesh { x, y, value }| {
            let value = doubles.format_finite(*value);
            let value = value.strip_suffix(".0").unwrap_or(value);
            let _ = write!(
                out,
                "<item><x>{x}</x><y>{y}</y><value>{value}</value></item>"
            );
        }),
        Values::Samples(all) => all.iter().for_each(|one| {
            let (time, value) = (one.time(), one.value);
            let _ = write!(out, r#"<sample at="{time}">{value}</sample>"#);
        }),
        Values::Strings(all) => all.iter().for_each(|one| {
            let escaped = one.replace('&', "&amp;").replace('<', "&lt;");
            item(escaped.as_bytes(), &mut out);
        }),
        Values::Readings(_) | Values::Orders(_) | Values::Recorded | Values::Octets(_) => {}
    }
    let _ = write!(out, "</b:{name}>{TAIL}");
    out
}

/// The same in an rpc/encoded message.
fn encoded_doubles(all: &[f64]) -> Vec<u8> {
    let mut doubles = zmij::Buffer::new();
    let mut form = |&one: &f64| {
        let form = doubles.format_finite(one);
        form.strip_suffix(".0").unwrap_or(form).to_owned()
    };
    let forms: Vec<String> = all.iter().map(&mut form).collect();
    encoded::message(Shape::Encoded, &forms)
}

fn item(form: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"<item>");
    // Whole numbers are written without `.0`.
    out.extend_from_slice(form.strip_suffix(b".0").unwrap_or(form));
    out.extend_from_slice(b"</item>");
}

/// The messages of documents, one each.
pub(super) fn documents(values: &Values) -> Vec<Vec<u8>> {
    match values {
        Values::Readings(all) => all
            .iter()
            .map(|one| written(|out| one.write::<Peers>(out)))
            .collect(),
        Values::Orders(all) => all
            .iter()
            .map(|one| written(|out| one.write::<Peers>(out)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Another document of the kind of these.
pub(super) fn document(values: &Values, random: &mut Random) -> Vec<u8> {
    match values {
        Values::Readings(_) => written(|out| Reading::generate(random).write::<Peers>(out)),
        _ => written(|out| Order::generate(random).write::<Peers>(out)),
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// Messages of which each differs from the one before in the length of some strings: the given share of them, at least
/// one. Groups of strings take turns in being longer and as they were.
pub(super) fn strings_changed(text: &[u8], percent: usize, random: &mut Random) -> Vec<Vec<u8>> {
    let mut ends = STRINGS
        .iter()
        .flat_map(|name| places(text, format!("</{name}>").as_bytes()))
        .collect::<Vec<usize>>();
    for place in (1..ends.len()).rev() {
        ends.swap(place, random.below(place as u64 + 1) as usize);
    }
    let together = (ends.len() * percent / 100).max(1);
    let mut longer: Vec<usize> = Vec::new();
    let groups: Vec<_> = ends.chunks(together).take(TAKE_TURNS).collect();
    let mut texts = Vec::new();
    for group in groups.iter().chain(&groups) {
        match longer.iter().position(|end| group.contains(end)) {
            Some(_) => longer.retain(|end| !group.contains(end)),
            None => longer.extend(*group),
        }
        longer.sort_unstable();
        texts.push(inserted(text, &longer, b" and more"));
    }
    texts
}

/// The location of some bytes.
fn places(text: &[u8], what: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(text, what).collect()
}

/// The text with something inserted at some places, which are in order.
fn inserted(text: &[u8], places: &[usize], what: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut from = 0;
    for &place in places {
        out.extend_from_slice(&text[from..place]);
        out.extend_from_slice(what);
        from = place;
    }
    out.extend_from_slice(&text[from..]);
    out
}

/// The message with its optional note, and without.
pub(super) fn note_taken(text: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let find = |what: &str| memchr::memmem::find(text, what.as_bytes());
    let after = |what: &str| {
        find(what)
            .map(|at| at + what.len())
            .ok_or_else(|| format!("the document has no {what}"))
    };
    let (start, without) = match (find("<note>"), find("</note>")) {
        (Some(start), Some(end)) => (
            start,
            [&text[..start], &text[end + "</note>".len()..]].concat(),
        ),
        _ => (after("</express>")?, text.to_vec()),
    };
    let with = inserted(
        &without,
        &[start],
        b"<note>Leave it at the door, please.</note>",
    );
    Ok(vec![with, without])
}
