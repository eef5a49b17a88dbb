//! Where in a message slots are, to show what changed.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use crate::plan::{ElementId, Plan};
use crate::record::Record;
use crate::record::walk::{Event, Walk};

/// A part of a message: an element, an attribute, or some items of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Region {
    /// The path from the root: `/order/item[3]/note`, `/order/@number`, `/values/item`. The last name has no number if
    /// [`items`](Self::items) has the numbers.
    pub path: String,
    /// The items of an array of flat values, counted from 0; `None` for anything else.
    pub items: Option<Range<usize>>,
}

/// As XPath counts, from 1: `/values/item[18]`, `/values/item[18 to 20]`.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match &self.items {
            Some(items) if items.len() == 1 => write!(f, "[{}]", items.end),
            Some(items) => write!(f, "[{} to {}]", items.start + 1, items.end),
            None => Ok(()),
        }
    }
}

/// Where in a message some slots are; the ranges are in order. A marker belongs to the element that it marks, a count to
/// the element around the array. Empty if the Record does not fit its Plan.
pub fn regions(record: &Record, slots: &[Range<usize>]) -> Vec<Region> {
    let Ok((walk, root)) = Walk::new(record) else {
        return Vec::new();
    };
    let mut finder = Finder {
        record,
        slots,
        path: String::new(),
        found: Vec::new(),
    };
    finder.enter(record.plan(), root.element, 1);
    if finder.covers(0, record.slots().len()) {
        finder.report(None);
    } else {
        finder.look(walk, 0);
    }
    finder.found
}

struct Finder<'r> {
    record: &'r Record,
    /// The slots that have not been passed.
    slots: &'r [Range<usize>],
    path: String,
    found: Vec<Region>,
}

impl<'r> Finder<'r> {
    /// Reports the slots inside an element, from a slot on. (It calls itself only for rows with a stride, which nest no
    /// deeper than a schema.)
    fn look(&mut self, mut walk: Walk<'r>, mut at: usize) {
        let plan = self.record.plan().clone();
        // For each element on the path: the length of the path before it, and the number of children of each name so far.
        let mut open: Vec<usize> = Vec::new();
        let mut seen: Vec<HashMap<ElementId, usize>> = vec![HashMap::new()];
        while !self.slots.is_empty()
            && let Ok(Some(event)) = walk.next()
        {
            match event {
                Event::Start(start) => {
                    let before = count(&mut seen, start.element, 1);
                    open.push(self.enter(&plan, start.element, before + 1));
                    seen.push(HashMap::new());
                    let mut after = walk.clone();
                    if after.skip(event).is_err() {
                        return;
                    }
                    let is_reported = self.touches(at, start.at);
                    at = start.at;
                    let is_all = self.covers(start.at, after.at());
                    if is_reported || is_all {
                        self.report(None);
                    }
                    if is_all || !self.touches(start.at, after.at()) {
                        at = after.at();
                        walk = after;
                        self.leave(&mut open, &mut seen);
                    }
                }
                Event::End(_) => {
                    at = self.pass(at, walk.at());
                    self.leave(&mut open, &mut seen);
                }
                Event::Array {
                    element,
                    count,
                    at: first,
                } => {
                    at = self.pass(at, first);
                    if let Some(stride) = plan.element(element).stride {
                        let before = self::count(&mut seen, element, count);
                        let rows = (element, stride as usize, count, before);
                        at = self.rows(rows, first);
                        if walk.skip(event).is_err() {
                            return;
                        }
                    }
                }
                Event::Attribute { id, .. } => {
                    let length = self.path.len();
                    let name = plan.attribute(id).name;
                    self.path.push_str("/@");
                    self.path.push_str(plan.vocabulary().local(name));
                    at = self.pass(at, walk.at());
                    self.path.truncate(length);
                }
                _ => at = self.pass(at, walk.at()),
            }
        }
    }

    /// Reports the slots inside an array of rows with a stride. Returns the slot behind the array.
    fn rows(
        &mut self,
        (element, stride, count, before): (ElementId, usize, usize, usize),
        first: usize,
    ) -> usize {
        let plan = self.record.plan().clone();
        let end = first + count * stride;
        let mut at = first;
        while stride > 0 && self.touches(at, end) {
            let (from, to) = match self.slots.first() {
                Some(slots) => (slots.start.max(at), slots.end.min(end)),
                None => break,
            };
            let (row, past) = ((from - first) / stride, (to - 1 - first) / stride + 1);
            at = first + past * stride;
            let is_whole = self.covers(first + row * stride, at);
            if stride > 1 && past == row + 1 && !is_whole {
                let length = self.enter(&plan, element, before + row + 1);
                let from = first + row * stride;
                match Walk::item(self.record, element, from) {
                    Some(start) => {
                        self.pass(from, start.at);
                        self.look(Walk::inside(self.record, start), start.at);
                    }
                    None => self.report(None),
                }
                self.path.truncate(length);
            } else {
                let length = self.path.len();
                self.path.push('/');
                self.path.push_str(local(&plan, element));
                self.report(Some(before + row..before + past));
                self.path.truncate(length);
            }
        }
        end
    }

    /// Adds a child to the path. Returns the length of the path before.
    fn enter(&mut self, plan: &Plan, element: ElementId, nth: usize) -> usize {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(local(plan, element));
        if nth > 1 {
            self.path.push_str(&format!("[{nth}]"));
        }
        length
    }

    fn leave(&mut self, open: &mut Vec<usize>, seen: &mut Vec<HashMap<ElementId, usize>>) {
        if let Some(length) = open.pop() {
            self.path.truncate(length);
        }
        seen.pop();
    }

    /// Reports slots that belong to the present path. Returns where they end.
    fn pass(&mut self, from: usize, to: usize) -> usize {
        if self.touches(from, to) {
            self.report(None);
        }
        to
    }

    /// Whether any of the slots is in this range. Slots before the range are passed.
    fn touches(&mut self, from: usize, to: usize) -> bool {
        while let Some((first, rest)) = self.slots.split_first()
            && (first.end <= from || first.is_empty())
        {
            self.slots = rest;
        }
        self.slots.first().is_some_and(|first| first.start < to) && from < to
    }

    /// Whether the slots cover this range.
    fn covers(&mut self, from: usize, to: usize) -> bool {
        let first = match self.touches(from, to) {
            true => self.slots.first(),
            false => None,
        };
        first.is_some_and(|first| first.start <= from && first.end >= to)
    }

    fn report(&mut self, items: Option<Range<usize>>) {
        if let Some(last) = self.found.last_mut()
            && last.path == self.path
        {
            match (&mut last.items, &items) {
                (None, None) => return,
                (Some(last), Some(items)) if last.end >= items.start => {
                    last.end = last.end.max(items.end);
                    return;
                }
                _ => {}
            }
        }
        let path = self.path.clone();
        self.found.push(Region { path, items });
    }
}

/// Counts more children of a name. Returns the number before.
pub(super) fn count(
    seen: &mut [HashMap<ElementId, usize>],
    element: ElementId,
    more: usize,
) -> usize {
    let Some(seen) = seen.last_mut() else {
        return 0;
    };
    let known = seen.entry(element).or_default();
    *known += more;
    *known - more
}

fn local(plan: &Plan, element: ElementId) -> &str {
    plan.vocabulary().local(plan.element(element).name)
}
