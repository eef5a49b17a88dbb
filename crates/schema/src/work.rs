//! One budget for everything that loading and compiling do, so that no combination of small factors multiplies.
//!
//! Every other limit bounds one dimension: the documents, the nodes of a document, the particles of a content model. A hostile
//! schema stays below each of them and still multiplies two: a thousand namespaces that include one large document, a thousand
//! types that refer to one large group. So each step that creates or visits something charges this budget, which the whole
//! of a load and a compilation share. One unit is about 100 bytes of memory or 100 nanoseconds of time.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, ErrorKind, LoadLimits};

/// The characters of a text that one unit of work stands for: it is written, searched and kept.
pub(crate) const CHARACTERS_PER_UNIT: usize = 16;

/// The number of names that are compared, or of bytes that are searched, for one unit of work.
pub(crate) const STEPS_PER_UNIT: usize = 64;

/// The work that is left. It is shared by reference, so charging takes `&self`.
#[derive(Debug)]
pub(crate) struct Work {
    left: AtomicU64,
    limit: u64,
}

impl Work {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            left: AtomicU64::new(limit),
            limit,
        }
    }

    /// Takes `units` from the budget. Once it is used up, every further charge fails.
    ///
    /// # Errors
    /// If less than `units` is left.
    pub(crate) fn charge(&self, units: u64) -> Result<(), Error> {
        let left = self.left.load(Ordering::Relaxed);
        self.left
            .store(left.saturating_sub(units), Ordering::Relaxed);
        if units > left {
            return Err(self.exceeded());
        }
        Ok(())
    }

    /// Whether nothing is left.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }

    /// The units taken so far.
    #[cfg(test)]
    fn used(&self) -> u64 {
        self.limit - self.left.load(Ordering::Relaxed)
    }

    /// The error of a budget that is used up.
    #[cold]
    pub(crate) fn exceeded(&self) -> Error {
        Error::new(ErrorKind::Limit {
            name: "work",
            limit: self.limit,
        })
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new(LoadLimits::default().work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_used_up_refuses_every_further_charge() {
        let work = Work::new(10);
        assert!(work.charge(6).is_ok());
        assert_eq!(work.used(), 6);
        let error = work.charge(5).unwrap_err().to_string();
        assert_eq!(
            error,
            "the load limit `work` (10) is exceeded (`Wsdl::limits`, `--load-limit work=N`)"
        );
        assert!(work.is_used_up());
        assert!(work.charge(1).is_err());
    }
}
