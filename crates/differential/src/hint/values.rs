//! The values of the message that followed a skeleton last.

use std::sync::Arc;

use bsoap_codec::Record;

/// A Record that is the skeleton's own as long as nobody keeps it.
///
/// Finding out whether somebody holds an `Arc` takes an instruction that waits for all before it: the next message would not be
/// begun before this one is at its end. (It is a tenth of a small message.)
#[derive(Debug)]
pub(super) struct Values {
    own: Record,
    /// If it is there, it has the values.
    kept: Option<Arc<Record>>,
}

impl Values {
    pub(super) fn new(own: Record) -> Self {
        Self { own, kept: None }
    }

    pub(super) fn get(&self) -> &Record {
        self.kept.as_deref().unwrap_or(&self.own)
    }

    /// To put other values in their place; those that somebody holds stay as they are.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut Record {
        match &mut self.kept {
            Some(kept) => Arc::make_mut(kept),
            None => &mut self.own,
        }
    }

    /// The values, to be kept.
    #[inline]
    pub(super) fn keep(&mut self) -> Arc<Record> {
        let own = &mut self.own;
        let kept = self.kept.get_or_insert_with(|| {
            let none = Record::new(own.plan().clone(), own.root());
            Arc::new(std::mem::replace(own, none))
        });
        Arc::clone(kept)
    }

    /// Nobody is to keep the next ones.
    #[inline]
    pub(super) fn take_back(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.own = Arc::unwrap_or_clone(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use bsoap_codec::plan::{ElementId, PlanBuilder};

    use super::*;

    #[test]
    fn what_is_kept_is_never_changed() {
        let plan = Arc::new(PlanBuilder::new().finish().expect("a plan"));
        let mut record = Record::new(plan, ElementId(0));
        record.parts_mut().0.push(1);
        let mut values = Values::new(record);
        let first = values.keep();
        values.get_mut().parts_mut().0[0] = 2;
        let second = values.keep();
        values.take_back();
        values.get_mut().parts_mut().0[0] = 3;
        assert_eq!(
            [first.slots(), second.slots(), values.get().slots()],
            [[1], [2], [3]]
        );
        assert_eq!(values.keep().slots(), [3]);
    }
}
