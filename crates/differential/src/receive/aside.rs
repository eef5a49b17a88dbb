//! Standing aside: a stream that does not repeat is not compared, but looked at again from time to time.

/// The most messages in a row that are not compared.
const MOST: u32 = 32;

/// How long to stand aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Aside {
    left: u32,
    interval: u32,
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Compare it, and keep it for the next to be compared with.
    Compare,
    /// Keep it, so that the next can be compared with it.
    Keep,
    /// Read it as if it were the only one.
    Pass,
}

impl Aside {
    /// The next message comes.
    #[inline]
    pub(super) fn turn(&mut self) -> Turn {
        match self.left {
            0 => Turn::Compare,
            left => {
                self.left = left - 1;
                if left == 1 { Turn::Keep } else { Turn::Pass }
            }
        }
    }

    /// Whether the next message is not to be compared.
    pub(super) fn is_on(&self) -> bool {
        self.left > 0
    }

    /// A message was compared with the one before. Returns whether to stand aside now.
    pub(super) fn learn(&mut self, alike: bool) -> bool {
        if alike {
            self.interval = 0;
        } else {
            self.interval = (self.interval * 2).clamp(1, MOST);
            self.left = self.interval;
        }
        !alike
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_again_after_1_2_4_and_up_to_32_messages() {
        let mut aside = Aside::default();
        let mut gaps = Vec::new();
        for _ in 0..8 {
            assert_eq!(aside.turn(), Turn::Compare);
            assert!(aside.learn(false));
            let mut gap = 1;
            while aside.turn() == Turn::Pass {
                gap += 1;
            }
            gaps.push(gap);
        }
        assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 32, 32]);
        assert_eq!(aside.turn(), Turn::Compare);
        assert!(!aside.learn(true));
        assert_eq!(aside.turn(), Turn::Compare);
    }
}
