//! Stealing: a value takes padding of a neighbour, so that the rest of the chunk does not move. (HPDC-13 §3.2)
//!
//! ```text
//! <a>123</a><b>4    </b>     a grows by 2: what is between the two values moves
//! <a>12345</a><b>4  </b>
//! ```

use super::dut_table::{Location, Segment};
use super::policy::{Order, Steal};

/// Widens a value by `need` bytes of a neighbour's padding. Returns `false`, without a change, if no neighbour has enough.
/// `text` is the text of the segment, from its start.
pub(crate) fn steal(
    text: &mut [u8],
    segment: &mut Segment,
    index: usize,
    need: usize,
    policy: Steal,
) -> bool {
    let Some(own) = segment.location(index) else {
        return false;
    };
    let (left, right) = match policy.order {
        Order::Never => return false,
        Order::Left => (true, false),
        Order::Right => (false, true),
        Order::BackAndForth => (true, true),
    };
    for distance in 1..=policy.neighbours {
        if right && let Some(other) = donor(segment, index + distance, need) {
            let moved = own.offset + own.extent()..other.offset + other.length + other.close;
            if moved.len() > policy.bytes {
                return false;
            }
            text.copy_within(moved.clone(), moved.start + need);
            segment.resize(index, own.length, own.width + need);
            segment.resize(index + distance, other.length, other.width - need);
            segment.move_values(index + 1..index + distance + 1, need as isize);
            return true;
        }
        if left
            && let Some(before) = index.checked_sub(distance)
            && let Some(other) = donor(segment, before, need)
        {
            let moved = other.offset + other.extent()..own.offset + own.length + own.close;
            if moved.len() > policy.bytes {
                return false;
            }
            text.copy_within(moved.clone(), moved.start - need);
            // The old bytes of the value become its padding.
            text[moved.end - need..moved.end].fill(b' ');
            segment.resize(index, own.length, own.width + need);
            segment.resize(before, other.length, other.width - need);
            segment.move_values(before + 1..index + 1, -(need as isize));
            return true;
        }
    }
    false
}

/// The location of a value, if it has `need` bytes of padding.
fn donor(segment: &Segment, index: usize, need: usize) -> Option<Location> {
    if index >= segment.slots() {
        return None;
    }
    segment
        .location(index)
        .filter(|location| location.width >= location.length + need)
}

#[cfg(test)]
mod tests {
    use super::super::dut_table::{LeafSpec, Locations, Mixed, MixedEntry, SlotKind};
    use super::*;

    fn number(length: u32, width: u32) -> MixedEntry {
        MixedEntry {
            length,
            width,
            spec: LeafSpec {
                kind: SlotKind::Signed,
                pads: true,
                widest: 11,
                close: 0,
            },
        }
    }

    /// `<a>…</a><b>…</b><c>…</c>`, with values of these lengths and widths.
    fn row(values: [(u32, u32); 3]) -> (Vec<u8>, Segment) {
        let (mut text, mut mixed) = (Vec::new(), Mixed::default());
        for (name, (length, width)) in ["a", "b", "c"].iter().zip(values) {
            text.extend_from_slice(format!("<{name}>").as_bytes());
            mixed.push(text.len() as u32, number(length, width));
            text.resize(text.len() + length as usize, b'1');
            text.resize(text.len() + (width - length) as usize, b' ');
            text.extend_from_slice(format!("</{name}>").as_bytes());
        }
        let locations = Locations::Mixed(mixed);
        let segment = Segment {
            first: 0,
            start: 0,
            locations,
        };
        (text, segment)
    }

    fn policy(order: Order) -> Steal {
        Steal {
            order,
            neighbours: 2,
            bytes: 100,
        }
    }

    #[test]
    fn a_value_takes_the_pad_of_the_next_one_that_has_enough() {
        let (mut text, mut segment) = row([(3, 3), (2, 3), (1, 5)]);
        assert!(steal(
            &mut text,
            &mut segment,
            0,
            2,
            policy(Order::BackAndForth)
        ));
        // What a has gained is still to be written.
        assert_eq!(text[..6], *b"<a>111");
        assert_eq!(text[8..], *b"</a><b>11 </b><c>1  </c>");
        let widths = [0, 1, 2].map(|index| segment.location(index).map(|location| location.width));
        assert_eq!(widths, [Some(5), Some(3), Some(3)]);
    }

    #[test]
    fn or_of_the_one_before() {
        let (mut text, mut segment) = row([(1, 4), (2, 2), (3, 3)]);
        assert!(!steal(&mut text, &mut segment, 2, 2, policy(Order::Right)));
        assert!(steal(&mut text, &mut segment, 2, 2, policy(Order::Left)));
        assert_eq!(text, *b"<a>1 </a><b>11</b><c>111  </c>");
        assert_eq!(
            segment.location(2).map(|location| location.offset),
            Some(21)
        );
    }

    #[test]
    fn nothing_is_moved_further_than_allowed() {
        let (mut text, mut segment) = row([(3, 3), (2, 2), (1, 5)]);
        let before = text.clone();
        let near = Steal {
            bytes: 10,
            ..policy(Order::BackAndForth)
        };
        assert!(!steal(&mut text, &mut segment, 0, 2, near));
        let few = Steal {
            neighbours: 1,
            ..policy(Order::BackAndForth)
        };
        assert!(!steal(&mut text, &mut segment, 0, 2, few));
        assert_eq!(text, before);
    }
}
