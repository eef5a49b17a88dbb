//! The numbers of loops, kept short: where the counts are, and how far they are.
//!
//! A loop's slot is told by its distance from that of the loop around it, and counts are small, so most numbers take a byte
//! or two: seven bits a byte, the lowest first, the highest bit set in all but the last (LEB128).

/// The slot of a loop's count, and the count.
pub(super) type Numbers = (u32, u32);

/// The numbers of the loops of many states, outermost loop first.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortened {
    bytes: Vec<u8>,
}

impl Shortened {
    /// Keeps the numbers of one state, and says where they begin.
    pub(super) fn push(&mut self, numbers: impl IntoIterator<Item = Numbers>) -> u32 {
        let from = self.bytes.len() as u32;
        let mut before = 0;
        for (slot, count) in numbers {
            self.put(slot.wrapping_sub(before));
            self.put(count);
            before = slot;
        }
        from
    }

    fn put(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// The numbers of the state of so many loops that begin here.
    pub(super) fn of(&self, from: u32, loops: u32) -> impl Iterator<Item = Numbers> + '_ {
        let mut bytes = self.bytes.get(from as usize..).unwrap_or_default().iter();
        let mut number = move || {
            let (mut number, mut shift) = (0u32, 0);
            loop {
                let byte = *bytes.next()?;
                number |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
                if byte < 0x80 {
                    return Some(number);
                }
                shift += 7;
            }
        };
        let mut slot = 0u32;
        (0..loops).map_while(move |_| {
            slot = slot.wrapping_add(number()?);
            Some((slot, number()?))
        })
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(super) fn fit(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// How many bytes it holds.
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        let states: [&[Numbers]; 5] = [
            &[],
            &[(0, 0)],
            &[(7, 127), (8, 128), (300, 16_384)],
            &[(u32::MAX, u32::MAX), (0, 1)],
            &[(5, 2_000_000)],
        ];
        let mut all = Shortened::default();
        let begun = states.map(|state| all.push(state.iter().copied()));
        for (state, from) in states.into_iter().zip(begun) {
            let back: Vec<_> = all.of(from, state.len() as u32).collect();
            assert_eq!(back, state);
        }
        assert_eq!(all.of(u32::MAX, 1).next(), None);
    }
}
