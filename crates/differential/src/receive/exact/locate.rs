//! Finding the value at an offset of the text.

/// The last slot from `from` on whose text begins at `at` or before it. `None` if there is none. `starts` has the offsets of
/// all slots.
///
/// The slot is usually near `from`, or near where it would be if all values had the same length.
pub(super) fn locate(starts: &[u32], from: usize, at: usize) -> Option<usize> {
    let at = u32::try_from(at).ok()?;
    let rest = starts.get(from..)?;
    let (&first, &last) = (rest.first()?, rest.last()?);
    if first > at {
        return None;
    }
    let end = rest.len() - 1;
    if last <= at {
        return Some(from + end);
    }
    if let Some(near) = rest[1..].first_chunk::<NEAR>()
        && at < near[NEAR - 1]
    {
        return Some(from + up_to(near, at));
    }
    // Here first <= at < last.
    let guess = u64::from(at - first) * end as u64 / u64::from(last - first).max(1);
    let guess = (guess as usize).min(end);
    let around = guess
        .saturating_sub(NEAR / 2)
        .min(rest.len() - NEAR.min(rest.len()));
    if let Some(some) = rest[around..].first_chunk::<NEAR>() {
        let behind = up_to(some, at);
        if behind > 0 && behind < NEAR {
            return Some(from + around + behind - 1);
        }
    }
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while low > 0 && rest[low] > at {
        high = low;
        low = low.saturating_sub(step);
        step *= 2;
    }
    while high < end && rest[high] <= at {
        low = high;
        high = (high + step).min(end);
        step *= 2;
    }
    // rest[low] <= at; the answer is below or at `high`.
    let within = &rest[low..=high];
    Some(from + low + within.partition_point(|&start| start <= at).max(1) - 1)
}

/// The number of `starts` that are not greater than `at`. There is no branch per value, because with scattered changes none
/// could be predicted.
#[inline(always)]
fn up_to(starts: &[u32; NEAR], at: u32) -> usize {
    let behind = starts.iter().map(|&start| u32::from(start <= at));
    behind.sum::<u32>() as usize
}

/// The number of offsets that are compared together.
const NEAR: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_at_or_before_a_place_is_found() {
        let mut starts: Vec<u32> = (0..300).map(|n| n * 7 + n % 5).collect();
        starts.extend([3000, 3000, 3000, 9000, 9001]);
        assert!(starts.is_sorted());
        for from in [0, 1, 17, 290, 304] {
            for at in 0..9100 {
                let expected = (from..starts.len())
                    .rev()
                    .find(|&index| starts[index] as usize <= at);
                assert_eq!(locate(&starts, from, at), expected, "{from} {at}");
            }
        }
        assert_eq!(locate(&starts, 305, 5), None);
    }
}
