//! Which value is at a place of the text, and how a known gap between values is recognised.

/// The last slot from `from` on whose text begins at `at` or before it.
///
/// It is most often near, or about where it would be if all values were as long as each other.
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

/// How many of some places are not behind another. No branch for each: where changes are scattered, none could be predicted.
#[inline(always)]
fn up_to(starts: &[u32; NEAR], at: u32) -> usize {
    let behind = starts.iter().map(|&start| u32::from(start <= at));
    behind.sum::<u32>() as usize
}

/// Values that are looked at together.
const NEAR: usize = 16;

/// Bytes between two values, to be recognised with one compare; most often they are few.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    words: [u128; 2],
    masks: [u128; 2],
    length: usize,
    /// What is behind the words.
    rest: Box<[u8]>,
}

/// Longer ones are not looked for.
const LONGEST: usize = 1 << 10;

/// How many bytes two words hold.
const SHORT: usize = 32;

impl Gap {
    /// These bytes, unless they are too many.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.len() > LONGEST {
            return None;
        }
        let (first, rest) = bytes.split_at(bytes.len().min(SHORT));
        let (mut front, mut mask) = ([0; SHORT], [0; SHORT]);
        front[..first.len()].copy_from_slice(first);
        mask[..first.len()].fill(0xff);
        Some(Self {
            words: halves(&front),
            masks: halves(&mask),
            length: bytes.len(),
            rest: rest.into(),
        })
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Whether they are at `at` of a text.
    #[inline(always)]
    pub(super) fn is_at(&self, text: &[u8], at: usize) -> bool {
        let Some(rest) = text.get(at..) else {
            return false;
        };
        // Most are short.
        if self.length <= SHORT / 2
            && let Some(front) = rest.first_chunk::<{ SHORT / 2 }>()
        {
            return (u128::from_le_bytes(*front) ^ self.words[0]) & self.masks[0] == 0;
        }
        let [low, high] = match rest.first_chunk::<SHORT>() {
            Some(front) => halves(front),
            None if rest.len() < self.length => return false,
            None => {
                let mut front = [0; SHORT];
                front[..rest.len()].copy_from_slice(rest);
                halves(&front)
            }
        };
        ((low ^ self.words[0]) & self.masks[0]) | ((high ^ self.words[1]) & self.masks[1]) == 0
            && (self.rest.is_empty()
                || rest
                    .get(SHORT..)
                    .is_some_and(|rest| rest.starts_with(&self.rest)))
    }
}

#[inline(always)]
fn halves(bytes: &[u8; SHORT]) -> [u128; 2] {
    let half = |from: usize| {
        let half = bytes[from..].first_chunk::<16>();
        half.map_or(0, |half| u128::from_le_bytes(*half))
    };
    [half(0), half(16)]
}

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

    #[test]
    fn a_gap_is_where_its_bytes_are() {
        let text = b"<v><i>1</i><i>2</i><i>3</i></v>";
        let gap = Gap::new(b"</i><i>").expect("it is short");
        let places: Vec<usize> = (0..40).filter(|&at| gap.is_at(text, at)).collect();
        assert_eq!(places, [7, 15]);
        assert!(Gap::new(&[b' '; LONGEST + 1]).is_none() && Gap::new(b"").is_none());
        for length in [1, 15, 16, 17, 31, 32, 33, 100] {
            let bytes: Vec<u8> = (0..length).collect();
            let gap = Gap::new(&bytes).expect("it is not too long");
            assert!(gap.is_at(&bytes, 0));
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x20;
                assert!(!gap.is_at(&other, 0) && !gap.is_at(&bytes[..at], 0));
                other.extend_from_slice(&bytes);
                assert!(gap.is_at(&other, bytes.len()));
            }
        }
    }
}
