//! Taking the pad of a neighbour instead of moving the rest of the chunk. (HPDC-13 §3.2)
//!
//! ```text
//! <a>123</a><b>4    </b>     a grows by 2: what stands between the two rooms moves
//! <a>12345</a><b>4  </b>
//! ```

use super::leaves::{Place, Segment};
use super::policy::{Order, Steal};

/// Widens a value's room by what a neighbour has to spare. Says whether it found enough; if not,
/// nothing has changed. `text` is the segment's text, from its start.
pub(crate) fn steal(
    text: &mut [u8],
    segment: &mut Segment,
    index: usize,
    need: usize,
    policy: Steal,
) -> bool {
    let Some(own) = segment.place(index) else {
        return false;
    };
    let (left, right) = match policy.order {
        Order::Never => return false,
        Order::Left => (true, false),
        Order::Right => (false, true),
        Order::BackAndForth => (true, true),
    };
    for distance in 1..=policy.neighbours {
        if right && let Some(other) = lender(segment, index + distance, need) {
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
            && let Some(other) = lender(segment, before, need)
        {
            let moved = other.offset + other.extent()..own.offset + own.length + own.close;
            if moved.len() > policy.bytes {
                return false;
            }
            text.copy_within(moved.clone(), moved.start - need);
            // What the value leaves behind is its pad now.
            text[moved.end - need..moved.end].fill(b' ');
            segment.resize(index, own.length, own.width + need);
            segment.resize(before, other.length, other.width - need);
            segment.move_values(before + 1..index + 1, -(need as isize));
            return true;
        }
    }
    false
}

/// The place of a value that can spare `need` bytes.
fn lender(segment: &Segment, index: usize, need: usize) -> Option<Place> {
    if index >= segment.slots() {
        return None;
    }
    segment
        .place(index)
        .filter(|place| place.width >= place.length + need)
}
