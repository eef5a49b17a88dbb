//! Where in a message slots are, to show what changed.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::plan::{ElementId, Plan};
use crate::record::Record;
use crate::record::walk::{Event, Walk};

/// A part of a message: an element, an attribute, or some items of an array. Indices are counted from 0; only the text form
/// counts from 1, as XPath does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Region {
    /// The path from the root. The last step names the items if [`items`](Self::items) has their indices.
    pub steps: Vec<PathStep>,
    /// The items of an array of flat values; `None` for anything else.
    pub items: Option<Range<usize>>,
}

/// A step of a path through a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStep {
    /// The local name of an element, or that of an attribute behind `@`.
    pub name: String,
    /// The number of earlier siblings of the same name.
    pub index: usize,
}

impl Region {
    /// The path of the region below the first element in the Body, in the form that the arguments of a call have: names
    /// separated by dots, `[n]` for one of several elements, counted from 0, such as `values.item[17]`. `None` for a region
    /// that is not in the arguments, or has several items.
    pub fn argument_path(&self) -> Option<String> {
        let [_, body, _, steps @ ..] = &*self.steps else {
            return None;
        };
        if body.name != "Body"
            || steps.is_empty()
            || self.items.as_ref().is_some_and(|it| it.len() != 1)
        {
            return None;
        }
        let mut path = String::new();
        let last = steps.len() - 1;
        for (at, step) in steps.iter().enumerate() {
            let dot = if at > 0 { "." } else { "" };
            let item = self.items.as_ref().filter(|_| at == last);
            let index = item.map_or(step.index, |items| items.start);
            let _ = match index {
                0 => write!(path, "{dot}{}", step.name),
                _ => write!(path, "{dot}{}[{index}]", step.name),
            };
        }
        Some(path)
    }
}

/// As an XPath, which counts from 1: `/values/item[18]`, `/values/item[18 to 20]`.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            match step.index {
                0 => write!(f, "/{}", step.name)?,
                index => write!(f, "/{}[{}]", step.name, index + 1)?,
            }
        }
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
        path: Vec::new(),
        found: Vec::new(),
    };
    finder.enter(record.plan(), root.element, 0);
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
    path: Vec<PathStep>,
    found: Vec<Region>,
}

impl<'r> Finder<'r> {
    /// Reports the slots inside an element, from a slot on. (It calls itself only for rows with a stride, which nest no
    /// deeper than a schema.)
    fn look(&mut self, mut walk: Walk<'r>, mut at: usize) {
        let plan = self.record.plan().clone();
        // For each element on the path: the number of steps before it, and the number of children of each name so far.
        let mut open: Vec<usize> = Vec::new();
        let mut seen: Vec<HashMap<ElementId, usize>> = vec![HashMap::new()];
        while !self.slots.is_empty()
            && let Ok(Some(event)) = walk.next()
        {
            match event {
                Event::Start(start) => {
                    let before = count(&mut seen, start.element, 1);
                    open.push(self.enter(&plan, start.element, before));
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
                    let name = plan.vocabulary().local(plan.attribute(id).name);
                    self.path.push(PathStep {
                        name: format!("@{name}"),
                        index: 0,
                    });
                    at = self.pass(at, walk.at());
                    self.path.pop();
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
                let length = self.enter(&plan, element, before + row);
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
                self.enter(&plan, element, 0);
                self.report(Some(before + row..before + past));
                self.path.pop();
            }
        }
        end
    }

    /// Adds a child to the path. Returns the number of steps before.
    fn enter(&mut self, plan: &Plan, element: ElementId, index: usize) -> usize {
        let name = plan.vocabulary().local(plan.element(element).name);
        self.path.push(PathStep {
            name: name.to_owned(),
            index,
        });
        self.path.len() - 1
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
            && last.steps == self.path
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
        let steps = self.path.clone();
        self.found.push(Region { steps, items });
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
