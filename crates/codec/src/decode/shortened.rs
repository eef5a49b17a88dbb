//! The bases of groups of places, in compact form: the shape of each, the group around it, and the slots and counts of its
//! loops.
//!
//! Bases come in the order of the text, and most outer loops of a base are those of the base before, with the same counts.
//! So a base is stored as the number of these loops and the numbers of the others. Every sixteenth base contains all
//! numbers, so that finding one does not need all bases before it.
//!
//! ```text
//! shape │ how far back the group around it is │ loops as before │ other loops │ slot, count │ slot, count │ …
//! ```
//!
//! A loop's slot is stored as its distance from that of the loop around it, and counts are small, so most numbers take a byte
//! or two: seven bits a byte, the lowest first, the highest bit set in all but the last (LEB128).

/// The slot of a loop's count, and the count.
pub(super) type Numbers = (u32, u32);

/// No group.
pub(super) const NONE: u32 = u32::MAX;

/// The state that the places of a group share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) shape: u32,
    /// The group around it; [`NONE`] if there was none.
    pub(super) outer: u32,
    /// The slots and counts of the open loops, outermost first.
    pub(super) loops: Vec<Numbers>,
}

/// The bases of many groups, numbered in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct Bases {
    bytes: Vec<u8>,
    /// Where every sixteenth base begins.
    runs: Vec<usize>,
    count: u32,
    /// The loops of the last base.
    last: Vec<Numbers>,
}

/// The distance of the bases that contain all of their numbers.
const RUN: u32 = 16;

impl Bases {
    /// Adds a base, and returns its number.
    pub(super) fn push(&mut self, base: Base) -> u32 {
        let group = self.count;
        if group.is_multiple_of(RUN) {
            self.runs.push(self.bytes.len());
            self.last.clear();
        }
        let pairs = std::iter::zip(&self.last, &base.loops);
        let shared = pairs.take_while(|(before, now)| before == now).count();
        self.put(base.shape);
        self.put(group.saturating_sub(base.outer));
        self.put(shared as u32);
        self.put((base.loops.len() - shared) as u32);
        let mut around = shared.checked_sub(1).map_or(0, |index| base.loops[index].0);
        for &(slot, count) in &base.loops[shared..] {
            self.put(slot.wrapping_sub(around));
            self.put(count);
            around = slot;
        }
        self.last = base.loops;
        self.count += 1;
        group
    }

    fn put(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// The number of bases.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// The base with a number; `None` if there is none.
    pub(super) fn of(&self, group: u32) -> Option<Base> {
        let mut reader = self.run(group)?;
        let mut numbers: Vec<Numbers> = Vec::new();
        for number in group - group % RUN..=group {
            let head = reader.head()?;
            numbers.truncate(head.shared as usize);
            let mut around = numbers.last().map_or(0, |it| it.0);
            for _ in 0..head.others {
                around = around.wrapping_add(reader.number()?);
                numbers.push((around, reader.number()?));
            }
            if number == group {
                return Some(Base {
                    shape: head.shape,
                    outer: head.outer(group),
                    loops: numbers,
                });
            }
        }
        None
    }

    /// The shape of a base and the group around it; `None` if there is no such base.
    pub(super) fn head(&self, group: u32) -> Option<(u32, u32)> {
        let mut reader = self.run(group)?;
        for _ in 0..group % RUN {
            let head = reader.head()?;
            for _ in 0..head.others {
                reader.number()?;
                reader.number()?;
            }
        }
        let head = reader.head()?;
        Some((head.shape, head.outer(group)))
    }

    /// A reader at the last base before this one, or itself, that contains all numbers.
    fn run(&self, group: u32) -> Option<BaseReader<'_>> {
        let from = *self.runs.get((group / RUN) as usize)?;
        (group < self.count).then(|| BaseReader(self.bytes[from..].iter()))
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.runs.clear();
        self.last.clear();
        self.count = 0;
    }

    pub(super) fn fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.runs.shrink_to_fit();
    }

    /// How many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
            + self.runs.capacity() * size_of::<usize>()
            + self.last.capacity() * size_of::<Numbers>()
    }
}

/// Reads the numbers of bases, one after the other.
struct BaseReader<'a>(std::slice::Iter<'a, u8>);

/// The first numbers of a base.
struct Head {
    shape: u32,
    back: u32,
    shared: u32,
    others: u32,
}

impl Head {
    fn outer(&self, group: u32) -> u32 {
        match self.back {
            0 => NONE,
            back => group - back,
        }
    }
}

impl BaseReader<'_> {
    fn number(&mut self) -> Option<u32> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = *self.0.next()?;
            number |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    fn head(&mut self) -> Option<Head> {
        Some(Head {
            shape: self.number()?,
            back: self.number()?,
            shared: self.number()?,
            others: self.number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_come_back_as_they_were() {
        let loops: [&[Numbers]; 6] = [
            &[],
            &[(0, 0)],
            &[(7, 127), (8, 128), (300, 16_384)],
            &[(7, 127), (8, 128), (301, 0)],
            &[(u32::MAX, u32::MAX), (0, 1)],
            &[(5, 2_000_000)],
        ];
        let mut bases = Bases::default();
        let wanted: Vec<Base> = (0..200_u32)
            .map(|number| {
                let shape = number * 7 % 6;
                let outer = if number % 5 == 0 { NONE } else { number / 2 };
                let loops = loops[shape as usize].to_vec();
                Base {
                    shape,
                    outer,
                    loops,
                }
            })
            .collect();
        for (number, base) in wanted.iter().enumerate() {
            assert_eq!(bases.push(base.clone()), number as u32);
        }
        for (number, base) in wanted.iter().enumerate() {
            assert_eq!(bases.of(number as u32).as_ref(), Some(base));
            assert_eq!(bases.head(number as u32), Some((base.shape, base.outer)));
        }
        assert_eq!((bases.len(), bases.head(200)), (200, None));
        assert_eq!(bases.of(u32::MAX), None);
    }
}
