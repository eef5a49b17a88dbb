//! Other values: as long as those they replace, of a given length, or as they come; and which of them.

use bsoap_datatypes::double;

use crate::random::Random;
use crate::scenario::{Kind, Size};
use crate::shape::{Mesh, Shape, Values};

/// Which values change: this share of them, anywhere.
pub(super) fn scattered(count: usize, percent: usize, random: &mut Random) -> Vec<bool> {
    let mut set = vec![false; count];
    // At least one, else nothing would change in a short array.
    for is_in in set.iter_mut().take((count * percent / 100).max(1)) {
        *is_in = true;
    }
    // Fisher and Yates.
    for place in (1..count).rev() {
        set.swap(place, random.below(place as u64 + 1) as usize);
    }
    set
}

/// Which values change: this share of them, in one piece, at the beginning (0) or the end (1) of the array.
pub(super) fn block(count: usize, percent: usize, at: f64) -> Vec<bool> {
    let length = (count * percent / 100).max(1).min(count);
    let start = ((count - length) as f64 * at) as usize;
    (0..count)
        .map(|place| (start..start + length).contains(&place))
        .collect()
}

/// For each value another one. Of a mesh interface object the double alone changes, as in the paper.
pub(super) fn another(values: &Values, shape: Shape, kind: Kind, random: &mut Random) -> Values {
    if kind == Kind::Any {
        let twice = shape.generate(2 * values.len());
        let other = twice.slice(values.len()..2 * values.len());
        return match (values, other) {
            (Values::Mesh(all), Values::Mesh(other)) => Values::Mesh(
                all.iter()
                    .zip(other)
                    .map(|(one, Mesh { value, .. })| Mesh { value, ..*one })
                    .collect(),
            ),
            (_, other) => other,
        };
    }
    match values {
        Values::Doubles(all) => {
            Values::Doubles(all.iter().map(|&one| another_double(one, random)).collect())
        }
        Values::Ints(all) => {
            Values::Ints(all.iter().map(|&one| another_int(one, random)).collect())
        }
        Values::Mesh(all) => Values::Mesh(
            all.iter()
                .map(|one| Mesh {
                    value: another_double(one.value, random),
                    ..*one
                })
                .collect(),
        ),
        Values::Strings(all) => {
            Values::Strings(all.iter().map(|one| another_string(one, random)).collect())
        }
        documents => documents.clone(),
    }
}

/// Its lexical form, as it is sent.
fn form(value: f64) -> String {
    let mut out = Vec::new();
    double::write(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// The text with one of its digits replaced. Digits of an exponent are left alone.
fn another_digit(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let end = text.find(['e', 'E']).unwrap_or(text.len());
    let digits: Vec<usize> = (0..end).filter(|&at| bytes[at].is_ascii_digit()).collect();
    if !digits.is_empty() {
        let at = digits[random.below(digits.len() as u64) as usize];
        bytes[at] = b'1' + random.below(9) as u8;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

fn another_double(value: f64, random: &mut Random) -> f64 {
    let text = form(value);
    loop {
        let other = another_digit(&text, random).parse().unwrap_or(value);
        if other != value && form(other).len() == text.len() {
            return other;
        }
    }
}

fn another_int(value: i32, random: &mut Random) -> i32 {
    let text = value.to_string();
    loop {
        match another_digit(&text, random).parse() {
            Ok(other) if other != value => return other,
            _ => {}
        }
    }
}

/// One letter replaced.
fn another_string(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let letters: Vec<usize> = (0..bytes.len())
        .filter(|&at| bytes[at].is_ascii_lowercase())
        .collect();
    if !letters.is_empty() {
        let letter = &mut bytes[letters[random.below(letters.len() as u64) as usize]];
        *letter = if *letter == b'z' { b'a' } else { *letter + 1 };
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// As many numbers whose lexical forms have a given length.
///
/// # Errors
/// What has no given length.
pub(super) fn of_size(values: &Values, size: Size, random: &mut Random) -> Result<Values, String> {
    let count = values.len();
    let of_size = (0..count).map(|_| Mesh {
        x: int_of(size, random),
        y: int_of(size, random),
        value: double_of(size, random),
    });
    Ok(match values {
        Values::Doubles(_) => Values::Doubles(of_size.map(|one| one.value).collect()),
        Values::Ints(_) => Values::Ints(of_size.map(|one| one.x).collect()),
        Values::Mesh(_) => Values::Mesh(of_size.collect()),
        _ => return Err("only numbers have a longest form".into()),
    })
}

fn digits(count: usize, random: &mut Random) -> String {
    (0..count)
        .map(|_| char::from(b'1' + random.below(9) as u8))
        .collect()
}

fn double_of(size: Size, random: &mut Random) -> f64 {
    loop {
        let first = digits(1, random);
        let text = match size {
            Size::One => first,
            Size::Middle => format!("-{first}.{}", digits(15, random)),
            Size::Most => format!(
                "-{first}.{}E-{}",
                digits(16, random),
                random.between(100, 300)
            ),
        };
        let value = text.parse().unwrap_or(0.0);
        // Not every number of that many digits needs them all.
        if form(value).len() == text.len() {
            return value;
        }
    }
}

fn int_of(size: Size, random: &mut Random) -> i32 {
    let mut between = |low, high| random.between(low, high) as i32;
    match size {
        Size::One => between(1, 9),
        Size::Middle => between(100_000_000, 999_999_999),
        Size::Most => -between(1_000_000_000, 2_147_483_647),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_length_asked_for() {
        let mut random = Random::new(7);
        for (size, doubles, ints) in [
            (Size::One, 1, 1),
            (Size::Middle, 18, 9),
            (Size::Most, 24, 11),
        ] {
            for _ in 0..100 {
                assert_eq!(form(double_of(size, &mut random)).len(), doubles);
                assert_eq!(int_of(size, &mut random).to_string().len(), ints);
            }
        }
    }

    #[test]
    fn a_set_has_the_share_asked_for() {
        let mut random = Random::new(7);
        let size = |set: Vec<bool>| set.into_iter().filter(|&is_in| is_in).count();
        assert_eq!(size(scattered(1000, 25, &mut random)), 250);
        assert_eq!(size(scattered(1, 25, &mut random)), 1);
        assert_eq!(size(block(1000, 50, 1.0)), 500);
        assert_eq!(size(block(1, 100, 0.0)), 1);
    }
}
