//! Content models: where among its siblings an element belongs, and what was left out before it.
//!
//! Content models are deterministic: a name has one place at most, and a name that can continue the innermost group does
//! so. First [`Builder::accepts`] tells whether a name may come next, without changing anything; only then
//! [`Builder::enter`] goes there.

use std::ops::ControlFlow;

use bsoap_xml::NameId;

use super::sink::Sink;
use crate::plan::{
    Content, FirstSet, LeafId, Particle, ParticleId, Plan, Step, Term, UNBOUNDED, Wildcard,
};
use crate::record::marker;

use super::builder::Builder;
use super::error::{ErrorKind, Expected, Name};
use super::frame::{ElementFrame, Frame, GroupFrame, Inside, Machine, Target};

/// The name of a start tag, as it is looked for in content models.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sought<'a> {
    /// A name of the vocabulary.
    Known(NameId),
    /// Any other name: only its namespace matters, for wildcards.
    Unknown(&'a str),
}

impl Sought<'_> {
    #[inline]
    fn step(self, first: &FirstSet, plan: &Plan) -> Option<Step> {
        match self {
            Self::Known(name) => first.step(name, &plan.vocabulary),
            Self::Unknown(namespace) => first.wild(namespace),
        }
    }
}

/// A search through more particles than this costs more than a look-up of the name among all children.
const MANY_AHEAD: usize = 16;

/// Where a search through the particles that may come next ended.
enum Ahead {
    /// At the end of the element: nothing more is required.
    End,
    /// At a required particle: how many occurrences there are, and how many there must be.
    Blocked { found: u32, min: u32 },
    /// The caller stopped the search.
    Stopped,
}

impl Machine {
    /// Calls `see` with each particle that may come next, the nearest first. Returns where the search ended.
    fn ahead<'p>(
        &self,
        plan: &'p Plan,
        mut see: impl FnMut(&'p Particle) -> ControlFlow<()>,
    ) -> Ahead {
        let mut show = |particle: &'p Particle| see(particle).is_break();
        // The occurrences of a group that the run inside of it is.
        let mut run = None;
        for (level, frame) in self.frames.iter().enumerate().rev() {
            let group = match frame {
                Frame::Group(group) => group,
                Frame::Element(element) => return ahead_of_element(plan, element, show),
            };
            let particle = plan.particle(group.particle);
            let children = plan.children_of(group.particle);
            let ahead = match particle.term {
                Term::Sequence(_) => children.get(group.at as usize..).unwrap_or_default(),
                Term::All(_) => children,
                _ => &[],
            };
            let is_all = matches!(particle.term, Term::All(_));
            let mut blocked = false;
            for (index, &child) in ahead.iter().enumerate() {
                if is_all && self.has_seen(group, index) {
                    continue;
                }
                let child = plan.particle(child);
                if show(child) {
                    return Ahead::Stopped;
                }
                blocked |= !child.is_emptiable;
                if blocked && !is_all {
                    break;
                }
            }
            if blocked {
                return Ahead::Blocked { found: 0, min: 1 };
            }
            let (fewest, most) = group.occurrences(particle, run);
            if self.may_repeat(plan, level, run) && show(particle) {
                return Ahead::Stopped;
            }
            if !particle.may_end(fewest, most) {
                let counts = particle.counts.as_deref();
                return Ahead::Blocked {
                    found: fewest,
                    min: counts.map_or(particle.min, |counts| counts.next(fewest)),
                };
            }
            run = particle.run_of(fewest, most);
        }
        Ahead::End
    }

    /// Whether the group at this level may have another occurrence, in which the run is the open one of a child. If it is a run itself,
    /// it must not be more occurrences of the group around it than that may have, and so on.
    fn may_repeat(&self, plan: &Plan, level: usize, run: Option<(u32, u32)>) -> bool {
        let levels = self.frames.get(..=level).unwrap_or_default();
        let mut fewest = None;
        for frame in levels.iter().rev() {
            let Frame::Group(group) = frame else {
                break;
            };
            let particle = plan.particle(group.particle);
            let count = match fewest {
                None => group.occurrences(particle, run).0.saturating_add(1),
                Some(units) => group.occurrences(particle, Some((units, units))).0,
            };
            if count > particle.max {
                return false;
            }
            match &particle.counts {
                Some(counts) if particle.is_run => fewest = Some(counts.fewest_units(count)),
                _ => return true,
            }
        }
        fewest.is_some()
    }

