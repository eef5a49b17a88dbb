//! Numbers of occurrences with gaps: those of a term in nested repeats, `(x{c,d}){a,b}`.
//!
//! A number `n` of `x` is possible if there is a number `k` in `a..=b` with `k·c ≤ n ≤ k·d`. The possible `k` for one `n` are those
//! from `n/d`, rounded up, to `n/c`, rounded down; if `k` is in its turn a number of occurrences of a repeat, the same is
//! done with both bounds. So whether a number is possible takes a step for each level, whatever the numbers are.

use super::UNBOUNDED;

/// The numbers of occurrences that are possible in nested repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The least and the most occurrences in each occurrence of the next level, innermost first.
    levels: Box<[(u32, u32)]>,
    /// The least and the most occurrences of the outermost level.
    outermost: (u32, u32),
}

impl Counts {
    /// The counts of a term that is repeated as the levels say, innermost first, and the outermost of them as `outermost`.
    ///
    /// ```
    /// use bsoap_codec::plan::Counts;
    ///
    /// // (x{3,4}){1,2}
    /// let counts = Counts::new([(3, 4)], (1, 2));
    /// let possible: Vec<u32> = (0..10).filter(|&count| counts.allow(count)).collect();
    /// assert_eq!(possible, [3, 4, 6, 7, 8]);
    /// ```
    pub fn new(levels: impl IntoIterator<Item = (u32, u32)>, outermost: (u32, u32)) -> Self {
        Self {
            levels: levels.into_iter().collect(),
            outermost,
        }
    }

    /// Whether this number is possible.
    pub fn allow(&self, count: u32) -> bool {
        self.allow_one_of(count, count)
    }

    /// Whether a number between these is possible.
    pub fn allow_one_of(&self, fewest: u32, most: u32) -> bool {
        let units = self.units(fewest, most);
        units.is_some_and(|(fewest, most)| fewest <= self.outermost.1 && most >= self.outermost.0)
    }

    /// The numbers of occurrences of the outermost level that a number of the term between these can be: all from the fewest to
    /// the most. `None` if it is none.
    pub fn units(&self, fewest: u32, most: u32) -> Option<(u32, u32)> {
        let outer = |(fewest, most): (u32, u32), &(least, greatest): &(u32, u32)| {
            let fewest = units_of(fewest, greatest);
            let most = match (least, most) {
                (0, _) | (_, UNBOUNDED) => UNBOUNDED,
                (least, most) => most / least,
            };
            (fewest <= most).then_some((fewest, most))
        };
        let mut levels = self.levels.iter();
        levels.try_fold((fewest, most), outer)
    }

    /// The fewest occurrences of the outermost level that have at least this number of the term.
    pub fn fewest_units(&self, count: u32) -> u32 {
        let units = self.units(count, UNBOUNDED);
        units.map_or(UNBOUNDED, |(fewest, _)| fewest)
    }

    /// The most of the term in one occurrence of the outermost level.
    pub fn most_of_one(&self) -> u32 {
        let greatest = self.levels.iter().map(|(_, greatest)| *greatest);
        greatest.fold(1, u32::saturating_mul)
    }

    /// The least and the most occurrences in each occurrence of the next level, innermost first.
    pub(crate) fn levels(&self) -> &[(u32, u32)] {
        &self.levels
    }

    /// The least and the most occurrences of the outermost level.
    pub(crate) fn outermost(&self) -> (u32, u32) {
        self.outermost
    }

    /// The least possible number that is not smaller than this one; [`UNBOUNDED`] if there is none.
    pub fn next(&self, count: u32) -> u32 {
        // The fewest occurrences of each level that have so many of the term, innermost first.
        let mut fewest = vec![count];
        for &(_, greatest) in &self.levels {
            fewest.push(units_of(fewest[fewest.len() - 1], greatest));
        }
        let units = fewest.pop().unwrap_or(count).max(self.outermost.0);
        if units > self.outermost.1 {
            return UNBOUNDED;
        }
        let levels = self.levels.iter().zip(&fewest).rev();
        levels.fold(units, |units, (level, &fewest)| {
            units.saturating_mul(level.0).max(fewest)
        })
    }
}

/// The fewest occurrences that have this number of a term, of which each has at most `greatest`.
fn units_of(count: u32, greatest: u32) -> u32 {
    match greatest {
        UNBOUNDED => count.min(1),
        greatest => count.div_ceil(greatest.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers up to `most` that are sums of `min` to `max` of these.
    fn repeated(numbers: &[u32], (min, max): (u32, u32), most: u32) -> Vec<u32> {
        let mut sums = vec![0];
        let mut found: Vec<u32> = Vec::new();
        for times in 0..=max.min(most + min) {
            if times >= min {
                found.extend(&sums);
            }
            let next = sums
                .iter()
                .flat_map(|sum| numbers.iter().map(move |it| sum + it));
            sums = next.filter(|sum| *sum <= most).collect();
            sums.sort_unstable();
            sums.dedup();
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn counts_are_those_of_all_sums() {
        const MOST: u32 = 40;
        let ranges = [
            (0, 2),
            (1, 1),
            (1, 3),
            (2, 2),
            (2, 3),
            (3, 5),
            (3, UNBOUNDED),
            (0, UNBOUNDED),
        ];
        for inner in ranges {
            let innermost: Vec<u32> = (inner.0..=inner.1.min(MOST)).collect();
            for middle in ranges {
                let sums = repeated(&innermost, middle, MOST);
                for outer in ranges {
                    let expected = repeated(&sums, outer, MOST);
                    let counts = Counts::new([inner, middle], outer);
                    let found: Vec<u32> = (0..=MOST).filter(|&it| counts.allow(it)).collect();
                    assert_eq!(found, expected, "{counts:?}");
                    for count in 0..=MOST {
                        let next = expected.iter().find(|it| **it >= count);
                        if let Some(&next) = next {
                            assert_eq!(counts.next(count), next, "{count} of {counts:?}");
                        }
                    }
                }
            }
        }
    }
}