    fn has_seen(&self, group: &GroupFrame, index: usize) -> bool {
        self.seen
            .get(group.seen as usize + index / 64)
            .is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Whether an element of this name may come next.
    pub(super) fn accepts(&self, plan: &Plan, name: Sought<'_>) -> bool {
        // Most often it is the next child of the innermost group, which for an `all` is found without visiting the others.
        if self.all_accepts(plan, name) {
            return true;
        }
        if self.is_in_wide_all(plan) && !self.may_have(plan, name) {
            return false;
        }
        let (mut visited, mut is_found) = (0, false);
        self.ahead(plan, |particle| {
            is_found = name.step(&particle.first, plan).is_some();
            visited += 1;
            match is_found || visited == MANY_AHEAD && !self.may_have(plan, name) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        is_found
    }

    /// The wildcard that an element of this name would come to, if it may come next.
    pub(super) fn wildcard_of<'p>(&self, plan: &'p Plan, name: Sought<'_>) -> Option<&'p Wildcard> {
        if self.all_accepts(plan, name) {
            return None;
        }
        let mut found = None;
        self.ahead(plan, |particle| match name.step(&particle.first, plan) {
            Some(Step::Wild(child)) => {
                found = Some((particle, child));
                ControlFlow::Break(())
            }
            Some(Step::Named(_)) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        });
        let (mut particle, mut child) = found?;
        while let Term::Sequence(children) | Term::Choice(children) | Term::All(children) =
            &particle.term
        {
            particle = plan.particle(*plan.group(children).get(child as usize)?);
            child = name.step(&particle.first, plan)?.child();
        }
        match &particle.term {
            Term::Any(wildcard) => Some(wildcard),
            _ => None,
        }
    }

    /// The groups open in the innermost element, innermost first.
    fn groups(&self) -> impl Iterator<Item = &GroupFrame> {
        self.frames.iter().rev().map_while(|frame| match frame {
            Frame::Group(group) => Some(group),
            Frame::Element(_) => None,
        })
    }

    /// Whether a search through the particles that may come next passes many children of an `all`.
    fn is_in_wide_all(&self, plan: &Plan) -> bool {
        self.groups().any(|group| {
            matches!(plan.particle(group.particle).term, Term::All(_))
                && plan.children_of(group.particle).len() > MANY_AHEAD
        })
    }

    /// Whether the innermost element may have a child of this name behind those that it has, before the next required one that is
    /// missing, or in another occurrence of a group. The answer takes look-ups, not a search, so a message with many unknown or
    /// misplaced elements in an element with many declared children costs time linear in its length. (It may be a wrong yes for a
    /// name that is declared on both sides of the missing child; such a name is then searched for.)
    fn may_have(&self, plan: &Plan, name: Sought<'_>) -> bool {
        let element = self.frames.iter().rev().find_map(|frame| match frame {
            Frame::Element(element) => Some(element),
            Frame::Group(_) => None,
        });
        let Some(element) = element else { return true };
        let Content::Particle(root) = plan.ty(element.ty).content else {
            return true;
        };
        let declared = plan.declared(element.ty);
        let (mut from, mut to) = (u32::MAX, u32::MAX);
        for group in self.groups() {
            let particle = plan.particle(group.particle);
            let begins_with = || name.step(&particle.first, plan).map(Step::child);
            let repeats = group.occurrences(particle, None).0 < particle.max;
            let next = match particle.term {
                Term::Sequence(_) => {
                    let children = plan.children_of(group.particle);
                    children.get(group.at as usize).copied()
                }
                // A name leads to one child of it at most.
                Term::All(_) if particle.first.wildcards().next().is_none() => {
                    let is_left = |&child: &u32| !self.has_seen(group, child as usize);
                    let child = begins_with().filter(is_left);
                    child.map(|_| group.particle)
                }
                Term::All(_) => Some(group.particle),
                _ => None,
            };
            from = next.map_or(from, |next| from.min(declared.place(next)));
            if let Some(end) = declared.required_end(group.particle, group.at as usize) {
                // Nothing behind this required child can come next.
                to = end;
                break;
            }
            if repeats && begins_with().is_some() {
                return true;
            }
        }
        if self.groups().next().is_none() {
            from = declared.place(root);
        }
        let (name, namespace) = match name {
            Sought::Known(name) => (Some(name), plan.vocabulary.namespace(name)),
            Sought::Unknown(namespace) => (None, namespace),
        };
        declared.may_be(name, namespace, (from, to))
    }

    /// Whether the innermost group is an `all` without a child of this name so far. A message whose elements are all in one
    /// `all` then costs time linear in its length.
    fn all_accepts(&self, plan: &Plan, name: Sought<'_>) -> bool {
        let Some(Frame::Group(group)) = self.frames.last() else {
            return false;
        };
        let particle = plan.particle(group.particle);
        matches!(particle.term, Term::All(_))
            && name
                .step(&particle.first, plan)
                .is_some_and(|step| !self.has_seen(group, step.child() as usize))
    }

    /// The names that may come next, for an error.
    #[cold]
    pub(super) fn expected(&self, plan: &Plan) -> Expected {
        let mut expected = Expected::default();
        let ahead = self.ahead(plan, |particle| {
            for (name, _) in particle.first.names() {
                expected.add(Name::known(plan, name));
            }
            expected.any |= particle.first.wildcards().next().is_some();
            ControlFlow::Continue(())
        });
        expected.end = matches!(ahead, Ahead::End);
        expected
    }

    /// What is missing if the innermost element ends here; `None` if it may end.
    #[inline]
    pub(super) fn unfinished(&self, plan: &Plan) -> Option<ErrorKind> {
        match self.ahead(plan, |_| ControlFlow::Continue(())) {
            Ahead::Blocked { found, min } => Some(self.missing(plan, found, min)),
            _ => None,
        }
    }

    #[cold]
    fn missing(&self, plan: &Plan, found: u32, min: u32) -> ErrorKind {
        let expected = self.expected(plan);
        match found {
            0 => ErrorKind::Missing { expected },
            found => ErrorKind::Occurrence {
                found,
                min,
                expected,
            },
        }
    }
}

fn ahead_of_element<'p>(
    plan: &'p Plan,
    frame: &ElementFrame,
    mut show: impl FnMut(&'p Particle) -> bool,
) -> Ahead {
    match frame.inside {
        Inside::Model {
            particle,
            entered: false,
        }
        | Inside::Mixed {
            particle,
            entered: false,
            ..
        } => {
            let particle = plan.particle(particle);
            if show(particle) {
                return Ahead::Stopped;
            }
            if particle.is_emptiable {
                Ahead::End
            } else {
                Ahead::Blocked { found: 0, min: 1 }
            }
        }
        _ => Ahead::End,
    }
}

/// How an empty element is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Withdrawal {
    /// It is not a child of the `all` any more, which has a marker for each child that is present.
    ChildOfAll,
    /// Its marker says that it is absent.
    Absent,
    /// Its marker says that it is nil.
    Nil,
}

impl<S: Sink> Builder<'_, S> {
    /// Goes to where an element of this name belongs, and writes the markers of what is absent before it. Returns `None`
    /// for a name that the machine does not [accept](Machine::accepts).
    pub(super) fn enter(&mut self, name: Sought<'_>) -> Option<Target> {
        loop {
            match *self.machine.frames.last()? {
                Frame::Element(frame) => return self.enter_model(frame, name),
                Frame::Group(group) => {
                    if let Some(target) = self.enter_group(group, name) {
                        return Some(target);
                    }
                    self.leave();
                }
            }
        }
    }

    /// Enters the content model of an element with the first element in it.
    fn enter_model(&mut self, mut frame: ElementFrame, name: Sought<'_>) -> Option<Target> {
        let (particle, silent) = match &mut frame.inside {
            Inside::Model { particle, entered } if !*entered => {
                *entered = true;
                (*particle, false)
            }
            Inside::Mixed {
                particle, entered, ..
            } if !*entered => {
                *entered = true;
                (*particle, true)
            }
            _ => return None,
        };
        *self.machine.frames.last_mut()? = Frame::Element(frame);
        self.start(particle, name, silent, false)
    }

    /// Continues the innermost group with an element of this name; `None` if the group has to end before it.
    fn enter_group(&mut self, mut group: GroupFrame, name: Sought<'_>) -> Option<Target> {
        let plan = self.plan;
        let particle = plan.particle(group.particle);
        let children = plan.children_of(group.particle);
        match particle.term {
            Term::Sequence(_) => {
                let rest = children.get(group.at as usize..)?;
                let is_next = |child: &ParticleId| {
                    let first = &plan.particle(*child).first;
                    name.step(first, plan).is_some()
                };
                let left_out = rest.iter().position(is_next).unwrap_or(rest.len());
                self.absent_all(&rest[..left_out], group.silent);
                group.at += left_out as u32 + u32::from(left_out < rest.len());
                self.replace(group);
                if let Some(&child) = rest.get(left_out) {
                    return self.start(child, name, group.silent, false);
                }
            }
            Term::All(_) => {
                if let Some(step) = name.step(&particle.first, plan) {
                    let index = step.child();
                    if !self.machine.has_seen(&group, index as usize) {
                        let child = *children.get(index as usize)?;
                        self.enter_all(group, index);
                        return self.start(child, name, group.silent, true);
                    }
                }
            }
            _ => {}
        }
        let step = name.step(&particle.first, plan)?;
        let level = self.machine.frames.len() - 1;
        if !self.machine.may_repeat(plan, level, None) {
            return None;
        }
        group.count += 1;
        self.occurrence(group, step, name)
    }

    /// Begins another occurrence of the innermost group.
    fn occurrence(
        &mut self,
        mut group: GroupFrame,
        step: Step,
        name: Sought<'_>,
    ) -> Option<Target> {
        let plan = self.plan;
        let children = plan.children_of(group.particle);
        let index = step.child();
        match plan.particle(group.particle).term {
            Term::Element(element) => {
                self.replace(group);
                Some(Target::Element {
                    element,
                    particle: group.particle,
                    optional: false,
                })
            }
            Term::Any(_) => {
                self.replace(group);
                Some(Target::Any {
                    particle: group.particle,
                })
            }
            Term::Choice(_) => {
                let branch = *children.get(index as usize)?;
                if plan.particle(group.particle).joins_runs && !plan.particle(branch).is_run {
                    group.add_occurrence();
                }
                self.replace(group);
                self.mark(1 + u64::from(index), group.silent);
                self.start(branch, name, group.silent, false)
            }
            Term::Sequence(_) => {
                self.absent_all(children.get(..index as usize)?, group.silent);
                group.at = index + 1;
                if plan.particle(group.particle).joins_runs {
                    group.add_occurrence();
                }
                self.replace(group);
                self.start(*children.get(index as usize)?, name, group.silent, false)
            }
            Term::All(_) => {
                self.finish_all(&group);
                group.at = 0;
                group.children = self.placeholder(group.silent);
                if let Some(words) = self.machine.seen.get_mut(group.seen as usize..) {
                    words.fill(0);
                }
                self.enter_all(group, index);
                self.start(*children.get(index as usize)?, name, group.silent, true)
            }
        }
    }

    /// Begins a particle with an element of this name. `named`: a marker before it has named the element already, so that
    /// it is not marked as present again.
    fn start(
        &mut self,
        id: ParticleId,
        name: Sought<'_>,
        silent: bool,
        named: bool,
    ) -> Option<Target> {
        let plan = self.plan;
        let particle = plan.particle(id);
        let step = name.step(&particle.first, plan)?;
        let optional = particle.min == 0 && !silent && !named;
        let mut group = GroupFrame {
            particle: id,
            count: 1,
            marker: 0,
            at: 0,
            children: 0,
            seen: match particle.joins_runs {
                true => 0,
                false => self.machine.seen.len() as u32,
            },
            silent,
        };
        if particle.repeats() {
            group.marker = self.placeholder(silent);
        }
        match particle.term {
            Term::Element(element) if !particle.repeats() => {
                return Some(Target::Element {
                    element,
                    particle: id,
                    optional,
                });
            }
            Term::Any(_) if !particle.repeats() => {
                self.mark_if(optional);
                return Some(Target::Any { particle: id });
            }
            // A choice that does not repeat needs no frame: behind its branch follows what follows the choice.
            Term::Choice(_) if !particle.repeats() => {
                let index = step.child();
                self.mark(1 + u64::from(index), silent);
                return self.start(
                    *plan.children_of(id).get(index as usize)?,
                    name,
                    silent,
                    false,
                );
            }
            Term::Sequence(_) if !particle.repeats() => self.mark_if(optional),
            Term::All(_) => {
                self.mark_if(optional && !particle.repeats());
                group.children = self.placeholder(silent);
                let words = plan.children_of(id).len().div_ceil(64);
                self.machine.seen.resize(group.seen as usize + words, 0);
            }
            _ => {}
        }
        let is_all = matches!(particle.term, Term::All(_));
        self.machine.frames.push(Frame::Group(group));
        if is_all {
            self.enter_all(group, step.child());
            return self.start(
                *plan.children_of(id).get(step.child() as usize)?,
                name,
                silent,
                true,
            );
        }
        self.occurrence(group, step, name)
    }

    /// Writes the marker that names the next child of an `all`, and notes that the child is there.
    fn enter_all(&mut self, mut group: GroupFrame, index: u32) {
        if let Some(word) = self
            .machine
            .seen
            .get_mut(group.seen as usize + index as usize / 64)
        {
            *word |= 1 << (index % 64);
        }
        group.at += 1;
        self.replace(group);
        self.mark(1 + u64::from(index), group.silent);
    }

    fn finish_all(&mut self, group: &GroupFrame) {
        if !group.silent {
            self.fill(group.children, u64::from(group.at));
        }
    }

    /// Ends the innermost group: writes how often it occurred.
    fn leave(&mut self) {
        let Some(Frame::Group(group)) = self.machine.frames.pop() else {
            return;
        };
        let plan = self.plan;
        let particle = plan.particle(group.particle);
        if let Term::All(_) = particle.term {
            self.finish_all(&group);
            self.machine.seen.truncate(group.seen as usize);
        }
        if particle.repeats() && !group.silent {
            self.fill(group.marker, u64::from(group.count));
        }
        let (fewest, most) = group.occurrences(particle, None);
        if let Some(run) = particle.run_of(fewest, most)
            && let Some(Frame::Group(mut around)) = self.machine.frames.last().copied()
        {
            around.add_run(plan.particle(around.particle), run);
            self.replace(around);
        }
    }

    /// Ends all groups of the innermost element, and marks the rest of them as absent.
    pub(super) fn leave_all(&mut self) {
        while let Some(Frame::Group(group)) = self.machine.frames.last().copied() {
            let plan = self.plan;
            if let Term::Sequence(_) = plan.particle(group.particle).term {
                let rest = plan.children_of(group.particle).get(group.at as usize..);
                self.absent_all(rest.unwrap_or_default(), group.silent);
            }
            self.leave();
        }
    }

    #[inline]
    fn replace(&mut self, group: GroupFrame) {
        if let Some(top) = self.machine.frames.last_mut() {
            *top = Frame::Group(group);
        }
    }

    fn absent_all(&mut self, particles: &[ParticleId], silent: bool) {
        let absent = particles.iter().map(|&id| self.plan.particle(id).absent);
        self.absent(absent.map(u64::from).sum(), silent);
    }

    /// Writes the slots of absent particles, which are all zeros.
    #[inline]
    pub(super) fn absent(&mut self, slots: u64, silent: bool) {
        if slots == 0 || silent {
            return;
        }
        let free = self.most_slots().saturating_sub(self.record.slots.len());
        // One slot more than the limit allows is enough: the next check reports it.
        let enough = free.saturating_add(1);
        let mut slots = usize::try_from(slots).unwrap_or(usize::MAX);
        if slots > enough {
            slots = enough;
            // The next check may be behind the next value; a gap with fewer slots must not be learned before.
            self.log.is_void = true;
        }
        let slots = self.record.slots.len() + slots;
        self.record.slots.resize(slots, marker::ABSENT);
    }

    /// How an empty element whose type cannot read an empty text can be made absent, or nil if it must not be absent. `None`
    /// if that is not possible.
    #[cold]
    pub(super) fn withdrawal(&self, frame: ElementFrame, leaf: LeafId) -> Option<Withdrawal> {
        let plan = self.plan;
        let element = plan.element(frame.element);
        let has_value = element.default.is_some() || element.fixed.is_some();
        if !element.is_scalar || has_value || !plan.leaf(leaf).simple.needs_text() {
            return None;
        }
        let [.., around, Frame::Element(_)] = &self.machine.frames[..] else {
            return None;
        };
        let may_be_missing = {
            let particle = plan.particle(frame.particle);
            particle.min == 0 && !particle.repeats()
        };
        match around {
            // A child of an `all` has been named by a marker, so it is present.
            Frame::Group(group)
                if may_be_missing
                    && !group.silent
                    && matches!(plan.particle(group.particle).term, Term::All(_)) =>
            {
                Some(Withdrawal::ChildOfAll)
            }
            Frame::Group(GroupFrame { silent: false, .. })
            | Frame::Element(ElementFrame {
                inside: Inside::Model { .. },
                ..
            }) if may_be_missing => Some(Withdrawal::Absent),
            _ => element.nillable.then_some(Withdrawal::Nil),
        }
    }

    /// Makes an empty element absent or nil.
    #[cold]
    pub(super) fn withdraw(&mut self, frame: ElementFrame, how: Withdrawal) {
        // This changes slots before the value, so nothing can be learned from it.
        self.log.is_void = true;
        let marker = self.record.slots.len().saturating_sub(1);
        match how {
            Withdrawal::ChildOfAll => {
                if let [Frame::Group(group), _] = self.machine.frames.top_mut(2) {
                    group.at = group.at.saturating_sub(1);
                }
                let has_state = self.plan.element(frame.element).has_state;
                let name = marker.saturating_sub(usize::from(has_state));
                self.record.slots.truncate(name);
                return;
            }
            Withdrawal::Absent => self.fill(marker as u32, marker::ABSENT),
            Withdrawal::Nil => self.fill(marker as u32, marker::state(marker::NIL, frame.ty)),
        }
        // An absent scalar still has its slot.
        self.record.push(0);
    }

    #[inline]
    fn mark(&mut self, slot: u64, silent: bool) {
        if !silent {
            self.record.push(slot);
        }
    }

    fn mark_if(&mut self, optional: bool) {
        self.mark(marker::PRESENT, !optional);
    }

    /// Adds a slot that is filled when its group ends, and returns its index.
    fn placeholder(&mut self, silent: bool) -> u32 {
        let slot = self.record.slots.len() as u32;
        self.mark(0, silent);
        slot
    }

    pub(super) fn fill(&mut self, slot: u32, value: u64) {
        if let Some(slot) = self.record.slots.get_mut(slot as usize) {
            *slot = value;
        }
    }
}

const _: () = assert!(UNBOUNDED == u32::MAX, "a count below `max` allows one more");
